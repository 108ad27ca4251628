"""The closest point of a triangle of any shape, down to segments and points.

A triangle gets a frame: its longest edge as first axis, the perpendicular height towards the third corner as second. The height is
made perpendicular twice (Gram–Schmidt "twice is enough"), which leaves an error that amounts to moving a corner by a few roundings
of the triangle's size. The usual region tests on products of inner products lose half of the digits on needles; here the plane
problem is solved in two coordinates with the same small backward error.

Accuracy: with S the largest |coordinate difference| among the point and the corners, the distance is off by less
than 64 · 2⁻⁵³ · S (measured: 7). An offset of all coordinates costs nothing, since only differences enter; sizes of 1e-46 … 1e60
neither underflow nor overflow, since only squares are formed. The returned point is rounded to its coordinates.
"""

from __future__ import annotations

from typing import NamedTuple

from jostle.geometry.triangle import Triangle, turned
from jostle.geometry.vector import Vec2, Vec3, cross, dot, length, minus, plus, times
from jostle.kernels.jit import kernel

# A height below this share of the base is rounding noise without a direction: the triangle is taken as its base.
FLAT = 2.0**-51


class TriangleFrame(NamedTuple):
    """The frame of a triangle: corners o, o + base·u and o + foot·u + height·v.

    0 <= foot <= base. A segment has v = 0 and height 0, a point has u = v = 0 and base 0.
    """

    o: Vec3
    u: Vec3
    v: Vec3
    base: float
    foot: float
    height: float


class ClosestPoint(NamedTuple):
    """A closest point and its squared distance."""

    point: Vec3
    squared: float


@kernel
def triangle_frame(t: Triangle) -> TriangleFrame:
    """Return the frame of a triangle."""
    ab, bc, ca = _squared_edge(t.p, t.q), _squared_edge(t.q, t.r), _squared_edge(t.r, t.p)
    if bc > ab and bc >= ca:
        t = turned(t)
    elif ca > ab:
        t = turned(turned(t))
    nowhere = Vec3(0.0, 0.0, 0.0)
    along = minus(t.q, t.p)
    base = length(along)
    if base == 0.0:
        return TriangleFrame(t.p, nowhere, nowhere, 0.0, 0.0, 0.0)
    u = times(1.0 / base, along)
    v = minus(t.r, t.p)
    foot = dot(v, u)
    v = minus(v, times(foot, u))
    rest = dot(v, u)
    v = minus(v, times(rest, u))
    height = length(v)
    if height <= FLAT * base:
        return TriangleFrame(t.p, u, nowhere, base, 0.0, 0.0)
    return TriangleFrame(t.p, u, times(1.0 / height, v), base, foot + rest, height)


@kernel(forceinline=True)
def _squared_edge(a: Vec3, b: Vec3) -> float:
    edge = minus(b, a)
    return dot(edge, edge)


@kernel
def in_frame(frame: TriangleFrame, p: Vec3) -> Vec3:
    """Return a point's coordinates in a triangle's frame.

    z is the signed height over its plane (0 for a segment).
    """
    w = minus(p, frame.o)
    return Vec3(dot(w, frame.u), dot(w, frame.v), dot(w, cross(frame.u, frame.v)))


@kernel(forceinline=True)
def out_of_frame(frame: TriangleFrame, x: float, y: float) -> Vec3:
    """Return the point with coordinates (x, y) in a triangle's plane."""
    return plus(frame.o, plus(times(x, frame.u), times(y, frame.v)))


@kernel
def over_triangle(frame: TriangleFrame, x: float, y: float) -> bool:
    """Return whether (x, y) in its frame lies in the triangle; False without area."""
    base, foot, height = frame.base, frame.foot, frame.height
    return height > 0.0 and y >= 0.0 and height * x >= foot * y and height * (base - x) >= (base - foot) * y


@kernel
def closest_on_side(at: Vec2, a: Vec2, b: Vec2) -> tuple[Vec2, float]:
    """Return the point of the plane segment ab closest to a point; a and b differ.

    Also its squared distance.
    """
    ex, ey = b.x - a.x, b.y - a.y
    t = ((at.x - a.x) * ex + (at.y - a.y) * ey) / (ex * ex + ey * ey)
    t = min(max(t, 0.0), 1.0)
    q = Vec2(a.x + t * ex, a.y + t * ey)
    return q, (at.x - q.x) * (at.x - q.x) + (at.y - q.y) * (at.y - q.y)


@kernel
def closest_point_on_triangle(p: Vec3, t: Triangle) -> ClosestPoint:
    """Return the point of a closed triangle closest to p."""
    frame = triangle_frame(t)
    x, y, _ = in_frame(frame, p)
    # What is left off the plane; for a segment it holds everything across the axis, for a point all of p − o.
    rest = minus(minus(p, frame.o), plus(times(x, frame.u), times(y, frame.v)))
    off_plane = dot(rest, rest)
    if over_triangle(frame, x, y):
        closest, in_plane = Vec2(x, y), 0.0
    else:
        closest = Vec2(min(max(x, 0.0), frame.base), 0.0)
        in_plane = (x - closest.x) * (x - closest.x) + y * y
        if frame.height > 0.0:
            top = Vec2(frame.foot, frame.height)
            for start in (Vec2(0.0, 0.0), Vec2(frame.base, 0.0)):
                on_side, squared = closest_on_side(Vec2(x, y), start, top)
                if squared < in_plane:
                    closest, in_plane = on_side, squared
    return ClosestPoint(out_of_frame(frame, closest.x, closest.y), off_plane + in_plane)
