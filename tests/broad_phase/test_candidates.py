"""The search for body pairs that may meet, and the records of pairs."""

import numpy as np
import pytest

import jostle
from jostle import broad_phase
from jostle.broad_phase.candidates import Candidates, with_self_pairs
from jostle.broad_phase.pair_memory import PairMemory
from jostle.geometry.pose import rotation_about, translation
from jostle.interface.body_pairs import CandidatePairs
from jostle.methods.brute_force import all_faces
from jostle.shapes import build
from tests.all_faces_behind import AllFacesBehind
from tests.tiny import box, random_pose, random_soup, tetrahedron


def pairs(*list_of_pairs):
    table = np.array(list_of_pairs, np.int32).reshape(-1, 2)
    return CandidatePairs(table[:, 0], table[:, 1])


@pytest.mark.small
def test_memory_recalls_what_was_remembered_last_and_follows_bodies():
    memory = PairMemory(width=2)
    assert memory.recall(pairs((0, 1))).shape == (1, 2)
    memory.remember(pairs((0, 1), (1, 4), (2, 3)), np.array([[1, 2], [3, 4], [5, 6]]))
    found = memory.recall(pairs((0, 1), (0, 2), (2, 3)))
    assert found[[0, 2]].tolist() == [[1, 2], [5, 6]]
    assert np.isnan(found[1]).all()
    memory.renumber(np.array([0, -1, 1, 2, 3], np.int32))
    assert memory.recall(pairs((1, 2))).tolist() == [[5, 6]]
    assert np.isnan(memory.recall(pairs((0, 1), (0, 3)))).all()
    memory.remember(pairs(), np.empty((0, 2)))
    assert np.isnan(memory.recall(pairs((1, 2)))).all()


def found(candidates, frame, *arguments, **others):
    listed = candidates.pairs(frame, *arguments, **others)
    return list(zip(listed.body_a.tolist(), listed.body_b.tolist(), strict=True))


def row_of(count, apart=0.9):
    world = jostle.World("brute_force")
    for k in range(count):
        world.add(tetrahedron(), translation((apart * k, 0, 0)))
    return world


@pytest.mark.small
def test_candidates_are_the_pairs_whose_volumes_meet_and_that_the_filters_allow():
    world = row_of(4)
    candidates = Candidates(world._frame().bodies, "brute_force")
    assert found(candidates, world._frame()) == [(0, 1), (1, 2), (2, 3)]
    assert candidates.box_tests == 6
    assert found(candidates, world._frame(), 0.85) == [(0, 1), (0, 2), (1, 2), (1, 3), (2, 3)]
    assert found(candidates, world._frame(), beyond=np.array([0.85, 0, 0, 0])) == [(0, 1), (0, 2), (1, 2), (2, 3)]
    world.ignore(1, 2)
    assert found(candidates, world._frame()) == [(0, 1), (2, 3)]
    everything = Candidates(world._frame().bodies, None)
    assert everything.takes_all
    assert found(everything, world._frame()) == [(0, 1), (0, 2), (0, 3), (1, 3), (2, 3)]
    assert everything.box_tests == 0


@pytest.mark.small
def test_few_bodies_are_taken_without_volumes_and_more_compared_by_what_is_cheaper():
    """Across changes of bodies in both directions; box tests are always those of the last search."""
    world = row_of(6, apart=5.0)
    candidates = Candidates(world._frame().bodies, "uniform_grid", few=2, few_boxes=4)
    for bodies, pairs, all_boxes in (
        (6, [], False),
        (4, [], True),
        (2, [(0, 1)], False),
        (1, [], False),
        (3, [], True),
        (5, [], False),
    ):
        before = world._frame().bodies.ids
        while len(world) > bodies:
            world.remove(world.bodies[-1])
        while len(world) < bodies:
            world.add(tetrahedron(), translation((5.0 * len(world), 9.0, 0)))
        ids = world._frame().bodies.ids
        candidates.change(
            world._frame().bodies, np.array([np.flatnonzero(ids == k)[0] if k in ids else -1 for k in before], np.int32)
        )
        assert found(candidates, world._frame()) == pairs
        assert candidates.takes_all == (bodies <= 2)
        # Of bodies far apart a grid compares none.
        assert candidates.box_tests == (bodies * (bodies - 1) // 2 if all_boxes else 0)
        assert not candidates.among(candidates.volumes(world._frame()), world._frame()).body_a.size


@pytest.mark.small
def test_box_tests_at_an_instant_are_not_those_of_the_motion_before():
    world = jostle.World("bounding_tree(broad=brute_force)")
    for shift in (0.0, 5.0):
        world.add(tetrahedron(), translation((shift, 0, 0)))
    along = world.detect(motion=True).counters.box_tests
    now = world.detect().counters.box_tests
    assert along == 1
    fresh = jostle.World("bounding_tree(broad=brute_force)")
    for body in world:
        fresh.add(body.mesh, body.pose)
    assert now == fresh.detect().counters.box_tests


@pytest.mark.small
def test_self_pairs_come_in_order():
    listed = with_self_pairs(pairs((0, 1), (0, 2), (1, 2)), [0, 2])
    assert list(zip(*(column.tolist() for column in listed), strict=True)) == [(0, 0), (0, 1), (0, 2), (1, 2), (2, 2)]
    assert listed.body_a.dtype == np.int32
    assert len(with_self_pairs(pairs(), []).body_a) == 0


def test_boxes_hold_every_world_vertex_and_follow_deformation():
    rng = np.random.default_rng(1)
    world = jostle.World(AllFacesBehind())
    for k in range(20):
        world.add(box(rng.uniform(-9, 0, 3), rng.uniform(1, 9, 3)), random_pose(rng, 10.0**k), deformable=k % 2 == 0)
    for _ in range(3):
        for body in world:
            if body.deformable:
                body.vertices = body.mesh.vertices * rng.uniform(0.5, 3)
        boxes = world.overlay().boxes
        for body, (lower, upper) in zip(world, boxes, strict=True):
            assert (body.world_vertices >= lower).all()
            assert (body.world_vertices <= upper).all()


def test_only_pairs_with_boxes_that_meet_reach_the_narrow_phase():
    world = jostle.World(AllFacesBehind())
    for k in range(10):
        world.add(tetrahedron(), translation((0.9 * k, 0, 0)))
    report = world.detect()
    assert report.counters.body_pairs == 9
    assert world.detect(itself=True).counters.body_pairs == 19
    assert world.detect(clearance=0.85).counters.body_pairs == 9 + 8


def test_the_corner_of_a_turned_box_is_not_lost_at_a_large_offset():
    turned = rotation_about((0, 0, 1), np.pi / 4)
    far = translation((1e7, 0, 0))
    world = jostle.World(AllFacesBehind())
    world.add(box((-1, -1, 0)), far @ turned)
    tip = world[0].world_vertices[:, 0].max()
    wall = world.add(box((0, -5, -5), (1, 5, 5)), translation((tip, 0, 0)))
    truth = jostle.World()
    for body in world:
        truth.add(body.mesh, body.pose)
    assert truth.detect().touching
    assert world.detect().touching
    wall.pose = translation((np.nextafter(tip, np.inf), 0, 0))
    assert not world.detect().touching


@pytest.mark.small
@pytest.mark.parametrize("offset", [0.0, 1e3, 1e7])
def test_boxes_of_many_bodies_are_cut_down_and_still_hold_every_world_vertex(offset):
    """Under poses that are only nearly rigid, with bodies far from their own origins, deforming ones among them."""
    rng = np.random.default_rng(4)
    meshes = [
        build.icosphere(2, 0.5),
        box(),
        jostle.Mesh(rng.normal(size=(60, 3)) * (3.0, 0.1, 1.0) + offset, rng.integers(0, 60, (40, 3))),
    ]
    world, trimmed = jostle.World(AllFacesBehind()), 0
    for k in range(24):
        pose = translation(rng.normal(size=3) * offset) @ random_pose(rng)
        pose[:3, :3] *= 1.0 + rng.choice([-1.0, 0.0, 1.0]) * 0.99e-5 / 2.0 / np.sqrt(3.0)
        world.add(meshes[k % 3], pose, deformable=k % 8 == 7)
    world.bodies[7].vertices = world.bodies[7].vertices * 3.0
    overlay = world.overlay()
    for body, (lower, upper) in zip(world, overlay.boxes, strict=True):
        points = body.world_vertices[np.unique(body.mesh.faces)]
        assert (points >= lower).all()
        assert (points <= upper).all()
        corners = np.stack(np.meshgrid(*body.mesh.bounds.T, indexing="ij"), axis=-1).reshape(-1, 3) @ body.pose[:3, :3].T
        trimmed += bool((upper - lower < np.ptp(corners, axis=0) - 1e-6 * (1.0 + offset)).any())
    assert trimmed > 4 or offset > 1e6


@pytest.mark.small
@pytest.mark.parametrize("size", [1e-29, 1e-3, 1.0, 1e20])
@pytest.mark.parametrize("offset", [0.0, 1e3, 1e7])
def test_boxes_of_slender_parts_askew_are_those_of_rotated_boxes_and_hold_every_world_vertex(offset, size):
    """A needle along a diagonal of its mesh, a plate, points on one line: under poses that are only nearly rigid."""
    rng = np.random.default_rng(5)
    askew = random_pose(rng)[:3, :3]
    needle, plate, line = (
        rng.uniform(-1.0, 1.0, (30, 3)) * half for half in ((3.0, 0.01, 0.02), (2.0, 2.0, 0.01), (1.0, 0.0, 0.0))
    )
    meshes = [jostle.Mesh(size * (part @ askew + offset), rng.integers(0, 30, (20, 3))) for part in (needle, plate, line)]
    world, trimmed = jostle.World(AllFacesBehind()), 0
    for k in range(24):
        pose = translation(rng.normal(size=3) * size * offset) @ random_pose(rng)
        pose[:3, :3] *= 1.0 + rng.choice([-1.0, 0.0, 1.0]) * 0.99e-5 / 2.0 / np.sqrt(3.0)
        world.add(meshes[k % 3], pose, deformable=k == 7)
    if offset == 0.0:  # a needle that has just been turned upright
        upright = np.eye(4)
        upright[:3, :3] = askew
        world.bodies[0].pose = upright
    for body, (lower, upper) in zip(world, world.overlay().boxes, strict=True):
        points = body.world_vertices[np.unique(body.mesh.faces)]
        assert (points >= lower).all()
        assert (points <= upper).all()
        trimmed += bool((upper - lower < np.ptp(points, axis=0) * 1.5 + 1e-29).all())
    assert trimmed > 8 or offset > 0.0
    if offset == 0.0 and size >= 1e-3:
        lower, upper = world.overlay().boxes[0]
        assert (np.sort(upper - lower)[:2] < 0.2 * size).all()


def test_slender_parts_askew_have_few_pairs_that_may_meet():
    rng = np.random.default_rng(6)
    pipe = build.capsule(radius=0.05, height=2.0, segments=12)
    straight, turned = jostle.World(AllFacesBehind()), jostle.World(AllFacesBehind())
    askew = random_pose(rng)
    moved = pipe.moved(askew)
    for _ in range(60):
        pose = random_pose(rng, 2.0)
        straight.add(pipe, pose)
        turned.add(moved, pose @ np.linalg.inv(askew))
    few, more = (world.detect().counters.body_pairs for world in (straight, turned))
    assert 0 < few <= more <= 1.1 * few  # 4.5 times as many where boxes are not trimmed


def test_exact_tests_of_all_faces_count_for_more_than_boxes(monkeypatch):
    """A slice that was sized by faces far apart would otherwise be too long where all of them meet."""
    slices, asked = [], 1000

    def run(step, state, _):
        done = False
        while not done:
            done, used = step(state, asked)
            slices.append(used)

    monkeypatch.setattr(all_faces, "run_in_slices", run)
    soup = random_soup(np.random.default_rng(1), 50)
    _, counters = all_faces.find_face_rows(soup.vertices, soup.faces, soup.vertices, soup.faces, 0.1)
    exact = all_faces.EXACT_TEST * counters.triangle_tests + all_faces.DISTANCE_TEST * counters.distance_tests
    assert sum(slices) == counters.box_tests + exact
    most = (1 + all_faces.EXACT_TEST + all_faces.DISTANCE_TEST) * len(soup.faces)  # of one face
    assert max(slices) < asked + most


@pytest.mark.small
def test_the_old_name_of_all_pairs_warns():
    with pytest.warns(DeprecationWarning, match="AllPairs"):
        assert broad_phase.BruteForce is broad_phase.AllPairs
    with pytest.raises(AttributeError, match="no attribute 'Nothing'"):
        _ = broad_phase.Nothing
