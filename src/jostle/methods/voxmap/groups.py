"""Groups of shell points with a ball, and distances from cells to filled voxels.

Beyond the paper, whose look-up takes every point of a shell (Lock and Wills §5): a group is skipped when its ball reaches no
filled voxel (`look_up.groups_that_may_hit`). Hits are the same with and without groups; `Voxmap(grouped=False)` is the paper's.

| unit | size | use |
|---|---|---|
| block | 8 points | looked up at once, in the lanes of a vector |
| group | 32 points | has one ball |
| piece | 256 points, 8 groups | their balls are tested at once |
| cell | 8×8×8 voxels of a map | has one bound: the distance from the cell to the nearest cell with a filled voxel |

Shell points are in Morton order, so 32 in a row are neighbours except at the jumps of the curve, where the ball is larger.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from jostle.kernels.jit import kernel
from jostle.methods.voxmap.look_up import BLOCK, CELL, GROUP, PIECE
from jostle.methods.voxmap.map import BLOCK as WORD
from jostle.methods.voxmap.map import GridSize

Floats32 = NDArray[np.float32]

FARTHEST = 16  # cells: greater distances are cut off here, still a lower bound


def points_in_blocks(points: Floats32) -> Floats32:
    """Return points (n,3) as flat blocks of eight: all x, then all y, then all z.

    Padded with NaN to whole pieces.
    """
    padded = np.full((_piece_count(points) * PIECE, 3), np.nan, np.float32)
    padded[: len(points)] = points
    return _lane_by_lane(padded)


def balls_of_groups(points: Floats32) -> Floats32:
    """Return balls about groups of points (n,3), eight at a time: x, y, z, radii.

    Centres are the middles of the groups' boxes. Groups without points have NaN, which is never near anything.
    """
    padded = np.full((_piece_count(points) * PIECE, 3), np.nan)
    padded[: len(points)] = points
    if len(points):
        padded[len(points) :] = points[-1]  # so that the ball of the last group is about its own points
    groups = padded.reshape(-1, GROUP, 3)
    balls = np.empty((len(groups), 4), np.float32)
    balls[:, :3] = 0.5 * (groups.min(axis=1) + groups.max(axis=1))
    # From the rounded centre, and rounded up.
    radius = np.sqrt(np.square(groups - balls[:, None, :3]).sum(axis=2).max(axis=1))
    balls[:, 3] = np.nextafter(radius.astype(np.float32), np.float32(np.inf))
    balls[-(-len(points) // GROUP) :] = np.nan
    return _lane_by_lane(balls)


def _piece_count(points: Floats32) -> int:
    """Return the number of pieces for these points, at least one."""
    return -(-max(1, len(points)) // PIECE)


def _lane_by_lane(rows: Floats32) -> Floats32:
    """Return rows (n,k) flat, in blocks of eight, column by column."""
    count, columns = rows.shape
    return np.ascontiguousarray(rows.reshape(count // BLOCK, BLOCK, columns).transpose(0, 2, 1)).reshape(-1)


def coarse_bounds(map_words: NDArray[np.uint64], cells: GridSize) -> Floats32:
    """Return a lower bound of the distance to filled voxels for each cell of a map.

    In voxels; flat, x fastest.

    Parameters
    ----------
    map_words : (n,) uint64
        The bits of the voxels, in words of 4×4×4 (`map.py`).
    cells : GridSize
        Voxels of the map along x, y, z. Points on its upper faces have a cell, too.
    """
    nx, ny, nz = cells
    words = map_words.reshape([(n + WORD - 1) // WORD for n in (nz, ny, nx)]) != 0
    filled = np.zeros([(n + CELL) // CELL for n in (nz, ny, nx)], bool)
    across = CELL // WORD
    for k, j, i in np.ndindex(across, across, across):  # the words of a cell
        part = words[k::across, j::across, i::across]
        filled[: part.shape[0], : part.shape[1], : part.shape[2]] |= part
    bounds = np.empty(filled.size, np.float32)
    squared_gaps(filled.reshape(-1), GridSize(*filled.shape[::-1]), bounds, np.empty_like(bounds))
    return np.sqrt(bounds)


@kernel
def squared_gaps(filled: NDArray[np.bool_], size: GridSize, bounds: Floats32, other: Floats32) -> None:
    """Write the squared distance of each cell to the nearest filled one, in voxels.

    A distance transform, axis by axis. Cells are closed boxes: neighbours have distance 0. Arrays are flat, x fastest;
    `other` is scratch.
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
    """Return the least bound + squared gap over the cells in line with cell k.

    These are `stride` apart in the arrays; k is number `place` of `end` of them. Cells `step` apart leave step - 1 cells between.
    """
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
