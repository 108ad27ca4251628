"""The voxmap: a lattice of cubic voxels, one bit for each.

The paper keeps an array of Booleans, "two bits of memory" each. Here 4 x 4 x 4 voxels share a 64-bit word, x fastest in the
words and in the bits: neighbours in all three directions are in the same cache line, and surfaces and components are found a
word at a time. A lattice starts at the lower corner of the box of what is voxelised and ends with the first voxel that passes
the upper corner; bits beyond it stay 0. Rays are numbered by columns of words, 16 to the column, so that a column is filled in
one go (`ray_casting.py`).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from jostle._types import Floats
from jostle.kernels.jit import kernel

Words = NDArray[np.uint64]
BLOCK = 4  # voxels along the edge of a word
ROUNDING = 1e-9  # in voxels: a box that passes a voxel's face by less does not start another one


class GridSize(NamedTuple):
    """How many voxels, words or bins there are along each axis."""

    x: int
    y: int
    z: int


class Voxel(NamedTuple):
    """A voxel by its numbers along the axes."""

    x: int
    y: int
    z: int


@kernel(forceinline=True)
def cell_number(size: GridSize, x: int, y: int, z: int) -> int:
    """Return the number of a cell of a grid, x fastest."""
    return (z * size.y + y) * size.x + x


class Lattice(NamedTuple):
    """Where the voxels of a map lie: voxel (x, y, z) is the cube with the lower corner origin + voxel * (x, y, z)."""

    origin: Floats  # (3,)
    voxel: float
    cells: NDArray[np.int64]  # (3,)

    @property
    def blocks(self) -> GridSize:
        """Words along x, y, z."""
        return GridSize(*((self.cells + BLOCK - 1) // BLOCK).tolist())

    @property
    def word_count(self) -> int:
        """Words of the map."""
        x, y, z = self.blocks
        return x * y * z

    def empty(self) -> Words:
        """Return the words of a map without a filled voxel."""
        return np.zeros(self.word_count, np.uint64)

    def coordinates(self, points: Floats) -> Floats:
        """Return points (n, 3) in units of voxels from the origin, moved into the lattice where rounding left them outside."""
        within: Floats = np.clip((points - self.origin) / self.voxel, 0.0, self.cells.astype(np.float64))
        return within


def lattice_of(bounds: Floats, voxel: float, margin: int = 0) -> Lattice:
    """Return the lattice over a (2, 3) box, with so many voxels more on each side."""
    extent = (bounds[1] - bounds[0]) / voxel
    cells = np.maximum(np.ceil(extent - ROUNDING), 1.0).astype(np.int64) + 2 * margin
    return Lattice(np.asarray(bounds[0] - margin * voxel, dtype=np.float64), float(voxel), cells)


def filled_voxels(words: Words, cells: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Return the map as an array (x, y, z) of Booleans: a byte for each voxel, for pictures and tests."""
    bx, by, bz = ((cells + BLOCK - 1) // BLOCK).tolist()
    bits = np.unpackbits(words.astype("<u8").view(np.uint8), bitorder="little")
    grid = bits.reshape(bz, by, bx, BLOCK, BLOCK, BLOCK).transpose(0, 3, 1, 4, 2, 5)
    grid = grid.reshape(BLOCK * bz, BLOCK * by, BLOCK * bx).transpose(2, 1, 0)
    return np.ascontiguousarray(grid[: cells[0], : cells[1], : cells[2]]).astype(bool)


def words_of(filled: NDArray[np.bool_]) -> Words:
    """Return the words of a map given as an array (x, y, z) of Booleans."""
    blocks = [(n + BLOCK - 1) // BLOCK for n in filled.shape]
    grid = np.zeros([BLOCK * b for b in blocks], np.uint8)
    grid[: filled.shape[0], : filled.shape[1], : filled.shape[2]] = filled
    bx, by, bz = blocks
    bits = grid.transpose(2, 1, 0).reshape(bz, BLOCK, by, BLOCK, bx, BLOCK).transpose(0, 2, 4, 1, 3, 5)
    packed = np.packbits(np.ascontiguousarray(bits).reshape(-1, 64), axis=1, bitorder="little")
    return np.ascontiguousarray(packed).view("<u8").ravel().astype(np.uint64)
