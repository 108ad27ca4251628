"""Boxes of `coherent_aabb` that left their margins: new margins, places, pairs.

A margin covers the motion of the box's end in the next 8 to 23 frames, extrapolated from its motion since the last margin (each
body has its own number of frames, or all would leave at once), plus two frames of motion on both sides. It is at most as wide as
the box. So a body at rest has none, and a rotating one has one where its box grows. For incoherent motion margins only cost: after
two frames in a row in which too many boxes left, there are none except in every sixteenth frame.
Boxes that begin before another and reach into it are found by the farthest upper end of each 64 boxes of the list.
"""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from jostle._types import Floats, Ints, Longs
from jostle.broad_phase.sorted_boxes import LANES, AnySingles, KeptAxis, SortedBoxes, eight_overlap, kept_axis, sortable, splat_box
from jostle.broad_phase.sorted_keys import LOWEST_BITS, AnyLongs, bodies_of_key, key_of, sort_once
from jostle.broad_phase.volumes import overlap
from jostle.geometry.vector import coordinate
from jostle.kernels.handles import AddressTable
from jostle.kernels.jit import kernel
from jostle.kernels.simd import f32x8_less_equal, f32x8_load, f32x8_max, f32x8_splat, f32x8_store, lowest_bit, without_lowest_bit
from jostle.kernels.structs import (
    Addresses,
    One,
    Record,
    Rows,
    Run,
    Struct,
    float32,
    float64,
    int32,
    int64,
    opener,
    uint8,
    uint32,
)

BLOCK = 64
_BLOCK_BITS = 6
_FEWEST_FRAMES = 8
_FRAMES_MASK = 15
_MORE_FRAMES = 2.0
_HALF_OF_WORDS = 1 << 31
_FEW = 4  # the list is sorted from scratch if more than one box in this many left its margin

UNCHANGED, FOLLOWED, ANEW, NO_ROOM = 0, 1, 2, 3


class FollowCounts(Record):
    """Counts of a frame: boxes that left, comparisons, and three kinds of pairs."""

    left: int64
    compared: int64
    new_pairs: int64
    with_margins: int64
    overlapping: int64


class Corner(Record):
    """A corner of a box."""

    at: Run[float64, Literal[3]]


class Margins(Struct):
    """Boxes with margins, and the boxes they were made for; empty for a new body."""

    lower: Rows[Corner]
    upper: Rows[Corner]
    given_lower: Rows[Corner]  # the box itself when its margin was made; NaN before the first
    given_upper: Rows[Corner]
    given: Rows[int64]  # the frame in which it was made


class MarginArrays(NamedTuple):
    """The arrays of `Margins`."""

    lower: Floats  # (n, 3)
    upper: Floats
    given_lower: Floats
    given_upper: Floats
    given: Longs  # (n,)

    @staticmethod
    def of(n: int) -> MarginArrays:
        """Return empty boxes, which every body has left."""
        unknown = np.full((2, n, 3), np.nan)
        return MarginArrays(np.full((n, 3), np.inf), np.full((n, 3), -np.inf), unknown[0], unknown[1], np.zeros(n, np.int64))


class Room(Struct):
    """Work arrays, kept from frame to frame."""

    left: Rows[int32]  # (n,) bodies that left their margins, then their places in the list
    has_left: Rows[uint8]  # (n,)
    keys: Rows[int64]  # (n,) scratch of the sort
    tops: Rows[float32]  # (blocks,) farthest upper end of each block of the list, and NaN
    added: Rows[int64]  # (k,) new pairs
    lanes: Rows[float32]  # (8,) scratch
    axis: One[KeptAxis]  # of the list
    counts: One[FollowCounts]
    found_a: Rows[int32]  # (k,) pairs that overlap without margins
    found_b: Rows[int32]


def room_table(n: int, axis: NDArray[np.void], counts: NDArray[np.void], found: Ints) -> AddressTable:
    """Return room for n bodies and as many new pairs as `found` (2,k) can hold."""
    return Room.table(
        left=np.empty(n, np.int32),
        has_left=np.zeros(n, np.uint8),
        keys=np.empty(n, np.int64),
        tops=np.full(n // BLOCK + 16, np.nan, np.float32),
        added=np.empty(found.shape[1], np.int64),
        lanes=np.empty(LANES, np.float32),
        axis=axis,
        counts=counts,
        found_a=found[0],
        found_b=found[1],
    )


class Lists(Struct):
    """Boxes and sorted keys of pairs that overlap with margins, now and next."""

    ends: Rows[float32]  # as in `SortedBoxes`
    body: Rows[int32]
    pairs: Rows[int64]
    new_ends: Rows[float32]
    new_bits: Rows[uint32]  # the same memory, read as integers
    new_body: Rows[int32]
    new_pairs: Rows[int64]


class FrameLists(NamedTuple):
    """The lists of one frame."""

    boxes: SortedBoxes
    pairs: Longs  # (k,)

    @staticmethod
    def of(n: int, pairs: int) -> FrameLists:
        """Return lists for n boxes and this many pairs."""
        return FrameLists(SortedBoxes.of(n), np.empty(pairs, np.int64))


def lists_table(now: FrameLists, new: FrameLists) -> AddressTable:
    """Return the table of `Lists` from one frame to the next."""
    ends = new.boxes.ends
    return Lists.table(
        ends=now.boxes.ends,
        body=now.boxes.body,
        pairs=now.pairs,
        new_ends=ends,
        new_bits=ends.view(np.uint32),
        new_body=new.boxes.body,
        new_pairs=new.pairs,
    )


open_margins, open_room, open_lists = opener(Margins), opener(Room), opener(Lists)


@kernel
def follow_boxes(
    lower: Floats, upper: Floats, margins_row: Addresses, lists_row: Addresses, room_row: Addresses, frame: int, reach: float,
    most_tests: int, pair_count: int,
) -> int:  # fmt: skip
    """Update to the boxes (n,3) of this frame; return and count what was done.

    New margins have this reach.

    | returned | when | result |
    |---|---|---|
    | UNCHANGED | no box left its margin | `found` holds the pairs that overlap without margins |
    | FOLLOWED | few left | the same; the boxes and the pairs with margins are in the new lists |
    | ANEW | too many left, or more than `most_tests` comparisons were made | everything has to be sorted from scratch |
    | NO_ROOM | more pairs than room | the same |
    """
    margins, lists, room = open_margins(margins_row), open_lists(lists_row), open_room(room_row)
    counts = room.counts
    left = find_left(lower, upper, margins, False, room.left)
    give_margins(lower, upper, margins, room.left, left, frame, reach)
    counts.left, counts.compared, counts.with_margins = left, 0, pair_count
    if left == 0:
        counts.overlapping = find_own_overlaps(lists.pairs, pair_count, lower, upper, room)
        return UNCHANGED
    if left * _FEW > lower.shape[0]:
        return ANEW
    list_left(lists, margins, room, left)
    new, tests = meet_left(lists, room, left, most_tests)
    counts.compared, counts.new_pairs = tests, new
    if tests > most_tests:
        return ANEW
    if new > len(room.added) or pair_count + new > len(lists.new_pairs):
        return NO_ROOM
    sort_once(room.added, new)
    count = merge_pairs(lists, pair_count, room, new)
    counts.with_margins = count
    counts.overlapping = find_own_overlaps(lists.new_pairs, count, lower, upper, room)
    return FOLLOWED


@kernel
def begin_boxes(lower: Floats, upper: Floats, margins_row: Addresses, room_row: Addresses, frame: int, reach: float) -> None:
    """Give margins of this reach to all boxes (n,3); all count as having left theirs."""
    margins, room = open_margins(margins_row), open_room(room_row)
    room.counts.left, room.counts.compared = find_left(lower, upper, margins, True, room.left), 0
    give_margins(lower, upper, margins, room.left, room.counts.left, frame, reach)


@kernel
def own_boxes_overlap(lower: Floats, upper: Floats, pairs: Longs, count: int, room_row: Addresses) -> int:
    """Find which of the first `count` pairs have overlapping boxes; return how many."""
    return find_own_overlaps(pairs, count, lower, upper, open_room(room_row))


@kernel
def find_left(lower: Floats, upper: Floats, margins: Margins, every: bool, left: Rows[int32]) -> int:
    """Write the bodies that left their margins, or all bodies; return how many."""
    count = 0
    for i in range(lower.shape[0]):
        fat_lower, fat_upper = margins.lower[i].at, margins.upper[i].at
        inside = (
            (lower[i, 0] >= fat_lower[0])
            & (lower[i, 1] >= fat_lower[1])
            & (lower[i, 2] >= fat_lower[2])
            & (upper[i, 0] <= fat_upper[0])
            & (upper[i, 1] <= fat_upper[1])
            & (upper[i, 2] <= fat_upper[2])
        )
        left[count] = i
        if every or not inside:
            count += 1
    return count


@kernel
def give_margins(lower: Floats, upper: Floats, margins: Margins, left: Rows[int32], count: int, frame: int, reach: float) -> None:
    """Give the first `count` bodies of `left` new margins.

    They have normal width with reach 1, none with 0.
    """
    for m in range(count):
        i = left[m]
        frames = float(max(1, frame - margins.given[i]))
        ahead = reach * float(_FEWEST_FRAMES + ((i * 5) & _FRAMES_MASK))
        widest = 0.0
        for k in range(3):
            if lower[i, k] > -np.inf and upper[i, k] < np.inf:
                widest = max(widest, upper[i, k] - lower[i, k])
        given_lower, given_upper = margins.given_lower[i].at, margins.given_upper[i].at
        for k in range(3):
            low, high = lower[i, k], upper[i, k]
            by_low = by_high = 0.0  # for a first margin, and for an infinite end
            if abs(low) < np.inf and abs(given_lower[k]) < np.inf:
                by_low = (low - given_lower[k]) / frames
            if abs(high) < np.inf and abs(given_upper[k]) < np.inf:
                by_high = (high - given_upper[k]) / frames
            more = reach * _MORE_FRAMES * max(abs(by_low), abs(by_high))
            margins.lower[i].at[k] = low - min(widest, max(0.0, -ahead * by_low) + more)
            margins.upper[i].at[k] = high + min(widest, max(0.0, ahead * by_high) + more)
            given_lower[k] = low
            given_upper[k] = high
        margins.given[i] = frame


@kernel
def list_left(lists: Lists, margins: Margins, room: Room, left_count: int) -> None:
    """Write the new list, with the bodies that left at their new places.

    Writes flags, replaces the bodies of `left` by their places in the new list, and writes the tops of its blocks.
    """
    left, has_left, body, old_body = room.left, room.has_left, lists.new_body, lists.body
    keys: Any = room.keys
    ends: Any = lists.new_ends
    bits: Any = lists.new_bits
    old_ends = lists.ends
    n, old_n = len(body), len(old_body)
    stride, old_stride = n + LANES, old_n + LANES
    axis, origin = kept_axis(room.axis)
    second, third = (axis + 1) % 3, (axis + 2) % 3
    middle, middle_2, middle_3 = coordinate(origin, axis), coordinate(origin, second), coordinate(origin, third)
    for i in range(n):
        has_left[i] = 0
    for m in range(left_count):
        has_left[left[m]] = 1
        ends[m] = np.float32(margins.lower[left[m]].at[axis] - middle)
    for m in range(left_count):
        keys[m] = (np.int64(sortable(bits[m])) - _HALF_OF_WORDS) << 32 | np.int64(left[m])
    sort_once(keys, left_count)
    place = from_old = m = 0
    while place < n:
        i = 0
        low = np.float32(0.0)
        if m < left_count:
            i = keys[m] & LOWEST_BITS
            low = np.float32(margins.lower[i].at[axis] - middle)
        # A run of boxes that stayed, up to the next one that left.
        stop = from_old
        while stop < old_n and not has_left[old_body[stop]] and (m == left_count or old_ends[stop] <= low):
            stop += 1
        for k in range(stop - from_old):
            body[place + k] = old_body[from_old + k]
        for k in range(0, stop - from_old, LANES):
            # Up to seven too many; the next ones overwrite them.
            for row in range(6):
                f32x8_store(ends, row * stride + place + k, f32x8_load(old_ends, row * old_stride + from_old + k))
        place += stop - from_old
        from_old = stop
        if from_old < old_n and has_left[old_body[from_old]]:
            from_old += 1
        elif m < left_count:
            body[place] = i
            ends[place] = low
            ends[stride + place] = np.float32(margins.lower[i].at[second] - middle_2)
            ends[2 * stride + place] = np.float32(margins.lower[i].at[third] - middle_3)
            ends[3 * stride + place] = np.float32(margins.upper[i].at[axis] - middle)
            ends[4 * stride + place] = np.float32(margins.upper[i].at[second] - middle_2)
            ends[5 * stride + place] = np.float32(margins.upper[i].at[third] - middle_3)
            left[m] = place
            m += 1
            place += 1
    for row in range(6):
        f32x8_store(ends, row * stride + n, f32x8_splat(np.float32(np.nan)))
    write_tops(ends, n, room.tops, room.lanes)


@kernel
def write_tops(ends: AnySingles, n: int, tops: AnySingles, lanes: AnySingles) -> None:
    """Write the farthest upper end of each block of a list of n boxes."""
    stride = n + LANES
    for block in range((n + BLOCK - 1) >> _BLOCK_BITS):
        # The maximum with NaN is the second operand, so the numbers after the last box do not count.
        eight = f32x8_splat(np.float32(-np.inf))
        for at in range(block << _BLOCK_BITS, min(n, (block + 1) << _BLOCK_BITS), LANES):
            eight = f32x8_max(f32x8_load(ends, 3 * stride + at), eight)
        f32x8_store(lanes, 0, eight)
        top = lanes[0]
        for k in range(1, LANES):
            top = max(top, lanes[k])
        tops[block] = top


@kernel
def meet_left(lists: Lists, room: Room, left_count: int, most: int) -> tuple[int, int]:
    """Write the overlapping pairs of the new list in which one box is in `left`.

    Pairs beyond the room are only counted. Returns the numbers of pairs and of comparisons; above `most`, pairs are missing.
    """
    left, has_left, tops, added = room.left, room.has_left, room.tops, room.added
    ends, body = lists.new_ends, lists.new_body
    n = len(body)
    stride = n + LANES
    most_pairs = len(added)
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
        # Boxes that begin before: blocks of the list in which a box reaches this far, eight blocks at once.
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
                        # A box with new margins that begins before has already found this one.
                        if at < behind and not has_left[body[at]]:
                            if found < most_pairs:
                                added[found] = key_of(i, body[at])
                            found += 1
                    j += LANES
            group += LANES
        m += 1
    return found, tests


@kernel
def merge_pairs(lists: Lists, pair_count: int, room: Room, add_count: int) -> int:
    """Write the sorted pairs, with new ones for bodies that left; return how many."""
    pairs, out, has_left, added = lists.pairs, lists.new_pairs, room.has_left, room.added
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
def find_own_overlaps(pairs: AnyLongs, count: int, lower: Floats, upper: Floats, room: Room) -> int:
    """Write the first `count` pairs whose closed boxes (n,3) overlap; return how many."""
    found_a, found_b = room.found_a, room.found_b
    kept = 0
    for p in range(count):
        i, j = bodies_of_key(pairs[p])
        found_a[kept] = i
        found_b[kept] = j
        if overlap(lower, upper, i, j):
            kept += 1
    return kept
