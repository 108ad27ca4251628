"""The clearance of a detection covers the approach of surfaces in a step."""

import numpy as np
import pytest

from jostle import World
from jostle.geometry.pose import translation
from jostle.shapes import build
from jostle.sim import SoftMaterial, SoftSimulation
from jostle.sim.approach import WHEN_MET, clearance_for
from tests.sim.depth import depth


def two_balls(gap=0.0005):
    world = World()
    ball = build.blob(500, roughness=0.0)
    reach = ball.bounds[1, 0] - ball.bounds[0, 0]
    for k, name in enumerate(("left", "right")):
        world.add(ball, translation((k * (reach + gap), 0.0, 0.0)), name, deformable=True)
    return SoftSimulation(world, {name: SoftMaterial(cells=3) for name in ("left", "right")}, dt=0.01)


def wanted(simulation, velocities, met=False):
    """The clearance beyond the least one, over the step: a speed; velocities by body or by vertex."""
    surfaces, points = simulation._arrays.surfaces, simulation._points
    if np.ndim(velocities) == 2 and len(velocities) == 2:
        velocities = np.repeat(np.array(velocities, float), len(points) // 2, axis=0)
    arrays = surfaces, points, velocities, simulation._moves, np.full((2, 2), met)
    return (clearance_for(*arrays, 0.001, 5.0, 0.01, np.empty((2, 6))) - 0.001) / 0.01


@pytest.mark.small
def test_speeds_towards_each_other_add_up():
    simulation = two_balls()
    assert wanted(simulation, [[2.0, 0.0, 0.0], [-1.0, 0.0, 0.0]]) == pytest.approx(3.0, rel=0.05)
    assert wanted(simulation, [[2.0, 0.0, 0.0], [-1.0, 0.0, 0.0]], met=True) == pytest.approx(WHEN_MET * 3.0, rel=0.05)
    # Farther apart than they come in a step: nothing can meet.
    assert wanted(two_balls(0.1), [[2.0, 0.0, 0.0], [-1.0, 0.0, 0.0]]) == 0.0


@pytest.mark.small
def test_bodies_that_fly_together_or_stand_still_need_no_more_than_the_least():
    simulation = two_balls()
    assert wanted(simulation, [[9.0, 4.0, -5.0], [9.0, 4.0, -5.0]]) == pytest.approx(0.0, abs=1e-9)
    assert wanted(simulation, [[0.0, 0.0, 0.0], [0.0, 0.0, 0.0]]) == 0.0


@pytest.mark.small
def test_what_moves_along_the_surface_counts_little():
    simulation = two_balls()
    turn = np.cross([3.0, 0.0, 0.0], simulation._points - simulation._points.mean(axis=0))  # about the line between the two
    assert wanted(simulation, turn) < 0.5  # of up to 6; facets are not quite round
    assert wanted(simulation, [[0.0, 3.0, 0.0], [0.0, -3.0, 0.0]]) < 3.0  # of 6, past each other


@pytest.mark.small
def test_only_parts_that_are_near_count():
    simulation = two_balls()
    flap = np.zeros_like(simulation._points)
    flap[simulation._points[:, 0] < -0.5, 0] = -20.0  # the far side of the left one
    assert wanted(simulation, flap) == pytest.approx(0.0, abs=1e-9)


def test_a_body_that_goes_far_in_a_step_does_not_enter_a_plate():
    world = World()
    world.add(build.blob(500, roughness=0.0), translation((0.0, 0.0, 1.5)), "ball", deformable=True)
    world.add(build.box((6.0, 6.0, 2.0)), translation((0.0, 0.0, -1.0)), "plate", static=True)
    simulation = SoftSimulation(world, {"ball": SoftMaterial(young=1e5, cells=6)}, velocity=[[0, 0, -12.0], [0, 0, 0]], dt=1 / 60)
    plate, deepest = world["plate"], 0.0
    for _ in range(15):  # 0.2 in a step, of the ball's 2, and more than a facet
        simulation.step()
        deepest = max(deepest, depth(simulation.positions("ball"), plate.world_vertices, plate.mesh.faces))
    assert deepest < 0.01
    assert simulation.momentum[2] > -0.5 * 4100.0 * 12.0  # it has been stopped, and thrown back
