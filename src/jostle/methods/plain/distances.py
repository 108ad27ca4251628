"""Distances of many disjoint triangles, in columns: the bytes of `geometry/reported_distance.py`.

The same operations in the same order, for all pairs at once. What a kernel leaves early is a mask here, and what it computes for
every pair of edges anew is computed once. Sums are written out: `einsum` and matrix products fuse or reorder them. Divisions by 0
happen where their results are not taken.

Triangles are (3, 3, n): coordinate, corner, triangle. Pairs of edges, or of corners, are (3, 3, 3, n): coordinate, edge of b, edge
of a, pair. Edge k starts at corner k.
"""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

import numpy as np

from jostle._types import Bools, Floats
from jostle.geometry.point_triangle import FLAT
from jostle.geometry.reported_distance import AGREEMENT, SMALLEST_DISTANCE
from jostle.geometry.segment_segment import PARALLEL
from jostle.geometry.triangle_triangle_distance import SETTLED

Triangles: TypeAlias = Floats


BLOCK = 2048  # pairs at once: 1.0 µs each; 1.6 µs for 512, and 2.2 µs for 8192, which leave the cache
NEXT, LAST = [1, 2, 0], [2, 0, 1]


def reported_distances(a: Triangles, b: Triangles) -> Floats:
    """Return the distances (n,) of pairs of disjoint closed triangles; none is 0."""
    count = a.shape[2]
    found = np.empty(count)
    with np.errstate(all="ignore"):
        for begin in range(0, count, BLOCK):
            block = slice(begin, begin + BLOCK)
            found[block] = _reported(a[..., block], b[..., block])
    return found


def _reported(a: Triangles, b: Triangles) -> Floats:
    """Return the textbook distance where it agrees with the robust one, else that one."""
    robust, textbook = np.sqrt(robust_squared(a, b)), np.sqrt(_textbook_squared(a, b))
    lower = np.minimum(a.min(axis=1), b.min(axis=1))
    upper = np.maximum(a.max(axis=1), b.max(axis=1))
    agree = np.abs(textbook - robust) <= AGREEMENT * (upper - lower).max(axis=0)
    return np.maximum(SMALLEST_DISTANCE, np.where(agree, textbook, robust))


def dot(a: Floats, b: Floats) -> Floats:
    """Return the inner products of vectors (3, …)."""
    total: Floats = a[0] * b[0]
    total += a[1] * b[1]
    total += a[2] * b[2]
    return total


def cross(a: Floats, b: Floats) -> Floats:
    """Return a × b for vectors (3, …)."""
    product = np.empty(np.broadcast_shapes(a.shape, b.shape))
    for k in range(3):
        np.multiply(a[k - 2], b[k - 1], out=product[k])
        product[k] -= a[k - 1] * b[k - 2]
    return product


def _clamped(t: Floats) -> Floats:
    return np.minimum(np.maximum(t, 0.0), 1.0)


def _edges(t: Triangles) -> Triangles:
    """Return the vectors from each corner to the next."""
    return t[:, NEXT] - t


class EdgePairs(NamedTuple):
    """The edges of two triangles, (3, 3, 1, n) and (3, 1, 3, n), and corner to corner."""

    f: Floats  # of b
    e: Floats  # of a
    gap: Floats  # (3, 3, 3, n) from each corner of a to each of b


def _edge_pairs(a: Triangles, b: Triangles) -> EdgePairs:
    return EdgePairs(_edges(b)[:, :, None], _edges(a)[:, None], b[:, :, None] - a[:, None])


def _textbook_squared(a: Triangles, b: Triangles) -> Floats:
    """Return squared distances by the formulas that do not round on grids."""
    squared = _edges_and_corners_squared(_edge_pairs(a, b))
    # Where a face begins shows in the last bit: the kernel turns both triangles, so corner k meets the face that begins at k.
    squared = np.minimum(squared, _over_face_squared(a, b))
    return np.minimum(squared, _over_face_squared(b, a))


def _edges_and_corners_squared(pairs: EdgePairs) -> Floats:
    """Return the least squared distances of two edges, or a corner and an edge."""
    f, e, gap = pairs
    gap_squared, gap_f, gap_e = dot(gap, gap), cross(gap, f), cross(gap, e)
    n = cross(e, f)
    squared = dot(n, n)
    s, t, height = dot(n, gap_f), dot(n, gap_e), dot(n, gap)
    outside = (squared == 0.0) | (s < 0.0) | (s > squared) | (t < 0.0) | (t > squared)
    least = np.where(outside, np.inf, height * (height / squared))
    # A corner of a and an edge of b; seen from b's corner the vector has the other sign, which rounds alike.
    least = np.minimum(least, _corner_to_edge(-dot(gap, f), dot(f, f), gap_squared, gap_squared[NEXT], dot(gap_f, gap_f)))
    least = np.minimum(least, _corner_to_edge(dot(gap, e), dot(e, e), gap_squared, gap_squared[:, NEXT], dot(gap_e, gap_e)))
    return least.min(axis=(0, 1))


def _corner_to_edge(along: Floats, squared: Floats, to_start: Floats, to_end: Floats, across: Floats) -> Floats:
    """Return the squared distances of points from edges.

    along, squared : inner products of the edge with the vector from its start, and with itself
    to_start, to_end : squared distances of the ends
    across : the square of the cross product of the edge and the vector from its start
    """
    return np.where(along <= 0.0, to_start, np.where(along >= squared, to_end, across / squared))


def _over_face_squared(corners: Triangles, t: Triangles) -> Floats:
    """Return the least squared distance of a corner over t from its plane."""
    u, v, w = _edges(t), t[:, LAST] - t, corners - t
    n = cross(u, v)
    squared = dot(n, n)
    beta, gamma, height = dot(n, cross(w, v)), dot(n, cross(u, w)), dot(n, w)
    outside = (squared == 0.0) | (beta < 0.0) | (gamma < 0.0) | (beta + gamma > squared)
    found: Floats = np.where(outside, np.inf, height * (height / squared)).min(axis=0)
    return found


def robust_squared(a: Triangles, b: Triangles) -> Floats:
    """Return the squares of the distances of `closest_points_of_triangles`."""
    origin = a[:, :1]
    a, b = a - origin, b - origin
    best, settled = _closest_edges(a, b)
    rest = np.flatnonzero(~settled)
    if len(rest):
        a, b = a[..., rest], b[..., rest]
        over = np.minimum(_corners_against_face(TriangleFrames.of(b), a), _corners_against_face(TriangleFrames.of(a), b))
        best[rest] = np.minimum(best[rest], over)
    return best


def _closest_edges(a: Triangles, b: Triangles) -> tuple[Floats, Bools]:
    """Return squared distances of boundaries, and whether they settle the case.

    The edges are compared in the kernel's order, up to those that settle it.
    """
    squared, _, _, beyond = closest_edge_pairs(a, b)
    best, settled = np.full(a.shape[2], np.inf), np.zeros(a.shape[2], bool)
    for i in range(3):
        for j in range(3):
            better = (squared[j, i] < best) & ~settled
            best = np.where(better, squared[j, i], best)
            settled |= better & beyond[j, i]
    return best, settled


def closest_edge_pairs(a: Triangles, b: Triangles) -> tuple[Floats, Floats, Floats, Bools]:
    """Return squared distances (3, 3, n) of all pairs of edges and their closest points.

    Also whether the third corners lie beyond the points, so that triangles with these closest edges have no closer points.
    """
    squared, on_a, on_b = _closest_points_of_edges(a, b)
    largest = np.maximum(np.abs(a).max(axis=(0, 1)), np.abs(b).max(axis=(0, 1)))
    margin = SETTLED * largest * largest
    between = on_b - on_a
    beyond = dot(a[:, None, LAST] - on_a, between) < -margin
    beyond &= dot(b[:, LAST, None] - on_b, between) > margin
    return squared, on_a, on_b, beyond


def _closest_points_of_edges(a: Triangles, b: Triangles) -> tuple[Floats, Floats, Floats]:
    """Return squared distances (3, 3, n) of all pairs of edges, and closest points."""
    f, e, r = _edge_pairs(a, b)
    e_length, f_squared = np.sqrt(dot(e, e)), dot(f, f)
    has_e, has_f = e_length > 0.0, f_squared > 0.0
    shrink = 1.0 / e_length
    u = shrink * e
    v = f - dot(f, u) * u
    v -= dot(v, u) * u
    across = dot(v, v)
    free = np.where(across <= PARALLEL * PARALLEL * f_squared, 0.0, -dot(r, v) / across)
    t = np.where(has_e & has_f, _clamped(free), 0.0)
    free = dot(r + t * f, u) * shrink
    s = np.where(has_e, _clamped(free), 0.0)
    along_e = s * e
    again = (~has_e | (s != free)) & has_f
    t = np.where(again, _clamped(dot(along_e - r, f) / f_squared), t)
    along_f = t * f
    gap = r + along_f
    gap -= along_e
    return dot(gap, gap), a[:, None] + along_e, b[:, :, None] + along_f


class TriangleFrames(NamedTuple):
    """The frames of triangles, as in `geometry/point_triangle.py`."""

    o: Floats  # (3, n)
    u: Floats
    v: Floats
    base: Floats  # (n,)
    foot: Floats
    height: Floats

    @staticmethod
    def of(t: Triangles) -> TriangleFrames:
        """Return the frames of triangles."""
        o, q, r = _longest_edge_first(t)
        along = q - o
        base = np.sqrt(dot(along, along))
        u = np.where(base == 0.0, 0.0, (1.0 / base) * along)
        v = r - o
        foot = dot(v, u)
        v = v - foot * u
        rest = dot(v, u)
        v = v - rest * u
        height = np.sqrt(dot(v, v))
        flat = (base == 0.0) | (height <= FLAT * base)
        v = np.where(flat, 0.0, (1.0 / height) * v)
        return TriangleFrames(o, u, v, base, np.where(flat, 0.0, foot + rest), np.where(flat, 0.0, height))

    def over(self, x: Floats, y: Floats) -> Bools:
        """Return which points (x, y) lie in the triangles; none if these have no area."""
        base, foot, height = self.base, self.foot, self.height
        inside: Bools = (height > 0.0) & (y >= 0.0) & (height * x >= foot * y) & (height * (base - x) >= (base - foot) * y)
        return inside


def _longest_edge_first(t: Triangles) -> Floats:
    """Return the corners (3, 3, n), corner first, turned as `triangle_frame` does."""
    p, q, r = corners = t.transpose(1, 0, 2)
    ab, bc, ca = dot(q - p, q - p), dot(r - q, r - q), dot(p - r, p - r)
    second = (bc > ab) & (bc >= ca)
    third = ~second & (ca > ab)
    turned: Floats = np.where(second, corners[NEXT], np.where(third, corners[LAST], corners))
    return turned


def _corners_against_face(frame: TriangleFrames, corners: Triangles) -> Floats:
    """Return the least squared distance of corners over faces, inf where none is.

    0 where an edge passes through the face.
    """
    n = cross(frame.u, frame.v)
    w = corners - frame.o[:, None]
    x, y, z = dot(w, frame.u[:, None]), dot(w, frame.v[:, None]), dot(w, n[:, None])
    least = np.where(frame.over(x, y), z * z, np.inf).min(axis=0)
    last_x, last_y, last_z = x[LAST], y[LAST], z[LAST]
    passes = ((last_z < 0.0) & (z > 0.0)) | ((last_z > 0.0) & (z < 0.0))
    share = last_z / (last_z - z)
    passes &= frame.over(last_x + share * (x - last_x), last_y + share * (y - last_y))
    found: Floats = np.where(passes.any(axis=0), 0.0, least)
    return found
