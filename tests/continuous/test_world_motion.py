"""Motion in the interface: queries, reports with times and features, safe steps, going back to a fraction of a step."""

import json
import pickle

import numpy as np
import pytest

import jostle
from jostle.continuous.interpolate import pose_at
from jostle.geometry.pose import rotation_about, translation
from jostle.shapes import build
from tests.tiny import box, tetrahedron


def falling_box(method="brute_force"):
    """Meets the box below at a quarter of the step."""
    world = jostle.World(method)
    world.add(box(), translation((0.25, 0.25, 2)), "falling").pose = translation((0.25, 0.25, -2))
    world.add(box(), name="resting")
    return world


@pytest.mark.small
@pytest.mark.parametrize(
    ("options", "cure"),
    [
        ({"clearance": 0.1}, "separation"),
        ({"solid": True}, "without motion"),
        ({"itself": True, "adjacent": True}, "leave it out"),
        ({"budget": jostle.Budget(operations=10)}, "shorten the step"),
        ({"separation": -1.0}, "length"),
        ({"separation": float("nan")}, "length"),
        ({"separation": "wide"}, "number"),
    ],
)
def test_what_has_no_meaning_along_a_motion_is_refused_with_the_cure(options, cure):
    with pytest.raises(jostle.InputError, match=cure):
        jostle.Query(motion=True, **options)


@pytest.mark.small
def test_a_separation_needs_a_motion():
    with pytest.raises(jostle.InputError, match="motion=True"):
        jostle.Query(separation=0.1)
    assert jostle.Query(separation=0).separation == 0.0
    assert jostle.Query(motion=True, separation=1).separation == 1.0


@pytest.mark.small
def test_methods_that_do_not_look_along_motions_name_one_that_does():
    world = jostle.World("wide_tree")
    world.add(box())
    for ask in (lambda: world.detect(motion=True), world.safe_step):
        with pytest.raises(jostle.Unsupported, match=r"motion.*bounding_tree"):
            ask()


def test_a_report_has_times_and_features():
    report = falling_box().detect(motion=True)
    assert len(report.contacts) == len(report.pairs) == 1
    assert 0.25 - 1e-6 <= report.pairs.time[0] <= 0.25
    assert report.contacts.time[0] == report.pairs.time[0]
    assert report.contacts.kind.tolist() == [jostle.Kind.TOUCHING]
    assert report.touching
    assert report.contacts.features.of_a(0)[0] == "vertex"
    assert report.contacts.features.of_b(0)[0] == "face"
    assert np.allclose(report.contacts.normal, (0, 0, -1))
    assert np.allclose(report.contacts.point[0, 2], 1.0, atol=1e-5)
    assert np.isnan(report.contacts.depth).all()
    static = falling_box().detect()
    assert static.contacts.features is None


def test_features_go_with_rows_into_selections_exports_and_pickles():
    report = falling_box().detect(motion=True, all_contacts=True)
    contacts = report.contacts
    assert len(contacts) > 10
    chosen = contacts.select(np.array([3, 1]))
    assert chosen.features.of_a(0) == contacts.features.of_a(3)
    assert np.array_equal(chosen.point, contacts.point[[3, 1]])
    assert report.between("falling", "resting").features.of_b(2) == contacts.features.of_b(2)
    table = report.to_array()
    assert table.dtype["vertices_a"].shape == (3,)
    assert np.array_equal(table["vertices_a"], contacts.features.vertices_a)
    assert np.array_equal(table["kind_b"], contacts.features.kind_b)
    rows = json.loads(json.dumps(report.to_dicts()))
    assert rows[0]["feature_a"] == ["vertex", list(contacts.features.of_a(0)[1])]
    assert rows[0]["time"] == contacts.time[0]
    again = pickle.loads(pickle.dumps(report))
    assert np.array_equal(again.contacts.features.vertices_b, contacts.features.vertices_b)
    assert np.array_equal(again.contacts.normal, contacts.normal)


def test_where_a_contact_is_does_not_depend_on_when_it_is_asked_for():
    world = falling_box()
    report = world.detect(motion=True)
    world.set_poses(np.stack([translation((9, 9, 9)), translation((-9, 0, 0))]))
    world.detect(motion=True)
    assert np.allclose(report.contacts.point[0, 2], 1.0, atol=1e-5)


def test_ids_are_those_of_the_world():
    world = falling_box()
    world.remove(world.add(box(), translation((50, 0, 0))))
    late = world.add(box(), translation((0.25, 0.25, 5)), "late")
    world.detect(motion=True)
    late.pose = translation((0.25, 0.25, -9))
    world["falling"].pose = translation((20, 0, 0))
    report = world.detect(motion=True)
    assert (1, late.id) in report.pairs
    assert late.id == 3


def test_a_safe_step_consumes_no_motion_and_move_to_goes_there():
    world = falling_box()
    fraction = world.safe_step()
    assert 0.25 - 1e-6 <= fraction <= 0.25
    assert world.safe_step() == fraction
    assert np.array_equal(world["falling"].pose, translation((0.25, 0.25, -2)))
    world.move_to(world.safe_step(separation=0.01))
    assert np.allclose(world["falling"].pose[2, 3], 1.01, atol=1e-6)
    assert world.safe_step() == 1.0
    assert not world.detect(motion=True)
    world["falling"].pose = translation((3, 0.25, 1.01))  # slides off
    assert world.safe_step(separation=0.01) == 1.0
    assert jostle.World("brute_force").safe_step() == 1.0


def test_move_to_follows_the_screw_and_straight_lines():
    world = jostle.World("brute_force")
    turning = world.add(box(), translation((1, 2, 3)))
    soft = world.add(tetrahedron(), deformable=True)
    both = world.add(tetrahedron(), deformable=True)
    world.add(box(), translation((9, 9, 9)))
    end = translation((2, 2, 2)) @ rotation_about((1, 1, 0), 1.0)
    turning.pose = end
    soft.vertices = 3.0 * soft.vertices
    both.pose, both.vertices = end, 2.0 * both.vertices
    last = both.world_vertices
    world.move_to(0.25)
    assert np.allclose(turning.pose, pose_at(translation((1, 2, 3)), end, 0.25))
    assert np.allclose(soft.vertices, 1.5 * tetrahedron().vertices)
    assert np.allclose(both.world_vertices, 0.75 * tetrahedron().vertices + 0.25 * last)
    world.move_to(0.0)
    assert np.array_equal(turning.pose, translation((1, 2, 3)))
    assert np.array_equal(soft.vertices, tetrahedron().vertices)
    assert np.array_equal(both.world_vertices, tetrahedron().vertices)
    for wrong in (-0.1, 1.1, float("nan")):
        with pytest.raises(jostle.InputError, match="fraction"):
            world.move_to(wrong)


def test_half_a_turn_is_refused_and_changes_nothing():
    world = jostle.World("brute_force")
    body = world.add(box(), name="spinner")
    world.add(box(), translation((3, 0, 0)))
    body.pose = rotation_about((0, 0, 1), np.pi)
    for ask in (lambda: world.detect(motion=True), world.safe_step, lambda: world.move_to(0.5)):
        with pytest.raises(jostle.InputError, match=r"spinner.*half a turn"):
            ask()
    body.pose = rotation_about((0, 0, 1), 3.0)
    assert world.safe_step() == 1.0


def test_deforming_bodies_move_along_straight_lines_even_where_their_pose_turns():
    plate = jostle.Mesh([[-5, -5, 0], [5, -5, 0], [5, 5, 0], [-5, 5, 0]], [[0, 1, 2], [0, 2, 3]])
    needle = jostle.Mesh([[0, 0, 0], [0.1, 0, 0], [1, 0, 1]], [[0, 1, 2]])
    times = []
    for deformable in (True, False):
        world = jostle.World("brute_force")
        body = world.add(needle, translation((0, 0, 0.5)), deformable=deformable)
        body.pose = translation((0, 0, 0.5)) @ rotation_about((0, 1, 0), 2.0)
        world.add(plate)
        times.append(world.safe_step())
    end = 0.5 + (rotation_about((0, 1, 0), 2.0)[:3, :3] @ (1, 0, 1))[2]
    assert abs(times[0] - 1.5 / (1.5 - end)) < 1e-6
    # The tip at 45° above the horizontal comes down on a circle of radius √2 to half a unit below its centre.
    assert abs(times[1] - (np.pi / 4 + np.arcsin(0.5 / np.sqrt(2))) / 2.0) < 1e-6


def test_first_contact_takes_poses_and_vertices():
    ball = build.icosphere(1)
    tilted = rotation_about((1, 2, 3), 0.5)
    start, end = translation((3, 0.55, 0.57)) @ tilted, translation((-3, 0.45, 0.52)) @ tilted
    moving = jostle.first_contact(ball, box(), to_a=end, pose_a=start)
    assert moving
    assert 0 < moving.time < 0.5
    assert moving.normal[0] < -0.9
    other = jostle.first_contact(box(), ball, to_b=end, pose_b=start)
    assert abs(other.time - moving.time) < 1e-6
    assert (other.face_b, other.feature_b) == (moving.face_a, moving.feature_a)
    swelling = jostle.first_contact(ball, box(), to_a=4.0 * ball.vertices, pose_a=translation((3, 0.5, 0.5)))
    assert 0 < swelling.time < 1
    free = jostle.first_contact(ball, box(), to_a=translation((3, 9, 0)), pose_a=translation((3, 0.5, 0.5)))
    assert not free
    assert free.time == np.inf
    assert free.face_a == free.face_b == -1
    assert free.feature_a is None
    assert jostle.first_contact(box(), box(), pose_b=translation((1, 0, 0))).time == 0.0
    for wrong in (np.eye(3), np.zeros((2, 4)), 5.0, np.zeros((4, 4)), np.zeros((2, 3))):
        with pytest.raises(jostle.InputError):
            jostle.first_contact(ball, box(), wrong)
    with pytest.raises(jostle.Unsupported, match="bounding_tree"):
        jostle.first_contact(ball, box(), translation((1, 0, 0)), method="wide_tree")


def test_normals_of_later_contacts_are_those_of_the_features():
    """A corner that comes down on a slope slides along it: the normal is the slope's, for any faces at the corner."""
    slope = jostle.Mesh([[0, 0, 0], [4, 0, 4], [4, 4, 4], [0, 4, 0]], [[0, 1, 2], [0, 2, 3]])
    tip = jostle.Mesh([[0, 0, 0], [0.5, 0.2, 1], [-0.5, 0.3, 1], [0, -0.6, 1]], [[0, 1, 2], [0, 2, 3], [0, 3, 1]])
    for start, expected in (((2, 2, 5), (1, 0, -1)), ((2, 2, -5), (-1, 0, 1))):
        end = (2, 2, -start[2])
        pose = translation(start) if start[2] > 0 else translation(start) @ rotation_about((1, 0, 0), 3.0)
        found = jostle.first_contact(tip, slope, translation(np.subtract(end, start)) @ pose, pose_a=pose, method="brute_force")
        assert np.allclose(found.normal, np.array(expected) / np.sqrt(2), atol=1e-9)
    # Edges that cross: along neither of their faces.
    roof = jostle.Mesh([[-2, 0, 0], [2, 0, 0], [0, -1, -1], [0, 1, -1]], [[0, 2, 1], [0, 1, 3]])
    keel = jostle.Mesh([[0, -2, 0], [0, 2, 0], [-1, 0, 1], [1, 0, 1]], [[0, 1, 2], [1, 0, 3]])
    found = jostle.first_contact(keel, roof, translation((0.3, 0.2, -1)), pose_a=translation((0.3, 0.2, 2)), method="brute_force")
    assert (found.feature_a, found.feature_b) == (("edge", (0, 1)), ("edge", (0, 1)))
    assert np.allclose(found.normal, (0, 0, -1), atol=1e-9)
    assert np.allclose(found.point, (0.3, 0, 0), atol=1e-5)
    # Parallel edges have no normal of their own: the way between them.
    over = jostle.first_contact(
        roof,
        keel,
        translation((0, 0, 9)),
        pose_a=translation((0, 0, -3)) @ rotation_about((0, 0, 1), np.pi / 2),
        pose_b=np.eye(4),
        method="brute_force",
    )
    assert over.normal @ (0, 0, 1) > 0.9


MOVING_METHODS = pytest.mark.parametrize("method", ["brute_force", "bounding_tree"])


@MOVING_METHODS
def test_a_report_without_contacts_has_features_all_the_same(method):
    world = jostle.World(method)
    world.add(box()).pose = translation((0, 0, 1))
    for rows in ("faces", "first", "pairs", "any"):
        contacts = world.detect(motion=True, rows=rows).contacts
        assert contacts.features.kind_a.shape == (0,)
        assert contacts.to_array().dtype["vertices_b"].shape == (3,)


@MOVING_METHODS
def test_any_along_a_motion_is_the_pair_that_meets_first(method):
    world = jostle.World(method)
    world.add(box((-9, -9, -1), (9, 9, 0)), name="floor")
    for k, height in enumerate((4, 1, 1, 2)):
        world.add(box(), translation((2 * k, 0, height)), f"box {k}").pose = translation((2 * k, 0, -1))
    report = world.detect(motion=True, rows="any")
    assert list(report.pairs) == [(0, 2)]  # of the two that are equally early the lower one
    assert 0.5 - 1e-6 <= report.pairs.time[0] <= 0.5
    assert len(report.contacts) == 0


@MOVING_METHODS
def test_half_a_turn_of_a_body_that_is_alone_is_refused_too(method):
    world = jostle.World(method)
    world.add(box(), name="spinner").pose = rotation_about((0, 0, 1), np.pi)
    for ask in (lambda: world.detect(motion=True), world.safe_step):
        with pytest.raises(jostle.InputError, match=r"spinner.*half a turn"):
            ask()
    world.move_to(1.0)
    assert np.array_equal(world["spinner"].pose, rotation_about((0, 0, 1), np.pi))
    world.move_to(0.0)
    assert world.safe_step() == 1.0


@pytest.mark.small
def test_the_end_of_a_motion_that_is_no_array_is_refused():
    for wrong in ([[1.0, 2.0], [3.0]], "up", np.zeros(4)):
        with pytest.raises(jostle.InputError, match=r"to_a .*pose \(4, 4\)"):
            jostle.first_contact(box(), box(), wrong)
