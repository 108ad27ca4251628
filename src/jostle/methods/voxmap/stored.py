"""Voxel shapes in files: what is stored of one, and the shape again, if what was stored fits the mesh and the settings.

The lattice, the voxel and the step of the band follow from the mesh and the settings, the words about the band from the band; they
are made again. Of the rest lengths, ranges and order are checked, so that no look-up reads out of bounds, whoever wrote the file.
Which voxels are filled is believed: to check that is to cast the rays again.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from jostle.array_file import checked
from jostle.errors import InputError
from jostle.methods.voxmap.distance_band import DEEP, UNITS, band_blocks, near_words
from jostle.methods.voxmap.leaks import check_closed
from jostle.methods.voxmap.map import BLOCK, Lattice, lattice_of
from jostle.methods.voxmap.memory import check_memory, check_size
from jostle.methods.voxmap.shape import VoxelShape, radius_of
from jostle.methods.voxmap.voxel_size import solid_bounds, voxel_edge
from jostle.shapes.mesh import Mesh

if TYPE_CHECKING:
    from jostle.methods.voxmap.method import Voxmap

FIELDS = ("words", "middle", "points", "feet", "normals", "deep", "band_first", "band_values")
UNIT = 1e-5  # by how much the length of a float32 normal may differ from 1


def fields_of(shape: VoxelShape) -> dict[str, NDArray[Any]]:
    """Return the arrays to store."""
    return {name: np.asarray(getattr(shape, name)) for name in FIELDS}


def shape_of(method: Voxmap, mesh: Mesh, fields: dict[str, NDArray[Any]]) -> VoxelShape:
    """Return the shape of a mesh from what was stored; `InputError` where it is not one."""
    if not method.surface_only and mesh.analytic is None:
        check_closed(mesh)
    check_memory(mesh, method)
    check_size(mesh, method)
    voxel = voxel_edge(mesh, method)
    lattice = lattice_of(mesh.bounds, voxel, margin=1) if method.surface_only else lattice_of(solid_bounds(mesh), voxel)
    words = checked(fields["words"], "words", "u8", lattice.word_count)
    _require(_stays_within(words, lattice), "words")
    middle = checked(fields["middle"], "middle", "f8", 3)
    points = checked(fields["points"], "points", "f4", None, 3)
    feet, normals = (checked(fields[name], name, "f4", len(points), 3) for name in ("feet", "normals"))
    deep = checked(fields["deep"], "deep", "f8", None, 3)
    lower, upper = lattice.origin, lattice.origin + voxel * lattice.cells
    _require(len(points) > 0 and bool(((middle >= lower) & (middle <= upper)).all()), "middle")
    _require(bool(((deep >= lower) & (deep <= upper)).all()) and not (method.surface_only and len(deep)), "deep")
    radius = radius_of(mesh, middle, voxel, method)
    for name, rows in (("points", points), ("feet", feet)):
        _require(bool((np.square(rows.astype(np.float64)).sum(axis=1) <= radius * radius).all()), name)
    _require(bool((np.abs(np.square(normals.astype(np.float64)).sum(axis=1) - 1.0) <= UNIT).all()), "normals")
    band_first, band_values = _checked_band(method, lattice, fields)
    banded = len(band_first) > 0
    near = near_words(band_first, band_values, lattice.cells) if banded and mesh.analytic is None else np.zeros(0, np.uint64)
    return VoxelShape(
        voxel, lattice.origin, lattice.cells, words, middle, points, feet, normals, deep, radius,
        band_first, band_values, voxel / UNITS if banded else 0.0, near,
    )  # fmt: skip


def _require(holds: bool, what: str) -> None:
    if not holds:
        raise InputError(f"{what}: not a voxel shape of this mesh")


def _stays_within(words: NDArray[np.uint64], lattice: Lattice) -> bool:
    """Whether all bits beyond the voxels of the lattice are 0: those at the upper ends of the last words along each axis."""
    grid, bit = words.reshape(lattice.blocks[::-1]), np.arange(64, dtype=np.uint64)
    for axis, (cells, blocks) in enumerate(zip(lattice.cells.tolist(), lattice.blocks, strict=True)):
        along = (bit >> np.uint64(2 * axis)) & np.uint64(3)
        beyond = (np.uint64(1) << bit[along >= cells - BLOCK * (blocks - 1)]).sum(dtype=np.uint64)
        if (np.take(grid, -1, axis=2 - axis) & beyond).any():
            return False
    return True


def _checked_band(method: Voxmap, lattice: Lattice, fields: dict[str, NDArray[Any]]) -> tuple[NDArray[np.int32], NDArray[np.int16]]:
    """Return the blocks of the band, each of its rows in one place."""
    blocks = math.prod(band_blocks(lattice.cells)) if method.depth and not method.surface_only else 0
    first = checked(fields["band_first"], "band_first", "i4", blocks)
    values = checked(fields["band_values"], "band_values", "i2", None, 512)
    rows = first[first >= 0]
    _require(bool((first >= DEEP).all()) and len(rows) == len(values), "band_first")
    _require(np.array_equal(np.sort(rows), np.arange(len(values))), "band_first")
    return first, values
