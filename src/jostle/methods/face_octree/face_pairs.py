"""Stage 4 (§3.6): each pair of the checklist is checked exactly.

The paper's order of rejections: boxes of the two faces (made in the voxel already); the corners of the one all on one side
of the plane of the other, and the other way round; then the detailed check. Deviation: where the paper cuts each edge with
the other's plane and looks whether the point is inside of the other face, the order of four points on the common line of the
planes decides (`geometry/triangle_triangle.py`): the same answer, without a rounded point, so that touching is decided
exactly, coplanar and degenerate faces included.
"""

from __future__ import annotations

from jostle.geometry.contact_kind import NEAR
from jostle.geometry.triangle import face_at
from jostle.geometry.triangle_triangle import triangles_touch
from jostle.geometry.triangles_distance import distance_if_nearer
from jostle.kernels.jit import kernel

TRIANGLE_TESTS, DISTANCE_TESTS = range(2)


@kernel
def check_pairs(checks, begin, end, clearance, only_one, world, corner, kind, distance, work):
    """Write kind (0 where they are apart) and distance of the pairs begin … end-1 of a checklist; returns where it stopped.

    With `only_one` that is behind the first pair that meets.
    """
    for k in range(begin, end):
        f, g = checks[k] >> 32, checks[k] & 0xFFFFFFFF
        face_a, face_b = face_at(world, corner, f), face_at(world, corner, g)
        work[TRIANGLE_TESTS] += 1
        how = triangles_touch(face_a, face_b)
        distance[k] = 0.0
        if how == 0 and clearance > 0.0:
            work[DISTANCE_TESTS] += 1
            distance[k] = distance_if_nearer(face_a, face_b, clearance)
            if distance[k] < clearance:
                how = NEAR
        kind[k] = how
        if only_one and how != 0:
            return k + 1
    return end
