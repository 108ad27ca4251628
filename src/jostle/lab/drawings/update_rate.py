"""Update rates in Hz against the swept parameter, and the time of one look-up."""

from __future__ import annotations

from collections.abc import Callable
from statistics import fmean
from typing import Any

from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter, LogLocator

from jostle.lab.appearance import LineStyle, styles_of
from jostle.lab.drawings.axes import (
    PRINTED,
    add_legend,
    add_note,
    new_figure,
    parameter_axis,
    power_words,
    served_at,
    time_axis,
    unfinished,
)
from jostle.lab.results import ExperimentResult, MethodRun

LINE = 0.125  # inches
TWO_COLUMNS = 28  # characters of the longest label
POWERS_BEYOND = 1000.0  # a parameter that spans more is labelled in powers of ten


def update_rate(result: ExperimentResult, styles: dict[str, LineStyle]) -> Figure:
    """Draw the inverse of the mean time of a frame; the paper's values in grey."""
    figure, axes, handles = _drawn(result, styles, rate_of)
    for label, pairs in result.printed.items():
        marker = (styles.get(label) or styles_of([label])[label]).marker
        x, rates = [value for value, _ in pairs], [1e3 / time for _, time in pairs]
        dash = ":" if len(pairs) > 2 else ""
        (handles[f"printed: {label}"],) = axes.plot(x, rates, **PRINTED | {"marker": marker, "linestyle": dash})
    _finish(figure, axes, handles, result, "update rate (Hz)", "One over the mean time of a frame, without drawing.")
    return figure


def time_per_look_up(result: ExperimentResult, styles: dict[str, LineStyle]) -> Figure:
    """Draw the time of all frames over their look-ups, of the first method alone.

    A method that skips points would seem slow here, the more so the fewer it looks up.
    """
    figure, axes, handles = _drawn(result, dict(list(styles.items())[:1]), nanoseconds_per_look_up)
    _finish(figure, axes, handles, result, "time per look-up (ns)", "Time of a frame over the points looked up in it.")
    return figure


def rate_of(run: MethodRun) -> float | None:
    """Return frames per second; None without a time."""
    return 1.0 / fmean(run.frame_seconds) if run.frame_seconds and fmean(run.frame_seconds) > 0.0 else None


def nanoseconds_per_look_up(run: MethodRun) -> float | None:
    """Return the time of all frames over their look-ups; None if there are none."""
    look_ups = run.total("look_ups")
    return 1e9 * sum(run.frame_seconds) / look_ups if look_ups and run.frame_seconds else None


def _drawn(
    result: ExperimentResult, styles: dict[str, LineStyle], value_of: Callable[[MethodRun], float | None]
) -> tuple[Figure, Any, dict[str, Line2D]]:
    figure, axes = new_figure(3.0)
    places, logarithmic = parameter_axis(axes, result, result.points)
    if logarithmic and max(places) > POWERS_BEYOND * min(places):
        axes.xaxis.set_major_locator(LogLocator(numticks=9))
        axes.xaxis.set_major_formatter(FuncFormatter(power_words))
    handles: dict[str, Line2D] = {}
    for label, style in styles.items():
        runs = served_at(places, result.points, label)
        rows = [(place, value) for place, run in runs if (value := value_of(run)) is not None]
        if rows:
            (handles[label],) = axes.plot(*zip(*rows, strict=True), **style.options)
    return figure, axes, handles


def _finish(figure: Figure, axes: Any, handles: dict[str, Line2D], result: ExperimentResult, words: str, note: str) -> None:
    drawn = [float(value) for line in axes.get_lines() for value in line.get_ydata()]
    time_axis(axes, drawn, logarithmic=True)
    axes.set_ylabel(words)
    columns = 2 if max(map(len, handles), default=0) <= TWO_COLUMNS else 1
    add_legend(figure, list(handles.values()), list(handles), columns)
    sentences = [note, *unfinished(result, result.points)]
    add_note(figure, sentences)
    # The axes keep their height whatever is above and below.
    figure.set_figheight(2.3 + LINE * (-(-len(handles) // columns) + sum(map(len, sentences)) / 74))
