"""An instrumented method: the time of each `detect` call and its regions.

The laboratory measures wall time, the median over the rounds. A budget is kept or not in each single frame, on a busy machine too,
so the thread's CPU time and the wall time of each whole call are counted here. With `truth=True` rows are compared with those of
the exact engine, region by region (`lab/regions.py`), after the clock has stopped. The truth of a frame is computed when it is
first seen; where bodies deform, trees are built from its vertices. All results are counters of the report:

- `cpu_microseconds`, `wall_microseconds` of the call; `complete`: whether the search finished.
- `touching_faces`, `faces_reported`: touching faces, and those in regions with at least one reported row.
- `regions`, `regions_reported`; `large_regions`, `large_missed`: of at least `LARGE` pairs.
- `missed_for`: the number of frames for which a large region has been missed by now, the longest of them.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import NamedTuple

from jostle.interface.frame import Bodies, Frame
from jostle.interface.method import Detector, Method, OldToNew, Progress
from jostle.interface.overlay import Overlay
from jostle.interface.query import Query
from jostle.interface.traits import Traits
from jostle.lab.papers.monte_carlo.counted import with_counts
from jostle.lab.regions import MissedFor, Regions, regions_of
from jostle.lab.truth import EXACT_ENGINE, face_rows
from jostle.report.report import Report
from jostle.shapes.mesh import Mesh
from jostle.world.world import World

LARGE = 8  # pairs of faces
SAMPLES = 8  # vertices of a body


class Nothing(NamedTuple):
    """An empty shape; the world inside prepares its own."""

    faces: int


@dataclass(frozen=True)
class Instrumented:
    """Another method, instrumented.

    Parameters
    ----------
    method : Method
    truth : bool
        Whether to compare its rows with the truth.
    """

    method: Method
    truth: bool = False

    @property
    def finds_nothing(self) -> bool:
        """Whether the laboratory compares nothing."""
        return not self.truth

    @property
    def traits(self) -> Traits:
        """Those of the method."""
        return self.method.traits

    @property
    def shape_type(self) -> type:
        """The empty shape."""
        return Nothing

    def prepare_shape(self, mesh: Mesh, progress: Progress | None = None) -> Nothing:
        """Prepare nothing."""
        return Nothing(len(mesh.faces))

    def start(self, bodies: Bodies, shapes: tuple[Nothing, ...]) -> InstrumentedDetector:
        """Start a world of the method, which prepares its shapes now."""
        return InstrumentedDetector(self, bodies)


class InstrumentedDetector(Detector):
    """A world inside a world, with clocks and a comparison of regions."""

    def __init__(self, method: Instrumented, bodies: Bodies) -> None:
        self._method = method
        self._set_bodies(bodies)

    def _set_bodies(self, bodies: Bodies) -> None:
        self._world = _world_of(bodies, self._method.method)
        self._world.prepare()
        self._comparison = _RegionComparison(bodies) if self._method.truth else None

    def change(self, bodies: Bodies, shapes: tuple[Nothing, ...], old_to_new: OldToNew) -> None:
        """Start again."""
        self._set_bodies(bodies)

    def detect(self, frame: Frame, query: Query) -> Report:
        """Time the world inside, and compare afterwards."""
        _place(self._world, frame)
        wall, cpu = time.perf_counter_ns(), time.thread_time_ns()
        report = self._world.detect(query)
        cpu, wall = time.thread_time_ns() - cpu, time.perf_counter_ns() - wall
        counts = {"cpu_microseconds": cpu // 1000, "wall_microseconds": wall // 1000, "complete": int(report.complete)}
        if self._comparison is not None:
            counts |= self._comparison.counts(frame, report)
        return with_counts(report, counts)

    def overlay(self, frame: Frame, what: str) -> Overlay:
        """Show what the method shows."""
        _place(self._world, frame)
        return self._world.overlay(what)


class _RegionComparison:
    """The regions of each frame, and which of them are reported."""

    def __init__(self, bodies: Bodies) -> None:
        self._meshes = bodies.meshes
        self._exact = _world_of(bodies, EXACT_ENGINE)
        self._regions: dict[bytes, Regions] = {}
        self._missed_for = MissedFor(bodies.meshes)
        self._last = b""
        self._counts: dict[str, int] = {}

    def counts(self, frame: Frame, report: Report) -> dict[str, int]:
        """Return the counts of a frame; one that recurs later is not compared again."""
        key = _fingerprint(frame)
        again = key == self._last
        self._last = key
        if key in self._regions and not again:
            return self._counts
        if key not in self._regions:
            self._regions[key] = self._true_regions(frame)
        self._counts = self._compare(self._regions[key], report, again)
        return self._counts

    def _true_regions(self, frame: Frame) -> Regions:
        if frame.bodies.deforming:
            exact = _still_world_of(frame)
        else:
            exact = self._exact
            _place(exact, frame)
        return regions_of(face_rows(exact.detect()), self._meshes)

    def _compare(self, regions: Regions, report: Report, again: bool) -> dict[str, int]:
        reported = regions.reported(face_rows(report))
        large = regions.sizes >= LARGE
        longest = self._missed_for.follow(regions, ~reported, large, again)
        return {
            "touching_faces": regions.faces(),
            "faces_reported": regions.faces(reported),
            "regions": regions.count,
            "regions_reported": int(reported.sum()),
            "large_regions": int(large.sum()),
            "large_missed": int((large & ~reported).sum()),
            "missed_for": int(longest.max(initial=0)),
        }


def _world_of(bodies: Bodies, method: Method | str) -> World:
    world = World(method)
    for name, mesh, deformable in zip(bodies.names, bodies.meshes, bodies.deformable.tolist(), strict=True):
        world.add(mesh, name=name, deformable=deformable)
    return world


def _still_world_of(frame: Frame) -> World:
    """Return an exact world of one frame, in which nothing is refitted, as in `Truth`."""
    world, bodies = World(EXACT_ENGINE), frame.bodies
    for body, (name, mesh) in enumerate(zip(bodies.names, bodies.meshes, strict=True)):
        shape = Mesh(frame.vertices[body], mesh.faces, name=mesh.name, units=mesh.units) if bodies.deformable[body] else mesh
        world.add(shape, frame.poses[body], name)
    return world


def _fingerprint(frame: Frame) -> bytes:
    """Return the poses and some vertices of deforming bodies, which identify a frame."""
    samples = [frame.vertices[body][:: 1 + len(frame.vertices[body]) // SAMPLES] for body in frame.bodies.deforming]
    return b"".join([frame.poses.tobytes(), *(sample.tobytes() for sample in samples)])


def _place(world: World, frame: Frame) -> None:
    """Set the bodies of a world as in a frame."""
    world.dt = frame.dt
    world.set_poses(frame.poses)
    for body in frame.bodies.deforming:
        world[body].vertices = frame.vertices[body]
