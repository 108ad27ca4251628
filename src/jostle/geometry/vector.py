"""Points and vectors in kernels: small tuples that LLVM keeps in registers.

They cost nothing at run time (an array in a kernel is a heap allocation, about 50 ns). Operations round as they are written, in the
order of the coordinates: predicates rely on it.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from jostle.kernels.jit import kernel
from jostle.kernels.numbers import Whole


class Vec2(NamedTuple):
    """A point or a vector of a plane."""

    x: float
    y: float


class Vec3(NamedTuple):
    """A point or a vector."""

    x: float
    y: float
    z: float


@kernel(forceinline=True)
def point_at(points: Any, i: Whole) -> Vec3:
    """Return row i of an array (n,3)."""
    return Vec3(points[i, 0], points[i, 1], points[i, 2])


@kernel(forceinline=True)
def write_point(points: Any, i: int, a: Vec3) -> None:
    """Write row i of an array (n,3)."""
    points[i, 0], points[i, 1], points[i, 2] = a.x, a.y, a.z


@kernel(forceinline=True)
def point_from(numbers: Any, start: int) -> Vec3:
    """Return three numbers of a flat array."""
    return Vec3(numbers[start], numbers[start + 1], numbers[start + 2])


@kernel(forceinline=True)
def write_point_from(numbers: Any, start: int, a: Vec3) -> None:
    """Write three numbers of a flat array."""
    numbers[start], numbers[start + 1], numbers[start + 2] = a.x, a.y, a.z


@kernel(forceinline=True)
def plus(a: Vec3, b: Vec3) -> Vec3:
    """Return a + b."""
    return Vec3(a.x + b.x, a.y + b.y, a.z + b.z)


@kernel(forceinline=True)
def minus(a: Vec3, b: Vec3) -> Vec3:
    """Return a - b."""
    return Vec3(a.x - b.x, a.y - b.y, a.z - b.z)


@kernel(forceinline=True)
def times(factor: float, a: Vec3) -> Vec3:
    """Return a scaled by a factor."""
    return Vec3(factor * a.x, factor * a.y, factor * a.z)


@kernel(forceinline=True)
def divided(a: Vec3, divisor: float) -> Vec3:
    """Return a divided by a number: one rounding, `times` by the inverse has two."""
    return Vec3(a.x / divisor, a.y / divisor, a.z / divisor)


@kernel(forceinline=True)
def dot(a: Vec3, b: Vec3) -> float:
    """Return the inner product of a and b."""
    return (a.x * b.x + a.y * b.y) + a.z * b.z


@kernel(forceinline=True)
def cross(a: Vec3, b: Vec3) -> Vec3:
    """Return a × b."""
    return Vec3(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x)


@kernel(forceinline=True)
def length(a: Vec3) -> float:
    """Return the Euclidean length; safe for components of 1e-150 … 1e150."""
    return math.sqrt((a.x * a.x + a.y * a.y) + a.z * a.z)


@kernel(forceinline=True)
def absolute(a: Vec3) -> Vec3:
    """Return a with the absolute values of its coordinates."""
    return Vec3(abs(a.x), abs(a.y), abs(a.z))


@kernel(forceinline=True)
def largest_coordinate(a: Vec3) -> float:
    """Return the largest absolute value of a coordinate."""
    return max(abs(a.x), abs(a.y), abs(a.z))


@kernel(forceinline=True)
def negative(a: Vec3) -> Vec3:
    """Return -a."""
    return Vec3(-a.x, -a.y, -a.z)


@kernel(forceinline=True)
def is_zero(a: Vec3) -> bool:
    """Return whether all coordinates are 0."""
    return a.x == 0.0 and a.y == 0.0 and a.z == 0.0


@kernel(forceinline=True)
def same_point(a: Vec3, b: Vec3) -> bool:
    """Return whether two points have equal coordinates."""
    return a.x == b.x and a.y == b.y and a.z == b.z


@kernel(forceinline=True)
def clamped(a: Vec3, lower: Vec3, upper: Vec3) -> Vec3:
    """Return a with each coordinate moved into its range."""
    return Vec3(min(max(a.x, lower.x), upper.x), min(max(a.y, lower.y), upper.y), min(max(a.z, lower.z), upper.z))


@kernel(forceinline=True)
def coordinate(a: Vec3, axis: int) -> float:
    """Return one coordinate by its number."""
    if axis == 0:
        return a.x
    return a.y if axis == 1 else a.z


@kernel(forceinline=True)
def seen_along(axis: int, a: Vec3) -> Vec2:
    """Return the two coordinates of a projection along an axis."""
    if axis == 0:
        return Vec2(a.y, a.z)
    if axis == 1:
        return Vec2(a.z, a.x)
    return Vec2(a.x, a.y)
