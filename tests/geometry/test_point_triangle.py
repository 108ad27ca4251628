"""Closest points of triangles of every shape against rational arithmetic."""

import math
from fractions import Fraction

import numpy as np
import pytest

from jostle.geometry import point_triangle
from tests.oracle import rational
from tests.values import triangles, vec3s

ROUNDING = Fraction(1, 2**53)


def root(square):
    """Square root of a rational to 200 bits."""
    if square == 0:
        return Fraction(0)
    shift = 400 + 2 * max(0, square.denominator.bit_length() - square.numerator.bit_length())
    return Fraction(math.isqrt((square.numerator << shift) // square.denominator), 1 << (shift // 2))


def separation(first, second):
    """The exact distance of the hulls of one to three points each."""
    first, second = np.atleast_2d(first).tolist(), np.atleast_2d(second).tolist()
    if len(first) == len(second) == 1:
        return root(sum((Fraction(p) - Fraction(q)) ** 2 for p, q in zip(first[0], second[0], strict=True)))
    first, second = ([*corners, corners[-1], corners[-1]][:3] for corners in (first, second))
    return root(rational.squared_distance(first, second))


def span(*points):
    """The largest coordinate difference among points."""
    every = np.concatenate([np.atleast_2d(p) for p in points])
    return max(Fraction(high) - Fraction(low) for low, high in zip(every.min(axis=0), every.max(axis=0), strict=True))


def shaped_triangle(rng, kind):
    """A triangle of size about 1: any, a needle, flat, a segment or a point."""
    a, b, c = rng.normal(size=(3, 3))
    thin = 10.0 ** -rng.uniform(1, 17)
    if kind == "needle":
        c = b + thin * (c - b)
    elif kind == "flat":
        c = a + rng.uniform(0, 1) * (b - a) + thin * (c - a)
    elif kind == "segment":
        c = (a, b, (a + b) / 2)[rng.integers(3)]
    elif kind == "point":
        b, c = a, a
    return np.array([a, b, c])[rng.permutation(3)]


def near_point(rng, triangle):
    """A point anywhere, or near the triangle's plane, an edge or a corner."""
    weights = (rng.normal(size=3), rng.dirichlet(np.ones(3)), np.eye(3)[rng.integers(3)], [0.5, 0.5, 0.0])[rng.integers(4)]
    return np.asarray(weights) / np.sum(weights) @ triangle + rng.normal(size=3) * 10.0 ** -rng.uniform(0, 17) * rng.integers(0, 2)


KINDS = ["any", "needle", "flat", "segment", "point"]
PLACES = [(1.0, 0.0), (1e-30, 0.0), (1e29, 0.0), (1.0, 1e7), (1e-9, 1e7)]


@pytest.mark.small
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("size", "offset"), PLACES)
def test_distance_and_point(kind, size, offset):
    rng = np.random.default_rng(11)
    for _ in range(25):
        triangle = shaped_triangle(rng, kind)
        point = (near_point(rng, triangle) + offset) * size
        triangle = (triangle + offset) * size
        size_of_all = span(triangle, point)
        closest, squared = point_triangle.closest_point_on_triangle(*vec3s(point), *triangles(triangle))
        truth = separation(point, triangle)
        assert abs(root(Fraction(squared)) - truth) <= 64 * ROUNDING * size_of_all
        # The point lies on the triangle, and as far from p as said, but for the rounding of its coordinates.
        slack = 64 * ROUNDING * (size_of_all + Fraction(np.abs(triangle).max()))
        assert separation(closest, triangle) <= slack
        assert abs(separation(closest, point) - truth) <= slack


@pytest.mark.small
@pytest.mark.parametrize(
    ("point", "closest", "squared"),
    [
        ((1.0, 1.0, 5.0), (1.0, 1.0, 0.0), 25.0),  # over the face
        ((2.0, -3.0, 4.0), (2.0, 0.0, 0.0), 25.0),  # beside an edge
        ((-3.0, -4.0, 0.0), (0.0, 0.0, 0.0), 25.0),  # at a corner
        ((4.0, 0.0, 0.0), (4.0, 0.0, 0.0), 0.0),
        ((4.0, 4.0, 0.0), (2.0, 2.0, 0.0), 8.0),  # at the longest edge
    ],
)
def test_all_regions_by_hand(point, closest, squared):
    for turn in range(3):
        corners = np.roll([[0.0, 0.0, 0.0], [4.0, 0.0, 0.0], [0.0, 4.0, 0.0]], turn, axis=0)
        found, found_squared = point_triangle.closest_point_on_triangle(*vec3s(point), *triangles(corners))
        assert found == pytest.approx(closest, abs=1e-15)
        assert found_squared == pytest.approx(squared, abs=1e-14)
