"""Pairs that the walk could not settle: by GJK, and where that is not sharp enough, by all pairs of triangles.

Both work on the world vertices and know nothing of features, so that they fail at other places than the walk: at none, in the
end, since the last is a plain minimum over all pairs. The feature that holds a point is looked up afterwards.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from jostle._types import Floats
from jostle.geometry.convex_surfaces import closest_of_all_triangles
from jostle.geometry.gjk import hull_distance
from jostle.geometry.rigid import transform_points
from jostle.methods.closest_features.polyhedron import EDGE, EDGES, FACE, HEADER, VERTEX, VERTICES, Polyhedron
from jostle.shapes.hull import hull_faces


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
