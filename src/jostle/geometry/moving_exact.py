"""Where in an interval is a contact of straight motions? The bisection of `moving_search.py` with the exact signs of integers.

Exact signs say more than floats: Bernstein coefficients >= 0 that are not all 0 belong to a polynomial that is positive inside the
interval, so the inside may be free while the ends touch; and at the ends contact is decided, by the dots where all crosses are 0.
Intervals are halved 34 times at most. What stays open then is a contact at a time that is no such fraction of the interval, at
which some further sign is exactly 0, or a near miss at a distance of some 1e-20.

Translations, where a triangle or both edges keep their vectors, leave nothing open: all polynomials but the dots are linear, so the
times are fractions. That is the usual case of flat parts that slide or land on each other.
"""

import numpy as np

from jostle.geometry.moving_digits import add_product, as_float, carry, clear, sign
from jostle.geometry.moving_search import CONTACT, FREE, OPEN
from jostle.kernels.jit import kernel

LEVELS = 34
MOST_NODES = 400
FRACTION_ERROR = 2.0**-44  # of a time that is a quotient of two integers, taken as floats

# What is known of an interval, as bits.
NOTHING_INSIDE, AT_START, AT_END, CERTAINLY_INSIDE, NEEDS_DOTS = 1, 2, 4, 8, 16

SCRATCH = 400


@kernel
def _verdict(crosses, axes, with_dots, x, base, size):
    """What the signs of the polynomials from `base` on say of their interval: bits, see above."""
    digits, cubic = 2 * size + 3, 3 * size + 4
    s0, s1 = sign(x, base, cubic), sign(x, base + cubic, cubic)
    s2, s3 = sign(x, base + 2 * cubic, cubic), sign(x, base + 3 * cubic, cubic)
    least, most = min(min(s0, s1), min(s2, s3)), max(max(s0, s1), max(s2, s3))
    one_sided = (least >= 0 and most > 0) or (most <= 0 and least < 0)
    if one_sided and s0 != 0 and s3 != 0:
        return NOTHING_INSIDE
    nothing_inside, agree = one_sided, False
    start_possible, start_clear, end_possible, end_clear, all_vanish = s0 == 0, False, s3 == 0, False, True
    for k in range(axes):
        start_least, start_most, end_least, end_most, some_above, some_below, none_below, none_above = (
            0,
            0,
            0,
            0,
            False,
            False,
            True,
            True,
        )
        for j in range(crosses):
            at = base + 4 * cubic + 3 * (axes * j + k) * digits
            x0, x1, x2 = sign(x, at, digits), sign(x, at + digits, digits), sign(x, at + 2 * digits, digits)
            start_least, start_most = min(start_least, x0), max(start_most, x0)
            end_least, end_most = min(end_least, x2), max(end_most, x2)
            lowest, highest = min(x0, min(x1, x2)), max(x0, max(x1, x2))
            some_above, some_below = some_above or (lowest >= 0 and highest > 0), some_below or (highest <= 0 and lowest < 0)
            none_below, none_above = none_below and lowest >= 0, none_above and highest <= 0
        start_possible = start_possible and not (start_least < 0 < start_most)
        end_possible = end_possible and not (end_least < 0 < end_most)
        start_clear = start_clear or start_least < 0 or start_most > 0
        end_clear = end_clear or end_least < 0 or end_most > 0
        nothing_inside = nothing_inside or (some_above and some_below)
        agree = agree or (none_below and some_above) or (none_above and some_below)
        all_vanish = all_vanish and none_below and none_above
    if (start_possible and not start_clear) or (end_possible and not end_clear) or all_vanish:
        if not with_dots:
            return NEEDS_DOTS
        some_at_start, some_at_end, all_inside = False, False, True
        for j in range(crosses):
            at = base + 4 * cubic + 3 * (axes * crosses + j) * digits
            x0, x1, x2 = sign(x, at, digits), sign(x, at + digits, digits), sign(x, at + 2 * digits, digits)
            some_at_start, some_at_end = some_at_start or x0 <= 0, some_at_end or x2 <= 0
            all_inside = all_inside and min(x0, min(x1, x2)) >= 0 and max(x0, max(x1, x2)) > 0
        start_possible = start_possible and (start_clear or some_at_start)
        end_possible = end_possible and (end_clear or some_at_end)
        nothing_inside = nothing_inside or (all_vanish and all_inside)
    known = NOTHING_INSIDE if nothing_inside else (CERTAINLY_INSIDE if agree and s0 * s3 < 0 else 0)
    return known | (AT_START if start_possible else 0) | (AT_END if end_possible else 0)


@kernel
def _keep_what_decides(crosses, with_dots, x, size):
    """Leave out what is not needed to decide an interval, and return the number of axes kept.

    One axis is enough if some cross is nowhere 0 on it; then there is no need of dots. None is needed where all crosses are 0.
    """
    digits, first = 2 * size + 3, 4 * (3 * size + 4)
    axes, start, step, all_vanish, fewest = 3, 0, 0, with_dots, crosses
    for k in range(3):
        nowhere_zero, changing = False, 0
        for j in range(crosses):
            at = first + (9 * j + 3 * k) * digits
            x0, x1, x2 = sign(x, at, digits), sign(x, at + digits, digits), sign(x, at + 2 * digits, digits)
            all_vanish = all_vanish and x0 == 0 and x1 == 0 and x2 == 0
            nowhere_zero = nowhere_zero or (x0 != 0 and x0 == x1 and x1 == x2)
            if min(x0, min(x1, x2)) < 0 < max(x0, max(x1, x2)):
                changing += 1
        if nowhere_zero and changing < fewest:  # of several, that with the fewest crosses that may change their sign
            axes, start, step, fewest = 1, 3 * k, 9, changing
    if all_vanish:
        axes, start, step = 0, 9 * crosses, 3
    if axes < 3:
        for j in range(crosses):
            for i in range(3 * digits):
                x[first + 3 * j * digits + i] = x[first + (start + step * j) * digits + i]
    return axes


@kernel
def _halve_exactly(x, base, left, quadratics, size):
    """Halve the polynomials from `base` on: the left half goes to `left`, the right half stays. f grows by 8, the others by 4."""
    digits, cubic = 2 * size + 3, 3 * size + 4
    for q in range(cubic):
        b0, b1, b2, b3 = x[base + q], x[base + cubic + q], x[base + 2 * cubic + q], x[base + 3 * cubic + q]
        middle = b0 + 3 * (b1 + b2) + b3
        x[left + q], x[left + cubic + q] = 8 * b0, 4 * (b0 + b1)
        x[left + 2 * cubic + q], x[left + 3 * cubic + q] = 2 * (b0 + 2 * b1 + b2), middle
        x[base + q], x[base + cubic + q] = middle, 2 * (b1 + 2 * b2 + b3)
        x[base + 2 * cubic + q], x[base + 3 * cubic + q] = 4 * (b2 + b3), 8 * b3
    for c in range(4):
        carry(x, left + c * cubic, cubic)
        carry(x, base + c * cubic, cubic)
    for n in range(quadratics):
        at, to = base + 4 * cubic + 3 * n * digits, left + 4 * cubic + 3 * n * digits
        for q in range(digits):
            x0, x1, x2 = x[at + q], x[at + digits + q], x[at + 2 * digits + q]
            middle = x0 + 2 * x1 + x2
            x[to + q], x[to + digits + q], x[to + 2 * digits + q] = 4 * x0, 2 * (x0 + x1), middle
            x[at + q], x[at + digits + q], x[at + 2 * digits + q] = middle, 2 * (x1 + x2), 4 * x2
        for c in range(3):
            carry(x, to + c * digits, digits)
            carry(x, at + c * digits, digits)


@kernel
def _instant(start, end, place, level):
    """The time at `place` of 2^level parts of an interval; never after it."""
    time = start + (end - start) * (place * 2.0**-level)
    if level > 0 and place > 0 and not (start == 0.0 and end == 1.0):
        time = np.nextafter(time, -1.0)
    return max(start, time)


@kernel
def is_translation(kind, vectors, size):
    """Whether a triangle, or both edges, have the same vectors at both ends of the step."""
    for n in range(2):
        v = 3 + n if kind == 0 else n
        for i in range(6 * v * size, (6 * v + 3) * size):
            if vectors[i] != vectors[i + 3 * size]:
                return False
    return True


@kernel
def _contact_at_fraction(crosses, x, size, a, b, count, scratch):
    """Whether there is contact where a linear polynomial is 0: it is x[a…] at the start and x[b…] at the end, of opposite signs."""
    digits, cubic = 2 * size + 3, 3 * size + 4
    side = 1 if sign(x, a, count) > 0 or sign(x, b, count) < 0 else -1
    total = count + digits
    for k in range(3):
        some_above, some_below = False, False
        for j in range(crosses):
            at = 4 * cubic + (9 * j + 3 * k) * digits
            clear(scratch, 0, total)
            for e in range(2):
                here, there, factor = a if e == 0 else b, at + 2 * digits if e == 0 else at, side if e == 0 else -side
                add_product(scratch, 0, x, here, count, x, there, digits, factor)
            carry(scratch, 0, total)
            value = sign(scratch, 0, total)
            some_above, some_below = some_above or value > 0, some_below or value < 0
        if some_above or some_below:
            return not (some_above and some_below)
    # The dots, quadratics, times the square of the difference of the two ends: b², -2ab and a² times their coefficients.
    squares, total = 2 * count, 2 * count + digits
    for j in range(crosses):
        at, to = 4 * cubic + (9 * crosses + 3 * j) * digits, squares
        clear(scratch, to, total)
        for c in range(3):
            clear(scratch, 0, squares)
            one, other, factor = a if c == 2 else b, b if c == 0 else a, -2 if c == 1 else 1
            add_product(scratch, 0, x, one, count, x, other, count, factor)
            carry(scratch, 0, squares)
            add_product(scratch, to, scratch, 0, squares, x, at + c * digits, digits, 1)
        carry(scratch, to, total)
        if sign(scratch, to, total) <= 0:
            return True
    return False


@kernel
def _fraction(x, a, b, count):
    """The time at which the polynomial of `_contact_at_fraction` is 0, rounded down."""
    start, end = abs(as_float(x, a, count)), abs(as_float(x, b, count))
    return 1.0 if end == 0.0 else start / (start + end) * (1.0 - FRACTION_ERROR)


@kernel
def _decide_translation(crosses, x, size, scratch, found):
    """Decide a translation without contact at t = 0, from its polynomials on [0,1]: FREE, CONTACT, or OPEN if all is on a line."""
    digits, cubic = 2 * size + 3, 3 * size + 4
    found[0] = 2.0
    on_a_line = True
    for n in range(-1, 3 * crosses):
        # The cubic, here linear too; only if it is 0 at all times, one component other than 0 of each cross.
        a, b, count = 0, 3 * cubic, cubic
        if n >= 0:
            a, count = 4 * cubic + 3 * n * digits, digits
            b = a + 2 * digits
        before, after = sign(x, a, count), sign(x, b, count)
        if before == 0 and after == 0:
            continue
        on_a_line = False
        if before != 0 and before != after and _contact_at_fraction(crosses, x, size, a, b, count, scratch):
            found[0] = min(found[0], _fraction(x, a, b, count))
        if n < 0:
            break
    if on_a_line:
        return OPEN
    return CONTACT if found[0] <= 1.0 else FREE


@kernel
def decide_span(crosses, with_dots, translation, x, size, start, end, finest, levels, places, scratch, found):
    """Decide the interval whose polynomials stand at the beginning of x: FREE, CONTACT (not before found[0]), OPEN or NEEDS_DOTS.

    A contact is not after found[0] + finest. A translation comes with its dots and the whole step. levels and places (40,) and
    scratch (400,) are workspace; the stack of halves is in x.
    """
    axes = 3 if translation else _keep_what_decides(crosses, with_dots, x, size)
    with_dots = with_dots and axes != 1
    quadratics = axes * crosses + (crosses if with_dots else 0)
    stride = 4 * (3 * size + 4) + 3 * quadratics * (2 * size + 3)
    levels[0], places[0] = 0, 0
    top, visited, pending, certain = 1, 0, -1.0, 2.0
    while top > 0:
        top -= 1
        visited += 1
        level, place = levels[top], places[top]
        known = _verdict(crosses, axes, with_dots, x, top * stride, size)
        if known == NEEDS_DOTS:
            return NEEDS_DOTS
        time = _instant(start, end, place, level)
        if known & AT_START:
            found[0] = time if pending < 0.0 else pending
            return CONTACT if time - found[0] <= finest else OPEN
        if translation and level == 0:
            status = _decide_translation(crosses, x, size, scratch, found)
            if status != OPEN:
                return status
        if known & CERTAINLY_INSIDE:
            certain = min(certain, start + (end - start) * ((place + 1) * 2.0**-level))
        if not known & NOTHING_INSIDE:
            found[0] = time if pending < 0.0 else pending
            if certain - found[0] <= finest:
                return CONTACT
            if visited >= MOST_NODES:
                return OPEN
            if level < LEVELS:
                _halve_exactly(x, top * stride, (top + 1) * stride, quadratics, size)
                levels[top], levels[top + 1] = level + 1, level + 1
                places[top], places[top + 1] = 2 * place + 1, 2 * place
                top += 2
                continue
            pending = found[0]
        if known & AT_END and top == 0:
            found[0] = end if pending < 0.0 else pending
            return CONTACT if end - found[0] <= finest else OPEN
    return OPEN if pending >= 0.0 else FREE
