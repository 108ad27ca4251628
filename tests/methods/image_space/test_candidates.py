"""Trees of groups give the pairs of plain boxes, with fewer tests; oriented boxes never lose bodies that touch."""

import itertools

import numpy as np
import pytest

from jostle.broad_phase import BROAD_PHASES
from jostle.broad_phase.candidates import Candidates
from jostle.geometry.gjk import hull_distance
from jostle.geometry.pose import rotation_about, translation
from jostle.geometry.rigid import transform_points
from jostle.interface.body_pairs import CandidatePairs, every_pair
from jostle.methods.image_space import group_tree
from jostle.methods.image_space.candidates import BoxCandidates
from jostle.methods.image_space.group_tree import LEAF, BoxesOfGroups, tree_of_groups
from jostle.shapes import build
from tests.methods.image_space.placed import Placed, random_pose, settings
from tests.tiny import box, tetrahedron


def listed(pairs):
    return list(zip(pairs.body_a.tolist(), pairs.body_b.tolist(), strict=True))


def plain_pairs(placed):
    """Pairs of different groups whose boxes overlap, by comparing all of them."""
    volumes = Candidates(placed.bodies, None).volumes(placed.frame)
    group = placed.frame.group
    found = []
    for a, b in itertools.combinations(range(len(group)), 2):
        apart = (volumes.lower[a] > volumes.upper[b]).any() or (volumes.lower[b] > volumes.upper[a]).any()
        if not apart and (group[a] < 0 or group[a] != group[b]):
            found.append((a, b))
    return found


def hands(rng, spread):
    """Three hands of capsules, one group each, and two bodies of their own."""
    meshes, poses, group = [], [], []
    for number in range(3):
        whole = random_pose(rng, spread)
        for mesh in build.hand_of_capsules(400):
            meshes.append(mesh)
            poses.append(whole)
            group.append(number)
    for _ in range(2):
        meshes.insert(4, box())
        poses.insert(4, random_pose(rng, spread))
        group.insert(4, -1)
    return meshes, poses, group


@pytest.mark.small
def test_a_tree_holds_each_body_once_and_children_come_after_their_parents():
    group = np.array([3, -1, 3, 0, -1, 3, 0, 3, 3], np.int32)
    tree = tree_of_groups(group)
    assert tree.units == 4
    assert tree.unit_of_body.tolist() == [0, 1, 0, 2, 3, 0, 2, 0, 0]
    leaves = [bodies[0] for bodies in tree.child.tolist() if bodies[1] == LEAF]
    assert sorted(leaves) == list(range(9))
    assert all(min(pair) > k for k, pair in enumerate(tree.child.tolist()) if pair[1] != LEAF)

    def below(node):
        one, other = tree.child[node]
        return [int(one)] if other == LEAF else below(one) + below(other)

    assert [below(unit) for unit in range(4)] == [[0, 2, 5, 7, 8], [1], [3, 6], [4]]
    assert not tree_of_groups(np.array([-1, 5, -1], np.int32)).has_groups
    assert tree_of_groups(np.array([5, 5], np.int32)).has_groups
    assert tree_of_groups(np.empty(0, np.int32)).units == 0


@pytest.mark.parametrize("broad", [None, *sorted(BROAD_PHASES.keys() - {"priority_queue"})])
def test_groups_give_the_pairs_of_plain_boxes_through_any_broad_phase(broad, monkeypatch):
    monkeypatch.setattr(BoxCandidates, "_by_oriented_boxes", lambda self, pairs, frame: pairs)
    rng = np.random.default_rng(12)
    seen = 0
    for spread in (0.3, 1.0):
        placed = Placed(*hands(rng, spread))
        finder = BoxCandidates(settings(broad=broad), placed.bodies, placed.shapes)
        for _ in range(3):
            assert listed(finder.find(placed.frame)) == plain_pairs(placed)
            seen += len(plain_pairs(placed))
            poses = placed.frame.poses.copy()
            poses[:, :3, 3] += rng.uniform(-0.02, 0.02, (len(poses), 3))
            placed.move(poses)
    assert seen > 100


def test_a_priority_queue_gets_bodies_and_their_speeds():
    meshes, poses, group = hands(np.random.default_rng(12), 0.5)
    with_groups, without = Placed(meshes, poses, group), Placed(meshes, poses)
    found = []
    for placed in (with_groups, without):
        finder = BoxCandidates(settings(broad="priority_queue(speed=9)"), placed.bodies, placed.shapes)
        found.append(listed(finder.find(placed.frame)))
    assert len(found[0]) > 10
    assert found[0] == [(a, b) for a, b in found[1] if group[a] < 0 or group[a] != group[b]]


def test_groups_need_fewer_tests(monkeypatch):
    monkeypatch.setattr(BoxCandidates, "_by_oriented_boxes", lambda self, pairs, frame: pairs)
    rng = np.random.default_rng(3)
    combs = [(mesh, k) for k in range(8) for mesh in build.comb_cones(5, 8)]
    whole = [random_pose(rng, 1.2) for _ in range(8)]
    meshes, poses, group = [m for m, _ in combs], [whole[k] for _, k in combs], [k for _, k in combs]
    with_trees, without = Placed(meshes, poses, group), Placed(meshes, poses)
    for broad in ("brute_force", "uniform_grid"):
        counts = []
        for placed in (with_trees, without):
            finder = BoxCandidates(settings(broad=broad), placed.bodies, placed.shapes)
            finder.find(placed.frame)
            counts.append(finder.box_tests)
        assert counts[0] < 0.7 * counts[1], (broad, counts)


def test_groups_that_change_and_bodies_that_go_are_followed():
    rng = np.random.default_rng(7)
    meshes = [box()] * 12
    placed = Placed(meshes, [random_pose(rng, 1.0) for _ in meshes], [0] * 4 + [1] * 4 + [-1] * 4)
    finder = BoxCandidates(settings(broad="coherent_aabb"), placed.bodies, placed.shapes)
    loose = Placed(meshes, placed.frame.poses)
    for each in (placed, loose, placed):
        # The same finder sees bodies leave their groups and enter them again.
        fresh = BoxCandidates(settings(broad="brute_force"), each.bodies, each.shapes)
        assert listed(finder.find(each.frame)) == listed(fresh.find(each.frame))
    fewer = Placed(meshes[:9], placed.frame.poses[3:], [0] + [1] * 4 + [-1] * 4)
    gone = np.array([-1, -1, -1, *range(9)], np.int32)
    finder.change(fewer.bodies, fewer.shapes, gone)
    fresh = BoxCandidates(settings(broad="brute_force"), fewer.bodies, fewer.shapes)
    assert listed(finder.find(fewer.frame)) == listed(fresh.find(fewer.frame))


def corners_of(mesh):
    lower, upper = mesh.bounds
    return np.array(list(itertools.product(*zip(lower, upper, strict=True))))


@pytest.mark.parametrize(("offset", "defect"), [(0.0, 0.0), (1e4, 3e-6)])
def test_oriented_boxes_that_meet_remain_and_others_go(offset, defect):
    rng = np.random.default_rng(6)
    meshes = [box((-0.1, -0.9, 0.2), (0.1, 0.9, 0.5)), build.cone(8)]
    meeting = apart = 0
    for _ in range(150):
        placed = Placed(meshes, [random_pose(rng, 0.7, offset, defect) for _ in meshes])
        found = BoxCandidates(settings(broad=None), placed.bodies, placed.shapes).find(placed.frame)
        hulls = [transform_points(pose, corners_of(mesh)) for pose, mesh in zip(placed.frame.poses, meshes, strict=True)]
        distance = hull_distance(*hulls)[0]
        if distance == 0.0:
            assert len(found.body_a) == 1
            meeting += 1
        elif distance > 1e-9:
            assert len(found.body_a) == 0
            apart += 1
    assert meeting > 20
    assert apart > 20


@pytest.mark.parametrize("broad", ["uniform_grid", "brute_force", None])
@pytest.mark.parametrize(("offset", "defect"), [(0.0, 0.0), (1e3, 1e-6), (1e7, 3e-6)])
def test_bodies_that_share_one_world_vertex_are_candidates(broad, offset, defect):
    """B is a box whose corner is a world vertex of A, on the far side of it: oriented boxes touch in a corner or an edge."""
    rng = np.random.default_rng(15)
    for _ in range(40):
        mesh, pose = box(), random_pose(rng, 1.0, offset, defect)
        corner = rng.integers(8)
        touched = transform_points(pose, mesh.vertices[corner : corner + 1])[0]
        # The same orientation, from the opposite corner on: faces of the two boxes are parallel or in one plane.
        other = pose.copy()
        other[:3, 3] += touched - transform_points(pose, mesh.vertices[7 - corner : 8 - corner])[0]
        placed = Placed([mesh, mesh, tetrahedron()], [pose, other, translation((0.0, 0.0, -9.0))])
        gap = np.abs(placed.vertices(1)[7 - corner] - touched).max()
        assert gap <= 4e-16 * (1.0 + offset)
        if gap == 0.0:
            assert (0, 1) in listed(BoxCandidates(settings(broad=broad), placed.bodies, placed.shapes).find(placed.frame))


def test_aligned_boxes_that_overlap_may_be_apart_when_oriented():
    turned = rotation_about((0, 0, 1), np.pi / 4)
    placed = Placed([box((-2, -0.1, -1), (2, 0.1, 1))] * 3, [turned, translation((0.5, -0.5, 0.0)) @ turned, np.eye(4)])
    finder = BoxCandidates(settings(), placed.bodies, placed.shapes)
    assert plain_pairs(placed) == [(0, 1), (0, 2), (1, 2)]
    assert listed(finder.find(placed.frame)) == [(0, 2), (1, 2)]
    assert finder.box_tests >= 6


@pytest.mark.small
def test_filters_are_heard_and_few_bodies_need_no_grid():
    placed = Placed([box(), box()], [np.eye(4)] * 2)
    finder = BoxCandidates(settings(), placed.bodies, placed.shapes)
    assert listed(finder.find(placed.frame)) == [(0, 1)]
    assert finder.box_tests == 1
    placed.world.ignore(placed.world["box"], placed.world["box 1"])
    assert listed(finder.find(placed.frame)) == []
    alone = Placed([box()], [np.eye(4)])
    assert listed(BoxCandidates(settings(), alone.bodies, alone.shapes).find(alone.frame)) == []


@pytest.mark.small
def test_more_pairs_than_there_is_room_for_are_all_written():
    tree = tree_of_groups(np.repeat(np.arange(2, dtype=np.int32), 40))
    boxes = BoxesOfGroups(tree)
    boxes.refit(np.zeros((80, 3)), np.ones((80, 3)))
    pairs = boxes.pairs_below(CandidatePairs(np.array([0], np.int32), np.array([1], np.int32)))
    assert listed(pairs) == [(a, b) for a in range(40) for b in range(40, 80)]


@pytest.mark.small
def test_a_descent_in_slices_gives_the_same_pairs_and_much_room_is_given_back(monkeypatch):
    rng = np.random.default_rng(0)
    tree = tree_of_groups(np.repeat(np.arange(4, dtype=np.int32), 12))
    lower = rng.uniform(0.0, 2.0, (48, 3))
    boxes = BoxesOfGroups(tree)
    boxes.refit(lower, lower + 0.8)
    whole, tests = boxes.pairs_below(every_pair(4)), boxes.box_tests
    room = boxes._pairs.shape
    calls, real = [], group_tree.descend_groups
    monkeypatch.setattr(group_tree, "descend_groups", lambda *all_: (calls.append(1), real(*all_))[1])
    monkeypatch.setattr(group_tree, "FIRST_SLICE", 7)
    monkeypatch.setattr("jostle.kernels.slices.LARGEST_GROWTH", 1.0)
    monkeypatch.setattr("jostle.kernels.slices.SLICE_SECONDS", 0.0)
    assert listed(boxes.pairs_below(every_pair(4))) == listed(whole)
    assert boxes.box_tests == tests
    assert len(whole.body_a) > 100
    assert len(calls) > 100
    assert boxes._pairs.shape == room
    monkeypatch.setattr(group_tree, "KEPT_BYTES", 0)
    boxes.refit(np.zeros((48, 3)), np.ones((48, 3)))
    assert len(boxes.pairs_below(every_pair(4)).body_a) == 6 * 12 * 12
    assert boxes._pairs.shape == BoxesOfGroups(tree)._pairs.shape
