"""Old facet pairs (Guy and Debunne 2004, §5.5): contacts at rest are simplified, without a visible change.

The age of a pair is in seconds: it grows by the time of a step as long as its two facets stay the same and their speed relative to
each other is almost null, and begins at 0 again when one of the two fails. A pair that has reached the limit is old. Old pairs
nearest to the same two nodes of the lattices (the coarser facets of the response) are merged: where all of them are old, only the
one that overlaps most is worked on, the others stand behind it. A pair that moves again is not old any more, and all pairs of its
nodes are worked on at once. To keep pairs from splitting and merging in turns, an old pair may be twice as fast before it counts
as moving, and the one that is worked on stays the one. Fewer than one pair for a node (one for a cell) would let the nodes between
sink in and be young again, over and over: measured, an ellipsoid on a plate kept jolting.

Vertices of old pairs whose bodies do not move either are frozen: they are displayed, and tested, where they were when the contact
was worked out precisely, while the model below goes on with fewer pairs. One from which the model has drifted away by more than a
tolerance is let go, and its pairs are young again: what is displayed is never farther off than that.
"""

from __future__ import annotations

import math

import numpy as np

from jostle._types import Floats
from jostle.kernels.jit import kernel
from jostle.sim.back_projection import FacetPairs
from jostle.sim.surfaces import Surfaces

STILL_MOVING = 2.0  # times the speed below which a pair ages: an old one may be that fast


@kernel
def take_speeds(surfaces, moved, pairs, per_second):  # type: ignore[no-untyped-def]
    """Write slip and speed of all pairs over a step with vertex displacements (v,3)."""
    share = per_second / 3.0
    for p in range(pairs.face_a.shape[0]):
        fa, fb = pairs.face_a[p], pairs.face_b[p]
        slip, speed_a, speed_b = 0.0, 0.0, 0.0
        for k in range(3):
            a = share * ((moved[surfaces.face[fa, 0], k] + moved[surfaces.face[fa, 1], k]) + moved[surfaces.face[fa, 2], k])
            b = share * ((moved[surfaces.face[fb, 0], k] + moved[surfaces.face[fb, 1], k]) + moved[surfaces.face[fb, 2], k])
            slip += (b - a) * (b - a)
            speed_a += a * a
            speed_b += b * b
        pairs.slip[p], pairs.speed[p] = math.sqrt(slip), math.sqrt(max(speed_a, speed_b))


def grow_older(pairs: FacetPairs, seconds: float, still: float, limit: float) -> None:
    """Age all pairs by a step, or reset them; pairs slower than `still` (length per second) age."""
    slowness = np.where(pairs.age >= limit, STILL_MOVING * still, still)
    pairs.age[:] = np.where(pairs.slip <= slowness, pairs.age + seconds, 0.0)


def simplify(pairs: FacetPairs, surfaces: Surfaces, limit: float) -> None:
    """Choose the active pairs: of old ones at the same two nodes only the previous or the closest."""
    if not len(pairs.age) or pairs.age.max() < limit:
        pairs.work[:] = True
        return
    spread = int(surfaces.face_part.max()) - int(surfaces.face_part.min()) + 1
    _, group = np.unique(
        surfaces.face_part[pairs.face_a].astype(np.int64) * spread + surfaces.face_part[pairs.face_b], return_inverse=True
    )
    youngest = np.full(int(group.max()) + 1, np.inf)
    np.minimum.at(youngest, group, pairs.age)
    merged = youngest[group] >= limit
    order = np.lexsort((pairs.gap, ~pairs.work, group))
    first = np.ones(len(order), bool)
    first[1:] = group[order[1:]] != group[order[:-1]]
    stands_for_others = np.zeros(len(order), bool)
    stands_for_others[order[first]] = True
    pairs.work[:] = ~merged | stands_for_others


class FrozenVertices:
    """Which vertices (v,) of all bodies are frozen on display, and where."""

    def __init__(self, count: int) -> None:
        self.frozen = np.zeros(count, bool)
        self.held = np.zeros((count, 3))

    def __len__(self) -> int:
        return int(self.frozen.sum())

    def display(
        self, points: Floats, pairs: FacetPairs, surfaces: Surfaces, limit: float, still: float, tolerance: float
    ) -> Floats:
        """Return the positions (v,3) to display, freezing or releasing vertices; points (v,3) are the model's."""
        if not self.frozen.any() and (not len(pairs.age) or pairs.age.max() < limit):
            return points
        old = (pairs.age >= limit) & (pairs.speed <= STILL_MOVING * still)
        wanted = np.zeros(len(points), bool)
        faces_a, faces_b = surfaces.face[pairs.face_a], surfaces.face[pairs.face_b]
        wanted[faces_a[old]] = True
        wanted[faces_b[old]] = True
        drifted = self.frozen & (((points - self.held) ** 2).sum(axis=1) > tolerance * tolerance)
        if drifted.any():
            pairs.age[drifted[faces_a].any(axis=1) | drifted[faces_b].any(axis=1)] = 0.0
            wanted &= ~drifted
        began = wanted & ~self.frozen
        self.held[began] = points[began]
        self.frozen = wanted
        shown: Floats = np.where(wanted[:, None], self.held, points)
        return shown
