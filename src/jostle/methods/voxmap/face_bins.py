"""Faces within reach of each bin, for the distance band and for normals.

A face has a frame (geometry/point_triangle.py): longest edge, height, normal. Points within reach lie between two planes
along each of the three axes, so a row of bins is cut to an interval three times, and a needle across the lattice costs little
more than the bins it runs through. Bins may get faces beyond the reach, and miss none within it.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

from jostle._types import Floats, Ints, Longs
from jostle.geometry.point_triangle import TriangleFrame, in_frame, triangle_frame
from jostle.geometry.triangle import triangle_of_row
from jostle.geometry.vector import Vec3, cross, dot, length, minus, times
from jostle.kernels.jit import kernel
from jostle.methods.voxmap.map import GridSize, cell_number
from jostle.methods.voxmap.progress import Share, run_to_end

FIRST_SLICE = 64


def all_faces(work: Callable[[int, int], None], faces: int, progress: Share | None = None) -> None:
    """Call ``work(begin, end)`` for all faces (or points), in slices."""

    def step(begin: int, operations: int) -> tuple[int, int]:
        end = min(faces, begin + operations)
        work(begin, end)
        return end, end - begin

    run_to_end(step, faces, FIRST_SLICE, progress)


class Range(NamedTuple):
    """Whole numbers low … high; empty where low > high."""

    low: int
    high: int


class ReachedCells(NamedTuple):
    """The range of cells about a face along each axis."""

    x: Range
    y: Range
    z: Range


@kernel(forceinline=True)
def narrow(within: Range, at_zero: float, slope: float, lower: float, upper: float) -> Range:
    """Return the part of a range on which lower <= at_zero + slope * x <= upper."""
    low, high = within
    if abs(slope) < 1e-9:
        if at_zero + slope * low < lower - 1e-3 or at_zero + slope * low > upper + 1e-3:
            return Range(low, low - 1)
        return within
    x0, x1 = (lower - at_zero) / slope, (upper - at_zero) / slope
    if x0 > x1:
        x0, x1 = x1, x0
    # Compared as floats first: a nearly level slope gives numbers beyond any integer.
    if x0 > low:
        low = math.ceil(x0 - 1e-6) if x0 <= high + 1.0 else high + 1
    if x1 < high:
        high = math.floor(x1 + 1e-6) if x1 >= low - 1.0 else low - 1
    return Range(low, high)


@kernel
def whole_frame(corners: Floats, face: int) -> TriangleFrame:
    """Return the frame of a face of corners (m,9), with unit axes even without area."""
    frame = triangle_frame(triangle_of_row(corners, face))
    u, v = frame.u, frame.v
    if frame.base == 0.0:
        u = Vec3(1.0, u.y, u.z)
    if frame.height == 0.0:
        # Perpendicular to u: the axis where u is shortest, less its part along u.
        v = Vec3(0.0, 0.0, 1.0)
        if abs(u.x) <= abs(u.y) and abs(u.x) <= abs(u.z):
            v = Vec3(1.0, 0.0, 0.0)
        elif abs(u.y) <= abs(u.z):
            v = Vec3(0.0, 1.0, 0.0)
        v = minus(v, times(dot(v, u), u))
        v = times(1.0 / length(v), v)
    return TriangleFrame(frame.o, u, v, frame.base, frame.foot, frame.height)


@kernel(forceinline=True)
def face_reach(corners: Floats, face: int, axis: int, reach: float, cells: int) -> Range:
    """Return the whole coordinates along an axis within reach of a face."""
    a, b, c = corners[face, axis], corners[face, 3 + axis], corners[face, 6 + axis]
    low, high = math.ceil(min(a, b, c) - reach), math.floor(max(a, b, c) + reach)
    return Range(max(low, 0), min(high, cells - 1))


@kernel
def reached_cells(corners: Floats, face: int, reach: float, size: GridSize) -> ReachedCells:
    """Return the cells that may be within reach of a face of corners (m,9)."""
    return ReachedCells(
        face_reach(corners, face, 0, reach, size.x),
        face_reach(corners, face, 1, reach, size.y),
        face_reach(corners, face, 2, reach, size.z),
    )


@kernel(forceinline=True)
def reached_in_row(within: Range, at: Vec3, slopes: Vec3, frame: TriangleFrame, reach: Vec3) -> Range:
    """Return the x of a row of cells that may be within reach of a face.

    The cell at x = 0 has the coordinates `at` in the frame, which change by `slopes` from one cell to the next.
    """
    within = narrow(within, at.z, slopes.z, -reach.z, reach.z)
    within = narrow(within, at.y, slopes.y, -reach.y, frame.height + reach.y)
    return narrow(within, at.x, slopes.x, -reach.x, frame.base + reach.x)


@kernel(forceinline=True)
def half_width(axis: Vec3, half: float) -> float:
    """Return half the width, along a unit vector, of a cube with edges of 2 * half."""
    return half * (abs(axis.x) + abs(axis.y) + abs(axis.z))


@kernel
def bin_faces(
    corners: Floats, begin: int, end: int, half: float, reach: float, size: GridSize, fill: bool, count: Longs, faces: Ints
) -> None:
    """Count for each bin the faces begin … end - 1 within reach, or list them.

    corners (m,9) in units of bins, whole numbers at their middles; a bin is a cube of ± half about its middle. With `fill`, `count`
    holds the ends of the lists of bins in faces (k,) and is moved back to their beginnings.
    """
    for face in range(begin, end):
        frame = whole_frame(corners, face)
        w = cross(frame.u, frame.v)
        slopes = Vec3(frame.u.x, frame.v.x, w.x)
        widths = Vec3(reach + half_width(frame.u, half), reach + half_width(frame.v, half), reach + half_width(w, half))
        cells = reached_cells(corners, face, reach + half, size)
        for z in range(cells.z.low, cells.z.high + 1):
            for y in range(cells.y.low, cells.y.high + 1):
                row = reached_in_row(cells.x, in_frame(frame, Vec3(0.0, float(y), float(z))), slopes, frame, widths)
                for x in range(row.low, row.high + 1):
                    enter_face(cell_number(size, x, y, z), face, fill, count, faces)


@kernel(forceinline=True)
def enter_face(cell: int, face: int, fill: bool, count: Longs, faces: Ints) -> None:
    """Count a face for a bin, or with `fill` add it to the bin's list."""
    if fill:
        count[cell] -= 1
        faces[count[cell]] = face
    else:
        count[cell] += 1
