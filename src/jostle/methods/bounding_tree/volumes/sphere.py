"""The smallest enclosing sphere of points (§3), and a sphere that grows (§3.2).

The smallest sphere is fixed by two to four points on it, its *support*. As in Gärtner, "Fast and robust smallest enclosing balls"
(1999), the point farthest from the centre joins the support, whose smallest sphere is found among the circumscribed ones of
its subsets; the radius grows with each exchange, until no point lies outside. Each exchange is one pass over the points.

Guarantee: where rounding leaves no subset whose sphere holds the support (points that coincide or nearly lie on a line), the best
centre so far is kept, with the radius to its farthest point: always a bounding sphere, and the smallest up to rounding.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from jostle.geometry.vector import Vec3, cross, divided, dot, length, minus, plus, times
from jostle.kernels.jit import kernel
from jostle.kernels.structs import Rows
from jostle.methods.bounding_tree.face_sets import Support, point_of
from jostle.methods.bounding_tree.tree import Point

MOST_MEMBERS = 4
MOST_EXCHANGES = 200  # a bound, in case rounding lets the radius creep
INSIDE = 1.0 + 1e-12  # of a squared radius: a point on the sphere counts as inside, whatever its rounding


class Ball(NamedTuple):
    """A sphere by its centre and radius."""

    centre: Vec3
    radius: float


class SquaredBall(NamedTuple):
    """A sphere by its centre and squared radius."""

    centre: Vec3
    squared: float


@kernel
def farthest_point(points: Rows[Point], n: int, centre: Vec3) -> tuple[int, float]:
    """Return the farthest of n points from a centre, and its squared distance."""
    far, best = -1.0, 0
    for i in range(n):
        offset = minus(point_of(points, i), centre)
        squared = dot(offset, offset)
        if squared > far:
            far, best = squared, i
    return best, far


@kernel
def circumscribed(points: Rows[Point], members: Any, size: int) -> SquaredBall:
    """Return the smallest sphere through the first 1 … 4 members, numbers of points.

    Its radius is inf where there is none.
    """
    p = point_of(points, members[0])
    if size == 1:
        return SquaredBall(p, 0.0)
    a = minus(point_of(points, members[1]), p)
    aa = dot(a, a)
    if size == 2:
        return SquaredBall(plus(p, times(0.5, a)), 0.25 * aa)
    b = minus(point_of(points, members[2]), p)
    bb = dot(b, b)
    n = cross(a, b)
    if size == 3:
        below = 2.0 * dot(n, n)
        above = plus(times(aa, cross(b, n)), times(bb, cross(n, a)))
    else:
        c = minus(point_of(points, members[3]), p)
        below = 2.0 * dot(n, c)
        above = plus(plus(times(aa, cross(b, c)), times(bb, cross(c, a))), times(dot(c, c), n))
    if below == 0.0:
        return SquaredBall(p, math.inf)
    offset = divided(above, below)
    squared = dot(offset, offset)
    if not squared < math.inf:
        return SquaredBall(p, math.inf)
    return SquaredBall(plus(p, offset), squared)


@kernel
def _exchange(points: Rows[Point], support: Support, size: int, entering: int) -> int:
    """Make the members the support of themselves and one point more.

    Returns their number, 0 if none is found.
    """
    best_size, best = 0, math.inf
    for k in range(size):
        support.old[k] = support.members[k]
    for chosen in range(1 << size):
        members = _set_on_trial(support, size, entering, chosen)
        if members > MOST_MEMBERS:
            continue
        ball = circumscribed(points, support.trial, members)
        if ball.squared < best and _holds_others(points, support, size, chosen, ball):
            best, best_size = ball.squared, members
            for k in range(members):
                support.members[k] = support.trial[k]
    return best_size


@kernel
def _set_on_trial(support: Support, size: int, entering: int, chosen: int) -> int:
    """Put the entering point and the chosen old members on trial; return their number."""
    members = 1
    support.trial[0] = entering
    for k in range(size):
        if chosen >> k & 1:
            if members < MOST_MEMBERS:
                support.trial[members] = support.old[k]
            members += 1
    return members


@kernel
def _holds_others(points: Rows[Point], support: Support, size: int, chosen: int, ball: SquaredBall) -> bool:
    """Return whether a sphere holds the old members that are not chosen."""
    for k in range(size):
        offset = minus(point_of(points, support.old[k]), ball.centre)
        if not chosen >> k & 1 and dot(offset, offset) > ball.squared * INSIDE:
            return False
    return True


@kernel
def smallest_sphere(points: Rows[Point], n: int, support: Support) -> Vec3:
    """Return the centre of the smallest sphere of n >= 1 points; support: scratch."""
    first, _ = farthest_point(points, n, point_of(points, 0))
    second, _ = farthest_point(points, n, point_of(points, first))
    support.members[0], support.members[1] = first, second
    size, best_centre, best = 2, point_of(points, 0), math.inf
    radius = -1.0
    for _ in range(MOST_EXCHANGES):
        ball = circumscribed(points, support.members, size)
        outside, far = farthest_point(points, n, ball.centre)
        if far < best:
            best_centre, best = ball.centre, far
        if far <= ball.squared or ball.squared <= radius:  # none outside, or no progress but rounding
            break
        radius = ball.squared
        size = _exchange(points, support, size, outside)
        if size == 0:
            break
    return best_centre


@kernel(forceinline=True)
def grown_sphere(ball: Ball, p: Vec3) -> Ball:
    """Return the smallest sphere that holds a sphere and a point."""
    d = minus(p, ball.centre)
    away = length(d)
    if away <= ball.radius:
        return ball
    shift = 0.5 * (away - ball.radius) / away
    return Ball(plus(ball.centre, times(shift, d)), 0.5 * (away + ball.radius))
