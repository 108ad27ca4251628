"""The intersections of many touching triangles, with the bytes of `geometry/triangle_intersection.py`.

The same cases with masks in place of branches: signs decide which edges the ends lie on. Only positions on edges are rounded, by
the kernels' operations in their order. Of equal numbers the kernels' `min` and `max` take the first, which shows in the sign of 0.

Triangles are arrays (3, 3, n): corner, coordinate, pair. Points are (3, n).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from jostle._types import Bools, Floats
from jostle.methods.plain.distances import dot
from jostle.methods.plain.flat_triangles import IN_PLANE, NO_AXIS, projected, projection_axis
from jostle.methods.plain.signs import Certain, certain_signs, orient3d, sides_of_plane
from jostle.methods.plain.triangles import ABOVE, arranged, code_of, triangles_touch
from jostle.methods.plain.volumes import signed_areas, signed_volumes

NEXT = (1, 2, 0)


class Ends(NamedTuple):
    """The ends (3, n) of segments."""

    p: Floats
    q: Floats


def intersection_segments(a: Floats, b: Floats) -> Ends:
    """Return the ends of the intersections of closed triangles that touch."""
    certain = _certain_of(a, b)
    sides_a, sides_b = code_of(sides_of_plane(b, a, certain)), code_of(sides_of_plane(a, b, certain))
    flat_a, flat_b = sides_a == IN_PLANE, sides_b == IN_PLANE
    ends = np.empty((2, 3, a.shape[2]))
    flat, rest = np.flatnonzero(flat_a | flat_b), np.flatnonzero(~(flat_a | flat_b))
    if len(rest):
        one, other = a.take(rest, axis=2), b.take(rest, axis=2)
        turned_a = arranged(one, sides_a[rest], ABOVE[sides_b[rest]])
        turned_b = arranged(other, sides_b[rest], ABOVE[sides_a[rest]])
        ends[:, :, rest] = _ends_on_common_line(np.stack(turned_a), np.stack(turned_b), certain)
    if len(flat):
        in_one_plane = (flat_a & flat_b)[flat]
        ends[:, :, flat] = _flat_ends(a.take(flat, axis=2), b.take(flat, axis=2), in_one_plane, certain)
    lower = larger(smaller(*a), smaller(*b))
    upper = smaller(larger(*a), larger(*b))
    return Ends(*(smaller(larger(end, lower), upper) for end in ends))


def larger(first: Floats, *others: Floats) -> Floats:
    """Return the largest, the first of equal ones, as `max` does."""
    for other in others:
        first = np.where(other > first, other, first)
    return first


def smaller(first: Floats, *others: Floats) -> Floats:
    """Return the smallest, the first of equal ones, as `min` does."""
    for other in others:
        first = np.where(other < first, other, first)
    return first


def _certain_of(a: Floats, b: Floats) -> Certain:
    both = np.concatenate([a, b])
    span = float((both.max(axis=0) - both.min(axis=0)).max(initial=0.0))
    return certain_signs(both.transpose(1, 0, 2).reshape(3, -1), span)


def _ends_on_common_line(a: Floats, b: Floats, certain: Certain) -> Floats:
    """Return the ends (2, 3, n) for `arranged` triangles whose planes meet in a line."""
    (p, q, r), (s, t, u) = a, b
    by_a = orient3d(p, r, s, t, certain) < 0
    _, start = _edges_in_plane(np.where(by_a, p, s), np.where(by_a, r, t), np.where(by_a, b, a))
    by_b = orient3d(p, q, s, u, certain) < 0
    _, end = _edges_in_plane(np.where(by_b, s, p), np.where(by_b, u, q), np.where(by_b, a, b))
    end_to_end = (orient3d(p, q, s, t, certain) == 0) | (orient3d(p, r, s, u, certain) == 0)
    return np.stack((start, np.where(end_to_end, start, end)))


def _edges_in_plane(p: Floats, q: Floats, t: Floats) -> tuple[Bools, Floats]:
    """Return whether edges pq cross the planes of triangles strictly, and the points on them."""
    from_p, from_q = (signed_volumes(t[0], t[1], t[2], end) for end in (p, q))
    return _opposite(from_p, from_q), _between(p, q, from_p, from_q)


def _opposite(one: Floats, other: Floats) -> Bools:
    """Return where numbers have strictly opposite signs."""
    return ((one < 0.0) & (other > 0.0)) | ((other < 0.0) & (one > 0.0))


def _between(p: Floats, q: Floats, from_p: Floats, from_q: Floats) -> Floats:
    """Return the points that divide pq as |from_p| to |from_q|, from the nearer end."""
    from_p, from_q = np.abs(from_p), np.abs(from_q)
    span = from_p + from_q
    near_p = from_p <= from_q
    start = np.where(near_p, p, q)
    with np.errstate(invalid="ignore"):
        share = np.where(near_p, from_p, from_q) / span
    return np.where(span == 0.0, p, start + share * (np.where(near_p, q, p) - start))


def _flat_ends(a: Floats, b: Floats, in_one_plane: Bools, certain: Certain) -> Floats:
    """Return the ends (2, 3, n) for triangles that are coplanar or have no area.

    Corners of the intersection are corners of one triangle that lie in the other, and crossings of edges, or of an edge and a face.
    """
    corners = np.concatenate([a, b])
    axis = projection_axis(a, certain)
    axis = np.where(axis == NO_AXIS, projection_axis(b, certain), axis)
    points, others = _side_by_side(corners), _side_by_side([b, b, b, a, a, a])
    inside = triangles_touch(np.broadcast_to(points, others.shape), others, certain) != 0
    is_one = np.concatenate([inside.reshape(6, -1), np.zeros((9, a.shape[2]), bool)])
    found = np.concatenate([corners, np.empty((9, 3, a.shape[2]))])
    has_area = in_one_plane & (axis != NO_AXIS)
    # Elsewhere only one point is common, and further ones would be other roundings of it.
    single = ~has_area & ~is_one.any(axis=0)
    crossings = _crossing_edges, _crossing_edges, _pierced_faces
    for wanted, crossing in zip((has_area, single & in_one_plane, single & ~in_one_plane), crossings, strict=True):
        rows = np.flatnonzero(wanted)
        if len(rows):
            crosses, point = crossing(corners.take(rows, axis=2), axis[rows])
            is_one[6:, rows] = crosses.reshape(9, -1)
            found[6:, :, rows] = point.reshape(3, 9, -1).transpose(1, 0, 2)
    is_one[6:, single] &= np.cumsum(is_one[6:, single], axis=0) == 1
    return _farthest_apart(found, is_one, a[0])


def _side_by_side(parts: Sequence[Floats] | Floats) -> Floats:
    """Return the columns of all parts, one part after the other."""
    return np.concatenate(list(parts), axis=-1)


def _crossing_edges(corners: Floats, axis: NDArray[np.intp]) -> tuple[Bools, Floats]:
    """Return where edges of a and of b (corners (6, 3, n)) cross: nine columns for each pair, side by side."""
    of_a, of_b = [i for i in range(3) for _ in range(3)], [3, 4, 5] * 3
    p, q = (_side_by_side([corners[k] for k in ends]) for ends in (of_a, [NEXT[i] for i in of_a]))
    r, s = (_side_by_side([corners[k] for k in ends]) for ends in (of_b, [3 + NEXT[j - 3] for j in of_b]))
    return _edges_cross(p, q, r, s, np.tile(axis, 9))


def _pierced_faces(corners: Floats, _: NDArray[np.intp]) -> tuple[Bools, Floats]:
    """Return where edges pierce faces, in the kernel's order: the first three of six come twice."""
    edges = [k % 6 for k in range(6, 15)]
    p = _side_by_side([corners[k] for k in edges])
    q = _side_by_side([corners[3 * (k // 3) + NEXT[k % 3]] for k in edges])
    return _edges_in_plane(p, q, _side_by_side([corners[3:] if k < 3 else corners[:3] for k in edges]))


def _edges_cross(p: Floats, q: Floats, r: Floats, s: Floats, only_axis: NDArray[np.intp]) -> tuple[Bools, Floats]:
    """Return whether edges pq and rs of one plane cross inside both, and where.

    only_axis : a projection that does not flatten the plane; `NO_AXIS` (two segments) tries all
    """
    crosses, point = np.zeros(p.shape[1], bool), p.copy()
    ends = np.stack((p, q, r, s))
    for axis in range(3):
        left = np.flatnonzero(((only_axis == axis) | (only_axis == NO_AXIS)) & ~crosses)
        for first, second in ((0, 2), (2, 0)):
            seen = projected(ends.take(left, axis=2), np.full(len(left), axis))
            one, other, start, end = seen[first], seen[first + 1], seen[second], seen[second + 1]
            from_start, from_end = signed_areas(one, other, start), signed_areas(one, other, end)
            kept = np.flatnonzero(_opposite(from_start, from_end))
            left, from_start, from_end = left[kept], from_start[kept], from_end[kept]
        crosses[left] = True
        point[:, left] = _between(p.take(left, axis=1), q.take(left, axis=1), from_start, from_end)
    return crosses, point


def _farthest_apart(points: Floats, is_one: Bools, otherwise: Floats) -> Floats:
    """Return the two points (2, 3, n) of each column that are farthest apart, or the first one twice."""
    first = np.where(is_one.any(axis=0), np.take_along_axis(points, is_one.argmax(axis=0)[None, None], axis=0)[0], otherwise)
    second, farthest = first.copy(), np.zeros(first.shape[1])
    for i in range(1, len(points)):
        for j in range(i):
            chosen = np.flatnonzero(is_one[i] & is_one[j])
            if len(chosen):
                one, other = points[i].take(chosen, axis=1), points[j].take(chosen, axis=1)
                distance = dot(one - other, one - other)
                farther = distance > farthest[chosen]
                chosen = chosen[farther]
                first[:, chosen], second[:, chosen], farthest[chosen] = one[:, farther], other[:, farther], distance[farther]
    return np.stack((first, second))
