"""The table of `uniform_grid`: boxes classed by size and sorted by cell.

Each class is a level with cells slightly larger than its largest box. A cell is found by a hash of its three numbers and its level;
boxes whose cells share a slot of the table are adjacent, in arrays of their own (`Room`).
Everything that makes cells robust is here: coordinates up to 1e200, box sizes over any number of decades, points, plates, a body
that has flown off, and infinite boxes. Cell numbers are monotone in the coordinate, rounding included; the guarantee rests on that.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from jostle._types import Floats, Ints, Longs
from jostle.kernels.handles import AddressTable
from jostle.kernels.jit import kernel
from jostle.kernels.structs import Record, Rows, Struct, float64, int32, int64, opener, uint32

Indices = NDArray[np.uint32]  # unsigned: Numba tests whether a signed index is negative

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


class Room(NamedTuple):
    """Work arrays, kept between frames: fresh memory would cost as much as the search."""

    extent: Floats  # (n,) longest edge of each box, or -1 for an infinite box
    extent_bits: Longs  # the same memory, read as integers
    bins: Ints  # (bins,) first the number of boxes of each size, then the level of each size
    level: Ints  # (n,) level of each box, 0 the coarsest, or HUGE
    ticks_per_unit: Floats  # (levels, 3) first the cell edges, then ticks per unit of length
    slot: Ints  # (n,) place of each box's cell in the table
    slot_start: Indices  # (slots,) where the boxes of a slot start; they end where the next slot starts
    body: Ints  # (n,) bodies in the order of the table
    box: Floats  # (n, 6) their lower and upper corners
    ticks: Longs  # (n, 2) the same in ticks of their level, packed
    huge: Ints  # (n,) bodies compared with all others
    tally: Ints  # (2, n+1) scratch of the last sort

    @staticmethod
    def of(n: int) -> Room:
        """Return the arrays for n bodies."""
        extent = np.empty(n)
        return Room(
            extent=extent,
            extent_bits=extent.view(np.int64),
            bins=np.zeros(_BIN_COUNT, np.int32),
            level=np.empty(n, np.int32),
            ticks_per_unit=np.empty((_MOST_LEVELS, 3)),
            slot=np.empty(n, np.int32),
            slot_start=np.empty(_SLOTS_PER_BODY * n + 64 + SPARE_SLOTS, np.uint32),
            body=np.empty(n, np.int32),
            box=np.empty((n, 6)),
            ticks=np.empty((n, 2), np.int64),
            huge=np.empty(n, np.int32),
            tally=np.empty((2, n + 1), np.int32),
        )


class CellScale(Record):
    """Ticks of a level per unit of length along each axis."""

    x: float64
    y: float64
    z: float64


class TableBox(Record):
    """A box of the table."""

    lower_x: float64
    lower_y: float64
    lower_z: float64
    upper_x: float64
    upper_y: float64
    upper_z: float64


class PackedTicks(Record):
    """The corners of a box in ticks, packed."""

    lower: int64
    upper: int64


class SearchTable(Struct):
    """The table as the search sees it, and the queued comparisons."""

    level: Rows[int32]
    scale: Rows[CellScale]
    slot_start: Rows[uint32]
    body: Rows[int32]
    boxes: Rows[TableBox]
    ticks: Rows[PackedTicks]
    huge: Rows[int32]
    asking: Rows[uint32]  # (ASKING,) places of boxes with queued comparisons
    asking_ticks: Rows[PackedTicks]  # (ASKING,) their corners in ticks of the level visited
    waiting_for: Rows[uint32]  # (WAITING,) comparisons: row of `asking`
    waiting_with: Rows[uint32]  # (WAITING,) and place of the other box


open_search = opener(SearchTable)


def search_table(room: Room) -> AddressTable:
    """Return the table of a room, with room for comparisons."""
    return SearchTable.table(
        level=room.level,
        scale=room.ticks_per_unit,
        slot_start=room.slot_start,
        body=room.body,
        boxes=room.box,
        ticks=room.ticks,
        huge=room.huge,
        asking=np.empty(ASKING, np.uint32),
        asking_ticks=np.empty(ASKING, PackedTicks.dtype),
        waiting_for=np.empty(WAITING, np.uint32),
        waiting_with=np.empty(WAITING, np.uint32),
    )


@kernel
def arrange_boxes(lower: Floats, upper: Floats, smallest_cell: float, room: Room) -> tuple[int, int]:
    """Class boxes (n,3) by size and sort them by cell; return level and huge counts."""
    lowest_bin, highest_bin = count_sizes(lower, upper, smallest_cell, room.extent, room.extent_bits, room.bins)
    level_count = group_sizes(room.bins, lowest_bin, highest_bin)
    huge_count = give_levels(lower, upper, max(smallest_cell, _SMALLEST_CELL), level_count, room)
    for size in range(lowest_bin, highest_bin + 1):
        room.bins[size] = 0
    sort_by_cell(lower, upper, room)
    return level_count, huge_count


@kernel
def count_sizes(
    lower: Floats, upper: Floats, smallest_cell: float, extent: Floats, extent_bits: Longs, bins: Ints
) -> tuple[int, int]:
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
            extent[i] = longest
        else:
            extent[i] = -1.0
    lowest_bin = _BIN_COUNT - 1
    highest_bin = -1
    for i in range(n):
        if extent[i] >= 0.0:
            size = extent_bits[i] >> _BIN_SHIFT
            bins[size] += 1
            lowest_bin = min(lowest_bin, size)
            highest_bin = max(highest_bin, size)
    return lowest_bin, highest_bin


@kernel
def group_sizes(bins: Ints, lowest_bin: int, highest_bin: int) -> int:
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
def give_levels(lower: Floats, upper: Floats, smallest_cell: float, level_count: int, room: Room) -> int:
    """Write levels of boxes, ticks of levels and the huge boxes; return their number."""
    edges = room.ticks_per_unit
    for level in range(level_count):
        for k in range(3):
            edges[level, k] = smallest_cell
    farthest = 0.0
    huge_count = 0
    for i in range(lower.shape[0]):
        level = HUGE
        if room.extent[i] >= 0.0:
            level = room.bins[room.extent_bits[i] >> _BIN_SHIFT]
        room.level[i] = level
        if level == HUGE:
            room.huge[huge_count] = i
            huge_count += 1
            continue
        # An axis along which all boxes are flat gets flat cells: a level of plates compares fewer pairs.
        flattest = room.extent[i] * _FLATTEST
        for k in range(3):
            edges[level, k] = max(edges[level, k], max(upper[i, k] - lower[i, k], flattest))
            farthest = max(farthest, abs(lower[i, k]))
    smallest = np.inf
    for level in range(level_count):
        for k in range(3):
            smallest = min(smallest, edges[level, k])
    if smallest < farthest * _CELL_PER_DISTANCE:
        enlarge_cells(lower, room.level, edges, level_count)
    for level in range(level_count):
        for k in range(3):
            edges[level, k] = _TICKS / (edges[level, k] * _CELL_PADDING)
    return huge_count


@kernel
def enlarge_cells(lower: Floats, level_of: Ints, edges: Floats, level_count: int) -> None:
    """Enlarge cells that are tiny for their distance from the origin."""
    # For example points, or 1e-12 across at 100. One body that has flown off to 1e20 barely affects the mean of exponents.
    exponents = np.zeros(level_count)
    boxes = np.zeros(level_count)
    for i in range(lower.shape[0]):
        if level_of[i] != HUGE:
            reach = max(abs(lower[i, 0]), max(abs(lower[i, 1]), abs(lower[i, 2])))
            exponents[level_of[i]] += math.frexp(reach)[1]
            boxes[level_of[i]] += 1.0
    for level in range(level_count):
        finest = math.ldexp(_CELL_PER_DISTANCE, int(exponents[level] / max(boxes[level], 1.0)))
        for k in range(3):
            edges[level, k] = max(edges[level, k], finest)


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
def sort_by_cell(lower: Floats, upper: Floats, room: Room) -> None:
    """Sort the boxes by the slot of their lower corner's cell, without huge boxes."""
    slot_start = room.slot_start
    scale = room.ticks_per_unit
    slots = slot_start.shape[0] - SPARE_SLOTS
    for slot in range(slot_start.shape[0]):
        slot_start[slot] = 0
    for i in range(lower.shape[0]):
        level = int(room.level[i])
        if level != HUGE:
            x = tick_of(lower[i, 0], scale[level, 0]) >> TICK_BITS
            y = tick_of(lower[i, 1], scale[level, 1]) >> TICK_BITS
            z = tick_of(lower[i, 2], scale[level, 2]) >> TICK_BITS
            slot = slot_of(x, y, z, level, slots)
            room.slot[i] = slot
            # Counted two slots ahead: after summing, a slot starts at slot_start[slot + 1], and filling it moves that to its
            # end, where the next one starts.
            slot_start[slot + 2] += 1
    for slot in range(1, slot_start.shape[0]):
        slot_start[slot] += slot_start[slot - 1]
    for i in range(lower.shape[0]):
        level = int(room.level[i])
        if level != HUGE:
            place = slot_start[room.slot[i] + 1]
            slot_start[room.slot[i] + 1] = place + 1
            room.body[place] = i
            for k in range(3):
                room.box[place, k] = lower[i, k]
                room.box[place, k + 3] = upper[i, k]
            room.ticks[place, 0] = packed(
                tick_of(lower[i, 0], scale[level, 0]), tick_of(lower[i, 1], scale[level, 1]), tick_of(lower[i, 2], scale[level, 2])
            )
            room.ticks[place, 1] = packed(
                tick_of(upper[i, 0], scale[level, 0]), tick_of(upper[i, 1], scale[level, 1]), tick_of(upper[i, 2], scale[level, 2])
            )
