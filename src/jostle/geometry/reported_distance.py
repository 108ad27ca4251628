"""The distance of two triangles, as reported and compared with a clearance.

`closest_points_of_triangles` is right to 1.5e-14 of the size for triangles of every shape, but it works with unit vectors, and so
gives 3.9999999999999996 for two boxes on a grid that are 4 apart; a clearance of 4 would report them. CAD data lie on grids. The
textbook formulas below, in products of differences with one division at the end, round there only in that division and the root; on
needles they lose digits. So both are evaluated, and the textbook value is taken where it agrees with the other within the latter's
error.

Both round, to 0 for triangles that are very close. The triangles are disjoint, and 0.0 means contact, as decided by the exact test:
their distance is at least the smallest positive normal number.
"""

from __future__ import annotations

import math

from jostle.geometry.aabb import bounds_squared_distance
from jostle.geometry.triangle import Segment, Triangle, triangle_bounds, turned, union_of_bounds
from jostle.geometry.triangle_triangle_distance import closest_points_of_triangles
from jostle.geometry.vector import Vec3, cross, dot, minus
from jostle.kernels.jit import kernel
from jostle.kernels.late import late_call

AGREEMENT = 2.0**-45  # of the size: four times the error that closest_points_of_triangles states
SMALLEST_DISTANCE = 2.0**-1022


@kernel
def distance_if_nearer(a: Triangle, b: Triangle, clearance: float) -> float:
    """Return the distance of two disjoint triangles, inf if their boxes are too far.

    Boxes are compared with `clearance` first, everywhere: a distance just above the clearance may round to one below it, so two
    methods would disagree if only one of them tested boxes.
    """
    if bounds_squared_distance(triangle_bounds(a), triangle_bounds(b)) > clearance * clearance:
        return math.inf
    return agreed_distance(a, b, closest_points_of_triangles(a, b).distance)


distance_if_nearer_at = late_call(distance_if_nearer)


@kernel
def reported_distance(a: Triangle, b: Triangle) -> float:
    """Return the distance of two disjoint closed triangles; it is never 0.

    On grids it is exact but for two roundings.
    """
    return agreed_distance(a, b, closest_points_of_triangles(a, b).distance)


@kernel
def agreed_distance(a: Triangle, b: Triangle, robust: float) -> float:
    """Return `reported_distance`, given that of `closest_points_of_triangles`."""
    both = union_of_bounds(triangle_bounds(a), triangle_bounds(b))
    extent = minus(both.upper, both.lower)
    squared = math.inf
    for _ in range(3):
        squared = min(squared, corner_to_face(a.p, b))
        squared = min(squared, corner_to_face(b.p, a))
        for _ in range(3):
            squared = min(squared, edge_to_edge(Segment(a.p, a.q), Segment(b.p, b.q)))
            squared = min(squared, corner_to_edge(a.p, Segment(b.p, b.q)))
            squared = min(squared, corner_to_edge(b.p, Segment(a.p, a.q)))
            b = turned(b)
        # Both turn (the inner loop restored b), so corner_to_face sees every corner of both.
        a, b = turned(a), turned(b)
    textbook = math.sqrt(squared)
    if abs(textbook - robust) <= AGREEMENT * max(extent.x, extent.y, extent.z):
        return max(SMALLEST_DISTANCE, textbook)
    return max(SMALLEST_DISTANCE, robust)


@kernel
def corner_to_face(p: Vec3, t: Triangle) -> float:
    """Return the squared distance of p from the plane of t, inf if not over t."""
    u, v, w = minus(t.q, t.p), minus(t.r, t.p), minus(p, t.p)
    n = cross(u, v)
    squared = dot(n, n)
    beta, gamma = dot(n, cross(w, v)), dot(n, cross(u, w))
    if squared == 0.0 or beta < 0.0 or gamma < 0.0 or beta + gamma > squared:
        return math.inf
    height = dot(n, w)
    return height * (height / squared)


@kernel
def corner_to_edge(p: Vec3, edge: Segment) -> float:
    """Return the squared distance of p from a closed segment."""
    e, w = minus(edge.q, edge.p), minus(p, edge.p)
    along, squared = dot(w, e), dot(e, e)
    if along <= 0.0:
        return dot(w, w)
    if along >= squared:
        w = minus(p, edge.q)
        return dot(w, w)
    w = cross(w, e)
    return dot(w, w) / squared


@kernel
def edge_to_edge(a: Segment, b: Segment) -> float:
    """Return the squared distance of two lines, inf if closest outside the segments."""
    e, f, r = minus(a.q, a.p), minus(b.q, b.p), minus(b.p, a.p)
    n = cross(e, f)
    squared = dot(n, n)
    s, t = dot(n, cross(r, f)), dot(n, cross(r, e))
    if squared == 0.0 or s < 0.0 or s > squared or t < 0.0 or t > squared:
        return math.inf
    height = dot(n, r)
    return height * (height / squared)
