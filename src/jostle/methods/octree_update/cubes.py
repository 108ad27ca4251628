"""Cubes and their cells: the root of every octree, and the boxes of its nodes.

A node of level l is three whole numbers below 2^l. Its box is bounded by the planes `lower + i·(side / 2^l)`, computed the same way
for all nodes that share a plane, whatever their level: so the closed boxes of a level cover the cube without gaps, and those of
eight children cover their parent, bit for bit.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from jostle._types import Floats
from jostle.geometry.triangle import Bounds
from jostle.geometry.vector import Vec3
from jostle.kernels.jit import kernel

GREATEST_LEVEL = 10  # three cell numbers fit into 30 bits
LEAST_EXTENT = 2.0**-20  # of the largest coordinate: cells of the greatest level are then far larger than rounding
SMALLEST_SIDE = 1e-28


def cube_about(lower: Floats, upper: Floats) -> Floats:
    """Return (4,) lower corner and side of a cube that holds a box, rounding included."""
    largest = float(max(np.abs(lower).max(), np.abs(upper).max()))
    side = max(float((upper - lower).max()) * (1.0 + LEAST_EXTENT), LEAST_EXTENT * largest, SMALLEST_SIDE)
    while True:
        corner = 0.5 * lower + 0.5 * upper - 0.5 * side
        if (corner <= lower).all() and (corner + side >= upper).all():
            return np.append(corner, side)
        side *= 2.0  # pragma: no cover - the sides above leave room for every rounding


def cell_boxes(cube: Floats, levels: NDArray[np.integer], cells: NDArray[np.integer]) -> Floats:
    """Return (k,2,3) the boxes of nodes with levels (k,) and cell numbers (k,3)."""
    side = cube[3] / 2.0 ** np.asarray(levels, np.float64)[:, None]
    return np.stack([cube[:3] + cells * side, cube[:3] + (cells + 1) * side], axis=1)


class Cell(NamedTuple):
    """The cell numbers of a node."""

    i: int
    j: int
    k: int


@kernel(forceinline=True)
def child_cell(cell: Cell, child: int) -> Cell:
    """Return one of the eight children of a node, 0 … 7."""
    return Cell(2 * cell.i + (child >> 2), 2 * cell.j + ((child >> 1) & 1), 2 * cell.k + (child & 1))


@kernel(forceinline=True)
def cell_bounds(corner: Vec3, side: float, cell: Cell) -> Bounds:
    """Return the box of a node, as `cell_boxes` does.

    corner: the lower one of the cube; side: of the nodes of this level.
    """
    return Bounds(
        Vec3(corner.x + cell.i * side, corner.y + cell.j * side, corner.z + cell.k * side),
        Vec3(corner.x + (cell.i + 1) * side, corner.y + (cell.j + 1) * side, corner.z + (cell.k + 1) * side),
    )
