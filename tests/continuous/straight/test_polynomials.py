"""The polynomials of the exact queries, in floats and in digits, against fractions."""

from __future__ import annotations

from fractions import Fraction
from itertools import chain, pairwise

import numpy as np
import pytest

from jostle.continuous.straight.contact import read_motion
from jostle.continuous.straight.digits import (
    DIGIT,
    Span,
    coordinates_into,
    dots_into,
    first_of_dot,
    first_of_f,
    first_of_quadratic,
    nth,
    polynomials_into,
    vectors_into,
)
from jostle.continuous.straight.exact_search import ExactWork, new_exact_work, open_exact_work
from jostle.continuous.straight.polynomials import crosses_into, cubic_into, scaled_vectors_into
from jostle.continuous.straight.search import FloatWork, new_float_work, open_float_work
from jostle.kernels.arrays import read_only_view
from jostle.kernels.jit import kernel
from tests.continuous.moving_sets import SETS, queries_of


@kernel
def float_polynomials(addresses, kind, corners, row):
    """Write f and the crosses of a query into the first node of a workspace; return the error of f, -1 if all is one point."""
    work = open_float_work(addresses)
    read_motion(work, corners, row)
    if not scaled_vectors_into(kind, work.motion, work.vectors):
        return -1.0
    error = cubic_into(kind, work.vectors, work.nodes[0])
    crosses_into(kind, work.vectors, work.nodes[0], work.errors)
    return error


@kernel
def exact_polynomials(addresses, kind, corners, row, span):
    """Write f, the crosses and the dots of a query on a span; return where they stand."""
    digits = open_exact_work(addresses).digits
    size = vectors_into(digits, kind, coordinates_into(digits, corners, row), span)
    return dots_into(digits, kind, polynomials_into(digits, kind, size))


def places(corners, t):
    return [
        [Fraction(x) * (1 - t) + Fraction(y) * t for x, y in zip(s, e, strict=True)]
        for s, e in zip(corners[:4], corners[4:], strict=True)
    ]


def cross(a, b):
    return [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]


def dot(a, b):
    return sum(x * y for x, y in zip(a, b, strict=True))


def values(kind, corners, t):
    """Return f, the crosses one after the other and the dots at a time, as fractions, from the definitions."""
    p, a, b, c = places(corners, t)

    def way(start, end):
        return [y - x for x, y in zip(start, end, strict=True)]

    if kind == 0:
        n = cross(way(a, b), way(a, c))
        pairs = [(b, c), (c, a), (a, b)]
        crosses = [cross(way(p, s), way(p, e)) for s, e in pairs]
        return dot(way(p, a), n), list(chain(*crosses)), [dot(way(p, s), way(p, e)) for s, e in pairs]
    d1, d2, r = way(p, a), way(b, c), way(p, b)
    crosses = [cross(r, d2), cross(d2, way(a, b)), cross(r, d1), cross(d1, way(p, c))]
    dots = [dot(way(v, b), way(v, c)) for v in (p, a)] + [dot(way(v, p), way(v, a)) for v in (b, c)]
    return dot(r, cross(d1, d2)), list(chain(*crosses)), dots


def bernstein_value(coefficients, s):
    """The value at s in [0,1] of a polynomial in Bernstein form, by de Casteljau."""
    points = [Fraction(c) for c in coefficients]
    while len(points) > 1:
        points = [x * (1 - s) + y * s for x, y in pairwise(points)]
    return points[0]


@pytest.mark.small
@pytest.mark.parametrize("name", SETS)
def test_floats_err_less_than_their_bounds(name):
    """At four times a cubic is known; its value errs by no more than the largest error of its coefficients."""
    work, fields = new_float_work(), [field.name for field in FloatWork.layout]
    node, errors = work.array(0, fields.index("nodes"))[0], work.array(0, fields.index("errors"))
    for kind, queries in enumerate(queries_of(name, 20, seed=21)):
        for row in range(len(queries)):
            error = float_polynomials(work.table[0], kind, read_only_view(queries), row)
            if error < 0.0:
                continue
            largest = max(np.abs(queries[row, 4 * e + 1 : 4 * e + 4] - queries[row, 4 * e]).max() for e in (0, 1))
            scale = Fraction(2.0 ** (-np.frexp(largest)[1] - 1.0))
            for t in (Fraction(0), Fraction(1, 3), Fraction(5, 7), Fraction(1)):
                f, crosses, _ = values(kind, queries[row], t)
                assert abs(bernstein_value(node["f"], t) - f * scale**3) <= error
                for n, exact in enumerate(crosses):
                    value = bernstein_value(node["crosses"][3 * n : 3 * n + 3], t)
                    assert abs(value - exact * scale**2) <= errors[n], (name, kind, row, n)


def coefficients(digits, first, count):
    """Return consecutive integers of the array."""
    numbers = [nth(first, n) for n in range(count)]
    return [sum(int(d) << (DIGIT * i) for i, d in enumerate(digits[x.at : x.at + x.length])) for x in numbers]


@pytest.mark.small
@pytest.mark.parametrize("span", [(0.0, 1.0), (0.25, 0.75), (1.0 - 2.0**-50, 1.0), (0.1 // 2.0**-50 * 2.0**-50, 0.5)])
@pytest.mark.parametrize("name", ["random", "near whole numbers", "of all sizes", "on a skew line"])
def test_digits_are_exact(name, span):
    work = new_exact_work()
    digits = work.array(0, [field.name for field in ExactWork.layout].index("digits"))
    for kind, queries in enumerate(queries_of(name, 6, seed=22)):
        for row in range(len(queries)):
            p = exact_polynomials(work.table[0], kind, read_only_view(queries), row, Span(*span))
            f = coefficients(digits, first_of_f(p), 4)
            firsts = [first_of_quadratic(p, n) for n in range(3 * p.crosses)] + [first_of_dot(p, j) for j in range(p.crosses)]
            others = [coefficients(digits, first, 3) for first in firsts]
            assert p.crosses == 3 + kind
            for s in (Fraction(0), Fraction(1, 3), Fraction(5, 7), Fraction(1)):
                t = Fraction(span[0]) * (1 - s) + Fraction(span[1]) * s
                exact_f, crosses, dots = values(kind, queries[row], t)
                exact = [exact_f, *crosses, *dots]
                found = [bernstein_value(f, s) / 3] + [bernstein_value(q, s) / 2 for q in others]
                unit = next((abs(y / z) for y, z in zip(found[1:], exact[1:], strict=True) if z), Fraction(1))
                assert found[1:] == [unit * z for z in exact[1:]]
                assert found[0] ** 2 == unit**3 * exact_f**2
                assert (found[0] > 0) == (exact_f > 0)
