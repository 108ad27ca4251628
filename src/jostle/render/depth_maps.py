"""Depth maps: the nearest and the farthest depth of a body at every pixel centre of a tile.

Section 4 of the paper draws with a depth buffer and counts with a stencil buffer; here both are arrays. Tiles and views are those
of `drawn_body.py`, what a face covers is said in `spans.py`. Everything is float64. A patch outside of the tile costs one test.
Where nothing is drawn the near depth stays +inf and the far depth -inf, as the caller filled them.
"""

from __future__ import annotations

import numpy as np

from jostle._types import Bytes, Floats
from jostle.kernels.handles import AddressTable
from jostle.kernels.jit import kernel
from jostle.render.drawn_body import DrawnBody, Table, drawn_shape, patch_count
from jostle.render.patches import Patches, patch_arrays
from jostle.render.spans import (
    NOT_PLACED,
    Scratch,
    as_view_and_size,
    depth_in_span,
    next_spans,
    scratch_for_drawing,
    span_at,
)

FULL = 255  # a count that stays where it is


@kernel
def draw_near_and_far(body: DrawnBody, near: Floats, far: Floats, scratch: Scratch) -> int:
    """Lower near and raise far, both (size, size), to the depths of a body.

    Returns the number of faces in patches that may touch the tile. `scratch` is of `scratch_for_drawing`; size is at most 4096.
    """
    patch, face, drawn = 0, NOT_PLACED, 0
    while patch < patch_count(body.mesh):
        patch, face, spans, begun = next_spans(body, patch, face, scratch)
        drawn += begun
        for k in range(spans):
            span = span_at(scratch, k)
            j, first = span.row, span.first
            for i in range(span.after - first):
                depth = depth_in_span(span, i)
                near[j, first + i] = min(near[j, first + i], depth)
                far[j, first + i] = max(far[j, first + i], depth)
    return drawn


@kernel
def draw_far(body: DrawnBody, far: Floats, scratch: Scratch) -> int:
    """Raise far (size, size) to the depths of a body; all as in `draw_near_and_far`."""
    patch, face, drawn = 0, NOT_PLACED, 0
    while patch < patch_count(body.mesh):
        patch, face, spans, begun = next_spans(body, patch, face, scratch)
        drawn += begun
        for k in range(spans):
            span = span_at(scratch, k)
            j, first = span.row, span.first
            for i in range(span.after - first):
                depth = depth_in_span(span, i)
                far[j, first + i] = max(far[j, first + i], depth)
    return drawn


@kernel
def count_in_front(body: DrawnBody, limit: Floats, count: Bytes, scratch: Scratch) -> int:
    """Add 1 to count (size, size) uint8 for every face at or before limit (size, size); 255 stays. The paper's RenderTestZ.

    All else as in `draw_near_and_far`.
    """
    patch, face, drawn = 0, NOT_PLACED, 0
    while patch < patch_count(body.mesh):
        patch, face, spans, begun = next_spans(body, patch, face, scratch)
        drawn += begun
        for k in range(spans):
            span = span_at(scratch, k)
            j, first = span.row, span.first
            for i in range(span.after - first):
                depth = depth_in_span(span, i)
                if depth <= limit[j, first + i] and count[j, first + i] < FULL:
                    count[j, first + i] += 1
    return drawn


@kernel
def draw_shape(table: Table, shape: int, view: Floats, size: int, near: Floats, far: Floats, scratch: Floats) -> int:
    """Draw body `shape` of a table of patches under a view (12,): `draw_near_and_far` for Python."""
    return draw_near_and_far(drawn_shape(table, shape, view, size), near, far, scratch)


def depth_maps(patches: Patches, view: Floats, size: int) -> tuple[Floats, Floats]:
    """Draw one mesh.

    Parameters
    ----------
    patches : Patches
        Of `patches_of`.
    view : (12,) or (3, 4) float64
        From body coordinates to pixels x, y and depth z.
    size : int
        Pixels on a side, 1 … 4096.

    Returns
    -------
    near, far : (size, size) float64
        Smallest and largest depth at each pixel centre; row j has the centres with y = j + 0.5. +inf and -inf where nothing is.
    """
    matrix, size = as_view_and_size(view, size)
    near, far = np.full((size, size), np.inf), np.full((size, size), -np.inf)
    table = AddressTable([patch_arrays(patches)])
    draw_shape(table.table, 0, matrix, size, near, far, scratch_for_drawing())
    return near, far
