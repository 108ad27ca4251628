"""Figure 1: regions of the enclosing box of a set, and the faces nearest to them.

Degree 2 halves the longest axis, 3 cuts it in three, 4 halves the longest and the second longest, 5 adds a centre in the middle
of the box, 6 cuts the longest in three and halves the second. Both §3.2 and §3.3 begin here.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from jostle._types import Floats, Longs
from jostle.geometry.vector import Vec3, coordinate, dot, minus, plus, point_at, times, write_point
from jostle.kernels.jit import kernel
from jostle.methods.bounding_tree.axes import Axes, axes_of
from jostle.methods.bounding_tree.face_sets import SetWork, centre_of_entry
from jostle.methods.bounding_tree.tree import Volume, centre_of, half_extents_of


class AxisOrder(NamedTuple):
    """The numbers of three axes, longest first."""

    first: int
    second: int
    third: int


@kernel
def longest_axes(box: Volume) -> AxisOrder:
    """Return the axes of a box, longest first; ties by number."""
    half, first = box.half, 0
    for k in range(1, 3):
        if half[k] > half[first]:
            first = k
    second = 1 if first == 0 else 0
    third = 3 - first - second
    if half[third] > half[second]:
        second, third = third, second
    return AxisOrder(first, second, third)


@kernel(forceinline=True)
def axis_of(axes: Axes, k: int) -> Vec3:
    """Return one of three axes by its number."""
    if k == 0:
        return axes.u
    return axes.v if k == 1 else axes.w


@kernel
def _place(region: int, degree: int) -> tuple[float, float]:
    """Return a region's centre in half extents along the two longest axes."""
    if degree == 2:
        return 0.5 if region == 1 else -0.5, 0.0
    if degree == 3:
        return (region - 1) * (2.0 / 3.0), 0.0
    if degree == 6:
        return (region // 2 - 1) * (2.0 / 3.0), 0.5 if region % 2 == 1 else -0.5
    if region == 4:  # of degree 5
        return 0.0, 0.0
    return 0.5 if region >= 2 else -0.5, 0.5 if region % 2 == 1 else -0.5


@kernel
def region_centres(box: Volume, degree: int, regions: Floats) -> None:
    """Write the centres of the regions of a box to regions (6,3)."""
    longest, axes, half, centre = longest_axes(box), axes_of(box), half_extents_of(box), centre_of(box)
    for region in range(degree):
        lengthwise, crosswise = _place(region, degree)
        shift = plus(
            times(lengthwise * coordinate(half, longest.first), axis_of(axes, longest.first)),
            times(crosswise * coordinate(half, longest.second), axis_of(axes, longest.second)),
        )
        write_point(regions, region, plus(centre, shift))


@kernel(forceinline=True)
def squared_distance_to(p: Vec3, points: Floats, i: int) -> float:
    """Return the squared distance of p to points[i]."""
    offset = minus(p, point_at(points, i))
    return dot(offset, offset)


@kernel
def nearest_of(p: Vec3, points: Floats, n: int) -> int:
    """Return which of the first n points is nearest to p; ties go to the first."""
    best, least = 0, math.inf
    for i in range(n):
        squared = squared_distance_to(p, points, i)
        if squared < least:
            best, least = i, squared
    return best


@kernel
def first_faces(work: SetWork, begin: int, end: int, regions: Floats, degree: int, seeds: Longs) -> None:
    """Write to seeds (6,) the entries of the faces nearest to the centres (6,3).

    A face nearest to two regions goes to the first; the other region takes its next nearest. degree <= end - begin.
    """
    for region in range(degree):
        best, least = -1, math.inf
        for entry in range(begin, end):
            taken = False
            for other in range(region):
                taken = taken or seeds[other] == entry
            squared = squared_distance_to(centre_of_entry(work, entry), regions, region)
            if not taken and (best < 0 or squared < least):
                best, least = entry, squared
        seeds[region] = best
