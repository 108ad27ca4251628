"""Flooding (Guy and Debunne §3.3, §3.4): from a pair of coarsest facets that are not parted to the pairs around it.

"Once a new pair has been found, the pair update process creates new neighboring pairs that soon cover the entire connex area."
Here the area is covered by refinement below pairs of coarsest facets, which leaves nothing out; only from one of these to the
next there is flooding, over vertices and edges, on either side. With one level (the mesh alone) that is the paper's.
"""

from __future__ import annotations

from jostle.kernels.jit import kernel
from jostle.methods.monte_carlo.average_planes import gap_of_facets
from jostle.methods.monte_carlo.packed import are_neighbours, make_fresh
from jostle.methods.monte_carlo.work import (
    OF_ROOT,
    QUEUED,
    SEEN,
    FacetPair,
    Key,
    Work,
    in_order,
    is_of_one_body,
    with_neighbour,
    write_entry,
)
from jostle.methods.monte_carlo.workspace import find_slot, put_key


@kernel(forceinline=True)
def postpone(work: Work, pair: FacetPair) -> None:
    """Put a pair at the end of what is pending."""
    write_entry(work.pending[work.state.tail], pair)
    work.state.tail += 1


@kernel
def slot_of_root(work: Work, pair: FacetPair) -> int:
    """Return where a pair of coarsest facets stands in the hash table, from now on."""
    key = Key(OF_ROOT, pair)
    slot, found = find_slot(work, key)
    if not found:
        put_key(work, slot, key)
        work.payload[slot] = SEEN
    return slot


@kernel
def queue_root(work: Work, pair: FacetPair) -> None:
    """Have a pair of coarsest facets refined to the end, if it is not to be already."""
    slot = slot_of_root(work, pair)
    if work.payload[slot] & QUEUED == 0:
        work.payload[slot] |= QUEUED
        postpone(work, pair)


@kernel
def flood(work: Work, pair: FacetPair) -> int:
    """Queue the pairs of coarsest facets around one that are not parted (in one body no neighbours); returns the tests."""
    one_body = is_of_one_body(work, pair)
    tests = 0
    for side in range(2):
        f = pair.b if side else pair.a
        for k in range(work.links[f].around, work.links[f + 1].around):
            beside = with_neighbour(work, pair, side, k)
            if one_body:
                if are_neighbours(work, beside):
                    continue
                beside = in_order(beside)
            key = Key(OF_ROOT, beside)
            slot, found = find_slot(work, key)
            if found:
                continue
            put_key(work, slot, key)
            work.payload[slot] = SEEN
            make_fresh(work, beside)
            tests += 1
            if gap_of_facets(work, beside) <= 0.0:
                work.payload[slot] |= QUEUED
                postpone(work, beside)
    return tests
