"""Support points: the vertex farthest along a direction, by scan or hill climbing.

On a convex surface a vertex that no neighbour exceeds is the farthest of all, so climbing visits a few rings of neighbours where a
scan reads every vertex. That fails for a vertex within a flat side, whose neighbours are all level with it when the direction is
the normal: it needs a neighbour that is not on that side (`across_flat_sides`). A step compares d·(u - v), whose rounding is
relative to the edge, not to the body: the vertex where climbing ends is lower than the farthest by at most some 2⁻⁵² of the body's
size over the sine of its sharpest angle. Measured, with a direction that turns by 5 degrees from call to call: 62 vertices 66 ns by
scan and 74 by climbing; 146 vertices 140 and 76; 266 vertices 470 and 74; 1,986 vertices 3,400 and 95.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from jostle._types import Floats
from jostle.geometry.vector import Vec3, dot, minus, point_from
from jostle.kernels.arrays import read_only_view
from jostle.kernels.jit import kernel
from jostle.kernels.numbers import as_int64
from jostle.kernels.structs import Rows, Struct, float64, int32

NEARLY_FLAT = 1.0 - 1e-9  # the cosine between the faces around a vertex; far above rounding: a link too many does no harm
FEW_VERTICES = 64  # a scan of so many takes no longer than climbing


class Hull(Struct):
    """The points of a convex hull and their neighbours; none means support by scan."""

    points: Rows[float64]  # (3n,)
    first: Rows[int32]  # (n+1,) where the neighbours of each begin in `near`
    near: Rows[int32]


class ScannedHull(NamedTuple):
    """The same from arrays inside a kernel; `first` and `near` are empty."""

    points: Floats
    first: NDArray[np.int32]
    near: NDArray[np.int32]


@kernel
def farthest_by_scan(points: Any, direction: Vec3) -> int:
    """Return the lowest of the vertices farthest along a direction; points (3n,)."""
    farthest, highest = 0, -math.inf
    for k in range(len(points) // 3):
        height = dot(direction, point_from(points, 3 * k))
        if height > highest:
            farthest, highest = k, height
    return farthest


@kernel
def farthest_by_climbing(points: Any, first: Any, near: Any, direction: Vec3, start: int) -> int:
    """Return a vertex farthest along a direction, climbing from vertex `start`.

    near[first[k]:first[k+1]] are the neighbours of k.
    """
    at = start
    # Rounding might lead in a circle: at most as many steps as vertices.
    for _ in range(len(first)):
        here = point_from(points, 3 * at)
        rise, to = 0.0, at
        for m in range(first[at], first[at + 1]):
            k = as_int64(near[m])
            step = dot(direction, minus(point_from(points, 3 * k), here))
            if step > rise:
                rise, to = step, k
        if to == at:
            break
        at = to
    return at


@kernel
def farthest_point(points: Any, first: Any, near: Any, direction: Vec3, start: int) -> int:
    """Return a vertex farthest along a direction: by climbing if it has neighbours.

    Else by a scan; `start` is where climbing begins.
    """
    if len(near) == 0:
        return farthest_by_scan(points, direction)
    return farthest_by_climbing(points, first, near, direction, start)


def welded_points(points: Floats) -> Floats:
    """Return the distinct points of (n, 3), flat (3k,) and read-only, in their order."""
    points = np.ascontiguousarray(points, np.float64) + 0.0  # -0.0 becomes 0.0
    _, index = np.unique(points.view("V24").ravel(), return_index=True)
    return read_only_view(points[np.sort(index)].reshape(-1))


def across_flat_sides(points: Floats, faces: NDArray[np.integer[Any]], normals: Floats) -> NDArray[np.int64]:
    """Return (l, 2): each vertex within a flat side, and one across the body.

    The directions to the neighbours of such a vertex fill a plane; with one that leads inside they fill the half-space that
    contains the body, as those of any other vertex fill a cone that does. Points (n, 3), faces (m, 3), unit normals (m, 3), convex.
    """
    some_face = np.zeros(len(points), np.int64)
    some_face[faces] = np.arange(len(faces))[:, None]
    straightest = np.full(len(points), np.inf)
    np.minimum.at(straightest, faces, (normals[:, None] * normals[some_face[faces]]).sum(axis=2))
    flat = np.flatnonzero((straightest > NEARLY_FLAT) & np.isfinite(straightest))
    sides, side = np.unique(np.round(normals[some_face[flat]], 9), axis=0, return_inverse=True)
    lowest = np.array([np.argmin(points @ normal) for normal in sides], np.int64)
    return np.stack([flat, lowest[side.ravel()]], axis=1) if len(flat) else np.empty((0, 2), np.int64)


def neighbours_of_vertices(
    edges: NDArray[np.integer[Any]], count: int, links: Sequence[Any] | NDArray[np.int64] = ()
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Return the neighbours of each vertex: first (count+1,), near (2e+l,) int32.

    By undirected edges (e, 2) and further links (l, 2).
    """
    both = np.concatenate([edges, edges[:, ::-1], np.asarray(links, np.int64).reshape(-1, 2)])
    order = np.lexsort((both[:, 1], both[:, 0]))
    first = np.searchsorted(both[order, 0], np.arange(count + 1)).astype(np.int32)
    return read_only_view(first), read_only_view(both[order, 1].astype(np.int32))
