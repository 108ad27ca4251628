"""The closest faces of two bodies: every face against every face, pruned only by the distance of their boxes.

The distance of faces is rounded: what is pruned must be farther than the best by more than rounding can do, so that the
answer is the least of all, whatever the order. `triangles_distance` is within 2^-44 of the extent of two faces of the
truth.
"""

from __future__ import annotations

import numpy as np

from jostle.details import closest_of_faces
from jostle.frame import Floats, Ints
from jostle.geometry.aabb import boxes_squared_distance, face_boxes
from jostle.geometry.corners import corners
from jostle.geometry.faces_distance import faces_distance
from jostle.kernels.arrays import read_only_view
from jostle.kernels.jit import kernel
from jostle.kernels.slices import run_in_slices
from jostle.report import Closest

FIRST_SLICE = 1 << 20  # box tests
ROUNDING = 2.0**-44  # of the extent of both bodies


@kernel
def _scan_closest(va, fa, la, ua, vb, fb, lb, ub, first, last, rounding, best, best_faces):  # type: ignore[no-untyped-def]
    """Improve best (1,) and best_faces (2,) by faces first … last-1 of A; ties keep the lowest (face_a, face_b).

    A touching pair ends the search.
    """
    for i in range(first, last):
        for j in range(fb.shape[0]):
            gap = boxes_squared_distance(
                la[i, 0], la[i, 1], la[i, 2], ua[i, 0], ua[i, 1], ua[i, 2],
                lb[j, 0], lb[j, 1], lb[j, 2], ub[j, 0], ub[j, 1], ub[j, 2],
            )  # fmt: skip
            if gap > (best[0] + rounding) * (best[0] + rounding):
                continue
            distance = faces_distance(*corners(va, fa, i), *corners(vb, fb, j))
            if distance < best[0]:
                best[0] = distance
                best_faces[0] = i
                best_faces[1] = j
                if distance == 0.0:
                    return


def find_closest_faces(vertices_a: Floats, faces_a: Ints, vertices_b: Floats, faces_b: Ints) -> Closest:
    """Return the closest points of two bodies given by world vertices; of equal ones those of the lowest faces."""
    arrays = [
        read_only_view(array)
        for vertices, faces in ((vertices_a, faces_a), (vertices_b, faces_b))
        for array in (vertices, faces, *face_boxes(vertices, faces))
    ]
    lower = np.minimum(arrays[2].min(axis=0), arrays[6].min(axis=0))
    upper = np.maximum(arrays[3].max(axis=0), arrays[7].max(axis=0))
    rounding = ROUNDING * float((upper - lower).max())
    best, best_faces = np.full(1, np.inf), np.full(2, -1, np.int64)

    def scan(state: list[int], operations: int) -> tuple[bool, int]:
        first = state[0]
        last = min(len(faces_a), first + max(1, operations // len(faces_b)))
        arguments = (*arrays, first, last, rounding, best, best_faces)
        _scan_closest(*arguments)
        state[0] = last
        return last == len(faces_a) or best[0] == 0.0, (last - first) * len(faces_b)

    run_in_slices(scan, [0], FIRST_SLICE)
    i, j = int(best_faces[0]), int(best_faces[1])
    return closest_of_faces(float(best[0]), i, j, vertices_a[faces_a[i]], vertices_b[faces_b[j]])
