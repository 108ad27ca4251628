"""Run an experiment: record each scene, replay it, judge, advise.

`LabRun.result` grows during the run and survives an interrupt.
"""

from __future__ import annotations

import datetime
from collections.abc import Callable, Sequence

from jostle.bench.machine import describe_machine
from jostle.lab.advice import advise
from jostle.lab.experiment import Experiment
from jostle.lab.measure import LIMIT_SECONDS, ROUNDS, empty_point, measure_point
from jostle.lab.methods import NamedMethod
from jostle.lab.results import ExperimentResult, MethodRun, Point
from jostle.motion.record import Motion

QUICK_ROUNDS = 2

Progress = Callable[[str, float, float], None]
"""Called with the current activity, the points done and the number of points."""


class LabRun:
    """A run of one experiment.

    Parameters
    ----------
    methods : sequence of NamedMethod, optional
        By default those of the experiment.
    quick : bool
        Few values, frames and rounds, to try the tool.
    rounds : int, optional
        Timed rounds; by default those of the experiment or 5, or 2 if quick.
    limit : float
        Most seconds of each method for each point; the experiment may lower it.
    """

    def __init__(
        self,
        experiment: Experiment,
        methods: Sequence[NamedMethod] | None = None,
        quick: bool = False,
        rounds: int | None = None,
        limit: float = LIMIT_SECONDS,
        command: str = "",
    ) -> None:
        self.experiment = experiment
        self.motion: Motion | None = None  # of the last point, for its picture
        self._methods = None if methods is None else list(methods)
        self._rounds = rounds or (QUICK_ROUNDS if quick else experiment.rounds or ROUNDS)
        self._limit = limit if experiment.limit is None else min(limit, experiment.limit)
        self._given_up: dict[str, str] = {}  # methods that are skipped from now on, and why
        self._progress: Progress = lambda *_: None
        self.result = ExperimentResult(
            name=experiment.name,
            title=experiment.title,
            parameter=experiment.parameter,
            machine=describe_machine(),
            quick=quick,
            started=datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
            command=command,
            about=experiment.about,
            draw=list(experiment.draw),
            aside=list(experiment.aside),
            paper=experiment.paper,
            figure=experiment.figure,
            caption=experiment.caption,
            panels=list(experiment.panels),
            printed={label: [[value, time] for value, time in row.items()] for label, row in experiment.printed.items()},
        )

    def show_progress(self, progress: Progress) -> None:
        """Report every step to this from now on."""
        self._progress = progress

    def run(self) -> ExperimentResult:
        """Measure all points; Ctrl-C ends early and keeps what was measured."""
        experiment, result = self.experiment, self.result
        values = experiment.quick_values if result.quick else experiment.values
        frames = experiment.quick_frames if result.quick else experiment.frames
        try:
            for k, value in enumerate(values):
                label = experiment.name if value is None else f"{experiment.name}, {value}"
                self._progress(f"{label}: recording", k, len(values))
                self.motion = experiment.scene(value, result.quick).record(frames)
                point = empty_point(value, self.motion)
                result.points.append(point)

                def show(what: str, share: float, label: str = label, k: int = k) -> None:
                    self._progress(f"{label}: {what}", k + share, len(values))

                methods = [each for each in experiment.methods_at(value, self._methods) if each.label not in self._given_up]
                measure_point(
                    point, self.motion, methods, self._rounds, self._limit, show, experiment.enough, experiment.may_be_inside
                )
                self._give_up_slow_methods(point)
        except KeyboardInterrupt:
            result.interrupted = True
        result.verdicts = experiment.verdicts(result)
        if experiment.judge is None and result.points:
            result.advice = advise(result.points[-1])
        return result

    def _give_up_slow_methods(self, point: Point) -> None:
        """Record which methods were skipped, and which to skip for later values."""
        point.runs += [MethodRun(label, "too slow", why) for label, why in self._given_up.items()]
        slowest = self.experiment.slowest
        for run in point.runs if slowest is not None else ():
            taken = sum(run.frame_seconds) / len(run.frame_seconds) if run.frame_seconds else 0.0
            # A method that was stopped in its first frame has no times.
            if run.method not in self._given_up and (taken > (slowest or 0.0) or run.status == "too slow"):
                self._given_up[run.method] = f"skipped: with fewer it needed more than {slowest:g} s for a frame"
