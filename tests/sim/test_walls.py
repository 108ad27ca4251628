"""Walls: positions and velocities against reflections in rational numbers."""

from fractions import Fraction

import numpy as np
import pytest

from jostle.sim.walls import reflected

pytestmark = pytest.mark.small


def followed(start, way, room):
    """Place and sign of the velocity of a point that starts between the walls and goes a way, wall after wall."""
    place, left, sign = Fraction(start), Fraction(way), 1
    room = Fraction(room)
    while True:
        end = place + left
        if -room <= end <= room:
            return float(end), sign
        wall = room if end > room else -room
        left, place, sign = -(left - (wall - place)), wall, -sign


def test_any_number_of_reflections():
    rng = np.random.default_rng(0)
    for _ in range(500):
        room = float(rng.uniform(0.1, 5.0))
        start, way = float(rng.uniform(-room, room)), float(rng.normal() * 10.0 ** rng.uniform(-2, 2))
        place, sign = followed(start, way, room)
        found, velocity = reflected(start + way, way, room, 1.0)
        assert found == pytest.approx(place, abs=1e-11)
        assert velocity == sign * way
        assert -room <= found <= room


@pytest.mark.parametrize("way", [1e3, 1e9, 1e20, 1e60, -1e60])
def test_nothing_gets_out_however_fast(way):
    place, velocity = reflected(way, way, 3.0, 1.0)
    assert -3.0 <= place <= 3.0
    assert abs(velocity) == abs(way)


def test_restitution_takes_speed_at_every_wall():
    assert reflected(1.5, 2.0, 1.0, 0.5) == (0.75, -1.0)
    assert reflected(1.5, 2.0, 1.0, 0.0) == (1.0, 0.0)
    place, velocity = reflected(1.0 + 2.0 + 0.5, 8.0, 1.0, 0.5)  # two walls
    assert place == pytest.approx(-0.5)
    assert velocity == pytest.approx(2.0)


def test_between_the_walls_nothing_changes():
    assert reflected(1.0, 5.0, 1.0, 0.3) == (1.0, 5.0)
    assert reflected(-0.2, 5.0, np.inf, 0.3) == (-0.2, 5.0)


def test_a_body_that_fills_the_cube_stays_in_the_middle():
    assert reflected(0.2, 3.0, 0.0, 1.0) == (0.0, -3.0)


def test_what_is_set_beyond_a_wall_is_sent_inward():
    place, velocity = reflected(1.25, -2.0, 1.0, 1.0)
    assert (place, velocity) == (0.75, -2.0)
