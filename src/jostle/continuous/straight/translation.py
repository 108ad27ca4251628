"""Translations: all polynomials but the dots are linear, so times are fractions.

A triangle or both edges keep their vectors. The first contact is where f is 0, or, if it is always 0, where a component of a cross
is. The signs of the others at such a root are those of integers again: a linear polynomial x has the sign of a x(1) - b x(0) where
a linear polynomial with the ends a > 0 > b is 0.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from jostle.continuous.straight.digits import (
    PRODUCTS_AT,
    Digits,
    Linear,
    Number,
    Polynomials,
    add_product,
    after,
    as_float,
    carry,
    clear,
    component,
    end_of,
    first_of_dot,
    first_of_f,
    first_of_quadratic,
    nth,
    sign,
)
from jostle.continuous.straight.polynomials import POINT_TRIANGLE
from jostle.kernels.jit import kernel
from jostle.kernels.numbers import as_int64

FINEST_FRACTION = 2.0**-43  # accuracy of times
FRACTION_ERROR = 2.0**-44  # of a time computed as a quotient of two integers in floats


class FirstRoot(NamedTuple):
    """The time of the first contact, rounded down, or inf.

    Unknown if all corners stay on a line.
    """

    time: float
    on_a_line: bool


@kernel(forceinline=True)
def is_translation(digits: Digits, kind: int, size: int) -> bool:
    """Return whether a triangle, or both edges, keep their vectors."""
    for n in range(2):
        v = 3 + n if kind == POINT_TRIANGLE else n
        for k in range(3):
            vector = component(v, k, size)
            for q in range(size):
                if digits[vector.start.at + q] != digits[vector.end.at + q]:
                    return False
    return True


@kernel(forceinline=True)
def _cross_at_root(digits: Digits, root: Linear, side: int, first: Number) -> int:
    """Return the sign of a cross component where `root` is 0.

    It is that of side × (a x(1) - b x(0)).
    """
    value, x = Number(PRODUCTS_AT, root.start.length + first.length), Linear(first, after(after(first)))
    clear(digits, value)
    for end in range(2):
        add_product(digits, value, end_of(root, end), end_of(x, 1 - end), side if end == 0 else -side)
    carry(digits, value)
    return sign(digits, value)


@kernel(forceinline=True)
def _dot_at_root(digits: Digits, root: Linear, first: Number) -> int:
    """Return the sign of a dot where `root`, with ends a and b, is 0.

    The coefficients are weighted by b², -2ab and a².
    """
    square = Number(PRODUCTS_AT, 2 * root.start.length)
    value = Number(square.at + square.length, square.length + first.length)
    clear(digits, value)
    for c in range(3):
        clear(digits, square)
        one, other = root.start if c == 2 else root.end, root.end if c == 0 else root.start
        add_product(digits, square, one, other, -2 if c == 1 else 1)
        carry(digits, square)
        add_product(digits, value, square, nth(first, c), as_int64(1))
    carry(digits, value)
    return sign(digits, value)


@kernel
def _contact_at_root(digits: Digits, p: Polynomials, root: Linear) -> bool:
    """Return whether a translation has contact where a linear polynomial is 0.

    The ends have opposite signs, or one of them is 0.
    """
    side = 1 if sign(digits, root.start) > 0 or sign(digits, root.end) < 0 else -1
    for k in range(3):
        some_above, some_below = False, False
        for j in range(p.crosses):
            value = _cross_at_root(digits, root, side, first_of_quadratic(p, 3 * j + k))
            some_above, some_below = some_above or value > 0, some_below or value < 0
        if some_above or some_below:
            return not (some_above and some_below)
    contact = False
    for j in range(p.crosses):
        contact = contact or _dot_at_root(digits, root, first_of_dot(p, j)) <= 0
    return contact


@kernel(forceinline=True)
def _time_of_root(digits: Digits, root: Linear) -> float:
    """Return the time at which a linear polynomial is 0, rounded down."""
    start, end = abs(as_float(digits, root.start)), abs(as_float(digits, root.end))
    return 1.0 if end == 0.0 else start / (start + end) * (1.0 - FRACTION_ERROR)


@kernel
def first_root(digits: Digits, p: Polynomials) -> FirstRoot:
    """Return the first contact of a translation that has none at t = 0."""
    first, on_a_line = math.inf, True
    for n in range(-1, 3 * p.crosses):
        # The cubic, here linear too; only if it is always 0, one nonzero component of each cross.
        start = first_of_f(p) if n < 0 else first_of_quadratic(p, n)
        root = Linear(start, nth(start, 3 if n < 0 else 2))
        before, later = sign(digits, root.start), sign(digits, root.end)
        if before == 0 and later == 0:
            continue
        on_a_line = False
        if before != 0 and before != later and _contact_at_root(digits, p, root):
            first = min(first, _time_of_root(digits, root))
        if n < 0:
            break
    return FirstRoot(first, on_a_line)
