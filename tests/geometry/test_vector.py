"""Vectors against NumPy and exact integers, and triangles and boxes made of them."""

import math

import numpy as np
import pytest

from jostle.geometry import triangle, vector
from jostle.geometry.vector import Vec2, Vec3
from jostle.kernels.jit import interpreted
from tests.values import bounds, triangles, vec3s


@pytest.mark.small
def test_products_of_whole_numbers_are_exact():
    rng = np.random.default_rng(1)
    for _ in range(50):
        a, b = rng.integers(-1000, 1000, size=(2, 3))
        first, second = vec3s([a, b])
        assert vector.dot(first, second) == int(np.dot(a, b))
        assert vector.cross(first, second) == tuple(np.cross(a, b).tolist())
        assert vector.plus(first, second) == tuple((a + b).tolist())
        assert vector.minus(first, second) == tuple((a - b).tolist())
        assert vector.times(3.0, first) == tuple((3 * a).tolist())
        assert vector.absolute(first) == tuple(np.abs(a).tolist())
        assert vector.negative(first) == tuple((-a).tolist())
        assert [vector.coordinate(first, axis) for axis in range(3)] == a.tolist()


@pytest.mark.small
def test_length_spans_the_accepted_range():
    assert vector.length(Vec3(3.0, 4.0, 12.0)) == 13.0
    assert math.isclose(vector.length(Vec3(2e-46, 3e-46, 6e-46)), 7e-46)
    assert math.isclose(vector.length(Vec3(2e30, 3e30, 6e30)), 7e30)


@pytest.mark.small
def test_the_view_along_an_axis_keeps_the_turn():
    a = Vec3(1.0, 2.0, 3.0)
    assert [vector.seen_along(axis, a) for axis in range(3)] == [Vec2(2.0, 3.0), Vec2(3.0, 1.0), Vec2(1.0, 2.0)]


@pytest.mark.small
def test_equal_and_zero_points():
    a, b = Vec3(1.0, 0.0, 2.0), Vec3(1.0, -0.0, 2.0)
    assert vector.same_point(a, b)
    assert not any(vector.same_point(a, Vec3(*np.add(a, step).tolist())) for step in np.eye(3))
    assert vector.is_zero(Vec3(0.0, -0.0, 0.0))
    assert not any(vector.is_zero(Vec3(*step)) for step in np.eye(3).tolist())


@pytest.mark.small
def test_points_are_read_and_written_in_rows_and_in_flat_arrays():
    rows, flat = np.arange(12.0).reshape(4, 3), np.arange(12.0)
    assert vector.point_at(rows, 2) == (6.0, 7.0, 8.0)
    assert vector.point_from(flat, 4) == (4.0, 5.0, 6.0)
    vector.write_point(rows, 1, Vec3(-1.0, -2.0, -3.0))
    vector.write_point_from(flat, 9, Vec3(-1.0, -2.0, -3.0))
    assert rows[1].tolist() == flat[9:].tolist() == [-1.0, -2.0, -3.0]
    assert rows[0].tolist() == [0.0, 1.0, 2.0]


@pytest.mark.small
def test_triangles_are_read_from_every_layout():
    corners = np.random.default_rng(2).normal(size=(5, 3, 3))
    (wanted,) = triangles(corners[3])
    vertices, faces = corners.reshape(-1, 3), np.arange(15, dtype=np.int32).reshape(5, 3)
    lanes = np.zeros(72)
    lanes[3::8] = corners[3].ravel()
    for run in (lambda one: one, interpreted):
        assert run(triangle.face_at)(vertices, faces, 3) == wanted
        assert run(triangle.triangle_of_points)(vertices, 9, 10, 11) == wanted
        assert run(triangle.triangle_of_row)(corners.reshape(5, 9), 3) == wanted
        assert run(triangle.triangle_from)(corners.ravel(), 27) == wanted
        assert run(triangle.triangle_in_lane)(lanes, 3) == wanted


@pytest.mark.small
def test_boxes_of_triangles_meet_as_intervals_do():
    rng = np.random.default_rng(3)
    meeting = 0
    for _ in range(200):
        corners = rng.integers(-2, 3, size=(2, 3, 3)).astype(float)
        a, b = (triangle.triangle_bounds(one) for one in triangles(corners))
        lower, upper = corners.min(axis=1), corners.max(axis=1)
        assert (list(a.lower), list(a.upper)) == (lower[0].tolist(), upper[0].tolist())
        meet = bool((lower[0] <= upper[1]).all() and (lower[1] <= upper[0]).all())
        assert triangle.bounds_meet(a, b) == meet
        assert [triangle.union_of_bounds(a, b)] == bounds([lower.min(axis=0), upper.max(axis=0)])
        if meet:
            meeting += 1
            assert [triangle.common_bounds(a, b)] == bounds([lower.max(axis=0), upper.min(axis=0)])
    assert 20 < meeting < 180
