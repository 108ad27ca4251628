"""UniformGrid: boxes in hashed cells as large as the boxes, one grid for each class of sizes.

There is no single paper; it is the cell list of molecular dynamics with the levels of a hierarchical spatial hash.
Boxes are classed by their longest edge (ratio at most 2 within a class). Every box is stored once, in the cell of its
lower corner on the level of its class, where cells are a little larger than every box of that class; so it meets boxes
of its own level in the neighbouring cells only (half of them are visited, the other half visits back), and boxes of
coarser levels in the two or three cells per axis that it reaches. A few boxes far larger than the rest, and boxes
without an end, are compared with all others instead.
Guarantee: exactly the overlapping closed boxes. Cell numbers are clamped and hashed, both of which only bring more
boxes together; the float64 boxes are compared in the end, and a pair met twice is dropped when the pairs are sorted.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from jostle.broad_phase.volumes import CandidatePairs, Floats, Ints, Volumes, as_kernel_input
from jostle.cast import as_length
from jostle.errors import InputError
from jostle.kernels.jit import kernel

# Sizes are binned by the exponent and the first two bits of the mantissa of a float64: four bins per factor of two.
_BIN_SHIFT = 50
_BIN_COUNT = 8192
_BINS_PER_LEVEL = 4
_MOST_LEVELS = _BIN_COUNT // _BINS_PER_LEVEL + 1
_HUGE = -1
# Up to this many largest boxes are compared with all others rather than given a level: a comparison streams through
# memory at about 1 ns, a visit to a coarser level costs about 40 ns.
_FEW = 8

# Cells are larger than boxes by 1/64 and numbered up to ±2^44, where the two roundings of two cell numbers amount to 2^-8
# of a cell: a box can then never seem two cells away from one it touches.
_CELL_PADDING = 1.0 + 1.0 / 64.0
_LAST_CELL = 2.0**44
_CELLS_TO_MEAN = 2.0**-42  # a cell is at least this part of the mean distance from the origin
_SMALLEST_CELL = 1e-290  # its inverse is finite

# A run of 256 cells along z stays together in the table, because neighbours along z are visited together. The multipliers
# are 2^63 times the powers of 1/1.2207..., the root of x^4 = x + 1, which spread multiples evenly; all odd.
_RUN_BITS = 8
_RUN_MASK = 255
_MIX_X = 7555532853418227329
_MIX_Y = 6189284837581903361
_MIX_Z = 5070092016526739179
_MIX_LEVEL = 4153280020328036629


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


class _Room(NamedTuple):
    """Arrays that the kernels work in, kept from frame to frame: fresh memory would cost as much as the search."""

    extent: Floats  # (n,) longest edge of each box
    extent_bits: NDArray[np.int64]  # the same memory, read as integers
    bodies_in_bin: Ints  # (bins,) first a histogram of sizes, then the level of each size
    level: Ints  # (n,) level of each box, or _HUGE
    cells_per_unit: Floats  # (levels, 3) one over the edges of the cells
    slot: Ints  # (n,) place of each box's cell in the table
    slot_end: Ints  # (slots,) where the boxes of a slot end; they begin where those of the slot before end
    box: Floats  # (n, 6) boxes in the order of the table: lower corner, upper corner
    body: Ints  # (n,) and their bodies
    huge: Ints  # (n,) bodies compared with all others
    count: Ints  # (2, n+1) for sorting the pairs

    @staticmethod
    def of(n: int) -> _Room:
        """Return the arrays for n bodies."""
        extent = np.empty(n)
        ints = np.empty((4, n), np.int32)
        slots = (1 << _slot_bits(n)) + _RUN_MASK + 2
        return _Room(
            extent=extent,
            extent_bits=extent.view(np.int64),
            bodies_in_bin=np.zeros(_BIN_COUNT, np.int32),
            level=ints[0],
            cells_per_unit=np.empty((_MOST_LEVELS, 3)),
            slot=ints[1],
            slot_end=np.empty(slots, np.int32),
            box=np.empty((n, 6)),
            body=ints[2],
            huge=ints[3],
            count=np.empty((2, n + 1), np.int32),
        )


def _slot_bits(n: int) -> int:
    """Return the binary logarithm of the table's size: two to four slots per body, so that few cells share one."""
    return max(6, (2 * n).bit_length())


@dataclass
class UniformGridFinder:
    """Finds the overlapping boxes of one frame after another; it keeps memory between frames, nothing else."""

    body_count: int
    smallest_cell: float = 0.0
    counters: dict[str, int] = field(default_factory=dict)
    _room: _Room = field(init=False, repr=False)
    _pairs: Ints = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self._room = _Room.of(self.body_count)
        self._pairs = np.empty((3, 4 * self.body_count + 64), np.int32)

    def find(self, volumes: Volumes) -> CandidatePairs:
        """Return all pairs of overlapping boxes, sorted."""
        if len(volumes) != self.body_count:
            raise InputError(f"the grid was started for {self.body_count} bodies and got {len(volumes)} boxes; call change first")
        lower, upper = as_kernel_input(volumes.lower), as_kernel_input(volumes.upper)
        room = self._room
        shift = 64 - _slot_bits(self.body_count)
        level_count, huge_count = arrange_boxes(lower, upper, self.smallest_cell, shift, room)
        while True:
            found, box_tests, cells = find_pairs(lower, upper, huge_count, shift, room, self._pairs)
            if found < self._pairs.shape[1]:
                break
            # A quarter more than needed: the next frame usually has a few pairs more.
            self._pairs = np.empty((3, found + found // 4 + 1), np.int32)
        sorted_pairs = np.empty((2, found), np.int32)
        kept = sort_pairs(self._pairs, found, room.count, sorted_pairs)
        self.counters = {
            "box_tests": box_tests,
            "cells": cells,
            "levels": level_count,
            "huge_boxes": huge_count,
            "pairs": kept,
        }
        return CandidatePairs(sorted_pairs[0, :kept], sorted_pairs[1, :kept])

    def change(self, body_count: int, old_to_new: NDArray[np.integer]) -> None:  # noqa: ARG002 - no cell outlives a frame
        """Go on with other bodies."""
        if body_count != self.body_count:
            self.body_count = body_count
            self._room = _Room.of(body_count)


# ---------------------------------------------------------------- one: levels and cells


@kernel
def arrange_boxes(lower: Floats, upper: Floats, smallest_cell: float, shift: int, room: _Room) -> tuple[int, int]:
    """Class the boxes (n,3) by size and sort them by cell; return how many levels and how many huge boxes there are."""
    lowest_bin, highest_bin = count_sizes(lower, upper, smallest_cell, room.extent, room.extent_bits, room.bodies_in_bin)
    level_count = group_sizes(room.bodies_in_bin, lowest_bin, highest_bin)
    huge_count = give_levels(lower, upper, smallest_cell, level_count, room)
    for size in range(lowest_bin, highest_bin + 1):
        room.bodies_in_bin[size] = 0
    sort_by_cell(lower, upper, shift, room)
    return level_count, huge_count


@kernel
def count_sizes(
    lower: Floats, upper: Floats, smallest_cell: float, extent: Floats, extent_bits: NDArray[np.int64], bodies_in_bin: Ints
) -> tuple[int, int]:
    """Write the longest edges (n,) and their histogram; return the lowest and the highest bin in use."""
    n = lower.shape[0]
    lowest_bin = _BIN_COUNT - 1
    highest_bin = -1
    for i in range(n):
        longest = smallest_cell
        for k in range(3):
            edge = upper[i, k] - lower[i, k]
            # Written so that inf - inf, which is NaN, counts as a box without an end.
            if not edge <= longest:
                longest = edge
        if not longest < np.inf:
            longest = np.inf
        extent[i] = longest
    for i in range(n):
        size = extent_bits[i] >> _BIN_SHIFT
        if extent[i] < np.inf:
            bodies_in_bin[size] += 1
            lowest_bin = min(lowest_bin, size)
            highest_bin = max(highest_bin, size)
    return lowest_bin, highest_bin


@kernel
def group_sizes(bodies_in_bin: Ints, lowest_bin: int, highest_bin: int) -> int:
    """Turn the histogram (bins,) into the level of each bin, 0 the coarsest, or _HUGE; return the number of levels."""
    remaining = 0
    for size in range(lowest_bin, highest_bin + 1):
        remaining += bodies_in_bin[size]
    enough = remaining // 2
    level_count = 0
    top = highest_bin
    while top >= lowest_bin:
        if bodies_in_bin[top] == 0:
            top -= 1
            continue
        # How far down does a handful of boxes reach? They are huge if leaving them out makes the next level's cells
        # smaller by a bin at least, and if most boxes would have to visit their level.
        few = 0
        bottom = top
        while bottom >= lowest_bin and few + bodies_in_bin[bottom] <= _FEW:
            few += bodies_in_bin[bottom]
            bottom -= 1
        if top - bottom >= 2 and remaining - few > enough:
            level = _HUGE
            remaining -= few
        else:
            level = level_count
            level_count += 1
            bottom = max(lowest_bin - 1, top - _BINS_PER_LEVEL)
            for size in range(bottom + 1, top + 1):
                remaining -= bodies_in_bin[size]
        for size in range(bottom + 1, top + 1):
            bodies_in_bin[size] = level
        top = bottom
    return level_count


@kernel
def give_levels(lower: Floats, upper: Floats, smallest_cell: float, level_count: int, room: _Room) -> int:
    """Write the level of each box, the cell edges of each level and the huge boxes; return how many those are."""
    cells_per_unit = room.cells_per_unit
    mean = np.zeros((level_count, 2))
    for level in range(level_count):
        for k in range(3):
            cells_per_unit[level, k] = max(smallest_cell, _SMALLEST_CELL)
    huge_count = 0
    for i in range(lower.shape[0]):
        level = _HUGE
        if room.extent[i] < np.inf:
            level = room.bodies_in_bin[room.extent_bits[i] >> _BIN_SHIFT]
        room.level[i] = level
        if level == _HUGE:
            room.huge[huge_count] = i
            huge_count += 1
            continue
        farthest = 0.0
        for k in range(3):
            farthest = max(farthest, abs(lower[i, k]))
            # An axis along which all boxes are flat gets flat cells: a level of plates tests fewer pairs.
            edge = max(upper[i, k] - lower[i, k], room.extent[i] * (1.0 / 64.0))
            cells_per_unit[level, k] = max(cells_per_unit[level, k], edge)
        mean[level, 0] += math.frexp(farthest)[1]
        mean[level, 1] += 1.0
    # Boxes that are tiny where they are (points, or 1e-12 across at 100) would have more cells than can be numbered. The
    # mean of exponents, unlike the largest coordinate, is not spoilt by the one body that has flown off to 1e20.
    for level in range(level_count):
        finest = math.ldexp(_CELLS_TO_MEAN, int(mean[level, 0] / max(mean[level, 1], 1.0)))
        for k in range(3):
            cells_per_unit[level, k] = 1.0 / max(cells_per_unit[level, k] * _CELL_PADDING, finest)
    return huge_count


@kernel
def cell_number(coordinate: float, cells_per_unit: float) -> int:
    """Return the cell of a coordinate along one axis, clamped so that it fits an integer."""
    number = coordinate * cells_per_unit
    if number > _LAST_CELL:
        number = _LAST_CELL
    if number < -_LAST_CELL:
        number = -_LAST_CELL
    return math.floor(number)


@kernel
def slot_of(x: int, y: int, z: int, level: int, shift: int) -> int:
    """Return the table slot of a cell: a multiplicative hash, the top bits of which count."""
    # Python's whole numbers do not wrap around as int64 does, but their 64 lowest bits are the same.
    mixed = x * _MIX_X + y * _MIX_Y + (z >> _RUN_BITS) * _MIX_Z + level * _MIX_LEVEL
    return ((mixed >> shift) & ((1 << (64 - shift)) - 1)) + (z & _RUN_MASK)


@kernel
def sort_by_cell(lower: Floats, upper: Floats, shift: int, room: _Room) -> None:
    """Counting sort of the boxes by the slot of their lower corner's cell; huge boxes are left out."""
    slot_end = room.slot_end
    for s in range(slot_end.shape[0]):
        slot_end[s] = 0
    cells_per_unit = room.cells_per_unit
    n = lower.shape[0]
    for i in range(n):
        level = int(room.level[i])
        if level != _HUGE:
            x = cell_number(lower[i, 0], cells_per_unit[level, 0])
            y = cell_number(lower[i, 1], cells_per_unit[level, 1])
            z = cell_number(lower[i, 2], cells_per_unit[level, 2])
            s = slot_of(x, y, z, level, shift)
            room.slot[i] = s
            # Counted one slot ahead: after summing, slot_end[s] is where slot s begins, and filling moves it to its end.
            slot_end[s + 1] += 1
    for s in range(1, slot_end.shape[0]):
        slot_end[s] += slot_end[s - 1]
    for i in range(n):
        if room.level[i] != _HUGE:
            s = room.slot[i]
            place = slot_end[s]
            slot_end[s] = place + 1
            room.body[place] = i
            for k in range(3):
                room.box[place, k] = lower[i, k]
                room.box[place, k + 3] = upper[i, k]


# ---------------------------------------------------------------- two: pairs


@kernel
def find_pairs(
    lower: Floats, upper: Floats, huge_count: int, shift: int, room: _Room, pairs: Ints
) -> tuple[int, int, int]:
    """Write pairs (3,k) in no order, some of them twice, while there is room; return their number, box tests and cells visited."""
    found, tests, cells = search_cells(
        room.box, room.body, room.level, room.cells_per_unit, room.slot_end, lower.shape[0] - huge_count, shift, pairs
    )
    if huge_count:
        found = compare_huge(lower, upper, room.level, room.huge, huge_count, found, pairs)
        tests += huge_count * lower.shape[0]
    return found, tests, cells


@kernel
def search_cells(
    box: Floats, body: Ints, level_of: Ints, cells_per_unit: Floats, slot_end: Ints, box_count: int, shift: int, pairs: Ints
) -> tuple[int, int, int]:
    """Compare every sorted box with those of its own level that stand after it, and with those of all coarser levels."""
    # One function without calls that take arrays: passing them costs more than the comparisons (70 ms against 7 ms).
    found = 0
    tests = 0
    cells = 0
    room = pairs.shape[1] - 1
    for place in range(box_count):
        x0 = box[place, 0]
        y0 = box[place, 1]
        z0 = box[place, 2]
        x1 = box[place, 3]
        y1 = box[place, 4]
        z1 = box[place, 5]
        own = int(level_of[body[place]])
        for level in range(own, -1, -1):
            x = cell_number(x0, cells_per_unit[level, 0])
            y = cell_number(y0, cells_per_unit[level, 1])
            z = cell_number(z0, cells_per_unit[level, 2])
            last_x = cell_number(x1, cells_per_unit[level, 0])
            last_y = cell_number(y1, cells_per_unit[level, 1])
            last_z = cell_number(z1, cells_per_unit[level, 2])
            # Boxes of a coarser level that reach here begin one cell before or later. On the own level those that begin in
            # an earlier cell come and find this one.
            for row_x in range(x if level == own else x - 1, last_x + 1):
                for row_y in range(y if level == own and row_x == x else y - 1, last_y + 1):
                    in_own_row = level == own and row_x == x and row_y == y
                    first_z = z if in_own_row else z - 1
                    while first_z <= last_z:
                        run_z = min(last_z, first_z | _RUN_MASK)
                        slot = slot_of(row_x, row_y, first_z, level, shift)
                        if in_own_row and first_z == z:
                            start = place + 1
                        else:
                            start = slot_end[slot - 1] if slot > 0 else 0
                        stop = slot_end[slot + run_z - first_z]
                        cells += run_z - first_z + 1
                        tests += stop - start
                        first_z = run_z + 1
                        for other in range(start, stop):
                            hit = (
                                (box[other, 0] <= x1)
                                & (box[other, 3] >= x0)
                                & (box[other, 1] <= y1)
                                & (box[other, 4] >= y0)
                                & (box[other, 2] <= z1)
                                & (box[other, 5] >= z0)
                                & (other != place)  # cells that share a slot can bring a box to itself
                            )
                            # No branch at all: every pair is written, and only a hit moves on to the next column.
                            pairs[0, min(found, room)] = min(body[place], body[other])
                            pairs[1, min(found, room)] = max(body[place], body[other])
                            found += hit
    return found, tests, cells


@kernel
def compare_huge(lower: Floats, upper: Floats, level: Ints, huge: Ints, huge_count: int, found: int, pairs: Ints) -> int:
    """Compare the huge boxes with all boxes, and with each other once."""
    for i in range(lower.shape[0]):
        for h in range(huge_count):
            other = huge[h]
            if (
                lower[i, 0] <= upper[other, 0]
                and upper[i, 0] >= lower[other, 0]
                and lower[i, 1] <= upper[other, 1]
                and upper[i, 1] >= lower[other, 1]
                and lower[i, 2] <= upper[other, 2]
                and upper[i, 2] >= lower[other, 2]
                and (level[i] != _HUGE or i < other)
            ):
                if found < pairs.shape[1]:
                    pairs[0, found] = min(i, other)
                    pairs[1, found] = max(i, other)
                found += 1
    return found


# ---------------------------------------------------------------- three: order


@kernel
def sort_pairs(pairs: Ints, found: int, count: Ints, sorted_pairs: Ints) -> int:
    """Sort the pairs (3,k) by (a, b) into (2,found), each once, and return how many remain; the third row is scratch."""
    # Two stable counting sorts, by b and then by a, are linear whatever the pairs are.
    n = count.shape[1] - 1
    for i in range(n + 1):
        count[0, i] = 0
        count[1, i] = 0
    for p in range(found):
        count[0, pairs[0, p] + 1] += 1
        count[1, pairs[1, p] + 1] += 1
    for i in range(n):
        count[0, i + 1] += count[0, i]
        count[1, i + 1] += count[1, i]
    for p in range(found):
        b = pairs[1, p]
        pairs[2, count[1, b]] = pairs[0, p]
        count[1, b] += 1
    p = 0
    for b in range(n):
        while p < count[1, b]:
            a = pairs[2, p]
            sorted_pairs[0, count[0, a]] = a
            sorted_pairs[1, count[0, a]] = b
            count[0, a] += 1
            p += 1
    kept = 0
    for p in range(found):
        a = sorted_pairs[0, p]
        b = sorted_pairs[1, p]
        if kept == 0 or sorted_pairs[0, kept - 1] != a or sorted_pairs[1, kept - 1] != b:
            sorted_pairs[0, kept] = a
            sorted_pairs[1, kept] = b
            kept += 1
    return kept
