"""The kernels of `priority_queue`: a heap of pairs by their wake-up times, and how soon two spheres can meet.

One array holds every pair once, as a whole number: the wake-up time in the upper 32 bits (the bits of a float32, rounded down,
which sort as the times do), the two bodies in 16 bits each. Its front is a heap of the pairs that sleep, four children to a node
so that they share a cache line; its back, in no order, are the pairs that are awake.
A body is a row of numbers: where it is, how large, how fast, and its bounds.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from jostle.broad_phase.bounding_spheres import spheres_overlap
from jostle.broad_phase.volumes import Floats, Ints
from jostle.kernels.jit import kernel

Longs = NDArray[np.int64]
Flags = NDArray[np.uint8]
Singles = NDArray[np.float32]

# Columns of a body.
X, RADIUS, REACH, VX, SPEED, ACCELERATION, COLUMNS = 0, 3, 4, 5, 8, 9, 10
# What `follow_bodies` finds.
STILL, MOVED = 0, 1
NEW = 2  # a body that the queue has not seen, as a jump
TOO_FAR, TOO_SUDDEN = 1, 2

ALLOWANCE = 1.0 + 1e-9  # of a bound: who moves by exactly his bound breaks it by rounding otherwise
CAUTION = 1.0 + 1e-6  # bounds are taken to be larger by this than what is allowed
ROUNDING = 2.0**-47  # of the largest coordinate
_GROWTH = 1.05  # a body that grew has room to grow on
_SLIGHTLY = 1.0 + 2.0**-30
_STAY = 4.0  # frames: who would sleep for fewer stays awake, which costs less than going through the heap

# Places of `state`: pairs that sleep, the next awake pair to look at, pairs found, pairs woken, pairs compared.
SLEEPING, NEXT, FOUND, WOKEN, COMPARED, STATE = 0, 1, 2, 3, 4, 5


@kernel
def follow_bodies(
    centre: Floats, radius: Floats, jumped: Flags, bounds: Floats, dt: float, last_dt: float, bodies: Floats, restart: Flags,
    broken: Floats,
) -> tuple[int, int]:  # fmt: skip
    """Bring the rows of bodies up to date; flag those whose pairs have to be looked at anew: new, jumped, grown, out of bounds.

    Returns whether anything moved at all (if not, no time passes), and the number of the first body that broke a bound, or -1;
    `broken` (3,) then says which, what it did and what it was allowed. A velocity that is not known is NaN.
    """
    n = radius.shape[0]
    still = True
    for i in range(n):
        still = still and jumped[i] != NEW and radius[i] == bodies[i, RADIUS]
        for k in range(3):
            still = still and centre[i, k] == bodies[i, X + k]
    first = -1
    for i in range(n):
        speed, acceleration = bounds[i, 0], bounds[i, 1]
        if speed * CAUTION > bodies[i, SPEED] or acceleration * CAUTION > bodies[i, ACCELERATION]:
            restart[i] = 1
        bodies[i, SPEED] = speed * CAUTION
        bodies[i, ACCELERATION] = acceleration * CAUTION
        if still:
            continue
        largest = 0.0
        step = change = 0.0
        for k in range(3):
            largest = max(largest, max(abs(centre[i, k]), abs(bodies[i, X + k])))
            by = centre[i, k] - bodies[i, X + k]
            step += by * by
            velocity = by / dt if dt > 0.0 else (0.0 if by == 0.0 else np.inf)
            other = velocity - bodies[i, VX + k]
            change += other * other
            bodies[i, VX + k] = velocity
            bodies[i, X + k] = centre[i, k]
        bodies[i, RADIUS] = radius[i]
        step, change = math.sqrt(step), math.sqrt(change)
        rounding = ROUNDING * largest
        what = 0
        if jumped[i] == NEW or (jumped[i] and step > 0.0):
            what = -1
        elif step > speed * dt * ALLOWANCE + rounding:
            what = TOO_FAR
        elif change > 0.5 * acceleration * (dt + last_dt) * ALLOWANCE + rounding * 2.0 / max(min(dt, last_dt), 1e-300):
            what = TOO_SUDDEN
        if what != 0:
            restart[i] = 1
            if what != TOO_SUDDEN:
                for k in range(3):
                    bodies[i, VX + k] = np.nan
        if what > 0 and first < 0:
            first = i
            broken[0] = what
            broken[1] = step if what == TOO_FAR else change
            broken[2] = speed * dt if what == TOO_FAR else 0.5 * acceleration * (dt + last_dt)
        if jumped[i] == NEW or radius[i] + rounding > bodies[i, REACH]:
            bodies[i, REACH] = (radius[i] + 2.0 * rounding) * (_SLIGHTLY if jumped[i] == NEW else _GROWTH)
            restart[i] = 1
    return STILL if still else MOVED, first


@kernel(forceinline=True)
def look_at(bodies, a, b, dt):  # type: ignore[no-untyped-def]
    """-1 where the spheres of two bodies overlap, or else a time within which they cannot meet while the bounds hold."""
    x, y, z = bodies[b, X] - bodies[a, X], bodies[b, X + 1] - bodies[a, X + 1], bodies[b, X + 2] - bodies[a, X + 2]
    if spheres_overlap(x, y, z, bodies[a, RADIUS] + bodies[b, RADIUS]):
        return -1.0
    distance = math.sqrt((x * x + y * y) + z * z)
    gap = distance - (bodies[a, REACH] + bodies[b, REACH])
    if not gap > 0.0:
        return 0.0
    speed = bodies[a, SPEED] + bodies[b, SPEED]
    by_speed = gap / speed if speed > 0.0 else np.inf
    acceleration = bodies[a, ACCELERATION] + bodies[b, ACCELERATION]
    if not acceleration < np.inf:
        return by_speed
    # Along the line of centres as it is now; the distance is never less than its projection on that line.
    approach = (
        (bodies[a, VX] - bodies[b, VX]) * x
        + (bodies[a, VX + 1] - bodies[b, VX + 1]) * y
        + (bodies[a, VX + 2] - bodies[b, VX + 2]) * z
    ) / distance
    # What is known is the mean over the last frame; by its end the velocity may have changed as in half of it.
    approach += 0.5 * acceleration * dt
    if approach != approach:  # a velocity that is not known yet
        return by_speed
    root = math.sqrt(approach * approach + 2.0 * acceleration * gap)
    by_acceleration = np.inf
    if approach > 0.0:
        by_acceleration = 2.0 * gap / (approach + root)
    elif acceleration > 0.0:
        by_acceleration = (root - approach) / acceleration
    return max(by_speed, by_acceleration)


@kernel(forceinline=True)
def time_bits(time, single, bits):  # type: ignore[no-untyped-def]
    """The bits of the float32 at or below a time >= 0, which sort as times do; (1,) float32 and the same memory as int32."""
    single[0] = np.float32(time)
    found = np.int64(bits[0])
    if np.float64(single[0]) > time:
        found -= 1
    return found


@kernel
def sift_down(queue: Longs, at: int, count: int) -> None:
    """Restore the heap of the first `count` pairs below a place."""
    key = queue[at]
    time = key >> 32
    while True:
        child = 4 * at + 1
        if child >= count:
            break
        soonest = child
        least = queue[child] >> 32
        for other in range(child + 1, min(child + 4, count)):
            if queue[other] >> 32 < least:
                least = queue[other] >> 32
                soonest = other
        if least >= time:
            break
        queue[at] = queue[soonest]
        at = soonest
    queue[at] = key


@kernel
def sift_up(queue: Longs, at: int) -> None:
    """Restore the heap above a place."""
    key = queue[at]
    time = key >> 32
    while at > 0:
        parent = (at - 1) >> 2
        if queue[parent] >> 32 <= time:
            break
        queue[at] = queue[parent]
        at = parent
    queue[at] = key


@kernel
def make_heap(queue: Longs, count: int) -> None:
    """Make a heap of the first `count` pairs."""
    for at in range((count + 2) >> 2, -1, -1):
        if at < count:
            sift_down(queue, at, count)


@kernel
def wake_bodies(queue: Longs, state: Longs, restart: Flags) -> None:
    """Wake all pairs of the bodies that are flagged, and take the flags down."""
    sleeping = state[SLEEPING]
    at = 0
    while at < sleeping:
        key = queue[at]
        if restart[(key >> 16) & 0xFFFF] | restart[key & 0xFFFF]:
            sleeping -= 1
            queue[at] = queue[sleeping]
            queue[sleeping] = key
        else:
            at += 1
    if sleeping < state[SLEEPING]:
        make_heap(queue, sleeping)
    state[SLEEPING] = sleeping
    for i in range(restart.shape[0]):
        restart[i] = 0


@kernel
def turn_back(queue: Longs, sleeping: int, by: float, single: Singles, bits: Ints) -> None:
    """Count time from `by` on."""
    for at in range(sleeping):
        bits[0] = np.int32(queue[at] >> 32)
        queue[at] = time_bits(max(0.0, np.float64(single[0]) - by), single, bits) << 32 | (queue[at] & 0xFFFFFFFF)


@kernel
def run_queue(
    queue: Longs, state: Longs, bodies: Floats, clock: float, dt: float, pairs: Ints, single: Singles, bits: Ints, operations: int
) -> int:
    """Wake the pairs whose time has come, and look at all that are awake; go on from `state` for about so many operations.

    Writes the pairs (3,k) of spheres that overlap while there is room (the last column is never a result), and sends to sleep
    those that cannot meet for some frames. Returns the operations used.
    """
    now = time_bits(clock, single, bits)
    sleeping, found = state[SLEEPING], state[FOUND]
    total = queue.shape[0]
    last = pairs.shape[1] - 1
    used = 0
    at = state[NEXT]
    if at < 0:
        while sleeping > 0 and queue[0] >> 32 <= now and used < operations:
            key = queue[0]
            sleep = look_at(bodies, (key >> 16) & 0xFFFF, key & 0xFFFF, dt)
            if sleep > _STAY * dt:
                # Most sleep on: a new time in the same place costs half of what taking out and putting in does.
                queue[0] = time_bits(clock + sleep, single, bits) << 32 | (key & 0xFFFFFFFF)
                state[COMPARED] += 1
            else:
                sleeping -= 1
                queue[0] = queue[sleeping]
                queue[sleeping] = key
            if sleeping > 0:
                sift_down(queue, 0, sleeping)
            used += 1
        state[WOKEN] += used
        if sleeping == 0 or queue[0] >> 32 > now:
            at = sleeping
    if at >= 0:
        begin = at
        while at < total and used < operations:
            key = queue[at]
            a, b = (key >> 16) & 0xFFFF, key & 0xFFFF
            sleep = look_at(bodies, a, b, dt)
            if sleep < 0.0:
                column = min(found, last)
                pairs[0, column] = a
                pairs[1, column] = b
                found += 1
            elif sleep > _STAY * dt:
                queue[at] = queue[sleeping]
                queue[sleeping] = time_bits(clock + sleep, single, bits) << 32 | a << 16 | b
                sift_up(queue, sleeping)
                sleeping += 1
            at += 1
            used += 1
        state[COMPARED] += at - begin
    state[SLEEPING], state[FOUND], state[NEXT] = sleeping, found, at
    return used
