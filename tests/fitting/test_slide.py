"""Sliding: the nearest motion that contacts allow, against analytic answers and random trials."""

import numpy as np
import pytest

from jostle.fitting.slide import LARGEST_TURN, MOST_PLANES, Handle, Plane, _nearest, add_plane, slide
from jostle.geometry.pose import translation
from tests.tiny import random_pose

pytestmark = pytest.mark.small

UP, ASIDE = np.array([0.0, 0.0, 1.0]), np.array([1.0, 0.0, 0.0])


def test_a_motion_and_the_pose_after_it_belong_together():
    rng = np.random.default_rng(1)
    for _ in range(50):
        handle = Handle(rng.normal(size=3), rng.uniform(0.1, 10.0))
        begin, end = random_pose(rng), random_pose(rng)
        assert handle.moved(begin, handle.motion(begin, end)) == pytest.approx(end, abs=1e-12)
    assert handle.motion(begin, begin).tolist() == [0.0] * 6


def test_the_nearest_allowed_point_is_allowed_and_nothing_allowed_is_nearer():
    rng = np.random.default_rng(2)
    found = 0
    for _ in range(300):
        rows = rng.normal(size=(rng.integers(1, MOST_PLANES + 1), 6))
        least, wish = rng.uniform(-0.5, 0.3, len(rows)), rng.normal(size=6)
        point = _nearest(wish, rows, least)
        if point is None:
            continue
        found += 1
        assert (rows @ point >= least - 1e-9).all()
        best = np.linalg.norm(point - wish)
        others = point + rng.normal(size=(500, 6)) * rng.uniform(0.0, 1.0, (500, 1)) ** 3
        allowed = others[(others @ rows.T >= least).all(axis=1)]
        assert (np.linalg.norm(allowed - wish, axis=1) >= best - 1e-9).all()
    assert found > 250


def test_what_no_point_satisfies_is_none():
    assert _nearest(np.zeros(3), np.array([UP, -UP]), np.array([0.1, 0.1])) is None
    assert _nearest(np.zeros(3), np.array([UP, UP]), np.array([0.1, 0.2])) == pytest.approx([0, 0, 0.2])


def test_a_body_that_rests_with_its_middle_on_a_plane_slides_along_it():
    handle, pose = Handle(np.zeros(3), 1.0), translation((5.0, 6.0, 7.0))
    below = Plane(np.array([0.0, 0.0, -1.0]), UP)
    allowed = slide(handle, pose, np.array([1.0, 2.0, -3.0, 0, 0, 0]), [below])
    assert allowed == pytest.approx([1.0, 2.0, 0.0, 0, 0, 0])
    free = np.array([1.0, 2.0, 3.0, 0, 0, 0])
    assert slide(handle, pose, free, [below]) == pytest.approx(free)
    wall = Plane(np.array([-1.0, 0.0, 0.0]), ASIDE)
    assert slide(handle, pose, np.array([-1.0, 2.0, -3.0, 0, 0, 0]), [below, wall]) == pytest.approx([0, 2, 0, 0, 0, 0])


def test_a_body_held_at_one_end_turns_about_it():
    handle, pose = Handle(np.zeros(3), 1.0), np.eye(4)
    held = Plane(np.array([2.0, 0.0, -0.1]), UP)
    motion = slide(handle, pose, np.array([0.0, 0.0, -0.01, 0, 0, 0]), [held])
    assert motion[2] < 0.0
    assert motion[4] < 0.0  # about -y: the end at +x goes up relative to the middle
    after = handle.moved(pose, motion)
    corner = np.array([2.0, 0.0, -0.1, 1.0])
    assert (after @ corner)[2] >= -0.1


def test_no_contact_point_of_a_slide_comes_nearer_even_along_its_arc():
    rng = np.random.default_rng(5)
    turned = 0
    for _ in range(200):
        handle, pose = Handle(rng.normal(size=3), rng.uniform(0.5, 2.0)), random_pose(rng)
        normals = rng.normal(size=(rng.integers(1, 4), 3))
        normals /= np.linalg.norm(normals, axis=1, keepdims=True)
        planes = [Plane(handle.centre + rng.normal(size=3), normal) for normal in normals]
        wish = np.append(rng.normal(size=3) * rng.choice([1.0, 20.0]), rng.normal(size=3) * 0.05)  # short and long ways
        motion = slide(handle, pose, wish, planes)
        assert np.linalg.norm(motion[3:]) / handle.radius <= LARGEST_TURN + 1e-12
        turned += bool(motion[3:].any())
        for share in np.linspace(0.0, 1.0, 9):
            moved = handle.moved(pose, motion * share) - pose
            for plane in planes:
                shift = moved[:3, :3] @ plane.point + moved[:3, 3]
                assert plane.normal @ shift >= -1e-9
    assert turned > 150


def test_between_two_plates_a_body_shifts_and_does_not_turn():
    handle, pose = Handle(np.zeros(3), 1.0), np.eye(4)
    plates = [Plane(np.array([0.0, 0.0, -1.0]), UP), Plane(np.array([0.0, 0.0, 1.0]), -UP)]
    motion = slide(handle, pose, np.array([0.5, 0.0, -0.3, 0.05, 0.0, 0.0]), plates)
    assert motion == pytest.approx([0.5, 0, 0, 0, 0, 0], abs=1e-12)


def test_planes_are_kept_once_and_not_without_end():
    planes = []
    for k in range(20):
        planes = add_plane(planes, Plane(np.array([float(k), 0.0, 0.0]), UP), near=0.5)
    assert [plane.point[0] for plane in planes] == [14.0, 15.0, 16.0, 17.0, 18.0, 19.0]
    again = add_plane(planes, Plane(np.array([17.1, 0.0, 0.0]), UP), near=0.5)
    assert [plane.point[0] for plane in again] == [14.0, 15.0, 16.0, 18.0, 19.0, 17.1]
    assert len(add_plane(planes[:2], Plane(planes[0].point, ASIDE), near=0.5)) == 3
