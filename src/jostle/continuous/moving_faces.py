"""The faces of a moving body for kernels, and boxes at both ends of a motion.

Culling: a feature that lies beyond another on an axis at both ends of a straight motion does so all the time, because the
difference is linear in time. Signs of differences are exact. Arcs leave their chords by at most the bulges of both faces together.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from jostle._types import Floats, Ints
from jostle.continuous.moving_point import Turn
from jostle.geometry.triangle import Bounds, Triangle, triangle_bounds, triangle_of_points
from jostle.geometry.vector import Vec3, cross, dot, largest_coordinate, minus, point_at
from jostle.kernels.arrays import read_only_view
from jostle.kernels.jit import kernel
from jostle.kernels.numbers import as_int64
from jostle.kernels.structs import borrowed


class MovingFaces(NamedTuple):
    """World vertices (n,3) at both ends of a step, faces (m,3), and a turn (4,)."""

    start: Floats
    end: Floats
    faces: Ints
    turn: Floats


class Corners(NamedTuple):
    """Three vertices of a mesh, by number."""

    p: int
    q: int
    r: int


class MovingPoint(NamedTuple):
    """A point at both ends of a motion."""

    start: Vec3
    end: Vec3


class MovingTriangle(NamedTuple):
    """A triangle at both ends of a motion."""

    start: Triangle
    end: Triangle


class MovingBounds(NamedTuple):
    """A box at both ends of a motion."""

    start: Bounds
    end: Bounds


def moving_faces(start: Floats, end: Floats, faces: Ints, turn: Floats) -> MovingFaces:
    """Return faces within a step, all read-only."""
    return MovingFaces(read_only_view(start), read_only_view(end), read_only_view(faces), read_only_view(turn))


@kernel(forceinline=True)
def borrowed_faces(body: MovingFaces) -> MovingFaces:
    """Return the faces without counted references, which cost more than the work."""
    return MovingFaces(borrowed(body.start), borrowed(body.end), borrowed(body.faces), borrowed(body.turn))


@kernel(forceinline=True)
def corners_at(faces: Ints, i: int) -> Corners:
    """Return the corners of face i; faces (m,3)."""
    return Corners(as_int64(faces[i, 0]), as_int64(faces[i, 1]), as_int64(faces[i, 2]))


@kernel(forceinline=True)
def corner(face: Corners, k: int) -> int:
    """Return corner k of a face."""
    if k == 0:
        return face.p
    return face.q if k == 1 else face.r


@kernel(forceinline=True)
def moving_point(body: MovingFaces, vertex: int) -> MovingPoint:
    """Return a vertex of a body."""
    return MovingPoint(point_at(body.start, vertex), point_at(body.end, vertex))


@kernel(forceinline=True)
def moving_triangle(body: MovingFaces, face: Corners) -> MovingTriangle:
    """Return a face of a body."""
    p, q, r = face
    return MovingTriangle(triangle_of_points(body.start, p, q, r), triangle_of_points(body.end, p, q, r))


@kernel(forceinline=True)
def moving_triangle_bounds(face: MovingTriangle) -> MovingBounds:
    """Return the boxes of a triangle."""
    return MovingBounds(triangle_bounds(face.start), triangle_bounds(face.end))


@kernel(forceinline=True)
def moving_point_bounds(point: MovingPoint) -> MovingBounds:
    """Return the boxes of a point."""
    return MovingBounds(Bounds(point.start, point.start), Bounds(point.end, point.end))


@kernel(forceinline=True)
def stay_apart(a: MovingBounds, b: MovingBounds, gap: float) -> bool:
    """Return whether boxes are more than `gap` apart on one axis at both ends.

    The order on that axis must be the same.
    """
    # Unrolled, so that the boxes stay in registers.
    return (
        (a.start.lower.x - b.start.upper.x > gap and a.end.lower.x - b.end.upper.x > gap)
        or (b.start.lower.x - a.start.upper.x > gap and b.end.lower.x - a.end.upper.x > gap)
        or (a.start.lower.y - b.start.upper.y > gap and a.end.lower.y - b.end.upper.y > gap)
        or (b.start.lower.y - a.start.upper.y > gap and b.end.lower.y - a.end.upper.y > gap)
        or (a.start.lower.z - b.start.upper.z > gap and a.end.lower.z - b.end.upper.z > gap)
        or (b.start.lower.z - a.start.upper.z > gap and b.end.lower.z - a.end.upper.z > gap)
    )


@kernel
def bulge_of_face(face: MovingTriangle, turn: Turn) -> float:
    """Return how far a face's corners leave their chords at most, rounded up."""
    if turn.angle == 0.0:
        return 0.0
    longest, size = 0.0, 0.0
    for start, end in ((face.start.p, face.end.p), (face.start.q, face.end.q), (face.start.r, face.end.r)):
        chord = minus(end, start)
        sideways = cross(turn.axis, chord)
        longest = max(longest, dot(sideways, sideways))
        size = max(size, largest_coordinate(start), largest_coordinate(chord))
    # The height of an arc over its chord c is c tan(angle/4)/2; a share of 1e-9 and 8 units in the last place cover all roundings.
    return 0.5 * math.sqrt(longest) * math.tan(0.25 * turn.angle) * (1.0 + 1e-9) + 1e-15 * size
