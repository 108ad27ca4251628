"""Case: a measurement as arrays. Job: how a contestant runs it. Found: its answer.

A case is plain data that is sent to the process of each contestant, so all get bit-equal meshes and poses. The job is made
there: trees, transforms and the library's own vectors are built before the clock starts, and its answer is turned into arrays
after the clock has stopped.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from jostle._types import Floats, Ints

QUESTIONS = {
    "faces": "all touching face pairs",
    "bodies": "which bodies touch",
    "any": "whether they touch",
    "distance": "the distance",
    "nearest": "the distance, where it is within the clearance",
    "within": "whether anything is within the clearance",
    "time": "the time of the first contact",
}


BATCHES = ("batch-poses", "poses", "continuous")
"""The jobs that answer for all poses in one call."""

VALUES = ("distance", "nearest", "time")
"""The questions whose answers are numbers with an error."""


class Unable(Exception):
    """A contestant cannot do a case; the message becomes its row of the table."""


class KindLabel(NamedTuple):
    """What a case of the kinds is about: "pipe", "128 segments, tilted", "first hit"."""

    kind: str
    part: str
    asked: str


@dataclass(frozen=True, eq=False)
class Case:
    """One measurement.

    Parameters
    ----------
    scenario : str
        One of `scenarios.SCENARIOS`, or "kinds".
    name : str
        The case within its scenario.
    question : str
        One of `QUESTIONS`.
    meshes : tuple of (vertices (n,3), faces (m,3))
    mesh_of_body : tuple of int
        The mesh of each body; bodies may share one.
    poses : (frames, bodies, 4, 4)
        Call k of a round uses frame k modulo the number of frames. The jobs in `BATCHES` have one frame: there the first axis is
        the batch, or the start and the end of the step.
    deformed : tuple of tuple of (n,3), optional
        The vertices of each body in each frame; the poses are then identities.
    clearance : float
        Of the questions "nearest" and "within".
    label : KindLabel, optional
        Of a case of the kinds.
    runs_as : str
        The job that answers it, unless it is that of the scenario: "crowd", "poses", "deform" or "self".
    cpu_time : bool
        Time processors, not the wall.
    """

    scenario: str
    name: str
    question: str
    meshes: tuple[tuple[Floats, Ints], ...]
    mesh_of_body: tuple[int, ...]
    poses: Floats
    deformed: tuple[tuple[Floats, ...], ...] | None = None
    clearance: float = 0.0
    label: KindLabel | None = None
    runs_as: str = ""
    cpu_time: bool = False

    @property
    def job(self) -> str:
        """The name of the job that answers it."""
        return self.runs_as or self.scenario

    @property
    def frame_count(self) -> int:
        """The number of different frames in the rounds."""
        if self.job in BATCHES:
            return 1
        return len(self.poses) if self.deformed is None else len(self.deformed)

    @property
    def itself(self) -> bool:
        """Whether one body is tested against itself."""
        return self.job == "self"

    def mesh(self, body: int) -> tuple[Floats, Ints]:
        """Vertices and faces of a body, undeformed."""
        return self.meshes[self.mesh_of_body[body]]

    def local_vertices(self, body: int, frame: int) -> Floats:
        """(n,3) the vertices of a body in one frame, in body coordinates."""
        return self.mesh(body)[0] if self.deformed is None else self.deformed[frame][body]


@dataclass(frozen=True, eq=False)
class Found:
    """An answer as arrays.

    `kind` is "rows" (k,4) of body_a, body_b, face_a, face_b; "loose-rows" (k,2), face pairs without their bodies; "bodies"
    (k,2); "flags" (n,) bool; or "value" (n,), a number for each pose.
    """

    kind: str
    data: NDArray[Any]

    @staticmethod
    def rows(face_a: Any, face_b: Any, body_a: Any = 0, body_b: Any = 1) -> Found:
        """Make rows from columns; a body may be one number for all."""
        first = np.asarray(face_a, np.int64).reshape(-1)
        table = np.empty((len(first), 4), np.int64)
        for column, values in enumerate((body_a, body_b, first, face_b)):
            table[:, column] = values
        return Found("rows", table)

    @staticmethod
    def flag(touches: bool) -> Found:
        """Make a single flag."""
        return Found("flags", np.array([touches], bool))

    @staticmethod
    def value(number: float) -> Found:
        """Make a single value."""
        return Found("value", np.array([number], np.float64))

    @staticmethod
    def of_bodies(found: Sequence[tuple[int, int, Any, Any]]) -> Found:
        """Make rows from (body_a, body_b, face_a column, face_b column) of each pair."""
        each = [Found.rows(face_a, face_b, a, b).data for a, b, face_a, face_b in found]
        return Found("rows", np.concatenate([np.empty((0, 4), np.int64), *each]))

    @staticmethod
    def of_poses(case: Case, answers: Sequence[Any]) -> Found:
        """Make the answer of job "poses" from that of each pose.

        Those are (face_a, face_b) columns, flags, or distances; distances also where the question is "nearest" or "within".
        """
        if case.question == "faces":
            return Found.of_bodies([(2 * k, 2 * k + 1, *columns) for k, columns in enumerate(answers)])
        if case.question == "any":
            return Found("flags", np.array(answers, bool))
        distances = np.array(answers, np.float64)
        if case.question == "within":
            return Found("flags", distances <= case.clearance)
        if case.question == "nearest":
            distances[distances > case.clearance] = np.inf
        return Found("value", distances)


@dataclass
class Job:
    """One variant of a case, ready to be timed."""

    run: Callable[[int], Any]  # takes the frame; timed
    found: Callable[[Any], Found]  # takes the result of `run`; not timed
    note: str = ""  # shown in the table
    other_question: str = ""  # what it answers instead of the case's question; such an answer never counts as correct
    keeps: Any = None  # objects that must outlive the job because the library does not hold them


@dataclass
class Contestant:
    """A peer's name and its number of threads."""

    peer: str
    threads: int = 1
    options: dict[str, Any] = field(default_factory=dict)

    @property
    def label(self) -> str:
        """The name in tables."""
        return self.peer if self.threads == 1 else f"{self.peer}, {self.threads} threads"


class Peer:
    """A library; a method named after each job prepares its variants."""

    unable: ClassVar[Mapping[str, str]] = {}  # the reason, by job

    def variants(self, case: Case) -> dict[str, Job]:
        """Prepare each variant worth timing, by name; raise `Unable` if there is none."""
        if case.job in self.unable:
            raise Unable(self.unable[case.job])
        return self._jobs(case)

    def _jobs(self, case: Case, *settings: str) -> dict[str, Job]:
        jobs: dict[str, Job] = getattr(self, "_" + case.job.replace("-", "_"))(case, *settings)
        return jobs
