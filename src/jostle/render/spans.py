"""Spans: the pixel centres of a row that a face covers, without gaps or overlaps.

A row of centres lies at y = j + 0.5. A vertex belongs to the rows from the first with vy <= y on; a face with vertices on
both sides of a row has exactly two edges that cross it. A crossing is computed from the lower to the upper end of the
edge, so both faces of the edge get the same bits, and the face covers the centres with first < x <= second, with the sign
of the order of the two crossings. Over a closed mesh the signed covers of every centre sum to exactly 0: the terms of
each edge cancel, in floating point, despite rounding. No coordinate is snapped. The depth runs along the edge that spans
most rows and from there along the row, and stays between the depths of the two crossings: its error is that of moving the
centre by a rounding, also for slivers.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from jostle._types import Floats
from jostle.geometry.vector import point_from
from jostle.kernels.jit import kernel
from jostle.render.drawn_body import DrawnBody, faces_of_patch, image, patch_count, patch_is_outside
from jostle.render.patches import POINTS_IN_PATCH

Scratch = Any  # (SCRATCH,) float64, of `scratch_for_drawing`

# Parts of the scratch. For every point of the current patch: its tile coordinates, its first row and first column (0 … size).
X, Y, Z, ROW, COLUMN = 0, POINTS_IN_PATCH, 2 * POINTS_IN_PATCH, 3 * POINTS_IN_PATCH, 4 * POINTS_IN_PATCH
# Then the spans (see `Span`), eight numbers each, one cache line; the row as its y.
SPANS = 5 * POINTS_IN_PATCH
SPAN_Y, SPAN_FIRST, SPAN_AFTER, SPAN_LABEL, SPAN_DEPTH, SPAN_STEP, SPAN_LOWEST, SPAN_HIGHEST, SPAN = range(9)
MOST_SPANS = 4096
SCRATCH = SPANS + SPAN * MOST_SPANS

NOT_PLACED = -1  # in place of a face: the points of the patch are not in scratch yet
LARGEST_TILE = MOST_SPANS  # pixels on a side: a face has at most one span in a row
TALL, NARROW = 8.0, 2.0  # rows and pixels
THIN = 1e-250  # pixels; faces that are thinner at their widest have no slope


class Span(NamedTuple):
    """The pixels of a row that a face covers."""

    row: int
    first: int
    after: int  # the pixel after the last
    label: int  # sign * (face + 1)
    depth: float  # at the first pixel
    step: float  # of the depth, to the next pixel
    lowest: float  # depth of the row
    highest: float


def scratch_for_drawing() -> Floats:
    """Return scratch for all drawing kernels, one per thread."""
    return np.empty(SCRATCH)


@kernel(forceinline=True)
def span_at(scratch: Scratch, k: int) -> Span:
    """Return span k in scratch."""
    at = SPANS + SPAN * k
    return Span(
        int(scratch[at + SPAN_Y]), int(scratch[at + SPAN_FIRST]), int(scratch[at + SPAN_AFTER]), int(scratch[at + SPAN_LABEL]),
        scratch[at + SPAN_DEPTH], scratch[at + SPAN_STEP], scratch[at + SPAN_LOWEST], scratch[at + SPAN_HIGHEST],
    )  # fmt: skip


@kernel(forceinline=True)
def depth_in_span(span: Span, i: int) -> float:
    """Return the depth at pixel i of a span, relative to its first."""
    return min(max(span.depth + i * span.step, span.lowest), span.highest)


@kernel(forceinline=True)
def within(x: float, size: float) -> float:
    """Return x clamped to 0 … size."""
    return min(max(x, 0.0), size)


@kernel(forceinline=True)
def column_of(x: float) -> float:
    """Return the first pixel whose centre lies beyond x."""
    return float(np.floor(x - 0.5) + 1.0)


@kernel
def place_patch(body: DrawnBody, patch: int, scratch: Scratch) -> None:
    """Write tile coordinates, first row and column of a patch's points to scratch."""
    mesh, view, width = body.mesh, body.to_tile, float(body.size)
    first, last = mesh.first_point[patch], mesh.first_point[patch + 1]
    for i in range(last - first):
        point = point_from(mesh.points, 3 * (first + i))
        x, y = image(view.x, point), image(view.y, point)
        scratch[X + i] = x
        scratch[Y + i] = y
        scratch[Z + i] = image(view.z, point)
        scratch[ROW + i] = within(np.ceil(y - 0.5), width)
        scratch[COLUMN + i] = within(column_of(x), width)


@kernel
def spans_of_faces(body: DrawnBody, face: int, end: int, scratch: Scratch) -> tuple[int, int]:
    """Write spans of faces `face` … `end` of the placed patch to scratch.

    Stops when scratch is full. Returns the next face, and the number of spans. The sign is +1 where the face's corners turn
    from x to y, which is where the ray leaves a solid if its faces are counter-clockwise from outside and x, y, z are
    right-handed; else -1.
    """
    corners = body.mesh.corners
    at = SPANS
    room = SCRATCH - SPAN * body.size
    while face < end and at <= room:
        # Unsigned, so that Numba does not test for negative indices.
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
        # Rows and columns stay floats: converting back and forth costs more than the arithmetic between.
        y, middle, bottom = scratch[ROW + low] + 0.5, scratch[ROW + mid], scratch[ROW + high]
        per_row = 1.0 / (y2 - y0)
        long_x, long_z = (x2 - x0) * per_row, (z2 - z0) * per_row
        # Crossings are clamped to their edge, or a face skipped above might have covered a centre.
        least, most = min(column0, column2), max(column0, column2)
        wide = x1 - (x0 + (y1 - y0) * long_x)
        step = (z1 - (z0 + (y1 - y0) * long_z)) / wide if abs(wide) > THIN else 0.0
        # An empty row is written and then overwritten: mispredicted branches would take a tenth of the time. Tall thin
        # faces have too many of them for that.
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
                scratch[at + SPAN_Y] = y
                scratch[at + SPAN_FIRST] = first
                scratch[at + SPAN_AFTER] = max(long_edge, short_edge)
                scratch[at + SPAN_LABEL] = label if long_edge < short_edge else -label
                scratch[at + SPAN_DEPTH] = z + ((first + 0.5) - x) * step
                scratch[at + SPAN_STEP] = step
                scratch[at + SPAN_LOWEST] = min(z, other)
                scratch[at + SPAN_HIGHEST] = max(z, other)
                at += SPAN * int(long_edge != short_edge)
                y += 1.0
    return face, (at - SPANS) // SPAN


@kernel
def next_spans(body: DrawnBody, patch: int, face: int, scratch: Scratch) -> tuple[int, int, int, int]:
    """Write the spans of the next faces of a body to scratch.

    Begin with patch 0 and face NOT_PLACED, end with `patch_count`. Returns the next patch and face, the number of spans, and
    the number of faces of patches that were begun. A patch outside the tile costs one test.
    """
    begun = 0
    while patch < patch_count(body.mesh):
        first, end = faces_of_patch(body.mesh, patch)
        if face == NOT_PLACED and not patch_is_outside(body, patch, 0.5, float(body.size)):
            place_patch(body, patch, scratch)
            face = first
            begun += end - first
        if NOT_PLACED < face < end:
            face, spans = spans_of_faces(body, face, end, scratch)
            return patch, face, spans, begun
        patch, face = patch + 1, NOT_PLACED
    return patch, face, 0, begun
