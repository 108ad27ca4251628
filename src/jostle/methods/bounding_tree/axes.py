"""Three axes as one value, affine maps as records, the cross axes of two boxes."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

from jostle.geometry.vector import Vec3, absolute, dot, minus, plus, point_from, times, write_point_from
from jostle.kernels.jit import kernel
from jostle.kernels.structs import Record, Run, float64


class Axes(NamedTuple):
    """Three vectors: axes of a box, or the rows of a matrix."""

    u: Vec3
    v: Vec3
    w: Vec3


COORDINATE_AXES = Axes(Vec3(1.0, 0.0, 0.0), Vec3(0.0, 1.0, 0.0), Vec3(0.0, 0.0, 1.0))


class Affine(Record):
    """An affine map: the rows of its matrix, and the image of the origin."""

    u: Run[float64, Literal[3]]
    v: Run[float64, Literal[3]]
    w: Run[float64, Literal[3]]
    origin: Run[float64, Literal[3]]


@kernel(forceinline=True)
def axes_of(record: Any) -> Axes:
    """Return the axes u, v, w of a volume, a swept node or an affine map."""
    return Axes(point_from(record.u, 0), point_from(record.v, 0), point_from(record.w, 0))


@kernel(forceinline=True)
def write_axes(record: Any, axes: Axes) -> None:
    """Write the axes u, v, w of a record."""
    write_point_from(record.u, 0, axes.u)
    write_point_from(record.v, 0, axes.v)
    write_point_from(record.w, 0, axes.w)


@kernel(forceinline=True)
def image_of(place: Affine, p: Vec3) -> Vec3:
    """Return the image of a point under an affine map."""
    return plus(along(axes_of(place), p), point_from(place.origin, 0))


@kernel(forceinline=True)
def along(axes: Axes, p: Vec3) -> Vec3:
    """Return the inner products of a vector with three axes."""
    return Vec3(dot(axes.u, p), dot(axes.v, p), dot(axes.w, p))


@kernel(forceinline=True)
def axes_along(axes: Axes, others: Axes) -> Axes:
    """Return the inner products of three vectors with three axes."""
    return Axes(along(axes, others.u), along(axes, others.v), along(axes, others.w))


@kernel(forceinline=True)
def combined(p: Vec3, axes: Axes) -> Vec3:
    """Return the sum of three vectors weighted by the coordinates of p."""
    return plus(plus(times(p.x, axes.u), times(p.y, axes.v)), times(p.z, axes.w))


@kernel(forceinline=True)
def absolute_axes(axes: Axes) -> Axes:
    """Return the absolute values of all coordinates."""
    return Axes(absolute(axes.u), absolute(axes.v), absolute(axes.w))


@kernel(forceinline=True)
def edge_distances(d: Vec3, r: Axes) -> Axes:
    """Return d along the cross products of coordinate axes (u, v, w) and r's columns."""
    return Axes(
        minus(times(d.z, r.v), times(d.y, r.w)), minus(times(d.x, r.w), times(d.z, r.u)), minus(times(d.y, r.u), times(d.x, r.v))
    )


@kernel(forceinline=True)
def edge_radii(a: Vec3, b: Vec3, m: Axes) -> Axes:
    """Return how far two boxes reach along these cross products.

    Half extents are a along the coordinate axes and b along the columns of r; m holds the absolute values of r.
    """
    return Axes(
        plus(plus(times(a.y, m.w), times(a.z, m.v)), _across(b, m.u)),
        plus(plus(times(a.x, m.w), times(a.z, m.u)), _across(b, m.v)),
        plus(plus(times(a.x, m.v), times(a.y, m.u)), _across(b, m.w)),
    )


@kernel(forceinline=True)
def _across(b: Vec3, row: Vec3) -> Vec3:
    return Vec3(b.y * row.z + b.z * row.y, b.x * row.z + b.z * row.x, b.x * row.y + b.y * row.x)
