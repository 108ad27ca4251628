"""A method whose shapes are rebuilt whenever a body deforms, like RAPID's trees.

The shape of a deforming body is prepared from the vertices of each frame, as part of the frame's time. The counters
`build_microseconds` and `query_microseconds` separate construction and query, as in table 1 ("42/4.4").
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from jostle.interface.frame import Bodies, Frame
from jostle.interface.method import Detector, Method, OldToNew, Progress
from jostle.interface.overlay import Overlay
from jostle.interface.query import Query
from jostle.interface.traits import Traits
from jostle.lab.papers.monte_carlo.counted import with_counts
from jostle.report.report import Report, replaced
from jostle.shapes.mesh import Mesh

BUILD, QUERY = "build_microseconds", "query_microseconds"


@dataclass(frozen=True)
class Rebuilt:
    """Another method, with shapes rebuilt in each frame."""

    method: Method

    @property
    def traits(self) -> Traits:
        """Those of the method."""
        return self.method.traits

    @property
    def shape_type(self) -> type:
        """That of the method."""
        return self.method.shape_type

    def prepare_shape(self, mesh: Mesh, progress: Progress | None = None) -> Any:
        """Prepare a mesh at rest."""
        return self.method.prepare_shape(mesh, progress)

    def start(self, bodies: Bodies, shapes: tuple[Any, ...]) -> RebuildingDetector:
        """Start the method."""
        return RebuildingDetector(self.method, bodies, shapes)


class RebuildingDetector(Detector):
    """Another detector, restarted when shapes are rebuilt."""

    def __init__(self, method: Method, bodies: Bodies, shapes: tuple[Any, ...]) -> None:
        self._method = method
        self._set_bodies(bodies, shapes)

    def _set_bodies(self, bodies: Bodies, shapes: tuple[Any, ...]) -> None:
        self._shapes = list(shapes)
        self._vertices = [mesh.vertices for mesh in bodies.meshes]
        self._bodies = _all_rigid(bodies)
        self._detector = self._method.start(self._bodies, shapes)

    def change(self, bodies: Bodies, shapes: tuple[Any, ...], old_to_new: OldToNew) -> None:
        """Start again."""
        self._set_bodies(bodies, shapes)

    def detect(self, frame: Frame, query: Query) -> Report:
        """Rebuild deformed shapes, then detect."""
        begin = time.perf_counter_ns()
        changed = [body for body in frame.bodies.deforming if frame.vertices[body] is not self._vertices[body]]
        if changed:
            meshes = list(frame.bodies.meshes)
            for body in frame.bodies.deforming:
                self._vertices[body] = frame.vertices[body]
                meshes[body] = Mesh(frame.vertices[body], meshes[body].faces, name=meshes[body].name)
            for body in changed:
                self._shapes[body] = self._method.prepare_shape(meshes[body])
            self._bodies = _all_rigid(replace(frame.bodies, meshes=tuple(meshes)))
            self._detector = self._method.start(self._bodies, tuple(self._shapes))
        middle = time.perf_counter_ns() if changed else begin
        report = self._detector.detect(replaced(frame, bodies=self._bodies), query)
        end = time.perf_counter_ns()
        return with_counts(report, {BUILD: (middle - begin) // 1000, QUERY: (end - middle) // 1000})

    def overlay(self, frame: Frame, what: str) -> Overlay:
        """Show what the method shows."""
        return self._detector.overlay(replaced(frame, bodies=self._bodies), what)


def _all_rigid(bodies: Bodies) -> Bodies:
    """Return the bodies marked as rigid."""
    return replace(bodies, deformable=np.zeros(len(bodies), bool))
