"""The oracle of moving queries on cases with known answers, and against many samples of the distance."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from tests.oracle.moving import MovingQuery, Root, judge, roots
from tests.oracle.moving_rows import contact_times, judge_time

pytestmark = pytest.mark.small


def test_roots_and_signs():
    found = sorted(roots([-2, 11, -18, 9]), key=lambda root: root.low)  # (t - 1)(3t - 1)(3t - 2)
    assert len(found) == 3
    assert [root.compared_with(0.5) for root in found] == [-1, 1, 1]
    (root,) = roots([-1, 0, 2])
    assert root.sign([-1, 0, 2]) == 0
    assert root.sign([-5, 7]) == -1
    assert root.sign([-7, 10]) == 1
    for n in (2, 3):
        (double,) = roots([1, -2 * n, n * n])  # (n t - 1)²
        assert double.sign([-1, n]) == 0


def falling(height_t0, height_t1, x=0.5, y=0.25):
    triangle = [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]
    return [[x, y, height_t0], *triangle, [x, y, height_t1], *triangle]


def test_a_falling_point():
    (contact,) = MovingQuery(0, falling(1.0, -2.0)).contacts()
    assert contact.sign([-1, 3]) == 0
    assert MovingQuery(0, falling(1.0, 0.5)).contacts() == []
    assert MovingQuery(0, falling(1.0, -2.0, x=2.0)).contacts() == []
    assert len(MovingQuery(0, falling(1.0, -2.0, x=0.5, y=0.5)).contacts()) == 1


def test_verdicts():
    query = falling(1.0, -1.0)
    assert judge(0, query, 0.5, 1e-9) == ""
    assert judge(0, query, 0.5 - 1e-10, 1e-9) == ""
    assert judge(0, query, 0.5 - 1e-8, 1e-9) == "early"
    assert judge(0, query, np.nextafter(0.5, 1.0), 1e-9) == "late"
    assert judge(0, query, float("inf"), 1e-9) == "missed"
    assert judge(0, falling(1.0, 0.5), 0.5, 1e-9) == "invented"


def test_contact_at_fractions_of_small_whole_numbers():
    """Rational times tried one by one find no contact that the oracle does not know, and none before its first."""
    rng = np.random.default_rng(5)
    times = sorted({Fraction(k, d) for d in range(1, 7) for k in range(d + 1)})
    contacts = 0
    for row in range(150):
        kind, corners = row % 2, rng.integers(-1, 2, size=(8, 3)).astype(float)
        query = MovingQuery(kind, corners)
        known = query.contacts()
        for t in times:
            if query.is_contact(Root([-t.numerator, t.denominator], t, t)):
                contacts += 1
                assert any(root.sign([-t.numerator, t.denominator]) <= 0 for root in known)
                break
    assert contacts > 30


def test_faces_that_cross_at_the_start_touch_at_once_and_faces_that_pass_never_do():
    flat = [[[0.0, 0.0, 0.0], [4.0, 0.0, 0.0], [0.0, 4.0, 0.0]]]

    def upright(x, z):
        return [[[x, 1.0, z - 1.0], [x, 1.0, z + 1.0], [x, 2.0, z]]]

    (crossing,) = contact_times(flat, flat, upright(1.0, 0.0), upright(1.0, 9.0)).values()
    assert judge_time(crossing, 0.0, 1e-9) == ""
    (falling,) = contact_times(flat, flat, upright(1.0, 4.0), upright(1.0, -4.0)).values()
    assert judge_time(falling, 0.375, 1e-9) == ""
    assert judge_time(falling, 0.374, 1e-9) == "early"
    assert judge_time(falling, 0.376, 1e-9) == "late"
    assert contact_times(flat, flat, upright(9.0, 4.0), upright(9.0, -4.0)) == {}
    assert contact_times(flat, flat, upright(9.0, 4.0), upright(1.0, 4.0)) == {}
