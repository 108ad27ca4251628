"""Charts of recall and of the distribution of frame times for each budget.

They are drawn from `result.json` in the folder of a run. Only this module imports matplotlib.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

from jostle.atomic_file import atomic_write
from jostle.lab.appearance import LINE_STYLES
from jostle.lab.drawings.axes import GREY, WIDTH, format_number
from jostle.lab.files import RESULT, read_result
from jostle.lab.papers.monte_carlo.budgets import BUDGETS, WITH_MORE
from jostle.lab.papers.monte_carlo.contenders import in_brackets
from jostle.lab.papers.monte_carlo.encounters import pair_of
from jostle.lab.results import MethodRun, Point

DOTS_PER_INCH = 200
LEAST = 1e-4  # shares below this are on the linear part of the axis
DASHES: dict[bool, Any] = {False: "-", True: (0, (3, 1.5))}  # by whether bodies deform
CLOCKS: dict[str, Any] = {"cpu": "-", "wall": ":"}
FASTEST = 0.1  # milliseconds: no call takes less
STYLES = list(LINE_STYLES.values())
TYPE: dict[Any, Any] = {
    "font.size": 7.0,
    "legend.fontsize": 6.5,
    "legend.frameon": False,
    "lines.linewidth": 1.0,
    "axes.linewidth": 0.6,
    "axes.grid": True,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "grid.linewidth": 0.4,
    "grid.color": "#dddddd",
}


def chart_of_recall(folder: Path, bars: dict[str, float]) -> Path:
    """Draw the share of touching faces in missed regions against the budget."""
    result = read_result(folder / RESULT)
    pairs = list(dict.fromkeys(pair_of(point.value)[0] for point in result.points))
    with mpl.rc_context(TYPE):
        figure = Figure(figsize=(WIDTH, 3.0), layout="constrained")
        axes = figure.add_subplot()
        for point in result.points:
            pair, deforms = pair_of(point.value)
            missed = _missed(point)
            options = STYLES[pairs.index(pair)].options | {"markersize": 3.0, "linestyle": DASHES[deforms], "clip_on": False}
            axes.plot(list(missed), list(missed.values()), label=str(point.value), **options)
        for words, bar in bars.items():
            axes.axhline(1.0 - bar, color=GREY, linewidth=0.8, linestyle=":")
            axes.annotate(words, (1.0, 1.0 - bar), (-1, 1.5), ("axes fraction", "data"), "offset points", ha="right", color=GREY)
        # Many budgets miss nothing, so the axis includes 0.
        axes.set_yscale("symlog", linthresh=LEAST, linscale=0.4)
        axes.set(xscale="log", ylim=(0.0, 1.0), xlabel="budget of a frame (ms)", ylabel="touching faces in missed regions")
        axes.set_yticks([0.0, 1e-4, 1e-3, 1e-2, 1e-1, 1.0], ["none", "0.01 %", "0.1 %", "1 %", "10 %", "all"])
        axes.set_xticks([1e3 * budget for budget in WITH_MORE.values()], [f"{1e3 * budget:g}" for budget in WITH_MORE.values()])
        axes.xaxis.set_minor_locator(NullLocator())
        figure.legend(loc="outside upper left", ncols=2)
        return _saved(figure, folder / "picture_1_recall.png")


def _missed(point: Point) -> dict[float, float]:
    """Return the share of touching faces in missed regions, by budget in milliseconds."""
    runs = {1e3 * budget: point.run_of(label) for label, budget in WITH_MORE.items()}
    return {
        budget: 1.0 - run.total("faces_reported") / run.total("touching_faces") if run.total("touching_faces") else 0.0
        for budget, run in runs.items()
        if run is not None and run.counters
    }


def chart_of_frame_times(folder: Path, over: float) -> Path:
    """Draw the share of frames that take longer than a time, for each budget and pair."""
    result = read_result(folder / RESULT)
    with mpl.rc_context(TYPE):
        figure = Figure(figsize=(WIDTH, 0.9 + 1.4 * len(result.points)), layout="constrained")
        panels = figure.subplots(len(result.points), 1, sharex=True, sharey=True, squeeze=False)[:, 0]
        for axes, point in zip(panels, result.points, strict=True):
            for number, (label, budget) in enumerate(BUDGETS.items()):
                for clock, dash in CLOCKS.items():
                    times = _times(point.run_of(label), clock)
                    share = 1.0 - np.arange(1, len(times) + 1) / max(1, len(times))
                    style = {"color": STYLES[number].colour, "linestyle": dash, "linewidth": 1.1 if clock == "cpu" else 0.7}
                    # No frame is slower than the slowest, but a share of 0 has no place on this axis.
                    axes.step(times, np.maximum(share, 0.5 / max(1, len(times))), where="post", **style)
                axes.axvspan(1e3 * budget, 1e3 * (budget + over), color=STYLES[number].colour, alpha=0.18, linewidth=0.0)
            axes.axhline(1e-3, color=GREY, linewidth=0.6, linestyle=(0, (1, 2)))
            axes.set(xscale="log", yscale="log", xlim=(FASTEST, None), ylim=(None, 1.0))
            axes.set_title(f"{point.value}, {point.frames:,} frames", loc="left", fontsize=7.0)
        panels[-1].xaxis.set_major_locator(FixedLocator([0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0]))
        panels[-1].xaxis.set_minor_locator(NullLocator())
        panels[-1].xaxis.set_major_formatter(FuncFormatter(format_number))
        panels[-1].set_xlabel(f"time of a call (ms); shaded: from the budget to {1e3 * over:g} ms more")
        figure.supylabel("share of the frames that take longer", fontsize=7.0)
        handles = [Line2D([], [], color=STYLES[number].colour) for number in range(len(BUDGETS))]
        handles += [Line2D([], [], color=GREY, linestyle=dash) for dash in CLOCKS.values()]
        words = [in_brackets(label) for label in BUDGETS] + ["CPU time", "wall time"]
        figure.legend(handles, words, loc="outside upper left", ncols=6, columnspacing=0.8, handlelength=1.2)
        return _saved(figure, folder / "picture_1_frame_times.png")


def _times(run: MethodRun | None, clock: str) -> Any:
    """Return the sorted milliseconds of all frames by a clock."""
    name = f"{clock}_microseconds"
    return np.sort([1e-3 * work[name] for work in run.counters if name in work]) if run is not None else np.empty(0)


def _saved(figure: Figure, path: Path) -> Path:
    with atomic_write(path) as temporary:
        figure.savefig(temporary, format="png", dpi=DOTS_PER_INCH, metadata={"Software": None})
    return path
