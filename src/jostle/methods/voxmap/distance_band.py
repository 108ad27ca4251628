"""Signed distances to the faces at voxel centres near the surface, for depths.

Lock and Wills know only filled and empty. The band keeps, in blocks of 8 x 8 x 8 voxels, the distance of each centre to
the nearest face, exact but for rounding to 1/8192 of a voxel, up to `WIDTH` voxels on each side; larger distances are cut
off there. Its lattice is the map's grown by `MARGIN` voxels on all sides: a point in any filled voxel has eight centres
about it. A centre is inside (negative) where its winding number is not 0, as in `jostle.report.containment`; inverted
meshes and overlapping shells count. Faces inside the union of overlapping shells are faces too: depth is to the nearest
one, never more than the true depth. An open mesh has no inside.

Between centres it is interpolated (`distance_and_gradient`): off by at most √3/2 voxel where the nearest face changes
within the cell, by v²/8 · (κ₁ + κ₂) on a smooth surface of curvatures κ, and exact on flat ones. Its gradient points
outward.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from jostle._types import Floats, Longs
from jostle.geometry.point_triangle import TriangleFrame, in_frame
from jostle.geometry.triangle import Triangle, triangle_bounds, triangle_of_row
from jostle.geometry.vector import Vec2, Vec3, cross, dot, minus, negative
from jostle.kernels.arrays import read_only_view
from jostle.kernels.jit import kernel
from jostle.kernels.numbers import as_int64
from jostle.methods.voxmap.face_bins import Range, all_faces, bin_faces, reached_cells, reached_in_row, whole_frame
from jostle.methods.voxmap.map import GridSize, Lattice, Words, cell_number
from jostle.methods.voxmap.progress import Share
from jostle.shapes.mesh import Mesh

WIDTH = 4.0  # voxels; the centres about a point three voxels deep lie within it
MARGIN = 4  # voxels of the band's lattice beyond the map on each side
LARGEST = 32767  # the number that stands for WIDTH
UNITS = LARGEST / WIDTH  # units of band_values in a voxel
NEAR = 2.1  # voxels: √1.5 from a shell point to its foot at most, √0.75 from a point to the centre of its voxel
TRUSTED = 0.5  # shortest gradient that is used as a direction
ABSENT, DEEP = -1, -2  # entries of band_first for blocks beyond the band: outside, inside


CENTRES = 512  # of a block, x fastest
ROW, LAYER = 8, 64  # from one centre of a block to the next along y and along z
BLOCK_BITS = 9


class DistanceBand(NamedTuple):
    """The band of a shape: see `distance_band`."""

    first: Any  # an array, or one of a struct
    values: Any  # flat
    blocks: GridSize
    step: float


class GrowingBand(NamedTuple):
    """A band under construction: distances and crossings (m,CENTRES)."""

    first: NDArray[np.int32]
    blocks: GridSize
    values: NDArray[np.int16]
    crossings: NDArray[np.int16]


class FlatFace(NamedTuple):
    """A triangle (0,0), (base,0), (foot,height) in its plane.

    left and right are 1 / squared length of its other two sides, 0 without height.
    """

    base: float
    foot: float
    height: float
    left: float
    right: float


def band_blocks(cells: NDArray[np.integer[Any]]) -> GridSize:
    """Return the blocks of the band along x, y, z for a map of (3,) voxels."""
    return GridSize(*((np.asarray(cells, np.int64) + (2 * MARGIN + 7)) >> 3).tolist())


def distance_band(
    mesh: Mesh, lattice: Lattice, words: Words, progress: Share | None = None
) -> tuple[NDArray[np.int32], NDArray[np.int16]]:
    """Return `band_first` and `band_values` of a `VoxelShape`.

    Parameters
    ----------
    mesh : Mesh
    lattice : Lattice
        That of the map.
    words : (n,) uint64
        Bits of the map; they decide on which side blocks beyond the band are.
    progress : callable, optional
        Called with the share that is done.

    Returns
    -------
    band_first : (blocks,) int32
        Row of each block in `band_values`, x fastest, `band_blocks(cells)` of them; -1 outside and -2 inside beyond the band.
    band_values : (m, 512) int16
        Signed distances in 1 / `UNITS` of a voxel, x fastest within a block.
    """
    blocks = band_blocks(lattice.cells)
    corners = read_only_view((((mesh.vertices - lattice.origin) / lattice.voxel) + (MARGIN - 0.5))[mesh.faces].reshape(-1, 9))
    if corners.min() < 0.0 or (corners.reshape(-1, 3).max(axis=0) > 8 * np.array(blocks) - 2).any():
        raise ValueError(f"mesh {mesh.name!r} reaches {MARGIN - 1} voxels beyond its map; the map must hold it")
    first, rows = _blocks_near(corners, blocks)
    band = GrowingBand(first, blocks, np.full((rows, CENTRES), LARGEST, np.int16), np.zeros((rows, CENTRES), np.int16))
    all_faces(lambda begin, end: spread_faces(corners, begin, end, band), len(corners), progress)
    if mesh.is_closed:
        give_signs(band, read_only_view(words), GridSize(*lattice.cells.tolist()))
    return first, band.values


def _blocks_near(corners: Floats, blocks: GridSize) -> tuple[NDArray[np.int32], int]:
    """Return the row of each block, ABSENT beyond WIDTH of all faces; and the count."""
    count, none = np.zeros(math.prod(blocks), np.int64), np.empty(0, np.int32)
    # The middle of block k is at 8 k + 3.5, its centres up to 3.5 from that.
    bins = read_only_view((corners - 3.5) / 8.0)
    all_faces(lambda begin, end: bin_faces(bins, begin, end, 3.5 / 8.0, WIDTH / 8.0, blocks, False, count, none), len(corners))
    first = np.full(len(count), ABSENT, np.int32)
    near = np.flatnonzero(count)
    first[near] = np.arange(len(near), dtype=np.int32)
    return first, len(near)


def near_words(first: NDArray[np.int32], values: NDArray[np.int16], cells: NDArray[np.integer[Any]]) -> NDArray[np.uint64]:
    """Return a bit for each voxel of the band's lattice that is `NEAR` the inside.

    A shell point in any other voxel has its foot outside. Words are 4 x 4 x 4 voxels, 2 x 2 x 2 words to a block,
    `band_blocks(cells)` of them.
    """
    blocks = band_blocks(cells)
    words = np.zeros(8 * math.prod(blocks), np.uint64)
    mark_near(DistanceBand(first, read_only_view(values.reshape(-1)), blocks, 1.0), int(NEAR * UNITS), words)
    return words


# ---------------------------------------------------------------------- building


@kernel(forceinline=True)
def centre_in_block(x: int, y: int, z: int) -> int:
    """Return the index of a centre in its block."""
    return ((z & 7) << 6) | ((y & 7) << 3) | (x & 7)


@kernel(forceinline=True)
def block_of(blocks: GridSize, x: int, y: int, z: int) -> int:
    """Return the index of the block of a centre."""
    return cell_number(blocks, x >> 3, y >> 3, z >> 3)


@kernel(forceinline=True)
def flat_face(frame: TriangleFrame) -> FlatFace:
    """Return a face in the plane of its frame."""
    base, foot, height = frame.base, frame.foot, frame.height
    left = right = 0.0
    if height > 0.0:
        left = 1.0 / (foot * foot + height * height)
        right = 1.0 / ((base - foot) * (base - foot) + height * height)
    return FlatFace(base, foot, height, left, right)


@kernel(forceinline=True)
def beside_squared(face: FlatFace, at: Vec2) -> float:
    """Return the squared in-plane distance of a point to a face."""
    base, foot, height = face.base, face.foot, face.height
    x, y = at.x, at.y
    if height > 0.0 and y >= 0.0 and height * x >= foot * y and height * (base - x) >= (base - foot) * y:
        return 0.0
    dx = x - min(max(x, 0.0), base)
    least = dx * dx + y * y
    if height > 0.0:
        t = min(max((x * foot + y * height) * face.left, 0.0), 1.0)
        dx, dy = x - t * foot, y - t * height
        least = min(least, dx * dx + dy * dy)
        t = min(max(((x - base) * (foot - base) + y * height) * face.right, 0.0), 1.0)
        dx, dy = x - base - t * (foot - base), y - t * height
        least = min(least, dx * dx + dy * dy)
    return least


@kernel
def spread_distances(corners: Floats, face: int, band: GrowingBand) -> None:
    """Lower the values of all centres that are nearer to a face than to earlier ones."""
    frame = whole_frame(corners, face)
    flat = flat_face(frame)
    slopes = Vec3(frame.u.x, frame.v.x, cross(frame.u, frame.v).x)
    blocks, width = band.blocks, Vec3(WIDTH, WIDTH, WIDTH)
    cells = reached_cells(corners, face, WIDTH, GridSize(8 * blocks.x, 8 * blocks.y, 8 * blocks.z))
    for z in range(cells.z.low, cells.z.high + 1):
        for y in range(cells.y.low, cells.y.high + 1):
            at = in_frame(frame, Vec3(0.0, float(y), float(z)))
            row = reached_in_row(cells.x, at, slopes, frame, width)
            lower_row(band, row, y, z, flat, at, slopes)


@kernel(forceinline=True)
def lower_row(band: GrowingBand, row: Range, y: int, z: int, face: FlatFace, at: Vec3, slopes: Vec3) -> None:
    """Lower the values of a row of centres.

    In the face's frame the row starts at `at` and advances by `slopes`.
    """
    first_block, first_centre = block_of(band.blocks, 0, y, z), centre_in_block(0, y, z)
    for x in range(row.low, row.high + 1):
        block = band.first[first_block + (x >> 3)]
        if block < 0:  # within the band by rounding only
            continue
        place = first_centre | (x & 7)
        best = band.values[block, place] * (1.0 / UNITS)
        off = at.z + slopes.z * x
        if off * off >= best * best:
            continue
        squared = off * off + beside_squared(face, Vec2(at.x + slopes.x * x, at.y + slopes.y * x))
        if squared < best * best:
            band.values[block, place] = int(math.sqrt(squared) * UNITS + 0.5)


@kernel(forceinline=True)
def passes_right(at: Vec2, a: Vec2, b: Vec2) -> int:
    """Return how an edge passes a ray on its right: 1 upwards, -1 downwards, 0 not.

    Both faces of an edge get the same answer.
    """
    if (a.y > at.y) == (b.y > at.y):
        return 0
    if a.y > b.y:
        return -1 if (a.x - b.x) * (at.y - b.y) > (at.x - b.x) * (a.y - b.y) else 0
    return 1 if (b.x - a.x) * (at.y - a.y) > (at.x - a.x) * (b.y - a.y) else 0


@kernel(forceinline=True)
def winding_of_shadow(at: Vec2, t: Triangle) -> int:
    """Return how a face, projected along x, winds around a point."""
    p, q, r = Vec2(t.p.y, t.p.z), Vec2(t.q.y, t.q.z), Vec2(t.r.y, t.r.z)
    return passes_right(at, p, q) + passes_right(at, q, r) + passes_right(at, r, p)


@kernel
def spread_crossings(corners: Floats, face: int, band: GrowingBand) -> None:
    """Count each crossing of a face with a ray along x at the next centre."""
    t = triangle_of_row(corners, face)
    n = cross(minus(t.q, t.p), minus(t.r, t.p))
    lower, upper = triangle_bounds(t)
    for z in range(math.ceil(lower.z), math.floor(upper.z) + 1):
        for y in range(math.ceil(lower.y), math.floor(upper.y) + 1):
            around = winding_of_shadow(Vec2(float(y), float(z)), t)
            if around == 0:
                continue
            x = lower.x
            if n.x != 0.0:  # clamped: a face nearly along the ray has an ill-conditioned height
                x = min(max(t.p.x - (n.y * (y - t.p.y) + n.z * (z - t.p.z)) / n.x, lower.x), upper.x)
            after = math.floor(x) + 1
            block = band.first[block_of(band.blocks, after, y, z)]
            band.crossings[block, centre_in_block(after, y, z)] += around


@kernel
def spread_faces(corners: Floats, begin: int, end: int, band: GrowingBand) -> None:
    """Enter distances and crossings of the faces begin … end - 1 of corners (k,9)."""
    for face in range(begin, end):
        spread_distances(corners, face, band)
        spread_crossings(corners, face, band)


@kernel(forceinline=True)
def is_deep(words: Words, cells: GridSize, x: int, y: int, z: int) -> bool:
    """Return whether a block beyond the band is inside.

    All of its centres are on one side; its first voxel in the map decides.
    """
    x, y, z = 8 * x - MARGIN, 8 * y - MARGIN, 8 * z - MARGIN
    if not (0 <= x < cells.x and 0 <= y < cells.y and 0 <= z < cells.z):
        return False
    size = GridSize((cells.x + 3) >> 2, (cells.y + 3) >> 2, (cells.z + 3) >> 2)
    return words[cell_number(size, x >> 2, y >> 2, z >> 2)] & np.uint64(1) != 0


@kernel(forceinline=True)
def give_signs_in_block(band: GrowingBand, block: int, winding: Longs) -> None:
    """Negate the values inside in a block; winding (64,) carries over its rows."""
    for row in range(LAYER):
        sum_along = winding[row]
        for k in range(ROW * row, ROW * (row + 1)):
            sum_along += band.crossings[block, k]
            if sum_along != 0:
                band.values[block, k] = -band.values[block, k]
        winding[row] = sum_along


@kernel
def give_signs(band: GrowingBand, words: Words, cells: GridSize) -> None:
    """Negate the values of centres inside, by the sums of crossings along x.

    Blocks beyond the band inside the map become DEEP.
    """
    winding = np.zeros(LAYER, np.int64)
    blocks = band.blocks
    for z in range(blocks.z):
        for y in range(blocks.y):
            for k in range(LAYER):
                winding[k] = 0
            for x in range(blocks.x):
                number = cell_number(blocks, x, y, z)
                block = as_int64(band.first[number])
                if block >= 0:
                    give_signs_in_block(band, block, winding)
                elif is_deep(words, cells, x, y, z):
                    band.first[number] = DEEP


@kernel(forceinline=True)
def near_in_word(band: DistanceBand, block: int, part: GridSize, limit: int) -> np.uint64:
    """Return the bits of 4 x 4 x 4 centres of a block with values at most the limit."""
    word = np.uint64(0)
    for bit in range(LAYER):
        centre = centre_in_block(4 * part.x + (bit & 3), 4 * part.y + ((bit >> 2) & 3), 4 * part.z + (bit >> 4))
        if block == DEEP or band.values[(block << BLOCK_BITS) | centre] <= limit:
            word |= np.uint64(1) << np.uint64(bit)
    return word


@kernel
def mark_near(band: DistanceBand, limit: int, words: Words) -> None:
    """Set the bits of words (8*bz*by*bx,) where values are at most the limit."""
    blocks = band.blocks
    size = GridSize(2 * blocks.x, 2 * blocks.y, 2 * blocks.z)
    for z in range(size.z):
        for y in range(size.y):
            for x in range(size.x):
                block = as_int64(band.first[cell_number(blocks, x >> 1, y >> 1, z >> 1)])
                if block != ABSENT:
                    words[cell_number(size, x, y, z)] = near_in_word(band, block, GridSize(x & 1, y & 1, z & 1), limit)


# ---------------------------------------------------------------------- queries


class Corners(NamedTuple):
    """Values at the eight corners of a cell; the digits are x, y, z."""

    v000: float
    v100: float
    v010: float
    v110: float
    v001: float
    v101: float
    v011: float
    v111: float


@kernel(forceinline=True)
def value_at(band: DistanceBand, number: int, centre: int) -> float:
    """Return the value at a centre, clamped beyond the band."""
    block = as_int64(band.first[number])
    if block < 0:
        return float(LARGEST) if block == ABSENT else -float(LARGEST)
    return float(band.values[(block << BLOCK_BITS) | centre])


@kernel(forceinline=True)
def corners_in_block(values: NDArray[np.int16], k: int) -> Corners:
    """Return the values at the corners of a cell within one block."""
    above = k + LAYER
    return Corners(
        float(values[k]), float(values[k + 1]), float(values[k + ROW]), float(values[k + ROW + 1]),
        float(values[above]), float(values[above + 1]), float(values[above + ROW]), float(values[above + ROW + 1]),
    )  # fmt: skip


@kernel(forceinline=True)
def corners_of_blocks(band: DistanceBand, x: int, y: int, z: int) -> Corners:
    """Return the values at the corners of a cell across several blocks."""
    blocks = band.blocks
    number, centre = block_of(blocks, x, y, z), centre_in_block(x, y, z)
    # To the next centre along each axis: in this block, or back by seven in the next one.
    nx, ax = (1, -7) if (x & 7) == 7 else (0, 1)
    ny, ay = (blocks.x, -7 * ROW) if (y & 7) == 7 else (0, ROW)
    nz, az = (blocks.x * blocks.y, -7 * LAYER) if (z & 7) == 7 else (0, LAYER)
    above, centre_above = number + nz, centre + az
    return Corners(
        value_at(band, number, centre),
        value_at(band, number + nx, centre + ax),
        value_at(band, number + ny, centre + ay),
        value_at(band, number + nx + ny, centre + ax + ay),
        value_at(band, above, centre_above),
        value_at(band, above + nx, centre_above + ax),
        value_at(band, above + ny, centre_above + ay),
        value_at(band, above + nx + ny, centre_above + ax + ay),
    )


@kernel(forceinline=True)
def interpolated(v: Corners, t: Vec3, step: float) -> tuple[float, Vec3]:
    """Return the distance and its gradient at a place t of a cell."""
    x00, x10, x01, x11 = v.v100 - v.v000, v.v110 - v.v010, v.v101 - v.v001, v.v111 - v.v011
    v00, v10, v01, v11 = v.v000 + t.x * x00, v.v010 + t.x * x10, v.v001 + t.x * x01, v.v011 + t.x * x11
    y0, y1 = v10 - v00, v11 - v01
    v0, v1 = v00 + t.y * y0, v01 + t.y * y1
    gx0, gx1 = x00 + t.y * (x10 - x00), x01 + t.y * (x11 - x01)
    gradient = Vec3((gx0 + t.z * (gx1 - gx0)) * (1.0 / UNITS), (y0 + t.z * (y1 - y0)) * (1.0 / UNITS), (v1 - v0) * (1.0 / UNITS))
    return (v0 + t.z * (v1 - v0)) * step, gradient


@kernel
def distance_and_gradient(at: Vec3, band: DistanceBand) -> tuple[float, Vec3]:
    """Return the interpolated signed distance at a point and its gradient.

    The point is in voxels from the map's origin. The distance is in the mesh's units, ± WIDTH voxels beyond the band, where the
    gradient is 0; within the band the gradient has a length of about 1.
    """
    blocks = band.blocks
    px, py, pz = at.x + (MARGIN - 0.5), at.y + (MARGIN - 0.5), at.z + (MARGIN - 0.5)
    end_x, end_y, end_z = 8 * blocks.x - 1, 8 * blocks.y - 1, 8 * blocks.z - 1
    if not (0.0 <= px < end_x and 0.0 <= py < end_y and 0.0 <= pz < end_z):
        return LARGEST * band.step, Vec3(0.0, 0.0, 0.0)
    x, y, z = int(px), int(py), int(pz)
    t = Vec3(px - x, py - y, pz - z)
    if (x & 7) == 7 or (y & 7) == 7 or (z & 7) == 7:
        return interpolated(corners_of_blocks(band, x, y, z), t, band.step)
    # All eight in one block: two thirds of the points.
    block = as_int64(band.first[block_of(blocks, x, y, z)])
    if block < 0:
        return (1.0 if block == ABSENT else -1.0) * LARGEST * band.step, Vec3(0.0, 0.0, 0.0)
    return interpolated(corners_in_block(band.values, (block << BLOCK_BITS) | centre_in_block(x, y, z)), t, band.step)


@kernel(forceinline=True)
def way_out(gradient: Vec3, normal: Vec3, from_middle: Vec3) -> Vec3:
    """Return the direction out of the map's body at a foot, of any length.

    Along the band's gradient, where it can be trusted: forces along it come from a potential, so a closed path gains no
    energy. It is short where the nearest face changes (the middle of a thin part) and 0 beyond the band: there the direction
    is into the shell's body, against its normal, or without a normal away from the middle of the map's body. Not normalised:
    square roots dominate the time.
    """
    if dot(gradient, gradient) >= TRUSTED * TRUSTED:
        return gradient
    if dot(normal, normal) >= 0.25:
        return negative(normal)
    if dot(from_middle, from_middle) >= 1e-12:
        return from_middle
    return Vec3(1.0, 0.0, 0.0)
