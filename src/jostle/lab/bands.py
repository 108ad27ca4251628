"""The tolerance of approximate answers: wrong body pairs that are allowed.

A method that answers within a length r (`traits.within_resolution`, `within_share`) may report bodies no farther apart than r,
and may miss solids that no longer meet when each is eroded by r, which means that no ball of radius r fits into both
(`balls.py`). Anything else breaks its guarantee. Distances are those of the exact engine. An undecided miss counts against the
method, as does any miss of surfaces and any miss of a method that never misses (`traits.no_miss_within`).

A mesh with an analytic surface is compared by its faces; r grows by their distance from that surface.

A method that promises a share of the touching faces (`traits.statistical`) may miss some, but must report only touching ones.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from jostle.interface.method import Method
from jostle.interface.traits import Answer, Guarantee
from jostle.kernels.cached_property import cached_property
from jostle.lab.balls import ball_in_both
from jostle.lab.results import NO_PROMISE
from jostle.lab.truth import BODY_PAIRS, FACES, Question, Truth, missed_and_extra
from jostle.shapes.analytic import ManyRays
from jostle.shapes.mesh import Mesh

ROUNDING = 1e-9  # of the size of the larger body
ONLY_WHAT_TOUCHES = "only what touches"  # guarantee of a method that promises a share of the faces
MOST_SAMPLES = 2000  # of the faces of a mesh with an analytic surface

_ANSWERS = (Answer.FACES, Answer.POINTS, Answer.DISTANCE)


@runtime_checkable
class HasTolerance(Protocol):
    """A method that computes its own tolerance for a mesh."""

    def tolerance_for(self, mesh: Mesh) -> float | None:
        """Return the tolerance for body pairs with this mesh; None without one."""
        ...


def guarantee_of(method: Method, question: Question) -> Guarantee | None:
    """Return the guarantee of an approximate method; None if it must be exact."""
    answers = method.traits.answers
    if question.compared == FACES and (faces := answers.get(Answer.FACES)) is not None and faces.name == "recall":
        return faces
    if question.compared != BODY_PAIRS or question.options.get("motion"):
        return None
    found = next((answers[answer] for answer in _ANSWERS if answer in answers), None)
    return found if found is not None and found.name.startswith(("within", "no miss", "recall")) else None


@dataclass(frozen=True, eq=False)
class Band:
    """What a method's guarantee allows along a motion."""

    method: Method
    question: Question
    truth: Truth

    @cached_property
    def guarantee(self) -> Guarantee | None:
        """The guarantee; None if the answer must be exact."""
        return guarantee_of(self.method, self.question)

    @property
    def words(self) -> str:
        """The guarantee as text; "" if the answer must be exact."""
        if self.guarantee is None:
            return ""
        if self.question.compared == FACES:
            return ONLY_WHAT_TOUCHES
        return NO_PROMISE if self.guarantee.name == "recall" and self.guarantee.value == 0.0 else str(self.guarantee)

    def beyond(self, found: NDArray[Any], true: NDArray[Any], frame: int) -> tuple[int, int]:
        """Return the number of missed and extra pairs that the guarantee does not allow.

        Parameters
        ----------
        found : (k, 2) or (k, 4)
            Reported pairs of bodies or faces.
        true : (k, 2) or wider
            Body numbers of the exact answer in the first two columns, faces in the next.
        """
        if self.question.compared == FACES:
            return 0, missed_and_extra(found, true, FACES)[1]
        reported, touching = ({tuple(sorted(pair)) for pair in rows[:, :2].tolist()} for rows in (found, true))
        missed = sum(not self._may_be_missed(pair, frame) for pair in touching - reported)
        extra = sum(not self._may_be_reported(pair, frame) for pair in reported - touching)
        return missed, extra

    def _may_be_reported(self, pair: tuple[int, int], frame: int) -> bool:
        length = self._length(pair)
        if length is None:
            return False
        return self.truth.world_at(frame).distance(*pair).distance <= length + self._rounding(pair)

    def _may_be_missed(self, pair: tuple[int, int], frame: int) -> bool:
        length = self._length(pair)
        if length is None or not self.question.solid or self.guarantee is None or self.guarantee.name.startswith("no miss"):
            return False
        world = self.truth.world_at(frame)
        a, b = ((world[body].mesh, world[body].pose) for body in pair)
        return ball_in_both(a, b, length + self._rounding(pair)) is False

    def _length(self, pair: tuple[int, int]) -> float | None:
        """Return the tolerance for two bodies; None without one."""
        meshes = [self.truth.motion.meshes[body] for body in pair]
        faceting = sum(faceting_error(mesh) for mesh in meshes)
        if isinstance(self.method, HasTolerance):
            own = [self.method.tolerance_for(mesh) for mesh in meshes]
            return None if None in own else max(length for length in own if length is not None) + faceting
        guarantee = self.guarantee
        if guarantee is None or guarantee.name == "recall":
            return None
        if guarantee.value is None:
            return np.inf  # it promises only never to miss
        share = guarantee.name.endswith("share")
        size = max(float(np.ptp(mesh.bounds, axis=0).max()) for mesh in meshes) if share else 1.0
        return guarantee.value * size + faceting

    def _rounding(self, pair: tuple[int, int]) -> float:
        return ROUNDING * max(self.truth.motion.meshes[body].size for body in pair)


@functools.lru_cache(maxsize=16)
def faceting_error(mesh: Mesh) -> float:
    """Return roughly how far a mesh's faces are from its analytic surface, if any."""
    if mesh.analytic is None:
        return 0.0
    corners = mesh.vertices[mesh.faces]
    samples = np.concatenate([corners.mean(axis=1), *(0.5 * (corners[:, k] + corners[:, k - 1]) for k in range(3))])
    samples = samples[:: -(-len(samples) // MOST_SAMPLES)]
    nearest = np.full(len(samples), np.inf)
    for axis in range(3):
        u, v = (samples[:, other] for other in range(3) if other != axis)
        for k, row in enumerate(_crossings(mesh.analytic, axis, u, v)):
            if len(row):
                nearest[k] = min(nearest[k], float(np.abs(row - samples[k, axis]).min()))
    seen = nearest[np.isfinite(nearest)]
    return 1.25 * float(seen.max(initial=0.0))  # a margin for points between the samples


def _crossings(surface: Any, axis: int, u: NDArray[Any], v: NDArray[Any]) -> list[NDArray[Any]]:
    if isinstance(surface, ManyRays):
        return [row[~np.isnan(row)] for row in surface.crossings_of_rays(axis, u, v)]
    return [np.asarray(surface.crossings(axis, float(x), float(y)), np.float64) for x, y in zip(u, v, strict=True)]
