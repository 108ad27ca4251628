"""First contact of a point and a triangle, or of two edges, whose corners move on straight lines: the ladder, for many queries.

Each query climbs until it is decided: (0) an axis on which both parts are in the same order at both ends; (1, 2) polynomials
and bisection in floats, with proven bounds of their errors (`moving_search.py`); (3) exact integers (`moving_exact.py`) for what
floats leave open: translations in closed form, motions in a plane by floats again without the cubic, then the open intervals one
by one. What remains is left to whole numbers of any size (`continuous/algebraic.py`).

Two kernels, called in turns for some hundred open queries at a time: as one they take longer to compile.

Guarantee: no contact is missed and none is invented; a time is never after the first contact, and before it by `finest` at most.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from jostle.geometry.moving_digits import (
    INTEGERS,
    NODE,
    NORMAL,
    VECTORS,
    dots_into,
    integers_into,
    polynomials_into,
    vectors_into,
)
from jostle.geometry.moving_exact import LEVELS, NEEDS_DOTS, SCRATCH, decide_span, is_translation
from jostle.geometry.moving_search import CONTACT, FREE, OPEN, OPEN_AT_ONCE, FloatWork, open_float_work, search
from jostle.geometry.vector import Points
from jostle.kernels.jit import kernel
from jostle.kernels.structs import Addresses

FINEST = 2.0**-33  # of the step: times are this sharp at least; finer ones cost more
FINEST_FRACTION = 2.0**-43

DECIDED, LEFT, PLANAR = 0, 1, 2
"""What `decide_exactly` says of a query: decided; left to larger integers; in one plane for all times, so to be searched so."""


@kernel(forceinline=True)
def read_motion(work: FloatWork, corners: Points, row: int) -> None:
    """Make a row of corners (n,8,3) the query of `work`."""
    for corner in range(4):
        for k in range(3):
            work.motion.start[3 * corner + k] = corners[row, corner, k]
            work.motion.end[3 * corner + k] = corners[row, 4 + corner, k]


@kernel
def search_queries(
    addresses: Addresses, corners: Points, rows: NDArray[np.int64], first: int, last: int, times: Points
) -> tuple[int, int]:
    """Decide the queries rows[first … last-1] of corners (n,8,3) in floats; write times (n,), inf where free.

    What floats cannot decide goes to the open queries, with its spans. Returns where it stopped, which is before `last` if these
    are full, and how many there are.
    """
    work = open_float_work(addresses)
    finest, count = work.ladder.finest, 0
    while first < last and count < OPEN_AT_ONCE:
        row = rows[first]
        first += 1
        read_motion(work, corners, row)
        known = work.open_queries[count]
        status = search(work, known)
        times[row] = known.time if status == CONTACT else np.inf
        if status == CONTACT:
            if known.spans > 0 and known.certain - known.span_start[0] <= finest:  # it begins in open spans just before it
                times[row] = known.span_start[0]
                continue
            if known.certain - known.time > finest:
                known.span_start[known.spans], known.span_end[known.spans] = known.time, known.certain
                known.spans += 1
        if known.spans > 0:
            known.row = row
            count += 1
    return first, count


@kernel
def decide_exactly(addresses: Addresses, corners: Points, count: int, times: Points, outcome: NDArray[np.uint8]) -> None:
    """Decide what `search_queries` leaves open, in exact integers: times (n,) as there, outcome (n,) DECIDED, LEFT or PLANAR.

    A query comes with times set to what holds if its spans are free.
    """
    work = open_float_work(addresses)
    kind, planar, finest = work.ladder.kind, work.ladder.planar != 0, work.ladder.finest
    integers, vectors, normal = np.empty(INTEGERS, np.int64), np.empty(VECTORS, np.int64), np.empty(NORMAL, np.int64)
    digits, scratch = np.empty((LEVELS + 3) * NODE, np.int64), np.empty(SCRATCH, np.int64)
    levels, places, instant = np.empty(LEVELS + 6, np.int64), np.empty(LEVELS + 6, np.int64), np.empty(1)
    for n in range(count):
        known = work.open_queries[n]
        row, spans = known.row, known.spans
        size = integers_into(corners, row, integers)
        outcome[row] = DECIDED if size > 0 else LEFT
        translation, with_dots = False, False
        span = 0 if planar else -1  # -1 is the whole step, to see what kind of motion it is
        while span < spans and size > 0:
            start, end = (0.0, 1.0) if span < 0 else (known.span_start[span], known.span_end[span])
            large = vectors_into(kind, integers, size, start, end, vectors)
            if span < 0:
                translation = finest >= FINEST_FRACTION and is_translation(kind, vectors, size)
                if not translation and known.f_is_noise == 0:
                    span = 0
                    continue
            polynomials_into(kind, vectors, large, normal, digits)
            if span < 0 and not translation:
                nonzero = 0
                for i in range(4 * (3 * size + 4)):
                    nonzero |= digits[i]
                if nonzero == 0:
                    outcome[row] = PLANAR
                    break
                span = 0
                continue
            if with_dots or translation:
                dots_into(kind, vectors, large, digits)
            status = decide_span(3 + kind, with_dots or translation, translation, digits, large, start, end, finest, levels, places,
                                 scratch, instant)  # fmt: skip
            if status == NEEDS_DOTS:
                with_dots = True
                continue
            if status == FREE and not translation:
                span += 1
                continue
            times[row] = instant[0] if status == CONTACT else np.inf
            outcome[row] = LEFT if status == OPEN else DECIDED
            break
