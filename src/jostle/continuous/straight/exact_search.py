"""The bisection of `search.py` with the exact signs of integers.

Exact signs say more than floats: Bernstein coefficients >= 0 that are not all 0 belong to a polynomial that is positive inside the
interval, so the inside may be free while the ends touch; and contact at the ends is decided, by the dots if all crosses are 0.
Intervals are halved at most 34 times. Open remain contacts at other fractions of the interval, at which some further sign is
exactly 0, and near misses at a distance of some 1e-20.

Translations are open only on a line: their times are fractions (`translation.py`). That is the usual case of flat parts that slide
or land on each other.

The status of a query, by its whole step (`decide_whole_step`), and then by each span that floats left open (`decide_spans`):

    status        of the step                                       of a span
    FREE          a translation without contact                     no contact: the next span decides
    CONTACT       a translation with contact                        contact, not before the time and at most `finest` after it
    OPEN          a translation along a line that stayed open       it stayed open: left to larger integers
    IN_A_PLANE    f is 0 at all times: floats search again          -
    BY_SPANS      anything else: its spans decide                   -
    NEEDS_DOTS    -                                                 all crosses are 0 somewhere: the same span again, with dots

`bisect` visits the intervals of a span from left to right. Their signs (`Verdict`) decide; the first row that applies:

    needs_dots                              NEEDS_DOTS
    at_start                                CONTACT at its start; OPEN if an interval before it stayed open, by more than `finest`
    not nothing_inside, contact certain     CONTACT at its start, if contact is certain not more than `finest` later
    not nothing_inside, 400 were visited    OPEN
    not nothing_inside, not halved 34 times its halves are the next two intervals
    not nothing_inside                      it stays open, and the next interval follows
    nothing_inside                          the next interval; after the last one, with at_end, CONTACT at the end, or OPEN as above
    no interval is left                     OPEN if one stayed open, else FREE
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from jostle.continuous.straight.digits import (
    MOST_OF_INTERVAL,
    POLYNOMIALS_AT,
    Digits,
    Number,
    Polynomials,
    Span,
    after,
    carry,
    dots_into,
    first_of_dot,
    first_of_f,
    first_of_quadratic,
    nth,
    polynomials_into,
    sign,
    vectors_into,
)
from jostle.continuous.straight.search import CONTACT, FREE, OPEN, OpenQuery
from jostle.continuous.straight.translation import FINEST_FRACTION, first_root, is_translation
from jostle.kernels.handles import AddressTable
from jostle.kernels.jit import kernel
from jostle.kernels.structs import Record, Rows, Struct, int64, opener

IN_A_PLANE, BY_SPANS, NEEDS_DOTS = 4, 5, 6  # after those of `search.py`

LEVELS = 34
MOST_INTERVALS = 400
WAITING = LEVELS + 3


class WaitingInterval(Record):
    """Number `place` of the 2^level equal parts of a span."""

    level: int64
    place: int64


class ExactWork(Struct):
    """All numbers of a query (`digits.py`), and its waiting intervals.

    The polynomials of the intervals are at the end.
    """

    digits: Rows[int64]
    intervals: Rows[WaitingInterval]


open_exact_work = opener(ExactWork)


def new_exact_work() -> AddressTable:
    """Return a workspace: 0.4 MB."""
    return ExactWork.table(
        digits=np.empty(POLYNOMIALS_AT + WAITING * MOST_OF_INTERVAL, np.int64),
        intervals=np.zeros(WAITING, WaitingInterval.dtype),
    )


class ExactQuery(NamedTuple):
    """A query: its kind, its size, and the accuracy of times."""

    kind: int
    length: int  # digits of a coordinate
    finest: float


class Decision(NamedTuple):
    """A status of the table above, and the time of a contact, or inf."""

    status: int
    time: float


class Verdict(NamedTuple):
    """What the signs of the polynomials say about their interval.

    The last four hold unless dots are needed.
    """

    needs_dots: bool
    nothing_inside: bool
    certainly_inside: bool
    at_start: bool
    at_end: bool


class Signs(NamedTuple):
    """Signs of a quadratic's coefficients: both ends, least and greatest."""

    start: int
    end: int
    least: int
    most: int


class EndSigns(NamedTuple):
    """The signs of the crosses on an axis at an end of an interval."""

    opposed: bool  # one is positive and another negative
    clear: bool  # some is not 0


class AxisSigns(NamedTuple):
    """The signs of the crosses on an axis."""

    opposed: bool  # one is positive and another negative, inside
    same: bool  # all have one sign or are 0, and one of them has it inside
    vanish: bool  # all are 0 at all times
    start: EndSigns
    end: EndSigns


class DotSigns(NamedTuple):
    """The signs of the dots."""

    some_at_start: bool  # is not positive
    some_at_end: bool
    all_positive: bool  # inside


@kernel(forceinline=True)
def _signs(digits: Digits, first: Number) -> Signs:
    """Return the signs of a quadratic."""
    second = after(first)
    x0, x1, x2 = sign(digits, first), sign(digits, second), sign(digits, after(second))
    return Signs(x0, x2, min(x0, min(x1, x2)), max(x0, max(x1, x2)))


@kernel(forceinline=True)
def _axis_signs(digits: Digits, p: Polynomials, k: int) -> AxisSigns:
    """Return the signs of the crosses on an axis."""
    start_least, start_most, end_least, end_most = 0, 0, 0, 0
    some_above, some_below, none_below, none_above = False, False, True, True
    for j in range(p.crosses):
        x = _signs(digits, first_of_quadratic(p, p.axes * j + k))
        start_least, start_most = min(start_least, x.start), max(start_most, x.start)
        end_least, end_most = min(end_least, x.end), max(end_most, x.end)
        some_above, some_below = some_above or (x.least >= 0 and x.most > 0), some_below or (x.most <= 0 and x.least < 0)
        none_below, none_above = none_below and x.least >= 0, none_above and x.most <= 0
    return AxisSigns(
        some_above and some_below,
        (none_below and some_above) or (none_above and some_below),
        none_below and none_above,
        EndSigns(start_least < 0 < start_most, start_least < 0 or start_most > 0),
        EndSigns(end_least < 0 < end_most, end_least < 0 or end_most > 0),
    )


@kernel(forceinline=True)
def _dot_signs(digits: Digits, p: Polynomials) -> DotSigns:
    """Return the signs of the dots."""
    some_at_start, some_at_end, all_positive = False, False, True
    for j in range(p.crosses):
        x = _signs(digits, first_of_dot(p, j))
        some_at_start, some_at_end = some_at_start or x.start <= 0, some_at_end or x.end <= 0
        all_positive = all_positive and x.least >= 0 and x.most > 0
    return DotSigns(some_at_start, some_at_end, all_positive)


@kernel
def _verdict(digits: Digits, p: Polynomials) -> Verdict:
    """Return what the signs of polynomials say about their interval."""
    f0 = first_of_f(p)
    f1 = after(f0)
    f2 = after(f1)
    s0, s1, s2, s3 = sign(digits, f0), sign(digits, f1), sign(digits, f2), sign(digits, after(f2))
    least, most = min(min(s0, s1), min(s2, s3)), max(max(s0, s1), max(s2, s3))
    nothing_inside = (least >= 0 and most > 0) or (most <= 0 and least < 0)
    if nothing_inside and s0 != 0 and s3 != 0:
        return Verdict(False, True, False, False, False)
    same, all_vanish = False, True
    at_start, start_clear, at_end, end_clear = s0 == 0, False, s3 == 0, False
    for k in range(p.axes):
        axis = _axis_signs(digits, p, k)
        nothing_inside, same, all_vanish = nothing_inside or axis.opposed, same or axis.same, all_vanish and axis.vanish
        at_start, start_clear = at_start and not axis.start.opposed, start_clear or axis.start.clear
        at_end, end_clear = at_end and not axis.end.opposed, end_clear or axis.end.clear
    if (at_start and not start_clear) or (at_end and not end_clear) or all_vanish:
        if not p.dots:
            return Verdict(True, False, False, False, False)
        dots = _dot_signs(digits, p)
        at_start = at_start and (start_clear or dots.some_at_start)
        at_end = at_end and (end_clear or dots.some_at_end)
        nothing_inside = nothing_inside or (all_vanish and dots.all_positive)
    return Verdict(False, nothing_inside, not nothing_inside and same and s0 * s3 < 0, at_start, at_end)


@kernel
def _keep_what_decides(digits: Digits, p: Polynomials) -> Polynomials:
    """Drop the polynomials that an interval does not need, and return the rest.

    One axis is enough if some cross is nowhere 0 on it; then dots are not needed. No axis is needed if all crosses are 0.
    """
    axes, kept, step, all_vanish, fewest = 3, 0, 0, p.dots, p.crosses
    for k in range(3):
        nowhere_zero, changing = False, 0
        for j in range(p.crosses):
            x = _signs(digits, first_of_quadratic(p, 3 * j + k))
            all_vanish = all_vanish and x.least == 0 and x.most == 0
            nowhere_zero = nowhere_zero or x.least > 0 or x.most < 0
            if x.least < 0 < x.most:
                changing += 1
        if nowhere_zero and changing < fewest:  # the one with the fewest crosses that may change their sign
            axes, kept, step, fewest = 1, k, 3, changing
    if all_vanish:
        axes, kept, step = 0, 3 * p.crosses, 1
    if axes < 3:
        for j in range(p.crosses):
            to, source = first_of_quadratic(p, j), first_of_quadratic(p, kept + step * j)
            for i in range(3 * to.length):
                digits[to.at + i] = digits[source.at + i]
    return Polynomials(p.at, p.size, p.crosses, axes, p.dots and axes != 1)


@kernel(forceinline=True)
def _quadratics(p: Polynomials) -> int:
    """Return the number of quadratics."""
    return p.axes * p.crosses + (p.crosses if p.dots else 0)


@kernel(forceinline=True)
def _on_stack(p: Polynomials, top: int) -> Polynomials:
    """Return where the polynomials of waiting interval `top` are."""
    one = first_of_quadratic(p, _quadratics(p)).at - p.at
    return Polynomials(p.at + top * one, p.size, p.crosses, p.axes, p.dots)


@kernel(forceinline=True)
def _halve_f(digits: Digits, f0: Number, left0: Number) -> None:
    """Halve f, times 8."""
    f1, left1 = after(f0), after(left0)
    f2, left2 = after(f1), after(left1)
    f3, left3 = after(f2), after(left2)
    for q in range(f0.length):
        b0, b1, b2, b3 = digits[f0.at + q], digits[f1.at + q], digits[f2.at + q], digits[f3.at + q]
        middle = b0 + 3 * (b1 + b2) + b3
        digits[left0.at + q], digits[left1.at + q] = 8 * b0, 4 * (b0 + b1)
        digits[left2.at + q], digits[left3.at + q] = 2 * (b0 + 2 * b1 + b2), middle
        digits[f0.at + q], digits[f1.at + q] = middle, 2 * (b1 + 2 * b2 + b3)
        digits[f2.at + q], digits[f3.at + q] = 4 * (b2 + b3), 8 * b3
    for c in range(4):
        carry(digits, nth(left0, c))
        carry(digits, nth(f0, c))


@kernel(forceinline=True)
def _halve_quadratic(digits: Digits, first: Number, left0: Number) -> None:
    """Halve a quadratic, times 4."""
    second, left1 = after(first), after(left0)
    third, left2 = after(second), after(left1)
    for q in range(first.length):
        x0, x1, x2 = digits[first.at + q], digits[second.at + q], digits[third.at + q]
        middle = x0 + 2 * x1 + x2
        digits[left0.at + q], digits[left1.at + q], digits[left2.at + q] = 4 * x0, 2 * (x0 + x1), middle
        digits[first.at + q], digits[second.at + q], digits[third.at + q] = middle, 2 * (x1 + x2), 4 * x2
    for c in range(3):
        carry(digits, nth(left0, c))
        carry(digits, nth(first, c))


@kernel
def _halve(digits: Digits, p: Polynomials, left: Polynomials) -> None:
    """Halve polynomials: the left half goes to `left`, the right half stays."""
    _halve_f(digits, first_of_f(p), first_of_f(left))
    for n in range(_quadratics(p)):
        _halve_quadratic(digits, first_of_quadratic(p, n), first_of_quadratic(left, n))


@kernel(forceinline=True)
def _time_at(span: Span, place: int, level: int) -> float:
    """Return the time at `place` of 2^level parts of a span, rounded down."""
    time = span.start + (span.end - span.start) * (place * 2.0**-level)
    if level > 0 and place > 0 and not (span.start == 0.0 and span.end == 1.0):
        time = np.nextafter(time, -1.0)
    return max(span.start, time)


@kernel(forceinline=True)
def _contact_between(earliest: float, latest: float, finest: float) -> Decision:
    """Return a contact between two times, OPEN if they are too far apart."""
    return Decision(CONTACT, earliest) if latest - earliest <= finest else Decision(OPEN, math.inf)


@kernel
def bisect(work: ExactWork, p: Polynomials, span: Span, finest: float) -> Decision:
    """Decide the span of some polynomials, overwriting them."""
    digits = work.digits
    work.intervals[0].level, work.intervals[0].place = 0, 0
    top, visited, pending, certain = 1, 0, math.inf, math.inf
    while top > 0:
        top -= 1
        visited += 1
        interval = work.intervals[top]
        level, place, here = interval.level, interval.place, _on_stack(p, top)
        known = _verdict(digits, here)
        if known.needs_dots:
            return Decision(NEEDS_DOTS, math.inf)
        time = _time_at(span, place, level)
        earliest = min(pending, time)
        if known.at_start:
            return _contact_between(earliest, time, finest)
        if known.certainly_inside:
            certain = min(certain, span.start + (span.end - span.start) * ((place + 1) * 2.0**-level))
        if not known.nothing_inside:
            if certain - earliest <= finest:
                return Decision(CONTACT, earliest)
            if visited >= MOST_INTERVALS:
                return Decision(OPEN, math.inf)
            if level < LEVELS:
                _halve(digits, here, _on_stack(p, top + 1))
                left = work.intervals[top + 1]
                interval.level, interval.place = level + 1, 2 * place + 1
                left.level, left.place = level + 1, 2 * place
                top += 2
                continue
            pending = earliest
        if known.at_end and top == 0:
            return _contact_between(min(pending, span.end), span.end, finest)
    return Decision(OPEN if pending < math.inf else FREE, math.inf)


@kernel(forceinline=True)
def _f_vanishes(digits: Digits, p: Polynomials) -> bool:
    """Return whether f is 0 at all times."""
    f, nonzero = first_of_f(p), 0
    for i in range(f.at, f.at + 4 * f.length):
        nonzero |= digits[i]
    return nonzero == 0


@kernel
def decide_whole_step(work: ExactWork, query: ExactQuery, f_is_noise: bool) -> Decision:
    """Decide a translation, or say whether f vanishes or spans decide.

    `f_is_noise` says that it may vanish.
    """
    digits, kind = work.digits, query.kind
    step = Span(0.0, 1.0)
    size = vectors_into(digits, kind, query.length, step)
    translation = query.finest >= FINEST_FRACTION and is_translation(digits, kind, size)
    if not translation and not f_is_noise:
        return Decision(BY_SPANS, math.inf)
    p = polynomials_into(digits, kind, size)
    if not translation:
        return Decision(IN_A_PLANE if _f_vanishes(digits, p) else BY_SPANS, math.inf)
    p = dots_into(digits, kind, p)
    if _verdict(digits, p).at_start:
        return Decision(CONTACT, 0.0)
    root = first_root(digits, p)
    if root.on_a_line:
        return bisect(work, p, step, query.finest)
    return Decision(CONTACT if root.time <= 1.0 else FREE, root.time)


@kernel
def decide_spans(work: ExactWork, query: ExactQuery, known: OpenQuery) -> Decision:
    """Decide the open spans of a query; the first that is not free decides."""
    digits, span, with_dots = work.digits, 0, False
    while span < known.spans:
        times = Span(known.span_start[span], known.span_end[span])
        p = polynomials_into(digits, query.kind, vectors_into(digits, query.kind, query.length, times))
        if with_dots:
            p = dots_into(digits, query.kind, p)
        decision = bisect(work, _keep_what_decides(digits, p), times, query.finest)
        if decision.status == NEEDS_DOTS:
            with_dots = True
        elif decision.status == FREE:
            span += 1
        else:
            return decision
    return Decision(FREE, math.inf)
