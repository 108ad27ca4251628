"""Searches for the closest faces that begin at the last ones: the same answers, to the byte, for less work."""

import numpy as np
import pytest

import jostle
from jostle.bench.kinds.meshes.round_parts import pipe
from jostle.geometry.pose import rotation_about, translation
from jostle.geometry.rigid import transform_points
from jostle.methods.brute_force.closest_faces import find_closest_faces
from jostle.methods.wide_tree import nearest_search
from jostle.methods.wide_tree.build import build_tree
from jostle.methods.wide_tree.nearest_search import NO_SEED, closest_faces
from jostle.methods.wide_tree.nearest_work import NONE, Seed
from jostle.methods.wide_tree.tree import Forest
from jostle.report.packing import FACE_BITS
from jostle.shapes import build
from tests.methods.plain.families import PAIRS, case
from tests.tiny import box, random_pose, random_soup

IDENTITY = np.eye(4)
PLACES, DISTANCE, IS_USED = range(3)  # of a seed


class TwoMeshes:
    """The closest faces of two meshes, with a seed or without."""

    def __init__(self, a, b):
        self.trees = build_tree(a), build_tree(b)
        self.forest = Forest(list(self.trees))

    def answer(self, pose_a, pose_b, seed=None):
        found = closest_faces(self.forest, 0, 1, pose_a, pose_b, NO_SEED.copy() if seed is None else seed)
        points = found.point_a.tobytes() + found.point_b.tobytes()
        return found.distance, found.face_a, found.face_b, points

    def face_tests(self):
        """Of the last answer."""
        (work,) = nearest_search.WORKSPACES._idle[-1:]
        return work.counters().distance_tests

    def assert_same_answers(self, poses):
        """Follow the poses with one seed; return how many searches began there."""
        seed, used = NO_SEED.copy(), 0
        for pose_a, pose_b in poses:
            assert self.answer(pose_a, pose_b, seed) == self.answer(pose_a, pose_b)
            used += int(seed[IS_USED])
        return used

    def seed_at(self, face_a, face_b, pose_a, pose_b):
        """Return the seed of any two places, with the distance that these faces have."""
        corners = [
            transform_points(pose, tree.vertices[tree.faces[place]])
            for tree, place, pose in zip(self.trees, (face_a, face_b), (pose_a, pose_b), strict=True)
        ]
        one_face = np.array([[0, 1, 2]], np.int32)
        seed = np.zeros(1, Seed.dtype)
        seed["places"] = face_a << FACE_BITS | face_b
        seed["distance"] = find_closest_faces(corners[0], one_face, corners[1], one_face).distance
        return seed.view(np.int64)


def wandering(rng, pose, steps, reach):
    """Small steps, repeated poses, steps on a lattice, and a jump now and then."""
    for k in range(steps):
        yield pose
        if k % 7 == 6:
            pose = random_pose(rng, reach)
        elif k % 3 == 0:
            pose = translation(rng.integers(-1, 2, 3) * reach / 8) @ pose
        elif k % 3 == 1:
            pose = pose @ rotation_about(rng.normal(size=3), 0.02)


def city():
    blocks = [box((2 * i, 2 * j, 0), (2 * i + 1, 2 * j + 1, 1)) for i in range(3) for j in range(3)]
    return jostle.Mesh(
        np.concatenate([m.vertices for m in blocks]), np.concatenate([m.faces + 8 * k for k, m in enumerate(blocks)])
    )


# Two meshes, and how far the second wanders.
WORLDS = {
    "boxes": lambda: (box(), box(), 3.0),
    "a city of boxes": lambda: (city(), city(), 9.0),
    "slivers": lambda: (pipe(), pipe(24).moved(rotation_about([1.0, 2.0, 3.0], 0.7)), 1.0),
    "a box and slivers": lambda: (box(), pipe(), 3.0),
    "surfaces": lambda: (build.blob(800, seed=2), build.torus(segments=12, sides=8), 4.0),
    "soups": lambda: (random_soup(np.random.default_rng(1), 60, 0.5), random_soup(np.random.default_rng(2), 9, 0.5), 2.0),
}


@pytest.mark.parametrize("name", WORLDS)
def test_a_body_on_its_way_has_the_answers_of_a_search_from_the_roots(name):
    (a, b, reach), rng = WORLDS[name](), np.random.default_rng(3)
    two, used, touching = TwoMeshes(a, b), 0, 0
    for _ in range(6):
        path = [(IDENTITY, pose) for pose in wandering(rng, random_pose(rng, reach), 30, reach)]
        used += two.assert_same_answers(path)
        touching += sum(two.answer(*poses)[0] == 0.0 for poses in path)
    assert used > 40
    assert touching > 2


@pytest.mark.small
@pytest.mark.parametrize("family", PAIRS)
def test_worlds_of_every_degeneracy(family):
    for number in range(12):
        (a, pose_a), (b, pose_b) = ((jostle.Mesh(*mesh), pose) for mesh, pose in case(family, number))
        two, rng = TwoMeshes(a, b), np.random.default_rng(number)
        two.assert_same_answers([(pose_a, pose) for pose in wandering(rng, pose_b, 12, 2.0)])


@pytest.mark.parametrize("name", WORLDS)
def test_any_two_faces_may_be_the_seed(name):
    (a, b, reach), rng = WORLDS[name](), np.random.default_rng(4)
    two, used = TwoMeshes(a, b), 0
    for _ in range(60):
        pose_a, pose_b = random_pose(rng, reach / 4), random_pose(rng, reach)
        place_a, place_b = int(rng.integers(len(a.faces))), int(rng.integers(len(b.faces)))
        seed = two.seed_at(place_a, place_b, pose_a, pose_b)
        assert two.answer(pose_a, pose_b, seed) == two.answer(pose_a, pose_b)
        used += int(seed[IS_USED])
    assert used > 20


@pytest.mark.small
def test_ties_with_the_seed_go_to_the_lowest_faces():
    two = TwoMeshes(box(), box())
    pose = translation([3.0, 0.0, 0.0])
    for place_a in range(12):
        for place_b in range(12):
            seed = two.seed_at(place_a, place_b, IDENTITY, pose)
            assert two.answer(IDENTITY, pose, seed) == two.answer(IDENTITY, pose)


@pytest.mark.small
def test_bodies_that_touch_leave_no_seed():
    two, seed = TwoMeshes(box(), box()), NO_SEED.copy()
    two.answer(IDENTITY, translation([1.25, 0.1, 0.2]), seed)
    assert seed[PLACES] != NONE
    assert two.answer(IDENTITY, translation([1.0, 0.1, 0.2]), seed)[0] == 0.0
    assert seed[PLACES] == NONE


def test_which_faces_touch_does_not_depend_on_the_seed():
    rng, again = np.random.default_rng(7), 0
    two = TwoMeshes(build.blob(800, seed=2), build.blob(500, seed=3, roughness=0.6))
    for _ in range(60):
        pose_b = random_pose(rng, 0.8)
        seed = two.seed_at(int(rng.integers(800)), int(rng.integers(500)), IDENTITY, pose_b)
        found, work = two.answer(IDENTITY, pose_b, seed), two.face_tests()
        assert found == two.answer(IDENTITY, pose_b)
        again += found[0] == 0.0 and work > two.face_tests()
    assert again > 20


def test_more_ties_than_are_settled():
    side = np.linspace(0.0, 1.0, 111)
    x, y = np.meshgrid(side, side)
    corner = (np.arange(110)[:, None] * 111 + np.arange(110)).ravel()
    halves = [np.stack([corner, corner + 1, corner + 111], 1), np.stack([corner + 1, corner + 112, corner + 111], 1)]
    plate = jostle.Mesh(np.stack([x.ravel(), y.ravel(), np.zeros(x.size)], 1), np.concatenate(halves))
    two, turned, seed = TwoMeshes(plate, plate), rotation_about([1.0, 2.0, 3.0], 0.7), NO_SEED.copy()
    above, beside = turned @ translation([0.001, 0.002, 1.0]), turned @ translation([1.1, 0.002, 0.1])
    for pose in (beside, above, above):
        assert two.answer(turned, pose, seed) == two.answer(turned, pose)
    assert seed[PLACES] == NONE


def test_a_small_step_takes_half_of_the_face_tests():
    two, seed, with_seed, without = TwoMeshes(pipe(), pipe()), NO_SEED.copy(), 0, 0
    for k in range(40):
        pose = translation([0.4, 0.3, 1.2 + 0.004 * k]) @ rotation_about([1.0, 2.0, 0.5], 0.7 + 0.005 * k)
        two.answer(IDENTITY, pose, seed)
        with_seed += two.face_tests()
        two.answer(IDENTITY, pose)
        without += two.face_tests()
    assert with_seed < 0.5 * without


def closest(world, a, b):
    found = world.distance(a, b)
    return found.distance, found.face_a, found.face_b, found.point_a.tobytes(), found.point_b.tobytes()


def test_bodies_that_come_go_and_deform_do_not_mix_up_seeds():
    rng = np.random.default_rng(5)
    world = jostle.World("wide_tree")
    first = world.add(build.icosphere(1), name="first")
    others = [world.add(pipe(8 + 4 * k), random_pose(rng, 3.0), f"pipe {k}") for k in range(4)]
    cloth = world.add(build.icosphere(2), translation([0.0, 3.0, 0.0]), "cloth", deformable=True)
    for k in range(12):
        for body in world.bodies:
            body.pose = translation(rng.normal(size=3) * 0.02) @ body.pose
        cloth.vertices = cloth.vertices * (1.0 + rng.normal(size=3) * 0.3)  # now and then a new tree
        if k % 4 == 3:
            world.remove(others.pop(0))
            others.append(world.add(build.icosphere(0), random_pose(rng, 3.0), f"ball {k}"))
        for a, b in [(first, other) for other in others] + [(others[-1], first), (cloth, first), (first, cloth)]:
            fresh = jostle.World("wide_tree")
            for body in (a, b):
                fresh.add(body.mesh, body.pose, body.name, deformable=body.deformable)
                if body.deformable:
                    fresh[body.name].vertices = body.vertices
            assert closest(world, a, b) == closest(fresh, 0, 1)


def test_seeds_stay_with_their_bodies():
    # A seed of other meshes would name faces that these do not have.
    world = jostle.World("wide_tree")
    ball, large, small = (world.add(mesh, translation([3.0 * k, 0.0, 0.0])) for k, mesh in enumerate((box(), pipe(), pipe(8))))
    for a, b in ((ball, large), (large, small), (ball, small)):
        world.distance(a, b)
    of_both = world._detector._seeds[1, 2].tolist()
    world.remove(ball)
    world.detect()
    assert {pair: seed.tolist() for pair, seed in world._detector._seeds.items()} == {(0, 1): of_both}


def test_seeds_are_forgotten_where_there_are_too_many(monkeypatch):
    monkeypatch.setattr("jostle.methods.wide_tree.detector.MOST_SEEDS", 2)
    world = jostle.World("wide_tree")
    bodies = [world.add(box(), translation([2.0 * k, 0.0, 0.0])) for k in range(4)]
    for _ in range(2):
        assert [world.distance(bodies[0], other).distance for other in bodies[1:]] == [1.0, 3.0, 5.0]
    assert len(world._detector._seeds) <= 2


def test_a_pair_has_the_distances_of_new_pairs():
    a, b, rng = pipe(), box(), np.random.default_rng(6)
    pair = jostle.Pair(a, b)
    for pose in wandering(rng, translation([0.0, 0.0, 2.5]), 40, 2.0):
        assert pair.distance(None, pose) == jostle.Pair(a, b).distance(None, pose)
        pair.touches(None, pose, clearance=0.1)  # shares the workspace
