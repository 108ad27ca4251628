"""Faces of one body that share a welded vertex: which pairs do, and whether they touch beyond it."""

from __future__ import annotations

import numpy as np

from jostle._types import Bools, Bytes, Floats, Ints, Longs
from jostle.geometry.triangle_triangle import adjacent_faces_touch
from jostle.kernels.jit import interpreted
from jostle.methods.plain.signs import Certain, sides_of_plane


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
    """Return 0, TOUCHING or CROSSING (n,) of faces of one body beyond what they share.

    points : (3, v) world vertices
    faces, welded_faces : (m, 3)

    Faces around a vertex or an edge of an ordinary surface are settled by the sides of each other's plane; the few that are left
    by the kernel's own source, interpreted: 50 to 100 µs each.
    """
    kind = np.zeros(len(face_a), np.uint8)
    if len(face_a) == 0:
        return kind
    left = np.flatnonzero(~_clearly_apart(points, faces, welded_faces, face_a, face_b, certain))
    vertices, touch = np.ascontiguousarray(points.T), interpreted(adjacent_faces_touch)
    for place, i, j in zip(left.tolist(), face_a[left].tolist(), face_b[left].tolist(), strict=True):
        kind[place] = touch(vertices, faces, welded_faces, i, j)
    return kind


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
