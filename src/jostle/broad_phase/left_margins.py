"""What `coherent_aabb` does for the boxes that left their margins: give them new ones, list them, find whom they overlap now.

A margin reaches as far as the end of the box will go in the next 8 to 23 frames if it goes on as it did since the last margin was
given (each body its own number, or all would leave in one frame), and by two frames of motion more on both sides. It is at most
as wide as the box. So a body at rest has none, and one that is turning has one where its box is growing. While motions are not
coherent, margins only cost: after two frames in a row in which too many left, there are none, but for every sixteenth frame.
Boxes that begin before another and reach into it are found by the farthest upper end of each 64 boxes of the list.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from jostle.broad_phase.sorted_boxes import (
    LANES,
    Singles,
    SortedBoxes,
    SweepAxis,
    Words,
    eight_overlap,
    kept_axis,
    sortable,
    splat_box,
)
from jostle.broad_phase.sorted_keys import LOWEST_BITS, Longs, bodies_of_key, key_of, sort_once
from jostle.broad_phase.volumes import Floats, Ints, overlap
from jostle.geometry.vector import coordinate
from jostle.kernels.jit import kernel
from jostle.kernels.simd import f32x8_less_equal, f32x8_load, f32x8_max, f32x8_splat, f32x8_store, lowest_bit, without_lowest_bit
from jostle.kernels.structs import Record, int64, record_viewer

Flags = NDArray[np.uint8]

BLOCK = 64
_BLOCK_BITS = 6
_FEWEST_FRAMES = 8
_FRAMES_MASK = 15
_MORE_FRAMES = 2.0
_HALF_OF_WORDS = 1 << 31
_FEW = 4  # the list is sorted anew where more than one in so many boxes left its margin

UNCHANGED, FOLLOWED, ANEW, NO_ROOM = 0, 1, 2, 3


class FollowCounts(Record):
    """What a frame counted: boxes that left, boxes compared, new pairs, pairs with margins, pairs that overlap without."""

    left: int64
    compared: int64
    new_pairs: int64
    with_margins: int64
    overlapping: int64


view_counts = record_viewer(FollowCounts)


class Margins(NamedTuple):
    """Boxes with their margins, and the boxes that these were given for. A body without any has a box that holds nothing."""

    lower: Floats  # (n, 3)
    upper: Floats
    given_lower: Floats  # (n, 3) the box itself when its margin was given; NaN before the first
    given_upper: Floats
    given: Longs  # (n,) the frame of that

    @staticmethod
    def of(n: int) -> Margins:
        """Return boxes that every body has left."""
        unknown = np.full((2, n, 3), np.nan)
        return Margins(np.full((n, 3), np.inf), np.full((n, 3), -np.inf), unknown[0], unknown[1], np.zeros(n, np.int64))


class Room(NamedTuple):
    """What a frame is worked out in, kept from frame to frame."""

    left: Ints  # (n,) bodies that left their margins, then their places in the list
    has_left: Flags  # (n,)
    keys: Longs  # (n,) scratch of the sort
    tops: Singles  # (blocks,) farthest upper end of each block of the list, and NaN
    added: Longs  # (k,) new pairs
    lanes: Singles  # (8,) scratch

    @staticmethod
    def of(n: int, pairs: int) -> Room:
        """Return room for n bodies and so many new pairs."""
        return Room(
            left=np.empty(n, np.int32),
            has_left=np.zeros(n, np.uint8),
            keys=np.empty(n, np.int64),
            tops=np.full(n // BLOCK + 16, np.nan, np.float32),
            added=np.empty(pairs, np.int64),
            lanes=np.empty(LANES, np.float32),
        )


class KeptPairs(NamedTuple):
    """Sorted keys of the pairs whose boxes overlap with their margins, those of the next frame, and pairs that overlap without."""

    pairs: Longs  # (k,)
    merged: Longs  # (k,)
    found: Ints  # (2, k)


class FollowStep(NamedTuple):
    """The frame, how far margins reach, the most comparisons that are worth making, and how many pairs there are."""

    frame: int
    reach: float
    most_tests: int
    pair_count: int


@kernel
def follow_boxes(
    lower: Floats, upper: Floats, margins: Margins, boxes: SortedBoxes, spare: SortedBoxes, spare_bits: Words,
    axis: NDArray[np.void], step: FollowStep, room: Room, pairs: KeptPairs, counts_memory: NDArray[np.void],
) -> int:  # fmt: skip
    """Go on to the boxes (n,3) of this frame; returns what was done, and counts it.

    | returned | when | what holds then |
    |---|---|---|
    | UNCHANGED | no box left its margin | `found` are the pairs that overlap without margins |
    | FOLLOWED | few left | so they are; the boxes are in the list `spare`, and the pairs in `merged` |
    | ANEW | too many left, or too many comparisons were made | everything has to be sorted anew |
    | NO_ROOM | there are more pairs than room for them | the same |
    """
    counts = view_counts(counts_memory)
    left = find_left(lower, upper, margins, False, room.left)
    give_margins(lower, upper, margins, room.left, left, step.frame, step.reach)
    counts.left, counts.compared, counts.with_margins = left, 0, step.pair_count
    if left == 0:
        counts.overlapping = own_boxes_overlap(pairs.pairs, step.pair_count, lower, upper, pairs.found)
        return UNCHANGED
    if left * _FEW > lower.shape[0]:
        return ANEW
    list_left(boxes, spare, spare_bits, margins, room, left, kept_axis(axis))
    new, tests = meet_left(spare, room, left, step.most_tests)
    counts.compared, counts.new_pairs = tests, new
    if tests > step.most_tests:
        return ANEW
    if new > room.added.shape[0] or step.pair_count + new > pairs.merged.shape[0]:
        return NO_ROOM
    sort_once(room.added, new)
    count = merge_pairs(pairs.pairs, step.pair_count, room.has_left, room.added, new, pairs.merged)
    counts.with_margins = count
    counts.overlapping = own_boxes_overlap(pairs.merged, count, lower, upper, pairs.found)
    return FOLLOWED


@kernel
def find_left(lower: Floats, upper: Floats, margins: Margins, every: bool, left: Ints) -> int:
    """Write the bodies whose boxes (n,3) are not within their margins, or all of them; return how many these are."""
    fat_lower, fat_upper = margins.lower, margins.upper
    count = 0
    for i in range(lower.shape[0]):
        inside = (
            (lower[i, 0] >= fat_lower[i, 0])
            & (lower[i, 1] >= fat_lower[i, 1])
            & (lower[i, 2] >= fat_lower[i, 2])
            & (upper[i, 0] <= fat_upper[i, 0])
            & (upper[i, 1] <= fat_upper[i, 1])
            & (upper[i, 2] <= fat_upper[i, 2])
        )
        left[count] = i
        if every or not inside:
            count += 1
    return count


@kernel
def give_margins(lower: Floats, upper: Floats, margins: Margins, left: Ints, count: int, frame: int, reach: float) -> None:
    """Give new margins to the first `count` bodies of `left`; of the usual width with reach 1, and none with 0."""
    for m in range(count):
        i = left[m]
        frames = float(max(1, frame - margins.given[i]))
        ahead = reach * float(_FEWEST_FRAMES + ((i * 5) & _FRAMES_MASK))
        widest = 0.0
        for k in range(3):
            if lower[i, k] > -np.inf and upper[i, k] < np.inf:
                widest = max(widest, upper[i, k] - lower[i, k])
        for k in range(3):
            low, high = lower[i, k], upper[i, k]
            by_low = by_high = 0.0  # of a first margin, and where there is no end
            if abs(low) < np.inf and abs(margins.given_lower[i, k]) < np.inf:
                by_low = (low - margins.given_lower[i, k]) / frames
            if abs(high) < np.inf and abs(margins.given_upper[i, k]) < np.inf:
                by_high = (high - margins.given_upper[i, k]) / frames
            more = reach * _MORE_FRAMES * max(abs(by_low), abs(by_high))
            margins.lower[i, k] = low - min(widest, max(0.0, -ahead * by_low) + more)
            margins.upper[i, k] = high + min(widest, max(0.0, ahead * by_high) + more)
            margins.given_lower[i, k] = low
            margins.given_upper[i, k] = high
        margins.given[i] = frame


@kernel
def list_left(
    old: SortedBoxes, new: SortedBoxes, new_bits: Words, margins: Margins, room: Room, left_count: int, sweep_axis: SweepAxis
) -> None:
    """Merge the old list without the bodies that left their margins, and those with their new margins, into the new list.

    Writes flags, the places of the bodies that left in the new list in their stead, and the tops of its blocks.
    """
    left, has_left, keys = room.left, room.has_left, room.keys
    n = new.body.shape[0]
    old_n = old.body.shape[0]
    stride = n + LANES
    old_stride = old_n + LANES
    ends, old_ends = new.ends, old.ends
    axis = sweep_axis.axis
    second, third = (axis + 1) % 3, (axis + 2) % 3
    middle = coordinate(sweep_axis.middle, axis)
    middle_2, middle_3 = coordinate(sweep_axis.middle, second), coordinate(sweep_axis.middle, third)
    for i in range(n):
        has_left[i] = 0
    for m in range(left_count):
        has_left[left[m]] = 1
        ends[m] = np.float32(margins.lower[left[m], axis] - middle)
    for m in range(left_count):
        keys[m] = (np.int64(sortable(new_bits[m])) - _HALF_OF_WORDS) << 32 | np.int64(left[m])
    sort_once(keys, left_count)
    place = from_old = m = 0
    while place < n:
        i = 0
        low = np.float32(0.0)
        if m < left_count:
            i = keys[m] & LOWEST_BITS
            low = np.float32(margins.lower[i, axis] - middle)
        # A run of boxes that stayed, up to where the next one comes that did not.
        stop = from_old
        while stop < old_n and not has_left[old.body[stop]] and (m == left_count or old_ends[stop] <= low):
            stop += 1
        for k in range(stop - from_old):
            new.body[place + k] = old.body[from_old + k]
        for k in range(0, stop - from_old, LANES):
            # Up to seven too many, which are written over by what comes next.
            for row in range(6):
                f32x8_store(ends, row * stride + place + k, f32x8_load(old_ends, row * old_stride + from_old + k))
        place += stop - from_old
        from_old = stop
        if from_old < old_n and has_left[old.body[from_old]]:
            from_old += 1
        elif m < left_count:
            new.body[place] = i
            ends[place] = low
            ends[stride + place] = np.float32(margins.lower[i, second] - middle_2)
            ends[2 * stride + place] = np.float32(margins.lower[i, third] - middle_3)
            ends[3 * stride + place] = np.float32(margins.upper[i, axis] - middle)
            ends[4 * stride + place] = np.float32(margins.upper[i, second] - middle_2)
            ends[5 * stride + place] = np.float32(margins.upper[i, third] - middle_3)
            left[m] = place
            m += 1
            place += 1
    for row in range(6):
        f32x8_store(ends, row * stride + n, f32x8_splat(np.float32(np.nan)))
    write_tops(ends, n, room.tops, room.lanes)


@kernel
def write_tops(ends: Singles, n: int, tops: Singles, lanes: Singles) -> None:
    """Write the farthest upper end of each block of a list of n boxes."""
    stride = n + LANES
    for block in range((n + BLOCK - 1) >> _BLOCK_BITS):
        # A maximum with NaN is the second: so the numbers behind the last box do not count.
        eight = f32x8_splat(np.float32(-np.inf))
        for at in range(block << _BLOCK_BITS, min(n, (block + 1) << _BLOCK_BITS), LANES):
            eight = f32x8_max(f32x8_load(ends, 3 * stride + at), eight)
        f32x8_store(lanes, 0, eight)
        top = lanes[0]
        for k in range(1, LANES):
            top = max(top, lanes[k])
        tops[block] = top


@kernel
def meet_left(boxes: SortedBoxes, room: Room, left_count: int, most: int) -> tuple[int, int]:
    """Write the pairs of boxes of the list in which one, at a place of `left`, got new margins, while there is room.

    Returns how many pairs there are, and how many boxes were compared; more than `most`, and not all pairs are found.
    """
    left, has_left, tops, added = room.left, room.has_left, room.tops, room.added
    ends, body = boxes.ends, boxes.body
    n = body.shape[0]
    stride = n + LANES
    most_pairs = added.shape[0]
    tests = found = m = 0
    while m < left_count and tests <= most:
        place = left[m]
        i = body[place]
        to = ends[3 * stride + place]
        box = splat_box(ends, stride, place)
        j = place + 1
        while j < n and ends[j] <= to:
            mask = eight_overlap(ends, stride, j, box)
            tests += min(LANES, n - j)
            while mask != 0:
                other = body[j + lowest_bit(mask)]
                mask = without_lowest_bit(mask)
                if found < most_pairs:
                    added[found] = key_of(i, other)
                found += 1
            j += LANES
        # Those that begin before: blocks of the list in which a box reaches this far, eight blocks at once.
        last_block = place >> _BLOCK_BITS
        group = 0
        while group <= last_block:
            reached = f32x8_less_equal(box.from_x, f32x8_load(tops, group))
            while reached != 0:
                block = group + lowest_bit(reached)
                reached = without_lowest_bit(reached)
                if block > last_block:
                    break
                j = block << _BLOCK_BITS
                behind = min(j + BLOCK, place)
                while j < behind:
                    mask = eight_overlap(ends, stride, j, box)
                    tests += min(LANES, behind - j)
                    while mask != 0:
                        at = j + lowest_bit(mask)
                        mask = without_lowest_bit(mask)
                        # A box with new margins that begins before has found this one already.
                        if at < behind and not has_left[body[at]]:
                            if found < most_pairs:
                                added[found] = key_of(i, body[at])
                            found += 1
                    j += LANES
            group += LANES
        m += 1
    return found, tests


@kernel
def merge_pairs(pairs: Longs, pair_count: int, has_left: Flags, added: Longs, add_count: int, out: Longs) -> int:
    """Write the sorted pairs without those of bodies that left their margins and with the sorted new ones; return how many."""
    count = add = 0
    for p in range(pair_count):
        key = pairs[p]
        i, j = bodies_of_key(key)
        if has_left[i] | has_left[j]:
            continue
        while add < add_count and added[add] < key:
            out[count] = added[add]
            add += 1
            count += 1
        out[count] = key
        count += 1
    while add < add_count:
        out[count] = added[add]
        add += 1
        count += 1
    return count


@kernel
def own_boxes_overlap(pairs: Longs, count: int, lower: Floats, upper: Floats, found: Ints) -> int:
    """Write the bodies (2,k) of those of the first `count` pairs whose closed boxes (n,3) overlap; return how many these are."""
    kept = 0
    for p in range(count):
        i, j = bodies_of_key(pairs[p])
        found[0, kept] = i
        found[1, kept] = j
        if overlap(lower, upper, i, j):
            kept += 1
    return kept
