"""Voxel shapes in files: the stored arrays, and the checks on what is read back.

The lattice, the voxel and the step of the band follow from the mesh and the settings, the bits near the body from the band; they
are recomputed. Lengths, ranges and order of the rest are checked, so that no look-up reads out of bounds, whoever wrote the file.
Which voxels are filled is not checked: that would mean casting the rays again.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from jostle.array_file import checked
from jostle.errors import InputError
from jostle.methods.voxmap.distance_band import DEEP, band_blocks
from jostle.methods.voxmap.map import BLOCK, Lattice
from jostle.methods.voxmap.shape import VoxelShape, assembled_shape, check_mesh, map_lattice
from jostle.methods.voxmap.shell import Shell
from jostle.shapes.mesh import Mesh

if TYPE_CHECKING:
    from jostle.methods.voxmap.method import Voxmap

FIELDS = ("words", "middle", "points", "feet", "normals", "deep", "band_first", "band_values")
UNIT = 1e-5  # tolerance for the squared length of a float32 normal


def fields_of(shape: VoxelShape) -> dict[str, NDArray[Any]]:
    """Return the arrays to store."""
    return {name: np.asarray(getattr(shape, name)) for name in FIELDS}


def shape_of(method: Voxmap, mesh: Mesh, fields: dict[str, NDArray[Any]]) -> VoxelShape:
    """Return the shape of a mesh from stored arrays, or raise `InputError`."""
    check_mesh(mesh, method)
    lattice = map_lattice(mesh, method)
    words = checked(fields["words"], "words", "u8", lattice.word_count)
    _require(_stays_within(words, lattice), "words")
    middle = checked(fields["middle"], "middle", "f8", 3)
    points = checked(fields["points"], "points", "f4", None, 3)
    feet, normals = (checked(fields[name], name, "f4", len(points), 3) for name in ("feet", "normals"))
    deep = checked(fields["deep"], "deep", "f8", None, 3)
    lower, upper = lattice.origin, lattice.origin + lattice.voxel * lattice.cells
    _require(len(points) > 0 and bool(((middle >= lower) & (middle <= upper)).all()), "middle")
    _require(bool(((deep >= lower) & (deep <= upper)).all()) and not (method.surface_only and len(deep)), "deep")
    _require(bool((np.abs(np.square(normals.astype(np.float64)).sum(axis=1) - 1.0) <= UNIT).all()), "normals")
    band = _checked_band(method, lattice, fields)
    shape = assembled_shape(mesh, method, lattice, words, Shell(middle, points), feet, normals, deep, *band)
    for name, rows in (("points", points), ("feet", feet)):
        _require(bool((np.square(rows.astype(np.float64)).sum(axis=1) <= shape.radius * shape.radius).all()), name)
    return shape


def _require(holds: bool, what: str) -> None:
    if not holds:
        raise InputError(f"{what}: not a voxel shape of this mesh")


def _stays_within(words: NDArray[np.uint64], lattice: Lattice) -> bool:
    """Return whether all bits beyond the voxels of the lattice are 0.

    These are at the upper ends of the last words along each axis.
    """
    grid, bit = words.reshape(lattice.blocks[::-1]), np.arange(64, dtype=np.uint64)
    for axis, (cells, blocks) in enumerate(zip(lattice.cells.tolist(), lattice.blocks, strict=True)):
        along = (bit >> np.uint64(2 * axis)) & np.uint64(3)
        beyond = (np.uint64(1) << bit[along >= cells - BLOCK * (blocks - 1)]).sum(dtype=np.uint64)
        if (np.take(grid, -1, axis=2 - axis) & beyond).any():
            return False
    return True


def _checked_band(method: Voxmap, lattice: Lattice, fields: dict[str, NDArray[Any]]) -> tuple[NDArray[np.int32], NDArray[np.int16]]:
    """Return the blocks of the band; each of its rows must be used exactly once."""
    blocks = math.prod(band_blocks(lattice.cells)) if method.depth and not method.surface_only else 0
    first = checked(fields["band_first"], "band_first", "i4", blocks)
    values = checked(fields["band_values"], "band_values", "i2", None, 512)
    rows = first[first >= 0]
    _require(bool((first >= DEEP).all()) and len(rows) == len(values), "band_first")
    _require(np.array_equal(np.sort(rows), np.arange(len(values))), "band_first")
    return first, values
