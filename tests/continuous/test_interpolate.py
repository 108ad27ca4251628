"""Screws between poses against their definition: rigid in between, the ends to the bit, one axis for all points."""

import numpy as np
import pytest

from jostle.continuous.certified.quick_directions import bulge_of
from jostle.continuous.interpolate import STRAIGHT, pose_at, turn_between
from jostle.continuous.moving_point import Turn, place, place_all_into
from jostle.errors import InputError
from jostle.geometry.pose import rotation_about, translation
from jostle.geometry.rigid import transform_points
from jostle.geometry.vector import Vec3
from tests.values import vec3s

pytestmark = pytest.mark.small


def random_poses(rng, most_angle=3.0):
    start = rotation_about(rng.normal(size=3), rng.uniform(0, 3), rng.normal(size=3))
    end = (
        translation(rng.normal(size=3)) @ rotation_about(rng.normal(size=3), rng.uniform(0, most_angle), rng.normal(size=3)) @ start
    )
    return start, end


@pytest.mark.parametrize("most_angle", [3.0, 1e-3, 1e-9])
def test_points_of_a_rigid_body_keep_their_distances_and_follow_the_pose(most_angle):
    rng = np.random.default_rng(1)
    for _ in range(20):
        start, end = random_poses(rng, most_angle)
        local = rng.normal(size=(10, 3))
        at_start, at_end = transform_points(start, local), transform_points(end, local)
        turn, time, places = turn_between(start, end), rng.uniform(), np.empty((10, 3))
        place_all_into(at_start, at_end, turn, time, places)
        spans = [np.linalg.norm(p[:, None] - p[None], axis=2) for p in (local, places)]
        assert np.abs(spans[0] - spans[1]).max() < 1e-13
        assert np.abs(transform_points(pose_at(start, end, time), local) - places).max() < 1e-13


def test_motions_begin_and_end_on_the_world_vertices_to_the_bit():
    rng = np.random.default_rng(2)
    for _ in range(50):
        start, end = random_poses(rng)
        at_start, at_end = transform_points(start, rng.normal(size=(5, 3))), transform_points(end, rng.normal(size=(5, 3)))
        for time, expected in ((0.0, at_start), (1.0, at_end)):
            places = np.empty((5, 3))
            place_all_into(at_start, at_end, turn_between(start, end), time, places)
            assert np.array_equal(places, expected)


def test_the_angle_and_the_axis_are_those_of_the_rotation():
    axis = np.array([2.0, -1.0, 0.5]) / np.linalg.norm([2.0, -1.0, 0.5])
    for angle in (3.1, 1.0, 1e-5, 1e-9):
        start = rotation_about([1.0, 1.0, 0.0], 0.3)
        turn = turn_between(start, rotation_about(axis, angle, [5.0, 6.0, 7.0]) @ start)
        assert turn[3] == pytest.approx(angle, rel=1e-6)
        assert np.abs(turn[:3] - axis).max() < 1e-6


def test_a_quarter_turn_is_half_done_at_half_time():
    start, end, axis = Vec3(1.0, 0.0, 0.0), Vec3(0.0, 1.0, 2.0), Vec3(0.0, 0.0, 1.0)
    x, y, z = place(start, end, Turn(axis, np.pi / 2), 0.5)
    assert (x, y, z) == pytest.approx((np.sqrt(0.5), np.sqrt(0.5), 1.0), abs=1e-15)


def test_motions_leave_their_chords_by_no_more_than_the_acceleration_allows():
    rng = np.random.default_rng(3)
    for _ in range(200):
        w0, w1, k = rng.normal(size=(3, 3))
        turn = Turn(*vec3s(k / np.linalg.norm(k)), rng.uniform(0.01, 3.0))
        start, end = vec3s([w0, w1])
        first, span = rng.uniform(0, 0.5), rng.uniform(0, 0.5)
        ends = [np.array(place(start, end, turn, first + share * span)) for share in (0.0, 1.0)]
        allowed = bulge_of(turn.angle) * np.linalg.norm(np.cross(turn.axis, w1 - w0)) * span**2
        worst = 0.0
        for share in np.linspace(0, 1, 21):
            there = np.array(place(start, end, turn, first + share * span))
            worst = max(worst, float(np.linalg.norm(there - (ends[0] + share * (ends[1] - ends[0])))))
        assert worst <= allowed * (1 + 1e-9) + 1e-14
        assert worst >= 0.5 * allowed - 1e-12  # it is a bound worth having


def test_poses_that_only_shift_move_straight():
    pose = rotation_about([1.0, 2.0, 3.0], 0.7)
    assert turn_between(pose, translation([1.0, 0.0, 0.0]) @ pose) is STRAIGHT
    assert np.array_equal(pose_at(np.eye(4), translation([1.0, 2.0, 3.0]), 0.25), translation([0.25, 0.5, 0.75]))


def test_half_a_turn_is_refused_with_the_cure():
    with pytest.raises(InputError, match=r"body 'fan': .*half a turn.*teleport"):
        turn_between(np.eye(4), rotation_about([0.0, 0.0, 1.0], np.pi), "body 'fan'")


@pytest.mark.parametrize("time", [-0.1, 1.1, float("nan")])
def test_times_outside_of_the_step_are_refused(time):
    with pytest.raises(InputError, match="time"):
        pose_at(np.eye(4), np.eye(4), time)
