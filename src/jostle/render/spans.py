"""Spans: which pixel centres of a row a face covers, so that the picture of a closed mesh has neither gaps nor doubled pixels.

A row of centres lies at y = j + 0.5. A vertex belongs to the rows from the first with vy <= y on; a face with vertices on both
sides of a row has exactly two edges that cross it. A crossing is computed from the lower to the upper end of the edge, so both
faces of the edge get the same bits, and the face covers the centres with first < x <= second, with the sign of the order of the
two crossings. Over a closed mesh the signed covers of every centre sum to exactly 0: the terms of each edge cancel, in floating
point, whatever the rounding. No coordinate is snapped. The depth runs along the edge that spans most rows and from there along the
row, and stays between the depths of the two crossings: its error is that of moving the centre by a rounding, also for slivers.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from jostle import cast
from jostle.kernels.arrays import read_only_view
from jostle.kernels.handles import float64_at, int32_at
from jostle.kernels.jit import kernel
from jostle.render.patches import POINTS_IN_PATCH

Floats = NDArray[np.float64]
Ints = NDArray[np.int32]
Table = NDArray[np.int64]

# Columns of a table of patches (`patch_arrays`): the address of each array, its length beside it.
POINTS, CORNERS, FIRST_POINT, FIRST_FACE, CENTRE, HALF = 0, 2, 4, 6, 8, 10

# Parts of the scratch. For every point of the patch at hand: its tile coordinates, its first row and first column (0 … size).
X, Y, Z, ROW, COLUMN = 0, POINTS_IN_PATCH, 2 * POINTS_IN_PATCH, 3 * POINTS_IN_PATCH, 4 * POINTS_IN_PATCH
# Then the spans, eight numbers each, which fill a line of the cache: y of the row, first pixel and the one after the last,
# sign * (face + 1), depth at the first pixel, its step to the next, and the lowest and highest depth of the row.
SPANS = 5 * POINTS_IN_PATCH
MOST_SPANS = 4096
SCRATCH = SPANS + 8 * MOST_SPANS

NOT_PLACED = -1  # in place of a face: the points of the patch are not in scratch yet
LARGEST_TILE = MOST_SPANS  # pixels on a side: a face has at most one span in a row
ROUNDING = 2.0**-49  # sixteen half units in the last place: more than the roundings of a box and of a point in a view
TALL, NARROW = 8.0, 2.0  # rows and pixels
THIN = 1e-250  # pixels; what is thinner than that at its widest has no slope


def scratch_for_drawing() -> Floats:
    """Scratch of all drawing kernels, one for each thread."""
    return np.empty(SCRATCH)


def as_view_and_size(view: Floats, size: int) -> tuple[Floats, int]:
    """Return a view as the kernels take it, (12,), and a size of a tile that they can draw."""
    return read_only_view(np.asarray(view, np.float64).reshape(12)), cast.as_count(size, "size", 1, LARGEST_TILE)


@kernel
def patch_count(table: Table, shape: int) -> int:
    """Patches of body `shape` of a table (n, 12 or more)."""
    return int(table[shape, FIRST_FACE + 1] - 1)


@kernel
def faces_of_patch(table: Table, shape: int, patch: int) -> tuple[int, int]:
    """First face of a patch, and the one after its last."""
    first_face = int32_at(table[shape, FIRST_FACE], table[shape, FIRST_FACE + 1])
    return first_face[patch], first_face[patch + 1]


@kernel
def box_is_outside(centre: Floats, half: Floats, box: int, view: Floats, row: int, low: float, high: float) -> bool:
    """Whether a patch's box lies before low or beyond high in coordinate `row` of the tile, with its roundings; flat arrays."""
    p, q, r, t = view[4 * row], view[4 * row + 1], view[4 * row + 2], view[4 * row + 3]
    x, y, z = centre[3 * box], centre[3 * box + 1], centre[3 * box + 2]
    middle = p * x + q * y + r * z + t
    reach = abs(p) * half[3 * box] + abs(q) * half[3 * box + 1] + abs(r) * half[3 * box + 2]
    reach += ROUNDING * (abs(p * x) + abs(q * y) + abs(r * z) + abs(t) + reach)
    return bool(middle + reach < low or middle - reach > high)


@kernel
def patch_is_outside(table: Table, shape: int, patch: int, view: Floats, low: float, high: float) -> bool:
    """Whether the box of a patch misses the square low … high of the tile's x and y."""
    centre = float64_at(table[shape, CENTRE], table[shape, CENTRE + 1])
    half = float64_at(table[shape, HALF], table[shape, HALF + 1])
    return box_is_outside(centre, half, patch, view, 0, low, high) or box_is_outside(centre, half, patch, view, 1, low, high)


@kernel(forceinline=True)
def within(x: float, size: float) -> float:
    """The nearest number to x in 0 … size."""
    return min(max(x, 0.0), size)


@kernel(forceinline=True)
def column_of(x: float) -> float:
    """First pixel whose centre lies beyond x."""
    return float(np.floor(x - 0.5) + 1.0)


@kernel
def place_patch(table: Table, shape: int, patch: int, view: Floats, size: int, scratch: Floats) -> None:
    """Bring the points of a patch into the tile: coordinates, first row and first column of each into scratch."""
    points = float64_at(table[shape, POINTS], table[shape, POINTS + 1])
    first_point = int32_at(table[shape, FIRST_POINT], table[shape, FIRST_POINT + 1])
    first, last, width = first_point[patch], first_point[patch + 1], float(size)
    m0, m1, m2, m3 = view[0], view[1], view[2], view[3]
    m4, m5, m6, m7 = view[4], view[5], view[6], view[7]
    m8, m9, m10, m11 = view[8], view[9], view[10], view[11]
    for i in range(last - first):
        px, py, pz = points[3 * (first + i)], points[3 * (first + i) + 1], points[3 * (first + i) + 2]
        x = ((m0 * px + m1 * py) + m2 * pz) + m3
        y = ((m4 * px + m5 * py) + m6 * pz) + m7
        scratch[X + i] = x
        scratch[Y + i] = y
        scratch[Z + i] = ((m8 * px + m9 * py) + m10 * pz) + m11
        scratch[ROW + i] = within(np.ceil(y - 0.5), width)
        scratch[COLUMN + i] = within(column_of(x), width)


@kernel
def spans_of_faces(table: Table, shape: int, face: int, end: int, size: int, scratch: Floats) -> tuple[int, int]:
    """Spans of the faces `face` … `end` of the patch in scratch, into scratch, as many as it has room for.

    Returns the face to go on with, and the number of spans. The sign is +1 where the face's corners turn from x to y, which is
    where the ray leaves a solid if its faces are seen counter-clockwise from outside and x, y, z are right-handed; else -1.
    """
    corners = int32_at(table[shape, CORNERS], table[shape, CORNERS + 1])
    at = SPANS
    room = SCRATCH - 8 * size
    while face < end and at <= room:
        # Unsigned, so that no index is tested for being negative.
        low, mid, high = np.uint32(corners[3 * face]), np.uint32(corners[3 * face + 1]), np.uint32(corners[3 * face + 2])
        face += 1
        if scratch[ROW + low] == scratch[ROW + mid] and scratch[ROW + mid] == scratch[ROW + high]:
            continue
        if scratch[COLUMN + low] == scratch[COLUMN + mid] and scratch[COLUMN + mid] == scratch[COLUMN + high]:
            continue
        label = float(face)
        if scratch[Y + low] > scratch[Y + mid]:
            low, mid, label = mid, low, -label
        if scratch[Y + mid] > scratch[Y + high]:
            mid, high, label = high, mid, -label
        if scratch[Y + low] > scratch[Y + mid]:
            low, mid, label = mid, low, -label
        x0, y0, z0, column0 = scratch[X + low], scratch[Y + low], scratch[Z + low], scratch[COLUMN + low]
        x1, y1, z1, column1 = scratch[X + mid], scratch[Y + mid], scratch[Z + mid], scratch[COLUMN + mid]
        x2, y2, z2, column2 = scratch[X + high], scratch[Y + high], scratch[Z + high], scratch[COLUMN + high]
        # Rows and columns stay floats to the end: a conversion to and fro takes longer than the arithmetic between.
        y, middle, bottom = scratch[ROW + low] + 0.5, scratch[ROW + mid], scratch[ROW + high]
        per_row = 1.0 / (y2 - y0)
        long_x, long_z = (x2 - x0) * per_row, (z2 - z0) * per_row
        # A crossing is kept between the ends of its edge, or a face that was passed over above might have covered a centre.
        least, most = min(column0, column2), max(column0, column2)
        wide = x1 - (x0 + (y1 - y0) * long_x)
        step = (z1 - (z0 + (y1 - y0) * long_z)) / wide if abs(wide) > THIN else 0.0
        # An empty row is written and then written over, since a jump over it is often foreseen wrongly (a tenth of the time). Faces
        # that are tall and thin have too many of them for that.
        jumps = bottom - y > TALL and abs(wide) < NARROW
        while y < bottom:
            if y < middle:
                xs, ys, zs, xe, ye, ze, start, end_column, stop = x0, y0, z0, x1, y1, z1, column0, column1, middle
            else:
                xs, ys, zs, xe, ye, ze, start, end_column, stop = x1, y1, z1, x2, y2, z2, column1, column2, bottom
            per_row = 1.0 / (ye - ys)
            short_x, short_z = (xe - xs) * per_row, (ze - zs) * per_row
            short_least, short_most = min(start, end_column), max(start, end_column)
            while y < stop:
                x = x0 + (y - y0) * long_x
                long_edge = min(max(column_of(x), least), most)
                short_edge = min(max(column_of(xs + (y - ys) * short_x), short_least), short_most)
                if jumps and long_edge == short_edge:
                    y += 1.0
                    continue
                first = min(long_edge, short_edge)
                z, other = z0 + (y - y0) * long_z, zs + (y - ys) * short_z
                scratch[at] = y
                scratch[at + 1] = first
                scratch[at + 2] = max(long_edge, short_edge)
                scratch[at + 3] = label if long_edge < short_edge else -label
                scratch[at + 4] = z + ((first + 0.5) - x) * step
                scratch[at + 5] = step
                scratch[at + 6] = min(z, other)
                scratch[at + 7] = max(z, other)
                at += 8 * int(long_edge != short_edge)
                y += 1.0
    return face, (at - SPANS) // 8


@kernel
def next_spans(
    table: Table, shape: int, view: Floats, size: int, patch: int, face: int, scratch: Floats
) -> tuple[int, int, int, int]:
    """Spans of the next faces of body `shape`, into scratch; begin with patch 0 and face NOT_PLACED, end with `patch_count`.

    Returns the patch and the face to go on with, the number of spans, and the number of faces of patches that were begun. A patch
    outside of the tile costs one test.
    """
    begun = 0
    while patch < patch_count(table, shape):
        first, end = faces_of_patch(table, shape, patch)
        if face == NOT_PLACED and not patch_is_outside(table, shape, patch, view, 0.5, float(size)):
            place_patch(table, shape, patch, view, size, scratch)
            face = first
            begun += end - first
        if NOT_PLACED < face < end:
            face, spans = spans_of_faces(table, shape, face, end, size, scratch)
            return patch, face, spans, begun
        patch, face = patch + 1, NOT_PLACED
    return patch, face, 0, begun
