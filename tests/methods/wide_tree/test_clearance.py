"""Rows within a clearance where not all are wanted: against brute force, closed formulas, and the work of one distance."""

from __future__ import annotations

import gc
import weakref

import numpy as np
import pytest

import jostle
from jostle import Mesh
from jostle.geometry.pose import rotation_about, translation
from jostle.interface.query import YesOrNo
from jostle.kernels import pool
from jostle.kernels.arrays import read_only_view
from jostle.kernels.scratch import Workspaces
from jostle.methods.wide_tree import clearance as rows_within
from jostle.methods.wide_tree import nearest_search
from jostle.methods.wide_tree.build import build_tree
from jostle.methods.wide_tree.lowest_faces import LowestFaces, lowest_faces
from jostle.methods.wide_tree.nearest_bounds import MOST_TIES
from jostle.methods.wide_tree.nearest_search import (
    NearestWorkspace,
    NearList,
    NearQuestion,
    find_nearest_rows,
    find_nearest_rows_parallel,
)
from jostle.methods.wide_tree.nearest_work import ANY_NEAR, FIRST_NEAREST, LOWEST_TOUCHING, NEAREST
from jostle.methods.wide_tree.search import TreePairs, find_rows
from jostle.methods.wide_tree.tree import Forest
from jostle.report.packing import ALL
from jostle.shapes import build
from tests.methods.plain.compare import COLUMNS, PAIR_COLUMNS, filled, same_bytes, size_of
from tests.methods.plain.families import FAMILIES, case
from tests.methods.wide_tree.test_nearest import grid
from tests.tiny import box, random_pose, random_soup

IDENTITY = np.eye(4)
TURNED = rotation_about([1.0, 2.0, 3.0], 0.7)


def assert_same_report(found, expected):
    assert same_bytes(found.contacts, expected.contacts, COLUMNS)
    assert same_bytes(found.pairs, expected.pairs, PAIR_COLUMNS)


@pytest.mark.parametrize("options", [{}, {"solid": True}, {"self_collision": True}], ids=["surfaces", "solids", "itself"])
@pytest.mark.parametrize("rows", ["first", "pairs", "any"])
@pytest.mark.parametrize("family", FAMILIES)
def test_reports_have_the_bytes_of_brute_force(family, rows, options):
    near = 0
    for seed in range(4):
        bodies = case(family, seed)
        size = size_of(bodies)
        if seed % 2:  # mostly apart
            bodies[-1] = bodies[-1][0], translation((0.6 * size if size < 1.0 else np.ceil(0.6 * size), 0.0, 0.0)) @ bodies[-1][1]
        worlds = [filled(method, bodies) for method in ("wide_tree", "brute_force")]
        whole = worlds[1].detect(clearance=3.0 * size)
        # Also exactly at the distance of some face pair, and just beyond it.
        known = [float(d) for d in whole.contacts.distance[whole.contacts.distance > 0.0][:2]]
        for clearance in (1e-9 * size, 0.05 * size, 3.0 * size, *known, *(float(np.nextafter(d, 1e300)) for d in known)):
            query = {"rows": rows, "clearance": clearance, **options}
            found, expected = (world.detect(**query) for world in worlds)
            assert_same_report(found, expected)
            near += int((expected.pairs.kind == jostle.Kind.NEAR).sum())
    assert near > 0 or rows == "any"


def blobs(shift):
    return build.blob(3000, seed=1), build.blob(2000, seed=2), IDENTITY, translation(shift)


def plates(pose):
    return grid(40), grid(31), pose, pose @ translation((0.01, 0.02, 0.05))


def soups():
    rng = np.random.default_rng(1)
    return random_soup(rng, 300, 0.1), random_soup(rng, 200, 0.1), IDENTITY, translation((0.3, 0.2, 0.1))


def links():
    torus = build.torus(1.0, 0.2, segments=40, sides=20)
    return torus, torus, IDENTITY, translation((1.05, 0.1, 0.0)) @ rotation_about((1.0, 0.1, 0.0), 1.5)


# Two meshes and their poses, and a clearance; none touch.
SCENES = {
    "blobs": (lambda: blobs((2.1, 0.3, 0.1)), 0.6),
    "far blobs": (lambda: blobs((40.0, 0.3, 0.1)), 0.6),
    "a clearance beyond the bodies": (lambda: blobs((2.1, 0.3, 0.1)), 100.0),
    "a body inside": (lambda: (build.blob(3000, seed=1), build.blob(2000, seed=2).scaled(0.3), IDENTITY, TURNED), 1.0),
    "nearly concentric balls": (lambda: (build.icosphere(3), build.icosphere(3).scaled(0.95), IDENTITY, TURNED), 0.2),
    "concentric balls, out of reach": (lambda: (build.icosphere(3), build.icosphere(3).scaled(0.8), IDENTITY, TURNED), 0.1),
    "parallel plates": (lambda: plates(IDENTITY), 0.3),
    "turned plates": (lambda: plates(TURNED), 0.3),
    "turned plates, out of reach": (lambda: plates(TURNED), 0.0499),
    "a box over 100,000 faces": (
        lambda: (box(), grid(224, size=30.0), IDENTITY, TURNED @ translation((-12.0, -13.0, -2.0))),
        3.0,
    ),
    "boxes": (lambda: (box(), box(), IDENTITY, translation((1.5, 0.0, 0.0))), 1.0),
    "boxes whose boxes meet": (
        lambda: (box(), build.box((3.0, 0.1, 2.0)), IDENTITY, translation((2.0, 0.7, 1.9)) @ TURNED),
        0.5,
    ),
    "soups": (soups, 1.0),
    "links of a chain": (links, 1.0),
}


def operations(counters):
    """The work of a search in node pairs: a distance of faces costs as much as eight, an exact test as two (0.1 µs)."""
    return counters.box_tests / 64 + 8 * counters.distance_tests + 2 * counters.triangle_tests


def one_pair(a, b, pose_a, pose_b):
    trees = [build_tree(a), build_tree(b)]
    zero, one = np.zeros(1, np.int32), np.ones(1, np.int32)
    return Forest(trees), NearList(TreePairs(zero, one, zero, one, read_only_view(np.stack([pose_a, pose_b]))))


@pytest.mark.parametrize("rows", ["first", "pairs", "any"])
@pytest.mark.parametrize("name", SCENES)
def test_the_nearest_row_costs_no_more_than_a_distance_and_half(name, rows):
    make, clearance = SCENES[name]
    a, b, pose_a, pose_b = make()
    found, counters = find_nearest_rows(*one_pair(a, b, pose_a, pose_b), NearQuestion())
    distance = float(found.distance[0])
    world = jostle.World("wide_tree")
    for mesh, pose in ((a, pose_a), (b, pose_b)):
        world.add(mesh, pose)
    assert world.distance(0, 1).distance == distance > 0.0
    for within in (clearance, 0.5 * distance, 0.999 * distance, float(np.nextafter(distance, 9e99)), 1.5 * distance):
        report = world.detect(rows=rows, clearance=within)
        assert report.pairs.distance.tolist() == ([distance] if distance < within else [])
        assert operations(report.counters) <= 1.5 * operations(counters)
        answer = world._answer("detect", YesOrNo(rows="any", clearance=within))
        assert bool(answer) == (distance < within)
        assert operations(answer.counters) <= 1.5 * operations(counters)
        batch = world.detect_many(world.poses[None], clearance=within, distance=True)
        assert batch.near.tolist() == [distance < within]
        assert batch.distance.tolist() == [distance]
        # Where rounding might decide whether faces are near, a second search does.
        assert operations(batch.counters) <= (1.5 if abs(distance - within) > 1e-9 else 2.5) * operations(counters)


def test_bodies_that_cross_cost_as_much_as_without_a_clearance_and_a_search_for_the_lowest_faces():
    for a, b, shift in ((build.blob(9000, seed=1), build.blob(7000, seed=2), 0.9), (build.torus(), build.icosphere(3), 1.0)):
        _, counters = find_nearest_rows(*one_pair(a, b, IDENTITY, translation((shift, 0.2, 0.1))), NearQuestion())
        world = jostle.World("wide_tree")
        world.add(a)
        world.add(b, translation((shift, 0.2, 0.1)))
        whole = world.detect()
        assert len(whole.contacts) > 100
        for rows in ("pairs", "any"):
            report = world.detect(rows=rows, clearance=10.0)
            assert report.pairs.kind.tolist() == [jostle.Kind.CROSSING]
            assert operations(report.counters) <= 1.5 * operations(counters)
        first = world.detect(rows="first", clearance=10.0)
        assert (first.contacts.face_a[0], first.contacts.face_b[0]) == (whole.contacts.face_a[0], whole.contacts.face_b[0])
        assert operations(first.counters) < 0.3 * operations(whole.counters)


def test_only_the_lowest_pair_within_the_clearance_is_measured_for_any():
    world = jostle.World("wide_tree")
    for k in range(40):
        world.add(build.icosphere(3), translation((2.05 * k, 0.0, 0.0)))
    every, first = (world.detect(rows=rows, clearance=0.5) for rows in ("pairs", "any"))
    assert list(first.pairs) == list(every.pairs)[:1] == [(0, 1)]
    assert len(every.pairs) == 39
    assert first.counters.distance_tests < every.counters.distance_tests / 20
    touching = jostle.World("wide_tree")
    for k in range(40):
        touching.add(build.icosphere(3), translation((2.05 * k - (k == 39), 0.0, 0.0)))
    assert list(touching.detect(rows="any", clearance=0.01).pairs) == [(38, 39)]
    assert list(touching.detect(rows="any", clearance=0.06).pairs) == [(0, 1)]


def many_pairs(seed=0, count=10):
    """All pairs of some bodies that are near each other or touch, and the lowest faces of their trees."""
    rng = np.random.default_rng(seed)
    meshes = [build.blob(300, seed=seed), build.torus(segments=12, sides=8), box((-0.3, -0.3, -0.3), (0.3, 0.3, 0.3))]
    trees = [build_tree(mesh) for mesh in meshes]
    poses = np.array([random_pose(rng, 2.0) for _ in range(count)])
    a, b = (index.astype(np.int32) for index in np.triu_indices(count, 1))
    shape = (np.arange(count) % len(trees)).astype(np.int32)
    pairs = TreePairs(shape[a], shape[b], a, b, read_only_view(poses))
    return Forest(trees), NearList(pairs, LowestFaces().table(trees, shape))


QUESTIONS = {
    "distances": NearQuestion(),
    "nearest rows": NearQuestion.within(0.7),
    "least distances": NearQuestion(NEAREST, 9, 1.0),
    "first nearest": NearQuestion.within(0.05, FIRST_NEAREST),
    "any near": NearQuestion.within(0.3, ANY_NEAR),
    "any near of nine": NearQuestion.within(0.3, ANY_NEAR, 9),
    "lowest": NearQuestion(LOWEST_TOUCHING),
}


def rows_as_bytes(found):
    rows, counters = found
    return [column.tobytes() for column in rows], vars(counters)


@pytest.mark.parametrize("name", QUESTIONS)
def test_searches_in_small_slices_with_small_arrays_give_the_same(monkeypatch, name):
    forest, near = many_pairs()
    whole = find_nearest_rows(forest, near, QUESTIONS[name])
    assert len(whole[0].pair) > (0 if name == "first nearest" else 1)
    for constant, value in {"OPERATIONS": 1, "FIRST_STACK": 66, "FIRST_ROWS": 1}.items():
        monkeypatch.setattr(nearest_search, constant, value)
    monkeypatch.setattr(nearest_search, "WORKSPACES", Workspaces(NearestWorkspace))
    calls, search = [], nearest_search.search_nearest
    monkeypatch.setattr(nearest_search, "search_nearest", lambda *given: (calls.append(0), search(*given))[1])
    assert rows_as_bytes(find_nearest_rows(forest, near, QUESTIONS[name])) == rows_as_bytes(whole)
    assert len(calls) > 5


@pytest.mark.parametrize("name", QUESTIONS)
def test_threads_change_no_byte(monkeypatch, name):
    forest, near = many_pairs(1, 18)  # 153 pairs: 17 groups of nine
    expected = rows_as_bytes(find_nearest_rows(forest, near, QUESTIONS[name]))
    for chunk in (1, 5, 32):
        monkeypatch.setattr(nearest_search, "PORTION", chunk)
        for workers in (1, 2, 4):
            monkeypatch.setattr(pool, "usable_processors", lambda workers=workers: workers)
            assert rows_as_bytes(find_nearest_rows_parallel(forest, near, QUESTIONS[name], workers)) == expected


def test_worlds_with_threads_report_the_same():
    rng = np.random.default_rng(3)
    poses, tables = [random_pose(rng, 5.0) for _ in range(120)], {}
    for workers in (1, 2, 4):
        world = jostle.World("wide_tree", workers=workers)
        for pose in poses:
            world.add(build.icosphere(1), pose)
        for rows in ("first", "pairs", "any"):
            report = world.detect(rows=rows, clearance=0.4)
            tables.setdefault(rows, set()).add(report.to_array().tobytes() + report.pairs.to_array().tobytes())
    assert [len(found) for found in tables.values()] == [1, 1, 1]


def test_groups_share_the_least_distance():
    forest, near = many_pairs(2)
    each, _ = find_nearest_rows(forest, near, NearQuestion())
    assert each.pair.tolist() == list(range(45))
    least, work = find_nearest_rows(forest, near, QUESTIONS["least distances"]._replace(limit=np.inf))
    assert (least.pair // 9).tolist() == list(range(5))
    assert least.distance.tolist() == each.distance.reshape(5, 9).min(axis=1).tolist()
    gaps = np.maximum(each.distance - 1e-9, 0.0)  # bounds, ascending in each group
    order = np.argsort(gaps.reshape(5, 9), axis=1, kind="stable") + 9 * np.arange(5)[:, None]
    ordered = NearList(near.pairs.chosen(order.ravel()), gaps=gaps[order].ravel())
    again, less = find_nearest_rows(forest, ordered, QUESTIONS["least distances"]._replace(limit=np.inf))
    assert again.distance.tolist() == least.distance.tolist()
    assert less.box_tests < work.box_tests


def test_more_ties_than_a_distance_settles_are_settled_within_a_clearance():
    plate = grid(76)
    forest, near = one_pair(plate, plate, TURNED, TURNED @ translation((0.001, 0.002, 1.0)))
    whole, _ = find_rows(forest, near.pairs, 1.0001, ALL)
    assert len(whole.pair) > 2 * MOST_TIES
    (row,) = np.flatnonzero(whole.distance == whole.distance.min())[:1]
    found, _ = find_nearest_rows(forest, near, NearQuestion.within(1.0001))
    assert (found.distance[0], found.face_a[0], found.face_b[0]) == (whole.distance[row], whole.face_a[row], whole.face_b[row])


def below(tree, node):
    first, count = int(tree.first[node]), int(tree.count[node])
    if count < 0:
        return tree.face_ids[first : first - count].tolist()
    return [face for child in range(first, first + count) for face in below(tree, child)]


def test_the_lowest_faces_of_nodes():
    for mesh in (box(), build.blob(3000, seed=1), Mesh([[0.0, 0.0, 0.0]], [[0, 0, 0]])):
        tree = build_tree(mesh)
        assert lowest_faces(tree).tolist() == [min(below(tree, node)) for node in range(len(tree.first))]


def test_lowest_faces_are_made_for_wanted_trees_and_after_a_rebuild(monkeypatch):
    trees = [build_tree(build.blob(200, seed=seed)) for seed in range(3)]
    made = []
    monkeypatch.setattr(
        "jostle.methods.wide_tree.lowest_faces.lowest_faces", lambda tree: (made.append(tree), lowest_faces(tree))[1]
    )
    kept = LowestFaces()
    for _ in range(2):
        kept.table(trees, np.array([0, 2, 2], np.int32))
    assert [tree is trees[k] for tree, k in zip(made, (0, 2), strict=True)] == [True, True]
    trees[2] = build_tree(build.blob(300, seed=9))
    kept.table(trees, np.array([2], np.int32))
    assert made[-1] is trees[2]
    assert len(made) == 3


def test_pairs_keep_their_lowest_faces_alive():
    """A helper may be in the kernel when an interrupt has taken the detector, and its `LowestFaces`, away."""
    tree, pair = build_tree(build.blob(200, seed=1)), np.zeros(1, np.int32)
    near = NearList(TreePairs(pair, pair, pair, pair, np.eye(4)[None]), LowestFaces().table([tree], pair))
    array = weakref.ref(near.lowest.array(0, 0))
    near = near.until(1)
    gc.collect()
    assert array() is not None


def test_deforming_bodies_that_touch_name_their_lowest_faces():
    worlds = [jostle.World(method) for method in ("wide_tree", "brute_force")]
    rng = np.random.default_rng(4)
    ball = build.icosphere(2)
    for world in worlds:
        world.add(ball, deformable=True)
        world.add(ball, translation((1.5, 0.1, 0.2)))
    for scale in (1.0, 1.1, 4.0, 0.7, 9.0):  # the area of the boxes doubles: the tree is rebuilt
        vertices = ball.vertices * scale * rng.uniform(0.5, 1.5, (len(ball.vertices), 1))
        for world in worlds:
            world[0].vertices = vertices
        found, expected = (world.detect(rows="first", clearance=0.5) for world in worlds)
        assert_same_report(found, expected)


def test_pairs_are_searched_in_blocks_for_any(monkeypatch):
    world = jostle.World("wide_tree")
    for k in range(12):
        world.add(box(), translation((1.5 * k, 0.0, 0.0)))
    expected = world.detect(rows="any", clearance=0.6)
    assert list(expected.pairs) == [(0, 1)]
    world[0].pose = world[1].pose = translation((0.0, 0.0, 50.0))
    world.ignore(0, 1)
    for first in (1, 2, 100):
        monkeypatch.setattr(rows_within, "FIRST_PAIRS", first)
        found = world.detect(rows="any", clearance=0.6)
        assert list(found.pairs) == [(2, 3)]
        assert found.pairs.distance.tolist() == [0.5]
