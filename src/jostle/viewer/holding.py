"""Who holds which body, one holder at a time. Thread-safe.

A holder who leaves releases everything.
"""

from __future__ import annotations

import threading
from collections.abc import Hashable


class Holding:
    """Bodies by number, and their holders (any hashable value per person)."""

    def __init__(self) -> None:
        self._holder: dict[int, Hashable] = {}
        self._lock = threading.Lock()

    def take(self, body: int, holder: Hashable) -> bool:
        """Take hold of a body; return False if another one has it."""
        with self._lock:
            return self._holder.setdefault(body, holder) == holder

    def release(self, body: int, holder: Hashable) -> bool:
        """Release a body; return whether this holder had it."""
        with self._lock:
            if self._holder.get(body) != holder:
                return False
            del self._holder[body]
            return True

    def leave(self, holder: Hashable) -> list[int]:
        """Release everything of a holder; return the bodies."""
        with self._lock:
            released = [body for body, by in self._holder.items() if by == holder]
            for body in released:
                del self._holder[body]
            return released

    def holder_of(self, body: int) -> Hashable | None:
        """Return who holds a body, None if nobody does."""
        return self._holder.get(body)

    def held(self) -> dict[int, Hashable]:
        """Return all held bodies and their holders."""
        with self._lock:
            return dict(self._holder)
