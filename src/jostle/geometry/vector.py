"""Scalar helpers for three-dimensional vectors in kernels.

Components travel as separate floats, not as small arrays: an array in a kernel is a heap allocation (about 50 ns),
floats stay in registers. Only what several geometry files share stands here.
"""

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
