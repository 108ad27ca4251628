"""jostle itself, through its public calls; timing includes setting poses.

Every call sets the poses or vertices anew, so no answer can be reused. Trees are prepared before the clock starts, as for the
others. `build` times `Mesh(...)`, which checks the arrays, and `prepare_shape`. Cases of the kinds are answered by `OTHERS` as
well, where these can: what one of our methods or calls does well, the default engine should not do badly.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import jostle
from jostle._types import Floats
from jostle.bench.case import Case, Found, Job, Peer, Unable
from jostle.errors import Unsupported
from jostle.geometry.rigid import transform_points
from jostle.interface.method import Method
from jostle.interface.traits import Answer, Serve
from jostle.registry import method_of, name_of

# Beside the method of the run, by question. Measured and never the fastest: face_octree (clearances, 1.6 to 2.8 times the time of
# wide_tree) and plain (distances, 80 to 2,700 times).
OTHERS = {
    "faces": ("bounding_tree",),
    "bodies": ("bounding_tree",),
    "any": ("bounding_tree",),
    "distance": ("closest_features",),
    "nearest": (),
    "within": ("closest_features",),
}


class Jostle(Peer):
    """One method of jostle."""

    def __init__(self, method: str | Method = "wide_tree", threads: str = "1") -> None:
        self.method = method_of(method)
        self.threads = int(threads)

    def _jobs(self, case: Case, *_settings: str) -> dict[str, Job]:
        if self.threads > 1 and case.scenario != "batch-poses":
            raise Unable("more than one thread is measured for batches only")
        return self._by_each_method(case) if case.scenario == "kinds" else super()._jobs(case)

    def _by_each_method(self, case: Case) -> dict[str, Job]:
        """Return the jobs "method: call" of this method and of the others that answer the case."""
        jobs: dict[str, Job] = {}
        refused = ""
        for method in (self.method, *(method_of(name) for name in OTHERS[case.question])):
            try:
                for how, job in Peer._jobs(Jostle(method), case).items():
                    jobs[f"{name_of(method)}: {how}"] = job
                    job.run(0)
            except Unsupported as error:
                jobs = {how: job for how, job in jobs.items() if not how.startswith(name_of(method))}
                refused = refused or str(error)
        if not any(how.startswith(name_of(self.method)) for how in jobs):
            raise Unable(refused)
        return jobs

    def _world(self, case: Case, deformable: bool = False, method: Method | None = None) -> Any:
        # `Any`: a version without one of the public calls gives a row that says so.
        world: Any = jostle.World(method=method or self.method)
        meshes = [jostle.Mesh(*arrays) for arrays in case.meshes]
        poses = case.poses[0]
        for body, mesh in enumerate(case.mesh_of_body):
            world.add(meshes[mesh], poses[body], deformable=deformable)
        world.prepare()
        return world

    def _pair(self, case: Case) -> Any:
        make: Any = jostle  # `Any`, as in `_world`
        return make.Pair(*(jostle.Mesh(*case.mesh(body)) for body in range(2)), self.method)

    @property
    def _instead_of_faces(self) -> str:
        """What the method answers instead of face pairs; "" if it names faces."""
        return "" if Answer.FACES in self.method.traits.answers else "points of contact, no faces"

    @staticmethod
    def _rows(report: Any) -> Found:
        rows = report.contacts
        return Found.rows(rows.face_a, rows.face_b, rows.body_a, rows.body_b)

    def _pair_all(self, case: Case) -> dict[str, Job]:
        world = self._world(case)
        b, pose = world.bodies[1], case.poses[0, 1]

        def run(_frame: int) -> Any:
            b.pose = pose
            return world.detect()

        return {"World.detect": Job(run, self._rows, other_question=self._instead_of_faces)}

    def _pair_first(self, case: Case) -> dict[str, Job]:
        if not isinstance(self.method, jostle.WideTree):
            raise Unable("jostle.Pair supports wide_tree only")
        pair, (pose_a, pose_b) = self._pair(case), case.poses[0]
        return {"Pair.touches": Job(lambda _frame: pair.touches(pose_a, pose_b), lambda hit: Found.flag(bool(hit)))}

    def _build(self, case: Case) -> dict[str, Job]:
        method = self.method

        def run(_frame: int) -> Any:
            meshes = [jostle.Mesh(*arrays) for arrays in case.meshes]
            return meshes, [method.prepare_shape(mesh) for mesh in meshes]

        def found(built: Any) -> Found:
            world = jostle.World(method=self.method)
            for mesh, pose in zip(built[0], case.poses[0], strict=True):
                world.add(mesh, pose)
            return self._rows(world.detect())

        return {"Mesh, prepare_shape": Job(run, found, other_question=self._instead_of_faces)}

    def _deform(self, case: Case) -> dict[str, Job]:
        world = self._world(case, deformable=True)
        bodies, itself = world.bodies, case.itself

        def run(frame: int) -> Any:
            for body, vertices in zip(bodies, case.deformed[frame], strict=True):  # type: ignore[index]
                body.vertices = vertices
            return world.detect(itself=itself)

        return {"body.vertices, World.detect": Job(run, self._rows)}

    _self = _deform

    def _distance(self, case: Case) -> dict[str, Job]:
        world = self._world(case)
        (a, b), pose = world.bodies, case.poses[0, 1]

        def run(_frame: int) -> Any:
            b.pose = pose
            return world.distance(a, b)

        return {"World.distance": Job(run, lambda closest: Found.value(closest.distance))}

    def _batch_poses(self, case: Case) -> dict[str, Job]:
        world, threads = self._world(case), self.threads

        def run(_frame: int) -> Any:
            return world.detect_many(case.poses, rows="any", workers=threads)

        return {"World.detect_many": Job(run, lambda result: Found("flags", np.asarray(result.touching, bool)))}

    def _poses(self, case: Case) -> dict[str, Job]:
        question, clearance = case.question, case.clearance
        jobs = {how: self._each_pose(case, ask) for how, ask in self._pair_calls(case).items()}
        if question == "any" and jobs:
            return jobs
        world = self._world(case)
        a, b = world.bodies

        def nearest() -> float:
            distances = world.detect(rows="first", clearance=clearance).contacts.distance
            return float(distances[0]) if len(distances) else np.inf

        def distance() -> float:
            return world.distance(a, b).distance

        def within() -> float:
            return 0.0 if world.detect(rows="any", clearance=clearance) else np.inf

        calls: dict[str, dict[str, Callable[[], Any]]] = {
            "faces": {"World.detect": world.detect},
            "any": {"World.in_collision": world.in_collision},
            "distance": {"World.distance": distance},
            "nearest": {"World.detect, rows=first": nearest, "World.distance": distance},
            "within": {"World.detect, rows=any": within, "World.distance": distance},
        }

        def at_pose(ask: Callable[[], Any]) -> Callable[[Floats], Any]:
            def moved(pose: Floats) -> Any:
                b.pose = pose
                return ask()

            return moved

        return jobs | {how: self._each_pose(case, at_pose(ask)) for how, ask in calls[question].items()}

    def _pair_calls(self, case: Case) -> dict[str, Callable[[Floats], Any]]:
        """Return the calls of a `jostle.Pair` that answer for the second body at a pose."""
        if not isinstance(self.method, jostle.WideTree):
            return {}
        pair, clearance = self._pair(case), case.clearance

        def within(pose: Floats) -> float:
            return 0.0 if pair.touches(None, pose, clearance=clearance) else np.inf

        calls: dict[str, dict[str, Callable[[Floats], Any]]] = {
            "any": {"Pair.touches": lambda pose: pair.touches(None, pose)},
            "distance": {"Pair.distance": lambda pose: pair.distance(None, pose)},
            "within": {"Pair.touches": within},
        }
        return calls.get(case.question, {})

    @staticmethod
    def _each_pose(case: Case, ask: Callable[[Floats], Any]) -> Job:
        """Return the job that asks about the second body at each pose."""
        poses = [np.ascontiguousarray(pose) for pose in case.poses[:, 1]]

        def found(answers: list[Any]) -> Found:
            if case.question == "faces":
                return Found.of_poses(case, [(report.contacts.face_a, report.contacts.face_b) for report in answers])
            return Found.of_poses(case, answers)

        return Job(lambda _frame: [ask(pose) for pose in poses], found)

    def _n_body(self, case: Case) -> dict[str, Job]:
        world = self._world(case)
        faces = case.question == "faces"
        rows = "faces" if faces else "pairs"

        def run(frame: int) -> Any:
            world.set_poses(case.poses[frame])
            return world.detect(rows=rows)

        def found(report: Any) -> Found:
            if faces:
                return self._rows(report)
            return Found("bodies", np.stack([report.pairs.body_a, report.pairs.body_b], axis=1).astype(np.int64))

        return {"set_poses, World.detect": Job(run, found, other_question=self._instead_of_faces if faces else "")}

    _crowd = _n_body

    def _continuous(self, case: Case) -> dict[str, Job]:
        """Return the first contact of two bodies moved by poses, and moved by vertices."""
        method = self.method if Serve.MOTION in self.method.traits.serves else jostle.BoundingTree()
        rigid, soft = self._world(case, method=method), self._world(case, deformable=True, method=method)
        start, end = case.poses
        # The deforming bodies stay put: their vertices move.
        ends = [[transform_points(poses[body], case.mesh(body)[0]) for body in range(2)] for poses in case.poses]
        for body in soft.bodies:
            body.teleport(np.eye(4))

        def move_poses(_frame: int) -> Any:
            for body, pose in zip(rigid.bodies, start, strict=True):
                body.teleport(pose)
            rigid.set_poses(end)
            return rigid.detect(motion=True)

        def move_vertices(_frame: int) -> Any:
            for body, at_start, at_end in zip(soft.bodies, *ends, strict=True):
                body.teleport(vertices=at_start)
                body.vertices = at_end
            return soft.detect(motion=True)

        def found(report: Any) -> Found:
            times = report.contacts.time
            return Found.value(float(times.min()) if len(times) else np.inf)

        note = "names faces and features"
        return {
            f"{name_of(method)}, poses": Job(move_poses, found, note=note),
            f"{name_of(method)}, vertices": Job(move_vertices, found, note=note),
        }
