"""Experiment: a scene, a swept parameter, methods, drawings, and a judge.

Each file in `experiments/` defines one, and so does each figure of a paper in `papers/`. A user's own scene or recorded motion
becomes one as well, with advice instead of claims.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from jostle.interface.method import Method
from jostle.lab.methods import NamedMethod, methods_of, with_settings
from jostle.lab.results import ExperimentResult, MethodRun, Verdict
from jostle.motion.record import Motion

DRAWINGS = (
    "time against parameter", "log-log", "time per frame", "update time", "last frame", "averages", "slowest frame",
    "frames together", "update rate", "time per look-up", "mean and deviation",
)  # fmt: skip
OWN_FRAMES, QUICK_FRAMES = 100, 20

Value = float | str | None


class Recordable(Protocol):
    """A scene or anything else that can be recorded."""

    def record(self, frames: int | None = None) -> Motion:
        """Return the motion over a number of frames."""
        ...


@dataclass(frozen=True, eq=False)
class Experiment:
    """One experiment.

    Parameters
    ----------
    name : str
        For the command line and the results folder.
    title, about : str
        A line and a paragraph.
    scene : callable (value, quick) -> Scene
    methods : sequence of str
        As `methods_of` reads them.
    settings : callable (value) -> mapping, optional
        The method settings of a value, if settings are swept instead of the scene; methods without them ignore it.
    frames, quick_frames : int
        Frames to record.
    parameter : str, optional
        The swept parameter, with its unit.
    values, quick_values : sequence
        Its values; a single None if nothing is swept.
    draw : sequence of str
        Some of `DRAWINGS`.
    judge : callable (result) -> list of Verdict, optional
        Quick and interrupted runs are never judged.
    paper, figure, caption : str
        Of a paper's figure: key in docs/references.bib, number such as "fig. 13", and description in our words.
    panels : sequence
        Values whose frames get a panel each; the last by default.
    printed : mapping from method to {value: milliseconds}
        What the paper prints for the last frame (in "update rate" for the mean of all), drawn beside ours.
    made : mapping from label to callable (value) -> NamedMethod
        Factories of the `methods` that `methods_of` cannot read; their settings may depend on the value.
    takes_part : callable (value, method) -> bool, optional
        Whether a method runs at a value; all do by default.
    aside : sequence of str
        Labels of methods that are measured for the judge alone: in tables, not in plots.
    rounds : int, optional
        Timed rounds of a full run, if the paper states them.
    limit, enough : float and int, optional
        Most seconds of a method for a value, and the frames it must finish by then (all by default).
    slowest : float, optional
        Seconds: a method whose mean frame takes longer skips later values.
    may_be_inside : bool
        Whether a body may be inside another; if not, the truth of solids is cheaper.
    pictures : callable (folder) -> list of Path, optional
        Draws additional pictures into the results folder, named `picture_*.png`.
    """

    name: str
    title: str
    about: str
    scene: Callable[[Value, bool], Recordable]
    methods: Sequence[str]
    frames: int
    quick_frames: int = QUICK_FRAMES
    parameter: str | None = None
    values: Sequence[Value] = (None,)
    quick_values: Sequence[Value] = (None,)
    draw: Sequence[str] = ("time per frame",)
    judge: Callable[[ExperimentResult], list[Verdict]] | None = None
    paper: str = ""
    figure: str = ""
    caption: str = ""
    panels: Sequence[Value] = ()
    settings: Callable[[Value], Mapping[str, Any]] | None = None
    printed: Mapping[str, Mapping[float, float]] = field(default_factory=dict)
    made: Mapping[str, Callable[[Value], NamedMethod]] = field(default_factory=dict)
    takes_part: Callable[[Value, Method], bool] | None = None
    aside: Sequence[str] = ()
    rounds: int | None = None
    limit: float | None = None
    enough: int | None = None
    slowest: float | None = None
    may_be_inside: bool = True
    pictures: Callable[[Path], list[Path]] | None = None

    def __post_init__(self) -> None:
        """Check the definition now, not after minutes of measuring."""
        for drawing in self.draw:
            if drawing not in DRAWINGS:
                raise ValueError(f"experiment {self.name!r}: draw has {drawing!r}, expected some of {', '.join(DRAWINGS)}")
        if not self.values or not self.quick_values or not self.methods:
            raise ValueError(f"experiment {self.name!r} needs values, quick_values and methods")

    def methods_at(self, value: Value, chosen: Sequence[NamedMethod] | None = None) -> list[NamedMethod]:
        """Return the methods, or those chosen instead, with the settings of a value."""
        settings = {} if self.settings is None else self.settings(value)
        found: list[NamedMethod] = list(chosen or ())
        for label in self.methods if chosen is None else ():
            found += [self.made[label](value)] if label in self.made else methods_of(label)
        if self.takes_part is not None:
            found = [each for each in found if self.takes_part(value, each.method)]
        return [with_settings(each, settings) for each in found]

    def verdicts(self, result: ExperimentResult) -> list[Verdict]:
        """Judge a result."""
        found = [] if self.judge is None else self.judge(result)
        if not result.interrupted and not result.quick:
            return found
        why = "The run was interrupted." if result.interrupted else "Quick runs are not judged."
        return [replace(each, verdict="not judged", why=why) for each in found]


def own_experiment(name: str, title: str, scene: Recordable, methods: Sequence[str], frames: int = OWN_FRAMES) -> Experiment:
    """Return the experiment of a user's own scene."""
    safe = re.sub(r"[^\w.-]+", "-", name).strip("-.") or "scene"
    about = "Your own scene, replayed through every method."
    return Experiment(safe, title, about, lambda _value, _quick: scene, methods, frames)


@dataclass(frozen=True, eq=False)
class RecordedMotion:
    """A recorded motion as the scene of an experiment."""

    motion: Motion

    def record(self, frames: int | None = None) -> Motion:
        """Return the first frames, or all."""
        return self.motion if frames is None else self.motion.first(frames)


# ---------------------------------------------------------------------- for judges


def served_runs(result: ExperimentResult, method: str) -> list[tuple[Value, MethodRun]]:
    """Return value and run of each point whose frames a method finished."""
    runs = [(point.value, point.run_of(method)) for point in result.points]
    return [(value, run) for value, run in runs if run is not None and run.served]


def why_not_judged(result: ExperimentResult, method: str, points: int | None = None) -> str:
    """Return why a method cannot be judged; "" if it finished enough points, or all."""
    if method not in result.methods:
        return f"{method} did not take part."
    served = len(served_runs(result, method))
    needed = len(result.points) if points is None else points
    if served < needed:
        reason = next((f"{run.status}, {run.why}" for point in result.points for run in point.runs
                       if run.method == method and not run.served), "too few points were run")  # fmt: skip
        return f"{method} finished {served} of {needed} points ({reason})."
    return ""


def slope(x: Sequence[float], y: Sequence[float]) -> float:
    """Return the slope of log y over log x by least squares; nan without two points."""
    kept = [(a, b) for a, b in zip(x, y, strict=True) if a > 0.0 and b > 0.0]
    if len(kept) < 2:
        return math.nan
    across, up = np.log(kept).T
    return float(np.polyfit(across, up, 1)[0])
