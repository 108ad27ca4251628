"""UniformGrid: boxes in hashed cells of their size, one grid per size class.

No single paper: it is the cell list of molecular dynamics with the levels of a hierarchical spatial hash.
Boxes are classed by their longest edge (ratio at most 2 within a class). Every box is stored once, in the cell of its lower corner
on the level of its class, whose cells are slightly larger than its largest box. So it meets boxes of its own level only in
neighbouring cells (half of them are visited, the other half visits back), and boxes of coarser levels in the two or three cells per
axis that it reaches. Infinite boxes, and a few boxes far larger than the rest, are compared with all others instead.
Guarantee: exactly the overlapping closed boxes. Clamping and hashing cell numbers only brings more boxes together; the float64
boxes are compared at the end, and duplicate pairs are dropped when sorting.
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
    Grid,
    arrange_boxes,
    grid_table,
    open_grid,
    packed,
    slot_of,
    tick_of,
)
from jostle.broad_phase.volumes import Volumes, boxes_for_kernel, find_with_room, overlap, sorted_once
from jostle.cast import as_length
from jostle.errors import InputError
from jostle.interface.body_pairs import CandidatePairs
from jostle.kernels.jit import kernel
from jostle.kernels.numbers import as_int64
from jostle.kernels.structs import Addresses, borrowed

_BATCH = 8  # comparisons written at once
_SLICE = 1 << 25  # comparisons after which Ctrl-C is heard: some 0.1 s


@dataclass(frozen=True)
class UniformGrid:
    """Hashed grids, one per size class of boxes.

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
    """Finds the overlapping boxes of each frame; it keeps only buffers between frames."""

    body_count: int
    smallest_cell: float = 0.0
    counters: dict[str, int] = field(default_factory=dict)
    _pairs: Ints = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self._make_room()
        self._pairs = np.empty((3, 4 * self.body_count + 64), np.int32)

    def _make_room(self) -> None:
        self._grid = grid_table(self.body_count)
        self._tally = np.empty((2, self.body_count + 1), np.int32)

    def find(self, volumes: Volumes) -> CandidatePairs:
        """Return all pairs of overlapping boxes, sorted."""
        lower, upper = boxes_for_kernel(volumes, self.body_count)
        grid = self._grid.table[0]
        level_count, huge_count = arrange_boxes(lower, upper, self.smallest_cell, grid)
        box_tests = cells = 0

        def search(pairs: Ints) -> int:
            nonlocal box_tests, cells
            place = found = box_tests = cells = 0
            while place < self.body_count:
                place, found, more_tests, more_cells = find_pairs(lower, upper, huge_count, grid, place, found, _SLICE, pairs)
                box_tests, cells = box_tests + more_tests, cells + more_cells
            return found

        found, self._pairs = find_with_room(search, self._pairs)
        pairs = sorted_once(self._pairs, found, self._tally)
        self.counters = {
            "box_tests": int(box_tests),
            "cells": int(cells),
            "levels": level_count,
            "huge_boxes": huge_count,
            "pairs": len(pairs.body_a),
        }
        return pairs

    def change(self, body_count: int, old_to_new: NDArray[np.integer]) -> None:
        """Continue with other bodies."""
        if body_count != self.body_count:
            self.body_count = body_count
            self._make_room()


class SearchCounts(NamedTuple):
    """The place to continue from, pairs so far, and tests and cells of this call."""

    place: int
    found: int
    tests: int
    cells: int


class CellRange(NamedTuple):
    """The cells from a box's lower corner to its upper corner, on one level."""

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
    """Write pairs (3,k), unordered, some twice, from box `first` of the table on.

    Stops soon after `most` box tests. The last column is scratch: pairs that do not fit go there.
    """
    grid, box_count = open_grid(table), lower.shape[0] - huge_count
    # Borrowed: reference counts of the pairs would take half of the search's time.
    counts = search_cells(grid, box_count, first, found, most, borrowed(pairs))
    if counts.place < box_count:
        return counts
    found, tests = counts.found, counts.tests
    if huge_count > 0:
        found = compare_huge(lower, upper, grid, huge_count, found, pairs)
        tests += huge_count * lower.shape[0] - huge_count * (huge_count + 1) // 2
    return SearchCounts(lower.shape[0], found, tests, counts.cells)


@kernel
def search_cells(grid: Grid, box_count: int, first: int, found: int, most: int, pairs: Ints) -> SearchCounts:
    """Compare every box from `first` on with boxes of its own and coarser levels.

    Comparisons are queued: made at once, in loops of unpredictable length, they take 130 ns per box instead of 90. For the same
    reason everything but the comparisons is inlined here.
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
            # Boxes that reach this one start between the cell before its lower corner and that of its upper corner. On its
            # own level the search starts after the box itself: boxes in earlier cells find it themselves.
            before = 0 if level == own else 1
            skipped = place + 1 if level == own else 0
            row_x = reached.x - before
            row_y = reached.y - before
            first_z = reached.z - before
            while row_x <= reached.last_x:
                run_z = min(reached.last_z, first_z | RUN_MASK)
                slot = np.uint64(slot_of(row_x, row_y, first_z, level, slots))
                # Via int64: Numba turns an unsigned and a signed integer into a float.
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
def ask_on_level(grid: Grid, place: int, level: int, asked: int) -> CellRange:
    """Add a box to those with queued comparisons; return its cells on this level."""
    box, scale = grid.boxes[place], grid.scale[level].at
    x, y, z = tick_of(box.lower[0], scale[0]), tick_of(box.lower[1], scale[1]), tick_of(box.lower[2], scale[2])
    last_x, last_y, last_z = tick_of(box.upper[0], scale[0]), tick_of(box.upper[1], scale[1]), tick_of(box.upper[2], scale[2])
    grid.asking[asked] = place
    ticks = grid.asking_ticks[asked]
    ticks.lower = packed(x, y, z)
    ticks.upper = packed(last_x, last_y, last_z) | FREE_BITS
    return CellRange(x >> TICK_BITS, y >> TICK_BITS, z >> TICK_BITS, last_x >> TICK_BITS, last_y >> TICK_BITS, last_z >> TICK_BITS)


@kernel(forceinline=True)
def let_wait(grid: Grid, asked: int, start: int, length: int, count: int, found: int, pairs: Ints) -> tuple[int, int]:
    """Queue comparisons with a run of the table; return how many wait, and the pairs."""
    waiting_for: Any = grid.waiting_for
    waiting_with: Any = grid.waiting_with
    while True:
        # Always eight are written: one instruction and no branch; few runs are longer.
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
def compare_waiting(grid: Grid, count: int, found: int, pairs: Ints) -> int:
    """Make the queued comparisons, in ticks and then exactly; return the pair count."""
    # Six comparisons in two subtractions, 2 ns instead of 6. Every pair is written without a branch; one that may overlap
    # advances the place of the next. Boxes of another level in a shared slot are found elsewhere.
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
            (a_box.lower[0] <= b_box.upper[0])
            & (a_box.upper[0] >= b_box.lower[0])
            & (a_box.lower[1] <= b_box.upper[1])
            & (a_box.upper[1] >= b_box.lower[1])
            & (a_box.lower[2] <= b_box.upper[2])
            & (a_box.upper[2] >= b_box.lower[2])
            & (i != j)  # cells that share a slot can pair a box with itself
        ):
            found += 1
    return found


@kernel
def compare_huge(lower: Floats, upper: Floats, grid: Grid, huge_count: int, found: int, pairs: Ints) -> int:
    """Compare the huge boxes with all boxes; return the number of pairs found so far."""
    level, huge = grid.level, grid.huge
    last = pairs.shape[1] - 1
    passed = 0
    for i in range(lower.shape[0]):
        # The list ascends: a huge box has already met those before it.
        if level[i] == HUGE:
            passed += 1
        for h in range(passed if level[i] == HUGE else 0, huge_count):
            other = huge[h]
            if overlap(lower, upper, i, other):
                column = min(found, last)
                pairs[0, column] = min(i, other)
                pairs[1, column] = max(i, other)
                found += 1
    return found
