"""The closest points of many triangles, with the bytes of `geometry/triangle_triangle_distance.py`.

`distances.py` has the squared distances alone; here the points are chosen along with them. Triangles are (3, 3, n): coordinate,
corner, triangle.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from jostle._types import Bools, Floats
from jostle.methods.plain.distances import LAST, TriangleFrames, Triangles, closest_edge_pairs, cross, dot


class ClosestPairs(NamedTuple):
    """Squared distances (n,), and the closest points (3, n) of a and b."""

    squared: Floats
    on_a: Floats
    on_b: Floats

    def exchanged(self) -> ClosestPairs:
        """Return the same for b and a."""
        return ClosestPairs(self.squared, self.on_b, self.on_a)

    def taken_where(self, chosen: Bools, other: ClosestPairs) -> ClosestPairs:
        """Return those of another where it is chosen."""
        return ClosestPairs(*(np.where(chosen, one, old) for one, old in zip(other, self, strict=True)))


def closest_points_of_triangles(a: Triangles, b: Triangles) -> tuple[Floats, Floats]:
    """Return the closest points (3, n) of closed triangles, on a and on b."""
    origin = a[:, :1]
    a, b = a - origin, b - origin
    with np.errstate(all="ignore"):
        best, settled = _closest_of_edges(a, b)
        for _ in range(2):
            found = _corners_against_face(TriangleFrames.of(b), a).exchanged()
            best = best.taken_where((found.squared < best.squared) & ~settled, found).exchanged()
            a, b = b, a
    return origin[:, 0] + best.on_a, origin[:, 0] + best.on_b


def _closest_of_edges(a: Triangles, b: Triangles) -> tuple[ClosestPairs, Bools]:
    """Return the closest points of boundaries, and whether they settle the case."""
    squared, on_a, on_b, beyond = closest_edge_pairs(a, b)
    best, settled = ClosestPairs(np.full(a.shape[2], np.inf), a[:, 0], b[:, 0]), np.zeros(a.shape[2], bool)
    for i in range(3):
        for j in range(3):
            better = (squared[j, i] < best.squared) & ~settled
            best = best.taken_where(better, ClosestPairs(squared[j, i], on_a[:, j, i], on_b[:, j, i]))
            settled |= better & beyond[j, i]
    return best, settled


def _corners_against_face(frame: TriangleFrames, corners: Triangles) -> ClosestPairs:
    """Return the closest corners over faces, with the points on the face and on the corner.

    0 where an edge passes through the face, inf where no corner is over it.
    """
    n = cross(frame.u, frame.v)
    w = corners - frame.o[:, None]
    x, y, z = dot(w, frame.u[:, None]), dot(w, frame.v[:, None]), dot(w, n[:, None])
    squared, over = z * z, frame.over(x, y)
    last_x, last_y, last_z = x[LAST], y[LAST], z[LAST]
    share = last_z / (last_z - z)
    through_x, through_y = last_x + share * (x - last_x), last_y + share * (y - last_y)
    passes = ((last_z < 0.0) & (z > 0.0)) | ((last_z > 0.0) & (z < 0.0))
    passes &= frame.over(through_x, through_y)
    best, done = ClosestPairs(np.full(corners.shape[2], np.inf), frame.o, corners[:, 0]), np.zeros(corners.shape[2], bool)
    for k in range(3):
        over_face = ClosestPairs(squared[k], _out_of_frame(frame, x[k], y[k]), corners[:, k])
        best = best.taken_where(over[k] & (squared[k] < best.squared) & ~done, over_face)
        through = _out_of_frame(frame, through_x[k], through_y[k])
        best = best.taken_where(passes[k] & ~done, ClosestPairs(np.zeros(len(done)), through, through))
        done |= passes[k]
    return best


def _out_of_frame(frame: TriangleFrames, x: Floats, y: Floats) -> Floats:
    """Return the points with coordinates (x, y) in the planes of triangles."""
    found: Floats = frame.o + (x * frame.u + y * frame.v)
    return found
