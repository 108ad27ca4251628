"""Boxes of a set of points in given axes: the coordinate axes for axis-aligned boxes (§3)."""

from __future__ import annotations

from typing import NamedTuple

from jostle.geometry.vector import Vec3, dot, plus, times, write_point_from
from jostle.kernels.jit import kernel
from jostle.kernels.structs import Rows
from jostle.methods.bounding_tree.axes import Axes
from jostle.methods.bounding_tree.face_sets import point_of
from jostle.methods.bounding_tree.tree import Point, Volume, axes_of


class Extent(NamedTuple):
    """From where to where something reaches along an axis."""

    low: float
    high: float


@kernel(forceinline=True)
def write_axes(volume: Volume, axes: Axes) -> None:
    """Write the axes of a volume."""
    write_point_from(volume.u, 0, axes.u)
    write_point_from(volume.v, 0, axes.v)
    write_point_from(volume.w, 0, axes.w)


@kernel(forceinline=True)
def write_identity_axes(volume: Volume) -> None:
    """Write the coordinate axes to a volume."""
    write_axes(volume, Axes(Vec3(1.0, 0.0, 0.0), Vec3(0.0, 1.0, 0.0), Vec3(0.0, 0.0, 1.0)))


@kernel
def extent_along(points: Rows[Point], n: int, axis: Vec3) -> Extent:
    """Return the lowest and the highest value of axis · point among the first n >= 1 points."""
    low = dot(axis, point_of(points, 0))
    high = low
    for i in range(1, n):
        value = dot(axis, point_of(points, i))
        low, high = min(low, value), max(high, value)
    return Extent(low, high)


@kernel
def fit_in_axes(points: Rows[Point], n: int, volume: Volume) -> None:
    """Write centre and half extents of the box of the first n points in the axes that a volume has."""
    axes = axes_of(volume)
    x, y, z = extent_along(points, n, axes.u), extent_along(points, n, axes.v), extent_along(points, n, axes.w)
    centre = plus(Vec3(0.0, 0.0, 0.0), times(middle_of(x), axes.u))
    centre = plus(plus(centre, times(middle_of(y), axes.v)), times(middle_of(z), axes.w))
    write_point_from(volume.centre, 0, centre)
    write_point_from(volume.half, 0, Vec3(0.5 * (x.high - x.low), 0.5 * (y.high - y.low), 0.5 * (z.high - z.low)))


@kernel(forceinline=True)
def middle_of(extent: Extent) -> float:
    """Return the middle of an extent."""
    return 0.5 * (extent.low + extent.high)
