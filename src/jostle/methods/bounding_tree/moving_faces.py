"""The faces of two leaves over an interval of time: which may meet, and when.

Corners are exact at the start and end of the interval; in between a corner leaves its chord by at most the sagitta of its arc, by
which the face is padded. On a fixed axis, the least and greatest coordinates of a face are then bounded by linear functions of
time. The window of two faces is the part of the interval that remains after the three coordinate axes, the normals of both, and
the axes across the edges of both, as for boxes in `swept.py`.
"""

from __future__ import annotations

import math
from typing import Any

from jostle.continuous.moving_point import Arc, place_with_factors
from jostle.geometry.triangle import triangle_bounds, triangle_from
from jostle.geometry.vector import Vec3, cross, dot, length, minus, plus, point_from, write_point_from
from jostle.kernels.jit import kernel
from jostle.kernels.numbers import as_int64
from jostle.methods.bounding_tree.motions import Instant
from jostle.methods.bounding_tree.swept import OUTWARD
from jostle.methods.bounding_tree.swept_body import EMPTY, Interval, MovingFace, SweptBody, Window


@kernel(forceinline=True)
def set_up_leaf(body: SweptBody, node: int, number: int, interval: Interval) -> None:
    """Set up the faces of a leaf over an interval, unless they are those at work.

    number: of the interval.
    """
    leaf = body.scratch.leaf
    if leaf.node != node or leaf.interval != number:
        leaf.node, leaf.interval, leaf.has_axes = node, number, 0
        fill_moving_leaf(body, node, interval)


@kernel
def fill_moving_leaf(body: SweptBody, node: int, interval: Interval) -> None:
    """Set up the faces of a leaf over an interval."""
    shape, scratch = body.shape, body.scratch
    axis, sagitta = point_from(shape.motion.axis, 0), scratch.pads[interval.halvings].per_shift
    first, last = scratch.instants[interval.first], scratch.instants[interval.last]
    begin = as_int64(shape.first_face[node])
    for i in range(shape.face_count[node]):
        face, corners = scratch.faces[i], shape.faces[shape.order[begin + i]]
        farthest = 0.0
        for k in range(3):
            v = corners.vertex[k]
            p, q = point_from(shape.vertices_t0[v].at, 0), point_from(shape.vertices_t1[v].at, 0)
            start = corner_at(p, q, axis, interval.start, first) if interval.start > 0.0 else p
            end = corner_at(p, q, axis, interval.end, last) if interval.end < 1.0 else q
            write_point_from(face.start, 3 * k, start)
            write_point_from(face.end, 3 * k, end)
            if sagitta > 0.0:
                across = cross(axis, minus(end, start))
                farthest = max(farthest, dot(across, across))
        write_bounds(face.start, face.lower_t0, face.upper_t0)
        write_bounds(face.end, face.lower_t1, face.upper_t1)
        face.blur = sagitta * math.sqrt(farthest)


@kernel(forceinline=True)
def corner_at(p: Vec3, q: Vec3, axis: Vec3, t: float, instant: Instant) -> Vec3:
    """Return the position at time t of a corner that goes from p to q."""
    return place_with_factors(p, q, axis, t, Arc(instant.along, instant.aside))


@kernel(forceinline=True)
def write_bounds(corners: Any, lower: Any, upper: Any) -> None:
    """Write the box of three corners, given as nine numbers."""
    box = triangle_bounds(triangle_from(corners, 0))
    write_point_from(lower, 0, box.lower)
    write_point_from(upper, 0, box.upper)


@kernel(forceinline=True)
def until_no_gap(window: Window, g0: float, g1: float, slack: float) -> Window:
    """Clip a window of λ to where a gap of g0 + λ (g1 - g0) is within the slack."""
    low, high = window
    if g0 > slack:
        if g1 > slack:
            return EMPTY
        return Window(max(low, (g0 - slack) / (g0 - g1) * OUTWARD), high)
    if g1 > slack:
        return Window(low, min(high, 1.0 - (g1 - slack) / (g1 - g0) * OUTWARD))
    return window


@kernel(forceinline=True)
def extent(corners: Any, n: Vec3, origin: Vec3) -> tuple[float, float]:
    """Return the least and greatest n · (corner - origin) of three corners."""
    p = dot(n, minus(point_from(corners, 0), origin))
    q = dot(n, minus(point_from(corners, 3), origin))
    r = dot(n, minus(point_from(corners, 6), origin))
    return min(p, q, r), max(p, q, r)


@kernel(forceinline=True)
def edge_at_middle(face: MovingFace, k: int) -> Vec3:
    """Return twice the edge from corner k to the next, half-way between start and end."""
    p, q = 3 * k, 3 * ((k + 1) % 3)
    return plus(
        minus(point_from(face.start, q), point_from(face.start, p)), minus(point_from(face.end, q), point_from(face.end, p))
    )


@kernel(forceinline=True)
def normal_at_middle(face: MovingFace) -> Vec3:
    """Return the normal, not normalised, half-way between start and end."""
    return cross(edge_at_middle(face, 0), edge_at_middle(face, 1))


@kernel
def window_of_faces(a: MovingFace, b: MovingFace, padding: float) -> Window:
    """Return when two faces may meet."""
    slack = padding + (a.blur + b.blur)
    window = Window(0.0, 1.0)
    for c in range(3):
        window = until_no_gap(window, b.lower_t0[c] - a.upper_t0[c], b.lower_t1[c] - a.upper_t1[c], slack)
        window = until_no_gap(window, a.lower_t0[c] - b.upper_t0[c], a.lower_t1[c] - b.upper_t1[c], slack)
    if window.low > window.high:
        return window
    normal_a, normal_b = normal_at_middle(a), normal_at_middle(b)
    for axis in range(8):
        # The two normals; then, in the plane of each face, across its edges.
        if axis < 2:
            n = normal_a if axis == 0 else normal_b
        elif axis < 5:
            n = cross(normal_a, edge_at_middle(a, axis - 2))
        else:
            n = cross(normal_b, edge_at_middle(b, axis - 5))
        window = window_on_axis(window, a, b, n, slack * length(n))
        if window.low > window.high:
            return window
    return window


@kernel(forceinline=True)
def window_on_axis(window: Window, a: MovingFace, b: MovingFace, n: Vec3, slack: float) -> Window:
    """Clip a window to where two faces along n are no farther apart than the slack."""
    origin = point_from(a.start, 0)
    least_a, most_a = extent(a.start, n, origin)
    least_b, most_b = extent(b.start, n, origin)
    lower_a, upper_a = extent(a.end, n, origin)
    lower_b, upper_b = extent(b.end, n, origin)
    window = until_no_gap(window, least_b - most_a, lower_b - upper_a, slack)
    return until_no_gap(window, least_a - most_b, lower_a - upper_b, slack)
