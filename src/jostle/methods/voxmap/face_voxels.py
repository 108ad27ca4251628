"""Voxels of the faces rather than of the solid (`surface_only`): for open meshes, and for closed ones taken as surfaces.

A voxel is filled when a face meets its closed box, grown by the same length on each side. A face is cut into rows, each row
into columns, and what is left of it in a column is a convex polygon: its extent along the column names the voxels. The paper
has solids only; it mentions scan-conversion as the other way to the same surface voxels. Never a voxel too few: boxes are grown
by `ROUNDING` besides.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from jostle.frame import Floats, Ints
from jostle.kernels.arrays import read_only_view
from jostle.kernels.jit import kernel
from jostle.kernels.slices import run_in_slices
from jostle.methods.voxmap.map import ROUNDING, Lattice, Words

FIRST_SLICE = 1 << 17  # columns
LARGEST_POLYGON = 16  # a triangle clipped four times has at most 7 corners; rounding that breaks convexity could make it 13


@kernel
def clip(polygons, source, count, target, axis, sign, bound):  # type: ignore[no-untyped-def]
    """Clip polygons[source, :count] by sign * x[axis] <= bound into polygons[target]; its count of corners."""
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


@kernel(forceinline=True)
def cells_met(polygons, source, count, axis, growth, cells):  # type: ignore[no-untyped-def]
    """The range first … last - 1 of cells along an axis whose grown extent the polygon meets."""
    low, high = math.inf, -math.inf
    for i in range(count):
        low, high = min(low, polygons[source, i, axis]), max(high, polygons[source, i, axis])
    return max(math.ceil(low - 1.0 - growth), 0), min(math.floor(high + growth) + 1, cells)


@kernel
def fill_faces(points, faces, cells, growth, first, budget, polygons, words):  # type: ignore[no-untyped-def]
    """Fill the voxels of the faces from `first` on; the next face and the columns looked at.

    points (n, 3) in voxels, faces (m, 3), cells (3,); polygons (5, 16, 3) is scratch.
    """
    bx, by = (cells[0] + 3) >> 2, (cells[1] + 3) >> 2
    used = 0
    face = first
    one = np.uint64(1)
    while face < faces.shape[0] and used < budget:
        for i in range(3):
            for k in range(3):
                polygons[0, i, k] = points[faces[face, i], k]
        # Columns along the axis in which the face is longest: the fewest of them.
        w, longest = 0, -1.0
        for k in range(3):
            p, q, r = polygons[0, 0, k], polygons[0, 1, k], polygons[0, 2, k]
            if max(p, q, r) - min(p, q, r) > longest:
                w, longest = k, max(p, q, r) - min(p, q, r)
        u, v = (w + 1) % 3, (w + 2) % 3
        begin_v, end_v = cells_met(polygons, 0, 3, v, growth, cells[v])
        for j in range(begin_v, end_v):
            used += 1
            row = clip(polygons, 0, 3, 1, v, 1.0, j + 1 + growth)
            row = clip(polygons, 1, row, 2, v, -1.0, growth - j)
            if row == 0:
                continue
            begin_u, end_u = cells_met(polygons, 2, row, u, growth, cells[u])
            for i in range(begin_u, end_u):
                used += 1
                column = clip(polygons, 2, row, 3, u, 1.0, i + 1 + growth)
                column = clip(polygons, 3, column, 4, u, -1.0, growth - i)
                if column == 0:
                    continue
                begin_w, end_w = cells_met(polygons, 4, column, w, growth, cells[w])
                for k in range(begin_w, end_w):
                    if w == 0:
                        x, y, z = k, i, j
                    elif w == 1:
                        x, y, z = j, k, i
                    else:
                        x, y, z = i, j, k
                    bit = np.uint64(((z & 3) << 4) | ((y & 3) << 2) | (x & 3))
                    words[((z >> 2) * by + (y >> 2)) * bx + (x >> 2)] |= one << bit
        face += 1
    return face, used


def voxels_of_faces(
    vertices: Floats, faces: Ints, lattice: Lattice, growth: float, progress: Callable[[float], None] | None = None
) -> Words:
    """Return the map of the voxels whose boxes, grown by `growth` (in voxels) on each side, meet a face."""
    points, faces = read_only_view((vertices - lattice.origin) / lattice.voxel), read_only_view(faces)
    words = lattice.empty()
    polygons = np.zeros((5, LARGEST_POLYGON, 3))
    cells = read_only_view(lattice.cells)

    def step(place: list[int], operations: int) -> tuple[bool, int]:
        place[0], used = fill_faces(points, faces, cells, growth + ROUNDING, place[0], operations, polygons, words)
        if progress is not None:
            progress(place[0] / len(faces))
        return place[0] == len(faces), max(used, 1)

    run_in_slices(step, [0], FIRST_SLICE)
    return words
