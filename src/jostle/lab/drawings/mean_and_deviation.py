"""Mean and standard deviation of the time per frame against the swept parameter, above each other, as some papers chart them."""

from __future__ import annotations

from statistics import fmean
from typing import Any

from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from jostle.lab.appearance import Look, looks_of
from jostle.lab.drawings.axes import DECADE, GREY, WIDTH, add_legend, add_note, parameter_axis, runs_of, time_axis, unfinished
from jostle.lab.results import ExperimentResult

SMALLEST = 1e-6  # ms: a deviation of nothing has a place on a logarithmic axis, too


def mean_and_deviation(result: ExperimentResult, looks: dict[str, Look]) -> Figure:
    """Two panels: the mean over the frames, with what the paper prints in grey, and the standard deviation."""
    figure = Figure(figsize=(WIDTH, 4.8), layout="constrained")
    panels = figure.subplots(2, 1, sharex=True)
    handles: dict[str, Line2D] = {}
    drawn: list[list[float]] = [[], []]
    for number, axes in enumerate(panels):
        places, logarithmic = parameter_axis(axes, result, result.points)
        for label, look in looks.items():
            rows = [(place, run) for place, run in zip(places, runs_of(result.points, label), strict=True) if run and run.served]
            if not rows:
                continue
            times = [1e3 * (run.deviation or 0.0) if number else 1e3 * fmean(run.frame_seconds) for _, run in rows]
            heights = [max(time, SMALLEST) for time in times]
            drawn[number] += heights
            style: dict[str, Any] = {"color": look.colour, "marker": look.marker, "linestyle": look.dash, "markersize": 3.0}
            (handles[label],) = axes.plot([place for place, _ in rows], heights, linewidth=1.0, **style)
        for label, pairs in result.printed.items() if number == 0 else ():
            printed = [(value, time) for value, time in pairs if value in places]
            if printed:
                drawn[number] += [time for _, time in printed]
                marker = next(iter(looks_of([label]).values())).marker
                style = {"color": GREY, "marker": marker, "markerfacecolor": "white", "linestyle": ":", "markersize": 3.0}
                (handles[f"{label}, printed"],) = axes.plot(*zip(*printed, strict=True), linewidth=0.8, **style)
        spread = max(drawn[number], default=1.0) > DECADE * min(drawn[number], default=1.0)
        time_axis(axes, drawn[number], logarithmic or spread)
        axes.set_ylabel("deviation (ms)" if number else "mean (ms)")
        axes.label_outer()
    add_legend(figure, list(handles.values()), list(handles), columns=2)
    add_note(figure, ["Mean and standard deviation of the time per frame, over the frames.", *unfinished(result, result.points)])
    return figure
