"""Cells that are split and merged while a body moves: surface, mass and momentum stay."""

import numpy as np
import pytest

from jostle import World
from jostle.shapes import build
from jostle.sim import SoftMaterial, SoftSimulation
from jostle.sim.refinement import MERGED_WITHIN, carried_over, next_cells, whole_cells, with_momentum_of
from jostle.sim.resolutions import resolutions_of

MESHES = {"ball": build.blob(300, roughness=0.0), "blob": build.blob(300, seed=2, roughness=0.4), "plate": build.plate(3, 2)}
ALWAYS = 1e9  # seconds: nothing is merged


def of_surface(lattice, values):
    return (lattice.vertex_weight[:, :, None] * values[lattice.cell[lattice.vertex_cell]]).sum(axis=1)


def momenta(lattice, place, velocity):
    momentum = lattice.mass[:, None] * velocity
    return np.concatenate([momentum.sum(axis=0), np.cross(place, momentum).sum(axis=0)])


def changed(resolutions, cells, probable, place, velocity, seconds=1.0, merge_after=ALWAYS):
    """The cells after a step, with the places and velocities of their nodes."""
    new = next_cells(resolutions, cells, probable, place, seconds, merge_after)
    new_place, new_velocity = carried_over(resolutions, cells, new, place, velocity)
    return new, new_place, with_momentum_of((cells.lattice.mass, place, velocity), new_place, new_velocity, new.lattice.mass)


@pytest.mark.small
@pytest.mark.parametrize("mesh", MESHES)
def test_a_split_moves_no_point_of_the_surface_and_keeps_mass_and_momentum(mesh):
    rng, resolutions = np.random.default_rng(0), resolutions_of(MESHES[mesh], 5)
    cells = whole_cells(resolutions)
    place = resolutions.coarse.node + 0.03 * rng.normal(size=resolutions.coarse.node.shape)
    velocity = rng.normal(size=place.shape)
    shape, mass, moving = (
        of_surface(cells.lattice, place),
        resolutions.coarse.mass.sum(),
        momenta(cells.lattice, place, velocity),
    )
    for _ in range(3):  # the second time some cells beside are split already
        probable = rng.random(len(cells.split)) < 0.3
        cells, place, velocity = changed(resolutions, cells, probable, place, velocity)
        assert cells.split[probable].all()
        assert np.abs(of_surface(cells.lattice, place) - shape).max() < 1e-13
        assert cells.lattice.mass.sum() == pytest.approx(mass, rel=1e-12)
        assert np.abs(momenta(cells.lattice, place, velocity) - moving).max() < 1e-12 * np.abs(moving).max()
    assert 0.5 < cells.split.mean() < 1.0
    tied, corners, weights = cells.lattice.tied, cells.lattice.tied_to, cells.lattice.tied_by
    assert np.abs((weights[:, :, None] * velocity[corners]).sum(axis=1) - velocity[tied]).max() < 1e-12


@pytest.mark.small
@pytest.mark.parametrize("mesh", MESHES)
def test_an_affine_motion_is_the_same_after_a_split_and_a_merge(mesh):
    rng, resolutions = np.random.default_rng(1), resolutions_of(MESHES[mesh], 5)
    start = whole_cells(resolutions)
    place = resolutions.coarse.node @ (np.eye(3) + 0.2 * rng.normal(size=(3, 3)))
    velocity = np.broadcast_to([0.3, -0.2, 0.1], place.shape) + np.cross([1.0, 2.0, -1.0], place)
    probable, nowhere = rng.random(len(start.split)) < 0.5, np.zeros(len(start.split), bool)
    fine, fine_place, fine_velocity = changed(resolutions, start, probable, place, velocity)
    waiting = next_cells(resolutions, fine, nowhere, fine_place, 0.4, merge_after=0.5)
    assert (waiting.split == probable).all()  # too soon
    cells, merged, moving = changed(resolutions, waiting, nowhere, fine_place, fine_velocity, 0.4, merge_after=0.5)
    assert not cells.split.any()
    assert cells.lattice is resolutions.coarse
    # A rigid motion is kept to rounding though the mass is dealt out in another way meanwhile: corners that a split cell lacks too.
    assert np.abs(merged - place).max() < 1e-12
    assert np.abs(momenta(cells.lattice, merged, moving) - momenta(start.lattice, place, velocity)).max() < 1e-12


@pytest.mark.small
def test_a_merge_waits_until_it_would_not_be_seen_and_then_moves_the_surface_no_farther_than_that():
    rng, resolutions = np.random.default_rng(2), resolutions_of(MESHES["ball"], 6)
    start = whole_cells(resolutions)
    nowhere, everywhere = np.zeros(len(start.split), bool), np.ones(len(start.split), bool)
    node = resolutions.coarse.node
    fine, place, velocity = changed(resolutions, start, everywhere, node, 0.0 * node)
    limit = MERGED_WITHIN * fine.lattice.edge
    # A ripple: far off on one side, next to nothing on the other.
    place[:, 2] += np.where(place[:, 0] < 0.0, 10.0, 0.2) * limit * rng.uniform(-1.0, 1.0, len(place)) / 8.0
    shape, moving = of_surface(fine.lattice, place), momenta(fine.lattice, place, velocity)
    cells, place, velocity = changed(resolutions, fine, nowhere, place, velocity, merge_after=0.5)
    middle = node[resolutions.coarse.cell].mean(axis=1)[:, 0]
    assert not cells.split[middle > 0.3].any()
    assert cells.split[middle < -0.3].mean() > 0.5
    moved = np.linalg.norm(of_surface(cells.lattice, place) - shape, axis=1).max()
    assert 0.0 < moved <= limit
    assert momenta(cells.lattice, place, velocity) == pytest.approx(moving, abs=1e-14)


def test_a_body_of_two_resolutions_keeps_its_momentum_and_gains_no_energy():
    rng = np.random.default_rng(0)
    for damping in (0.0, 0.05):
        world = World()
        world.add(build.blob(300, seed=1), name="body", deformable=True)
        material = SoftMaterial(damping=damping, cells=5, finer=1)
        motion = {"velocity": (0.3, -0.2, 0.1), "spin": (0.5, 1.0, 2.0)}
        body = SoftSimulation(world, {"body": material}, **motion, dt=0.02, merge_after=ALWAYS)
        split_some(body, lambda middle: middle[:, 2] > 0.0)
        nodes = body._arrays.nodes
        nodes.velocity[:] += 0.3 * rng.normal(size=nodes.velocity.shape)
        momentum, turning, energies = body.momentum, body.angular_momentum, [body.energy]
        for _ in range(50):
            body.step()
            energies.append(body.energy)
        ties = body._arrays.ties
        assert 0 < body.split_cells("body").sum() < len(body.split_cells("body"))
        hanging = (ties.weight[:, :, None] * nodes.place[ties.corner]).sum(axis=1)
        assert np.abs(hanging - nodes.place[ties.node]).max() < 1e-14
        assert np.abs(body.momentum - momentum).max() < 1e-10 * np.abs(momentum).max()
        assert np.abs(body.angular_momentum - turning).max() < 0.05 * np.abs(turning).max()
        assert max(np.diff(energies)) <= 0.0


def split_some(simulation, where):
    """Split the cells of the only body for whose middles (c,3) a function says so."""
    lattices = simulation._lattices
    (row,) = lattices.cells
    coarse = lattices._resolutions[row].coarse
    probable = where(coarse.node[coarse.cell].mean(axis=1))
    new = next_cells(lattices._resolutions[row], lattices.cells[row], probable, simulation._arrays.nodes.place, 0.0, ALWAYS)
    simulation._arrays = lattices._with_cells(simulation._arrays, {row: new}, [row])
    lattices.cells, lattices.lattices = {row: new}, {row: new.lattice}
