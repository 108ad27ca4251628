"""Depth ranges: where a body may be inside the column over a whole pixel.

So that no common point of two bodies is missed: sampling at centres loses what lies between them. Each face gives every
pixel square that it touches the range of its depths over the square, found by clipping; sorted by depth, the column is
*possibly inside* on these ranges, and on the gaps between them where the winding of the ray through the centre is not 0:
no surface crosses a gap, so the whole square is inside at that depth, or outside. Two bodies that share a point share a
possible depth in the column that holds it, touching, edge-on faces and faces without area included; two that are reported
have points within a diagonal of a pixel. The paper has nothing like it.

A range's *label* is face << 2 | (sign + 1); the sign is that of `depth_layers.py` where the face crosses the ray through the
centre, else 0.

The slack (`clipping.Slack`) bounds how far the tile coordinates of a vertex may be from the true ones. Squares and ranges
grow by it, and by the rounding of the clipping itself: a point of the true face is a mean of its true corners, and the
same mean of the computed corners lies within the slack of it. The winding is robust to rounding too: the edges on which a
centre might be misplaced have both their faces in the same range, and cancel (`spans.py`).
"""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from jostle._types import Floats, Longs
from jostle.kernels.jit import kernel
from jostle.kernels.sort import sort_by_three_keys
from jostle.render.clipping import HIGH, LOW, Slack, columns_of_face, crossing_of_row, place_face, ranges_of_row
from jostle.render.depth_intervals import DepthList
from jostle.render.drawn_body import DrawnBody, faces_of_patch, patch_count, patch_is_outside
from jostle.render.spans import Scratch, place_patch

Mask = NDArray[Any]


@kernel
def draw_possible_near_and_far(body: DrawnBody, slack: Slack, near: Floats, far: Floats, scratch: Scratch) -> int:
    """Lower near and raise far (size, size) to the ends of all ranges of a body.

    Returns as `draw_near_and_far` does. Where they leave two bodies apart, so do the ranges. For a convex body that is all:
    it has no gaps outside.
    """
    size, drawn = body.size, 0
    for patch in range(patch_count(body.mesh)):
        if patch_is_outside(body, patch, -slack.xy, size + slack.xy):
            continue
        place_patch(body, patch, scratch)
        begin, end = faces_of_patch(body.mesh, patch)
        drawn += end - begin
        for face in range(begin, end):
            top, bottom = place_face(body, face, slack, scratch)
            for j in range(top, bottom):
                left, right, pieces = columns_of_face(j, size, scratch)
                ranges_of_row(left, right, pieces, size, scratch)
                for i in range(left, right):
                    near[j, i] = min(near[j, i], scratch[LOW + i])
                    far[j, i] = max(far[j, i], scratch[HIGH + i])
    return drawn


@kernel
def count_ranges(body: DrawnBody, slack: Slack, mask: Mask, first: Longs, scratch: Scratch) -> int:
    """Count the ranges of a body where mask (size, size) is not 0.

    Writes first (size * size + 2,) for `fill_ranges`.
    """
    size = body.size
    for p in range(size * size + 2):
        first[p] = 0
    for patch in range(patch_count(body.mesh)):
        if patch_is_outside(body, patch, -slack.xy, size + slack.xy):
            continue
        place_patch(body, patch, scratch)
        begin, end = faces_of_patch(body.mesh, patch)
        for face in range(begin, end):
            top, bottom = place_face(body, face, slack, scratch)
            for j in range(top, bottom):
                left, right, _pieces = columns_of_face(j, size, scratch)
                for i in range(left, right):
                    if mask[j, i]:
                        first[j * size + i + 2] += 1
    for p in range(size * size + 1):
        first[p + 1] += first[p]
    return int(first[size * size + 1])


@kernel
def fill_ranges(body: DrawnBody, slack: Slack, mask: Mask, ranges: DepthList, scratch: Scratch) -> None:
    """Write low, high and label of the ranges that `count_ranges` counted.

    Afterwards pixel p has the rows first[p] … first[p + 1].
    """
    first, low, high, label, size = ranges.first, ranges.low, ranges.high, ranges.label, body.size
    for patch in range(patch_count(body.mesh)):
        if patch_is_outside(body, patch, -slack.xy, size + slack.xy):
            continue
        place_patch(body, patch, scratch)
        begin, end = faces_of_patch(body.mesh, patch)
        for face in range(begin, end):
            top, bottom = place_face(body, face, slack, scratch)
            for j in range(top, bottom):
                left, right, pieces = columns_of_face(j, size, scratch)
                ranges_of_row(left, right, pieces, size, scratch)
                x_first, x_second, sign = crossing_of_row(j, scratch)
                for i in range(left, right):
                    if mask[j, i]:
                        to = first[j * size + i + 1]
                        first[j * size + i + 1] = to + 1
                        low[to], high[to] = scratch[LOW + i], scratch[HIGH + i]
                        label[to] = face << 2 | ((sign if x_first < i + 0.5 <= x_second else 0) + 1)


@kernel
def sort_ranges(size: int, ranges: DepthList) -> None:
    """Sort the ranges of each pixel by (low, high, label)."""
    first, low, high, label = ranges.first, ranges.low, ranges.high, ranges.label
    for p in range(size * size):
        sort_by_three_keys(low, high, label, first[p], first[p + 1])
