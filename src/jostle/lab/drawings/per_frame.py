"""Drawings of every frame: its time and its contacts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter, MaxNLocator

from jostle.lab.appearance import LineStyle
from jostle.lab.drawings.axes import (
    GREY,
    WIDTH,
    add_legend,
    add_note,
    format_number,
    new_figure,
    panel_title,
    plain,
    scene_words,
    span_a_decade,
    time_axis,
    unfinished,
)  # fmt: skip
from jostle.lab.results import ExperimentResult, MethodRun, Point

MOST_TOGETHER = 3  # methods in one panel with a line for each value
_DASHES: tuple[Any, ...] = ("-", (0, (1.0, 1.0)), (0, (4.0, 1.5)))


def time_per_frame(result: ExperimentResult, points: Sequence[Point], styles: dict[str, LineStyle], with_update: bool) -> Figure:
    """Draw the time of each frame by method, and the contacts in a thin panel below."""
    figure = Figure(figsize=(WIDTH, 0.8 + 2.4 * len(points)), layout="constrained")
    panels = figure.subplots(2 * len(points), 1, squeeze=False, gridspec_kw={"height_ratios": (3.0, 1.0) * len(points)})[:, 0]
    handles: dict[str, Line2D] = {}
    for point, axes, below in zip(points, panels[::2], panels[1::2], strict=True):
        below.sharex(axes)
        timed = [run for run in point.runs if run.frame_seconds]
        for k, run in enumerate(timed):
            style, frames = styles[run.method], np.arange(len(run.frame_seconds))
            # The first method is drawn on top.
            options = style.options | {"markersize": 2.5, "linewidth": 1.0, "zorder": 3.0 - 0.01 * k}
            marker = style.marker if len(frames) <= 30 else ""
            (handles[run.method],) = axes.plot(frames, 1e3 * np.array(run.frame_seconds), **options | {"marker": marker})
            if with_update and len(run.update_seconds) == len(frames):
                axes.plot(frames, 1e3 * np.array(run.update_seconds), **options | {"marker": "", "linestyle": ":"})
        values = [value for line in axes.get_lines() for value in np.asarray(line.get_ydata())]
        time_axis(axes, values, span_a_decade([run.median or 0.0 for run in timed]))
        axes.set_ylabel("time (ms)")
        axes.tick_params(axis="x", length=0.0, labelbottom=False)
        _contacts_per_frame(below, timed, styles)
        panel_title(axes, result, point, points)
    panels[-1].set_xlabel("frame")
    add_legend(figure, list(handles.values()), list(handles))
    dotted = ["Dotted: setting poses and vertices."] if with_update else []
    add_note(figure, [scene_words(result, points), *dotted, *unfinished(result, points)])
    return figure


def _contacts_per_frame(axes: Any, runs: Sequence[MethodRun], styles: dict[str, LineStyle]) -> None:
    """Draw one grey line if all methods found the same numbers, else one each."""
    faces = any(run.compared == "faces" or any(run.contacts) for run in runs)
    # Methods that name no faces have no contacts to show beside the others.
    naming = [run for run in runs if not faces or run.compared == "faces" or any(run.contacts)]
    found = {run.method: run.contacts if faces else run.pairs for run in naming}
    longest = max(found.values(), key=len)
    agree = all(numbers == longest[: len(numbers)] for numbers in found.values())
    for method, numbers in [("", longest)] if agree else reversed(found.items()):
        colour, dash = (GREY, "-") if agree else (styles[method].colour, styles[method].dash)
        axes.plot(np.arange(len(numbers)), numbers, color=colour, linestyle=dash, linewidth=1.0)
    axes.set_ylim(0.0, 1.1 * max(1, *(max(numbers, default=0) for numbers in found.values())))
    axes.yaxis.set_major_locator(MaxNLocator(3, integer=True))
    axes.yaxis.set_major_formatter(FuncFormatter(format_number))
    axes.xaxis.set_major_locator(MaxNLocator(6, integer=True))
    axes.set_ylabel("contacts" if faces else "body pairs")


def frames_together(result: ExperimentResult, styles: dict[str, LineStyle]) -> Figure:
    """Draw the time of each frame in one panel; each line ends with its value."""
    figure, axes = new_figure(3.1)
    handles: dict[str, Line2D] = {}
    ends: list[tuple[float, float, str, str]] = []
    times: list[float] = []
    for k, (label, style) in enumerate(list(styles.items())[:MOST_TOGETHER]):
        for j, point in enumerate(result.points):
            run = point.run_of(label)
            if run is None or not run.frame_seconds:
                continue
            drawn = (1e3 * np.array(run.frame_seconds)).tolist()
            width = 0.7 + 0.8 * j / max(1, len(result.points) - 1)
            (line,) = axes.plot(drawn, color=style.colour, linestyle=_DASHES[k], linewidth=width, zorder=3.0 - 0.01 * k)
            handles.setdefault(label, line)
            ends.append((len(drawn) - 1.0, drawn[-1], point.label, style.colour))
            times += drawn
    logarithmic = span_a_decade(times)
    time_axis(axes, times, logarithmic)
    axes.set_xlabel("frame")
    axes.xaxis.set_major_locator(MaxNLocator(6, integer=True))
    axes.set_ylabel("time (ms)")
    _label_ends(axes, ends, logarithmic)
    add_legend(figure, list(handles.values()), list(handles))
    left_out = ", ".join(list(styles)[MOST_TOGETHER:])
    others = f"Not drawn here: {left_out}." if left_out else ""
    add_note(figure, [f"At the end of each line: {result.parameter}.", others, *unfinished(result, result.points)])
    return figure


def _label_ends(axes: Any, ends: list[tuple[float, float, str, str]], logarithmic: bool) -> None:
    """Label the end of each line; labels that would overlap are moved up."""
    low, high = (np.log(edge) if logarithmic else edge for edge in axes.get_ylim())
    taken = -np.inf
    for x, y, words, colour in sorted(ends, key=lambda end: end[1]):
        place = ((np.log(y) if logarithmic else y) - low) / (high - low)
        moved = max(place, taken + 0.035)
        taken = moved
        shift = (3.0, (moved - place) * 150.0)
        axes.annotate(plain(words), (x, y), shift, textcoords="offset points", va="center", fontsize=5.5, color=colour)
    axes.margins(x=0.12)
