"""A body to draw: its patches by address, its view, and the size of the tile.

A tile is a square of pixels, pixel (i, j) with its centre at (i + 0.5, j + 0.5); a view is the 3×4 matrix, as 12 numbers,
from body coordinates to pixels x, y and the depth z, which grows away from the eye and keeps its unit of length.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from jostle._types import Floats
from jostle.geometry.vector import Vec3, absolute, dot, point_from
from jostle.kernels.jit import kernel
from jostle.kernels.numbers import Whole, as_int64
from jostle.kernels.structs import Rows, Struct, float64, int32, opener

Table = NDArray[np.int64]

ROUNDING = 2.0**-49  # sixteen half units in the last place: bounds the rounding of a box and a point in a view


class PatchedMesh(Struct):
    """The arrays of `Patches` that kernels read, flat.

    A row of a table of `patch_arrays`, which may have more columns.
    """

    points: Rows[float64]
    corners: Rows[int32]
    first_point: Rows[int32]
    first_face: Rows[int32]
    centre: Rows[float64]
    half: Rows[float64]


open_mesh = opener(PatchedMesh)


class ViewRow(NamedTuple):
    """One coordinate of a view: the inner product with (x, y, z), and an offset."""

    x: float
    y: float
    z: float
    offset: float


class TileView(NamedTuple):
    """A view: rows for the pixels x, y and the depth z."""

    x: ViewRow
    y: ViewRow
    z: ViewRow


class DrawnBody(NamedTuple):
    """A mesh, its view, and the pixels on a side of the tile."""

    mesh: PatchedMesh
    to_tile: TileView
    size: int


@kernel(forceinline=True)
def view_row_from(numbers: Any, start: int) -> ViewRow:
    """Return the row in four numbers of a flat array."""
    return ViewRow(numbers[start], numbers[start + 1], numbers[start + 2], numbers[start + 3])


@kernel(forceinline=True)
def view_from(numbers: Any) -> TileView:
    """Return the view in 12 numbers."""
    return TileView(view_row_from(numbers, 0), view_row_from(numbers, 4), view_row_from(numbers, 8))


@kernel(forceinline=True)
def drawn_shape(table: Table, shape: Whole, view: Floats, size: Whole) -> DrawnBody:
    """Return body `shape` of a table of patches under a view (12,) in a tile."""
    return DrawnBody(open_mesh(table[shape]), view_from(view), as_int64(size))


@kernel(forceinline=True)
def along_row(row: ViewRow) -> Vec3:
    """Return a row without its offset."""
    return Vec3(row.x, row.y, row.z)


@kernel(forceinline=True)
def image(row: ViewRow, point: Vec3) -> float:
    """Return one tile coordinate of a point."""
    return dot(along_row(row), point) + row.offset


@kernel(forceinline=True)
def image_reach(row: ViewRow, half: Vec3) -> float:
    """Return how far a box with these half sides reaches in one tile coordinate."""
    return dot(absolute(along_row(row)), half)


@kernel
def patch_count(mesh: PatchedMesh) -> int:
    """Return the number of patches of a mesh."""
    return as_int64(mesh.first_face.shape[0] - 1)


@kernel
def faces_of_patch(mesh: PatchedMesh, patch: int) -> tuple[int, int]:
    """Return the first face of a patch, and the one after its last."""
    return as_int64(mesh.first_face[patch]), as_int64(mesh.first_face[patch + 1])


@kernel
def box_is_outside(mesh: PatchedMesh, patch: int, row: ViewRow, low: float, high: float) -> bool:
    """Return whether a patch's box lies outside low … high in one tile coordinate.

    Rounding included.
    """
    centre = point_from(mesh.centre, 3 * patch)
    middle, reach = image(row, centre), image_reach(row, point_from(mesh.half, 3 * patch))
    reach += ROUNDING * (abs(row.x * centre.x) + abs(row.y * centre.y) + abs(row.z * centre.z) + abs(row.offset) + reach)
    return bool(middle + reach < low or middle - reach > high)


@kernel
def patch_is_outside(body: DrawnBody, patch: int, low: float, high: float) -> bool:
    """Return whether the box of a patch misses the square low … high of the tile."""
    mesh, view = body.mesh, body.to_tile
    return box_is_outside(mesh, patch, view.x, low, high) or box_is_outside(mesh, patch, view.y, low, high)
