"""Threads for kernels that release the GIL.

Work is cut into tasks. Which thread does which is left to chance, so results are put in order by their tasks, and the answer is
the same for every number of workers. Measured against Numba's `parallel=True`: as fast, without its seconds of compilation and
without OpenMP, which kills forked children. Waking a thread takes some 50 µs, in which the caller works already: batches, frames
and frontiers of large pairs are worth it, a query of 0.1 ms is not.

The threads are made on first use, for each process id: a forked child gets its own. They are plain ones that take work from a
queue. The caller takes tasks like them, and then waits at another queue for those that have begun; one that is awake too late
finds nothing to do. Queues and deques are in C: the locks of `concurrent.futures` and of `threading.Thread` are taken in Python,
and an interrupt between two of its bytecodes would leave them taken, and workers waiting, forever.
"""

from __future__ import annotations

import _thread
import atexit
import operator
import os
import threading
from collections import deque
from collections.abc import Callable, Sequence
from queue import Empty, SimpleQueue
from typing import Generic, TypeVar

Result = TypeVar("Result")
Task = TypeVar("Task")

WAIT_SECONDS = 0.2  # polling interval of a waiting caller, so that Ctrl-C works on every system
LAST_SECONDS = 30.0  # exit waits at most so long for a running task
NO_TASK = -1  # index of the error of a thread that could not begin

_inside = threading.local()


def usable_processors() -> int:
    """Return how many processors this process may use, by affinity if known."""
    if hasattr(os, "sched_getaffinity"):
        return max(1, len(os.sched_getaffinity(0)))
    return os.cpu_count() or 1


class _Threads:
    """Idle threads, one per processor."""

    def __init__(self) -> None:
        self.queue: SimpleQueue[Callable[[], None] | None] = SimpleQueue()
        self._ended: SimpleQueue[None] = SimpleQueue()
        self._count = 0
        try:
            for _ in range(usable_processors()):
                _thread.start_new_thread(self._serve, (self.queue, self._ended))
                self._count += 1
        except BaseException:
            self.end()
            raise

    @staticmethod
    def _serve(queue: SimpleQueue[Callable[[], None] | None], ended: SimpleQueue[None]) -> None:
        while (work := queue.get()) is not None:
            work()
            del work  # an idle thread must not keep it alive
        queue.put(None)  # for the next thread
        ended.put(None)

    def end(self, seconds: float = 0.0) -> None:
        """Let the threads end after their present work; wait at most this long."""
        self.queue.put(None)
        try:
            for _ in range(self._count if seconds > 0.0 else 0):
                self._ended.get(timeout=seconds)
        except Empty:
            pass


_pools: dict[int, _Threads] = {}


def _pool() -> _Threads:
    pool = _pools.get(os.getpid())
    if pool is None:
        # Two callers at once may both make one; setdefault keeps the first, and the threads of the other end.
        made = _Threads()
        pool = _pools.setdefault(os.getpid(), made)
        if pool is not made:
            made.end()
    return pool


@atexit.register
def _end_threads() -> None:
    """End all threads: compiled code is gone after exit."""
    pool = _pools.pop(os.getpid(), None)
    if pool is not None:
        pool.end(LAST_SECONDS)


class _Work(Generic[Task]):
    """Tasks taken in order: a lower one always starts before a higher one.

    So its error is always seen first. A deque needs no lock: an interrupt could leave one taken.
    """

    def __init__(self, tasks: Sequence[Task], make_share: Callable[[], Callable[[Task], None]]) -> None:
        self._make_share = make_share
        self._left = deque(enumerate(tasks))
        self.errors: dict[int, BaseException] = {}
        self._entered: deque[None] = deque()  # helpers that may have taken a task
        self._ended: SimpleQueue[None] = SimpleQueue()
        self.stopped = False

    def stop(self) -> None:
        """Let no further task start."""
        self.stopped = True
        self._left.clear()

    def take_first(self) -> Callable[[], None]:
        """Take the first task; return a function that does it, and others after it."""
        first, share = self._left.popleft(), self._make_share()
        return lambda: self._serve(share, first)

    def help(self) -> None:
        """Do tasks in another thread as long as there are some."""
        self._entered.append(None)
        _inside.work = self
        try:
            if self._left:
                self._serve(self._make_share(), None)
        except BaseException as error:  # no memory for a share
            self.errors[NO_TASK] = error
            self.stop()
        finally:
            _inside.work = None  # an idle thread must not keep it alive
            self._ended.put(None)

    def _serve(self, share: Callable[[Task], None], taken: tuple[int, Task] | None) -> None:
        index = NO_TASK
        try:
            while True:
                try:
                    index, task = taken or self._left.popleft()
                except IndexError:
                    return
                taken = None
                share(task)
        except BaseException as error:
            self.errors[index] = error
            self.stop()
            if getattr(_inside, "work", None) is not self and not isinstance(error, Exception):
                raise  # Ctrl-C is for the caller

    def wait(self) -> None:
        """Wait for the helpers that have entered; others will find no task."""
        ended = 0
        while ended < len(self._entered):  # one that enters meanwhile ends too, maybe before others
            _wait_for(self._ended)
            ended += 1


def cancelled() -> bool:
    """Return whether this is a worker whose result is no longer needed."""
    work = getattr(_inside, "work", None)
    return work is not None and work.stopped


def threads_for(workers: int | None) -> int:
    """Return the number of threads for a number of workers, at most one per processor.

    Inside a worker it is 1: a worker that waits for workers could wait forever.
    """
    if workers is not None and operator.index(workers) < 1:
        raise ValueError(f"workers is {workers}; it must be at least 1, or None for all processors")
    if workers == 1 or getattr(_inside, "work", None) is not None:
        return 1
    return usable_processors() if workers is None else min(workers, usable_processors())


def share_out(tasks: Sequence[Task], make_share: Callable[[], Callable[[Task], None]], workers: int | None = 1) -> None:
    """Do all tasks, each by the share of some thread.

    Parameters
    ----------
    tasks : sequence
        The calling thread takes the first one and then others, like its helpers. So a task that takes long belongs in front.
    make_share : callable
        Called in each thread that takes a task, first in the calling one. Returns a function that is called with one task after the
        other, and may keep a workspace between them. It should spend its time in kernels.
    workers : int, optional
        Threads to use, at most one per usable processor. 1 runs in the calling thread; None takes all processors.

    Which share does a task is left to chance, so results must be put in order by their tasks.

    An error in a task stops further tasks and is raised when the running ones have ended; of several, that of the lowest task.
    Ctrl-C is raised when the caller's kernel returns. Running tasks end later, by themselves: they must hold all arrays they use
    (an address holds none), and keep their outputs private. Keep kernels short, and let tasks check `cancelled`.
    """
    threads = min(threads_for(workers), len(tasks))
    if threads <= 1:
        if tasks:
            share = make_share()
            for task in tasks:
                share(task)
        return
    work = _Work(tasks, make_share)
    try:
        serve, pool = work.take_first(), _pool()
        for _ in range(threads - 1):
            pool.queue.put(work.help)
        serve()
        work.wait()
    except BaseException:  # Ctrl-C may come anywhere
        work.stop()
        raise
    if work.errors:
        raise work.errors[min(work.errors)]


def map_chunks(function: Callable[[int, int], Result], count: int, chunk: int, workers: int | None = 1) -> list[Result]:
    """Return ``[function(start, stop), …]`` for the chunks of ``range(count)``.

    Parameters
    ----------
    function : callable
        Called with the start and stop of a chunk, from several threads at once; it should spend its time in kernels.
    count, chunk : int
        The number of items, and of items per chunk (the last may be shorter).
    workers : int, optional
        As for `share_out`, which says what happens to errors and on Ctrl-C.
    """
    if count < 0 or operator.index(chunk) < 1:
        raise ValueError(f"{count} items in chunks of {chunk}: count must not be negative and chunk must be at least 1")
    results: dict[int, Result] = {}

    def do(start: int) -> None:
        results[start] = function(start, min(start + chunk, count))

    starts = range(0, count, chunk)
    share_out(starts, lambda: do, workers)
    return [results[start] for start in starts]


def _wait_for(ended: SimpleQueue[None]) -> None:
    while True:
        try:
            return ended.get(timeout=WAIT_SECONDS)
        except Empty:
            pass
