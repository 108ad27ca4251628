"""Update rates in Hz against the swept parameter, as Lock and Wills draw them (logarithmic axes), and the time of one look-up."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from statistics import fmean
from typing import Any

from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter, LogLocator

from jostle.lab.appearance import Look, looks_of
from jostle.lab.drawings.axes import GREY, WIDTH, add_legend, add_note, parameter_axis, power_words, runs_of, time_axis, unfinished
from jostle.lab.results import ExperimentResult, MethodRun, Point

HOLLOW: dict[str, Any] = {"color": GREY, "markerfacecolor": "white", "linewidth": 0.8}
PRINTED = "printed"
LINE = 0.125  # inches
TWO_COLUMNS = 28  # letters of the longest label
POWERS_BEYOND = 1000.0  # a parameter that spans more has powers of ten at its axis


def update_rate(result: ExperimentResult, looks: dict[str, Look]) -> Figure:
    """One over the mean time of a frame against the swept parameter; what the paper prints in grey."""
    figure, axes, handles = _drawn(result, looks, rate_of)
    for label, pairs in result.printed.items():
        look = looks[label] if label in looks else next(iter(looks_of([label]).values()))
        style = HOLLOW | {"marker": look.marker, "linestyle": ":" if len(pairs) > 2 else ""}
        x, rates = [value for value, _ in pairs], [1e3 / time for _, time in pairs]
        (handles[f"{PRINTED}: {label}"],) = axes.plot(x, rates, **style)
    _finish(figure, axes, handles, result, "update rate (Hz)", "One over the mean time of a frame; no drawing in it.")
    return figure


def time_per_look_up(result: ExperimentResult, looks: dict[str, Look]) -> Figure:
    """All time of all frames over all look-ups of points, against the swept parameter; of the first method alone.

    A method that passes over points would look slow here, the more so the fewer it has to look up.
    """
    figure, axes, handles = _drawn(result, dict(list(looks.items())[:1]), nanoseconds_per_look_up)
    _finish(figure, axes, handles, result, "time per look-up (ns)", "All of a frame's time over the points looked up in it.")
    return figure


def rate_of(run: MethodRun) -> float | None:
    """Return frames per second, None without a time."""
    return 1.0 / fmean(run.frame_seconds) if run.frame_seconds and fmean(run.frame_seconds) > 0.0 else None


def nanoseconds_per_look_up(run: MethodRun) -> float | None:
    """Return the time of all frames over the look-ups in them, None where there are none."""
    look_ups = run.total("look_ups")
    return 1e9 * sum(run.frame_seconds) / look_ups if look_ups and run.frame_seconds else None


def _drawn(
    result: ExperimentResult, looks: dict[str, Look], value_of: Callable[[MethodRun], float | None]
) -> tuple[Figure, Any, dict[str, Line2D]]:
    figure = Figure(figsize=(WIDTH, 3.0), layout="constrained")
    axes = figure.add_subplot()
    places, logarithmic = parameter_axis(axes, result, result.points)
    if logarithmic and max(places) > POWERS_BEYOND * min(places):
        axes.xaxis.set_major_locator(LogLocator(numticks=9))
        axes.xaxis.set_major_formatter(FuncFormatter(power_words))
    handles: dict[str, Line2D] = {}
    for label, look in looks.items():
        rows = _rows(places, result.points, label, value_of)
        if rows:
            x, y = zip(*rows, strict=True)
            (handles[label],) = axes.plot(x, y, color=look.colour, marker=look.marker, linestyle=look.dash)
    return figure, axes, handles


def _rows(
    places: Sequence[float], points: Sequence[Point], label: str, value_of: Callable[[MethodRun], float | None]
) -> list[tuple[float, float]]:
    """Place and value of each point that a method went through."""
    runs = zip(places, runs_of(points, label), strict=True)
    found = [(place, value_of(run)) for place, run in runs if run is not None and run.served]
    return [(place, value) for place, value in found if value is not None]


def _finish(figure: Figure, axes: Any, handles: dict[str, Line2D], result: ExperimentResult, words: str, note: str) -> None:
    drawn = [float(value) for line in axes.get_lines() for value in line.get_ydata()]
    time_axis(axes, drawn, logarithmic=True)
    axes.set_ylabel(words)
    columns = 2 if max(map(len, handles), default=0) <= TWO_COLUMNS else 1
    add_legend(figure, list(handles.values()), list(handles), columns)
    sentences = [note, *unfinished(result, result.points)]
    add_note(figure, sentences)
    # The axes keep their height whatever stands above and below.
    figure.set_figheight(2.3 + LINE * (-(-len(handles) // columns) + sum(map(len, sentences)) / 74))
