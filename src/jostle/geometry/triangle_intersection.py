"""The intersection of two touching triangles, as a segment rounded to float64.

Exact signs decide which edges the ends lie on; only the position on the edge is rounded, from determinants with a relative
error below 2^-39 however flat the angle between the planes is. So each end lies within 1e-11 times the longest edge plus
4 units in the last place of the largest coordinate of a true end: never NaN, never on the wrong edge. Both ends are
equal where the triangles have one common point, and always inside the boxes of both triangles.

Where the intersection is an area (coplanar triangles), the ends are its two corners that are farthest apart.
"""

from __future__ import annotations

import numpy as np

from jostle._types import Floats
from jostle.geometry.flat_triangles import projection_axis
from jostle.geometry.predicates import orient3d, sides_of_plane, signed_area, signed_volume
from jostle.geometry.triangle import Segment, Triangle, common_bounds, point_triangle, triangle_bounds
from jostle.geometry.triangle_triangle import arranged, lone_corner, triangles_touch
from jostle.geometry.vector import Vec3, clamped, dot, minus, plus, point_at, seen_along, times, write_point
from jostle.kernels.jit import kernel

Crossing = tuple[bool, Vec3]
"""Whether there is one, and where."""


@kernel
def intersection_segment(a: Triangle, b: Triangle) -> Segment:
    """Return the ends of the intersection of two closed triangles that touch.

    For triangles that do not touch it is some point between or on them.
    """
    sides_a, sides_b = sides_of_plane(b, a), sides_of_plane(a, b)
    flat_a, flat_b = sides_a == (0, 0, 0), sides_b == (0, 0, 0)
    if flat_a or flat_b:
        ends = _flat_ends(a, b, flat_a and flat_b)
    else:
        lone_a, above_a = lone_corner(sides_a)
        lone_b, above_b = lone_corner(sides_b)
        ends = _ends_on_common_line(arranged(a, lone_a, above_b), arranged(b, lone_b, above_a))
    box = common_bounds(triangle_bounds(a), triangle_bounds(b))
    return Segment(clamped(ends.p, box.lower, box.upper), clamped(ends.q, box.lower, box.upper))


@kernel
def _ends_on_common_line(a: Triangle, b: Triangle) -> Segment:
    """Return the ends for `arranged` triangles whose planes meet in a line."""
    p, q, r = a
    s, t, u = b
    # The segments are [X(pr), X(pq)] and [X(st), X(su)]; see `arranged`. Take the later start and the earlier end.
    if orient3d(p, r, s, t) < 0:
        _, start = _edge_in_plane(p, r, b)
    else:
        _, start = _edge_in_plane(s, t, a)
    if orient3d(p, q, s, u) < 0:
        _, end = _edge_in_plane(s, u, a)
    else:
        _, end = _edge_in_plane(p, q, b)
    if orient3d(p, q, s, t) == 0 or orient3d(p, r, s, u) == 0:
        end = start  # the segments meet end to end: rounding must not make two points of it
    return Segment(start, end)


@kernel
def _between(p: Vec3, q: Vec3, from_p: float, from_q: float) -> Vec3:
    """Return the point of pq that divides it as |from_p| to |from_q|.

    The two have opposite signs.
    """
    span = abs(from_p) + abs(from_q)
    if span == 0.0:
        return p
    # Measured from the nearer end, so that an end that is met exactly is returned exactly.
    if abs(from_p) <= abs(from_q):
        return plus(p, times(abs(from_p) / span, minus(q, p)))
    return plus(q, times(abs(from_q) / span, minus(p, q)))


@kernel
def _edge_in_plane(p: Vec3, q: Vec3, t: Triangle) -> Crossing:
    """Return whether pq crosses the plane of t strictly, and the point on it."""
    from_p, from_q = signed_volume(t.p, t.q, t.r, p), signed_volume(t.p, t.q, t.r, q)
    return (from_p < 0.0 < from_q) or (from_q < 0.0 < from_p), _between(p, q, from_p, from_q)


@kernel
def _flat_ends(a: Triangle, b: Triangle, in_one_plane: bool) -> Segment:
    """Return the ends for triangles that are coplanar or have no area."""
    corner = np.empty((6, 3), np.float64)
    write_point(corner, 0, a.p)
    write_point(corner, 1, a.q)
    write_point(corner, 2, a.r)
    write_point(corner, 3, b.p)
    write_point(corner, 4, b.q)
    write_point(corner, 5, b.r)
    found = np.empty((16, 3), np.float64)
    write_point(found, 0, a.p)
    count = 0
    axis = projection_axis(a.p, a.q, a.r)
    if axis < 0:
        axis = projection_axis(b.p, b.q, b.r)
    for k in range(15):
        if k < 6:
            # Corners of the intersection are corners of one triangle that lie in the other ...
            point = point_at(corner, k)
            is_one = triangles_touch(point_triangle(point), _triangle_beginning_at(corner, 3 - 3 * (k // 3))) != 0
        elif count > 0 and (axis < 0 or not in_one_plane):
            # Only one point is common. A segment has edges on top of each other: they would give other roundings of it.
            is_one = False
        elif in_one_plane:
            # ... and crossings of two edges ...
            i, j = (k - 6) // 3, k % 3
            edge = Segment(point_at(corner, i), point_at(corner, (i + 1) % 3))
            is_one, point = _edges_cross(edge, Segment(point_at(corner, 3 + j), point_at(corner, 3 + (j + 1) % 3)), axis)
        else:
            # ... or of an edge and a face.
            p, q, other = k % 6, 3 * (k % 6 // 3) + (k + 1) % 3, 3 - 3 * (k % 6 // 3)
            is_one, point = _edge_in_plane(point_at(corner, p), point_at(corner, q), _triangle_beginning_at(corner, other))
        if is_one:
            write_point(found, count, point)
            count += 1
    return _farthest_apart(found, count)


@kernel(forceinline=True)
def _triangle_beginning_at(corner: Floats, i: int) -> Triangle:
    return Triangle(point_at(corner, i), point_at(corner, i + 1), point_at(corner, i + 2))


@kernel
def _farthest_apart(points: Floats, count: int) -> Segment:
    """Return the two points that are farthest apart, or the first one twice."""
    first, second, farthest = 0, 0, 0.0
    for i in range(count):
        for j in range(i):
            apart = minus(point_at(points, i), point_at(points, j))
            distance = dot(apart, apart)
            if distance > farthest:
                first, second, farthest = i, j, distance
    return Segment(point_at(points, first), point_at(points, second))


@kernel
def _edges_cross(a: Segment, b: Segment, only_axis: int) -> Crossing:
    """Return whether two edges of one plane cross inside both, and where.

    `only_axis` is a projection that does not flatten the plane; -1 (two segments) tries all: a flattening one shows no crossing.
    """
    for axis in range(3):
        if only_axis >= 0 and axis != only_axis:
            continue
        p, q = seen_along(axis, a.p), seen_along(axis, a.q)
        r, s = seen_along(axis, b.p), seen_along(axis, b.q)
        from_r, from_s = signed_area(p, q, r), signed_area(p, q, s)
        if not (from_r < 0.0 < from_s or from_s < 0.0 < from_r):
            continue
        from_p, from_q = signed_area(r, s, p), signed_area(r, s, q)
        if from_p < 0.0 < from_q or from_q < 0.0 < from_p:
            return True, _between(a.p, a.q, from_p, from_q)
    return False, a.p
