"""How a vertex moves within a step: on a straight line or on the arc of a screw.

A motion has two ends and a turn (kx, ky, kz, angle): the unit direction of the axis and the angle in [0, π), 0 for straight lines.
The ends are the world vertices of every exact method, so a motion begins and ends on them to the bit, even if the poses are not
quite orthonormal; in between, the motion across the axis is an arc of that angle, the motion along it is uniform. All vertices of a
rigid body with its turn move along one screw.

With D = w1 - w0, m its part across the axis, s = t - 1/2 and h = angle/2 the place at t is
w0 + t D + m (sin(2hs)/(2 sin h) - s) - (k × m)(cos(2hs) - cos h)/(2 sin h).
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from jostle._types import Floats
from jostle.geometry.vector import Vec3, cross, dot, minus, plus, point_at, point_from, times, write_point
from jostle.kernels.jit import kernel


class Turn(NamedTuple):
    """The unit direction of an axis, and the angle of the turn about it."""

    axis: Vec3
    angle: float


class Arc(NamedTuple):
    """The offset of an arc from its chord at a time, as factors of m and -(k × m)."""

    along: float
    aside: float


@kernel(forceinline=True)
def turn_from(numbers: Any) -> Turn:
    """Return the turn in four numbers of a flat array."""
    return Turn(point_from(numbers, 0), numbers[3])


@kernel(forceinline=True)
def turn_at(turns: Any, i: int) -> Turn:
    """Return row i of an array (n,4)."""
    return Turn(point_at(turns, i), turns[i, 3])


@kernel
def arc_factors(angle: float, t: float) -> Arc:
    """Return what an arc of this angle adds to its chord at time t; 0 at the ends."""
    if angle == 0.0 or t == 0.0 or t == 1.0:
        return Arc(0.0, 0.0)
    half, s = 0.5 * angle, t - 0.5
    twice_sine = 2.0 * math.sin(half)
    # cos(2hs) - cos h as a product: the difference would cancel for a small angle.
    aside = 2.0 * math.sin(half * t) * math.sin(half * (1.0 - t)) / twice_sine
    return Arc(math.sin(angle * s) / twice_sine - s, aside)


@kernel(forceinline=True)
def across_axis(axis: Vec3, chord: Vec3) -> Vec3:
    """Return m, the part of a displacement across an axis."""
    return minus(chord, times(dot(axis, chord), axis))


@kernel
def place_with_factors(start: Vec3, end: Vec3, axis: Vec3, t: float, arc: Arc) -> Vec3:
    """Return where a point from start to end is at time t, given its arc factors."""
    if t == 1.0:
        return end
    chord = minus(end, start)
    on_chord = plus(start, times(t, chord))
    if arc.along == 0.0 and arc.aside == 0.0:
        return on_chord
    across = across_axis(axis, chord)
    return plus(on_chord, minus(times(arc.along, across), times(arc.aside, cross(axis, across))))


@kernel
def place(start: Vec3, end: Vec3, turn: Turn, t: float) -> Vec3:
    """Return the place at time t of a point that goes from start to end with a turn."""
    return place_with_factors(start, end, turn.axis, t, arc_factors(turn.angle, t))


@kernel
def place_all_into(points_t0: Floats, points_t1: Floats, turn: Floats, t: float, out: Floats) -> None:
    """Write the places at time t of points (n,3) with the turn (4,) into out (n,3)."""
    axis, angle = turn_from(turn)
    arc = arc_factors(angle, t)
    for i in range(points_t0.shape[0]):
        write_point(out, i, place_with_factors(point_at(points_t0, i), point_at(points_t1, i), axis, t, arc))
