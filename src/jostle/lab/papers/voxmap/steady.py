"""Comparable times: a yardstick for the machine's pace, and robust lines.

The points of a sweep are measured in sequence, on machines whose pace may change by a factor of two within minutes. So a yardstick,
a method with the same work at every point, takes its turns among the others, and times are divided by its slowness. Where all
frames do the same work, other load only makes frames slower: the 10th percentile is then steadier than the median (at a load of 6,
1.75 ms against 5.8 ms for a million points, 1.6 at rest). Running medians of three drop single outliers and keep trends and steps.
Lines minimise the sum of absolute logarithmic errors.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from itertools import combinations
from statistics import median

import numpy as np

from jostle.lab.papers.judging import by_value
from jostle.lab.results import ExperimentResult

YARDSTICK = "yardstick"

Typical = Callable[[Sequence[float]], float]


def quick(times: Sequence[float]) -> float:
    """Return the 10th percentile."""
    return float(np.percentile(times, 10.0))


def steady_times(result: ExperimentResult, method: str, typical: Typical = quick) -> dict[float, float]:
    """Return the typical seconds of a frame at the machine's usual pace, by value."""
    pace = pace_at(result, typical)
    times = by_value(result, method, lambda run: typical(run.frame_seconds))
    return {value: time / pace.get(value, 1.0) for value, time in times.items()}


def pace_at(result: ExperimentResult, typical: Typical = quick) -> dict[float, float]:
    """Return the machine's slowness at each value, by the yardstick."""
    times = by_value(result, YARDSTICK, lambda run: typical(run.frame_seconds))
    usual = median(times.values()) if times else math.nan
    return {value: time / usual for value, time in times.items()}


def smoothed(values: Sequence[float]) -> list[float]:
    """Return running medians of three; the ends stay."""
    inner = [median(values[k - 1 : k + 2]) for k in range(1, len(values) - 1)]
    return [*values[:1], *inner, *values[len(values) - 1 :]] if len(values) > 1 else list(values)


def line_through(times: Mapping[float, float]) -> tuple[float, float]:
    """Return a, b ≥ 0 of the line a + b x nearest to times by x > 0.

    Candidates pass through two of the points, or through one and the origin. Nearest means the least sum of absolute logarithmic
    errors.
    """
    x, y = np.array(list(times)), np.array(list(times.values()))
    best, line = math.inf, (0.0, 0.0)
    slopes = [((y[j] - y[i]) / (x[j] - x[i]), i) for i, j in combinations(range(len(x)), 2)]
    slopes += [(time / place, k) for k, (place, time) in enumerate(times.items())]
    for slope, k in slopes:
        b = max(0.0, float(slope))
        a = max(0.0, float(y[k] - b * x[k]))
        error = float(np.abs(np.log((a + b * x) / y)).sum()) if a + b > 0.0 else math.inf
        if error < best:
            best, line = error, (a, b)
    return line


def middle_slope(x: Sequence[float], y: Sequence[float]) -> float:
    """Return the median slope of log y over log x over all positive points, or nan."""
    kept = [(math.log(a), math.log(b)) for a, b in zip(x, y, strict=True) if a > 0.0 and b > 0.0]
    slopes = [(d - b) / (c - a) for (a, b), (c, d) in combinations(kept, 2) if a != c]
    return median(slopes) if slopes else math.nan
