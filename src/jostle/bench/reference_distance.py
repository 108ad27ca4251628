"""The exact distance of two bodies, also where their faces are slivers.

Faces are cut until they are short, which changes a distance by no more than rounding, and sorted along a space-filling curve.
A first upper bound comes from their corners. Then every block of faces is compared with every other, and where the boxes of two
blocks and of two faces are within the best distance so far, the faces are measured.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from jostle._types import Floats
from jostle.bench.reference_pairs import Placed
from jostle.geometry.aabb import bounds_squared_distance
from jostle.geometry.exact_zero_distance import exact_zero_distance
from jostle.geometry.placed_faces import PlacedFaces, placed_faces
from jostle.geometry.triangle import bounds_at, face_at
from jostle.kernels.arrays import read_only_view
from jostle.kernels.jit import kernel
from jostle.methods.plain.tree import face_order

SHORTEST_CUT = 1.0 / 8.0  # of the size: faces of a smaller extent stay whole
BLOCK = 32  # faces
STARTS = 4
MOST_CORNERS = 40_000  # of a body, for the first bound
SURELY = 1.0 + 1e-9  # beyond rounding


class Blocks(NamedTuple):
    """Faces of a body in blocks of `BLOCK`, and the boxes of the blocks."""

    faces: PlacedFaces
    lower: Floats
    upper: Floats


def distance_of(a: Placed, b: Placed) -> float:
    """Return the distance of two bodies."""
    blocks_a, blocks_b = _blocks(a), _blocks(b)
    best = np.full(1, _some_distance(blocks_a.faces, blocks_b.faces))
    _scan_closest(blocks_a, blocks_b, best)
    return float(best[0])


def _blocks(body: Placed) -> Blocks:
    cut = _cut(body)
    ordered = cut.of(face_order(cut.vertices, cut.faces).astype(np.int64))
    faces = placed_faces(*ordered)
    starts = np.arange(0, len(ordered.faces), BLOCK)
    lower, upper = np.minimum.reduceat(faces.lower, starts), np.maximum.reduceat(faces.upper, starts)
    return Blocks(faces, read_only_view(lower), read_only_view(upper))


def _cut(body: Placed) -> Placed:
    """Return the body with long faces halved across their longest edges until they are short."""
    corners = body.vertices[body.faces]
    longest = SHORTEST_CUT * np.ptp(body.vertices, axis=0).max()
    done: list[Floats] = []
    while len(corners):
        is_short = np.ptp(corners, axis=1).max(axis=1) <= longest
        done.append(corners[is_short])
        corners = corners[~is_short]
        edges = np.roll(corners, -1, axis=1) - corners
        first = np.einsum("ijk,ijk->ij", edges, edges).argmax(axis=1)
        p, q, r = (corners[np.arange(len(corners)), (first + k) % 3] for k in range(3))
        middle = (p + q) / 2.0
        corners = np.concatenate([np.stack([p, middle, r], axis=1), np.stack([middle, q, r], axis=1)])
    cut = np.concatenate(done)
    return Placed(cut.reshape(-1, 3), np.arange(3 * len(cut), dtype=np.int32).reshape(-1, 3))


@kernel
def _scan_closest(a: Blocks, b: Blocks, best: Floats) -> None:
    """Improve best (1,) by all pairs of blocks."""
    for i in range(a.lower.shape[0]):
        for j in range(b.lower.shape[0]):
            if (
                bounds_squared_distance(bounds_at(a.lower, a.upper, i), bounds_at(b.lower, b.upper, j))
                <= best[0] * best[0] * SURELY
            ):
                _scan_blocks(a.faces, b.faces, i * BLOCK, j * BLOCK, best)


@kernel
def _scan_blocks(a: PlacedFaces, b: PlacedFaces, first_a: int, first_b: int, best: Floats) -> None:
    """Improve best (1,) by the faces of two blocks."""
    for i in range(first_a, min(first_a + BLOCK, a.faces.shape[0])):
        for j in range(first_b, min(first_b + BLOCK, b.faces.shape[0])):
            gap = bounds_squared_distance(bounds_at(a.lower, a.upper, i), bounds_at(b.lower, b.upper, j))
            if gap <= best[0] * best[0] * SURELY:
                best[0] = min(best[0], exact_zero_distance(face_at(a.vertices, a.faces, i), face_at(b.vertices, b.faces, j)))


def _some_distance(a: PlacedFaces, b: PlacedFaces) -> float:
    """Return an upper bound of the distance by alternating nearest corners."""
    points_a, points_b = (body.vertices[:: 1 + len(body.vertices) // MOST_CORNERS] for body in (a, b))
    starts = points_a[np.random.default_rng(0).integers(len(points_a), size=STARTS)]
    return min(_descended(points_a, points_b, start) for start in starts)


def _descended(points_a: Floats, points_b: Floats, point: Floats) -> float:
    best = np.inf
    while True:
        b = points_b[np.linalg.norm(points_b - point, axis=1).argmin()]
        point = points_a[np.linalg.norm(points_a - b, axis=1).argmin()]
        distance = float(np.linalg.norm(point - b))
        if distance >= best:
            return best
        best = distance
