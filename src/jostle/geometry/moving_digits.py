"""Exact polynomials of a moving query: integers as digits of 27 bits in int64, and the coefficients made of them.

A number is a run of digits in a flat array, the lowest first, each in [0, 2^27) but for the highest, which carries the sign and
has room to spare. Products are sums of digit products, carried at the end: at most 216 of them below 2^54 fall on a place, so
nothing reaches 2^63. How many digits the coordinates need is found for each query (2 to 4 for parts of like size, 10 for
mixtures of 1e-30 and 1e30), and all loops run over that many only. The polynomials are those of `moving_polynomials.py`, on any
interval between multiples of 2^-50, with positive factors that change no sign: Bernstein coefficients times 3 (f) and 2 (crosses
and dots).
"""

import math

from jostle.geometry.moving_polynomials import (
    CROSS_LEFT,
    CROSS_RIGHT,
    DOT_LEFT,
    DOT_RIGHT,
    FROM,
    NORMAL_LEFT,
    NORMAL_RIGHT,
    RADIUS,
    TO,
)
from jostle.kernels.jit import kernel

DIGIT = 27
MASK = (1 << DIGIT) - 1
MOST_DIGITS = 10  # of a coordinate
TIME_BITS = 50
TIME_UNIT = 1 << TIME_BITS
MANTISSA = 2.0**53

INTEGERS = 24 * MOST_DIGITS  # sizes of the workspaces
VECTOR_DIGITS = MOST_DIGITS + 2
PRODUCT_DIGITS = 2 * VECTOR_DIGITS + 3
CUBIC_DIGITS = 3 * VECTOR_DIGITS + 4
VECTORS = 36 * VECTOR_DIGITS + 2 * MOST_DIGITS + 8
NODE = 4 * CUBIC_DIGITS + 48 * PRODUCT_DIGITS
NORMAL = 9 * PRODUCT_DIGITS


@kernel(forceinline=True)
def carry(x, at, count):
    """Bring the digits of a number into their range."""
    over = 0
    for i in range(at, at + count - 1):
        total = x[i] + over
        over = total >> DIGIT
        x[i] = total & MASK
    x[at + count - 1] += over


@kernel(forceinline=True)
def sign(x, at, count):
    """The sign of a carried number: -1, 0 or 1."""
    if x[at + count - 1] < 0:
        return -1
    for i in range(at + count - 1, at - 1, -1):
        if x[i] != 0:
            return 1
    return 0


@kernel
def add_product(x, to, a, at, a_count, b, b_at, b_count, factor):
    """Add factor × a × b to the digits of x from `to` on, without carrying."""
    for i in range(a_count):
        digit = a[at + i] * factor
        if digit != 0:
            for j in range(b_count):
                x[to + i + j] += digit * b[b_at + j]


@kernel(forceinline=True)
def clear(x, at, count):
    """Set digits to 0."""
    for i in range(at, at + count):
        x[i] = 0


@kernel
def as_float(x, at, count):
    """A carried number of up to 37 digits as a float64, with a relative error below 2^-46."""
    value = 0.0
    for i in range(at + count - 1, at - 1, -1):
        value = value * (MASK + 1.0) + x[i]  # where a negative highest digit cancels, the numbers are small and exact
    return value


@kernel
def integers_into(corners, row, integers):
    """Write the coordinates of a query as integers of a common unit into integers (240,); return their digits, 0 if too many."""
    lowest, highest = 1 << 20, -(1 << 20)
    for corner in range(8):
        for k in range(3):
            fraction, exponent = math.frexp(corners[row, corner, k])
            if fraction != 0.0:
                mantissa = int(fraction * MANTISSA)
                zeros = math.frexp(float(mantissa & -mantissa))[1] - 1
                lowest, highest = min(lowest, exponent - 53 + zeros), max(highest, exponent)
    if lowest > highest:
        lowest = highest = 0
    count = (highest - lowest + 2 + DIGIT - 1) // DIGIT  # differences have one bit more, and there is a sign
    if count > MOST_DIGITS:
        return 0
    clear(integers, 0, 24 * count)
    for corner in range(8):
        for k in range(3):
            fraction, exponent = math.frexp(corners[row, corner, k])
            mantissa, shift = int(abs(fraction) * MANTISSA), exponent - 53 - lowest
            if shift < 0:
                mantissa, shift = mantissa >> min(-shift, 63), 0
            side = -1 if fraction < 0.0 else 1
            at, end, bits = (3 * corner + k) * count + shift // DIGIT, (3 * corner + k + 1) * count, shift % DIGIT
            low, high = (mantissa & MASK) << bits, (mantissa >> DIGIT) << bits
            if mantissa != 0:
                integers[at] += side * (low & MASK)
                if at + 1 < end:
                    integers[at + 1] += side * ((low >> DIGIT) + (high & MASK))
                if at + 2 < end:
                    integers[at + 2] += side * (high >> DIGIT)
    return count


@kernel
def vectors_into(kind, integers, count, start, end, vectors):
    """Write the six vectors of a query at the times start and end into vectors; return the digits of a component.

    Over the whole step they are differences of corners. In between each is (1-t) times the one at 0 plus t times the one at 1,
    with t a multiple of 2^-50, and so larger by 2^50. A component k of vector v at end e is number (2v + e) 3 + k.
    """
    whole = start == 0.0 and end == 1.0
    size = count if whole else count + 2
    scratch = len(vectors) - 2 * MOST_DIGITS - 8
    weights = len(vectors) - 8
    for e in range(2):
        after = int((start if e == 0 else end) * TIME_UNIT)
        before = TIME_UNIT - after
        vectors[weights + 4 * e], vectors[weights + 4 * e + 1] = before & MASK, before >> DIGIT
        vectors[weights + 4 * e + 2], vectors[weights + 4 * e + 3] = after & MASK, after >> DIGIT
    for number in range(18):
        v, k = number // 3, number % 3
        for e in range(2):
            to = (6 * v + 3 * e + k) * size if whole else scratch + e * count
            i, j = (3 * (4 * e + FROM[kind, v]) + k) * count, (3 * (4 * e + TO[kind, v]) + k) * count
            for q in range(count):
                vectors[to + q] = integers[j + q] - integers[i + q]
            carry(vectors, to, count)
        if not whole:
            for e in range(2):
                to = (6 * v + 3 * e + k) * size
                clear(vectors, to, size)
                for w in range(2):
                    add_product(vectors, to, vectors, scratch + w * count, count, vectors, weights + 4 * e + 2 * w, 2, 1)
                carry(vectors, to, size)
    return size


@kernel
def _add_quadratic(vectors, a, b, size, factor, outer, x, to, digits):
    """Add factor × a × b of two linear components, as Bernstein coefficients (the outer ones times `outer`), to three numbers in x.

    a and b are places of components at the start of the interval; those at its end stand three numbers further.
    """
    for e in range(4):
        e_a, e_b = e & 1, e >> 1
        times = factor * outer if e_a == e_b else factor
        place = to + (e_a + e_b) * digits
        add_product(x, place, vectors, a + 3 * e_a * size, size, vectors, b + 3 * e_b * size, size, times)


@kernel
def polynomials_into(kind, vectors, size, normal, x):
    """Write f (4 numbers of 3 size + 4 digits) and the crosses (3 numbers of 2 size + 3 digits for each axis of each) into x.

    Loops with one product in each, here and above: every call is compiled in place, which took seconds.
    """
    digits, cubic, n_digits = 2 * size + 3, 3 * size + 4, 2 * size + 1
    for j in range(4 + kind):
        out, width, outer, to = normal, n_digits, 1, 0
        left, right = NORMAL_LEFT[kind], NORMAL_RIGHT[kind]
        if j > 0:
            out, width, outer, to = x, digits, 2, 4 * cubic + 9 * (j - 1) * digits
            left, right = CROSS_LEFT[kind, j - 1], CROSS_RIGHT[kind, j - 1]
        clear(out, to, 9 * width)
        for term in range(6):
            k, side = term >> 1, 1 - 2 * (term & 1)
            p, q = (k + 1) % 3, (k + 2) % 3
            if side < 0:
                p, q = q, p
            a, b = (6 * left + p) * size, (6 * right + q) * size
            _add_quadratic(vectors, a, b, size, side, outer, out, to + 3 * k * width, width)
        for c in range(9):
            carry(out, to + c * width, width)
    clear(x, 0, 4 * cubic)
    for term in range(18):
        # n is (n0, 2 n1, n2), so that these are 3 f0, 3 f1, 3 f2 and 3 f3.
        k, e, c = term // 6, (term // 3) & 1, term % 3
        factor = 3 if e + c == 0 or e + c == 3 else 1
        start = (6 * RADIUS[kind] + 3 * e + k) * size
        add_product(x, (e + c) * cubic, vectors, start, size, normal, (3 * k + c) * n_digits, n_digits, factor)
    for c in range(4):
        carry(x, c * cubic, cubic)


@kernel
def dots_into(kind, vectors, size, x):
    """Write the dots (3 numbers of 2 size + 3 digits each) into x, after f and the crosses."""
    digits = 2 * size + 3
    to = 4 * (3 * size + 4) + 9 * (3 + kind) * digits
    clear(x, to, 3 * (3 + kind) * digits)
    for term in range(3 * (3 + kind)):
        j, k = term // 3, term % 3
        a, b = (6 * DOT_LEFT[kind, j] + k) * size, (6 * DOT_RIGHT[kind, j] + k) * size
        _add_quadratic(vectors, a, b, size, 1, 2, x, to + 3 * j * digits, digits)
    for c in range(3 * (3 + kind)):
        carry(x, to + c * digits, digits)
