"""Exact ear clipping of an outline that may touch but not cross itself.

A corner is tested once at the start, and again when a neighbour is clipped: nothing else makes it an ear, because the outline only
shrinks (Meisters 1975). The exception are corners skipped because another lies on the new side; they wait for that one. So n
corners take some 3 n tests, and a test visits the remaining corners beside its triangle along one axis.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from jostle._types import Floats
from jostle.shapes.formats.source import Budget

Point = tuple[int, int]  # exact

_MANY_NEAR = 16  # from here on a float filter is faster than exact tests of single points


def turn(a: Point, b: Point, c: Point) -> int:
    """Return twice the area of a, b, c: positive for a left turn, 0 if collinear."""
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])


class EarClipping:
    """Ears of a counter-clockwise outline.

    A corner b between a and c is an ear if the triangle turns left and the outline does not enter its interior. Where a vertex lies
    on the border of the triangle, its two edges decide: one enters if its other end is left of every side that the vertex is on.
    Points within `slack` of a side count as on it.
    """

    def __init__(self, seen: list[Point], flat: Floats, budget: Budget, slack: int = 0) -> None:
        self._seen, self._budget, self._slack = seen, budget, slack
        self._corners = _CornersLeft(flat, some_outside=slack > 0)
        self._left = len(seen)
        self._before = [len(seen) - 1, *range(len(seen) - 1)]
        self._after = [*range(1, len(seen)), 0]
        self._there = bytearray(b"\1") * len(seen)
        self._untested = {strict: bytearray(b"\1") * len(seen) for strict in (True, False)}
        self._passed_over: dict[int, list[int]] = defaultdict(list)  # by the corner on their new side
        self._ears: list[tuple[int, int, int]] = []

    def triangles(self) -> list[tuple[int, int, int]] | None:
        """Return the ears; None if the outline has none left."""
        self._clip_spikes([*range(self._left)])
        at = 0
        while self._left > 3:
            ear = self._find(at)
            if ear is None:
                return None
            a, c = self._before[ear], self._after[ear]
            self._clip(ear)
            self._clip_spikes([a, c])
            at = self._after[c]  # from all around, not as a fan
        last = self._there.find(1)
        if self._turn_at(last) < 0:
            return None
        return [*self._ears, (last, self._after[last], self._before[last])]

    def _find(self, at: int) -> int | None:
        """Return the next ear from `at` on or, failing that, a straight corner."""
        ear = self._find_untested(at)
        if ear is None:
            # Slack may have made new ears.
            for untested in self._untested.values():
                untested[:] = self._there
            ear = self._find_untested(at)
        if ear is None:
            ear = next((b for b in _round(self._there, at) if self._turn_at(b) == 0), None)
        return ear

    def _find_untested(self, at: int) -> int | None:
        for strict, untested in self._untested.items():
            for b in _round(untested, at):
                untested[b] = False
                self._budget.tick()
                if self._turn_at(b) > 0 and self._is_ear(b, strict):
                    return b
        return None

    def _turn_at(self, b: int) -> int:
        return self._side(self._seen[self._before[b]], self._seen[b], self._seen[self._after[b]])

    def _side(self, a: Point, b: Point, c: Point) -> int:
        """Return the side of c on the line from a to b: left if positive, on it if 0."""
        side = turn(a, b, c)
        if self._slack and side * side <= self._slack * self._slack * ((b[0] - a[0]) ** 2 + (b[1] - a[1]) ** 2):
            return 0
        return side

    def _clip(self, b: int) -> None:
        a, c = self._before[b], self._after[b]
        self._ears.append((a, b, c))
        self._after[a], self._before[c] = c, a
        self._there[b] = False
        self._left -= 1
        self._corners.remove(b)
        for strict, untested in self._untested.items():
            untested[b] = False
            for k in (a, c, *(self._passed_over.pop(b, ()) if strict else ())):
                untested[k] = self._there[k]

    def _clip_spikes(self, waiting: list[int]) -> None:
        """Clip repeated corners and spikes, which have no area."""
        while waiting and self._left > 3:
            k = waiting.pop()
            a, b, c = (self._seen[k] for k in (self._before[k], k, self._after[k]))
            back = (a[0] - b[0]) * (c[0] - b[0]) + (a[1] - b[1]) * (c[1] - b[1]) >= 0
            if self._there[k] and back and self._side(a, b, c) == 0:
                waiting += [self._before[k], self._after[k]]
                self._clip(k)

    def _is_ear(self, b: int, strict: bool) -> bool:
        """Return whether a corner is an ear; `strict`: no corner on its new side."""
        corners = (self._before[b], b, self._after[b])
        a, b_, c = (self._seen[k] for k in corners)
        for p in self._corners.near(corners):
            turns = [(self._side(x, y, self._seen[p]), x, y) for x, y in ((a, b_), (b_, c), (c, a))]
            if any(side < 0 for side, _, _ in turns):
                continue
            on = [(x, y) for side, x, y in turns if side == 0]
            if strict and on == [(c, a)]:
                self._passed_over[p].append(b)
                return False
            for q in (self._before[p], self._after[p]):
                if all(self._side(x, y, self._seen[q]) > 0 for x, y in on):
                    return False
        return True


def _round(flags: bytearray, at: int) -> Iterator[int]:
    """Yield the indices of set flags, once around from `at`; flags may change."""
    for start, end in ((at, len(flags)), (0, at)):
        k = flags.find(1, start, end)
        while k >= 0:
            yield k
            k = flags.find(1, k + 1, end)


def along_edges(flat: Floats) -> tuple[Floats, float]:
    """Return points (2, n) rotated to make edge boxes thin, and the rounding error.

    Most of the edges' length then runs along the axes: in a slanted comb, the unrotated box of a tooth overlaps all others.
    """
    u, v = (flat - flat[:, :1]) / max(float(np.ptp(flat, axis=1).max()), np.finfo(float).tiny)
    edges = np.roll(u, -1) - u + 1j * (np.roll(v, -1) - v)
    lengths = np.maximum(np.abs(edges), np.finfo(float).tiny)
    angle = float(np.angle(np.sum((edges / lengths) ** 4 * lengths))) / 4.0  # edges at right angles point the same way
    turned = np.stack([np.cos(angle) * u + np.sin(angle) * v, np.cos(angle) * v - np.sin(angle) * u])
    return turned, 8.0 * float(np.finfo(float).eps)


class _CornersLeft:
    """The remaining corners, sorted along both axes."""

    def __init__(self, flat: Floats, some_outside: bool) -> None:
        self._some_outside = some_outside
        self._points, self._error = along_edges(flat)
        self._columns = self._points.tolist()
        self._there = np.ones(flat.shape[1], dtype=bool)
        self._left = flat.shape[1]
        self._sort()

    def _sort(self) -> None:
        """Sort the corners; later clips leave up to half of the arrays stale."""
        there = np.flatnonzero(self._there)
        self._sorted = len(there)
        orders = [there[np.argsort(along[there], kind="stable")] for along in self._points]
        self._axes = [
            (order, self._points[axis, order].tolist(), self._points[1 - axis, order]) for axis, order in enumerate(orders)
        ]

    def remove(self, k: int) -> None:
        """Remove a corner."""
        self._there[k] = False
        self._left -= 1
        if 2 * self._left < self._sorted:
            self._sort()

    def near(self, corners: tuple[int, int, int]) -> list[int]:
        """Return the other corners that may lie in a triangle, in order.

        With `some_outside`, return all corners in its box.
        """
        values = [[column[k] for k in corners] for column in self._columns]
        bounds = [(min(along) - self._error, max(along) + self._error) for along in values]
        ranges = [
            (bisect_left(along, low), bisect_right(along, high))
            for (_, along, _), (low, high) in zip(self._axes, bounds, strict=True)
        ]
        axis = min(range(2), key=lambda k: ranges[k][1] - ranges[k][0])
        order, _, across = self._axes[axis]
        beside = slice(*ranges[axis])
        low, high = bounds[1 - axis]
        near = order[beside][(across[beside] >= low) & (across[beside] <= high)]
        near = near[self._there[near]]
        if len(near) > _MANY_NEAR and not self._some_outside:
            near = near[self._may_be_inside(near, *values)]
        return sorted(k for k in near.tolist() if k not in corners)

    def _may_be_inside(self, near: NDArray[np.int64], u: list[float], v: list[float]) -> NDArray[np.bool_]:
        points_u, points_v = self._points[:, near]
        inside = np.ones(len(near), dtype=bool)
        for k in range(3):
            du, dv = u[k] - u[k - 1], v[k] - v[k - 1]
            # Coordinates differ by less than 1.5, so a turn has the error of at most some ten coordinates.
            inside &= du * (points_v - v[k - 1]) - dv * (points_u - u[k - 1]) >= -16.0 * self._error
        return inside
