"""MeshLib at its best.

Its coordinates are float32, its tree is of axis-aligned boxes. It has no call that limits its threads, but its scheduler
starts no more than the process may use, and that is one processor here (measured: one thread in the process).
Measured (blobs of 50,000 and 70,000 faces, ms): all pairs 2.35 under a transform and .57 without one (deforming bodies are
in world coordinates, so there it is without); first hit 1.87; build 69; of an update of 70,000 faces converting the
vertices takes .04, `updateCaches` (its refit) 6.0, a new tree 26. `findSelfCollidingTriangles` also reports faces that share
a vertex when they touch beyond it (8 of 736 here), which the question leaves out: dropped after the clock has stopped.
With `touchIsIntersection` it finds the same pairs in the same time. It has no manager of many bodies.
"""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np

from jostle._types import Floats, Ints
from jostle.bench.case import Case, Found, Job, Unable
from jostle.bench.peers.neighbours import without_neighbours


class MeshLib:
    """MeshLib's Python bindings."""

    def __init__(self) -> None:
        self.mm = importlib.import_module("meshlib.mrmeshpy")
        self.mn = importlib.import_module("meshlib.mrmeshnumpy")

    def ways(self, case: Case) -> dict[str, Job]:
        """Return the one variant of each scenario."""
        if case.scenario == "n-body":
            raise Unable("no manager of many bodies")
        if case.scenario == "continuous":
            raise Unable("no collision along a motion")
        make = {
            "pair-all": self._pair_all,
            "pair-first": self._pair_first,
            "build": self._build,
            "deform": self._deform,
            "self": self._self,
            "distance": self._distance,
            "batch-poses": self._batch,
        }
        return make[case.scenario](case)

    def _mesh(self, vertices: Floats, faces: Ints) -> Any:
        mesh = self.mn.meshFromFacesVerts(faces, vertices)
        mesh.getAABBTree()
        return mesh

    def _two(self, case: Case) -> tuple[Any, Any, Any]:
        a, b = (self._mesh(*case.mesh(body)) for body in range(2))
        # A MeshPart does not keep its mesh alive: the pair of meshes goes along, for the job to keep.
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
        find = self.mm.findCollidingTriangles
        a, b, alive = self._two(case)
        moved = self._transform(case.poses[0, 1])

        def run(_frame: int) -> Any:
            return find(a, b, moved, False)

        return {"findCollidingTriangles": Job(run, self._rows, keeps=alive)}

    def _pair_first(self, case: Case) -> dict[str, Job]:
        find = self.mm.findCollidingTriangles
        a, b, alive = self._two(case)
        moved = self._transform(case.poses[0, 1])

        def run(_frame: int) -> Any:
            return find(a, b, moved, True)

        return {"findCollidingTriangles": Job(run, lambda pairs: Found.flag(len(pairs) > 0), keeps=alive)}

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
        """Return the vertices of every frame as MeshLib's vectors, and the set of all vertices."""
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

        def found(pairs: Any) -> Found:
            return without_neighbours(case, *self._columns(pairs))

        note = "refit; it also reports neighbours that touch beyond what they share, left out of the comparison"
        return {"updateCaches, findSelfCollidingTriangles": Job(run, found, note=note)}

    def _distance(self, case: Case) -> dict[str, Job]:
        find = self.mm.findDistance
        a, b, alive = self._two(case)
        moved = self._transform(case.poses[0, 1])

        def run(_frame: int) -> Any:
            return find(a, b, moved)

        job = Job(run, lambda result: Found.value(float(result.distSq) ** 0.5), note="float32", keeps=alive)
        return {"findDistance": job}

    def _batch(self, case: Case) -> dict[str, Job]:
        a, b, alive = self._two(case)
        transforms = [self._transform(pose) for pose in case.poses[:, 1]]

        def run(_frame: int) -> Any:
            find = self.mm.findCollidingTriangles
            return [len(find(a, b, transform, True)) for transform in transforms]

        return {"Python loop": Job(run, lambda hits: Found("flags", np.array(hits) > 0), keeps=alive)}
