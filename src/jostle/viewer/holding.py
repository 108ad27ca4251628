"""Who holds which body, one holder at a time. Thread-safe."""

from __future__ import annotations

import threading
from collections.abc import Hashable


class Holding:
    """The holders of bodies, by body number; any hashable value names a person."""

    def __init__(self) -> None:
        self._holder: dict[int, Hashable] = {}
        self._lock = threading.Lock()

    def take(self, body: int, holder: Hashable) -> bool:
        """Take hold of a body; return False if somebody else holds it."""
        with self._lock:
            return self._holder.setdefault(body, holder) == holder

    def release(self, body: int, holder: Hashable) -> bool:
        """Release a body; return whether this holder had it."""
        with self._lock:
            if self._holder.get(body) != holder:
                return False
            del self._holder[body]
            return True

    def holder_of(self, body: int) -> Hashable | None:
        """Return who holds a body, None if nobody does."""
        return self._holder.get(body)

    def held(self) -> dict[int, Hashable]:
        """Return the holder of each held body."""
        with self._lock:
            return dict(self._holder)
