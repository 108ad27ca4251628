"""Morton codes: positions of cells along a space-filling curve.

Neighbours in space are mostly near each other on the curve. A code interleaves the bits of three whole numbers below 2^21, those of
the first above those of the others. Kernels call `morton_code`; the same lines, interpreted, take arrays.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from jostle.kernels.jit import interpreted, kernel

CURVE_BITS = 16  # of each axis in the codes of points: 2^16 steps along the longest side of their box

Cells = NDArray[np.int64]


@kernel(forceinline=True)
def spread_bits(x: int) -> int:
    """Return 21 bits with two zeros between each."""
    x = (x | (x << 32)) & 0x001F00000000FFFF
    x = (x | (x << 16)) & 0x001F0000FF0000FF
    x = (x | (x << 8)) & 0x100F00F00F00F00F
    x = (x | (x << 4)) & 0x10C30C30C30C30C3
    return (x | (x << 2)) & 0x1249249249249249


@kernel(forceinline=True)
def morton_code(x: int, y: int, z: int) -> int:
    """Return the code of a cell."""
    return (spread_bits(x) << 2) | (spread_bits(y) << 1) | spread_bits(z)


def codes_of_cells(x: Cells, y: Cells, z: Cells) -> Cells:
    """Return the codes (n,) of cells (n,)."""
    codes: Cells = interpreted(morton_code)(x, y, z)
    return codes


def codes_of_points(points: NDArray[np.float64]) -> Cells:
    """Return the codes (n,) of points (n, 3) in their bounding cube.

    `CURVE_BITS` bits per axis.
    """
    if len(points) == 0:
        return np.zeros(0, np.int64)
    away = points - points.min(axis=0)
    longest = float(away.max())
    cells = (away * ((2**CURVE_BITS - 1) / longest if longest > 0.0 else 0.0)).astype(np.int64)
    return codes_of_cells(cells[:, 0], cells[:, 1], cells[:, 2])
