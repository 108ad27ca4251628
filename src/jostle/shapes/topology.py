"""Connectivity of a mesh by welded vertices: fans of edges, sheets and parts.

A *side* is one of the three directed edges of a face: side 3 f + k goes from corner k of face f to the next. The sides of one edge
form its *fan*. A *sheet* is a set of faces connected across edges with exactly two sides, in opposite directions: where a surface
does not cross itself, the inside is on the same side of all faces of a sheet. A *part* is a set of faces connected by vertices
(`Mesh.component_of_face`).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from jostle._types import Floats, Ints
from jostle.geometry.triangle_triangle import adjacent_faces_touch
from jostle.geometry.winding import facing
from jostle.geometry.winding_columns import windings
from jostle.kernels.arrays import read_only_view
from jostle.kernels.handles import AddressTable
from jostle.kernels.interpreting import in_columns
from jostle.kernels.jit import kernel
from jostle.kernels.structs import Rows, Struct, int32
from jostle.shapes.topology_columns import connect_columns

Links = NDArray[np.int_]


class Topology(NamedTuple):
    """The fans, sheets and parts of m faces."""

    first_side: Ints  # (3m,) lowest side of the fan of each side; the side itself where it has no length
    next_side: Ints  # (3m,) next side of the fan, -1 after the last
    sheet_of_face: Ints  # (m,) numbered by first face
    part_of_face: Ints  # (m,) numbered by first face
    first_face_of_part: Ints
    first_face_of_sheet: Ints
    is_closed: bool  # as `Mesh.is_closed`
    unknown_sides: SheetSides  # where nothing touches the mesh, or it is open: no sheet has an inner side
    table: AddressTable  # `TopologyArrays`, made once: the address of an array takes 1 µs


class TopologyArrays(Struct):
    """The first arrays of a `Topology` in kernels."""

    first_side: Rows[int32]
    next_side: Rows[int32]
    sheet_of_face: Rows[int32]
    part_of_face: Rows[int32]
    first_face_of_part: Rows[int32]


def topology_of(welded_faces: Ints, vertex_count: int) -> Topology:
    """Return the topology of welded faces (m,3)."""
    m = len(welded_faces)
    first_side, next_side = np.empty(3 * m, np.int32), np.empty(3 * m, np.int32)
    sheet, part = np.empty(m, np.int32), np.empty(m, np.int32)
    first_faces: NDArray[np.int32] = np.empty((2, m), np.int32)
    sheets, parts, closed = connect(read_only_view(welded_faces), vertex_count, first_side, next_side, sheet, part, first_faces)
    arrays = (first_side, next_side, sheet, part, first_faces[1, :parts].copy())
    first_face_of_sheet = first_faces[0, :sheets].copy()
    unknown = _sides_of_sheets(first_face_of_sheet, np.zeros(sheets, np.int32))
    return Topology(*arrays, first_face_of_sheet, bool(closed), unknown, AddressTable([arrays]))


@kernel
def connect(
    faces: Ints, vertex_count: int, first_side: Ints, next_side: Ints, sheet: Ints, part: Ints, first_faces: Ints
) -> tuple[int, int, bool]:
    """Write the topology of faces (m,3); return sheet and part counts, and closedness."""
    m = faces.shape[0]
    # Sides sorted by the lower of their two vertices, ascending within one vertex.
    start = np.zeros(vertex_count + 2, np.int32)
    for f in range(m):
        for k in range(3):
            start[min(faces[f, k], faces[f, (k + 1) % 3]) + 2] += 1
    for v in range(vertex_count):
        start[v + 2] += start[v + 1]
    order = np.empty(3 * m, np.int32)
    for f in range(m):
        for k in range(3):
            low = min(faces[f, k], faces[f, (k + 1) % 3])
            order[start[low + 1]] = 3 * f + k
            start[low + 1] += 1
    last = np.full(vertex_count, -1, np.int32)  # last side from the present lower vertex to each vertex
    balance, count = np.zeros(3 * m, np.int32), np.zeros(3 * m, np.int32)  # of each fan, at its first side
    any_side = False
    for v in range(vertex_count):
        for at in range(start[v], start[v + 1]):
            side = order[at]
            p, q = faces[side // 3, side % 3], faces[side // 3, (side % 3 + 1) % 3]
            first_side[side] = side
            next_side[side] = -1
            if p == q:
                continue
            any_side = True
            far = max(p, q)
            if last[far] >= 0:
                next_side[last[far]] = side
                first_side[side] = first_side[last[far]]
            last[far] = side
            balance[first_side[side]] += 1 if p < q else -1
            count[first_side[side]] += 1
        for at in range(start[v], start[v + 1]):
            side = order[at]
            last[faces[side // 3, side % 3]] = -1
            last[faces[side // 3, (side % 3 + 1) % 3]] = -1
    closed = any_side
    sheet_above = np.arange(m)  # trees of faces, and of vertices, with the lowest at the root
    vertex_above = np.arange(vertex_count)
    for f in range(m):
        for k in range(3):
            side = 3 * f + k
            closed = closed and balance[side] == 0
            if first_side[side] == side and count[side] == 2 and balance[side] == 0:
                join(sheet_above, f, next_side[side] // 3)
            join(vertex_above, faces[f, k], faces[f, (k + 1) % 3])
    sheets = number_sets(sheet_above, sheet, first_faces[0])
    # A part's tree holds vertices; the lowest face of its root represents its faces.
    face_of_root = np.full(vertex_count, -1)
    face_above = np.arange(m)
    for f in range(m):
        root = root_of(vertex_above, faces[f, 0])
        if face_of_root[root] < 0:
            face_of_root[root] = f
        face_above[f] = face_of_root[root]
    parts = number_sets(face_above, part, first_faces[1])
    return sheets, parts, closed


in_columns(connect)(connect_columns)


@kernel
def root_of(above: Links, k: int) -> int:
    """Return the root of k's tree, halving the path to it."""
    while above[k] != k:
        above[k] = above[above[k]]
        k = above[k]
    return k


@kernel
def join(above: Links, i: int, j: int) -> None:
    """Join two trees; the lower root stays."""
    i, j = root_of(above, i), root_of(above, j)
    above[max(i, j)] = min(i, j)


@kernel
def number_sets(above: Links, number: Ints, first: Ints) -> int:
    """Write each member's set number and each set's root; return the set count."""
    found = 0
    for k in range(above.shape[0]):
        root = root_of(above, k)
        if root == k:
            number[k] = found
            first[found] = k
            found += 1
        else:
            number[k] = number[root]
    return found


class SheetSides(NamedTuple):
    """The inner side of each sheet of a closed surface."""

    sample: Ints  # (s,) a face of each sheet with an area, the lowest; its lowest face where none has
    inner: Ints  # (s,) -1 behind the faces (outward), 1 before them (inverted), 0 on neither side, or BOTH
    addresses: tuple[int, ...]  # `SheetArrays`; an address table would cost 5 µs per frame


class SheetArrays(Struct):
    """The arrays of `SheetSides` in kernels."""

    sample: Rows[int32]
    inner: Rows[int32]


BOTH = 2  # a sheet inside the body, such as a shell within another: it bounds nothing


def sheet_sides(vertices: NDArray[np.float64], faces: Ints, topology: Topology) -> SheetSides:
    """Return the inner side of each sheet, by exact winding numbers at a sample."""
    sample, turned = topology.first_face_of_sheet.copy(), np.zeros(len(topology.first_face_of_sheet), np.int8)
    sample_sheets(read_only_view(vertices), read_only_view(faces), topology.sheet_of_face, sample, turned)
    return _sides_of_sheets(sample, _inner_sides(vertices, faces, sample, turned))


def _sides_of_sheets(sample: Ints, inner: Ints) -> SheetSides:
    return SheetSides(sample, inner, (sample.ctypes.data, sample.size, inner.ctypes.data, inner.size))


def _inner_sides(vertices: NDArray[np.float64], faces: Ints, chosen: NDArray[np.integer], turned: NDArray[np.int8]) -> Ints:
    """Return the inner side of each chosen face, as in `SheetSides`.

    `turned` faces are flipped as `facing` says.
    """
    found, _ = windings(vertices[faces[chosen]].reshape(-1, 9), vertices, faces)
    upper, lower = found[:, 0], found[:, 0] + found[:, 2]
    before, behind = np.where(turned > 0, upper, lower), np.where(turned > 0, lower, upper)
    inner = np.where(behind != 0, np.where(before != 0, BOTH, -1), np.where(before != 0, 1, 0))
    inner[turned == 0] = 0
    return inner.astype(np.int32)


@kernel
def sample_sheets(vertices: Floats, faces: Ints, sheet_of_face: Ints, sample: Ints, turned: NDArray[np.int8]) -> None:
    """Write each sheet's lowest face with an area, and its normal's direction."""
    for f in range(faces.shape[0]):
        sheet = sheet_of_face[f]
        if turned[sheet] == 0:
            turned[sheet] = facing(vertices, faces, f)
            if turned[sheet] != 0:
                sample[sheet] = f


FACES_AT_ONCE = 5_000  # per kernel call: at most some 50 ms for a million faces, so that Ctrl-C works


def touches_itself(vertices: NDArray[np.float64], faces: Ints, welded_faces: Ints) -> bool:
    """Return whether two faces with area share more than welded vertices and edges."""
    corners = vertices[faces]
    lower, upper = corners.min(axis=1), corners.max(axis=1)
    # Sweep along the axis with the smallest faces relative to the body.
    axis = int(np.argmax((upper.max(axis=0) - lower.min(axis=0)) / np.maximum((upper - lower).mean(axis=0), 1e-300)))
    order = np.argsort(lower[:, axis], kind="stable")
    turn = np.roll(np.arange(3), -axis)
    boxes = np.hstack([lower[order][:, turn], upper[order][:, turn]])
    vertices, faces, welded_faces = read_only_view(vertices), read_only_view(faces), read_only_view(welded_faces)
    return any(
        touches_later_face(vertices, faces, welded_faces, boxes, order, first, first + FACES_AT_ONCE)
        for first in range(0, len(faces), FACES_AT_ONCE)
    )


@kernel
def touches_later_face(
    vertices: Floats, faces: Ints, welded_faces: Ints, boxes: Floats, order: NDArray[np.int64], first: int, last: int
) -> bool:
    """Return whether one of the faces first … last - 1 touches a later one.

    Boxes (m,6) ascend by their first coordinate.
    """
    m = order.shape[0]
    for i in range(first, min(last, m)):
        f = order[i]
        if facing(vertices, faces, f) == 0:
            continue
        for j in range(i + 1, m):
            if boxes[j, 0] > boxes[i, 3]:
                break
            if boxes[j, 1] > boxes[i, 4] or boxes[i, 1] > boxes[j, 4] or boxes[j, 2] > boxes[i, 5] or boxes[i, 2] > boxes[j, 5]:
                continue
            g = order[j]
            if facing(vertices, faces, g) == 0:
                continue
            if adjacent_faces_touch(vertices, faces, welded_faces, f, g):
                return True
    return False


def is_regular_at(chosen: Ints, vertices: NDArray[np.float64], mesh_faces: tuple[Ints, Ints], inner: Ints) -> bool:
    """Return whether a closed surface matches its fans and sheets at chosen faces.

    That is: none of them touches another face beyond welded vertices and edges, and each has the inside on the side of its sheet,
    `inner` (k,), which must not be 0. Faces without area do not count. Also False where the test would take too long.

    `chosen` is (k,); mesh_faces are the faces and the welded faces (m,3).
    """
    faces, welded_faces = mesh_faces
    turned = np.zeros(len(chosen), np.int8)
    chosen, views = read_only_view(chosen), (read_only_view(vertices), read_only_view(faces), read_only_view(welded_faces))
    if chosen_face_touches(chosen, *views, MOST_BOX_TESTS * len(faces), turned):
        return False
    sides, some = _inner_sides(vertices, faces, chosen, turned), turned != 0
    return bool(((sides == inner) & (sides != 0))[some].all())


MOST_BOX_TESTS = 100  # per face of the mesh: cheaper than the test of the whole mesh


@kernel
def chosen_face_touches(
    chosen: Ints, vertices: Floats, faces: Ints, welded_faces: Ints, most: int, turned: NDArray[np.int8]
) -> bool:
    """Return whether a chosen face touches another, or tests exceed `most`.

    Writes `facing` of each.
    """
    k = chosen.shape[0]
    boxes, around = np.empty((k, 6)), np.empty(6)
    for c in range(3):
        around[c], around[3 + c] = np.inf, -np.inf
    for i in range(k):
        f = chosen[i]
        turned[i] = facing(vertices, faces, f)
        for c in range(3):
            x, y, z = vertices[faces[f, 0], c], vertices[faces[f, 1], c], vertices[faces[f, 2], c]
            boxes[i, c], boxes[i, 3 + c] = min(x, y, z), max(x, y, z)
            around[c], around[3 + c] = min(around[c], boxes[i, c]), max(around[3 + c], boxes[i, 3 + c])
    box, tests = np.empty(6), 0
    for g in range(faces.shape[0]):
        for c in range(3):
            x, y, z = vertices[faces[g, 0], c], vertices[faces[g, 1], c], vertices[faces[g, 2], c]
            box[c], box[3 + c] = min(x, y, z), max(x, y, z)
        if boxes_are_apart(box, around):
            continue
        tests += k
        if tests > most:
            return True
        if facing(vertices, faces, g) == 0:
            continue
        for i in range(k):
            f = chosen[i]
            if f == g or turned[i] == 0 or boxes_are_apart(box, boxes[i]):
                continue
            if adjacent_faces_touch(vertices, faces, welded_faces, f, g):
                return True
    return False


@kernel
def boxes_are_apart(one: Floats, other: Floats) -> bool:
    """Return whether two closed boxes (6,) share no point."""
    apart = False
    for c in range(3):
        apart = apart or one[c] > other[3 + c] or other[c] > one[3 + c]
    return apart
