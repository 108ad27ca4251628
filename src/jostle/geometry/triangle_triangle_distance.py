"""Distance and closest points of two closed triangles.

Disjoint triangles are closest at a corner over the other face (6 cases) or at two edges (9 cases, which contain all that end on an
edge or corner). Where an edge passes through a face the distance is 0, and the point of passage is returned for both. This function
rounds: a caller who needs 0 to mean contact calls the exact test in `triangle_triangle` first.

Accuracy: with S the largest |coordinate difference| among the six corners, the distance is off by less than
128 · 2⁻⁵³ · S (1.5e-14 S; measured: 3 · 2⁻⁵³ · S) for triangles of any shape; an offset of all coordinates costs
nothing, and sizes of 1e-46 … 1e60 are safe. The points are rounded to their coordinates: with an offset of 1e7 they
carry its ulp. 0.3 µs for distant triangles, 0.5 µs for near ones, including the early exit.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from jostle.geometry.point_triangle import TriangleFrame, in_frame, out_of_frame, over_triangle, triangle_frame
from jostle.geometry.segment_segment import ClosestPair, closest_points_of_segments
from jostle.geometry.triangle import Segment, Triangle, turned
from jostle.geometry.vector import Vec3, dot, minus, plus
from jostle.kernels.jit import kernel

# Closest points of nearly parallel edges, and so the direction between them, are off by up to 64 · 2⁻⁵³ of the size S;
# projected on a length S that is 2⁻⁴⁷ S². Only corners farther out than that, with room to spare, settle the case.
SETTLED = 2.0**-45


class DistanceAndPoints(NamedTuple):
    """The distance of a and b, and their closest points."""

    distance: float
    on_a: Vec3
    on_b: Vec3


@kernel
def corners_against_face(frame: TriangleFrame, t: Triangle) -> ClosestPair:
    """Return the closest corner of t over the face with this frame.

    The points are on the face and on t; the squared distance is 0 where an edge of t passes through the face, inf where no corner
    is over it.
    """
    best = ClosestPair(math.inf, frame.o, t.p)
    here = in_frame(frame, t.r)
    for _ in range(3):
        # The edge from the last corner to the first; the corners then change places, so that the loop body is compiled once.
        last, here = here, in_frame(frame, t.p)
        squared = here.z * here.z
        if squared < best.squared and over_triangle(frame, here.x, here.y):
            best = ClosestPair(squared, out_of_frame(frame, here.x, here.y), t.p)
        if (last.z < 0.0 and here.z > 0.0) or (last.z > 0.0 and here.z < 0.0):
            share = last.z / (last.z - here.z)
            through_x, through_y = last.x + share * (here.x - last.x), last.y + share * (here.y - last.y)
            if over_triangle(frame, through_x, through_y):
                through = out_of_frame(frame, through_x, through_y)
                return ClosestPair(0.0, through, through)
        t = turned(t)
    return best


@kernel
def closest_points_of_edges(a: Triangle, b: Triangle) -> tuple[bool, ClosestPair]:
    """Return the closest points of two boundaries, and whether the case is settled.

    The planes through the closest points of two edges, perpendicular to the line between them, have these edges on their far sides.
    Where the third corners lie there too, beyond rounding, the triangles have no closer points: settled.
    """
    size = max(_largest(a), _largest(b))
    margin = SETTLED * size * size
    best = ClosestPair(math.inf, a.p, b.p)
    for _ in range(3):
        for _ in range(3):
            found = closest_points_of_segments(Segment(a.p, a.q), Segment(b.p, b.q))
            if found.squared < best.squared:
                best = found
                gap = minus(best.on_b, best.on_a)
                if dot(minus(a.r, best.on_a), gap) < -margin and dot(minus(b.r, best.on_b), gap) > margin:
                    return True, best
            b = turned(b)
        a = turned(a)
    return False, best


@kernel(forceinline=True)
def _largest(t: Triangle) -> float:
    """Return the largest coordinate in magnitude."""
    first = max(abs(t.p.x), abs(t.p.y), abs(t.p.z), abs(t.q.x), abs(t.q.y), abs(t.q.z))
    return max(first, abs(t.r.x), abs(t.r.y), abs(t.r.z))


@kernel
def closest_points_of_triangles(a: Triangle, b: Triangle) -> DistanceAndPoints:
    """Return the distance of two closed triangles, and their closest points."""
    # About the first corner of a, so that rounding is relative to the triangles and not to where they are.
    o = a.p
    a = Triangle(Vec3(0.0, 0.0, 0.0), minus(a.q, o), minus(a.r, o))
    b = Triangle(minus(b.p, o), minus(b.q, o), minus(b.r, o))
    settled, best = closest_points_of_edges(a, b)
    if not settled:
        for _ in range(2):
            # Twice, with the triangles changing places, so that the kernels below are compiled into this one only once.
            found = corners_against_face(triangle_frame(b), a)
            if found.squared < best.squared:
                best = ClosestPair(found.squared, found.on_b, found.on_a)
            best = ClosestPair(best.squared, best.on_b, best.on_a)
            a, b = b, a
    return DistanceAndPoints(math.sqrt(best.squared), plus(o, best.on_a), plus(o, best.on_b))
