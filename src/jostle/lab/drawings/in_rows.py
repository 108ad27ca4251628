"""Drawings with a row for each method or counter: median, 95th percentile and maximum of the times; mean counts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from jostle.lab.appearance import Look
from jostle.lab.drawings.axes import (
    DECADE,
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
    time_axis,
    unfinished,
)  # fmt: skip
from jostle.lab.results import ExperimentResult, Point


def times(result: ExperimentResult, points: Sequence[Point], looks: dict[str, Look]) -> Figure:
    """Median, 95th percentile and maximum of each method on one row; a method without a time has a row that says so."""
    rows = [len(point.runs) for point in points]
    figure = Figure(figsize=(WIDTH, 1.1 + 0.28 * sum(rows) + 0.25 * len(points)), layout="constrained")
    panels = figure.subplots(len(points), 1, sharex=True, squeeze=False, gridspec_kw={"height_ratios": rows})[:, 0]
    values: list[float] = []
    for point, axes in zip(points, panels, strict=True):
        for row, run in enumerate(point.runs):
            look = looks[run.method]
            if run.median is None or run.p95 is None or run.maximum is None:
                place: dict[str, Any] = {"xycoords": ("axes fraction", "data"), "textcoords": "offset points"}
                axes.annotate("no time", (0.0, row), (4.0, 0.0), va="center", color=GREY, style="italic", **place)
                continue
            median, high, most = (1e3 * seconds for seconds in (run.median, run.p95, run.maximum))
            values += [median, most]
            axes.plot([median, most], [row, row], color=look.colour, linewidth=0.9)
            axes.plot(median, row, "o", color=look.colour, markersize=5.0)
            axes.plot(high, row, "|", color=look.colour, markersize=8.0, markeredgewidth=1.4)
            axes.plot(most, row, "o", color=look.colour, markersize=5.0, markerfacecolor="white")
        label_rows(axes, [broken(run.method) + ("" if run.status == "ok" else f"\n{run.status}") for run in point.runs])
        panel_title(axes, result, point, points)
    for axes in panels:
        time_axis(axes, values, max(values) > DECADE * min(values), "x")
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


def counters(result: ExperimentResult, points: Sequence[Point], looks: dict[str, Look]) -> Figure:
    """What each method counted, the mean over the frames; a panel for each point, a row for each counter."""
    names = counter_names(points)
    figure = Figure(figsize=(WIDTH, 1.2 + (0.3 * len(names) + 0.25) * len(points)), layout="constrained")
    panels = figure.subplots(len(points), 1, sharex=True, squeeze=False)[:, 0]
    handles: dict[str, Line2D] = {}
    for point, axes in zip(points, panels, strict=True):
        counting = [run for run in point.runs if run.counters]
        for k, run in enumerate(counting):
            look = looks[run.method]
            # Methods that counted the same stand beside each other, not on top of each other.
            rows = np.arange(len(names)) + 0.36 * ((k + 0.5) / len(counting) - 0.5)
            means = [run.total(name) / len(run.counters) for name in names]
            (handles[run.method],) = axes.plot(means, rows, color=look.colour, marker=look.marker, linestyle="")
        label_rows(axes, [name.replace("_", " ") for name in names])
        panel_title(axes, result, point, points)
    count_axis(list(panels), "x")
    panels[-1].set_xlabel("per frame")
    add_legend(figure, list(handles.values()), list(handles))
    add_note(figure, [scene_words(result, points), *unfinished(result, points)])
    return figure
