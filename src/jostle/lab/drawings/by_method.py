"""A drawing with the methods side by side: where settings are compared, and the swept parameter is what they are compared for."""

from __future__ import annotations

from collections import Counter
from statistics import fmean

import numpy as np
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import NullLocator

from jostle.lab.appearance import LOOKS
from jostle.lab.drawings.axes import DECADE, GREY, WIDTH, add_legend, add_note, plain, runs_of, time_axis, unfinished, value_words
from jostle.lab.results import ExperimentResult


def slowest_frame(result: ExperimentResult) -> Figure:
    """Mean time over all frames (dotted) and time of the slowest frame (solid) of each method; a line for each value."""
    figure = Figure(figsize=(WIDTH, 3.6), layout="constrained")
    axes = figure.add_subplot()
    labels, looks = result.methods, list(LOOKS.values())
    # Settings of one method are joined; another method beside them has a marker alone.
    common = Counter(_name(label) for label in labels).most_common(1)[0][0]
    drawn: list[float] = []
    handles: dict[str, Line2D] = {}
    for k, point in enumerate(result.points):
        look = looks[k % len(looks)]
        runs = [next(iter(runs_of([point], label)), None) for label in labels]
        for dash in ("-", ":"):
            heights = np.full(len(labels), np.nan)
            for place, run in enumerate(runs):
                if run is not None and run.served:
                    heights[place] = 1e3 * (max(run.frame_seconds) if dash == "-" else fmean(run.frame_seconds))
            drawn += heights[np.isfinite(heights)].tolist()
            joined = np.array([_name(label) == common for label in labels])
            style = {"color": look.colour, "marker": look.marker, "markersize": 3.0, "linewidth": 1.0}
            (line,) = axes.plot(np.flatnonzero(joined), heights[joined], linestyle=dash, **style)  # type: ignore[arg-type]
            axes.plot(np.flatnonzero(~joined), heights[~joined], linestyle="", **style)  # type: ignore[arg-type]
            if dash == "-":
                handles[value_words(point)] = line
    time_axis(axes, drawn, max(drawn, default=1.0) > DECADE * min(drawn, default=1.0))
    axes.set_xticks(range(len(labels)), [plain(_setting(label)) for label in labels], rotation=90.0, fontsize=6.0)
    axes.xaxis.set_minor_locator(NullLocator())
    axes.set_ylabel("time per frame (ms)")
    shapes = [Line2D([], [], color=GREY, linestyle=dash) for dash in ("-", ":")]
    add_legend(figure, [*handles.values(), *shapes], [*handles, "slowest frame", "mean of all frames"])
    add_note(figure, unfinished(result, result.points))
    return figure


def _name(label: str) -> str:
    return label.partition("(")[0]


def _setting(label: str) -> str:
    """What stands in the brackets of a label; the name where nothing does."""
    inside = label.partition("(")[2].removesuffix(")")
    return inside or label
