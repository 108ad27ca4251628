"""Refinement (Guy and Debunne §4.2): a pair of facets that no direction parts is replaced by pairs of children.

The larger of the two facets is replaced by its children, each of them is tested against the other facet at once, and those that
are not parted from it go on the stack. As the rule depends on the pair alone, each pair of faces is reached by one path from its
pair of coarsest facets, and what was refined before in this frame need not be again. Of those apart the one with the least gap is
kept: it is followed when nothing touches (§3.4).

In one body, a facet against itself is replaced by all pairs of its children, each child with itself among them.
"""

import numpy as np

from jostle.kernels.jit import kernel
from jostle.methods.monte_carlo.average_planes import ROW, gap_of_cylinders, gap_of_facets, in_frame
from jostle.methods.monte_carlo.packed import CHILDREN, EDGES, LEVEL, LINKS, make_fresh
from jostle.methods.monte_carlo.sharp_edges import gap_behind_planes
from jostle.methods.monte_carlo.workspace import ENTRY, ETA, SLACK


@kernel(forceinline=True)
def refine(  # type: ignore[no-untyped-def]
    data,
    links,
    child,
    planes,
    stamps,
    bodies,
    relative,
    at,
    deformation,
    a,
    b,
    moving,
    couple,
    fa,
    fb,
    stack,
    height,
    best_gap,
    best_a,
    best_b,
):
    """Push pairs of children that are not parted; returns the height, the least gap so far, its facets and the number of tests."""
    finest_a, finest_b = links[LINKS * fa + LEVEL] == 0, links[LINKS * fb + LEVEL] == 0
    i, j = ROW * fa, ROW * fb
    split_a = not finest_a and (finest_b or data[i + 6] >= data[j + 6])
    f = fa if split_a else fb
    first, least = height, 0.0
    eta, slack = relative[at + ETA], relative[at + SLACK]
    x, y, z, u, v, w = in_frame(data, fb, relative, at)
    px, py, pz, pu, pv, pw, pr, pe = (
        data[i], data[i + 1], data[i + 2], data[i + 3], data[i + 4], data[i + 5], data[i + 6], data[i + 7],
    )  # fmt: skip
    qr, qe = data[j + 6], data[j + 7]
    for k in range(links[LINKS * f + CHILDREN], links[LINKS * (f + 1) + CHILDREN]):
        g = np.int64(child[k])
        if moving:
            make_fresh(bodies, a, b, g if split_a else fa, fb if split_a else g, data, links, stamps, deformation)
        m = ROW * g
        if split_a:
            px, py, pz, pu, pv, pw, pr, pe = (
                data[m], data[m + 1], data[m + 2], data[m + 3], data[m + 4], data[m + 5], data[m + 6], data[m + 7],
            )  # fmt: skip
        else:
            x, y, z, u, v, w = in_frame(data, g, relative, at)
            qr, qe = data[m + 6], data[m + 7]
        gap = gap_of_cylinders(x - px, y - py, z - pz, pu, pv, pw, pr, pe, u, v, w, qr, qe, eta, slack)
        ga, gb = (g, fb) if split_a else (fa, g)
        if gap <= 0.0:
            row_a, row_b = links[LINKS * ga + EDGES], links[LINKS * gb + EDGES]
            if row_a >= 0 or row_b >= 0:
                gap = max(
                    gap, gap_behind_planes(planes, row_a, row_b, x - px, y - py, z - pz, data, ga, u, v, w, qr, qe, relative, at)
                )
        if gap > 0.0:
            if gap < best_gap:
                best_gap, best_a, best_b = gap, ga, gb
            continue
        to = ENTRY * height
        stack[to], stack[to + 1], stack[to + 2] = couple, ga, gb
        if gap < least:
            # The deepest comes first: where one row is enough it is found sooner.
            least = gap
            stack[to + 1], stack[to + 2] = stack[ENTRY * first + 1], stack[ENTRY * first + 2]
            stack[ENTRY * first + 1], stack[ENTRY * first + 2] = ga, gb
        height += 1
    if height > first + 1:
        last = ENTRY * (height - 1)
        stack[last + 1], stack[ENTRY * first + 1] = stack[ENTRY * first + 1], stack[last + 1]
        stack[last + 2], stack[ENTRY * first + 2] = stack[ENTRY * first + 2], stack[last + 2]
    return height, best_gap, best_a, best_b, links[LINKS * (f + 1) + CHILDREN] - links[LINKS * f + CHILDREN]


@kernel
def refine_itself(data, links, child, stamps, bodies, relative, at, deformation, body, moving, couple, f, stack, height):  # type: ignore[no-untyped-def]
    """Push the pairs of children of one facet of one body that are not parted; returns the height and the number of tests."""
    begin, end = links[LINKS * f + CHILDREN], links[LINKS * (f + 1) + CHILDREN]
    tests = 0
    for k in range(begin, end):
        g = child[k]
        to = ENTRY * height
        stack[to], stack[to + 1], stack[to + 2] = couple, g, g
        height += 1
        for m in range(k + 1, end):
            h = child[m]
            if moving:
                make_fresh(bodies, body, body, g, h, data, links, stamps, deformation)
            tests += 1
            if gap_of_facets(data, g, h, relative, at) <= 0.0:
                to = ENTRY * height
                stack[to], stack[to + 1], stack[to + 2] = couple, min(g, h), max(g, h)
                height += 1
    return height, tests
