"""What the judges of these figures ask: mean times, what of the touching pairs was found, how many of a number of claims hold."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from jostle.lab.experiment import Value
from jostle.lab.papers.judging import mean, run_at
from jostle.lab.results import ExperimentResult, MethodRun


def verdict_of(held: Sequence[bool]) -> str:
    """Return "reproduced" where all of these hold, "partly" where some do, else "refuted"."""
    return "reproduced" if held and all(held) else "partly" if any(held) else "refuted"


def values_run(result: ExperimentResult, values: Iterable[Value]) -> list[Value]:
    """Return those of the values that were run."""
    there = [point.value for point in result.points]
    return [value for value in values if value in there]


def why_not(result: ExperimentResult, methods: Iterable[str], values: Sequence[Value]) -> str:
    """Return why a claim about these methods at these values cannot be judged, or ""; what was run beside them does not matter."""
    missing = [str(value) for value in values if value not in values_run(result, values)]
    if missing:
        return f"Not run: {'; '.join(missing)}."
    for method in methods:
        if method not in result.methods:
            return f"{method} did not take part."
        for point in result.points:
            run = point.run_of(method)
            if point.value in values and (run is None or not run.served):
                reason = "not asked" if run is None else f"{run.status}, {run.why}"
                return f"{method} did not serve {point.value} ({reason})."
    return ""


def mean_time(result: ExperimentResult, value: Value, method: str) -> float:
    """Return the mean seconds of a frame; nan where the method did not serve."""
    return mean_times(result, value, (method,))[0]


def mean_times(result: ExperimentResult, value: Value, methods: Iterable[str]) -> list[float]:
    """Return the mean seconds of several methods over the frames that all of them got through; nan for who did not serve."""
    times = [() if (run := run_at(result, value, method)) is None else run.frame_seconds for method in methods]
    frames = min((len(each) for each in times if each), default=0)
    return [mean(each[:frames]) for each in times]


def share_found(run: MethodRun | None) -> float:
    """Return what share of the touching pairs of faces a run found; 1 where none touch, nan where nothing was compared."""
    if run is None or run.missed is None or run.expected is None:
        return float("nan")
    return 1.0 if run.expected == 0 else 1.0 - run.missed / run.expected


def percent(share: float) -> str:
    """Return a share with as many digits as tell it from all: "99.7 %", "99.98 %", "all"."""
    if share >= 1.0:
        return "all"
    digits = 1 if share < 0.999 else 2 if share < 0.9999 else 4
    return f"{100.0 * share:.{digits}f} %"
