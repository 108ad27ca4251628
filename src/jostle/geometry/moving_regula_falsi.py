"""The basic tests of Eckstein and Schömer (1999, §4.2): when a vertex meets a face, or an edge an edge, by root finding.

A function d(t) changes its sign where a collision may occur: for a vertex and a face the signed distance of the vertex from the
plane of the face, for two edges d = n·(w1 - v1) with n = (v2 - v1) × (w2 - w1). It is evaluated at discrete points of the motion:
the ends of the step, or of equal parts of it. Between two values of different sign the root is approximated by linear
interpolation, and then, if iterations are asked for, by the method regula falsi in its plain form. At last the paper's
inequalities say whether the root is a real collision.

Nothing is certified. Missed are contacts without a change of sign (grazing ones, two roots in one part of the step), contacts
whose root is not accurate enough for the inequalities, and most of those in motions that stay in a plane (d is 0 throughout:
only the ends are looked at). Deviation: for parallel edges and faces without area n is 0, the inequalities hold trivially,
and the paper would report all of them, however far apart; here none is reported.
"""

import math

import numpy as np

from jostle.errors import InputError
from jostle.geometry.moving_point import arc_factors, place_with_factors
from jostle.geometry.scalar_vector import cross, dot, length
from jostle.kernels.arrays import read_only_view
from jostle.kernels.jit import kernel
from jostle.kernels.slices import run_in_slices

POINT_TRIANGLE, EDGE_EDGE = 0, 1
FIRST_SLICE = 4096


@kernel
def place_query(corners, row, kind, turns, t, now):
    """Write the places at time t of the four corners of query `row` into now (4,3); corners (n,8,3), turns (2,4)."""
    for i in range(4):
        body = 0 if i <= kind else 1
        kx, ky, kz = turns[body, 0], turns[body, 1], turns[body, 2]
        along, aside = arc_factors(turns[body, 3], t)
        x, y, z = place_with_factors(
            corners[row, i, 0], corners[row, i, 1], corners[row, i, 2],
            corners[row, i + 4, 0], corners[row, i + 4, 1], corners[row, i + 4, 2],
            kx, ky, kz, t, along, aside,
        )  # fmt: skip
        now[i, 0], now[i, 1], now[i, 2] = x, y, z


@kernel
def normal_and_gap(kind, now):
    """The normal n of the face (of unit length) or of the two edges, and d; now (4,3)."""
    if kind == POINT_TRIANGLE:
        nx, ny, nz = cross(
            now[2, 0] - now[1, 0], now[2, 1] - now[1, 1], now[2, 2] - now[1, 2],
            now[3, 0] - now[1, 0], now[3, 1] - now[1, 1], now[3, 2] - now[1, 2],
        )  # fmt: skip
        norm = length(nx, ny, nz)
        if norm > 0.0:
            nx, ny, nz = nx / norm, ny / norm, nz / norm
        return nx, ny, nz, dot(nx, ny, nz, now[0, 0] - now[1, 0], now[0, 1] - now[1, 1], now[0, 2] - now[1, 2])
    nx, ny, nz = cross(
        now[1, 0] - now[0, 0], now[1, 1] - now[0, 1], now[1, 2] - now[0, 2],
        now[3, 0] - now[2, 0], now[3, 1] - now[2, 1], now[3, 2] - now[2, 2],
    )  # fmt: skip
    return nx, ny, nz, dot(nx, ny, nz, now[2, 0] - now[0, 0], now[2, 1] - now[0, 1], now[2, 2] - now[0, 2])


@kernel
def is_collision(kind, now):
    """Whether a root of d is a real collision, by the paper's inequalities; now (4,3) holds the corners at that time."""
    nx, ny, nz, _ = normal_and_gap(kind, now)
    squared = dot(nx, ny, nz, nx, ny, nz)
    if squared == 0.0:
        return False
    if kind == POINT_TRIANGLE:
        for i in range(3):
            p, q = 1 + i, 1 + (i + 1) % 3
            ox, oy, oz = cross(now[q, 0] - now[p, 0], now[q, 1] - now[p, 1], now[q, 2] - now[p, 2], nx, ny, nz)
            if dot(ox, oy, oz, now[0, 0] - now[p, 0], now[0, 1] - now[p, 1], now[0, 2] - now[p, 2]) > 0.0:
                return False
        return True
    ox, oy, oz = cross(nx, ny, nz, now[2, 0] - now[0, 0], now[2, 1] - now[0, 1], now[2, 2] - now[0, 2])
    on_w = dot(ox, oy, oz, now[1, 0] - now[0, 0], now[1, 1] - now[0, 1], now[1, 2] - now[0, 2])
    on_v = dot(ox, oy, oz, now[3, 0] - now[2, 0], now[3, 1] - now[2, 1], now[3, 2] - now[2, 2])
    return 0.0 <= on_w <= squared and 0.0 <= on_v <= squared


@kernel
def approximate_root(corners, row, kind, turns, low, d_low, high, d_high, iterations, tolerance, now):
    """The root of d between two times at which it has different signs: linear interpolation, then regula falsi."""
    t = low + (high - low) * (d_low / (d_low - d_high))
    for _ in range(iterations):
        place_query(corners, row, kind, turns, t, now)
        d = normal_and_gap(kind, now)[3]
        if d == 0.0:
            break
        if (d < 0.0) == (d_low < 0.0):
            low, d_low = t, d
        else:
            high, d_high = t, d
        last, t = t, low + (high - low) * (d_low / (d_low - d_high))
        if abs(t - last) <= tolerance:
            break
    return t


@kernel
def regula_falsi_slice(corners, kind, turns, steps, iterations, tolerance, now, time, begin, end):
    """Fill time (n,) of the queries begin … end; corners (n,8,3), turns (2,4), now is scratch of (4,3)."""
    for row in range(begin, end):
        time[row] = math.inf
        place_query(corners, row, kind, turns, 0.0, now)
        d_low = normal_and_gap(kind, now)[3]
        if d_low == 0.0 and is_collision(kind, now):
            time[row] = 0.0
            continue
        low = 0.0
        for part in range(steps):
            high = (part + 1.0) / steps
            place_query(corners, row, kind, turns, high, now)
            d_high = normal_and_gap(kind, now)[3]
            t = high
            if (d_low < 0.0 and d_high > 0.0) or (d_low > 0.0 and d_high < 0.0):
                t = approximate_root(corners, row, kind, turns, low, d_low, high, d_high, iterations, tolerance, now)
                place_query(corners, row, kind, turns, t, now)
            elif d_high != 0.0:
                low, d_low = high, d_high
                continue
            if is_collision(kind, now):
                time[row] = t
                break
            low, d_low = high, d_high


def regula_falsi_times(kind, corners, turn_first, turn_second, iterations=32, tolerance=1e-9, steps=1):
    """Return the times (n,) of collision that root finding sees; inf where it sees none.

    Parameters
    ----------
    kind : int
        `POINT_TRIANGLE` or `EDGE_EDGE`.
    corners : (n, 8, 3) float64
        The vertex and the corners of the face, or the ends of the first and of the second edge, at t = 0; then the same at t = 1.
    turn_first, turn_second : (4,) float64
        How the vertex or first edge, and the face or second edge, move in between (`moving_point.py`); angle 0 for straight lines.
    iterations : int
        Steps of regula falsi at most; 0 for linear interpolation alone.
    tolerance : float
        Regula falsi ends when the time changes by no more than this part of the step.
    steps : int
        In how many equal parts of the step a change of sign is looked for; the paper has 1, the whole step.
    """
    corners = read_only_view(np.asarray(corners, dtype=np.float64))
    if corners.ndim != 3 or corners.shape[1:] != (8, 3):
        raise InputError(f"corners have the shape {corners.shape}; they must be (n, 8, 3)")
    if kind not in (POINT_TRIANGLE, EDGE_EDGE) or iterations < 0 or steps < 1:
        raise InputError(f"kind is {kind}, iterations {iterations}, steps {steps}; they must be 0 or 1, at least 0, at least 1")
    turns = read_only_view(np.array([turn_first, turn_second], dtype=np.float64))
    time, now = np.empty(len(corners)), np.empty((4, 3))

    def scan(begin, operations):
        end = min(len(corners), begin[0] + operations)
        regula_falsi_slice(
            corners, int(kind), turns, int(steps), int(iterations), float(tolerance), now, time, begin[0], end
        )  # fmt: skip
        did, begin[0] = end - begin[0], end
        return end == len(corners), did

    if len(corners) > 0:
        run_in_slices(scan, [0], FIRST_SLICE)
    return time
