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

from jostle._types import Floats, Ints
from jostle.geometry.aabb import bounds_squared_distance
from jostle.geometry.contact_kind import NEAR
from jostle.geometry.placed_faces import PlacedFaces, placed_faces
from jostle.geometry.reported_distance import reported_distance
from jostle.geometry.triangle import bounds_at, face_at
from jostle.geometry.triangle_triangle import adjacent_faces_touch, share_a_vertex, triangles_touch
from jostle.kernels.arrays import read_only_view
from jostle.kernels.jit import kernel
from jostle.kernels.slices import run_in_slices
from jostle.report.report import Counters

FIRST_SLICE = 1 << 20  # operations: box tests, or exact ones times their weight; later slices are sized by the clock
EXACT_TEST, DISTANCE_TEST = 30, 60  # what they count for in box tests
BOX_TESTS, TRIANGLE_TESTS, DISTANCE_TESTS = range(3)


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


class RowsOut(NamedTuple):
    """Room for rows: faces (n,2), kind (n,), distance (n,); and the tests (3,) of boxes, triangles and distances."""

    face_pairs: NDArray[np.int32]
    kind: NDArray[np.uint8]
    distance: Floats
    tests: NDArray[np.int64]


@kernel
def _scan_faces(
    a: PlacedFaces, b: PlacedFaces, first: int, operations: int, clearance: float, out: RowsOut
) -> tuple[int, int, int]:
    """Write rows of faces of a, from the first on, against all of b.

    Returns how many rows there are, the face to continue with, and the operations used; it stops at a face, once these are enough.
    Rows that do not fit into the outputs are counted but not written.
    """
    found, spent = 0, 0
    before = operations_of(out.tests)
    for i in range(first, a.faces.shape[0]):
        if spent >= operations:
            return found, i, spent
        out.tests[BOX_TESTS] += b.faces.shape[0]
        for j in range(b.faces.shape[0]):
            if boxes_apart(a, i, b, j, clearance):
                continue
            kind, distance = faces_meet(a, i, b, j, clearance, out.tests)
            if kind != 0:
                found = write_row(out, found, i, j, kind, distance)
        spent = operations_of(out.tests) - before
    return found, a.faces.shape[0], spent


@kernel(forceinline=True)
def operations_of(tests: NDArray[np.int64]) -> int:
    """Return the tests so far in units of box tests."""
    return tests[BOX_TESTS] + EXACT_TEST * tests[TRIANGLE_TESTS] + DISTANCE_TEST * tests[DISTANCE_TESTS]


@kernel
def _scan_faces_of_one(
    a: PlacedFaces, welded: Ints, first: int, operations: int, adjacent: bool, clearance: float, out: RowsOut
) -> tuple[int, int, int]:
    """Write rows of faces of a body, from the first on, against its later faces, as `_scan_faces` does.

    Faces that share a welded vertex are left out, or with `adjacent` asked what they have in common beside it: they are at
    distance 0 by construction, so there is no question of clearance.
    """
    found, spent = 0, 0
    before = operations_of(out.tests)
    for i in range(first, a.faces.shape[0]):
        if spent >= operations:
            return found, i, spent
        out.tests[BOX_TESTS] += a.faces.shape[0] - (i + 1)
        for j in range(i + 1, a.faces.shape[0]):
            if boxes_apart(a, i, a, j, clearance):
                continue
            kind, distance = 0, 0.0
            if not share_a_vertex(welded, i, j):
                kind, distance = faces_meet(a, i, a, j, clearance, out.tests)
            elif adjacent:
                out.tests[TRIANGLE_TESTS] += 1
                kind = adjacent_faces_touch(a.vertices, a.faces, welded, i, j)
            if kind != 0:
                found = write_row(out, found, i, j, kind, distance)
        spent = operations_of(out.tests) - before
    return found, a.faces.shape[0], spent


@kernel(forceinline=True)
def boxes_apart(a: PlacedFaces, i: int, b: PlacedFaces, j: int, clearance: float) -> bool:
    """Return whether the boxes of two faces are farther apart than the clearance."""
    return bounds_squared_distance(bounds_at(a.lower, a.upper, i), bounds_at(b.lower, b.upper, j)) > clearance * clearance


@kernel(forceinline=True)
def faces_meet(a: PlacedFaces, i: int, b: PlacedFaces, j: int, clearance: float, tests: NDArray[np.int64]) -> tuple[int, float]:
    """Return the kind of two faces, 0 if they are apart, and their distance if they are near."""
    face_a, face_b = face_at(a.vertices, a.faces, i), face_at(b.vertices, b.faces, j)
    tests[TRIANGLE_TESTS] += 1
    kind, distance = triangles_touch(face_a, face_b), 0.0
    if kind == 0 and clearance > 0.0:
        tests[DISTANCE_TESTS] += 1
        distance = reported_distance(face_a, face_b)
        if distance < clearance:
            kind = NEAR
    return kind, distance


@kernel(forceinline=True)
def write_row(out: RowsOut, found: int, i: int, j: int, kind: int, distance: float) -> int:
    """Write a row if there is room; return how many there are now."""
    if found < out.kind.shape[0]:
        out.face_pairs[found, 0] = i
        out.face_pairs[found, 1] = j
        out.kind[found] = kind
        out.distance[found] = distance
    return found + 1


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
    a = placed_faces(vertices_a, faces_a)
    b = a if welded is not None else placed_faces(vertices_b, faces_b)
    welding = None if welded is None else read_only_view(welded)
    tests = np.zeros(3, np.int64)
    search = _Search(0, np.empty((256, 2), np.int32), np.empty(256, np.uint8), np.empty(256))

    def scan(state: _Search, operations: int) -> tuple[bool, int]:
        while True:
            before = tests.copy()
            room = slice(state.found, None)
            out = RowsOut(state.face_pairs[room], state.kind[room], state.distance[room], tests)
            if welding is None:
                needed, next_face, spent = _scan_faces(a, b, state.next_face, operations, clearance, out)
            else:
                needed, next_face, spent = _scan_faces_of_one(a, welding, state.next_face, operations, adjacent, clearance, out)
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
