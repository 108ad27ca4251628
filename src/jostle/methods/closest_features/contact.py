"""Touching or crossing: does a plane prove that the overlap is within resolution?

Only a few planes can separate bodies at their closest features: those of the faces there, and those along an edge of each body, at
the vertex, edge or face that holds the contact. If none of these does, the bodies cross.
"""

from __future__ import annotations

import math

from jostle.geometry.contact_kind import CROSSING, TOUCHING
from jostle.geometry.rigid import turned_vector
from jostle.geometry.segment_segment import closest_points_of_segments
from jostle.geometry.triangle import Segment
from jostle.geometry.vector import Vec3, cross, divided, length, minus
from jostle.kernels.jit import kernel
from jostle.kernels.numbers import as_int64
from jostle.methods.closest_features.certificate import Body, any_vertex, gap_along, world_ends
from jostle.methods.closest_features.polyhedron import EDGE, FACE, VERTEX, Polytope
from jostle.methods.closest_features.regions import NONE, Feature, head_of, normal_of, tail_of

MOST_EDGES = 16  # at a vertex with more, such as the pole of a globe, not all are tried


@kernel(forceinline=True)
def face_of_feature(shape: Polytope, feature: Feature, k: int) -> int:
    """Return the k-th face at a feature, or NONE."""
    if feature.kind == FACE:
        return feature.number if k == 0 else NONE
    if feature.kind == EDGE:
        return as_int64(shape.edges[feature.number].faces[k]) if k < 2 else NONE
    place = shape.vertex_first[feature.number] + k
    if place >= shape.vertex_first[feature.number + 1]:
        return NONE
    # The left face of an edge that leaves the vertex, the right one of an edge that comes: each face once.
    code = as_int64(shape.codes[place])
    return as_int64(shape.edges[code >> 1].faces[code & 1])


@kernel(forceinline=True)
def edge_of_feature(shape: Polytope, feature: Feature, k: int) -> int:
    """Return the k-th edge at a feature, or NONE; a face has none."""
    if feature.kind == EDGE:
        return feature.number if k == 0 else NONE
    if feature.kind == FACE or k >= MOST_EDGES:
        return NONE
    place = shape.vertex_first[feature.number] + k
    return as_int64(shape.codes[place]) >> 1 if place < shape.vertex_first[feature.number + 1] else NONE


@kernel
def lowest_feature(body: Body, feature: Feature, point: Vec3, near: float) -> Feature:
    """Return the lowest-dimensional feature that holds a world point, within `near`."""
    shape = body.shape
    if feature.kind == FACE:
        for k in range(shape.face_first[feature.number], shape.face_first[feature.number + 1]):
            edge = Feature(EDGE, as_int64(shape.codes[k]) >> 1)
            if closest_points_of_segments(Segment(point, point), world_ends(body, edge)).squared <= near * near:
                feature = edge
                break
    if feature.kind == EDGE:
        ends = world_ends(body, feature)
        if length(minus(ends.p, point)) <= near:
            return Feature(VERTEX, tail_of(shape, feature.number))
        if length(minus(ends.q, point)) <= near:
            return Feature(VERTEX, head_of(shape, feature.number))
    return feature


@kernel
def contact_kind(a: Body, b: Body, at_a: Feature, at_b: Feature, touch: float) -> int:
    """Return whether bodies in contact at two features touch or cross."""
    gap = gap_along_faces(a, b, at_a, at_b, -2.0 * touch)
    if gap < -2.0 * touch:
        gap = gap_along_edges(a, b, at_a, at_b, -2.0 * touch)
    return TOUCHING if gap >= -2.0 * touch else CROSSING


@kernel
def gap_along_faces(a: Body, b: Body, at_a: Feature, at_b: Feature, enough: float) -> float:
    """Return the largest gap along the normals of the faces at two features.

    Stops at the first gap of at least `enough`.
    """
    i, j = any_vertex(a.shape, at_a), any_vertex(b.shape, at_b)
    best = -math.inf
    for turn in range(2):
        body, feature, sign = (a, at_a, 1.0) if turn == 0 else (b, at_b, -1.0)
        k = 0
        while best < enough:
            face = face_of_feature(body.shape, feature, k)
            if face == NONE:
                break
            normal = turned_vector(body.pose, normal_of(body.shape, face))
            size = sign * length(normal)
            if size != 0.0:
                best = max(best, gap_along(a, b, i, j, divided(normal, size)))
            k += 1
    return best


@kernel
def gap_along_edges(a: Body, b: Body, at_a: Feature, at_b: Feature, enough: float) -> float:
    """Return the largest gap across an edge of each of two features.

    Stops at the first gap of at least `enough`.
    """
    i, j = any_vertex(a.shape, at_a), any_vertex(b.shape, at_b)
    best, m = -math.inf, 0
    while best < enough:
        d = edge_of_feature(a.shape, at_a, m)
        if d == NONE:
            break
        m += 1
        edge_a = world_ends(a, Feature(EDGE, d))
        k = 0
        while best < enough:
            # Every other time the same pair of edges, and the opposite direction.
            e = edge_of_feature(b.shape, at_b, k >> 1)
            if e == NONE:
                break
            edge_b = world_ends(b, Feature(EDGE, e))
            across = cross(minus(edge_a.q, edge_a.p), minus(edge_b.q, edge_b.p))
            size = length(across) * (1.0 - 2.0 * (k & 1))
            if size != 0.0:
                best = max(best, gap_along(a, b, i, j, divided(across, size)))
            k += 1
    return best
