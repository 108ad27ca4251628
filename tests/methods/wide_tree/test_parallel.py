"""Parallel searches and searches for fewer rows, against brute force."""

from __future__ import annotations

import threading

import numpy as np
import pytest

import jostle
from jostle.geometry.pose import translation
from jostle.kernels import pool
from jostle.kernels.arrays import read_only_view
from jostle.methods.wide_tree import parallel, portions
from jostle.methods.wide_tree.build import build_tree
from jostle.methods.wide_tree.parallel import find_rows_parallel
from jostle.methods.wide_tree.search import TreePairs, find_rows
from jostle.methods.wide_tree.tree import Forest
from jostle.report.packing import ALL, FIRST, WORST
from jostle.shapes import build
from tests.patience import let_helpers_begin
from tests.tiny import random_pose


def scene(seed: int, count: int = 5):
    """Some bodies under random poses near each other, all pairs of them."""
    rng = np.random.default_rng(seed)
    meshes = [build.blob(600, seed=seed), build.torus(), build.box((1.5, 1.5, 1.5)), build.blob(300, seed=9 + seed)]
    chosen = [meshes[k % len(meshes)] for k in range(count)]
    poses = np.array([random_pose(rng, 0.6) for _ in chosen])
    poses[1] = poses[0]  # a pair that differs from the next in nothing but the pose of the other
    a, b = (index.astype(np.int32) for index in np.triu_indices(count, 1))
    forest = Forest([build_tree(mesh, "morton") for mesh in chosen])
    return chosen, poses, forest, TreePairs(a, b, a, b, read_only_view(poses))


def rows_of_brute_force(meshes, poses):
    world = jostle.World("brute_force")
    for mesh, pose in zip(meshes, poses, strict=True):
        world.add(mesh, pose)
    return world.detect().contacts


def assert_equal_to_brute_force(rows, placed, contacts):
    assert len(contacts) > 100
    assert np.array_equal(placed.pose_a[rows.pair], contacts.body_a)
    assert np.array_equal(placed.pose_b[rows.pair], contacts.body_b)
    assert np.array_equal(rows.face_a, contacts.face_a)
    assert np.array_equal(rows.face_b, contacts.face_b)
    assert np.array_equal(rows.kind, contacts.kind)


@pytest.mark.parametrize("processors", [1, 2, 4])
@pytest.mark.parametrize("soon", [1, 500, 10**6])
@pytest.mark.parametrize("few", [0, 100])
def test_pairs_that_are_split_have_the_rows_of_the_brute_force(monkeypatch, processors, soon, few):
    for name, value in (("ALONE", 1), ("SOON", soon), ("FEW", few)):
        monkeypatch.setattr(parallel, name, value)
    monkeypatch.setattr(pool, "usable_processors", lambda: processors)
    for seed in range(2):
        meshes, poses, forest, placed = scene(seed)
        rows, counters = find_rows_parallel(forest, placed, 0.0, ALL, processors + 1)
        assert_equal_to_brute_force(rows, placed, rows_of_brute_force(meshes, poses))
        whole, expected = find_rows(forest, placed, 0.0, ALL)
        assert counters == expected
        assert np.array_equal(whole.pair, rows.pair)


def test_split_pairs_keep_their_distances(monkeypatch):
    for name, value in (("ALONE", 300), ("SOON", 300)):
        monkeypatch.setattr(parallel, name, value)
    monkeypatch.setattr(pool, "usable_processors", lambda: 2)
    _, _, forest, placed = scene(3)
    for clearance in (0.02, 0.1):
        whole, expected = find_rows(forest, placed, clearance, ALL)
        rows, counters = find_rows_parallel(forest, placed, clearance, ALL, 2)
        assert (whole.distance > 0.0).any()
        for one, other in zip(whole, rows, strict=True):
            assert np.array_equal(one, other)
        assert counters == expected


@pytest.mark.parametrize("workers", [2, None])
@pytest.mark.parametrize(("chunk", "copied"), [(1, 1), (16, 10**6)])
def test_many_pairs_in_portions_have_the_rows_of_the_brute_force(monkeypatch, workers, chunk, copied):
    monkeypatch.setattr(pool, "usable_processors", lambda: 3)
    monkeypatch.setattr(parallel, "CHUNK", chunk)
    monkeypatch.setattr(portions, "ROWS_APART", copied)
    meshes, poses, forest, placed = scene(5, count=24)  # 276 pairs
    rows, _ = find_rows_parallel(forest, placed, 0.0, ALL, workers)
    assert_equal_to_brute_force(rows, placed, rows_of_brute_force(meshes, poses))


@pytest.mark.parametrize("row_mode", [ALL, FIRST, WORST])
def test_rows_and_counters_do_not_depend_on_threads(monkeypatch, row_mode):
    _, _, forest, placed = scene(7, count=20)
    expected, tests = find_rows(forest, placed, 0.0, row_mode)
    for name, value in (("ALONE", 200), ("SOON", 400), ("CHUNK", 3)):
        monkeypatch.setattr(parallel, name, value)
    let_helpers_begin(monkeypatch)
    threads = set()
    resume = parallel.Workspace.resume

    def watched(*given):
        threads.add(threading.get_ident())
        return resume(*given)

    monkeypatch.setattr(parallel.Workspace, "resume", watched)
    for processors in (2, 3, 8):
        monkeypatch.setattr(pool, "usable_processors", lambda processors=processors: processors)
        for _ in range(3):
            rows, counters = find_rows_parallel(forest, placed, 0.0, row_mode, None)
            assert [column.tobytes() for column in rows] == [column.tobytes() for column in expected]
            assert counters == tests
    assert len(threads) > 1


def test_the_worst_and_the_first_row_of_each_pair():
    # Plates that only touch, plates that cross, and pairs that do both.
    plate, cube = build.box((1.0, 1.0, 0.1)), build.box()
    meshes = [cube, cube, plate, build.blob(300, seed=1), cube]
    poses = np.array(
        [np.eye(4), translation((1, 0, 0)), translation((0.5, 0, 0.5)), translation((0.3, 0.2, 0.1)), translation((0, 0, 1))]
    )
    world = jostle.World("brute_force")
    for mesh, pose in zip(meshes, poses, strict=True):
        world.add(mesh, pose)
    whole = world.detect()
    assert set(whole.pairs.kind.tolist()) == {jostle.Kind.TOUCHING, jostle.Kind.CROSSING}
    a, b = (index.astype(np.int32) for index in np.triu_indices(len(meshes), 1))
    forest = Forest([build_tree(mesh, "morton") for mesh in meshes])
    placed = TreePairs(a, b, a, b, read_only_view(poses))
    contacts = whole.contacts
    known = set(zip(contacts.body_a, contacts.body_b, contacts.face_a, contacts.face_b, contacts.kind, strict=True))
    for row_mode in (WORST, FIRST):
        rows, _ = find_rows(forest, placed, 0.0, row_mode)
        body_a, body_b = a[rows.pair], b[rows.pair]
        assert list(zip(body_a.tolist(), body_b.tolist(), strict=True)) == list(whole.pairs)
        assert set(zip(body_a, body_b, rows.face_a, rows.face_b, rows.kind, strict=True)) <= known
        if row_mode == WORST:
            assert np.array_equal(rows.kind, whole.pairs.kind)
