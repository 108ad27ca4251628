"""First contact of a point and a triangle, or of two edges, on straight lines.

Each query climbs a ladder until it is decided: (0) an axis on which both parts are in the same order at both ends; (1, 2)
polynomials and bisection in floats, with proven error bounds (`search.py`); (3) exact integers (`exact_search.py`) for what floats
leave open: translations in closed form, motions in a plane by floats again without the cubic, then the open intervals one by one.
The rest is left to integers of any size (`algebraic.py`).

There are two kernels, called in turn for some hundred open queries at a time: one kernel would take longer to compile.

Guarantee: no contact is missed and none is false; a time is never after the first contact, and at most `finest` before it.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from jostle._types import Floats
from jostle.continuous.straight.digits import coordinates_into
from jostle.continuous.straight.exact_search import (
    BY_SPANS,
    IN_A_PLANE,
    Decision,
    ExactQuery,
    decide_spans,
    decide_whole_step,
    open_exact_work,
)
from jostle.continuous.straight.search import CONTACT, OPEN, OPEN_AT_ONCE, FloatWork, open_float_work, search
from jostle.kernels.jit import kernel
from jostle.kernels.structs import Addresses

FINEST = 2.0**-33  # of the step: the least accuracy of times; finer ones cost more

DECIDED, LEFT, PLANAR = 0, 1, 2
"""Results of `decide_exactly`: decided; left to larger integers; always in one plane, to be searched again as such."""


@kernel(forceinline=True)
def read_motion(work: FloatWork, corners: Floats, row: int) -> None:
    """Copy a row of corners (n,8,3) to the query of `work`."""
    for corner in range(4):
        for k in range(3):
            work.motion.start[3 * corner + k] = corners[row, corner, k]
            work.motion.end[3 * corner + k] = corners[row, 4 + corner, k]


@kernel
def search_queries(
    addresses: Addresses, corners: Floats, rows: NDArray[np.int64], first: int, last: int, times: Floats
) -> tuple[int, int]:
    """Decide queries rows[first … last-1] of corners (n,8,3) in floats.

    Writes times (n,), inf if free. What floats cannot decide goes to the open queries, with its spans. Returns where it stopped,
    which is before `last` if these are full, and how many there are.
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
            if known.spans > 0 and known.certain - known.span_start[0] <= finest:  # it begins in open spans just before
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
def decide_exactly(
    addresses: Addresses, exact_addresses: Addresses, corners: Floats, count: int, times: Floats, outcome: NDArray[np.uint8]
) -> None:
    """Decide in exact integers what `search_queries` leaves open.

    Writes times (n,) like it, and outcome (n,): DECIDED, LEFT or PLANAR. A query comes with times set to what holds if its spans
    are free.
    """
    work, exact = open_float_work(addresses), open_exact_work(exact_addresses)
    ladder = work.ladder
    for n in range(count):
        known = work.open_queries[n]
        row, decision = known.row, Decision(BY_SPANS, np.inf)
        query = ExactQuery(ladder.kind, coordinates_into(exact.digits, corners, row), ladder.finest)
        if query.length == 0:
            decision = Decision(OPEN, np.inf)
        elif ladder.planar == 0:
            decision = decide_whole_step(exact, query, known.f_is_noise != 0)
        if decision.status == BY_SPANS:
            decision = decide_spans(exact, query, known)
        if decision.status == CONTACT:
            times[row] = decision.time
        outcome[row] = LEFT if decision.status == OPEN else (PLANAR if decision.status == IN_A_PLANE else DECIDED)
