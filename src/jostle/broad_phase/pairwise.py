"""Pairwise(broad, narrow): a Method of a BroadPhase and a PairTest. Deprecated.

Hold a `Candidates` instead. Its tests see one pair at a time and keep no state, which suits no method of this package.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np

from jostle import cast
from jostle.broad_phase.candidates import Candidates, with_self_pairs
from jostle.broad_phase.choose import broad_phase_of
from jostle.broad_phase.pair_memory import PairMemory
from jostle.broad_phase.protocol import BroadPhase
from jostle.errors import InputError
from jostle.interface.body_pairs import CandidatePairs
from jostle.interface.frame import Bodies, Frame
from jostle.interface.method import Detector, OldToNew, Progress, Shape
from jostle.interface.overlay import Overlay
from jostle.interface.query import Query
from jostle.interface.traits import Answer, Guarantee, Serve, Traits
from jostle.report.report import Report, replaced
from jostle.shapes.mesh import Mesh


@runtime_checkable
class PairTest(Protocol):
    """The narrow phase: decides the body pairs that a broad phase found."""

    @property
    def traits(self) -> Traits:
        """As for a Method."""
        ...

    @property
    def shape_type(self) -> type:
        """As for a Method."""
        ...

    def prepare_shape(self, mesh: Mesh, progress: Progress | None = None) -> Shape:
        """As for a Method."""
        ...

    def test_pairs(
        self, pairs: CandidatePairs, shapes: tuple[Shape, ...], frame: Frame, query: Query, memory: PairMemory
    ) -> Report:
        """Answer the query for these pairs; body_a == body_b is a self test."""
        ...


@dataclass(frozen=True)
class Pairwise:
    """A method of two phases."""

    broad: BroadPhase
    narrow: PairTest

    def __post_init__(self) -> None:
        """Check both phases."""
        object.__setattr__(self, "broad", broad_phase_of(self.broad, "Pairwise"))
        if isinstance(self.narrow, type) or not cast.has(self.narrow, "traits", "shape_type", "prepare_shape", "test_pairs"):
            raise InputError(f"Pairwise: narrow is {cast.shown(self.narrow)}; it must have what jostle.PairTest lists")

    @property
    def traits(self) -> Traits:
        """Those of the narrow phase, without motion and distance."""
        traits = self.narrow.traits
        answers: dict[Answer, Guarantee] = dict(traits.answers)
        for question in (Answer.DISTANCE, Answer.TIME):
            answers.pop(question, None)
        return dataclasses.replace(traits, answers=answers, serves=traits.serves - {Serve.MOTION})

    @property
    def shape_type(self) -> type:
        """That of the narrow phase."""
        return self.narrow.shape_type

    def prepare_shape(self, mesh: Mesh, progress: Progress | None = None) -> Shape:
        """Prepare for the narrow phase."""
        return self.narrow.prepare_shape(mesh, progress)

    def start(self, bodies: Bodies, shapes: tuple[Shape, ...]) -> PairwiseDetector:
        """Return a detector."""
        return PairwiseDetector(self, bodies, shapes)


class PairwiseDetector(Detector):
    """A running broad phase and pair test, with a record per pair."""

    def __init__(self, method: Pairwise, bodies: Bodies, shapes: tuple[Shape, ...]) -> None:
        self._method = method
        self._shapes = shapes
        self._candidates = Candidates(bodies, method.broad)
        self._memory = PairMemory()

    def detect(self, frame: Frame, query: Query) -> Report:
        """Find overlapping boxes, filter the pairs, test the bodies."""
        pairs = self._candidates.pairs(frame, query.clearance)
        if query.itself:
            pairs = with_self_pairs(pairs, range(len(frame)))
        report = self._method.narrow.test_pairs(pairs, self._shapes, frame, query, self._memory)
        box_tests = report.counters.box_tests + self._candidates.box_tests
        counters = replaced(report.counters, box_tests=box_tests, body_pairs=len(pairs.body_a))
        return replaced(report, counters=counters)

    def change(self, bodies: Bodies, shapes: tuple[Shape, ...], old_to_new: OldToNew) -> None:
        """Update after bodies were added or removed."""
        self._shapes = shapes
        self._candidates.change(bodies, old_to_new)
        self._memory.renumber(old_to_new)

    def overlay(self, frame: Frame, what: str) -> Overlay:
        """Show the boxes of the broad phase."""
        volumes = self._candidates.volumes(frame)
        return Overlay("boxes of bodies", boxes=np.stack([volumes.lower, volumes.upper], axis=1))
