"""The distance of two faces as it is reported: 0.0 exactly where they share a point.

`triangles_distance` rounds: for triangles that are apart by less than it can see it may give 0. These get the smallest
positive normal number instead, so that a distance of 0.0 means contact, as decided by the exact test, and nothing else does.
"""

from __future__ import annotations

from jostle.geometry.reported_distance import triangles_distance
from jostle.geometry.triangle import Triangle
from jostle.geometry.triangle_triangle import triangles_touch
from jostle.kernels.jit import kernel

SMALLEST_DISTANCE = 2.0**-1022


@kernel
def faces_distance(a: Triangle, b: Triangle) -> float:
    """Return the distance of two closed triangles."""
    if triangles_touch(a, b) != 0:
        return 0.0
    return max(SMALLEST_DISTANCE, triangles_distance(a, b))
