"""Boxes sorted along one axis, and the sweep of `fast_aabb` and `coherent_aabb`.

After Wagner and Fusco (Graphics Gems III, 1991): extents are sorted along one axis only, the one with the fewest overlaps; a box is
compared with those that begin after it begins and before it ends. Eight are compared at once, in float32 relative to the middle of
all boxes: rounding is monotone, so overlapping boxes still overlap when rounded, and the sweep writes a superset that
`keep_overlapping` compares exactly. Infinite boxes need no special case.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from jostle._types import Floats, Ints, Singles
from jostle.broad_phase.volumes import overlap
from jostle.geometry.vector import Vec3, coordinate
from jostle.kernels.jit import kernel
from jostle.kernels.simd import f32x8_load, f32x8_overlap, f32x8_splat, lowest_bit, without_lowest_bit
from jostle.kernels.structs import Record, Rows, float32, float64, int64, record_viewer

AnySingles = Singles | Rows[float32]
Words = NDArray[np.uint32]

LANES = 8
_DIGIT_BITS = 11  # three passes sort 32 bits
_DIGITS = 1 << _DIGIT_BITS


class SortedBoxes(NamedTuple):
    """The list, with room for sorting.

    `ends` has six rows of n numbers and eight NaN, which overlap nothing.
    """

    ends: Singles  # (6*(n+8),) lower ends along the sorted axis and the two others, then upper ends
    body: Ints  # (n,) bodies in the order of the list
    word: Words  # (2, n) sortable bits of the lower ends
    other: Ints  # (2, n) bodies during the sort
    tally: Ints  # (3, digits) how often each digit occurs

    @staticmethod
    def of(n: int) -> SortedBoxes:
        """Return a list for n boxes."""
        return SortedBoxes(
            ends=np.full(6 * (n + LANES), np.nan, np.float32),
            body=np.empty(n, np.int32),
            word=np.empty((2, n), np.uint32),
            other=np.empty((2, n), np.int32),
            tally=np.empty((3, _DIGITS), np.int32),
        )


class SweepAxis(NamedTuple):
    """The sorted axis, and the origin of coordinates in the list."""

    axis: int
    middle: Vec3


class KeptAxis(Record):
    """A `SweepAxis` in memory: passing it from Python takes a tenth of the time."""

    axis: int64
    x: float64
    y: float64
    z: float64


view_axis = record_viewer(KeptAxis)


@kernel(forceinline=True)
def kept_axis(kept: KeptAxis) -> SweepAxis:
    """Return the stored axis."""
    return SweepAxis(kept.axis, Vec3(kept.x, kept.y, kept.z))


@kernel
def best_axis(lower: Floats, upper: Floats) -> SweepAxis:
    """Return the axis of widest spread for the size of boxes (n,3), and their middle.

    Infinite boxes do not count.
    """
    n = lower.shape[0]
    best = 0
    widest = -1.0
    mx = my = mz = 0.0
    for axis in range(3):
        # Two passes: squares of coordinates would lose precision far from the origin.
        total = count = 0.0
        for i in range(n):
            if lower[i, axis] > -np.inf and upper[i, axis] < np.inf:
                total += 0.5 * lower[i, axis] + 0.5 * upper[i, axis]
                count += 1.0
        mean = total / max(count, 1.0)
        if not abs(mean) < np.inf:
            mean = 0.0
        spread = size = 0.0
        for i in range(n):
            if lower[i, axis] > -np.inf and upper[i, axis] < np.inf:
                spread += abs(0.5 * lower[i, axis] + 0.5 * upper[i, axis] - mean)
                size += upper[i, axis] - lower[i, axis]
        share = spread / size if size > 0.0 else (np.inf if spread > 0.0 else 0.0)
        if share > widest:
            widest = share
            best = axis
        if axis == 0:
            mx = mean
        elif axis == 1:
            my = mean
        else:
            mz = mean
    return SweepAxis(best, Vec3(mx, my, mz))


@kernel(forceinline=True)
def sortable(bits: np.uint32) -> np.uint32:
    """Return the bits of a float32 as a uint32 that sorts like the number."""
    return np.uint32(bits ^ (np.uint32(0xFFFFFFFF) if bits >> np.uint32(31) else np.uint32(0x80000000)))


@kernel
def sort_along(boxes: SortedBoxes, lower: Floats, upper: Floats, sweep_axis: SweepAxis, bits: Words) -> None:
    """Fill the list with boxes (n,3) sorted along an axis.

    `bits` is `boxes.ends` viewed as integers.
    """
    n = lower.shape[0]
    stride = n + LANES
    ends, word, other, tally = boxes.ends, boxes.word, boxes.other, boxes.tally
    axis = sweep_axis.axis
    middle = coordinate(sweep_axis.middle, axis)
    for digit in range(_DIGITS):
        tally[0, digit] = 0
        tally[1, digit] = 0
        tally[2, digit] = 0
    for i in range(n):
        ends[i] = np.float32(lower[i, axis] - middle)
    for i in range(n):
        key = sortable(bits[i])
        word[0, i] = key
        other[0, i] = i
        tally[0, key & np.uint32(_DIGITS - 1)] += 1
        tally[1, (key >> np.uint32(_DIGIT_BITS)) & np.uint32(_DIGITS - 1)] += 1
        tally[2, key >> np.uint32(2 * _DIGIT_BITS)] += 1
    for turn in range(3):
        shift = np.uint32(turn * _DIGIT_BITS)
        first = 0
        for digit in range(_DIGITS):
            count = tally[turn, digit]
            tally[turn, digit] = first
            first += count
        source, target = turn & 1, 1 - (turn & 1)
        for i in range(n):
            key = word[source, i]
            digit = (key >> shift) & np.uint32(_DIGITS - 1)
            place = tally[turn, digit]
            tally[turn, digit] = place + 1
            word[target, place] = key
            other[target, place] = other[source, i]
    second, third = (axis + 1) % 3, (axis + 2) % 3
    middle_2, middle_3 = coordinate(sweep_axis.middle, second), coordinate(sweep_axis.middle, third)
    for place in range(n):
        i = other[1, place]
        boxes.body[place] = i
        ends[place] = np.float32(lower[i, axis] - middle)
        ends[stride + place] = np.float32(lower[i, second] - middle_2)
        ends[2 * stride + place] = np.float32(lower[i, third] - middle_3)
        ends[3 * stride + place] = np.float32(upper[i, axis] - middle)
        ends[4 * stride + place] = np.float32(upper[i, second] - middle_2)
        ends[5 * stride + place] = np.float32(upper[i, third] - middle_3)


@kernel
def sort_boxes(boxes: SortedBoxes, lower: Floats, upper: Floats, bits: Words, kept: NDArray[np.void]) -> None:
    """Fill the list with boxes (n,3) sorted along the best axis, stored in `kept`."""
    sweep_axis = best_axis(lower, upper)
    axis = view_axis(kept)
    axis.axis, axis.x, axis.y, axis.z = sweep_axis.axis, sweep_axis.middle.x, sweep_axis.middle.y, sweep_axis.middle.z
    sort_along(boxes, lower, upper, sweep_axis, bits)


class SplatBox(NamedTuple):
    """One box, with each end in all eight lanes of a vector."""

    from_x: Singles
    from_y: Singles
    from_z: Singles
    to_x: Singles
    to_y: Singles
    to_z: Singles


@kernel(forceinline=True)
def splat_box(ends: AnySingles, stride: int, place: int) -> SplatBox:
    """Return a box of the list."""
    return SplatBox(
        f32x8_splat(ends[place]),
        f32x8_splat(ends[stride + place]),
        f32x8_splat(ends[2 * stride + place]),
        f32x8_splat(ends[3 * stride + place]),
        f32x8_splat(ends[4 * stride + place]),
        f32x8_splat(ends[5 * stride + place]),
    )


@kernel(forceinline=True)
def eight_overlap(ends: AnySingles, stride: int, j: int, box: SplatBox) -> np.uint32:
    """Return the mask of list boxes j … j+7 that overlap a box.

    Boxes beyond the end never do.
    """
    return f32x8_overlap(
        f32x8_load(ends, j),
        f32x8_load(ends, stride + j),
        f32x8_load(ends, 2 * stride + j),
        f32x8_load(ends, 3 * stride + j),
        f32x8_load(ends, 4 * stride + j),
        f32x8_load(ends, 5 * stride + j),
        box.from_x,
        box.from_y,
        box.from_z,
        box.to_x,
        box.to_y,
        box.to_z,
    )


@kernel
def sweep(boxes: SortedBoxes, first: int, pairs: Ints, found: int, operations: int) -> tuple[int, int, int]:
    """Write the pairs (3,k) that overlap in float32, from box `first` of the list on.

    Returns the place to continue from, the number of pairs so far, and the comparisons of this call, little more than `operations`.
    The last column is scratch: pairs that do not fit go there.
    """
    ends, body = boxes.ends, boxes.body
    n = body.shape[0]
    stride = n + LANES
    last = pairs.shape[1] - 1
    tests = 0
    place = first
    while place < n and tests <= operations:
        to = ends[3 * stride + place]
        box = splat_box(ends, stride, place)
        i = body[place]
        j = place + 1
        while j < n and ends[j] <= to:
            mask = eight_overlap(ends, stride, j, box)
            tests += min(LANES, n - j)
            while mask != 0:
                other = body[j + lowest_bit(mask)]
                mask = without_lowest_bit(mask)
                column = min(found, last)
                pairs[0, column] = min(i, other)
                pairs[1, column] = max(i, other)
                found += 1
            j += LANES
        place += 1
    return place, found, tests


@kernel
def keep_overlapping(lower: Floats, upper: Floats, pairs: Ints, found: int) -> int:
    """Move pairs (3,k) whose boxes (n,3) overlap to the front; return how many."""
    kept = 0
    for p in range(found):
        i = pairs[0, p]
        j = pairs[1, p]
        pairs[0, kept] = i
        pairs[1, kept] = j
        if overlap(lower, upper, i, j):
            kept += 1
    return kept
