"""Times that were measured minutes apart, made comparable: a yardstick for the machine's pace, and lines that no outlier moves.

The points of a sweep are measured one after the other, on machines whose pace may change by two within minutes. So a method that
does the same work at every point takes its turns among the others, and times are divided by how slow the machine was for it. Where
all frames do the same work, what others take of the machine makes some slower and none faster: the time that one frame in ten
stays below is then steadier than the median (at a load of 6, 1.75 ms against 5.8 ms for a million points, 1.6 at rest). What
one sample alone says against its neighbours on both sides is no finding: running medians of three leave it out, and keep a trend
and a step. Lines are those of the least sum of relative errors (of logarithms, without squares).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from itertools import combinations
from statistics import median

import numpy as np

from jostle.lab.experiment import served_runs
from jostle.lab.results import ExperimentResult

YARDSTICK = "yardstick"

Typical = Callable[[Sequence[float]], float]


def quick(times: Sequence[float]) -> float:
    """Return the time that one frame in ten stays below."""
    return float(np.percentile(times, 10.0))


def steady_times(result: ExperimentResult, method: str, typical: Typical = quick) -> dict[float, float]:
    """Return the typical seconds of a frame by the swept value, as at the machine's usual pace."""
    pace = pace_at(result, typical)
    return {value: time / pace.get(value, 1.0) for value, time in _times(result, method, typical).items()}


def pace_at(result: ExperimentResult, typical: Typical = quick) -> dict[float, float]:
    """Return how many times slower than usual the machine was at each value; nothing where no yardstick was measured."""
    times = _times(result, YARDSTICK, typical)
    usual = median(times.values()) if times else math.nan
    return {value: time / usual for value, time in times.items()}


def _times(result: ExperimentResult, method: str, typical: Typical) -> dict[float, float]:
    rows = served_runs(result, method)
    return {float(value): typical(run.frame_seconds) for value, run in rows if isinstance(value, int | float)}


def smoothed(values: Sequence[float]) -> list[float]:
    """Return running medians of three; the first and the last stay."""
    inner = [median(values[k - 1 : k + 2]) for k in range(1, len(values) - 1)]
    return [*values[:1], *inner, *values[len(values) - 1 :]] if len(values) > 1 else list(values)


def line_through(times: Mapping[float, float]) -> tuple[float, float]:
    """Return (a, b) of the line a + b x that is nearest to times by x > 0, of those through two of them or one and the origin.

    Nearest is the least sum of the logarithms of how many times too large or too small it is; a and b are not negative.
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
    """Return the median slope of log y over log x among all pairs of points above 0: the power with which y grows; nan of none."""
    kept = [(math.log(a), math.log(b)) for a, b in zip(x, y, strict=True) if a > 0.0 and b > 0.0]
    slopes = [(d - b) / (c - a) for (a, b), (c, d) in combinations(kept, 2) if a != c]
    return median(slopes) if slopes else math.nan
