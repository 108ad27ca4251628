"""Pairs that the walk could not settle: by GJK, and where that is not sharp enough, by all pairs of triangles.

Both work on the world vertices and know nothing of features, so that they fail at other places than the walk: at none, in the
end, since the last is a plain minimum over all pairs. The feature that holds a point is looked up afterwards.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from jostle.frame import Floats, Ints
from jostle.geometry.aabb import boxes_squared_distance, face_boxes
from jostle.geometry.corners import corners
from jostle.geometry.gjk import hull_distance
from jostle.geometry.rigid import transform_points
from jostle.geometry.triangle_triangle_distance import closest_points_of_triangles
from jostle.kernels.arrays import read_only_view
from jostle.kernels.jit import kernel
from jostle.kernels.slices import run_in_slices
from jostle.methods.closest_features.polyhedron import EDGE, EDGES, FACE, HEADER, VERTEX, VERTICES, Polyhedron
from jostle.shapes.hull import hull_faces

FIRST_SLICE = 1 << 18  # pairs of triangles


def settle_otherwise(
    shape_a: Polyhedron, shape_b: Polyhedron, pose_a: Floats, pose_b: Floats, error: float
) -> tuple[float, Floats, Floats]:
    """Return the distance of two bodies within `error`, and closest points (3,) in the world; 0.0 where they share a point."""
    points_a, points_b = vertices_of(shape_a), vertices_of(shape_b)
    distance, point_a, point_b, known = hull_distance(points_a, points_b, pose_a, pose_b)
    if known > error:
        world_a, world_b = transform_points(pose_a, points_a), transform_points(pose_b, points_b)
        distance, point_a, point_b = closest_of_all_triangles(world_a, hull_faces(points_a), world_b, hull_faces(points_b))
    return distance, point_a, point_b


def closest_of_all_triangles(world_a: Floats, faces_a: Ints, world_b: Floats, faces_b: Ints) -> tuple[float, Floats, Floats]:
    """Return distance and closest points of two solids with convex surfaces, by all pairs of their triangles."""
    for inner, outer, faces in ((world_a, world_b, faces_b), (world_b, world_a, faces_a)):
        if is_behind_all(inner[0], outer, faces):
            return 0.0, inner[0].copy(), inner[0].copy()
    arrays = [
        read_only_view(array)
        for vertices, faces in ((world_a, faces_a), (world_b, faces_b))
        for array in (vertices, faces, *face_boxes(vertices, faces))
    ]
    best = np.full(7, np.inf)

    def scan(state: list[int], operations: int) -> tuple[bool, int]:
        first = state[0]
        last = state[0] = min(len(faces_a), first + max(1, operations // len(faces_b)))
        arguments = (*arrays, first, last, best)
        scan_triangles(*arguments)
        return last == len(faces_a), (last - first) * len(faces_b)

    run_in_slices(scan, [0], FIRST_SLICE)
    return float(best[0]), best[1:4].copy(), best[4:].copy()


def is_behind_all(point: Floats, vertices: Floats, faces: Ints) -> bool:
    """Whether a point is behind the planes of all faces (as far as rounding tells; if it is near one, the faces say so too)."""
    a, b, c = (vertices[faces[:, k]] for k in range(3))
    normal = np.cross(b - a, c - a)
    return bool((np.einsum("ij,ij->i", normal, point - a) <= 0.0).all())


@kernel
def scan_triangles(va, fa, la, ua, vb, fb, lb, ub, first, last, best):  # type: ignore[no-untyped-def]
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


def vertices_of(shape: Polyhedron) -> Floats:
    """(v,3) the local vertices of a polyhedron."""
    vertices: Floats = shape.numbers[: 3 * shape.links[VERTICES]].reshape(-1, 3)
    return vertices


def feature_at(shape: Polyhedron, pose: Floats, point: Floats) -> tuple[int, int]:
    """Return kind and index of the feature nearest to a world point: of several within rounding the one of lowest dimension."""
    vertices = vertices_of(shape)
    local = np.linalg.solve(pose[:3, :3], point - pose[:3, 3])
    near = 2.0**-30 * float(shape.sphere[3])
    off: Floats = np.linalg.norm(vertices - local, axis=1)
    if off.min() <= near:
        return VERTEX, int(off.argmin())
    edges = edges_of(shape)
    tail, along = vertices[edges[:, 0]], vertices[edges[:, 1]] - vertices[edges[:, 0]]
    share = np.clip(np.einsum("ij,ij->i", local - tail, along) / np.einsum("ij,ij->i", along, along), 0.0, 1.0)
    off = np.linalg.norm(tail + share[:, None] * along - local, axis=1)
    if off.min() <= near:
        return EDGE, int(off.argmin())
    begin = 3 * int(shape.links[VERTICES]) + 9 * int(shape.links[EDGES])
    planes, centre = shape.numbers[begin:-3].reshape(-1, 4), shape.numbers[-3:]
    return FACE, int((planes[:, :3] @ (local - centre) - planes[:, 3]).argmax())


def edges_of(shape: Polyhedron) -> NDArray[np.int32]:
    """(e,4) tail, head, left and right face of each edge."""
    edges: NDArray[np.int32] = shape.links[HEADER : HEADER + 4 * int(shape.links[EDGES])].reshape(-1, 4)
    return edges
