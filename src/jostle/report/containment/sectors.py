"""Sectors of two bodies around a line.

Around an inner point of an edge a closed body is a fan of half planes with sectors between them; around a point of a face it is one
plane. Each half plane is given by a corner beside the line, and by whether the body lies on its counter-clockwise side, seen
against the direction of the line. All angles are compared by exact predicates.
"""

from __future__ import annotations

from typing import NamedTuple

from jostle.geometry.predicates import orient2d, orient3d
from jostle.geometry.triangle import Segment
from jostle.geometry.vector import Vec3, seen_along
from jostle.kernels.jit import kernel

APART, MEETING, UNDECIDED = 0, 1, 2

# How far one half plane is turned from another, counter-clockwise.
SAME, LESS_THAN_HALF, HALF, MORE_THAN_HALF, ON_THE_LINE = 0, 1, 2, 3, -1
FULL_TURN = 4  # if one half plane is turned by t from another, the other is turned from it by FULL_TURN - t, or SAME


class HalfPlane(NamedTuple):
    """A half plane at a line: a corner, and whether the body is on its left.

    Left is counter-clockwise.
    """

    corner: Vec3
    left: bool


class Fan(NamedTuple):
    """A body's two half planes at an edge, if it has two with one inner side each."""

    known: bool
    first: HalfPlane
    second: HalfPlane


@kernel
def turn(line: Segment, h: Vec3, k: Vec3) -> int:
    """Return how far corner k's half plane is turned counter-clockwise from h's."""
    side = orient3d(line.p, line.q, h, k)
    if side != 0:
        return LESS_THAN_HALF if side > 0 else MORE_THAN_HALF
    for axis in range(3):
        start, end = seen_along(axis, line.p), seen_along(axis, line.q)
        one, other = orient2d(start, end, seen_along(axis, h)), orient2d(start, end, seen_along(axis, k))
        if one != 0 and other != 0:
            return SAME if one == other else HALF
    return ON_THE_LINE


@kernel
def sectors_meet(line: Segment, a: Fan, b: Fan) -> int:
    """Return whether sectors of two bodies meet: APART, MEETING or UNDECIDED.

    It is UNDECIDED if half planes coincide.
    """
    across_a, across_b = turn(line, a.first.corner, a.second.corner), turn(line, b.first.corner, b.second.corner)
    if across_a <= SAME or across_b <= SAME:
        return UNDECIDED
    first_to_first, first_to_second = turn(line, a.first.corner, b.first.corner), turn(line, a.first.corner, b.second.corner)
    second_to_first, second_to_second = turn(line, a.second.corner, b.first.corner), turn(line, a.second.corner, b.second.corner)
    if min(first_to_first, first_to_second, second_to_first, second_to_second) == ON_THE_LINE:
        return UNDECIDED
    if (
        has_body_behind(a.first, first_to_first, first_to_second, b, across_b)
        or has_body_behind(a.second, second_to_first, second_to_second, b, across_b)
        or has_body_behind(b.first, reverse(first_to_first), reverse(second_to_first), a, across_a)
        or has_body_behind(b.second, reverse(first_to_second), reverse(second_to_second), a, across_a)
    ):
        return MEETING
    return APART


@kernel(forceinline=True)
def reverse(turned: int) -> int:
    """Return the turn from k to h, given the turn from h to k."""
    return (FULL_TURN - turned) % FULL_TURN


@kernel
def has_body_behind(h: HalfPlane, to_first: int, to_second: int, other: Fan, across: int) -> bool:
    """Return whether the other body is on the inner side of a half plane, beside it.

    The turns are those from h to the other's half planes, and from its first to its second.
    """
    # The nearest half plane of the other body, going back from the inner side of h; h itself if both coincide.
    first, second = (reverse(to_first), reverse(to_second)) if h.left else (to_first, to_second)
    is_first = first < second
    if first == second:  # both by less than half a turn, or both by more
        is_first = (across == LESS_THAN_HALF) != h.left
    return (other.first.left if is_first else other.second.left) == h.left
