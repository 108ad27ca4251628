"""BoundingTree for users: settings, messages, traits, overlays, changing bodies."""

import pickle

import numpy as np
import pytest

import jostle
from jostle.geometry.pose import rotation_about, translation
from jostle.interface.traits import EXACT, NO_MISS, Answer, Serve
from jostle.shapes import build as shapes
from tests.tiny import box, random_pose


@pytest.mark.small
@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"volume": "cone"}, "volume"),
        ({"splitting": "median"}, "splitting"),
        ({"quality": "beauty"}, "quality"),
        ({"degree": 7}, "degree"),
        ({"degree": 3, "splitting": "binary_gottschalk"}, "degree is 3; binary_gottschalk has degree 2"),
        ({"improvement": 1.0}, "improvement is 1.0; it must lie between 0 and 1"),
        ({"leaf_faces": 0}, "leaf_faces"),
        ({"mode": "static"}, "mode"),
        ({"instants": 0}, "instants"),
        ({"sweep": "none"}, "sweep"),
        ({"time_splits": 8}, "time_splits"),
        ({"roots": "newton"}, "roots"),
        ({"tolerance": 0.0}, "tolerance is 0.0; it is a part of the step"),
        ({"broad": "nothing"}, "there is no broad phase 'nothing'"),
    ],
)
def test_a_wrong_setting_is_named_with_what_is_right(settings, message):
    with pytest.raises(jostle.InputError, match="BoundingTree") as caught:
        jostle.BoundingTree(**settings)
    assert message in str(caught.value)


@pytest.mark.small
def test_traits_say_what_the_settings_promise():
    traits = jostle.BoundingTree().traits
    assert traits.answers[Answer.FACES] == EXACT
    assert traits.answers[Answer.TIME] == NO_MISS
    assert {Serve.MOTION, Serve.SELF, Serve.DEFORM, Serve.SOLID} <= traits.serves
    for settings in ({"mode": "pseudo_dynamic"}, {"roots": "regula_falsi"}, {"roots": "linear_interpolation"}):
        traits = jostle.BoundingTree(**settings).traits
        assert traits.answers[Answer.FACES] == EXACT
        assert traits.answers[Answer.TIME] not in (EXACT, NO_MISS)


@pytest.mark.small
def test_clearance_is_refused_before_any_work():
    world = jostle.World("bounding_tree")
    with pytest.raises(jostle.Unsupported, match="clearance"):
        world.detect(clearance=0.1)


def test_half_a_turn_is_refused_whether_something_is_near_or_not():
    world = jostle.World("bounding_tree")
    body = world.add(box(), name="door")
    world.add(box(), translation((100.0, 0, 0)))
    body.pose = rotation_about((0, 0, 1), np.pi)
    with pytest.raises(jostle.InputError, match=r"'door'.*half a turn"):
        world.detect(motion=True)


def test_pseudo_dynamic_refuses_what_it_cannot_say():
    world = jostle.World(jostle.BoundingTree(mode="pseudo_dynamic"))
    world.add(box())
    for option in ({"separation": 0.1}, {"itself": True}):
        with pytest.raises(jostle.InputError, match="mode='continuous'"):
            world.detect(motion=True, **option)


@pytest.mark.parametrize("volume", ["obb", "aabb", "sphere"])
def test_overlays_show_volumes_that_hold_the_bodies(volume):
    world = jostle.World(jostle.BoundingTree(volume=volume))
    rng = np.random.default_rng(1)
    for _ in range(2):
        world.add(shapes.icosphere(2), random_pose(rng, 0.3))
    counts = []
    for level in range(4):
        overlay = world.overlay(f"level {level}")
        counts.append(len(overlay.spheres) if volume == "sphere" else len(overlay.segments) // 12)
    assert counts[0] == 2
    assert counts == sorted(counts)
    assert world.overlay("").title == world.overlay("level 0").title
    if volume != "sphere":
        corners = world.overlay("level 0").segments.reshape(2, 12, 2, 3)
        for body, own in zip(world, corners, strict=True):
            held = body.world_vertices
            assert np.linalg.norm(own.reshape(-1, 3) - held.mean(axis=0), axis=1).max() >= 1.0
    visited = world.overlay("visited")
    assert len(visited.spheres) + len(visited.segments) > 10
    contacts = world.overlay("contacts")
    assert len(contacts.segments) == len(world.detect().contacts)
    assert set(contacts.faces) == {0, 1}
    assert np.array_equal(contacts.faces[0], np.unique(world.detect().contacts.face_a))
    world[0].pose = random_pose(rng, 3.0)
    swept = world.overlay("swept 1")
    assert len(swept.spheres) + len(swept.segments) > 0
    for wrong in ("level", "level -1", "boxes", "swept x"):
        with pytest.raises(jostle.InputError, match="what is"):
            world.overlay(wrong)


def test_bodies_that_come_and_go_between_steps_leave_no_trace():
    rng = np.random.default_rng(2)
    worlds = [jostle.World(method) for method in ("bounding_tree", "brute_force")]
    for world in worlds:
        for k in range(4):
            world.add(shapes.icosphere(1, 0.4), translation((k, 0, 0)), deformable=k == 2)
        world.detect()
    for step in range(6):
        poses = [random_pose(rng, 1.5) for _ in range(8)]
        shift = rng.normal(size=3)
        reports = []
        for world in worlds:
            if step in (2, 4):
                world.remove(world.bodies[1])
            if step == 3:
                world.add(box(), poses[7], deformable=True)
            for body, pose in zip(world, poses, strict=False):
                end = body.pose.copy()
                end[:3, 3] = pose[:3, 3]
                body.pose = end
                if body.deformable:
                    body.vertices = body.vertices + 0.1 * shift
            reports.append(world.detect(motion=True, all_contacts=step % 2 == 0))
        found, expected = (
            [column.tolist() for column in (c.body_a, c.body_b, c.face_a, c.face_b, c.kind, c.time)]
            for c in (report.contacts for report in reports)
        )
        assert found == expected


def test_reports_are_the_same_for_any_number_of_workers_and_broad_phase():
    def report(workers, broad):
        rng = np.random.default_rng(3)
        world = jostle.World(jostle.BoundingTree(broad=broad), workers=workers)
        for _ in range(12):
            world.add(shapes.icosphere(1, 0.4), translation(rng.uniform(-1, 1, 3))).pose = random_pose(rng, 1.0)
        return pickle.dumps(world.detect(motion=True).contacts.to_array().tobytes()), world.detect().contacts.to_array().tobytes()

    expected = report(1, "brute_force")
    assert report(2, "uniform_grid") == expected
    assert report(None, "coherent_aabb") == expected


def test_counters_count_the_work():
    world = jostle.World("bounding_tree")
    world.add(shapes.icosphere(2))
    body = world.add(shapes.icosphere(2), translation((1.5, 0, 0)))
    counters = world.detect().counters
    assert counters.body_pairs == 1
    assert counters.box_tests > 100
    assert counters.triangle_tests >= len(world.detect().contacts)
    body.teleport(translation((5.0, 0, 0)))
    world.detect()
    body.pose = translation((1.5, 0, 0))
    counters = world.detect(motion=True).counters
    assert counters.box_tests > 100
    assert counters.distance_tests > 0


def test_a_saved_world_brings_its_trees_back(tmp_path):
    world = jostle.World(jostle.BoundingTree(volume="sphere"))
    world.add(shapes.icosphere(2))
    world.add(box(), translation((0.9, 0, 0)))
    rows = world.detect().contacts.to_array().tobytes()
    world.save(tmp_path / "world.npz")
    loaded = jostle.World.load(tmp_path / "world.npz")
    assert loaded.detect().contacts.to_array().tobytes() == rows
