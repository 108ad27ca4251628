"""Which faces of bodies that move on straight lines touch, and when, by rational arithmetic alone: imports nothing of jostle.

Two moving triangles first touch where they touch at the start, or where a corner meets a face or an edge meets an edge: 15 queries
of `tests/oracle/moving.py`. A fixed direction that separates the corners at both ends, in the same order, separates them at all
times between, since their products with it are linear in time. Directions are guessed in floats and tried in whole numbers: a good
guess saves the queries, a bad one costs nothing but time.
"""

from __future__ import annotations

import itertools

import numpy as np

from tests.oracle import rational
from tests.oracle.moving import MovingQuery, Root
from tests.oracle.rows import boxes

FINE = 1 << 20  # directions are rounded to this many steps per unit
EDGES = ((0, 1), (1, 2), (2, 0))


def contact_times(a_t0, a_t1, b_t0, b_t1) -> dict[tuple[int, int], list[Root]]:
    """Return times of contact, the first one among them, of every face pair that touches in [0,1].

    a_t0, a_t1, b_t0, b_t1 : lists of world triangles at the start and at the end
    """
    lower_a, upper_a = _swept(a_t0, a_t1)
    lower_b, upper_b = _swept(b_t0, b_t1)
    meet = (lower_a[:, None] <= upper_b[None]) & (lower_b[None] <= upper_a[:, None])
    found = {}
    for i, j in np.argwhere(meet.all(axis=2)).tolist():
        roots = _pair_times(a_t0[i], a_t1[i], b_t0[j], b_t1[j])
        if roots:
            found[i, j] = roots
    return found


def judge_time(roots: list[Root], time: float, tolerance: float) -> str:
    """Say what is wrong with a first time of contact: nothing (""), "late" or "early" by more than the tolerance."""
    if any(root.compared_with(time) < 0 for root in roots):
        return "late"
    return "" if any(root.compared_with(time + tolerance) <= 0 for root in roots) else "early"


def _swept(faces_t0, faces_t1):
    (lower_t0, upper_t0), (lower_t1, upper_t1) = boxes(faces_t0), boxes(faces_t1)
    return np.minimum(lower_t0, lower_t1), np.maximum(upper_t0, upper_t1)


def _pair_times(a_t0, a_t1, b_t0, b_t1) -> list[Root]:
    if rational.triangles_touch(a_t0, b_t0):
        return [Root([0, 1], 0, 0)]
    if _separated((a_t0, a_t1), (b_t0, b_t1)):
        return []
    queries = [(0, _corners(one, [k], other, range(3))) for one, other in (_ordered(a_t0, a_t1, b_t0, b_t1)) for k in range(3)]
    queries += [(1, _corners((a_t0, a_t1), i, (b_t0, b_t1), j)) for i, j in itertools.product(EDGES, EDGES)]
    roots = []
    for kind, corners in queries:
        split = 1 if kind == 0 else 2
        one, other = ([corners[:split], corners[4 : 4 + split]], [corners[split:4], corners[4 + split :]])
        if not _separated(one, other):
            roots += MovingQuery(kind, corners).contacts()
    return roots


def _ordered(a_t0, a_t1, b_t0, b_t1):
    return ((a_t0, a_t1), (b_t0, b_t1)), ((b_t0, b_t1), (a_t0, a_t1))


def _corners(one, of_one, other, of_other):
    """Return (8,3): four corners at the start, then at the end."""
    return [corner for end in range(2) for corner in [*(one[end][k] for k in of_one), *(other[end][k] for k in of_other)]]


def _separated(one, other) -> bool:
    """Whether some direction separates the corners at both ends in the same order; False proves nothing."""
    ends = [[np.array(part[end]) for part in (one, other)] for end in range(2)]
    guesses = []
    for a, b in ends:
        guesses.append(b.mean(axis=0) - a.mean(axis=0))
        edges = [np.roll(points, -1, axis=0) - points for points in (a, b) if len(points) > 1]
        guesses += [np.cross(e[0], e[1]) for e in edges if len(e) > 2]
        if len(edges) == 2:
            guesses += [np.cross(p, q) for p in edges[0] for q in edges[1]]
    numbers, _ = rational.whole_numbers([x for part in (one, other) for end in part for corner in end for x in corner])
    whole = iter(zip(numbers[0::3], numbers[1::3], numbers[2::3], strict=True))
    points = [[[next(whole) for _ in end] for end in part] for part in (one, other)]
    for guess in guesses:
        size = np.abs(guess).max()
        if size > 0.0 and np.isfinite(size):
            direction = [int(x) for x in np.rint(guess / size * FINE)]
            if _separates(direction, points):
                return True
    return False


def _separates(direction, points) -> bool:
    orders = set()
    for end in range(2):
        a, b = ([sum(x * d for x, d in zip(corner, direction, strict=True)) for corner in part[end]] for part in points)
        orders.add(1 if max(a) < min(b) else -1 if max(b) < min(a) else 0)
    return orders in ({1}, {-1})
