"""Closest points of segments against rational arithmetic, parallel ones included."""

from fractions import Fraction

import numpy as np
import pytest

from jostle.geometry import segment_segment
from tests.geometry.test_point_triangle import PLACES, ROUNDING, root, separation, span
from tests.values import segments


def shaped_pair(rng, kind):
    """Two segments of size about 1."""
    a, b, c, d = rng.normal(size=(4, 3))
    tiny = 10.0 ** -rng.uniform(1, 17)
    if kind == "parallel":
        d = c + (b - a) * rng.choice([-2.0, 0.5, 1.0])
    elif kind == "nearly parallel, crossing":
        middle = a + rng.uniform(0, 1) * (b - a)
        f = (b - a) * rng.uniform(0.5, 2) + tiny * (d - c)
        c = middle - rng.uniform(0, 1) * f + rng.normal(size=3) * 10.0 ** -rng.uniform(3, 17) * rng.integers(0, 2)
        d = c + f
    elif kind == "collinear":
        c, d = (a + t * (b - a) for t in rng.uniform(-2, 2, size=2))
    elif kind == "points":
        b = a
        d = c if rng.random() < 0.5 else d
    elif kind == "short and long":
        b = a + tiny * (b - a)
    return np.array([a, b, c, d])[[0, 1, 2, 3] if rng.random() < 0.5 else [2, 3, 0, 1]]


KINDS = ["any", "parallel", "nearly parallel, crossing", "collinear", "points", "short and long"]


@pytest.mark.small
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("size", "offset"), PLACES)
def test_distance_and_points(kind, size, offset):
    rng = np.random.default_rng(12)
    for _ in range(25):
        ends = (shaped_pair(rng, kind) + offset) * size
        size_of_all = span(ends)
        squared, *points = segment_segment.closest_points_of_segments(*segments(ends))
        truth = separation(ends[:2], ends[2:])
        assert abs(root(Fraction(squared)) - truth) <= 64 * ROUNDING * size_of_all
        slack = 64 * ROUNDING * (size_of_all + Fraction(np.abs(ends).max()))
        assert separation(points[0], ends[:2]) <= slack
        assert separation(points[1], ends[2:]) <= slack
        assert abs(separation(points[0], points[1]) - truth) <= slack


@pytest.mark.small
def test_by_hand():
    squared, *points = segment_segment.closest_points_of_segments(
        *segments([-1.0, 0.0, 0.0, 3.0, 0.0, 0.0, 0.0, -1.0, 2.0, 0.0, 4.0, 2.0])
    )
    assert squared == pytest.approx(4.0)
    assert [*points[0], *points[1]] == pytest.approx([0.0, 0.0, 0.0, 0.0, 0.0, 2.0])
    # Parallel and overlapping: any partner will do, the distance is that of the lines.
    squared, *points = segment_segment.closest_points_of_segments(
        *segments([0.0, 0.0, 0.0, 4.0, 0.0, 0.0, 6.0, 3.0, 0.0, 2.0, 3.0, 0.0])
    )
    assert squared == pytest.approx(9.0)
    # Parallel and past each other: end to end.
    squared, *points = segment_segment.closest_points_of_segments(
        *segments([0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 4.0, 4.0, 0.0, 9.0, 4.0, 0.0])
    )
    assert squared == pytest.approx(25.0)
    assert [*points[0], *points[1]] == pytest.approx([1.0, 0.0, 0.0, 4.0, 4.0, 0.0])
