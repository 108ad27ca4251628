"""libigl at its best.

What it has of the kind are CGAL's exact intersections behind `intersect_other` and `remesh_self_intersections`, both with
`detect_only`. They are exact and stateless: everything is built anew in each call, and poses are unknown to them, so the
vertices are moved before the clock starts. Measured (blobs of 50,000 and 70,000 faces, ms): all pairs 51, first hit 14,
self-collision of 50,000 faces 238. As MeshLib does, the latter also reports neighbours that touch beyond what they share.
"""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np

from jostle._types import Floats
from jostle.bench.case import Case, Found, Job, Unable
from jostle.bench.peers.neighbours import without_neighbours
from jostle.geometry.rigid import transform_points

_REASONS = {
    "build": "no tree to keep: everything is built in each query",
    "distance": "no distance of meshes, only of points to a mesh",
    "batch-poses": "no poses: each would be a query from scratch",
    "n-body": "no manager of many bodies",
    "continuous": "no collision along a motion",
}


class Libigl:
    """libigl's Python bindings, with the CGAL functions that it wraps."""

    def __init__(self) -> None:
        self.cgal = importlib.import_module("igl.copyleft.cgal")

    def ways(self, case: Case) -> dict[str, Job]:
        """Return the one variant of each scenario."""
        if case.scenario in _REASONS:
            raise Unable(_REASONS[case.scenario])
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

        return Job(run, found, note="builds anew in each call")

    def _self(self, case: Case) -> Job:
        find, faces = self.cgal.remesh_self_intersections, case.mesh(0)[1].astype(np.int64)

        def run(frame: int) -> Any:
            return find(case.local_vertices(0, frame), faces, detect_only=True)

        def found(result: Any) -> Found:
            pairs = result[2]
            return without_neighbours(case, pairs[:, 0].tolist(), pairs[:, 1].tolist())

        note = "builds anew; it also reports neighbours that touch beyond what they share, left out of the comparison"
        return Job(run, found, note=note)
