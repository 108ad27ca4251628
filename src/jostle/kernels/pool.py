"""Threads for kernels that release the GIL.

Work is cut into chunks whose size does not depend on the number of workers, and results come back in the order of the chunks, so
the answer is the same for every number of workers. Measured against Numba's `parallel=True`: as fast, without its seconds of
compilation and without OpenMP, which kills forked children. Starting a fan-out costs 40–70 µs: batches, frames and frontiers of
large pairs are worth it, a query of 0.1 ms is not.

The threads are made on first use, for each process id: a forked child gets its own. They are plain ones that take work from a
queue, and the caller waits at another queue. All of it is in C: the locks of `concurrent.futures` and of `threading.Thread` are
taken in Python, and an interrupt between two of its bytecodes would leave them taken, and workers waiting, forever.
"""

from __future__ import annotations

import _thread
import atexit
import operator
import os
import threading
from collections.abc import Callable
from queue import Empty, SimpleQueue
from typing import Generic, TypeVar

Result = TypeVar("Result")

WAIT_SECONDS = 0.2  # polling interval of a waiting caller, so that Ctrl-C works on every system
LAST_SECONDS = 30.0  # exit waits at most so long for a running chunk

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


class _Work(Generic[Result]):
    """Chunks taken in order: a lower one always starts before a higher one.

    So its error is always seen first.
    """

    def __init__(self, function: Callable[[int, int], Result], count: int, chunk: int) -> None:
        self._function = function
        self._ranges = [(start, min(start + chunk, count)) for start in range(0, count, chunk)]
        self._lock = threading.Lock()
        self._next = 0
        self.results: dict[int, Result] = {}
        self.errors: dict[int, BaseException] = {}
        self.ended: SimpleQueue[None] = SimpleQueue()
        self.stopped = False

    def _take(self) -> int | None:
        with self._lock:
            if self.stopped or self._next >= len(self._ranges):
                return None
            self._next += 1
            return self._next - 1

    def run(self) -> None:
        _inside.work = self
        try:
            while (index := self._take()) is not None:
                try:
                    self.results[index] = self._function(*self._ranges[index])
                except BaseException as error:
                    self.errors[index] = error
                    self.stopped = True
        finally:
            _inside.work = None  # an idle thread must not keep it alive
            self.ended.put(None)


def cancelled() -> bool:
    """Return whether this is a worker whose result is no longer needed."""
    work = getattr(_inside, "work", None)
    return work is not None and work.stopped


def map_chunks(function: Callable[[int, int], Result], count: int, chunk: int, workers: int | None = 1) -> list[Result]:
    """Return ``[function(start, stop), …]`` for the chunks of ``range(count)``.

    Parameters
    ----------
    function : callable
        Called with the start and stop of a chunk, from several threads at once; it should spend its time in kernels.
    count, chunk : int
        The number of items, and of items per chunk (the last may be shorter).
    workers : int, optional
        Threads to use, at most one per usable processor. 1 runs in the calling thread; None takes all processors.

    An error in a chunk stops further chunks and is raised when the running ones have ended; of several, that of the lowest chunk.
    Ctrl-C is raised at once: running chunks end by themselves, so keep their outputs private, and keep them short or let them check
    `cancelled`.
    """
    if count < 0 or operator.index(chunk) < 1:
        raise ValueError(f"{count} items in chunks of {chunk}: count must not be negative and chunk must be at least 1")
    if workers is not None and operator.index(workers) < 1:
        raise ValueError(f"workers is {workers}; it must be at least 1, or None for all processors")
    chunks = -(-count // chunk)
    threads = min(usable_processors() if workers is None else workers, usable_processors(), chunks)
    if threads <= 1 or getattr(_inside, "work", None) is not None:  # a worker that waits for workers could wait forever
        return [function(start, min(start + chunk, count)) for start in range(0, count, chunk)]
    work = _Work(function, count, chunk)
    try:
        pool = _pool()
        for _ in range(threads):
            pool.queue.put(work.run)
        for _ in range(threads):
            _wait_for(work.ended)
    except BaseException:  # Ctrl-C may come while the first chunks run and the last thread is not yet started
        work.stopped = True
        raise
    if work.errors:
        raise work.errors[min(work.errors)]
    return [work.results[index] for index in range(chunks)]


def _wait_for(ended: SimpleQueue[None]) -> None:
    while True:
        try:
            return ended.get(timeout=WAIT_SECONDS)
        except Empty:
            pass
