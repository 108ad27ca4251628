"""The deformable model: stiffness, momentum, energy, and refused materials."""

import numpy as np
import pytest

from jostle import InputError, World
from jostle.geometry.pose import translation
from jostle.shapes import build
from jostle.sim import SoftMaterial, SoftSimulation
from jostle.sim.deform import cells_of, elastic_energy, springs_of
from jostle.sim.lattice import lattice_of


def alone(mesh, material, pose=None, **settings):
    world = World()
    world.add(mesh, pose, "body", deformable=True)
    return SoftSimulation(world, {"body": material}, **settings)


@pytest.mark.small
@pytest.mark.parametrize("poisson", [0.25, 0.35, 0.45])
def test_a_block_stores_what_an_elastic_solid_of_its_material_does(poisson):
    material, strain = SoftMaterial(young=3.0, poisson=poisson, cells=4), 1e-4
    lattice = lattice_of(build.box(), 4)
    parts = springs_of(lattice, material), cells_of(lattice, material)

    def stored(gradient):
        return elastic_energy(lattice.node @ (np.eye(3) + gradient).T, *parts)

    assert stored(np.zeros((3, 3))) == pytest.approx(0.0, abs=1e-25)
    pulled = np.diag([strain, -poisson * strain, -poisson * strain])
    assert stored(pulled) == pytest.approx(0.5 * 3.0 * strain**2, rel=1e-3)
    sheared = np.array([[0.0, strain, 0.0], [0.0, 0.0, 0.0], [0.0, 0.0, 0.0]])
    assert stored(sheared) == pytest.approx(0.5 * material.shear * strain**2, rel=1e-3)
    # The same along another direction: the lattice has no grain.
    turn = np.linalg.qr(np.random.default_rng(0).normal(size=(3, 3)))[0]
    assert stored(turn @ pulled @ turn.T) == pytest.approx(0.5 * 3.0 * strain**2, rel=1e-3)


def test_a_bar_rings_at_the_frequency_of_its_material():
    length, young, density = 4.0, 1e4, 1000.0
    bar = alone(build.box((length, 0.5, 0.5)), SoftMaterial(young, 0.25, density, damping=0.0, cells=16), dt=0.01, substeps=20)
    nodes, mass = bar._arrays.nodes, bar._arrays.mass
    shape = np.sin(np.pi * nodes.place[:, 0] / length)
    nodes.velocity[:, 0] = 0.01 * shape
    speed = []
    for _ in range(300):
        bar.step()
        speed.append((mass * shape * bar._arrays.nodes.velocity[:, 0]).sum())
    signs = np.sign(speed)
    turns = np.flatnonzero(signs[1:] != signs[:-1])
    # Half a period from one change of sign to the next: a wave along the bar and none back.
    half_period = 0.01 * (turns[-1] - turns[0]) / (len(turns) - 1)
    assert half_period == pytest.approx(length / np.sqrt(young / density), rel=0.03)


def test_momentum_stays_and_energy_does_not_grow_without_contact():
    rng = np.random.default_rng(0)
    for damping in (0.0, 0.05):
        body = alone(
            build.blob(300, seed=1),
            SoftMaterial(damping=damping, cells=5),
            velocity=(0.3, -0.2, 0.1),
            spin=(0.5, 1.0, 2.0),
            dt=0.02,
        )
        nodes = body._arrays.nodes
        nodes.velocity[:] += 0.3 * rng.normal(size=nodes.velocity.shape)
        momentum, turning = body.momentum, body.angular_momentum
        energies = [body.energy]
        for _ in range(100):
            body.step()
            energies.append(body.energy)
        assert np.abs(body.momentum - momentum).max() < 1e-10 * np.abs(momentum).max()
        assert np.abs(body.angular_momentum - turning).max() < 0.05 * np.abs(turning).max()
        assert max(np.diff(energies)) < 1e-3 * energies[0]
        assert max(energies) <= energies[0]


def test_a_body_falls_as_a_stone_does_and_keeps_its_shape():
    body = alone(build.box(), SoftMaterial(cells=3), gravity=(0.0, 0.0, -9.81), dt=0.1, substeps=10)
    at_rest = body.positions("body").copy()
    for _ in range(5):
        body.step()
    fall = at_rest - body.positions("body")
    assert np.abs(fall[:, :2]).max() < 1e-12
    assert fall[:, 2] == pytest.approx(0.5 * 9.81 * 0.5 * (0.5 + 0.01), rel=1e-9)  # the sum of 50 semi-implicit substeps


def test_a_stretched_body_returns_to_its_shape_and_volume():
    body = alone(
        build.blob(300, roughness=0.0), SoftMaterial(poisson=0.45, damping=0.1, cells=5), translation((3.0, 0.0, 0.0)), dt=0.02
    )
    nodes, volume = body._arrays.nodes, body.volume("body")
    at_rest = body.positions("body").copy()
    middle = nodes.place.mean(axis=0)
    nodes.place[:] = middle + (nodes.place - middle) * [1.4, 0.8, 1.0]
    for _ in range(200):
        body.step()
    assert body.volume("body") == pytest.approx(volume, rel=1e-3)
    assert np.abs(body.positions("body") - at_rest).max() < 0.01


@pytest.mark.small
@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("young", 0.0),
        ("young", np.nan),
        ("poisson", 0.2),
        ("poisson", 0.5),
        ("density", -1.0),
        ("density", 1e-320),
        ("damping", -0.1),
        ("cells", 0),
        ("cells", 2.5),
        ("finer", -1),
        ("finer", 2),
    ],
)
def test_materials_that_mean_nothing_are_refused(field, value):
    with pytest.raises(InputError, match=f"SoftMaterial: {field}"):
        SoftMaterial(**{field: value})
