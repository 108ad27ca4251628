"""Stage 4 (§3.6): each pair of the checklist is checked exactly.

The paper's order of rejections: boxes of the two faces (compared in the voxel already); all corners of one face on one side of the
other's plane, and vice versa; then the detailed check. Deviation: the paper intersects each edge with the other's plane and tests
whether the point is inside the other face; here the order of four points on the common line of the planes decides
(`geometry/triangle_triangle.py`). The answer is the same without a rounded point, so touching is decided exactly, coplanar and
degenerate faces included.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from jostle._types import Floats, Longs
from jostle.geometry.contact_kind import NEAR
from jostle.geometry.reported_distance import distance_if_nearer
from jostle.geometry.triangle import face_at
from jostle.geometry.triangle_triangle import triangles_touch
from jostle.kernels.jit import kernel
from jostle.methods.face_octree.work import Checklist

TRIANGLE_TESTS, DISTANCE_TESTS = range(2)


class Checked(NamedTuple):
    """The results for the pairs of a checklist."""

    kind: NDArray[np.uint8]  # 0 where they are apart
    distance: Floats
    tests: NDArray[np.int64]  # (2,) made


@kernel
def check_pairs(checks: Longs, begin: int, end: int, clearance: float, only_one: bool, faces: Checklist, out: Checked) -> int:
    """Check the pairs begin … end-1 of a checklist; returns where it stopped.

    With `only_one`, after the first that meets.
    """
    for k in range(begin, end):
        f, g = checks[k] >> 32, checks[k] & 0xFFFFFFFF
        face_a, face_b = face_at(faces.world, faces.corner, f), face_at(faces.world, faces.corner, g)
        out.tests[TRIANGLE_TESTS] += 1
        kind = triangles_touch(face_a, face_b)
        out.distance[k] = 0.0
        if kind == 0 and clearance > 0.0:
            out.tests[DISTANCE_TESTS] += 1
            out.distance[k] = distance_if_nearer(face_a, face_b, clearance)
            if out.distance[k] < clearance:
                kind = NEAR
        out.kind[k] = kind
        if only_one and kind != 0:
            return k + 1
    return end
