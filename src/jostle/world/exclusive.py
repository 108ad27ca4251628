"""Exclusive use of a world: one call at a time, callbacks included."""

from __future__ import annotations

import threading
import time

from jostle.errors import BusyError

PATIENCE = 0.1  # seconds that a reading call waits for another thread; most calls hold a world for microseconds


class ExclusiveUse:
    """The lock of a world. A second thread gets a `BusyError`.

    Waiting would hide a mistake. `with` enters and leaves Python's own lock in one step each; between the bytecodes of an
    `__enter__` and `__exit__` in Python, an interrupt could leave it locked forever.
    """

    __slots__ = ("_lock", "_owner")

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._owner = 0  # the thread that took the lock last

    def free_lock(self) -> threading.Lock:
        """Return the lock for a `with` statement; raise `BusyError` if it is taken."""
        if self._lock.locked():
            if self._owner == threading.get_ident():
                raise BusyError("this world is detecting; a progress callback must not use it")
            raise BusyError("this world is in use by another thread; give each thread a world of its own")
        self._owner = threading.get_ident()  # if two threads race here, one waits for the other's call, which is safe
        return self._lock

    def lock_to_read(self) -> threading.Lock:
        """Like `free_lock`, but wait briefly for other threads.

        Several may copy or read one world at once.
        """
        end = time.monotonic() + PATIENCE
        while self._lock.locked() and self._owner != threading.get_ident() and time.monotonic() < end:
            time.sleep(0.0005)
        return self.free_lock()

    def __reduce__(self) -> tuple[type[ExclusiveUse], tuple[()]]:
        return ExclusiveUse, ()  # a copy of a world is not in use
