"""The voxmap: a lattice of cubic voxels, one bit each.

The paper keeps an array of Booleans, "two bits of memory" each. Here 4 x 4 x 4 voxels share a 64-bit word, x fastest in the
words and in the bits: neighbours in all three directions share a cache line, and surfaces and components are found a
word at a time. A lattice starts at the lower corner of the box that is voxelised and ends with the first voxel beyond
the upper corner; bits beyond it stay 0. Rays are numbered by columns of words, 16 to the column, so that a column is filled at
once (`ray_casting.py`).
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from jostle._types import Floats
from jostle.kernels.jit import kernel

Words = NDArray[np.uint64]
BLOCK = 4  # voxels along the edge of a word
ROUNDING = 1e-9  # voxels: a box that passes a voxel's face by less does not start another one


class GridSize(NamedTuple):
    """The number of voxels, words or bins along each axis."""

    x: int
    y: int
    z: int


class Voxel(NamedTuple):
    """The indices of a voxel along the axes."""

    x: int
    y: int
    z: int


@kernel(forceinline=True)
def cell_number(size: GridSize, x: int, y: int, z: int) -> int:
    """Return the index of a cell of a grid, x fastest."""
    return (z * size.y + y) * size.x + x


class Lattice(NamedTuple):
    """The lattice of a map: voxel (x, y, z) starts at origin + voxel * (x, y, z)."""

    origin: Floats  # (3,)
    voxel: float
    cells: NDArray[np.int64]  # (3,)

    @property
    def blocks(self) -> GridSize:
        """Words along x, y, z."""
        return GridSize(*((self.cells + BLOCK - 1) // BLOCK).tolist())

    @property
    def word_count(self) -> int:
        """The number of words of the map."""
        return math.prod(self.blocks)

    def empty(self) -> Words:
        """Return the words of a map without filled voxels."""
        return np.zeros(self.word_count, np.uint64)

    def coordinates(self, points: Floats) -> Floats:
        """Return points (n, 3) in voxels from the origin, clamped to the lattice."""
        within: Floats = np.clip((points - self.origin) / self.voxel, 0.0, self.cells.astype(np.float64))
        return within


def lattice_of(bounds: Floats, voxel: float, margin: int = 0) -> Lattice:
    """Return the lattice over a (2, 3) box, with a margin of voxels on each side."""
    extent = (bounds[1] - bounds[0]) / voxel
    cells = np.maximum(np.ceil(extent - ROUNDING), 1.0).astype(np.int64) + 2 * margin
    return Lattice(np.asarray(bounds[0] - margin * voxel, dtype=np.float64), float(voxel), cells)
