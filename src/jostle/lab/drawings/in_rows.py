"""Drawings with a row for each method or counter: times and mean counts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from jostle.lab.appearance import LineStyle
from jostle.lab.drawings.axes import (
    GREY,
    WIDTH,
    add_legend,
    add_note,
    broken,
    count_axis,
    counter_names,
    label_rows,
    panel_title,
    scene_words,
    span_a_decade,
    time_axis,
    unfinished,
)  # fmt: skip
from jostle.lab.results import ExperimentResult, Point


def times(result: ExperimentResult, points: Sequence[Point], styles: dict[str, LineStyle]) -> Figure:
    """Draw median, 95th percentile and maximum in a row per method, or "no time"."""
    rows = [len(point.runs) for point in points]
    figure = Figure(figsize=(WIDTH, 1.1 + 0.28 * sum(rows) + 0.25 * len(points)), layout="constrained")
    panels = figure.subplots(len(points), 1, sharex=True, squeeze=False, gridspec_kw={"height_ratios": rows})[:, 0]
    values: list[float] = []
    for point, axes in zip(points, panels, strict=True):
        for row, run in enumerate(point.runs):
            colour = styles[run.method].colour
            if run.median is None or run.p95 is None or run.maximum is None:
                place: dict[str, Any] = {"xycoords": ("axes fraction", "data"), "textcoords": "offset points"}
                axes.annotate("no time", (0.0, row), (4.0, 0.0), va="center", color=GREY, style="italic", **place)
                continue
            median, high, most = (1e3 * seconds for seconds in (run.median, run.p95, run.maximum))
            values += [median, most]
            axes.plot([median, most], [row, row], color=colour, linewidth=0.9)
            axes.plot(median, row, "o", color=colour, markersize=5.0)
            axes.plot(high, row, "|", color=colour, markersize=8.0, markeredgewidth=1.4)
            axes.plot(most, row, "o", color=colour, markersize=5.0, markerfacecolor="white")
        label_rows(axes, [broken(run.method) + ("" if run.status == "ok" else f"\n{run.status}") for run in point.runs])
        panel_title(axes, result, point, points)
    for axes in panels:
        time_axis(axes, values, span_a_decade(values), "x")
    panels[-1].set_xlabel("time per frame (ms)")
    shapes: list[tuple[str, dict[str, Any]]] = [
        ("median", {"marker": "o"}),
        ("95th percentile", {"marker": "|", "markersize": 8.0, "markeredgewidth": 1.4}),
        ("maximum", {"marker": "o", "markerfacecolor": "white"}),
    ]
    handles = [Line2D([], [], color=GREY, linestyle="", **shape) for _, shape in shapes]
    add_legend(figure, handles, [words for words, _ in shapes], columns=3)
    add_note(figure, [scene_words(result, points), *unfinished(result, points)])
    return figure


def counters(result: ExperimentResult, points: Sequence[Point], styles: dict[str, LineStyle]) -> Figure:
    """Draw mean counts per frame: a panel for each point, a row for each counter."""
    names = counter_names(points)
    figure = Figure(figsize=(WIDTH, 1.2 + (0.3 * len(names) + 0.25) * len(points)), layout="constrained")
    panels = figure.subplots(len(points), 1, sharex=True, squeeze=False)[:, 0]
    handles: dict[str, Line2D] = {}
    for point, axes in zip(points, panels, strict=True):
        counting = [run for run in point.runs if run.counters]
        for k, run in enumerate(counting):
            # Methods with equal counts are drawn side by side.
            rows = np.arange(len(names)) + 0.36 * ((k + 0.5) / len(counting) - 0.5)
            means = [run.total(name) / len(run.counters) for name in names]
            (handles[run.method],) = axes.plot(means, rows, **styles[run.method].options | {"linestyle": ""})
        label_rows(axes, [name.replace("_", " ") for name in names])
        panel_title(axes, result, point, points)
    count_axis(list(panels), "x")
    panels[-1].set_xlabel("per frame")
    add_legend(figure, list(handles.values()), list(handles))
    add_note(figure, [scene_words(result, points), *unfinished(result, points)])
    return figure
