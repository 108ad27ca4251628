"""The table of `uniform_grid`: boxes classed by size and sorted by cell.

Each class is a level with cells slightly larger than its largest box. A cell is found by a hash of its three numbers and its level;
boxes whose cells share a slot of the table are adjacent, in arrays of their own (`Grid`).
Everything that makes cells robust is here: coordinates up to 1e200, box sizes over any number of decades, points, plates, a body
that has flown off, and infinite boxes. Cell numbers are monotone in the coordinate, rounding included; the guarantee rests on that.
"""

from __future__ import annotations

import math
from typing import Any, Literal

import numpy as np

from jostle._types import Floats
from jostle.kernels.handles import AddressTable
from jostle.kernels.jit import kernel
from jostle.kernels.structs import Addresses, Record, Rows, Run, Struct, float64, int32, int64, opener, uint32

# Sizes are binned by the exponent and the first two bits of the mantissa of a float64: four bins per factor of two.
_BIN_SHIFT = 50
_BIN_COUNT = 8192
_BINS_PER_LEVEL = 4
_MOST_LEVELS = _BIN_COUNT // _BINS_PER_LEVEL + 1
# Up to this many largest boxes are compared with all others instead of getting a level: a comparison streams through memory at
# 1 to 2 ns, a visit to a coarser level costs about 60 ns.
_FEW = 8
HUGE = -1
_FARTHEST = 1e200  # a box that reaches farther is huge; differences and cell numbers of the others stay finite

# Cells are larger than boxes by 1/64 and numbered up to ±2^44, where two cell numbers round by 2^-8 of a cell: a box is then
# never two cells away from one it touches. Cells are divided into 64 ticks.
_CELL_PADDING = 1.0 + 1.0 / 64.0
_SMALLEST_CELL = 1e-90
_CELL_PER_DISTANCE = 2.0**-42  # a cell is at least this part of the usual distance from the origin
_FLATTEST = 1.0 / 8.0  # cells are at least this part of the longest edge, so that a box of a finer level meets few
_TICKS = 64.0
TICK_BITS = 6
_LAST_TICK = 2.0**50

# Three ticks, modulo 2^20, share an integer; subtraction may borrow from the free bit above each.
_TICK_MASK = (1 << 20) - 1
SIGN_BITS = 1 << 19 | 1 << 40 | 1 << 61
FREE_BITS = 1 << 20 | 1 << 41 | 1 << 62

# Runs of 256 cells along z are adjacent in the table, because neighbours along z are visited together. The multipliers are 2^63
# over the powers of 1.2207…, the root of x^4 = x + 1, whose multiples spread evenly.
_RUN_BITS = 8
RUN_MASK = 255
_MIX_X = 7555532853418227329
_MIX_Y = 6189284837581903361
_MIX_Z = 5070092016526739179
_MIX_LEVEL = 4153280020328036629
_SLOTS_PER_BODY = 4  # with 2 a third more comparisons, with 8 no fewer milliseconds
SPARE_SLOTS = 258  # a run may begin in the last slot, and slots are counted two ahead

# Queued comparisons, and boxes that queue them: 21 KB, within the L1 cache.
WAITING = 2048
ASKING = 256


class CellScale(Record):
    """The edges of a level's cells, and later its ticks per unit of length."""

    at: Run[float64, Literal[3]]


class TableBox(Record):
    """A box of the table."""

    lower: Run[float64, Literal[3]]
    upper: Run[float64, Literal[3]]


class PackedTicks(Record):
    """The corners of a box in ticks, packed."""

    lower: int64
    upper: int64


class Grid(Struct):
    """The table, kept between frames: fresh memory would cost as much as the search."""

    extent: Rows[float64]  # (n,) longest edge of each box, or -1 for an infinite box
    extent_bits: Rows[int64]  # the same memory, read as integers
    bins: Rows[int32]  # (bins,) first the number of boxes of each size, then the level of each size
    level: Rows[int32]  # (n,) level of each box, 0 the coarsest, or HUGE
    scale: Rows[CellScale]  # (levels,)
    slot: Rows[int32]  # (n,) place of each box's cell in the table
    slot_start: Rows[uint32]  # (slots,) where the boxes of a slot start; they end where the next slot starts
    body: Rows[int32]  # (n,) bodies in the order of the table
    boxes: Rows[TableBox]  # (n,) their boxes
    ticks: Rows[PackedTicks]  # (n,) the same in ticks of their level
    huge: Rows[int32]  # (n,) bodies compared with all others
    asking: Rows[uint32]  # (ASKING,) places of boxes with queued comparisons
    asking_ticks: Rows[PackedTicks]  # (ASKING,) their corners in ticks of the level visited
    waiting_for: Rows[uint32]  # (WAITING,) comparisons: row of `asking`
    waiting_with: Rows[uint32]  # (WAITING,) and place of the other box


open_grid = opener(Grid)


def grid_table(n: int) -> AddressTable:
    """Return the table for n bodies."""
    extent = np.empty(n)
    return Grid.table(
        extent=extent,
        extent_bits=extent.view(np.int64),
        bins=np.zeros(_BIN_COUNT, np.int32),
        level=np.empty(n, np.int32),
        scale=np.empty(_MOST_LEVELS, CellScale.dtype),
        slot=np.empty(n, np.int32),
        slot_start=np.empty(_SLOTS_PER_BODY * n + 64 + SPARE_SLOTS, np.uint32),
        body=np.empty(n, np.int32),
        boxes=np.empty(n, TableBox.dtype),
        ticks=np.empty(n, PackedTicks.dtype),
        huge=np.empty(n, np.int32),
        asking=np.empty(ASKING, np.uint32),
        asking_ticks=np.empty(ASKING, PackedTicks.dtype),
        waiting_for=np.empty(WAITING, np.uint32),
        waiting_with=np.empty(WAITING, np.uint32),
    )


@kernel
def arrange_boxes(lower: Floats, upper: Floats, smallest_cell: float, table: Addresses) -> tuple[int, int]:
    """Class boxes (n,3) by size and sort them by cell; return level and huge counts."""
    grid = open_grid(table)
    lowest_bin, highest_bin = count_sizes(lower, upper, smallest_cell, grid)
    level_count = group_sizes(grid.bins, lowest_bin, highest_bin)
    huge_count = give_levels(lower, upper, max(smallest_cell, _SMALLEST_CELL), level_count, grid)
    for size in range(lowest_bin, highest_bin + 1):
        grid.bins[size] = 0
    sort_by_cell(lower, upper, grid)
    return level_count, huge_count


@kernel
def count_sizes(lower: Floats, upper: Floats, smallest_cell: float, grid: Grid) -> tuple[int, int]:
    """Write longest edges (n,) and count sizes; return the lowest and highest bin."""
    n = lower.shape[0]
    for i in range(n):
        longest = smallest_cell
        farthest = 0.0
        for k in range(3):
            farthest = max(farthest, max(abs(lower[i, k]), abs(upper[i, k])))
        if farthest < _FARTHEST:
            for k in range(3):
                longest = max(longest, upper[i, k] - lower[i, k])
            grid.extent[i] = longest
        else:
            grid.extent[i] = -1.0
    lowest_bin = _BIN_COUNT - 1
    highest_bin = -1
    for i in range(n):
        if grid.extent[i] >= 0.0:
            size = grid.extent_bits[i] >> _BIN_SHIFT
            grid.bins[size] += 1
            lowest_bin = min(lowest_bin, size)
            highest_bin = max(highest_bin, size)
    return lowest_bin, highest_bin


@kernel
def group_sizes(bins: Rows[int32], lowest_bin: int, highest_bin: int) -> int:
    """Turn counts (bins,) into the level of each bin, or HUGE; return the level count."""
    remaining = 0
    for size in range(lowest_bin, highest_bin + 1):
        remaining += bins[size]
    half = remaining // 2
    level_count = 0
    top = highest_bin
    while top >= lowest_bin:
        if bins[top] == 0:
            top -= 1
            continue
        # How far down does a handful of boxes reach? They are huge if leaving them out makes the next level's cells smaller
        # by two bins or more, and if most boxes would have to visit them on a level of their own.
        few = 0
        below = top
        while below >= lowest_bin and few + bins[below] <= _FEW:
            few += bins[below]
            below -= 1
        level = HUGE
        if top - below < 2 or remaining - few <= half:
            level = level_count
            level_count += 1
            below = max(lowest_bin - 1, top - _BINS_PER_LEVEL)
        for size in range(below + 1, top + 1):
            remaining -= bins[size]
            bins[size] = level
        top = below
    return level_count


@kernel
def give_levels(lower: Floats, upper: Floats, smallest_cell: float, level_count: int, grid: Grid) -> int:
    """Write levels of boxes, ticks of levels and the huge boxes; return their number."""
    for level in range(level_count):
        for k in range(3):
            grid.scale[level].at[k] = smallest_cell
    farthest = 0.0
    huge_count = 0
    for i in range(lower.shape[0]):
        level = HUGE
        if grid.extent[i] >= 0.0:
            level = grid.bins[grid.extent_bits[i] >> _BIN_SHIFT]
        grid.level[i] = level
        if level == HUGE:
            grid.huge[huge_count] = i
            huge_count += 1
            continue
        # An axis along which all boxes are flat gets flat cells: a level of plates compares fewer pairs.
        flattest = grid.extent[i] * _FLATTEST
        for k in range(3):
            grid.scale[level].at[k] = max(grid.scale[level].at[k], max(upper[i, k] - lower[i, k], flattest))
            farthest = max(farthest, abs(lower[i, k]))
    smallest = np.inf
    for level in range(level_count):
        for k in range(3):
            smallest = min(smallest, grid.scale[level].at[k])
    if smallest < farthest * _CELL_PER_DISTANCE:
        enlarge_cells(lower, grid, level_count)
    for level in range(level_count):
        for k in range(3):
            grid.scale[level].at[k] = _TICKS / (grid.scale[level].at[k] * _CELL_PADDING)
    return huge_count


@kernel
def enlarge_cells(lower: Floats, grid: Grid, level_count: int) -> None:
    """Enlarge cells that are tiny for their distance from the origin."""
    # For example points, or 1e-12 across at 100. One body that has flown off to 1e20 barely affects the mean of exponents.
    exponents = np.zeros(level_count)
    boxes = np.zeros(level_count)
    for i in range(lower.shape[0]):
        if grid.level[i] != HUGE:
            reach = max(abs(lower[i, 0]), max(abs(lower[i, 1]), abs(lower[i, 2])))
            exponents[grid.level[i]] += math.frexp(reach)[1]
            boxes[grid.level[i]] += 1.0
    for level in range(level_count):
        finest = math.ldexp(_CELL_PER_DISTANCE, int(exponents[level] / max(boxes[level], 1.0)))
        for k in range(3):
            grid.scale[level].at[k] = max(grid.scale[level].at[k], finest)


@kernel
def tick_of(coordinate: float, ticks_per_unit: float) -> int:
    """Return the clamped tick of a coordinate; monotone, rounding included."""
    tick = coordinate * ticks_per_unit
    if tick > _LAST_TICK:
        tick = _LAST_TICK
    if tick < -_LAST_TICK:
        tick = -_LAST_TICK
    return math.floor(tick)


@kernel
def packed(x: int, y: int, z: int) -> int:
    """Return three ticks, modulo 2^20, in one integer with a free bit above each."""
    return (x & _TICK_MASK) | (y & _TICK_MASK) << 21 | (z & _TICK_MASK) << 42


@kernel
def slot_of(x: int, y: int, z: int, level: int, slots: int) -> int:
    """Return the slot of a cell: the top half of a multiplicative hash, scaled."""
    # Python integers do not wrap around like int64, but their 64 lowest bits are the same.
    mixed = x * _MIX_X + y * _MIX_Y + (z >> _RUN_BITS) * _MIX_Z + level * _MIX_LEVEL
    return (((mixed >> 32) & 0xFFFFFFFF) * slots >> 32) + (z & RUN_MASK)


@kernel
def sort_by_cell(lower: Floats, upper: Floats, grid: Grid) -> None:
    """Sort the boxes by the slot of their lower corner's cell, without huge boxes."""
    slot_start: Any = grid.slot_start
    slots = slot_start.shape[0] - SPARE_SLOTS
    for slot in range(slot_start.shape[0]):
        slot_start[slot] = 0
    for i in range(lower.shape[0]):
        level = int(grid.level[i])
        if level != HUGE:
            scale = grid.scale[level].at
            x = tick_of(lower[i, 0], scale[0]) >> TICK_BITS
            y = tick_of(lower[i, 1], scale[1]) >> TICK_BITS
            z = tick_of(lower[i, 2], scale[2]) >> TICK_BITS
            slot = slot_of(x, y, z, level, slots)
            grid.slot[i] = slot
            # Counted two slots ahead: after summing, a slot starts at slot_start[slot + 1], and filling it moves that to its
            # end, where the next one starts.
            slot_start[slot + 2] += 1
    for slot in range(1, slot_start.shape[0]):
        slot_start[slot] += slot_start[slot - 1]
    for i in range(lower.shape[0]):
        level = int(grid.level[i])
        if level != HUGE:
            scale = grid.scale[level].at
            place = slot_start[grid.slot[i] + 1]
            slot_start[grid.slot[i] + 1] = place + 1
            grid.body[place] = i
            box, ticks = grid.boxes[place], grid.ticks[place]
            for k in range(3):
                box.lower[k], box.upper[k] = lower[i, k], upper[i, k]
            ticks.lower = packed(tick_of(lower[i, 0], scale[0]), tick_of(lower[i, 1], scale[1]), tick_of(lower[i, 2], scale[2]))
            ticks.upper = packed(tick_of(upper[i, 0], scale[0]), tick_of(upper[i, 1], scale[1]), tick_of(upper[i, 2], scale[2]))
