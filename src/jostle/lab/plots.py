"""The figures of an experiment: plots as SVG and PNG, pictures of its scene.

Figures are 8.9 cm wide with type of 6.5 to 8 points; times are in milliseconds. A method has the same colour, marker and dash
in every figure (`appearance.py`), and one without a time is named with its status. Equal results give byte-equal files:
matplotlib's defaults instead of the user's settings, a fixed salt for ids, no dates, and no pyplot with its global figures.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import matplotlib as mpl
from matplotlib.figure import Figure

from jostle.atomic_file import atomic_write
from jostle.lab.appearance import PLOTS, LineStyle, styles_of
from jostle.lab.drawings.against_parameter import averages, counters_against_parameter, last_frame, time_against_parameter
from jostle.lab.drawings.axes import GREY, counter_names
from jostle.lab.drawings.by_method import slowest_frame
from jostle.lab.drawings.in_rows import counters, times
from jostle.lab.drawings.mean_and_deviation import mean_and_deviation
from jostle.lab.drawings.per_frame import frames_together, time_per_frame
from jostle.lab.drawings.update_rate import time_per_look_up, update_rate
from jostle.lab.pictures import draw_scene
from jostle.lab.results import ExperimentResult
from jostle.motion.record import Motion

DOTS_PER_INCH = 300
MOST_PANELS = 3
PALE = "#dfe2e6"
AGAINST_PARAMETER: dict[str, Callable[[ExperimentResult, dict[str, LineStyle]], Figure]] = {
    "update rate": update_rate,
    "time per look-up": time_per_look_up,
    "time against parameter": time_against_parameter,
    "last frame": last_frame,
    "slowest frame": slowest_frame,
    "mean and deviation": mean_and_deviation,
    "averages": averages,
    "frames together": frames_together,
}  # need several values

_SETTINGS: dict[Any, Any] = {
    "svg.hashsalt": "jostle", "svg.fonttype": "path", "text.parse_math": False, "font.family": "DejaVu Sans",
    "font.size": 8.0, "axes.labelsize": 8.0, "xtick.labelsize": 7.0, "ytick.labelsize": 7.0, "legend.fontsize": 7.0,
    "axes.linewidth": 0.6, "axes.edgecolor": GREY, "axes.spines.top": False, "axes.spines.right": False, "axes.grid": True,
    "grid.color": PALE, "grid.linewidth": 0.5, "axes.axisbelow": True, "lines.linewidth": 1.3, "lines.markersize": 4.0,
    "xtick.color": GREY, "ytick.color": GREY, "xtick.labelcolor": "black", "ytick.labelcolor": "black",
    "xtick.major.width": 0.6, "ytick.major.width": 0.6, "legend.frameon": False, "legend.handlelength": 2.4,
    "legend.labelspacing": 0.25, "legend.borderaxespad": 0.5, "legend.borderpad": 0.2,
}  # fmt: skip


def draw_experiment(result: ExperimentResult, folder: Path, motion: Motion | None = None) -> list[Path]:
    """Draw an experiment's figures, and the scene of a motion; return the files.

    Parameters
    ----------
    result : ExperimentResult
        `result.draw` names the figures; none means all that make sense.
    folder : Path
        Of this experiment, such as DIR/spheres. Figures of an earlier run are removed.
    motion : Motion, optional
        Its first and last frame are drawn, touching faces in red; without it, earlier pictures stay.
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
                with atomic_write(path) as temporary:
                    figure.savefig(temporary, format=ending, dpi=DOTS_PER_INCH, metadata=extra)
                written.append(path)
    return written + ([] if motion is None else draw_scene(motion, folder))


@contextmanager
def _own_settings() -> Iterator[None]:
    with mpl.rc_context(), warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # a character that the font lacks becomes a box
        mpl.rcdefaults()
        mpl.rcParams.update(_SETTINGS)
        yield


def _figures(whole: ExperimentResult) -> Iterator[tuple[str, Figure]]:
    drawn = [replace(point, runs=[run for run in point.runs if run.method not in whole.aside]) for point in whole.points]
    result = replace(whole, points=drawn)
    styles = styles_of(result.methods)
    measured = [point for point in result.points if any(run.frame_seconds for run in point.runs)]
    if not measured:
        return
    wanted = set(result.draw) or {"time against parameter", "time per frame"}
    against = result.parameter is not None and len(measured) > 1 and bool(wanted & {"log-log", *AGAINST_PARAMETER})
    # A few points not drawn against a parameter get a panel each; of a sweep only the last, largest point is shown.
    shown = measured[-1:] if against or len(measured) > MOST_PANELS else measured
    shown = [point for point in measured if point.value in result.panels] or shown
    if against:
        if "log-log" in wanted and not wanted & {"last frame", "update rate"}:
            wanted.add("time against parameter")
        for drawing, draw in AGAINST_PARAMETER.items():
            if drawing in wanted:
                yield drawing.replace(" ", "_").replace("-", "_"), draw(result, styles)
    if "time per frame" in wanted and max(len(run.frame_seconds) for point in shown for run in point.runs) > 1:
        yield "time_per_frame", time_per_frame(result, shown, styles, "update time" in wanted)
    if not against:
        yield "times", times(result, shown, styles)
    if counter_names(measured if against else shown):
        yield "counters", counters_against_parameter(result, measured, styles) if against else counters(result, shown, styles)
