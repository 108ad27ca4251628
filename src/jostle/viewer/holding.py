"""Who holds which body. One holder at a time; whoever leaves lets go of everything. Safe to use from any thread."""

from __future__ import annotations

import threading
from collections.abc import Hashable


class Holding:
    """Bodies, by number, in the hands of people (any hashable thing that stands for one)."""

    def __init__(self) -> None:
        self._holder: dict[int, Hashable] = {}
        self._lock = threading.Lock()

    def take(self, body: int, holder: Hashable) -> bool:
        """Take hold of a body; return False if another one has it."""
        with self._lock:
            return self._holder.setdefault(body, holder) == holder

    def release(self, body: int, holder: Hashable) -> bool:
        """Let go of a body; return whether this holder had it."""
        with self._lock:
            if self._holder.get(body) != holder:
                return False
            del self._holder[body]
            return True

    def leave(self, holder: Hashable) -> list[int]:
        """Let go of everything that a holder has; return which bodies these were."""
        with self._lock:
            released = [body for body, by in self._holder.items() if by == holder]
            for body in released:
                del self._holder[body]
            return released

    def holder_of(self, body: int) -> Hashable | None:
        """Return who holds a body, None if nobody does."""
        return self._holder.get(body)

    def held(self) -> dict[int, Hashable]:
        """Return all bodies that are held, and by whom."""
        with self._lock:
            return dict(self._holder)
