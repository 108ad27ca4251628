"""The root finding tests of Eckstein and Schömer (1999, §4.2).

A function d(t) changes its sign where a collision may occur: for a vertex and a face the signed distance of the vertex from the
plane of the face, for two edges d = n·(w1 - v1) with n = (v2 - v1) × (w2 - w1). It is evaluated at the ends of the step, or of
equal parts of it. Between two values of different sign the root is approximated by linear interpolation and then, with iterations,
by plain regula falsi. Finally the paper's inequalities decide whether the root is a real collision.

Nothing is certified. It misses contacts without a change of sign (grazing ones, two roots in one part of the step), contacts whose
root is too inaccurate for the inequalities, and most contacts of motions that stay in a plane (d is 0 throughout: only the ends are
tested). Deviation: for parallel edges and faces without area n is 0, the inequalities hold trivially, and the paper would report
all of them at any distance; here none is reported.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from jostle._types import Floats
from jostle.continuous.moving_point import Turn, arc_factors, place_with_factors, turn_at
from jostle.continuous.straight.polynomials import EDGE_EDGE, POINT_TRIANGLE
from jostle.errors import InputError
from jostle.geometry.vector import Vec3, cross, divided, dot, length, minus
from jostle.kernels.arrays import read_only_view
from jostle.kernels.jit import kernel
from jostle.kernels.slices import run_in_slices

AT_START, AT_END = 0, 4  # the first of the four corners in a row of eight
FIRST_SLICE = 4096


class FourCorners(NamedTuple):
    """A vertex and the corners of a face, or the ends of two edges."""

    v1: Vec3
    v2: Vec3
    w1: Vec3
    w2: Vec3


class BasicTest(NamedTuple):
    """Two features within a step: kind, corners at both ends, and both turns."""

    kind: int
    start: FourCorners
    end: FourCorners
    first: Turn
    second: Turn


class NormalAndGap(NamedTuple):
    """The normal n of the face (of unit length) or of the two edges, and d."""

    normal: Vec3
    gap: float


class Sample(NamedTuple):
    """The value of d at a time."""

    time: float
    gap: float


class RootFinder(NamedTuple):
    """The parts of the step searched for a sign change, and when regula falsi ends."""

    steps: int
    iterations: int
    tolerance: float


@kernel(forceinline=True)
def corner_at(corners: Any, row: int, i: int) -> Vec3:
    """Return corner i of a row of corners (n,8,3)."""
    return Vec3(corners[row, i, 0], corners[row, i, 1], corners[row, i, 2])


@kernel(forceinline=True)
def four_corners_at(corners: Any, row: int, first: int) -> FourCorners:
    """Return four corners, from `first` on, of a row of corners (n,8,3)."""
    return FourCorners(
        corner_at(corners, row, first),
        corner_at(corners, row, first + 1),
        corner_at(corners, row, first + 2),
        corner_at(corners, row, first + 3),
    )


@kernel
def places_at(test: BasicTest, t: float) -> FourCorners:
    """Return the four corners at time t."""
    arc, other_arc = arc_factors(test.first.angle, t), arc_factors(test.second.angle, t)
    of_first = test.kind == EDGE_EDGE
    axis = test.first.axis if of_first else test.second.axis
    start, end = test.start, test.end
    return FourCorners(
        place_with_factors(start.v1, end.v1, test.first.axis, t, arc),
        place_with_factors(start.v2, end.v2, axis, t, arc if of_first else other_arc),
        place_with_factors(start.w1, end.w1, test.second.axis, t, other_arc),
        place_with_factors(start.w2, end.w2, test.second.axis, t, other_arc),
    )


@kernel
def normal_and_gap(kind: int, now: FourCorners) -> NormalAndGap:
    """Return n and d of features in these places."""
    v1, v2, w1, w2 = now
    if kind == POINT_TRIANGLE:
        normal = cross(minus(w1, v2), minus(w2, v2))
        norm = length(normal)
        if norm > 0.0:
            normal = divided(normal, norm)
        return NormalAndGap(normal, dot(normal, minus(v1, v2)))
    normal = cross(minus(v2, v1), minus(w2, w1))
    return NormalAndGap(normal, dot(normal, minus(w1, v1)))


@kernel(forceinline=True)
def beyond_edge(normal: Vec3, p: Vec3, q: Vec3, vertex: Vec3) -> bool:
    """Return whether a vertex lies outside the edge pq of a face with this normal."""
    return dot(cross(minus(q, p), normal), minus(vertex, p)) > 0.0


@kernel
def is_collision(kind: int, now: FourCorners) -> bool:
    """Return whether a root of d is a real collision, by the paper's inequalities."""
    normal = normal_and_gap(kind, now).normal
    squared = dot(normal, normal)
    if squared == 0.0:
        return False
    v1, v2, w1, w2 = now
    if kind == POINT_TRIANGLE:
        return not (beyond_edge(normal, v2, w1, v1) or beyond_edge(normal, w1, w2, v1) or beyond_edge(normal, w2, v2, v1))
    across = cross(normal, minus(w1, v1))
    on_w, on_v = dot(across, minus(v2, v1)), dot(across, minus(w2, w1))
    return 0.0 <= on_w <= squared and 0.0 <= on_v <= squared


@kernel(forceinline=True)
def secant(low: Sample, high: Sample) -> float:
    """Return where the line through two values of different sign is 0."""
    return low.time + (high.time - low.time) * (low.gap / (low.gap - high.gap))


@kernel
def approximate_root(test: BasicTest, low: Sample, high: Sample, finder: RootFinder) -> float:
    """Return a root of d between a sign change, by interpolation and regula falsi."""
    t = secant(low, high)
    for _ in range(finder.iterations):
        here = Sample(t, normal_and_gap(test.kind, places_at(test, t)).gap)
        if here.gap == 0.0:
            break
        if (here.gap < 0.0) == (low.gap < 0.0):
            low = here
        else:
            high = here
        t = secant(low, high)
        if abs(t - here.time) <= finder.tolerance:
            break
    return t


@kernel
def first_collision(test: BasicTest, finder: RootFinder) -> float:
    """Return the first time of collision that root finding finds, or inf."""
    now = places_at(test, 0.0)
    low = Sample(0.0, normal_and_gap(test.kind, now).gap)
    if low.gap == 0.0 and is_collision(test.kind, now):
        return 0.0
    for part in range(finder.steps):
        t = (part + 1.0) / finder.steps
        now = places_at(test, t)
        high = Sample(t, normal_and_gap(test.kind, now).gap)
        changes_sign = (low.gap < 0.0 and high.gap > 0.0) or (low.gap > 0.0 and high.gap < 0.0)
        if changes_sign:
            t = approximate_root(test, low, high, finder)
            now = places_at(test, t)
        if (changes_sign or high.gap == 0.0) and is_collision(test.kind, now):
            return t
        low = high
    return math.inf


@kernel
def regula_falsi_slice(
    corners: Floats, kind: int, turns: Floats, steps: int, iterations: int, tolerance: float, time: Floats, begin: int, end: int
) -> None:
    """Fill time (n,) of the queries begin … end; corners (n,8,3), turns (2,4)."""
    first, second, finder = turn_at(turns, 0), turn_at(turns, 1), RootFinder(steps, iterations, tolerance)
    for row in range(begin, end):
        test = BasicTest(kind, four_corners_at(corners, row, AT_START), four_corners_at(corners, row, AT_END), first, second)
        time[row] = first_collision(test, finder)


def regula_falsi_times(
    kind: int,
    corners: ArrayLike,
    turn_first: ArrayLike,
    turn_second: ArrayLike,
    iterations: int = 32,
    tolerance: float = 1e-9,
    steps: int = 1,
) -> NDArray[np.float64]:
    """Return the times (n,) of collision that root finding finds, or inf.

    Parameters
    ----------
    kind : int
        `POINT_TRIANGLE` or `EDGE_EDGE`.
    corners : (n, 8, 3) float64
        The vertex and the corners of the face, or the ends of the first and of the second edge, at t = 0; then the same at t = 1.
    turn_first, turn_second : (4,) float64
        How the vertex or first edge, and the face or second edge, move in between (`moving_point.py`); angle 0 for straight lines.
    iterations : int
        Most steps of regula falsi; 0 for linear interpolation alone.
    tolerance : float
        Regula falsi ends when the time changes by no more than this part of the step.
    steps : int
        Equal parts of the step that are searched for a change of sign; the paper has 1, the whole step.
    """
    given = read_only_view(np.asarray(corners, dtype=np.float64))
    if given.ndim != 3 or given.shape[1:] != (8, 3):
        raise InputError(f"corners have the shape {given.shape}; they must be (n, 8, 3)")
    if kind not in (POINT_TRIANGLE, EDGE_EDGE) or iterations < 0 or steps < 1:
        raise InputError(f"kind is {kind}, iterations {iterations}, steps {steps}; they must be 0 or 1, at least 0, at least 1")
    turns = read_only_view(np.array([turn_first, turn_second], dtype=np.float64))
    time = np.empty(len(given))

    def scan(begin: list[int], operations: int) -> tuple[bool, int]:
        end = min(len(given), begin[0] + operations)
        regula_falsi_slice(given, int(kind), turns, int(steps), int(iterations), float(tolerance), time, begin[0], end)
        did, begin[0] = end - begin[0], end
        return end == len(given), did

    if len(given) > 0:
        run_in_slices(scan, [0], FIRST_SLICE)
    return time
