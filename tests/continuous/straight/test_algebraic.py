"""The last rung against the oracle: every query of the sets, not only those left to it."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest

from jostle.continuous.straight import algebraic
from jostle.continuous.straight.algebraic import first_contact
from tests.continuous.moving_sets import SETS, queries_of
from tests.oracle.moving import judge

pytestmark = pytest.mark.small


@pytest.mark.parametrize("name", SETS)
def test_it_agrees_with_the_oracle(name):
    for kind, corners in enumerate(queries_of(name, 60, seed=11)):
        for corner in corners:
            time = first_contact(kind, corner.ravel().tolist())
            assert judge(kind, corner, time, 1e-15) == "", (kind, corner.tolist())


def roots_of(*coefficients):
    return sorted(root.from_below() for root in algebraic._roots(list(coefficients)))


def product(*factors):
    total = [1]
    for a, b in factors:
        total = [x * a + y * b for x, y in zip([0, *total], [*total, 0], strict=True)]
    return total


@pytest.mark.parametrize(
    ("factors", "times"),
    [
        ([(3, -1), (3, -2), (5, 1)], [Fraction(1, 3), Fraction(2, 3)]),
        ([(3, -1), (3, -1), (7, -2)], [Fraction(2, 7), Fraction(1, 3)]),
        ([(7, -3), (7, -3), (7, -3)], [Fraction(3, 7)]),
        ([(1, 0), (1, -1), (2, -1)], [Fraction(0), Fraction(1, 2), Fraction(1)]),
        ([(1, 0), (1, 0), (1, -1)], [Fraction(0), Fraction(1)]),
        ([(1, -2), (1, 3), (9, -10)], []),
    ],
)
def test_roots_of_cubics_with_fractions_as_roots(factors, times):
    found = roots_of(*product(*factors))
    assert len(found) >= len(times)  # a root may be given twice
    for time in times:
        assert any(0 <= time - Fraction(root) < 2**-52 for root in found)
    assert all(any(0 <= time - Fraction(root) < 2**-52 for time in times) for root in found)


def test_roots_that_are_no_fractions():
    assert roots_of(-1, 0, 2) == [pytest.approx(math.sqrt(0.5), abs=2e-16)]
    assert roots_of(-1, 0, 0, 2) == [pytest.approx(0.5 ** (1 / 3), abs=2e-16)]
    assert roots_of(1, -3, 0, 1) == [pytest.approx(0.3472963553338607, abs=1e-15)]
    assert roots_of(1, 0, 1) == []


def test_a_sign_at_a_common_root_is_zero():
    (root,) = algebraic._roots([-1, 0, 0, 2])
    assert root.sign_of([-1, 2]) == 1
    assert root.sign_of([-4, 5]) == -1
    assert root.sign_of([1, -4, 4]) == 1
    (double,) = algebraic._roots([-2, 1, 4, -2])  # (2 t² - 1)(2 - t)
    assert double.sign_of([-1, 0, 2]) == 0
    assert double.sign_of([-1, 0, 3]) == 1
