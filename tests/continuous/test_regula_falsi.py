"""The paper's root finders: what they find is right where the sign changes, and what they are known to miss is missed."""

import numpy as np
import pytest

from jostle.continuous.regula_falsi import EDGE_EDGE, POINT_TRIANGLE, regula_falsi_times
from jostle.errors import InputError
from tests.continuous.certified.test_triangles import STRAIGHT, Motion, distances, plate, random_motion
from tests.oracle.moving import judge

pytestmark = pytest.mark.small


def times(kind, first, second, **options):
    corners = np.concatenate([first.ends[0], second.ends[0], first.ends[1], second.ends[1]], axis=1)
    return regula_falsi_times(kind, corners, first.turn, second.turn, **options)


def test_a_point_through_a_plate():
    falling = Motion([[[0.5, 0.25, 1.0]]], shift=[1.0, 0.0, -4.0])
    for iterations in (0, 32):
        assert times(POINT_TRIANGLE, falling, Motion(plate()), iterations=iterations)[0] == pytest.approx(0.25, abs=1e-15)
    beside = Motion([[[9.5, 0.25, 1.0]]], shift=[1.0, 0.0, -4.0])
    assert times(POINT_TRIANGLE, beside, Motion(plate()))[0] == np.inf


def test_a_point_on_a_circle_meets_a_plane():
    point = Motion([[[1.0, 0.0, 0.0]]], angle=2.0)
    wall = Motion(np.array([[[-5.0, 0.5, -5.0], [5.0, 0.5, -5.0], [0.0, 0.5, 5.0]]]))
    # sin 2t = 1/2. At the end of the step the height is sin 2 > 1/2: the sign has changed.
    assert times(POINT_TRIANGLE, point, wall, iterations=64, tolerance=1e-12)[0] == pytest.approx(np.pi / 12, abs=1e-9)
    assert times(POINT_TRIANGLE, point, wall, iterations=0)[0] == pytest.approx(0.5 / np.sin(2.0), abs=1e-12)


def test_two_sticks_that_spin_towards_each_other():
    first = Motion([[[0.0, 0.0, -0.5], [1.0, 0.0, 0.5]]], angle=0.8)
    ends = [[0.2 * np.cos(1), 0.2 * np.sin(1), 0.5], [0.8 * np.cos(1), 0.8 * np.sin(1), -0.5]]
    second = Motion([ends], axis=(0, 0, -1), angle=0.7)
    assert times(EDGE_EDGE, first, second, iterations=64, tolerance=1e-13)[0] == pytest.approx(1.0 / 1.5, abs=1e-10)


def test_at_the_ends_of_the_step():
    for shift in (1.0, -1.0):
        for height, time in ((0.0, 0.0), (-shift, 1.0)):
            point = Motion([[[0.0, 0.0, height]]], shift=[0.0, 0.0, shift])
            assert times(POINT_TRIANGLE, point, Motion(plate()))[0] == time


def test_what_it_misses():
    """A corner that dips into a plate and comes out has no change of sign over the whole step, but over parts of it."""
    point = Motion([[[-np.sin(1.0), 0.0, -np.cos(1.0) + 0.9]]], (0, -1, 0), 2.0, [0.0, 0.0, 0.9])
    assert times(POINT_TRIANGLE, point, Motion(plate()))[0] == np.inf
    time = times(POINT_TRIANGLE, point, Motion(plate()), steps=3, iterations=64, tolerance=1e-12)[0]
    assert time == pytest.approx((1.0 - np.arccos(0.9)) / 2.0, abs=1e-9)
    # Edges that stay parallel, and those that stay in a plane.
    edge = Motion([[[0.0, 0.0, 0.0], [1.0, 0.0, 0.0]]])
    assert times(EDGE_EDGE, edge, Motion([[[0.5, 1.0, 0.0], [2.0, 1.0, 0.0]]], shift=[0.0, -2.0, 0.0]), steps=8)[0] == np.inf
    assert times(EDGE_EDGE, edge, Motion([[[0.5, 1.0, 0.0], [0.7, 2.0, 0.0]]], shift=[0.0, -1.1, 0.0]))[0] == 1.0


@pytest.mark.parametrize("kind", [POINT_TRIANGLE, EDGE_EDGE])
def test_straight_shifts_against_rational_arithmetic(kind):
    """d(t) is linear in t where only shifts happen: one interpolation is right, but for its rounding."""
    rng = np.random.default_rng(3)
    start = rng.normal(size=(60, 4, 3))
    towards = start[:, kind + 1 :].mean(axis=1) - start[:, : kind + 1].mean(axis=1) + 0.3 * rng.normal(size=(60, 3))
    shift = np.zeros((60, 4, 3))
    shift[:, : kind + 1] = (rng.uniform(0.5, 3.0, size=(60, 1)) * towards)[:, None]
    corners = np.concatenate([start, start + shift], axis=1)
    found = regula_falsi_times(kind, corners, STRAIGHT, STRAIGHT, iterations=0)
    verdicts = [judge(kind, corners[i], time - 1e-9 if time < np.inf else time, 2e-9) for i, time in enumerate(found.tolist())]
    assert set(verdicts) == {""}
    assert 3 < np.isfinite(found).sum() < 57


@pytest.mark.parametrize("kind", [POINT_TRIANGLE, EDGE_EDGE])
def test_what_it_finds_on_screws_is_a_contact(kind):
    rng = np.random.default_rng(4)
    counts = (1, 3) if kind == POINT_TRIANGLE else (2, 2)
    first, second = (random_motion(rng, 300, corners, angle, spread=0.3) for corners, angle in zip(counts, (0.3, 0.5), strict=True))
    found = times(kind, first, second, iterations=64, tolerance=1e-12)
    rows = np.flatnonzero(np.isfinite(found))
    assert len(rows) > 5
    assert distances(first.at(found[rows], rows), second.at(found[rows], rows)).max() < 1e-7


def test_refusals_and_empty_batches():
    with pytest.raises(InputError, match="shape"):
        regula_falsi_times(POINT_TRIANGLE, np.zeros((2, 4, 3)), STRAIGHT, STRAIGHT)
    with pytest.raises(InputError, match="kind"):
        regula_falsi_times(2, np.zeros((2, 8, 3)), STRAIGHT, STRAIGHT)
    with pytest.raises(InputError, match="steps"):
        regula_falsi_times(POINT_TRIANGLE, np.zeros((2, 8, 3)), STRAIGHT, STRAIGHT, steps=0)
    assert regula_falsi_times(POINT_TRIANGLE, np.zeros((0, 8, 3)), STRAIGHT, STRAIGHT).shape == (0,)
