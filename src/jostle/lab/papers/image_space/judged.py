"""What the judges of these figures share: deviations, frame times, text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from jostle.lab.papers.judging import Times, by_value, mean_times, ms, run_at
from jostle.lab.results import ExperimentResult, MethodRun

MOST = 0.5  # of the cases must hold for "partly"


def deviations(result: ExperimentResult, method: str) -> Times:
    """Return the standard deviation over the frames, in seconds, by the swept value."""
    return by_value(result, method, lambda run: run.deviation or 0.0)


def frame_times(result: ExperimentResult, drawing: str, method: str) -> tuple[Times, Times]:
    """Return mean and deviation of drawing plus detection, by the swept value."""
    means, spreads = {}, {}
    for value in mean_times(result, method):
        drawn, run = run_at(result, value, drawing), run_at(result, value, method)
        if drawn is not None and run is not None:
            count = min(len(drawn.frame_seconds), len(run.frame_seconds))
            both = np.add(drawn.frame_seconds[:count], run.frame_seconds[:count])
            means[value], spreads[value] = float(both.mean()), float(both.std())
    return means, spreads


def below(ours: Mapping[float, float], others: Mapping[float, float], values: Sequence[float] | None = None) -> list[bool]:
    """Return whether ours is at most the other, for each common value."""
    common = [value for value in ours if value in others and (values is None or value in values)]
    return [ours[value] <= others[value] for value in common]


def times_in_words(result: ExperimentResult, method: str) -> str:
    """Return "method: 1.2 ± 0.1 ms at 3,600 triangles, …"; "" without times."""
    means, spreads = mean_times(result, method), deviations(result, method)
    words = [f"{ms(time).removesuffix(' ms')} ± {ms(spreads[value])} at {value:,.10g}" for value, time in means.items()]
    return f"{method}: {', '.join(words)} triangles" if words else ""


def wrong_in_words(method: str, runs: Sequence[MethodRun]) -> str:
    """Return a method's missed and extra pairs over all points; "" if not compared."""
    compared = [run for run in runs if run.missed is not None]
    if not compared:
        return ""
    missed, extra = sum(run.missed or 0 for run in compared), sum(run.extra or 0 for run in compared)
    extras = f" and {extra:,} extra" if extra else ""
    allowed = missed + extra - sum(run.beyond for run in compared)
    band = f" ({allowed:,} of these within its guarantee)" if allowed else ""
    return f"{method}: {missed:,} missed{extras} of {sum(run.expected or 0 for run in compared):,}{band}"
