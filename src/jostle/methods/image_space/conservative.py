"""The test that never misses (`conservative=True`): whole pixels instead of rays through their centres.

Sampling loses what is smaller than a pixel. Here every face gives each pixel that it touches the range of its depths over the whole
square, widened by what rounding may do (`render/depth_ranges.py`); a body is possibly inside of a pixel's column on these ranges,
and between them where the ray through the centre is inside. A pixel collides when both bodies are possibly inside at a common
depth. Bodies that share a point always have such a pixel, also where they only touch; those that are reported have points within a
diagonal of a pixel. The README has the proof. For convex bodies the ends of all ranges decide: there is no gap outside.

Not in the paper, whose hardware could only sample.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from jostle._types import Bytes
from jostle.kernels.jit import kernel
from jostle.methods.image_space.workspace import (
    FAR,
    HIGH,
    LOW,
    MASK,
    NEAR,
    DrawnPair,
    Work,
    count_map,
    depth_map,
    fill_map,
    mask_meeting_depths,
    meet_maps,
)
from jostle.render.depth_ranges import (
    RangeList,
    count_ranges,
    draw_possible_near_and_far,
    fill_ranges,
    ranges_meet,
    sort_ranges,
)


@kernel
def possible_depths(work: Work, pair: DrawnPair) -> tuple[int, int]:
    """Write the depths LOW <= HIGH that both bodies may have at each pixel; LOW > HIGH where there are none. As `common_depths`."""
    size = pair.a.size
    low, high = depth_map(work, LOW, size), depth_map(work, HIGH, size)
    fill_map(low, np.inf)
    fill_map(high, -np.inf)
    drawn = draw_possible_near_and_far(pair.a, pair.slack, low, high, work.scratch)
    if drawn == 0:
        return 0, 0
    near, far = depth_map(work, NEAR, size), depth_map(work, FAR, size)
    fill_map(near, np.inf)
    fill_map(far, -np.inf)
    drawn += draw_possible_near_and_far(pair.b, pair.slack, near, far, work.scratch)
    return meet_maps(work, size), drawn


@kernel(forceinline=True)
def range_lists(work: Work, size: int, of_a: int) -> tuple[RangeList, RangeList]:
    """Return the lists of A, which has the first `of_a` of all ranges, and of B."""
    firsts: Any = work.firsts
    lows: Any = work.depths
    highs: Any = work.ends
    labels: Any = work.labels
    begin = size * size + 2
    return (
        RangeList(firsts[:begin], lows[:of_a], highs[:of_a], labels[:of_a]),
        RangeList(firsts[begin : 2 * begin], lows[of_a:], highs[of_a:], labels[of_a:]),
    )


@kernel
def list_ranges(work: Work, pair: DrawnPair, mask: Bytes) -> tuple[int, int]:
    """List the ranges of both bodies where mask (size, size) is set, as `list_layers` does; `range_lists` has them."""
    size = pair.a.size
    a, b = range_lists(work, size, 0)
    of_a = count_ranges(pair.a, pair.slack, mask, a.first, work.scratch)
    of_b = count_ranges(pair.b, pair.slack, mask, b.first, work.scratch)
    if of_a + of_b <= work.ends.shape[0]:
        a, b = range_lists(work, size, of_a)
        fill_ranges(pair.a, pair.slack, mask, a, work.scratch)
        fill_ranges(pair.b, pair.slack, mask, b, work.scratch)
        sort_ranges(size, a)
        sort_ranges(size, b)
    return of_a, of_a + of_b


@kernel
def common_ranges(work: Work, pair: DrawnPair, longest: bool) -> tuple[int, int]:
    """Compare where both bodies are possibly inside, at pixels with LOW <= HIGH; as `common_layers` with ranges for crossings."""
    size = pair.a.size
    low, high, mask = depth_map(work, LOW, size), depth_map(work, HIGH, size), count_map(work, MASK, size)
    mask_meeting_depths(low, high, mask)
    of_a, needed = list_ranges(work, pair, mask)
    if needed > work.ends.shape[0]:
        return 0, needed
    a, b = range_lists(work, size, of_a)
    low_a, high_a, low_b, high_b, found = a.low, a.high, b.low, b.high, 0
    for j in range(size):
        for i in range(size):
            if mask[j, i]:
                common = ranges_meet(a, b, j * size + i, longest)
                low[j, i], high[j, i] = np.inf, -np.inf
                if common.in_a >= 0:
                    low[j, i] = max(low_a[common.in_a], low_b[common.in_b])
                    high[j, i] = min(high_a[common.out_a], high_b[common.out_b])
                    found += 1
    return found, needed
