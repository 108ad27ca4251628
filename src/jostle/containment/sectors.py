"""Sectors of two bodies around a line.

Around an inner point of an edge a closed body is a fan of half planes with sectors between them; around a point of a face it is one
plane. Each half plane is given by a corner beside the line, and by whether the body lies on its counter-clockwise side, seen
against the direction of the line. All angles are compared by exact predicates.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from jostle.geometry.predicates import orient2d, orient3d
from jostle.geometry.vector import Vec2, point_at
from jostle.kernels.jit import kernel

Floats = NDArray[np.float64]

APART, MEETING, UNDECIDED = 0, 1, 2


@kernel
def turn(points: Floats, h: int, k: int) -> int:
    """Return how far the half plane of corner k is turned from that of h, counter-clockwise about the line of points 0 and 1.

    0 not at all, 1 by less than half a turn, 2 by half a turn, 3 by more; -1 where a corner is on the line.
    """
    side = orient3d(point_at(points, 0), point_at(points, 1), point_at(points, h), point_at(points, k))
    if side != 0:
        return 1 if side > 0 else 3
    for u in range(3):
        one, other = side_of_line(points, h, u), side_of_line(points, k, u)
        if one != 0 and other != 0:
            return 0 if one == other else 2
    return -1


@kernel
def side_of_line(points: Floats, k: int, u: int) -> int:
    """Return on which side of the line of points 0 and 1 the point k lies, seen along the axis before u."""
    v = (u + 1) % 3
    return orient2d(Vec2(points[0, u], points[0, v]), Vec2(points[1, u], points[1, v]), Vec2(points[k, u], points[k, v]))


@kernel
def sectors_meet(points: Floats, left: NDArray[np.bool_], turned: NDArray[np.int8]) -> int:
    """Return whether a sector of one body meets one of the other: APART, MEETING, or UNDECIDED where half planes are not distinct.

    points (6,3): two of the line, then a corner of each of the two half planes of the one body, then of the other.
    left (6,): whether the body is on the counter-clockwise side of the half plane. turned (6,6) is scratch.
    """
    for h in range(2, 5):
        for k in range(h + 1, 6):
            found = turn(points, h, k)
            if found < 0 or (found == 0 and (h == 2 or h == 4) and k == h + 1):
                return UNDECIDED
            turned[h, k], turned[k, h] = found, (4 - found) % 4
    for h in range(2, 6):
        # The nearest half plane of the other body on the way back from the inner side of h; itself where both coincide.
        i = 4 if h < 4 else 2
        first, second = (turned[i, h], turned[i + 1, h]) if left[h] else (turned[h, i], turned[h, i + 1])
        nearest = i if first < second else i + 1
        if first == second:  # both by less than half a turn, or both by more
            nearest = i if (turned[i, i + 1] == 1) != left[h] else i + 1
        if left[nearest] == left[h]:
            return MEETING
    return APART
