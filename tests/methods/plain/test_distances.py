"""Distances of triangles in columns are those of the kernels, to the bit, and right to rounding by rational arithmetic."""

import math

import numpy as np
import pytest

from jostle.geometry.reported_distance import SMALLEST_DISTANCE, reported_distance
from jostle.geometry.triangle import Triangle
from jostle.geometry.triangle_triangle_distance import closest_points_of_triangles
from jostle.geometry.vector import Vec3
from jostle.methods.plain import distances
from tests.oracle import rational

pytestmark = pytest.mark.small


def general(rng, count):
    a, b = rng.normal(size=(2, count, 3, 3))
    return a, b + rng.normal(size=(count, 1, 3)) * rng.choice([0.0, 0.5, 3.0], (count, 1, 1))


def integer_grid(rng, count):
    return rng.integers(-2, 3, (2, count, 3, 3)).astype(float)


def coplanar(rng, count):
    pair = rng.integers(-4, 5, (2, count, 3, 3)).astype(float)
    pair[..., 2] = rng.integers(0, 2, (2, count, 1))
    turn = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    return [[t @ turn if k % 2 else t for k, t in enumerate(triangles)] for triangles in pair]


def shared_corners(rng, count):
    a, b = rng.normal(size=(2, count, 3, 3))
    for k in range(count):
        number = rng.integers(1, 4)
        b[k, rng.permutation(3)[:number]] = a[k, rng.permutation(3)[:number]]
    return a, b + 10.0 ** rng.uniform(-17, 0, (count, 1, 1)) * rng.choice([0.0, 1.0], (count, 1, 3))


def lines_and_points(rng, count):
    pair = rng.integers(-3, 4, (2, count, 3, 3)) * rng.choice([1.0, 0.1, math.pi], (2, count, 1, 1))
    for triangles in pair:
        for t in triangles:
            shape = rng.integers(4)
            if shape == 0:
                t[:] = t[0]
            elif shape == 1:
                t[2] = t[rng.integers(2)]
            elif shape == 2:
                t[2] = t[0] + rng.uniform(-1, 2) * (t[1] - t[0])
    return pair


def far_away(rng, count):
    a, b = general(rng, count)
    return a + 1e7, b + 1e7


def small(rng, count):
    a, b = general(rng, count)
    return 1e-9 * a, 1e-9 * b


def mixed_scales(rng, count):
    return rng.normal(size=(2, count, 3, 3)) * 10.0 ** rng.uniform(-29, 29, (2, count, 1, 1))


def facing(rng, count):
    """Faces nearly parallel, at any small gap."""
    a = rng.normal(size=(count, 3, 3))
    normal = np.cross(a[:, 1] - a[:, 0], a[:, 2] - a[:, 0])[:, None]
    b = rng.dirichlet(np.ones(3), (count, 3)) @ a
    return a, b + normal * 10.0 ** rng.uniform(-18, 0, (count, 1, 1)) * (1 + rng.normal(size=(count, 3, 1)))


def parallel_edges(rng, count):
    a = rng.integers(-3, 4, (count, 3, 3)).astype(float)
    b = a * rng.choice([1.0, 2.0, -1.0, 1 + 2.0**-40], (count, 1, 1)) + rng.normal(size=(count, 1, 3))
    return a, b[:, rng.permutation(3)]


FAMILIES = (
    general, integer_grid, coplanar, shared_corners, lines_and_points, far_away, small, mixed_scales, facing, parallel_edges
)  # fmt: skip
families = pytest.mark.parametrize("family", FAMILIES, ids=[family.__name__ for family in FAMILIES])


def pairs(family, count, seed=0):
    """Return triangles (n, corner, coordinate) of a family."""
    a, b = family(np.random.default_rng([seed, *family.__name__.encode()]), count)
    return np.ascontiguousarray(a), np.ascontiguousarray(b)


def in_columns(triangles):
    """Return (coordinate, corner, triangle)."""
    return np.ascontiguousarray(np.asarray(triangles).transpose(2, 1, 0))


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
