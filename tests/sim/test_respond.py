"""Responses: exchange to the bit, impulses against conservation laws and formulas."""

import numpy as np
import pytest

from jostle import World
from jostle.geometry.pose import rotation_about, translation
from jostle.kernels.arrays import read_only_view
from jostle.shapes import build
from jostle.sim import Simulation
from jostle.sim.manifold import MOST_POINTS, gather_manifolds
from jostle.sim.respond import apply_impulses, exchange_velocities
from tests.tiny import box


def pairs(*bodies):
    a, b = np.array(bodies, np.int32).reshape(-1, 2).T.copy()
    return a, b


def exchanged(centre, velocity, spin, free=(True, True), began=False):
    velocity, spin = np.array(velocity, float), np.array(spin, float)
    a, b = (read_only_view(column) for column in pairs((0, 1)))  # as reports have them
    answered = exchange_velocities(a, b, np.array([began]), np.array(free), np.array(centre, float), velocity, spin)
    return answered, velocity.tolist(), spin.tolist()


@pytest.mark.small
def test_exchange_of_bodies_that_approach():
    answered, velocity, spin = exchanged([[0, 0, 0], [1, 0, 0]], [[1, 2, 3], [-1, 0, 5]], [[1, 0, 0], [0, 2, 0]])
    assert answered == 1
    assert velocity == [[-1, 0, 5], [1, 2, 3]]
    assert spin == [[-1, 0, 0], [0, -2, 0]]


@pytest.mark.small
def test_bodies_that_part_are_left_alone():
    before = [[-1, 0, 0], [1, 0, 0]], [[1, 0, 0], [0, 2, 0]]
    for began in (False, True):
        answered, velocity, spin = exchanged([[0, 0, 0], [1, 0, 0]], *before, began=began)
        assert (answered, velocity, spin) == (0, *before)


@pytest.mark.small
def test_a_body_of_no_finite_mass_throws_back():
    _, velocity, spin = exchanged([[0, 0, 0], [1, 0, 0]], [[2, 1, 0], [0, 0, 0]], [[1, 0, 0], [0, 0, 0]], free=(True, False))
    assert velocity == [[-2, -1, 0], [0, 0, 0]]
    assert spin[0] == [-1, 0, 0]
    # Led at a velocity of its own: relative to it the speed stays.
    _, velocity, _ = exchanged([[0, 0, 0], [1, 0, 0]], [[2, 1, 0], [-3, 0, 0]], np.zeros((2, 3)), free=(True, False))
    assert velocity == [[-8, -1, 0], [-3, 0, 0]]
    # Inside a static body, away from its centre: only where it begins to touch.
    outward = [[2, 0, 0], [0, 0, 0]]
    assert exchanged([[1, 0, 0], [0, 0, 0]], outward, np.zeros((2, 3)), free=(True, False))[0] == 0
    assert exchanged([[1, 0, 0], [0, 0, 0]], outward, np.zeros((2, 3)), free=(True, False), began=True)[0] == 1
    assert exchanged([[1, 0, 0], [0, 0, 0]], outward, np.zeros((2, 3)), free=(False, False), began=True)[0] == 0


def random_bodies(rng, count):
    """Masses, moments, places, turns and motions of bodies; and random contacts among them."""
    mass = 10.0 ** rng.uniform(-2, 2, count)
    moments = mass[:, None] * rng.uniform(0.1, 1.0, (count, 3))
    q = rng.normal(size=(count, 4))
    q /= np.linalg.norm(q, axis=1, keepdims=True)
    return mass, moments, rng.normal(size=(count, 3)), q, rng.normal(size=(count, 3)), rng.normal(size=(count, 3))


def totals(mass, moments, centre, q, velocity, spin):
    from jostle.sim.state import rotations_of

    turn = rotations_of(q)
    own = np.einsum("nij,ni->nj", turn, spin)
    energy = 0.5 * (mass * (velocity**2).sum(axis=1)).sum() + 0.5 * (moments * own**2).sum()
    angular = (np.einsum("nij,nj->ni", turn, moments * own) + np.cross(centre, mass[:, None] * velocity)).sum(axis=0)
    return energy, (mass[:, None] * velocity).sum(axis=0), angular


@pytest.mark.parametrize(("restitution", "friction"), [(1.0, 0.0), (0.6, 0.0), (0.0, 0.5), (1.0, 3.0)])
@pytest.mark.small
def test_impulses_of_any_points_and_normals_lose_energy_and_keep_momentum(restitution, friction):
    rng = np.random.default_rng(5)
    for _ in range(60):
        count = int(rng.integers(2, 6))
        mass, moments, centre, q, velocity, spin = random_bodies(rng, count)
        chosen = np.array([(a, b) for a in range(count) for b in range(a + 1, count) if rng.random() < 0.6] or [(0, 1)], np.int32)
        a, b = chosen.T.copy()
        normal = rng.normal(size=(len(a), 3))
        normal /= np.linalg.norm(normal, axis=1, keepdims=True)
        points = rng.normal(size=(len(a), MOST_POINTS, 3))
        number = rng.integers(1, MOST_POINTS + 1, len(a)).astype(np.int32)
        before = totals(mass, moments, centre, q, velocity, spin)
        apply_impulses(
            *(a, b, normal, points, number, 1 / mass, 1 / moments, centre, q, velocity, spin), restitution, 0.0, friction
        )  # fmt: skip
        after = totals(mass, moments, centre, q, velocity, spin)
        assert after[0] <= before[0] * (1 + 1e-13)
        if restitution == 1.0 and friction == 0.0:
            assert after[0] == pytest.approx(before[0], rel=1e-11)
        scale = (mass[:, None] * np.abs(velocity)).sum() + moments.max() * np.abs(spin).max()
        assert after[1] == pytest.approx(before[1], abs=1e-12 * scale)
        assert after[2] == pytest.approx(before[2], abs=1e-11 * scale)


def one_impulse(velocity, spin, point, normal, mass=(1.0, 1.0), moments=1.0, restitution=1.0, friction=0.0):
    velocity, spin = np.array(velocity, float), np.array(spin, float)
    a, b = pairs((0, 1))
    points = np.zeros((1, MOST_POINTS, 3))
    points[0, 0] = point
    centre = np.array([[0.0, 0.0, 0.0], [2.0, 0.0, 0.0]])
    q = np.tile([1.0, 0.0, 0.0, 0.0], (2, 1))
    inverse_mass = 1.0 / np.array(mass)
    inverse_moments = inverse_mass[:, None] / np.full((2, 3), moments)
    number = np.ones(1, np.int32)
    apply_impulses(
        *(a, b, np.array([normal], float), points, number, inverse_mass, inverse_moments, centre, q, velocity, spin),
        *(restitution, 0.0, friction),
    )
    return velocity, spin


@pytest.mark.small
def test_a_central_impact_against_the_formula():
    m, n, u, w = 3.0, 5.0, 2.0, -1.0
    for e in (0.0, 0.4, 1.0):
        velocity, spin = one_impulse([[u, 0, 0], [w, 0, 0]], np.zeros((2, 3)), [1, 0, 0], [1, 0, 0], (m, n), restitution=e)
        assert velocity[0, 0] == pytest.approx((m * u + n * w - n * e * (u - w)) / (m + n))
        assert velocity[1, 0] == pytest.approx((m * u + n * w + m * e * (u - w)) / (m + n))
        assert not spin.any()


@pytest.mark.small
def test_friction_stops_the_slip_or_is_in_proportion_to_the_push():
    # A ball of radius 1 (I = 2/5) slides over a wall of infinite mass: it ends rolling, or loses friction times the push.
    velocity = [[1.0, 3.0, 0.0], [0.0, 0.0, 0.0]]
    for mu, rolls in ((10.0, True), (0.1, False)):
        after, spin = one_impulse(velocity, np.zeros((2, 3)), [1, 0, 0], [1, 0, 0], (1.0, np.inf), 0.4, 0.0, mu)
        assert after[0, 0] == pytest.approx(0.0)
        slip = after[0, 1] + spin[0, 2]
        if rolls:
            assert slip == pytest.approx(0.0, abs=1e-12)
            assert after[0, 1] == pytest.approx(3.0 * 5 / 7)
        else:
            assert after[0, 1] == pytest.approx(3.0 - 0.1 * 1.0)


def manifold_of(world):
    """Normals and points of a world of two bodies, as the simulation gathers them."""
    simulation = Simulation(world, cube=None, response="impulse")
    simulation.step()
    assert simulation._manifolds is not None
    _, _, normal, points, number = simulation._manifolds
    return normal[0], points[0, : number[0]]


def test_the_normal_of_a_corner_in_a_face_is_that_of_the_face():
    world = World()
    world.add(build.box((10.0, 10.0, 1.0), (0.0, 0.0, -0.5)))
    tip = rotation_about((1.0, 0.3, 0.0), 0.9) @ rotation_about((0.0, 1.0, 0.1), 0.7)
    lowest = (build.box().vertices @ tip[:3, :3].T)[:, 2].min()
    world.add(build.box(), translation((0.4, -0.3, -lowest - 0.05)) @ tip)
    normal, points = manifold_of(world)
    assert normal == pytest.approx([0.0, 0.0, 1.0], abs=1e-12)
    assert np.abs(points[:, 2]).max() < 1e-12


def test_the_normal_of_two_edges_is_across_both():
    world = World()
    along_x = rotation_about((1.0, 0.0, 0.0), np.pi / 4)
    world.add(build.box((4.0, 1.0, 1.0)), along_x)
    world.add(
        build.box((1.0, 4.0, 1.0)), translation((0.1, 0.2, 2 * np.sqrt(0.5) - 0.02)) @ rotation_about((0.0, 1.0, 0.0), np.pi / 4)
    )
    normal, _ = manifold_of(world)
    assert normal == pytest.approx([0.0, 0.0, 1.0], abs=1e-12)


def test_boxes_that_stand_on_each_other_push_straight():
    world = World()
    world.add(box((0, 0, 0), (1, 1, 1)))
    world.add(box((0.3, 0.25, 0.99), (1.3, 1.25, 2)))
    normal, points = manifold_of(world)
    assert normal == pytest.approx([0.0, 0.0, 1.0], abs=0.05)
    assert np.ptp(points, axis=0)[:2] == pytest.approx([0.7, 0.75], abs=0.4)


def test_an_inverted_mesh_pushes_as_the_outward_one():
    from jostle import Mesh

    normals = []
    for turned in (False, True):
        world = World()
        world.add(box((0, 0, 0), (1, 1, 1)))
        top = box((0.3, 0.25, 0.99), (1.3, 1.25, 2))
        world.add(Mesh(top.vertices, top.faces[:, ::-1]) if turned else top)
        normals.append(manifold_of(world)[0])
    assert normals[0] == pytest.approx(normals[1])


@pytest.mark.small
def test_points_without_faces_take_the_mean_normal():
    a, b = np.zeros(3, np.int32), np.ones(3, np.int32)
    none = np.full(3, -1, np.int32)
    middles = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
    segment = np.stack([middles, middles], axis=1)
    normal = np.array([[0.6, 0.0, 0.8], [-0.6, 0.0, 0.8], [0.0, 0.0, 1.0]])
    out = np.empty(1, np.int32), np.empty(1, np.int32), np.empty((1, 3)), np.empty((1, MOST_POINTS, 3)), np.empty(1, np.int32)
    poses = np.tile(np.eye(4), (2, 1, 1))
    rows = (read_only_view(column) for column in (a, b, none, none, segment, normal))
    found = gather_manifolds(*rows, np.zeros((0, 3)), np.zeros(2, np.int64), poses, np.zeros((2, 3)), *out)
    assert found == 1
    assert out[2][0] == pytest.approx([0.0, 0.0, 1.0])
    assert out[3][0, 0] == pytest.approx([1 / 3, 1 / 3, 0.0])
    assert out[4][0] == 4
