"""How far an approximate answer may deviate: which wrong body pairs a guarantee allows.

A method that answers within a length r (`traits.within_resolution`, `within_share`) may tell two bodies that are no farther apart
than r, and may leave out two solids that no longer meet when each is eroded by r. What it tells from farther away, and what it
misses deeper, breaks its guarantee. Distances are those of the exact engine; that eroded solids meet is a ball of radius r inside
both (`balls.py`). A miss of which neither is proved counts against the method; one of surfaces always does, and one of a method
that never misses (`traits.no_miss_within`).

A mesh with an analytic surface is compared by its faces, which are beside that surface: r grows by how far.

A method that tells faces, and promises a share of those that touch (`traits.statistical`), may miss some, and the tables say how
many. What it tells must touch.
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

ROUNDING = 1e-9  # of the larger body: so little farther is not farther
ONLY_WHAT_TOUCHES = "only what touches"  # the words of a method that promises a share of the faces
MOST_SAMPLES = 2000  # of the faces of a mesh with an analytic surface

_TELLING = (Answer.FACES, Answer.POINTS, Answer.DISTANCE)


@runtime_checkable
class KnowsItsBand(Protocol):
    """A method whose length depends on the mesh in its own way."""

    def band_for(self, mesh: Mesh) -> float | None:
        """Return the length for pairs of bodies with this mesh, None without any."""
        ...


def guarantee_of(method: Method, question: Question) -> Guarantee | None:
    """Return the guarantee of an approximate method for compared pairs; None if it must be exact."""
    answers = method.traits.answers
    if question.compared == FACES and (told := answers.get(Answer.FACES)) is not None and told.name == "recall":
        return told
    if question.compared != BODY_PAIRS or question.options.get("motion"):
        return None
    found = next((answers[answer] for answer in _TELLING if answer in answers), None)
    return found if found is not None and found.name.startswith(("within", "no miss", "recall")) else None


@dataclass(frozen=True, eq=False)
class Band:
    """What a method's guarantee allows in the frames of a motion."""

    method: Method
    question: Question
    truth: Truth

    @cached_property
    def guarantee(self) -> Guarantee | None:
        """None where nothing but the truth is allowed."""
        return guarantee_of(self.method, self.question)

    @property
    def words(self) -> str:
        """The guarantee for tables; "" where the answer must be exact."""
        if self.guarantee is None:
            return ""
        if self.question.compared == FACES:
            return ONLY_WHAT_TOUCHES
        return NO_PROMISE if self.guarantee.name == "recall" and self.guarantee.value == 0.0 else str(self.guarantee)

    def beyond(self, found: NDArray[Any], true: NDArray[Any], frame: int) -> tuple[int, int]:
        """Return how many missed and how many reported pairs the guarantee does not allow.

        Parameters
        ----------
        found : (k, 2) or (k, 4)
            Pairs of bodies, or of faces, that were told.
        true : (k, 2) or wider
            Body numbers of the exact answer in the first two columns, faces in the next.
        """
        if self.question.compared == FACES:
            return 0, missed_and_extra(found, true, FACES)[1]
        told = {(min(a, b), max(a, b)) for a, b in found[:, :2].tolist()}
        meet = {(min(a, b), max(a, b)) for a, b in true[:, :2].tolist()}
        missed = [pair for pair in sorted(meet - told) if not self._may_be_missed(pair, frame)]
        extra = [pair for pair in sorted(told - meet) if not self._allowed(pair, frame)]
        return len(missed), len(extra)

    def _allowed(self, pair: tuple[int, int], frame: int) -> bool:
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
        """The length within which the answer for two bodies is; None where there is none."""
        meshes = [self.truth.motion.meshes[body] for body in pair]
        beside = sum(beside_its_faces(mesh) for mesh in meshes)
        if isinstance(self.method, KnowsItsBand):
            own = [self.method.band_for(mesh) for mesh in meshes]
            return None if None in own else max(length for length in own if length is not None) + beside
        guarantee = self.guarantee
        if guarantee is None or guarantee.name == "recall":
            return None
        if guarantee.value is None:
            return np.inf  # never misses, and promises no more
        share = guarantee.name.endswith("share")
        size = max(float(np.ptp(mesh.bounds, axis=0).max()) for mesh in meshes) if share else 1.0
        return guarantee.value * size + beside

    def _rounding(self, pair: tuple[int, int]) -> float:
        return ROUNDING * max(self.truth.motion.meshes[body].size for body in pair)


def beside_its_faces(mesh: Mesh) -> float:
    """Return how far a mesh's analytic surface is from its faces, about; 0 without one."""
    if mesh.analytic is None:
        return 0.0
    return _beside(mesh)


@functools.lru_cache(maxsize=16)
def _beside(mesh: Mesh) -> float:
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
    return 1.25 * float(seen.max(initial=0.0))  # between the samples there may be a little more


def _crossings(surface: Any, axis: int, u: NDArray[Any], v: NDArray[Any]) -> list[NDArray[Any]]:
    if isinstance(surface, ManyRays):
        return [row[~np.isnan(row)] for row in surface.crossings_of_rays(axis, u, v)]
    return [np.asarray(surface.crossings(axis, float(x), float(y)), np.float64) for x, y in zip(u, v, strict=True)]
