"""OneAtATime: exclusive use of a world. One thread at a time may use it, and a call excludes even its own callbacks."""

from __future__ import annotations

import threading
import time

from jostle.errors import BusyError

PATIENCE = 0.1  # seconds that a call which only reads waits for another thread; most calls hold a world for microseconds


class OneAtATime:
    """Whether a world is in use; a second thread is told so instead of waiting, because waiting would hide a mistake.

    The lock is Python's own, entered by `with`: that is one step for an interrupt, and so is the end of the block. A class with
    `__enter__` and `__exit__` in Python has bytecodes between which an interrupt would leave it locked for ever.
    """

    __slots__ = ("_lock", "_owner")

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._owner = 0  # the thread that took the lock last

    def free_lock(self) -> threading.Lock:
        """Return the lock for a `with` statement; raises `BusyError` where it is taken."""
        if self._lock.locked():
            if self._owner == threading.get_ident():
                raise BusyError("this world is detecting; a progress callback must not use it")
            raise BusyError("this world is in use by another thread; give each thread a world of its own")
        self._owner = threading.get_ident()  # two threads at once: the later one waits for the other's call, which is safe
        return self._lock

    def lock_to_read(self) -> threading.Lock:
        """As `free_lock`, but wait a moment for other threads: several of them may copy or read one world at once."""
        end = time.monotonic() + PATIENCE
        while self._lock.locked() and self._owner != threading.get_ident() and time.monotonic() < end:
            time.sleep(0.0005)
        return self.free_lock()

    def __reduce__(self) -> tuple[type[OneAtATime], tuple[()]]:
        return OneAtATime, ()  # a copy of a world is held by nobody
