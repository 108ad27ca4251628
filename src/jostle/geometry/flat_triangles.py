"""Exact contact tests of coplanar triangles and triangles without area.

Two sets in one plane are compared in a projection along a coordinate axis that does not flatten the plane: it keeps incidence, so
the answer in the plane is that in space. In the plane, disjoint convex polygons are separated by the line of an edge of one of
them; for two segments on one line, their boxes decide. A segment that pierces the plane of a triangle is compared with its three
edges. These are the rare branches of `triangle_triangle`; they allocate no memory either.
"""

from __future__ import annotations

from jostle.geometry.predicates import Sides, orient2d, orient3d
from jostle.geometry.triangle import Triangle, bounds_meet, flipped, point_triangle, triangle_bounds, turned
from jostle.geometry.vector import Vec3, absolute, coordinate, cross, minus, plus, seen_along
from jostle.kernels.jit import kernel


@kernel
def flat_triangles_touch(a: Triangle, b: Triangle, sides_a: Sides, sides_b: Sides) -> bool:
    """Return whether two closed triangles touch that are coplanar or without area.

    sides_a are the sides of a's corners of the plane of b, sides_b the reverse; at least one of them is all 0. One long kernel of
    loops: each further one would compile a copy of the predicates.
    """
    if sides_b != (0, 0, 0):
        a, b, sides_a = b, a, sides_b
    if sides_a != (0, 0, 0):
        # b has a plane and a is not in it, so a's own sides are 0 because it is a segment, which pierces the plane in one point.
        s0, s1, s2 = sides_a
        for _ in range(3):
            if s0 == 0:
                break
            if s0 * s1 < 0:
                # Seen along the segment, the point is on the same side of all three edges, or on some of them.
                first = orient3d(a.p, a.q, b.p, b.q)
                second = orient3d(a.p, a.q, b.q, b.r)
                third = orient3d(a.p, a.q, b.r, b.p)
                return first * second >= 0 and second * third >= 0 and first * third >= 0
            a = turned(a)
            s0, s1, s2 = s1, s2, s0
        # The first corner is that point, and the only one of a that counts.
        a = point_triangle(a.p)
    if not bounds_meet(triangle_bounds(a), triangle_bounds(b)):
        return False
    widest = _widest_axis(a, b)
    for k in range(3):
        axis = (widest + k) % 3
        p, q, r = seen_along(axis, a.p), seen_along(axis, a.q), seen_along(axis, a.r)
        s, t, u = seen_along(axis, b.p), seen_along(axis, b.q), seen_along(axis, b.r)
        has_area = False
        for _ in range(2):
            turn = orient2d(p, q, r)
            has_area = has_area or turn != 0
            for _ in range(3):
                # Beyond an edge of a triangle is the side away from it; beyond a segment is either side.
                side = orient2d(p, q, s)
                if side not in (0, turn) and orient2d(p, q, t) == side == orient2d(p, q, u):
                    return False
                p, q, r = q, r, p
            p, q, r, s, t, u = s, t, u, p, q, r
        if has_area:
            return True  # this axis does not flatten the plane, so what it shows is the truth
    # Two segments or points that overlap along every axis. They touch if they have a plane in common, because at least one
    # of the axes does not flatten that.
    for _ in range(2):
        for _ in range(2):
            if orient3d(a.p, a.q, b.p, b.q) != 0:
                return False
            b = flipped(b)
        a = flipped(a)
    return True


@kernel
def _widest_axis(a: Triangle, b: Triangle) -> int:
    """Return the axis along which two triangles show most area, rounded.

    There most decisions need no exact arithmetic.
    """
    normal_a, normal_b = cross(minus(a.q, a.p), minus(a.r, a.p)), cross(minus(b.q, b.p), minus(b.r, b.p))
    n = plus(absolute(normal_a), absolute(normal_b))
    if n.x > n.y and n.x > n.z:
        return 0
    return 1 if n.y > n.z else 2


@kernel
def projection_axis(a: Vec3, b: Vec3, c: Vec3) -> int:
    """Return an axis along which the triangle abc shows an area, -1 if none. Exact."""
    first = _widest_axis(Triangle(a, b, c), Triangle(a, b, c))
    for k in range(3):
        axis = (first + k) % 3
        if orient2d(seen_along(axis, a), seen_along(axis, b), seen_along(axis, c)) != 0:
            return axis
    return -1


@kernel
def same_side_of_line(v: Vec3, w: Vec3, p: Vec3, q: Vec3) -> bool:
    """Return whether triangles vwp and vwq share more than the segment vw. Exact.

    All points lie in one plane, and v != w.
    """
    off_p, off_q = projection_axis(v, w, p), projection_axis(v, w, q)
    if off_p >= 0 and off_q >= 0:
        start, end = seen_along(off_p, v), seen_along(off_p, w)
        return orient2d(start, end, seen_along(off_p, p)) == orient2d(start, end, seen_along(off_p, q))
    if off_p >= 0 or off_q >= 0:
        return False  # a segment along the edge of a triangle: only one of them extends beyond the edge
    # Both on the line: they must extend beyond the same end.
    for axis in range(3):
        one_end, other_end = coordinate(v, axis), coordinate(w, axis)
        if one_end != other_end:
            lower, upper = min(one_end, other_end), max(one_end, other_end)
            one, other = coordinate(p, axis), coordinate(q, axis)
            return (one > upper and other > upper) or (one < lower and other < lower)
    return False
