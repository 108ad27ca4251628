"""Faces that touch at the start and separate: how long is the first part free?

Two touching faces part at once if there is a direction along which all corners of b are at or beyond those of a, up to rounding,
and soon after strictly beyond. The directions with n·z ≥ 0 for all differences z = b_j - a_i of corners form a cone; if one of them
parts the faces, an extreme one does, and each extreme one is perpendicular to two of the differences, or, if all differences share
a plane, to one of them in that plane. If all share a line, the direction in which corners move apart is tried, made perpendicular
to that line.
"""

from __future__ import annotations

from jostle.continuous.certified.corners import OF_B, FacePairWork, place_of, velocity_of
from jostle.continuous.certified.directions import gap_along, project_corners, standing
from jostle.geometry.vector import Vec3, cross, divided, dot, length, minus, negative, times
from jostle.kernels.jit import kernel

MOST_HALVINGS = 40


@kernel
def opens_by(work: FacePairWork, h: float, cubic: float, clear: float) -> bool:
    """Return whether all quadratics of `directions.py` reach `clear` by time h.

    They must not fall below the rounding before. They are least at one of the ends of that time, or between them where they bend
    upwards.
    """
    lowest, q = -work.limits.rounding, work.faces[1].corners
    for i in range(work.faces[0].corners):
        a = work.shares[i]
        for j in range(OF_B, OF_B + q):
            b = work.shares[j]
            c0, c1, c2 = b.c0 - a.c0, b.c1 - a.c1, (b.c2 - a.c2) - cubic * h
            dips = c1 < 0.0 and c2 > 0.0 and c0 - c1 * c1 / (4.0 * c2) < lowest
            if dips or not c0 + h * (c1 + h * c2) >= clear:
                return False
    return True


@kernel
def parting_time(work: FacePairWork, n: Vec3, clear: float) -> float:
    """Return the longest of 1, 1/2, 1/4 … by which n opens a gap of `clear`, or 0.

    The gap must not close before.
    """
    if gap_along(work, n) < -work.limits.rounding:
        return 0.0
    project_corners(work, standing(n))
    face_a, face_b = work.faces[0], work.faces[1]
    cubic = (face_a.angle * face_a.acceleration + face_b.angle * face_b.acceleration) / 6.0
    h = 1.0
    for _ in range(MOST_HALVINGS):
        if opens_by(work, h, cubic, clear):
            return h
        h *= 0.5
    return 0.0


@kernel
def parting_time_either_way(work: FacePairWork, direction: Vec3, clear: float) -> float:
    """Return the longer parting time along a direction or against it; 0 for none."""
    norm = length(direction)
    if norm == 0.0:
        return 0.0
    n = divided(direction, norm)
    return max(parting_time(work, n, clear), parting_time(work, negative(n), clear))


@kernel(forceinline=True)
def difference(work: FacePairWork, pair: int) -> Vec3:
    """Return b_j - a_i for the pair number i q + j."""
    q = work.faces[1].corners
    return minus(place_of(work, OF_B + pair % q), place_of(work, pair // q))


@kernel(forceinline=True)
def approach(work: FacePairWork, pair: int) -> Vec3:
    """Return the velocity of b_j relative to a_i for the pair number i q + j."""
    q = work.faces[1].corners
    return minus(velocity_of(work, OF_B + pair % q), velocity_of(work, pair // q))


@kernel(forceinline=True)
def longest_difference(work: FacePairWork) -> Vec3:
    """Return the unit direction of the longest difference; 0 if all are 0."""
    longest, direction = 0.0, Vec3(0.0, 0.0, 0.0)
    for pair in range(work.faces[0].corners * work.faces[1].corners):
        z = difference(work, pair)
        norm = length(z)
        if norm > longest:
            longest, direction = norm, divided(z, norm)
    return direction


@kernel
def leaving_time(work: FacePairWork, clear: float) -> float:
    """Return a time by which faces that touch at t = 0 open a gap of `clear`, or 0."""
    pairs = work.faces[0].corners * work.faces[1].corners
    best, widest, plane = 0.0, 0.0, Vec3(0.0, 0.0, 0.0)
    for first in range(pairs):
        for second in range(first + 1, pairs):
            across = cross(difference(work, first), difference(work, second))
            norm = length(across)
            if norm > widest:
                widest, plane = norm, divided(across, norm)
            best = max(best, parting_time_either_way(work, across, clear))
    # In the plane of all differences, then along velocities of corners, first made perpendicular to a line.
    line = longest_difference(work)
    for candidate in range(3 * pairs):
        if best > 0.0:
            break
        pair = candidate % pairs
        if candidate < pairs:
            direction = cross(plane, difference(work, pair))
        else:
            direction = approach(work, pair)
            if candidate < 2 * pairs:
                direction = minus(direction, times(dot(direction, line), line))
        best = max(best, parting_time_either_way(work, direction, clear))
    return best
