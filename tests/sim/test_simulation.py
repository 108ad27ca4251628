"""The simulation as a whole: energy, momentum, walls, gravity, refused input."""

import numpy as np
import pytest

from jostle import InputError, Mesh, Unsupported, Voxmap, World
from jostle.geometry.pose import rotation_about, translation
from jostle.shapes import build
from jostle.sim import Simulation
from tests.tiny import box, random_pose

SHAPES = {
    "boxes": [build.box((1.0, 0.6, 0.3)), build.box((0.8, 0.8, 0.8))],
    "icosahedra": [build.icosahedron(0.5)],
    "concave": [build.stellated_dodecahedron(0.6), build.torus(0.4, 0.15, 12, 6)],
    "rods": [build.box((2.0, 0.02, 0.02)), build.box((1.5, 0.015, 0.3))],  # moments up to 1 : 5,000
}


def crowd(meshes, count, spread, seed=0, method=None, workers=1):
    rng = np.random.default_rng(seed)
    world = World(method, workers=workers)
    for k in range(count):
        world.add(meshes[k % len(meshes)], random_pose(rng, spread), f"body {k}")
    return world, rng


def growth(simulation, frames):
    """The largest relative growth of kinetic energy in a step, and how many pairs touched in all."""
    energies, pairs = [simulation.kinetic_energy], 0
    for _ in range(frames):
        pairs += len(simulation.step().pairs)
        energies.append(simulation.kinetic_energy)
    energies = np.array(energies)
    return (np.diff(energies) / energies[:-1]).max(), pairs


@pytest.mark.parametrize(("shapes", "method"), [("boxes", None), ("icosahedra", None), ("rods", None), ("concave", "voxmap")])
@pytest.mark.parametrize(("restitution", "friction"), [(1.0, 0.0), (0.7, 10.0)])
def test_energy_never_grows_with_impulses(shapes, method, restitution, friction):
    count, cube = 24, 7.0
    world, rng = crowd(SHAPES[shapes], count, cube / 2 - 1.0, method=None if method is None else Voxmap(across=12))
    simulation = Simulation(
        world,
        velocity=2.0 * rng.normal(size=(count, 3)),
        spin=3.0 * rng.normal(size=(count, 3)),
        mass=10.0 ** rng.uniform(-1.0, 1.0, count),
        cube=cube,
        response="impulse",
        restitution=restitution,
        friction=friction,
        dt=0.02,
    )
    start = simulation.kinetic_energy
    worst, pairs = growth(simulation, 1000)
    assert worst <= 1e-12
    assert pairs > 100
    if restitution == 1.0 and friction == 0.0:
        assert simulation.kinetic_energy == pytest.approx(start, rel=1e-9)
    else:
        assert simulation.kinetic_energy < 0.5 * start


def test_energy_stays_with_exchange():
    count, cube = 40, 8.0
    world, rng = crowd(SHAPES["boxes"], count, cube / 2 - 1.0)
    spin = 3.0 * rng.normal(size=(count, 3))
    simulation = Simulation(world, velocity=2.0 * rng.normal(size=(count, 3)), spin=spin, cube=cube, dt=0.02)
    start = simulation.kinetic_energy
    speeds = np.sort(np.abs(simulation.velocity), axis=None)
    worst, pairs = growth(simulation, 1000)
    assert worst <= 1e-12
    assert pairs > 100
    assert simulation.kinetic_energy == pytest.approx(start, rel=1e-9)
    # Velocities are handed on and turned round, never changed.
    assert np.array_equal(np.sort(np.abs(simulation.velocity), axis=None), speeds)


@pytest.mark.parametrize("friction", [0.0, 0.4])
def test_momentum_stays_in_collisions_without_walls(friction):
    count = 12
    world, rng = crowd(SHAPES["boxes"], count, 2.5, seed=3)
    inward = -1.5 * np.array([pose[:3, 3] for pose in world.poses])
    simulation = Simulation(
        world,
        velocity=inward,
        spin=rng.normal(size=(count, 3)),
        mass=rng.uniform(0.5, 5.0, count),
        cube=None,
        response="impulse",
        restitution=0.8,
        friction=friction,
        dt=0.02,
    )
    momentum, angular, energy = simulation.momentum, simulation.angular_momentum, simulation.kinetic_energy
    pairs = sum(len(simulation.step().pairs) for _ in range(200))
    assert pairs > 20
    assert simulation.kinetic_energy < 0.99 * energy
    assert simulation.momentum == pytest.approx(momentum, abs=1e-11)
    assert simulation.angular_momentum == pytest.approx(angular, abs=1e-10)


def test_two_balls_head_on_exchange_their_velocities():
    for response in ("exchange", "impulse"):
        world = World()
        ball = build.icosphere(2, 0.5)
        world.add(ball, translation((-2.0, 0.0, 0.0)))
        world.add(ball, translation((2.0, 0.0, 0.0)))
        simulation = Simulation(world, velocity=[[1.0, 0, 0], [-2.0, 0, 0]], response=response, dt=0.05)
        for _ in range(60):
            simulation.step()
        assert simulation.velocity == pytest.approx(
            np.array([[-2.0, 0, 0], [1.0, 0, 0]]), abs=0.1 if response == "impulse" else 0.0
        )


@pytest.mark.parametrize("speed", [1.0, 100.0, 1e6, 1e20])
@pytest.mark.parametrize("response", ["exchange", "impulse"])
def test_no_body_leaves_the_cube_whatever_its_speed(speed, response):
    world, rng = crowd(SHAPES["concave"], 15, 2.0, seed=1)
    simulation = Simulation(
        world, velocity=speed * rng.normal(size=(15, 3)), spin=rng.normal(size=(15, 3)), cube=6.0, response=response, dt=0.05
    )
    energy = simulation.kinetic_energy
    for _ in range(60):
        simulation.step()
        assert max(np.abs(body.world_vertices).max() for body in world) <= 3.0
    assert simulation.kinetic_energy == pytest.approx(energy, rel=1e-9)


def test_gravity_and_a_floor():
    world = World()
    world.add(build.box((10.0, 10.0, 1.0), (0.0, 0.0, -0.5)), name="floor", static=True)
    world.add(build.box(), translation((0.0, 0.0, 0.7)), "lower")
    world.add(build.box(), translation((0.03, 0.02, 1.73)), "middle")
    world.add(build.box(), translation((0.06, 0.04, 2.76)), "upper")
    simulation = Simulation(
        world, gravity=(0.0, 0.0, -9.81), response="impulse", restitution=0.2, friction=0.5, dt=0.01, cube=None
    )  # fmt: skip
    for _ in range(700):
        simulation.step()
    # They stand on each other, and have neither sunk nor slid.
    assert simulation.centre[:, 2] == pytest.approx([-0.5, 0.5, 1.5, 2.5], abs=0.02)
    assert np.abs(simulation.centre[1:, :2]).max() < 0.1
    assert np.abs(simulation.velocity).max() < 0.2
    assert simulation.mass[0] == np.inf
    assert np.array_equal(world[0].pose, np.eye(4))


def test_free_fall_of_both_integrators():
    for integrator, sign in (("semi_implicit", 1), ("explicit", -1)):
        world = World()
        world.add(box())
        simulation = Simulation(world, gravity=(0.0, 0.0, -2.0), cube=None, integrator=integrator, dt=0.1)
        for _ in range(10):
            simulation.step()
        # v = g t for both; the place of the sum 1 … n or 0 … n - 1 of velocities.
        assert simulation.velocity[0, 2] == pytest.approx(-2.0)
        assert simulation.centre[0, 2] == pytest.approx(0.5 - 1.0 - sign * 0.1)


def test_explicit_euler_gains_energy_in_a_cube_with_gravity_and_semi_implicit_does_not():
    ends = {}
    for integrator in ("semi_implicit", "explicit"):
        world = World()
        world.add(build.icosahedron(0.5))
        simulation = Simulation(
            world, velocity=(0.3, 0.0, 0.0), gravity=(0.0, 0.0, -9.81), cube=10.0, integrator=integrator, dt=0.02
        )
        kinetic_at_bottom = 9.81 * simulation.mass[0] * 4.5
        start = simulation.energy
        for _ in range(2000):
            simulation.step()
        ends[integrator] = (simulation.energy - start) / kinetic_at_bottom
    assert abs(ends["semi_implicit"]) < 0.05
    assert ends["explicit"] > 0.2


def test_the_older_name_of_kinematic_bodies_works_with_a_warning():
    world = World()
    world.add(box(), name="hand")
    with pytest.warns(DeprecationWarning, match="led=… is kinematic=… now"):
        simulation = Simulation(world, led=["hand"], cube=None)
    assert not simulation.free.any()


def test_kinematic_bodies_push_and_are_not_pushed():
    for response in ("exchange", "impulse"):
        world = World()
        hand = world.add(box((-1, -1, -1), (0, 1, 1)), translation((-1.0, 0, 0)), "hand")
        world.add(build.icosphere(2, 0.5), translation((1.0, 0, 0)), "ball")
        simulation = Simulation(world, response=response, kinematic=["hand"], dt=0.1, cube=None)
        for k in range(30):
            hand.pose = translation((-1.0 + 0.1 * (k + 1), 0, 0))
            simulation.step()
        assert hand.pose[0, 3] == pytest.approx(2.0)
        # A body at rest that is hit at the velocity 1 by one without end in mass leaves at 2.
        assert simulation.velocity[1] == pytest.approx([2.0, 0, 0], abs=0.05)
        assert simulation.velocity[0] == pytest.approx([1.0, 0, 0])


def test_a_turning_kinematic_body_hits_with_its_rim():
    world = World()
    bat = world.add(build.box((4.0, 0.2, 0.2)), name="bat")
    world.add(build.icosphere(2, 0.3), translation((1.8, 0.6, 0.0)), "ball")
    simulation = Simulation(world, response="impulse", kinematic=[bat], dt=0.05, cube=None, restitution=0.0)
    for k in range(8):
        bat.pose = rotation_about((0.0, 0.0, 1.0), 0.05 * (k + 1))
        simulation.step()
    assert simulation.spin[0] == pytest.approx([0.0, 0.0, 1.0])
    assert np.linalg.norm(simulation.velocity[1]) == pytest.approx(1.8, rel=0.15)


def test_states_can_be_read_and_set():
    world = World()
    body = world.add(box(), translation((1.0, 2.0, 3.0)))
    simulation = Simulation(world, dt=0.5)
    assert simulation.centre == pytest.approx(np.array([[1.5, 2.5, 3.5]]))
    with pytest.raises(ValueError, match="read-only"):
        simulation.velocity[0] = 1.0
    simulation.velocity = [[2.0, 0.0, 0.0]]
    simulation.spin = (0.0, 0.0, 0.1)
    simulation.centre = [[0.0, 0.0, 0.0]]
    assert body.pose[:3, 3] == pytest.approx([-0.5, -0.5, -0.5])
    simulation.step()
    assert simulation.centre == pytest.approx(np.array([[1.0, 0.0, 0.0]]))
    assert body.world_vertices.mean(axis=0) == pytest.approx([1.0, 0.0, 0.0])
    assert world.time == 0.5
    assert "1 of 1 bodies free" in repr(simulation)


def test_masses():
    world = World()
    world.add(box((0, 0, 0), (1, 2, 3)), name="solid")
    world.add(Mesh(box().vertices, box().faces[2:]), translation((5, 0, 0)), name="open")
    assert Simulation(world, response="impulse").mass.tolist() == [6.0, 1.0]
    assert Simulation(world, response="impulse", density=[2.0, 3.0]).mass.tolist() == pytest.approx([12.0, 3.0])
    assert Simulation(world).mass.tolist() == [1.0, 1.0]
    world.add(build.plate(2, 2), translation((-5, 0, 0)), name="flat")
    with pytest.raises(InputError, match=r"body 'flat' holds no volume.*pass mass"):
        Simulation(world, response="impulse")
    assert Simulation(world, response="impulse", mass=2.0).mass.tolist() == [2.0] * 3


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"mass": [1.0, 2.0]}, "'left' and 'right' have the masses 1 and 2.*equal masses only"),
        ({"mass": 1.0, "density": 1.0}, "give one of them"),
        ({"mass": -1.0}, "body 'left': mass is -1.0"),
        ({"mass": 1e300}, "mass is 1e[+]300; it must be a number from 1e-30 to 1e30"),
        ({"density": 1e-320, "response": "impulse"}, "density is 1e-320; it must be a number from 1e-30 to 1e30"),
        ({"mass": [1.0, 2.0, 3.0]}, r"mass has shape \(3,\)"),
        ({"velocity": [[1.0, 0.0, 0.0]]}, r"velocity has shape \(1, 3\)"),
        ({"velocity": [[1.0, 0.0, 0.0], [0.0, np.nan, 0.0]]}, r"body 'right': velocity\[1\]"),
        ({"spin": "fast"}, "spin has dtype <U4; pass real numbers"),
        ({"cube": 3.0}, "body 'right', at .* is not inside of the cube of edge 3"),
        ({"cube": 0.0}, "cube is 0.0"),
        ({"integrator": "rk4"}, "choose one of semi_implicit, explicit"),
        ({"response": "penalty"}, "choose one of exchange, impulse"),
        ({"restitution": 0.5}, "has no restitution"),
        ({"response": "impulse", "restitution": 1.5}, "between 0 and 1"),
        ({"response": "impulse", "friction": -1.0}, "friction is -1.0"),
        ({"dt": 0.0}, "dt is 0.0"),
        ({"dt": np.nan}, "dt is nan"),
        ({"gravity": 9.81}, r"gravity has shape \(\); pass three numbers"),
        ({"gravity": (0.0, 0.0, -np.inf)}, r"^gravity is \[0.0, 0.0, -inf\]; it must be finite"),
        ({"gravity": "down"}, "gravity has dtype <U4; pass real numbers"),
        ({"kinematic": ["nobody"]}, "no body is called 'nobody'"),
        ({"kinematic": ["left"], "velocity": [[1.0, 0, 0], [0, 0, 0]]}, "static or kinematic; leave it 0"),
    ],
)
def test_what_is_refused(settings, message):
    world = World()
    world.add(box(), name="left")
    world.add(box(), translation((2.0, 0.0, 0.0)), "right")
    with pytest.raises(InputError, match=message):
        Simulation(world, **settings)


def test_a_method_that_knows_no_points_is_refused_before_anything_moves():
    world = World("closest_features")
    world.add(box(), name="left")
    world.add(box(), translation((1.5, 0.0, 0.0)), "right")
    with pytest.raises(Unsupported, match=r"closest_features does not answer points.*response='exchange'"):
        Simulation(world, response="impulse")
    simulation = Simulation(world, velocity=[[1.0, 0, 0], [0, 0, 0]], dt=0.1)
    for _ in range(10):
        simulation.step()
    assert simulation.velocity.tolist() == [[0, 0, 0], [1.0, 0, 0]]


@pytest.mark.parametrize("method", ["wide_tree", "face_octree", "bounding_tree", "brute_force", "edge_face"])
def test_methods_that_answer_alike_move_alike(method):
    places = []
    for chosen in (None, method):
        world, rng = crowd(SHAPES["boxes"], 6, 1.2, seed=2, method=chosen)
        simulation = Simulation(world, velocity=rng.normal(size=(6, 3)), cube=5.0, response="impulse", friction=0.3, dt=0.02)
        pairs = sum(len(simulation.step().pairs) for _ in range(40))
        assert pairs > 10
        places.append(simulation.centre)
    assert np.array_equal(*places)


def test_a_step_that_fails_has_moved_nothing(monkeypatch):
    world, rng = crowd(SHAPES["boxes"], 5, 1.0)
    simulation = Simulation(world, velocity=rng.normal(size=(5, 3)), cube=5.0, response="impulse")
    simulation.step()
    poses, velocity, time = world.poses.copy(), simulation.velocity.copy(), world.time

    def interrupted(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(World, "detect", interrupted)
        with pytest.raises(KeyboardInterrupt):
            simulation.step()
    assert np.array_equal(world.poses, poses)
    assert np.array_equal(simulation.velocity, velocity)
    assert (simulation.frames, world.time) == (1, time)
    simulation.step()
    assert simulation.frames == 2


def test_bodies_that_come_and_go_need_another_simulation():
    world = World()
    for k in range(3):
        world.add(box(), translation((3.0 * k, 0, 0)), f"body {k}")
    world.remove("body 0")
    simulation = Simulation(world, velocity=[[1.0, 0, 0], [-1.0, 0, 0]], dt=0.25)
    for _ in range(8):
        simulation.step()
    assert simulation.velocity[:, 0].tolist() == [-1.0, 1.0]  # by ids, which are no longer the numbers
    world.add(box(), translation((0, 5, 0)))
    with pytest.raises(InputError, match="make another Simulation"):
        simulation.step()


def test_a_body_that_grows_keeps_off_the_walls():
    world = World()
    body = world.add(box((-0.5, -0.5, -0.5), (0.5, 0.5, 0.5)), translation((1.0, 0, 0)), deformable=True)
    simulation = Simulation(world, velocity=(0.5, 0.3, 0.2), cube=4.0, response="impulse", dt=0.1)
    for k in range(40):
        body.vertices = body.mesh.vertices * (1.0 + 0.03 * k)
        simulation.step()
        assert np.abs(body.world_vertices).max() <= 2.0


def test_a_body_that_outgrows_the_cube_is_refused_and_may_shrink_again():
    world = World()
    body = world.add(box((-0.5, -0.5, -0.5), (0.5, 0.5, 0.5)), deformable=True, name="dough")
    simulation = Simulation(world, velocity=(0.5, 0.3, 0.2), cube=4.0, dt=0.1)
    body.vertices = body.mesh.vertices * 5.0
    for _ in range(2):
        with pytest.raises(InputError, match=r"body 'dough' has grown.* no longer fits into the cube of edge 4"):
            simulation.step()
    assert simulation.frames == 0
    body.vertices = body.mesh.vertices * 2.0
    simulation.step()


def test_explicit_tumbling_ends_in_a_sentence_not_in_a_nan():
    world = World()
    world.add(build.box((1.0, 0.5, 0.1)), name="plank")
    simulation = Simulation(world, spin=(1.0, 2.0, 0.5), integrator="explicit", dt=1.0)

    def many_steps():
        for _ in range(500):
            simulation.step()

    with pytest.raises(InputError, match=r"'plank' has become too fast.*semi_implicit"):
        many_steps()
