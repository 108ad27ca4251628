"""First contact of a point and a triangle, or of two edges, whose corners move on straight lines: the ladder, for many queries.

Each query climbs until it is decided: (0) an axis on which both parts are in the same order at both ends; (1, 2) polynomials
and bisection in floats, with proven bounds of their errors (`moving_search.py`); (3) exact integers (`moving_exact.py`) for what
floats leave open: translations in closed form, motions in a plane by floats again without the cubic, then the open intervals one
by one. What remains is left to whole numbers of any size (`continuous/algebraic.py`).

Two kernels, called in turns for some hundred open queries at a time: as one they take longer to compile.

Guarantee: no contact is missed and none is invented; a time is never after the first contact, and before it by `finest` at most.
"""

import numpy as np

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
from jostle.geometry.moving_polynomials import COEFFICIENTS
from jostle.geometry.moving_polynomials import VECTORS as FLOAT_VECTORS
from jostle.geometry.moving_search import CERTAIN, CONTACT, F_IS_NOISE, FREE, MOST_OPEN, OPEN, OPEN_COUNT, STACK, TIME, search
from jostle.kernels.jit import kernel

FINEST = 2.0**-33  # of the step: times are this sharp at least; finer ones cost more
FINEST_FRACTION = 2.0**-43
SPANS = MOST_OPEN + 2  # of a query that floats leave open, with that of a contact of which only the time is not sharp

DECIDED, LEFT, PLANAR = 0, 1, 2
"""What `decide_exactly` says of a query: decided; left to larger integers; in one plane for all times, so to be searched so."""


@kernel
def search_queries(kind, planar, corners, rows, first, last, finest, times, open_rows, open_spans, found):
    """Decide the queries rows[first … last-1] of corners (n,8,3) in floats; write times (n,), inf where free.

    What floats cannot decide goes to open_rows (m,), with its spans (m,17,2) and what is known of it (found, as in `search`).
    Returns where it stopped, which is before `last` if these are full, and how many there are.
    """
    vectors, nodes, spans, errors = np.empty(FLOAT_VECTORS), np.empty((STACK, COEFFICIENTS)), np.empty((STACK, 3)), np.empty(12)
    count = 0
    while first < last and count < len(open_rows):
        row = rows[first]
        first += 1
        known, its_spans = found[count], open_spans[count]
        status = search(kind, corners, row, planar, finest, vectors, nodes, spans, errors, its_spans, known)
        times[row] = known[TIME] if status == CONTACT else np.inf
        if status == CONTACT:
            if known[OPEN_COUNT] > 0 and known[CERTAIN] - its_spans[0, 0] <= finest:  # it begins in open spans just before it
                times[row] = its_spans[0, 0]
                continue
            if known[CERTAIN] - known[TIME] > finest:
                opened = int(known[OPEN_COUNT])
                its_spans[opened, 0], its_spans[opened, 1] = known[TIME], known[CERTAIN]
                known[OPEN_COUNT] += 1
        if known[OPEN_COUNT] > 0:
            open_rows[count] = row
            count += 1
    return first, count


@kernel
def decide_exactly(kind, planar, corners, open_rows, count, open_spans, found, finest, times, outcome):
    """Decide what `search_queries` leaves open, in exact integers: times (n,) as there, outcome (n,) DECIDED, LEFT or PLANAR.

    A query comes with times set to what holds if its spans are free.
    """
    integers, vectors, normal = np.empty(INTEGERS, np.int64), np.empty(VECTORS, np.int64), np.empty(NORMAL, np.int64)
    digits, scratch = np.empty((LEVELS + 3) * NODE, np.int64), np.empty(SCRATCH, np.int64)
    levels, places, instant = np.empty(LEVELS + 6, np.int64), np.empty(LEVELS + 6, np.int64), np.empty(1)
    for n in range(count):
        row, spans = open_rows[n], int(found[n, OPEN_COUNT])
        size = integers_into(corners, row, integers)
        outcome[row] = DECIDED if size > 0 else LEFT
        translation, with_dots = False, False
        span = 0 if planar else -1  # -1 is the whole step, to see what kind of motion it is
        while span < spans and size > 0:
            start, end = (0.0, 1.0) if span < 0 else (open_spans[n, span, 0], open_spans[n, span, 1])
            large = vectors_into(kind, integers, size, start, end, vectors)
            if span < 0:
                translation = finest >= FINEST_FRACTION and is_translation(kind, vectors, size)
                if not translation and found[n, F_IS_NOISE] == 0.0:
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
