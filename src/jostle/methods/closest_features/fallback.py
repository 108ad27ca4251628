"""Distances of pairs the walk did not settle: GJK, then all pairs of triangles.

Neither uses features, so they do not fail where the walk does; the last, a plain minimum over all pairs, never fails. The feature
that holds a point is looked up afterwards.
"""

from __future__ import annotations

import numpy as np

from jostle._types import Floats
from jostle.geometry.convex_surfaces import closest_of_all_triangles
from jostle.geometry.gjk import hull_distance
from jostle.geometry.rigid import transform_points
from jostle.methods.closest_features.polyhedron import EDGE, FACE, VERTEX, Polyhedron
from jostle.shapes.hull import hull_faces


def fallback_distance(
    shape_a: Polyhedron, shape_b: Polyhedron, pose_a: Floats, pose_b: Floats, error: float
) -> tuple[float, Floats, Floats]:
    """Return the distance of two bodies within `error`, and world closest points.

    The distance is 0.0 where they share a point.
    """
    points_a, points_b = shape_a.vertices, shape_b.vertices
    distance, point_a, point_b, known = hull_distance(points_a, points_b, pose_a, pose_b)
    if known > error:
        world_a, world_b = transform_points(pose_a, points_a), transform_points(pose_b, points_b)
        distance, point_a, point_b = closest_of_all_triangles(world_a, hull_faces(points_a), world_b, hull_faces(points_b))
    return distance, point_a, point_b


def feature_at(shape: Polyhedron, pose: Floats, point: Floats) -> tuple[int, int]:
    """Return the kind and index of the feature nearest to a world point.

    Of several within rounding, the one of lowest dimension.
    """
    vertices, edges = shape.vertices, shape.edges
    local = np.linalg.solve(pose[:3, :3], point - pose[:3, 3])
    near = 2.0**-30 * float(shape.sphere[3])
    off: Floats = np.linalg.norm(vertices - local, axis=1)
    if off.min() <= near:
        return VERTEX, int(off.argmin())
    tail, along = vertices[edges[:, 0]], vertices[edges[:, 1]] - vertices[edges[:, 0]]
    share = np.clip(np.einsum("ij,ij->i", local - tail, along) / np.einsum("ij,ij->i", along, along), 0.0, 1.0)
    off = np.linalg.norm(tail + share[:, None] * along - local, axis=1)
    if off.min() <= near:
        return EDGE, int(off.argmin())
    return FACE, int((shape.planes[:, :3] @ (local - shape.sphere[:3]) - shape.planes[:, 3]).argmax())
