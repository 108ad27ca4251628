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

from jostle._types import Floats, Longs
from jostle.geometry.aabb import ROUND_DOWN
from jostle.methods.plain.distances import reported_distances
from jostle.methods.plain.near import Kinds, WorldFaces, gaps_along, squared_gaps
from jostle.methods.plain.tree import Boxes, FacePairs, walk

ROUNDING = 2.0**-44  # of the extent of both bodies: `reported_distance` is off by less
MOST_PROMISING = 32  # node pairs of a level in the first walk
AT_ONCE = 1 << 13  # node pairs of a level in the second walk: fewer than for rows, so that faces come early
FACES_AT_ONCE = 1 << 10  # face pairs that are compared before the limit is looked at again


class ClosestFaces(NamedTuple):
    """The least distance, and the faces that have it, by numbers in the flat table."""

    distance: float
    face_a: int
    face_b: int


def closest_faces(boxes: Boxes, faces: WorldFaces, body_a: int, body_b: int, kinds: Kinds) -> ClosestFaces:
    """Return the closest faces of two bodies; the distance is 0 only where they touch."""
    search = ClosestSearch(boxes, faces, body_a, body_b, kinds)
    one, other = np.array([body_a]), np.array([body_b])
    for keep, at_once in ((search.most_promising, 4 * MOST_PROMISING), (search.near_enough, AT_ONCE)):
        for pairs in walk(boxes.plan, one, other, keep, at_once):
            search.compare(pairs)
            if search.best.distance == 0.0:
                return search.best
    return search.best


class ClosestSearch:
    """A search: the closest faces so far, and what they allow to leave out."""

    def __init__(self, boxes: Boxes, faces: WorldFaces, body_a: int, body_b: int, kinds: Kinds) -> None:
        roots = boxes.plan.root[[body_a, body_b]]
        extent = boxes.upper[:, roots].max(axis=1) - boxes.lower[:, roots].min(axis=1)
        self._boxes, self._faces, self._kinds = boxes, faces, kinds
        self._rounding = ROUNDING * float(extent.max())
        self.best = ClosestFaces(np.inf, -1, -1)
        self.face_tests = 0

    def _limit(self) -> float:
        """Return the squared gap up to which boxes may hold faces as close as the best."""
        return (self.best.distance + self._rounding) ** 2

    def most_promising(self, a: Longs, b: Longs) -> Longs:
        """Return the node pairs with the nearest boxes and centres; a `Comparison`."""
        boxes = self._boxes
        filled = np.flatnonzero((boxes.lower[0][a] < np.inf) & (boxes.lower[0][b] < np.inf))
        a, b, cost = a[filled], b[filled], np.zeros(len(filled))
        for lower, upper in zip(boxes.lower, boxes.upper, strict=True):
            # By gaps alone, large boxes come first.
            cost += np.square(gaps_along(lower, upper, a, b)) + 0.25 * np.square((lower[a] + upper[a]) - (lower[b] + upper[b]))
        return filled[np.sort(np.argsort(cost, kind="stable")[:MOST_PROMISING])]

    def near_enough(self, a: Longs, b: Longs) -> Longs:
        """Return the node pairs that may hold faces as close as the best; a `Comparison`."""
        boxes = self._boxes
        squared = np.zeros(len(a))
        for lower, upper in zip(boxes.lower, boxes.upper, strict=True):
            squared += np.square(gaps_along(lower, upper, a, b))
        return np.flatnonzero(squared * ROUND_DOWN <= self._limit())

    def compare(self, pairs: FacePairs) -> None:
        """Compare faces, those with the nearest boxes first."""
        a, b = self._faces.triangles(pairs.face_a), self._faces.triangles(pairs.face_b)
        gaps = squared_gaps(a, b)
        order = np.argsort(gaps, kind="stable")
        for begin in range(0, len(order), FACES_AT_ONCE):
            chosen = order[begin : begin + FACES_AT_ONCE]
            chosen = chosen[gaps[chosen] <= self._limit()]
            if len(chosen) == 0 or self.best.distance == 0.0:
                return
            self._compare_some(FacePairs(*(column[chosen] for column in pairs)), gaps[chosen])

    def _compare_some(self, pairs: FacePairs, gaps: Floats) -> None:
        a, b = self._faces.triangles(pairs.face_a), self._faces.triangles(pairs.face_b)
        self.face_tests += len(gaps)
        meet = np.flatnonzero(gaps == 0.0)
        touch = meet[self._kinds(a[..., meet], b[..., meet]) != 0]
        if len(touch):
            self._keep(0.0, pairs, touch)
            return
        distance = reported_distances(a, b)
        least = float(distance.min())
        self._keep(least, pairs, np.flatnonzero(distance == least))

    def _keep(self, distance: float, pairs: FacePairs, places: Longs) -> None:
        """Keep the lowest of these face pairs if it is closer, or as close and lower."""
        face_a, face_b = min(zip(pairs.face_a[places].tolist(), pairs.face_b[places].tolist(), strict=True))
        self.best = min(self.best, ClosestFaces(distance, face_a, face_b))
