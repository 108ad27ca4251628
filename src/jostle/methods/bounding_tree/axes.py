"""Three axes as one value, affine maps as records, and the nine axes across two boxes that separate them."""

from __future__ import annotations

from typing import Literal, NamedTuple

from jostle.geometry.vector import Vec3, absolute, dot, minus, plus, point_from, times
from jostle.kernels.jit import kernel
from jostle.kernels.structs import Record, Run, float64


class Axes(NamedTuple):
    """Three vectors: axes of a box, or the rows of a matrix."""

    u: Vec3
    v: Vec3
    w: Vec3


class Affine(Record):
    """A linear map, row by row, and where it takes the origin."""

    u: Run[float64, Literal[3]]
    v: Run[float64, Literal[3]]
    w: Run[float64, Literal[3]]
    origin: Run[float64, Literal[3]]


@kernel(forceinline=True)
def linear_part(place: Affine) -> Axes:
    """Return the rows of the matrix of an affine map."""
    return Axes(point_from(place.u, 0), point_from(place.v, 0), point_from(place.w, 0))


@kernel(forceinline=True)
def image_of(place: Affine, p: Vec3) -> Vec3:
    """Return where an affine map takes a point."""
    return plus(along(linear_part(place), p), point_from(place.origin, 0))


@kernel(forceinline=True)
def along(axes: Axes, p: Vec3) -> Vec3:
    """Return the inner products of a vector with three axes."""
    return Vec3(dot(axes.u, p), dot(axes.v, p), dot(axes.w, p))


@kernel(forceinline=True)
def combined(p: Vec3, axes: Axes) -> Vec3:
    """Return the sum of three vectors, each with a coordinate of p as its weight."""
    return plus(plus(times(p.x, axes.u), times(p.y, axes.v)), times(p.z, axes.w))


@kernel(forceinline=True)
def absolute_axes(axes: Axes) -> Axes:
    """Return the absolute values of all coordinates."""
    return Axes(absolute(axes.u), absolute(axes.v), absolute(axes.w))


@kernel(forceinline=True)
def edge_distances(d: Vec3, r: Axes) -> Axes:
    """Return d along the products of a coordinate axis (one after the other in u, v, w) and a column of r (x, y, z)."""
    return Axes(
        minus(times(d.z, r.v), times(d.y, r.w)), minus(times(d.x, r.w), times(d.z, r.u)), minus(times(d.y, r.u), times(d.x, r.v))
    )


@kernel(forceinline=True)
def edge_radii(a: Vec3, b: Vec3, m: Axes) -> Axes:
    """Return how far two boxes reach along these products: half extents a along the coordinate axes, b along the columns of r.

    m holds the absolute values of r.
    """
    return Axes(
        plus(plus(times(a.y, m.w), times(a.z, m.v)), _across(b, m.u)),
        plus(plus(times(a.x, m.w), times(a.z, m.u)), _across(b, m.v)),
        plus(plus(times(a.x, m.v), times(a.y, m.u)), _across(b, m.w)),
    )


@kernel(forceinline=True)
def _across(b: Vec3, row: Vec3) -> Vec3:
    return Vec3(b.y * row.z + b.z * row.y, b.x * row.z + b.z * row.x, b.x * row.y + b.y * row.x)
