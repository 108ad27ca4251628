"""Voxels of the faces rather than of the solid (`surface_only`).

For open meshes, and for closed ones taken as surfaces. A voxel is filled when a face meets its closed box, grown by the same length
on each side. A face is cut into rows, each row into columns, and the rest of it in a column is a convex polygon: its extent along
the column gives the voxels. The paper has solids only; it mentions scan-conversion as another way to the same surface voxels. No
voxel is missed: boxes are grown by `ROUNDING` besides.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from jostle._types import Floats, Ints, Longs
from jostle.kernels.arrays import read_only_view
from jostle.kernels.jit import kernel
from jostle.methods.voxmap.map import ROUNDING, GridSize, Lattice, Words, cell_number
from jostle.methods.voxmap.progress import Share, run_to_end

FIRST_SLICE = 1 << 17  # columns
LARGEST_POLYGON = 16  # a triangle clipped four times has at most 7 corners; rounding that breaks convexity could make it 13


class Cut(NamedTuple):
    """The half space sign * x[axis] <= bound."""

    axis: int
    sign: float
    bound: float


class FaceAxes(NamedTuple):
    """Columns run along w, rows of them along u, rows are stacked along v."""

    u: int
    v: int
    w: int


@kernel
def clip(polygons: Floats, source: int, count: int, target: int, cut: Cut) -> int:
    """Clip polygons[source, :count] by a half space into polygons[target].

    Returns its number of corners.
    """
    axis, sign, bound = cut
    kept = 0
    for i in range(count):
        j = i + 1 if i + 1 < count else 0
        here, there = sign * polygons[source, i, axis], sign * polygons[source, j, axis]
        if here <= bound:
            for k in range(3):
                polygons[target, kept, k] = polygons[source, i, k]
            kept += 1
        if (here <= bound) != (there <= bound):
            t = (bound - here) / (there - here)
            for k in range(3):
                p, q = polygons[source, i, k], polygons[source, j, k]
                polygons[target, kept, k] = min(max(p + t * (q - p), min(p, q)), max(p, q))
            polygons[target, kept, axis] = sign * bound
            kept += 1
    return kept


@kernel
def clip_to_cell(polygons: Floats, source: int, count: int, axis: int, cell: int, growth: float) -> int:
    """Clip polygons[source, :count] to a grown cell into polygons[source + 2].

    Returns its number of corners.
    """
    kept = clip(polygons, source, count, source + 1, Cut(axis, 1.0, cell + 1 + growth))
    return clip(polygons, source + 1, kept, source + 2, Cut(axis, -1.0, growth - cell))


@kernel(forceinline=True)
def cells_met(polygons: Floats, source: int, count: int, axis: int, growth: float, cells: int) -> tuple[int, int]:
    """Return the range of cells along an axis whose grown extent the polygon meets."""
    low, high = math.inf, -math.inf
    for i in range(count):
        low, high = min(low, polygons[source, i, axis]), max(high, polygons[source, i, axis])
    return max(math.ceil(low - 1.0 - growth), 0), min(math.floor(high + growth) + 1, cells)


@kernel(forceinline=True)
def face_axes(polygons: Floats) -> FaceAxes:
    """Return axes with columns along the longest extent of a triangle."""
    w, longest = 0, -1.0
    for k in range(3):
        p, q, r = polygons[0, 0, k], polygons[0, 1, k], polygons[0, 2, k]
        if max(p, q, r) - min(p, q, r) > longest:
            w, longest = k, max(p, q, r) - min(p, q, r)
    return FaceAxes((w + 1) % 3, (w + 2) % 3, w)


@kernel(forceinline=True)
def fill_voxel(words: Words, size: GridSize, w: int, i: int, j: int, k: int) -> None:
    """Fill voxel k of the column along w at (i, j) along u and v."""
    if w == 0:
        x, y, z = k, i, j
    elif w == 1:
        x, y, z = j, k, i
    else:
        x, y, z = i, j, k
    bit = np.uint64(((z & 3) << 4) | ((y & 3) << 2) | (x & 3))
    words[cell_number(size, x >> 2, y >> 2, z >> 2)] |= np.uint64(1) << bit


@kernel
def fill_face(polygons: Floats, cells: Longs, size: GridSize, growth: float, words: Words) -> int:
    """Fill the voxels of the first polygon; return the rows and columns visited."""
    used = 0
    axes = face_axes(polygons)
    begin_v, end_v = cells_met(polygons, 0, 3, axes.v, growth, cells[axes.v])
    for j in range(begin_v, end_v):
        used += 1
        row = clip_to_cell(polygons, 0, 3, axes.v, j, growth)
        if row == 0:
            continue
        begin_u, end_u = cells_met(polygons, 2, row, axes.u, growth, cells[axes.u])
        for i in range(begin_u, end_u):
            used += 1
            column = clip_to_cell(polygons, 2, row, axes.u, i, growth)
            if column == 0:
                continue
            begin_w, end_w = cells_met(polygons, 4, column, axes.w, growth, cells[axes.w])
            for k in range(begin_w, end_w):
                fill_voxel(words, size, axes.w, i, j, k)
    return used


@kernel
def fill_faces(
    points: Floats, faces: Ints, cells: Longs, growth: float, first: int, budget: int, polygons: Floats, words: Words
) -> tuple[int, int]:
    """Fill the voxels of faces; return the next face and the columns visited.

    points (n, 3) in voxels, faces (m, 3), cells (3,); polygons (5, 16, 3) is scratch.
    """
    size = GridSize((cells[0] + 3) >> 2, (cells[1] + 3) >> 2, (cells[2] + 3) >> 2)
    used = 0
    face = first
    while face < faces.shape[0] and used < budget:
        for i in range(3):
            for k in range(3):
                polygons[0, i, k] = points[faces[face, i], k]
        used += fill_face(polygons, cells, size, growth, words)
        face += 1
    return face, used


def voxels_of_faces(vertices: Floats, faces: Ints, lattice: Lattice, growth: float, progress: Share | None = None) -> Words:
    """Return the map of the voxels whose boxes meet a face.

    Boxes are grown by `growth` voxels on each side.
    """
    points, faces = read_only_view((vertices - lattice.origin) / lattice.voxel), read_only_view(faces)
    words = lattice.empty()
    polygons = np.zeros((5, LARGEST_POLYGON, 3))
    cells = read_only_view(lattice.cells)

    def step(face: int, operations: int) -> tuple[int, int]:
        return fill_faces(points, faces, cells, growth + ROUNDING, face, operations, polygons, words)

    run_to_end(step, len(faces), FIRST_SLICE, progress)
    return words
