"""The budget of one detect: how much is searched before the next look at the clock, when to stop, and what to leave for the report.

Guy and Debunne §3.2 and §3.4 tune the numbers of new pairs and of updates by a real-time measure of their cost. Here the search
does its work in order of priority and can stop anywhere, so that only the size of a slice is tuned: some 0.1 ms of operations, by a
pace that is kept from frame to frame. What comes after the search, the end of the frame and the report, is measured too, and its
time is left for it; it grows with the rows that were found, so it is asked for again after every slice.

There is no clock but under `Budget(seconds=…)`: otherwise slices have one size, and the answer is the same on every machine.
"""

from __future__ import annotations

import time
from collections.abc import Callable

SLICE_SECONDS = 1e-4
LEAST_SLICE = 16  # operations
FIXED_SLICE = 200_000  # operations without a clock: some 20 ms, after which Ctrl-C is heard
WORTH_A_SLICE = 1e-5  # seconds: with less than this left the search ends, since a call of the kernel takes some 5 µs
ROSE, FELL = (
    1.2,
    0.995,
)  # an upper estimate that is exceeded one time in 37, whatever by: a hiccup of the machine moves it by a fifth
LEAP, PATIENCE = 8.0, 0.1  # a pace that is too hopeful breaks budgets, one that is not only makes slices short: it slows at once

Step = Callable[[int], tuple[bool, int]]  # operations in; whether all is done, and the operations used, out
Clock = Callable[[], float]


class Cost:
    """An upper estimate of the seconds that something takes: a fixed part and a part for each item."""

    def __init__(self, fixed: float, each: float) -> None:
        self.fixed, self.each = fixed, each

    def expected(self, items: int) -> float:
        """Return the seconds for so many items."""
        return self.fixed + self.each * items

    def learn(self, items: int, took: float) -> None:
        """Take in how long it took; the larger part of the estimate is what changes."""
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
        """Return how many operations go into so many seconds."""
        return max(LEAST_SLICE, int(seconds / self.seconds))

    def learn(self, operations: int, took: float) -> None:
        """Take in a slice; the pace slows by no more than `LEAP`, whatever held the slice up, and quickens little by little."""
        if operations > 0 and took > 0.0:
            measured = min(took / operations, LEAP * self.seconds)
            self.seconds += (1.0 if measured > self.seconds else PATIENCE) * (measured - self.seconds)


def search_to_the_end(step: Step) -> bool:
    """Search until all is done."""
    done = False
    while not done:
        done, _ = step(FIXED_SLICE)
    return True


def search_operations(step: Step, operations: int) -> bool:
    """Search for a number of operations; return whether all was done."""
    done, left = False, operations
    while not done and left > 0:
        done, used = step(min(FIXED_SLICE, left))
        left -= used
    return done


def search_seconds(
    step: Step, deadline: Callable[[], float], pace: Pace, clock: Clock = time.perf_counter, work: Clock | None = None
) -> bool:
    """Search until the clock is at the deadline, which is asked for after every slice; return whether all was done.

    At least one slice is searched, so that frames whose budget is spent on other things get on. The pace is learnt by the clock
    `work` (by default the other one): the thread's own does not run while a busy machine does something else.
    """
    now, end = clock(), deadline()
    left = max(end - now, WORTH_A_SLICE)
    nearing = 0.0  # seconds that the deadline came nearer for each second of the last slice, by what that found
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
