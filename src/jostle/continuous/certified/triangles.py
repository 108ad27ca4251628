"""The first time at which two moving faces come within a distance of each other.

This is the test along a motion (Eckstein, Schömer 1999, §4.2) for corners on arcs or a separation, where nothing is exact. Instead
of the paper's root finding, the search steps from s = 0 on: the closest points at s give a direction, `directions.py` bounds how
long it keeps the faces apart, and that is the next s. This is Newton's method on the distance with every step certified, rounding
included. Measured: a hit takes 3 to 8 steps, 3 to 10 µs; a miss 0 to 2 steps, 0.15 to 1.5 µs. Faces that keep a small distance
during large and almost equal turns are slow: 70 steps at 1e-3 of their size, 700 at 1e-6.

Guarantee, with S as in `corners.py` and δ = max(1e-6 · tolerance, 2⁻⁴²) S for straight motions and max(1e-6 · tolerance, 2⁻³⁹) S
for turning ones: a reported time is at most the first time at which the distance falls to the separation, the distance at that time
is at most separation + δ, and none is reported unless the distance falls to that.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from jostle._types import Floats
from jostle.continuous.certified.closest_features import NO_FEATURE, closest_features
from jostle.continuous.certified.corners import (
    OF_B,
    FacePairWork,
    closest_direction,
    new_face_pair_arrays,
    open_face_pair_work,
    place_corners,
    read_pair,
    set_common_frame,
)
from jostle.continuous.certified.directions import TurningDirection, feature_normal, free_step, gap_along
from jostle.continuous.certified.parting_faces import leaving_time
from jostle.continuous.certified.quick_directions import bulge_of, parted_until
from jostle.errors import InputError
from jostle.geometry.vector import Vec3, divided, dot, minus, plus, point_from, times, write_point_from
from jostle.kernels.arrays import read_only_view
from jostle.kernels.jit import kernel
from jostle.kernels.scratch import Workspaces
from jostle.kernels.slices import run_in_slices
from jostle.kernels.structs import Addresses

FIRST_SLICE = 4096
MOST_STEPS = 100_000
GAP_PER_TOLERANCE = 1e-6
LEAST_GAP = 4.0  # δ in units of the rounding
STEPS_BEFORE_CURVED = 5  # most searches end before
# If only the first contact is wanted and this many were found, the next must be earlier by this part of the tolerance.
MANY, WORTH = 256, 0.1
KEPT_SHARE = 0.99  # of the distance at the start, for faces that start within the separation
# A hundredth of a distance below this many roundings is itself rounding: such faces only must not touch.
COARSEST = 1600.0


class FirstTimes(NamedTuple):
    """The results of `first_times_within` for each query.

    Attributes
    ----------
    time : (n,) float64
        In 0 … 1; inf if the faces stay apart.
    feature : (n,) int8
        The closest features at that time, as codes of `closest_features.py`; -1 without a time.
    steps : (n,) int32
        Steps taken; `MOST_STEPS` if the search was cut short, with a time earlier than guaranteed.
    """

    time: Floats
    feature: NDArray[np.int8]
    steps: NDArray[np.int32]


class StartRule(NamedTuple):
    """The distance that faces must keep, their δ, and whether they touch at the start."""

    threshold: float
    gap: float
    touching: bool


class TimeAndSteps(NamedTuple):
    """A first time, inf if there is none, and the steps taken."""

    time: float
    steps: int


@kernel
def start_rule(distance: float, separation: float, gap: float, rounding: float) -> StartRule:
    """Return the rule for faces this far apart at the start."""
    if distance > separation + 4.0 * gap:
        return StartRule(separation, gap, False)
    if distance <= COARSEST * rounding:
        return StartRule(0.0, gap, distance <= gap)
    return StartRule(KEPT_SHARE * distance, min(gap, distance / 400.0), False)


@kernel
def longest_step(work: FacePairWork, n: Vec3, steps: int, target: float, rest: float) -> float:
    """Return how long, up to `rest`, n serves, fixed or turning like past directions."""
    past = work.past
    turned, rate, change = Vec3(0.0, 0.0, 0.0), Vec3(0.0, 0.0, 0.0), Vec3(0.0, 0.0, 0.0)
    if steps > 1:
        turned = divided(minus(n, point_from(past.direction, 0)), past.step)
    step = 0.0
    for trial in range(min(steps, 2 if steps <= STEPS_BEFORE_CURVED else 3)):
        # A fixed direction is enough for most, and best if the closest features have just changed.
        if trial == 1:
            rate = turned
        elif trial == 2:
            change = times(2.0 / (past.step_before + past.step), minus(turned, point_from(past.rate, 0)))
            rate = plus(turned, times(0.5 * past.step, change))
        rate = minus(rate, times(dot(n, rate), n))
        step = max(step, free_step(work, TurningDirection(n, rate, change), target, rest))
        if step >= rest:
            break
    write_point_from(past.direction, 0, n)
    write_point_from(past.rate, 0, turned)
    return step


@kernel
def direction_to_try(work: FacePairWork, distance: float, direction: Vec3, target: float) -> Vec3:
    """Return the direction between closest points, or a normal if rounding spoilt it."""
    if gap_along(work, direction) - target < 0.5 * (distance - target):
        wider = feature_normal(work, direction)
        if wider.gap > target:
            return wider.direction
    return direction


@kernel
def search(work: FacePairWork, gap: float, until: float) -> TimeAndSteps:
    """Return when the distance first falls to its threshold, before `until`; gap is δ.

    At the end the corners are placed at that time.
    """
    rounding, separation, speed = work.limits.rounding, work.limits.separation, work.limits.speed
    threshold = separation
    s, steps, starting = 0.0, 0, separation > 0.0
    while True:
        place_corners(work, s)
        distance, direction = closest_direction(work)
        if starting:
            starting = False
            threshold, gap, touching = start_rule(distance, separation, gap, rounding)
            if touching:
                s = leaving_time(work, 4.0 * gap)
                if s > 0.0:
                    continue
        steps += 1
        target = threshold + 0.5 * gap
        if distance <= threshold + gap - rounding or steps >= MOST_STEPS:
            return TimeAndSteps(s, steps)
        direction = direction_to_try(work, distance, direction, target)
        rest = until - s
        if rest <= 0.0:
            return TimeAndSteps(math.inf, steps)
        step = longest_step(work, direction, steps, target, rest)
        if step < rest and step * speed < distance - target:
            # Even with a wrong direction, no corner moves farther than this.
            step = min(rest, (distance - target) / speed)
        if step >= rest:
            return TimeAndSteps(math.inf, steps)
        work.past.step_before, work.past.step = work.past.step, step
        s += step


@kernel(forceinline=True)
def read_ends(work: FacePairWork, first: int, face_t0: Floats, face_t1: Floats, row: int) -> None:
    """Write both ends of the corners of a face in a row of faces (n,p,3).

    The corners are numbered from `first` on.
    """
    for i in range(face_t0.shape[1]):
        corner = work.ends[first + i]
        for k in range(3):
            corner.start[k], corner.end[k] = face_t0[row, i, k], face_t1[row, i, k]


@kernel(forceinline=True)
def note_contact(work: FacePairWork, time: float) -> None:
    """Count a contact; it becomes the lead if it is earlier and only the first counts."""
    lead = work.lead
    lead.contacts += 1.0
    if work.limits.only_first != 0 and time < lead.time:
        lead.time = time
        write_point_from(lead.direction, 0, closest_direction(work).direction)


@kernel
def first_times_slice(
    a_t0: Floats, a_t1: Floats, b_t0: Floats, b_t1: Floats, addresses: Addresses, found: FirstTimes, begin: int, end: int
) -> None:
    """Fill time, feature, steps (n,) of queries begin … end, faces (n,p,3), (n,q,3)."""
    work, (time, feature, steps) = open_face_pair_work(addresses), found
    limits = work.limits
    for row in range(begin, end):
        until = 1.0
        if limits.only_first != 0 and work.lead.contacts >= MANY:
            until = work.lead.time - WORTH * limits.tolerance
        time[row], steps[row], feature[row] = math.inf, 0, NO_FEATURE
        if until <= 0.0:
            continue
        read_ends(work, 0, a_t0, a_t1, row)
        read_ends(work, OF_B, b_t0, b_t1, row)
        if parted_until(work, until):
            continue
        read_pair(work)
        gap = max(GAP_PER_TOLERANCE * limits.tolerance * limits.size, LEAST_GAP * limits.rounding)
        time[row], steps[row] = search(work, gap, until)
        if time[row] <= 1.0:
            feature[row] = closest_features(work)
            note_contact(work, time[row])


def new_lead() -> Floats:
    """Return (5,) an empty lead: least time, direction, number of contacts.

    Flat parts have thousands of face pairs that meet at one time. After `MANY`, pairs that cannot come before the first by more
    than a part of the tolerance are left out; the caller must then report the first contact earlier by `early`.
    """
    return np.array([np.inf, 0.0, 0.0, 0.0, 0.0])


def early(lead: Floats | None, tolerance: float) -> float:
    """Return how late the least time of all calls with this lead may be."""
    return WORTH * tolerance if lead is not None and lead[-1] >= MANY else 0.0


_workspaces = Workspaces(new_face_pair_arrays)


def first_times_within(
    a_t0: ArrayLike,
    a_t1: ArrayLike,
    turn_a: ArrayLike,
    b_t0: ArrayLike,
    b_t1: ArrayLike,
    turn_b: ArrayLike,
    separation: float = 0.0,
    tolerance: float = 1e-6,
    lead: Floats | None = None,
) -> FirstTimes:
    """Return the first times at which moving faces come within `separation`.

    Parameters
    ----------
    a_t0, a_t1 : (n, p, 3) float64
        The corners of the first faces at the start and at the end of the step: p is 1 for vertices, 2 for edges, 3 for triangles.
    turn_a : (4,) float64
        Their motion (`moving_point.py`): the axis and the angle of a screw, or angle 0 for straight lines.
    b_t0, b_t1, turn_b
        The same for the second faces, (n, q, 3).
    separation : float
        A distance, at least 0. Faces that start farther apart meet when their distance falls to it. Faces that start within it, or
        within 4 δ more, so that stopped bodies can slide, are free while their distance stays above 0.99 of that at the start, or
        above δ if that was below 1,600 roundings (2⁻⁴⁴ S, turning 2⁻⁴¹ S). Faces that touch at the start, or are nearer than δ, are
        free only if they part at once, and until they touch again. With separation 0 their time is 0.
    tolerance : float
        Part of the step. It sets δ (above), by which a contact may be early: 1e-6 is early by 1e-6 of the step only for faces that
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
    found = FirstTimes(np.empty(n), np.empty(n, dtype=np.int8), np.empty(n, dtype=np.int32))
    if n == 0:
        return found
    work = _workspaces.take()
    turns = np.asarray(turn_a, np.float64), np.asarray(turn_b, np.float64)
    set_common_frame(work, *turns)
    work.faces["corners"] = arrays[0].shape[1], arrays[2].shape[1]
    work.faces["bulge"] = [bulge_of(float(turn[3])) for turn in turns]
    work.limits[0] = (separation, tolerance, lead is not None, 0.0, 0.0, 0.0)
    work.lead[:] = new_lead() if lead is None else lead

    def scan(begin: list[int], operations: int) -> tuple[bool, int]:
        end = min(n, begin[0] + operations)
        first_times_slice(arrays[0], arrays[1], arrays[2], arrays[3], work.table.table[0], found, begin[0], end)
        did, begin[0] = end - begin[0], end
        return end == n, did

    run_in_slices(scan, [0], FIRST_SLICE)
    if lead is not None:
        lead[:] = work.lead
    _workspaces.give_back(work)
    return found
