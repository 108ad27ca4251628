"""Triangles, segments and boxes in kernels: small tuples of points."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from jostle.geometry.vector import Vec3, point_at, point_from
from jostle.kernels.jit import kernel
from jostle.kernels.numbers import Whole
from jostle.kernels.simd import LANES


class Segment(NamedTuple):
    """Two ends."""

    p: Vec3
    q: Vec3


class Triangle(NamedTuple):
    """Three corners."""

    p: Vec3
    q: Vec3
    r: Vec3


class Bounds(NamedTuple):
    """A box with sides along the axes."""

    lower: Vec3
    upper: Vec3


@kernel(forceinline=True)
def face_at(vertices: Any, faces: Any, i: int) -> Triangle:
    """Return the corners of face i; vertices (n,3), faces (m,3)."""
    # Unsigned: no check for negative indices.
    return triangle_of_points(vertices, np.uint64(faces[i, 0]), np.uint64(faces[i, 1]), np.uint64(faces[i, 2]))


@kernel(forceinline=True)
def triangle_from(numbers: Any, start: int) -> Triangle:
    """Return the triangle of nine numbers in a flat array."""
    return Triangle(point_from(numbers, start), point_from(numbers, start + 3), point_from(numbers, start + 6))


@kernel(forceinline=True)
def triangle_in_lane(numbers: Any, lane: int) -> Triangle:
    """Return the triangle of one lane: nine numbers, eight places apart."""
    return Triangle(
        Vec3(numbers[lane], numbers[lane + LANES], numbers[lane + 2 * LANES]),
        Vec3(numbers[lane + 3 * LANES], numbers[lane + 4 * LANES], numbers[lane + 5 * LANES]),
        Vec3(numbers[lane + 6 * LANES], numbers[lane + 7 * LANES], numbers[lane + 8 * LANES]),
    )


@kernel(forceinline=True)
def triangle_of_row(numbers: Any, i: int) -> Triangle:
    """Return the triangle of the first nine numbers of a row."""
    return Triangle(
        Vec3(numbers[i, 0], numbers[i, 1], numbers[i, 2]),
        Vec3(numbers[i, 3], numbers[i, 4], numbers[i, 5]),
        Vec3(numbers[i, 6], numbers[i, 7], numbers[i, 8]),
    )


@kernel(forceinline=True)
def triangle_of_points(points: Any, i: Whole, j: Whole, k: Whole) -> Triangle:
    """Return the triangle of three rows of an array (n,3)."""
    return Triangle(point_at(points, i), point_at(points, j), point_at(points, k))


@kernel(forceinline=True)
def point_triangle(a: Vec3) -> Triangle:
    """Return a point as a triangle without extent."""
    return Triangle(a, a, a)


@kernel(forceinline=True)
def turned(t: Triangle) -> Triangle:
    """Return the same triangle, starting at its second corner."""
    return Triangle(t.q, t.r, t.p)


@kernel(forceinline=True)
def flipped(t: Triangle) -> Triangle:
    """Return the triangle with its last two corners exchanged."""
    return Triangle(t.p, t.r, t.q)


@kernel(forceinline=True)
def triangle_bounds(t: Triangle) -> Bounds:
    """Return the box of a triangle."""
    return Bounds(
        Vec3(min(t.p.x, t.q.x, t.r.x), min(t.p.y, t.q.y, t.r.y), min(t.p.z, t.q.z, t.r.z)),
        Vec3(max(t.p.x, t.q.x, t.r.x), max(t.p.y, t.q.y, t.r.y), max(t.p.z, t.q.z, t.r.z)),
    )


@kernel(forceinline=True)
def segment_bounds(s: Segment) -> Bounds:
    """Return the box of a segment."""
    return Bounds(
        Vec3(min(s.p.x, s.q.x), min(s.p.y, s.q.y), min(s.p.z, s.q.z)),
        Vec3(max(s.p.x, s.q.x), max(s.p.y, s.q.y), max(s.p.z, s.q.z)),
    )


@kernel(forceinline=True)
def bounds_meet(a: Bounds, b: Bounds) -> bool:
    """Return whether two closed boxes have a common point."""
    return (
        a.lower.x <= b.upper.x and b.lower.x <= a.upper.x
        and a.lower.y <= b.upper.y and b.lower.y <= a.upper.y
        and a.lower.z <= b.upper.z and b.lower.z <= a.upper.z
    )  # fmt: skip


@kernel(forceinline=True)
def common_bounds(a: Bounds, b: Bounds) -> Bounds:
    """Return the intersection of two boxes that meet."""
    return Bounds(
        Vec3(max(a.lower.x, b.lower.x), max(a.lower.y, b.lower.y), max(a.lower.z, b.lower.z)),
        Vec3(min(a.upper.x, b.upper.x), min(a.upper.y, b.upper.y), min(a.upper.z, b.upper.z)),
    )


@kernel(forceinline=True)
def union_of_bounds(a: Bounds, b: Bounds) -> Bounds:
    """Return the smallest box that contains two."""
    return Bounds(
        Vec3(min(a.lower.x, b.lower.x), min(a.lower.y, b.lower.y), min(a.lower.z, b.lower.z)),
        Vec3(max(a.upper.x, b.upper.x), max(a.upper.y, b.upper.y), max(a.upper.z, b.upper.z)),
    )


@kernel(forceinline=True)
def bounds_at(lower: Any, upper: Any, i: int) -> Bounds:
    """Return box i of arrays of lower and upper corners (n,3)."""
    return Bounds(point_at(lower, i), point_at(upper, i))
