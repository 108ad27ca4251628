"""Batches of poses, the lean pair and threads: the same answers as one detect at a time."""

import copy
import gc
import pickle

import numpy as np
import pytest

import jostle
from jostle.geometry.pose import translation
from jostle.interface.body_pairs import every_pair
from jostle.kernels.handles import AddressTable
from jostle.methods.wide_tree import nearest_search, pose_sets, touch
from jostle.report.assemble import NO_ROWS
from jostle.report.batch import Batch
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


def closed_world(method, seed):
    """Boxes on a grid and balls, some static: nested, flush, crossing and apart."""
    rng = np.random.default_rng(seed)
    meshes = [box(), box((0.25, 0.25, 0.25), (0.75, 0.75, 0.75)), build.icosphere(1, 0.4), build.box((0.5, 0.5, 2.0))]
    made = jostle.World(method)
    made.add(box(), name="gone")
    for k in range(5):
        pose = translation(rng.integers(-2, 3, 3) / 2) if rng.random() < 0.7 else random_pose(rng, 1.0)
        made.add(meshes[int(rng.integers(len(meshes)))], pose, f"body {k}", static=k in (1, 3), group=7 if k in (2, 4) else None)
    made.remove("gone")
    made.ignore("body 0", "body 1")
    return made


def least_distance(world):
    """The least distance of all pairs that the filters allow, one after the other."""
    frame = world._frame()
    a, b = np.triu_indices(len(world), 1)
    allowed = frame.may_meet(a, b)
    ids = frame.bodies.ids
    distances = [world.distance(int(ids[i]), int(ids[j])).distance for i, j in zip(a[allowed], b[allowed], strict=True)]
    return min(distances, default=np.inf)


ROW_COLUMNS = {"row_body_a": "body_a", "row_body_b": "body_b", "face_a": "face_a", "face_b": "face_b", "row_kind": "kind"}
MOVING = {
    "all": (None, [0, 1, 2, 3, 4]),
    "not static": (None, [0, 2, 4]),
    "some": (["body 4", "body 1"], [4, 1]),
    "one": ("body 2", [2]),
}


@pytest.mark.parametrize("solid", [False, True], ids=["surfaces", "solids"])
@pytest.mark.parametrize("clearance", [0.0, 0.3])
@pytest.mark.parametrize("rows", ["any", "pairs", "faces"])
@pytest.mark.parametrize("moving", MOVING)
def test_batches_with_options_equal_single_detects_of_brute_force(monkeypatch, moving, rows, clearance, solid):
    bodies, numbers = MOVING[moving]
    seen = np.zeros(3, int)
    for seed in range(4):
        world, single = closed_world("wide_tree", seed), closed_world("brute_force", seed)
        if seed == 3:
            monkeypatch.setattr(pose_sets, "PAIRS_AT_ONCE", 3)
            monkeypatch.setattr(pose_sets, "VERTICES_AT_ONCE", 20)
        rng = np.random.default_rng(seed)
        sets = np.stack([world.poses[numbers]] * 12)
        sets[1:, :, :3, 3] += rng.integers(-6, 7, (11, len(numbers), 3)) / 4
        sets[5, :, :3, 3] += 100.0 * (1 + np.arange(len(numbers)))[:, None]
        batch = world.detect_many(sets, rows, bodies=bodies, clearance=clearance, solid=solid, distance=True)
        plain = world.detect_many(sets, rows, 2, bodies=bodies, clearance=clearance, solid=solid)
        assert len(plain.distance) == 0
        for k in range(len(sets)):
            poses = world.poses.copy()
            poses[numbers] = sets[k]
            single.set_poses(poses)
            report = single.detect(clearance=clearance, solid=solid)
            distance = 0.0 if report.touching else least_distance(single)
            assert batch.distance[k] == distance
            seen += (report.touching, bool(report) and not report.touching, distance == np.inf)
            for found in (batch, plain):
                assert (found.touching[k], found.near[k]) == (report.touching, bool(report))
                pairs = slice(found.pair_offsets[k], found.pair_offsets[k + 1])
                assert (pairs.stop > pairs.start) == (bool(report) and rows != "any")
                if rows != "any":
                    assert found.body_a[pairs].tobytes() == report.pairs.body_a.tobytes()
                    assert found.body_b[pairs].tobytes() == report.pairs.body_b.tobytes()
                    assert found.kind[pairs].tobytes() == report.pairs.kind.tobytes()
                if rows == "faces":
                    chosen = slice(found.row_offsets[k], found.row_offsets[k + 1])
                    for ours, theirs in ROW_COLUMNS.items():
                        assert getattr(found, ours)[chosen].tobytes() == getattr(report.contacts, theirs).tobytes()
    assert seen[0] > 3
    assert seen[1] > 0 or clearance == 0.0


def test_a_body_inside_another_is_found_in_every_set():
    world = jostle.World("wide_tree")
    world.add(build.icosphere(2), name="ball")
    world.add(build.icosphere(1, 0.2), name="seed", static=True)
    shifts = np.linspace(0.0, 3.0, 40)
    sets = np.array([translation((shift, 0.0, 0.0)) for shift in shifts])
    surfaces, solids = (world.detect_many(sets, solid=solid, distance=True) for solid in (False, True))
    assert surfaces.touching[0] == False  # noqa: E712
    assert surfaces.distance[0] > 0.5
    inside = shifts < 0.6
    assert solids.touching[inside].all()
    assert (solids.distance[inside] == 0.0).all()
    apart = shifts > 1.3
    assert np.allclose(solids.distance[apart], shifts[apart] - 1.2, atol=0.05)  # radii 1 and 0.2, less what the edges cut off
    assert not solids.touching[apart].any()


def test_deforming_bodies_in_batches():
    worlds = [jostle.World(method) for method in ("wide_tree", "brute_force")]
    ball = build.icosphere(1)
    for world in worlds:
        world.add(ball, name="soft", deformable=True)
        world.add(box(), translation((3.0, 0.0, 0.0)), name="box", static=True)
        world["soft"].vertices = ball.vertices * (1.5, 0.5, 1.0)
    sets = np.array([translation((0.1 * k, 0.3, 0.2)) for k in range(30)])
    batch = worlds[0].detect_many(sets, clearance=0.2, solid=True, distance=True)
    for k, pose in enumerate(sets):
        worlds[1]["soft"].pose = pose
        report = worlds[1].detect(clearance=0.2, solid=True)
        assert (batch.touching[k], batch.near[k]) == (report.touching, bool(report))
        assert batch.distance[k] == (0.0 if report.touching else worlds[1].distance("soft", "box").distance)
    assert 0 < batch.touching.sum() < batch.near.sum() < 30


def test_pairs_at_rest_are_searched_once():
    world = jostle.World("wide_tree")
    for k in range(12):
        world.add(build.icosphere(2), translation((2.1 * k, 0.0, 0.0)))
    world.add(box(), name="part")
    sets = np.array([translation((0.1 * k, 5.0, 0.0)) for k in range(50)])
    counters = world.detect_many(sets, bodies="part", clearance=0.2).counters
    alone = jostle.World("wide_tree")
    for body in list(world)[:-1]:
        alone.add(body.mesh, body.pose)
    once = alone.detect_many(alone.poses[None], clearance=0.2).counters
    assert once.box_tests > 11 * 64
    assert counters.box_tests < once.box_tests + 50 * 12 * 3 * 64


def test_pairs_beyond_the_nearest_are_not_searched():
    world = jostle.World("wide_tree")
    for k in range(30):
        world.add(build.icosphere(3), translation((10.0 * k, 0.0, 0.0)), static=True)
    world.add(build.icosphere(3), name="probe")
    sets = np.array([translation((10.0 * k, 3.0, 0.0)) for k in range(30)])
    batch = world.detect_many(sets, distance=True)
    pair = jostle.Pair(build.icosphere(3), build.icosphere(3))
    assert batch.distance.tolist() == [pair.distance(translation((10.0 * k, 0.0, 0.0)), pose) for k, pose in enumerate(sets)]
    one = world.detect_many(sets[:1], distance=True).counters
    assert batch.counters.distance_tests < 2 * 30 * one.distance_tests
    assert one.distance_tests < 200


def test_poses_of_one_body_that_moves():
    world = jostle.World("wide_tree")
    world.add(box(), name="table", static=True)
    world.add(box(), name="gripper")
    sets = np.array([translation((0.5 * k, 0.0, 0.0)) for k in range(6)])
    expected = [True, True, True, False, False, False]
    for poses, bodies in (
        (sets, None), (sets[:, None], None), (sets, "gripper"), (sets, world["gripper"]), (sets, 1), (sets, np.int64(1)),
        (sets[:, None], ["gripper"]), (sets, ["gripper"]), (sets.tolist(), "gripper"),
        (np.stack([np.stack([np.eye(4)] * 6), sets], axis=1), None), (np.stack([sets, np.stack([np.eye(4)] * 6)], axis=1), [1, 0]),
    ):  # fmt: skip
        assert world.detect_many(poses, bodies=bodies).touching.tolist() == expected
    world["gripper"].pose = translation((9.0, 0.0, 0.0))
    assert world.detect_many(sets, bodies="table").touching.tolist() == [False] * 6  # the others stay where they are
    assert world.detect_many(sets + translation((8.0, 0, 0)) - np.eye(4), bodies="table").touching.tolist() == [True] * 5 + [False]


@pytest.mark.parametrize(
    ("shape", "bodies", "message"),
    [
        ((5, 3, 4, 4), None, r"poses has shape \(5, 3, 4, 4\); it must be \(n, 4, 4, 4\), a pose for each of the 4 bodies, or "
         r"\(n, 2, 4, 4\), for the 2 not static; for other bodies name them: bodies=\['a', …\]"),
        ((5, 4, 4), None, r"shape \(5, 4, 4\); it must be \(n, 4, 4, 4\)"),
        ((4, 4), None, r"shape \(4, 4\); it must be \(n, 4, 4, 4\)"),
        ((5, 4, 4, 3), None, r"shape \(5, 4, 4, 3\); it must be"),
        ((5, 2, 4, 4), "b", r"it must be \(n, 4, 4\) or \(n, 1, 4, 4\), for body 'b'; name all bodies that the sets move"),
        ((5, 4, 4), ["b", "a"], r"it must be \(n, 2, 4, 4\), for the bodies 'b', 'a'; name all bodies that the sets move"),
        ((5, 2, 4, 4), ["a", "a"], r"bodies names 'a' twice; name each body once"),
        ((5, 4, 4), "x", r"no body is called 'x'; the world has 'a', 'b', 'c', 'd'"),
        ((5, 1, 4, 4), 3.5, r"bodies is 3.5; pass a list"),
    ],
)  # fmt: skip
def test_wrong_poses_say_what_fits(shape, bodies, message):
    world = jostle.World("wide_tree")
    for k, name in enumerate("abcd"):
        world.add(box(), name=name, static=k < 2)
    with pytest.raises(jostle.InputError, match=message):
        world.detect_many(np.zeros(shape), bodies=bodies)


def test_wrong_options_of_a_batch(world):
    poses = sets_of_poses(2, len(world))
    for options, message in (
        ({"clearance": -1.0}, "clearance is -1.0; it must be a finite length >= 0"),
        ({"solid": 3}, "solid"),
        ({"distance": "yes"}, "distance"),
        ({"rows": "first"}, "rows is 'first'; choose one of any, pairs, faces"),
    ):
        with pytest.raises(jostle.InputError, match=message):
            world.detect_many(poses, **options)
    poses[1, 0, 0, 0] = 5.0
    with pytest.raises(jostle.InputError, match=r"body 'torus': poses\[4\]"):
        world.detect_many(poses)
    with pytest.raises(jostle.InputError, match=r"body 'ball': poses\[1\]"):
        world.detect_many(poses[:, 0], bodies="ball")


class OldDetector:
    """A detector of one's own that knows no options."""

    def __init__(self):
        self.asked = []

    def detect_many(self, frame, poses, rows):
        self.asked.append((poses.shape, rows))
        return Batch.of(len(poses), every_pair(len(frame)), NO_ROWS, rows, jostle.Counters())


def test_a_detector_that_knows_no_options_serves_batches_without(monkeypatch):
    world = jostle.World("wide_tree")
    world.add(box())
    world.add(box())
    detector = OldDetector()
    world.prepare()
    world._detector = detector
    assert world.detect_many(np.stack([world.poses] * 3), "pairs").near.tolist() == [False] * 3
    assert detector.asked == [((3, 2, 4, 4), "pairs")]


def test_the_repr_of_a_batch_tells_what_is_near():
    world = jostle.World("wide_tree")
    world.add(box(), static=True)
    world.add(box())
    sets = np.array([translation((shift, 0.0, 0.0)) for shift in (0.5, 1.25, 1.5)])
    assert repr(world.detect_many(sets)) == "<Batch: 3 sets, 1 touching, 0 pairs, 0 rows>"
    near = world.detect_many(sets, "pairs", clearance=0.3)
    assert repr(near) == "<Batch: 3 sets, 1 touching, 2 within the clearance, 2 pairs, 0 rows>"
    assert near.kind.tolist() == [jostle.Kind.TOUCHING, jostle.Kind.NEAR]


def test_the_lean_pair_measures_as_brute_force_does():
    rng = np.random.default_rng(5)
    near = hits = 0
    for a, b in ((build.torus(segments=12, sides=8), build.icosphere(1, 0.4)), (box(), box()), (build.hand(), box())):
        pair = jostle.Pair(a, b)
        for k in range(25):
            pose_a, pose_b = (random_pose(rng, 1.2) for _ in range(2)) if k % 2 else (translation(rng.integers(-2, 3, 3)), None)
            truth = jostle.distance(a, b, pose_a, pose_b, method="brute_force").distance
            assert pair.distance(pose_a, pose_b) == truth
            for clearance in (0.1, 1.0, truth, float(np.nextafter(truth, 9e9))):
                expected = truth == 0.0 or (truth < clearance and clearance > 0.0)
                assert pair.touches(pose_a, pose_b, clearance=clearance) == expected
            assert pair.touches(pose_a, pose_b, clearance=0) == (truth == 0.0)
            near += 0.0 < truth < 1.0
            hits += truth == 0.0
    assert near > 20
    assert hits > 10
    for bad in (-1.0, np.nan, np.inf, "x", None):
        with pytest.raises(jostle.InputError, match="clearance"):
            pair.touches(clearance=bad)
    with pytest.raises(jostle.InputError, match="pose_b"):
        pair.distance(None, np.eye(3))


def test_the_lean_pair_calls_one_kernel(monkeypatch):
    pair = jostle.Pair(box(), box())
    far = translation((1.5, 0.2, 0.1))
    asked = []
    for module, name in ((nearest_search, "search_nearest"), (touch, "touch")):
        kernel = getattr(module, name)
        monkeypatch.setattr(module, name, lambda *given, kernel=kernel, name=name: (asked.append(name), kernel(*given))[1])
    pair.touches(None, far)
    pair.touches(None, far, clearance=0.6)
    pair.distance(None, far)
    assert asked == ["touch", "search_nearest", "search_nearest"]
