"""The test that never misses (`conservative=True`): whole pixels instead of rays through their centres.

Sampling loses what is smaller than a pixel. Here every face gives each pixel that it touches the range of its depths over the whole
square, widened by what rounding may do (`render/depth_ranges.py`); a body is possibly inside of a pixel's column on these ranges,
and between them where the ray through the centre is inside. A pixel collides when both bodies are possibly inside at a common
depth. Bodies that share a point always have such a pixel, also where they only touch; those that are reported have points within a
diagonal of a pixel. The README has the proof. For convex bodies the ends of all ranges decide: there is no gap outside.

Not in the paper, whose hardware could only sample.
"""

from __future__ import annotations

import numpy as np

from jostle.frame import Floats, Ints
from jostle.kernels.jit import kernel
from jostle.methods.image_space.interval import fill_map
from jostle.methods.image_space.layers import Bytes, Places
from jostle.render.depth_ranges import count_ranges, draw_possible_near_and_far, fill_ranges, ranges_meet, sort_ranges
from jostle.render.spans import Table


@kernel
def possible_depths(
    table: Table, shape_a: int, shape_b: int, view_a: Floats, view_b: Floats, size: int, slack_xy: float, slack_z: float,
    low: Floats, high: Floats, near: Floats, far: Floats, scratch: Floats,
) -> tuple[int, int]:  # fmt: skip
    """Write the depths low <= high that both bodies may have at each pixel; low > high where there are none. As `common_depths`."""
    fill_map(low, np.inf)
    fill_map(high, -np.inf)
    drawn = draw_possible_near_and_far(table, shape_a, view_a, size, slack_xy, slack_z, low, high, scratch)
    if drawn == 0:
        return 0, 0
    fill_map(near, np.inf)
    fill_map(far, -np.inf)
    drawn += draw_possible_near_and_far(table, shape_b, view_b, size, slack_xy, slack_z, near, far, scratch)
    count = 0
    for j in range(size):
        for i in range(size):
            low[j, i] = max(low[j, i], near[j, i])
            high[j, i] = min(high[j, i], far[j, i])
            count += low[j, i] <= high[j, i]
    return count, drawn


@kernel
def list_ranges(
    table: Table, shape_a: int, shape_b: int, view_a: Floats, view_b: Floats, size: int, slack_xy: float, slack_z: float,
    mask: Bytes, first_a: Places, first_b: Places, begin: Floats, end: Floats, label: Ints, scratch: Floats,
) -> tuple[int, int]:  # fmt: skip
    """List the ranges of both bodies where mask (size, size) is set, from begin to end (n,) each; otherwise as `list_layers`."""
    of_a = count_ranges(table, shape_a, view_a, size, slack_xy, slack_z, mask, first_a, scratch)
    of_b = count_ranges(table, shape_b, view_b, size, slack_xy, slack_z, mask, first_b, scratch)
    if of_a + of_b <= end.shape[0]:
        fill_ranges(
            table, shape_a, view_a, size, slack_xy, slack_z, mask, first_a, begin[:of_a], end[:of_a], label[:of_a], scratch
        )  # fmt: skip
        fill_ranges(
            table, shape_b, view_b, size, slack_xy, slack_z, mask, first_b, begin[of_a:], end[of_a:], label[of_a:], scratch
        )  # fmt: skip
        sort_ranges(size, first_a, begin[:of_a], end[:of_a], label[:of_a])
        sort_ranges(size, first_b, begin[of_a:], end[of_a:], label[of_a:])
    return of_a, of_a + of_b


@kernel
def common_ranges(
    table: Table, shape_a: int, shape_b: int, view_a: Floats, view_b: Floats, size: int, slack_xy: float, slack_z: float,
    longest: bool, low: Floats, high: Floats, mask: Bytes, firsts: Places, begin: Floats, end: Floats, label: Ints, scratch: Floats,
) -> tuple[int, int]:  # fmt: skip
    """Compare where both bodies are possibly inside, at pixels with low <= high; as `common_layers` with ranges for crossings."""
    pixels = size * size
    first_a, first_b = firsts[: pixels + 2], firsts[pixels + 2 : 2 * pixels + 4]
    for j in range(size):
        for i in range(size):
            mask[j, i] = low[j, i] <= high[j, i]
    of_a, needed = list_ranges(
        table, shape_a, shape_b, view_a, view_b, size, slack_xy, slack_z, mask, first_a, first_b, begin, end, label, scratch
    )
    if needed > end.shape[0]:
        return 0, needed
    begin_b, end_b, label_b = begin[of_a:], end[of_a:], label[of_a:]
    found = 0
    for j in range(size):
        for i in range(size):
            if mask[j, i]:
                in_a, out_a, in_b, out_b = ranges_meet(
                    first_a, begin, end, label, first_b, begin_b, end_b, label_b, j * size + i, longest
                )
                low[j, i], high[j, i] = np.inf, -np.inf
                if in_a >= 0:
                    low[j, i] = max(begin[in_a], begin_b[in_b])
                    high[j, i] = min(end[out_a], end_b[out_b])
                    found += 1
    return found, needed
