"""The stages of the face octree, each against brute force."""

import itertools

import numpy as np
import pytest

import jostle
from jostle.interface.body_pairs import CandidatePairs
from jostle.methods.face_octree import walk as walking
from jostle.methods.face_octree.bounding_boxes import find_overlap_regions
from jostle.methods.face_octree.face_checklist import FaceChecklist
from jostle.methods.face_octree.subdivision import AUTO, CELLS_ALONG, LARGEST_LEVEL, cell_of
from jostle.methods.face_octree.walk import NO_NODES, Walk, cells_of, find_face_pairs
from jostle.methods.face_octree.work import AXES, BOXES, CLIP, Tree
from jostle.methods.face_octree.world_cube import grow_to_hold, write_cube, write_cube_about
from jostle.shapes import build
from tests.tiny import random_pose, random_soup

small = pytest.mark.small
NO_KEYS = np.empty(0, np.int64)


def soups(seed, bodies=4, faces=12, spread=0.5):
    rng = np.random.default_rng(seed)
    world = jostle.World("face_octree")
    for _ in range(bodies):
        world.add(random_soup(rng, faces), random_pose(rng, spread))
    return world


def all_pairs(world):
    a, b = np.triu_indices(len(world), 1)
    return CandidatePairs(a.astype(np.int32), b.astype(np.int32))


def checklist_of(world, how=BOXES, clearance=0.0, all_regions=False):
    frame = world._frame()
    stages = FaceChecklist(frame.bodies)
    stages.follow(frame)
    placed = stages.place_all(frame, clearance) if all_regions else stages.place(all_pairs(world), frame, clearance)
    return placed, stages.faces_that_meet_regions(placed, how)


def corners_of(faces):
    return faces.world[faces.corner]


def tree_of(placed, faces, level=AUTO, bintree=False, how=BOXES, allowed=NO_KEYS):
    cube = np.empty(6)
    write_cube_about(cube, placed.boxes[:, :3], placed.boxes[:, 3:])
    return Tree(cube, level, bintree, how, 0.5 * placed.grown, allowed)


def pairs_with_meeting_boxes(faces, apart=0.0):
    corners = corners_of(faces)
    lower, upper = corners.min(axis=1) - apart, corners.max(axis=1)
    return {
        (i, j)
        for i, j in itertools.combinations(range(len(corners)), 2)
        if faces.owner[i] != faces.owner[j] and (lower[i] <= upper[j]).all() and (lower[j] <= upper[i]).all()
    }


def as_pairs(keys):
    return list(zip((keys >> 32).tolist(), (keys & 0xFFFFFFFF).tolist(), strict=True))


@small
def test_overlap_regions_are_what_two_boxes_have_in_common():
    rng = np.random.default_rng(0)
    lower = rng.integers(0, 6, (7, 3)).astype(float)
    boxes = np.hstack([lower, lower + rng.integers(0, 4, (7, 3))])
    a, b = (side.astype(np.int32) for side in np.triu_indices(7, 1))
    for grown in (0.0, 0.5):
        expected = {k: set() for k in range(7)}
        meets_expected = []
        for i, j in zip(a.tolist(), b.tolist(), strict=True):
            meet = (boxes[i, :3] - grown <= boxes[j, 3:]).all() and (boxes[j, :3] - grown <= boxes[i, 3:]).all()
            meets_expected.append(bool(meet))
            for one, other in ((i, j), (j, i)):
                if meet:
                    low, high = (
                        np.maximum(boxes[one, :3], boxes[other, :3] - grown),
                        np.minimum(boxes[one, 3:], boxes[other, 3:] + grown),
                    )
                    expected[one].add((*low.tolist(), *high.tolist()))
        meets, first, regions = np.empty(len(a), bool), np.empty(8, np.int64), np.empty((2 * len(a), 6))
        count = find_overlap_regions(a, b, boxes, grown, meets, first, regions)
        assert meets.tolist() == meets_expected
        assert 0 < sum(meets_expected) < len(a)
        assert count == first[7] == 2 * sum(meets_expected)
        for k in range(7):
            assert {tuple(row) for row in regions[first[k] : first[k + 1]].tolist()} == expected[k]


@small
def test_world_vertices_and_boxes_are_those_of_the_one_formula():
    world = soups(1)
    placed, faces = checklist_of(world, all_regions=True)
    expected = np.concatenate([body.world_vertices for body in world])
    assert np.array_equal(faces.world[: len(expected)], expected)
    for k, body in enumerate(world):
        assert np.array_equal(placed.boxes[k], np.concatenate([body.world_vertices.min(axis=0), body.world_vertices.max(axis=0)]))
    assert len(faces.owner) == sum(len(body.mesh.faces) for body in world)


@pytest.mark.parametrize("how", [BOXES, CLIP, AXES])
@pytest.mark.parametrize("clearance", [0.0, 0.1])
def test_the_checklist_has_the_faces_that_meet_a_region_of_their_body(how, clearance):
    left_out = 0
    for seed in range(4):
        world = soups(seed, spread=1.2)
        placed, faces = checklist_of(world, how, clearance)
        listed = set(zip(faces.owner.tolist(), faces.face.tolist(), strict=True))
        assert len(listed) == len(faces.owner)
        assert sorted(listed) == list(zip(faces.owner.tolist(), faces.face.tolist(), strict=True))
        for place, body in enumerate(placed.bodies.tolist()):
            regions = placed.regions[placed.first[place] : placed.first[place + 1]]
            triangles = world[body].world_vertices[world[body].mesh.faces]
            boxes_meet = [any(((t.min(axis=0) <= r[3:]) & (t.max(axis=0) >= r[:3])).all() for r in regions) for t in triangles]
            # Points of a face inside of a region prove that it meets it; boxes that are apart prove that it does not.
            weights = np.random.default_rng(0).dirichlet([1, 1, 1], 200)
            for face, triangle in enumerate(triangles):
                points = weights @ triangle
                inside = any(((points >= r[:3]) & (points <= r[3:])).all(axis=1).any() for r in regions)
                if inside:
                    assert (place, face) in listed
                if not boxes_meet[face]:
                    assert (place, face) not in listed
                if how == BOXES:
                    assert ((place, face) in listed) == boxes_meet[face]
                left_out += (place, face) not in listed
    assert left_out > 10


def test_many_regions_of_one_body_are_searched_and_the_search_can_stop_and_go_on():
    rng = np.random.default_rng(7)
    world = jostle.World("face_octree")
    world.add(random_soup(rng, 300))
    for _ in range(40):
        world.add(random_soup(rng, 2, 0.1), random_pose(rng, 1.0))
    frame = world._frame()
    for how in (BOXES, AXES):
        stages = FaceChecklist(frame.bodies)
        placed = stages.place(all_pairs(world), frame, 0.0)
        assert placed.first[1] > 30
        faces = stages.faces_that_meet_regions(placed, how)
        whole = [faces.owner.tolist(), faces.face.tolist()]
        stopping = FaceChecklist(frame.bodies)
        again = stopping.faces_that_meet_regions(stopping.place(all_pairs(world), frame, 0.0), how, operations=10)
        assert [again.owner.tolist(), again.face.tolist()] == whole
        assert stopping.box_tests == stages.box_tests
        regions = placed.regions[: placed.first[1]]
        triangles = world[0].world_vertices[world[0].mesh.faces]
        meet = [bool(((t.min(axis=0) <= regions[:, 3:]) & (t.max(axis=0) >= regions[:, :3])).all(axis=1).any()) for t in triangles]
        listed = set(faces.face[faces.owner == 0].tolist())
        assert 0 < len(listed) < 300
        if how == BOXES:
            assert listed == {k for k, meets in enumerate(meet) if meets}
            assert stages.box_tests < 0.5 * 300 * len(regions)
        else:
            assert listed < {k for k, meets in enumerate(meet) if meets}


@small
def test_vertices_that_no_face_uses_do_not_make_boxes_larger():
    world = jostle.World("face_octree")
    ball = build.icosphere(1)
    far = jostle.Mesh(np.vstack([[[1e6, 0, 0]], ball.vertices]), ball.faces + 1)
    world.add(ball)
    body = world.add(far, jostle.geometry.pose.translation((1.5, 0, 0)), deformable=True)
    placed, faces = checklist_of(world)
    assert placed.boxes[1, 3] < 3.0
    before = set(zip(faces.owner.tolist(), faces.face.tolist(), strict=True))
    body.vertices = far.vertices + np.array([0.0, 0.1, 0.0])
    placed, faces = checklist_of(world)
    assert placed.boxes[1, 3] < 3.0
    assert len(before) > 0 < len(faces.owner)
    assert np.array_equal(corners_of(faces)[faces.owner == 1], body.world_vertices[far.faces[faces.face[faces.owner == 1]]])


@pytest.mark.parametrize("bintree", [False, True])
@pytest.mark.parametrize("level", [AUTO, 0, 1, 3, 6])
def test_with_boxes_the_face_pairs_are_those_whose_boxes_meet_each_once(level, bintree):
    found = 0
    for seed, clearance in ((0, 0.0), (1, 0.0), (2, 0.2)):
        placed, faces = checklist_of(soups(seed), clearance=clearance)
        tree = tree_of(placed, faces, 3 * level if bintree and level != AUTO else level, bintree)
        keys, _ = find_face_pairs(Walk(), faces, tree, 1)
        pairs = as_pairs(keys)
        assert len(set(pairs)) == len(pairs)
        assert set(pairs) == pairs_with_meeting_boxes(faces, placed.grown)
        found += len(pairs)
    assert found > 100


@pytest.mark.parametrize("how", [CLIP, AXES])
@pytest.mark.parametrize("bintree", [False, True])
def test_with_exact_tests_pairs_that_meet_are_kept_and_others_left_out(how, bintree):
    fewer = 0
    for seed in range(3):
        world = soups(seed, bodies=3, faces=20)
        rows = jostle.World("brute_force")
        for body in world:
            rows.add(body.mesh, body.pose)
        contacts = rows.detect().contacts
        placed, faces = checklist_of(world, how)
        keys, _ = find_face_pairs(Walk(), faces, tree_of(placed, faces, 15 if bintree else 5, bintree, how), 1)
        pairs = {
            (int(placed.bodies[faces.owner[i]]), int(placed.bodies[faces.owner[j]]), int(faces.face[i]), int(faces.face[j]))
            for i, j in as_pairs(keys)
        }
        touching = zip(*(getattr(contacts, n).tolist() for n in ("body_a", "body_b", "face_a", "face_b")), strict=True)
        assert set(touching) <= pairs
        with_boxes, _ = find_face_pairs(Walk(), faces, tree_of(placed, faces), 1)
        assert set(as_pairs(keys)) <= set(as_pairs(with_boxes))
        fewer += len(with_boxes) - len(keys)
    assert fewer > 20


@small
def test_a_walk_in_small_steps_with_small_arrays_ends_where_one_in_one_go_does():
    placed, faces = checklist_of(soups(5))
    tree = tree_of(placed, faces, 4)
    whole, _ = find_face_pairs(Walk(), faces, tree, 1)
    expected = whole.copy()
    walk = Walk(16)
    walk.start(faces, tree)
    steps = 0
    while not walk.resume(faces, tree, 10):
        steps += 1
    assert steps > 20
    assert walk.found().tolist() == expected.tolist()
    assert len(walk.array("checks")) > 16


def test_subtrees_on_threads_find_the_same_pairs(monkeypatch):
    a, b = build.torus(segments=40, sides=20), build.torus(segments=30, sides=25)
    world = jostle.World("face_octree")
    world.add(a)
    world.add(b, jostle.geometry.pose.translation((0.6, 0.3, 0.1)))
    placed, faces = checklist_of(world)
    for bintree in (False, True):
        tree = tree_of(placed, faces, bintree=bintree)
        expected = np.sort(find_face_pairs(Walk(), faces, tree, 1)[0])
        assert len(expected) > 100
        for soon in (0, 500, 2000, 5000):
            monkeypatch.setattr(walking, "SOON", soon)
            walk = Walk()
            walk.start(faces, tree)
            assert not walk.resume(faces, tree, soon)
            keys, _ = find_face_pairs(Walk(), faces, tree, 2)
            assert keys.tolist() == expected.tolist()


@small
def test_only_nodes_with_faces_of_two_bodies_are_visited_down_to_the_level():
    placed, faces = checklist_of(soups(3, bodies=2))
    corners = corners_of(faces)
    lower, upper = corners.min(axis=1), corners.max(axis=1)
    for level in (2, 4):
        tree = tree_of(placed, faces, level)
        cells = cells_of(Walk(), faces, tree)
        edge = tree.cube[3] - tree.cube[0]
        sizes = cells[:, 3] - cells[:, 0]
        assert sizes.min() == pytest.approx(edge / 2**level)
        assert len(cells) > 4
        slack = 1e-9 * edge
        for cell in cells:
            inside = (lower <= cell[3:] + slack).all(axis=1) & (upper >= cell[:3] - slack).all(axis=1)
            assert len(set(faces.owner[inside].tolist())) == 2


@small
def test_pairs_of_bodies_that_may_not_meet_are_left_out():
    placed, faces = checklist_of(soups(0))
    everything = as_pairs(find_face_pairs(Walk(), faces, tree_of(placed, faces), 1)[0])
    allowed = np.array([(0 << 32) | 2, (1 << 32) | 3], np.int64)
    found = as_pairs(find_face_pairs(Walk(), faces, tree_of(placed, faces, allowed=allowed), 1)[0])
    owners = faces.owner.tolist()
    assert set(found) == {(i, j) for i, j in everything if (owners[i], owners[j]) in ((0, 2), (1, 3))}
    assert 0 < len(found) < len(everything)


@small
def test_cells_never_decrease_with_the_coordinate():
    rng = np.random.default_rng(1)
    for origin, edge in ((0.0, 1.0), (-1e7, 1e-3), (3e20, 5e19), (1e-29, 1e-28)):
        x = np.sort(origin + edge * rng.uniform(-0.2, 1.2, 300))
        cells = [int(cell_of(one, origin, CELLS_ALONG / edge)) for one in x.tolist()]
        assert cells == sorted(cells)
        assert 0 <= cells[0] < cells[-1] < CELLS_ALONG


@small
def test_a_cube_doubles_until_it_holds_all_and_voxels_keep_their_size():
    cube = np.empty(6)
    write_cube(cube, 1.0, 0.0, 0.0, 2.0)
    before = cube.copy()
    inside = np.array([[0.5, -0.5, -0.5, 1.5, 0.5, 0.5]])
    assert grow_to_hold(cube, 6, inside, 0.0) == 6
    assert np.array_equal(cube, before)
    outside = np.array([[0.5, -0.5, -0.5, 9.0, 0.5, 0.5]])
    level = grow_to_hold(cube, 6, outside, 0.5)
    assert level == 10
    assert cube[3] >= 9.5
    assert (cube[3] - cube[0]) / 2**level == pytest.approx(2.0 / 2**6, rel=1e-9)
    assert grow_to_hold(cube.copy(), AUTO, 100 * outside, 0.0) == AUTO
    assert grow_to_hold(cube, 15, 1000 * outside, 0.0) == LARGEST_LEVEL


@small
def test_a_walk_begins_in_the_smallest_node_that_holds_all_faces():
    _, faces = checklist_of(soups(2))
    cube = np.empty(6)
    write_cube(cube, 40.0, 40.0, 40.0, 200.0)
    far = Tree(cube, AUTO, False, BOXES, 0.0, NO_KEYS)
    walk = Walk()
    walk.start(faces, far)
    assert walk.state["depth"] >= 3
    walk.finish(faces, far, NO_NODES)
    assert set(as_pairs(walk.found())) == pairs_with_meeting_boxes(faces)
