"""Which patches are drawn in which piece, and their float32 maps for the device.

A patch is drawn when its box, seen in the view, reaches into the piece. A piece is dropped when one of the bodies has no
such patch, or when those of A and those of B are apart in depth. Everything is computed in float64 from the views and
then rounded once: the maps start from a point of the body's grid in the middle of the piece (see `meshes.py`), and depths
are scaled so that the drawn patches of both bodies fill 0 … 1 except for a margin, where nothing is clipped.

Error of a vertex: its distance from the middle of the piece times 2^-22, in pixels and, likewise, in depth; plus 2^-24 of
the depth of all patches drawn, plus 2^-28 of the half side of the body. Edges that cross the piece have the errors of
their ends. So a view where a drawn patch reaches farther than 2^17 pixels out, or as far in depth, is marked and not
drawn: 1/32 pixel is left. (Corners of two boxes of 1 m over a region of 1 µm: 60 of 1024 pixels were wrong.) The hardware
then rounds pixel coordinates to 1/16 … 1/256, which moves the depth by its slope times that: the largest part by far.
"""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from jostle._types import Floats, Ints
from jostle.geometry.vector import Vec3, cross, dot, plus, point_at, times
from jostle.kernels.jit import kernel
from jostle.kernels.numbers import as_int64
from jostle.kernels.structs import Record, Run, float32, int32, record_viewer
from jostle.render.drawn_body import TileView, along_row, image, image_reach, view_from


class RoleMap(Record):
    """From steps of a body's grid to pixels x, y and depth z, as matrix rows.

    Steps are counted from `reference`.
    """

    x: Run[float32, Literal[4]]
    y: Run[float32, Literal[4]]
    z: Run[float32, Literal[4]]
    reference: Run[int32, Literal[3]]
    mirrored: int32


class Piece(Record):
    """The struct Piece in pieces.wgsl."""

    a: RoleMap
    b: RoleMap
    rectangle: Run[int32, Literal[4]]
    layers: Run[int32, Literal[4]]
    origin: Run[int32, Literal[4]]


view_piece = record_viewer(Piece)


def _word(name: str) -> int:
    place: int = Piece.dtype.fields[name][1]  # type: ignore[index]  # a record has fields
    return place // 4


WORDS_OF_PIECE = Piece.dtype.itemsize // 4
RECTANGLE, LAYERS, ORIGIN = _word("rectangle"), _word("layers"), _word("origin")  # first words of its last rows
DEPTH_MARGIN = 1.0 / 64.0  # of 0 … 1, at each end
FARTHEST_REFERENCE = 2.0**30 - 1.0
FARTHEST_PIXEL = 2.0**17  # from the middle of a piece to the end of a patch drawn in it


class PieceRows(NamedTuple):
    """The rectangles of pieces, and their views."""

    of_view: Ints
    left: Ints
    top: Ints
    width: Ints
    height: Ints


class PieceViews(NamedTuple):
    """The shapes of both bodies, their matrices (n,2,12), and the pixel sizes (n,2)."""

    shape_a: Ints
    shape_b: Ints
    to_tile: Floats
    pixel: Floats


class MeshBoxes(NamedTuple):
    """The boxes of patches (k,3) of all shapes, and the grids (s,4) of the shapes."""

    first_patch: NDArray[np.int64]
    centre: Floats
    half: Floats
    grid: Floats


class KeptPieces(NamedTuple):
    """Output for the pieces that are kept: number k is piece[k].

    Its maps are words[k] (n,44), the middle and scale of its depths depth[k] (2), and its patches are instances
    first_instance[k] … first_instance[k+1] (…,2).
    """

    words: Ints
    depth: Floats
    instances: NDArray[np.uint32]
    first_instance: NDArray[np.int64]
    piece: NDArray[np.int64]


class PieceFrame(NamedTuple):
    """Corner and sides of a piece in its tile, middle and scale of its depths."""

    left: int
    top: int
    width: int
    height: int
    middle: float
    scale: float


class DrawnPatches(NamedTuple):
    """Depths and reach of the patches drawn of a body, and the instances so far."""

    low: float
    high: float
    farthest: float
    drawn: int


@kernel
def place_pieces(
    begin: int, end: int, kept: int, pieces: PieceRows, views: PieceViews, meshes: MeshBoxes, out: KeptPieces,
    too_far: NDArray[np.bool_],
) -> int:  # fmt: skip
    """Place pieces begin … end after the first `kept`; return the new number kept.

    Views for which float32 is not enough are marked in too_far (views,).
    """
    first_instance, depth, piece, pixel = out.first_instance, out.depth, out.piece, views.pixel
    for p in range(begin, end):
        v = as_int64(pieces.of_view[p])
        shape_a, shape_b = as_int64(views.shape_a[v]), as_int64(views.shape_b[v])
        view_a, view_b = view_from(views.to_tile[v, 0]), view_from(views.to_tile[v, 1])
        frame = frame_of_piece(pieces, p, 0.0, 1.0)
        drawn = first_instance[kept]
        a = draw_patches(meshes, shape_a, view_a, frame, out.instances, drawn, 2 * kept)
        b = draw_patches(meshes, shape_b, view_b, frame, out.instances, a.drawn, 2 * kept + 1)
        if a.drawn == drawn or b.drawn == a.drawn or max(a.low, b.low) > min(a.high, b.high):
            continue
        low, high = min(a.low, b.low), max(a.high, b.high)
        depth_in_pixels = (high - low) / max(pixel[v, 0], pixel[v, 1])
        if max(a.farthest, b.farthest, 0.5 * depth_in_pixels) > FARTHEST_PIXEL:
            too_far[v] = True
            continue
        middle = 0.5 * low + 0.5 * high
        scale = (1.0 - 2.0 * DEPTH_MARGIN) / (high - low) if high > low else 1.0
        frame, words = frame_of_piece(pieces, p, middle, scale), view_piece(out.words[kept])
        write_map(words.a, meshes, shape_a, view_a, frame)
        write_map(words.b, meshes, shape_b, view_b, frame)
        depth[kept, 0], depth[kept, 1] = middle, scale
        piece[kept] = p
        kept += 1
        first_instance[kept] = b.drawn
    return kept


@kernel(forceinline=True)
def frame_of_piece(pieces: PieceRows, p: int, middle: float, scale: float) -> PieceFrame:
    """Return the frame of a piece with the middle and scale of its depths."""
    left, top, width, height = pieces.left[p], pieces.top[p], pieces.width[p], pieces.height[p]
    return PieceFrame(as_int64(left), as_int64(top), as_int64(width), as_int64(height), middle, scale)


@kernel(forceinline=True)
def draw_patches(
    meshes: MeshBoxes, shape: int, view: TileView, frame: PieceFrame, instances: NDArray[np.uint32], drawn: int, role: int
) -> DrawnPatches:
    """Append the patches of a shape that reach into a piece.

    `role` is twice the number of the piece, plus 1 for B.
    """
    first_patch, centres, halves = meshes.first_patch, meshes.centre, meshes.half
    low, high, farthest = np.inf, -np.inf, 0.0
    for patch in range(first_patch[shape], first_patch[shape + 1]):
        centre, half = point_at(centres, patch), point_at(halves, patch)
        x, reach = image(view.x, centre) - frame.left, image_reach(view.x, half)
        if x + reach < 0.0 or x - reach > frame.width:
            continue
        far = abs(x - 0.5 * frame.width) + reach
        y, reach = image(view.y, centre) - frame.top, image_reach(view.y, half)
        if y + reach < 0.0 or y - reach > frame.height:
            continue
        farthest = max(farthest, far, abs(y - 0.5 * frame.height) + reach)
        z, reach = image(view.z, centre), image_reach(view.z, half)
        low, high = min(low, z - reach), max(high, z + reach)
        instances[drawn, 0] = patch
        instances[drawn, 1] = role
        drawn += 1
    return DrawnPatches(low, high, farthest, drawn)


@kernel(forceinline=True)
def write_map(words: RoleMap, meshes: MeshBoxes, shape: int, view: TileView, frame: PieceFrame) -> None:
    """Write the map of a role, from the grid point in the middle of a piece."""
    x, y, z = along_row(view.x), along_row(view.y), along_row(view.z)
    step = meshes.grid[shape, 3]
    # From the tile coordinates of the mesh's middle to the middle of the piece, by Cramer's rule.
    origin = point_at(meshes.grid, shape)
    middle = Vec3(image(view.x, origin), image(view.y, origin), image(view.z, origin))
    volume = dot(x, cross(y, z))
    offset = Vec3(frame.left + 0.5 * frame.width - middle.x, frame.top + 0.5 * frame.height - middle.y, -middle.z)
    steps = plus(plus(times(offset.x, cross(y, z)), times(offset.y, cross(z, x))), times(offset.z, cross(x, y)))
    reference = Vec3(on_grid(steps.x / volume / step), on_grid(steps.y / volume / step), on_grid(steps.z / volume / step))
    words.reference[0], words.reference[1], words.reference[2] = int(reference.x), int(reference.y), int(reference.z)
    words.mirrored = 1 if volume < 0.0 else 0
    # The exact place of that grid point: rounding above costs precision only.
    away, scaled = times(step, reference), step * frame.scale
    write_row(words.x, x, step, middle.x + dot(x, away) - frame.left)
    write_row(words.y, y, step, middle.y + dot(y, away) - frame.top)
    write_row(words.z, z, scaled, (middle.z + dot(z, away) - frame.middle) * frame.scale + 0.5)


@kernel
def on_grid(steps: float) -> float:
    """Return the nearest whole number that a reference may have; 0 for NaN."""
    if not abs(steps) < FARTHEST_REFERENCE:
        return np.float64(0.0) if steps != steps else np.float64(np.copysign(FARTHEST_REFERENCE, steps))
    return np.float64(np.rint(steps))


@kernel(forceinline=True)
def write_row(row: Any, axis: Vec3, factor: float, offset: float) -> None:
    """Write four numbers of a map."""
    row[0], row[1], row[2] = np.float32(axis.x * factor), np.float32(axis.y * factor), np.float32(axis.z * factor)
    row[3] = np.float32(offset)
