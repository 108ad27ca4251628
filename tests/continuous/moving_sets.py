"""Sets of moving queries (n,8,3): ordinary ones, and all that is hard for floats. Point–triangle and edge–edge in turns."""

from __future__ import annotations

import numpy as np


def rotated(rng, corners):
    q, _ = np.linalg.qr(rng.standard_normal((len(corners), 3, 3)))
    return np.einsum("nij,nvj->nvi", q, corners)


def whole_numbers(rng, n, size):
    return rng.integers(-size, size + 1, size=(n, 8, 3)).astype(float)


def random(rng, n):
    return rng.random((n, 8, 3))


def small_motions(rng, n):
    start = rng.random((n, 4, 3))
    return np.concatenate([start, start + 0.1 * rng.standard_normal((n, 4, 3))], axis=1)


def far_from_the_origin(rng, n):
    return small_motions(rng, n) + 1e6


def near_whole_numbers(rng, n):
    corners = whole_numbers(rng, n, 3)
    return corners * (1.0 + rng.integers(-2, 3, size=corners.shape) * 2.0**-52)


def degenerate(rng, n):
    """In a plane, on a line, translated, triangles and edges that are segments and points, at rest, one part at rest."""
    corners = whole_numbers(rng, n, 2)
    kind = np.arange(n) // 2 % 8
    corners[kind == 0, :, 2] = 0.0
    corners[kind == 1, :, 1:] = 0.0
    for row in np.flatnonzero((kind == 2) | (kind == 3)):
        corners[row, 4:] = corners[row, :4] + rng.integers(-2, 3, size=3)
    for row in np.flatnonzero(kind == 4):
        corners[row, 3], corners[row, 7] = corners[row, 2], corners[row, 6]
    for row in np.flatnonzero(kind == 5):
        corners[row, 1], corners[row, 5] = corners[row, 0], corners[row, rng.integers(4, 6)]
    for row in np.flatnonzero(kind >= 6):
        corners[row, 4:] = corners[row, :4]
    for row in np.flatnonzero(kind == 7):
        corners[row, 4:6] += rng.integers(-2, 3, size=3)
    return corners


def in_a_plane(rng, n):
    corners = whole_numbers(rng, n, 3)
    corners[:, :, 2] = 0.0
    return corners


def in_a_plane_off_grid(rng, n):
    corners = rng.random((n, 8, 3))
    corners[:, :, 2] = 0.25
    return corners


def in_a_skew_plane(rng, n):
    corners = whole_numbers(rng, n, 3)
    corners[:, :, 0] = corners[:, :, 1]
    return corners


def sliding(rng, n):
    """Flat parts that slide on each other: one part at rest, the other translated in their plane."""
    corners = in_a_plane(rng, n)
    corners[:, 4:] = corners[:, :4]
    for row in range(n):
        corners[row, 4 : 5 + row % 2, :2] += rng.integers(-3, 4, size=2)
    return corners


def landing(rng, n):
    """The same, with a change of height."""
    corners = sliding(rng, n)
    for row in range(n):
        height = rng.integers(0, 3)
        corners[row, : 1 + row % 2, 2] += height
        corners[row, 4 : 5 + row % 2, 2] += height + rng.integers(-2, 1)
    return corners


def hinged(rng, n):
    """One edge of the triangle, or one of the edges, keeps its vector and the rest does not; in a plane, every other time."""
    corners = whole_numbers(rng, n, 2)
    corners[n // 2 :, :, 2] = 0.0
    for row in range(n):
        i, j = (1, 2 + row // 2 % 2) if row % 2 == 0 else (row // 2 % 2 * 2, row // 2 % 2 * 2 + 1)
        corners[row, 4 + j] = corners[row, 4 + i] + corners[row, j] - corners[row, i]
    return corners


def on_a_line(rng, n):
    corners = np.zeros((n, 8, 3))
    corners[:, :, 0] = rng.integers(-5, 6, size=(n, 8))
    return corners


def on_a_skew_line(rng, n):
    return on_a_line(rng, n)[:, :, :1] * np.array([1.0, 2.0, -1.0])


def touching_after_rounding(rng, n):
    """The point passes through an edge of the triangle, the end of an edge through the other edge, but for rounding."""
    corners = rng.random((n, 8, 3))
    for row in range(n):
        t, s = rng.random(), rng.random()
        p, a, b, _ = corners[row, :4] * (1.0 - t) + corners[row, 4:] * t
        if row % 2 == 0:
            target, way = (1.0 - s) * a + s * b, rng.standard_normal(3)
            corners[row, 0], corners[row, 4] = target - t * way, target + (1.0 - t) * way
        else:
            shift = ((1.0 - s) * p + s * a) - b
            corners[row, 2], corners[row, 6] = corners[row, 2] + shift, corners[row, 6] + shift
    return corners


def touching_on_a_grid(rng, n):
    return np.round(touching_after_rounding(rng, n) * 1024.0) / 1024.0


def meeting_exactly(rng, n):
    """A point of one part meets a point of the other, at corners too, at a time k/256; every fourth time but for one rounding."""
    corners = whole_numbers(rng, n, 64)
    for row in range(n):
        t, weights = rng.integers(0, 257) / 256.0, rng.permutation([0.0, 0.0, 1.0] if row % 3 else [0.5, 0.5, 0.0])
        p, a, b, c = corners[row, :4] * (1.0 - t) + corners[row, 4:] * t
        if row % 2 == 0:
            target, way = weights @ np.array([a, b, c]), rng.integers(-64, 65, size=3)
            corners[row, 0], corners[row, 4] = target - t * way, target + (1.0 - t) * way
        else:
            u, v = rng.integers(0, 5, size=2) / 4.0
            shift = (p + u * (a - p)) - (b + v * (c - b))
            corners[row, 2:4], corners[row, 6:] = corners[row, 2:4] + shift, corners[row, 6:] + shift
        if row % 8 < 2:
            at = (row, rng.integers(0, 8), rng.integers(0, 3))
            corners[at] = np.nextafter(corners[at], np.inf)
    return corners


def turned_inside_out(rng, n):
    """A triangle goes through its own middle or over one of its edges; an edge is turned round."""
    corners = whole_numbers(rng, n, 3)
    for row in range(0, n, 2):
        if row % 4:
            corners[row, 5:] = 2.0 * rng.integers(-2, 3, size=3) - corners[row, 1:4]
        else:
            corners[row, 5:] = corners[row, 1:4]
            corners[row, 6] += 2.0 * (corners[row, 1] - corners[row, 2])
    corners[1::2, 4:6] = corners[1::2, [1, 0]] + rng.integers(-1, 2, size=(len(corners[1::2]), 1, 3))
    return corners


def nearly_double_roots(rng, n):
    """Planes and edges that turn about a point and graze: f is k (t - a)² and a difference from 0 to 2^-30."""
    corners = np.empty((n, 8, 3))
    for row in range(n):
        a, k, eps = rng.integers(1, 64) / 64.0, rng.integers(-4, 5), rng.choice([0.0, 2.0**-30, -(2.0**-50), 2.0**-70])
        for end in (0, 1):
            x, slope = end - a, k * (end - a)
            if row % 2 == 0:
                here = [[x, 0.0, eps], [-8.0, -8.0, -8.0 * slope], [8.0, -8.0, 8.0 * slope], [0.0, 8.0, 0.0]]
            else:
                here = [[-4.0, 0.0, -4.0 * slope], [4.0, 0.0, 4.0 * slope], [x, -4.0, eps], [x, 4.0, eps]]
            corners[row, 4 * end : 4 * end + 4] = here
    return corners


def of_all_sizes(rng, n):
    corners = whole_numbers(rng, n, 3)
    large = rng.random(corners.shape) < 0.3
    return np.where(large, corners * 10.0 ** rng.integers(-25, 25, size=corners.shape), corners)


SETS = {
    "random": random,
    "small motions": small_motions,
    "far from the origin": far_from_the_origin,
    "whole numbers to 1": lambda rng, n: whole_numbers(rng, n, 1),
    "whole numbers to 2": lambda rng, n: whole_numbers(rng, n, 2),
    "whole numbers to 3": lambda rng, n: whole_numbers(rng, n, 3),
    "whole numbers far away": lambda rng, n: whole_numbers(rng, n, 3) + 1e6,
    "near whole numbers": near_whole_numbers,
    "thirds": lambda rng, n: whole_numbers(rng, n, 3) / 3.0,
    "degenerate": degenerate,
    "in a plane": in_a_plane,
    "in a plane, thirds": lambda rng, n: in_a_plane(rng, n) / 3.0,
    "in a plane, off the grid": in_a_plane_off_grid,
    "in a plane, rotated": lambda rng, n: rotated(rng, in_a_plane(rng, n)),
    "in a skew plane": in_a_skew_plane,
    "sliding": sliding,
    "sliding, thirds": lambda rng, n: sliding(rng, n) / 3.0,
    "sliding, rotated": lambda rng, n: rotated(rng, sliding(rng, n)),
    "landing": landing,
    "landing, rotated": lambda rng, n: rotated(rng, landing(rng, n)),
    "hinged": hinged,
    "on a line": on_a_line,
    "on a skew line": on_a_skew_line,
    "on a line, rotated": lambda rng, n: rotated(rng, on_a_line(rng, n)),
    "touching after rounding": touching_after_rounding,
    "touching on a grid": touching_on_a_grid,
    "meeting exactly": meeting_exactly,
    "turned inside out": turned_inside_out,
    "nearly double roots": nearly_double_roots,
    "of all sizes": of_all_sizes,
}


def queries_of(name, n, seed=0):
    """Return n queries of a set: those of kind 0 and those of kind 1, each (n/2,8,3)."""
    corners = SETS[name](np.random.default_rng([seed, *name.encode()]), n) + 0.0
    corners[np.abs(corners) < 1e-30] = 0.0
    return np.ascontiguousarray(corners[::2]), np.ascontiguousarray(corners[1::2])
