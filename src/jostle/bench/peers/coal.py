"""Coal at its best.

Python sees its OBB and OBBRSS trees; either may be faster, so both run. Measured (blobs of 50,000 and 70,000 faces, ms,
OBB / OBBRSS): all pairs 2.56 / 2.49, first hit .029 / .019, build 190 / 304, refit of 70,000 faces bottom up 25 / 94 (top down
94 / 142). Replacing vertices needs its own vector type, 7 ms for 35,000 points, made before the clock starts like transforms.
(After writing through `vertices()`, `endReplaceModel` refuses.)
Many bodies: the dynamic AABB tree in an array is its fastest manager (203 ms for 10,000 bodies, the others 233 to 291; SaP
loses pairs after an update). Python can only use the C++ callback: custom callback classes cannot be instantiated, and
collected pairs do not convert. The callback names the bodies only if each has its own tree. Limited to one contact, it stops
at the first touching pair overall.
"""

from __future__ import annotations

import importlib
from typing import Any, ClassVar

import numpy as np

from jostle._types import Floats, Ints
from jostle.bench.case import Case, Found, Job, Peer
from jostle.bench.peers.overlapping_boxes import OverlappingBoxes

ALL = 10**7
TREES = {"OBB": "BVHModelOBB", "OBBRSS": "BVHModelOBBRSS"}


class Coal(Peer):
    """Coal's own Python bindings, with one variant per kind of tree."""

    unable: ClassVar = {
        "self": "no self-collision: a mesh against itself reports every face with itself and its neighbours",
        "continuous": "no collision of meshes along a motion",
    }

    def __init__(self) -> None:
        self.coal = importlib.import_module("coal")
        self.identity = self.coal.Transform3s.Identity()

    def _jobs(self, case: Case, *_settings: str) -> dict[str, Job]:
        jobs: dict[str, Job] = {}
        for tree in TREES:
            jobs |= super()._jobs(case, tree)
        return jobs

    def tree(self, kind: str, vertices: Floats, faces: Any) -> Any:
        """Build a tree; the bindings refuse faces that are not int64."""
        model = getattr(self.coal, TREES[kind])()
        model.beginModel(len(faces), len(vertices))
        model.addVertices(vertices)
        model.addTriangles(faces)
        model.endModel()
        return model

    def transform(self, pose: Floats) -> Any:
        """Return a pose (4, 4) as the library's transform."""
        return self.coal.Transform3s(np.ascontiguousarray(pose[:3, :3]), np.ascontiguousarray(pose[:3, 3]))

    def _two(self, case: Case, kind: str) -> tuple[Any, Any, Any]:
        a, b = (self.tree(kind, case.mesh(body)[0], long_faces(case.mesh(body)[1])) for body in range(2))
        return a, b, self.transform(case.poses[0, 1])

    def request(self, most: int) -> Any:
        """Return a request for at most `most` face pairs."""
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
        return Found.rows(*_faces(result))

    def _pair_all(self, case: Case, kind: str) -> dict[str, Job]:
        a, b, moved = self._two(case, kind)
        request = self.request(ALL)
        return {kind: Job(lambda _frame: self._collide_all(a, b, moved, request), self._rows)}

    def _pair_first(self, case: Case, kind: str) -> dict[str, Job]:
        coal, identity, request, result = self.coal, self.identity, self.request(1), self.coal.CollisionResult()
        a, b, moved = self._two(case, kind)

        def run(_frame: int) -> Any:
            result.clear()
            return coal.collide(a, identity, b, moved, request, result)

        return {kind: Job(run, lambda count: Found.flag(count > 0))}

    def _build(self, case: Case, kind: str) -> dict[str, Job]:
        moved, request = self.transform(case.poses[0, 1]), self.request(ALL)
        meshes = [(case.mesh(body)[0], long_faces(case.mesh(body)[1])) for body in range(2)]

        def run(_frame: int) -> Any:
            return [self.tree(kind, *mesh) for mesh in meshes]

        return {kind: Job(run, lambda trees: self._rows(self._collide_all(trees[0], trees[1], moved, request)))}

    def _deform(self, case: Case, kind: str) -> dict[str, Job]:
        a, b, _ = self._two(case, kind)
        request = self.request(ALL)
        vectors = [[self._vector(case.local_vertices(body, frame)) for body in range(2)] for frame in range(case.frame_count)]

        def run(frame: int) -> Any:
            for tree, vector in zip((a, b), vectors[frame], strict=True):
                tree.beginReplaceModel()
                tree.replaceSubModel(vector)
                tree.endReplaceModel(True, True)
            return self._collide_all(a, b, self.identity, request)

        return {kind: Job(run, self._rows, note="refit, bottom up")}

    def _vector(self, vertices: Floats) -> Any:
        vector = self.coal.StdVec_Vec3s()
        vector.extend(list(vertices))
        return vector

    def _distance(self, case: Case, kind: str) -> dict[str, Job]:
        coal, request = self.coal, self.coal.DistanceRequest()
        a, b, moved = self._two(case, kind)

        def run(_frame: int) -> Any:
            return coal.distance(a, self.identity, b, moved, request, coal.DistanceResult())

        return {kind: Job(run, Found.value)}

    def _batch_poses(self, case: Case, kind: str) -> dict[str, Job]:
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

        return {kind: Job(run, lambda hits: Found("flags", np.array(hits) > 0), note="Python loop")}

    def _poses(self, case: Case, kind: str) -> dict[str, Job]:
        coal, identity = self.coal, self.identity
        a, b, _ = self._two(case, kind)
        transforms = [self.transform(pose) for pose in case.poses[:, 1]]
        if case.question in ("distance", "nearest"):
            ask, request, make = coal.distance, coal.DistanceRequest(), coal.DistanceResult
        else:
            ask, request, make = coal.collide, self.request(ALL if case.question == "faces" else 1), coal.CollisionResult
            request.security_margin = case.clearance

        def run(_frame: int) -> Any:
            answers = []
            for transform in transforms:
                result = make()
                answers.append((ask(a, identity, b, transform, request, result), result))
            return answers

        def found(answers: Any) -> Found:
            if case.question == "faces":
                return Found.of_poses(case, [_faces(result) for _, result in answers])
            if case.question == "within":
                return Found("flags", np.array([count for count, _ in answers]) > 0)
            return Found.of_poses(case, [answer for answer, _ in answers])

        return {kind: Job(run, found, note="Python loop")}

    def _crowd(self, case: Case, kind: str) -> dict[str, Job]:
        """Return the jobs of many bodies, also with boxes of our own and `collide`."""
        boxes = OverlappingBoxes(case)
        request, make, collide = self.request(ALL if case.question == "faces" else 1), self.coal.CollisionResult, self.coal.collide
        tree = self.tree(kind, case.mesh(0)[0], long_faces(case.mesh(0)[1]))
        transforms = [[self.transform(pose) for pose in poses] for poses in case.poses]

        def run(frame: int) -> Any:
            placed, touching = transforms[frame], []
            for a, b in boxes.pairs(frame):
                result = make()
                if collide(tree, placed[a], tree, placed[b], request, result):
                    touching.append((a, b, result))
            return touching

        def found(touching: Any) -> Found:
            return Found.of_bodies([(a, b, *_faces(result)) for a, b, result in touching])

        own = {f"{kind}, C++ callback, a tree per body": self._managed(case, kind, own_trees=True)}
        return {**own, f"{kind}, NumPy boxes, Python loop": Job(run, found)}

    def _n_body(self, case: Case, kind: str) -> dict[str, Job]:
        jobs = {f"{kind}, C++ callback, a tree per body": self._managed(case, kind, own_trees=True)}
        if case.question == "faces":
            jobs[f"{kind}, C++ callback, one tree"] = self._managed(case, kind, own_trees=False)
        return jobs

    def _managed(self, case: Case, kind: str, own_trees: bool) -> Job:
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

        note = "" if own_trees else "names faces, not their bodies"
        if case.question == "bodies":
            note = "it cannot stop at the first contact of each pair"
        return Job(run, found, note=note)


def long_faces(faces: Ints) -> Any:
    """Return faces in the type that the bindings accept."""
    return faces.astype(np.int64)


def _faces(result: Any) -> tuple[list[int], list[int]]:
    """Return the columns of faces of a result."""
    contacts = result.getContacts()
    return [contact.b1 for contact in contacts], [contact.b2 for contact in contacts]
