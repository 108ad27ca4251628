"""Boxes against minima over points, the world formula and rational distances."""

from fractions import Fraction

import numpy as np
import pytest

from jostle.geometry import aabb
from jostle.geometry.triangle import bounds_meet
from tests.values import bounds


def random_pose(rng, offset, defect):
    q, _ = np.linalg.qr(rng.normal(size=(3, 3)))
    pose = np.eye(4)
    pose[:3, :3] = q * np.sign(np.linalg.det(q)) + rng.uniform(-defect, defect, size=(3, 3))
    pose[:3, 3] = offset * rng.uniform(-1.0, 1.0, size=3)
    return pose


def world_vertices(pose, points):
    """The formula of the conventions; NumPy rounds after every elementwise operation."""
    world = np.stack([((r[0] * points[:, 0] + r[1] * points[:, 1]) + r[2] * points[:, 2]) + r[3] for r in pose[:3]], axis=1)
    return np.where(np.abs(world) < 1e-30, 0.0, world)


@pytest.mark.small
def test_face_boxes_are_exact():
    rng = np.random.default_rng(1)
    vertices = rng.normal(size=(30, 3)) * 10.0 ** rng.integers(-9, 9, size=(30, 1))
    faces = rng.integers(0, 30, size=(60, 3)).astype(np.int32)
    lower, upper = aabb.face_boxes(vertices, faces)
    assert np.array_equal(lower, vertices[faces].min(axis=1))
    assert np.array_equal(upper, vertices[faces].max(axis=1))


@pytest.mark.small
@pytest.mark.parametrize("size", [1e-30, 1e-9, 1.0, 1e9])
def test_world_boxes_contain_world_vertices_and_are_tight(size):
    rng = np.random.default_rng(2)
    poses = np.stack([random_pose(rng, offset * size, 1e-6) for offset in (0.0, 1.0, 1e3, 1e7) for _ in range(5)])
    points = rng.uniform(-1.0, 1.0, size=(len(poses), 25, 3)) * size
    lower, upper = points.min(axis=1), points.max(axis=1)
    corners = np.stack(
        [np.where([[i & 1, i & 2, i & 4]], upper, lower) for i in range(8)], axis=1
    )  # (n, 8, 3): the box itself, so that it is touched from inside
    out_lower, out_upper = aabb.world_boxes(poses, lower, upper)
    for i, pose in enumerate(poses):
        world = world_vertices(pose, np.concatenate([points[i], corners[i]]))
        assert (out_lower[i] <= world.min(axis=0)).all()
        assert (world.max(axis=0) <= out_upper[i]).all()
        # Each bound is the formula at a corner of the local box, so it is reached.
        assert np.array_equal(out_lower[i], world.min(axis=0))
        assert np.array_equal(out_upper[i], world.max(axis=0))


@pytest.mark.small
def test_the_box_of_points_is_exact():
    rng = np.random.default_rng(5)
    for count in (1, 2, 7, 40):
        points = rng.normal(size=(count, 3)) * 10.0 ** rng.integers(-20, 20, (count, 3))
        points.flags.writeable = False
        lower, upper = np.empty(3), np.empty(3)
        aabb.box_of_points(points, lower, upper)
        for k in range(3):
            column = points[:, k].tolist()
            assert lower[k] == min(column)
            assert upper[k] == max(column)


@pytest.mark.small
def test_world_boxes_at_the_identity_are_the_local_ones():
    lower, upper = np.full((2, 3), -1.0), np.full((2, 3), 2.0)
    out_lower, out_upper = aabb.world_boxes(np.stack([np.eye(4)] * 2), lower, upper)
    assert np.array_equal(out_lower, lower)
    assert np.array_equal(out_upper, upper)


@pytest.mark.small
def test_overlap_and_distance_agree_with_rational_truth():
    rng = np.random.default_rng(3)
    overlapping = 0
    for case in range(400):
        corners = (
            rng.integers(-3, 4, size=(2, 2, 3)).astype(float)
            if case % 2
            else rng.normal(size=(2, 2, 3)) * 10.0 ** rng.integers(-25, 25)
        )
        (al, au), (bl, bu) = (np.sort(box, axis=0) for box in corners)
        gaps = [max(Fraction(0), Fraction(bl[k]) - Fraction(au[k]), Fraction(al[k]) - Fraction(bu[k])) for k in range(3)]
        truth = sum(gap * gap for gap in gaps)
        arguments = [*al.tolist(), *au.tolist(), *bl.tolist(), *bu.tolist()]
        assert bounds_meet(*bounds(arguments)) == (truth == 0)
        overlapping += truth == 0
        bound = Fraction(float(aabb.bounds_squared_distance(*bounds(arguments))))
        assert bound <= truth
        assert bound >= truth * (1 - Fraction(3, 10**15))
    assert 20 < overlapping < 380
