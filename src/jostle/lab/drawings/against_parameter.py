"""Drawings against the swept parameter: times, averages, counters."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from statistics import fmean

from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from jostle.lab.appearance import LineStyle
from jostle.lab.drawings.axes import (
    WIDTH,
    add_dash_legend,
    add_legend,
    add_note,
    count_axis,
    counter_names,
    draw_printed,
    new_figure,
    parameter_axis,
    served_at,
    span_a_decade,
    time_axis,
    unfinished,
    with_slope,
)
from jostle.lab.results import ExperimentResult, MethodRun, Point


def time_against_parameter(result: ExperimentResult, styles: dict[str, LineStyle]) -> Figure:
    """Draw median times with a band to the 95th percentile; log–log over a decade."""
    figure, axes = new_figure(2.9)
    places, logarithmic = parameter_axis(axes, result, result.points)
    handles: list[tuple[float, Line2D, str]] = []
    drawn: list[float] = []
    hollow = False
    for label, style in styles.items():
        runs = [(place, point.run_of(label)) for place, point in zip(places, result.points, strict=True)]
        rows = [(place, 1e3 * run.median, 1e3 * (run.p95 or 0.0), run.served) for place, run in runs if run and run.median]
        if not rows:
            continue
        x, median, upper, _ = zip(*rows, strict=True)
        drawn += [*median, *upper]
        axes.fill_between(x, median, upper, color=style.colour, alpha=0.16, linewidth=0.0)
        (line,) = axes.plot(x, median, **style.options)
        stopped = [(place, time) for place, time, _, served in rows if not served]
        if stopped:
            hollow = True
            axes.plot(*zip(*stopped, strict=True), **style.options | {"linestyle": "", "markerfacecolor": "white"})
        whole = [(place, time) for place, time, _, served in rows if served]
        words = with_slope(label, [place for place, _ in whole], [time for _, time in whole], logarithmic)
        handles.append((median[-1], line, words))
    time_axis(axes, drawn, logarithmic)
    axes.set_ylabel("time per frame (ms)")
    handles.sort(key=lambda entry: -entry[0])
    add_legend(figure, [line for _, line, _ in handles], [words for _, _, words in handles])
    explained = ["Lines: median over the frames. Bands: up to the 95th percentile."]
    explained += ["Hollow: stopped before the last frame."] if hollow else []
    add_note(figure, [*explained, *unfinished(result, result.points)])
    return figure


def counters_against_parameter(result: ExperimentResult, points: Sequence[Point], styles: dict[str, LineStyle]) -> Figure:
    """Draw the counts per frame of each method; a panel for each counter."""
    names = counter_names(points)
    figure = Figure(figsize=(WIDTH, 1.1 + 1.15 * len(names)), layout="constrained")
    panels = figure.subplots(len(names), 1, sharex=True, squeeze=False)[:, 0]
    handles: dict[str, Line2D] = {}
    for axes, name in zip(panels, names, strict=True):
        places, _ = parameter_axis(axes, result, points)
        for k, (label, style) in enumerate(styles.items()):
            runs = [(place, point.run_of(label)) for place, point in zip(places, points, strict=True)]
            rows = [(place, run.total(name) / len(run.counters)) for place, run in runs if run and run.counters]
            if rows:
                # The first method on top, the others larger: methods with equal counts all stay visible.
                sizes = {"markersize": 4.0 + 1.5 * min(k, 3), "zorder": 3.0 - 0.01 * k}
                (handles[label],) = axes.plot(*zip(*rows, strict=True), **style.options, **sizes)
        count_axis([axes], "y")
        axes.set_ylabel(name.replace("_", " "))
        axes.label_outer()
    add_legend(figure, list(handles.values()), list(handles))
    add_note(figure, ["Mean over the frames.", *unfinished(result, points)])
    return figure


def last_frame(result: ExperimentResult, styles: dict[str, LineStyle]) -> Figure:
    """Draw the time of the last frame, where bodies touch; the paper's values in grey."""
    figure, axes = new_figure(2.9)
    places, logarithmic = parameter_axis(axes, result, result.points)
    handles: dict[str, Line2D] = {}
    for label, style in styles.items():
        rows = [(place, 1e3 * run.frame_seconds[-1]) for place, run in served_at(places, result.points, label)]
        if rows:
            x, times = zip(*rows, strict=True)
            (handles[with_slope(label, x, times, logarithmic)],) = axes.plot(x, times, **style.options)
    for label, pairs in result.printed.items():
        handles |= draw_printed(axes, label, pairs, places)
    drawn = [float(time) for line in axes.get_lines() for time in line.get_ydata()]
    time_axis(axes, drawn, logarithmic or (min(drawn, default=1.0) > 0.0 and span_a_decade(drawn)))
    axes.set_ylabel("time of the last frame (ms)")
    add_legend(figure, list(handles.values()), list(handles))
    add_note(figure, ["Bodies touch in the last frame.", *unfinished(result, result.points)])
    return figure


def averages(result: ExperimentResult, styles: dict[str, LineStyle]) -> Figure:
    """Draw mean times over all frames (dotted) and those with collisions (solid)."""
    figure, axes = new_figure(2.9)
    places, logarithmic = parameter_axis(axes, result, result.points)
    handles: dict[str, Line2D] = {}
    drawn: list[float] = []
    kinds: tuple[tuple[str, Callable[[MethodRun], list[float]]], ...] = ((":", all_times), ("-", colliding_times))
    for label, style in styles.items():
        for dash, times_of in kinds:
            rows = served_at(places, result.points, label)
            means = [(place, 1e3 * fmean(times)) for place, run in rows if (times := times_of(run))]
            if means:
                drawn += [mean for _, mean in means]
                (handles[label],) = axes.plot(*zip(*means, strict=True), **style.options | {"linestyle": dash})
    time_axis(axes, drawn, logarithmic and span_a_decade(drawn))
    axes.set_ylabel("mean time per frame (ms)")
    add_dash_legend(figure, handles, "frames with collisions", "all frames")
    add_note(figure, unfinished(result, result.points))
    return figure


def all_times(run: MethodRun) -> list[float]:
    """Return the seconds of all frames."""
    return run.frame_seconds


def colliding_times(run: MethodRun) -> list[float]:
    """Return the seconds of the frames in which the method found touching bodies."""
    return [time for time, pairs in zip(run.frame_seconds, run.pairs, strict=True) if pairs]
