"""The closest faces of two bodies: all face pairs, pruned by box distance only.

Face distances are rounded. A pair is pruned only if its boxes are farther apart than the best distance by more than that, so the
answer is the least of all, in any order. `reported_distance` is off by at most 2^-44 of the extent of two faces.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from jostle._types import Floats, Ints
from jostle.geometry.aabb import bounds_squared_distance
from jostle.geometry.exact_zero_distance import exact_zero_distance
from jostle.geometry.placed_faces import PlacedFaces, placed_faces
from jostle.geometry.triangle import bounds_at, face_at
from jostle.kernels.jit import kernel
from jostle.kernels.slices import run_in_slices
from jostle.report.contact_geometry import closest_of_faces
from jostle.report.report import Closest

FIRST_SLICE = 1 << 20  # box tests
ROUNDING = 2.0**-44  # of the extent of both bodies


@kernel
def _scan_closest(
    a: PlacedFaces, b: PlacedFaces, first: int, last: int, rounding: float, best: Floats, best_faces: NDArray[np.int64]
) -> None:
    """Improve best (1,) and best_faces (2,) by faces first … last-1 of a.

    Ties keep the lowest (face_a, face_b). A touching pair ends the search.
    """
    for i in range(first, last):
        for j in range(b.faces.shape[0]):
            gap = bounds_squared_distance(bounds_at(a.lower, a.upper, i), bounds_at(b.lower, b.upper, j))
            if gap > (best[0] + rounding) * (best[0] + rounding):
                continue
            distance = exact_zero_distance(face_at(a.vertices, a.faces, i), face_at(b.vertices, b.faces, j))
            if distance < best[0]:
                best[0] = distance
                best_faces[0] = i
                best_faces[1] = j
                if distance == 0.0:
                    return


def find_closest_faces(vertices_a: Floats, faces_a: Ints, vertices_b: Floats, faces_b: Ints) -> Closest:
    """Return the closest points of two bodies in the world; ties: the lowest faces."""
    a, b = placed_faces(vertices_a, faces_a), placed_faces(vertices_b, faces_b)
    lower = np.minimum(a.lower.min(axis=0), b.lower.min(axis=0))
    upper = np.maximum(a.upper.max(axis=0), b.upper.max(axis=0))
    rounding = ROUNDING * float((upper - lower).max())
    best, best_faces = np.full(1, np.inf), np.full(2, -1, np.int64)

    def scan(state: list[int], operations: int) -> tuple[bool, int]:
        first = state[0]
        last = min(len(faces_a), first + max(1, operations // len(faces_b)))
        _scan_closest(a, b, first, last, rounding, best, best_faces)
        state[0] = last
        return last == len(faces_a) or best[0] == 0.0, (last - first) * len(faces_b)

    run_in_slices(scan, [0], FIRST_SLICE)
    i, j = int(best_faces[0]), int(best_faces[1])
    return closest_of_faces(float(best[0]), i, j, vertices_a[faces_a[i]], vertices_b[faces_b[j]])
