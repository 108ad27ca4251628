"""Mean and standard deviation of the time per frame against the swept parameter."""

from __future__ import annotations

from statistics import fmean
from typing import Any

from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from jostle.lab.appearance import LineStyle
from jostle.lab.drawings.axes import (
    WIDTH,
    add_legend,
    add_note,
    draw_printed,
    parameter_axis,
    served_at,
    span_a_decade,
    time_axis,
    unfinished,
)
from jostle.lab.results import ExperimentResult

SMALLEST = 1e-6  # ms: gives a deviation of 0 a place on a logarithmic axis


def mean_and_deviation(result: ExperimentResult, styles: dict[str, LineStyle]) -> Figure:
    """Draw two panels: the mean, with the paper's values in grey, and the deviation."""
    figure = Figure(figsize=(WIDTH, 4.8), layout="constrained")
    panels: Any = figure.subplots(2, 1, sharex=True)
    handles: dict[str, Line2D] = {}
    for number, axes in enumerate(panels):
        places, logarithmic = parameter_axis(axes, result, result.points)
        for label, style in styles.items():
            rows = served_at(places, result.points, label)
            times = [(run.deviation or 0.0) if number else fmean(run.frame_seconds) for _, run in rows]
            if rows:
                heights = [max(1e3 * time, SMALLEST) for time in times]
                thin = {"markersize": 3.0, "linewidth": 1.0}
                (handles[label],) = axes.plot([place for place, _ in rows], heights, **style.options, **thin)
        for label, pairs in result.printed.items() if number == 0 else ():
            handles |= draw_printed(axes, label, pairs, places)
        drawn = [float(time) for line in axes.get_lines() for time in line.get_ydata()]
        time_axis(axes, drawn, logarithmic or span_a_decade(drawn))
        axes.set_ylabel("deviation (ms)" if number else "mean (ms)")
        axes.label_outer()
    add_legend(figure, list(handles.values()), list(handles), columns=2)
    add_note(figure, ["Mean and standard deviation of the time per frame, over the frames.", *unfinished(result, result.points)])
    return figure
