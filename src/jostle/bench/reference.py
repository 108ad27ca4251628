"""The exact answers that contestants are checked against, computed without trees.

Face pairs: a uniform grid over the boxes of all faces, then jostle's exact triangle test on world vertices. Distances: the
search of `brute_force` over the faces within a first upper bound. The grid, the exact test and the search are themselves
tested against rational arithmetic. A pair of blobs takes 0.02 to 0.2 s.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from jostle._types import Floats, Ints, Longs
from jostle.bench.case import Case, Found, Job, Peer
from jostle.bench.reference_time import first_time
from jostle.broad_phase.uniform_grid import UniformGrid
from jostle.broad_phase.volumes import Volumes
from jostle.geometry.aabb import face_boxes
from jostle.geometry.rigid import transform_points
from jostle.geometry.triangle_triangle import faces_touch
from jostle.kernels.arrays import read_only_view
from jostle.kernels.jit import kernel
from jostle.methods.brute_force.closest_faces import find_closest_faces
from jostle.shapes.mesh import Mesh


class Reference(Peer):
    """The reference as a contestant, so that it runs in its own process."""

    def _jobs(self, case: Case, *_settings: str) -> dict[str, Job]:
        return {"exact": Job(lambda frame: exact_answer(case, frame), lambda answer: answer)}


def exact_answer(case: Case, frame: int) -> Found:
    """Return the truth of one frame: face rows, flags or a value."""
    if case.question == "distance":
        return Found.value(_distance(case, frame))
    if case.question == "time":
        return Found.value(first_time(case))
    if case.question == "any":
        poses = case.poses if case.scenario == "batch-poses" else case.poses[frame : frame + 1]
        return Found("flags", np.array([len(_touching(case, 0, each)) > 0 for each in poses], bool))
    poses = case.poses[0] if case.deformed is not None else case.poses[frame]
    return Found("rows", _touching(case, frame, poses))


@kernel
def _keep_touching(vertices: Floats, faces: Ints, face_a: Ints, face_b: Ints, touching: NDArray[np.bool_]) -> None:
    """Write for each face pair (k,) whether they share a point."""
    for k in range(face_a.shape[0]):
        touching[k] = faces_touch(vertices, faces, face_a[k], vertices, faces, face_b[k]) != 0


def _touching(case: Case, frame: int, poses: Floats) -> Longs:
    """Return sorted (k,4) body_a, body_b, face_a, face_b of all touching faces."""
    count = len(case.mesh_of_body)
    placed = [transform_points(poses[body], case.local_vertices(body, frame)) for body in range(count)]
    faces = [case.mesh(body)[1] for body in range(count)]
    kept = _faces_in_common_box(placed, faces) if count == 2 else [np.arange(len(each)) for each in faces]
    if sum(len(each) > 0 for each in kept) < (1 if case.itself else 2):
        return np.empty((0, 4), np.int64)
    starts = np.cumsum([0, *(len(vertices) for vertices in placed)])[:-1]
    all_vertices = np.vstack(placed)
    chosen = [faces[body][kept[body]] + starts[body] for body in range(count)]
    all_faces = np.ascontiguousarray(np.vstack(chosen), np.int32)
    body = np.repeat(np.arange(count), [len(each) for each in kept])
    face = np.concatenate(kept)
    lower, upper = face_boxes(read_only_view(all_vertices), read_only_view(all_faces))
    pairs = UniformGrid().start(len(all_faces)).find(Volumes(lower, upper))
    a, b = pairs.body_a.astype(np.int64), pairs.body_b.astype(np.int64)
    if case.itself:
        welded = Mesh(*case.mesh(0)).welded_faces  # of the undeformed mesh: deforming welds nothing
        wanted = ~(welded[a][:, :, None] == welded[b][:, None, :]).any(axis=(1, 2))
    else:
        wanted = body[a] != body[b]
    a, b = a[wanted], b[wanted]
    touching = np.zeros(len(a), bool)
    _keep_touching(read_only_view(all_vertices), read_only_view(all_faces), a, b, touching)
    a, b = a[touching], b[touching]
    rows = np.stack([body[a], body[b], face[a], face[b]], axis=1)
    return rows[np.lexsort(rows.T[::-1])]


def _faces_in_common_box(placed: list[Floats], faces: list[Ints]) -> list[Longs]:
    """Return each body's faces that reach into the intersection of both boxes."""
    boxes = [face_boxes(read_only_view(v), read_only_view(f)) for v, f in zip(placed, faces, strict=True)]
    lower = np.maximum(*(each[0].min(axis=0) for each in boxes))
    upper = np.minimum(*(each[1].max(axis=0) for each in boxes))
    return [np.flatnonzero(((high >= lower) & (low <= upper)).all(axis=1)) for low, high in boxes]


def _distance(case: Case, frame: int) -> float:
    """Return the distance of two bodies."""
    placed = [transform_points(case.poses[frame, body], case.mesh(body)[0]) for body in range(2)]
    faces = [case.mesh(body)[1] for body in range(2)]
    bound = _some_distance(placed[0], placed[1])
    # Only faces whose boxes come within the bound of the other body's box can be the closest.
    near = []
    for own in range(2):
        low, high = face_boxes(read_only_view(placed[own]), read_only_view(faces[own]))
        other_low, other_high = placed[1 - own].min(axis=0), placed[1 - own].max(axis=0)
        gap = np.maximum(np.maximum(low - other_high, other_low - high), 0.0)
        near.append(np.ascontiguousarray(faces[own][np.linalg.norm(gap, axis=1) <= bound * (1.0 + 1e-9)]))
    return float(find_closest_faces(placed[0], near[0], placed[1], near[1]).distance)


def _some_distance(points_a: Floats, points_b: Floats) -> float:
    """Return an upper bound of the distance by alternating nearest vertices."""
    a = points_a[np.argmin(np.linalg.norm(points_a - points_b.mean(axis=0), axis=1))]
    best = np.inf
    while True:
        b = points_b[np.argmin(np.linalg.norm(points_b - a, axis=1))]
        a = points_a[np.argmin(np.linalg.norm(points_a - b, axis=1))]
        distance = float(np.linalg.norm(a - b))
        if distance >= best:
            return best
        best = distance
