"""What the judges of figures share: times by value, verdicts, text."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from statistics import fmean, median

from jostle.lab.experiment import Value, served_runs, why_not_judged
from jostle.lab.results import ExperimentResult, MethodRun, Verdict, number_words

Times = dict[float, float]  # seconds by swept value


def unjudged(paper: str, place: str, claim: str, why: str, printed: str = "", ours: str = "") -> Verdict:
    """Return a claim that is still to be judged, unless `why` says why it cannot be."""
    return Verdict(paper, place, claim, "not judged", why, printed, ours)


def verdict_of(held: Sequence[bool], share: float = 0.0) -> str:
    """Return "reproduced" if all hold, "partly" if enough do, else "refuted"."""
    if held and all(held):
        return "reproduced"
    return "partly" if sum(held) >= max(1.0, share * len(held)) else "refuted"


def why_not(result: ExperimentResult, methods: Iterable[str], values: Iterable[Value] = ()) -> str:
    """Return why methods cannot be judged; "" if they can."""
    run = [point.value for point in result.points]
    missing = [number_words(value) if isinstance(value, int | float) else str(value) for value in values if value not in run]
    if missing:
        return f"Not run: {', '.join(missing)}."
    return next((why for method in methods if (why := why_not_judged(result, method))), "" if run else "Nothing was run.")


def by_value(result: ExperimentResult, method: str, value_of: Callable[[MethodRun], float]) -> Times:
    """Return a number for each run that a method finished, by the swept value."""
    return {float(value): value_of(run) for value, run in served_runs(result, method) if isinstance(value, int | float)}


def last_times(result: ExperimentResult, method: str) -> Times:
    """Return the seconds of the last frame by the swept value."""
    return by_value(result, method, lambda run: run.frame_seconds[-1])


def middle_times(result: ExperimentResult, method: str) -> Times:
    """Return the median seconds of a frame by the swept value."""
    return by_value(result, method, lambda run: middle(run.frame_seconds))


def mean_times(result: ExperimentResult, method: str) -> Times:
    """Return the mean seconds of a frame by the swept value."""
    return by_value(result, method, lambda run: mean(run.frame_seconds))


def run_at(result: ExperimentResult, value: Value, method: str) -> MethodRun | None:
    """Return the run of a method at a value, if it finished all frames."""
    return next((run for at, run in served_runs(result, method) if at == value), None)


def times_where(run: MethodRun, colliding: Sequence[bool], wanted: bool = True) -> list[float]:
    """Return the seconds of the frames with collisions, or without."""
    return [time for time, collides in zip(run.frame_seconds, colliding, strict=True) if collides is wanted]


def collisions(result: ExperimentResult, value: Value, methods: Sequence[str]) -> list[bool] | None:
    """Return whether bodies collide in each frame, by the first method that finished."""
    runs = (run_at(result, value, method) for method in methods)
    return next(([pairs > 0 for pairs in run.pairs] for run in runs if run is not None), None)


def first_overlap(run: MethodRun) -> int | None:
    """Return the first frame in which boxes overlap, so that a body pair was tested."""
    return next((frame for frame, work in enumerate(run.counters) if work.get("body_pairs", 0)), None)


def mean(times: Sequence[float]) -> float:
    """Return the mean; nan if empty."""
    return fmean(times) if times else float("nan")


def middle(times: Sequence[float]) -> float:
    """Return the median; nan if empty."""
    return median(times) if times else float("nan")


def ms(seconds: float) -> str:
    """Return a time in milliseconds with three digits."""
    value = 1e3 * seconds
    return f"{value:,.0f} ms" if value >= 1000.0 else f"{value:.3g} ms"


def in_milliseconds(method: str, times: Mapping[float, float], unit: str) -> str:
    """Return "method: 1.2 ms at 10 spheres, …"; "" without times."""
    words = ", ".join(f"{ms(time)} at {value:,g} {unit}" for value, time in times.items())
    return f"{method}: {words}" if words else ""


def join_parts(parts: Iterable[str]) -> str:
    """Join the non-empty parts."""
    return "; ".join(part for part in parts if part)
