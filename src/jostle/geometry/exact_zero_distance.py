"""The reported distance of two faces: 0.0 exactly where they share a point.

`reported_distance` rounds: it may return 0 for triangles that are very close but apart. These get the smallest positive normal
number instead, so that 0.0 means contact, as decided by the exact test.
"""

from __future__ import annotations

from jostle.geometry.reported_distance import reported_distance
from jostle.geometry.triangle import Triangle
from jostle.geometry.triangle_triangle import triangles_touch
from jostle.kernels.jit import kernel

SMALLEST_DISTANCE = 2.0**-1022


@kernel
def exact_zero_distance(a: Triangle, b: Triangle) -> float:
    """Return the distance of two closed triangles, 0.0 only where they touch."""
    if triangles_touch(a, b) != 0:
        return 0.0
    return max(SMALLEST_DISTANCE, reported_distance(a, b))
