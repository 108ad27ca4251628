"""Kernels of `priority_queue`: a heap of pairs by wake-up time.

One array holds every pair once, as an integer: the wake-up time in the upper 32 bits (the bits of a float32, rounded down, which
sort like the times), the two bodies in 16 bits each. Its front is a heap of the sleeping pairs, with four children per node that
share a cache line; its back, unordered, are the pairs that are awake.
A body is a row of numbers: position, size, velocity and bounds.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from jostle._types import Bytes, Floats, Ints, Longs, Singles
from jostle.broad_phase.bounding_spheres import spheres_overlap
from jostle.kernels.jit import kernel
from jostle.kernels.numbers import as_int64

# Columns of a body. Its bounds are the given ones, with caution, plus rounding.
X, RADIUS, REACH, VX, SPEED, ACCELERATION, SPEED_ROUNDING, ACCELERATION_ROUNDING, COLUMNS = 0, 3, 4, 5, 8, 9, 10, 11, 12
NEW = 2  # in `jumped`: a body that the queue has not seen
TOO_FAR, TOO_SUDDEN = 1, 2

ALLOWANCE = 1.0 + 1e-9  # of a bound: otherwise rounding breaks it for a body that moves exactly at its bound
CAUTION = 1.0 + 1e-6  # sleeping times assume bounds larger by this than those allowed
ROUNDING = 2.0**-47  # of the largest coordinate
_SOONER = 1.0 - 1e-6  # of a sleeping time: 65,536 additions to the clock are off by less
_GROWTH = 1.05  # a body that grew gets room to grow more
_SHRINKING = 1.0 - 2.0**-12  # per frame, of unused room: pulsating bodies keep theirs
_MOST_ROOM = 4.0
_SLIGHTLY = 1.0 + 2.0**-30
_STAY = 4.0  # frames: a pair that would sleep for fewer stays awake, which costs less than the heap

# Places of `state`: pairs that sleep, the next awake pair to look at, pairs found, pairs woken, pairs compared.
SLEEPING, NEXT, FOUND, WOKEN, COMPARED, STATE = 0, 1, 2, 3, 4, 5


@kernel
def follow_bodies(
    centre: Floats, radius: Floats, jumped: Bytes, bounds: Floats, dt: float, last_dt: float, bodies: Floats, restart: Bytes,
    broken: Floats,
) -> tuple[bool, int]:  # fmt: skip
    """Update the rows of bodies; flag those whose pairs must be tested again.

    Those are new, jumped, grown or out of bounds. Returns whether time passes, and the first body that broke a bound, or -1;
    `broken` (3,) then holds which bound, the actual value and the allowed one. An unknown velocity is NaN.
    """
    passes = dt > 0.0 and anything_moves(centre, jumped, bodies)
    half = 0.5 * (dt + last_dt)
    first = -1
    for i in range(radius.shape[0]):
        largest, step, change = move_body(centre, i, dt, passes, bodies)
        rounding = ROUNDING * (largest + (radius[i] if radius[i] < np.inf else 0.0))
        allowed_step = bounds[i, 0] * dt if dt > 0.0 else 0.0
        allowed_change = bounds[i, 1] * half if passes else np.inf
        what = 0
        if jumped[i] == NEW or (jumped[i] and step > 0.0):
            what = -1
        elif step > allowed_step * ALLOWANCE + rounding:
            what = TOO_FAR
        elif change > allowed_change * ALLOWANCE + rounding * 2.0 / max(min(dt, last_dt), 1e-300):
            what = TOO_SUDDEN
        if what != 0:
            restart[i] = 1
            if what != TOO_SUDDEN:
                for k in range(3):
                    bodies[i, VX + k] = np.nan
        elif passes:
            # Rounding may break a bound, but not unnoticed: sleeping times then include it.
            faster, sooner = rounding / dt, rounding * 2.0 / max(min(dt, last_dt) * half, 1e-300)
            add_rounding(bodies, i, SPEED_ROUNDING, faster, step > bodies[i, SPEED] * dt)
            add_rounding(bodies, i, ACCELERATION_ROUNDING, sooner, change > bodies[i, ACCELERATION] * half)
        elif step > 0.0:
            restart[i] = 1
        if what > 0 and first < 0:
            first = i
            broken[0] = what
            broken[1] = step if what == TOO_FAR else change
            broken[2] = allowed_step if what == TOO_FAR else allowed_change
        for column in range(2):
            bound = bounds[i, column] * CAUTION + bodies[i, SPEED_ROUNDING + column]
            if bound > bodies[i, SPEED + column]:
                restart[i] = 1
            bodies[i, SPEED + column] = bound
        bodies[i, RADIUS] = radius[i]
        make_room(bodies, i, rounding, jumped[i] == NEW, restart)
    return passes, first


@kernel
def anything_moves(centre: Floats, jumped: Bytes, bodies: Floats) -> bool:
    """Return whether any body moved without jumping; otherwise no time passes."""
    for i in range(centre.shape[0]):
        if not jumped[i]:
            for k in range(3):
                if centre[i, k] != bodies[i, X + k]:
                    return True
    return False


@kernel(forceinline=True)
def move_body(centre: Floats, i: int, dt: float, passes: bool, bodies: Floats) -> tuple[float, float, float]:
    """Move a body; return its largest coordinate, step length and velocity change."""
    largest = step = change = 0.0
    for k in range(3):
        old = bodies[i, X + k]
        largest = max(largest, abs(centre[i, k]))
        if abs(old) > largest:  # false for an unknown position, NaN
            largest = abs(old)
        by = centre[i, k] - old
        step += by * by
        bodies[i, X + k] = centre[i, k]
        if passes:
            velocity = by / dt
            other = velocity - bodies[i, VX + k]
            change += other * other
            bodies[i, VX + k] = velocity
    return largest, math.sqrt(step), math.sqrt(change)


@kernel(forceinline=True)
def add_rounding(bodies: Floats, i: int, column: int, needed: float, is_more: bool) -> None:
    """Set the rounding added to a bound.

    It is twice `needed` if the motion `is_more` than the bound; otherwise it may shrink.
    """
    bodies[i, column] = 2.0 * needed if is_more else min(bodies[i, column], 4.0 * needed)


@kernel(forceinline=True)
def make_room(bodies: Floats, i: int, rounding: float, is_new: bool, restart: Bytes) -> None:
    """Update a body's reach, the radius in which it can change without waking pairs."""
    tight = (bodies[i, RADIUS] + 2.0 * rounding) * _SLIGHTLY
    reach = bodies[i, REACH]
    if is_new or bodies[i, RADIUS] + rounding > reach:
        bodies[i, REACH] = tight if is_new else tight * _GROWTH
        restart[i] = 1
    elif tight < reach:
        # Only decreases: pairs that went to sleep by a larger reach remain safe.
        bodies[i, REACH] = max(tight, min(reach * _SHRINKING, tight * _MOST_ROOM))


@kernel(forceinline=True)
def look_at(bodies: Floats, a: int, b: int, dt: float) -> float:
    """Return -1 if two spheres overlap, else a time in which they cannot meet."""
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
        return by_speed * _SOONER
    # Along the present line of centres; the distance is never less than its projection on that line.
    approach = (
        (bodies[a, VX] - bodies[b, VX]) * x
        + (bodies[a, VX + 1] - bodies[b, VX + 1]) * y
        + (bodies[a, VX + 2] - bodies[b, VX + 2]) * z
    ) / distance
    # The measured velocity is the mean of the last frame; by its end it may have changed for half a frame.
    approach += 0.5 * acceleration * dt
    if approach != approach:  # a velocity is still unknown
        return by_speed * _SOONER
    root = math.sqrt(approach * approach + 2.0 * acceleration * gap)
    by_acceleration = np.inf
    if approach > 0.0:
        by_acceleration = 2.0 * gap / (approach + root)
    elif acceleration > 0.0:
        by_acceleration = (root - approach) / acceleration
    return max(by_speed, by_acceleration) * _SOONER


@kernel(forceinline=True)
def time_bits(time: float, single: NDArray[np.float32], bits: Ints) -> int:
    """Return the bits of the float32 at or below a time >= 0.

    `bits` is `single` (1,) viewed as int32.
    """
    single[0] = np.float32(time)
    found = as_int64(bits[0])
    if np.float64(single[0]) > time:
        found -= 1
    return found


@kernel(forceinline=True)
def bodies_of_key(key: int) -> tuple[int, int]:
    """Return the two bodies of a queue entry."""
    return (key >> 16) & 0xFFFF, key & 0xFFFF


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
def list_pairs(chosen: Bytes, queue: Longs, at: int) -> int:
    """Write the keys of all pairs with a chosen body (n,); return where they end."""
    n = chosen.shape[0]
    for a in range(n):
        for b in range(a + 1, n):
            if chosen[a] | chosen[b]:
                queue[at] = a << 16 | b
                at += 1
    return at


@kernel
def renumber_pairs(old: Longs, begin: int, end: int, new_number: Longs, queue: Longs, at: int) -> int:
    """Write renumbered keys from `begin` to `end`; return where they end.

    Pairs of removed bodies are dropped.
    """
    for place in range(begin, end):
        key = old[place]
        i, j = bodies_of_key(key)
        a, b = new_number[i], new_number[j]
        if a >= 0 and b >= 0:
            queue[at] = key >> 32 << 32 | min(a, b) << 16 | max(a, b)
            at += 1
    return at


@kernel
def wake_bodies(queue: Longs, state: Longs, restart: Bytes) -> None:
    """Wake all pairs of flagged bodies, and clear the flags."""
    sleeping = state[SLEEPING]
    at = 0
    while at < sleeping:
        key = queue[at]
        a, b = bodies_of_key(key)
        if restart[a] | restart[b]:
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
    """Move the zero of time to `by`."""
    for at in range(sleeping):
        bits[0] = np.int32(queue[at] >> 32)
        queue[at] = time_bits(max(0.0, np.float64(single[0]) - by), single, bits) << 32 | (queue[at] & 0xFFFFFFFF)


@kernel
def run_queue(
    queue: Longs, state: Longs, bodies: Floats, clock: float, dt: float, pairs: Ints, single: Singles, bits: Ints, operations: int
) -> int:
    """Wake the due pairs and test all awake ones, for about `operations`.

    Continues from `state`. Writes the pairs (3,k) of overlapping spheres while there is room (the last column is scratch), and puts
    pairs that cannot meet for some frames to sleep. Returns the operations used.
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
            a, b = bodies_of_key(key)
            sleep = look_at(bodies, a, b, dt)
            until = time_bits(clock + max(sleep, 0.0), single, bits)
            if sleep > _STAY * dt and until > now:
                # Most keep sleeping: a new time in the same place costs half of removing and inserting.
                queue[0] = until << 32 | (key & 0xFFFFFFFF)
            else:
                sleeping -= 1
                queue[0] = queue[sleeping]
                queue[sleeping] = key
            if sleeping > 0:
                sift_down(queue, 0, sleeping)
            used += 1
        state[WOKEN] += used
        state[COMPARED] += used
        if sleeping == 0 or queue[0] >> 32 > now:
            at = sleeping
    if at >= 0:
        begin = at
        while at < total and used < operations:
            key = queue[at]
            a, b = bodies_of_key(key)
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
