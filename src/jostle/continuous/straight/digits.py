"""Exact polynomials of a moving query: integers as digits of 27 bits in int64.

A number is a run of digits in one flat array, the lowest first, each in [0, 2^27) except the highest, which carries the sign and
has room to spare. Products are sums of digit products, carried at the end: at most 216 of them below 2^54 share a place, so nothing
reaches 2^63. Each query determines how many digits its coordinates need (2 to 4 for parts of similar size, 10 for mixtures of 1e-30
and 1e30), and all loops run over that many only. The polynomials are those of `polynomials.py`, on any interval between multiples
of 2^-50, with positive factors that change no sign: Bernstein coefficients times 3 (f) and 2 (crosses and dots).

The layout of the array, with n digits of a coordinate and s of a component, which is n or n + 2:

    from            numbers                                                           digits of each
    COORDINATES_AT  24 coordinates of corners, (corner, axis)                         n
    WEIGHTS_AT      1-t and t at the start of the interval, then at its end           2
    ENDS_AT         a component at t = 0 and at t = 1                                 n
    VECTORS_AT      36 components, (vector, end of the interval, axis)                s
    NORMAL_AT       9 coefficients of n: (axis, coefficient), n1 twice                2 s + 1
    PRODUCTS_AT     values of polynomials at a fraction (`exact_search.py`)
    POLYNOMIALS_AT  4 coefficients of f                                               3 s + 4
                    3 for each axis of each cross, then 3 for each dot                2 s + 3
                    the same again for each waiting interval (`exact_search.py`)
"""

from __future__ import annotations

import math
from typing import NamedTuple

from jostle._types import Floats
from jostle.continuous.straight.polynomials import (
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
from jostle.kernels.numbers import as_int64
from jostle.kernels.structs import Rows, int64

DIGIT = 27
MASK = (1 << DIGIT) - 1
MOST_DIGITS = 10  # of a coordinate
TIME_UNIT = 1 << 50
MANTISSA_BITS = 53
MANTISSA = 2.0**MANTISSA_BITS
BEYOND_EXPONENTS = 1 << 20

WEIGHT_DIGITS = 2
VECTOR_DIGITS = MOST_DIGITS + WEIGHT_DIGITS
PRODUCT_DIGITS = 2 * VECTOR_DIGITS + 3
CUBIC_DIGITS = 3 * VECTOR_DIGITS + 4

COORDINATES_AT = 0
WEIGHTS_AT = COORDINATES_AT + 24 * MOST_DIGITS
ENDS_AT = WEIGHTS_AT + 4 * WEIGHT_DIGITS
VECTORS_AT = ENDS_AT + 2 * MOST_DIGITS
NORMAL_AT = VECTORS_AT + 36 * VECTOR_DIGITS
PRODUCTS_AT = NORMAL_AT + 9 * PRODUCT_DIGITS
POLYNOMIALS_AT = PRODUCTS_AT + 4 * CUBIC_DIGITS + PRODUCT_DIGITS
MOST_OF_INTERVAL = 4 * CUBIC_DIGITS + 48 * PRODUCT_DIGITS

Digits = Rows[int64]


class Number(NamedTuple):
    """An integer: where its digits begin, and how many it has."""

    at: int
    length: int


class Linear(NamedTuple):
    """A linear polynomial: its values at both ends of the interval."""

    start: Number
    end: Number


class Span(NamedTuple):
    """An interval of times, multiples of 2^-50."""

    start: float
    end: float


class Polynomials(NamedTuple):
    """Where the polynomials of a query are: f, some axes of each cross, and dots."""

    at: int
    size: int  # digits of a component of the vectors
    crosses: int
    axes: int
    dots: bool


class CrossProduct(NamedTuple):
    """A product of two vectors, its first coefficient, and a factor.

    The factor applies to the outer two of each three coefficients.
    """

    left: int
    right: int
    to: Number
    outer: int


@kernel(forceinline=True)
def nth(first: Number, n: int) -> Number:
    """Return the n-th of consecutive numbers."""
    return Number(first.at + n * first.length, first.length)


@kernel(forceinline=True)
def after(number: Number) -> Number:
    """Return the next number."""
    return Number(number.at + number.length, number.length)


@kernel(forceinline=True)
def coordinate_of(corner: int, k: int, length: int) -> Number:
    """Return coordinate k of a corner; corners 4 … 7 are those at t = 1."""
    return nth(Number(COORDINATES_AT, length), 3 * corner + k)


@kernel(forceinline=True)
def component(vector: int, k: int, size: int) -> Linear:
    """Return component k of a vector."""
    start = nth(Number(VECTORS_AT, size), 6 * vector + k)
    return Linear(start, Number(start.at + 3 * size, size))


@kernel(forceinline=True)
def end_of(linear: Linear, end: int) -> Number:
    """Return the value at the start (0) or the end (1)."""
    return linear.start if end == 0 else linear.end


@kernel(forceinline=True)
def first_of_f(p: Polynomials) -> Number:
    """Return the first of the four coefficients of f."""
    return Number(p.at, 3 * p.size + 4)


@kernel(forceinline=True)
def first_of_quadratic(p: Polynomials, n: int) -> Number:
    """Return the first coefficient of a quadratic.

    Axis k of cross j has n = axes j + k; dots follow.
    """
    f, length = first_of_f(p), 2 * p.size + 3
    return Number(f.at + 4 * f.length + 3 * n * length, length)


@kernel(forceinline=True)
def first_of_dot(p: Polynomials, j: int) -> Number:
    """Return the first of the three coefficients of a dot."""
    return first_of_quadratic(p, p.axes * p.crosses + j)


@kernel(forceinline=True)
def carry(digits: Digits, number: Number) -> None:
    """Bring the digits of a number into their range."""
    over, highest = 0, number.at + number.length - 1
    for i in range(number.at, highest):
        total = digits[i] + over
        over = total >> DIGIT
        digits[i] = total & MASK
    digits[highest] += over


@kernel(forceinline=True)
def sign(digits: Digits, number: Number) -> int:
    """Return the sign of a carried number: -1, 0 or 1."""
    highest = number.at + number.length - 1
    if digits[highest] < 0:
        return -1
    for i in range(highest, number.at - 1, -1):
        if digits[i] != 0:
            return 1
    return 0


@kernel
def add_product(digits: Digits, to: Number, a: Number, b: Number, factor: int) -> None:
    """Add factor × a × b to the digits of a number, without carrying."""
    for i in range(a.length):
        digit = digits[a.at + i] * factor
        if digit != 0:
            for j in range(b.length):
                digits[to.at + i + j] += digit * digits[b.at + j]


@kernel(forceinline=True)
def clear(digits: Digits, number: Number) -> None:
    """Set all digits to 0."""
    for i in range(number.at, number.at + number.length):
        digits[i] = 0


@kernel
def as_float(digits: Digits, number: Number) -> float:
    """Return a carried number as a float64.

    For up to 37 digits the relative error is below 2^-46.
    """
    value = 0.0
    for i in range(number.at + number.length - 1, number.at - 1, -1):
        value = value * (MASK + 1.0) + digits[i]  # if a negative highest digit cancels, the numbers are small and exact
    return value


@kernel(forceinline=True)
def _write_float(digits: Digits, to: Number, value: float, lowest: int) -> None:
    """Write a float in units of 2^lowest to digits that are 0."""
    fraction, exponent = math.frexp(value)
    mantissa, shift = int(abs(fraction) * MANTISSA), exponent - MANTISSA_BITS - lowest
    if shift < 0:
        mantissa, shift = mantissa >> min(-shift, 63), 0
    side = -1 if fraction < 0.0 else 1
    at, end, bits = to.at + shift // DIGIT, to.at + to.length, shift % DIGIT
    low, high = (mantissa & MASK) << bits, (mantissa >> DIGIT) << bits
    if mantissa != 0:
        digits[at] += side * (low & MASK)
        if at + 1 < end:
            digits[at + 1] += side * ((low >> DIGIT) + (high & MASK))
        if at + 2 < end:
            digits[at + 2] += side * (high >> DIGIT)


@kernel
def coordinates_into(digits: Digits, corners: Floats, row: int) -> int:
    """Write a row of corners (n,8,3) as integers of a common unit.

    Returns the number of digits, 0 if there are too many.
    """
    lowest, highest = BEYOND_EXPONENTS, -BEYOND_EXPONENTS
    for corner in range(8):
        for k in range(3):
            fraction, exponent = math.frexp(corners[row, corner, k])
            if fraction != 0.0:
                mantissa = int(fraction * MANTISSA)
                zeros = math.frexp(float(mantissa & -mantissa))[1] - 1
                lowest, highest = min(lowest, exponent - MANTISSA_BITS + zeros), max(highest, exponent)
    if lowest > highest:
        lowest = highest = 0
    length = (highest - lowest + 2 + DIGIT - 1) // DIGIT  # one bit more for differences, and one for the sign
    if length > MOST_DIGITS:
        return 0
    clear(digits, Number(COORDINATES_AT, 24 * length))
    for corner in range(8):
        for k in range(3):
            _write_float(digits, coordinate_of(corner, k, length), corners[row, corner, k], lowest)
    return length


@kernel(forceinline=True)
def _difference_into(digits: Digits, to: Number, a: Number, b: Number) -> None:
    """Write b - a; all have the same number of digits."""
    for q in range(to.length):
        digits[to.at + q] = digits[b.at + q] - digits[a.at + q]
    carry(digits, to)


@kernel(forceinline=True)
def _weights_into(digits: Digits, span: Span) -> None:
    """Write 1-t and t at both ends of an interval, times 2^50."""
    to = Number(WEIGHTS_AT, WEIGHT_DIGITS)
    for end in range(2):
        t = int((span.start if end == 0 else span.end) * TIME_UNIT)
        for weight in (TIME_UNIT - t, t):
            digits[to.at], digits[to.at + 1] = weight & MASK, weight >> DIGIT
            to = after(to)


@kernel
def vectors_into(digits: Digits, kind: int, length: int, span: Span) -> int:
    """Write the six vectors of a query at both ends; return a component's digits.

    Coordinates have `length` digits. Over the whole step they are differences of corners. In between each is (1-t) times the one at
    0 plus t times the one at 1, with t a multiple of 2^-50, and so larger by 2^50.
    """
    whole = span.start == 0.0 and span.end == 1.0
    size = length if whole else length + WEIGHT_DIGITS
    ends, weights = Number(ENDS_AT, length), Number(WEIGHTS_AT, WEIGHT_DIGITS)
    _weights_into(digits, span)
    for number in range(18):
        v, k = number // 3, number % 3
        vector = component(v, k, size)
        for t in range(2):
            to = end_of(vector, t) if whole else nth(ends, t)
            a, b = 4 * t + as_int64(FROM[kind, v]), 4 * t + as_int64(TO[kind, v])
            _difference_into(digits, to, coordinate_of(a, k, length), coordinate_of(b, k, length))
        if not whole:
            for end in range(2):
                to = end_of(vector, end)
                clear(digits, to)
                for t in range(2):
                    add_product(digits, to, nth(ends, t), nth(weights, 2 * end + t), as_int64(1))
                carry(digits, to)
    return size


@kernel
def _add_quadratic(digits: Digits, to: Number, a: Linear, b: Linear, factor: int, outer: int) -> None:
    """Add factor × a × b to three Bernstein coefficients, outer ones times `outer`."""
    for ends in range(4):
        of_a, of_b = ends & 1, ends >> 1
        times = factor * outer if of_a == of_b else factor
        add_product(digits, nth(to, of_a + of_b), end_of(a, of_a), end_of(b, of_b), times)


@kernel(forceinline=True)
def _cross_into(digits: Digits, product: CrossProduct, size: int) -> None:
    """Write a product of vectors."""
    clear(digits, Number(product.to.at, 9 * product.to.length))
    for term in range(6):
        k, side = term >> 1, 1 - 2 * (term & 1)
        p, q = (k + 1) % 3, (k + 2) % 3
        if side < 0:
            p, q = q, p
        a, b = component(product.left, p, size), component(product.right, q, size)
        _add_quadratic(digits, nth(product.to, 3 * k), a, b, side, product.outer)
    for c in range(9):
        carry(digits, nth(product.to, c))


@kernel(forceinline=True)
def _f_into(digits: Digits, p: Polynomials, radius: int, normal: Number) -> None:
    """Write f, the product of a vector with n.

    The coefficients (n0, 2 n1, n2) give 3 f0, 3 f1, 3 f2 and 3 f3.
    """
    f = first_of_f(p)
    clear(digits, Number(f.at, 4 * f.length))
    for term in range(18):
        k, end, c = term // 6, (term // 3) & 1, term % 3
        factor = 3 if end + c == 0 or end + c == 3 else 1
        add_product(digits, nth(f, end + c), end_of(component(radius, k, p.size), end), nth(normal, 3 * k + c), factor)
    for c in range(4):
        carry(digits, nth(f, c))


@kernel
def polynomials_into(digits: Digits, kind: int, size: int) -> Polynomials:
    """Write f and the crosses of the vectors, and return where they are.

    Each loop, here and above, has one call of a product: every call is compiled in place, which took seconds.
    """
    p, normal = Polynomials(POLYNOMIALS_AT, size, 3 + kind, 3, False), Number(NORMAL_AT, 2 * size + 1)
    for j in range(-1, p.crosses):
        if j < 0:
            product = CrossProduct(as_int64(NORMAL_LEFT[kind]), as_int64(NORMAL_RIGHT[kind]), normal, 1)
        else:
            to = first_of_quadratic(p, p.axes * j)
            product = CrossProduct(as_int64(CROSS_LEFT[kind, j]), as_int64(CROSS_RIGHT[kind, j]), to, 2)
        _cross_into(digits, product, size)
    _f_into(digits, p, as_int64(RADIUS[kind]), normal)
    return p


@kernel
def dots_into(digits: Digits, kind: int, crosses: Polynomials) -> Polynomials:
    """Write the dots after f and the crosses, and return where all are."""
    p = Polynomials(crosses.at, crosses.size, crosses.crosses, crosses.axes, True)
    for j in range(p.crosses):
        first = first_of_dot(p, j)
        clear(digits, Number(first.at, 3 * first.length))
        for k in range(3):
            a, b = component(as_int64(DOT_LEFT[kind, j]), k, p.size), component(as_int64(DOT_RIGHT[kind, j]), k, p.size)
            _add_quadratic(digits, first, a, b, as_int64(1), as_int64(2))
        for c in range(3):
            carry(digits, nth(first, c))
    return p
