"""All edges of one body against all faces of another (Kitamura et al. 1998, §1).

Where an edge meets a closed face, that face touches all faces of the edge. Two closed triangles share a point exactly when an edge
of one meets the other: their common points are a convex set with an extreme point on an edge of one of them, even if they are
coplanar or contained. So the test is exact, as `edge_meets_face` is. Without boxes and culls the cost is E times F.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from jostle._types import Floats, Ints
from jostle.geometry.flat_triangles import flat_triangles_touch
from jostle.geometry.predicates import orient3d
from jostle.geometry.triangle import Segment, Triangle, face_at
from jostle.geometry.triangle_triangle import faces_touch
from jostle.geometry.unique_rows import unique_rows
from jostle.geometry.vector import point_at
from jostle.kernels.arrays import read_only_view
from jostle.kernels.buffers import doubled
from jostle.kernels.jit import kernel
from jostle.kernels.numbers import as_int64
from jostle.kernels.slices import run_in_slices
from jostle.kernels.structs import Record, borrowed, int64, record_viewer
from jostle.methods.edge_face.edges import EdgeShape

FIRST_SLICE = 1 << 20  # edge–face tests; later slices are sized by the clock

FULL, PAUSED, DONE = 0, 1, 2


class Progress(Record):
    """Progress of a scan: next edge and face, rows, and tests."""

    edge: int64
    face: int64
    rows: int64
    kind_tests: int64
    used: int64  # edge–face tests of the last call


view_progress, PROGRESS = record_viewer(Progress), Progress.dtype.itemsize // 8


@kernel
def edge_meets_face(edge: Segment, face: Triangle) -> bool:
    """Return whether a closed segment and a closed triangle share a point. Exact."""
    p, q = orient3d(face.p, face.q, face.r, edge.p), orient3d(face.p, face.q, face.r, edge.q)
    if p * q > 0:
        return False
    # The segment as a triangle without area, which has every point on its plane: sides 0.
    return flat_triangles_touch(Triangle(edge.p, edge.q, edge.q), face, (p, q, q), (0, 0, 0))


@kernel
def scan_edges(
    shape: EdgeShape,
    vertices: Floats,
    other_faces: Ints,
    other_vertices: Floats,
    operations: int,
    numbers: NDArray[np.int64],
    rows: Ints,
) -> int:
    """Resume testing edges with faces; write rows (n,3) of face, other face and kind.

    numbers: a `Progress`. Some rows are repeated. Returns FULL when the rows of the next edge and face might not fit, PAUSED when
    the operations are used up, DONE at the end.
    """
    state = view_progress(numbers)
    faces, edge_faces = borrowed(shape.faces), borrowed(shape.edge_faces)
    used, edge, face = 0, state.edge, state.face
    while edge < shape.edges.shape[0]:
        segment = Segment(point_at(vertices, shape.edges[edge, 0]), point_at(vertices, shape.edges[edge, 1]))
        first, last = shape.edge_start[edge], shape.edge_start[edge + 1]
        while face < other_faces.shape[0]:
            full = state.rows + (last - first) > rows.shape[0]
            if full or used >= operations:
                state.edge, state.face, state.used = edge, face, used
                return FULL if full else PAUSED
            used += 1
            if edge_meets_face(segment, face_at(other_vertices, other_faces, face)):
                for k in range(first, last):
                    row, own = state.rows, as_int64(edge_faces[k])
                    rows[row, 0], rows[row, 1] = own, face
                    rows[row, 2] = faces_touch(vertices, faces, own, other_vertices, other_faces, face)
                    state.rows += 1
                    state.kind_tests += 1
            face += 1
        face = 0
        edge += 1
    state.edge, state.face, state.used = edge, face, used
    return DONE


@dataclass
class _Scan:
    """Progress of a scan, and its rows."""

    numbers: NDArray[np.int64]
    rows: Ints


def contacts_of_edges(shape: EdgeShape, vertices: Floats, other: EdgeShape, other_vertices: Floats) -> tuple[Ints, int]:
    """Return unsorted rows (n,3) of face, other face and kind, and the test count."""
    edges = EdgeShape(*(read_only_view(array) for array in shape))
    own, faces, others = read_only_view(vertices), read_only_view(other.faces), read_only_view(other_vertices)
    scan = _Scan(np.zeros(PROGRESS, np.int64), np.empty((256, 3), np.int32))

    def step(scan: _Scan, operations: int) -> tuple[bool, int]:
        why = scan_edges(edges, own, faces, others, operations, scan.numbers, scan.rows)
        if why == FULL:
            scan.rows = doubled(scan.rows)
        *_, used = scan.numbers.tolist()
        return why == DONE, max(1, used)

    run_in_slices(step, scan, FIRST_SLICE)
    _, _, rows, kind_tests, _ = scan.numbers.tolist()
    return scan.rows[:rows], len(shape.edges) * len(other.faces) + kind_tests


def rows_of_pair(shape_a: EdgeShape, world_a: Floats, shape_b: EdgeShape, world_b: Floats) -> tuple[Ints, int]:
    """Return sorted rows (n,3) of face_a, face_b and kind, and the number of tests."""
    rows_a, tests_a = contacts_of_edges(shape_a, world_a, shape_b, world_b)
    rows_b, tests_b = contacts_of_edges(shape_b, world_b, shape_a, world_a)
    rows = unique_rows(np.concatenate([rows_a, rows_b[:, [1, 0, 2]]]))
    return rows, tests_a + tests_b
