"""Edges in planes of faces, and sectors around edges, in columns.

The cases of `edge_place.py` and `sectors.py` in `report/containment/`, with masks in place of branches. Points are (3, n),
triangles (3, 3, n): corner, coordinate, question; an edge is a pair of points.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from jostle._types import Bools, Floats, Longs
from jostle.methods.plain.flat_triangles import projected
from jostle.methods.plain.signs import Certain, Signs, orient2d, orient3d
from jostle.report.containment.edge_place import INSIDE, NO_AREA, OUTSIDE
from jostle.report.containment.sectors import (
    APART,
    FULL_TURN,
    HALF,
    LESS_THAN_HALF,
    MEETING,
    MORE_THAN_HALF,
    ON_THE_LINE,
    SAME,
    UNDECIDED,
)


class EdgePlaces(NamedTuple):
    """How edges meet faces in their planes, as `EdgePlace`."""

    where: Longs
    axis: NDArray[np.intp]
    turned: Signs

    def chosen(self, rows: Longs) -> EdgePlaces:
        """Return some of the places."""
        return EdgePlaces(self.where[rows], self.axis[rows], self.turned[rows])


def places_of_edges(start: Floats, end: Floats, face: Floats, certain: Certain) -> EdgePlaces:
    """Return where edges lie in the planes of faces."""
    count = start.shape[1]
    axis, turned = np.zeros(count, np.intp), np.zeros(count, np.int8)
    for tried in (2, 0, 1):
        left = np.flatnonzero(turned == 0)
        if len(left):
            p, q, r = projected(face.take(left, axis=2), np.full(len(left), tried))
            turned[left] = orient2d(p, q, r, certain)
            axis[left] = tried
    t = projected(face, axis)
    start, end = projected(np.stack((start, end)), axis)
    sides = np.stack([orient2d(start, end, corner, certain) for corner in t])
    where = np.full(count, OUTSIDE)
    through = np.flatnonzero((sides.min(axis=0) < 0) & (sides.max(axis=0) > 0))
    if len(through):
        beyond = _beyond_a_side(start[:, through], end[:, through], t.take(through, axis=2), turned[through], certain)
        where[through] = np.where(beyond, OUTSIDE, INSIDE)
    one_off = np.flatnonzero((sides != 0).sum(axis=0) == 1)
    if len(one_off):
        along = np.where(sides[0] != 0, 1, np.where(sides[1] != 0, 2, 0))[one_off]
        overlap = _overlap_on_line(start[:, one_off], end[:, one_off], t.take(one_off, axis=2), along)
        where[one_off] = np.where(overlap, along, OUTSIDE)
    where[turned == 0] = NO_AREA
    return EdgePlaces(where, axis, turned)


def _beyond_a_side(start: Floats, end: Floats, t: Floats, turned: Signs, certain: Certain) -> Bools:
    """Return whether both ends of segments are outside, or on, one side's line."""
    beyond: Bools = np.zeros(len(turned), bool)
    for k in range(3):
        first, second = (turned * orient2d(t[k], t[(k + 1) % 3], point, certain) <= 0 for point in (start, end))
        beyond |= first & second
    return beyond


def _overlap_on_line(start: Floats, end: Floats, t: Floats, side: Longs) -> Bools:
    """Return whether segments share more than a point with the sides on their lines."""
    columns = np.arange(len(side))
    flat = np.where(start[0] != end[0], 0, 1)
    one, other = start[flat, columns], end[flat, columns]
    p, q = t[side, flat, columns], t[(side + 1) % 3, flat, columns]
    overlap: Bools = np.minimum(np.maximum(one, other), np.maximum(p, q)) > np.maximum(np.minimum(one, other), np.minimum(p, q))
    return overlap


class Fans(NamedTuple):
    """Two half planes at each of some edges: corners (3, n) and whether the body is on their left."""

    first: Floats
    first_left: Bools
    second: Floats
    second_left: Bools

    def chosen(self, rows: Longs) -> Fans:
        """Return some of the fans."""
        return Fans(self.first[:, rows], self.first_left[rows], self.second[:, rows], self.second_left[rows])


def sectors_meet(start: Floats, end: Floats, a: Fans, b: Fans, certain: Certain) -> Longs:
    """Return whether sectors of two bodies meet around edges: APART, MEETING or UNDECIDED."""
    across_a = _turns(start, end, a.first, a.second, certain)
    across_b = _turns(start, end, b.first, b.second, certain)
    turns = [[_turns(start, end, mine, other, certain) for other in (b.first, b.second)] for mine in (a.first, a.second)]
    (one, two), (three, four) = turns
    undecided = (across_a <= SAME) | (across_b <= SAME)
    for turn in (one, two, three, four):
        undecided |= turn == ON_THE_LINE
    meeting = (
        _has_body_behind(a.first_left, one, two, b, across_b)
        | _has_body_behind(a.second_left, three, four, b, across_b)
        | _has_body_behind(b.first_left, _reverse(one), _reverse(three), a, across_a)
        | _has_body_behind(b.second_left, _reverse(two), _reverse(four), a, across_a)
    )
    return np.where(undecided, UNDECIDED, np.where(meeting, MEETING, APART))


def _turns(start: Floats, end: Floats, h: Floats, k: Floats, certain: Certain) -> Longs:
    """Return how far half planes with corners k are turned counter-clockwise from those with h."""
    side = orient3d(start, end, h, k, certain)
    turn = np.where(side > 0, LESS_THAN_HALF, np.where(side < 0, MORE_THAN_HALF, ON_THE_LINE))
    for axis in range(3):
        left = np.flatnonzero(turn == ON_THE_LINE)
        if len(left):
            seen = projected(np.stack((start, end, h, k)).take(left, axis=2), np.full(len(left), axis))
            one, other = (orient2d(seen[0], seen[1], point, certain) for point in seen[2:])
            turn[left] = np.where((one != 0) & (other != 0), np.where(one == other, SAME, HALF), ON_THE_LINE)
    return turn


def _reverse(turn: Longs) -> Longs:
    """Return the turns from k to h, given those from h to k."""
    return (FULL_TURN - turn) % FULL_TURN


def _has_body_behind(left: Bools, to_first: Longs, to_second: Longs, other: Fans, across: Longs) -> Bools:
    """Return whether the other bodies are on the inner sides of half planes, beside them."""
    first, second = np.where(left, _reverse(to_first), to_first), np.where(left, _reverse(to_second), to_second)
    is_first = np.where(first == second, (across == LESS_THAN_HALF) != left, first < second)
    behind: Bools = np.where(is_first, other.first_left, other.second_left) == left
    return behind
