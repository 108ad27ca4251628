"""Winding numbers of one surface around many points.

A ray goes up, so only faces above and below a point matter. Where many points ask for one surface, its faces are sorted into
vertical columns, and a point looks at the faces of its own column. The column of a coordinate is a monotone function of it, so no
face is missed however it is rounded.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from jostle.geometry.winding import flag_winding
from jostle.kernels.arrays import read_only_view
from jostle.kernels.jit import kernel

Floats = NDArray[np.float64]
Ints = NDArray[np.int32]

FEW = 16  # points, or a quarter of the faces, for which columns do not pay: they cost as much as ten points
ENTRIES = 8  # most columns that a face stands in, on average


def windings(flags: Floats, vertices: Floats, faces: Ints) -> tuple[Ints, int]:
    """Return `flag_winding` of flags (q,9) as (q,3), and how many faces were tested."""
    found = np.empty((len(flags), 3), np.int32)
    tests = windings_into(
        read_only_view(flags), read_only_view(vertices), read_only_view(faces), columns_across(len(flags), len(faces)), found
    )
    return found, int(tests)


def columns_across(points: int, faces: int) -> int:
    """Return how many columns there are along x and along y; 1 where it is as well to look at all faces."""
    return 1 if points < FEW or faces < 4 * FEW else max(2, math.isqrt(faces // 2))


@kernel
def windings_into(flags, vertices, faces, across, found):
    """Write `flag_winding` of flags (q,9) into found (q,3); return how many faces were tested."""
    m = faces.shape[0]
    lower_x, lower_y, upper_x, upper_y = np.inf, np.inf, -np.inf, -np.inf
    if across > 1:
        for j in range(m):
            for k in range(3):
                x, y = vertices[faces[j, k], 0], vertices[faces[j, k], 1]
                lower_x, lower_y, upper_x, upper_y = min(lower_x, x), min(lower_y, y), max(upper_x, x), max(upper_y, y)
    start = np.zeros(1, np.int64)
    wide_x, wide_y = 0.0, 0.0
    while across > 1:
        # Columns are made wider until faces that are long for them do not stand in too many.
        wide_x, wide_y = across / max(upper_x - lower_x, 1e-300), across / max(upper_y - lower_y, 1e-300)
        start = np.zeros(across * across + 2, np.int64)
        entries = 0
        for j in range(m):
            x0, x1, y0, y1 = columns_of(vertices, faces, j, lower_x, lower_y, wide_x, wide_y, across)
            entries += (x1 - x0 + 1) * (y1 - y0 + 1)
            if entries > ENTRIES * m:
                break
            for x in range(x0, x1 + 1):
                for y in range(y0, y1 + 1):
                    start[x * across + y + 2] += 1
        if entries <= ENTRIES * m:
            break
        across //= 2
    every = np.arange(m)
    if across > 1:
        for k in range(across * across):
            start[k + 2] += start[k + 1]
        every = np.empty(start[across * across + 1], np.int64)
        for j in range(m):
            x0, x1, y0, y1 = columns_of(vertices, faces, j, lower_x, lower_y, wide_x, wide_y, across)
            for x in range(x0, x1 + 1):
                for y in range(y0, y1 + 1):
                    every[start[x * across + y + 1]] = j
                    start[x * across + y + 1] += 1
    tests = 0
    for i in range(flags.shape[0]):
        first, last = 0, m
        if across > 1:
            px, py = flags[i, 0], flags[i, 1]
            inside = lower_x <= px <= upper_x and lower_y <= py <= upper_y
            at = column(px, lower_x, wide_x, across) * across + column(py, lower_y, wide_y, across) if inside else 0
            first, last = (start[at], start[at + 1]) if inside else (0, 0)
        winding, holding, balance = flag_winding(flags[i], vertices, faces, every[first:last])
        found[i, 0], found[i, 1], found[i, 2] = winding, holding, balance
        tests += last - first
    return tests


@kernel
def column(x, lower, wide, across):
    """The column of a coordinate that is not below the lowest."""
    return min(int((x - lower) * wide), across - 1)


@kernel
def columns_of(vertices, faces, j, lower_x, lower_y, wide_x, wide_y, across):
    """The first and last columns that a face stands in, along x and along y."""
    a, b, c = faces[j, 0], faces[j, 1], faces[j, 2]
    ax, bx, cx, ay, by, cy = vertices[a, 0], vertices[b, 0], vertices[c, 0], vertices[a, 1], vertices[b, 1], vertices[c, 1]
    return (
        column(min(ax, bx, cx), lower_x, wide_x, across),
        column(max(ax, bx, cx), lower_x, wide_x, across),
        column(min(ay, by, cy), lower_y, wide_y, across),
        column(max(ay, by, cy), lower_y, wide_y, across),
    )
