"""MeshLib at its best.

It has float32 coordinates and a tree of axis-aligned boxes. No call limits its threads, but its scheduler starts no more than
the process may use, which is one processor here (measured: one thread). Measured (blobs of 50,000 and 70,000 faces, ms): all
pairs 2.35 with a transform and .57 without (deforming bodies are in world coordinates and need none); first hit 1.87; build 69;
for 70,000 faces converting vertices takes .04, `updateCaches` (its refit) 6.0, a new tree 26. `findSelfCollidingTriangles` also
reports faces that share a vertex and touch beyond it (8 of 736 here); they are dropped after the clock has stopped.
`touchIsIntersection` finds the same pairs in the same time. It has no manager of many bodies.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np

from jostle._types import Floats, Ints
from jostle.bench.case import Case, Found, Job, Peer
from jostle.bench.peers.neighbours import without_neighbours
from jostle.bench.peers.overlapping_boxes import OverlappingBoxes

FARTHEST = 3.4e38  # its default: no limit


class MeshLib(Peer):
    """MeshLib's Python bindings."""

    unable: ClassVar = {"n-body": "no manager of many bodies", "continuous": "no collision along a motion"}

    def __init__(self) -> None:
        self.mm = importlib.import_module("meshlib.mrmeshpy")
        self.mn = importlib.import_module("meshlib.mrmeshnumpy")

    def _mesh(self, vertices: Floats, faces: Ints) -> Any:
        mesh = self.mn.meshFromFacesVerts(faces, vertices)
        mesh.getAABBTree()
        return mesh

    def _two(self, case: Case) -> tuple[Any, Any, Any]:
        a, b = (self._mesh(*case.mesh(body)) for body in range(2))
        # A MeshPart does not keep its mesh alive; the job does.
        return self.mm.MeshPart(a), self.mm.MeshPart(b), (a, b)

    def _transform(self, pose: Floats) -> Any:
        mm = self.mm
        rows = [mm.Vector3f(*(float(x) for x in pose[k, :3])) for k in range(3)]
        return mm.AffineXf3f(mm.Matrix3f(*rows), mm.Vector3f(*(float(x) for x in pose[:3, 3])))

    @staticmethod
    def _columns(pairs: Any) -> tuple[list[int], list[int]]:
        return [int(pair.aFace) for pair in pairs], [int(pair.bFace) for pair in pairs]

    def _rows(self, pairs: Any) -> Found:
        return Found.rows(*self._columns(pairs))

    def _pair_all(self, case: Case) -> dict[str, Job]:
        return self._collide(case, False, self._rows)

    def _pair_first(self, case: Case) -> dict[str, Job]:
        return self._collide(case, True, lambda pairs: Found.flag(len(pairs) > 0))

    def _collide(self, case: Case, first_only: bool, found: Callable[[Any], Found]) -> dict[str, Job]:
        find = self.mm.findCollidingTriangles
        a, b, alive = self._two(case)
        moved = self._transform(case.poses[0, 1])
        return {"findCollidingTriangles": Job(lambda _frame: find(a, b, moved, first_only), found, keeps=alive)}

    def _build(self, case: Case) -> dict[str, Job]:
        moved = self._transform(case.poses[0, 1])

        def run(_frame: int) -> Any:
            return self._mesh(*case.mesh(0)), self._mesh(*case.mesh(1))

        def found(meshes: Any) -> Found:
            a, b = (self.mm.MeshPart(mesh) for mesh in meshes)
            return self._rows(self.mm.findCollidingTriangles(a, b, moved, False))

        return {"meshFromFacesVerts, getAABBTree": Job(run, found)}

    def _update(self, mesh: Any, vector: Any, all_vertices: Any) -> None:
        mesh.points.vec = vector
        mesh.updateCaches(all_vertices)

    def _vectors(self, case: Case, body: int) -> tuple[list[Any], Any]:
        """Return the vertices of every frame, and the set of all, in MeshLib's types."""
        vectors = [self.mn.fromNumpyArray(case.local_vertices(body, frame)) for frame in range(case.frame_count)]
        return vectors, self.mn.vertBitSetFromBools(np.ones(len(case.mesh(body)[0]), bool))

    def _deform(self, case: Case) -> dict[str, Job]:
        find = self.mm.findCollidingTriangles
        a, b, (mesh_a, mesh_b) = self._two(case)
        (vectors_a, all_a), (vectors_b, all_b) = (self._vectors(case, body) for body in range(2))

        def run(frame: int) -> Any:
            self._update(mesh_a, vectors_a[frame], all_a)
            self._update(mesh_b, vectors_b[frame], all_b)
            return find(a, b, None, False)

        return {"updateCaches, findCollidingTriangles": Job(run, self._rows, note="refit")}

    def _self(self, case: Case) -> dict[str, Job]:
        find = self.mm.findSelfCollidingTriangles
        mesh = self._mesh(*case.mesh(0))
        part = self.mm.MeshPart(mesh)
        vectors, all_vertices = self._vectors(case, 0)

        def run(frame: int) -> Any:
            self._update(mesh, vectors[frame], all_vertices)
            return find(part)

        note = "refit; its touching neighbours are left out of the comparison"
        job = Job(run, lambda pairs: without_neighbours(case, *self._columns(pairs)), note=note)
        return {"updateCaches, findSelfCollidingTriangles": job}

    def _distance(self, case: Case) -> dict[str, Job]:
        find = self.mm.findDistance
        a, b, alive = self._two(case)
        moved = self._transform(case.poses[0, 1])

        def run(_frame: int) -> Any:
            return find(a, b, moved)

        return {"findDistance": Job(run, lambda result: Found.value(float(result.distSq) ** 0.5), note="float32", keeps=alive)}

    def _batch_poses(self, case: Case) -> dict[str, Job]:
        a, b, alive = self._two(case)
        transforms = [self._transform(pose) for pose in case.poses[:, 1]]

        def run(_frame: int) -> Any:
            find = self.mm.findCollidingTriangles
            return [len(find(a, b, transform, True)) for transform in transforms]

        return {"Python loop": Job(run, lambda hits: Found("flags", np.array(hits) > 0), keeps=alive)}

    def _poses(self, case: Case) -> dict[str, Job]:
        mm = self.mm
        a, b, alive = self._two(case)
        transforms = [self._transform(pose) for pose in case.poses[:, 1]]
        ask = mm.findCollidingTriangles
        limit: float = case.question == "any"  # whether to stop at the first
        if case.question not in ("faces", "any"):  # beyond its limit a search of distances ends
            ask, limit = mm.findDistance, FARTHEST if case.question == "distance" else case.clearance**2 * (1.0 + 1e-6)

        def run(_frame: int) -> Any:
            return [ask(a, b, transform, limit) for transform in transforms]

        def found(answers: Any) -> Found:
            if case.question == "faces":
                return Found.of_poses(case, [self._columns(pairs) for pairs in answers])
            if case.question == "any":
                return Found.of_poses(case, [len(pairs) for pairs in answers])
            return Found.of_poses(case, [float(result.distSq) ** 0.5 if result.distSq < limit else np.inf for result in answers])

        return {ask.__name__: Job(run, found, note="Python loop, float32", keeps=alive)}

    def _crowd(self, case: Case) -> dict[str, Job]:
        """Return the job of many bodies, with boxes of our own: it has no manager.

        Transforms to the other body are made inside the clock, as they depend on the pair.
        """
        find, boxes = self.mm.findCollidingTriangles, OverlappingBoxes(case)
        mesh = self._mesh(*case.mesh(0))
        part = self.mm.MeshPart(mesh)
        transforms = [[self._transform(pose) for pose in poses] for poses in case.poses]
        backwards = [[transform.inverse() for transform in each] for each in transforms]
        first_only = case.question == "bodies"

        def run(frame: int) -> Any:
            placed, back = transforms[frame], backwards[frame]
            return [(a, b, find(part, part, back[a] * placed[b], first_only)) for a, b in boxes.pairs(frame)]

        def found(answers: Any) -> Found:
            return Found.of_bodies([(a, b, *self._columns(pairs)) for a, b, pairs in answers])

        return {"NumPy boxes, Python loop": Job(run, found, note="float32", keeps=mesh)}
