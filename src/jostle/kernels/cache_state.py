"""The cache's location and its statistics for this process. Needs no Numba."""

from __future__ import annotations

import dataclasses
import os
from collections import Counter
from pathlib import Path
from typing import Any


@dataclasses.dataclass
class CacheStatistics:
    """Statistics of the cache in this process.

    `failures` counts by reason; each of them cost at most a compilation.
    """

    hits: int = 0
    misses: int = 0
    saves: int = 0
    failures: Counter[str] = dataclasses.field(default_factory=Counter)

    def as_dict(self) -> dict[str, Any]:
        """Return plain numbers for printing and JSON."""
        return {"hits": self.hits, "misses": self.misses, "saves": self.saves, "failures": dict(self.failures)}


cache_statistics = CacheStatistics()


def user_directory() -> Path:
    """Return the parent of the cache directories.

    JOSTLE_CACHE_DIR, NUMBA_CACHE_DIR, XDG_CACHE_HOME/jostle or ~/.cache/jostle.
    """
    given = os.environ.get("JOSTLE_CACHE_DIR") or os.environ.get("NUMBA_CACHE_DIR")
    if given:
        return Path(given)
    general = os.environ.get("XDG_CACHE_HOME")
    return (Path(general) if general else Path.home() / ".cache") / "jostle"


def where_kept() -> str:
    """Return where compiled kernels are cached, or why not, to end the progress."""
    failed = [reason.removeprefix("save: ") for reason in cache_statistics.failures if reason.startswith("save: ")]
    if failed:
        return f"; not all could be cached in {user_directory()} ({', '.join(failed)}); JOSTLE_CACHE_DIR names another folder"
    uncached = [reason.removeprefix("uncached: ") for reason in cache_statistics.failures if reason.startswith("uncached: ")]
    if uncached:
        return f"; not all can be cached ({', '.join(uncached)})"
    return f"; they are cached in {user_directory()}"
