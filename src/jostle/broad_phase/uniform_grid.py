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
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from jostle._types import Floats, Ints
from jostle.broad_phase.uniform_grid_cells import (
    ASKING,
    FREE_BITS,
    HUGE,
    RUN_MASK,
    SIGN_BITS,
    SPARE_SLOTS,
    TICK_BITS,
    WAITING,
    Room,
    SearchTable,
    arrange_boxes,
    open_search,
    packed,
    search_table,
    slot_of,
    tick_of,
)
from jostle.broad_phase.volumes import Volumes, boxes_for_kernel, refuse_too_many_pairs, sort_pairs
from jostle.cast import as_length
from jostle.errors import InputError
from jostle.interface.body_pairs import CandidatePairs
from jostle.kernels.handles import AddressTable
from jostle.kernels.jit import kernel
from jostle.kernels.numbers import as_int64
from jostle.kernels.structs import Addresses, borrowed

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
    _memory: tuple[Room, AddressTable] = field(init=False, repr=False)
    _pairs: Ints = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self._memory = _memory_for(self.body_count)
        self._pairs = np.empty((3, 4 * self.body_count + 64), np.int32)

    def find(self, volumes: Volumes) -> CandidatePairs:
        """Return all pairs of overlapping boxes, sorted."""
        lower, upper = boxes_for_kernel(volumes, self.body_count)
        room, search = self._memory
        level_count, huge_count = arrange_boxes(lower, upper, self.smallest_cell, room)
        while True:
            place = found = box_tests = cells = 0
            while place < self.body_count:
                place, found, more_tests, more_cells = find_pairs(
                    lower, upper, huge_count, search.table[0], place, found, _SLICE, self._pairs
                )
                box_tests, cells = box_tests + more_tests, cells + more_cells
            if found < self._pairs.shape[1]:
                break
            refuse_too_many_pairs(found)
            # A quarter more than needed: the next frame usually has a few pairs more.
            self._pairs = np.empty((3, found + found // 4 + 1), np.int32)
        sorted_pairs = np.empty((2, found), np.int32)
        kept = sort_pairs(self._pairs, found, room.tally, sorted_pairs)
        self.counters = {
            "box_tests": int(box_tests),
            "cells": int(cells),
            "levels": level_count,
            "huge_boxes": huge_count,
            "pairs": kept,
        }
        return CandidatePairs(sorted_pairs[0, :kept], sorted_pairs[1, :kept])

    def change(self, body_count: int, old_to_new: NDArray[np.integer]) -> None:
        """Go on with other bodies."""
        if body_count != self.body_count:
            memory = _memory_for(body_count)
            self.body_count, self._memory = body_count, memory


def _memory_for(body_count: int) -> tuple[Room, AddressTable]:
    """Return the arrays for so many bodies, and the table of those that the search sees."""
    room = Room.of(body_count)
    return room, search_table(room)


class SearchCounts(NamedTuple):
    """The place to go on from, pairs found so far, and box tests made and cells visited now."""

    place: int
    found: int
    tests: int
    cells: int


class CellRange(NamedTuple):
    """Cells from the one of a box's lower corner to that of its upper corner, on one level."""

    x: int
    y: int
    z: int
    last_x: int
    last_y: int
    last_z: int


@kernel
def find_pairs(
    lower: Floats, upper: Floats, huge_count: int, table: Addresses, first: int, found: int, most: int, pairs: Ints
) -> SearchCounts:
    """Write pairs (3,k) in no order, some twice, while there is room, for the boxes from `first` of the table on.

    Goes on to little more than `most` box tests. The last column is never a result: what does not fit goes there.
    """
    grid, box_count = open_search(table), lower.shape[0] - huge_count
    # Borrowed: counting references to the pairs in the search would take half of its time.
    counts = search_cells(grid, box_count, first, found, most, borrowed(pairs))
    if counts.place < box_count:
        return counts
    found, tests = counts.found, counts.tests
    if huge_count > 0:
        found = compare_huge(lower, upper, grid, huge_count, found, pairs)
        tests += huge_count * lower.shape[0] - huge_count * (huge_count + 1) // 2
    return SearchCounts(lower.shape[0], found, tests, counts.cells)


@kernel
def search_cells(grid: SearchTable, box_count: int, first: int, found: int, most: int, pairs: Ints) -> SearchCounts:
    """Compare every sorted box from `first` on with those of its own level in the cells from its own on, and of coarser levels.

    Comparisons wait in a list: made at once, in loops that end after an unforeseeable number of rounds, they take 130 ns a box
    instead of 90. For the same reason all but the comparisons is inlined here.
    """
    tests = 0
    cells = 0
    asked = 0
    count = 0
    slot_start: Any = grid.slot_start
    slots = slot_start.shape[0] - SPARE_SLOTS
    place = first
    while place < box_count and tests <= most:
        own = as_int64(grid.level[grid.body[place]])
        for level in range(own, -1, -1):
            reached = ask_on_level(grid, place, level, asked)
            # Boxes that reach this one start in a cell from one before its lower corner's to its upper corner's. On the
            # own level the search begins behind the box itself: boxes that start in cells before come and find it.
            before = 0 if level == own else 1
            skipped = place + 1 if level == own else 0
            row_x = reached.x - before
            row_y = reached.y - before
            first_z = reached.z - before
            while row_x <= reached.last_x:
                run_z = min(reached.last_z, first_z | RUN_MASK)
                slot = np.uint64(slot_of(row_x, row_y, first_z, level, slots))
                # By way of int64: Numba makes a float of an unsigned and a signed integer.
                start = max(as_int64(slot_start[slot]), skipped)
                length = as_int64(slot_start[slot + np.uint64(run_z + 1 - first_z)]) - start
                skipped = 0
                tests += length
                cells += run_z + 1 - first_z
                count, found = let_wait(grid, asked, start, length, count, found, pairs)
                first_z = run_z + 1
                if first_z > reached.last_z:
                    first_z = reached.z - 1
                    row_y += 1
                    if row_y > reached.last_y:
                        row_y = reached.y - 1
                        row_x += 1
            asked += 1
            if asked == ASKING:
                found = compare_waiting(grid, count, found, pairs)
                count = 0
                asked = 0
        place += 1
    return SearchCounts(place, compare_waiting(grid, count, found, pairs), tests, cells)


@kernel(forceinline=True)
def ask_on_level(grid: SearchTable, place: int, level: int, asked: int) -> CellRange:
    """Enter a box among those for which comparisons wait, in ticks of a level; return the cells that it reaches there."""
    box, scale = grid.boxes[place], grid.scale[level]
    x, y, z = tick_of(box.lower_x, scale.x), tick_of(box.lower_y, scale.y), tick_of(box.lower_z, scale.z)
    last_x, last_y, last_z = tick_of(box.upper_x, scale.x), tick_of(box.upper_y, scale.y), tick_of(box.upper_z, scale.z)
    grid.asking[asked] = place
    ticks = grid.asking_ticks[asked]
    ticks.lower = packed(x, y, z)
    ticks.upper = packed(last_x, last_y, last_z) | FREE_BITS
    return CellRange(x >> TICK_BITS, y >> TICK_BITS, z >> TICK_BITS, last_x >> TICK_BITS, last_y >> TICK_BITS, last_z >> TICK_BITS)


@kernel(forceinline=True)
def let_wait(grid: SearchTable, asked: int, start: int, length: int, count: int, found: int, pairs: Ints) -> tuple[int, int]:
    """Let comparisons wait with a run of the table; return how many wait then, and how many pairs are found so far."""
    waiting_for: Any = grid.waiting_for
    waiting_with: Any = grid.waiting_with
    while True:
        # Eight are always written, which takes one instruction and no decision; few runs are longer.
        for k in range(_BATCH):
            waiting_for[np.uint64(count + k)] = asked
        for k in range(_BATCH):
            waiting_with[np.uint64(count + k)] = start + k
        count += min(length, _BATCH)
        start += _BATCH
        length -= _BATCH
        if count > WAITING - _BATCH:
            found = compare_waiting(grid, count, found, pairs)
            count = 0
        if length <= 0:
            return count, found


@kernel
def compare_waiting(grid: SearchTable, count: int, found: int, pairs: Ints) -> int:
    """Make the comparisons that wait, in ticks and then exactly; return the number of pairs found so far."""
    # Six comparisons in two subtractions, 2 ns instead of 6. Every pair is written without a decision, and one that may
    # overlap makes the next go to the next place. Boxes of another level in a shared slot are found elsewhere.
    waiting_for: Any = grid.waiting_for
    waiting_with: Any = grid.waiting_with
    body, boxes = grid.body, grid.boxes
    asking_places, asking_ticks, all_ticks = grid.asking, grid.asking_ticks, grid.ticks
    kept = 0
    for w in range(count):
        a = waiting_for[w]
        other = waiting_with[w]
        waiting_for[np.uint64(kept)] = asking_places[a]
        waiting_with[np.uint64(kept)] = other
        asking, ticks = asking_ticks[a], all_ticks[other]
        signs = (asking.upper - ticks.lower) | ((ticks.upper | FREE_BITS) - asking.lower)
        kept += 1 if signs & SIGN_BITS == 0 else 0
    last = pairs.shape[1] - 1
    for w in range(kept):
        i = waiting_for[w]
        j = waiting_with[w]
        column = np.uint64(min(found, last))
        pairs[0, column] = min(body[i], body[j])
        pairs[1, column] = max(body[i], body[j])
        a_box, b_box = boxes[i], boxes[j]
        if (
            (a_box.lower_x <= b_box.upper_x)
            & (a_box.upper_x >= b_box.lower_x)
            & (a_box.lower_y <= b_box.upper_y)
            & (a_box.upper_y >= b_box.lower_y)
            & (a_box.lower_z <= b_box.upper_z)
            & (a_box.upper_z >= b_box.lower_z)
            & (i != j)  # cells that share a slot can bring a box to itself
        ):
            found += 1
    return found


@kernel
def compare_huge(lower: Floats, upper: Floats, grid: SearchTable, huge_count: int, found: int, pairs: Ints) -> int:
    """Compare the huge boxes with all boxes, and with each other once; return the number of pairs found so far."""
    level, huge = grid.level, grid.huge
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
