"""A method in a world of its own that is watched: what each call of `detect` takes, and which regions of contact it reports.

The laboratory's clock tells wall time, the median over the rounds. A budget is held or not in each single frame, and a busy machine
must not blur that: here the thread's CPU time and the wall time of each call are counted, of the whole call that a user makes.
With `truth=True` its rows are compared with those of the exact engine, region by region (`lab/regions.py`), after the clock has
stopped; what was true in a frame is found when the frame is first seen, where bodies deform by trees that are built from the
vertices of that very frame. All of it travels as counters of the report:

- `cpu_microseconds`, `wall_microseconds`: of the call; `complete`: whether it was at its end.
- `touching_faces`, `faces_reported`: faces that touch, and those of them in regions with at least one reported row.
- `regions`, `regions_reported`; `large_regions`, `large_missed`: of at least `LARGE` pairs.
- `missed_for`: for how many frames the large region that is missed longest has been missed by now.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from jostle.interface.frame import Bodies, Frame
from jostle.interface.method import Detector, Method, OldToNew, Progress
from jostle.interface.overlay import Overlay
from jostle.interface.query import Query
from jostle.interface.traits import Traits
from jostle.lab.papers.monte_carlo.counted import with_counts
from jostle.lab.regions import MissedFor, Regions, regions_of
from jostle.lab.truth import EXACT_ENGINE
from jostle.report.report import Report
from jostle.shapes.mesh import Mesh
from jostle.world.world import World

LARGE = 8  # pairs of faces
SAMPLES = 8  # vertices of a body


class Nothing(NamedTuple):
    """What is prepared of a mesh: nothing. The world inside prepares its own."""

    faces: int


@dataclass(frozen=True)
class Watched:
    """Another method, watched.

    Parameters
    ----------
    method : Method
    truth : bool
        Whether its rows are compared with the truth.
    """

    method: Method
    truth: bool = False

    @property
    def finds_nothing(self) -> bool:
        """Without the truth the laboratory compares nothing either: it is there for its time."""
        return not self.truth

    @property
    def traits(self) -> Traits:
        """Those of the method."""
        return self.method.traits

    @property
    def shape_type(self) -> type:
        """Nothing."""
        return Nothing

    def prepare_shape(self, mesh: Mesh, progress: Progress | None = None) -> Nothing:
        """Prepare nothing."""
        return Nothing(len(mesh.faces))

    def start(self, bodies: Bodies, shapes: tuple[Nothing, ...]) -> WatchedDetector:
        """Begin watching; the method prepares its shapes now."""
        return WatchedDetector(self, bodies)


class WatchedDetector(Detector):
    """A world inside a world, and a watch."""

    def __init__(self, method: Watched, bodies: Bodies) -> None:
        self._watched = method
        self._set_bodies(bodies)

    def _set_bodies(self, bodies: Bodies) -> None:
        self._world = _world_of(bodies, self._watched.method)
        self._world.prepare()
        self._watch = _RegionWatch(bodies) if self._watched.truth else None

    def change(self, bodies: Bodies, shapes: tuple[Nothing, ...], old_to_new: OldToNew) -> None:
        """Begin again."""
        self._set_bodies(bodies)

    def detect(self, frame: Frame, query: Query) -> Report:
        """Ask the world inside, on the clock, and compare afterwards."""
        _place(self._world, frame)
        wall, cpu = time.perf_counter_ns(), time.thread_time_ns()
        report = self._world.detect(query)
        cpu, wall = time.thread_time_ns() - cpu, time.perf_counter_ns() - wall
        counts = {"cpu_microseconds": cpu // 1000, "wall_microseconds": wall // 1000, "complete": int(report.complete)}
        if self._watch is not None:
            counts |= self._watch.compared(frame, report)
        return with_counts(report, counts)

    def overlay(self, frame: Frame, what: str) -> Overlay:
        """Show what the method shows."""
        _place(self._world, frame)
        return self._world.overlay(what)


class _RegionWatch:
    """The regions of each frame, and which of them are reported."""

    def __init__(self, bodies: Bodies) -> None:
        self._meshes = bodies.meshes
        self._exact = _world_of(bodies, EXACT_ENGINE)
        self._regions: dict[bytes, Regions] = {}
        self._missed_for = MissedFor(bodies.meshes)
        self._last = b""
        self._counts: dict[str, int] = {}

    def compared(self, frame: Frame, report: Report) -> dict[str, int]:
        """Return the counts of a frame. Frames follow each other; one that comes again later is not compared a second time."""
        key = _mark(frame)
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
        return regions_of(_rows_of(exact.detect()), self._meshes)

    def _compare(self, regions: Regions, report: Report, again: bool) -> dict[str, int]:
        reported = regions.reported(_rows_of(report))
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
    """A world of the exact engine that has seen no other frame: nothing in it is fitted again, as nothing is in `Truth`."""
    world, bodies = World(EXACT_ENGINE), frame.bodies
    for body, (name, mesh) in enumerate(zip(bodies.names, bodies.meshes, strict=True)):
        shape = Mesh(frame.vertices[body], mesh.faces, name=mesh.name, units=mesh.units) if bodies.deformable[body] else mesh
        world.add(shape, frame.poses[body], name)
    return world


def _mark(frame: Frame) -> bytes:
    """What tells a frame from others: its poses, and some of the vertices of bodies that deform."""
    samples = [frame.vertices[body][:: 1 + len(frame.vertices[body]) // SAMPLES] for body in frame.bodies.deforming]
    return b"".join([frame.poses.tobytes(), *(sample.tobytes() for sample in samples)])


def _place(world: World, frame: Frame) -> None:
    """Bring the bodies of a world where a frame has them."""
    world.dt = frame.dt
    world.set_poses(frame.poses)
    for body in frame.bodies.deforming:
        world[body].vertices = frame.vertices[body]


def _rows_of(report: Report) -> NDArray[np.int64]:
    contacts = report.contacts
    columns = (contacts.body_a, contacts.body_b, contacts.face_a, contacts.face_b)
    return np.stack(columns, axis=1).astype(np.int64)
