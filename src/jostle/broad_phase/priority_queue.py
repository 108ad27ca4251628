"""PriorityQueue: a body pair sleeps until it could touch, by bounds on its motion.

Paper: Lock, Wills 2000, §6, "Priority queue", after Lin and Manocha (The Visual Computer 11, 1995), with bounding spheres. Two
spheres with a gap d cannot meet before d / (Va + Vb), nor before the root of d = u t + ½ (Aa + Ab) t², where u is their present
speed of approach along the line of centres (their distance is at least its projection on that line): they wake at the later of the
two. The queue is a heap in an array (`wake_times.py`); its first pair determines when there is work to do.
Velocities are measured from frame to frame, so every bound is checked: a body that moves farther, or changes its velocity more,
than its bound allows raises `BoundBroken`. Pairs of bodies that are added, jump or grow are tested again.
Guarantee: every pair of overlapping closed spheres, sorted (and spheres within 1e-14 of that); nothing is missed while the bounds
hold, and broken ones are detected; bounds include the rounding of motions. No time passes in a frame in which bodies only jump.
Memory: 8 bytes per pair, and twice that while bodies are added or removed.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from jostle._types import Floats, Ints, Longs
from jostle.broad_phase.volumes import Volumes, find_with_room, sorted_once, spheres_for_kernel
from jostle.broad_phase.wake_times import (
    ACCELERATION,
    ACCELERATION_ROUNDING,
    COLUMNS,
    COMPARED,
    FOUND,
    NEW,
    NEXT,
    RADIUS,
    SLEEPING,
    SPEED,
    SPEED_ROUNDING,
    STATE,
    TOO_FAR,
    WOKEN,
    follow_bodies,
    list_pairs,
    make_heap,
    renumber_pairs,
    run_queue,
    turn_back,
    wake_bodies,
)
from jostle.cast import as_count, as_length
from jostle.errors import BoundBroken, InputError
from jostle.interface.body_pairs import NO_PAIRS, CandidatePairs
from jostle.kernels.arrays import read_only_view
from jostle.kernels.slices import run_in_slices

MOST_BODIES = 1 << 16
_BYTES_PER_PAIR = 8
_SLICE = 1 << 18  # operations of the first slice
_LONGEST_CLOCK = 65536.0  # frames after which the clock is reset, before a float32 cannot tell frames apart


@dataclass(frozen=True)
class PriorityQueue:
    """Let pairs of bodies sleep until they could touch.

    At least one of the two bounds is required, unless `Volumes.bounds` has bounds per body (the smaller one holds).

    Parameters
    ----------
    speed : float, optional
        No centre of a bounding sphere moves faster than this, in units per second (a world's `dt` is the time between two calls
        of `detect`).
    acceleration : float, optional
        No velocity of a centre changes faster than this, in units per second squared. A collision response does.
    memory : int
        Bytes the queue may use; 8 per body pair, so 16,384 bodies by default.
    """

    speed: float | None = None
    acceleration: float | None = None
    memory: int = 1 << 30

    def __post_init__(self) -> None:
        for name in ("speed", "acceleration"):
            if getattr(self, name) is not None:
                as_length(getattr(self, name), name, "PriorityQueue")
        as_count(self.memory, "memory", lowest=_BYTES_PER_PAIR, owner="PriorityQueue")

    def start(self, body_count: int) -> PriorityQueueFinder:
        """Return a finder for a world of `body_count` bodies."""
        return PriorityQueueFinder(body_count, self)


@dataclass
class PriorityQueueFinder:
    """Finds the overlapping spheres of each frame; tests only pairs that may have met."""

    body_count: int
    settings: PriorityQueue
    counters: dict[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._clock, self._last_dt = 0.0, 0.0
        self._single = np.zeros(1, np.float32)
        self._bits = self._single.view(np.int32)
        self._pairs: Ints = np.empty((3, 64), np.int32)
        self._before: Volumes | None = None
        self._bounds_of_all: Floats = np.empty((0, 2))
        self._forget()

    def _forget(self) -> None:
        """Start over: all bodies are new."""
        self._queue: Longs | None = None
        self._state = np.zeros(STATE, np.int64)
        self._bodies = _unknown_bodies(self.body_count)
        self._is_new = np.full(self.body_count, NEW, np.uint8)
        self._restart = np.zeros(self.body_count, np.uint8)
        self._is_whole = True

    def find(self, volumes: Volumes) -> CandidatePairs:
        """Return all pairs of overlapping spheres, sorted.

        Raises `BoundBroken` if a body broke its bounds; asking again for the same frame answers.
        """
        centre, radius = spheres_for_kernel(volumes, self.body_count)
        bounds, dt = self._bounds(volumes), self._seconds(volumes)
        if not self._is_whole:  # Ctrl-C interrupted the last search
            self._forget()
        queue = self._ready_queue()
        jumps = volumes.jumped(self._before)
        jumped = self._is_new if jumps is None else np.maximum(self._is_new, jumps.astype(np.uint8))
        broken = np.zeros(3)
        self._is_whole = False
        passes, body = follow_bodies(centre, radius, jumped, bounds, dt, self._last_dt, self._bodies, self._restart, broken)
        self._is_new[:] = 0
        self._before = volumes
        if passes:
            self._clock += dt
            self._last_dt = dt
        if body >= 0:
            self._is_whole = True
            raise _broken_bound(volumes, body, broken, dt)
        found = self._run(queue, self._last_dt or dt)
        self._is_whole = True
        return found

    def _run(self, queue: Longs, dt: float) -> CandidatePairs:
        state = self._state
        if self._restart.any():
            wake_bodies(queue, state, self._restart)
        if self._clock > _LONGEST_CLOCK * dt:
            turn_back(queue, int(state[SLEEPING]), self._clock, self._single, self._bits)
            self._clock = 0.0
        if self.seconds_of_sleep > 0.0:
            self.counters = {"box_tests": 0, "woken_pairs": 0, "awake_pairs": 0, "pairs": 0}
            return NO_PAIRS
        state[WOKEN] = state[COMPARED] = 0
        state[NEXT] = -1

        compared = 0

        def search(pairs: Ints) -> int:
            nonlocal compared

            def step(state: NDArray[np.int64], operations: int) -> tuple[bool, int]:
                used = run_queue(queue, state, self._bodies, self._clock, dt, pairs, self._single, self._bits, operations)
                return bool(state[NEXT] == len(queue)), max(1, used)

            state[FOUND] = 0
            run_in_slices(step, state, _SLICE)
            compared = compared or int(state[COMPARED])
            # Pairs that overlap stay awake, so another search finds them all again.
            state[NEXT] = state[SLEEPING]
            return int(state[FOUND])

        found, self._pairs = find_with_room(search, self._pairs)
        pairs = sorted_once(self._pairs, found, np.empty((2, self.body_count + 1), np.int32))
        self.counters = {
            "box_tests": compared,
            "woken_pairs": int(state[WOKEN]),
            "awake_pairs": len(queue) - int(state[SLEEPING]),
            "pairs": len(pairs.body_a),
        }
        return pairs

    @property
    def seconds_of_sleep(self) -> float:
        """Time in which no spheres can meet; 0 with a pair awake, inf without pairs."""
        if self._queue is None or not self._is_whole:
            return 0.0
        if len(self._queue) == 0:
            return np.inf
        if self._state[SLEEPING] < len(self._queue) or self._restart.any():
            return 0.0
        self._bits[0] = self._queue[0] >> 32
        return max(0.0, float(self._single[0]) - self._clock)

    def change(self, body_count: int, old_to_new: NDArray[np.integer]) -> None:
        """Continue with other bodies; pairs of remaining ones keep sleeping."""
        old_queue, old_bodies, old_new, old_restart = self._queue, self._bodies, self._is_new, self._restart
        sleeping, whole = int(self._state[SLEEPING]), self._is_whole
        self.body_count = body_count
        self._forget()
        if old_queue is None or not whole or not self._fits():
            return
        new = np.asarray(old_to_new, np.int64)
        stay = np.flatnonzero(new >= 0)
        self._bodies[new[stay]] = old_bodies[stay]
        self._is_new[new[stay]], self._restart[new[stay]] = old_new[stay], old_restart[stay]
        arrived = np.ones(body_count, np.uint8)
        arrived[new[stay]] = 0
        self._queue = np.empty(_pair_count(body_count), np.int64)
        asleep = renumber_pairs(old_queue, 0, sleeping, new, self._queue, 0)
        awake = renumber_pairs(old_queue, sleeping, len(old_queue), new, self._queue, asleep)
        list_pairs(arrived, self._queue, awake)
        self._state[SLEEPING] = asleep
        make_heap(self._queue, asleep)

    def _fits(self) -> bool:
        return self.body_count <= MOST_BODIES and _BYTES_PER_PAIR * _pair_count(self.body_count) <= self.settings.memory

    def _ready_queue(self) -> Longs:
        """Return the queue, creating it with all pairs awake."""
        if self._queue is None:
            n, pairs = self.body_count, _pair_count(self.body_count)
            if not self._fits():
                raise InputError(
                    f"PriorityQueue: {n} bodies make {pairs} pairs, which take {_BYTES_PER_PAIR * pairs} bytes; "
                    f"memory is {self.settings.memory}, and bodies can be {MOST_BODIES} at most; raise memory, or use a broad "
                    "phase without a queue, such as coherent_aabb"
                )
            self._queue = np.empty(pairs, np.int64)
            list_pairs(np.ones(n, np.uint8), self._queue, 0)
        return self._queue

    def _bounds(self, volumes: Volumes) -> Floats:
        """Return (n, 2) bounds on speed and acceleration of each body, inf for none."""
        speed, acceleration = self.settings.speed, self.settings.acceleration
        if len(self._bounds_of_all) != self.body_count:
            each = [np.inf if bound is None else bound for bound in (speed, acceleration)]
            self._bounds_of_all = read_only_view(np.tile(np.array(each, np.float64), (self.body_count, 1)))
        bounds = self._bounds_of_all
        if volumes.bounds is not None:
            wrong = ~(volumes.bounds >= 0.0).all(axis=1)
            if wrong.any():
                body = int(np.argmax(wrong))
                given = volumes.bounds[body].tolist()
                raise InputError(f"{volumes.name_of(body)}: bounds are {given}; a speed and an acceleration must be >= 0")
            bounds = read_only_view(np.minimum(bounds, volumes.bounds))
        elif speed is None and acceleration is None:
            raise InputError(
                "PriorityQueue has no bound on the motion of bodies; give one: PriorityQueue(speed=…) in units per second, or as "
                "text priority_queue(speed=0.3), or acceleration=…"
            )
        return bounds

    def _seconds(self, volumes: Volumes) -> float:
        if not 0.0 <= volumes.dt < np.inf:
            raise InputError(f"dt is {volumes.dt}; PriorityQueue needs the seconds between two frames, >= 0")
        return float(volumes.dt)


def _unknown_bodies(n: int) -> Floats:
    bodies = np.full((n, COLUMNS), np.nan)
    bodies[:, RADIUS] = -1.0
    bodies[:, [SPEED, ACCELERATION]] = np.inf
    bodies[:, [SPEED_ROUNDING, ACCELERATION_ROUNDING]] = 0.0
    return bodies


def _pair_count(n: int) -> int:
    return n * (n - 1) // 2


def _broken_bound(volumes: Volumes, body: int, broken: Floats, dt: float) -> BoundBroken:
    name, did, allowed = volumes.name_of(body), float(broken[1]), float(broken[2])
    cure = "teleport a body that jumps, and ask again"
    if broken[0] == TOO_FAR:
        needed = f"give a speed of {did / dt:.6g} at least" if dt > 0.0 else "give the seconds that passed (World.dt)"
        return BoundBroken(
            f"{name} moved by {did:.6g} in {dt:g} s, but its bound on speed allows {allowed:.6g}; {needed}, or {cure}", body
        )
    return BoundBroken(
        f"{name} changed its velocity by {did:.6g} in {dt:g} s, but its bound on acceleration allows {allowed:.6g}; give a larger "
        f"acceleration, or none if bodies bounce, or {cure}",
        body,
    )
