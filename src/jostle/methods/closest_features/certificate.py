"""Closest points of two features, and the proof that nothing is nearer.

The walk decides in floating point, so its end is checked in the world. The closest points of the two features bound the distance
from above. Two planes across the direction between them, moved out to the farthest vertex of each body, bound it from below; these
vertices are found by climbing from the features. The bounds differ by rounding only, unless the walk went astray. So every
reported distance carries a proof of its error.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from jostle.geometry.rigid import RigidPose, moved_point, turned_back, turned_vector, world_point
from jostle.geometry.segment_segment import closest_points_of_segments
from jostle.geometry.triangle import Segment
from jostle.geometry.vector import Vec3, cross, divided, dot, length, minus, negative, times
from jostle.kernels.jit import kernel
from jostle.kernels.numbers import as_int64
from jostle.methods.closest_features.polyhedron import EDGE, FACE, VERTEX, Polytope
from jostle.methods.closest_features.regions import (
    Feature,
    climb,
    head_of,
    height_over,
    normal_of,
    point_of,
    tail_of,
    vertex_at,
)
from jostle.methods.closest_features.walk import Side


class Body(NamedTuple):
    """A polytope at its pose in the world."""

    shape: Polytope
    pose: RigidPose


@kernel(forceinline=True)
def world_vertex(body: Body, v: int) -> Vec3:
    """Return the world coordinates of a vertex."""
    return world_point(body.pose, vertex_at(body.shape, v))


@kernel(forceinline=True)
def world_ends(body: Body, feature: Feature) -> Segment:
    """Return the world ends of an edge; a vertex is both of its ends."""
    tail = head = feature.number
    if feature.kind == EDGE:
        tail, head = tail_of(body.shape, feature.number), head_of(body.shape, feature.number)
    first = world_vertex(body, tail)
    return Segment(first, first if tail == head else world_vertex(body, head))


@kernel(forceinline=True)
def foot_on_face(v: int, side: Side, f: int, other: Body) -> Vec3:
    """Return the world point under a vertex on the plane of a face of the other body."""
    point = moved_point(side.to_other, vertex_at(side.shape, v))
    height = height_over(other.shape, f, point)
    return world_point(other.pose, minus(point, times(height, normal_of(other.shape, f))))


@kernel
def world_points(a: Body, b: Body, side_a: Side, side_b: Side, at_a: Feature, at_b: Feature) -> Segment:
    """Return the closest points of the features where a walk ended, A's first."""
    if at_b.kind == FACE:
        return Segment(world_vertex(a, at_a.number), foot_on_face(at_a.number, side_a, at_b.number, b))
    if at_a.kind == FACE:
        return Segment(foot_on_face(at_b.number, side_b, at_a.number, a), world_vertex(b, at_b.number))
    closest = closest_points_of_segments(world_ends(a, at_a), world_ends(b, at_b))
    return Segment(closest.on_a, closest.on_b)


@kernel(forceinline=True)
def common_point(a: Body, b: Body, at_a: Feature, at_b: Feature, share: float) -> Vec3:
    """Return the witness of penetration.

    A vertex inside the other body, or where an edge passes through a face.
    """
    return point_of(world_ends(b, at_b) if at_a.kind == FACE else world_ends(a, at_a), share)


@kernel(forceinline=True)
def any_vertex(shape: Polytope, feature: Feature) -> int:
    """Return a vertex of a feature."""
    if feature.kind == VERTEX:
        return feature.number
    if feature.kind == FACE:
        return tail_of(shape, as_int64(shape.codes[shape.face_first[feature.number]]) >> 1)
    return tail_of(shape, feature.number)


@kernel
def gap_along(a: Body, b: Body, i: int, j: int, direction: Vec3) -> float:
    """Return the gap between bodies along a unit vector, negative where they overlap.

    Climbing begins at vertices i and j.
    """
    i = climb(a.shape, i, turned_back(a.pose, direction))
    j = climb(b.shape, j, turned_back(b.pose, negative(direction)))
    return dot(direction, minus(world_vertex(b, j), world_vertex(a, i)))


@kernel
def normal_of_features(a: Body, b: Body, at_a: Feature, at_b: Feature) -> Vec3:
    """Return a direction across a face, or across two edges.

    For closest points that are too near to give a direction.
    """
    if at_b.kind == FACE:
        return turned_vector(b.pose, negative(normal_of(b.shape, at_b.number)))
    if at_a.kind == FACE:
        return turned_vector(a.pose, normal_of(a.shape, at_a.number))
    edge_a, edge_b = world_ends(a, at_a), world_ends(b, at_b)
    normal = cross(minus(edge_a.q, edge_a.p), minus(edge_b.q, edge_b.p))
    if dot(normal, minus(edge_b.p, edge_a.p)) < 0.0:
        return negative(normal)
    return normal


@kernel
def proven_gap(a: Body, b: Body, at_a: Feature, at_b: Feature, closest: Segment, distance: float, error: float) -> float:
    """Return a proven lower bound of the distance.

    Within `error` of the distance if the features are the closest.
    """
    i, j = any_vertex(a.shape, at_a), any_vertex(b.shape, at_b)
    gap = -math.inf
    if distance > 0.0:
        gap = gap_along(a, b, i, j, divided(minus(closest.q, closest.p), distance))
    if gap < distance - error:
        normal = normal_of_features(a, b, at_a, at_b)
        size = length(normal)
        if size > 0.0:
            gap = max(gap, gap_along(a, b, i, j, divided(normal, size)))
    return gap
