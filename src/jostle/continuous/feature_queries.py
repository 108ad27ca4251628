"""The queries of face pairs: 6 corners against faces and 9 pairs of edges each.

Each is made once although many face pairs share it. Each face pair has 15 codes: 0 … 2 corner i of face a against face b, 3 … 5
corner j of face b against face a, 6 … 14 edge i of a against edge j of b as 6 + 3 i + j, where edge k joins corner k and the
next. A query has its corners in an order of its own (those of a face as in the mesh, the ends of an edge by number), so that
its answer does not depend on the face pair. Queries of features that stay apart (`moving_faces.py`) are culled.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from jostle._types import Bytes, Floats, Ints
from jostle.continuous.moving_faces import (
    Corners,
    MovingBounds,
    MovingFaces,
    MovingPoint,
    borrowed_faces,
    bulge_of_face,
    corner,
    corners_at,
    moving_point,
    moving_point_bounds,
    moving_triangle,
    moving_triangle_bounds,
    stay_apart,
)
from jostle.continuous.moving_point import turn_from
from jostle.geometry.features import EDGE, FACE, NONE, VERTEX, Features
from jostle.geometry.triangle import Segment, segment_bounds, union_of_bounds
from jostle.geometry.vector import minus
from jostle.kernels.hash_set import EMPTY, HALF_WORD, first_place
from jostle.kernels.jit import kernel
from jostle.kernels.numbers import as_int64
from jostle.kernels.structs import borrowed

CODES = 15
FIRST_OF_B, FIRST_OF_EDGES, FACES = 3, 6, 15  # FACES: two faces that cross, without contact of corners or edges
CULLED = -1
AT_END = 4  # the corners of a query at the end come after those at the start

FaceRows = NDArray[np.int32]
Codes = NDArray[np.int8]


class QuerySet(NamedTuple):
    """Queries of one kind, each once, with a hash table of their numbers."""

    table: NDArray[np.int32]  # a power of two of numbers or EMPTY
    names: NDArray[np.int64]  # (n,2)
    corners: Floats  # (n,8,3)
    filled: NDArray[np.int64]  # (1,) the number of queries


class QueryName(NamedTuple):
    """The two features of a query.

    A vertex by its number, a face by -1 - number, an edge by both ends, the lower first.
    """

    a: int
    b: int


class Edge(NamedTuple):
    """The ends of an edge by number, the lower one first."""

    p: int
    q: int


class FacePair(NamedTuple):
    """Two faces by number, with corners, boxes, and how far they may leave these."""

    i: int
    j: int
    corners_a: Corners
    corners_b: Corners
    box_a: MovingBounds
    box_b: MovingBounds
    bulge: float


@kernel(forceinline=True)
def face_pair(a: MovingFaces, b: MovingFaces, i: int, j: int) -> FacePair:
    """Return faces i of a and j of b."""
    corners_a, corners_b = corners_at(a.faces, i), corners_at(b.faces, j)
    face_a, face_b = moving_triangle(a, corners_a), moving_triangle(b, corners_b)
    bulge = bulge_of_face(face_a, turn_from(a.turn)) + bulge_of_face(face_b, turn_from(b.turn))
    return FacePair(i, j, corners_a, corners_b, moving_triangle_bounds(face_a), moving_triangle_bounds(face_b), bulge)


@kernel
def mark_meeting(
    a: MovingFaces,
    b: MovingFaces,
    face_a: FaceRows,
    face_b: FaceRows,
    separation: float,
    share: float,
    meeting: NDArray[np.bool_],
) -> None:
    """Write to meeting (n,) whether faces may come within `separation`.

    A share of their size is added.
    """
    a, b = borrowed_faces(a), borrowed_faces(b)
    for row in range(face_a.shape[0]):
        pair = face_pair(a, b, as_int64(face_a[row]), as_int64(face_b[row]))
        of_a, of_b = union_of_bounds(pair.box_a.start, pair.box_a.end), union_of_bounds(pair.box_b.start, pair.box_b.end)
        everything = union_of_bounds(of_a, of_b)
        x, y, z = minus(everything.upper, everything.lower)
        size = max(0.0, x, y, z)
        meeting[row] = not stay_apart(pair.box_a, pair.box_b, (separation + share * size) + pair.bulge)


@kernel(forceinline=True)
def _borrowed_queries(queries: QuerySet) -> QuerySet:
    return QuerySet(borrowed(queries.table), borrowed(queries.names), borrowed(queries.corners), borrowed(queries.filled))


@kernel(forceinline=True)
def numbered(queries: QuerySet, name: QueryName) -> int:
    """Return the number of a query, entering a new one.

    The caller writes the corners of a new one.
    """
    places = queries.table.shape[0]
    # A table of numbers, not of keys, which are with the queries: the table to clear is a quarter as large.
    place = first_place(name.a, name.b, places)
    while queries.table[place] != EMPTY:
        number = as_int64(queries.table[place])
        if queries.names[number, 0] == name.a and queries.names[number, 1] == name.b:
            return number
        place = (place + 1) & (places - 1)
    count = as_int64(queries.filled[0])
    queries.table[place] = count
    queries.names[count, 0], queries.names[count, 1] = name.a, name.b
    return count


@kernel(forceinline=True)
def _write_corner(queries: QuerySet, query: int, k: int, point: MovingPoint) -> None:
    start, end = point
    queries.corners[query, k, 0], queries.corners[query, k, 1], queries.corners[query, k, 2] = start.x, start.y, start.z
    k += AT_END
    queries.corners[query, k, 0], queries.corners[query, k, 1], queries.corners[query, k, 2] = end.x, end.y, end.z


@kernel(forceinline=True)
def _point_query(points: QuerySet, name: QueryName, body: MovingFaces, vertex: int, other: MovingFaces, face: Corners) -> int:
    """Return the number of the query of a vertex of one body and a face of the other."""
    number = numbered(points, name)
    if number == points.filled[0]:
        _write_corner(points, number, 0, moving_point(body, vertex))
        for m in range(3):
            _write_corner(points, number, 1 + m, moving_point(other, corner(face, m)))
        points.filled[0] += 1
    return number


@kernel(forceinline=True)
def _edge_query(edges: QuerySet, a: MovingFaces, edge_a: Edge, b: MovingFaces, edge_b: Edge) -> int:
    """Return the number of the query of an edge of a and an edge of b."""
    number = numbered(edges, QueryName((edge_a.p << HALF_WORD) | edge_a.q, (edge_b.p << HALF_WORD) | edge_b.q))
    if number == edges.filled[0]:
        _write_corner(edges, number, 0, moving_point(a, edge_a.p))
        _write_corner(edges, number, 1, moving_point(a, edge_a.q))
        _write_corner(edges, number, 2, moving_point(b, edge_b.p))
        _write_corner(edges, number, 3, moving_point(b, edge_b.q))
        edges.filled[0] += 1
    return number


@kernel(forceinline=True)
def edge_of_face(face: Corners, k: int) -> Edge:
    """Return edge k of a face."""
    p, q = corner(face, k), corner(face, (k + 1) % 3)
    return Edge(min(p, q), max(p, q))


@kernel(forceinline=True)
def _edge_bounds(body: MovingFaces, edge: Edge) -> MovingBounds:
    p, q = moving_point(body, edge.p), moving_point(body, edge.q)
    return MovingBounds(segment_bounds(Segment(p.start, q.start)), segment_bounds(Segment(p.end, q.end)))


@kernel(forceinline=True)
def _collect_points(a: MovingFaces, b: MovingFaces, pair: FacePair, points: QuerySet, slots: FaceRows, row: int) -> None:
    """Collect the queries of the corners of both faces against the other face."""
    for k in range(3):
        v, w = corner(pair.corners_a, k), corner(pair.corners_b, k)
        if not stay_apart(moving_point_bounds(moving_point(a, v)), pair.box_b, pair.bulge):
            slots[row, k] = _point_query(points, QueryName(v, -1 - pair.j), a, v, b, pair.corners_b)
        if not stay_apart(pair.box_a, moving_point_bounds(moving_point(b, w)), pair.bulge):
            slots[row, FIRST_OF_B + k] = _point_query(points, QueryName(-1 - pair.i, w), b, w, a, pair.corners_a)


@kernel(forceinline=True)
def _collect_edges(a: MovingFaces, b: MovingFaces, pair: FacePair, edges: QuerySet, slots: FaceRows, row: int) -> None:
    """Collect the queries of the edges of both faces against each other."""
    for k in range(3):
        edge_a = edge_of_face(pair.corners_a, k)
        box = _edge_bounds(a, edge_a)
        if stay_apart(box, pair.box_b, pair.bulge):
            continue
        for m in range(3):
            edge_b = edge_of_face(pair.corners_b, m)
            if not stay_apart(box, _edge_bounds(b, edge_b), pair.bulge):
                slots[row, FIRST_OF_EDGES + 3 * k + m] = _edge_query(edges, a, edge_a, b, edge_b)


@kernel
def collect_queries(
    a: MovingFaces, b: MovingFaces, face_a: FaceRows, face_b: FaceRows, points: QuerySet, edges: QuerySet, slots: FaceRows
) -> None:
    """Write the queries of rows (n,) that are not culled, and their numbers.

    Numbers go into slots (n,15), CULLED for the others. There is room for 6 n queries of corners against faces, and for 9 n of
    pairs of edges.
    """
    a, b, points, edges = borrowed_faces(a), borrowed_faces(b), _borrowed_queries(points), _borrowed_queries(edges)
    for row in range(face_a.shape[0]):
        for code in range(CODES):
            slots[row, code] = CULLED
        pair = face_pair(a, b, as_int64(face_a[row]), as_int64(face_b[row]))
        if stay_apart(pair.box_a, pair.box_b, pair.bulge):
            continue
        _collect_points(a, b, pair, points, slots, row)
        _collect_edges(a, b, pair, edges, slots, row)


@kernel(forceinline=True)
def _query_time(slots: FaceRows, row: int, code: int, point_times: Floats, edge_times: Floats) -> float:
    """Return the time of a query of a row that is not culled."""
    number = slots[row, code]
    return point_times[number] if code < FIRST_OF_EDGES else edge_times[number]


@kernel
def least_times(slots: FaceRows, point_times: Floats, edge_times: Floats, together: float, time: Floats, code: Codes) -> None:
    """Write the least query time of each row (inf if none), and its code.

    The code is the lowest that is later by at most `together`.
    """
    for row in range(slots.shape[0]):
        least = np.inf
        for k in range(CODES):
            if slots[row, k] != CULLED:
                least = min(least, _query_time(slots, row, k, point_times, edge_times))
        time[row] = least
        code[row] = -1
        if least <= 1.0:
            for k in range(CODES):
                if slots[row, k] != CULLED and _query_time(slots, row, k, point_times, edge_times) <= least + together:
                    code[row] = k
                    break


@kernel(forceinline=True)
def _write_feature(kinds: Bytes, vertices: Ints, row: int, kind: int, feature: Corners) -> None:
    """Write a feature and its vertices, padded with -1."""
    kinds[row] = kind
    for k in range(3):
        vertices[row, k] = corner(feature, k) if k < kind else -1


@kernel
def features_of_code(a: Corners, b: Corners, code: int) -> tuple[Corners, Corners]:
    """Return the vertices of the features of a code; the last one is repeated."""
    if 0 <= code < FIRST_OF_B:
        p = corner(a, code)
        return Corners(p, p, p), b
    if FIRST_OF_B <= code < FIRST_OF_EDGES:
        p = corner(b, code - FIRST_OF_B)
        return a, Corners(p, p, p)
    if FIRST_OF_EDGES <= code < FACES:
        edge_a, edge_b = edge_of_face(a, (code - FIRST_OF_EDGES) // 3), edge_of_face(b, (code - FIRST_OF_EDGES) % 3)
        return Corners(edge_a.p, edge_a.q, edge_a.q), Corners(edge_b.p, edge_b.q, edge_b.q)
    return a, b


@kernel
def write_features(code: Codes, face_a: FaceRows, face_b: FaceRows, faces_a: Ints, faces_b: Ints, out: Features) -> None:
    """Write kinds (n,) and vertices (n,3), padded with -1, of the features of codes."""
    for row in range(code.shape[0]):
        c, i, j = as_int64(code[row]), as_int64(face_a[row]), as_int64(face_b[row])
        on_a, on_b = features_of_code(corners_at(faces_a, i), corners_at(faces_b, j), c)
        feature_a, feature_b = FACE, FACE
        if c < 0:
            feature_a, feature_b = NONE, NONE
        elif c < FIRST_OF_B:
            feature_a = VERTEX
        elif c < FIRST_OF_EDGES:
            feature_b = VERTEX
        elif c < FACES:
            feature_a, feature_b = EDGE, EDGE
        _write_feature(out.kind_a, out.vertices_a, row, feature_a, on_a)
        _write_feature(out.kind_b, out.vertices_b, row, feature_b, on_b)
