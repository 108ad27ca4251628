"""The corners of two moving faces, in the frame of the search for their contact.

A face is a set of one to three corners: a vertex, an edge or a triangle. Its corners move from their places at t = 0 to those at
t = 1 on straight lines or on the arcs of a screw (`moving_point.py`). Here they are relative to the first corner of a at t = 0. If
both faces have the same turn, they are relative to that moving corner and turned back with it: common motion vanishes, and of
straight motions only the difference is left. Distances are the same in this frame.

With S the largest |coordinate| in this frame, all rounding here and in the steps of `directions.py` is less than 2⁻⁴⁴ S for
straight motions and 2⁻⁴¹ S for turning ones; `rounding_of` has the proof. S is at most √3 times the largest difference of
coordinates among all corners at both ends, independent of where in the world they are.
"""

from __future__ import annotations

import math
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from jostle._types import Floats
from jostle.continuous.moving_point import Turn, across_axis, arc_factors
from jostle.geometry.point_triangle import closest_point_on_triangle
from jostle.geometry.segment_segment import closest_points_of_segments
from jostle.geometry.triangle import Segment, Triangle
from jostle.geometry.triangle_triangle_distance import closest_points_of_triangles
from jostle.geometry.vector import (
    Vec3,
    cross,
    divided,
    dot,
    largest_coordinate,
    length,
    minus,
    plus,
    point_from,
    times,
    write_point_from,
)
from jostle.kernels.handles import AddressTable
from jostle.kernels.jit import kernel
from jostle.kernels.structs import One, Record, Rows, Run, Struct, float64, int64, opener

Three = Run[float64, Literal[3]]

CORNERS = 6
OF_B = 3  # the corners of a are numbers 0 … 2, those of b start here
FEATURES = 15  # pairs of features of two triangles, as in `closest_features.py`

STRAIGHT_ROUNDING = 2.0**-44
TURNING_ROUNDING = 2.0**-41
# Turns whose vectors k · angle differ by less count as equal: bodies that move together get theirs from different poses.
SAME_TURN = 2.0**-46


class CornerEnds(Record):
    """A corner in the world, at both ends of the step."""

    start: Three
    end: Three


class CornerPath(Record):
    """A corner's path in the frame: start, displacement D, its part m, and k × m.

    m is the part of D across the axis.
    """

    start: Three
    chord: Three
    across: Three
    around: Three


class CornerNow(Record):
    """A corner in the frame at the current time."""

    place: Three
    velocity: Three
    half_acceleration: Three


class CornerShares(Record):
    """A corner's part of the quadratics c0 + c1 h + c2 h² of `directions.py`."""

    c0: float64
    c1: float64
    c2: float64


class FaceMotion(Record):
    """One face: its corner count, its turn in the frame, and bounds on its motion."""

    corners: int64
    axis: Three
    angle: float64
    bulge: float64
    acceleration: float64  # the largest of a corner


class CommonFrame(Record):
    """Whether both faces have the same turn, and the matrix rows that undo it."""

    together: int64
    back_x: Three
    back_y: Three
    back_z: Three


class Limits(Record):
    """The query's limits, and bounds on the motion of a pair."""

    separation: float64
    tolerance: float64
    only_first: int64
    size: float64  # S
    speed: float64  # bound on the relative speed of a corner of a and one of b
    rounding: float64


class PastDirections(Record):
    """The previous direction, its rate of turn, and the last two steps."""

    direction: Three
    rate: Three
    step_before: float64
    step: float64


class Lead(Record):
    """The best contact so far, and the number of contacts.

    `direction` separated its faces until `time`.
    """

    time: float64
    direction: Three
    contacts: float64


class FacePairWork(Struct):
    """Two moving faces, and the data of a search for their first contact."""

    ends: Rows[CornerEnds]
    paths: Rows[CornerPath]
    now: Rows[CornerNow]
    shares: Rows[CornerShares]
    faces: Rows[FaceMotion]
    frame: One[CommonFrame]
    limits: One[Limits]
    past: One[PastDirections]
    lead: One[Lead]
    distances: Rows[float64]


open_face_pair_work = opener(FacePairWork)


class FacePairArrays(NamedTuple):
    """The arrays that Python fills for a search, and the address table."""

    table: AddressTable
    faces: NDArray[np.void]
    frame: NDArray[np.void]
    limits: NDArray[np.void]
    lead: Floats


def new_face_pair_arrays() -> FacePairArrays:
    """Return a workspace."""
    faces, frame, limits = np.zeros(2, FaceMotion.dtype), np.zeros(1, CommonFrame.dtype), np.zeros(1, Limits.dtype)
    lead = np.zeros(5)
    table = FacePairWork.table(
        ends=np.zeros(CORNERS, CornerEnds.dtype),
        paths=np.zeros(CORNERS, CornerPath.dtype),
        now=np.zeros(CORNERS, CornerNow.dtype),
        shares=np.zeros(CORNERS, CornerShares.dtype),
        faces=faces,
        frame=frame,
        limits=limits,
        past=np.zeros(1, PastDirections.dtype),
        lead=lead,
        distances=np.zeros(FEATURES),
    )
    return FacePairArrays(table, faces, frame, limits, lead)


def set_common_frame(arrays: FacePairArrays, turn_a: Floats, turn_b: Floats) -> None:
    """Write whether both turn alike, the matrix that undoes it, and the turns (4,)."""
    back, turns = np.eye(3), [turn_a, turn_b]
    together = bool(np.abs(turn_a[:3] * turn_a[3] - turn_b[:3] * turn_b[3]).max() <= SAME_TURN)
    if together and min(turn_a[3], turn_b[3]) <= SAME_TURN:  # the arc leaves the chord by less than that part of its length
        turns = [np.array([0.0, 0.0, 1.0, 0.0])] * 2
    elif together:
        x, y, z = turn_a[:3]
        across = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
        back = np.eye(3) - math.sin(turn_a[3]) * across + 2.0 * math.sin(0.5 * turn_a[3]) ** 2 * (across @ across)
        turns = [np.array([-x, -y, -z, turn_a[3]])] * 2
    arrays.frame[0] = (together, *back)
    for face, turn in enumerate(turns):
        arrays.faces[face]["axis"], arrays.faces[face]["angle"] = turn[:3], turn[3]


@kernel(forceinline=True)
def place_of(work: FacePairWork, corner: int) -> Vec3:
    """Return the place of a corner."""
    return point_from(work.now[corner].place, 0)


@kernel(forceinline=True)
def velocity_of(work: FacePairWork, corner: int) -> Vec3:
    """Return the velocity of a corner."""
    return point_from(work.now[corner].velocity, 0)


@kernel(forceinline=True)
def edge_now(work: FacePairWork, i: int, j: int) -> Segment:
    """Return the segment between two corners."""
    return Segment(place_of(work, i), place_of(work, j))


@kernel(forceinline=True)
def triangle_now(work: FacePairWork, i: int, j: int, k: int) -> Triangle:
    """Return the triangle of three corners."""
    return Triangle(place_of(work, i), place_of(work, j), place_of(work, k))


@kernel
def rounding_of(size: float, turning: bool) -> float:
    """Return a bound on all rounding in a distance or a bound; `size` is S.

    Proof, with u = 2⁻⁵³ and |n| = 1, to first order. Straight: moving the origin costs uS in each coordinate of each end, a chord
    2uS, a place 5uS, so a corner is off by (1.8 + 8.7)uS; a product n·x with |x| ≤ 1.8S adds 5.2uS; the difference of two of
    them and of a threshold below 3.5S, with |n| off by 4u, comes to 53uS for c0. A speed is at most 3.5S, off by 14uS in the
    product, 35uS for two. A direction that turns serves only while |r|h ≤ 1 and |q|h² ≤ 1, and adds at most 31uS for r·z, 35uS for
    r·z', 16uS for q·z/2, and 14uS because r is across n only up to 4u. At a root |c0| ≤ 3.5S, |c1|h ≤ 10.5S and so |c2|h² ≤ 14S: a
    discriminant amounts to coefficients off by 3u each, 74uS, the rest of the formula to a time off by 4u of itself,
    4u(10.5 + 2 · 14)S, and adding that to the current time to a quarter of this. The sum is below 470uS < 2⁻⁴⁴S.

    Turning, by less than π: the factors of `arc_factors` are at most 0.11 and 0.51 and off by 4u, m is at most 3.5S and off by
    28uS, so a corner is off by 100uS; speeds are at most 5.5S and off by 110uS, half accelerations at most 8.6S and off by
    170uS; the same sums give 2,100uS. Turning ends back costs 60uS, and one turn for two that differ by SAME_TURN = 128u at
    most 2 · 128u · 3.5S. The sum is below 3,100uS < 2⁻⁴¹S. Distances are off by 128u of differences of at most 7.8S, and less
    than 200uS for the corners. K and the speed are inflated by more than their rounding. Measured on 3,000 hits: below 2uS.
    """
    if turning:
        return TURNING_ROUNDING * size
    return STRAIGHT_ROUNDING * size


@kernel(forceinline=True)
def turned_back(frame: CommonFrame, a: Vec3) -> Vec3:
    """Return a vector with the common turn undone."""
    return Vec3(dot(point_from(frame.back_x, 0), a), dot(point_from(frame.back_y, 0), a), dot(point_from(frame.back_z, 0), a))


@kernel(forceinline=True)
def length_of_arc(angle: float) -> float:
    """Return the length of an arc of this angle over a chord of length 1."""
    return angle / (2.0 * math.sin(0.5 * angle))


class PathSize(NamedTuple):
    """The largest abs(coordinate), the squared speed, and its part around the axis."""

    coordinate: float
    squared_speed: float
    squared_around: float


@kernel(forceinline=True)
def write_path(path: CornerPath, start: Vec3, end: Vec3, turn: Turn, per_across: float) -> PathSize:
    """Write the path of a corner between two places in the frame; return its size."""
    axis, chord = turn.axis, minus(end, start)
    across, axial = chord, 0.0
    if turn.angle != 0.0:
        axial, across = dot(axis, chord), across_axis(axis, chord)
    write_point_from(path.start, 0, start)
    write_point_from(path.chord, 0, chord)
    write_point_from(path.across, 0, across)
    write_point_from(path.around, 0, cross(axis, across))
    around = per_across * per_across * dot(across, across)
    return PathSize(max(largest_coordinate(start), largest_coordinate(end)), axial * axial + around, around)


@kernel
def read_pair(work: FacePairWork) -> None:
    """Write the paths of all corners, and their bounds, from their ends."""
    turning = work.faces[0].angle != 0.0 or work.faces[1].angle != 0.0
    together = work.frame.together != 0
    origin_t0 = point_from(work.ends[0].start, 0)
    origin_t1 = point_from(work.ends[0].end, 0) if together else origin_t0
    size, speed = 0.0, 0.0
    for f in range(2):
        face = work.faces[f]
        turn = Turn(point_from(face.axis, 0), face.angle)
        per_across = length_of_arc(turn.angle) if turn.angle != 0.0 else 1.0
        squared_speed, squared_around = 0.0, 0.0
        for r in range(f * OF_B, f * OF_B + face.corners):
            start, end = minus(point_from(work.ends[r].start, 0), origin_t0), minus(point_from(work.ends[r].end, 0), origin_t1)
            if together and turning:
                end = turned_back(work.frame, end)
            path = write_path(work.paths[r], start, end, turn, per_across)
            size = max(size, path.coordinate)
            squared_speed, squared_around = max(squared_speed, path.squared_speed), max(squared_around, path.squared_around)
        # Inflated by far more than their rounding: both serve as bounds.
        speed += math.sqrt(squared_speed) * (1.0 + 1e-12)
        face.acceleration = face.angle * math.sqrt(squared_around) * (1.0 + 1e-12)
    work.limits.size, work.limits.speed, work.limits.rounding = size, speed, rounding_of(size, turning)


@kernel(forceinline=True)
def place_straight(path: CornerPath, t: float, now: CornerNow) -> None:
    """Write place, velocity and half the acceleration of a corner on a straight line."""
    chord = point_from(path.chord, 0)
    write_point_from(now.place, 0, plus(point_from(path.start, 0), times(t, chord)))
    write_point_from(now.velocity, 0, chord)
    write_point_from(now.half_acceleration, 0, Vec3(0.0, 0.0, 0.0))


@kernel
def place_turning(work: FacePairWork, first: int, face: FaceMotion, t: float) -> None:
    """Write place, velocity and half acceleration of a face's corners on arcs.

    The corners are numbered from `first` on.
    """
    angle = face.angle
    arc = arc_factors(angle, t)
    scale = length_of_arc(angle)
    phase = angle * (t - 0.5)
    sine, cosine = scale * math.sin(phase), scale * math.cos(phase)
    for r in range(first, first + face.corners):
        path, now = work.paths[r], work.now[r]
        chord, m, c = point_from(path.chord, 0), point_from(path.across, 0), point_from(path.around, 0)
        on_chord = plus(point_from(path.start, 0), times(t, chord))
        write_point_from(now.place, 0, plus(on_chord, minus(times(arc.along, m), times(arc.aside, c))))
        write_point_from(now.velocity, 0, plus(minus(chord, m), plus(times(cosine, m), times(sine, c))))
        write_point_from(now.half_acceleration, 0, times(0.5 * angle, minus(times(cosine, c), times(sine, m))))


@kernel
def place_corners(work: FacePairWork, t: float) -> None:
    """Write places, velocities and half accelerations of all corners at time t."""
    for f in range(2):
        face = work.faces[f]
        if face.angle != 0.0:
            place_turning(work, f * OF_B, face, t)
            continue
        for r in range(f * OF_B, f * OF_B + face.corners):
            place_straight(work.paths[r], t, work.now[r])


class ClosestDirection(NamedTuple):
    """The distance of two faces, and the unit direction between closest points.

    It goes from a to b, and is 0 if the points coincide.
    """

    distance: float
    direction: Vec3


@kernel
def closest_direction(work: FacePairWork) -> ClosestDirection:
    """Return distance and direction of the faces at the current time."""
    p, q = work.faces[0].corners, work.faces[1].corners
    if p == 1 and q == 3:
        on_a = place_of(work, 0)
        on_b, squared = closest_point_on_triangle(on_a, triangle_now(work, OF_B, OF_B + 1, OF_B + 2))
        distance = math.sqrt(squared)
    elif p == 2 and q == 2:
        squared, on_a, on_b = closest_points_of_segments(edge_now(work, 0, 1), edge_now(work, OF_B, OF_B + 1))
        distance = math.sqrt(squared)
    else:
        # Faces with fewer corners become triangles without area.
        face_a = triangle_now(work, 0, min(1, p - 1), min(2, p - 1))
        face_b = triangle_now(work, OF_B, OF_B + min(1, q - 1), OF_B + min(2, q - 1))
        distance, on_a, on_b = closest_points_of_triangles(face_a, face_b)
    direction = minus(on_b, on_a)
    norm = length(direction)
    if norm > 0.0:
        direction = divided(direction, norm)
    return ClosestDirection(distance, direction)
