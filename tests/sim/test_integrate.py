"""Tumbling: energy and angular momentum against the analytic top."""

import numpy as np
import pytest

from jostle.sim.integrate import EXPLICIT, SEMI_IMPLICIT, tumble
from jostle.sim.state import quaternions_of, rotations_of
from tests.tiny import random_pose

pytestmark = pytest.mark.small


def quotients(moments):
    x, y, z = moments
    return (y - z) / x, (z - x) / y, (x - y) / z


def run(q, spin, moments, dt, steps, integrator=SEMI_IMPLICIT):
    """Energies and angular momenta after each step, and the end."""
    energies, momenta = [], []
    for _ in range(steps):
        *q, sx, sy, sz = tumble(*q, *spin, *quotients(moments), dt, integrator)
        spin = np.array([sx, sy, sz])
        turn = rotations_of(np.array([q]))[0]
        own = turn.T @ spin
        energies.append(0.5 * (moments * own**2).sum())
        momenta.append(turn @ (moments * own))
    return np.array(energies), np.array(momenta), np.array(q), spin


@pytest.mark.parametrize("speed", [0.01, 0.3, 3.0, 14.0])
def test_energy_and_angular_momentum_stay(speed):
    rng = np.random.default_rng(0)
    for _ in range(12):
        x, y = rng.uniform(0.1, 1.0, 2)
        moments = np.array([x, y, rng.uniform(abs(x - y), x + y)])  # what a body can have
        spin = rng.normal(size=3)
        spin *= speed / np.linalg.norm(spin)
        energies, momenta, q, _ = run(quaternions_of(random_pose(rng)[None, :3, :3])[0], spin, moments, 1.0, 40)
        assert np.diff(energies).max() <= 1e-14 * energies[0]
        assert np.abs(energies - energies[0]).max() <= 1e-13 * energies[0]
        assert np.abs(momenta - momenta[0]).max() <= 1e-12 * np.abs(momenta[0]).max()
        assert (q**2).sum() == pytest.approx(1.0, abs=1e-15)


def test_a_body_too_fast_to_tumble_keeps_its_energy():
    moments = np.array([1.0, 1.8, 2.5])
    for speed in (30.0, 1e3, 1e9):
        energies, _, _, _ = run((1.0, 0.0, 0.0, 0.0), speed * np.array([0.6, 0.5, 0.2]), moments, 1.0, 20)
        assert np.abs(energies - energies[0]).max() <= 1e-12 * energies[0]


def test_the_symmetric_top_against_its_formula():
    # I1 = I2: in the body the spin goes round the third axis at the rate (I3 - I1) / I1 · spin_3.
    moments = np.array([1.0, 1.0, 1.7])
    start = np.array([0.3, 0.0, 0.5])
    errors = []
    for steps in (50, 100):
        dt = 10.0 / steps
        _, _, q, spin = run((1.0, 0.0, 0.0, 0.0), start, moments, dt, steps)
        own = rotations_of(q[None])[0].T @ spin
        angle = 0.7 * 0.5 * 10.0
        exact = np.array([0.3 * np.cos(angle), 0.3 * np.sin(angle), 0.5])
        errors.append(np.abs(own - exact).max())
    assert errors[1] < 1e-3
    assert errors[0] / errors[1] == pytest.approx(4.0, rel=0.2)  # of second order


def test_a_ball_turns_by_its_spin():
    for integrator in (SEMI_IMPLICIT, EXPLICIT):
        _, _, q, spin = run((1.0, 0.0, 0.0, 0.0), np.array([0.0, 0.0, 0.05]), np.ones(3), 1.0, 20, integrator)
        assert 2 * np.arctan2(q[3], q[0]) == pytest.approx(1.0, rel=3e-4)
        assert spin == pytest.approx([0.0, 0.0, 0.05])


def test_the_explicit_integrator_gains_energy():
    energies, _, _, _ = run((1.0, 0.0, 0.0, 0.0), np.array([0.2, 0.1, 0.15]), np.array([1.0, 2.0, 2.5]), 1.0, 200, EXPLICIT)
    assert energies[-1] > 1.01 * energies[0]


def test_quaternions_of_all_turns():
    rng = np.random.default_rng(3)
    turns = np.array([random_pose(rng)[:3, :3] for _ in range(100)] + [np.diag(d) for d in ((1, -1, -1), (-1, 1, -1), (-1, -1, 1))])
    found = quaternions_of(turns)
    assert (found**2).sum(axis=1) == pytest.approx(1.0)
    assert rotations_of(found) == pytest.approx(turns, abs=1e-14)
