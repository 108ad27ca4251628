from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from jostle.broad_phase import Volumes
from jostle.broad_phase.volumes import sort_pairs


@pytest.mark.small
@pytest.mark.parametrize("scale", [1e-30, 1.0, 1e30])
def test_spheres_hold_their_boxes(scale):
    random = np.random.default_rng(1)
    lower = random.normal(size=(50, 3)) * scale + random.choice([0.0, 1e3], (50, 1)) * scale
    upper = lower + random.random((50, 3)) * random.choice([0.0, 1.0, 1e-9, 1e9], (50, 3)) * scale
    centre, radius = Volumes(lower, upper).spheres()
    for k in range(50):
        squared = sum(
            max((Fraction(x) - Fraction(c)) ** 2 for x in (lo, hi)) for lo, hi, c in zip(lower[k], upper[k], centre[k], strict=True)
        )
        assert squared <= Fraction(radius[k]) ** 2
        assert Fraction(radius[k]) ** 2 <= squared * Fraction(1 + 1e-13) + Fraction(1e-300)


@pytest.mark.small
def test_spheres_of_boxes_without_an_end():
    lower = np.array([[-np.inf, -np.inf, 0.0], [0.0, 0.0, 0.0], [-np.inf, 1.0, 1.0]])
    upper = np.array([[np.inf, np.inf, 1.0], [np.inf, 1.0, 1.0], [5.0, 2.0, 2.0]])
    centre, radius = Volumes(lower, upper).spheres()
    assert np.isfinite(centre).all()
    assert (radius == np.inf).all()


@pytest.mark.small
def test_spheres_that_are_given_are_kept():
    lower, upper = np.zeros((2, 3)), np.ones((2, 3))
    given = np.full((2, 3), 0.5), np.full(2, 0.9)
    volumes = Volumes(lower, upper, *given)
    assert volumes.spheres()[0] is given[0]
    assert volumes.spheres()[1] is given[1]
    assert len(volumes) == 2
    assert volumes.velocity is None
    assert volumes.dt == 0.0


@pytest.mark.small
def test_spheres_of_nothing():
    centre, radius = Volumes(np.empty((0, 3)), np.empty((0, 3))).spheres()
    assert centre.shape == (0, 3)
    assert radius.shape == (0,)


@pytest.mark.small
@pytest.mark.parametrize(("bodies", "found"), [(1, 0), (2, 1), (5, 40), (300, 900)])
def test_pairs_are_sorted_and_kept_once(bodies, found):
    random = np.random.default_rng(found)
    pairs = np.sort(random.integers(0, bodies, (2, found + 3)), axis=0)
    pairs = np.vstack([pairs, np.full(found + 3, -7)]).astype(np.int32)
    expected = np.array(sorted(set(map(tuple, pairs[:2, :found].T.tolist()))), dtype=int).reshape(-1, 2)
    result = np.empty((2, found), np.int32)
    kept = sort_pairs(pairs, found, np.empty((2, bodies + 1), np.int32), result)
    np.testing.assert_array_equal(result[:, :kept].T, expected)


@pytest.mark.small
@pytest.mark.parametrize("scale", [1e-20, 1.0, 1e20])
def test_grown_volumes_hold_what_is_near(scale):
    random = np.random.default_rng(3)
    lower = random.normal(size=(40, 3)) * scale
    upper = lower + random.random((40, 3)) * scale
    lower[0, 0], upper[1, 2] = -np.inf, np.inf
    centre, radius = Volumes(lower, upper).spheres()
    by = np.where(random.random(40) < 0.3, 0.0, random.random(40)) * scale
    for each in (by, 0.3 * scale):
        grown = Volumes(lower, upper, centre, radius, dt=0.5).grown(each)
        assert grown.dt == 0.5
        assert grown.centre is centre
        wanted = np.broadcast_to(each, 40)
        for k in range(2, 40):
            assert Fraction(grown.radius[k]) >= Fraction(radius[k]) + Fraction(wanted[k])
            for axis in range(3):
                low, high = Fraction(lower[k, axis]) - Fraction(wanted[k]), Fraction(upper[k, axis]) + Fraction(wanted[k])
                assert low - abs(low) * Fraction(1e-15) <= Fraction(grown.lower[k, axis]) <= low
                assert high <= Fraction(grown.upper[k, axis]) <= high + abs(high) * Fraction(1e-15)
        assert grown.lower[0, 0] == -np.inf
        assert grown.upper[1, 2] == np.inf


@pytest.mark.small
def test_what_bodies_are_called_and_who_jumped():
    volumes = Volumes(np.zeros((2, 3)), np.ones((2, 3)))
    assert volumes.name_of(1) == "body 1"
    assert volumes.jumped() is None
    jumps = np.array([True, False])
    assert Volumes(volumes.lower, volumes.upper, jumps=jumps).grown(0.1).jumped() is jumps
