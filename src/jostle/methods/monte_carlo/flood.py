"""Flooding (Guy and Debunne §3.3, §3.4): from a pair of coarsest facets that are not parted to the pairs around it.

"Once a new pair has been found, the pair update process creates new neighboring pairs that soon cover the entire connex area."
Here the area is covered by refinement below pairs of coarsest facets, which leaves nothing out; only from one of these to the
next there is flooding, over vertices and edges, on either side. With one level (the mesh alone) that is the paper's.
"""

from jostle.kernels.jit import kernel
from jostle.methods.monte_carlo.average_planes import gap_of_facets
from jostle.methods.monte_carlo.packed import AROUND, LINKS, are_neighbours, make_fresh
from jostle.methods.monte_carlo.workspace import ENTRY, OF_ROOT, QUEUED, SEEN, STAMP, TAIL, find_slot, put_key


@kernel(forceinline=True)
def queue_root(table, payload, pending, state, couple, fa, fb):  # type: ignore[no-untyped-def]
    """Have a pair of coarsest facets refined to the end, if it is not to be already."""
    slot, found = find_slot(table, state[STAMP], couple, OF_ROOT, fa, fb)
    if not found:
        put_key(table, payload, slot, state[STAMP], couple, OF_ROOT, fa, fb, SEEN, state)
    if payload[slot] & QUEUED == 0:
        payload[slot] |= QUEUED
        to = ENTRY * state[TAIL]
        pending[to], pending[to + 1], pending[to + 2] = couple, fa, fb
        state[TAIL] += 1


@kernel
def flood(  # type: ignore[no-untyped-def]
    data, links, neighbour, stamps, bodies, relative, at, deformation, a, b, moving, couple, fa, fb, table, payload, pending, state
):
    """Queue the pairs of coarsest facets around one that are not parted (in one body no neighbours); returns the tests."""
    tests = 0
    for side in range(2):
        f = fb if side else fa
        for k in range(links[LINKS * f + AROUND], links[LINKS * (f + 1) + AROUND]):
            g, h = (fa, neighbour[k]) if side else (neighbour[k], fb)
            if a == b:
                if are_neighbours(links, neighbour, g, h):
                    continue
                g, h = min(g, h), max(g, h)
            slot, found = find_slot(table, state[STAMP], couple, OF_ROOT, g, h)
            if found:
                continue
            put_key(table, payload, slot, state[STAMP], couple, OF_ROOT, g, h, SEEN, state)
            if moving:
                make_fresh(bodies, a, b, g, h, data, links, stamps, deformation)
            tests += 1
            if gap_of_facets(data, g, h, relative, at) <= 0.0:
                payload[slot] |= QUEUED
                to = ENTRY * state[TAIL]
                pending[to], pending[to + 1], pending[to + 2] = couple, g, h
                state[TAIL] += 1
    return tests
