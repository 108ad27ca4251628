"""Simplify old facet pairs, contacts at rest (Guy and Debunne 2004, §5.5).

The age of a pair is in seconds: it grows while the pair keeps its two facets and their relative speed is almost zero; otherwise it
restarts at 0. A pair beyond the limit is old. Old pairs nearest to the same two lattice nodes (the coarser facets of the response)
are merged: if all of them are old, only the one that overlaps most is active and represents the others. When a pair moves again,
all pairs of its nodes are active at once. To keep pairs from splitting and merging repeatedly, an old pair may be twice as fast
before it counts as moving, and the active pair stays active. Fewer than one pair per node (one per cell) would let nodes sink in
and pairs become young again: measured, an ellipsoid on a plate kept jolting.

Vertices of old pairs whose bodies are at rest are frozen: they are displayed and tested at their position from before the merge,
while the model continues with fewer pairs. If the model drifts from a frozen vertex by more than a tolerance, the vertex is
released and its pairs are young again, so displayed vertices are never farther off than that.
"""

from __future__ import annotations

import math

import numpy as np

from jostle._types import Floats
from jostle.kernels.jit import kernel
from jostle.sim.back_projection import FacetPairs
from jostle.sim.surfaces import Surfaces

STILL_MOVING = 2.0  # factor on the speed limit for old pairs


@kernel
def update_speeds(surfaces, moved, pairs, per_second):  # type: ignore[no-untyped-def]
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
    """Age all pairs slower than `still` (length per second); reset the others."""
    slowness = np.where(pairs.age >= limit, STILL_MOVING * still, still)
    pairs.age[:] = np.where(pairs.slip <= slowness, pairs.age + seconds, 0.0)


def simplify(pairs: FacetPairs, surfaces: Surfaces, limit: float) -> None:
    """Choose the active pairs: of old ones at the same two nodes only one."""
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
        """Return the positions (v,3) to display, freezing or releasing vertices.

        Points (v,3) are the model's.
        """
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
        return np.where(wanted[:, None], self.held, points)
