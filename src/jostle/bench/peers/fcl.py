"""python-fcl at its best.

It has one tree (OBBRSS) and one manager (dynamic AABB tree), but neither refit nor self-collision: deforming is a rebuild.
Measured (blobs of 50,000 and 70,000 faces, ms): all pairs 2.18 without and 2.22 with contact points, so without; first hit
.011 with a transform made beforehand, .014 otherwise; build 419. Many bodies: our own callback that calls `collide` is as fast
as `defaultCollisionCallback` (276 and 300 for 10,000 bodies) and names the bodies. Setting 10,000 transforms takes 1.3, making
them 38, so they are made before the clock starts. `collide` always makes the Contact objects.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np

from jostle._types import Floats, Ints
from jostle.bench.case import Case, Found, Job, Peer
from jostle.bench.peers.overlapping_boxes import OverlappingBoxes

ALL = 10**7  # contacts; without a cap FCL stops at the first


class Fcl(Peer):
    """FCL's Python bindings."""

    unable: ClassVar = {"self": "no self-collision: a mesh against itself reports every face with itself and its neighbours"}

    def __init__(self) -> None:
        self.fcl = importlib.import_module("fcl")

    def tree(self, vertices: Floats, faces: Ints) -> Any:
        """Build a tree of boxes."""
        model = self.fcl.BVHModel()
        model.beginModel(len(vertices), len(faces))
        model.addSubModel(vertices, faces)
        model.endModel()
        return model

    def transform(self, pose: Floats) -> Any:
        """Return a pose (4, 4) as the library's transform."""
        return self.fcl.Transform(np.ascontiguousarray(pose[:3, :3]), np.ascontiguousarray(pose[:3, 3]))

    def _two(self, case: Case) -> tuple[Any, Any, Any]:
        """Return the objects of a pair and the transform of the second."""
        a, b = (self.fcl.CollisionObject(self.tree(*case.mesh(body))) for body in range(2))
        return a, b, self.transform(case.poses[0, 1])

    def request(self, most: int) -> Any:
        """Return a request for at most `most` face pairs."""
        return self.fcl.CollisionRequest(num_max_contacts=most, enable_contact=False)

    @staticmethod
    def _rows(result: Any) -> Found:
        return Found.rows(*_faces(result))

    def _pair_all(self, case: Case) -> dict[str, Job]:
        return self._collide(case, ALL, self._rows)

    def _pair_first(self, case: Case) -> dict[str, Job]:
        return self._collide(case, 1, lambda result: Found.flag(len(result.contacts) > 0))

    def _collide(self, case: Case, most: int, found: Callable[[Any], Found]) -> dict[str, Job]:
        fcl, request = self.fcl, self.request(most)
        a, b, moved = self._two(case)

        def run(_frame: int) -> Any:
            b.setTransform(moved)
            result = fcl.CollisionResult()
            fcl.collide(a, b, request, result)
            return result

        return {"collide": Job(run, found)}

    def _build(self, case: Case) -> dict[str, Job]:
        fcl, request = self.fcl, self.request(ALL)
        moved = self.transform(case.poses[0, 1])

        def run(_frame: int) -> Any:
            return self.tree(*case.mesh(0)), self.tree(*case.mesh(1))

        def found(trees: Any) -> Found:
            result = fcl.CollisionResult()
            fcl.collide(fcl.CollisionObject(trees[0]), fcl.CollisionObject(trees[1], moved), request, result)
            return self._rows(result)

        return {"BVHModel": Job(run, found)}

    def _deform(self, case: Case) -> dict[str, Job]:
        fcl, request = self.fcl, self.request(ALL)
        faces = [case.mesh(body)[1] for body in range(2)]

        def run(frame: int) -> Any:
            a, b = (fcl.CollisionObject(self.tree(case.local_vertices(body, frame), faces[body])) for body in range(2))
            result = fcl.CollisionResult()
            fcl.collide(a, b, request, result)
            return result

        return {"rebuild": Job(run, self._rows, note="no refit")}

    def _distance(self, case: Case) -> dict[str, Job]:
        fcl, request = self.fcl, self.fcl.DistanceRequest()
        a, b, moved = self._two(case)

        def run(_frame: int) -> Any:
            b.setTransform(moved)
            return fcl.distance(a, b, request, fcl.DistanceResult())

        return {"distance": Job(run, Found.value)}

    def _continuous(self, case: Case) -> dict[str, Job]:
        fcl = self.fcl
        a, b, _ = self._two(case)
        start, end = (self.transform(poses[1]) for poses in case.poses)
        rest = self.transform(case.poses[0, 0])

        def job(solver: Any) -> Job:
            request = fcl.ContinuousCollisionRequest(num_max_iterations=100, toc_err=1e-6, ccd_solver_type=solver)

            def run(_frame: int) -> Any:
                b.setTransform(start)
                result = fcl.ContinuousCollisionResult()
                fcl.continuousCollide(a, rest, b, end, request, result)
                return result

            return Job(run, lambda result: Found.value(result.time_of_contact if result.is_collide else np.inf))

        solvers = {"conservative advancement": "CCDC_CONSERVATIVE_ADVANCEMENT", "naive": "CCDC_NAIVE"}
        return {name: job(getattr(fcl.CCDSolverType, solver)) for name, solver in solvers.items()}

    def _batch_poses(self, case: Case) -> dict[str, Job]:
        fcl, request = self.fcl, self.request(1)
        a, b, _ = self._two(case)
        transforms = [self.transform(pose) for pose in case.poses[:, 1]]

        def run(_frame: int) -> Any:
            collide, make, put = fcl.collide, fcl.CollisionResult, b.setTransform
            hits = []
            for transform in transforms:
                put(transform)
                hits.append(collide(a, b, request, make()))
            return hits

        return {"Python loop": Job(run, lambda hits: Found("flags", np.array(hits) > 0))}

    def _poses(self, case: Case) -> dict[str, Job]:
        fcl = self.fcl
        a, b, _ = self._two(case)
        transforms = [self.transform(pose) for pose in case.poses[:, 1]]
        if case.question in ("faces", "any"):
            ask, request, make = fcl.collide, self.request(ALL if case.question == "faces" else 1), fcl.CollisionResult
        else:  # its distances take no upper bound
            ask, request, make = fcl.distance, fcl.DistanceRequest(), fcl.DistanceResult

        def run(_frame: int) -> Any:
            put, answers = b.setTransform, []
            for transform in transforms:
                put(transform)
                result = make()
                answers.append((ask(a, b, request, result), result))
            return answers

        def found(answers: Any) -> Found:
            if case.question == "faces":
                return Found.of_poses(case, [_faces(result) for _, result in answers])
            return Found.of_poses(case, [answer for answer, _ in answers])

        return {ask.__name__: Job(run, found, note="Python loop")}

    def _crowd(self, case: Case) -> dict[str, Job]:
        """Return the jobs of many bodies, also with boxes of our own.

        Its manager takes balls around turned bodies, which makes many pairs of long ones.
        """
        fcl, boxes = self.fcl, OverlappingBoxes(case)
        request = self.request(ALL if case.question == "faces" else 1)
        tree = self.tree(*case.mesh(0))
        transforms = [[self.transform(pose) for pose in poses] for poses in case.poses]
        objects = [fcl.CollisionObject(tree, transform) for transform in transforms[0]]

        def run(frame: int) -> Any:
            collide, make = fcl.collide, fcl.CollisionResult
            for each, transform in zip(objects, transforms[frame], strict=True):
                each.setTransform(transform)
            touching = []
            for a, b in boxes.pairs(frame):
                result = make()
                if collide(objects[a], objects[b], request, result):
                    touching.append((a, b, result))
            return touching

        def found(touching: Any) -> Found:
            return Found.of_bodies([(a, b, *_faces(result)) for a, b, result in touching])

        return {**self._n_body(case), "NumPy boxes, Python loop": Job(run, found)}

    def _n_body(self, case: Case) -> dict[str, Job]:
        fcl = self.fcl
        request = self.request(ALL if case.question == "faces" else 1)
        tree = self.tree(*case.mesh(0))
        transforms = [[self.transform(pose) for pose in poses] for poses in case.poses]
        objects = [fcl.CollisionObject(tree, transform) for transform in transforms[0]]
        manager = fcl.DynamicAABBTreeCollisionManager()
        manager.registerObjects(objects)
        manager.setup()

        def run(frame: int) -> Any:
            collide, make = fcl.collide, fcl.CollisionResult
            touching = []

            def test(a: Any, b: Any, _data: Any) -> bool:
                result = make()
                if collide(a, b, request, result):
                    touching.append((a, b, result))
                return False

            for each, transform in zip(objects, transforms[frame], strict=True):
                each.setTransform(transform)
            manager.update()
            manager.collide(None, test)
            return touching

        def found(touching: Any) -> Found:
            # The callback gets new Python objects for the same C++ ones, so bodies are identified by position.
            number = {each.getTranslation().tobytes(): k for k, each in enumerate(objects)}
            rows = []
            for a, b, result in touching:
                bodies = number[a.getTranslation().tobytes()], number[b.getTranslation().tobytes()]
                rows += [(*bodies, contact.b1, contact.b2) for contact in result.contacts]
            return Found("rows", np.array(rows, np.int64).reshape(-1, 4))

        return {"dynamic AABB tree, Python callback": Job(run, found)}


def _faces(result: Any) -> tuple[list[int], list[int]]:
    """Return the columns of faces of a result."""
    contacts = result.contacts
    return [contact.b1 for contact in contacts], [contact.b2 for contact in contacts]
