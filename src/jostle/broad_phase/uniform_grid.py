"""UniformGrid: boxes in hashed cells as large as the boxes, one grid for each class of sizes.

There is no single paper: it is the cell list of molecular dynamics with the levels of a hierarchical spatial hash.
Boxes are classed by their longest edge (ratio at most 2 within a class). Every box is stored once, in the cell of its
lower corner on the level of its class, where cells are a little larger than every box of that class; so it meets boxes
of its own level in the neighbouring cells only (half of them are visited, the other half visits back), and boxes of
coarser levels in the two or three cells per axis that it reaches. A few boxes far larger than the rest, and boxes
without an end, are compared with all others instead.
Guarantee: exactly the overlapping closed boxes. Cell numbers are clamped and hashed, both of which only bring more
boxes together; the float64 boxes are compared in the end, and a pair met twice is dropped when the pairs are sorted.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from jostle.broad_phase.uniform_grid_cells import (
    ASKING,
    FREE_BITS,
    HUGE,
    RUN_MASK,
    SIGN_BITS,
    SPARE_SLOTS,
    TICK_BITS,
    WAITING,
    Indices,
    Longs,
    Room,
    arrange_boxes,
    packed,
    slot_of,
    tick_of,
)
from jostle.broad_phase.volumes import (
    CandidatePairs,
    Floats,
    Ints,
    Volumes,
    boxes_for_kernel,
    refuse_too_many_pairs,
    sort_pairs,
)
from jostle.cast import as_length
from jostle.errors import InputError
from jostle.kernels.jit import kernel

_BATCH = 8  # comparisons written at once
_SLICE = 1 << 25  # comparisons after which Ctrl-C is heard: some 0.1 s


@dataclass(frozen=True)
class UniformGrid:
    """Hashed grids, one for each class of box sizes.

    Parameters
    ----------
    cell : float, optional
        Smallest edge of a cell, in the user's units; boxes smaller than it share one grid. By default every grid has
        cells as large as its largest box.
    """

    cell: float | None = None

    def __post_init__(self) -> None:
        if self.cell is not None and as_length(self.cell, "cell", "UniformGrid") == 0.0:
            raise InputError("UniformGrid: cell is 0; pass a length above 0, or None to fit the cells to the boxes")

    def start(self, body_count: int) -> UniformGridFinder:
        """Return a finder for a world of `body_count` bodies."""
        return UniformGridFinder(body_count, 0.0 if self.cell is None else float(self.cell))


@dataclass
class UniformGridFinder:
    """Finds the overlapping boxes of one frame after another; it keeps memory between frames, nothing else."""

    body_count: int
    smallest_cell: float = 0.0
    counters: dict[str, int] = field(default_factory=dict)
    _room: Room = field(init=False, repr=False)
    _pairs: Ints = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self._room = Room.of(self.body_count)
        self._pairs = np.empty((3, 4 * self.body_count + 64), np.int32)

    def find(self, volumes: Volumes) -> CandidatePairs:
        """Return all pairs of overlapping boxes, sorted."""
        lower, upper = boxes_for_kernel(volumes, self.body_count)
        room = self._room
        level_count, huge_count = arrange_boxes(lower, upper, self.smallest_cell, room)
        while True:
            place = found = box_tests = cells = 0
            while place < self.body_count:
                place, found, more_tests, more_cells = find_pairs(lower, upper, huge_count, room, place, found, _SLICE, self._pairs)
                box_tests, cells = box_tests + more_tests, cells + more_cells
            if found < self._pairs.shape[1]:
                break
            refuse_too_many_pairs(found)
            # A quarter more than needed: the next frame usually has a few pairs more.
            self._pairs = np.empty((3, found + found // 4 + 1), np.int32)
        sorted_pairs = np.empty((2, found), np.int32)
        kept = sort_pairs(self._pairs, found, room.tally, sorted_pairs)
        self.counters = {
            "box_tests": box_tests,
            "cells": cells,
            "levels": level_count,
            "huge_boxes": huge_count,
            "pairs": kept,
        }
        return CandidatePairs(sorted_pairs[0, :kept], sorted_pairs[1, :kept])

    def change(self, body_count: int, old_to_new: NDArray[np.integer]) -> None:
        """Go on with other bodies."""
        if body_count != self.body_count:
            self.body_count = body_count
            self._room = Room.of(body_count)


@kernel
def find_pairs(
    lower: Floats, upper: Floats, huge_count: int, room: Room, first: int, found: int, most: int, pairs: Ints
) -> tuple[int, int, int, int]:
    """Write pairs (3,k) in no order, some twice, while there is room, for the boxes from `first` of the table on.

    Returns the place to go on from after little more than `most` box tests, the number of pairs so far, and of box tests and cells
    visited now. The last column is never a result: what does not fit goes there.
    """
    box_count = lower.shape[0] - huge_count
    place, found, tests, cells = search_cells(
        box_count,
        first,
        found,
        most,
        room.box,
        room.body,
        room.level,
        room.ticks_per_unit,
        room.ticks,
        room.slot_start,
        room.asking,
        room.asking_ticks,
        room.waiting,
        pairs,
    )
    if place < box_count:
        return place, found, tests, cells
    if huge_count > 0:
        found = compare_huge(lower, upper, room.level, room.huge, huge_count, found, pairs)
        tests += huge_count * lower.shape[0] - huge_count * (huge_count + 1) // 2
    return lower.shape[0], found, tests, cells


@kernel
def search_cells(
    box_count: int,
    first: int,
    found: int,
    most: int,
    box: Floats,
    body: Ints,
    level_of: Ints,
    scale: Floats,
    ticks: Longs,
    slot_start: Indices,
    asking: Indices,
    asking_ticks: Longs,
    waiting: Indices,
    pairs: Ints,
) -> tuple[int, int, int, int]:
    """Compare every sorted box from `first` on with those of its own level in the cells from its own on, and of coarser levels.

    Longer than others, because calls that pass arrays cost more than the comparisons (700 ns a box against 90). Comparisons
    wait in a list: made at once, in loops that end after an unforeseeable number of rounds, they take 130 ns a box.
    """
    tests = 0
    cells = 0
    asked = 0
    count = 0
    slots = slot_start.shape[0] - SPARE_SLOTS
    place = first
    while place < box_count and tests <= most:
        own = int(level_of[body[place]])
        for level in range(own, -1, -1):
            x = tick_of(box[place, 0], scale[level, 0])
            y = tick_of(box[place, 1], scale[level, 1])
            z = tick_of(box[place, 2], scale[level, 2])
            last_x = tick_of(box[place, 3], scale[level, 0])
            last_y = tick_of(box[place, 4], scale[level, 1])
            last_z = tick_of(box[place, 5], scale[level, 2])
            asking[asked] = place
            asking_ticks[asked, 0] = packed(x, y, z)
            asking_ticks[asked, 1] = packed(last_x, last_y, last_z) | FREE_BITS
            x >>= TICK_BITS
            y >>= TICK_BITS
            z >>= TICK_BITS
            last_x >>= TICK_BITS
            last_y >>= TICK_BITS
            last_z >>= TICK_BITS
            # Boxes that reach this one start in a cell from one before its lower corner's to its upper corner's. On the
            # own level the search begins behind the box itself: boxes that start in cells before come and find it.
            before = 0 if level == own else 1
            skipped = place + 1 if level == own else 0
            row_x = x - before
            row_y = y - before
            first_z = z - before
            while row_x <= last_x:
                run_z = min(last_z, first_z | RUN_MASK)
                slot = np.uint64(slot_of(row_x, row_y, first_z, level, slots))
                # By way of int64: Numba makes a float of an unsigned and a signed integer.
                start = max(int(np.int64(slot_start[slot])), skipped)
                length = int(np.int64(slot_start[slot + np.uint64(run_z + 1 - first_z)])) - start
                skipped = 0
                tests += length
                cells += run_z + 1 - first_z
                while True:
                    # Eight are always written, which takes one instruction and no decision; few runs are longer.
                    for k in range(_BATCH):
                        waiting[0, np.uint64(count + k)] = asked
                        waiting[1, np.uint64(count + k)] = start + k
                    count += min(length, _BATCH)
                    start += _BATCH
                    length -= _BATCH
                    if count > WAITING - _BATCH:
                        found = compare_waiting(box, body, ticks, asking, asking_ticks, waiting, count, found, pairs)
                        count = 0
                    if length <= 0:
                        break
                first_z = run_z + 1
                if first_z > last_z:
                    first_z = z - 1
                    row_y += 1
                    if row_y > last_y:
                        row_y = y - 1
                        row_x += 1
            asked += 1
            if asked == ASKING:
                found = compare_waiting(box, body, ticks, asking, asking_ticks, waiting, count, found, pairs)
                count = 0
                asked = 0
        place += 1
    return place, compare_waiting(box, body, ticks, asking, asking_ticks, waiting, count, found, pairs), tests, cells


@kernel
def compare_waiting(
    box: Floats,
    body: Ints,
    ticks: Longs,
    asking: Indices,
    asking_ticks: Longs,
    waiting: Indices,
    count: int,
    found: int,
    pairs: Ints,
) -> int:
    """Make the comparisons that wait, in ticks and then exactly; return the number of pairs found so far."""
    # Six comparisons in two subtractions, 2 ns instead of 6. Every pair is written without a decision, and one that may
    # overlap makes the next go to the next place. Boxes of another level in a shared slot are found elsewhere.
    kept = 0
    for w in range(count):
        a = waiting[0, w]
        other = waiting[1, w]
        waiting[0, np.uint64(kept)] = asking[a]
        waiting[1, np.uint64(kept)] = other
        signs = (asking_ticks[a, 1] - ticks[other, 0]) | ((ticks[other, 1] | FREE_BITS) - asking_ticks[a, 0])
        kept += 1 if signs & SIGN_BITS == 0 else 0
    last = pairs.shape[1] - 1
    for w in range(kept):
        i = waiting[0, w]
        j = waiting[1, w]
        column = np.uint64(min(found, last))
        pairs[0, column] = min(body[i], body[j])
        pairs[1, column] = max(body[i], body[j])
        if (
            (box[i, 0] <= box[j, 3])
            & (box[i, 3] >= box[j, 0])
            & (box[i, 1] <= box[j, 4])
            & (box[i, 4] >= box[j, 1])
            & (box[i, 2] <= box[j, 5])
            & (box[i, 5] >= box[j, 2])
            & (i != j)  # cells that share a slot can bring a box to itself
        ):
            found += 1
    return found


@kernel
def compare_huge(lower: Floats, upper: Floats, level: Ints, huge: Ints, huge_count: int, found: int, pairs: Ints) -> int:
    """Compare the huge boxes with all boxes, and with each other once; return the number of pairs found so far."""
    last = pairs.shape[1] - 1
    passed = 0
    for i in range(lower.shape[0]):
        # The list ascends, so that a huge box has met those before it already.
        if level[i] == HUGE:
            passed += 1
        for h in range(passed if level[i] == HUGE else 0, huge_count):
            other = huge[h]
            if (
                lower[i, 0] <= upper[other, 0]
                and upper[i, 0] >= lower[other, 0]
                and lower[i, 1] <= upper[other, 1]
                and upper[i, 1] >= lower[other, 1]
                and lower[i, 2] <= upper[other, 2]
                and upper[i, 2] >= lower[other, 2]
            ):
                column = min(found, last)
                pairs[0, column] = min(i, other)
                pairs[1, column] = max(i, other)
                found += 1
    return found
