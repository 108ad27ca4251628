"""The first time at which two moving faces come as near as a given distance, on lines and on screws: never missed, never late.

The basic test along the motion (Eckstein, Schömer 1999, §4.2) where exactness ends: corners on arcs, or a separation to keep. In
place of the paper's root finding, the search steps from s = 0 on: the closest points at s give a direction, the files beside say
for how long it keeps the faces apart, and that is the next s. This is Newton's method on the distance with every step
certified, rounding included. Measured: a hit takes 3 to 8 steps, 3 to 10 µs; a miss 0 to 2 steps, 0.15 to 1.5 µs. Slow are faces
that keep a small distance while they turn by large and almost equal turns: 70 steps at 1e-3 of their size, 700 at 1e-6.

Guarantee, with S as in `moving_corners.py` and δ = max(1e-6 · tolerance, 2⁻⁴²) S for straight motions and
max(1e-6 · tolerance, 2⁻³⁹) S for turning ones: a time that is reported is at most the first time at which the distance falls to
the separation, the distance at that time is at most separation + δ, and none is reported unless the distance falls to that.
"""

import math
from typing import NamedTuple

import numpy as np

from jostle.errors import InputError
from jostle.geometry.moving_corners import ROUNDING, SIZE, SPEED, closest_direction, common_frame, place_corners, read_pair
from jostle.geometry.moving_directions import feature_normal, free_step, gap_along
from jostle.geometry.moving_features import NO_FEATURE, closest_features
from jostle.geometry.moving_quick import bulges_of, parted_until
from jostle.geometry.moving_start import leaving_time
from jostle.geometry.scalar_vector import dot
from jostle.kernels.arrays import read_only_view
from jostle.kernels.jit import kernel
from jostle.kernels.slices import run_in_slices

FIRST_SLICE = 4096
MOST_STEPS = 100_000
GAP_PER_TOLERANCE = 1e-6
LEAST_GAP = 4.0  # δ in units of the rounding
STEPS_BEFORE_CURVED = 5  # most searches are over by then
# Where only the first contact is wanted and this many were found, the next must be earlier by this part of the tolerance.
MANY, WORTH = 256, 0.1
KEPT_SHARE = 0.99  # of the distance at the start, for faces that start within the separation
# Of a distance below this many roundings a hundredth cannot be told from rounding: such faces must only not touch.
COARSEST = 1600.0


class FirstTimes(NamedTuple):
    """What `first_times_within` finds for each query.

    Attributes
    ----------
    time : (n,) float64
        In 0 … 1; inf where the faces stay apart.
    feature : (n,) int8
        The closest features at that time, by the codes of `moving_features.py`; -1 where there is no time.
    steps : (n,) int32
        Steps taken; `MOST_STEPS` where the search was cut short, with a time that is early by more than stated.
    """

    time: np.ndarray
    feature: np.ndarray
    steps: np.ndarray


@kernel
def start_rule(distance, separation, gap, rounding):
    """What distance faces this far apart at the start must stay above, their δ, and whether they touch: three values."""
    if distance > separation + 4.0 * gap:
        return separation, gap, False
    if distance <= COARSEST * rounding:
        return 0.0, gap, distance <= gap
    return KEPT_SHARE * distance, min(gap, distance / 400.0), False


@kernel
def longest_step(now, turns, bounds, p, q, nx, ny, nz, steps, past, target, rest, shares):
    """The longest time for which the direction n serves, standing or turning as the past directions suggest; at most `rest`.

    past (8,) holds the direction before (0 … 2), the rate at which it turned until then (3 … 5), and the last two steps (6, 7).
    """
    sx, sy, sz, rx, ry, rz, qx, qy, qz = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    if steps > 1:
        sx, sy, sz = (nx - past[0]) / past[7], (ny - past[1]) / past[7], (nz - past[2]) / past[7]
    step = 0.0
    for way in range(min(steps, 2 if steps <= STEPS_BEFORE_CURVED else 3)):
        # Standing is enough for most, and best where the closest features have just changed.
        if way == 1:
            rx, ry, rz = sx, sy, sz
        elif way == 2:
            each = 2.0 / (past[6] + past[7])
            qx, qy, qz = each * (sx - past[3]), each * (sy - past[4]), each * (sz - past[5])
            rx, ry, rz = sx + 0.5 * past[7] * qx, sy + 0.5 * past[7] * qy, sz + 0.5 * past[7] * qz
        along = dot(nx, ny, nz, rx, ry, rz)
        rx, ry, rz = rx - along * nx, ry - along * ny, rz - along * nz
        free = free_step(now, turns, bounds, p, q, nx, ny, nz, rx, ry, rz, qx, qy, qz, target, rest, shares)
        step = max(step, free)
        if step >= rest:
            break
    past[0], past[1], past[2], past[3], past[4], past[5] = nx, ny, nz, sx, sy, sz
    return step


@kernel
def search(path, turns, bounds, p, q, separation, gap, until, now, past, shares):
    """The first time before `until` at which the distance falls to what it must stay above, and the steps taken; path (6,12).

    At the end now (6,9) holds the corners at that time; past (8,) and shares (6,3) are scratch.
    """
    rounding, threshold = bounds[ROUNDING], separation
    s, steps, starting = 0.0, 0, separation > 0.0
    while True:
        place_corners(path, turns, p, q, s, now)
        distance, nx, ny, nz = closest_direction(now, p, q)
        if starting:
            starting = False
            threshold, gap, touching = start_rule(distance, separation, gap, rounding)
            if touching:
                s = leaving_time(now, turns, bounds, p, q, 4.0 * gap, shares)
                if s > 0.0:
                    continue
        steps += 1
        target = threshold + 0.5 * gap
        if distance <= threshold + gap - rounding or steps >= MOST_STEPS:
            return s, steps
        if gap_along(now, p, q, nx, ny, nz) - target < 0.5 * (distance - target):
            wider, fx, fy, fz = feature_normal(now, p, q, nx, ny, nz)
            if wider > target:
                nx, ny, nz = fx, fy, fz
        rest = until - s
        if rest <= 0.0:
            return math.inf, steps
        step = longest_step(now, turns, bounds, p, q, nx, ny, nz, steps, past, target, rest, shares)
        if step < rest and step * bounds[SPEED] < distance - target:
            # However wrong the direction may be, no corner gets farther than this.
            step = min(rest, (distance - target) / bounds[SPEED])
        if step >= rest:
            return math.inf, steps
        past[6], past[7] = past[7], step
        s += step


@kernel
def first_times_slice(
    a_t0, a_t1, b_t0, b_t1, together, back, turns, bulges, separation, tolerance, only_first, lead, work, time, feature, steps,
    begin, end,
):  # fmt: skip
    """Fill time, feature and steps (n,) of the queries begin … end; faces (n,p,3) and (n,q,3), work (4,72) is scratch.

    With `only_first`, lead (5,) is as in `new_lead`.
    """
    p, q = a_t0.shape[1], b_t0.shape[1]
    path, now, shares, rest = work[0].reshape(6, 12), work[1, :54].reshape(6, 9), work[2, :18].reshape(6, 3), work[3]
    bounds, distances, past = rest[:5], rest[5:20], rest[20:28]
    for row in range(begin, end):
        until = 1.0
        if only_first and lead[4] >= MANY:
            until = lead[0] - WORTH * tolerance
        if until <= 0.0 or parted_until(a_t0, a_t1, b_t0, b_t1, row, bulges, separation, tolerance, until, lead):
            time[row], steps[row], feature[row] = math.inf, 0, NO_FEATURE
            continue
        read_pair(a_t0, a_t1, b_t0, b_t1, row, together, back, turns, path, bounds)
        rounding = bounds[ROUNDING]
        gap = max(GAP_PER_TOLERANCE * tolerance * bounds[SIZE], LEAST_GAP * rounding)
        time[row], steps[row] = search(path, turns, bounds, p, q, separation, gap, until, now, past, shares)
        feature[row] = NO_FEATURE
        if time[row] <= 1.0:
            feature[row] = closest_features(now, p, q, rounding, distances)
            lead[4] += 1.0
            if only_first and time[row] < lead[0]:
                lead[0] = time[row]
                _, lead[1], lead[2], lead[3] = closest_direction(now, p, q)


def new_lead():
    """Return (5,): the least time so far, the direction that parted those faces until then, and how many contacts were found.

    Flat parts meet with thousands of pairs of faces at one time. Once there are `MANY`, what cannot come before the first by more
    than a part of the tolerance is left out: then the first contact is to be told earlier by `early`.
    """
    return np.array([np.inf, 0.0, 0.0, 0.0, 0.0])


def early(lead, tolerance):
    """Return by how much the least time of all calls with this lead may be late."""
    return WORTH * tolerance if lead[4] >= MANY else 0.0


def first_times_within(a_t0, a_t1, turn_a, b_t0, b_t1, turn_b, separation=0.0, tolerance=1e-6, lead=None):
    """Return the first times at which pairs of moving faces come within `separation` of each other.

    Parameters
    ----------
    a_t0, a_t1 : (n, p, 3) float64
        The corners of the first faces at the start and at the end of the step: p is 1 for vertices, 2 for edges, 3 for triangles.
    turn_a : (4,) float64
        How they move in between (`moving_point.py`): the axis and the angle of a screw, or angle 0 for straight lines.
    b_t0, b_t1, turn_b
        The same for the second faces, (n, q, 3).
    separation : float
        A distance, at least 0. Faces that start farther apart meet when their distance falls to it. Faces that start within it, or
        within 4 δ more, so that what stopped there may slide on, are free while their distance stays above 0.99 of that at the
        start, or above δ if that was below 1,600 roundings (2⁻⁴⁴ S, turning 2⁻⁴¹ S). Faces that touch at the start, or are
        nearer than δ, are free only if they part at once, and until they touch again. With separation 0 their time is 0.
    tolerance : float
        Part of the step. It sets δ (above), in which a time may be early: 1e-6 is early by 1e-6 of the step only for faces that
        approach slower than 1e-6 S per step.
    lead : (5,) float64, optional
        From `new_lead`, for one or several calls of which only the first contact of all is wanted.

    Returns
    -------
    FirstTimes
        time (n,), feature (n,), steps (n,).
    """
    arrays = [read_only_view(np.asarray(array, dtype=np.float64)) for array in (a_t0, a_t1, b_t0, b_t1)]
    n = len(arrays[0])
    for first, last in (arrays[:2], arrays[2:]):
        if first.shape != last.shape or first.ndim != 3 or len(first) != n or first.shape[2] != 3 or not 1 <= first.shape[1] <= 3:
            raise InputError(
                f"moving corners have the shapes {[a.shape for a in arrays]}; they must be (n, 1 … 3, 3), alike at both ends"
            )
    if not (separation >= 0.0 and tolerance > 0.0):
        raise InputError(f"separation is {separation} and tolerance {tolerance}; they must be at least 0 and above 0")
    together, back, turns = common_frame(turn_a, turn_b)
    back, turns, bulges = read_only_view(back), read_only_view(turns), read_only_view(bulges_of(turn_a, turn_b))
    found = FirstTimes(np.empty(n), np.empty(n, dtype=np.int8), np.empty(n, dtype=np.int32))
    work, only_first = np.zeros((4, 72)), lead is not None
    leading = lead if only_first else new_lead()

    def scan(begin, operations):
        end = min(n, begin[0] + operations)
        first_times_slice(
            *arrays, together, back, turns, bulges, float(separation), float(tolerance), only_first, leading, work, *found,
            begin[0], end,
        )  # fmt: skip
        did, begin[0] = end - begin[0], end
        return end == n, did

    if n > 0:
        run_in_slices(scan, [0], FIRST_SLICE)
    return found
