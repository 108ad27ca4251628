"""Depth maps: the nearest and the farthest depth of a body at every pixel centre of a tile.

Section 4 of the paper draws with a depth buffer and counts with a stencil buffer; here both are arrays. A tile is a square of
pixels, pixel (i, j) with its centre at (i + 0.5, j + 0.5); a view is the 3x4 matrix, as 12 numbers, from body coordinates to
pixels x, y and the depth z, which grows away from the eye and keeps its unit of length. What a face covers is said in `spans.py`.
Everything is float64. The kernels are for use inside of other kernels: a body is a row of a table of patches (`patch_arrays`),
and a patch outside of the tile costs one test. Where nothing is drawn the near depth stays +inf and the far depth -inf, as the
caller filled them.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from jostle.kernels.handles import AddressTable
from jostle.kernels.jit import kernel
from jostle.render.patches import Patches, patch_arrays
from jostle.render.spans import (
    NOT_PLACED,
    SPANS,
    Floats,
    Table,
    as_view_and_size,
    next_spans,
    patch_count,
    scratch_for_drawing,
)

Counts = NDArray[np.uint8]

FULL = 255  # a count that stays where it is


@kernel
def draw_near_and_far(table: Table, shape: int, view: Floats, size: int, near: Floats, far: Floats, scratch: Floats) -> int:
    """Lower near and raise far, both (size, size), to the depths of body `shape` of table (n, 12 or more) under view (12,).

    Returns the number of faces in patches that may touch the tile. `scratch` is of `scratch_for_drawing`; size is at most 4096.
    """
    patch, face, drawn = 0, NOT_PLACED, 0
    while patch < patch_count(table, shape):
        patch, face, spans, begun = next_spans(table, shape, view, size, patch, face, scratch)
        drawn += begun
        for at in range(SPANS, SPANS + 8 * spans, 8):
            j, first, after = int(scratch[at]), int(scratch[at + 1]), int(scratch[at + 2])
            z, step, lowest, highest = scratch[at + 4], scratch[at + 5], scratch[at + 6], scratch[at + 7]
            for i in range(after - first):
                depth = min(max(z + i * step, lowest), highest)
                near[j, first + i] = min(near[j, first + i], depth)
                far[j, first + i] = max(far[j, first + i], depth)
    return drawn


@kernel
def draw_far(table: Table, shape: int, view: Floats, size: int, far: Floats, scratch: Floats) -> int:
    """Raise far (size, size) to the depths of body `shape` under view (12,); all as in `draw_near_and_far`."""
    patch, face, drawn = 0, NOT_PLACED, 0
    while patch < patch_count(table, shape):
        patch, face, spans, begun = next_spans(table, shape, view, size, patch, face, scratch)
        drawn += begun
        for at in range(SPANS, SPANS + 8 * spans, 8):
            j, first, after = int(scratch[at]), int(scratch[at + 1]), int(scratch[at + 2])
            z, step, lowest, highest = scratch[at + 4], scratch[at + 5], scratch[at + 6], scratch[at + 7]
            for i in range(after - first):
                depth = min(max(z + i * step, lowest), highest)
                far[j, first + i] = max(far[j, first + i], depth)
    return drawn


@kernel
def count_in_front(table: Table, shape: int, view: Floats, size: int, limit: Floats, count: Counts, scratch: Floats) -> int:
    """Add 1 to count (size, size) uint8 for every face at or before limit (size, size); 255 stays. The paper's RenderTestZ.

    All else as in `draw_near_and_far`.
    """
    patch, face, drawn = 0, NOT_PLACED, 0
    while patch < patch_count(table, shape):
        patch, face, spans, begun = next_spans(table, shape, view, size, patch, face, scratch)
        drawn += begun
        for at in range(SPANS, SPANS + 8 * spans, 8):
            j, first, after = int(scratch[at]), int(scratch[at + 1]), int(scratch[at + 2])
            z, step, lowest, highest = scratch[at + 4], scratch[at + 5], scratch[at + 6], scratch[at + 7]
            for i in range(after - first):
                depth = min(max(z + i * step, lowest), highest)
                if depth <= limit[j, first + i] and count[j, first + i] < FULL:
                    count[j, first + i] += 1
    return drawn


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
    draw_near_and_far(table.table, 0, matrix, size, near, far, scratch_for_drawing())
    return near, far
