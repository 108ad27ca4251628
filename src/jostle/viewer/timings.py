"""Detection times: last, median and worst over the last ones, and the curve for a plot."""

from __future__ import annotations

from collections import deque

import numpy as np
from numpy.typing import NDArray

WINDOW = 240  # detections; eight seconds at 30 per second


class Timings:
    """The times of the last detections, in seconds."""

    def __init__(self, window: int = WINDOW) -> None:
        self._last: deque[float] = deque(maxlen=window)
        self._kept_back = True

    def add(self, seconds: float) -> None:
        """Add a time.

        The first of a method loads or compiles its code and would stay the worst, so it is skipped.
        """
        if self._kept_back:
            self._kept_back = False
            return
        self._last.append(seconds)

    def clear(self) -> None:
        """Start again, for another method or query."""
        self._last.clear()
        self._kept_back = True

    def __len__(self) -> int:
        return len(self._last)

    @property
    def median(self) -> float:
        """NaN when there are none."""
        return float(np.median(self._last)) if self._last else float("nan")

    @property
    def worst(self) -> float:
        """NaN when there are none."""
        return max(self._last, default=float("nan"))

    def curve(self) -> NDArray[np.float64]:
        """(n,) the last ones, oldest first."""
        return np.array(self._last, np.float64)
