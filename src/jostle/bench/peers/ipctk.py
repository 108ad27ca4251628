"""IPC Toolkit at its best.

It is made for continuous collision. At one instant it answers whether anything intersects (`has_intersections`), or which
faces have overlapping boxes; the latter is another question, and its rows say so. Measured (blobs of 50,000 and 70,000 faces,
ms): LBVH is its fastest broad phase, 91 for box candidates and 135 for `has_intersections`; HashGrid takes 210 and 297,
SpatialHash 367 and 439, SweepAndPrune 446 and 1,400. It takes vertices, not poses: they are moved before the clock starts, while
building its tree in each call is part of the timing.
"""

from __future__ import annotations

import importlib
from typing import Any, ClassVar

import numpy as np

from jostle._types import Floats
from jostle.bench.case import Case, Found, Job, Peer, Unable
from jostle.bench.peers.neighbours import without_neighbours
from jostle.geometry.rigid import transform_points

BOXES = "faces whose boxes overlap"
ANY = "whether anything touches at all"
ALMOST_ALL = 1.0 - 1e-7  # its additive search never ends at 1


def _instants(case: Case) -> list[tuple[int, Floats]]:
    """Return the frame and the poses of every instant whose vertices are needed."""
    if case.job in ("continuous", "poses"):
        return [(0, poses) for poses in case.poses]
    return [(frame, case.poses[0]) for frame in range(case.frame_count)]


class IpcToolkit(Peer):
    """IPC Toolkit's bindings: exact flags where possible, else box candidates."""

    unable: ClassVar = {
        "distance": "no distance of meshes",
        "n-body": "no manager of many bodies",
        "crowd": "no manager of many bodies",
        "batch-poses": "no poses: each would be a new tree",
    }

    def __init__(self) -> None:
        self.ipctk = importlib.import_module("ipctk")
        self.ipctk.set_num_threads(1)

    def _jobs(self, case: Case, *_settings: str) -> dict[str, Job]:
        if case.job == "continuous":
            return self._continuous(case)
        if case.job == "poses" and case.question in ("faces", "distance"):
            raise Unable("no face pairs and no distance of meshes")
        mesh, frames = self._merged(case)
        if case.job == "poses":
            return self._poses(case, mesh, frames)
        if case.job == "pair-first":
            return {"LBVH, has_intersections": self._any(mesh, frames)}
        if case.job == "build":
            return {"LBVH": self._build(case, mesh, frames)}
        jobs = {"LBVH, candidates": self._boxes(case, mesh, frames)}
        if case.job == "self":
            jobs["LBVH, has_intersections"] = self._any(mesh, frames, ANY)
        return jobs

    def _merged(self, case: Case) -> tuple[Any, list[Floats]]:
        """Return all bodies as one mesh without self-collisions, and its frames."""
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

        return Job(run, lambda touches: Found.flag(bool(touches)), other_question=other_question)

    def _poses(self, case: Case, mesh: Any, frames: list[Floats]) -> dict[str, Job]:
        """Return the job of many poses; nearest features are those that its barrier acts on."""
        ipctk, tree = self.ipctk, self.ipctk.LBVH()

        def touches(vertices: Floats) -> Any:
            return ipctk.has_intersections(mesh, vertices, tree)

        def distance(vertices: Floats) -> Any:
            near = ipctk.NormalCollisions()
            near.build(mesh, vertices, case.clearance, broad_phase=tree)
            return near.compute_minimum_distance(mesh, vertices) ** 0.5  # it is the squared one; inf if there are none

        ask = touches if case.question == "any" else distance
        job = Job(
            lambda _frame: [ask(vertices) for vertices in frames],
            lambda answers: Found.of_poses(case, answers),
            note="builds in each call",
        )
        return {"LBVH, has_intersections" if case.question == "any" else "LBVH, NormalCollisions": job}

    def _continuous(self, case: Case) -> dict[str, Job]:
        """Return the collision-free step by each of its two certified searches."""
        mesh, frames = self._merged(case)
        step = self.ipctk.compute_collision_free_stepsize
        # Without rescaling both find the contact itself; by default they stop at a fifth or a tenth of the first distance.
        searches = {
            "tight inclusion": self.ipctk.TightInclusionCCD(conservative_rescaling=1.0),
            "additive": self.ipctk.AdditiveCCD(conservative_rescaling=ALMOST_ALL),
        }

        def job(search: Any) -> Job:
            def run(_frame: int) -> Any:
                return step(mesh, frames[0], frames[1], broad_phase=self.ipctk.LBVH(), narrow_phase_ccd=search)

            return Job(run, lambda time: Found.value(np.inf if time == 1.0 else time), note="names no faces")

        return {f"LBVH, {name}": job(search) for name, search in searches.items()}

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
            return without_neighbours(case, pairs[:, 0], pairs[:, 1])
        pairs.sort(axis=1)
        return Found.rows(pairs[:, 0], pairs[:, 1] - len(case.mesh(0)[1]))
