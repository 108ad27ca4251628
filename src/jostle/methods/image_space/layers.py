"""Concave bodies: all depths at which surfaces cross a pixel's ray, as intervals.

The paper's bodies are compositions of convex blocks (§2, §4), each of which a ray meets at most twice. A concave body it
meets in any number of intervals. Near and far depths do not decide then: two meshes of two boxes each, those of one
between and beyond those of the other, collide nowhere. Nor does the parity of faces before the farthest one, which misses
where both are concave. So where near and far depths overlap, and only there, every crossing is kept
(`render/depth_layers.py`), sorted, and the intervals of both bodies are compared. A point is inside where the winding
number is not 0: parts of a mesh may overlap, cavities are free.

The conservative test does the same with depth ranges over whole pixels (`render/depth_ranges.py`). Sampling loses what is
smaller than a pixel; there bodies that share a point always have a colliding pixel, even if they only touch, and bodies
that are reported have points within a diagonal of a pixel (README).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from jostle._types import Bytes, Floats, Ints, Longs
from jostle.kernels.jit import kernel
from jostle.kernels.sort import sort_by_two_keys
from jostle.methods.image_space.workspace import (
    CONSERVATIVE,
    HIGH,
    LOW,
    MASK,
    DrawnPair,
    Work,
    count_map,
    depth_map,
    mask_meeting_depths,
)
from jostle.render.depth_intervals import DepthList, intervals_meet
from jostle.render.depth_layers import count_layers, fill_layers, sort_layers
from jostle.render.depth_ranges import count_ranges, fill_ranges, sort_ranges
from jostle.render.drawn_body import DrawnBody, box_is_outside, faces_of_patch, patch_count
from jostle.render.spans import ROW, Scratch, depth_in_span, place_patch, span_at, spans_of_faces


@kernel(forceinline=True)
def depth_lists(work: Work, size: int, of_a: int) -> tuple[DepthList, DepthList]:
    """Return the lists of A, which has the first `of_a` of all rows, and of B."""
    firsts: Any = work.firsts
    lows: Any = work.depths
    highs: Any = work.ends if work.search.test == CONSERVATIVE else work.depths
    labels: Any = work.labels
    begin = size * size + 2
    return (
        DepthList(firsts[:begin], lows[:of_a], highs[:of_a], labels[:of_a]),
        DepthList(firsts[begin : 2 * begin], lows[of_a:], highs[of_a:], labels[of_a:]),
    )


@kernel
def count_depths(work: Work, pair: DrawnPair, body: DrawnBody, mask: Bytes, first: Longs) -> int:
    """Count the crossings (or ranges) of a body where mask (size, size) is set."""
    if work.search.test == CONSERVATIVE:
        return count_ranges(body, pair.slack, mask, first, work.scratch)
    return count_layers(body, mask, first, work.scratch)


@kernel
def fill_depths(work: Work, pair: DrawnPair, body: DrawnBody, mask: Bytes, depths: DepthList) -> None:
    """Write and sort the crossings or ranges that `count_depths` counted."""
    if work.search.test == CONSERVATIVE:
        fill_ranges(body, pair.slack, mask, depths, work.scratch)
        sort_ranges(body.size, depths)
    else:
        fill_layers(body, mask, depths, work.scratch)
        sort_layers(body.size, depths)


@kernel
def list_depths(work: Work, pair: DrawnPair, mask: Bytes) -> tuple[int, int]:
    """List the crossings (or ranges) of both bodies where mask (size, size) is set.

    Returns how many there are of A and of both; `depth_lists` has them. Nothing is listed when there is not room for all.
    """
    size = pair.a.size
    a, b = depth_lists(work, size, 0)
    of_a = count_depths(work, pair, pair.a, mask, a.first)
    of_b = count_depths(work, pair, pair.b, mask, b.first)
    if of_a + of_b <= work.depths.shape[0]:
        a, b = depth_lists(work, size, of_a)
        fill_depths(work, pair, pair.a, mask, a)
        fill_depths(work, pair, pair.b, mask, b)
    return of_a, of_a + of_b


@kernel
def common_intervals(work: Work, pair: DrawnPair, longest: bool) -> tuple[int, int]:
    """Compare the intervals of both bodies where LOW <= HIGH.

    Writes their common depths there, of the longest common interval or the first; LOW > HIGH where there is none. Returns the
    number of colliding pixels, and the room that lists need; with less room nothing is changed.
    """
    size, ranges = pair.a.size, work.search.test == CONSERVATIVE
    low, high, mask = depth_map(work, LOW, size), depth_map(work, HIGH, size), count_map(work, MASK, size)
    mask_meeting_depths(low, high, mask)
    of_a, needed = list_depths(work, pair, mask)
    if needed > work.depths.shape[0]:
        return 0, needed
    a, b = depth_lists(work, size, of_a)
    low_a, high_a, low_b, high_b, found = a.low, a.high, b.low, b.high, 0
    for j in range(size):
        for i in range(size):
            if mask[j, i]:
                common = intervals_meet(a, b, j * size + i, ranges, longest)
                low[j, i], high[j, i] = np.inf, -np.inf
                if common.in_a >= 0:
                    low[j, i] = max(low_a[common.in_a], low_b[common.in_b])
                    high[j, i] = min(high_a[common.out_a], high_b[common.out_b])
                    found += 1
    return found, needed


@kernel
def pixel_collides(work: Work, pair: DrawnPair, pixel: int) -> bool:
    """Return whether both bodies share a depth at one pixel.

    Equal to the bit to a comparison of the whole tile. Lists are overwritten; without room for all crossings the answer is
    no.
    """
    firsts: Any = work.firsts
    depth_a: Any = work.depths
    label_a: Any = work.labels
    of_a = layers_of_pixel(pair.a, pixel, depth_a, label_a, work.scratch)
    if of_a == 0 or of_a > depth_a.shape[0]:
        return False
    depth_b, label_b = depth_a[of_a:], label_a[of_a:]
    of_b = layers_of_pixel(pair.b, pixel, depth_b, label_b, work.scratch)
    if of_b == 0 or of_b > depth_b.shape[0]:
        return False
    if pair.both_convex:
        return bool(max(depth_a[0], depth_b[0]) <= min(depth_a[of_a - 1], depth_b[of_b - 1]))
    firsts[0], firsts[1], firsts[2], firsts[3] = 0, of_a, 0, of_b
    a, b = DepthList(firsts[:2], depth_a, depth_a, label_a), DepthList(firsts[2:4], depth_b, depth_b, label_b)
    return intervals_meet(a, b, 0, False, False).in_a >= 0


@kernel
def layers_of_pixel(body: DrawnBody, pixel: int, depth: Floats, label: Ints, scratch: Scratch) -> int:
    """List the sorted crossings of one pixel; return their number.

    The bits are those of `list_depths`. Without room for all of them the lists are meaningless.
    """
    mesh, view = body.mesh, body.to_tile
    j, i = pixel // body.size, pixel % body.size
    count = 0
    for patch in range(patch_count(mesh)):
        if box_is_outside(mesh, patch, view.x, float(i), i + 1.0) or box_is_outside(mesh, patch, view.y, float(j), j + 1.0):
            continue
        place_patch(body, patch, scratch)
        # Clamped to this row, so that no other row of any face is visited.
        for k in range(mesh.first_point[patch + 1] - mesh.first_point[patch]):
            scratch[ROW + k] = min(max(scratch[ROW + k], float(j)), j + 1.0)
        face, end = faces_of_patch(mesh, patch)
        while face < end:
            face, spans = spans_of_faces(body, face, end, scratch)
            for k in range(spans):
                span = span_at(scratch, k)
                if span.first <= i < span.after:
                    if count < depth.shape[0]:
                        depth[count] = depth_in_span(span, i - span.first)
                        label[count] = span.label
                    count += 1
    if count <= depth.shape[0]:
        sort_by_two_keys(depth, label, 0, count)
    return count
