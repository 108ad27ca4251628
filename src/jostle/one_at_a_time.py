"""OneAtATime: a world belongs to one thread at a time, and while it detects to nobody else, not even to a callback of its own."""

from __future__ import annotations

import threading

from jostle.errors import BusyError


class OneAtATime:
    """Whether a world is in use; a second thread is told so instead of waiting, because waiting would hide a mistake."""

    __slots__ = ("_detecting", "_lock")

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._detecting = False

    def __reduce__(self) -> tuple[type[OneAtATime], tuple[()]]:
        return OneAtATime, ()  # a copy of a world is held by nobody


class Held:
    """A world held for one call, `detecting` or not; a context from `contextlib` takes 2 µs more, twice for every step."""

    __slots__ = ("_detecting", "_turn")

    def __init__(self, turn: OneAtATime, detecting: bool) -> None:
        self._turn = turn
        self._detecting = detecting

    def __enter__(self) -> None:
        turn = self._turn
        if not turn._lock.acquire(blocking=False):
            raise BusyError("this world is in use by another thread; give each thread a world of its own")
        if turn._detecting:
            turn._lock.release()
            raise BusyError("this world is detecting; a progress callback must not use it")
        turn._detecting = self._detecting

    def __exit__(self, *error: object) -> None:
        self._turn._detecting = False
        self._turn._lock.release()
