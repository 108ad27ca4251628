"""What a world does in threads: the same bytes and counters with any number of workers."""

from __future__ import annotations

import threading

import numpy as np
import pytest

import jostle
from jostle.geometry.pose import translation
from jostle.kernels import pool
from jostle.methods.wide_tree import detector, parallel, pose_sets, self_search
from jostle.methods.wide_tree.method import WideTree
from jostle.shapes import build
from jostle.world import shape_cache
from tests.patience import let_helpers_begin
from tests.tiny import random_pose

WORKERS = (1, 2, 3, None)


@pytest.fixture(autouse=True)
def _little_is_worth_threads(monkeypatch):
    monkeypatch.setattr(pool, "usable_processors", lambda: 4)
    monkeypatch.setattr(detector, "REFITTED_APART", 1)
    monkeypatch.setattr(shape_cache, "FACES_APART", 1)
    monkeypatch.setattr(pose_sets, "VERTICES_AT_ONCE", 1000)
    for name, value in (("ALONE", 1), ("MANY", 1), ("CHUNK", 2)):
        monkeypatch.setattr(parallel, name, value)


@pytest.fixture
def helpers(monkeypatch):
    """Names of functions that a thread other than the caller's ran."""
    let_helpers_begin(monkeypatch)
    names = set()

    def watch(owner, name):
        function = getattr(owner, name)

        def watched(*given, **options):
            if threading.current_thread() is not threading.main_thread():
                names.add(name)
            return function(*given, **options)

        monkeypatch.setattr(owner, name, watched)

    watch(detector.DeformingTree, "follow")
    watch(detector, "find_self_rows")
    watch(self_search.Walk, "resume")
    watch(WideTree, "prepare_shape")
    watch(pose_sets, "solid_rows")
    return names


def crumpled(mesh, seed, amount=0.02):
    return mesh.vertices + np.random.default_rng(seed).normal(0.0, amount, mesh.vertices.shape)


def reports(workers, large):
    """Frames of deforming bodies of different sizes against each other and themselves, and the counters."""
    world, rng = jostle.World("wide_tree", workers=workers), np.random.default_rng(4)
    meshes = [build.blob(count, seed=count) for count in (3000, 400, 500, 600, 900, 700)]
    for mesh in meshes[not large :]:
        world.add(mesh, random_pose(rng, 0.5), deformable=True)
    found = []
    for frame in range(4):
        for body in world.bodies:
            body.vertices = crumpled(body.mesh, frame, 0.05 * (1 + frame))  # the last are rebuilt
        report = world.detect(self_collision=True, adjacent=frame % 2 == 1, clearance=0.01 * frame)
        found.append((report.to_array().tobytes(), report.pairs.to_array().tobytes(), vars(report.counters)))
    return found


@pytest.mark.parametrize("large", [True, False])
def test_deforming_bodies_that_touch_themselves(monkeypatch, helpers, large):
    monkeypatch.setattr(self_search, "LARGE", 2000)
    monkeypatch.setattr("jostle.methods.wide_tree.self_bodies.LARGE", 2000)
    one = reports(1, large)
    assert min(len(table) for table, _, _ in one) > 10_000
    assert helpers == set()
    for _ in range(3):
        for workers in WORKERS[1:]:
            assert reports(workers, large) == one
    assert helpers >= {"follow", "prepare_shape", "resume", "find_self_rows"}


def test_batches_with_solids(helpers):
    rng, tables = np.random.default_rng(2), []
    meshes = [build.box((2.0, 2.0, 2.0)), build.icosphere(1, 0.3), build.icosphere(2, 0.8), build.blob(300, 1)]
    poses = np.array([[random_pose(rng, 0.8) for _ in meshes] for _ in range(60)])
    for workers in (*WORKERS, 2, None):
        world = jostle.World("wide_tree")
        for k, mesh in enumerate(meshes):
            world.add(mesh, translation((5.0 * k, 0.0, 0.0)))
        for options in ({"rows": "faces"}, {"rows": "pairs", "clearance": 0.05}, {"distance": True}):
            batch = world.detect_many(poses, workers=workers, solid=True, **options)
            arrays = [value for value in vars(batch).values() if isinstance(value, np.ndarray)]
            tables.append((str(options), *(array.tobytes() for array in arrays), str(vars(batch.counters))))
    assert len(set(tables)) == 3
    assert max(len(array) for array in tables[0][1:-1]) > 10_000
    assert "solid_rows" in helpers


def test_trees_are_built_in_threads_and_equal_meshes_once(monkeypatch, helpers):
    built = []
    prepare = WideTree.prepare_shape
    monkeypatch.setattr(WideTree, "prepare_shape", lambda self, mesh, progress=None: (built.append(mesh), prepare(self, mesh))[1])
    world = jostle.World("wide_tree", workers=4)
    meshes = [build.blob(400 + 20 * k, seed=k) for k in range(12)]
    for mesh in [*meshes, *(jostle.Mesh(mesh.vertices.copy(), mesh.faces.copy()) for mesh in meshes)]:
        world.add(mesh)
    world.prepare()
    assert sorted(len(mesh.faces) for mesh in built) == sorted(len(mesh.faces) for mesh in meshes)
    assert "prepare_shape" in helpers
    one_by_one = jostle.World("wide_tree", workers=4)
    for mesh in meshes:
        one_by_one.add(mesh)
    helpers.clear()
    one_by_one.prepare(lambda share, what: None)  # progress is reported by the calling thread
    assert helpers == set()


def test_a_mesh_that_cannot_be_prepared_in_a_thread_changes_nothing(monkeypatch):
    prepare = WideTree.prepare_shape

    def refuse(self, mesh, progress=None):
        if len(mesh.faces) == 440:
            raise MemoryError("no room")
        return prepare(self, mesh)

    monkeypatch.setattr(WideTree, "prepare_shape", refuse)
    world = jostle.World("wide_tree", workers=2)
    for k in range(4):
        world.add(build.blob(400 + 20 * k, seed=k))
    with pytest.raises(MemoryError, match="no room"):
        world.detect()
    assert len(world._shapes) == 0
    monkeypatch.setattr(WideTree, "prepare_shape", prepare)
    assert world.detect()
