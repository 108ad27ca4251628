"""Axes, legends, notes and number formats that all drawings share.

A method that did not finish all frames is named with its status, never omitted silently.
"""

from __future__ import annotations

import math
import textwrap
from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FixedLocator, FuncFormatter, LogLocator, NullFormatter, NullLocator

from jostle.lab.appearance import showable, styles_of
from jostle.lab.experiment import slope
from jostle.lab.results import ExperimentResult, MethodRun, Point, number_words, unserved

WIDTH = 3.5  # inches, one column
DECADE = 10.0
GREY = "#55595f"
PRINTED: dict[str, Any] = {"color": GREY, "markerfacecolor": "white", "linewidth": 0.8}  # values that a paper prints
_RAISED = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")


def new_figure(height: float) -> tuple[Figure, Any]:
    """Return a figure of one column and its axes."""
    figure = Figure(figsize=(WIDTH, height), layout="constrained")
    return figure, figure.add_subplot()


def served_at(places: Sequence[float], points: Sequence[Point], label: str) -> list[tuple[float, MethodRun]]:
    """Return place and run of each point whose frames a method finished."""
    runs = [(place, point.run_of(label)) for place, point in zip(places, points, strict=True)]
    return [(place, run) for place, run in runs if run is not None and run.served]


def span_a_decade(values: Sequence[float]) -> bool:
    """Return whether the largest value exceeds ten times the smallest."""
    return max(values, default=1.0) > DECADE * min(values, default=1.0)


def draw_printed(axes: Any, label: str, pairs: Sequence[Sequence[float]], places: Sequence[float]) -> dict[str, Line2D]:
    """Draw a paper's values in grey; return the line by its label, if any."""
    printed = [(value, time) for value, time in pairs if value in places]
    if not printed:
        return {}
    marker = styles_of([label])[label].marker
    (line,) = axes.plot(*zip(*printed, strict=True), **PRINTED | {"marker": marker, "linestyle": ":"})
    return {f"{label}, printed": line}


def with_slope(label: str, x: Sequence[float], y: Sequence[float], logarithmic: bool) -> str:
    """Return a label with the slope of a line between logarithmic axes."""
    exponent = slope(x, y) if logarithmic else math.nan
    return label if math.isnan(exponent) else f"{label}, slope {exponent:.2f}".replace("-", "−")


def parameter_axis(axes: Any, result: ExperimentResult, points: Sequence[Point]) -> tuple[list[float], bool]:
    """Prepare the parameter's axis; return its places and whether it is logarithmic."""
    values = [point.value for point in points]
    numbers = [float(v) for v in values if isinstance(v, int | float) and not isinstance(v, bool) and math.isfinite(v)]
    axes.set_xlabel(plain(textwrap.fill(result.parameter or "", 44)))
    axes.xaxis.set_minor_locator(NullLocator())
    if len(numbers) < len(values):  # text: one place each, in order
        places = [float(k) for k in range(len(values))]
        axes.xaxis.set_major_locator(FixedLocator(places))
        axes.xaxis.set_major_formatter(
            FuncFormatter(lambda x, _: plain(textwrap.fill(textwrap.shorten(str(values[round(x)]), 30, placeholder=" …"), 12)))
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
        # Labels a tenth of the axis apart do not collide at this size.
        if place - taken >= 0.11 * float(np.ptp(position)) or not ticks:
            ticks.append(number)
            taken = place
    axes.xaxis.set_major_locator(FixedLocator(ticks))
    axes.xaxis.set_minor_locator(NullLocator())  # a logarithmic scale sets its own
    axes.xaxis.set_major_formatter(FuncFormatter(format_number))
    return numbers, logarithmic


def time_axis(axes: Any, values: Sequence[float], logarithmic: bool, which: str = "y") -> None:
    """Scale and label an axis of milliseconds; linear ones begin at 0."""
    axis = axes.yaxis if which == "y" else axes.xaxis
    positive = [value for value in values if value > 0.0]
    if logarithmic and positive:
        (axes.set_yscale if which == "y" else axes.set_xscale)("log")
        few = max(positive) < 30.0 * min(positive)
        axis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0) if few else (1.0,), numticks=12))
        axis.set_minor_formatter(NullFormatter())
    else:
        (axes.set_ylim if which == "y" else axes.set_xlim)(0.0, 1.08 * max(values, default=1.0) or 1.0)
    axis.set_major_formatter(FuncFormatter(format_number))


def count_axis(panels: Sequence[Any], which: str) -> None:
    """Give all panels the same powers of ten, with room for 0 where a count is 0."""
    drawn = [np.asarray(line.get_xdata() if which == "x" else line.get_ydata()) for axes in panels for line in axes.get_lines()]
    values = np.concatenate(drawn) if drawn else np.ones(1)
    zeros = bool((values == 0.0).any())
    first = 0 if zeros else math.floor(math.log10(values.min()))
    last = max(first + 1, math.ceil(math.log10(max(float(values.max()), 1.0)) - 1e-9))
    powers = [10.0**k for k in range(first, last + 1, 1 + (last - first) // (7 if which == "x" else 4))]
    # On a vertical axis the labels of 0 and 1 would collide.
    ticks = [0.0, *(power for power in powers if power > 1.0 or which == "x")] if zeros else powers
    for axes in panels:
        axis = axes.xaxis if which == "x" else axes.yaxis
        scale = {"value": "symlog", "linthresh": 1.0, "linscale": 0.5} if zeros else {"value": "log"}
        (axes.set_xscale if which == "x" else axes.set_yscale)(**scale)
        axis.set_major_locator(FixedLocator(ticks))
        axis.set_minor_locator(NullLocator())
        axis.set_major_formatter(FuncFormatter(power_words))
        (axes.set_xlim if which == "x" else axes.set_ylim)(-0.3 if zeros else 0.8 * 10.0**first, 1.3 * 10.0**last)


def panel_title(axes: Any, result: ExperimentResult, point: Point, points: Sequence[Point]) -> None:
    """Write the value of a point above its panel, if there are several."""
    if len(points) > 1:
        words = textwrap.shorten(f"{result.parameter or 'point'}: {point.label}", 60, placeholder=" …")
        axes.set_title(plain(words), loc="left", fontsize=7.5, pad=3.0)


def label_rows(axes: Any, labels: Sequence[str]) -> None:
    """Label the rows of a drawing, one per method or counter."""
    axes.set_yticks(range(len(labels)), [plain(label) for label in labels])
    axes.set_ylim(len(labels) - 0.4, -0.6)
    axes.grid(visible=False, axis="y")
    axes.tick_params(axis="y", length=0.0)


def add_legend(figure: Figure, handles: Sequence[Line2D], labels: Sequence[str], columns: int = 0) -> None:
    """Add a legend above the axes, in two columns if labels are short."""
    fits = columns or (2 if max(map(len, labels), default=0) <= 24 else 1)
    words = [plain(label if len(label) <= 48 else textwrap.fill(label, 48, max_lines=2, placeholder=" …")) for label in labels]
    figure.legend(list(handles), words, loc="outside upper left", ncols=fits, columnspacing=1.2)


def add_dash_legend(figure: Figure, handles: dict[str, Line2D], solid: str, dotted: str) -> None:
    """Add a legend that also explains solid and dotted lines."""
    shapes = [Line2D([], [], color=GREY, linestyle=dash) for dash in ("-", ":")]
    add_legend(figure, [*handles.values(), *shapes], [*handles, solid, dotted])


def add_note(figure: Figure, sentences: Sequence[str]) -> None:
    """Write sentences below the figure."""
    words = textwrap.fill(" ".join(sentence for sentence in sentences if sentence), 74)
    figure.supxlabel(plain(words), x=0.01, ha="left", fontsize=6.5, color=GREY, linespacing=1.25)


def unfinished(result: ExperimentResult, points: Sequence[Point]) -> list[str]:
    """Return a sentence for each method that did not finish all frames."""
    several = result.parameter is not None and len(points) > 1
    sentences = []
    for (method, status, why), places in unserved(points).items():
        everywhere = "every value" if len(places) == len(points) else ", ".join(places)
        reason = textwrap.shorten(why, 120, placeholder=" …")
        sentences.append(f"{method}: {status}{f' at {everywhere}' if several else ''}{f': {reason}' if reason else '.'}")
    return sentences


def scene_words(result: ExperimentResult, points: Sequence[Point]) -> str:
    """Return the sizes of the scenes."""
    sentences = []
    for point in points:
        size = f"{point.bodies:,} bodies, {point.faces:,} faces, {point.frames:,} frames."
        sentences.append(size if result.parameter is None else f"{result.parameter} {point.label}: {size}")
    return " ".join(sentences)


def counter_names(points: Sequence[Point]) -> list[str]:
    """Return the counters that any method used, in their own order."""
    names = dict.fromkeys(name for point in points for run in point.runs for work in run.counters for name in work)
    return [name for name in names if any(run.total(name) for point in points for run in point.runs)]


def format_number(value: float, _position: Any) -> str:
    """Format a number of an axis."""
    return number_words(value)


def power_words(value: float, _position: Any = None) -> str:
    """Format a count as a power of ten."""
    return f"{value:g}" if value < 100.0 else "10" + str(round(math.log10(value))).translate(_RAISED)


def broken(label: str) -> str:
    """Break a long label before its bracket."""
    return label if len(label) <= 18 else textwrap.fill(label.replace("(", " (", 1), 20, break_on_hyphens=False, max_lines=3)


def plain(text: str) -> str:
    """Return printable text without a leading underscore, which matplotlib hides."""
    return showable(f" {text}" if text.startswith("_") else text)
