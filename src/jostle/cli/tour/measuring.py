"""Measuring the tour: each method joins when its kernels are compiled.

`plain` needs none and comes first. While a method is timed, the processes that compile keep off its processor.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from jostle.bench.process import processors_to_time_on
from jostle.cli.console import Show
from jostle.cli.tour.experiment import ENOUGH_FRAMES, EXACT, GIVEN, LIMIT_SECONDS, ROUNDS, bodies_for, tour_experiment
from jostle.cli.warmup import MODULES, check_outcomes
from jostle.cli.warmups import TOUR_ENTRIES
from jostle.kernels.compile_setting import check_numba
from jostle.kernels.jit import JIT_DISABLED
from jostle.kernels.warmup import POLL_SECONDS, WarmUp
from jostle.lab.measure import empty_point, measure_point
from jostle.lab.methods import NamedMethod
from jostle.lab.results import ExperimentResult, MethodRun, Point
from jostle.lab.run import LabRun
from jostle.motion.record import Motion
from jostle.registry import METHODS

FIRST = "plain"
# The entries of `jostle warmup` that compile what a method and its bodies need; hulls are made by a kernel, too. The little that
# only entries of other methods compile is compiled on a toy scene, before frames are timed.
ENTRIES_OF = {
    "wide_tree": ("touching faces",),
    "face_octree": ("the face octree",),
    "octree_update": ("octree update",),
    "bounding_tree": ("bounding trees",),
    "image_space": ("collision by rendering",),
    "voxmap": ("voxel maps",),
    "monte_carlo": ("sample pairs and shells",),
    "separating_plane": ("separating planes", "closest features"),
    "closest_features": ("closest features",),
    "edge_face": ("edges against faces",),
    "brute_force": ("the oracle",),
}

PrintRow = Callable[[MethodRun], None]


class Tour:
    """One motion through every method; `lab_run.result` grows method by method."""

    def __init__(self, frames: int) -> None:
        self.experiment = tour_experiment(frames)
        self.lab_run = LabRun(self.experiment, command="jostle demo")
        self._motions: dict[str, Motion] = {}

    @property
    def result(self) -> ExperimentResult:
        """The measurements so far."""
        return self.lab_run.result

    def motion(self, bodies: str) -> Motion:
        """Return the motion with bodies of one kind, one of `GIVEN`."""
        if bodies not in self._motions:
            self._motions[bodies] = self.experiment.scene(bodies, False).record(self.experiment.frames)
        return self._motions[bodies]

    def measure(self, names: Sequence[str], print_row: PrintRow, progress: Callable[[str], None]) -> None:
        """Replay the motion through methods, and print their rows."""
        for bodies in GIVEN:
            methods = [NamedMethod(name, made) for name in names if bodies_for(made := METHODS[name]()) == bodies]
            if methods:
                motion = self.motion(bodies)
                part = empty_point(bodies, motion)
                measure_point(
                    part,
                    motion,
                    methods,
                    ROUNDS,
                    LIMIT_SECONDS,
                    lambda what, _share: progress(f"measuring {what}"),
                    ENOUGH_FRAMES,
                    exact=EXACT,
                )
                self._join(part)
                for run in part.runs:
                    print_row(run)

    def _join(self, part: Point) -> None:
        """Add runs to the result: bodies in the order of `GIVEN`, methods in that of the registry."""
        points, orders = self.result.points, (list(GIVEN), list(METHODS))
        same = next((point for point in points if point.value == part.value), None)
        if same is None:
            points.append(part)
            points.sort(key=lambda point: orders[0].index(str(point.value)))
        else:
            same.runs = sorted([*same.runs, *part.runs], key=lambda run: orders[1].index(run.method))


def compile_and_measure(tour: Tour, print_row: PrintRow, show: Show) -> None:
    """Compile in other processes, measuring each method when it is ready; raise if some fail."""
    if not JIT_DISABLED:
        check_numba("measuring the other methods")
    with WarmUp(MODULES, TOUR_ENTRIES) as warming:
        _measure_as_compiled(tour, warming, print_row, show)
    check_outcomes(warming.outcomes)


def _measure_as_compiled(tour: Tour, warming: WarmUp, print_row: PrintRow, show: Show) -> None:
    """Measure every method as soon as its entries have ended; one whose entry fails is left out."""
    missing = {name: set(entries) for name, entries in ENTRIES_OF.items()}

    def progress(what: str = "") -> None:
        kernels = f"{warming.compiled} kernels"
        show(f"{kernels}; {what}" if what else kernels, warming.ended, len(warming.names))

    while warming.left:
        progress()
        outcome = warming.next_outcome(POLL_SECONDS)
        while outcome is not None:
            name, _, error = outcome
            for entries in missing.values() if error is None else ():
                entries.discard(name)
            outcome = warming.next_outcome(0.0)
        ready = [name for name, entries in missing.items() if not entries]
        if ready:
            for name in ready:
                del missing[name]
            with warming.kept_off(processors_to_time_on()[-1:]):
                tour.measure(ready, print_row, progress)
