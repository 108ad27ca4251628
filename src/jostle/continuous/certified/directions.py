"""For how long a direction keeps two moving faces apart.

Along a unit direction n the gap of two faces is the least n·(b_j - a_i) over their corners, which is at most their distance. From a
time s on n may turn, at the rate r across it and with a change q of that rate: n(h) = n + h r + h² q/2. With z = b_j - a_i and
Taylor's formula

    n(h)·z(s + h) ≥ c0 + c1 h + c2 h² - K h³,   c0 = n·z,   c1 = n·z' + r·z,   c2 = (n·z'' + q·z)/2 + r·z',

where K = (angle_a A_a |n × k_a| + angle_b A_b |n × k_b|)/6 + |r|(A_a + A_b)/2 + |q|V/2 with the accelerations A and the largest
speed V of z: the third derivative of an arc has the length of its second times its angle, and lies across its axis k. The
faces are farther apart than `target` while this exceeds target · |n(h)| ≤ target · (1 + h²(r² + n·q)/2 + h³(|r||q|/2 + h q²/8)).
Up to a horizon H, K h³ ≤ K H h²: at most nine quadratics remain, and the direction serves until the first of their roots. While the
closest features stay the same, the gap along the direction between closest points equals the distance in value and slope at s:
stepping from root to root is Newton's method on the distance, and never passes the first contact.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from jostle.continuous.certified.corners import OF_B, FacePairWork, place_of, velocity_of
from jostle.geometry.vector import Vec3, cross, divided, dot, length, minus, negative, point_from, times
from jostle.kernels.jit import kernel

MOST_HORIZONS = 4
# The next horizon, in multiples of the step found: at most half of the cubic term is lost then.
WIDER = 3.0


class TurningDirection(NamedTuple):
    """A unit direction n, its rate of turn r across it, and the change q of that rate."""

    n: Vec3
    rate: Vec3
    change: Vec3


class ParallelBound(NamedTuple):
    """What all quadratics of a direction share: a term of every c2, and its minimum."""

    bend: float
    least_c2: float


class FeatureNormal(NamedTuple):
    """A direction with its gap, -inf without a direction."""

    gap: float
    direction: Vec3


@kernel(forceinline=True)
def standing(n: Vec3) -> TurningDirection:
    """Return a direction that does not turn."""
    return TurningDirection(n, Vec3(0.0, 0.0, 0.0), Vec3(0.0, 0.0, 0.0))


@kernel
def gap_along(work: FacePairWork, n: Vec3) -> float:
    """Return the least n·(b_j - a_i) at the current time."""
    highest, lowest = -math.inf, math.inf
    for i in range(work.faces[0].corners):
        highest = max(highest, dot(n, place_of(work, i)))
    for j in range(OF_B, OF_B + work.faces[1].corners):
        lowest = min(lowest, dot(n, place_of(work, j)))
    return lowest - highest


@kernel
def project_corners(work: FacePairWork, direction: TurningDirection) -> None:
    """Write each corner's part of c0, c1 and c2."""
    n, rate, change = direction
    for r in range(OF_B + work.faces[1].corners):
        if work.faces[0].corners <= r < OF_B:
            continue
        place, velocity = place_of(work, r), velocity_of(work, r)
        half_acceleration = point_from(work.now[r].half_acceleration, 0)
        share = work.shares[r]
        share.c0 = dot(n, place)
        share.c1 = dot(n, velocity) + dot(rate, place)
        share.c2 = dot(n, half_acceleration) + (dot(rate, velocity) + 0.5 * dot(change, place))


@kernel
def first_root(work: FacePairWork, target: float, bound: ParallelBound, horizon: float) -> float:
    """Return when the first quadratic falls to `target`, at most `horizon`."""
    first, q = horizon, work.faces[1].corners
    for i in range(work.faces[0].corners):
        a = work.shares[i]
        for j in range(OF_B, OF_B + q):
            b = work.shares[j]
            c0 = (b.c0 - a.c0) - target
            if c0 <= 0.0:
                return 0.0
            c1 = b.c1 - a.c1
            c2 = max((b.c2 - a.c2) - bound.bend, bound.least_c2)
            if c0 + first * (min(c1, 0.0) + first * min(c2, 0.0)) > 0.0:
                continue
            discriminant = c1 * c1 - 4.0 * c2 * c0
            if discriminant < 0.0:
                continue
            root = math.sqrt(discriminant)
            if c1 < 0.0:
                first = min(first, 2.0 * c0 / (root - c1))
            elif c2 < 0.0:
                first = min(first, (c1 + root) / (-2.0 * c2))
    return first


@kernel
def free_step(work: FacePairWork, direction: TurningDirection, target: float, rest: float) -> float:
    """Return how long, up to `rest`, a direction keeps the faces beyond `target`."""
    n, face_a, face_b = direction.n, work.faces[0], work.faces[1]
    rate, change = length(direction.rate), length(direction.change)
    # The proof of the rounding needs |r| h ≤ 1 and |q| h² ≤ 1.
    if rate * rest > 1.0:
        rest = 1.0 / rate
    if change * rest * rest > 1.0:
        rest = math.sqrt(1.0 / change)
    project_corners(work, direction)
    steady = 0.5 * target * max(rate * rate + dot(n, direction.change), 0.0)
    if face_a.acceleration == 0.0 and face_b.acceleration == 0.0 and change == 0.0:
        return first_root(work, target, ParallelBound(steady, -math.inf), rest)
    # Along n only the part of an arc across its axis counts: a face that turns about its own normal stays in its plane.
    across_a = face_a.acceleration * length(cross(n, point_from(face_a.axis, 0)))
    across_b = face_b.acceleration * length(cross(n, point_from(face_b.axis, 0)))
    cubic = (face_a.angle * across_a + face_b.angle * across_b) / 6.0
    cubic += 0.5 * rate * (face_a.acceleration + face_b.acceleration)
    cubic += change * (0.5 * work.limits.speed + target * (0.5 * rate + 0.125 * change * rest))
    cubic *= 1.0 + 1e-12
    least_c2 = -math.inf if rate > 0.0 else -0.5 * (across_a + across_b)
    step = first_root(work, target, ParallelBound(steady + cubic * rest, least_c2), rest)
    for _ in range(MOST_HORIZONS):
        horizon = WIDER * step
        if horizon >= rest or step == 0.0:
            break
        longer = first_root(work, target, ParallelBound(steady + cubic * horizon, least_c2), horizon)
        if longer <= step:
            break
        enough = longer < 1.2 * step
        step = longer
        if enough:
            break
    return step


class EdgePair(NamedTuple):
    """Two edges by their ends; the same one twice for the direction n made across it."""

    i0: int
    i1: int
    j0: int
    j1: int


@kernel(forceinline=True)
def candidate_edges(p: int, q: int, candidate: int) -> EdgePair:
    """Return the edges of a candidate.

    The order is: two of face a, two of face b, all pairs of edges, then edges of a and of b alone.
    """
    edges_a, edges_b = p if p == 3 else p - 1, q if q == 3 else q - 1
    alone = candidate - (2 + edges_a * edges_b)
    if candidate < 2:
        first = candidate * OF_B
        return EdgePair(first, first + 1, first, first + 2)
    if alone < 0:
        i, j = (candidate - 2) // edges_b, (candidate - 2) % edges_b
        return EdgePair(i, (i + 1) % p, OF_B + j, OF_B + (j + 1) % q)
    if alone < edges_a:
        return EdgePair(alone, (alone + 1) % p, alone, (alone + 1) % p)
    i0, i1 = OF_B + alone - edges_a, OF_B + (alone - edges_a + 1) % q
    return EdgePair(i0, i1, i0, i1)


@kernel(forceinline=True)
def candidate_normal(work: FacePairWork, edges: EdgePair, n: Vec3) -> Vec3:
    """Return the direction across two edges; 0 if there is none.

    If both are one edge, n made perpendicular to it.
    """
    along_a = minus(place_of(work, edges.i1), place_of(work, edges.i0))
    if edges.i0 != edges.j0 or edges.i1 != edges.j1:
        return cross(along_a, minus(place_of(work, edges.j1), place_of(work, edges.j0)))
    squared = dot(along_a, along_a)
    if squared == 0.0:
        return Vec3(0.0, 0.0, 0.0)
    return minus(n, times(dot(n, along_a) / squared, along_a))


@kernel
def feature_normal(work: FacePairWork, n: Vec3) -> FeatureNormal:
    """Return the direction with the widest gap among normals of features.

    These are normals of faces and of pairs of edges, and n made perpendicular to an edge. Between faces that are almost in contact
    the difference n of closest points has lost its digits, these have not.
    """
    p, q = work.faces[0].corners, work.faces[1].corners
    best, best_direction = -math.inf, Vec3(0.0, 0.0, 0.0)
    edges_a, edges_b = p if p == 3 else p - 1, q if q == 3 else q - 1
    for candidate in range(2 + edges_a * edges_b + edges_a + edges_b):
        if (candidate == 0 and p < 3) or (candidate == 1 and q < 3):
            continue  # no face
        direction = candidate_normal(work, candidate_edges(p, q, candidate), n)
        norm = length(direction)
        if norm == 0.0:
            continue
        direction = divided(direction, norm)
        for _ in range(2):
            gap = gap_along(work, direction)
            if gap > best:
                best, best_direction = gap, direction
            direction = negative(direction)
    return FeatureNormal(best, best_direction)
