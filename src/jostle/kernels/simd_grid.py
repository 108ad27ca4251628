"""Eight points at once in a grid: bits of 4×4×4 voxels, and cell numbers.

LLVM does not vectorise a loop over points that ends in a look-up. Here the indices of eight points are computed in one register,
and their words are fetched by eight loads (the gather instruction of many processors is slower). A word of 64 bits is read as two
of 32, the lower one first (a little-endian machine is assumed), so that eight of them fit into one register. Points outside the
grid, and NaN, read nothing out of bounds: their lanes load the first word and are masked out. **Loads bypass bounds checks.**

Kernels compile `simd_grid_compiled.py`; called from Python, NumPy does the same.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from jostle._types import Singles
from jostle.kernels.numbers import Whole
from jostle.kernels.twins import compiled_in

_twin = compiled_in("jostle.kernels.simd_grid_compiled")


@_twin
def bits_at(
    words: Any, x: Singles, y: Singles, z: Singles, end_x: Singles, end_y: Singles, end_z: Singles, row: Whole, slab: Whole
) -> np.uint32:
    """Return the mask of points with 0 <= x < end_x etc. whose bit is set.

    `words` are int32 halves of words of 4×4×4 bits; `row` and `slab`: words from one to the next along y and along z.
    """
    with np.errstate(invalid="ignore"):
        inside = (x >= 0) & (x < end_x) & (y >= 0) & (y < end_y) & (z >= 0) & (z < end_z)
        i, j, k = (np.where(inside, each, 0).astype(np.int32) for each in (x, y, z))
    half = 2 * ((k >> 2) * slab + (j >> 2) * row + (i >> 2)) + ((k >> 1) & 1)
    bit = ((k & 1) << 4) | ((j & 3) << 2) | (i & 3)
    return np.uint32(np.packbits(((words[half] >> bit) & 1).astype(bool) & inside, bitorder="little")[0])


@_twin
def numbers_at(numbers: Any, x: Singles, y: Singles, z: Singles, row: Whole, slab: Whole) -> Singles:
    """Return numbers[k * slab + j * row + i] for the whole parts i, j, k of x, y, z.

    They must lie inside the grid.
    """
    i, j, k = (each.astype(np.int32) for each in (x, y, z))
    found: Singles = numbers[k * slab + j * row + i]
    return found
