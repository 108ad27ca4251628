"""Every face against every face behind a broad phase: an exact two-phase method."""

import dataclasses
from dataclasses import dataclass

import numpy as np

from jostle.broad_phase.candidates import Candidates, with_self_pairs
from jostle.broad_phase.choose import broad_phase_of
from jostle.broad_phase.protocol import BroadPhase
from jostle.interface.method import Detector
from jostle.interface.overlay import Overlay
from jostle.interface.traits import Answer, Serve
from jostle.methods.brute_force.method import BruteForce, answer
from jostle.report.report import Counters, replaced


class AllFaces(BruteForce):
    """The same as a PairTest, for `Pairwise`."""

    def test_pairs(self, pairs, shapes, frame, query, memory):
        return answer(zip(pairs.body_a.tolist(), pairs.body_b.tolist(), strict=True), shapes, frame, query)


@dataclass(frozen=True)
class AllFacesBehind(BruteForce):
    """Settings: the broad phase, by name or as an instance."""

    broad: str | BroadPhase = "uniform_grid"

    def __post_init__(self):
        broad_phase_of(self.broad, "AllFacesBehind")

    @property
    def traits(self):
        traits = super().traits
        answers = {
            question: promise for question, promise in traits.answers.items() if question not in (Answer.DISTANCE, Answer.TIME)
        }
        return dataclasses.replace(traits, answers=answers, serves=traits.serves - {Serve.MOTION})

    def start(self, bodies, shapes):
        return AllFacesDetector(self, bodies, shapes)


class AllFacesDetector(Detector):
    def __init__(self, method, bodies, shapes):
        self._candidates, self._shapes = Candidates(bodies, method.broad), shapes

    def change(self, bodies, shapes, old_to_new):
        self._candidates.change(bodies, old_to_new)
        self._shapes = shapes

    def detect(self, frame, query):
        pairs = self._candidates.pairs(frame, query.clearance)
        if query.itself:
            pairs = with_self_pairs(pairs, range(len(frame)))
        report = answer(zip(pairs.body_a.tolist(), pairs.body_b.tolist(), strict=True), self._shapes, frame, query)
        return replaced(report, counters=report.counters + Counters(box_tests=self._candidates.box_tests))

    def overlay(self, frame, what):
        """Show the boxes that the broad phase sees."""
        volumes = self._candidates.volumes(frame)
        return Overlay("boxes of bodies", boxes=np.stack([volumes.lower, volumes.upper], axis=1))
