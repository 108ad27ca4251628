"""The figures of an experiment: plots for a column of a paper, as SVG and PNG, and two pictures of its scene.

Figures are 8.9 cm wide with type of 6.5 to 8 points. A method has the same colour, marker and dash in every figure of every
experiment (`appearance.py`). A method without a time is named with its status, never left out in silence. Times are milliseconds.
Equal results give byte-equal files: matplotlib's defaults whatever the user has set, a fixed salt for ids, no dates. There is no
pyplot: nothing here has a global figure.
"""

from __future__ import annotations

import math
import textwrap
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FixedLocator, FuncFormatter, LogLocator, MaxNLocator, NullFormatter, NullLocator

from jostle.lab.appearance import PLOTS, Look, looks_of, showable
from jostle.lab.experiment import slope
from jostle.lab.pictures import draw_scene
from jostle.lab.results import ExperimentResult, MethodRun, Point
from jostle.motion.record import Motion

WIDTH = 3.5  # inches, one column
DOTS_PER_INCH = 300
DECADE = 10.0
MOST_PANELS = 3
_RAISED = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")
GREY, PALE = "#55595f", "#dfe2e6"

_SETTINGS: dict[Any, Any] = {
    "svg.hashsalt": "jostle", "svg.fonttype": "path", "text.parse_math": False, "font.family": "DejaVu Sans",
    "font.size": 8.0, "axes.labelsize": 8.0, "xtick.labelsize": 7.0, "ytick.labelsize": 7.0, "legend.fontsize": 7.0,
    "axes.linewidth": 0.6, "axes.edgecolor": GREY, "axes.spines.top": False, "axes.spines.right": False, "axes.grid": True,
    "grid.color": PALE, "grid.linewidth": 0.5, "axes.axisbelow": True, "lines.linewidth": 1.3, "lines.markersize": 4.0,
    "xtick.color": GREY, "ytick.color": GREY, "xtick.labelcolor": "black", "ytick.labelcolor": "black",
    "xtick.major.width": 0.6, "ytick.major.width": 0.6, "legend.frameon": False, "legend.handlelength": 2.4,
    "legend.labelspacing": 0.25, "legend.borderaxespad": 0.5, "legend.borderpad": 0.2,
}  # fmt: skip


# ---------------------------------------------------------------------- the way in


def draw_experiment(result: ExperimentResult, folder: Path, motion: Motion | None = None) -> list[Path]:
    """Draw the figures of an experiment into its folder, and its scene when the motion is given; return the files.

    Parameters
    ----------
    result : ExperimentResult
        `result.draw` says which figures; none named means all that make sense.
    folder : Path
        That of this experiment, such as DIR/spheres. Figures of an earlier run there are removed.
    motion : Motion, optional
        Whose first and last frame are drawn, touching faces in red; without it, earlier pictures stay.
    """
    folder.mkdir(parents=True, exist_ok=True)
    for name in PLOTS:
        for ending in ("svg", "png"):
            (folder / f"{name}.{ending}").unlink(missing_ok=True)
    written = []
    with _own_settings():
        for name, figure in _figures(result):
            for ending, extra in (("svg", {"Date": None, "Creator": None}), ("png", {"Software": None})):
                path = folder / f"{name}.{ending}"
                figure.savefig(path, dpi=DOTS_PER_INCH, metadata=extra)
                written.append(path)
    return written + ([] if motion is None else draw_scene(motion, folder))


@contextmanager
def _own_settings() -> Iterator[None]:
    with mpl.rc_context(), warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # a letter that the font lacks becomes a box; that is no reason to fail
        mpl.rcdefaults()
        mpl.rcParams.update(_SETTINGS)
        yield


def _figures(result: ExperimentResult) -> Iterator[tuple[str, Figure]]:
    looks = looks_of(result.methods)
    measured = [point for point in result.points if any(run.frame_seconds for run in point.runs)]
    if not measured:
        return
    wanted = set(result.draw) or {"time against parameter", "time per frame"}
    against = result.parameter is not None and len(measured) > 1 and bool(wanted & {"time against parameter", "log-log"})
    # A few points that are not drawn against a parameter stand below each other; of a sweep the last is shown, the largest.
    shown = measured[-1:] if against or len(measured) > MOST_PANELS else measured
    if against:
        yield "time_against_parameter", time_against_parameter(result, looks)
    if "time per frame" in wanted and max(len(run.frame_seconds) for point in shown for run in point.runs) > 1:
        yield "time_per_frame", time_per_frame(result, shown, looks, "update time" in wanted)
    if not against:
        yield "times", times(result, shown, looks)
    if _counter_names(measured if against else shown):
        yield "counters", counters_against_parameter(result, measured, looks) if against else counters(result, shown, looks)


# ---------------------------------------------------------------------- the figures


def time_against_parameter(result: ExperimentResult, looks: dict[str, Look]) -> Figure:
    """Median time against the swept parameter with a band to the 95th percentile; log–log where it spans a decade."""
    figure = Figure(figsize=(WIDTH, 2.9), layout="constrained")
    axes = figure.add_subplot()
    places, logarithmic = _places(axes, result, result.points)
    handles: list[tuple[float, Line2D, str]] = []
    drawn: list[float] = []
    hollow = False
    for label, look in looks.items():
        rows = [(place, run) for place, run in zip(places, _runs(result.points, label), strict=True) if run and run.median]
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
    _time_axis(axes, drawn, logarithmic)
    axes.set_ylabel("time per frame (ms)")
    handles.sort(key=lambda entry: -entry[0])
    _legend(figure, [line for _, line, _ in handles], [words for _, _, words in handles])
    explained = ["Lines: median over the frames. Bands: up to the 95th percentile."]
    explained += ["Hollow: stopped before the last frame."] if hollow else []
    _note(figure, [*explained, *_unfinished(result, result.points)])
    return figure


def time_per_frame(result: ExperimentResult, points: Sequence[Point], looks: dict[str, Look], with_update: bool = False) -> Figure:
    """Time of each frame, one line for each method; the contacts of each frame in a thin panel below. Two panels for each point."""
    figure = Figure(figsize=(WIDTH, 0.8 + 2.4 * len(points)), layout="constrained")
    panels = figure.subplots(2 * len(points), 1, squeeze=False, gridspec_kw={"height_ratios": (3.0, 1.0) * len(points)})[:, 0]
    handles: dict[str, Line2D] = {}
    for point, axes, below in zip(points, panels[::2], panels[1::2], strict=True):
        below.sharex(axes)
        timed = [run for run in point.runs if run.frame_seconds]
        for k, run in enumerate(timed):
            look, frames = looks[run.method], np.arange(len(run.frame_seconds))
            # The first method lies on top.
            style = {"color": look.colour, "markersize": 2.5, "linewidth": 1.0, "zorder": 3.0 - 0.01 * k}
            marker = look.marker if len(frames) <= 30 else ""
            (handles[run.method],) = axes.plot(
                frames, 1e3 * np.array(run.frame_seconds), linestyle=look.dash, marker=marker, **style
            )
            if with_update and len(run.update_seconds) == len(frames):
                axes.plot(frames, 1e3 * np.array(run.update_seconds), linestyle=":", **style)
        medians = [run.median or 0.0 for run in timed]
        values = [value for line in axes.get_lines() for value in np.asarray(line.get_ydata())]
        _time_axis(axes, values, max(medians) > DECADE * min(medians))
        axes.set_ylabel("time (ms)")
        axes.tick_params(axis="x", length=0.0, labelbottom=False)
        _contacts_per_frame(below, timed, looks)
        _panel_title(axes, result, point, points)
    panels[-1].set_xlabel("frame")
    _legend(figure, list(handles.values()), list(handles))
    dotted = ["Dotted: the part that sets poses and vertices."] if with_update else []
    _note(figure, [_scene_words(result, points), *dotted, *_unfinished(result, points)])
    return figure


def _contacts_per_frame(axes: Any, runs: Sequence[MethodRun], looks: dict[str, Look]) -> None:
    """One grey line where all methods found the same number in all frames, else one for each."""
    faces = any(run.compared == "faces" or any(run.contacts) for run in runs)
    found = {run.method: run.contacts if faces else run.pairs for run in runs}
    longest = max(found.values(), key=len)
    agree = all(numbers == longest[: len(numbers)] for numbers in found.values())
    for method, numbers in [("", longest)] if agree else reversed(found.items()):
        colour, dash = (GREY, "-") if agree else (looks[method].colour, looks[method].dash)
        axes.plot(np.arange(len(numbers)), numbers, color=colour, linestyle=dash, linewidth=1.0)
    axes.set_ylim(0.0, 1.1 * max(1, *(max(numbers, default=0) for numbers in found.values())))
    axes.yaxis.set_major_locator(MaxNLocator(3, integer=True))
    axes.yaxis.set_major_formatter(FuncFormatter(_number))
    axes.xaxis.set_major_locator(MaxNLocator(6, integer=True))
    axes.set_ylabel("contacts" if faces else "body pairs")


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
        _rows(axes, [_broken(run.method) + ("" if run.status == "ok" else f"\n{run.status}") for run in point.runs])
        _panel_title(axes, result, point, points)
    for axes in panels:
        _time_axis(axes, values, max(values) > DECADE * min(values), "x")
    panels[-1].set_xlabel("time per frame (ms)")
    shapes: list[tuple[str, dict[str, Any]]] = [
        ("median", {"marker": "o"}),
        ("95th percentile", {"marker": "|", "markersize": 8.0, "markeredgewidth": 1.4}),
        ("maximum", {"marker": "o", "markerfacecolor": "white"}),
    ]
    handles = [Line2D([], [], color=GREY, linestyle="", **shape) for _, shape in shapes]
    _legend(figure, handles, [words for words, _ in shapes], columns=3)
    _note(figure, [_scene_words(result, points), *_unfinished(result, points)])
    return figure


def counters(result: ExperimentResult, points: Sequence[Point], looks: dict[str, Look]) -> Figure:
    """What each method counted, the mean over the frames; a panel for each point, a row for each counter."""
    names = _counter_names(points)
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
        _rows(axes, [name.replace("_", " ") for name in names])
        _panel_title(axes, result, point, points)
    _count_axis(list(panels), "x")
    panels[-1].set_xlabel("per frame")
    _legend(figure, list(handles.values()), list(handles))
    _note(figure, [_scene_words(result, points), *_unfinished(result, points)])
    return figure


def counters_against_parameter(result: ExperimentResult, points: Sequence[Point], looks: dict[str, Look]) -> Figure:
    """What each method counted per frame against the swept parameter; a panel for each counter."""
    names = _counter_names(points)
    figure = Figure(figsize=(WIDTH, 1.1 + 1.15 * len(names)), layout="constrained")
    panels = figure.subplots(len(names), 1, sharex=True, squeeze=False)[:, 0]
    handles: dict[str, Line2D] = {}
    for axes, name in zip(panels, names, strict=True):
        places, _ = _places(axes, result, points)
        for k, (label, look) in enumerate(looks.items()):
            rows = [(p, run) for p, run in zip(places, _runs(points, label), strict=True) if run and run.counters]
            values = [run.total(name) / len(run.counters) for _, run in rows]
            if rows:
                # The first method on top, those below it larger: methods that counted the same are all seen.
                style: dict[str, Any] = {"markersize": 4.0 + 1.5 * min(k, 3), "zorder": 3.0 - 0.01 * k}
                style |= {"color": look.colour, "marker": look.marker, "linestyle": look.dash}
                (handles[label],) = axes.plot([place for place, _ in rows], values, **style)
        _count_axis([axes], "y")
        axes.set_ylabel(name.replace("_", " "))
        axes.label_outer()
    _legend(figure, list(handles.values()), list(handles))
    _note(figure, ["Mean over the frames.", *_unfinished(result, points)])
    return figure


# ---------------------------------------------------------------------- axes and words


def _runs(points: Sequence[Point], label: str) -> list[MethodRun | None]:
    return [point.run_of(label) for point in points]


def _places(axes: Any, result: ExperimentResult, points: Sequence[Point]) -> tuple[list[float], bool]:
    """Prepare the axis of the swept parameter; return where its values stand, and whether it is logarithmic."""
    values = [point.value for point in points]
    numbers = [float(v) for v in values if isinstance(v, int | float) and not isinstance(v, bool) and math.isfinite(v)]
    axes.set_xlabel(_plain(textwrap.fill(result.parameter or "", 44)))
    axes.xaxis.set_minor_locator(NullLocator())
    if len(numbers) < len(values):  # words: one place for each, in order
        places = [float(k) for k in range(len(values))]
        axes.xaxis.set_major_locator(FixedLocator(places))
        axes.xaxis.set_major_formatter(
            FuncFormatter(lambda x, _: _plain(textwrap.fill(textwrap.shorten(str(values[round(x)]), 30, placeholder=" …"), 12)))
        )
        axes.set_xlim(-0.3, len(values) - 0.7)
        return places, False
    low, high = min(numbers), max(numbers)
    logarithmic = low > 0.0 and ("log-log" in result.draw or high >= DECADE * low) and high > low
    if logarithmic:
        axes.set_xscale("log")
    position = np.log(numbers) if logarithmic else np.array(numbers)
    ticks: list[float] = []
    taken = -math.inf
    for number, place in sorted(zip(numbers, position.tolist(), strict=True)):
        # Labels a tenth of the axis apart do not run into each other at this size.
        if place - taken >= 0.11 * float(np.ptp(position)) or not ticks:
            ticks.append(number)
            taken = place
    axes.xaxis.set_major_locator(FixedLocator(ticks))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_formatter(FuncFormatter(_number))
    return numbers, logarithmic


def _time_axis(axes: Any, values: Sequence[float], logarithmic: bool, which: str = "y") -> None:
    axis = axes.yaxis if which == "y" else axes.xaxis
    positive = [value for value in values if value > 0.0]
    if logarithmic and positive:
        (axes.set_yscale if which == "y" else axes.set_xscale)("log")
        few = max(positive) < 30.0 * min(positive)
        axis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0) if few else (1.0,), numticks=12))
        axis.set_minor_formatter(NullFormatter())
    else:
        (axes.set_ylim if which == "y" else axes.set_xlim)(0.0, 1.08 * max(values, default=1.0) or 1.0)
    axis.set_major_formatter(FuncFormatter(_number))


def _count_axis(panels: Sequence[Any], which: str) -> None:
    """Powers of ten, the same for all panels, with room for 0 where some count is 0; only a few of them labelled."""
    drawn = [np.asarray(line.get_xdata() if which == "x" else line.get_ydata()) for axes in panels for line in axes.get_lines()]
    values = np.concatenate(drawn) if drawn else np.ones(1)
    zeros = bool((values == 0.0).any())
    first = 0 if zeros else math.floor(math.log10(values.min()))
    last = max(first + 1, math.ceil(math.log10(max(float(values.max()), 1.0)) - 1e-9))
    powers = [10.0**k for k in range(first, last + 1, 1 + (last - first) // (7 if which == "x" else 4))]
    # Above each other, the labels of 0 and 1 would run into each other.
    ticks = [0.0, *(power for power in powers if power > 1.0 or which == "x")] if zeros else powers
    for axes in panels:
        axis = axes.xaxis if which == "x" else axes.yaxis
        scale = {"value": "symlog", "linthresh": 1.0, "linscale": 0.5} if zeros else {"value": "log"}
        (axes.set_xscale if which == "x" else axes.set_yscale)(**scale)
        axis.set_major_locator(FixedLocator(ticks))
        axis.set_minor_locator(NullLocator())
        axis.set_major_formatter(FuncFormatter(_power))
        (axes.set_xlim if which == "x" else axes.set_ylim)(-0.3 if zeros else 0.8 * 10.0**first, 1.3 * 10.0**last)


def _panel_title(axes: Any, result: ExperimentResult, point: Point, points: Sequence[Point]) -> None:
    """Over the panels of a point, which one it is, where there are several."""
    if len(points) > 1:
        words = textwrap.shorten(f"{result.parameter or 'point'}: {_value_words(point)}", 60, placeholder=" …")
        axes.set_title(_plain(words), loc="left", fontsize=7.5, pad=3.0)


def _rows(axes: Any, labels: Sequence[str]) -> None:
    axes.set_yticks(range(len(labels)), [_plain(label) for label in labels])
    axes.set_ylim(len(labels) - 0.4, -0.6)
    axes.grid(visible=False, axis="y")
    axes.tick_params(axis="y", length=0.0)


def _legend(figure: Figure, handles: Sequence[Line2D], labels: Sequence[str], columns: int = 0) -> None:
    """Above the axes, so that it hides nothing; two beside each other where they are short."""
    fits = columns or (2 if max(map(len, labels), default=0) <= 24 else 1)
    words = [_plain(label if len(label) <= 48 else label[:46] + " …") for label in labels]
    figure.legend(list(handles), words, loc="outside upper left", ncols=fits, columnspacing=1.2)


def _note(figure: Figure, sentences: Sequence[str]) -> None:
    words = textwrap.fill(" ".join(sentence for sentence in sentences if sentence), 74)
    figure.supxlabel(_plain(words), x=0.01, ha="left", fontsize=6.5, color=GREY, linespacing=1.25)


def _unfinished(result: ExperimentResult, points: Sequence[Point]) -> list[str]:
    """A sentence for each method that did not go through all frames, with where and why."""
    found: dict[tuple[str, str, str], list[str]] = {}
    for point in points:
        for run in point.runs:
            if run.status != "ok":
                found.setdefault((run.method, run.status, run.why), []).append(_value_words(point))
    several = result.parameter is not None and len(points) > 1
    sentences = []
    for (method, status, why), places in found.items():
        everywhere = "every value" if len(places) == len(points) else ", ".join(places)
        reason = textwrap.shorten(why, 120, placeholder=" …")
        sentences.append(f"{method}: {status}{f' at {everywhere}' if several else ''}{f': {reason}' if reason else '.'}")
    return sentences


def _scene_words(result: ExperimentResult, points: Sequence[Point]) -> str:
    """How large the scenes are."""
    sentences = []
    for point in points:
        size = f"{point.bodies:,} bodies, {point.faces:,} faces, {point.frames:,} frames."
        sentences.append(size if result.parameter is None else f"{result.parameter} {_value_words(point)}: {size}")
    return " ".join(sentences)


def _value_words(point: Point) -> str:
    return _number(point.value) if isinstance(point.value, int | float) else str(point.value)


def _counter_names(points: Sequence[Point]) -> list[str]:
    """The counters that any method used, in their own order."""
    names = dict.fromkeys(name for point in points for run in point.runs for work in run.counters for name in work)
    return [name for name in names if any(run.total(name) for point in points for run in point.runs)]


def _number(value: float, _position: Any = None) -> str:
    return f"{value:,.10g}"


def _power(value: float, _position: Any = None) -> str:
    return f"{value:g}" if value < 100.0 else "10" + str(round(math.log10(value))).translate(_RAISED)


def _broken(label: str) -> str:
    """Break a label with settings before its bracket, so that it does not take half of the figure."""
    return label if len(label) <= 18 else textwrap.fill(label.replace("(", " (", 1), 20, break_on_hyphens=False, max_lines=3)


def _plain(text: str) -> str:
    """Keep matplotlib from leaving out labels that begin with an underscore."""
    return showable(f" {text}" if text.startswith("_") else text)
