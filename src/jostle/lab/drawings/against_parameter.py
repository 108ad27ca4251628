"""Drawings against the swept parameter: median times, times of the last frame, averages, counters."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from statistics import fmean
from typing import Any

from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from jostle.lab.appearance import Look, looks_of
from jostle.lab.drawings.axes import (
    GREY,
    WIDTH,
    add_legend,
    add_note,
    count_axis,
    counter_names,
    parameter_axis,
    runs_of,
    time_axis,
    unfinished,
)  # fmt: skip
from jostle.lab.experiment import slope
from jostle.lab.results import ExperimentResult, MethodRun, Point


def time_against_parameter(result: ExperimentResult, looks: dict[str, Look]) -> Figure:
    """Median time against the swept parameter with a band to the 95th percentile; log–log where it spans a decade."""
    figure = Figure(figsize=(WIDTH, 2.9), layout="constrained")
    axes = figure.add_subplot()
    places, logarithmic = parameter_axis(axes, result, result.points)
    handles: list[tuple[float, Line2D, str]] = []
    drawn: list[float] = []
    hollow = False
    for label, look in looks.items():
        rows = [(place, run) for place, run in zip(places, runs_of(result.points, label), strict=True) if run and run.median]
        if not rows:
            continue
        x = [place for place, _ in rows]
        median = [1e3 * (run.median or 0.0) for _, run in rows]
        upper = [1e3 * (run.p95 or 0.0) for _, run in rows]
        drawn += [*median, *upper]
        axes.fill_between(x, median, upper, color=look.colour, alpha=0.16, linewidth=0.0)
        (line,) = axes.plot(x, median, color=look.colour, marker=look.marker, linestyle=look.dash)
        part = [(place, value) for place, value, (_, run) in zip(x, median, rows, strict=True) if run.status != "ok"]
        if part:
            hollow = True
            axes.plot(*zip(*part, strict=True), color=look.colour, marker=look.marker, linestyle="", markerfacecolor="white")
        whole = [(place, value) for place, value, (_, run) in zip(x, median, rows, strict=True) if run.status == "ok"]
        exponent = slope([a for a, _ in whole], [b for _, b in whole]) if logarithmic else math.nan
        handles.append((median[-1], line, label + ("" if math.isnan(exponent) else f", slope {exponent:.2f}".replace("-", "−"))))
    time_axis(axes, drawn, logarithmic)
    axes.set_ylabel("time per frame (ms)")
    handles.sort(key=lambda entry: -entry[0])
    add_legend(figure, [line for _, line, _ in handles], [words for _, _, words in handles])
    explained = ["Lines: median over the frames. Bands: up to the 95th percentile."]
    explained += ["Hollow: stopped before the last frame."] if hollow else []
    add_note(figure, [*explained, *unfinished(result, result.points)])
    return figure


def counters_against_parameter(result: ExperimentResult, points: Sequence[Point], looks: dict[str, Look]) -> Figure:
    """What each method counted per frame against the swept parameter; a panel for each counter."""
    names = counter_names(points)
    figure = Figure(figsize=(WIDTH, 1.1 + 1.15 * len(names)), layout="constrained")
    panels = figure.subplots(len(names), 1, sharex=True, squeeze=False)[:, 0]
    handles: dict[str, Line2D] = {}
    for axes, name in zip(panels, names, strict=True):
        places, _ = parameter_axis(axes, result, points)
        for k, (label, look) in enumerate(looks.items()):
            rows = [(p, run) for p, run in zip(places, runs_of(points, label), strict=True) if run and run.counters]
            values = [run.total(name) / len(run.counters) for _, run in rows]
            if rows:
                # The first method on top, those below it larger: methods that counted the same are all seen.
                style: dict[str, Any] = {"markersize": 4.0 + 1.5 * min(k, 3), "zorder": 3.0 - 0.01 * k}
                style |= {"color": look.colour, "marker": look.marker, "linestyle": look.dash}
                (handles[label],) = axes.plot([place for place, _ in rows], values, **style)
        count_axis([axes], "y")
        axes.set_ylabel(name.replace("_", " "))
        axes.label_outer()
    add_legend(figure, list(handles.values()), list(handles))
    add_note(figure, ["Mean over the frames.", *unfinished(result, points)])
    return figure


def last_frame(result: ExperimentResult, looks: dict[str, Look]) -> Figure:
    """Time of the last frame, in which bodies touch, against the swept parameter, with the values printed in the paper in grey."""
    figure = Figure(figsize=(WIDTH, 2.9), layout="constrained")
    axes = figure.add_subplot()
    places, logarithmic = parameter_axis(axes, result, result.points)
    drawn: list[float] = []
    handles: dict[str, Line2D] = {}
    for label, look in looks.items():
        rows = [(place, run) for place, run in zip(places, runs_of(result.points, label), strict=True) if run and run.served]
        if not rows:
            continue
        x, times = [place for place, _ in rows], [1e3 * run.frame_seconds[-1] for _, run in rows]
        drawn += times
        power = slope(x, times) if logarithmic else math.nan
        words = label + ("" if math.isnan(power) else f", slope {power:.2f}".replace("-", "−"))
        (handles[words],) = axes.plot(x, times, color=look.colour, marker=look.marker, linestyle=look.dash)
    for label, pairs in result.printed.items():
        x, times = [value for value, _ in pairs if value in places], [time for value, time in pairs if value in places]
        if not x:
            continue
        drawn += times
        marker = next(iter(looks_of([label]).values())).marker
        style: dict[str, Any] = {"color": GREY, "marker": marker, "markerfacecolor": "white", "linestyle": ":", "linewidth": 0.8}
        (handles[f"{label}, printed in the paper"],) = axes.plot(x, times, **style)
    spread = min(drawn, default=1.0) > 0.0 and max(drawn, default=1.0) > 10.0 * min(drawn, default=1.0)
    time_axis(axes, drawn, logarithmic or spread)
    axes.set_ylabel("time of the last frame (ms)")
    add_legend(figure, list(handles.values()), list(handles))
    add_note(figure, ["The last frame is the one in which bodies touch.", *unfinished(result, result.points)])
    return figure


def averages(result: ExperimentResult, looks: dict[str, Look]) -> Figure:
    """Mean time over all frames (dotted), and over the frames in which bodies touch (solid), against the swept parameter."""
    figure = Figure(figsize=(WIDTH, 2.9), layout="constrained")
    axes = figure.add_subplot()
    places, logarithmic = parameter_axis(axes, result, result.points)
    handles: dict[str, Line2D] = {}
    drawn: list[float] = []
    kinds: tuple[tuple[str, Callable[[MethodRun], list[float]]], ...] = ((":", all_times), ("-", colliding_times))
    for label, look in looks.items():
        for dash, times_of in kinds:
            rows = [(p, run) for p, run in zip(places, runs_of(result.points, label), strict=True) if run and run.served]
            means = [(place, 1e3 * fmean(times)) for place, run in rows if (times := times_of(run))]
            if means:
                drawn += [mean for _, mean in means]
                (line,) = axes.plot(*zip(*means, strict=True), color=look.colour, marker=look.marker, linestyle=dash)
                handles[label] = line
    time_axis(axes, drawn, logarithmic and max(drawn, default=1.0) > 10.0 * min(drawn, default=1.0))
    axes.set_ylabel("mean time per frame (ms)")
    shapes = [Line2D([], [], color=GREY, linestyle=dash) for dash in ("-", ":")]
    add_legend(figure, [*handles.values(), *shapes], [*handles, "frames with collisions", "all frames"])
    add_note(figure, unfinished(result, result.points))
    return figure


def all_times(run: MethodRun) -> list[float]:
    """Return the seconds of all frames."""
    return run.frame_seconds


def colliding_times(run: MethodRun) -> list[float]:
    """Return the seconds of the frames in which the method found bodies that touch."""
    return [time for time, pairs in zip(run.frame_seconds, run.pairs, strict=True) if pairs]
