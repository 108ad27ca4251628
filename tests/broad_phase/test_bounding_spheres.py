"""Spheres against rational arithmetic: touching counts, and nothing is lost to rounding."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from jostle.broad_phase import BoundingSpheres, Volumes


def found_among(centre, radius):
    volumes = Volumes(centre - radius[:, None], centre + radius[:, None], centre, radius)
    found = BoundingSpheres().start(len(radius)).find(volumes)
    return set(zip(found.body_a.tolist(), found.body_b.tolist(), strict=True))


def rational(centre, radius, larger=Fraction(0)):
    pairs = set()
    for a in range(len(radius)):
        for b in range(a + 1, len(radius)):
            square = sum((Fraction(x) - Fraction(y)) ** 2 for x, y in zip(centre[a], centre[b], strict=True))
            if square <= (Fraction(radius[a]) + Fraction(radius[b])) ** 2 * (1 + larger):
                pairs.add((a, b))
    return pairs


@pytest.mark.small
@pytest.mark.parametrize("scale", [1e-30, 1.0, 1e30])
def test_spheres_of_a_lattice_touch_exactly(scale):
    random = np.random.default_rng(1)
    centre = random.integers(0, 12, (30, 3)) * scale
    # 3² + 4² = 5², 2² + 3² + 6² = 7²: many of them touch in a point.
    radius = random.choice([1.0, 1.5, 2.5, 3.5], 30) * scale
    expected = rational(centre, radius)
    assert found_among(centre, radius) == expected
    assert expected - rational(centre, radius * (1.0 - 1e-9))  # some do just touch


@pytest.mark.small
def test_rounding_never_loses_a_pair():
    random = np.random.default_rng(2)
    centre = random.normal(size=(40, 3))
    # Radii such that pairs (k, k + 20) touch as nearly as floats can say.
    gap = np.linalg.norm(centre[:20] - centre[20:], axis=1)
    radius = np.concatenate([gap * 0.3, gap - gap * 0.3])
    found = found_among(centre, radius)
    assert rational(centre, radius) <= found <= rational(centre, radius, Fraction(1e-13))


@pytest.mark.small
def test_a_sphere_without_an_end_meets_all():
    centre = np.array([[0.0, 0.0, 0.0], [1e30, 0.0, 0.0], [0.0, 5.0, 0.0]])
    assert found_among(centre, np.array([1.0, np.inf, 1.0])) == {(0, 1), (1, 2)}


def test_many_in_one_place_make_room():
    n = 400
    centre = np.zeros((n, 3))
    centre[n // 2 :] = 9.0
    assert len(found_among(centre, np.ones(n))) == 2 * (n // 2) * (n // 2 - 1) // 2
