"""Inner and cross products of components, for kernels that take scalars; `vector.py` has them for vectors."""

import math

from jostle.kernels.jit import kernel


@kernel
def dot(ax, ay, az, bx, by, bz):
    """Inner product of a and b."""
    return (ax * bx + ay * by) + az * bz


@kernel
def cross(ax, ay, az, bx, by, bz):
    """The three components of a × b."""
    return ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx


@kernel
def length(ax, ay, az):
    """Euclidean length; components of 1e-150 … 1e150 neither underflow nor overflow."""
    return math.sqrt((ax * ax + ay * ay) + az * az)
