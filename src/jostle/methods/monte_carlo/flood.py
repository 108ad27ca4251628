"""Flooding (§3.3, §3.4): from a root pair that is not separated to its neighbours.

"Once a new pair has been found, the pair update process creates new neighboring pairs that soon cover the entire connex area."
Here refinement below root pairs (pairs of coarsest facets) covers the area completely; flooding, over vertices and edges on either
side, only leads from one root pair to the next. With one level (the mesh alone) this is the paper's.
"""

from __future__ import annotations

from jostle.kernels.jit import kernel
from jostle.methods.monte_carlo.average_planes import gap_of_facets
from jostle.methods.monte_carlo.packed import are_neighbours, make_fresh
from jostle.methods.monte_carlo.work import (
    QUEUED,
    ROOT_KEY,
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
    """Append a pair to the pending pairs."""
    write_entry(work.pending[work.state.tail], pair)
    work.state.tail += 1


@kernel
def slot_of_root(work: Work, pair: FacetPair) -> int:
    """Return the slot of a root pair in the hash table, entering it if new."""
    key = Key(ROOT_KEY, pair)
    slot, found = find_slot(work, key)
    if not found:
        put_key(work, slot, key)
        work.payload[slot] = SEEN
    return slot


@kernel
def queue_root(work: Work, pair: FacetPair) -> None:
    """Queue a root pair for refinement to the end, unless it is or was queued."""
    slot = slot_of_root(work, pair)
    if work.payload[slot] & QUEUED == 0:
        work.payload[slot] |= QUEUED
        postpone(work, pair)


@kernel
def flood(work: Work, pair: FacetPair) -> int:
    """Queue the root pairs around one that are not separated; returns the tests.

    In one body, neighbours are no pairs.
    """
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
            key = Key(ROOT_KEY, beside)
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
