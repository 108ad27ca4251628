"""Groups of shell points: 32 neighbours with one ball about them, and how far a filled voxel is at least from each part of a map.

Beyond the paper, whose look-up takes every point of a shell: a group is passed over when its ball reaches no filled voxel. The
bound is one number for each cell of 8×8×8 voxels, the distance from the cell to the nearest cell with a filled voxel, so that eight
groups are decided at once by eight loads. Hits are the same with and without it; `Voxmap(grouped=False)` is the paper's.

Shell points come in Morton order, so that 32 of them in a row are neighbours but for the leaps of the curve; the ball is as large
as it has to be.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from jostle.kernels.jit import kernel
from jostle.methods.voxmap.look_up import BLOCK, CELL, GROUP, PIECE

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


def coarse_bounds(map_words: NDArray[np.uint64], cells: NDArray[np.integer[Any]]) -> Floats32:
    """Return for each cell of 8×8×8 voxels a lower bound of the distance of its points from filled voxels, in voxels.

    Flat, x fastest. There is a cell for points on the upper faces of the map, too.
    """
    nx, ny, nz = (int(cells) for cells in cells)
    words = map_words.reshape((nz + 3) >> 2, (ny + 3) >> 2, (nx + 3) >> 2) != 0
    filled = np.zeros(((nz + CELL) // CELL, (ny + CELL) // CELL, (nx + CELL) // CELL), bool)
    for k, j, i in np.ndindex(2, 2, 2):
        part = words[k::2, j::2, i::2]
        filled[: part.shape[0], : part.shape[1], : part.shape[2]] |= part
    bounds = np.empty(filled.shape, np.float32)
    squared_gaps(filled, bounds, np.empty_like(bounds))
    return np.sqrt(bounds).reshape(-1)


@kernel
def squared_gaps(filled, bounds, other):  # type: ignore[no-untyped-def]
    """Write the squared distances, in voxels, from each cell to the nearest filled one, both closed boxes; axis by axis."""
    depth, height, width = filled.shape
    far = np.float32((CELL * FARTHEST) ** 2)
    for k in range(depth):
        for j in range(height):
            for i in range(width):
                bounds[k, j, i] = np.float32(0.0) if filled[k, j, i] else far
    for axis in range(3):
        for k in range(depth):
            for j in range(height):
                for i in range(width):
                    place, end = (i, width) if axis == 0 else ((j, height) if axis == 1 else (k, depth))
                    best = bounds[k, j, i]
                    step = 1
                    while step <= FARTHEST and np.float32((CELL * (step - 1)) ** 2) < best:
                        gap = np.float32((CELL * (step - 1)) ** 2)
                        for side in range(2):
                            at = place - step if side == 0 else place + step
                            if at >= 0 and at < end:
                                if axis == 0:
                                    best = min(best, bounds[k, j, at] + gap)
                                elif axis == 1:
                                    best = min(best, bounds[k, at, i] + gap)
                                else:
                                    best = min(best, bounds[at, j, i] + gap)
                        step += 1
                    other[k, j, i] = best
        for k in range(depth):
            for j in range(height):
                for i in range(width):
                    bounds[k, j, i] = other[k, j, i]
