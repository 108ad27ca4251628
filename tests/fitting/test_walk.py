"""Walks: stops against geometry, and sliding that keeps its separation."""

import csv

import numpy as np
import pytest

import jostle
from jostle import InputError, World, fitting, scenes
from jostle.fitting import RecordedPath
from jostle.geometry.pose import rotation_about, translation
from jostle.shapes.build.blocks import blocks
from tests.tiny import box

METHODS = [pytest.param("brute_force", marks=pytest.mark.small), "bounding_tree"]


def line(begin, end, pieces=1, turned=None):
    begin, end = np.array(begin, float), np.array(end, float)
    turned = np.eye(4) if turned is None else turned
    return np.array([translation(begin + (end - begin) * k / pieces) @ turned for k in range(pieces + 1)])


def plate_with_hole(width, name="block"):
    """A block of 6 by 6 by 2 below z = 0 with a square hole through it."""
    half = width / 2.0
    filled = np.ones((3, 3, 1), bool)
    filled[1, 1] = False
    return blocks((-3.0, -half, half, 3.0), (-3.0, -half, half, 3.0), (-2.0, 0.0), filled, name)


def peg_over_hole(method, gap):
    """A peg of 1 by 1 by 3 above a hole that is wider by `gap` on each side."""
    world = World(method)
    world.add(box((-0.5, -0.5, 0.0), (0.5, 0.5, 3.0)), name="peg")
    world.add(plate_with_hole(1.0 + 2.0 * gap), name="block")
    return world


def nearest(world, body, pose):
    others = [each for each in world if each.name != body]
    mesh = world[body].mesh
    return min(jostle.distance(mesh, each.mesh, pose, each.pose).distance for each in others)


# ---------------------------------------------------------------------- until contact


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("gap", [0.2, 0.1001])
def test_a_peg_goes_through_a_hole_that_leaves_more_than_the_separation(method, gap):
    world = peg_over_hole(method, gap)
    walk = fitting.walk(world, "peg", line((0, 0, 1), (0, 0, -8), 9), separation=0.1)
    assert walk.removed
    assert walk
    assert walk.blocked_by is None
    assert [step.number for step in walk.steps] == list(range(10))
    assert walk.end.fraction == 1.0
    assert world["peg"].pose == pytest.approx(translation((0, 0, -8)))


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(("gap", "separation"), [(0.05, 0.1), (0.0, 0.1), (0.099, 0.1), (-0.2, 0.1), (0.3, 0.5), (-0.25, 0.001)])
def test_it_stops_above_a_hole_that_leaves_less(method, gap, separation):
    """The lower edges of the peg stop where they are at the separation from the edges of the hole, or from the block's top."""
    above = np.sqrt(separation**2 - gap**2) if gap > 0.0 else separation
    walk = fitting.walk(peg_over_hole(method, gap), "peg", line((0, 0, 1), (0, 0, -8), 4), separation=separation)
    assert not walk.removed
    touch = walk.blocked_by
    assert touch.body == "block"
    assert touch.distance == pytest.approx(separation, rel=1e-6)
    assert above - 1e-12 <= walk.end.pose[2, 3] <= above + 1e-6
    assert walk.end.number == 1
    assert walk.end.fraction == pytest.approx((1.0 - above) / 2.25, abs=1e-6)
    assert walk.end.time == pytest.approx(walk.end.fraction)
    assert touch.normal[2] == pytest.approx(above / separation, abs=1e-5)
    assert abs(touch.point[2] - above / 2.0) < 1e-5
    assert walk.touches == [touch]


@pytest.mark.parametrize("method", METHODS)
def test_without_a_separation_it_stops_at_the_contact(method):
    walk = fitting.walk(peg_over_hole(method, -0.1), "peg", line((0, 0, 1), (0, 0, -1)))
    assert 0.0 <= walk.end.pose[2, 3] < 1e-6
    assert walk.blocked_by.distance < 1e-6


@pytest.mark.parametrize("method", METHODS)
def test_a_bar_that_turns_stops_where_its_corner_is_at_the_separation_from_the_wall(method):
    """A corner at (4, 0.5) turns about the origin from 90° on; the wall is at x = 2, so it stops at x = 1.9."""
    world = World(method)
    world.add(box((-4.0, -0.5, -0.5), (4.0, 0.5, 0.5)), name="bar")
    world.add(box((2.0, -9.0, -3.0), (3.0, 9.0, 3.0)), name="wall")
    poses = np.array([rotation_about((0, 0, 1), np.radians(90.0 - 15.0 * k)) for k in range(7)])
    walk = fitting.walk(world, "bar", RecordedPath(poses, 10.0 + 2.0 * np.arange(7)), separation=0.1)
    reach, corner = np.hypot(4.0, 0.5), np.arctan2(-0.5, 4.0)  # the lower corner of the end reaches farther to the right
    stop = np.degrees(np.arccos(1.9 / reach) - corner)
    turned = (90.0 - stop) / 15.0
    assert walk.end.number == int(turned) + 1
    assert walk.end.fraction == pytest.approx(turned % 1.0, abs=1e-6)
    assert walk.end.time == pytest.approx(10.0 + 2.0 * turned, abs=1e-5)
    assert walk.blocked_by.normal == pytest.approx([-1, 0, 0], abs=1e-9)
    assert walk.blocked_by.feature[0] in ("vertex", "edge")


@pytest.mark.small
def test_a_key_goes_through_a_slot_only_where_it_is_turned_into_it():
    world = World("brute_force")
    world.add(box((-1.0, -0.2, 0.0), (1.0, 0.2, 1.0)), name="key")
    world.add(
        blocks(
            (-3.0, -0.4, 0.4, 3.0),
            (-3.0, -1.2, 1.2, 3.0),
            (-0.5, -0.2),
            [[[1], [1], [1]], [[1], [0], [1]], [[1], [1], [1]]],
            "gate",
        ),
        name="gate",
    )
    straight = line((0, 0, 0), (0, 0, -2), 4)
    quarter = rotation_about((0, 0, 1), np.pi / 2)
    blocked = fitting.walk(world, "key", straight, separation=0.1)
    assert blocked.end.pose[2, 3] == pytest.approx(-0.1, abs=1e-6)
    turning = np.array([rotation_about((0, 0, 1), np.pi / 2 * k / 6) for k in range(6)])
    assert fitting.walk(world, "key", np.concatenate([turning, line((0, 0, 0), (0, 0, -2), 4, quarter)]), separation=0.1)


@pytest.mark.small
def test_only_pairs_with_the_moved_body_count_and_filters_are_as_before():
    world = peg_over_hole("brute_force", 0.2)
    world.add(box((2.0, 2.0, -1.0), (4.0, 4.0, 5.0)), name="stuck in the block")
    world.add(box((-3.0, -3.0, -3.0), (3.0, 3.0, -2.0)), translation((0, 0, -10)), name="far")
    world["far"].static = True
    world["far"].pose = translation((0, 0, -30))  # whatever moved before the walk has come to rest
    before = [body.static for body in world]
    assert fitting.walk(world, "peg", line((0, 0, 1), (0, 0, -12), 5), separation=0.1)
    assert [body.static for body in world] == before
    world["peg"].static = True
    world["block"].static = True
    assert not fitting.walk(world, "peg", line((0.5, 0, 1), (0.5, 0, -12), 5), separation=0.1)
    assert world["peg"].static
    # Also where the loop ends early.
    world["peg"].static = False
    steps = fitting.walk_along(world, "peg", RecordedPath(line((0, 0, 1), (0, 0, -12), 5)), separation=0.1)
    next(steps)
    next(steps)
    assert world["far"].static
    assert world["block"].static
    assert world["stuck in the block"].static
    steps.close()
    assert not world["stuck in the block"].static


@pytest.mark.small
def test_a_body_that_starts_within_the_separation_may_leave():
    world = peg_over_hole("brute_force", 0.2)
    assert fitting.walk(world, "peg", line((0, 0, 0.05), (0, 0, 4), 3), separation=0.3)
    into = fitting.walk(world, "peg", line((1, 0, 0.05), (1, 0, -4), 3), separation=0.3)
    assert not into
    assert into.end.pose[2, 3] == pytest.approx(0.05, rel=0.02)


@pytest.mark.small
def test_a_way_there_and_back_is_not_over_before_it_begins():
    world = peg_over_hole("brute_force", -0.2)
    there_and_back = np.concatenate([line((0, 0, 1), (0, 0, -1), 2), line((0, 0, -1), (0, 0, 1), 2)[1:]])
    assert not fitting.walk(world, "peg", there_and_back, separation=0.1)
    touching = np.concatenate([line((1, 0, 0), (1, 0, -1)), line((1, 0, -1), (1, 0, 0))[1:]])
    walk = fitting.walk(world, "peg", touching, separation=0.1)  # stopped where it begins, which is where it should end
    assert not walk.removed
    assert (walk.end.number, walk.end.fraction, walk.blocked_by.body) == (1, 0.0, "block")


@pytest.mark.small
@pytest.mark.parametrize("slide", [False, True])
def test_poses_that_repeat_are_no_obstacle(slide):
    poses = line((0, 0, 2), (0, 0, 1), 2)[[0, 0, 1, 1, 1, 2, 2]]
    walk = fitting.walk(peg_over_hole("brute_force", -0.2), "peg", poses, separation=0.1, slide=slide)
    assert walk.removed
    assert [step.number for step in walk.steps] == list(range(7))
    assert {step.fraction for step in walk.steps} == {1.0}


@pytest.mark.small
def test_what_cannot_be_walked_is_refused_before_anything_moves():
    world = peg_over_hole("brute_force", 0.2)
    soft = world.add(box((7, 7, 7), (8, 8, 8)), name="soft", deformable=True)
    poses = line((0, 0, 1), (0, 0, -8), 3)
    half_turn = np.array([np.eye(4), rotation_about((0, 0, 1), 0.1), rotation_about((0, 0, 1), 0.1 + np.pi)])
    for arguments, options, words in [
        (("peg", poses[:1]), {}, "one pose"),
        (("peg", poses), {"slide": True}, "separation > 0"),
        (("peg", poses), {"separation": -1.0}, "separation"),
        (("peg", poses), {"separation": 0.1, "slide": 1}, "slide"),
        (("nobody", poses), {}, "nobody"),
        ((soft, poses), {}, "deformable"),
        (("peg", half_turn), {}, r"pose 2 of the path.*half a turn"),
        (("peg", np.zeros((2, 4, 4))), {}, "poses"),
    ]:
        with pytest.raises(InputError, match=words):
            fitting.walk(world, *arguments, **options)
    assert world["peg"].pose == pytest.approx(np.eye(4))
    with pytest.raises(jostle.Unsupported, match="bounding_tree"):
        fitting.walk(peg_over_hole("wide_tree", 0.2), "peg", poses)


@pytest.mark.small
def test_progress_is_told():
    told = []
    walk = fitting.walk(
        peg_over_hole("brute_force", 0.2), "peg", line((0, 0, 1), (0, 0, -3), 4), progress=lambda *said: told.append(said)
    )
    assert walk.removed
    assert told[0] == (0.0, "pose 0 of 4")
    assert told[-1] == (1.0, "pose 4 of 4")


# ---------------------------------------------------------------------- sliding


@pytest.mark.parametrize("method", ["brute_force", "bounding_tree"])
def test_a_body_that_is_drawn_into_a_plate_slides_along_it_and_past_its_end(method):
    world = World(method)
    world.add(box((0, 0, 0), (1, 1, 1)), name="part")
    world.add(box((-10, -10, -2), (4, 10, -1)), name="plate")
    way = np.concatenate([line((0, 0, 0), (3, 0, -3), 12), line((3, 0, -3), (8, 0, -3), 10)[1:]])
    assert not fitting.walk(world, "part", way, separation=0.1)
    walk = fitting.walk(world, "part", way, separation=0.1, slide=True)
    assert walk.removed
    assert {touch.body for touch in walk.touches} == {"plate"}
    assert np.linalg.norm(walk.end.pose - way[-1]) < 0.2
    for step in walk.steps:
        assert nearest(world, "part", step.pose) > 0.094
    below = [step.pose[2, 3] for step in walk.steps if step.number == 12]
    assert min(below) > -0.95  # drawn to z = -3, it stays above the plate
    assert max(step.pose[0, 3] for step in walk.steps if step.number == 12) > 2.7  # and follows aside


def test_a_body_that_is_drawn_straight_into_a_wall_is_blocked_there():
    world = World("brute_force")
    world.add(box((0, 0, 0), (1, 1, 1)), name="part")
    world.add(box((3, -9, -9), (4, 9, 9)), name="wall")
    walk = fitting.walk(world, "part", line((0, 0, 0), (12, 0, 0), 60), separation=0.1, slide=True)
    assert not walk.removed
    assert walk.blocked_by.body == "wall"
    assert walk.end.number == pytest.approx(10, abs=2)
    assert walk.end.pose[0, 3] == pytest.approx(1.9, abs=0.1)
    assert walk.steps[-1].number < 60  # it gave up
    assert all(nearest(world, "part", step.pose) > 0.094 for step in walk.steps)


def test_a_body_drawn_off_centre_into_a_channel_finds_its_way_through():
    world = World("brute_force")
    world.add(box((0, 0, 0), (1, 1, 1)), name="part")
    world.add(box((2, -1, -2), (6, -0.2, 3)), name="floor")
    world.add(box((2, 1.2, -2), (6, 2, 3)), name="roof")
    way = line((0, 0.15, 0), (9, 0.15, 0), 20)
    assert not fitting.walk(world, "part", way, separation=0.1)
    walk = fitting.walk(world, "part", way, separation=0.1, slide=True)
    assert walk.removed
    assert walk.touches
    assert all(nearest(world, "part", step.pose) > 0.094 for step in walk.steps)


def caged():
    """A part with a clearance of 1 on all sides in a cage of six plates, and a straight way out, through one of them."""
    world = World("brute_force")
    world.add(box((0, 0, 0), (1, 1, 1)), name="part")
    for axis in range(3):
        for low in (-2.0, 2.0):
            corner, opposite = np.full(3, -2.0), np.full(3, 3.0)
            corner[axis], opposite[axis] = low, low + 1.0
            world.add(box(tuple(corner), tuple(opposite)), name=f"plate {axis} {low:g}")
    return world


@pytest.mark.parametrize("separation", [0.1, 0.9, 1.0, 2.0, 5.0, 50.0, 1e4, 1e6])
def test_nothing_slides_out_of_a_cage_however_large_the_separation(separation):
    way = line((0, 0, 0), (6, 0, 0), 20)
    walk = fitting.walk(caged(), "part", way, separation=separation, slide=True)
    assert not walk.removed
    assert walk.blocked_by.body.startswith("plate")
    assert max(step.pose[0, 3] for step in walk.steps) < 1.0


@pytest.mark.parametrize("separation", [0.25, 0.5, 4.0])
def test_a_body_does_not_slide_through_a_channel_that_is_narrower_than_the_separation(separation):
    world = World("brute_force")
    world.add(box((0, 0, 0), (1, 1, 1)), name="part")
    world.add(box((2, -1, -2), (4, -0.2, 3)), name="floor")
    world.add(box((2, 1.2, -2), (4, 2, 3)), name="roof")
    assert fitting.walk(world, "part", line((0, 0, 0), (6, 0, 0), 20), separation=0.1, slide=True)
    assert not fitting.walk(world, "part", line((0, 0, 0), (6, 0, 0), 20), separation=separation, slide=True)


@pytest.mark.parametrize("short", [0.05, 0.15, 0.3])
def test_a_body_that_slides_comes_to_the_last_pose_itself(short):
    world = World("brute_force")
    world.add(box((0, 0, 0), (1, 1, 1)), name="part")
    world.add(box((3, -9, -9), (4, 9, 9)), name="wall")
    before = fitting.walk(world, "part", line((0, 0, 0), (1.9 - short, 0, 0), 9), separation=0.1, slide=True)
    assert before.removed
    assert before.end.pose[0, 3] == pytest.approx(1.9 - short, abs=1e-4)
    beyond = fitting.walk(world, "part", line((0, 0, 0), (1.9 + short, 0, 0), 9), separation=0.1, slide=True)
    assert not beyond.removed
    assert beyond.blocked_by.body == "wall"


# ---------------------------------------------------------------------- traces


@pytest.mark.small
def test_a_trace_tells_where_it_was_and_what_it_touched(tmp_path):
    walk = fitting.walk(peg_over_hole("brute_force", -0.2), "peg", line((0, 0, 1), (0, 0, -3), 8), separation=0.1)
    fitting.write_trace(walk, tmp_path / "trace.csv")
    with (tmp_path / "trace.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == len(walk.steps) == 3
    assert [float(row["z"]) for row in rows] == [step.pose[2, 3] for step in walk.steps]
    assert [row["contact"] for row in rows] == ["", "", "block"]
    assert rows[0]["face"] == rows[0]["point_x"] == ""
    last, touch = rows[-1], walk.blocked_by
    assert (int(last["face"]), int(last["other_face"])) == (touch.face, touch.other_face)
    assert [float(last[f"point_{axis}"]) for axis in "xyz"] == touch.point.tolist()
    assert [float(last[f"normal_{axis}"]) for axis in "xyz"] == touch.normal.tolist()
    assert last["feature"].split()[0] in ("vertex", "edge", "face")
    assert float(last["time"]) == walk.end.time


# ---------------------------------------------------------------------- the headlight


@pytest.fixture(scope="module")
def headlight():
    return scenes.make_scene("headlight", faces=14_000)


def walk_in(scene, name, **options):
    path = scene.paths[name]
    world = scene.world("bounding_tree")
    for body in path.without:
        world.remove(body)
    return fitting.walk(world, path.body, path, separation=0.1, **options)


@pytest.mark.parametrize("name", ["remove_cover_1", "remove_cover_2", "remove_bulb_1", "remove_bulb_2"])
def test_covers_and_bulbs_can_be_removed(headlight, name):
    walk = walk_in(headlight, name)
    assert walk.removed
    assert not walk.touches


@pytest.mark.parametrize(
    ("name", "by", "place"),
    [
        ("pull_cover_1", "housing", 0.4 / 1.5),  # lugs 0.5 below the ledges
        ("cover_1_straight_back", "battery", 24 + 20.9 / 1.5),  # the grip 21 before the battery, after 24 poses of turning
        ("bulb_1_under_cover", "cover_1", None),
    ],
)
def test_the_blocked_ways_are_blocked_by_what_is_in_them(headlight, name, by, place):
    walk = walk_in(headlight, name)
    assert not walk.removed
    assert walk.blocked_by.body == by
    assert walk.blocked_by.distance == pytest.approx(0.1, rel=1e-5)
    if place is not None:
        assert walk.end.time == pytest.approx(place, abs=1e-4)


def test_a_bulb_cannot_be_removed_while_its_cover_is_on(headlight):
    world = headlight.world("bounding_tree")
    walk = fitting.walk(world, "bulb_1", headlight.paths["remove_bulb_1"], separation=0.1)
    assert walk.blocked_by.body == "cover_1"


def test_a_cover_that_is_drawn_askew_slides_out(headlight):
    """The hand is 0.85 mm beside the axis, where 0.5 are free: the cover does not follow it that far, and comes out."""
    path, world = headlight.paths["remove_cover_1"], headlight.world("bounding_tree")
    poses = np.array(path.poses)
    poses[:, :3, 3] += np.clip((np.arange(len(path)) - 2) / 5.0, 0.0, 1.0)[:, None] * (0.0, 0.8, 0.3)
    stopped = fitting.walk(world, "cover_1", poses, separation=0.1)
    assert stopped.blocked_by.body == "housing"
    walk = fitting.walk(world, "cover_1", poses, separation=0.1, slide=True)
    assert walk.removed
    assert {touch.body for touch in walk.touches} == {"housing"}
    engine = headlight.world("wide_tree")
    for step in walk.steps[::5]:
        engine["cover_1"].teleport(step.pose)
        assert len(engine.detect(clearance=0.094, rows="any").pairs) == 0
