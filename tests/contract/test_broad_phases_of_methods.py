"""Every method that takes a broad phase finds the same with each of them, while bodies move, turn, jump, come and go."""

from __future__ import annotations

import functools

import numpy as np
import pytest

import jostle
from jostle.broad_phase import BROAD_PHASES
from jostle.broad_phase.choose import broad_phase_of
from jostle.errors import BoundBroken, InputError
from jostle.geometry.pose import rotation_about, translation
from jostle.interface.body_pairs import NO_PAIRS
from jostle.registry import METHODS
from jostle.settings_text import construct
from tests.all_faces_behind import AllFacesBehind
from tests.tiny import box, random_pose, tetrahedron

SPEED = 0.25
WRITTEN = [name if name != "priority_queue" else f"priority_queue(speed={SPEED})" for name in BROAD_PHASES]
TAKE_ONE = ["separating_plane", "closest_features", "bounding_tree", "octree_update", "voxmap", "image_space", "all_faces"]


def method_with(name, broad):
    if name == "all_faces":
        return AllFacesBehind(broad)
    coarse = {"voxmap": {"across": 12, "depth": False}, "image_space": {"resolution": 12}}.get(name, {})
    return METHODS[name](broad=broad, **coarse)


class Scene:
    """Boxes and tetrahedra that drift, turn about their middles and are put elsewhere; the same for every world."""

    def __init__(self, world, count=14):
        self.world, self.random = world, np.random.default_rng(3)
        for _ in range(count):
            self.add()

    def add(self):
        size = self.random.uniform(0.3, 0.7)
        mesh = box((-size, -size, -size), (size, size, size)) if self.random.random() < 0.6 else tetrahedron()
        body = self.world.add(mesh, random_pose(self.random, 1.5))
        body_velocity[body.id] = self.random.normal(size=3) * 0.03, self.random.normal(size=3), self.random.normal() * 0.1

    def step(self, frame):
        for body in list(self.world):
            velocity, axis, angle = body_velocity[body.id]
            pose = body.pose.copy()
            pose[:3, :3] = rotation_about(axis, angle)[:3, :3] @ pose[:3, :3]
            pose[:3, 3] += np.clip(velocity, -0.08, 0.08) * np.cos(0.2 * frame)
            body.pose = pose
        bodies = list(self.world)
        if frame % 5 == 2:
            bodies[frame % len(bodies)].teleport(random_pose(self.random, 1.5))
        if frame % 7 == 3:
            self.world.remove(bodies[frame % len(bodies)])
            self.add()


body_velocity: dict = {}


@functools.cache
def answers(name, broad):
    """Return the pairs that touch, frame by frame."""
    world = jostle.World(method_with(name, broad))
    scene = Scene(world)
    found = []
    for frame in range(20):
        report = world.detect(rows="pairs")
        found.append(sorted(zip(report.pairs.body_a.tolist(), report.pairs.body_b.tolist(), strict=True)))
        scene.step(frame)
    return found


@pytest.mark.parametrize("name", TAKE_ONE)
@pytest.mark.parametrize("broad", WRITTEN[1:])
def test_the_answer_does_not_depend_on_the_broad_phase(name, broad):
    assert WRITTEN[0] == "brute_force"
    expected = answers(name, "brute_force")
    assert sum(map(len, expected)) > 50
    assert answers(name, broad) == expected


@pytest.mark.parametrize("broad", WRITTEN)
def test_bodies_that_deform_and_clearances_that_change(broad):
    random = np.random.default_rng(1)
    world = jostle.World(AllFacesBehind(broad))
    truth = jostle.World("brute_force")
    for k in range(10):
        pose = random_pose(random, 1.5)
        for each in (world, truth):
            each.add(tetrahedron(), pose, deformable=k % 2 == 0)
    for clearance in (0.0, 0.0, 0.3, 0.0, 0.6, 0.0):
        expected = truth.detect(rows="pairs", clearance=clearance)
        found = world.detect(rows="pairs", clearance=clearance)
        np.testing.assert_array_equal(found.pairs.body_a, expected.pairs.body_a)
        np.testing.assert_array_equal(found.pairs.body_b, expected.pairs.body_b)
        for k in range(0, 10, 2):
            shape = tetrahedron().vertices * random.uniform(0.98, 1.1) + random.normal(size=3) * 0.02
            for each in (world, truth):
                each[k].vertices = shape


def test_spheres_hold_every_world_vertex():
    random = np.random.default_rng(4)
    world = jostle.World(AllFacesBehind("bounding_spheres"))
    for k in range(12):
        world.add(box(random.uniform(-9, 0, 3), random.uniform(1, 9, 3)), random_pose(random, 10.0**k), deformable=k % 2 == 0)
    world[2].vertices = world[2].mesh.vertices * 7.0
    seen = []

    class Spy:
        counters: dict = {}  # noqa: RUF012

        def find(self, volumes):
            seen.append((*volumes.spheres(), *volumes.grown(0.5).spheres()))
            return NO_PAIRS

        def change(self, *arguments):
            pass

    world.prepare()
    world.detect(rows="pairs")
    world._detector._candidates._finder = Spy()
    world.detect(rows="pairs")
    centre, radius, same, grown = seen[0]
    np.testing.assert_array_equal(centre, same)
    assert (grown >= radius + 0.5).all()
    for body, middle, reach in zip(world, centre, radius, strict=True):
        assert (np.linalg.norm(body.world_vertices - middle, axis=1) <= reach).all()


def test_a_broken_bound_names_the_body_and_detect_goes_on():
    world = jostle.World(AllFacesBehind("priority_queue(speed=0.5)"))
    world.add(box(), name="anvil")
    hammer = world.add(box(), translation((20, 0, 0)), name="hammer")
    assert not world.detect(rows="pairs")
    hammer.pose = translation((0.5, 0.0, 0.0))
    with pytest.raises(BoundBroken, match=r"body 'hammer' moved by 19\.5 in 1 s"):
        world.detect(rows="pairs")
    assert world.detect(rows="pairs")
    hammer.teleport(translation((9, 0, 0)))
    assert not world.detect(rows="pairs")
    hammer.teleport(translation((0.2, 0, 0)))
    assert world.detect(rows="pairs")
    world.dt = 0.01
    hammer.pose = translation((0.21, 0.0, 0.0))
    with pytest.raises(BoundBroken, match=r"in 0\.01 s"):
        world.detect(rows="pairs")


@pytest.mark.parametrize("bodies_change", [False, True])
def test_a_body_that_is_teleported_and_then_moves_breaks_no_bound(bodies_change):
    world = jostle.World(AllFacesBehind("priority_queue(speed=0.5)"))
    first = world.add(box(), translation((70, 0, 0)))
    world.add(box(), name="anvil")
    hammer = world.add(box(), translation((20, 0, 0)), name="hammer")
    soft = world.add(tetrahedron(), translation((40, 0, 0)), deformable=True, name="cushion")
    assert not world.detect(rows="pairs")
    hammer.teleport(translation((1.7, 0, 0)))
    hammer.pose = translation((1.3, 0, 0))
    if bodies_change:
        world.remove(first)
        world.add(box(), translation((0, 50, 0)))
    assert not world.detect(rows="pairs")
    hammer.pose = translation((0.9, 0, 0))
    assert len(world.detect(rows="pairs").pairs) == 1
    soft.teleport(vertices=soft.vertices - (39.5, 0.0, 0.0))
    assert len(world.detect(rows="pairs").pairs) == 3
    hammer.pose = translation((20, 0, 0))
    with pytest.raises(BoundBroken, match="hammer"):
        world.detect(rows="pairs")
    hammer.pose = translation((0.9, 0, 0))  # back to where it was seen last is no motion either
    assert len(world.detect(rows="pairs").pairs) == 3
    for x in (1.2, 1.6, 2.0):  # neither is asking on the way, and that does not count as a step
        hammer.pose = translation((x, 0, 0))
        world.in_collision()
    soft.vertices = soft.vertices - np.array([5.0, 0.0, 0.0])
    with pytest.raises(BoundBroken, match="cushion"):
        world.detect(rows="pairs")


@pytest.mark.small
def test_settings_that_are_taken_only_together_are_taken():
    def make(low=0, high=1):
        if low >= high:
            raise InputError(f"low {low} is not below high {high}")
        return low, high

    assert construct(make, {"low": 5, "high": 9}, "it") == (5, 9)
    with pytest.raises(InputError, match=r"it: setting high=2 is refused: low 2 is not below high 2"):
        construct(make, {"low": 2, "high": 2}, "it")
    with pytest.raises(InputError, match=r"it: setting low=3 is refused: low 3 is not below high 1"):
        construct(make, {"low": 3}, "it")


@pytest.mark.small
def test_broad_phases_are_written_with_their_settings():
    assert broad_phase_of("priority_queue( speed = 0.3 , acceleration=2 )") == jostle.broad_phase.PriorityQueue(0.3, 2)
    assert broad_phase_of("uniform_grid(cell=0.5)") == jostle.broad_phase.UniformGrid(0.5)
    assert broad_phase_of("fast_aabb()") == jostle.broad_phase.FastAabb()
    for text, words in (
        ("octree", ["octree", "uniform_grid"]),
        ("uniform_grid(cell", ["not readable"]),
        ("uniform_grid(edge=1)", ["uniform_grid", "edge", "cell"]),
        ("fast_aabb(edge=1)", ["fast_aabb", "edge", "none"]),
        ("uniform_grid(cell=-1)", ["uniform_grid", "cell=-1"]),
        ("uniform_grid(0.5)", ["0.5", "setting=value"]),
    ):
        with pytest.raises(InputError) as refused:
            broad_phase_of(text, "Owner")
        for word in ("Owner", *words):
            assert word in str(refused.value)
    method = METHODS["closest_features"](broad="priority_queue(speed=0.3)")
    assert method.broad == "priority_queue(speed=0.3)"
