"""The time budget of one detect: the size of slices, and when to stop.

Guy and Debunne §3.2 and §3.4 tune the numbers of new pairs and of updates by a real-time measure of their cost. Here the search
works in order of priority and can stop anywhere, so only the size of a slice is tuned: some 0.1 ms of operations, by a pace that is
kept from frame to frame. The time after the search, for ending the frame and for the report, is measured and reserved too; it grows
with the rows found, so it is estimated again after every slice.

Only `Budget(seconds=…)` uses a clock: otherwise slices have one size, and the answer is the same on every machine.
"""

from __future__ import annotations

import time
from collections.abc import Callable

SLICE_SECONDS = 1e-4
LEAST_SLICE = 16  # operations
FIXED_SLICE = 200_000  # operations without a clock: some 20 ms between polls for Ctrl-C
WORTH_A_SLICE = 1e-5  # seconds: with less than this left the search ends, since a call of the kernel takes some 5 µs
# An upper estimate that is exceeded one time in 37, by any amount: a hiccup of the machine moves it by a fifth.
ROSE, FELL = 1.2, 0.995
# A pace that is too fast breaks budgets, one that is too slow only makes slices short: it slows at once.
LEAP, PATIENCE = 8.0, 0.1

Step = Callable[[int], tuple[bool, int]]  # takes operations; returns whether all is done, and the operations used
Clock = Callable[[], float]


class Cost:
    """An upper estimate of the seconds a task takes: a fixed part and one per item."""

    def __init__(self, fixed: float, each: float) -> None:
        self.fixed, self.each = fixed, each

    def expected(self, items: int) -> float:
        """Return the seconds for this many items."""
        return self.fixed + self.each * items

    def learn(self, items: int, took: float) -> None:
        """Learn how long it took; the larger part of the estimate changes."""
        factor = ROSE if took > self.expected(items) else FELL
        if self.each * items > self.fixed:
            self.each *= factor
        else:
            self.fixed *= factor


class Pace:
    """Seconds for one operation of the search."""

    def __init__(self, seconds: float = 1e-7) -> None:
        self.seconds = seconds

    def operations(self, seconds: float) -> int:
        """Return how many operations fit into this many seconds."""
        return max(LEAST_SLICE, int(seconds / self.seconds))

    def learn(self, operations: int, took: float) -> None:
        """Learn from a slice: slow down at once, by at most `LEAP`; speed up slowly."""
        if operations > 0 and took > 0.0:
            measured = min(took / operations, LEAP * self.seconds)
            self.seconds += (1.0 if measured > self.seconds else PATIENCE) * (measured - self.seconds)


def search_operations(step: Step, operations: int | None = None) -> bool:
    """Search for a number of operations, or to the end; return whether all is done."""
    done, used = False, 0
    while not done and (operations is None or used < operations):
        done, more = step(FIXED_SLICE if operations is None else min(FIXED_SLICE, operations - used))
        used += more
    return done


def search_seconds(
    step: Step, deadline: Callable[[], float], pace: Pace, clock: Clock = time.perf_counter, work: Clock | None = None
) -> bool:
    """Search until the deadline, which is evaluated after every slice.

    Returns whether all was done.

    At least one slice is searched, so that frames whose budget is spent elsewhere still progress. The pace is measured by the clock
    `work` (by default the other one): a thread's own clock stops while a busy machine does something else.
    """
    now, end = clock(), deadline()
    left = max(end - now, WORTH_A_SLICE)
    nearing = 0.0  # how fast the deadline came nearer during the last slice, by the rows found
    work = clock if work is None else work
    while left >= WORTH_A_SLICE:
        begin = work()
        done, used = step(pace.operations(min(left / (1.0 + nearing), SLICE_SECONDS)))
        if done:
            return True
        worked = work() - begin
        took, then = clock() - now, deadline()
        pace.learn(used, worked)
        nearing = max(0.0, end - then) / took if took > 0.0 else 0.0
        now, end = now + took, then
        left = end - now
    return False
