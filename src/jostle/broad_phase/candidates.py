"""Pairwise(broad, narrow): the only glue between the two phases; it makes a Method of a BroadPhase and a PairTest.

Boxes of bodies are made here, in world axes, conservative for the world vertices (`geometry/aabb.py`), grown by half of the
clearance each, and spheres for the broad phases that ask for them; the filters are applied to what the broad phase finds; self
tests are added; records per pair are kept.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jostle import cast
from jostle.broad_phase import BROAD_PHASES
from jostle.broad_phase.pair_memory import PairMemory
from jostle.broad_phase.volume_table import VolumeTable, farthest_from, trim_boxes
from jostle.broad_phase.volumes import CandidatePairs, Volumes
from jostle.errors import InputError
from jostle.geometry.aabb import box_of_points, world_boxes_into
from jostle.geometry.vector import Vec3
from jostle.interface.frame import Bodies, Floats, Frame
from jostle.interface.method import BroadPhase, Detector, OldToNew, PairTest, Progress, Shape
from jostle.interface.overlay import Overlay
from jostle.interface.query import Query
from jostle.interface.traits import Answer, Guarantee, Serve, Traits
from jostle.kernels.arrays import read_only_view
from jostle.report.report import Report, replaced
from jostle.settings_text import made_with, name_and_rest, settings_written
from jostle.shapes.mesh import Mesh

MANY_BODIES = 8  # from here on boxes are cut down to balls: fewer pairs pay for it


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
        self._bodies = bodies
        self._table: VolumeTable | None = None
        self._in_table: dict[int, Floats] = {}
        self._balls = self._balls_about_boxes() if len(bodies) >= MANY_BODIES else None

    def _balls_about_boxes(self) -> tuple[Floats, Floats]:
        """Centres (n,3) and radii (n,) of balls about the middles of the boxes that hold the bodies; inf for deforming ones."""
        centre = 0.5 * self._lower + 0.5 * self._upper
        known: dict[int, float] = {}
        for mesh, middle in zip(self._bodies.meshes, centre.tolist(), strict=True):
            if id(mesh) not in known:
                known[id(mesh)] = float(farthest_from(read_only_view(_used_vertices(mesh)), Vec3(*middle))[1])
        radius = np.array([known[id(mesh)] for mesh in self._bodies.meshes])
        radius[self._bodies.deforming] = np.inf
        return read_only_view(centre), read_only_view(radius)

    def in_the_world(self, frame: Frame) -> tuple[Floats, Floats]:
        """Return lower and upper (n,3) of boxes in world axes that hold every world vertex."""
        lower, upper = np.empty((2, len(frame), 3))
        poses = read_only_view(frame.poses)
        world_boxes_into(poses, *self.of(frame), lower, upper)
        if self._balls is not None:
            # The box of a turned box is up to 1.7 times as long as the body. Of 10,000 polytopes 2,810 pairs remain, not 4,887.
            trim_boxes(poses, *self._balls, lower, upper)
        return lower, upper

    def of(self, frame: Frame) -> tuple[Floats, Floats]:
        """Return lower and upper (n,3) of this frame, read-only."""
        for body in frame.bodies.deforming:
            vertices = frame.vertices[body]
            if vertices is not self._seen[body]:
                box_of_points(read_only_view(vertices), self._lower[body], self._upper[body])
                self._seen[body] = vertices
        return self._seen_by_kernels

    def spheres(self, frame: Frame) -> tuple[Floats, Floats]:
        """Return centres (n,3) and radii (n,) of spheres in the world that hold the bodies; the first call fits them."""
        if self._table is None:
            points = {id(mesh): _used_vertices(mesh) for mesh in self._bodies.meshes}
            self._table = VolumeTable([points[id(mesh)] for mesh in self._bodies.meshes])
        for body in frame.bodies.deforming:
            vertices = frame.vertices[body]
            if vertices is not self._in_table.get(body):
                self._table.deform(body, vertices)
                self._in_table[body] = vertices
        return self._table.update(frame.poses)


def _used_vertices(mesh: Mesh) -> Floats:
    return mesh.vertices if mesh.uses_every_vertex else mesh.vertices[np.unique(mesh.faces)]


@dataclass(frozen=True, eq=False)
class FrameVolumes(Volumes):
    """Volumes that know the frame they are of: names, jumps, and spheres that are made when they are asked for.

    Without `fitted` the spheres are those of the boxes.
    """

    frame: Frame | None = None
    fitted: LocalBoxes | None = None
    larger: Floats | float = 0.0

    def spheres(self) -> tuple[Floats, Floats]:
        """Return spheres that hold the bodies and what is nearer to them than `larger`."""
        if self.fitted is None or self.frame is None or self.centre is not None:
            return super().spheres()
        centre, radius = self.fitted.spheres(self.frame)
        return centre, np.nextafter(radius + self.larger, np.inf)

    def jumped(self, before: Volumes | None = None) -> NDArray[np.bool_] | None:
        """Return (n,) which bodies were moved without a motion, or had one after that."""
        if self.frame is None:
            return self.jumps
        frame = self.frame
        jumps: NDArray[np.bool_] = frame.moved & (frame.poses == frame.poses_t0).all(axis=(1, 2))
        if isinstance(before, FrameVolumes) and before.frame is not None:
            jumps |= _put_elsewhere(frame, before.frame)
        return jumps

    def name_of(self, body: int) -> str:
        """Return what to call a body in a message."""
        return super().name_of(body) if self.frame is None else f"body {self.frame.bodies.names[body]!r}"

    def grown(self, by: Floats | float) -> FrameVolumes:
        """Return boxes and spheres that hold everything nearer than `by` to these; a length, or (n,) one for each body."""
        grown = super().grown(by)
        assert isinstance(grown, FrameVolumes)
        return dataclasses.replace(grown, larger=self.larger + by)


def _put_elsewhere(frame: Frame, last: Frame) -> NDArray[np.bool_]:
    """Return (n,) whose motion starts neither where that of the last frame started nor where it ended: they were teleported."""
    elsewhere = np.zeros(len(frame), bool)
    if frame.bodies is last.bodies and frame.poses_t0 is last.poses and frame.vertices_t0 is last.vertices:
        return elsewhere
    _, known, row = np.intersect1d(frame.bodies.ids, last.bodies.ids, assume_unique=True, return_indices=True)
    start = frame.poses_t0[known]
    elsewhere[known] = (start != last.poses[row]).any(axis=(1, 2)) & (start != last.poses_t0[row]).any(axis=(1, 2))
    row_before = dict(zip(known.tolist(), row.tolist(), strict=True))
    for body in frame.bodies.deforming:
        if body in row_before:
            points, before = frame.vertices_t0[body], row_before[body]
            elsewhere[body] |= points is not last.vertices[before] and points is not last.vertices_t0[before]
    return elsewhere


def world_volumes(boxes: LocalBoxes, frame: Frame, clearance: float) -> Volumes:
    """Return the volumes of all bodies, grown so that bodies nearer than the clearance have volumes that meet."""
    lower, upper = boxes.in_the_world(frame)
    volumes = FrameVolumes(lower, upper, dt=frame.dt, frame=frame, fitted=boxes)
    # Half for each of the two.
    return volumes.grown(0.5 * clearance) if clearance > 0.0 else volumes


def broad_phase_of(value: str | BroadPhase, owner: str = "") -> BroadPhase:
    """Return the broad phase of a name such as "uniform_grid" or "priority_queue(speed=0.3)", or an instance itself.

    `owner` is whose setting it is, for messages.
    """
    names, of = ", ".join(sorted(BROAD_PHASES)), f"{owner}: " if owner else ""
    if isinstance(value, str):
        name, inside = name_and_rest(value, f"{of}broad phase")
        if name not in BROAD_PHASES:
            raise InputError(f"{of}there is no broad phase {name!r}; the broad phases are {names}")
        chosen: type[Any] = BROAD_PHASES[name]
        known = [each.name for each in dataclasses.fields(chosen)]
        whose = f"{of}broad phase {name}"
        settings = settings_written(inside, whose, known, f"it has {', '.join(known) or 'none'}")
        made: BroadPhase = made_with(chosen, settings, whose)
        return made
    if isinstance(value, type) or not cast.has(value, "start") or not callable(value.start) or cast.has(value, "traits"):
        raise InputError(f"{of}broad phase is {cast.shown(value)}; pass a name ({names}) or an instance such as UniformGrid()")
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
