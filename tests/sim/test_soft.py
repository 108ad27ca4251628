"""Soft bodies squeeze, bulge, part, rest, rub and stick."""

import math

import numpy as np
import pytest

from jostle import Budget, InputError, Unsupported, World
from jostle.geometry.pose import rotation_about, translation
from jostle.shapes import build
from jostle.shapes.build.blocks import blocks
from jostle.sim import SoftMaterial, SoftSimulation, Squeeze
from tests.sim.depth import depth

GRAVITY = 9.81
ALLOWED_DEPTH = 0.006  # 0.2 % of the diagonal of the body: what a frozen vertex may be off


def test_momentum_is_conserved_when_soft_and_rigid_bodies_meet():
    world = World()
    ball = build.blob(300, roughness=0.0)
    for name, x in (("left", -1.05), ("right", 1.05)):
        world.add(ball, translation((x, 0.1 * x, 0.0)), name, deformable=True)
    world.add(build.blob(200, seed=4, radius=0.5), translation((0.0, 1.6, 0.0)), "stone")
    simulation = SoftSimulation(
        world,
        {name: SoftMaterial(cells=5) for name in ("left", "right")},
        velocity=[[1.0, 0.0, 0.0], [-0.5, 0.1, 0.0], [0.0, -1.5, 0.2]],
        friction=0.5,
        dt=1 / 60,
    )
    momentum, energy = simulation.momentum, simulation.kinetic_energy
    met = set()
    for _ in range(60):
        report = simulation.step()
        if simulation.projected:
            met |= set(report.pairs)
        assert simulation.energy <= energy * (1.0 + 1e-3)
    assert len(met) >= 2
    assert np.abs(simulation.momentum - momentum).max() < 1e-9 * np.abs(momentum).max()


def slab(size=(2.0, 1.6, 1.0), parts=(8, 7, 4)):
    """A box of many faces that stands on z = 0."""
    x, y, z = size
    lines = (
        np.linspace(-0.5 * x, 0.5 * x, parts[0] + 1),
        np.linspace(-0.5 * y, 0.5 * y, parts[1] + 1),
        np.linspace(0.0, z, parts[2] + 1),
    )
    return blocks(*lines, np.ones(parts, bool), "slab")


def on_a_plate(mesh, material, height=0.01, **settings):
    world = World()
    world.add(mesh, translation((0.0, 0.0, height)), "body", deformable=True)
    world.add(build.box((6.0, 6.0, 0.5)), translation((0.0, 0.0, -0.25)), "plate", static=True)
    return SoftSimulation(world, {"body": material}, gravity=(0.0, 0.0, -GRAVITY), dt=1 / 60, **settings)


def test_a_body_sags_under_its_own_weight_as_an_elastic_solid_does():
    young, density, tall = 1e5, 1000.0, 1.0
    material = SoftMaterial(young, 0.3, density, damping=0.02, cells=8)
    simulation = on_a_plate(slab(), material, old_after=None, substeps=20)
    at_rest = simulation.world["body"].mesh.vertices
    tops = []
    for _ in range(160):
        simulation.step()
        tops.append(simulation.positions("body")[at_rest[:, 2] == tall, 2].mean())
    # On a smooth plate every layer carries what is above it, and is free to the sides: ε = ρ g (H - z) / E, summed up.
    points = simulation.positions("body")
    assert tall - np.mean(tops[-60:]) == pytest.approx(density * GRAVITY * tall**2 / (2.0 * young), rel=0.05)
    width = points[at_rest[:, 2] == 0.0].max(axis=0)[0] - points[at_rest[:, 2] == 0.0].min(axis=0)[0]
    assert width / 2.0 - 1.0 == pytest.approx(0.3 * density * GRAVITY * tall / young, rel=0.25)  # ν ε, where it is squeezed most
    # Nothing has been pushed to the side (averages of leaning normals make a ball drift at 0.15 m/s), and nothing is in the plate.
    assert np.abs(simulation.momentum[:2]).max() < 1e-4 * 3200.0
    assert points[:, 2].min() > -0.002


def test_a_body_at_rest_grows_old_is_simplified_and_frozen():
    simulation = on_a_plate(slab(), SoftMaterial(young=1e5, cells=6), friction=0.3, old_after=0.3)
    world, most = simulation.world, 0
    for _ in range(120):
        simulation.step()
        most = max(most, simulation.worked_on)
    assert simulation.kinetic_energy < 1e-4 * 3200.0 * GRAVITY  # its weight times a tenth of a millimetre
    plate = world["plate"]
    assert depth(world["body"].world_vertices, plate.world_vertices, plate.mesh.faces) < ALLOWED_DEPTH

    # At rest most pairs are old: fewer are worked on, and their vertices stay where they are displayed, bit by bit.
    assert (simulation.pairs.age >= 0.3).mean() > 0.6
    assert simulation.worked_on < 0.75 * most
    frozen = simulation.frozen[: len(world["body"].mesh.vertices)].copy()
    assert frozen.sum() >= 40
    shown, model = world["body"].vertices.copy(), simulation.positions("body").copy()
    simulation.step()
    frozen &= simulation.frozen[: len(frozen)]
    assert frozen.sum() >= 35
    assert (world["body"].vertices[frozen] == shown[frozen]).all()
    assert (simulation.positions("body")[frozen] != model[frozen]).any()  # the model below goes on
    assert np.abs(simulation.positions("body") - world["body"].world_vertices).max() <= simulation.tolerance

    # Somebody pushes it: everything is worked on again at once, and what is displayed is the model.
    simulation._arrays.nodes.velocity[:, 0] += 1.0
    simulation.step()
    assert not simulation.frozen.any()
    assert simulation.worked_on == len(simulation.pairs.age)


def sliding(angle, friction, seconds=1.0):
    """How far a soft box slides down a slope, beyond what it does while it settles."""
    world = World()
    turn = rotation_about((0.0, 1.0, 0.0), angle)
    world.add(build.box((8.0, 4.0, 0.5)), turn @ translation((0.0, 0.0, -0.25)), "slope", static=True)
    box = blocks(np.linspace(-0.5, 0.5, 6), np.linspace(-0.5, 0.5, 6), np.linspace(0.0, 0.5, 4), np.ones((5, 5, 3), bool), "box")
    world.add(box, turn @ translation((-1.0, 0.0, 0.005)), "body", deformable=True)
    material = SoftMaterial(young=2e5, damping=0.05, cells=4)
    simulation = SoftSimulation(world, {"body": material}, gravity=(0.0, 0.0, -9.81), friction=friction, dt=1 / 60, old_after=None)
    down = turn[:3, 0]
    for _ in range(20):
        simulation.step()
    start = simulation.positions("body").mean(axis=0)
    for _ in range(round(60 * seconds)):
        simulation.step()
    return float((simulation.positions("body").mean(axis=0) - start) @ down)


def test_friction_holds_on_a_slope_up_to_its_angle():
    friction = 0.5
    angle = math.atan(friction)
    assert abs(sliding(0.85 * angle, friction)) < 0.02
    free = 0.5 * 9.81 * math.sin(1.3 * angle)
    slid = sliding(1.3 * angle, friction)
    wanted = 0.5 * 9.81 * (math.sin(1.3 * angle) - friction * math.cos(1.3 * angle))  # from rest; it has a little speed already
    assert 0.8 * wanted < slid < 2.5 * wanted < free * 2.5
    assert sliding(0.3, 0.0) > 0.9 * 0.5 * 9.81 * math.sin(0.3)


@pytest.mark.parametrize(("speed", "together"), [(0.3, True), (3.0, False)])
def test_sticky_bodies_part_only_above_a_speed(speed, together):
    world = World()
    box = blocks(*(np.linspace(-0.5, 0.5, 5) for _ in range(3)), np.ones((4, 4, 4), bool), "box")
    world.add(box, translation((0.0, 0.0, -0.502)), "lower", deformable=True)
    world.add(box, translation((0.0, 0.0, 0.502)), "upper", deformable=True)
    material = SoftMaterial(young=1e5, damping=0.05, cells=3)
    simulation = SoftSimulation(
        world, {"lower": material, "upper": material}, velocity=[[0, 0, 0.2], [0, 0, -0.2]], sticky=1.0, dt=1 / 60, old_after=None
    )
    for _ in range(30):
        simulation.step()
    assert simulation.pairs.held.sum() > 10
    half = len(simulation._arrays.nodes.velocity) // 2
    simulation._arrays.nodes.velocity[:half, 2] -= 0.5 * speed
    simulation._arrays.nodes.velocity[half:, 2] += 0.5 * speed
    for _ in range(40):
        simulation.step()
    gap = simulation.positions("upper")[:, 2].min() - simulation.positions("lower")[:, 2].max()
    assert (gap < 0.03) == together
    assert bool(simulation.pairs.held.any()) == together


def test_kinematic_bodies_push_and_free_rigid_bodies_are_pushed():
    world = World()
    world.add(build.box((1.0, 1.0, 1.0)), translation((-1.6, 0.0, 0.0)), "piston")
    world.add(build.blob(300, roughness=0.0), name="ball", deformable=True)
    world.add(build.box((1.0, 1.0, 1.0)), translation((1.6, 0.0, 0.0)), "crate")
    simulation = SoftSimulation(world, {"ball": SoftMaterial(cells=5)}, kinematic=["piston"], density=500.0, dt=1 / 60)
    for _ in range(60):
        world["piston"].pose = translation((0.01, 0.0, 0.0)) @ world["piston"].pose
        simulation.step()
    assert world["crate"].pose[0, 3] > 1.7
    assert np.abs(world["crate"].pose[1:3, 3]).max() < 0.1
    assert simulation.volume("ball") == pytest.approx(world["ball"].mesh.volume, rel=0.1)


def test_an_open_sheet_lies_on_a_plate_from_either_side():
    for turn in (np.eye(4), rotation_about((1.0, 0.0, 0.0), math.pi)):
        world = World()
        world.add(build.plate(8, 8), translation((0.0, 0.0, 0.07)) @ turn, "sheet", deformable=True)
        world.add(build.box((3.0, 3.0, 0.5)), translation((0.0, 0.0, -0.25)), "plate", static=True)
        material = SoftMaterial(young=1e4, damping=0.05, cells=6)
        simulation = SoftSimulation(world, {"sheet": material}, gravity=(0.0, 0.0, -9.81), dt=1 / 60)
        for _ in range(60):
            simulation.step()
        heights = simulation.positions("sheet")[:, 2]
        assert -0.002 < heights.min() <= heights.max() < 0.03


def test_a_step_that_raises_has_moved_nothing():
    squeeze = Squeeze(faces=200, lower=SoftMaterial(cells=4), upper=SoftMaterial(cells=4))
    for _ in range(20):
        squeeze.step()
    simulation, world = squeeze.simulation, squeeze.world
    before = [array.copy() for array in (*simulation._arrays.nodes, *simulation._frames, *simulation.pairs)]
    shown, count = world["lower"].vertices, simulation.frames

    def fail(*_, **__):
        raise KeyboardInterrupt

    world.detect = fail
    with pytest.raises(KeyboardInterrupt):
        simulation.step()
    del world.detect
    after = (*simulation._arrays.nodes, *simulation._frames, *simulation.pairs)
    assert all(np.array_equal(one, other) for one, other in zip(before, after, strict=True))
    assert (world["lower"].vertices == shown).all()
    assert simulation.frames == count
    squeeze.step()


class TestWhatIsRefused:
    def world(self, **options):
        world = World(options.pop("method", None))
        world.add(build.box(), name="body", **{"deformable": True, **options})
        return world

    def test_bodies_that_cannot_be_soft(self):
        with pytest.raises(InputError, match="deformable=True"):
            SoftSimulation(self.world(deformable=False), {"body": SoftMaterial()})
        with pytest.raises(InputError, match="soft and static"):
            SoftSimulation(self.world(static=True), {"body": SoftMaterial()})
        with pytest.raises(InputError, match="pass a SoftMaterial"):
            SoftSimulation(self.world(), {"body": 1e4})
        with pytest.raises(InputError, match="no body is called 'bod'"):
            SoftSimulation(self.world(), {"bod": SoftMaterial()})
        with pytest.raises(InputError, match="soft is empty"):
            SoftSimulation(self.world(), {})
        with pytest.raises(InputError, match="kinematic and soft"):
            SoftSimulation(self.world(), {"body": SoftMaterial()}, kinematic=["body"])
        world = self.world()
        world.add(build.box(), translation((5.0, 0.0, 0.0)), "other", deformable=True)
        with pytest.raises(InputError, match="'other' is deformable, but has no material"):
            SoftSimulation(world, {"body": SoftMaterial()})
        world["body"].vertices = 2.0 * world["body"].vertices
        with pytest.raises(InputError, match="not in the shape of its mesh"):
            SoftSimulation(world, {"body": SoftMaterial(), "other": SoftMaterial()})

    def test_methods_that_do_not_answer(self):
        with pytest.raises(Unsupported):
            SoftSimulation(self.world(method="image_space"), {"body": SoftMaterial()})
        with pytest.raises(Unsupported, match="budget"):
            SoftSimulation(self.world(), {"body": SoftMaterial()}, budget=Budget(seconds=0.001))

    def test_numbers_that_mean_nothing(self):
        for wish in (
            {"dt": 0.0},
            {"substeps": 0},
            {"friction": -1.0},
            {"sticky": np.nan},
            {"gravity": (0.0, 1.0)},
            {"old_after": -1.0},
        ):
            with pytest.raises(InputError, match=next(iter(wish))):
                SoftSimulation(self.world(), {"body": SoftMaterial()}, **wish)

    def test_poses_and_bodies_that_change_on_the_way(self):
        world = self.world()
        simulation = SoftSimulation(world, {"body": SoftMaterial(cells=2)})
        world["body"].pose = translation((1.0, 0.0, 0.0))
        with pytest.raises(InputError, match="another pose"):
            simulation.step()
        world = self.world()
        simulation = SoftSimulation(world, {"body": SoftMaterial(cells=2)})
        world.add(build.box(), translation((5.0, 0.0, 0.0)), "other")
        with pytest.raises(InputError, match="added to the world or removed"):
            simulation.step()


def flying_ball(**more):
    world = World()
    world.add(build.blob(200, roughness=0.0), None, "ball", deformable=True)
    world.add(build.box((0.5, 0.5, 0.5)), translation((5.0, 0.0, 0.0)), "stone")
    return SoftSimulation(world, {"ball": SoftMaterial(cells=4)}, velocity=[[1.0, 0.0, 0.0], [0.0, 2.0, 0.0]], dt=0.02, **more)


def test_drag_slows_soft_and_rigid_bodies_alike():
    free, slowed = flying_ball(), flying_ball(drag=3.0)
    for _ in range(50):
        free.step(), slowed.step()
    assert free.momentum == pytest.approx(flying_ball().momentum, rel=1e-9, abs=1e-6)
    assert slowed.momentum == pytest.approx(math.exp(-3.0) * free.momentum, rel=1e-9, abs=1e-6)
    with pytest.raises(InputError, match="drag"):
        flying_ball(drag=-1.0)


def test_one_simulation_goes_on_from_the_nodes_of_another():
    one, other = flying_ball(), flying_ball()
    for _ in range(10):
        one.step()
    other.set_nodes("ball", *one.nodes_of("ball"))
    assert np.array_equal(other.positions("ball"), one.positions("ball"))
    one.step(), other.step()
    assert np.allclose(other.positions("ball"), one.positions("ball"), atol=1e-12)
    with pytest.raises(InputError, match="'stone' is rigid here"):
        one.nodes_of("stone")
    with pytest.raises(InputError, match=r"place has shape \(1, 3\), its lattice"):
        one.set_nodes("ball", [(0.0, 0.0, 0.0)], [(0.0, 0.0, 0.0)])


def test_faces_that_press_on_each_other_are_told():
    world = World()
    world.add(build.blob(300, roughness=0.0), translation((0.0, 0.0, 1.0)), "ball", deformable=True)
    floor = world.add(build.box((6.0, 6.0, 1.0), (0.0, 0.0, -0.52)), static=True, name="floor")
    simulation = SoftSimulation(world, {"ball": SoftMaterial(cells=5)}, gravity=(0.0, 0.0, -GRAVITY), dt=1 / 60)
    assert len(simulation.pressed()[0]) == 0
    for _ in range(40):
        simulation.step()
    body_a, body_b, face_a, face_b = simulation.pressed()
    assert len(body_a) > 0
    assert set(body_a) == {0}
    assert set(body_b) == {floor.id}
    lowest = simulation.positions("ball")[world["ball"].mesh.faces[face_a]][:, :, 2]
    assert lowest.max() < 0.3  # those at the bottom
    assert face_b.max() < 12
