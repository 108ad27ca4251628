"""The closest faces of two bodies: branch and bound over two trees.

Two walks. The first keeps only the most promising node pairs of each level, and so finds a short distance after a few hundred face
pairs. The second keeps every node pair whose boxes are not farther apart than the best distance so far, and finds the least.

Distances of faces are rounded. Boxes are dropped only if they are farther apart than the best distance by more than that, so the
answer is the least of all face pairs, in whatever order they come. Ties go to the lowest (face_a, face_b). Faces that touch end the
search: of those any may be the answer.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from jostle._types import Bools, Floats, Longs
from jostle.methods.plain.distances import dot, reported_distances
from jostle.methods.plain.rows import PlacedBodies, squared_gaps
from jostle.methods.plain.tree import Comparison, FacePairs, walk
from jostle.methods.plain.triangles import triangles_touch
from jostle.report.report import Counters

ROUNDING = 2.0**-44  # of the extent of both bodies: `reported_distance` is off by less
MOST_PROMISING = 32  # node pairs of a level in the first walk
AT_ONCE = 1 << 13  # node pairs of a level in the second walk: fewer than for rows, so that faces come early
FACES_AT_ONCE = 1 << 10  # face pairs that are compared before the limit is looked at again


class ClosestFaces(NamedTuple):
    """The least distance, and the faces that have it."""

    distance: float
    face_a: int
    face_b: int


def closest_faces(placed: PlacedBodies, body_a: int, body_b: int) -> tuple[ClosestFaces, Counters]:
    """Return the closest faces of two bodies, and the work; the distance is 0 only where they touch."""
    search = ClosestSearch(placed, body_a, body_b)
    search.walk(search.most_promising)
    if search.best.distance > 0.0:
        search.walk(search.near_enough)
    return search.best, Counters(box_tests=search.node_tests, distance_tests=search.face_tests)


class ClosestSearch:
    """A search: the closest faces so far, and what they allow to leave out."""

    def __init__(self, placed: PlacedBodies, body_a: int, body_b: int) -> None:
        boxes = placed.boxes
        roots = boxes.plan.root[[body_a, body_b]]
        extent = boxes.upper[:, roots].max(axis=1) - boxes.lower[:, roots].min(axis=1)
        self._placed, self._certain = placed, placed.certain(0.0)
        self._body_a, self._body_b = np.array([body_a], np.int32), np.array([body_b], np.int32)
        self._rounding = ROUNDING * float(extent.max())
        self.best = ClosestFaces(np.inf, -1, -1)
        self.node_tests = self.face_tests = 0

    def walk(self, keep: Comparison) -> None:
        """Compare the faces of all nodes that a comparison keeps, or up to two that touch."""
        for pairs in walk(self._placed.boxes.plan, self._body_a, self._body_b, keep, AT_ONCE):
            self.compare(pairs)
            if self.best.distance == 0.0:
                return

    def _limit(self) -> float:
        """Return the bound up to which faces may be as close as the best."""
        return self.best.distance + self._rounding

    def most_promising(self, a: Longs, b: Longs) -> Longs:
        """Return the node pairs with the nearest boxes and centres; a `Comparison`."""
        boxes = self._placed.boxes
        self.node_tests += len(a)
        cost = squared_gaps(boxes, a, b)
        filled = np.flatnonzero(cost < np.inf)
        a, b, cost = a[filled], b[filled], cost[filled]
        for lower, upper in zip(boxes.lower, boxes.upper, strict=True):
            # By gaps alone, large boxes come first.
            cost += 0.25 * np.square((lower[a] + upper[a]) - (lower[b] + upper[b]))
        return filled[np.sort(np.argsort(cost, kind="stable")[:MOST_PROMISING])]

    def near_enough(self, a: Longs, b: Longs) -> Longs:
        """Return the node pairs that may hold faces as close as the best; a `Comparison`."""
        self.node_tests += len(a)
        return np.flatnonzero(squared_gaps(self._placed.boxes, a, b) <= self._limit() ** 2)

    def compare(self, pairs: FacePairs) -> None:
        """Compare faces, those with the least bounds first."""
        bounds = self._bounds(pairs)
        order = np.argsort(bounds, kind="stable")
        for begin in range(0, len(order), FACES_AT_ONCE):
            chosen = order[begin : begin + FACES_AT_ONCE]
            chosen = chosen[bounds[chosen] <= self._limit()]
            if len(chosen) == 0 or self.best.distance == 0.0:
                return
            self._compare_some(FacePairs(*(column[chosen] for column in pairs)))

    def _bounds(self, pairs: FacePairs) -> Floats:
        """Return lower bounds of distances: the gaps along the lines between centres.

        They are rounded by some 2^-50 of the extent, and the limit allows for 2^-46 besides the rounding of distances.
        """
        a, b = self._placed.corners(pairs.face_a), self._placed.corners(pairs.face_b)
        a, b = a - a[:, :1], b - a[:, :1]
        along = b.sum(axis=1) - a.sum(axis=1)
        length = np.sqrt(dot(along, along))
        gap = dot(b, along[:, None]).min(axis=0) - dot(a, along[:, None]).max(axis=0)
        bounds: Floats = np.divide(gap, length, out=np.zeros(len(gap)), where=length > 0.0)
        return bounds

    def _compare_some(self, pairs: FacePairs) -> None:
        a, b = self._placed.corners(pairs.face_a), self._placed.corners(pairs.face_b)
        self.face_tests += len(pairs.pair)
        meet = np.flatnonzero(boxes_meet(a, b))
        if len(meet):
            kind = triangles_touch(a[:, :, meet].swapaxes(0, 1), b[:, :, meet].swapaxes(0, 1), self._certain)
            if kind.any():
                self._keep(0.0, pairs, meet[kind != 0])
                return
        distance = reported_distances(a, b)
        least = float(distance.min())
        self._keep(least, pairs, np.flatnonzero(distance == least))

    def _keep(self, distance: float, pairs: FacePairs, places: Longs) -> None:
        """Keep the lowest of these face pairs if it is closer, or as close and lower."""
        first = self._placed.table.first_face
        face_a, face_b = pairs.face_a[places] - first[self._body_a], pairs.face_b[places] - first[self._body_b]
        self.best = min(self.best, ClosestFaces(distance, *min(zip(face_a.tolist(), face_b.tolist(), strict=True))))


def boxes_meet(a: Floats, b: Floats) -> Bools:
    """Return whether the boxes of triangles (coordinate, corner, pair) share a point."""
    meet: Bools = ((a.min(axis=1) <= b.max(axis=1)) & (b.min(axis=1) <= a.max(axis=1))).all(axis=0)
    return meet
