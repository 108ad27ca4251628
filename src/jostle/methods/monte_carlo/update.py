"""The update of a sample pair (Guy and Debunne §3.3): by neighbours to a local minimum; and to the coarsest facets that are apart.

Each neighbour of either sample is compared with the other sample, the closest pair is taken, and so on until none is closer, or for
a few steps: the pair is looked at in the next frame again. Deviation: neighbours of one sample against the other, not all against
all, which is a dozen distances a step instead of a hundred; alternating, they get to the same places.

Coarsening (§4.2): a pair that is apart is followed at the coarsest levels at which it is still apart. The parent that comes next
is the smaller one of the two, so that coarsening undoes refinement step by step. It must be apart by a share of its radius, so
that a pair which hovers where its parents are just apart is not merged and refined in turns.
"""

import math

from jostle.kernels.jit import kernel
from jostle.methods.monte_carlo.average_planes import ROW, gap_of_facets, spread_of, squared_distance
from jostle.methods.monte_carlo.packed import AROUND, LINKS, PARENT, are_neighbours, make_fresh

MOST_STEPS = 3
HYSTERESIS = 0.1  # radii of the smaller parent that a merged pair must be apart by
RADIUS_PLACE, HALF_PLACE = 6, 7


@kernel
def walk(data, links, neighbour, stamps, bodies, relative, at, deformation, a, b, moving, fa, fb):  # type: ignore[no-untyped-def]
    """Go from a pair of facets to neighbours that are closer; returns facets and the number of distances.

    Arrays flat; a, b bodies of the couple whose relative pose stands at `at`; in one body neighbours are no pair.
    """
    tests = 1
    if moving:
        make_fresh(bodies, a, b, fa, fb, data, links, stamps, deformation)
    best = squared_distance(data, fa, fb, relative, at)
    for _ in range(MOST_STEPS):
        to_a, to_b = fa, fb
        for side in range(2):
            f = fb if side else fa
            for k in range(links[LINKS * f + AROUND], links[LINKS * (f + 1) + AROUND]):
                g, h = (fa, neighbour[k]) if side else (neighbour[k], fb)
                if a == b and are_neighbours(links, neighbour, g, h):
                    continue
                if moving:
                    make_fresh(bodies, a, b, g, h, data, links, stamps, deformation)
                distance = squared_distance(data, g, h, relative, at)
                tests += 1
                if distance < best:
                    best, to_a, to_b = distance, g, h
        if to_a == fa and to_b == fb:
            break
        fa, fb = to_a, to_b
    return fa, fb, tests


@kernel(forceinline=True)
def parents_of(data, links, fa, fb):  # type: ignore[no-untyped-def]
    """Return the pair from which refinement comes to this one: the smaller parent and the other facet; fa < 0: none."""
    pa, pb = links[LINKS * fa + PARENT], links[LINKS * fb + PARENT]
    if pa < 0 and pb < 0:
        return -1, -1
    size_a = data[ROW * pa + RADIUS_PLACE] if pa >= 0 else math.inf
    size_b = data[ROW * pb + RADIUS_PLACE] if pb >= 0 else math.inf
    if size_a <= size_b:
        return pa, fb
    return fa, pb


@kernel
def coarsen(data, links, neighbour, stamps, bodies, relative, at, deformation, a, b, moving, fa, fb, gap):  # type: ignore[no-untyped-def]
    """Go to the coarsest ancestors that are still apart; returns facets, their gap and the number of tests."""
    tests = 0
    while True:
        pa, pb = parents_of(data, links, fa, fb)
        if pa < 0 or (a == b and are_neighbours(links, neighbour, pa, pb)):
            return fa, fb, gap, tests
        if moving:
            make_fresh(bodies, a, b, pa, pb, data, links, stamps, deformation)
        wider = gap_of_facets(data, pa, pb, relative, at)
        tests += 1
        if wider <= HYSTERESIS * min(data[ROW * pa + RADIUS_PLACE], data[ROW * pb + RADIUS_PLACE]):
            return fa, fb, gap, tests
        fa, fb, gap = pa, pb, wider


@kernel
def coarsest_within(data, links, stamps, bodies, relative, at, deformation, a, b, moving, fa, fb, error):  # type: ignore[no-untyped-def]
    """Go to the coarsest ancestors whose points are all within `error` of each other, should they not be parted."""
    while True:
        pa, pb = parents_of(data, links, fa, fb)
        if pa < 0:
            return fa, fb
        if moving:
            make_fresh(bodies, a, b, pa, pb, data, links, stamps, deformation)
        if spread_of(data, pa, pb, relative, at) > error:
            return fa, fb
        fa, fb = pa, pb
