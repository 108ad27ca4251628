"""Boxes of points in given axes: the coordinate axes for axis-aligned boxes (§3)."""

from __future__ import annotations

from typing import NamedTuple

from jostle.geometry.vector import Vec3, dot, plus, times, write_point_from
from jostle.kernels.jit import kernel
from jostle.kernels.structs import Rows
from jostle.methods.bounding_tree.axes import axes_of
from jostle.methods.bounding_tree.face_sets import point_of
from jostle.methods.bounding_tree.tree import Point, Volume


class Extent(NamedTuple):
    """The range that something covers along an axis."""

    low: float
    high: float


@kernel
def extent_along(points: Rows[Point], n: int, axis: Vec3) -> Extent:
    """Return the lowest and highest axis · point of the first n >= 1 points."""
    low = dot(axis, point_of(points, 0))
    high = low
    for i in range(1, n):
        value = dot(axis, point_of(points, i))
        low, high = min(low, value), max(high, value)
    return Extent(low, high)


@kernel
def fit_in_axes(points: Rows[Point], n: int, volume: Volume) -> None:
    """Write centre and half extents of the box of n points in a volume's axes."""
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
