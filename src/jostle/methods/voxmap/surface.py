"""Surface voxels (§5 "The Point Shell"), a word of 64 voxels at a time.

They are filled voxels with an empty one among their 26 neighbours. A voxel keeps its bit through three erosions, along x, y and z,
when its 26 neighbours are filled. Most words need none: the AND of the nine rows of words around a row shows where all neighbours
are full. Outside the map is empty. Interior voxels, with six filled face neighbours, are found by the same shifts.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from jostle._types import Longs
from jostle.kernels.arrays import read_only_view
from jostle.kernels.buffers import doubled
from jostle.kernels.jit import kernel
from jostle.methods.voxmap.map import GridSize, Lattice, Words, cell_number
from jostle.methods.voxmap.progress import Share, run_to_end

Word = np.uint64

FULL = np.uint64(0xFFFFFFFFFFFFFFFF)
NONE = np.uint64(0)
FIRST_SLICE = 1 << 21  # words


class AxisBits(NamedTuple):
    """Bits of a word along an axis: first and last voxels, shifts by one and three."""

    low: Word
    high: Word
    one: Word
    three: Word


X_BITS = AxisBits(np.uint64(0x1111111111111111), np.uint64(0x8888888888888888), np.uint64(1), np.uint64(3))
Y_BITS = AxisBits(np.uint64(0x000F000F000F000F), np.uint64(0xF000F000F000F000), np.uint64(4), np.uint64(12))
Z_BITS = AxisBits(np.uint64(0x000000000000FFFF), np.uint64(0xFFFF000000000000), np.uint64(16), np.uint64(48))


@kernel(forceinline=True)
def with_both(word: Word, below: Word, above: Word, axis: AxisBits) -> Word:
    """Return the voxels of a word whose two neighbours along an axis are filled too.

    below and above are the next words along the axis.
    """
    low_filled = ((word & ~axis.high) << axis.one) | ((below & axis.high) >> axis.three)
    high_filled = ((word & ~axis.low) >> axis.one) | ((above & axis.low) << axis.three)
    return word & low_filled & high_filled


@kernel(forceinline=True)
def word_or_none(words: Words, size: GridSize, x: int, y: int, z: int) -> Word:
    """Return the word at (x, y, z); 0 outside the map."""
    if x < 0 or y < 0 or z < 0 or x >= size.x or y >= size.y or z >= size.z:
        return NONE
    return words[cell_number(size, x, y, z)]


@kernel
def all_26_filled(words: Words, size: GridSize, x: int, y: int, z: int) -> Word:
    """Return the filled voxels of the word at (x, y, z) with 26 filled neighbours."""
    below, here, above = NONE, NONE, NONE
    for k in range(3):
        lower, middle, upper = NONE, NONE, NONE
        for j in range(3):
            row = with_both(
                word_or_none(words, size, x, y + j - 1, z + k - 1),
                word_or_none(words, size, x - 1, y + j - 1, z + k - 1),
                word_or_none(words, size, x + 1, y + j - 1, z + k - 1),
                X_BITS,
            )
            lower, middle, upper = middle, upper, row
        below, here, above = here, above, with_both(middle, lower, upper, Y_BITS)
    return with_both(here, below, above, Z_BITS)


class SurfaceWords(NamedTuple):
    """Indices (k,) and bits (k,) of words with surface voxels, and scratch."""

    places: Longs
    bits: Words
    common: Words


@kernel
def common_of_rows(words: Words, size: GridSize, row: int, common: Words) -> None:
    """Write the AND of the nine rows of words around a row into common[1 : -1].

    0 where there are not nine.
    """
    y, z = row % size.y, row // size.y
    begin, layer = row * size.x, size.y * size.x
    has_nine = 0 < y < size.y - 1 and 0 < z < size.z - 1
    for x in range(size.x):
        shared = NONE
        if has_nine:
            k = begin + x
            here = words[k - size.x] & words[k] & words[k + size.x]
            below = words[k - layer - size.x] & words[k - layer] & words[k - layer + size.x]
            above = words[k + layer - size.x] & words[k + layer] & words[k + layer + size.x]
            shared = here & below & above
        common[x + 1] = shared
    common[0], common[size.x + 1] = NONE, NONE


@kernel
def find_surface(words: Words, size: GridSize, first: int, budget: int, count: int, found: SurfaceWords) -> tuple[int, int, int]:
    """List the words with surface voxels, row by row from `first`.

    Returns the next row, the words visited, and the words found so far. Stops early when a further row may not fit.
    """
    used = 0
    row = first
    common = found.common
    while row < size.y * size.z and used < budget and count + size.x <= found.places.shape[0]:
        used += size.x
        common_of_rows(words, size, row, common)
        for x in range(size.x):
            place = row * size.x + x
            word = words[place]
            if word == NONE or (common[x] & common[x + 1] & common[x + 2]) == FULL:
                continue
            surface = word & ~all_26_filled(words, size, x, row % size.y, row // size.y)
            if surface != NONE:
                found.places[count], found.bits[count] = place, surface
                count += 1
        row += 1
    return row, used, count


def surface_words(words: Words, lattice: Lattice, progress: Share | None = None) -> tuple[NDArray[np.int64], Words]:
    """Return the indices of words with surface voxels, and those voxels' bits."""
    size = lattice.blocks
    bx, by, bz = size
    words = read_only_view(words)
    common = np.zeros(bx + 2, np.uint64)
    # A row may take up to bx places; a plain solid takes the six faces of its box.
    places = np.empty(max(4 * bx, 2 * (bx * by + by * bz + bz * bx)), np.int64)
    bits = np.empty(len(places), np.uint64)
    count = 0

    def step(row: int, operations: int) -> tuple[int, int]:
        nonlocal places, bits, count
        if count + bx > len(places):
            places, bits = doubled(places), doubled(bits)
        row, used, count = find_surface(words, size, row, operations, count, SurfaceWords(places, bits, common))
        return row, used

    run_to_end(step, by * bz, FIRST_SLICE, progress)
    return places[:count].copy(), bits[:count].copy()
