"""Every face against every face: the rows of one pair of bodies, or of one body against itself.

Boxes of faces are compared first (exactly, on the very coordinates that the last test sees), so nothing is lost by it; what is
left goes to the exact triangle test and, where a clearance is asked for, to the distance of triangles. The kernel works on a
range of faces of A, so that Python can hear Ctrl-C and report between slices.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from jostle.frame import Floats, Ints
from jostle.geometry.aabb import boxes_squared_distance, face_boxes
from jostle.geometry.contact_kind import NEAR
from jostle.geometry.corners import corners
from jostle.geometry.triangle_triangle import adjacent_faces_touch, faces_touch
from jostle.geometry.triangles_distance import triangles_distance
from jostle.kernels.arrays import read_only_view
from jostle.kernels.jit import kernel
from jostle.kernels.slices import run_in_slices
from jostle.report import Counters

FIRST_SLICE = 1 << 20  # operations: box tests, or exact ones times their weight; later slices are sized by the clock
EXACT_TEST, DISTANCE_TEST = 30, 60  # what they count for in box tests


class FaceRows(NamedTuple):
    """The rows of one pair of bodies, sorted by (face_a, face_b)."""

    face_a: Ints
    face_b: Ints
    kind: NDArray[np.uint8]
    distance: Floats


@dataclass
class _Search:
    """Where a search stands: the next face of A, and the rows so far."""

    next_face: int
    face_pairs: NDArray[np.int32]
    kind: NDArray[np.uint8]
    distance: Floats
    found: int = 0


@kernel
def _faces_share_a_vertex(welded, i, j):  # type: ignore[no-untyped-def]
    for k in range(3):
        for m in range(3):
            if welded[i, k] == welded[j, m]:
                return True
    return False


@kernel
def _scan_faces(  # type: ignore[no-untyped-def]
    va, fa, la, ua, vb, fb, lb, ub, welded, first, operations, itself, adjacent, clearance, out_pairs, out_kind, out_distance, tests
):
    """Write rows of faces of A, from the first on, against all of B (against later faces, for itself).

    Returns how many rows there are, the face to go on with, and the operations used; it stops at a face, once these are enough.
    Rows that do not fit into the outputs are counted but not written. `tests` (3,) counts box, triangle and distance tests.
    """
    found = 0
    limit = clearance * clearance
    before = tests[0] + EXACT_TEST * tests[1] + DISTANCE_TEST * tests[2]
    spent = 0
    for i in range(first, fa.shape[0]):
        if spent >= operations:
            return found, i, spent
        start = i + 1 if itself else 0
        tests[0] += fb.shape[0] - start
        for j in range(start, fb.shape[0]):
            gap = boxes_squared_distance(
                la[i, 0], la[i, 1], la[i, 2], ua[i, 0], ua[i, 1], ua[i, 2],
                lb[j, 0], lb[j, 1], lb[j, 2], ub[j, 0], ub[j, 1], ub[j, 2],
            )  # fmt: skip
            if gap > limit:
                continue
            kind = 0
            distance = 0.0
            if itself and _faces_share_a_vertex(welded, i, j):
                # What shares a vertex is at distance 0 by construction: there is no question of clearance.
                if adjacent:
                    tests[1] += 1
                    kind = adjacent_faces_touch(va, fa, welded, i, j)
            else:
                tests[1] += 1
                kind = faces_touch(va, fa, i, vb, fb, j)
                if kind == 0 and clearance > 0.0:
                    tests[2] += 1
                    distance = triangles_distance(*corners(va, fa, i), *corners(vb, fb, j))
                    if distance < clearance:
                        kind = NEAR
            if kind != 0:
                if found < out_kind.shape[0]:
                    out_pairs[found, 0] = i
                    out_pairs[found, 1] = j
                    out_kind[found] = kind
                    out_distance[found] = distance
                found += 1
        spent = tests[0] + EXACT_TEST * tests[1] + DISTANCE_TEST * tests[2] - before
    return found, fa.shape[0], spent


def find_face_rows(
    vertices_a: Floats,
    faces_a: Ints,
    vertices_b: Floats,
    faces_b: Ints,
    clearance: float,
    welded: Ints | None = None,
    adjacent: bool = False,
) -> tuple[FaceRows, Counters]:
    """Return all rows of two bodies given by world vertices; with `welded` faces given, of the one body against itself."""
    itself = welded is not None
    arrays = [read_only_view(array) for array in (vertices_a, faces_a, *face_boxes(vertices_a, faces_a))]
    others = arrays if itself else [read_only_view(array) for array in (vertices_b, faces_b, *face_boxes(vertices_b, faces_b))]
    welding = read_only_view(welded if welded is not None else faces_a)
    tests = np.zeros(3, np.int64)
    search = _Search(0, np.empty((256, 2), np.int32), np.empty(256, np.uint8), np.empty(256))

    def scan(state: _Search, operations: int) -> tuple[bool, int]:
        while True:
            before = tests.copy()
            room = slice(state.found, None)
            outputs = (state.face_pairs[room], state.kind[room], state.distance[room], tests)
            arguments = (*arrays, *others, welding, state.next_face, operations, itself, adjacent, clearance, *outputs)
            needed, next_face, spent = _scan_faces(*arguments)
            if state.found + needed <= len(state.kind):
                break
            tests[:] = before
            _grow(state, state.found + needed)
        state.found += needed
        state.next_face = next_face
        return next_face == len(faces_a), max(1, spent)

    run_in_slices(scan, search, FIRST_SLICE)
    found = slice(search.found)
    face_a, face_b = np.ascontiguousarray(search.face_pairs[found].T)
    rows = FaceRows(face_a, face_b, search.kind[found].copy(), search.distance[found].copy())
    box_tests, triangle_tests, distance_tests = (int(count) for count in tests)
    return rows, Counters(box_tests=box_tests, triangle_tests=triangle_tests, distance_tests=distance_tests)


def _grow(state: _Search, needed: int) -> None:
    """Make room for at least `needed` rows, keeping those found."""
    size = max(needed, 2 * len(state.kind))
    for name in ("face_pairs", "kind", "distance"):
        old = getattr(state, name)
        new = np.empty((size, *old.shape[1:]), old.dtype)
        new[: state.found] = old[: state.found]
        setattr(state, name, new)
