"""libigl at its best.

It wraps CGAL's exact intersections as `intersect_other` and `remesh_self_intersections`, both with `detect_only`. They are
exact and stateless: each call builds everything, and they take no poses, so vertices are moved before the clock starts.
Measured (blobs of 50,000 and 70,000 faces, ms): all pairs 51, first hit 14, self-collision of 50,000 faces 238. Like MeshLib,
the latter also reports neighbours that touch beyond their shared vertices.
"""

from __future__ import annotations

import importlib
from typing import Any, ClassVar

import numpy as np

from jostle._types import Floats
from jostle.bench.case import Case, Found, Job, Peer
from jostle.bench.peers.neighbours import without_neighbours
from jostle.geometry.rigid import transform_points


class Libigl(Peer):
    """libigl's Python bindings, with the CGAL functions that it wraps."""

    unable: ClassVar = {
        "build": "no tree to keep: everything is built in each query",
        "distance": "no distance of meshes, only of points to a mesh",
        "batch-poses": "no poses: each would be a query from scratch",
        "n-body": "no manager of many bodies",
        "continuous": "no collision along a motion",
    }

    def __init__(self) -> None:
        self.cgal = importlib.import_module("igl.copyleft.cgal")

    def _jobs(self, case: Case, *_settings: str) -> dict[str, Job]:
        if case.scenario == "self":
            return {"remesh_self_intersections": self._self(case)}
        return {"intersect_other": self._intersect(case, first_only=case.scenario == "pair-first")}

    def _intersect(self, case: Case, first_only: bool) -> Job:
        intersect = self.cgal.intersect_other
        faces_a, faces_b = (case.mesh(body)[1].astype(np.int64) for body in range(2))
        frames: list[list[Floats]] = [
            [transform_points(case.poses[0, body], case.local_vertices(body, frame)) for body in range(2)]
            for frame in range(case.frame_count)
        ]

        def run(frame: int) -> Any:
            a, b = frames[frame]
            return intersect(a, faces_a, b, faces_b, detect_only=True, first_only=first_only)

        def found(result: Any) -> Found:
            return Found.flag(len(result[0]) > 0) if first_only else Found.rows(result[0][:, 0], result[0][:, 1])

        return Job(run, found, note="builds in each call")

    def _self(self, case: Case) -> Job:
        find, faces = self.cgal.remesh_self_intersections, case.mesh(0)[1].astype(np.int64)

        def run(frame: int) -> Any:
            return find(case.local_vertices(0, frame), faces, detect_only=True)

        note = "builds in each call; its touching neighbours are left out of the comparison"
        return Job(run, lambda result: without_neighbours(case, result[2][:, 0], result[2][:, 1]), note=note)
