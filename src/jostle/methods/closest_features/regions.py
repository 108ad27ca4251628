"""Voronoi regions of a polyhedron: which plane a point or a segment is beyond.

All coordinates are in the frame of the polyhedron. Planes point outwards from a feature to the neighbour behind them; a point that
is beyond no plane is in the region.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from jostle.geometry.triangle import Segment
from jostle.geometry.vector import Vec3, dot, minus, plus, point_from, times
from jostle.kernels.jit import kernel
from jostle.kernels.numbers import as_int64
from jostle.methods.closest_features.polyhedron import FACE, VERTEX, Polytope

NONE = -1
TAIL, HEAD, LEFT, RIGHT = range(4)  # planes of the region of an edge, by the feature behind each


class Feature(NamedTuple):
    """A feature of a body: VERTEX, EDGE, FACE or NONE, and its number."""

    kind: int
    number: int


@kernel(forceinline=True)
def vertex_at(shape: Polytope, v: int) -> Vec3:
    """Return the coordinates of vertex v."""
    return point_from(shape.vertices, 3 * v)


@kernel(forceinline=True)
def tail_of(shape: Polytope, e: int) -> int:
    """Return the vertex that an edge leaves."""
    return as_int64(shape.edges[e].ends[0])


@kernel(forceinline=True)
def head_of(shape: Polytope, e: int) -> int:
    """Return the vertex that an edge leads to."""
    return as_int64(shape.edges[e].ends[1])


@kernel(forceinline=True)
def ends_of_edge(shape: Polytope, e: int) -> Segment:
    """Return an edge from tail to head."""
    return Segment(vertex_at(shape, tail_of(shape, e)), vertex_at(shape, head_of(shape, e)))


@kernel(forceinline=True)
def direction_of(shape: Polytope, e: int) -> Vec3:
    """Return the unit vector along an edge."""
    return point_from(shape.vectors[e].along, 0)


@kernel(forceinline=True)
def into_face(shape: Polytope, e: int, side: int) -> Vec3:
    """Return the unit vector across an edge into its left (0) or right (1) face."""
    return point_from(shape.vectors[e].into, 3 * side)


@kernel(forceinline=True)
def normal_of(shape: Polytope, f: int) -> Vec3:
    """Return the outward unit normal of a face."""
    return point_from(shape.planes[f].normal, 0)


@kernel(forceinline=True)
def height_over(shape: Polytope, f: int, point: Vec3) -> float:
    """Return the signed distance of a point from the plane of face f (outside: > 0)."""
    return dot(normal_of(shape, f), minus(point, point_from(shape.sphere, 0))) - shape.planes[f].height


@kernel
def highest_face(shape: Polytope, point: Vec3) -> tuple[int, float]:
    """Return the face whose plane a point is highest above, and that height.

    The height is not positive for a point inside.
    """
    point = minus(point, point_from(shape.sphere, 0))
    highest, found = -math.inf, 0
    for f in range(len(shape.planes)):
        height = dot(normal_of(shape, f), point) - shape.planes[f].height
        if height > highest:
            highest = height
            found = f
    return found, highest


@kernel
def edge_along(shape: Polytope, v: int, direction: Vec3, least: float) -> int:
    """Return the edge of vertex v that leads farthest along a direction.

    NONE where no edge leads farther than `least`.
    """
    farthest, found = least, NONE
    for k in range(shape.vertex_first[v], shape.vertex_first[v + 1]):
        code = as_int64(shape.codes[k])
        along = dot(direction_of(shape, code >> 1), direction)
        if code & 1:
            along = -along
        if along > farthest:
            farthest = along
            found = code >> 1
    return found


@kernel(forceinline=True)
def edge_beyond_vertex(shape: Polytope, v: int, point: Vec3, slack: float) -> int:
    """Return the edge of vertex v whose plane a point is farthest beyond.

    NONE where the point is in the region of v.
    """
    return edge_along(shape, v, minus(point, vertex_at(shape, v)), slack)


@kernel
def edge_beyond_face(shape: Polytope, f: int, point: Vec3) -> int:
    """Return the edge of face f whose plane a point is farthest beyond.

    NONE where the point is above or below the face.
    """
    farthest, found = 0.0, NONE
    for k in range(shape.face_first[f], shape.face_first[f + 1]):
        code = as_int64(shape.codes[k])
        inside = dot(into_face(shape, code >> 1, code & 1), minus(point, vertex_at(shape, tail_of(shape, code >> 1))))
        if inside < farthest:
            farthest = inside
            found = code >> 1
    return found


@kernel(forceinline=True)
def point_of(segment: Segment, share: float) -> Vec3:
    """Return the point at a share of the segment from p to q."""
    return plus(segment.p, times(share, minus(segment.q, segment.p)))


@kernel(forceinline=True)
def slope_away(shape: Polytope, feature: Feature, point: Vec3, along: Vec3) -> float:
    """Return how fast the distance from a vertex or face grows along a vector.

    Only the sign counts.
    """
    if feature.kind == VERTEX:
        return dot(minus(point, vertex_at(shape, feature.number)), along)
    rise = dot(normal_of(shape, feature.number), along)
    return rise if height_over(shape, feature.number, point) > 0.0 else -rise


class Sides(NamedTuple):
    """Signed distances of a segment's ends from a plane, and the feature behind it.

    Negative: outside.
    """

    p: float
    q: float
    behind: Feature


@kernel(forceinline=True)
def sides_of_region(shape: Polytope, e: int, plane: int, segment: Segment) -> Sides:
    """Compare a segment with one plane of the region of an edge."""
    if plane == TAIL:
        out, origin = direction_of(shape, e), vertex_at(shape, tail_of(shape, e))
        return Sides(dot(out, minus(segment.p, origin)), dot(out, minus(segment.q, origin)), Feature(VERTEX, tail_of(shape, e)))
    if plane == HEAD:
        out, origin, behind = direction_of(shape, e), vertex_at(shape, head_of(shape, e)), Feature(VERTEX, head_of(shape, e))
    else:
        out, origin = into_face(shape, e, plane - LEFT), vertex_at(shape, tail_of(shape, e))
        behind = Feature(FACE, as_int64(shape.edges[e].faces[plane - LEFT]))
    return Sides(-dot(out, minus(segment.p, origin)), -dot(out, minus(segment.q, origin)), behind)


@kernel
def region_of_edge(shape: Polytope, e: int, segment: Segment) -> Feature:
    """Cut a segment by the region of edge e; return the feature to go to.

    NONE where the segment is nearest inside the region.
    """
    low, high, at_low, at_high = 0.0, 1.0, Feature(NONE, NONE), Feature(NONE, NONE)
    for plane in range(4):
        sides = sides_of_region(shape, e, plane, segment)
        if sides.p < 0.0 and sides.q < 0.0:
            return sides.behind
        if sides.p < 0.0:
            cut = sides.p / (sides.p - sides.q)
            if cut > low or at_low.kind == NONE:
                low, at_low = cut, sides.behind
        elif sides.q < 0.0:
            cut = sides.p / (sides.p - sides.q)
            if cut < high or at_high.kind == NONE:
                high, at_high = cut, sides.behind
    along = minus(segment.q, segment.p)
    if at_low.kind != NONE and slope_away(shape, at_low, point_of(segment, low), along) > 0.0:
        return at_low
    if at_high.kind != NONE and slope_away(shape, at_high, point_of(segment, high), along) < 0.0:
        return at_high
    if low > high:
        return at_low  # cut away by two planes: one of them is nearer, and rounding hides which
    return Feature(NONE, NONE)


@kernel
def climb(shape: Polytope, v: int, direction: Vec3) -> int:
    """Return the vertex farthest along a direction, climbing from v.

    On a convex body that is the one that no neighbour exceeds.
    """
    for _ in range(len(shape.vertices) // 3):
        here = vertex_at(shape, v)
        highest, found = 0.0, NONE
        for k in range(shape.vertex_first[v], shape.vertex_first[v + 1]):
            code = as_int64(shape.codes[k])
            other = as_int64(shape.edges[code >> 1].ends[1 - (code & 1)])
            rise = dot(direction, minus(vertex_at(shape, other), here))
            if rise > highest:
                highest = rise
                found = other
        if found == NONE:
            break
        v = found
    return v
