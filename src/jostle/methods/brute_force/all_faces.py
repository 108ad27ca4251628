"""Every face against every face: the rows of two bodies, or of one with itself.

Boxes of faces are compared first, exactly, on the coordinates of the last test, so this cull loses nothing. The rest goes to the
exact triangle test and, with a clearance, to the distance of triangles. The kernel works on a range of faces of A, so that Python
handles Ctrl-C between slices.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from jostle._types import Bytes, Floats, Ints, Longs
from jostle.geometry.aabb import bounds_squared_distance
from jostle.geometry.contact_kind import NEAR
from jostle.geometry.placed_faces import PlacedFaces, placed_faces
from jostle.geometry.reported_distance import reported_distance
from jostle.geometry.triangle import bounds_at, face_at
from jostle.geometry.triangle_triangle import adjacent_faces_touch, share_a_vertex, triangles_touch
from jostle.kernels.arrays import read_only_view
from jostle.kernels.buffers import doubled
from jostle.kernels.jit import kernel
from jostle.kernels.slices import run_in_slices
from jostle.report.report import Counters

FIRST_SLICE = 1 << 20  # operations; later slices are sized by the clock
EXACT_TEST, DISTANCE_TEST = 30, 60  # their cost in operations; a box test is one
BOX_TESTS, TRIANGLE_TESTS, DISTANCE_TESTS = range(3)


class FaceRows(NamedTuple):
    """The rows of one body pair, sorted by (face_a, face_b)."""

    face_a: Ints
    face_b: Ints
    kind: Bytes
    distance: Floats


class RowsOut(NamedTuple):
    """Room for rows: faces (n,2), kind (n,), distance (n,)."""

    face_pairs: Ints
    kind: Bytes
    distance: Floats


@dataclass
class _Search:
    """Progress of a search: the next face of A, and the rows so far."""

    rows: RowsOut
    next_face: int = 0
    found: int = 0


@kernel
def _scan_faces(
    a: PlacedFaces, b: PlacedFaces, welded: Ints, first: int, operations: int, clearance: float, adjacent: bool,
    out: RowsOut, tests: Longs,
) -> tuple[int, int, int]:  # fmt: skip
    """Write the rows of faces of a, from `first` on, against all faces of b.

    Returns the number of rows, the next face, and the operations used. It stops after the face that uses them up. Rows that do not
    fit are counted but not written. tests (3,): of boxes, triangles and distances.

    With `welded` faces (m,3), b is a: each face is tested against later ones. Faces that share a welded vertex are skipped, or
    with `adjacent` tested for contact beyond it; their distance is 0, so clearance does not apply.
    """
    itself, count = welded.shape[0] > 0, b.faces.shape[0]
    found, spent = 0, 0
    before = operations_of(tests)
    for i in range(first, a.faces.shape[0]):
        if spent >= operations:
            return found, i, spent
        begin = i + 1 if itself else 0
        tests[BOX_TESTS] += count - begin
        for j in range(begin, count):
            if boxes_apart(a, i, b, j, clearance):
                continue
            kind, distance = 0, 0.0
            if not (itself and share_a_vertex(welded, i, j)):
                kind, distance = faces_meet(a, i, b, j, clearance, tests)
            elif adjacent:
                tests[TRIANGLE_TESTS] += 1
                kind = adjacent_faces_touch(a.vertices, a.faces, welded, i, j)
            if kind != 0:
                found = write_row(out, found, i, j, kind, distance)
        spent = operations_of(tests) - before
    return found, a.faces.shape[0], spent


@kernel(forceinline=True)
def operations_of(tests: Longs) -> int:
    """Return the tests so far in units of box tests."""
    return tests[BOX_TESTS] + EXACT_TEST * tests[TRIANGLE_TESTS] + DISTANCE_TEST * tests[DISTANCE_TESTS]


@kernel(forceinline=True)
def boxes_apart(a: PlacedFaces, i: int, b: PlacedFaces, j: int, clearance: float) -> bool:
    """Return whether the boxes of two faces are farther apart than the clearance."""
    return bounds_squared_distance(bounds_at(a.lower, a.upper, i), bounds_at(b.lower, b.upper, j)) > clearance * clearance


@kernel(forceinline=True)
def faces_meet(a: PlacedFaces, i: int, b: PlacedFaces, j: int, clearance: float, tests: Longs) -> tuple[int, float]:
    """Return the kind of two faces, 0 if apart, and their distance if near."""
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
    """Write a row if there is room; return the new number of rows."""
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
    """Return all rows of two bodies.

    Parameters
    ----------
    vertices_a, vertices_b : (n, 3) float64
        In the world.
    faces_a, faces_b : (m, 3) int32
    clearance : float
    welded : (m, 3) int32, optional
        The faces of A with welded vertex numbers: compares A with itself instead of B.
    adjacent : bool
        Whether faces that share a welded vertex are tested.
    """
    a = placed_faces(vertices_a, faces_a)
    b = a if welded is not None else placed_faces(vertices_b, faces_b)
    shared = read_only_view(np.empty((0, 3), np.int32) if welded is None else welded)
    tests = np.zeros(3, np.int64)
    search = _Search(RowsOut(np.empty((256, 2), np.int32), np.empty(256, np.uint8), np.empty(256)))

    def scan(state: _Search, operations: int) -> tuple[bool, int]:
        while True:
            before = tests.copy()
            rows, room = state.rows, slice(state.found, None)
            out = RowsOut(rows.face_pairs[room], rows.kind[room], rows.distance[room])
            needed, next_face, spent = _scan_faces(a, b, shared, state.next_face, operations, clearance, adjacent, out, tests)
            if needed <= len(out.kind):
                break
            tests[:] = before
            while len(rows.kind) < state.found + needed:
                rows = RowsOut(doubled(rows.face_pairs), doubled(rows.kind), doubled(rows.distance))
            state.rows = rows
        state.found += needed
        state.next_face = next_face
        return next_face == len(faces_a), max(1, spent)

    run_in_slices(scan, search, FIRST_SLICE)
    found = slice(search.found)
    face_a, face_b = np.ascontiguousarray(search.rows.face_pairs[found].T)
    rows = FaceRows(face_a, face_b, search.rows.kind[found].copy(), search.rows.distance[found].copy())
    box_tests, triangle_tests, distance_tests = tests.tolist()
    return rows, Counters(box_tests=box_tests, triangle_tests=triangle_tests, distance_tests=distance_tests)
