"""The distance of two convex solids by all pairs of the triangles of their surfaces, and by containment.

What is left where a search that goes from step to step is led astray by rounding: nothing here depends on a direction, a sign or a
step before. The minimum over all pairs of triangles is within 128 · 2⁻⁵³ of the sizes and of the offset of the two, whatever the
shape of a triangle (`triangle_triangle_distance`); whether one solid holds the other is decided by an exact winding number.
It looks at every pair of triangles, so it is for pairs of bodies that nothing else settles.
"""

import math

import numpy as np

from jostle.geometry.aabb import boxes_squared_distance, face_boxes
from jostle.geometry.corners import corners
from jostle.geometry.triangle_triangle_distance import closest_points_of_triangles
from jostle.geometry.winding import crossing_winding
from jostle.kernels.arrays import read_only_view
from jostle.kernels.jit import kernel
from jostle.kernels.slices import run_in_slices

FIRST_SLICE = 1 << 18  # pairs of triangles


def closest_of_all_triangles(world_a, faces_a, world_b, faces_b):
    """Return the distance of two convex solids, 0.0 where they share a point, with closest points.

    Parameters
    ----------
    world_a, world_b : (n, 3) float64
        World vertices.
    faces_a, faces_b : (m, 3) int32
        Closed surfaces; both sides of a polygon are one, too.

    Returns
    -------
    distance : float
    point_a, point_b : (3,) float64
        A common point where one solid holds the other.
    """
    world_a, world_b, faces_a, faces_b = (read_only_view(array) for array in (world_a, world_b, faces_a, faces_b))
    for inner, inner_faces, outer, faces in ((world_a, faces_a, world_b, faces_b), (world_b, faces_b, world_a, faces_a)):
        point = inner[inner_faces[0, 0]]
        winding, on_surface = crossing_winding(float(point[0]), float(point[1]), float(point[2]), outer, faces)
        if winding != 0 or on_surface:
            return 0.0, point.copy(), point.copy()
    boxes_a, boxes_b = ([read_only_view(box) for box in face_boxes(w, f)] for w, f in ((world_a, faces_a), (world_b, faces_b)))
    best = np.full(7, np.inf)

    def scan(state, operations):
        first = state[0]
        last = state[0] = min(len(faces_a), first + max(1, operations // len(faces_b)))
        scan_triangles(world_a, faces_a, *boxes_a, world_b, faces_b, *boxes_b, first, last, best)
        return last == len(faces_a), (last - first) * len(faces_b)

    run_in_slices(scan, [0], FIRST_SLICE)
    return float(best[0]), best[1:4].copy(), best[4:].copy()


@kernel
def scan_triangles(va, fa, la, ua, vb, fb, lb, ub, first, last, best):
    """Improve best (7,), the distance and the closest points, by triangles first … last-1 of A and all of B."""
    for i in range(first, last):
        for j in range(fb.shape[0]):
            gap = boxes_squared_distance(
                la[i, 0], la[i, 1], la[i, 2], ua[i, 0], ua[i, 1], ua[i, 2],
                lb[j, 0], lb[j, 1], lb[j, 2], ub[j, 0], ub[j, 1], ub[j, 2],
            )  # fmt: skip
            if gap < best[0] * best[0] or math.isinf(best[0]):
                found = closest_points_of_triangles(*corners(va, fa, i), *corners(vb, fb, j))
                if found[0] < best[0]:
                    best[0], best[1], best[2], best[3] = found[0], found[1], found[2], found[3]
                    best[4], best[5], best[6] = found[4], found[5], found[6]
