"""The exact answers that contestants are checked against, computed without trees.

Face pairs: a uniform grid over the boxes of all faces, then jostle's exact triangle test on world vertices. A pair of blobs
takes 0.02 to 0.2 s. Two bodies at many poses, crowds of the kinds and distances: `reference_pairs.py`. The grid, the exact test and
the searches of `brute_force` are themselves tested against rational arithmetic.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from jostle._types import Floats, Longs
from jostle.bench.case import Case, Found, Job, Peer
from jostle.bench.reference_distance import distance_of
from jostle.bench.reference_pairs import Placed, those_that_touch, touching_faces
from jostle.bench.reference_time import first_time
from jostle.broad_phase.uniform_grid import UniformGrid
from jostle.broad_phase.volumes import Volumes
from jostle.geometry.rigid import transform_points
from jostle.shapes.mesh import Mesh

Memory = dict[bytes, Any]
"""The last truth of a crowd or of poses: cases that follow each other often differ in their question alone."""


class Reference(Peer):
    """The reference as a contestant, so that it runs in its own process."""

    def __init__(self) -> None:
        self._memory: Memory = {}

    def _jobs(self, case: Case, *_settings: str) -> dict[str, Job]:
        return {"exact": Job(lambda frame: exact_answer(case, frame, self._memory), lambda answer: answer)}


def exact_answer(case: Case, frame: int, memory: Memory | None = None) -> Found:
    """Return the truth of one frame: face rows, flags or a value."""
    if case.job == "poses":
        return _answer_of_poses(case, {} if memory is None else memory)
    if case.job == "crowd":
        return Found("rows", _remembered(case, frame, _touching_in_crowd, {} if memory is None else memory))
    if case.question == "distance":
        return Found.value(_distance(case, frame))
    if case.question == "time":
        return Found.value(first_time(case))
    if case.question == "any":
        poses = case.poses if case.scenario == "batch-poses" else case.poses[frame : frame + 1]
        return Found("flags", np.array([len(_touching(case, 0, each)) > 0 for each in poses], bool))
    poses = case.poses[0] if case.deformed is not None else case.poses[frame]
    return Found("rows", _touching(case, frame, poses))


def _touching(case: Case, frame: int, poses: Floats) -> Longs:
    """Return sorted (k,4) body_a, body_b, face_a, face_b of all touching faces."""
    bodies = [Placed(transform_points(pose, case.local_vertices(k, frame)), case.mesh(k)[1]) for k, pose in enumerate(poses)]
    if len(bodies) == 2:
        return Found.of_bodies([(0, 1, *touching_faces(*bodies).T)]).data
    starts = np.cumsum([0, *(len(each.vertices) for each in bodies)])[:-1]
    faces = np.vstack([each.faces + start for each, start in zip(bodies, starts, strict=True)])
    together = Placed(np.vstack([each.vertices for each in bodies]), np.ascontiguousarray(faces, np.int32))
    count = [len(each.faces) for each in bodies]
    body, face = np.repeat(np.arange(len(bodies)), count), np.concatenate([np.arange(each) for each in count])
    pairs = UniformGrid().start(len(faces)).find(Volumes(*together.boxes()))
    a, b = pairs.body_a.astype(np.int64), pairs.body_b.astype(np.int64)
    if case.itself:
        welded = Mesh(*case.mesh(0)).welded_faces  # of the undeformed mesh: deforming welds nothing
        wanted = ~(welded[a][:, :, None] == welded[b][:, None, :]).any(axis=(1, 2))
    else:
        wanted = body[a] != body[b]
    a, b = those_that_touch(together, together, a[wanted], b[wanted])
    rows = np.stack([body[a], body[b], face[a], face[b]], axis=1)
    return rows[np.lexsort(rows.T[::-1])]


def _distance(case: Case, frame: int) -> float:
    """Return the distance of two bodies."""
    a, b = (_placed(case, body, case.poses[frame, body]) for body in range(2))
    return distance_of(a, b)


def _placed(case: Case, body: int, pose: Floats) -> Placed:
    vertices, faces = case.mesh(body)
    return Placed(transform_points(pose, vertices), faces)


def _answer_of_poses(case: Case, memory: Memory) -> Found:
    """Return the truth of two bodies at each pose of the second."""
    ask = _touching_at_poses if case.question in ("faces", "any") else _distances_at_poses
    answers = _remembered(case, 0, ask, memory)
    return Found.of_poses(case, [len(face_a) for face_a, _ in answers] if case.question == "any" else answers)


def _remembered(case: Case, frame: int, ask: Callable[[Case, int], Any], memory: Memory) -> Any:
    """Return what a function finds, from memory where it found it last."""
    content = hashlib.blake2b(f"{ask.__name__} {frame} {case.mesh_of_body}".encode())
    for array in (case.poses, *(array for mesh in case.meshes for array in mesh)):
        content.update(array.tobytes())
    key = content.digest()
    if key not in memory:
        memory.clear()
        memory[key] = ask(case, frame)
    return memory[key]


def _at_poses(case: Case) -> Iterator[tuple[Placed, Placed]]:
    """Yield both bodies at each pose of the second."""
    rest = _placed(case, 0, case.poses[0, 0])
    for pose in case.poses[:, 1]:
        yield rest, _placed(case, 1, pose)


def _touching_at_poses(case: Case, _frame: int) -> list[Longs]:
    return [touching_faces(*bodies).T for bodies in _at_poses(case)]


def _distances_at_poses(case: Case, _frame: int) -> list[float]:
    return [distance_of(*bodies) for bodies in _at_poses(case)]


def _touching_in_crowd(case: Case, frame: int) -> Longs:
    """Return sorted rows (k,4) of many bodies, each pair on its own."""
    bodies = [_placed(case, body, pose) for body, pose in enumerate(case.poses[frame])]
    lower, upper = (np.array([end(body.vertices, axis=0) for body in bodies]) for end in (np.min, np.max))
    apart = (lower[:, None] > upper[None]) | (lower[None] > upper[:, None])
    pairs = np.argwhere(np.triu(~apart.any(axis=2), 1)).tolist()
    found = [(a, b, *touching_faces(bodies[a], bodies[b]).T) for a, b in pairs]
    return Found.of_bodies([each for each in found if len(each[2])]).data
