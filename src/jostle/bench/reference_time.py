"""The exact time of first contact in a step, computed without trees.

The step is cut into spans of time. In each, a uniform grid finds overlapping swept boxes of faces, and `jostle.continuous`
(tested against rational arithmetic) times their vertex-face and edge-edge pairs. The first span with a contact ends the
search: later spans have later times. Motions are straight.
"""

from __future__ import annotations

import numpy as np

from jostle._types import Floats, Ints
from jostle.bench.case import Case
from jostle.broad_phase.uniform_grid import UniformGrid
from jostle.broad_phase.volumes import Volumes
from jostle.continuous.queries import EDGE_EDGE, POINT_TRIANGLE, certified_times
from jostle.geometry.rigid import transform_points
from jostle.kernels.arrays import read_only_view

SPANS = 128
TOLERANCE = 1e-9
EDGES = ([0, 1], [1, 2], [2, 0])


def first_time(case: Case) -> float:
    """Return the first contact time of two bodies that start apart; inf if none."""
    ends = [[transform_points(poses[body], case.mesh(body)[0]) for body in range(2)] for poses in case.poses]
    faces = [case.mesh(body)[1] for body in range(2)]
    triangles = [[ends[end][body][faces[body]] for end in range(2)] for body in range(2)]
    for span in range(SPANS):
        face_a, face_b = _candidate_pairs(triangles, span / SPANS, (span + 1) / SPANS)
        time = _least_time(triangles, face_a, face_b)
        if time <= (span + 1) / SPANS:
            return time
    return float("inf")


def _candidate_pairs(triangles: list[list[Floats]], start: float, end: float) -> tuple[Ints, Ints]:
    """Return faces whose swept boxes overlap, grown by far more than rounding."""
    lower, upper = [], []
    for at_start, at_end in triangles:
        places = np.concatenate([at_start + time * (at_end - at_start) for time in (start, end)], axis=1)
        lower.append(places.min(axis=1) - 1e-12)
        upper.append(places.max(axis=1) + 1e-12)
    count = len(lower[0])
    pairs = UniformGrid().start(count + len(lower[1])).find(Volumes(np.concatenate(lower), np.concatenate(upper)))
    other = (pairs.body_a < count) & (pairs.body_b >= count)
    return pairs.body_a[other], pairs.body_b[other] - count


def _least_time(triangles: list[list[Floats]], face_a: Ints, face_b: Ints) -> float:
    """Return the least time of all 15 feature pairs of these faces."""
    if len(face_a) == 0:
        return float("inf")
    a, b = ([triangles[0][end][face_a] for end in range(2)], [triangles[1][end][face_b] for end in range(2)])
    least = float("inf")
    for points, sides in ((a, b), (b, a)):
        for corner in range(3):
            least = min(least, _earliest(POINT_TRIANGLE, [(points[end][:, [corner]], sides[end]) for end in range(2)]))
    for edge_a in EDGES:
        for edge_b in EDGES:
            least = min(least, _earliest(EDGE_EDGE, [(a[end][:, edge_a], b[end][:, edge_b]) for end in range(2)]))
    return least


def _earliest(kind: int, ends: list[tuple[Floats, Floats]]) -> float:
    """Return the least time of queries given by vertices at both ends of the step."""
    query = np.concatenate([part for end in ends for part in end], axis=1)
    return float(certified_times(kind, read_only_view(query), TOLERANCE).min())
