"""Refinement (§4.2): a facet pair that is not separated becomes pairs of children.

The larger of the two facets is replaced by its children; each child is tested against the other facet at once, and those that are
not separated go on the stack. Since the rule depends on the pair alone, each face pair is reached by one path from its root pair,
and a pair refined before in this frame need not be refined again. Of the separated pairs the one with the least gap is kept: it is
tracked when nothing touches (§3.4).

In one body, a facet against itself is replaced by all pairs of its children, each child with itself among them.
"""

from __future__ import annotations

from jostle.kernels.jit import kernel
from jostle.kernels.numbers import as_int64
from jostle.methods.monte_carlo.average_planes import cylinder_of, gap_of_cylinders, gap_of_facets, in_first_frame
from jostle.methods.monte_carlo.packed import make_fresh
from jostle.methods.monte_carlo.sharp_edges import gap_behind_planes
from jostle.methods.monte_carlo.work import FacetPair, Work, exchange, in_order, write_entry


@kernel(forceinline=True)
def push(work: Work, pair: FacetPair) -> None:
    """Put a pair on the stack."""
    write_entry(work.stack[work.state.height], pair)
    work.state.height += 1


@kernel(forceinline=True)
def splits_first(work: Work, pair: FacetPair) -> bool:
    """Return whether to split the first facet: the larger one that has children."""
    if work.links[pair.a].level == 0:
        return False
    return work.links[pair.b].level == 0 or work.facets[pair.a].radius >= work.facets[pair.b].radius


@kernel(forceinline=True)
def refine(work: Work, pair: FacetPair) -> int:
    """Push child pairs that are not separated; note the least gap of the others.

    Returns the number of tests.
    """
    state, relative = work.state, work.relative[pair.body_pair]
    split_a = splits_first(work, pair)
    f = pair.a if split_a else pair.b
    a, b = cylinder_of(work.facets[pair.a]), in_first_frame(relative, cylinder_of(work.facets[pair.b]))
    first, deepest = state.height, 0.0
    begin, end = as_int64(work.links[f].children), as_int64(work.links[f + 1].children)
    for k in range(begin, end):
        g = as_int64(work.child[k])
        finer = FacetPair(pair.body_pair, g, pair.b) if split_a else FacetPair(pair.body_pair, pair.a, g)
        make_fresh(work, finer)
        if split_a:
            a = cylinder_of(work.facets[g])
        else:
            b = in_first_frame(relative, cylinder_of(work.facets[g]))
        gap = gap_of_cylinders(a, b, relative)
        if gap <= 0.0 and (work.links[finer.a].edge_row >= 0 or work.links[finer.b].edge_row >= 0):
            gap = max(gap, gap_behind_planes(work, finer, a, b))
        if gap > 0.0:
            if gap < state.closest_gap:
                state.closest_gap, state.closest_a, state.closest_b = gap, finer.a, finer.b
            continue
        push(work, finer)
        if gap < deepest:
            # The deepest comes first: where one row is enough, it is found sooner.
            deepest = gap
            exchange(work.stack, first, state.height - 1)
    if state.height > first + 1:
        exchange(work.stack, first, state.height - 1)
    return end - begin


@kernel
def refine_itself(work: Work, pair: FacetPair) -> int:
    """Push the child pairs of one facet with itself that are not separated.

    Returns the number of tests.
    """
    begin, end = as_int64(work.links[pair.a].children), as_int64(work.links[pair.a + 1].children)
    tests = 0
    for k in range(begin, end):
        g = as_int64(work.child[k])
        push(work, FacetPair(pair.body_pair, g, g))
        for m in range(k + 1, end):
            children = FacetPair(pair.body_pair, g, as_int64(work.child[m]))
            make_fresh(work, children)
            tests += 1
            if gap_of_facets(work, children) <= 0.0:
                push(work, in_order(children))
    return tests
