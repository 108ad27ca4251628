"""Boxes of a set of points in given axes: the coordinate axes for axis-aligned boxes (§3)."""

from jostle.kernels.jit import kernel
from jostle.methods.bounding_tree.tree import AXES, CENTRE, HALF


@kernel
def write_identity_axes(volume):
    """Write the coordinate axes to volume (16,)."""
    for k in range(9):
        volume[AXES + k] = 1.0 if k % 4 == 0 else 0.0


@kernel
def lengths_along(points, n, ax, ay, az):
    """Lowest and highest value of axis · point among the first n >= 1 of points (.,3)."""
    low = (ax * points[0, 0] + ay * points[0, 1]) + az * points[0, 2]
    high = low
    for i in range(1, n):
        value = (ax * points[i, 0] + ay * points[i, 1]) + az * points[i, 2]
        low, high = min(low, value), max(high, value)
    return low, high


@kernel
def fit_in_axes(points, n, volume):
    """Write centre and half extents of the box of the first n points (.,3) in the axes that volume (16,) has."""
    x, y, z = 0.0, 0.0, 0.0
    for k in range(3):
        ax, ay, az = volume[AXES + 3 * k], volume[AXES + 3 * k + 1], volume[AXES + 3 * k + 2]
        low, high = lengths_along(points, n, ax, ay, az)
        middle = 0.5 * (low + high)
        volume[HALF + k] = 0.5 * (high - low)
        x, y, z = x + middle * ax, y + middle * ay, z + middle * az
    volume[CENTRE], volume[CENTRE + 1], volume[CENTRE + 2] = x, y, z
