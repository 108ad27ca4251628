"""What the judges of these figures ask: means and deviations by triangles, how many of a number of claims hold, in words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from jostle.lab.experiment import served_runs
from jostle.lab.papers.judging import mean, ms
from jostle.lab.results import ExperimentResult, MethodRun

Times = dict[float, float]  # seconds by triangles


def mean_times(result: ExperimentResult, method: str) -> Times:
    """Return the mean seconds of a frame by the swept value, for the points that a method went through."""
    return {float(value): mean(run.frame_seconds) for value, run in served_runs(result, method) if isinstance(value, int | float)}


def deviations(result: ExperimentResult, method: str) -> Times:
    """Return the standard deviation over the frames, seconds, by the swept value."""
    rows = served_runs(result, method)
    return {float(value): run.deviation or 0.0 for value, run in rows if isinstance(value, int | float)}


def frame_times(result: ExperimentResult, drawing: str, method: str) -> tuple[Times, Times]:
    """Return mean and deviation of drawing and detection together, frame by frame, by the swept value."""
    drawn = {value: run.frame_seconds for value, run in served_runs(result, drawing) if isinstance(value, int | float)}
    means, spreads = {}, {}
    for value, run in served_runs(result, method):
        if value in drawn and isinstance(value, int | float):
            count = min(len(drawn[value]), len(run.frame_seconds))
            both = np.add(drawn[value][:count], run.frame_seconds[:count])
            means[float(value)], spreads[float(value)] = float(both.mean()), float(both.std())
    return means, spreads


def below(ours: Mapping[float, float], others: Mapping[float, float], values: Sequence[float] | None = None) -> list[bool]:
    """Return for each value that both have whether ours is at most the other."""
    common = [value for value in ours if value in others and (values is None or value in values)]
    return [ours[value] <= others[value] for value in common]


def verdict_of(held: Sequence[bool], partly: float = 0.5) -> str:
    """Return "reproduced" where all of these hold, "partly" where a share of them does, else "refuted"."""
    if held and all(held):
        return "reproduced"
    return "partly" if held and sum(held) >= max(1.0, partly * len(held)) else "refuted"


def times_in_words(method: str, means: Times, spreads: Times) -> str:
    """Return "method: 1.2 ± 0.1 ms at 3,600 triangles, …", or "" without times."""
    words = [f"{ms(time).removesuffix(' ms')} ± {ms(spreads[value])} at {value:,.10g}" for value, time in means.items()]
    return f"{method}: {', '.join(words)} triangles" if words else ""


def wrong_in_words(method: str, runs: Sequence[MethodRun]) -> str:
    """Return what a method missed and told too much, over all its points; "" where nothing was compared."""
    compared = [run for run in runs if run.missed is not None]
    if not compared:
        return ""
    missed, extra = sum(run.missed or 0 for run in compared), sum(run.extra or 0 for run in compared)
    told = f" and {extra:,} extra" if extra else ""
    allowed = sum(run.missed or 0 for run in compared) + extra - sum(run.beyond for run in compared)
    band = f" ({allowed:,} of these within its guarantee)" if allowed else ""
    return f"{method}: {missed:,} missed{told} of {sum(run.expected or 0 for run in compared):,}{band}"
