"""Recent detection times: median, worst, and the curve for a plot."""

from __future__ import annotations

from collections import deque

import numpy as np
from numpy.typing import NDArray

WINDOW = 240  # detections; eight seconds at 30 per second


class Timings:
    """Times of the last detections, in seconds."""

    def __init__(self, window: int = WINDOW) -> None:
        self._last: deque[float] = deque(maxlen=window)
        self._skip_next = True

    def add(self, seconds: float) -> None:
        """Add a time; a method's first is skipped, as it includes compiling."""
        if not self._skip_next:
            self._last.append(seconds)
        self._skip_next = False

    def clear(self) -> None:
        """Start again, for another method or query."""
        self._last.clear()
        self._skip_next = True

    @property
    def median(self) -> float:
        """NaN without times."""
        return float(np.median(self._last)) if self._last else float("nan")

    @property
    def worst(self) -> float:
        """NaN without times."""
        return max(self._last, default=float("nan"))

    def curve(self) -> NDArray[np.float64]:
        """Return all times (n,), oldest first."""
        return np.array(self._last, np.float64)
