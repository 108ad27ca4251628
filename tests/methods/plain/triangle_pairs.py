"""Random pairs of triangles of every degree of degeneracy, by family and seed."""

import math

import numpy as np


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


def pairs(family, count, seed=0):
    """Return triangles (n, corner, coordinate) of a family."""
    a, b = family(np.random.default_rng([seed, *family.__name__.encode()]), count)
    return np.ascontiguousarray(a), np.ascontiguousarray(b)


def in_columns(triangles):
    """Return (coordinate, corner, triangle)."""
    return np.ascontiguousarray(np.asarray(triangles).transpose(2, 1, 0))
