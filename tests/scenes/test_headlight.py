"""The headlight: parts apart at the start, with free and with blocked paths."""

import numpy as np
import pytest

from jostle import InputError, scenes
from jostle.continuous.interpolate import pose_at
from jostle.geometry.pose import translation
from jostle.scenes.bodies import MovingBody
from jostle.scenes.turned import angles_round, flanks_of, in_sectors, ring, solid
from tests.tiny import box

FREE = ["remove_cover_1", "remove_cover_2", "remove_bulb_1", "remove_bulb_2"]
BLOCKED = ["pull_cover_1", "cover_1_straight_back", "bulb_1_under_cover"]
COARSE = 14_000


@pytest.fixture(scope="module")
def made():
    return {faces: scenes.make_scene("headlight", faces=faces) for faces in (COARSE, 60_000)}


def near(world, clearance):
    """Pairs of bodies that are nearer than a clearance, by name."""
    report = world.detect(clearance=clearance, rows="pairs")
    return [(world[a].name, world[b].name) for a, b in zip(report.pairs.body_a.tolist(), report.pairs.body_b.tolist(), strict=True)]


def test_it_is_as_large_as_the_scene_of_the_paper_with_most_faces_at_the_openings(made):
    count = {body.name: len(body.mesh.faces) for body in made[60_000].bodies}
    assert 57_000 <= sum(count.values()) <= 60_000
    at_the_openings = sum(count[name] for name in count if name.startswith(("housing", "cover", "bulb", "reflector")))
    assert at_the_openings > 0.75 * sum(count.values())
    assert {"housing", "cover_1", "cover_2", "bulb_1", "bulb_2", "screw_4", "battery", "pipe", "fender"} <= set(count)
    for faces in (COARSE, 30_000):
        total = sum(len(body.mesh.faces) for body in scenes.make_scene("headlight", faces=faces).bodies)
        assert 0.9 * faces <= total <= faces


@pytest.mark.parametrize("faces", [COARSE, 60_000])
def test_every_part_is_a_closed_solid_or_an_open_sheet_in_millimetres(made, faces):
    for body in made[faces].bodies:
        mesh = body.mesh
        assert mesh.units == "mm"
        assert mesh.is_closed == (body.name not in ("lens", "fender")), body.name
        corners = mesh.vertices[mesh.faces]
        area = np.linalg.norm(np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]), axis=1)
        assert area.min() > 1e-6, body.name
        if mesh.is_closed:
            assert mesh.volume > 0.0
            sides = np.sort(mesh.faces[:, [[0, 1], [1, 2], [2, 0]]].reshape(-1, 2), axis=1)
            assert (np.unique(sides, axis=0, return_counts=True)[1] == 2).all(), body.name


@pytest.mark.parametrize("faces", [COARSE, 60_000])
def test_no_two_parts_are_nearer_than_two_tenths_at_the_start(made, faces):
    world = made[faces].world("wide_tree")
    for body in world:
        body.static = False
    assert near(world, 0.2) == []
    fits = near(world, 1.1)
    for pair in [("housing", "cover_1"), ("housing", "cover_2"), ("reflector_1", "bulb_1"), ("housing", "screw_1")]:
        assert pair in fits


@pytest.mark.parametrize(("faces", "between"), [(COARSE, 4), (60_000, 1)])
@pytest.mark.parametrize("name", FREE)
def test_the_ways_out_are_free(made, faces, between, name):
    """Three tenths are left at all instants; methods are told to keep one."""
    path = made[faces].paths[name]
    world = made[faces].world("wide_tree")
    for body in path.without:
        world.remove(body)
    for number in range(0, len(path) - 1, 1 if between > 1 else 4):
        for k in range(between):
            world[path.body].teleport(pose_at(path.poses[number], path.poses[number + 1], k / between))
            assert near(world, 0.3) == [], (number, k)


@pytest.mark.parametrize("name", FREE)
def test_a_way_begins_where_the_part_sits_and_ends_clear_of_the_others(made, name):
    scene = made[COARSE]
    path = scene.paths[name]
    (body,) = [body for body in scene.bodies if body.name == path.body]
    assert np.array_equal(path.poses[0], body.pose)
    world = scene.world("wide_tree")
    world[path.body].teleport(path.poses[-1])
    assert min(world.distance(path.body, other).distance for other in world if other.name != path.body) > 20.0
    steps = np.linalg.norm(np.diff(path.poses[:, :3, 3], axis=0), axis=1)
    assert steps.max() <= 1.5 + 1e-9
    turned = np.einsum("nij,nij->n", path.poses[1:, :3, :3], path.poses[:-1, :3, :3])
    assert np.degrees(np.arccos(np.clip((turned - 1.0) / 2.0, -1.0, 1.0))).max() <= 2.5 + 1e-5


@pytest.mark.parametrize("name", BLOCKED)
def test_the_blocked_ways_go_through_something(made, name):
    scene = made[COARSE]
    path = scene.paths[name]
    world = scene.world("wide_tree")
    hit = set()
    for pose in path.poses:
        world[path.body].teleport(pose)
        hit |= {other for pair in near(world, 0.0) for other in pair}
    assert {"pull_cover_1": "housing", "cover_1_straight_back": "battery", "bulb_1_under_cover": "cover_1"}[name] in hit


def test_a_recording_takes_one_part_out_after_the_other(made):
    scene = made[COARSE]
    motion = scene.record()
    assert len(motion) == scene.frames == sum(len(scene.paths[name]) for name in FREE)
    world = motion.world("wide_tree")
    begin = 0
    for name in FREE:
        path = scene.paths[name]
        row = motion.names.index(path.body)
        assert motion.poses[begin : begin + len(path), row].tobytes() == path.poses.tobytes()
        assert (motion.poses[:begin, row] == path.poses[0]).all()
        assert (motion.poses[begin + len(path) :, row] == path.poses[-1]).all()
        begin += len(path)
    for frame in range(0, len(motion), 5):
        motion.apply(world, frame)
        assert near(world, 0.2) == []  # also of those that were put aside before


@pytest.mark.small
def test_a_seed_turns_the_screws_and_nothing_else():
    first, second = (scenes.make_scene("headlight", faces=COARSE, seed=seed) for seed in (0, 1))
    for a, b in zip(first.bodies, second.bodies, strict=True):
        assert (a.mesh.digest == b.mesh.digest) == (not a.name.startswith("screw"))


@pytest.mark.small
@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"faces": 5_000}, "faces"),
        ({"faces": 1.5}, "faces"),
        ({"task": "juggle"}, "task"),
        ({"frames": 0}, "frames"),
        ({"seed": -1}, "seed"),
    ],
)
def test_values_that_make_no_headlight_are_refused(values, words):
    with pytest.raises(InputError, match=f"scene 'headlight'.*{words}"):
        scenes.make_scene("headlight", **values)


# ---------------------------------------------------------------------- what it is made with


@pytest.mark.small
def test_bodies_on_a_track_follow_it_and_stay_at_its_end():
    track = np.array([translation((k, 0.0, 0.0)) for k in range(3)])
    kinematic, other = (
        MovingBody("kinematic", box(), track=track),
        MovingBody("other", box(), translation((0, 5, 0)), np.array([0, 0.5, 0])),
    )
    stepper = scenes.Stepper([kinematic, other])
    places = []
    for _ in range(5):
        places.append(stepper.poses[:, :3, 3].tolist())
        assert stepper.centres[0] == pytest.approx(np.array(places[-1][0]) + 0.5)
        stepper.advance()
    assert [place[0][0] for place in places] == [0.0, 1.0, 2.0, 2.0, 2.0]
    assert [place[1][1] for place in places] == [5.0, 5.5, 6.0, 6.5, 7.0]
    with pytest.raises(InputError, match="track"):
        scenes.Stepper([kinematic], 20.0)


@pytest.mark.small
def test_rings_and_solids_are_closed_face_outward_and_as_large_as_they_should_be():
    even = angles_round(90)
    tube = ring(even, [(2.0, 0.0, 3), (3.0, 0.0, 2), (3.0, 4.0, 5), (2.0, 4.0, 1)], "tube")
    assert len(tube.faces) == 2 * 90 * 11
    assert tube.is_closed
    assert tube.volume == pytest.approx(np.pi * 5.0 * 4.0, rel=2e-3)
    backwards = ring(even, [(2.0, 4.0, 5), (3.0, 4.0, 2), (3.0, 0.0, 3), (2.0, 0.0, 1)], "tube")
    assert backwards.volume == pytest.approx(tube.volume)
    disc = solid(even, [(0.0, 0.0, 2), (3.0, 0.0, 2), (3.0, 1.0, 2), (0.0, 1.0, 1)], "disc")
    assert disc.is_closed
    assert disc.volume == pytest.approx(np.pi * 9.0, rel=2e-3)
    # A quarter that stands out by 1.
    flanked = angles_round(90, flanks_of(0.0, np.pi / 4.0))
    out = np.where(in_sectors(flanked, 0.0, np.pi / 4.0), 3.0, 2.0)
    cam = solid(flanked, [(0.0, 0.0, 1), (out, 0.0, 1), (out, 1.0, 1), (0.0, 1.0, 1)], "cam")
    assert cam.is_closed
    assert cam.volume == pytest.approx(np.pi * (4.0 + 5.0 / 4.0), rel=5e-3)
    assert (np.diff(flanked) > 0.0).all()
