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
from jostle.bench.case import Case, Found, Job, Peer, Unable
from jostle.bench.peers.neighbours import without_neighbours
from jostle.geometry.rigid import transform_points


class Libigl(Peer):
    """libigl's Python bindings, with the CGAL functions that it wraps."""

    unable: ClassVar = {
        "build": "no tree to keep: everything is built in each query",
        "distance": "no distance of meshes, only of points to a mesh",
        "batch-poses": "no poses: each would be a query from scratch",
        "n-body": "no manager of many bodies",
        "crowd": "no manager of many bodies, and each pair would be a query from scratch",
        "continuous": "no collision along a motion",
    }

    def __init__(self) -> None:
        self.cgal = importlib.import_module("igl.copyleft.cgal")

    def _jobs(self, case: Case, *_settings: str) -> dict[str, Job]:
        if case.job == "self":
            return {"remesh_self_intersections": self._self(case)}
        if case.job == "poses":
            return {"intersect_other": self._poses(case)}
        return {"intersect_other": self._intersect(case, first_only=case.job == "pair-first")}

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

    def _poses(self, case: Case) -> Job:
        if case.question not in ("faces", "any"):
            raise Unable(self.unable["distance"])
        intersect, first_only = self.cgal.intersect_other, case.question == "any"
        vertices, (other, _) = case.mesh(0)[0], case.mesh(1)
        faces_a, faces_b = (case.mesh(body)[1].astype(np.int64) for body in range(2))
        placed = [transform_points(pose, other) for pose in case.poses[:, 1]]

        def run(_frame: int) -> Any:
            return [intersect(vertices, faces_a, each, faces_b, detect_only=True, first_only=first_only) for each in placed]

        def found(answers: Any) -> Found:
            if first_only:
                return Found.of_poses(case, [len(result[0]) for result in answers])
            return Found.of_poses(case, [(result[0][:, 0], result[0][:, 1]) for result in answers])

        return Job(run, found, note="builds in each call")

    def _self(self, case: Case) -> Job:
        find, faces = self.cgal.remesh_self_intersections, case.mesh(0)[1].astype(np.int64)

        def run(frame: int) -> Any:
            return find(case.local_vertices(0, frame), faces, detect_only=True)

        note = "builds in each call; its touching neighbours are left out of the comparison"
        return Job(run, lambda result: without_neighbours(case, result[2][:, 0], result[2][:, 1]), note=note)
