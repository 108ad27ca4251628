"""What the judges of these figures share: mean times, found shares, reasons."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from jostle.lab.experiment import Value
from jostle.lab.papers.judging import mean, run_at
from jostle.lab.results import ExperimentResult, MethodRun


def values_run(result: ExperimentResult, values: Iterable[Value]) -> list[Value]:
    """Return the values that were run."""
    there = [point.value for point in result.points]
    return [value for value in values if value in there]


def why_not(result: ExperimentResult, methods: Iterable[str], values: Sequence[Value]) -> str:
    """Return why methods cannot be judged at these values; "" if they can."""
    missing = [str(value) for value in values if value not in values_run(result, values)]
    if missing:
        return f"Not run: {'; '.join(missing)}."
    for method in methods:
        if method not in result.methods:
            return f"{method} did not take part."
        for point in result.points:
            run = point.run_of(method)
            if point.value in values and (run is None or not run.served):
                reason = "not run" if run is None else f"{run.status}, {run.why}"
                return f"{method} did not finish {point.value} ({reason})."
    return ""


def mean_time(result: ExperimentResult, value: Value, method: str) -> float:
    """Return the mean seconds of a frame; nan if the method did not finish."""
    return mean_times(result, value, (method,))[0]


def mean_times(result: ExperimentResult, value: Value, methods: Iterable[str]) -> list[float]:
    """Return the mean seconds of methods over their common frames; nan without any."""
    times = [() if (run := run_at(result, value, method)) is None else run.frame_seconds for method in methods]
    frames = min((len(each) for each in times if each), default=0)
    return [mean(each[:frames]) for each in times]


def share_found(run: MethodRun | None) -> float:
    """Return the share of touching face pairs that a run found; nan if not compared."""
    if run is None or run.missed is None or run.expected is None:
        return float("nan")
    return 1.0 if run.expected == 0 else 1.0 - run.missed / run.expected


def percent(share: float) -> str:
    """Return a share with enough digits to differ from all, such as "99.98 %"."""
    if share >= 1.0:
        return "all"
    digits = 1 if share < 0.999 else 2 if share < 0.9999 else 4
    return f"{100.0 * share:.{digits}f} %"
