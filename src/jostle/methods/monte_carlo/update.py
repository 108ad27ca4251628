"""The update of a sample pair (§3.3, §4.2): closer neighbours, coarser facets.

Each neighbour of either sample is compared with the other sample, and the closest pair is taken, until none is closer or for a few
steps: the next frame updates the pair again. Deviation: neighbours of one sample against the other, not all against all, which
takes a dozen distances a step instead of a hundred and, alternating, leads to the same pairs.

Coarsening (§4.2): a separated pair is tracked at the coarsest levels at which it is still separated. The next parent is the smaller
of the two, so that coarsening undoes refinement step by step. It must be separated by a share of its radius, so that a pair at the
limit is not merged and refined in turns.
"""

from __future__ import annotations

import math

from jostle.kernels.jit import kernel
from jostle.kernels.numbers import as_int64
from jostle.methods.monte_carlo.average_planes import gap_of_facets, spread_of, squared_distance
from jostle.methods.monte_carlo.packed import are_neighbours, make_fresh
from jostle.methods.monte_carlo.work import FacetPair, Work, is_of_one_body, with_neighbour

MOST_STEPS = 3
HYSTERESIS = 0.1  # radii of the smaller parent that a merged pair must be apart by


@kernel
def walk(work: Work, pair: FacetPair) -> tuple[FacetPair, int]:
    """Walk to closer neighbours of a facet pair; returns it and the distance count.

    In one body neighbours are no pair.
    """
    one_body = is_of_one_body(work, pair)
    tests = 1
    make_fresh(work, pair)
    best = squared_distance(work, pair)
    for _ in range(MOST_STEPS):
        closest = pair
        for side in range(2):
            f = pair.b if side else pair.a
            for k in range(work.links[f].around, work.links[f + 1].around):
                beside = with_neighbour(work, pair, side, k)
                if one_body and are_neighbours(work, beside):
                    continue
                make_fresh(work, beside)
                distance = squared_distance(work, beside)
                tests += 1
                if distance < best:
                    best, closest = distance, beside
        if closest.a == pair.a and closest.b == pair.b:
            break
        pair = closest
    return pair, tests


@kernel(forceinline=True)
def parents_of(work: Work, pair: FacetPair) -> FacetPair:
    """Return the pair that refines to this one: the smaller parent, and the other.

    a < 0: none.
    """
    a, b = as_int64(work.links[pair.a].parent), as_int64(work.links[pair.b].parent)
    if a < 0 and b < 0:
        return FacetPair(pair.body_pair, -1, -1)
    size_a = work.facets[a].radius if a >= 0 else math.inf
    size_b = work.facets[b].radius if b >= 0 else math.inf
    if size_a <= size_b:
        return FacetPair(pair.body_pair, a, pair.b)
    return FacetPair(pair.body_pair, pair.a, b)


@kernel
def coarsen(work: Work, pair: FacetPair, gap: float) -> tuple[FacetPair, float, int]:
    """Go to the coarsest ancestors that are still apart.

    Returns the pair, its gap and the number of tests.
    """
    one_body = is_of_one_body(work, pair)
    tests = 0
    while True:
        coarser = parents_of(work, pair)
        if coarser.a < 0 or (one_body and are_neighbours(work, coarser)):
            return pair, gap, tests
        make_fresh(work, coarser)
        wider = gap_of_facets(work, coarser)
        tests += 1
        if wider <= HYSTERESIS * min(work.facets[coarser.a].radius, work.facets[coarser.b].radius):
            return pair, gap, tests
        pair, gap = coarser, wider


@kernel
def coarsest_within(work: Work, pair: FacetPair) -> FacetPair:
    """Go to the coarsest ancestors whose points are within the error of each other.

    If they are not separated.
    """
    while True:
        coarser = parents_of(work, pair)
        if coarser.a < 0:
            return pair
        make_fresh(work, coarser)
        if spread_of(work, coarser) > work.task.error:
            return pair
        pair = coarser
