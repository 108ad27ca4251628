"""Conservative overlap test of an oriented and an axis-aligned box, by 15 axes.

The oriented box is a centre and three half axes u, v, w. They need not be quite orthogonal (poses are rigid to 1e-5 only): any
separating axis is a proof, however it was made. Everything that does not depend on the positions of the boxes is set up once
(`set_up_oriented_box`), since a body has thousands of boxes of one size and orientation.

Guarantee: "no" only when the exact boxes, the axis-aligned one grown by the padding, share no point. Rounding: in units of
2^-53, a projection of the distance d of the centres on an axis a is off by at most 4 ‖a‖₁ ‖d‖∞, the sum of the half axes'
projections by 12 ‖a‖₁ ‖u, v, w‖∞ and that of the box by 4 ‖a‖₁ ‖h‖∞, while growing the half extents h by s grows it by ‖a‖₁ s; so
16 times the sum of the three lengths is enough. False positives occur only within that and the padding.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from jostle.geometry.vector import Vec3, absolute, cross, dot, plus
from jostle.kernels.jit import kernel

Table = NDArray[np.float64]

# A row of a table of oriented boxes: half axes u, v, w (9), padding, radii along x, y, z, along u, v, w, and along u × x, u × y,
# u × z, v × x, …, w × z.
WIDTH = 25
HALF_AXES, PADDING, WORLD_RADII, OWN_RADII, EDGE_RADII = 0, 9, 10, 13, 16
ROUNDING = 2.0**-49


@kernel
def set_up_oriented_box(table: Table, row: int, u: Vec3, v: Vec3, w: Vec3, padding: float) -> None:
    """Write the constants of half axes u, v, w into a row of `table` (n, WIDTH)."""
    largest = 0.0
    for k, axis in enumerate((u, v, w)):
        write_triple(table, row, HALF_AXES + 3 * k, axis)
        size = absolute(axis)
        largest = max(largest, size.x, size.y, size.z)
        own, edges = 0.0, Vec3(0.0, 0.0, 0.0)
        for other in (u, v, w):
            own += abs(dot(axis, other))
            edges = plus(edges, absolute(cross(axis, other)))
        table[row, OWN_RADII + k] = own
        write_triple(table, row, EDGE_RADII + 3 * k, edges)
    table[row, PADDING] = padding + ROUNDING * largest
    write_triple(table, row, WORLD_RADII, plus(plus(absolute(u), absolute(v)), absolute(w)))


@kernel(forceinline=True)
def oriented_box_meets_box(table: Table, row: int, d: Vec3, half: Vec3) -> bool:
    """Return whether an oriented box, centred at d, meets a box about the origin.

    Conservative: never wrongly no. `row` is the oriented box in the table, `half` the half extents of the other.
    """
    away = absolute(d)
    grown = table[row, PADDING] + ROUNDING * (max(away.x, away.y, away.z) + max(half.x, half.y, half.z))
    h = Vec3(half.x + grown, half.y + grown, half.z + grown)
    if any_exceeds(away, plus(h, triple(table, row, WORLD_RADII))):
        return False
    if away.x <= h.x and away.y <= h.y and away.z <= h.z:
        return True  # the centre is inside
    for k in range(3):
        axis = triple(table, row, HALF_AXES + 3 * k)
        if abs(dot(axis, d)) > dot(absolute(axis), h) + table[row, OWN_RADII + k]:
            return False
    for k in range(3):
        axis = triple(table, row, HALF_AXES + 3 * k)
        size, radii = absolute(axis), triple(table, row, EDGE_RADII + 3 * k)
        reach = Vec3(size.z * h.y + size.y * h.z, size.x * h.z + size.z * h.x, size.y * h.x + size.x * h.y)
        if any_exceeds(absolute(cross(axis, d)), plus(reach, radii)):
            return False
    return True


@kernel(forceinline=True)
def any_exceeds(lengths: Vec3, radii: Vec3) -> bool:
    """Return whether a coordinate is larger than its radius."""
    return lengths.x > radii.x or lengths.y > radii.y or lengths.z > radii.z


@kernel(forceinline=True)
def triple(table: Any, row: int, column: int) -> Vec3:
    """Return three numbers of a row."""
    return Vec3(table[row, column], table[row, column + 1], table[row, column + 2])


@kernel(forceinline=True)
def write_triple(table: Any, row: int, column: int, a: Vec3) -> None:
    """Write three numbers of a row."""
    table[row, column], table[row, column + 1], table[row, column + 2] = a.x, a.y, a.z
