"""Batches of poses, the lean pair and threads: the same answers as one detect at a time."""

import copy
import gc
import pickle

import numpy as np
import pytest

import jostle
from jostle.geometry.pose import translation
from jostle.kernels.handles import AddressTable
from jostle.shapes import build
from tests.tiny import box, random_pose


@pytest.fixture(scope="module")
def world():
    made = jostle.World()
    made.add(build.torus(), name="torus")
    made.add(build.icosphere(2, 0.5), name="ball")
    made.add(build.shuttle(), name="shuttle")
    made.add(build.box((3, 3, 0.2)), name="floor", static=True)
    made.remove("ball")
    made.add(build.icosphere(1, 0.5), name="ball")
    made.ignore("torus", "floor")
    return made


def sets_of_poses(count, bodies, seed=0):
    rng = np.random.default_rng(seed)
    return np.array([[random_pose(rng, 0.9) for _ in range(bodies)] for _ in range(count)])


@pytest.mark.parametrize("workers", [1, 2, None])
def test_a_batch_equals_one_detect_after_the_other(world, workers):
    poses = sets_of_poses(60, len(world))
    before = world.poses.copy()
    batch = world.detect_many(poses, rows="faces", workers=workers)
    pairs = world.detect_many(poses, rows="pairs", workers=workers)
    yes = world.detect_many(poses, workers=workers)
    assert np.array_equal(world.poses, before)
    single = jostle.World()
    for body in world:
        single.add(body.mesh, name=body.name)
    single.ignore("torus", "floor")
    ids = np.array([body.id for body in world])
    for k in range(len(poses)):
        single.set_poses(poses[k])
        report = single.detect()
        assert batch.touching[k] == pairs.touching[k] == yes.touching[k] == bool(report)
        rows = slice(batch.row_offsets[k], batch.row_offsets[k + 1])
        assert np.array_equal(batch.face_a[rows], report.contacts.face_a)
        assert np.array_equal(batch.face_b[rows], report.contacts.face_b)
        assert np.array_equal(batch.row_kind[rows], report.contacts.kind)
        assert np.array_equal(batch.row_body_a[rows], ids[report.contacts.body_a])
        for answer in (batch, pairs):
            found = slice(answer.pair_offsets[k], answer.pair_offsets[k + 1])
            assert np.array_equal(answer.body_a[found], ids[report.pairs.body_a])
            assert np.array_equal(answer.body_b[found], ids[report.pairs.body_b])
            assert np.array_equal(answer.kind[found], report.pairs.kind)
    assert 0 < batch.touching.sum() < len(poses) + 1
    assert len(yes.body_a) == len(pairs.face_a) == 0


def test_batches_of_nothing_and_bad_poses(world):
    assert len(world.detect_many(np.empty((0, 4, 4, 4)))) == 0
    assert not jostle.World().detect_many(np.empty((3, 0, 4, 4))).touching.any()
    poses = sets_of_poses(3, len(world))
    with pytest.raises(jostle.InputError, match=r"must be \(n, 4, 4, 4\)"):
        world.detect_many(poses[:, :2])
    poses[1, 2, 0, 0] = np.nan
    with pytest.raises(jostle.InputError, match=r"body 'floor': poses\[6\]|body 'shuttle': poses\[6\]|poses\[6\] has nan"):
        world.detect_many(poses)
    with pytest.raises(jostle.Unsupported, match="batch"):
        jostle.World("brute_force").detect_many(np.empty((0, 0, 4, 4)))


def test_the_lean_pair_equals_the_oracle():
    a, b = build.torus(segments=12, sides=8), build.icosphere(1, 0.4)
    pair = jostle.Pair(a, b)
    rng = np.random.default_rng(3)
    hits = 0
    for _ in range(60):
        pose_a, pose_b = random_pose(rng, 0.8), random_pose(rng, 0.8)
        truth = jostle.collide(a, b, pose_a, pose_b, method="brute_force").touching
        assert pair.touches(pose_a, pose_b) == truth
        hits += truth
    assert 10 < hits < 55
    assert pair.touches(None, translation((1, 0, 0)))
    assert not pair.touches(pose_b=translation((9, 0, 0)))


@pytest.mark.parametrize("bad", [np.full((4, 4), np.nan), np.eye(3), np.diag([2.0, 2.0, 2.0, 1.0]), np.diag([-1.0, 1, 1, 1]), "x"])
def test_the_lean_pair_refuses_bad_poses(bad):
    pair = jostle.Pair(box(), box())
    with pytest.raises(jostle.InputError, match="pose_b"):
        pair.touches(None, bad)
    with pytest.raises(jostle.InputError, match="pose_a"):
        pair.touches(bad)
    assert pair.touches()


def test_in_collision_is_no_step(world):
    world.set_poses([translation((5.0 * k, 0, 0)) for k in range(len(world))])
    time = world.time
    assert not world.in_collision()
    world["ball"].pose = world["shuttle"].pose
    assert world.in_collision()
    assert world.time == time


def test_reports_do_not_depend_on_the_number_of_threads():
    rng = np.random.default_rng(7)
    mesh = build.icosphere(1)
    poses = [random_pose(rng, 6.0) for _ in range(400)]
    tables = []
    for workers in (1, 2, 4, None):
        world = jostle.World(workers=workers)
        for pose in poses:
            world.add(mesh, pose)
        tables.append(world.detect().to_array().tobytes())
    assert len(tables[0]) > 100_000
    assert len(set(tables)) == 1
    truth = jostle.World("brute_force")
    for pose in poses[:60]:
        truth.add(mesh, pose)
    few = jostle.World()
    for pose in poses[:60]:
        few.add(mesh, pose)
    assert few.detect().to_array().tobytes() == truth.detect().to_array().tobytes()


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, lambda pair: pickle.loads(pickle.dumps(pair))])
def test_a_copied_pair_answers_alone(copied):
    """Its arrays are known by their addresses, so a copy of these would read what is not its own."""
    pair = jostle.Pair(build.torus(), box())
    other = copied(pair)
    del pair
    gc.collect()
    assert other.touches()
    assert not other.touches(translation((9.0, 0.0, 0.0)))


def test_a_table_of_addresses_cannot_be_copied():
    table = AddressTable([[np.zeros(3)]])
    for copied in (copy.copy, copy.deepcopy, pickle.dumps):
        with pytest.raises(TypeError, match="addresses"):
            copied(table)
