"""Bisection for contacts of straight motions, on signs of polynomials in floats.

An interval is free if all Bernstein coefficients of f have one sign beyond their error, or if one cross is positive and another
negative throughout on some axis. It has a contact if f has opposite signs at its ends and all crosses have the same sign on some
axis. Others are halved, the left half first, until they are short or only noise is left; these stay open. If the corners remain in
one plane (`planar`), f decides nothing: contact is where all crosses have the same sign on some axis.

Guarantee: an interval called free is free, a contact is a contact; what floats cannot decide is listed as open.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np

from jostle.continuous.straight.polynomials import (
    CROSS_GROWTH_OF_HALVING,
    CROSSES,
    F_ERROR_OF_HALVING,
    VECTORS,
    FeatureMotion,
    LinearVector,
    Node,
    cross_place,
    crosses_into,
    cubic_into,
    kept_apart_by_an_axis,
    scaled_vectors_into,
    share_a_coordinate,
)
from jostle.kernels.handles import AddressTable
from jostle.kernels.jit import kernel
from jostle.kernels.numbers import as_int64
from jostle.kernels.structs import One, Record, Rows, Run, Struct, float64, int64, opener

FREE, CONTACT, OPEN, HALVE = 0, 1, 2, 3

DEEPEST = 50
MOST_NODES = 200
SPANS = 17  # of an open query, including one for a contact with an inaccurate time
MOST_OPEN = SPANS - 2  # intervals; beyond that the whole rest is open
DEPTH_OF_NOISE = 30  # if f is noise in a node this deep, halving it further only costs time
DEPTH_OF_PLANAR_NOISE = 20
STACK = DEEPEST + 4
OPEN_AT_ONCE = 256  # queries that wait for exact integers, at some 30 µs each


class Ladder(Record):
    """The kind of queries, whether corners remain in one plane, accuracy of times."""

    kind: int64
    planar: int64
    finest: float64


class OpenQuery(Record):
    """The result in floats: time, the time by which contact is certain, open spans."""

    row: int64
    time: float64
    certain: float64
    f_is_noise: int64  # f is unknown: it may be 0 at all times
    spans: int64
    span_start: Run[float64, Literal[17]]
    span_end: Run[float64, Literal[17]]


class FloatWork(Struct):
    """A query with its stack of intervals, and the queries waiting for integers."""

    ladder: One[Ladder]
    motion: One[FeatureMotion]
    vectors: Rows[LinearVector]
    nodes: Rows[Node]
    errors: Rows[float64]
    open_queries: Rows[OpenQuery]


open_float_work = opener(FloatWork)


class FError(NamedTuple):
    """The error bound of f, and its growth with each halving."""

    whole: float
    growth: float


class CrossSigns(NamedTuple):
    """The signs of the crosses on an axis."""

    opposed: bool  # one is positive and another negative throughout
    same: bool  # all have one sign throughout
    same_at_start: bool
    clear: bool  # some is more than its error somewhere
    noise: bool  # some is not


def new_float_work() -> AddressTable:
    """Return a workspace."""
    return FloatWork.table(
        ladder=np.zeros(1, Ladder.dtype),
        motion=np.zeros(1, FeatureMotion.dtype),
        vectors=np.zeros(VECTORS, LinearVector.dtype),
        nodes=np.zeros(STACK, Node.dtype),
        errors=np.zeros(CROSSES),
        open_queries=np.zeros(OPEN_AT_ONCE, OpenQuery.dtype),
    )


@kernel
def search(work: FloatWork, found: OpenQuery) -> int:
    """Decide the query of `work`: FREE, CONTACT or OPEN.

    A contact is not before the time found, except in an open span.
    """
    kind, planar, root = work.ladder.kind, work.ladder.planar != 0, work.nodes[0]
    found.time, found.certain, found.spans, found.f_is_noise = 0.0, 0.0, 0, 0
    if not planar and kept_apart_by_an_axis(kind, work.motion):
        return FREE
    if not scaled_vectors_into(kind, work.motion, work.vectors):
        return CONTACT
    f_error = cubic_into(kind, work.vectors, root)
    planar = planar or share_a_coordinate(work.motion)
    low = min(min(root.f[0], root.f[1]), min(root.f[2], root.f[3]))
    high = max(max(root.f[0], root.f[1]), max(root.f[2], root.f[3]))
    if not planar and (low > f_error or high < -f_error):
        return FREE
    if not planar and low >= -f_error and high <= f_error:
        found.f_is_noise = 1
    crosses_into(kind, work.vectors, root, work.errors)
    root.start, root.end, root.depth = 0.0, 1.0, 0.0
    return bisect(work, found, planar, FError(f_error, F_ERROR_OF_HALVING * max(high, -low)))


@kernel
def bisect(work: FloatWork, found: OpenQuery, planar: bool, f_error: FError) -> int:
    """Decide a query whose polynomials are in the first node."""
    crosses, top, visited = 3 + work.ladder.kind, 1, 0
    while top > 0:
        top -= 1
        visited += 1
        node = work.nodes[top]
        verdict = _verdict(work, node, f_error.whole + node.depth * f_error.growth, planar)
        if verdict == FREE:
            continue
        if verdict == CONTACT:
            found.time, found.certain = node.start, node.start
            if not planar:
                _narrow(work, top, f_error, found)
            return CONTACT
        if verdict == OPEN or node.depth >= DEEPEST or visited >= MOST_NODES or found.spans >= MOST_OPEN:
            if _note_open(found, node, visited >= MOST_NODES):
                break
            continue
        _halve(node, work.nodes[top + 1], crosses)
        top += 2
    return OPEN if found.spans > 0 else FREE


@kernel(forceinline=True)
def _note_open(found: OpenQuery, node: Node, visited_enough: bool) -> bool:
    """Add an interval to the open spans; return whether all later times are open.

    It extends the last span if it follows that.
    """
    if found.spans > 0 and found.span_end[found.spans - 1] == node.start:
        found.spans -= 1
    else:
        found.span_start[found.spans] = node.start
    end = 1.0 if visited_enough or found.spans >= MOST_OPEN else node.end
    found.span_end[found.spans] = end
    found.spans += 1
    return visited_enough or end == 1.0


@kernel(forceinline=True)
def _cross_signs(node: Node, errors: Rows[float64], crosses: int, k: int, growth: float) -> CrossSigns:
    """Return the signs of the crosses on axis k; `growth` is that of their errors."""
    some_above, some_below, all_above, all_below = False, False, True, True
    starts_above, starts_below, clear, noise, counted = True, True, False, False, False
    for j in range(crosses):
        error = errors[3 * j + k] * growth
        if error == 0.0:
            continue  # always 0, as is usual for parts along the axes: such a cross decides nothing
        counted = True
        at = cross_place(j, k)
        x0, x1, x2 = node.crosses[at], node.crosses[at + 1], node.crosses[at + 2]
        least, most = min(x0, min(x1, x2)), max(x0, max(x1, x2))
        above, below = least > error, most < -error
        some_above, some_below = some_above or above, some_below or below
        all_above, all_below = all_above and above, all_below and below
        starts_above, starts_below = starts_above and x0 > error, starts_below and x0 < -error
        if most > error or least < -error:
            clear = True
        else:
            noise = True
    same, same_at_start = counted and (all_above or all_below), counted and (starts_above or starts_below)
    return CrossSigns(some_above and some_below, same, same_at_start, clear, noise)


@kernel(forceinline=True)
def _verdict(work: FloatWork, node: Node, f_error: float, planar: bool) -> int:
    """Return what a node's coefficients say: FREE, CONTACT, OPEN or HALVE.

    CONTACT is at its start if planar; OPEN means that halving is of no use.
    """
    b0, b1, b2, b3 = node.f[0], node.f[1], node.f[2], node.f[3]
    low, high = min(min(b0, b1), min(b2, b3)), max(max(b0, b1), max(b2, b3))
    if not planar and (low > f_error or high < -f_error):
        return FREE
    growth = 1.0 + CROSS_GROWTH_OF_HALVING * node.depth
    same, same_at_start, some_clear, mixed = False, False, False, False
    for k in range(3):
        signs = _cross_signs(node, work.errors, 3 + work.ladder.kind, k, growth)
        if signs.opposed:
            return FREE
        same, same_at_start = same or signs.same, same_at_start or signs.same_at_start
        some_clear, mixed = some_clear or signs.clear, mixed or (signs.clear and signs.noise)
    if planar:
        if same_at_start:
            return CONTACT
        return OPEN if not some_clear or (mixed and node.depth > DEPTH_OF_PLANAR_NOISE) else HALVE
    if same and ((b0 > f_error and b3 < -f_error) or (b0 < -f_error and b3 > f_error)):
        return CONTACT
    f_is_noise = high <= f_error and low >= -f_error
    return OPEN if not some_clear or (f_is_noise and (same or node.depth > DEPTH_OF_NOISE)) else HALVE


@kernel(forceinline=True)
def _halve(node: Node, left: Node, crosses: int) -> None:
    """Halve by de Casteljau: the left half goes to another node, the right half stays."""
    b0, b1, b2, b3 = node.f[0], node.f[1], node.f[2], node.f[3]
    l1, m, r2 = 0.5 * (b0 + b1), 0.5 * (b1 + b2), 0.5 * (b2 + b3)
    l2, r1 = 0.5 * (l1 + m), 0.5 * (m + r2)
    middle = 0.5 * (l2 + r1)
    left.f[0], left.f[1], left.f[2], left.f[3] = b0, l1, l2, middle
    node.f[0], node.f[1], node.f[2] = middle, r1, r2
    x, y = node.crosses, left.crosses
    for at in range(0, cross_place(crosses, as_int64(0)), 3):
        x0, x1, x2 = x[at], x[at + 1], x[at + 2]
        l1, r1 = 0.5 * (x0 + x1), 0.5 * (x1 + x2)
        middle = 0.5 * (l1 + r1)
        y[at], y[at + 1], y[at + 2] = x0, l1, middle
        x[at], x[at + 1] = middle, r1
    half = 0.5 * (node.start + node.end)
    left.start, left.end, node.start = node.start, half, half
    node.depth += 1.0
    left.depth = node.depth


@kernel
def _narrow(work: FloatWork, top: int, f_error: FError, found: OpenQuery) -> None:
    """Find the first root of f in interval `top`, on which all crosses agree.

    `time` is before the root, `certain` after one. The same bisection for f alone, in the nodes from `top` on. Ends early where f
    is noise.
    """
    last, finest = top, work.ladder.finest
    found.certain = work.nodes[top].end
    while top >= last:
        node = work.nodes[top]
        error = f_error.whole + node.depth * f_error.growth
        b0, b1, b2, b3 = node.f[0], node.f[1], node.f[2], node.f[3]
        low, high = min(min(b0, b1), min(b2, b3)), max(max(b0, b1), max(b2, b3))
        if low > error or high < -error:
            top -= 1
            continue
        found.time = node.start
        if (b0 > error and b3 < -error) or (b0 < -error and b3 > error):
            found.certain = min(found.certain, node.end)
        if node.end - node.start <= finest or node.depth >= DEEPEST or (low >= -error and high <= error):
            return
        _halve(node, work.nodes[top + 1], as_int64(0))
        top += 1
