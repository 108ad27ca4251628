"""Triangle distances against rational arithmetic, for any shape and size."""

from fractions import Fraction

import numpy as np
import pytest

from jostle.geometry import triangle_triangle_distance
from tests.geometry.test_point_triangle import PLACES, ROUNDING, separation, shaped_triangle, span
from tests.values import triangles


def shaped_pair(rng, kind):
    if kind == "apart":
        return rng.normal(size=(3, 3)), rng.normal(size=(3, 3)) + np.array([rng.uniform(2, 5), 0, 0])
    if kind == "crossing":
        return rng.normal(size=(3, 3)), rng.normal(size=(3, 3))
    if kind == "facing":
        # Nearly parallel faces at any small gap: the direction between closest points is ill determined.
        first = rng.normal(size=(3, 3))
        normal = np.cross(first[1] - first[0], first[2] - first[0])
        normal /= np.linalg.norm(normal)
        second = rng.dirichlet(np.ones(3), size=3) * rng.uniform(0.2, 3) @ first
        tilt = rng.normal(size=(3, 1)) * 10.0 ** -rng.uniform(1, 17)
        return first, second + normal * (10.0 ** -rng.uniform(1, 17) + tilt)
    if kind == "sharing":
        first, second = rng.normal(size=(2, 3, 3))
        second[: rng.integers(1, 3)] = first[0]
        return first, second
    shapes = ["any", "needle", "flat", "segment", "point"]
    first, second = (shaped_triangle(rng, shapes[rng.integers(5)]) for _ in range(2))
    return first, second + (0.0 if rng.random() < 0.5 else rng.normal(size=3))


KINDS = ["apart", "crossing", "facing", "sharing", "shaped"]


@pytest.mark.small
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("size", "offset"), PLACES)
def test_distance_and_points(kind, size, offset):
    rng = np.random.default_rng(13)
    for _ in range(15):
        pair = (np.stack(shaped_pair(rng, kind)) + offset) * size
        size_of_all = span(*pair)
        distance, *points = triangle_triangle_distance.closest_points_of_triangles(*triangles(pair))
        truth = separation(*pair)
        assert abs(Fraction(distance) - truth) <= 128 * ROUNDING * size_of_all
        slack = 128 * ROUNDING * (size_of_all + Fraction(np.abs(pair).max()))
        assert separation(points[0], pair[0]) <= slack
        assert separation(points[1], pair[1]) <= slack
        assert abs(separation(points[0], points[1]) - truth) <= slack


@pytest.mark.small
def test_an_edge_through_a_face_far_from_its_rim_has_distance_zero():
    corners = [(-9.0, -9.0, 0.0), (9.0, -9.0, 0.0), (0.0, 18.0, 0.0), (0.0, 0.0, -5.0), (0.0, 0.0, 5.0), (1.0, 0.0, 5.0)]
    distance, on_a, on_b = triangle_triangle_distance.closest_points_of_triangles(*triangles(corners))
    assert distance == 0.0
    assert on_a == on_b
    assert on_a.z == pytest.approx(0.0, abs=1e-14)


@pytest.mark.small
def test_faces_that_lean_towards_each_other_behind_close_edges():
    """Nearly parallel edges know their direction to 1e-8: that must not settle it."""
    rng = np.random.default_rng(15)
    for _ in range(120):
        first = rng.normal(size=(3, 3))
        normal = np.cross(first[1] - first[0], first[2] - first[0])
        normal /= np.linalg.norm(normal)
        second = np.array([first[0], first[1], rng.dirichlet(np.ones(3)) @ first])
        second += np.outer(1e-8 + 1e-9 * rng.normal(size=3) - [0.0, 0.0, 1e-9], normal)
        distance = triangle_triangle_distance.closest_points_of_triangles(*triangles([first, second]))[0]
        assert abs(Fraction(distance) - separation(first, second)) <= 128 * ROUNDING * span(first, second)


@pytest.mark.small
def test_swapping_the_triangles_swaps_the_points():
    rng = np.random.default_rng(14)
    for _ in range(20):
        first, second = shaped_pair(rng, "apart")
        there = triangle_triangle_distance.closest_points_of_triangles(*triangles([first, second]))
        back = triangle_triangle_distance.closest_points_of_triangles(*triangles([second, first]))
        assert back.distance == pytest.approx(there.distance, rel=1e-13)
        assert [*back.on_b, *back.on_a] == pytest.approx([*there.on_a, *there.on_b], abs=1e-6)
