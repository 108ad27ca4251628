"""The reported distance of two faces: 0.0 exactly where they share a point."""

from __future__ import annotations

from jostle.geometry.reported_distance import reported_distance
from jostle.geometry.triangle import Triangle
from jostle.geometry.triangle_triangle import triangles_touch
from jostle.kernels.jit import kernel


@kernel
def exact_zero_distance(a: Triangle, b: Triangle) -> float:
    """Return the distance of two closed triangles, 0.0 only where they touch."""
    if triangles_touch(a, b) != 0:
        return 0.0
    return reported_distance(a, b)
