"""What judges of figures ask of a result: times at the last frame, frames with and without collisions, when boxes first overlap."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import fmean, median

from jostle.lab.experiment import Value, served_runs
from jostle.lab.results import ExperimentResult, MethodRun


def last_times(result: ExperimentResult, method: str) -> dict[float, float]:
    """Return the seconds of the last frame by the swept value, for the points that a method went through."""
    return {float(value): run.frame_seconds[-1] for value, run in served_runs(result, method) if isinstance(value, int | float)}


def middle_times(result: ExperimentResult, method: str) -> dict[float, float]:
    """Return the median seconds of a frame by the swept value, for the points that a method went through."""
    return {float(value): middle(run.frame_seconds) for value, run in served_runs(result, method) if isinstance(value, int | float)}


def run_at(result: ExperimentResult, value: Value, method: str) -> MethodRun | None:
    """Return the run of a method at a value, if it went through all frames."""
    return next((run for at, run in served_runs(result, method) if at == value), None)


def times_where(run: MethodRun, colliding: Sequence[bool], wanted: bool = True) -> list[float]:
    """Return the seconds of the frames in which bodies collide, or of those in which none do."""
    return [time for time, collides in zip(run.frame_seconds, colliding, strict=True) if collides is wanted]


def collisions(result: ExperimentResult, value: Value, methods: Sequence[str]) -> list[bool] | None:
    """Return for each frame whether bodies collide, by the first of the methods that went through all of them."""
    for method in methods:
        run = run_at(result, value, method)
        if run is not None:
            return [pairs > 0 for pairs in run.pairs]
    return None


def first_overlap(run: MethodRun) -> int | None:
    """Return the first frame in which boxes of bodies overlap, by the pairs that a method had to look at; None for never."""
    return next((frame for frame, work in enumerate(run.counters) if work.get("body_pairs", 0)), None)


def mean(times: Sequence[float]) -> float:
    """Return the mean, nan of nothing."""
    return fmean(times) if times else float("nan")


def middle(times: Sequence[float]) -> float:
    """Return the median, nan of nothing."""
    return median(times) if times else float("nan")


def ms(seconds: float) -> str:
    """Return a time in milliseconds, with three digits."""
    value = 1e3 * seconds
    return f"{value:,.0f} ms" if value >= 1000.0 else f"{value:.3g} ms"


def in_milliseconds(method: str, times: Mapping[float, float], unit: str) -> str:
    """Return "method: 1.2 ms at 10 spheres, …", or "" without times."""
    words = ", ".join(f"{ms(time)} at {value:,g} {unit}" for value, time in times.items())
    return f"{method}: {words}" if words else ""


def several(parts: Sequence[str]) -> str:
    """Join what there is to say."""
    return "; ".join(part for part in parts if part)
