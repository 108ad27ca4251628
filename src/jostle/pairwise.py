"""Pairwise(broad, narrow): the only glue between the two phases; it makes a Method of a BroadPhase and a PairTest.

Boxes of bodies are made here, in world axes, conservative for the world vertices (`geometry/aabb.py`), grown by half of the
clearance each; the filters are applied to what the broad phase finds; self tests are added; records per pair are kept.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

import numpy as np

from jostle.broad_phase import BROAD_PHASES
from jostle.broad_phase.volumes import CandidatePairs, Volumes
from jostle.errors import InputError
from jostle.frame import Bodies, Floats, Frame
from jostle.geometry.aabb import box_of_points, world_boxes_into
from jostle.kernels.arrays import read_only_view
from jostle.overlay import Overlay
from jostle.pair_memory import PairMemory
from jostle.protocol import BroadPhase, Detector, OldToNew, PairTest, Progress, Shape
from jostle.query import Query
from jostle.report import Report, replaced
from jostle.shapes.mesh import Mesh
from jostle.traits import Answer, Guarantee, Serve, Traits


@dataclass(frozen=True)
class Pairwise:
    """A method of two phases."""

    broad: BroadPhase
    narrow: PairTest

    @property
    def traits(self) -> Traits:
        """Those of the narrow phase, less what needs more than pairs (motion, distance)."""
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
        """Begin detecting."""
        return PairwiseDetector(self, bodies, shapes)


class PairwiseDetector(Detector):
    """A broad phase and a pair test at work, with the memory of each pair."""

    def __init__(self, method: Pairwise, bodies: Bodies, shapes: tuple[Shape, ...]) -> None:
        self._method = method
        self._shapes = shapes
        self._finder = method.broad.start(len(bodies))
        self._boxes = LocalBoxes(bodies)
        self._memory = PairMemory()

    def detect(self, frame: Frame, query: Query) -> Report:
        """Find pairs of boxes, filter them, test the bodies."""
        pairs = allowed_pairs(self._finder.find(world_volumes(self._boxes, frame, query.clearance)), frame)
        if query.itself:
            pairs = _with_self_pairs(pairs, len(frame))
        report = self._method.narrow.test_pairs(pairs, self._shapes, frame, query, self._memory)
        boxes = self._finder.counters.get("box_tests", 0)
        counters = replaced(report.counters, box_tests=report.counters.box_tests + boxes, body_pairs=len(pairs.body_a))
        return replaced(report, counters=counters)

    def change(self, bodies: Bodies, shapes: tuple[Shape, ...], old_to_new: OldToNew) -> None:
        """Follow bodies that came and went."""
        self._shapes = shapes
        self._finder.change(len(bodies), old_to_new)
        self._boxes = LocalBoxes(bodies)
        self._memory.renumber(old_to_new)

    def overlay(self, frame: Frame, what: str) -> Overlay:
        """Show the boxes that the broad phase sees."""
        volumes = world_volumes(self._boxes, frame, 0.0)
        return Overlay("boxes of bodies", boxes=np.stack([volumes.lower, volumes.upper], axis=1))


class LocalBoxes:
    """Boxes of the bodies in their own frames; those of deforming bodies follow their vertices."""

    def __init__(self, bodies: Bodies) -> None:
        bounds = np.array([mesh.bounds for mesh in bodies.meshes]).reshape(-1, 2, 3)
        self._lower, self._upper = np.ascontiguousarray(bounds[:, 0]), np.ascontiguousarray(bounds[:, 1])
        self._seen_by_kernels = read_only_view(self._lower), read_only_view(self._upper)
        # A body that deformed before this detector began has vertices other than its mesh's.
        self._seen: list[Floats | None] = [None] * len(bodies)

    def of(self, frame: Frame) -> tuple[Floats, Floats]:
        """Return lower and upper (n,3) of this frame, read-only."""
        for body in frame.bodies.deforming:
            vertices = frame.vertices[body]
            if vertices is not self._seen[body]:
                box_of_points(read_only_view(vertices), self._lower[body], self._upper[body])
                self._seen[body] = vertices
        return self._seen_by_kernels


def world_volumes(boxes: LocalBoxes, frame: Frame, clearance: float) -> Volumes:
    """Return the world boxes of all bodies, grown so that bodies nearer than the clearance have boxes that meet."""
    lower, upper = np.empty((2, len(frame), 3))
    world_boxes_into(read_only_view(frame.poses), *boxes.of(frame), lower, upper)
    if clearance > 0.0:
        # Half for each of the two, and one step outward for the rounding of the half and of the sum.
        lower = np.nextafter(lower - 0.5 * clearance, -np.inf)
        upper = np.nextafter(upper + 0.5 * clearance, np.inf)
    return Volumes(lower, upper, dt=frame.dt)


def broad_phase_of(value: str | BroadPhase, owner: str = "") -> BroadPhase:
    """Return the broad phase of a name, or an instance itself; `owner` is whose setting it is, for messages."""
    names, of = ", ".join(sorted(BROAD_PHASES)), f"{owner}: " if owner else ""
    if isinstance(value, str):
        if value not in BROAD_PHASES:
            raise InputError(f"{of}there is no broad phase {value!r}; the broad phases are {names}")
        made: BroadPhase = BROAD_PHASES[value]()
        return made
    if isinstance(value, type) or not isinstance(value, BroadPhase):
        raise InputError(f"{of}broad phase is {value!r}; pass a name ({names}) or an instance such as UniformGrid()")
    return value


def allowed_pairs(pairs: CandidatePairs, frame: Frame) -> CandidatePairs:
    """Return those of the pairs that the filters let be tested."""
    if frame.unfiltered:
        return pairs
    allowed = frame.may_meet(pairs.body_a, pairs.body_b)
    return CandidatePairs(pairs.body_a[allowed], pairs.body_b[allowed])


def _with_self_pairs(pairs: CandidatePairs, count: int) -> CandidatePairs:
    """Add (i, i) for every body, keeping the order."""
    itself = np.arange(count, dtype=np.int32)
    a, b = np.concatenate([pairs.body_a, itself]), np.concatenate([pairs.body_b, itself])
    order = np.lexsort((b, a))
    return CandidatePairs(a[order], b[order])
