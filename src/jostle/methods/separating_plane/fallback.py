"""The distance of two hulls by all pairs of their triangles.

For pairs on which the search for a plane gives up. A body without thickness has the two sides of its polygon; a line or a point has
triangles without area, which the triangle distance takes, too. All are closed surfaces.
"""

from __future__ import annotations

import itertools

import numpy as np

from jostle._types import Floats, Ints
from jostle.errors import InputError
from jostle.geometry.convex_surfaces import closest_of_all_triangles
from jostle.geometry.predicates import orient2d
from jostle.geometry.rigid import transform_points
from jostle.geometry.vector import Vec2
from jostle.methods.separating_plane.vertices import Vertices
from jostle.shapes.hull import hull_faces


class Triangles:
    """The triangles of hulls, made on first use."""

    def __init__(self) -> None:
        self._made: dict[int, tuple[Vertices, Ints]] = {}  # shapes are kept, so that their ids stay unique

    def of(self, shape: Vertices) -> Ints:
        """Return the faces (m,3) of the hull of a shape, by its points."""
        if id(shape) not in self._made:
            self._made[id(shape)] = shape, surface_of(shape.points.reshape(-1, 3))
        return self._made[id(shape)][1]

    def distance(self, shape_a: Vertices, shape_b: Vertices, pose_a: Floats, pose_b: Floats) -> tuple[float, Floats, Floats]:
        """Return the distance of two bodies and world closest points; 0.0 where they meet."""
        world_a, world_b = (transform_points(p, s.points.reshape(-1, 3)) for s, p in ((shape_a, pose_a), (shape_b, pose_b)))
        return closest_of_all_triangles(world_a, self.of(shape_a), world_b, self.of(shape_b))


def surface_of(points: Floats) -> Ints:
    """Return a closed surface (m,3) of the hull of distinct points (n,3).

    Outward faces; both sides of a flat hull.
    """
    try:
        return hull_faces(points)
    except InputError:  # no volume
        corners = corners_in_plane(points)
    rest = [corners[min(k, len(corners) - 1)] for k in range(1, max(len(corners), 3))]
    sides = [[corners[0], one, other] for one, other in itertools.pairwise(rest)]
    return np.array(sides + [side[::-1] for side in sides], np.int32)


def corners_in_plane(points: Floats) -> list[int]:
    """Return the hull corners, in order, of points in one plane or on one line.

    Decided exactly.
    """
    # Projected along the axis that shows the largest area: a projection of positive area keeps the corners.
    shadows = [(shadow_corners(points[:, axes]), axes) for axes in ([0, 1], [1, 2], [2, 0])]
    polygons = [(corners, axes) for corners, axes in shadows if len(corners) > 2]
    if not polygons:
        order = np.lexsort(points.T)
        return [int(order[0]), int(order[-1])]
    return max(polygons, key=lambda each: shadow_area(points[np.ix_(each[0], each[1])]))[0]


def shadow_corners(points: Floats) -> list[int]:
    """Return the hull corners of points (n,2), in order: lower chain, then upper."""
    order = np.lexsort((points[:, 1], points[:, 0])).tolist()
    corners: list[int] = []
    for direction in (order, order[::-1]):
        chain: list[int] = []
        for p in direction:
            while len(chain) > 1 and orient2d(*(Vec2(*points[i].tolist()) for i in (*chain[-2:], p))) <= 0:
                chain.pop()
            chain.append(p)
        corners += chain[:-1]
    return corners


def shadow_area(corners: Floats) -> float:
    """Return twice the area of a polygon (n,2)."""
    edges = corners[1:] - corners[0]
    return abs(float((edges[:-1, 0] * edges[1:, 1] - edges[:-1, 1] * edges[1:, 0]).sum()))
