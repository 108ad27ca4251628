"""Where an edge lies in the plane of a face, exactly, by projection along an axis."""

from __future__ import annotations

from typing import NamedTuple

from jostle.geometry.predicates import orient2d
from jostle.geometry.triangle import Segment, Triangle
from jostle.geometry.vector import Vec2, Vec3, seen_along
from jostle.kernels.jit import kernel

INSIDE, OUTSIDE, NO_AREA = -1, -2, -3


class EdgePlace(NamedTuple):
    """How an edge meets a face in its plane.

    where: INSIDE if the edge enters the inside of the face, 0 … 2 if it runs along the side that begins at this corner, OUTSIDE if
    they share at most a point, NO_AREA for a face without area. The rest describes the shadow: its axis, the orientation of the
    face in it, and on which sides of the edge's line the corners lie.
    """

    where: int
    axis: int
    turned: int
    p: int
    q: int
    r: int


@kernel
def where_edge_lies(edge: Segment, face: Triangle) -> EdgePlace:
    """Return where an edge lies in the plane of a face."""
    for k in range(3):
        axis = (k + 2) % 3
        t = FlatTriangle(seen_along(axis, face.p), seen_along(axis, face.q), seen_along(axis, face.r))
        turned = side_in_shadow(t.p, t.q, t.r)
        if turned == 0:
            continue
        start, end = seen_along(axis, edge.p), seen_along(axis, edge.q)
        p, q, r = 0, 0, 0
        for _ in range(3):  # a loop, because three calls would be compiled three times
            p, q, r = q, r, side_in_shadow(start, end, t.p)
            t = FlatTriangle(t.q, t.r, t.p)
        where = OUTSIDE
        if min(p, q, r) < 0 and max(p, q, r) > 0:
            where = OUTSIDE if is_beyond_a_side(start, end, t, turned) else INSIDE
        elif (p != 0) + (q != 0) + (r != 0) == 1:
            along = 1 if p != 0 else 2 if q != 0 else 0  # the side opposite the one corner off the line
            where = along if overlap_on_line(start, end, t, along) else OUTSIDE
        return EdgePlace(where, axis, turned, p, q, r)
    return EdgePlace(NO_AREA, 0, 0, 0, 0, 0)


class FlatTriangle(NamedTuple):
    """The shadow of a triangle."""

    p: Vec2
    q: Vec2
    r: Vec2


@kernel(forceinline=True)
def side_in_shadow(p: Vec2, q: Vec2, r: Vec2) -> int:
    """Return orient2d of three points."""
    if q.x == r.x and q.y == r.y:  # frequent, and slow in the predicate
        return 0
    return orient2d(p, q, r)


@kernel(forceinline=True)
def side_of_segment(axis: int, segment: Segment, point: Vec3) -> int:
    """Return the side of a segment's line on which a point lies, seen along an axis."""
    return orient2d(seen_along(axis, segment.p), seen_along(axis, segment.q), seen_along(axis, point))


@kernel
def is_beyond_a_side(start: Vec2, end: Vec2, t: FlatTriangle, turned: int) -> bool:
    """Return whether both ends of a segment are outside, or on, one side's line."""
    for _ in range(3):
        outside = True
        for _ in range(2):
            outside = outside and turned * side_in_shadow(t.p, t.q, start) <= 0
            start, end = end, start
        if outside:
            return True
        t = FlatTriangle(t.q, t.r, t.p)
    return False


@kernel
def overlap_on_line(start: Vec2, end: Vec2, t: FlatTriangle, side: int) -> bool:
    """Return whether a segment shares more than a point with a side on its line."""
    for _ in range(side):
        t = FlatTriangle(t.q, t.r, t.p)
    if start.x != end.x:
        return min(max(start.x, end.x), max(t.p.x, t.q.x)) > max(min(start.x, end.x), min(t.p.x, t.q.x))
    return min(max(start.y, end.y), max(t.p.y, t.q.y)) > max(min(start.y, end.y), min(t.p.y, t.q.y))
