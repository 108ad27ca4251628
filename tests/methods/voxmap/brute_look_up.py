"""The look-up in plain NumPy: which shell points of one prepared shape lie in filled voxels of another."""

from __future__ import annotations

import numpy as np

from tests.methods.voxmap.voxel_bits import filled_voxels


def points_in_filled_voxels(points, shape):
    """Whether each of the points (n, 3), in body coordinates, lies in a filled voxel."""
    grid = filled_voxels(shape.words, shape.cells)
    cells = np.floor((points - shape.origin) / shape.voxel).astype(int)
    hit = ((cells >= 0) & (cells < shape.cells)).all(axis=1)
    hit[hit] = grid[tuple(cells[hit].T)]
    return hit


def moved(points, start, end):
    """Points of the body with pose `start` in the coordinates of the body with pose `end`."""
    world = points @ start[:3, :3].T + start[:3, 3]
    return (world - end[:3, 3]) @ end[:3, :3]


def meet(one, other, pose_one, pose_other):
    """Whether two shapes collide: a shell point of the finer in the map of the coarser, or a deep point the other way round."""
    if one.voxel > other.voxel:
        one, other, pose_one, pose_other = other, one, pose_other, pose_one
    shell = moved(one.middle + one.points.astype(float), pose_one, pose_other)
    if points_in_filled_voxels(shell, other).any():
        return True
    return bool(points_in_filled_voxels(moved(other.deep, pose_other, pose_one), one).any())
