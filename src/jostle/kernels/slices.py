"""Long kernels in slices.

A kernel has no clock, and Ctrl-C waits until it returns. So a long kernel is resumable: state in, a number of operations, state
out. Between slices Python checks the clock, reports progress, checks for cancellation, and handles Ctrl-C. A slice takes about 0.1
ms under a time budget, and at most 0.2 s otherwise.

With a budget of operations the work stops at the same point on every machine, whatever the slices were, as long as a step never
does more than requested; with a budget of seconds it does not.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

State = TypeVar("State")

SLICE_SECONDS_UNDER_BUDGET = 1e-4
SLICE_SECONDS = 0.1  # target: a slice twice as slow as the last then takes at most 0.2 s
LARGEST_GROWTH = 4.0  # a slice is at most this much larger than the last: the first operations may be the cheap ones
PROGRESS_SECONDS = 0.1


def run_in_slices(
    step: Callable[[State, int], tuple[bool, int]],
    state: State,
    operations: int = 1000,
    *,
    seconds: float | None = None,
    total_operations: int | None = None,
    progress: Callable[[int], None] | None = None,
    cancel: Callable[[], bool] | None = None,
    clock: Callable[[], float] = time.perf_counter,
) -> bool:
    """Call ``step(state, operations)`` until it is done; return whether it is.

    Parameters
    ----------
    step : callable
        Continues from `state` (arrays, changed in place) for at most the given number of operations, of a unit of its own choice;
        returns whether all is done, and the number of operations used. Before it is done it uses at least one.
    operations : int
        Size of the first slice; the following ones are sized by the clock.
    seconds : float, optional
        Time budget. At least one slice is run, so that repeated calls make progress.
    total_operations : int, optional
        Budget of operations. The stopping point then does not depend on the clock.
    progress : callable, optional
        Called with the operations used so far, ten times a second at most, and at the end.
    cancel : callable, optional
        Called after every slice; True ends the work.
    clock : callable
        Seconds, as a float.
    """
    size = max(1, operations)
    used = 0
    now = clock()
    deadline = None if seconds is None else now + seconds
    next_progress = now + PROGRESS_SECONDS
    done = False
    while not done and (total_operations is None or used < total_operations):
        asked = size if total_operations is None else min(size, total_operations - used)
        begin = clock()
        done, did = step(state, asked)
        now = clock()
        used += did
        if did < 1 and not done:
            raise RuntimeError("a step used no operations and is not done")
        if progress is not None and now >= next_progress:
            progress(used)
            next_progress = now + PROGRESS_SECONDS
        if not done and ((deadline is not None and now >= deadline) or (cancel is not None and cancel())):
            break
        aim = SLICE_SECONDS if deadline is None else min(SLICE_SECONDS_UNDER_BUDGET, deadline - now)
        size = _next_size(did, now - begin, aim)
    if progress is not None:
        progress(used)
    return done


def _next_size(did: int, took: float, aim: float) -> int:
    if took <= 0.0:  # faster than the clock can tell
        return int(did * LARGEST_GROWTH)
    return max(1, int(did * min(aim / took, LARGEST_GROWTH)))
