"""Whether interiors of two closed surfaces meet, mostly in floats.

The test points are those of `rational.py`. Beside faces, exact winding numbers of flags decide (`geometry/winding.py`). An edge is
cut where the faces that contain a part of it begin and end. Around one piece these faces are half planes, ordered by exact
predicates, and the winding number changes by one at each of them; that of one sector is counted along a ray, in floats with error
bounds. Where floats cannot decide, `rational.py` does.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from jostle._types import Bools, Floats, Ints
from jostle.geometry.flat_triangles import projection_axis
from jostle.geometry.vector import point_at
from jostle.geometry.winding_columns import windings
from jostle.kernels.arrays import read_only_view
from jostle.kernels.jit import kernel
from jostle.kernels.structs import Addresses
from jostle.report.containment import rational
from jostle.report.containment.edge_cuts import cut_edge, faces_along
from jostle.report.containment.edge_work import MOST, EdgeWork, Surfaces, edge_at, edge_work, open_work
from jostle.report.containment.piece_windings import test_pieces
from jostle.report.containment.rational import Surface
from jostle.report.containment.sectors import APART, MEETING, UNDECIDED

Rows = tuple[NDArray[np.int64], NDArray[np.int64]]  # of each face the first of its rows, and the face that touches it in each row

FEW_ROWS = 100  # up to here integers take some 20 ms, and nothing is compiled
EDGES_AT_ONCE = 2_000  # per call of the kernel, so that Ctrl-C is heard


def interiors_meet(a: Surface, b: Surface, face_a: Ints, face_b: Ints, undecided: Bools | None = None) -> bool:
    """Return whether interiors meet; parameters as in `rational.interiors_meet`."""
    chosen = np.ones(len(face_a), bool) if undecided is None else undecided
    if np.count_nonzero(chosen) < FEW_ROWS:
        return rational.interiors_meet(a, b, face_a, face_b, undecided)
    touching_a, touching_b = np.unique(face_a[chosen]), np.unique(face_b[chosen])
    corners, count_a = read_only_view(np.concatenate([a.vertices[a.faces], b.vertices[b.faces]])), len(a.faces)
    has_area = np.empty(len(corners), bool)
    areas_into(corners, has_area)
    faces = np.concatenate([touching_a, touching_b + np.int64(count_a)])
    faces = faces[has_area[faces]]
    if _meet_beside(corners[faces].reshape(-1, 9), a, b):
        return True
    left = _left_by_floats(corners, count_a, faces, _rows_of_faces(face_a, face_b, count_a, has_area))
    if left is None or len(left) == 0:
        return left is None
    sides: tuple[list[tuple[int, int]], ...] = ([], [])
    for side in left.tolist():
        of_b = side >= 3 * count_a
        sides[of_b].append(divmod(side - 3 * count_a * of_b, 3))
    return rational.interiors_meet(a, b, face_a, face_b, sides=(sides[0], sides[1]))


def _meet_beside(flags: Floats, a: Surface, b: Surface) -> bool:
    """Return whether both surfaces wind on the same side of one of these faces."""
    (winds_a, _), (winds_b, _) = windings(flags, *a), windings(flags, *b)
    above = (winds_a[:, 0] != 0) & (winds_b[:, 0] != 0)
    below = (winds_a[:, 0] + winds_a[:, 2] != 0) & (winds_b[:, 0] + winds_b[:, 2] != 0)
    return bool((above | below).any())


def _rows_of_faces(face_a: Ints, face_b: Ints, count_a: int, has_area: NDArray[np.bool_]) -> Rows:
    """Return the faces with area that touch each face.

    Those of f are touching[first[f] : first[f + 1]].
    """
    a, b = face_a.astype(np.int64), face_b.astype(np.int64) + count_a
    both = has_area[a] & has_area[b]
    one, other = np.concatenate([a[both], b[both]]), np.concatenate([b[both], a[both]])
    first = np.concatenate([[0], np.cumsum(np.bincount(one, minlength=len(has_area)))])
    return first, other[np.argsort(one, kind="stable")]


def _left_by_floats(corners: Floats, count_a: int, faces: NDArray[np.int64], rows: Rows) -> NDArray[np.int64] | None:
    """Return the undecided sides, 3 · face + corner, or None if interiors meet."""
    sides = (3 * faces[:, None] + np.arange(3)).ravel()
    start, end = corners.reshape(-1, 3)[sides], corners[:, [1, 2, 0]].reshape(-1, 3)[sides]
    swapped = (start[:, 0] > end[:, 0]) | (
        (start[:, 0] == end[:, 0]) & ((start[:, 1] > end[:, 1]) | ((start[:, 1] == end[:, 1]) & (start[:, 2] > end[:, 2])))
    )
    edges = np.where(swapped[:, None], np.hstack([end, start]), np.hstack([start, end]))
    # Each edge of a surface once: all faces around it have the same contacts there.
    of_b = sides >= 3 * count_a
    order = np.lexsort((sides, *edges.T, of_b))
    edges, of_b, sides = edges[order], of_b[order], sides[order]
    new = np.ones(len(sides), bool)
    new[1:] = (edges[1:] != edges[:-1]).any(axis=1) | (of_b[1:] != of_b[:-1])
    new &= (edges[:, :3] != edges[:, 3:]).any(axis=1)
    edges, sides = edges[new], sides[new]
    answers = np.empty(len(sides), np.uint8)
    boxes = np.concatenate([corners.min(axis=1), corners.max(axis=1)], axis=1)
    surfaces = np.array([(count_a, np.abs(boxes).max(), boxes[:, 5].max())], Surfaces.dtype)
    work = edge_work(
        surfaces=surfaces, corners=corners, boxes=boxes, first_row=rows[0], touching=rows[1],
        edges=edges, sides=sides, answers=answers,
    )  # fmt: skip
    for first in range(0, len(sides), EDGES_AT_ONCE):
        if test_edges(work.table[0], first, min(first + EDGES_AT_ONCE, len(sides))):
            return None
    left: NDArray[np.int64] = sides[answers == UNDECIDED]
    return left


@kernel
def areas_into(corners: Floats, has_area: NDArray[np.bool_]) -> None:
    """Write which faces (m,3,3) have an area."""
    for f in range(corners.shape[0]):
        has_area[f] = projection_axis(point_at(corners[f], 0), point_at(corners[f], 1), point_at(corners[f], 2)) >= 0


@kernel
def test_edges(addresses: Addresses, first: int, last: int) -> bool:
    """Write answers of edges first … last - 1; return True once interiors meet."""
    work = open_work(addresses)
    for e in range(first, last):
        answer = test_edge(work, e)
        work.answers[e] = answer
        if answer == MEETING:
            return True
    return False


@kernel
def test_edge(work: EdgeWork, e: int) -> int:
    """Return whether interiors meet at an edge: APART, MEETING or UNDECIDED."""
    line = edge_at(work, e)
    count, others = faces_along(work, e, line)
    if others == 0:
        return APART
    cut_count = cut_edge(work, line, count) if count <= MOST else 0
    return test_pieces(work, line, count, cut_count) if cut_count > 0 else UNDECIDED
