"""Winding numbers of one surface around many points.

A ray goes up, so only faces above and below a point matter. For many points around one surface, its faces are sorted into vertical
columns, and a point tests only the faces of its own column. The column of a coordinate is a monotone function of it, so no face is
missed, however it is rounded.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from jostle._types import Floats, Ints, Longs
from jostle.geometry.vector import Vec2
from jostle.geometry.winding import flag_winding
from jostle.kernels.arrays import read_only_view
from jostle.kernels.jit import kernel

FEW = 16  # points, or a quarter of the faces, for which columns do not pay: they cost as much as ten points
ENTRIES = 8  # largest average number of columns that a face covers


def windings(flags: Floats, vertices: Floats, faces: Ints) -> tuple[Ints, int]:
    """Return `flag_winding` of flags (q,9) as (q,3), and how many faces were tested."""
    found = np.empty((len(flags), 3), np.int32)
    tests = windings_into(
        read_only_view(flags), read_only_view(vertices), read_only_view(faces), columns_across(len(flags), len(faces)), found
    )
    return found, int(tests)


def columns_across(points: int, faces: int) -> int:
    """Return the number of columns along x and along y; 1 if columns do not pay."""
    return 1 if points < FEW or faces < 4 * FEW else max(2, math.isqrt(faces // 2))


class FaceColumns(NamedTuple):
    """Vertical columns over a rectangle: corners, columns per unit, number across."""

    lower: Vec2
    upper: Vec2
    per_unit: Vec2
    across: int


class ColumnRange(NamedTuple):
    """The first and last columns that a face covers, along x and along y."""

    x: int
    last_x: int
    y: int
    last_y: int


@kernel
def windings_into(flags: Floats, vertices: Floats, faces: Ints, across: int, found: Ints) -> int:
    """Write `flag_winding` of flags (q,9) into found (q,3); return faces tested."""
    columns = fitted_columns(vertices, faces, across)
    start, listed = faces_of_columns(vertices, faces, columns)
    tests = 0
    for i in range(flags.shape[0]):
        first, last = 0, faces.shape[0]
        if columns.across > 1:
            first, last = 0, 0
            at = Vec2(flags[i, 0], flags[i, 1])
            if columns.lower.x <= at.x <= columns.upper.x and columns.lower.y <= at.y <= columns.upper.y:
                place = column_x(columns, at.x) * columns.across + column_y(columns, at.y)
                first, last = start[place], start[place + 1]
        winding, holding, balance = flag_winding(flags[i], vertices, faces, listed[first:last])
        found[i, 0], found[i, 1], found[i, 2] = winding, holding, balance
        tests += last - first
    return tests


@kernel
def fitted_columns(vertices: Floats, faces: Ints, across: int) -> FaceColumns:
    """Return columns over all faces, so wide that long faces do not cover too many.

    At most as many as wanted.
    """
    lower_x, lower_y, upper_x, upper_y = np.inf, np.inf, -np.inf, -np.inf
    if across > 1:
        for j in range(faces.shape[0]):
            for k in range(3):
                x, y = vertices[faces[j, k], 0], vertices[faces[j, k], 1]
                lower_x, lower_y, upper_x, upper_y = min(lower_x, x), min(lower_y, y), max(upper_x, x), max(upper_y, y)
    lower, upper = Vec2(lower_x, lower_y), Vec2(upper_x, upper_y)
    while across > 1:
        per_unit = Vec2(across / max(upper_x - lower_x, 1e-300), across / max(upper_y - lower_y, 1e-300))
        columns = FaceColumns(lower, upper, per_unit, across)
        if entries_of(vertices, faces, columns) <= ENTRIES * faces.shape[0]:
            return columns
        across //= 2
    return FaceColumns(lower, upper, Vec2(0.0, 0.0), across)


@kernel
def entries_of(vertices: Floats, faces: Ints, columns: FaceColumns) -> int:
    """Return how many columns all faces cover, added up.

    Counting stops above `ENTRIES` per face.
    """
    entries = 0
    for j in range(faces.shape[0]):
        covered = columns_of(vertices, faces, j, columns)
        entries += (covered.last_x - covered.x + 1) * (covered.last_y - covered.y + 1)
        if entries > ENTRIES * faces.shape[0]:
            break
    return entries


@kernel
def faces_of_columns(vertices: Floats, faces: Ints, columns: FaceColumns) -> tuple[Longs, Longs]:
    """Return where each column's faces start in a list, and the list.

    One column has all faces.
    """
    across = columns.across
    if across <= 1:
        return np.zeros(1, np.int64), np.arange(faces.shape[0])
    # Counted two places ahead: after summing, a column starts one ahead, and filling it moves that to its end.
    start = np.zeros(across * across + 2, np.int64)
    for j in range(faces.shape[0]):
        covered = columns_of(vertices, faces, j, columns)
        for x in range(covered.x, covered.last_x + 1):
            for y in range(covered.y, covered.last_y + 1):
                start[x * across + y + 2] += 1
    for k in range(across * across):
        start[k + 2] += start[k + 1]
    listed = np.empty(start[across * across + 1], np.int64)
    for j in range(faces.shape[0]):
        covered = columns_of(vertices, faces, j, columns)
        for x in range(covered.x, covered.last_x + 1):
            for y in range(covered.y, covered.last_y + 1):
                listed[start[x * across + y + 1]] = j
                start[x * across + y + 1] += 1
    return start, listed


@kernel(forceinline=True)
def column_x(columns: FaceColumns, x: float) -> int:
    """Return the column along x of a coordinate at or above the lowest."""
    return min(int((x - columns.lower.x) * columns.per_unit.x), columns.across - 1)


@kernel(forceinline=True)
def column_y(columns: FaceColumns, y: float) -> int:
    """Return the column along y of a coordinate at or above the lowest."""
    return min(int((y - columns.lower.y) * columns.per_unit.y), columns.across - 1)


@kernel
def columns_of(vertices: Floats, faces: Ints, j: int, columns: FaceColumns) -> ColumnRange:
    """Return the columns that a face covers."""
    a, b, c = faces[j, 0], faces[j, 1], faces[j, 2]
    ax, bx, cx, ay, by, cy = vertices[a, 0], vertices[b, 0], vertices[c, 0], vertices[a, 1], vertices[b, 1], vertices[c, 1]
    return ColumnRange(
        column_x(columns, min(ax, bx, cx)),
        column_x(columns, max(ax, bx, cx)),
        column_y(columns, min(ay, by, cy)),
        column_y(columns, max(ay, by, cy)),
    )
