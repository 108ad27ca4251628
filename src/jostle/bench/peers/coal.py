"""Coal at its best.

Of its trees Python sees OBB and OBBRSS: either may be the faster, so both run. Measured (blobs of 50,000 and 70,000 faces,
ms): all pairs 2.56 / 2.49 (OBB / OBBRSS), first hit .029 / .019, build 190 / 304, refit of 70,000 faces bottom up 25 / 94
(top down 94 / 142). Replacing vertices wants its own vector type, 7 ms for 35,000 points: made before the clock starts, as
are transforms. (Writing through `vertices()` is possible, but `endReplaceModel` then refuses.)
Many bodies: of its managers the dynamic AABB tree in an array is the fastest (203 ms to collide 10,000 bodies, the others
233 to 291; SaP loses pairs after an update). Python can use the C++ callback only: a callback class of one's own cannot be
instantiated, and collected pairs do not convert. With a tree shared by all bodies that one does not tell which bodies the
faces belong to; with a tree for each body it does. Asked for one contact, it stops at the first touching pair of all.
"""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np

from jostle._types import Floats, Ints
from jostle.bench.case import Case, Found, Job, Unable

ALL = 10**7
TREES = {"OBB": "BVHModelOBB", "OBBRSS": "BVHModelOBBRSS"}


class Coal:
    """Coal's own Python bindings."""

    def __init__(self) -> None:
        self.coal = importlib.import_module("coal")
        self.identity = self.coal.Transform3s.Identity()

    def ways(self, case: Case) -> dict[str, Job]:
        """Return one variant per kind of tree."""
        if case.scenario == "self":
            raise Unable("no self-collision: a mesh against itself reports every face with itself and its neighbours")
        if case.scenario == "continuous":
            raise Unable("no collision of meshes along a motion")
        if case.scenario == "n-body":
            return {name: job for tree in TREES for name, job in self._n_body(case, tree).items()}
        make = {
            "pair-all": self._pair_all,
            "pair-first": self._pair_first,
            "build": self._build,
            "deform": self._deform,
            "distance": self._distance,
            "batch-poses": self._batch,
        }
        return {tree: make[case.scenario](case, tree) for tree in TREES}

    def tree(self, kind: str, vertices: Floats, faces: Any) -> Any:
        """Build a tree; faces must be int64 already, or the bindings refuse them."""
        model = getattr(self.coal, TREES[kind])()
        model.beginModel(len(faces), len(vertices))
        model.addVertices(vertices)
        model.addTriangles(faces)
        model.endModel()
        return model

    def transform(self, pose: Floats) -> Any:
        """Return a pose (4, 4) as the library has it."""
        return self.coal.Transform3s(np.ascontiguousarray(pose[:3, :3]), np.ascontiguousarray(pose[:3, 3]))

    def _two(self, case: Case, kind: str) -> tuple[Any, Any, Any]:
        a, b = (self.tree(kind, case.mesh(body)[0], long_faces(case.mesh(body)[1])) for body in range(2))
        return a, b, self.transform(case.poses[0, 1])

    def request(self, most: int) -> Any:
        """Return a question for at most so many pairs of faces."""
        request = self.coal.CollisionRequest()
        request.num_max_contacts = most
        request.enable_contact = False
        return request

    def _collide_all(self, a: Any, b: Any, moved: Any, request: Any) -> Any:
        result = self.coal.CollisionResult()
        self.coal.collide(a, self.identity, b, moved, request, result)
        return result

    @staticmethod
    def _rows(result: Any) -> Found:
        contacts = result.getContacts()
        return Found.rows([contact.b1 for contact in contacts], [contact.b2 for contact in contacts])

    def _pair_all(self, case: Case, kind: str) -> Job:
        a, b, moved = self._two(case, kind)
        request = self.request(ALL)
        return Job(lambda _frame: self._collide_all(a, b, moved, request), self._rows)

    def _pair_first(self, case: Case, kind: str) -> Job:
        coal, identity, request, result = self.coal, self.identity, self.request(1), self.coal.CollisionResult()
        a, b, moved = self._two(case, kind)

        def run(_frame: int) -> Any:
            result.clear()
            return coal.collide(a, identity, b, moved, request, result)

        return Job(run, lambda count: Found.flag(count > 0))

    def _build(self, case: Case, kind: str) -> Job:
        moved, request = self.transform(case.poses[0, 1]), self.request(ALL)
        meshes = [(case.mesh(body)[0], long_faces(case.mesh(body)[1])) for body in range(2)]

        def run(_frame: int) -> Any:
            return [self.tree(kind, *mesh) for mesh in meshes]

        return Job(run, lambda trees: self._rows(self._collide_all(trees[0], trees[1], moved, request)))

    def _deform(self, case: Case, kind: str) -> Job:
        a, b, _ = self._two(case, kind)
        request = self.request(ALL)
        vectors = [[self._vector(case.local_vertices(body, frame)) for body in range(2)] for frame in range(case.frame_count)]

        def run(frame: int) -> Any:
            for tree, vector in zip((a, b), vectors[frame], strict=True):
                tree.beginReplaceModel()
                tree.replaceSubModel(vector)
                tree.endReplaceModel(True, True)
            return self._collide_all(a, b, self.identity, request)

        return Job(run, self._rows, note="refit, bottom up")

    def _vector(self, vertices: Floats) -> Any:
        vector = self.coal.StdVec_Vec3s()
        vector.extend(list(vertices))
        return vector

    def _distance(self, case: Case, kind: str) -> Job:
        coal, request = self.coal, self.coal.DistanceRequest()
        a, b, moved = self._two(case, kind)

        def run(_frame: int) -> Any:
            return coal.distance(a, self.identity, b, moved, request, coal.DistanceResult())

        return Job(run, lambda value: Found.value(value))

    def _batch(self, case: Case, kind: str) -> Job:
        a, b, _ = self._two(case, kind)
        request, result = self.request(1), self.coal.CollisionResult()
        transforms = [self.transform(pose) for pose in case.poses[:, 1]]

        def run(_frame: int) -> Any:
            collide, clear, identity = self.coal.collide, result.clear, self.identity
            hits = []
            for transform in transforms:
                clear()
                hits.append(collide(a, identity, b, transform, request, result))
            return hits

        return Job(run, lambda hits: Found("flags", np.array(hits) > 0), note="Python loop")

    def _n_body(self, case: Case, kind: str) -> dict[str, Job]:
        ways = {f"{kind}, C++ callback, a tree per body": self._crowd(case, kind, own_trees=True)}
        if case.question == "faces":
            ways[f"{kind}, C++ callback, one tree"] = self._crowd(case, kind, own_trees=False)
        return ways

    def _crowd(self, case: Case, kind: str, own_trees: bool) -> Job:
        coal = self.coal
        tree = self.tree(kind, case.mesh(0)[0], long_faces(case.mesh(0)[1]))
        trees = [tree.clone() if own_trees else tree for _ in case.mesh_of_body]
        transforms = [[self.transform(pose) for pose in poses] for poses in case.poses]
        objects = [coal.CollisionObject(each) for each in trees]
        manager = coal.DynamicAABBTreeArrayCollisionManager()

        def place(frame: int) -> None:
            for each, transform in zip(objects, transforms[frame], strict=True):
                each.setTransform(transform)
                each.computeAABB()

        place(0)
        for each in objects:
            manager.registerObject(each)
        manager.setup()

        def run(frame: int) -> Any:
            place(frame)
            manager.update()
            callback = coal.CollisionCallBackDefault()
            callback.data.request.num_max_contacts = ALL
            callback.data.request.enable_contact = False
            manager.collide(callback)
            return callback

        def found(callback: Any) -> Found:
            contacts = callback.data.result.getContacts()
            faces = np.array([(each.b1, each.b2) for each in contacts], np.int64).reshape(-1, 2)
            if not own_trees:
                return Found("loose-rows", faces)
            number = {each.id(): k for k, each in enumerate(trees)}
            bodies = np.array([(number[each.o1.id()], number[each.o2.id()]) for each in contacts], np.int64).reshape(-1, 2)
            return Found("rows", np.hstack([bodies, faces]))

        note = "" if own_trees else "tells faces, not their bodies"
        if case.question == "bodies":
            note = "it cannot stop at the first contact of each pair"
        return Job(run, found, note=note)


def long_faces(faces: Ints) -> Any:
    """Return faces as the bindings want them."""
    return faces.astype(np.int64)
