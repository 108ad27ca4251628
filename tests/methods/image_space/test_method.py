"""ImageSpace in a world: settings, known hits and misses, symmetry, and what must not change an answer."""

import itertools
import pickle

import numpy as np
import pytest

import jostle
from jostle.broad_phase import BROAD_PHASES
from jostle.geometry.pose import rotation_about, translation
from jostle.interface.traits import Answer
from jostle.kernels.slices import run_in_slices
from jostle.methods.image_space import regions, software
from jostle.shapes import build
from tests.methods.image_space.test_layers import joined
from tests.tiny import box, random_pose

COLUMNS = ("body_a", "body_b", "face_a", "face_b", "kind", "distance", "depth", "time", "segment", "normal")
SETTINGS = (
    {},
    {"test": "stencil"},
    {"view": "axes"},
    {"view": "separating"},
    {"conservative": True},
    {"accuracy": 0.02},
    {"accuracy": 0.02, "view": "y", "share_depth": True},
    {"pixels": 20_000},
)


def world_of(method, *bodies, **settings):
    world = jostle.World(method, **settings)
    for mesh, pose in bodies:
        world.add(mesh, pose)
    return world


def same_rows(one, other, counters=True):
    assert list(one.pairs) == list(other.pairs)
    assert not counters or one.counters == other.counters
    for name in COLUMNS:
        mine, theirs = getattr(one.contacts, name), getattr(other.contacts, name)
        assert np.array_equal(mine, theirs, equal_nan=mine.dtype.kind == "f"), name


def crowd(method, count=30, **settings):
    rng = np.random.default_rng(3)
    meshes = [build.cone(16, 0.3, 0.8), build.icosphere(1, 0.4), build.torus(0.4, 0.15, 12, 8)]
    return world_of(method, *((meshes[k % 3], random_pose(rng, 0.9)) for k in range(count)), **settings)


@pytest.mark.small
@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"renderer": "opengl"}, "ImageSpace: renderer is 'opengl'; choose one of software, auto, wgpu"),
        ({"test": "parity"}, "ImageSpace: test is 'parity'"),
        ({"view": "front"}, "ImageSpace: view is 'front'"),
        ({"resolution": 0}, "ImageSpace: resolution is 0; it must be at least 1 and at most 2048"),
        ({"resolution": 64.0}, "ImageSpace: resolution is 64.0; pass a whole number"),
        ({"accuracy": -1}, "ImageSpace: accuracy is -1; it must be a positive length"),
        ({"pixels": 0}, "ImageSpace: pixels is 0"),
        ({"accuracy": 0.1, "pixels": 10}, "accuracy and pixels both"),
        ({"conservative": 1}, "ImageSpace: conservative is 1; pass True or False"),
        ({"conservative": True, "renderer": "wgpu"}, "conservative=True is drawn by software only; pass renderer='software'"),
        ({"share_depth": True}, "pass accuracy="),
        ({"share_depth": True, "accuracy": 0.1}, "x, y or z; view is 'centres'"),
        ({"share_depth": True, "accuracy": 0.1, "view": "z", "test": "stencil"}, "pass test='interval'"),
        ({"share_depth": True, "accuracy": 0.1, "view": "z", "conservative": True}, "give one"),
        ({"share_depth": True, "accuracy": 0.1, "view": "z", "renderer": "wgpu"}, "pass renderer='software'"),
        ({"broad": "quadtree"}, "ImageSpace: there is no broad phase 'quadtree'"),
    ],
)
def test_bad_settings_are_refused_with_a_cure(settings, message):
    with pytest.raises(jostle.InputError) as refused:
        jostle.ImageSpace(**settings)
    assert message in str(refused.value)


@pytest.mark.small
def test_the_guarantee_follows_the_settings():
    def said(**settings):
        return str(jostle.ImageSpace(**settings).traits.answers[Answer.POINTS])

    assert said() == "within 0.0192 of the size"
    assert said(resolution=256) == "within 0.0048 of the size"
    assert said(accuracy=0.25) == "within 0.25"
    assert said(pixels=10**6) == "within 0.154 of the size"
    assert said(conservative=True) == "no miss, within 0.0384 of the size"
    assert said(conservative=True, accuracy=0.25) == "no miss, within 0.25"


@pytest.mark.small
def test_open_bodies_are_refused_with_a_cure():
    with pytest.raises(jostle.Unsupported, match="body 'lid' is open; wide_tree takes it"):
        jostle.World("image_space").add(jostle.Mesh(box().vertices, box().faces[:-1]), name="lid")


@pytest.mark.small
def test_an_accuracy_that_needs_too_many_pixels_is_refused_and_named():
    world = world_of(jostle.ImageSpace(accuracy=1e-6), (box(), None), (box(), translation((0.5, 0, 0))))
    with pytest.raises(jostle.InputError, match=r"accuracy is 1e-06.*'box' and 'box 1'.*pass accuracy="):
        world.detect()


@pytest.mark.parametrize("settings", SETTINGS, ids=str)
def test_known_hits_and_misses(settings):
    """Balls whose faces are within 1.2 % of them, turned boxes, a body in another, the same body twice."""
    rng = np.random.default_rng(0)
    method = jostle.ImageSpace(**settings)
    ball = build.icosphere(3)
    for _ in range(4):
        direction = rng.normal(size=3)
        direction /= np.linalg.norm(direction)
        for distance, expected in ((0.0, True), (0.5, True), (1.7, True), (2.4, False), (5.0, False)):
            world = world_of(
                method, (ball, random_pose(rng, 0.0)), (ball, translation(distance * direction) @ random_pose(rng, 0.0))
            )
            assert bool(world.detect()) == bool(world.detect(rows="pairs")) == bool(world.detect(rows="any")) == expected
    turned = rotation_about((0, 0, 1), np.pi / 4)
    middle = box((-0.5, -0.5, -0.5), (0.5, 0.5, 0.5))
    # The edge of the turned one reaches √½ far: at 1.1 it is 0.107 in, at 1.35 it is 0.143 away.
    for distance, expected in ((1.1, True), (1.35, False)):
        assert bool(world_of(method, (middle, None), (middle, translation((distance, 0.01, 0.02)) @ turned)).detect()) == expected
    for mesh in (ball, middle, build.torus(1.0, 0.4)):
        pose = random_pose(rng, 1.0)
        assert world_of(method, (mesh, pose), (mesh, pose)).detect()
    small = (build.icosphere(2, 0.2), random_pose(rng, 0.1))
    assert world_of(method, (ball, None), small).detect()
    assert world_of(method, small, (ball, None)).detect()
    assert not world_of(method, (build.torus(1.0, 0.4), None), small).detect()


@pytest.mark.parametrize("settings", SETTINGS, ids=str)
def test_exchanging_the_bodies_changes_no_decision(settings):
    world = crowd(jostle.ImageSpace(**settings))
    swapped = world_of(world.method, *((body.mesh, body.pose) for body in reversed(world.bodies)))
    found, last = world.detect(), len(world) - 1
    assert len(found.pairs) > 40
    assert sorted((last - b, last - a) for a, b in swapped.detect().pairs) == list(found.pairs)
    assert len(swapped.detect().contacts) == len(found.contacts)


@pytest.mark.parametrize("settings", SETTINGS, ids=str)
def test_workers_give_the_same_bytes(settings, monkeypatch):
    monkeypatch.setattr(software, "PIXELS_APART", 0)
    method = jostle.ImageSpace(**settings)
    for rows in ("faces", "first", "pairs", "any"):
        reports = [crowd(method, workers=workers).detect(rows=rows) for workers in (1, 2, None)]
        for other in reports[1:]:
            same_rows(reports[0], other)
        assert len(reports[0].pairs) > (40 if rows != "any" else 0)


def test_broad_phases_and_slices_change_nothing(monkeypatch):
    expected = crowd(jostle.ImageSpace(broad=None)).detect()
    for broad in BROAD_PHASES:
        name = "priority_queue(speed=1e9)" if broad == "priority_queue" else broad
        found = crowd(jostle.ImageSpace(broad=name)).detect()
        assert list(found.pairs) == list(expected.pairs)
        assert np.array_equal(found.contacts.segment, expected.contacts.segment)
    monkeypatch.setattr(software, "FIRST_SLICE", 1)
    same_rows(crowd(jostle.ImageSpace(broad=None)).detect(), expected)


def test_three_views_report_what_any_view_does_and_conservative_ones_what_all_do():
    alone = [set(crowd(jostle.ImageSpace(view=view, resolution=16)).detect().pairs) for view in "xyz"]
    whole = [set(crowd(jostle.ImageSpace(view=view, resolution=16, conservative=True)).detect().pairs) for view in "xyz"]
    exact = set(crowd("wide_tree").detect(solid=True, rows="pairs").pairs)
    assert set(crowd(jostle.ImageSpace(view="axes", resolution=16)).detect().pairs) == set.union(*alone) <= exact
    assert set(crowd(jostle.ImageSpace(view="axes", resolution=16, conservative=True)).detect().pairs) == set.intersection(*whole)
    assert exact <= set.intersection(*whole)
    assert len(set.union(*whole)) > len(set.intersection(*whole))
    assert set.intersection(*alone) != set.union(*alone)


@pytest.mark.parametrize("far", [1e3, 1e6])
@pytest.mark.parametrize("conservative", [False, True])
def test_far_from_the_origin(far, conservative):
    rng = np.random.default_rng(5)
    method = jostle.ImageSpace(conservative=conservative)
    ball = build.icosphere(3)
    for _ in range(3):
        place = translation(far * rng.normal(size=3))
        for distance, expected in ((1.8, True), (2.15, False)):
            bodies = (ball, place @ random_pose(rng, 0.0)), (ball, place @ translation((0, distance, 0)) @ random_pose(rng, 0.0))
            assert bool(world_of(method, *bodies).detect()) == expected
    touching = world_of(
        jostle.ImageSpace(conservative=True), (box(), translation((far, 0, 0))), (box(), translation((far + 1, 1, 1)))
    )
    assert touching.detect()


@pytest.mark.parametrize("settings", [{}, {"test": "stencil"}, {"conservative": True}, {"view": "axes"}], ids=str)
def test_tiles_of_one_pixel(settings):
    method = jostle.ImageSpace(resolution=1, **settings)
    ball = build.icosphere(2)
    report = world_of(method, (ball, None), (ball, translation((1.0, 0.1, 0.2)))).detect()
    assert len(report.contacts) == 1
    assert report.contacts.normal[0] @ (1.0, 0.1, 0.2) > 0
    assert report.counters.pixels >= 1
    assert not world_of(method, (ball, None), (ball, translation((2.1, 2.1, 0)))).detect()


def test_a_budget_of_pixels_is_shared_by_all_pairs():
    for budget, least in ((100, 64), (10**5, 400), (10**7, 20_000)):
        counters = crowd(jostle.ImageSpace(pixels=budget)).detect().counters
        assert counters.pixels <= max(budget, 64 * counters.body_pairs)
        assert counters.pixels > 20 * least
    assert counters.pixels > 0.5 * budget


@pytest.mark.parametrize("test", ["interval", "stencil"])
def test_a_quick_look_finds_the_same_pairs(test):
    """Where one pixel is enough every fifth row comes first: its pixels are among all colliding ones, and fewer are looked at."""
    rng = np.random.default_rng(1)
    meshes = [build.cone(24, 0.3, 0.8), box((-0.3, -0.2, -0.1), (0.3, 0.2, 0.1)), build.torus(0.4, 0.15, 12, 8)]
    few = many = 0
    for resolution in (5, 6, 23, 64, 101):
        bodies = [(meshes[k % 3], random_pose(rng, 0.9)) for k in range(24)]
        world = world_of(jostle.ImageSpace(test=test, resolution=resolution), *bodies)
        whole, pairs = world.detect(), world.detect(rows="pairs")
        assert list(whole.pairs) == list(pairs.pairs)
        assert len(whole.pairs) > 20
        if resolution > 23:
            few, many = few + pairs.counters.pixels, many + whole.counters.pixels
    assert few < 0.7 * many


@pytest.mark.parametrize("test", ["interval", "stencil"])
def test_a_quick_look_decides_touching_bodies_as_the_whole_tile_does(test):
    """Side by side, in any pose: rounding says whether they touch, and must say the same for all rows."""
    rng = np.random.default_rng(0)
    one = joined(box((0, 0, 0), (0.5, 1, 1)), box((0.5, 0, 3), (1, 1, 4)))
    other = joined(box((0.5, 0, 0), (1, 1, 1)), box((0, 0, -3), (0.5, 1, -2)))
    found = 0
    for number in range(120):
        pose, view = random_pose(rng, 3.0), "xyz"[number % 3]
        step = rng.integers(-2, 3, 3) / 2
        step[rng.integers(3)] = rng.choice([-1, 1])
        for bodies in (((box(), pose), (box(), pose @ translation(step))), ((one, pose), (other, pose))):
            world = world_of(jostle.ImageSpace(test=test, resolution=35, view=view), *bodies)
            whole = bool(world.detect())
            assert bool(world.detect(rows="pairs")) == bool(world.detect(rows="any")) == whole
            found += whole
    assert 10 < found < 230


@pytest.mark.parametrize("settings", [each for each in SETTINGS if "share_depth" not in each], ids=str)
def test_an_interrupted_frame_is_found_again(settings, monkeypatch):
    def soft_crowd():
        world = crowd(jostle.ImageSpace(**settings), 12)
        for number in range(3):
            world.add(build.icosphere(1, 0.4), random_pose(np.random.default_rng(number), 0.5), deformable=True)
        world.detect()
        for body in list(world)[-3:]:
            body.vertices = 1.2 * body.vertices
        return world

    expected = soft_crowd().detect()
    for module in (software, regions):
        for after in (1, 4):
            world, left = soft_crowd(), [after]

            def interrupted(step, state, first_slice, left=left):
                def counted(state, operations):
                    left[0] -= 1
                    if left[0] == 0:
                        raise KeyboardInterrupt
                    return step(state, 1)

                return run_in_slices(counted, state, first_slice)

            with monkeypatch.context() as changed:
                changed.setattr(module, "run_in_slices", interrupted)
                with pytest.raises(KeyboardInterrupt):
                    world.detect()
            # The next frame begins without the views of the last one: the same rows, by other work.
            same_rows(world.detect(), expected, counters=False)


def test_bodies_of_a_group_are_not_tested_against_each_other():
    world = jostle.World("image_space")
    for shift in range(4):
        world.add(box(), translation((0.6 * shift, 0, 0)), group=shift % 2)
    assert set(world.detect().pairs) == {(0, 1), (1, 2), (2, 3)}


def test_reports_and_worlds_are_copied_after_and_before_their_details_are_made():
    world = crowd(jostle.ImageSpace(resolution=20), 8)
    report = world.detect()
    early = pickle.loads(pickle.dumps(report))
    same_rows(pickle.loads(pickle.dumps(world)).detect(), report)
    world.set_poses(world.poses[::-1])
    world.add(box())
    world.detect()
    same_rows(early, report)


def test_a_saved_world_answers_the_same(tmp_path):
    world = crowd(jostle.ImageSpace(resolution=20, view="z"), 12)
    world.save(tmp_path / "world.npz")
    loaded = jostle.World.load(tmp_path / "world.npz")
    assert loaded.method == world.method
    same_rows(loaded.detect(), world.detect())


def test_memory_of_separations_changes_no_decision():
    method = jostle.ImageSpace(view="separating")
    world, rng = crowd(method), np.random.default_rng(9)
    velocity = rng.normal(size=(len(world), 3)) * 0.02
    known = 0
    for _ in range(6):
        poses = world.poses.copy()
        poses[:, :3, 3] += velocity
        world.set_poses(poses)
        report = world.detect(rows="pairs")
        known += int(np.isfinite(world._detector._memory.records).all(axis=1).sum())
        bodies = [(body.mesh, body.pose) for body in world]
        exact = world_of("wide_tree", *bodies).detect(rows="pairs", solid=True)
        assert set(report.pairs) <= set(exact.pairs)
        assert len(exact.pairs) - len(report.pairs) <= 3  # overlaps of less than a pixel
    assert known > 20


def test_all_orders_of_three_bodies_agree():
    rng = np.random.default_rng(2)
    bodies = [(build.icosphere(1, 0.5), random_pose(rng, 0.3)) for _ in range(3)]
    for order in itertools.permutations(range(3)):
        world = world_of("image_space", *(bodies[k] for k in order))
        assert {frozenset(order[k] for k in pair) for pair in world.detect().pairs} == {
            frozenset(p) for p in ((0, 1), (0, 2), (1, 2))
        }
