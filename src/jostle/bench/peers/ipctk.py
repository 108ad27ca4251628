"""IPC Toolkit at its best.

Its business is continuous collision; of one instant it tells whether there is any intersection (`has_intersections`), or
which faces have overlapping boxes (broad phase only). The second is another question, and its rows say so.
Measured (blobs of 50,000 and 70,000 faces, ms): of its broad phases LBVH is the fastest, 91 for box candidates and 135 for
`has_intersections`; HashGrid 210 and 297, SpatialHash 367 and 439, SweepAndPrune 446 and 1,400. It knows vertices, not poses:
they are moved before the clock starts, and it builds its tree anew each time, which is part of the work.
"""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np

from jostle._types import Floats
from jostle.bench.case import Case, Found, Job, Unable
from jostle.bench.peers.neighbours import without_neighbours
from jostle.geometry.rigid import transform_points

BOXES = "faces whose boxes overlap"
ANY = "whether anything touches at all"
ALMOST_ALL = 1.0 - 1e-7  # of the way: its additive search never ends for the whole


def _instants(case: Case) -> list[tuple[int, Floats]]:
    """The frame and the poses of every instant that it needs the vertices of."""
    if case.scenario == "continuous":
        return [(0, poses) for poses in case.poses]
    return [(frame, case.poses[0]) for frame in range(case.frame_count)]


class IpcToolkit:
    """The IPC Toolkit's Python bindings."""

    def __init__(self) -> None:
        self.ipctk = importlib.import_module("ipctk")
        self.ipctk.set_num_threads(1)

    def ways(self, case: Case) -> dict[str, Job]:
        """Return exact yes or no answers where possible, and box candidates for pairs."""
        if case.scenario in ("distance", "n-body", "batch-poses"):
            reasons = {
                "distance": "no distance of meshes",
                "n-body": "no manager of many bodies",
                "batch-poses": "no poses: each would be a new tree",
            }
            raise Unable(reasons[case.scenario])
        if case.scenario == "continuous":
            return self._continuous(case)
        mesh, frames = self._merged(case)
        if case.scenario == "pair-first":
            return {"LBVH, has_intersections": self._any(mesh, frames)}
        if case.scenario == "build":
            return {"LBVH": self._build(case, mesh, frames)}
        ways = {"LBVH, candidates": self._boxes(case, mesh, frames)}
        if case.scenario == "self":
            ways["LBVH, has_intersections"] = self._any(mesh, frames, ANY)
        return ways

    def _merged(self, case: Case) -> tuple[Any, list[Floats]]:
        """Return all bodies as one mesh in which only different bodies collide, and its vertices per frame."""
        ipctk = self.ipctk
        count = len(case.mesh_of_body)
        starts = np.cumsum([0, *(len(case.mesh(body)[0]) for body in range(count))])
        faces = np.vstack([case.mesh(body)[1] + starts[body] for body in range(count)]).astype(np.int32)
        frames = [
            np.asfortranarray(np.vstack([transform_points(poses[body], case.local_vertices(body, frame)) for body in range(count)]))
            for frame, poses in _instants(case)
        ]
        self.faces, self.edges = faces, ipctk.edges(faces)
        mesh = ipctk.CollisionMesh(frames[0], self.edges, faces)
        if not case.itself:
            mesh.can_collide = ipctk.make_vertex_patches_filter(np.repeat(np.arange(count, dtype=np.int32), np.diff(starts)))
        return mesh, frames

    def _tree(self, mesh: Any, vertices: Floats) -> Any:
        tree = self.ipctk.LBVH()
        tree.can_vertices_collide = mesh.can_collide
        tree.build(vertices, self.edges, self.faces)
        return tree

    def _any(self, mesh: Any, frames: list[Floats], other_question: str = "") -> Job:
        tree = self.ipctk.LBVH()

        def run(frame: int) -> Any:
            return self.ipctk.has_intersections(mesh, frames[frame], tree)

        def found(touches: Any) -> Found:
            return Found.flag(bool(touches))

        return Job(run, found, other_question=other_question)

    def _continuous(self, case: Case) -> dict[str, Job]:
        """Return the collision-free step by each of its two certified searches; 1.0 if there is no contact."""
        mesh, frames = self._merged(case)
        step = self.ipctk.compute_collision_free_stepsize
        # Without rescaling both look for the contact itself; their defaults stop at a fifth or a tenth of the first distance.
        searches = {
            "tight inclusion": self.ipctk.TightInclusionCCD(conservative_rescaling=1.0),
            "additive": self.ipctk.AdditiveCCD(conservative_rescaling=ALMOST_ALL),
        }

        def job(search: Any, note: str) -> Job:
            def run(_frame: int) -> Any:
                return step(mesh, frames[0], frames[1], broad_phase=self.ipctk.LBVH(), narrow_phase_ccd=search)

            return Job(run, lambda time: Found.value(np.inf if time == 1.0 else time), note=note)

        note = "no faces are told"
        return {f"LBVH, {name}": job(search, note) for name, search in searches.items()}

    def _boxes(self, case: Case, mesh: Any, frames: list[Floats]) -> Job:
        def run(frame: int) -> Any:
            return self._tree(mesh, frames[frame]).detect_face_face_candidates()

        return Job(run, lambda candidates: self._rows(case, candidates), other_question=BOXES)

    def _build(self, case: Case, mesh: Any, frames: list[Floats]) -> Job:
        def run(_frame: int) -> Any:
            return self._tree(mesh, frames[0])

        def found(tree: Any) -> Found:
            return self._rows(case, tree.detect_face_face_candidates())

        return Job(run, found, note="no poses: good for one only", other_question=BOXES)

    def _rows(self, case: Case, candidates: Any) -> Found:
        pairs = np.array([(each.face0_id, each.face1_id) for each in candidates], np.int64).reshape(-1, 2)
        if case.itself:
            return without_neighbours(case, pairs[:, 0].tolist(), pairs[:, 1].tolist())
        pairs.sort(axis=1)
        return Found.rows(pairs[:, 0], pairs[:, 1] - len(case.mesh(0)[1]))
