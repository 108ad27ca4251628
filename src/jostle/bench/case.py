"""Case: one measurement as arrays. Job: how a contestant does it. Found: its answer.

A case is plain data that travels to the process of each contestant, so all of them get bit-equal meshes and poses. A job is
made inside that process: whatever a library wants its input in (trees, transforms, vectors of its own) is made before the
clock starts, so that only its work is timed. What it found is turned into arrays after the clock has stopped.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from jostle._types import Floats, Ints

QUESTIONS = {
    "faces": "all touching face pairs",
    "bodies": "which bodies touch",
    "any": "whether they touch",
    "distance": "the distance",
    "time": "the time of the first contact",
}


class Unable(Exception):
    """A contestant cannot do a case; the message becomes its row of the table."""


@dataclass(frozen=True, eq=False)
class Case:
    """One measurement.

    Parameters
    ----------
    scenario : str
        One of `scenarios.SCENARIOS`: what is timed.
    name : str
        Which of the scenario's cases it is, in words.
    question : str
        One of `QUESTIONS`: what is compared with the reference.
    meshes : tuple of (vertices (n,3), faces (m,3))
    mesh_of_body : tuple of int
        The mesh of each body; bodies may share one.
    poses : (frames, bodies, 4, 4)
        Call k of a round uses frame k modulo the number of frames. `batch-poses` has one frame of many poses instead:
        there the first axis is the batch. `continuous` has one frame too: there it is the start and the end of a step.
    deformed : tuple of tuple of (n,3), optional
        For each frame the vertices of each body (then the poses are identities).
    """

    scenario: str
    name: str
    question: str
    meshes: tuple[tuple[Floats, Ints], ...]
    mesh_of_body: tuple[int, ...]
    poses: Floats
    deformed: tuple[tuple[Floats, ...], ...] | None = None

    @property
    def frame_count(self) -> int:
        """The number of different frames in the rounds."""
        if self.scenario in ("batch-poses", "continuous"):
            return 1
        return len(self.poses) if self.deformed is None else len(self.deformed)

    @property
    def itself(self) -> bool:
        """Whether one body is tested against itself."""
        return self.scenario == "self"

    def mesh(self, body: int) -> tuple[Floats, Ints]:
        """Vertices and faces of a body as it was made."""
        return self.meshes[self.mesh_of_body[body]]

    def local_vertices(self, body: int, frame: int) -> Floats:
        """(n,3) the vertices of a body in one frame, before its pose."""
        return self.mesh(body)[0] if self.deformed is None else self.deformed[frame][body]


@dataclass(frozen=True, eq=False)
class Found:
    """An answer as arrays.

    `kind` says which: "rows" (k,4) of body_a, body_b, face_a, face_b; "loose-rows" (k,2), face pairs whose bodies are not
    told; "bodies" (k,2); "flags" (n,) bool; "value", one number.
    """

    kind: str
    data: NDArray[Any]

    @staticmethod
    def rows(face_a: Any, face_b: Any, body_a: Any = 0, body_b: Any = 1) -> Found:
        """Make rows of columns, or of one body number for all."""
        first = np.asarray(face_a, np.int64).reshape(-1)
        table = np.empty((len(first), 4), np.int64)
        for column, values in enumerate((body_a, body_b, first, face_b)):
            table[:, column] = values
        return Found("rows", table)

    @staticmethod
    def flag(touches: bool) -> Found:
        """Make an answer of one yes or no."""
        return Found("flags", np.array([touches], bool))

    @staticmethod
    def value(number: float) -> Found:
        """Make an answer of one number."""
        return Found("value", np.array([number], np.float64))


@dataclass
class Job:
    """One variant of how a contestant does a case."""

    run: Callable[[int], Any]  # given the frame; this is what is timed
    found: Callable[[Any], Found]  # given what `run` returned; not timed
    note: str = ""  # what to know about this way
    other_question: str = ""  # not empty: it answers this instead of the case's question, and is never called correct
    keeps: Any = None  # what must live as long as the job, where a library does not hold it


@dataclass
class Contestant:
    """A contestant: a peer's name, and its number of threads."""

    peer: str
    threads: int = 1
    options: dict[str, Any] = field(default_factory=dict)

    @property
    def label(self) -> str:
        """Its name in tables."""
        return self.peer if self.threads == 1 else f"{self.peer}, {self.threads} threads"


class Peer(Protocol):
    """A library, in its own process."""

    def ways(self, case: Case) -> dict[str, Job]:
        """Prepare every variant of the case worth timing, by name; raise `Unable` if there is none."""
        ...
