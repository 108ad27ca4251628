"""Clipping: depth ranges of a face over each pixel square it touches, row by row.

The part of a face in the band of a row is a convex polygon, bounded by the parts of its three edges in the band and by
two pieces of the band's own edges. Depth is linear on it, so over the square of a column it is lowest and highest on this
boundary: each of the at most five pieces is cut at the sides of the columns that it touches, and lowers or raises their
ranges. Nothing is divided by an area, so edge-on faces and faces without area need no special case. Growth is explained
in `depth_ranges.py`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from jostle.kernels.jit import kernel
from jostle.render.drawn_body import DrawnBody
from jostle.render.spans import LARGEST_TILE, SPANS, THIN, Scratch, X, Y, Z, within

# Parts of the scratch, in place of the spans: the ranges of a row by column, then the current face.
LOW, HIGH = SPANS, SPANS + LARGEST_TILE
FACE = HIGH + LARGEST_TILE  # x, y, z of the corners; then how far squares and depths are grown
GROW, DEEPEN = FACE + 9, FACE + 10
EDGES, EDGE = FACE + 11, 7  # three: x, y, z of the lower end, then of the upper end, and 1 / (difference of the y)
PIECES, PIECE = EDGES + 3 * EDGE, 4  # x, z, x, z of at most five pieces of the boundary

# In units of the largest coordinate of the face: sixteen units in the last place, where the two cuts round off less than twelve.
CLIP_ROUNDING = 2.0**-48


class Slack(NamedTuple):
    """Bounds of the error of tile coordinates: `xy` in pixels, `z` in depth."""

    xy: float
    z: float


@kernel
def place_face(body: DrawnBody, face: int, slack: Slack, scratch: Scratch) -> tuple[int, int]:
    """Write a face of the placed patch to FACE in scratch; return its range of rows."""
    corners, size = body.mesh.corners, body.size
    largest, deepest, top, bottom, left, right = 1.0, 0.0, np.inf, -np.inf, np.inf, -np.inf
    for k in range(3):
        point = corners[3 * face + k]
        x, y, z = scratch[X + point], scratch[Y + point], scratch[Z + point]
        scratch[FACE + 3 * k], scratch[FACE + 3 * k + 1], scratch[FACE + 3 * k + 2] = x, y, z
        largest, deepest = max(largest, max(abs(x), abs(y))), max(deepest, abs(z))
        top, bottom, left, right = min(top, y), max(bottom, y), min(left, x), max(right, x)
    grow = slack.xy + CLIP_ROUNDING * largest
    scratch[GROW] = grow
    scratch[DEEPEN] = slack.z + CLIP_ROUNDING * deepest
    if left > size + grow or right < -grow:
        return 0, 0
    for k in range(3):
        a, b, edge = FACE + 3 * k, FACE + 3 * (k + 1 if k < 2 else 0), EDGES + EDGE * k
        if scratch[a + 1] > scratch[b + 1]:
            a, b = b, a
        for axis in range(3):
            scratch[edge + axis], scratch[edge + 3 + axis] = scratch[a + axis], scratch[b + axis]
        height = scratch[b + 1] - scratch[a + 1]
        scratch[edge + 6] = 1.0 / height if height > THIN else 0.0
    return first_square(top, grow, size), square_after(bottom, grow, size)


@kernel(forceinline=True)
def first_square(x: float, grow: float, size: int) -> int:
    """Return the first pixel whose grown square reaches x, within the tile."""
    return int(within(np.ceil(x - 1.0 - grow), float(size)))


@kernel(forceinline=True)
def square_after(x: float, grow: float, size: int) -> int:
    """Return the pixel after the last whose grown square begins at or before x."""
    return int(within(np.floor(x + grow) + 1.0, float(size)))


@kernel
def columns_of_face(row: int, size: int, scratch: Scratch) -> tuple[int, int, int]:
    """Cut the face in scratch to a row's grown band; write its boundary to PIECES.

    Returns the first column it touches, the one after the last, and the number of pieces.
    """
    low, high = row - scratch[GROW], row + 1 + scratch[GROW]
    left, right = np.inf, -np.inf
    at, low_ends, high_ends = PIECES, 0, 0
    low_x, low_z, low_x2, low_z2, high_x, high_z, high_x2, high_z2 = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    for edge in range(EDGES, EDGES + 3 * EDGE, EDGE):
        xa, ya, za = scratch[edge], scratch[edge + 1], scratch[edge + 2]
        xb, yb, zb, over = scratch[edge + 3], scratch[edge + 4], scratch[edge + 5], scratch[edge + 6]
        if yb < low or ya > high:
            continue
        xs, zs, xe, ze = xa, za, xb, zb
        if ya < low:
            part = (low - ya) * over
            xs, zs = xa + part * (xb - xa), za + part * (zb - za)
            low_x2, low_z2 = low_x, low_z
            low_x, low_z = xs, zs
            low_ends += 1
        if yb > high:
            part = (high - ya) * over
            xe, ze = xa + part * (xb - xa), za + part * (zb - za)
            high_x2, high_z2 = high_x, high_z
            high_x, high_z = xe, ze
            high_ends += 1
        scratch[at], scratch[at + 1], scratch[at + 2], scratch[at + 3] = xs, zs, xe, ze
        left, right = min(left, min(xs, xe)), max(right, max(xs, xe))
        at += PIECE
    if low_ends == 2:
        scratch[at], scratch[at + 1], scratch[at + 2], scratch[at + 3] = low_x, low_z, low_x2, low_z2
        at += PIECE
    if high_ends == 2:
        scratch[at], scratch[at + 1], scratch[at + 2], scratch[at + 3] = high_x, high_z, high_x2, high_z2
        at += PIECE
    if at == PIECES:
        return 0, 0, 0
    return first_square(left, scratch[GROW], size), square_after(right, scratch[GROW], size), (at - PIECES) // PIECE


@kernel
def ranges_of_row(first: int, after: int, pieces: int, size: int, scratch: Scratch) -> None:
    """Write the depth ranges of the pieces over columns first … after to LOW and HIGH.

    Grown by the slack.
    """
    grow, deepen = scratch[GROW], scratch[DEEPEN]
    for i in range(first, after):
        scratch[LOW + i], scratch[HIGH + i] = np.inf, -np.inf
    for at in range(PIECES, PIECES + PIECE * pieces, PIECE):
        x0, z0, x1, z1 = scratch[at], scratch[at + 1], scratch[at + 2], scratch[at + 3]
        if x0 > x1:
            x0, z0, x1, z1 = x1, z1, x0, z0
        lowest, highest = min(z0, z1) - deepen, max(z0, z1) + deepen
        begin, end = first_square(x0, grow, size), square_after(x1, grow, size)
        if x1 - x0 <= THIN or (end - begin == 1 and x0 >= begin - grow and x1 <= begin + 1 + grow):
            for i in range(begin, end):
                scratch[LOW + i], scratch[HIGH + i] = min(scratch[LOW + i], lowest), max(scratch[HIGH + i], highest)
            continue
        slope = (z1 - z0) / (x1 - x0)
        for i in range(begin, end):
            one = z0 + (max(i - grow, x0) - x0) * slope
            other = z0 + (min(i + 1 + grow, x1) - x0) * slope
            low, high = max(min(one, other) - deepen, lowest), min(max(one, other) + deepen, highest)
            scratch[LOW + i], scratch[HIGH + i] = min(scratch[LOW + i], low), max(scratch[HIGH + i], high)


@kernel
def crossing_of_row(row: int, scratch: Scratch) -> tuple[float, float, int]:
    """Return first, second and sign of the face in scratch at the centres of a row.

    It covers centres with first < x <= second, as in `spans.py`; the sign is 0 where it covers none.
    """
    y = row + 0.5
    up, down, crossings = 0.0, 0.0, 0
    for k in range(3):
        a, b = FACE + 3 * k, FACE + 3 * (k + 1 if k < 2 else 0)
        if (scratch[a + 1] <= y) == (scratch[b + 1] <= y):
            continue
        upward = scratch[a + 1] <= y
        if not upward:
            a, b = b, a
        x = scratch[a] + (y - scratch[a + 1]) * ((scratch[b] - scratch[a]) * (1.0 / (scratch[b + 1] - scratch[a + 1])))
        if upward:
            up = x
        else:
            down = x
        crossings += 1
    if crossings == 0 or up == down:
        return 0.0, 0.0, 0
    return (down, up, 1) if down < up else (up, down, -1)
