"""Exact convexity test: the side of every vertex on every face's plane.

It costs O(vertices x faces), once per mesh.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from jostle._types import Floats
from jostle.geometry.predicates import orient3d
from jostle.geometry.triangle import face_at
from jostle.geometry.vector import point_at
from jostle.kernels.jit import kernel

AT_ONCE = 4_000_000  # tests per kernel call, about 50 ms, so that Ctrl-C works


def is_convex_surface(vertices: NDArray[np.float64], faces: NDArray[np.int32]) -> bool:
    """Return whether no used vertex lies strictly in front of any face's plane."""
    points = vertices[np.unique(faces)]
    rows = max(1, AT_ONCE // max(1, len(points)))
    return all(no_vertex_in_front(points, vertices, faces[begin : begin + rows]) for begin in range(0, len(faces), rows))


@kernel
def no_vertex_in_front(points: Floats, vertices: Floats, faces: NDArray[np.int32]) -> bool:
    """Return whether no point (k,3) lies strictly in front of any face's plane."""
    for f in range(faces.shape[0]):
        t = face_at(vertices, faces, f)
        for i in range(points.shape[0]):
            if orient3d(t.p, t.q, t.r, point_at(points, i)) > 0:
                return False
    return True
