"""Bounding objects swept over an interval of time, and whether two of them meet (§4.1).

Over an interval [s, e] a point of a node stays within a distance `blur` of: the centre on the chord from c(s) to c(e), plus an
offset in the volume as it is oriented at the middle (`motions.py` has the proof and the distance; for deforming bodies the larger
half extents of both ends, and no blur). Two tests are made of that:

- enclosing: the paper's. Each node becomes a sphere, or a box in its orientation at the middle, that encloses start and end and,
  deviating from the paper, all that is in between; the two are compared as at one instant.
- relative: on each separating axis the distance of the two centres changes linearly; where it is larger than the radii together
  the nodes are apart at that part of the interval. They may meet only in what all axes leave: a window of time, which starts no
  later than the first contact. Bodies that fly together, or one that is fast and small, cost no more than bodies at rest.

Guarantee: no contact is outside of the window. Windows are rounded outward.
"""

from __future__ import annotations

import math

from jostle.geometry.vector import Vec3, absolute, cross, dot, length, minus, plus, point_from, times, write_point_from
from jostle.kernels.jit import kernel
from jostle.methods.bounding_tree.axes import (
    Axes,
    absolute_axes,
    along,
    combined,
    edge_distances,
    edge_radii,
    image_of,
    linear_part,
)
from jostle.methods.bounding_tree.swept_body import EMPTY, WHOLE, Interval, Place, SweptBody, Window
from jostle.methods.bounding_tree.tree import axes_of, centre_of, half_extents_of

OUTWARD = 1.0 - 2.0**-40


@kernel(forceinline=True)
def clipped(window: Window, f0: float, f1: float, radius: float) -> Window:
    """Shorten a window of λ to where |f0 + λ (f1 - f0)| <= radius."""
    low, high = window
    if f0 > radius:
        if f1 > radius:
            return EMPTY
        low = max(low, (f0 - radius) / (f0 - f1) * OUTWARD)
    elif f0 < -radius:
        if f1 < -radius:
            return EMPTY
        low = max(low, (f0 + radius) / (f0 - f1) * OUTWARD)
    if f1 > radius:
        high = min(high, 1.0 - (f1 - radius) / (f1 - f0) * OUTWARD)
    elif f1 < -radius:
        high = min(high, 1.0 - (f1 + radius) / (f1 - f0) * OUTWARD)
    return Window(low, high)


@kernel(forceinline=True)
def set_up_node(body: SweptBody, node: int, interval: Interval) -> None:
    """Write where the centre of a node is at the start of an interval, its way, radius and blur."""
    shape, place = body.shape, body.scratch.place
    volume, motion = shape.volumes_t0[node], shape.motion
    start, radius = centre_of(volume), volume.radius
    end = start
    if motion.deforms != 0.0:
        later = shape.volumes_t1[node]
        change, more = minus(centre_of(later), start), later.radius - radius
        end = plus(start, times(interval.end, change))
        start = plus(start, times(interval.start, change))
        radius = max(radius + interval.start * more, radius + interval.end * more)
    centre = image_of(body.scratch.instants[interval.first].place, start)
    way = minus(image_of(body.scratch.instants[interval.last].place, end), centre)
    pad = body.scratch.pads[interval.halvings]
    blur = pad.per_radius * radius
    if pad.per_way > 0.0:
        blur += pad.per_way * length(cross(point_from(motion.axis, 0), way))
    place.node, place.has_axes = node, 0
    write_point_from(place.centre, 0, centre)
    write_point_from(place.way, 0, way)
    place.radius, place.blur = radius, blur


@kernel(forceinline=True)
def set_up_axes(body: SweptBody, interval: Interval) -> None:
    """Write the axes of the node that is set up as they are at the middle of the interval, and its half extents."""
    shape, place = body.shape, body.scratch.place
    volume = shape.volumes_t0[place.node]
    turned, axes, half = linear_part(body.scratch.instants[interval.middle].place), axes_of(volume), half_extents_of(volume)
    write_point_from(place.u, 0, along(turned, axes.u))
    write_point_from(place.v, 0, along(turned, axes.v))
    write_point_from(place.w, 0, along(turned, axes.w))
    if shape.motion.deforms != 0.0:
        more = minus(half_extents_of(shape.volumes_t1[place.node]), half)
        first, last = plus(half, times(interval.start, more)), plus(half, times(interval.end, more))
        half = Vec3(max(first.x, last.x), max(first.y, last.y), max(first.z, last.z))
    write_point_from(place.half, 0, half)
    place.has_axes = 1


@kernel(forceinline=True)
def window_of_spheres(inner: float, way: float, far: float, squared: float) -> Window:
    """Return the window of λ in which |s + λ d|² <= `squared`, for inner = s · d, way = |d|² and far = |s|²."""
    if way == 0.0:
        return WHOLE if far <= squared else EMPTY
    under = inner * inner - way * (far - squared)
    # More than the rounding of `under`, and by that the window is wider than the rounding of what follows.
    under += 2.0**-48 * (inner * inner + way * (far + squared))
    if under < 0.0:
        return EMPTY
    root = math.sqrt(under)
    return Window((-inner - root) / way - 2.0**-40, (-inner + root) / way + 2.0**-40)


@kernel(forceinline=True)
def window_of_centres(relative: bool, exact: bool, a: Place, b: Place, padding: float) -> Window:
    """Return when spheres about two nodes meet.

    Unless `exact`, it is all of [0, 1] where they may meet, and costs no root: for boxes, which shorten it better.
    """
    way_a, way_b = point_from(a.way, 0), point_from(b.way, 0)
    s, d = minus(point_from(b.centre, 0), point_from(a.centre, 0)), minus(way_b, way_a)
    radius = (a.radius + b.radius) * (1.0 + 1e-4) + (a.blur + b.blur) + padding
    if not relative:
        # Each sphere encloses its own way: half of that is added to its radius, and it is compared in the middle.
        s, d = plus(s, times(0.5, d)), Vec3(0.0, 0.0, 0.0)
        radius += 0.5 * (length(way_a) + length(way_b)) * (1.0 + 1e-12)
    far, squared = dot(s, s), radius * radius
    if far <= squared and not exact:
        return WHOLE
    inner, way = dot(s, d), dot(d, d)
    at_end = (far + 2.0 * inner) + way
    # Outside at the start: free where the centres part, or are not near enough at the end and were never nearer.
    if far > squared and (inner >= 0.0 or (inner + way < 0.0 and at_end > squared * (1.0 + 2.0**-40) + 2.0**-44 * far)):
        return EMPTY
    window = window_of_spheres(inner, way, far, squared)
    if window.low > window.high or not exact:
        return EMPTY if window.low > window.high else WHOLE
    return Window(max(window.low, 0.0), min(window.high, 1.0))


@kernel(forceinline=True)
def strayed(relative: bool, a: Place, b: Place) -> float:
    """Return what motion adds to the extents of two nodes: blur and, where they enclose their ways, half of these."""
    if relative:
        return a.blur + b.blur
    return (a.blur + b.blur) + 0.5 * (length(point_from(a.way, 0)) + length(point_from(b.way, 0)))


@kernel(forceinline=True)
def axes_of_place(place: Place) -> Axes:
    """Return the axes of a node."""
    return Axes(point_from(place.u, 0), point_from(place.v, 0), point_from(place.w, 0))


@kernel(forceinline=True)
def window_of_places(relative: bool, window: Window, a: Place, b: Place, lack: float, padding: float) -> Window:
    """Shorten a window by the boxes of two nodes, axes included. Enclosing, it is all or nothing.

    lack: how far the axes of both may be from orthonormal.
    """
    way_a, way_b, axes_a, axes_b = point_from(a.way, 0), point_from(b.way, 0), axes_of_place(a), axes_of_place(b)
    half_a, half_b = point_from(a.half, 0), point_from(b.half, 0)
    start = minus(point_from(b.centre, 0), point_from(a.centre, 0))
    end = plus(start, minus(way_b, way_a))
    if not relative:
        start = times(0.5, plus(start, end))
        end = start
        half_a = plus(half_a, times(0.5, absolute(along(axes_a, way_a))))
        half_b = plus(half_b, times(0.5, absolute(along(axes_b, way_b))))
    # Distances of centres in the axes of a, at both ends, and the axes of b there.
    s, e = along(axes_a, start), along(axes_a, end)
    r = Axes(along(axes_b, axes_a.u), along(axes_b, axes_a.v), along(axes_b, axes_a.w))
    far = max(abs(s.x), abs(s.y), abs(s.z), abs(e.x), abs(e.y), abs(e.z))
    extents = far + (half_a.x + half_a.y + half_a.z) + (half_b.x + half_b.y + half_b.z)
    return window_of_boxes(window, s, e, r, half_a, half_b, (a.blur + b.blur) + padding + lack * extents)


@kernel(forceinline=True)
def window_of_boxes(window: Window, s: Vec3, e: Vec3, r: Axes, a: Vec3, b: Vec3, grown: float) -> Window:
    """Shorten a window of λ by 15 axes: half extents a about the origin; half extents b, along the columns of r, from s to e."""
    m = absolute_axes(r)
    window = clipped_by_three(window, s, e, plus(a, along(m, b)), grown)
    if window.low > window.high:
        return window
    window = clipped_by_three(window, combined(s, r), combined(e, r), plus(b, combined(a, m)), grown)
    if window.low > window.high:
        return window
    starts, ends, radii = edge_distances(s, r), edge_distances(e, r), edge_radii(a, b, m)
    window = clipped_by_three(window, starts.u, ends.u, radii.u, grown)
    window = clipped_by_three(window, starts.v, ends.v, radii.v, grown)
    return clipped_by_three(window, starts.w, ends.w, radii.w, grown)


@kernel(forceinline=True)
def clipped_by_three(window: Window, f0: Vec3, f1: Vec3, radii: Vec3, grown: float) -> Window:
    """Shorten a window by three axes, along which the distance goes from f0 to f1; the radii are grown."""
    window = clipped(window, f0.x, f1.x, radii.x + grown)
    window = clipped(window, f0.y, f1.y, radii.y + grown)
    return clipped(window, f0.z, f1.z, radii.z + grown)
