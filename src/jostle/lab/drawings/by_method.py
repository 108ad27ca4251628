"""A drawing with the methods side by side, to compare settings of a method."""

from __future__ import annotations

from collections import Counter
from statistics import fmean

import numpy as np
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import NullLocator

from jostle.lab.appearance import LINE_STYLES, LineStyle
from jostle.lab.drawings.axes import add_dash_legend, add_note, new_figure, plain, span_a_decade, time_axis, unfinished
from jostle.lab.results import ExperimentResult


def slowest_frame(result: ExperimentResult, _styles: dict[str, LineStyle]) -> Figure:
    """Draw mean (dotted) and slowest frame (solid) by method, a line per value."""
    figure, axes = new_figure(3.6)
    labels, styles = result.methods, list(LINE_STYLES.values())
    # Settings of one method are joined by lines; other methods have markers only.
    common = Counter(_name(label) for label in labels).most_common(1)[0][0]
    drawn: list[float] = []
    handles: dict[str, Line2D] = {}
    for k, point in enumerate(result.points):
        style = styles[k % len(styles)]
        runs = [point.run_of(label) for label in labels]
        for dash in ("-", ":"):
            heights = np.full(len(labels), np.nan)
            for place, run in enumerate(runs):
                if run is not None and run.served:
                    heights[place] = 1e3 * (max(run.frame_seconds) if dash == "-" else fmean(run.frame_seconds))
            drawn += heights[np.isfinite(heights)].tolist()
            joined = np.array([_name(label) == common for label in labels])
            options = style.options | {"markersize": 3.0, "linewidth": 1.0, "linestyle": dash}
            (line,) = axes.plot(np.flatnonzero(joined), heights[joined], **options)
            axes.plot(np.flatnonzero(~joined), heights[~joined], **options | {"linestyle": ""})
            if dash == "-":
                handles[point.label] = line
    time_axis(axes, drawn, span_a_decade(drawn))
    axes.set_xticks(range(len(labels)), [plain(_setting(label)) for label in labels], rotation=90.0, fontsize=6.0)
    axes.xaxis.set_minor_locator(NullLocator())
    axes.set_ylabel("time per frame (ms)")
    add_dash_legend(figure, handles, "slowest frame", "mean of all frames")
    add_note(figure, unfinished(result, result.points))
    return figure


def _name(label: str) -> str:
    return label.partition("(")[0]


def _setting(label: str) -> str:
    """Return the settings of a label, or its name if it has none."""
    return label.partition("(")[2].removesuffix(")") or label
