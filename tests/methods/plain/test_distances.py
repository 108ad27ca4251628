"""Distances of triangles in columns are those of the kernels, to the bit, and right to rounding by rational arithmetic."""

import math

import numpy as np
import pytest

from jostle.geometry.reported_distance import SMALLEST_DISTANCE, reported_distance
from jostle.geometry.triangle import Triangle
from jostle.geometry.triangle_triangle_distance import closest_points_of_triangles
from jostle.geometry.vector import Vec3
from jostle.methods.plain import distances
from tests.methods.plain.triangle_pairs import FAMILIES, facing, general, in_columns, pairs, shared_corners
from tests.oracle import rational

pytestmark = pytest.mark.small


families = pytest.mark.parametrize("family", FAMILIES, ids=[family.__name__ for family in FAMILIES])


def compiled(a, b, distance=reported_distance):
    made = [[Triangle(*(Vec3(*corner) for corner in t)) for t in triangles.tolist()] for triangles in (a, b)]
    return np.array([distance(*pair) for pair in zip(*made, strict=True)])


@families
def test_columns_give_the_bytes_of_the_kernel(family):
    a, b = pairs(family, 300)
    found = distances.reported_distances(in_columns(a), in_columns(b))
    expected = compiled(a, b)
    assert found.tobytes() == expected.tobytes(), np.flatnonzero(found != expected)


@families
def test_robust_distances_have_the_bytes_of_the_kernel(family):
    """They count where both evaluations disagree, which is rare."""
    a, b = pairs(family, 300, seed=2)
    with np.errstate(all="ignore"):
        found = np.sqrt(distances.robust_squared(in_columns(a), in_columns(b)))
    expected = compiled(a, b, lambda *pair: closest_points_of_triangles(*pair).distance)
    assert found.tobytes() == expected.tobytes(), np.flatnonzero(found != expected)


@families
def test_columns_are_right_by_rational_arithmetic(family):
    a, b = pairs(family, 40, seed=1)
    apart = [k for k in range(len(a)) if not rational.triangles_touch(a[k].tolist(), b[k].tolist())]
    assert len(apart) > 5 or family is shared_corners
    found = distances.reported_distances(in_columns(a[apart]), in_columns(b[apart]))
    assert (found >= SMALLEST_DISTANCE).all()
    for k, distance in zip(apart, found.tolist(), strict=True):
        exact = math.sqrt(rational.squared_distance(a[k].tolist(), b[k].tolist()))
        assert abs(distance - exact) <= 2.0**-44 * np.ptp(np.concatenate([a[k], b[k]]), axis=0).max()


def test_the_number_of_pairs_at_once_does_not_show(monkeypatch):
    a, b = (in_columns(triangles) for triangles in pairs(general, 70))
    whole = distances.reported_distances(a, b)
    monkeypatch.setattr(distances, "BLOCK", 7)
    assert distances.reported_distances(a, b).tobytes() == whole.tobytes()
    alone = [distances.reported_distances(a[..., k : k + 1], b[..., k : k + 1]) for k in range(70)]
    assert np.concatenate(alone).tobytes() == whole.tobytes()
    assert distances.reported_distances(a[..., :0], b[..., :0]).shape == (0,)


def test_faces_that_are_apart_are_never_at_distance_0():
    """Distances of nearly coplanar triangles may round to 0."""
    a, b = pairs(facing, 2000)
    found = distances.reported_distances(in_columns(a), in_columns(b))
    rounded = np.flatnonzero(found == SMALLEST_DISTANCE)
    assert len(rounded)
