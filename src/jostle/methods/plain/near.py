"""Faces nearer than a clearance: which boxes are close enough, and the rows.

Boxes are compared with the clearance as in `distance_if_nearer`: a distance just above the clearance may round to one below it, so
two methods would disagree if one of them tested boxes in another way. Every rounding step is monotone, so the bound of two nodes is
never larger than that of what lies below them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, TypeAlias

import numpy as np

from jostle._types import Bytes, Floats, Longs
from jostle.geometry.aabb import ROUND_DOWN
from jostle.geometry.contact_kind import NEAR
from jostle.methods.plain.distances import Triangles, reported_distances
from jostle.methods.plain.tree import Boxes, Comparison

Kinds: TypeAlias = Callable[[Triangles, Triangles], Bytes]
"""Takes triangles whose boxes meet, and returns 0, TOUCHING or CROSSING of each pair."""


class WorldFaces(NamedTuple):
    """The faces of all bodies in the world: the flat table that trees refer to."""

    points: Floats  # (3, v) vertices
    corners: Longs  # (3, m) the vertices of each face

    def triangles(self, faces: Longs) -> Triangles:
        """Return some of the faces as (3, 3, n): corner, coordinate, face."""
        found: Triangles = self.points[:, self.corners[:, faces]].swapaxes(0, 1)
        return found


def within(boxes: Boxes, clearance: float) -> Comparison:
    """Return the comparison that keeps nodes whose boxes are within a clearance."""
    limit = clearance * clearance

    def keep(a: Longs, b: Longs) -> Longs:
        kept, squared = np.arange(len(a)), np.zeros(len(a))
        for axis in range(3):
            squared = squared + np.square(gaps_along(boxes.lower[axis], boxes.upper[axis], a[kept], b[kept]))
            inside = squared * ROUND_DOWN <= limit
            kept, squared = kept[inside], squared[inside]
        return kept

    return keep


def gaps_along(lower: Floats, upper: Floats, a: Longs, b: Longs) -> Floats:
    """Return the gaps of boxes along one axis, 0 where they overlap."""
    gap: Floats = np.maximum(np.maximum(0.0, lower[b] - upper[a]), lower[a] - upper[b])
    return gap


def squared_gaps(a: Triangles, b: Triangles) -> Floats:
    """Return `bounds_squared_distance` of the boxes of triangles (n,)."""
    squared = np.zeros(a.shape[2])
    for axis in range(3):
        lower_a, upper_a = _ends_along(a, axis)
        lower_b, upper_b = _ends_along(b, axis)
        squared += np.square(np.maximum(np.maximum(0.0, lower_b - upper_a), lower_a - upper_b))
    return squared * ROUND_DOWN


def _ends_along(t: Triangles, axis: int) -> tuple[Floats, Floats]:
    p, q, r = t[:, axis]
    return np.minimum(np.minimum(p, q), r), np.maximum(np.maximum(p, q), r)


def near_kinds(a: Triangles, b: Triangles, clearance: float, kinds: Kinds) -> tuple[Bytes, Floats]:
    """Return kinds and distances of triangles whose boxes are within a clearance.

    The kind is 0 where the triangles are not nearer than the clearance; their distance has no meaning.
    """
    kind, distance = np.zeros(a.shape[2], np.uint8), np.zeros(a.shape[2])
    meet = np.flatnonzero(squared_gaps(a, b) == 0.0)
    kind[meet] = kinds(a[..., meet], b[..., meet])
    apart = np.flatnonzero(kind == 0)
    distance[apart] = reported_distances(a[..., apart], b[..., apart])
    kind[apart[distance[apart] < clearance]] = NEAR
    return kind, distance
