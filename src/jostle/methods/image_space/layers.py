"""Concave bodies by layered depth: all depths at which the surfaces cross the ray of a pixel, as intervals inside, intersected.

The paper's bodies are compositions of convex blocks (§2, §4), each of which a ray meets at most twice. A concave body it meets in
any number of intervals. Near and far depths do not decide then: two meshes of two boxes each, those of one between and beyond those
of the other, collide nowhere. Nor does the parity of faces before the farthest one, which misses where both are concave. So where
near and far depths overlap, and only there, every crossing is kept (`render/depth_layers.py`), sorted, and the intervals of both
bodies are compared. A point is inside where the winding number is not 0: parts of a mesh may overlap, cavities are free.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from jostle.frame import Floats, Ints
from jostle.kernels.handles import float64_at, int32_at
from jostle.kernels.jit import kernel
from jostle.render.depth_layers import count_layers, fill_layers, layers_meet, sort_by_depth, sort_layers
from jostle.render.spans import (
    CENTRE,
    FIRST_POINT,
    HALF,
    ROW,
    SPANS,
    Table,
    box_is_outside,
    faces_of_patch,
    patch_count,
    place_patch,
    spans_of_faces,
)

Bytes = NDArray[np.uint8]
Places = NDArray[np.int64]


@kernel
def list_layers(
    table: Table, shape_a: int, shape_b: int, view_a: Floats, view_b: Floats, size: int, mask: Bytes,
    first_a: Places, first_b: Places, depth: Floats, label: Ints, scratch: Floats,
) -> tuple[int, int]:  # fmt: skip
    """List all crossings of both bodies where mask (size, size) is set; returns how many there are of A and of both.

    Those of A come first in depth and label (n,), then those of B; first_a and first_b (size * size + 2,) count each from 0.
    Nothing is listed when there is not room for all.
    """
    of_a = count_layers(table, shape_a, view_a, size, mask, first_a, scratch)
    of_b = count_layers(table, shape_b, view_b, size, mask, first_b, scratch)
    if of_a + of_b <= depth.shape[0]:
        fill_layers(table, shape_a, view_a, size, mask, first_a, depth[:of_a], label[:of_a], scratch)
        fill_layers(table, shape_b, view_b, size, mask, first_b, depth[of_a:], label[of_a:], scratch)
        sort_layers(size, first_a, depth[:of_a], label[:of_a])
        sort_layers(size, first_b, depth[of_a:], label[of_a:])
    return of_a, of_a + of_b


@kernel
def common_layers(
    table: Table, shape_a: int, shape_b: int, view_a: Floats, view_b: Floats, size: int, longest: bool, low: Floats, high: Floats,
    mask: Bytes, firsts: Places, depth: Floats, label: Ints, scratch: Floats,
) -> tuple[int, int]:  # fmt: skip
    """Compare the layers of both bodies where low <= high, and put their common depths there, or low > high where there are none.

    low, high, mask: (size, size); the longest common interval is taken, or the first. Returns the number of colliding pixels, and
    the room that lists need; where depth and label (n,) have less, nothing was changed.
    """
    pixels = size * size
    first_a, first_b = firsts[: pixels + 2], firsts[pixels + 2 : 2 * pixels + 4]
    for j in range(size):
        for i in range(size):
            mask[j, i] = low[j, i] <= high[j, i]
    of_a, needed = list_layers(table, shape_a, shape_b, view_a, view_b, size, mask, first_a, first_b, depth, label, scratch)
    if needed > depth.shape[0]:
        return 0, needed
    depth_b, label_b = depth[of_a:], label[of_a:]
    found = 0
    for j in range(size):
        for i in range(size):
            if mask[j, i]:
                in_a, out_a, in_b, out_b = layers_meet(first_a, depth, label, first_b, depth_b, label_b, j * size + i, longest)
                low[j, i], high[j, i] = np.inf, -np.inf
                if in_a >= 0:
                    low[j, i] = max(depth[in_a], depth_b[in_b])
                    high[j, i] = min(depth[out_a], depth_b[out_b])
                    found += 1
    return found, needed


@kernel
def pixel_collides(
    table: Table, shape_a: int, shape_b: int, view_a: Floats, view_b: Floats, size: int, pixel: int, both_convex: bool,
    firsts: Places, depth: Floats, label: Ints, scratch: Floats,
) -> bool:  # fmt: skip
    """Whether both bodies share a depth at one pixel: to the bit what a comparison of the whole tile says of it.

    firsts (4 or more,), depth and label (n,) are written over; where they have not room for all crossings the answer is no.
    """
    of_a = layers_of_pixel(table, shape_a, view_a, size, pixel, depth, label, scratch)
    if of_a == 0 or of_a > depth.shape[0]:
        return False
    depth_b, label_b = depth[of_a:], label[of_a:]
    of_b = layers_of_pixel(table, shape_b, view_b, size, pixel, depth_b, label_b, scratch)
    if of_b == 0 or of_b > depth_b.shape[0]:
        return False
    if both_convex:
        return bool(max(depth[0], depth_b[0]) <= min(depth[of_a - 1], depth_b[of_b - 1]))
    firsts[0], firsts[1], firsts[2], firsts[3] = 0, of_a, 0, of_b
    return layers_meet(firsts[:2], depth, label, firsts[2:4], depth_b, label_b, 0, False)[0] >= 0


@kernel
def layers_of_pixel(
    table: Table, shape: int, view: Floats, size: int, pixel: int, depth: Floats, label: Ints, scratch: Floats
) -> int:
    """List the crossings of one pixel in depth and label (n,), sorted, the same bits as in `list_layers`; returns their number.

    Where there is not room for all, what is listed means nothing.
    """
    j, i = pixel // size, pixel % size
    centre = float64_at(table[shape, CENTRE], table[shape, CENTRE + 1])
    half = float64_at(table[shape, HALF], table[shape, HALF + 1])
    first_point = int32_at(table[shape, FIRST_POINT], table[shape, FIRST_POINT + 1])
    count = 0
    for patch in range(patch_count(table, shape)):
        if box_is_outside(centre, half, patch, view, 0, float(i), i + 1.0):
            continue
        if box_is_outside(centre, half, patch, view, 1, float(j), j + 1.0):
            continue
        place_patch(table, shape, patch, view, size, scratch)
        # A picture that ends above and below this row: no other row of any face is looked at.
        for k in range(first_point[patch + 1] - first_point[patch]):
            scratch[ROW + k] = min(max(scratch[ROW + k], float(j)), j + 1.0)
        face, end = faces_of_patch(table, shape, patch)
        while face < end:
            face, spans = spans_of_faces(table, shape, face, end, size, scratch)
            for at in range(SPANS, SPANS + 8 * spans, 8):
                before = i - int(scratch[at + 1])
                if before >= 0 and i < int(scratch[at + 2]):
                    if count < depth.shape[0]:
                        depth[count] = min(max(scratch[at + 4] + before * scratch[at + 5], scratch[at + 6]), scratch[at + 7])
                        label[count] = int(scratch[at + 3])
                    count += 1
    if count <= depth.shape[0]:
        sort_by_depth(depth, label, 0, count)
    return count
