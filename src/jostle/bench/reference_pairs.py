"""The exact rows of two bodies, also where their faces are slivers.

The search of `brute_force`, over the faces in both boxes. Where these are too many, only long faces are compared with all; the
others, whose boxes are small, go through a uniform grid. What is left out is certain to be apart by its boxes.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from jostle._types import Floats, Ints, Longs
from jostle.broad_phase.uniform_grid import UniformGrid
from jostle.broad_phase.volumes import Volumes
from jostle.geometry.aabb import face_boxes
from jostle.geometry.triangle_triangle import faces_touch
from jostle.kernels.arrays import read_only_view
from jostle.kernels.jit import kernel
from jostle.methods.brute_force.all_faces import find_face_rows

MOST_BY_FORCE = 2e7  # face pairs: a twentieth of a second
LONG = 8.0  # times the extent that nine in ten faces of a body exceed: such faces would fill a grid


class Placed(NamedTuple):
    """A body in the world."""

    vertices: Floats
    faces: Ints

    def of(self, kept: Longs | NDArray[np.bool_]) -> Placed:
        """Return the body with some of its faces."""
        return Placed(self.vertices, np.ascontiguousarray(self.faces[kept]))

    def boxes(self) -> tuple[Floats, Floats]:
        """Return the boxes (m, 3) of the faces: lower and upper corners."""
        return face_boxes(read_only_view(self.vertices), read_only_view(self.faces))


def touching_faces(a: Placed, b: Placed) -> Longs:
    """Return sorted (k, 2) face_a, face_b of all touching faces."""
    in_a, in_b = _faces_in_common_box(a, b)
    if len(in_a) == 0 or len(in_b) == 0:
        return np.empty((0, 2), np.int64)
    a, b = a.of(in_a), b.of(in_b)
    if len(in_a) * len(in_b) <= MOST_BY_FORCE:
        pairs = _by_force(a, b)
    else:
        longest = LONG * min(np.quantile(_extent(body), 0.1) for body in (a, b))
        (short_a, long_a), (short_b, long_b) = (_by_extent(body, longest) for body in (a, b))
        pairs = np.concatenate(
            [
                _numbered(_by_force(a.of(long_a), b), long_a, np.arange(len(in_b))),
                _numbered(_by_force(a.of(short_a), b.of(long_b)), short_a, long_b),
                _numbered(_by_grid(a.of(short_a), b.of(short_b)), short_a, short_b),
            ]
        )
    pairs = _numbered(pairs, in_a, in_b)
    return pairs[np.lexsort(pairs.T[::-1])]


def _numbered(pairs: Longs, of_a: Longs, of_b: Longs) -> Longs:
    """Return pairs of kept faces by their numbers before."""
    return np.stack([of_a[pairs[:, 0]], of_b[pairs[:, 1]]], axis=1)


def _faces_in_common_box(a: Placed, b: Placed) -> tuple[Longs, Longs]:
    """Return each body's faces that reach into the intersection of both boxes."""
    boxes = [body.boxes() for body in (a, b)]
    lower = np.maximum(*(each[0].min(axis=0) for each in boxes))
    upper = np.minimum(*(each[1].max(axis=0) for each in boxes))
    in_a, in_b = (np.flatnonzero(((high >= lower) & (low <= upper)).all(axis=1)) for low, high in boxes)
    return in_a, in_b


def _extent(body: Placed) -> Floats:
    """Return the longest side (m,) of each face's box."""
    low, high = body.boxes()
    extent: Floats = (high - low).max(axis=1)
    return extent


def _by_extent(body: Placed, longest: float) -> tuple[Longs, Longs]:
    """Return the short and the long faces."""
    is_long = _extent(body) > longest
    return np.flatnonzero(~is_long), np.flatnonzero(is_long)


def _by_force(a: Placed, b: Placed) -> Longs:
    if len(a.faces) == 0 or len(b.faces) == 0:
        return np.empty((0, 2), np.int64)
    rows, _ = find_face_rows(a.vertices, a.faces, b.vertices, b.faces, 0.0)
    return np.stack([rows.face_a, rows.face_b], axis=1).astype(np.int64)


def _by_grid(a: Placed, b: Placed) -> Longs:
    """Return the touching pairs among those whose boxes overlap, found by a grid."""
    count = len(a.faces)
    lower, upper = (np.concatenate(column) for column in zip(a.boxes(), b.boxes(), strict=True))
    pairs = UniformGrid().start(len(lower)).find(Volumes(lower, upper))
    other = (pairs.body_a < count) & (pairs.body_b >= count)
    face_a, face_b = pairs.body_a[other].astype(np.int64), pairs.body_b[other].astype(np.int64) - count
    return np.stack(those_that_touch(a, b, face_a, face_b), axis=1)


def those_that_touch(a: Placed, b: Placed, face_a: Longs, face_b: Longs) -> tuple[Longs, Longs]:
    """Return the face pairs (k,) that share a point."""
    touching = np.zeros(len(face_a), bool)
    sealed_a, sealed_b = (Placed(read_only_view(body.vertices), read_only_view(body.faces)) for body in (a, b))
    _keep_touching(sealed_a, sealed_b, face_a, face_b, touching)
    return face_a[touching], face_b[touching]


@kernel
def _keep_touching(a: Placed, b: Placed, face_a: Longs, face_b: Longs, touching: NDArray[np.bool_]) -> None:
    """Write for each face pair (k,) whether they share a point."""
    for k in range(face_a.shape[0]):
        touching[k] = faces_touch(a.vertices, a.faces, face_a[k], b.vertices, b.faces, face_b[k]) != 0
