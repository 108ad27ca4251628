"""Bounding objects swept over an interval of time, and whether two meet (§4.1).

Over an interval [s, e] a point of a node stays within a distance `blur` of: the centre on the chord from c(s) to c(e), plus an
offset in the volume as oriented at the middle (`motions.py` has the proof and the distance; for deforming bodies the larger half
extents of both ends, and no blur). Two tests follow:

- enclosing: the paper's. Each node becomes a sphere, or a box in its orientation at the middle, that encloses start and end and,
  deviating from the paper, everything in between; the two are compared as at one instant.
- relative: on each separating axis the distance of the two centres changes linearly; where it exceeds the sum of the radii, the
  nodes are apart. They may meet only in the rest, after all axes: a window of time that starts no later than the first contact.
  Bodies that fly together, or one that is fast and small, cost no more than bodies at rest.

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
    axes_along,
    axes_of,
    combined,
    edge_distances,
    edge_radii,
    image_of,
    write_axes,
)
from jostle.methods.bounding_tree.swept_body import EMPTY, WHOLE, Interval, SweptBody, SweptNode, Window
from jostle.methods.bounding_tree.tree import centre_of, half_extents_of

OUTWARD = 1.0 - 2.0**-40


@kernel(forceinline=True)
def clipped(window: Window, f0: float, f1: float, radius: float) -> Window:
    """Clip a window of λ to where |f0 + λ (f1 - f0)| <= radius."""
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
    """Write a node's centre at the start of an interval, its shift, radius and blur."""
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
    shift = minus(image_of(body.scratch.instants[interval.last].place, end), centre)
    pad = body.scratch.pads[interval.halvings]
    blur = pad.per_radius * radius
    if pad.per_shift > 0.0:
        blur += pad.per_shift * length(cross(point_from(motion.axis, 0), shift))
    place.node, place.has_axes = node, 0
    write_point_from(place.centre, 0, centre)
    write_point_from(place.shift, 0, shift)
    place.radius, place.blur = radius, blur


@kernel(forceinline=True)
def set_up_axes(body: SweptBody, interval: Interval) -> None:
    """Write axes, at the middle of the interval, and half extents of the node at work."""
    shape, place = body.shape, body.scratch.place
    volume = shape.volumes_t0[place.node]
    turned, axes, half = axes_of(body.scratch.instants[interval.middle].place), axes_of(volume), half_extents_of(volume)
    write_axes(place, axes_along(turned, axes))
    if shape.motion.deforms != 0.0:
        more = minus(half_extents_of(shape.volumes_t1[place.node]), half)
        first, last = plus(half, times(interval.start, more)), plus(half, times(interval.end, more))
        half = Vec3(max(first.x, last.x), max(first.y, last.y), max(first.z, last.z))
    write_point_from(place.half, 0, half)
    place.has_axes = 1


@kernel(forceinline=True)
def window_of_spheres(inner: float, step: float, far: float, squared: float) -> Window:
    """Return the window of λ in which |s + λ d|² <= `squared`.

    inner = s · d, step = |d|², far = |s|².
    """
    if step == 0.0:
        return WHOLE if far <= squared else EMPTY
    under = inner * inner - step * (far - squared)
    # More than the rounding of `under` and of the rest.
    under += 2.0**-48 * (inner * inner + step * (far + squared))
    if under < 0.0:
        return EMPTY
    root = math.sqrt(under)
    return Window((-inner - root) / step - 2.0**-40, (-inner + root) / step + 2.0**-40)


@kernel(forceinline=True)
def window_of_centres(relative: bool, exact: bool, a: SweptNode, b: SweptNode, padding: float) -> Window:
    """Return when spheres about two nodes meet.

    Unless `exact`, it is all of [0, 1] where they may meet, and costs no root: enough for boxes, which clip it further.
    """
    shift_a, shift_b = point_from(a.shift, 0), point_from(b.shift, 0)
    s, d = minus(point_from(b.centre, 0), point_from(a.centre, 0)), minus(shift_b, shift_a)
    radius = (a.radius + b.radius) * (1.0 + 1e-4) + (a.blur + b.blur) + padding
    if not relative:
        # Each sphere encloses its own path: half of it is added to the radius, and the centres are compared in the middle.
        s, d = plus(s, times(0.5, d)), Vec3(0.0, 0.0, 0.0)
        radius += 0.5 * (length(shift_a) + length(shift_b)) * (1.0 + 1e-12)
    far, squared = dot(s, s), radius * radius
    if far <= squared and not exact:
        return WHOLE
    inner, step = dot(s, d), dot(d, d)
    at_end = (far + 2.0 * inner) + step
    # Apart at the start, and either separating, or still apart at the end without having been nearer.
    if far > squared and (inner >= 0.0 or (inner + step < 0.0 and at_end > squared * (1.0 + 2.0**-40) + 2.0**-44 * far)):
        return EMPTY
    window = window_of_spheres(inner, step, far, squared)
    if window.low > window.high or not exact:
        return EMPTY if window.low > window.high else WHOLE
    return Window(max(window.low, 0.0), min(window.high, 1.0))


@kernel(forceinline=True)
def time_of(interval: Interval, low: float) -> float:
    """Return the time at which a window of an interval begins, rounded down."""
    return interval.start + low * (interval.end - interval.start) * OUTWARD


@kernel(forceinline=True)
def added_extent(relative: bool, a: SweptNode, b: SweptNode) -> float:
    """Return what motion adds to two nodes: blur; if enclosing, also half the shifts."""
    if relative:
        return a.blur + b.blur
    return (a.blur + b.blur) + 0.5 * (length(point_from(a.shift, 0)) + length(point_from(b.shift, 0)))


@kernel(forceinline=True)
def window_of_places(relative: bool, window: Window, a: SweptNode, b: SweptNode, skew: float, padding: float) -> Window:
    """Clip a window by the boxes of two nodes; enclosing, it is all or nothing.

    skew: how far the axes of both may be from orthonormal.
    """
    shift_a, shift_b, axes_a, axes_b = point_from(a.shift, 0), point_from(b.shift, 0), axes_of(a), axes_of(b)
    half_a, half_b = point_from(a.half, 0), point_from(b.half, 0)
    start = minus(point_from(b.centre, 0), point_from(a.centre, 0))
    end = plus(start, minus(shift_b, shift_a))
    if not relative:
        start = times(0.5, plus(start, end))
        end = start
        half_a = plus(half_a, times(0.5, absolute(along(axes_a, shift_a))))
        half_b = plus(half_b, times(0.5, absolute(along(axes_b, shift_b))))
    # Distances of centres in the axes of a, at both ends, and the axes of b there.
    s, e = along(axes_a, start), along(axes_a, end)
    r = axes_along(axes_b, axes_a)
    far = max(abs(s.x), abs(s.y), abs(s.z), abs(e.x), abs(e.y), abs(e.z))
    extents = far + (half_a.x + half_a.y + half_a.z) + (half_b.x + half_b.y + half_b.z)
    return window_of_boxes(window, s, e, r, half_a, half_b, (a.blur + b.blur) + padding + skew * extents)


@kernel(forceinline=True)
def window_of_boxes(window: Window, s: Vec3, e: Vec3, r: Axes, a: Vec3, b: Vec3, grown: float) -> Window:
    """Clip a window of λ by 15 axes.

    One box has half extents a about the origin; the other has half extents b along the columns of r, and goes from s to e.
    """
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
    """Clip a window by three axes: distances from f0 to f1, radii grown."""
    window = clipped(window, f0.x, f1.x, radii.x + grown)
    window = clipped(window, f0.y, f1.y, radii.y + grown)
    return clipped(window, f0.z, f1.z, radii.z + grown)
