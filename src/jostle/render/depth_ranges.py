"""Depth ranges: where a body may be inside of the column over a whole pixel, so that no common point of two bodies is missed.

Sampling at centres loses what lies between them. Here each face gives every pixel square that it touches the range of its depths
over the square, found by clipping; sorted by depth, the column is *possibly inside* on these ranges, and on the gaps between them
where the winding of the ray through the centre is not 0: no surface crosses a gap, so all of the square is inside at that depth,
or outside. Two bodies that share a point share a possible depth in the column that holds it, touching, edge-on faces and faces
without area included; two that are reported have points within a diagonal of a pixel. The paper has nothing like it.

The slack (`clipping.Slack`) bounds how far the tile coordinates of a vertex may be from the true ones. Squares and ranges grow
by them, and by the roundings of the clipping itself: a point of the true face is a mean of its true corners, and the same mean of
the corners at hand lies within the slack of it. The winding stands rounding too: the edges on which a centre might be mistaken have
both their faces in the same range, and cancel (`spans.py`).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from jostle._types import Floats, Ints, Longs
from jostle.kernels.handles import AddressTable
from jostle.kernels.jit import kernel
from jostle.kernels.sort import sort_by_three_keys
from jostle.render.clipping import HIGH, LOW, Slack, columns_of_face, crossing_of_row, place_face, ranges_of_row
from jostle.render.depth_layers import CommonInterval
from jostle.render.drawn_body import DrawnBody, Table, drawn_shape, faces_of_patch, patch_count, patch_is_outside
from jostle.render.patches import Patches, patch_arrays
from jostle.render.spans import Scratch, as_view_and_size, place_patch, scratch_for_drawing

Mask = NDArray[Any]


class Ranges(NamedTuple):
    """Ranges of pixel p = row * size + column: low[first[p] : first[p + 1]], in ascending order, and so the others."""

    first: Longs  # (size * size + 1,)
    low: Floats  # (n,)
    high: Floats  # (n,)
    sign: NDArray[np.int8]  # (n,) -1 or +1 where the face crosses the ray through the centre, as in `depth_layers`; else 0
    face: Ints  # (n,) of the mesh


class RangeList(NamedTuple):
    """Ranges of pixels with their labels (`face_of_range`, `sign_of_range`): those of pixel p are first[p] … first[p + 1]."""

    first: Longs  # (size * size + 2,)
    low: Floats  # (n,)
    high: Floats  # (n,)
    label: Ints  # (n,)


@kernel(forceinline=True)
def face_of_range(label: int) -> int:
    """The face of a range, in the order of the patches."""
    return label >> 2


@kernel(forceinline=True)
def sign_of_range(label: int) -> int:
    """The sign with which the face crosses the ray through the centre; 0 if it does not."""
    return (label & 3) - 1


@kernel
def draw_possible_near_and_far(body: DrawnBody, slack: Slack, near: Floats, far: Floats, scratch: Scratch) -> int:
    """Lower near and raise far (size, size) to the ends of all ranges of a body; returns as `draw_near_and_far` does.

    Where they leave two bodies apart, so do the ranges. For a convex body there is nothing else to know: it has no gaps outside.
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
    """Count the ranges of a body where mask (size, size) is not 0; return their number, the room that is needed.

    Written is first (size * size + 2,), which is what `fill_ranges` needs to begin with.
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
def fill_ranges(body: DrawnBody, slack: Slack, mask: Mask, ranges: RangeList, scratch: Scratch) -> None:
    """Write low, high and label of the ranges that `count_ranges` counted; then pixel p has first[p] … first[p + 1] of them."""
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
def sort_ranges(size: int, ranges: RangeList) -> None:
    """Sort the ranges of each pixel by (low, high, label)."""
    first, low, high, label = ranges.first, ranges.low, ranges.high, ranges.label
    for p in range(size * size):
        sort_by_three_keys(low, high, label, first[p], first[p + 1])


@kernel
def next_possible(low: Floats, high: Floats, label: Ints, begin: int, end: int) -> tuple[int, int, int]:
    """First interval that is possibly inside among the sorted ranges begin … end.

    Returns the range it begins with, the one it ends with, and the range to go on with; end, end, end if there is none.
    """
    if begin >= end:
        return end, end, end
    last, winding, i = begin, sign_of_range(label[begin]), begin + 1
    while i < end and (winding != 0 or low[i] <= high[last]):
        winding += sign_of_range(label[i])
        if high[i] > high[last]:
            last = i
        i += 1
    return begin, last, i


@kernel(forceinline=True)
def ranges_meet(a: RangeList, b: RangeList, pixel: int, longest: bool) -> CommonInterval:
    """Return the ranges around the depths that two bodies possibly share at a pixel: the first place, or the longest interval.

    The depths go from the greater one of the two lows of the beginnings to the smaller one of the two highs of the ends.
    """
    low_a, high_a, label_a, low_b, high_b, label_b = a.low, a.high, a.label, b.low, b.high, b.label
    end_a, end_b = a.first[pixel + 1], b.first[pixel + 1]
    in_a, out_a, next_a = next_possible(low_a, high_a, label_a, a.first[pixel], end_a)
    in_b, out_b, next_b = next_possible(low_b, high_b, label_b, b.first[pixel], end_b)
    best, found = -1.0, CommonInterval(-1, -1, -1, -1)
    while in_a < end_a and in_b < end_b:
        length = min(high_a[out_a], high_b[out_b]) - max(low_a[in_a], low_b[in_b])
        if length > best and length >= 0.0:
            best, found = length, CommonInterval(in_a, out_a, in_b, out_b)
            if not longest:
                return found
        if high_a[out_a] <= high_b[out_b]:
            in_a, out_a, next_a = next_possible(low_a, high_a, label_a, next_a, end_a)
        else:
            in_b, out_b, next_b = next_possible(low_b, high_b, label_b, next_b, end_b)
    return found


@kernel
def count_ranges_of_shape(
    table: Table, shape: int, view: Floats, size: int, slack: Slack, mask: Mask, first: Longs, scratch: Floats
) -> int:
    """Count the ranges of body `shape` of a table of patches under a view (12,): `count_ranges` for Python."""
    return count_ranges(drawn_shape(table, shape, view, size), slack, mask, first, scratch)


@kernel
def list_ranges_of_shape(
    table: Table, shape: int, view: Floats, size: int, slack: Slack, mask: Mask, ranges: RangeList, scratch: Floats
) -> None:
    """Write and sort the ranges that `count_ranges_of_shape` counted."""
    fill_ranges(drawn_shape(table, shape, view, size), slack, mask, ranges, scratch)
    sort_ranges(size, ranges)


def depth_ranges(patches: Patches, view: Floats, size: int, slack_xy: float = 0.0, slack_z: float = 0.0) -> Ranges:
    """All ranges of one mesh; the arguments are those of `depth_maps`, and the slack in pixels and in depth."""
    matrix, size = as_view_and_size(view, size)
    table = AddressTable([patch_arrays(patches)])
    mask, scratch = np.ones((size, size), np.uint8), scratch_for_drawing()
    first = np.empty(size * size + 2, np.int64)
    slack = Slack(float(slack_xy), float(slack_z))
    count = count_ranges_of_shape(table.table, 0, matrix, size, slack, mask, first, scratch)
    low, high, label = np.empty(count), np.empty(count), np.empty(count, np.int32)
    list_ranges_of_shape(table.table, 0, matrix, size, slack, mask, RangeList(first, low, high, label), scratch)
    return Ranges(first[:-1], low, high, ((label & 3) - 1).astype(np.int8), patches.face_of[label >> 2])
