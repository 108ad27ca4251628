"""The walk of Lin and Canny (1991) from pair to nearer pair of features.

The closest points of two convex bodies lie on a pair of features each of which holds the other's point in its Voronoi region, and
such a pair is the closest of all. Where a plane of a region is violated, the feature behind that plane is nearer and replaces the
present one. From the last frame's pair this takes a step or two, whatever the number of faces.

Deviation: edges are not represented by their closest points but cut by the planes of the other feature's region, and where the
distance still falls at the cut, the walk continues behind it (Mirtich 1998, V-Clip). So parallel edges and faces, where closest
points are not unique and the original walk runs in circles, need no special case; and an edge through a face, or a vertex behind
all faces, is a witness of penetration. Points of one body are moved into the frame of the other, whose planes stay as prepared:
correct for poses that are not quite orthonormal, too. After `most` steps the walk gives up as LOST.

| features | stage | leaves to |
|---|---|---|
| vertex, vertex | `vertex_and_vertex` | an edge of either; or ends, APART |
| vertex, edge | `vertex_and_edge` | an end or a face of the edge, an edge of the vertex; or ends, APART |
| vertex, face | `vertex_and_face` | an edge of either, a higher face; or ends, APART or INSIDE |
| edge, edge | `edge_and_edge` | an end or a face of either; or ends, APART |
| edge, face | `edge_and_face` | an edge of the face, an end of the edge; or ends, INSIDE |
"""

from __future__ import annotations

import math
from typing import NamedTuple

from jostle.geometry.rigid import RigidPose, moved_point, turned_back
from jostle.geometry.segment_segment import closest_points_of_segments
from jostle.geometry.triangle import Segment
from jostle.geometry.vector import dot, minus, negative, plus, times
from jostle.kernels.jit import kernel
from jostle.kernels.numbers import as_int64
from jostle.methods.closest_features.polyhedron import EDGE, FACE, VERTEX, Polytope
from jostle.methods.closest_features.regions import (
    NONE,
    Feature,
    direction_of,
    edge_along,
    edge_beyond_face,
    edge_beyond_vertex,
    ends_of_edge,
    head_of,
    height_over,
    highest_face,
    into_face,
    normal_of,
    point_of,
    region_of_edge,
    tail_of,
    vertex_at,
)

WALKING, APART, INSIDE, LOST = 0, 1, 2, 3
PARALLEL = 2.0**-46  # an edge that falls less towards a face is parallel to it, within rounding


class Side(NamedTuple):
    """A body of a walk, and its pose relative to the other body."""

    shape: Polytope
    to_other: RigidPose


class Step(NamedTuple):
    """Where a step leads: features of X and Y, and the witness where they penetrate."""

    status: int
    x: Feature
    y: Feature
    share: float  # of the edge, where it passes through the face
    depth: float  # of the witness


@kernel(forceinline=True)
def step_to(status: int, x: Feature, y: Feature) -> Step:
    """Return a step without a witness."""
    return Step(status, x, y, 0.0, 0.0)


@kernel(forceinline=True)
def moved_edge(side: Side, e: int) -> Segment:
    """Return an edge in the frame of the other body."""
    edge = ends_of_edge(side.shape, e)
    return Segment(moved_point(side.to_other, edge.p), moved_point(side.to_other, edge.q))


@kernel
def vertex_and_vertex(x: Side, y: Side, v: int, w: int, slack: float) -> Step:
    """Step from two vertices."""
    e = edge_beyond_vertex(x.shape, v, moved_point(y.to_other, vertex_at(y.shape, w)), slack)
    if e != NONE:
        return step_to(WALKING, Feature(EDGE, e), Feature(VERTEX, w))
    e = edge_beyond_vertex(y.shape, w, moved_point(x.to_other, vertex_at(x.shape, v)), slack)
    if e != NONE:
        return step_to(WALKING, Feature(VERTEX, v), Feature(EDGE, e))
    return step_to(APART, Feature(VERTEX, v), Feature(VERTEX, w))


@kernel
def vertex_and_edge(x: Side, y: Side, v: int, e: int, slack: float) -> Step:
    """Step from a vertex of X and an edge of Y."""
    point, vertex = moved_point(x.to_other, vertex_at(x.shape, v)), Feature(VERTEX, v)
    edge, along = ends_of_edge(y.shape, e), direction_of(y.shape, e)
    from_tail = dot(along, minus(point, edge.p))
    if from_tail < 0.0:
        return step_to(WALKING, vertex, Feature(VERTEX, tail_of(y.shape, e)))
    if dot(along, minus(point, edge.q)) > 0.0:
        return step_to(WALKING, vertex, Feature(VERTEX, head_of(y.shape, e)))
    left = dot(into_face(y.shape, e, 0), minus(point, edge.p))
    right = dot(into_face(y.shape, e, 1), minus(point, edge.p))
    if left > 0.0 or right > 0.0:
        return step_to(WALKING, vertex, Feature(FACE, as_int64(y.shape.edges[e].faces[0 if left >= right else 1])))
    nearest = plus(edge.p, times(from_tail, along))
    other = edge_beyond_vertex(x.shape, v, moved_point(y.to_other, nearest), slack)
    if other != NONE:
        return step_to(WALKING, Feature(EDGE, other), Feature(EDGE, e))
    return step_to(APART, vertex, Feature(EDGE, e))


@kernel
def vertex_and_face(x: Side, y: Side, v: int, f: int, look: bool) -> Step:
    """Step from a vertex of X and a face of Y; gives the depth of a vertex inside Y.

    With `look`, a vertex below the face is compared with all faces at once: one that was inside in the last frame mostly still is.
    """
    point, vertex = moved_point(x.to_other, vertex_at(x.shape, v)), Feature(VERTEX, v)
    height = height_over(y.shape, f, point)
    if look and height <= 0.0:
        found, highest = highest_face(y.shape, point)
        if highest <= 0.0:
            return Step(INSIDE, vertex, Feature(FACE, found), 0.0, -highest)
    e = edge_beyond_face(y.shape, f, point)
    if e != NONE:
        return step_to(WALKING, vertex, Feature(EDGE, e))
    away = turned_back(x.to_other, normal_of(y.shape, f))
    e = edge_along(x.shape, v, away if height < 0.0 else negative(away), PARALLEL)
    if e != NONE:
        return step_to(WALKING, Feature(EDGE, e), Feature(FACE, f))
    if height > 0.0:
        return step_to(APART, vertex, Feature(FACE, f))
    # Below the face and no edge leads up: inside Y, unless in front of another face.
    found, highest = highest_face(y.shape, point)
    if highest > 0.0:
        return step_to(WALKING, vertex, Feature(FACE, found))
    return Step(INSIDE, vertex, Feature(FACE, found), 0.0, -highest)


@kernel
def edge_and_edge(x: Side, y: Side, d: int, e: int) -> Step:
    """Step from two edges."""
    feature = region_of_edge(x.shape, d, moved_edge(y, e))
    if feature.kind != NONE:
        return step_to(WALKING, feature, Feature(EDGE, e))
    feature = region_of_edge(y.shape, e, moved_edge(x, d))
    if feature.kind != NONE:
        return step_to(WALKING, Feature(EDGE, d), feature)
    return step_to(APART, Feature(EDGE, d), Feature(EDGE, e))


@kernel
def edge_that_excludes(shape: Polytope, f: int, wholly: bool, segment: Segment) -> int:
    """Return the nearest edge of face f that has a segment outside, wholly or in part."""
    best, found = math.inf, NONE
    for k in range(shape.face_first[f], shape.face_first[f + 1]):
        code = as_int64(shape.codes[k])
        edge, inwards = ends_of_edge(shape, code >> 1), into_face(shape, code >> 1, code & 1)
        p, q = dot(inwards, minus(segment.p, edge.p)), dot(inwards, minus(segment.q, edge.p))
        if (p < 0.0 and q < 0.0) or (not wholly and (p < 0.0 or q < 0.0)):
            squared = closest_points_of_segments(edge, segment).squared
            if squared < best or found == NONE:
                best = squared
                found = code >> 1
    return found


class EdgeOverFace(NamedTuple):
    """The part of a segment above or below a face.

    As shares, with the edges of the face that cut it there, or NONE.
    """

    excluded: bool
    low: float
    high: float
    low_edge: int
    high_edge: int


@kernel(forceinline=True)
def cut_by_face(shape: Polytope, f: int, segment: Segment) -> EdgeOverFace:
    """Cut a segment by the planes of a face through its edges."""
    low, high, low_edge, high_edge = 0.0, 1.0, NONE, NONE
    for k in range(shape.face_first[f], shape.face_first[f + 1]):
        code = as_int64(shape.codes[k])
        origin, inwards = vertex_at(shape, tail_of(shape, code >> 1)), into_face(shape, code >> 1, code & 1)
        p, q = dot(inwards, minus(segment.p, origin)), dot(inwards, minus(segment.q, origin))
        if p < 0.0 and q < 0.0:
            return EdgeOverFace(True, low, high, low_edge, high_edge)
        if p < 0.0:
            cut = p / (p - q)
            if cut > low or low_edge == NONE:
                low, low_edge = cut, code >> 1
        elif q < 0.0:
            cut = p / (p - q)
            if cut < high or high_edge == NONE:
                high, high_edge = cut, code >> 1
    return EdgeOverFace(False, low, high, low_edge, high_edge)


@kernel
def edge_and_face(x: Side, y: Side, d: int, f: int) -> Step:
    """Step from an edge of X and a face of Y.

    Gives the share of the edge and the depth where it passes through the face.
    """
    edge, face, segment = Feature(EDGE, d), Feature(FACE, f), moved_edge(x, d)
    over = cut_by_face(y.shape, f, segment)
    if over.excluded or over.low > over.high:
        return step_to(WALKING, edge, Feature(EDGE, edge_that_excludes(y.shape, f, over.excluded, segment)))
    at_low = height_over(y.shape, f, point_of(segment, over.low))
    at_high = height_over(y.shape, f, point_of(segment, over.high))
    if at_low == 0.0:
        return Step(INSIDE, edge, face, over.low, 0.0)
    if at_high == 0.0:
        return Step(INSIDE, edge, face, over.high, 0.0)
    if (at_low > 0.0) != (at_high > 0.0):
        share = over.low + (over.high - over.low) * (at_low / (at_low - at_high))
        return Step(INSIDE, edge, face, share, min(abs(at_low), abs(at_high)))
    slope = dot(normal_of(y.shape, f), minus(segment.q, segment.p))
    if at_low < 0.0:
        slope = -slope
    nearer = over.low_edge if slope >= 0.0 else over.high_edge
    if nearer != NONE:
        return step_to(WALKING, edge, Feature(EDGE, nearer))
    end = tail_of(x.shape, d) if slope >= 0.0 else head_of(x.shape, d)
    return step_to(WALKING, Feature(VERTEX, end), face)


@kernel
def step_from(x: Side, y: Side, at_x: Feature, at_y: Feature, slack: float, look: bool) -> Step:
    """Step from features of X and Y; the dimension of X's is not the higher one."""
    if at_y.kind == VERTEX:
        return vertex_and_vertex(x, y, at_x.number, at_y.number, slack)
    if at_x.kind == VERTEX and at_y.kind == EDGE:
        return vertex_and_edge(x, y, at_x.number, at_y.number, slack)
    if at_x.kind == VERTEX:
        return vertex_and_face(x, y, at_x.number, at_y.number, look)
    if at_y.kind == EDGE:
        return edge_and_edge(x, y, at_x.number, at_y.number)
    return edge_and_face(x, y, at_x.number, at_y.number)


@kernel(forceinline=True)
def walk(a: Side, b: Side, at_a: Feature, at_b: Feature, slack: float, most: int) -> tuple[Step, int]:
    """Walk from two features to the closest ones; return the last step and the count.

    Its status is APART, INSIDE, or LOST after `most` steps; X is A and Y is B. `slack` is a length below which a vertex does not
    give way to its edges.
    """
    step, steps, look = step_to(WALKING, at_a, at_b), 0, True
    while step.status == WALKING and steps < most:
        steps += 1
        at_a, at_b = step.x, step.y
        if at_a.kind > at_b.kind:
            step = step_from(b, a, at_b, at_a, slack, look)
            step = Step(step.status, step.y, step.x, step.share, step.depth)
        else:
            step = step_from(a, b, at_a, at_b, slack, look)
        if (at_a.kind == VERTEX and at_b.kind == FACE) or (at_a.kind == FACE and at_b.kind == VERTEX):
            look = False
    return step_to(LOST, step.x, step.y) if step.status == WALKING else step, steps
