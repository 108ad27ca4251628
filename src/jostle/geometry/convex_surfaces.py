"""The distance of two convex solids by all triangle pairs, and by containment.

The fallback for a stepwise search that rounding leads astray: nothing here depends on a direction, a sign or an earlier step. The
minimum over all triangle pairs is within 128 · 2⁻⁵³ of the sizes and of the offset of the two, whatever the shape of a triangle
(`triangle_triangle_distance`); whether one solid contains the other is decided by an exact winding number. It visits every triangle
pair, so it is for body pairs that nothing else settles.
"""

from __future__ import annotations

import math

import numpy as np

from jostle._types import Floats, Ints
from jostle.geometry.aabb import bounds_squared_distance
from jostle.geometry.placed_faces import PlacedFaces, placed_faces
from jostle.geometry.triangle import bounds_at, face_at
from jostle.geometry.triangle_triangle_distance import closest_points_of_triangles
from jostle.geometry.vector import write_point_from
from jostle.geometry.winding import crossing_winding
from jostle.kernels.jit import kernel
from jostle.kernels.slices import run_in_slices

FIRST_SLICE = 1 << 18  # pairs of triangles


def closest_of_all_triangles(world_a: Floats, faces_a: Ints, world_b: Floats, faces_b: Ints) -> tuple[float, Floats, Floats]:
    """Return the distance of two convex solids with closest points; 0.0 if they meet.

    Parameters
    ----------
    world_a, world_b : (n, 3) float64
        World vertices.
    faces_a, faces_b : (m, 3) int32
        Closed surfaces; the two sides of a polygon make one.

    Returns
    -------
    distance : float
    point_a, point_b : (3,) float64
        A common point where one solid contains the other.
    """
    a, b = placed_faces(world_a, faces_a), placed_faces(world_b, faces_b)
    for inner, outer in ((a, b), (b, a)):
        point = inner.vertices[inner.faces[0, 0]]
        winding, on_surface = crossing_winding(point, outer.vertices, outer.faces)
        if winding != 0 or on_surface:
            return 0.0, point.copy(), point.copy()
    best = np.full(7, np.inf)

    def scan(state: list[int], operations: int) -> tuple[bool, int]:
        first = state[0]
        last = state[0] = min(len(faces_a), first + max(1, operations // len(faces_b)))
        scan_triangles(a, b, first, last, best)
        return last == len(faces_a), (last - first) * len(faces_b)

    run_in_slices(scan, [0], FIRST_SLICE)
    return float(best[0]), best[1:4].copy(), best[4:].copy()


@kernel
def scan_triangles(a: PlacedFaces, b: PlacedFaces, first: int, last: int, best: Floats) -> None:
    """Update best (7,), distance and closest points, with some triangles of a.

    Triangles first … last-1 of a against all of b.
    """
    for i in range(first, last):
        for j in range(b.faces.shape[0]):
            gap = bounds_squared_distance(bounds_at(a.lower, a.upper, i), bounds_at(b.lower, b.upper, j))
            if gap < best[0] * best[0] or math.isinf(best[0]):
                found = closest_points_of_triangles(face_at(a.vertices, a.faces, i), face_at(b.vertices, b.faces, j))
                if found.distance < best[0]:
                    best[0] = found.distance
                    write_point_from(best, 1, found.on_a)
                    write_point_from(best, 4, found.on_b)
