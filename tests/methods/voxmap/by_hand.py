"""Voxel shapes without a voxeliser: maps of any bits, shells of any points."""

import numpy as np

from jostle.methods.voxmap.shape import VoxelShape


def packed(filled):
    """The words of a map given as (z, y, x) booleans."""
    whole = np.zeros([-(-n // 4) * 4 for n in filled.shape], bool)
    whole[tuple(slice(n) for n in filled.shape)] = filled
    z, y, x = (n // 4 for n in whole.shape)
    bits = whole.reshape(z, 4, y, 4, x, 4).transpose(0, 2, 4, 1, 3, 5).reshape(-1, 64)
    return np.packbits(bits, axis=1, bitorder="little").view("<u8").astype(np.uint64).reshape(-1)


def shape_of(filled, points, voxel=1.0, origin=(0.0, 0.0, 0.0), deep=(), middle=None):
    """A shape with this map and this shell, whose points are in body coordinates."""
    points, origin = np.asarray(points, float).reshape(-1, 3), np.asarray(origin, float)
    if middle is None:
        middle = 0.5 * (points.min(axis=0) + points.max(axis=0)) if len(points) else origin
    cells = np.array(filled.shape[::-1], np.int64)
    corners = origin + voxel * cells * np.array(list(np.ndindex(2, 2, 2)))
    radius = float(np.linalg.norm(np.vstack([points, corners]) - middle, axis=1).max())
    return VoxelShape(
        voxel=voxel,
        origin=origin,
        cells=cells,
        words=packed(filled),
        middle=np.asarray(middle, float),
        points=np.ascontiguousarray((points - middle).astype(np.float32)),
        feet=np.ascontiguousarray((points - middle).astype(np.float32)),
        normals=np.zeros((len(points), 3), np.float32),
        deep=np.asarray(deep, float).reshape(-1, 3),
        radius=radius,
        band_first=np.empty(0, np.int32),
        band_values=np.empty((0, 512), np.int16),
        band_step=0.0,
        near=np.empty(0, np.uint64),
    )


def filled_ball(across, fraction=1.0):
    """(z, y, x) voxels of a ball in a cube: those whose ray along z meets it."""
    place = np.arange(across) + 0.5 - 0.5 * across
    along = np.maximum(np.abs(place) - 0.5, 0.0)
    return along[:, None, None] ** 2 + place[:, None] ** 2 + place**2 <= (0.5 * across * fraction) ** 2


def ball(across, radius=1.0, points=400, seed=0):
    """A ball about the origin: its map, and random points of its surface as a shell."""
    rng = np.random.default_rng(seed)
    shell = rng.normal(size=(points, 3))
    shell *= radius / np.linalg.norm(shell, axis=1)[:, None]
    shell = shell[np.lexsort(np.floor(shell / radius * 4).T)]
    return shape_of(filled_ball(across), shell, 2 * radius / across, (-radius,) * 3, deep=[(0.0, 0.0, 0.0)])
