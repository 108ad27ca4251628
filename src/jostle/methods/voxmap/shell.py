"""The point shell (§5): centres of the surface voxels of a map finer by √2.

A cube of the voxmap's voxel size cannot pass between the centres of voxels that are √2 smaller: the largest square gap between
them is as wide as the cube. The points are in Morton order (along a space-filling curve), so that neighbours in the list
are neighbours in space. They are relative to the middle of their box, in float32: 2⁻²⁴ of half the box, which the accuracy has room
for (README).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from jostle._types import Floats, Longs
from jostle.geometry.morton import codes_of_cells
from jostle.geometry.vector import Vec3
from jostle.kernels.arrays import read_only_view
from jostle.kernels.jit import kernel
from jostle.methods.voxmap.map import GridSize, Lattice, Voxel, Words


class Shell(NamedTuple):
    """The points of a shell, relative to `middle`."""

    middle: Floats  # (3,)
    points: NDArray[np.float32]  # (n, 3)


_BIT = np.arange(64)
# The bits of a word in the order of the curve, x fastest.
CURVE: NDArray[np.int64] = np.argsort(codes_of_cells(_BIT >> 4, (_BIT >> 2) & 3, _BIT & 3)).astype(np.int64)


@kernel(forceinline=True)
def first_voxel(place: int, size: GridSize) -> Voxel:
    """Return the lowest voxel of a word."""
    return Voxel(4 * (place % size.x), 4 * ((place // size.x) % size.y), 4 * (place // (size.x * size.y)))


@kernel(forceinline=True)
def voxel_of_bit(corner: Voxel, bit: int) -> Voxel:
    """Return the voxel of a bit of the word whose lowest voxel is `corner`."""
    return Voxel(corner.x + (bit & 3), corner.y + ((bit >> 2) & 3), corner.z + (bit >> 4))


@kernel
def extent_of_voxels(places: Longs, bits: Words, size: GridSize, low: Longs, high: Longs) -> int:
    """Count the voxels in words, and write their extent to low and high (3,)."""
    count = 0
    one = np.uint64(1)
    for k in range(places.shape[0]):
        corner = first_voxel(places[k], size)
        for bit in range(64):
            if (bits[k] >> np.uint64(bit)) & one:
                count += 1
                at = voxel_of_bit(corner, bit)
                low[0], low[1], low[2] = min(low[0], at.x), min(low[1], at.y), min(low[2], at.z)
                high[0], high[1], high[2] = max(high[0], at.x), max(high[1], at.y), max(high[2], at.z)
    return count


@kernel
def write_points(
    places: Longs, bits: Words, order: Longs, curve: Longs, size: GridSize, start: Vec3, scale: float, points: NDArray[np.float32]
) -> None:
    """Write the centres of voxels in words, along the curve: start + scale * voxel.

    places and bits name the voxels, points (n, 3) receives their centres.
    """
    count = 0
    one = np.uint64(1)
    for n in range(order.shape[0]):
        k = order[n]
        corner = first_voxel(places[k], size)
        for m in range(64):
            bit = curve[m]
            if (bits[k] >> np.uint64(bit)) & one:
                at = voxel_of_bit(corner, bit)
                points[count, 0] = start.x + scale * at.x
                points[count, 1] = start.y + scale * at.y
                points[count, 2] = start.z + scale * at.z
                count += 1


def shell_of(places: NDArray[np.int64], bits: Words, lattice: Lattice) -> Shell:
    """Return the centres of the voxels `bits` in the words `places` of a map."""
    size = lattice.blocks
    bx, by, _ = size
    places, bits = read_only_view(places), read_only_view(bits)
    low, high = lattice.cells.copy(), np.zeros(3, np.int64)
    count = extent_of_voxels(places, bits, size, low, high)
    # In voxels from the lattice's origin; a half is exact, so that symmetric bodies have symmetric shells.
    middle = 0.5 * (low + high + 1)
    order = np.argsort(codes_of_cells(places // (bx * by), (places // bx) % by, places % bx), kind="stable")
    points = np.empty((count, 3), np.float32)
    start = Vec3(*(lattice.voxel * (0.5 - middle)).tolist())
    write_points(places, bits, read_only_view(order), read_only_view(CURVE), size, start, lattice.voxel, points)
    return Shell(lattice.origin + lattice.voxel * middle, points)
