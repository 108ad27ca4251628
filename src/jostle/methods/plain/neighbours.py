"""Faces of one body that share a welded vertex: which pairs do, and whether they touch beyond it."""

from __future__ import annotations

from itertools import product

import numpy as np

from jostle._types import Bools, Bytes, Floats, Ints, Longs
from jostle.geometry.contact_kind import TOUCHING
from jostle.methods.plain.flat_triangles import NO_AXIS, projected, projection_axis
from jostle.methods.plain.signs import Certain, orient2d, orient3d, sides_of_plane
from jostle.methods.plain.triangles import triangles_touch


def share_vertices(welded_a: Ints, welded_b: Ints) -> Bools:
    """Return which faces share a welded vertex; (3, n) vertices of both."""
    shared: Bools = np.zeros(welded_a.shape[1], bool)
    for one in welded_a:
        for other in welded_b:
            shared |= one == other
    return shared


def neighbours_touch(
    points: Floats, faces: Ints, welded_faces: Ints, face_a: Longs, face_b: Longs, certain: Certain
) -> Bytes:  # fmt: skip
    """Return 0, TOUCHING or CROSSING (n,) of faces of one body beyond what they share: some welded vertex.

    points : (3, v) world vertices
    faces, welded_faces : (m, 3)

    Faces around a vertex or an edge of an ordinary surface are settled by the sides of each other's plane.
    """
    kind = np.zeros(len(face_a), np.uint8)
    left = np.flatnonzero(~_clearly_apart(points, faces, welded_faces, face_a, face_b, certain))
    if len(left):
        a, b, shared = _shared_first(points, faces, welded_faces, face_a[left], face_b[left])
        kind[left] = touch_beyond_shared(a, b, shared, certain)
    return kind


def touch_beyond_shared(a: Floats, b: Floats, shared: Longs, certain: Certain) -> Bytes:
    """Return 0, TOUCHING or CROSSING (n,) of triangles outside the hull of what they share.

    The first `shared` corners of a equal those of b; the cases are those of `geometry/triangle_triangle.py`.
    """
    kind = np.zeros(len(shared), np.uint8)
    kind[shared == 3] = TOUCHING
    edge = (shared == 2) & (a[0] != a[1]).any(axis=0)
    none, two, one = (np.flatnonzero(chosen) for chosen in (shared == 0, edge, (shared > 0) & (shared < 3) & ~edge))
    if len(none):
        kind[none] = triangles_touch(a.take(none, axis=2), b.take(none, axis=2), certain)
    if len(two):
        kind[two] = np.where(_overlap_beside_edge(a.take(two, axis=2), b.take(two, axis=2), certain), TOUCHING, 0)
    if len(one):
        kind[one] = _touch_beyond_corner(a.take(one, axis=2), b.take(one, axis=2), certain)
    return kind


def _overlap_beside_edge(a: Floats, b: Floats, certain: Certain) -> Bools:
    """Return whether triangles share more than their edge from the first to the second corner."""
    v, w, p = a
    q = b[2]
    overlap: Bools = orient3d(v, w, p, q, certain) == 0
    axis_p = projection_axis(a, certain)
    axis_q = projection_axis(np.stack((v, w, q)), certain)
    seen = projected(np.stack((v, w, p, q)), np.maximum(axis_p, 0))
    one_side = orient2d(seen[0], seen[1], seen[2], certain) == orient2d(seen[0], seen[1], seen[3], certain)
    has_area = (axis_p != NO_AXIS, axis_q != NO_AXIS)
    on_line = ~has_area[0] & ~has_area[1]
    overlap &= np.where(on_line, _beyond_one_end(v, w, p, q), has_area[0] & has_area[1] & one_side)
    return overlap


def _beyond_one_end(v: Floats, w: Floats, p: Floats, q: Floats) -> Bools:
    """Return whether points p and q of the line vw extend beyond the same end of the segment."""
    beyond: Bools = np.zeros(v.shape[1], bool)
    open_rows = np.ones(v.shape[1], bool)
    for one_end, other_end, one, other in zip(v, w, p, q, strict=True):
        lower, upper = np.minimum(one_end, other_end), np.maximum(one_end, other_end)
        differs = open_rows & (one_end != other_end)
        beyond |= differs & (((one > upper) & (other > upper)) | ((one < lower) & (other < lower)))
        open_rows &= ~differs
    return beyond


def _touch_beyond_corner(a: Floats, b: Floats, certain: Certain) -> Bytes:
    """Return the kinds of triangles that share their first corner: one reaches the other on its far edge."""
    left = np.ones(a.shape[2], bool)
    for one, other in ((a, b), (b, a)):
        _, second, third = sides_of_plane(other, one, certain)
        left &= second * third <= 0
    kind = np.zeros(a.shape[2], np.uint8)
    rows = np.flatnonzero(left)
    a, b = a.take(rows, axis=2), b.take(rows, axis=2)
    reach = np.flatnonzero(_far_edge_touches(a, b, certain) | _far_edge_touches(b, a, certain))
    kind[rows[reach]] = triangles_touch(a.take(reach, axis=2), b.take(reach, axis=2), certain)
    return kind


def _far_edge_touches(a: Floats, b: Floats, certain: Certain) -> Bools:
    """Return whether the edges of a opposite to the shared first corner meet b.

    Or the far ends, where a has no area.
    """
    p, q, r = a
    has_area = projection_axis(a, certain) != NO_AXIS
    touches: Bools = has_area & (triangles_touch(np.stack((q, r, r)), b, certain) != 0)
    for end in (q, r):
        off_corner = ~has_area & (end != p).any(axis=0)
        if off_corner.any():
            touches |= off_corner & (triangles_touch(np.stack((end, end, end)), b, certain) != 0)
    return touches


def _one_corner(points: Floats, faces: Ints, welded: Ints, i: Longs, j: Longs) -> Bools:
    """Return whether corners k of faces i and m of faces j are welded and coincide, (k, m, n)."""
    found: Bools = welded[i].T[:, None] == welded[j].T[None]
    a, b = points[:, faces[i].T], points[:, faces[j].T]
    for x, y in zip(a, b, strict=True):
        found &= x[:, None] == y[None]
    return found


def _order_of(shared: tuple[bool, ...]) -> tuple[int, int, int]:
    """Return the corners of a face, shared ones first, as the kernel exchanges them."""
    if shared in ((False, True, False), (False, True, True)):
        return (1, 0, 2) if not shared[2] else (1, 2, 0)
    if shared == (False, False, True):
        return 2, 1, 0
    return (0, 2, 1) if shared == (True, False, True) else (0, 1, 2)


ORDER = np.array([_order_of(shared) for shared in product((False, True), repeat=3)])


def _shared_first(points: Floats, faces: Ints, welded: Ints, i: Longs, j: Longs) -> tuple[Floats, Floats, Longs]:
    """Return the triangles of faces (corner, coordinate, n), shared corners first, and how many these are."""
    one = _one_corner(points, faces, welded, i, j)
    columns = np.arange(len(i))
    orders, counts = [], []
    met: Bools
    for face, met in ((i, np.logical_or.reduce(one, axis=1)), (j, np.logical_or.reduce(one, axis=0))):
        same = _one_corner(points, faces, welded, face, face)
        met[1] &= ~same[1, 0]
        met[2] &= ~same[2, 0] & ~same[2, 1]
        orders.append(ORDER[4 * met[0] + 2 * met[1] + met[2]].T.copy())
        counts.append(met.sum(axis=0))
    order_a, order_b = orders
    exchanged = (counts[0] == 2) & ~one[order_a[0], order_b[0], columns]
    order_b[:2, exchanged] = order_b[1::-1, exchanged]
    a, b = (points[:, faces[face, order]].transpose(1, 0, 2) for face, order in ((i, order_a), (j, order_b)))
    return a, b, counts[0]


def _clearly_apart(points: Floats, faces: Ints, welded_faces: Ints, face_a: Longs, face_b: Longs, certain: Certain) -> Bools:
    """Return which faces touch nowhere else, by `touch_beyond_shared` as far as planes decide it.

    Only where the shared vertices are one or two in each face, each once, and at the same place.
    """
    numbers_a, numbers_b = faces[face_a].T, faces[face_b].T
    welded_a, welded_b = welded_faces[face_a].T, welded_faces[face_b].T
    a, b = points[:, numbers_a].transpose(1, 0, 2), points[:, numbers_b].transpose(1, 0, 2)
    simple = np.ones(len(face_a), bool)
    shared = np.zeros(len(face_a), np.int8)
    for k in range(3):
        simple &= (welded_a[k] != welded_a[k - 1]) & (welded_b[k] != welded_b[k - 1])
        for m in range(3):
            same = welded_a[k] == welded_b[m]
            simple &= ~same | (a[k] == b[m]).all(axis=0)
            shared += same
    apart = np.zeros(len(face_a), bool)
    for one, other in ((a, b), (b, a)):
        # A shared corner lies in the other's plane: its sign is 0.
        first, second, third = sides_of_plane(other, one, certain)
        both_on_one_side = (first * second > 0) | (second * third > 0) | (third * first > 0)
        beside = (first != 0) | (second != 0) | (third != 0)
        apart |= np.where(shared == 1, both_on_one_side, beside)
    return apart & simple & (shared < 3)
