"""Groups of shell points: 32 neighbours with one ball about them, and how far a filled voxel is at least from each part of a map.

Beyond the paper, whose look-up takes every point of a shell: a group is passed over when its ball reaches no filled voxel. The
bound is one number for each cell of 8×8×8 voxels, the distance from the cell to the nearest cell with a filled voxel, so that eight
groups are decided at once by eight loads. Hits are the same with and without it; `Voxmap(grouped=False)` is the paper's.

Shell points come in Morton order, so that 32 of them in a row are neighbours but for the leaps of the curve; the ball is as large
as it has to be.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from jostle.kernels.jit import kernel
from jostle.methods.voxmap.look_up import BLOCK, CELL, GROUP, PIECE
from jostle.methods.voxmap.map import GridSize

Floats32 = NDArray[np.float32]

FARTHEST = 16  # cells: bounds beyond are as good as this one


def points_in_blocks(points: Floats32) -> Floats32:
    """Return eight points at a time, all x, then all y, then all z, flat; the last block and piece are filled up with NaN."""
    count = -(-max(1, len(points)) // PIECE) * PIECE
    padded = np.full((count, 3), np.nan, np.float32)
    padded[: len(points)] = points
    return np.ascontiguousarray(padded.reshape(-1, BLOCK, 3).transpose(0, 2, 1)).reshape(-1)


def balls_of_groups(points: Floats32) -> Floats32:
    """Return the balls about groups of points, eight at a time, all x, y, z and then all radii, flat; in the units of the points.

    Centres are the middles of the groups' boxes. Groups without points have NaN, which is never near anything.
    """
    pieces = -(-max(1, len(points)) // PIECE)
    padded = np.full((pieces * PIECE, 3), np.nan)
    padded[: len(points)] = points
    padded[len(points) :] = padded[len(points) - 1] if len(points) else np.nan
    groups = padded.reshape(-1, GROUP, 3)
    balls = np.empty((len(groups), 4), np.float32)
    balls[:, :3] = 0.5 * (groups.min(axis=1) + groups.max(axis=1))
    # From the rounded centre, and rounded up.
    radius = np.sqrt(np.square(groups - balls[:, None, :3]).sum(axis=2).max(axis=1))
    balls[:, 3] = np.nextafter(radius.astype(np.float32), np.float32(np.inf))
    balls[-(-len(points) // GROUP) :] = np.nan
    return np.ascontiguousarray(balls.reshape(-1, 8, 4).transpose(0, 2, 1)).reshape(-1)


def coarse_bounds(map_words: NDArray[np.uint64], cells: GridSize) -> Floats32:
    """Return for each cell of 8×8×8 of the voxels of a map a lower bound of the distance from filled voxels, in voxels.

    Flat, x fastest. There is a cell for points on the upper faces of the map, too.
    """
    nx, ny, nz = cells
    words = map_words.reshape((nz + 3) >> 2, (ny + 3) >> 2, (nx + 3) >> 2) != 0
    filled = np.zeros(((nz + CELL) // CELL, (ny + CELL) // CELL, (nx + CELL) // CELL), bool)
    for k, j, i in np.ndindex(2, 2, 2):
        part = words[k::2, j::2, i::2]
        filled[: part.shape[0], : part.shape[1], : part.shape[2]] |= part
    bounds = np.empty(filled.size, np.float32)
    squared_gaps(filled.reshape(-1), GridSize(*filled.shape[::-1]), bounds, np.empty_like(bounds))
    return np.sqrt(bounds)


@kernel
def squared_gaps(filled: NDArray[np.bool_], size: GridSize, bounds: Floats32, other: Floats32) -> None:
    """Write the squared distances, in voxels, from each cell to the nearest filled one, both closed boxes; axis by axis.

    All are flat, x fastest; `other` is scratch.
    """
    for k in range(filled.shape[0]):
        bounds[k] = np.float32(0.0) if filled[k] else np.float32((CELL * FARTHEST) ** 2)
    stride = 1
    for axis in range(3):
        end = size.x if axis == 0 else (size.y if axis == 1 else size.z)
        for k in range(filled.shape[0]):
            other[k] = least_along(bounds, k, stride, (k // stride) % end, end)
        for k in range(filled.shape[0]):
            bounds[k] = other[k]
        stride *= end


@kernel(forceinline=True)
def least_along(bounds: Floats32, k: int, stride: int, place: int, end: int) -> np.float32:
    """Return the least of the squared distances of a row of cells, each with its gap from cell k; that one's place is given."""
    best = bounds[k]
    step = 1
    while step <= FARTHEST and np.float32((CELL * (step - 1)) ** 2) < best:
        gap = np.float32((CELL * (step - 1)) ** 2)
        if place >= step:
            best = min(best, bounds[k - step * stride] + gap)
        if place + step < end:
            best = min(best, bounds[k + step * stride] + gap)
        step += 1
    return best
