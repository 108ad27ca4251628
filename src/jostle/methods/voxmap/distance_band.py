"""The distance band: signed distances to the faces at the centres of the voxels near the surface, so that contacts have a depth.

Lock and Wills know only filled and empty. The band keeps, in blocks of 8 x 8 x 8 voxels, the distance of each centre to the nearest
face, exact but for rounding to 1/8192 of a voxel, up to `WIDTH` voxels on each side; farther ones are cut off there. Its lattice
is the map's grown by `MARGIN` voxels on all sides: a point in any filled voxel has eight centres about it. A centre is inside
(negative) where its winding number is not 0, as in `jostle.containment`; inverted meshes and overlapping shells count. Faces
inside the union of overlapping shells are faces too: depth is to the nearest one, never more than the true one. An open mesh has no
inside.

Between centres it is interpolated (`distance_and_gradient`): off by at most √3/2 voxel, where the nearest face changes within
the cell, and by v²/8 · (κ₁ + κ₂) on a smooth surface of curvatures κ; nothing on flat ones. Its gradient says where out is.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jostle.frame import Floats
from jostle.geometry.point_triangle import in_frame
from jostle.geometry.vector import Vec3
from jostle.kernels.arrays import read_only_view
from jostle.kernels.jit import kernel
from jostle.methods.voxmap.face_bins import all_faces, bin_faces, face_reach, narrow, whole_frame
from jostle.protocol import Progress
from jostle.shapes.mesh import Mesh

WIDTH = 4.0  # voxels; at three voxels deep the centres about a point lie within it along the way out
MARGIN = 4  # voxels of the band's lattice beyond the map on each side
LARGEST = 32767  # the number that stands for WIDTH
UNITS = LARGEST / WIDTH  # units of band_values in a voxel
NEAR = 2.1  # voxels: √1.5 from a shell point to its foot at most, √0.75 from a point to the centre of its voxel
TRUSTED = 0.5  # least length of a gradient that is taken for a direction
ABSENT, DEEP = -1, -2  # entries of band_first for blocks beyond the band: outside, inside

Numbers = NDArray[np.int64]


def band_blocks(cells: NDArray[np.integer[Any]]) -> Numbers:
    """(3,) blocks of the band along x, y, z for a map of so many voxels."""
    blocks: Numbers = (np.asarray(cells, np.int64) + (2 * MARGIN + 7)) >> 3
    return blocks


def distance_band(
    mesh: Mesh,
    voxel: float,
    origin: Floats,
    cells: NDArray[np.integer[Any]],
    words: NDArray[np.uint64],
    progress: Progress | None = None,
) -> tuple[NDArray[np.int32], NDArray[np.int16], float]:
    """Return the band of a mesh: `band_first`, `band_values` and `band_step` of a `VoxelShape`.

    Parameters
    ----------
    mesh : Mesh
    voxel : float
        Edge of a map voxel.
    origin : (3,) float64
        Lower corner of the map.
    cells : (3,) int
        Voxels of the map along x, y, z.
    words : (n,) uint64
        Bits of the map; they tell on which side blocks beyond the band are.
    progress : callable, optional
        Called with the share that is done.

    Returns
    -------
    band_first : (blocks,) int32
        Row of each block in `band_values`, x fastest, `band_blocks(cells)` of them; -1 outside and -2 inside beyond the band.
    band_values : (m, 512) int16
        Signed distances in units of `band_step`, x fastest within a block.
    band_step : float
    """
    blocks = band_blocks(cells)
    corners = read_only_view((((mesh.vertices - origin) / voxel) + (MARGIN - 0.5))[mesh.faces].reshape(-1, 9))
    if corners.min() < 0.0 or (corners.reshape(-1, 3).max(axis=0) > 8 * blocks - 2).any():
        raise ValueError(f"mesh {mesh.name!r} reaches {MARGIN - 1} voxels beyond its map; the map must hold it")
    first, rows = _blocks_near(corners, blocks)
    values = np.full((rows, 512), LARGEST, np.int16)
    crossings = np.zeros((rows, 512), np.int16)
    all_faces(
        lambda begin, end: spread_faces(corners, begin, end, first, blocks[0], blocks[1], blocks[2], values, crossings),
        len(corners),
        progress,
        f"distances to {mesh.name}",
    )
    if mesh.is_closed:
        give_signs(read_only_view(words), cells[0], cells[1], cells[2], first, blocks[0], blocks[1], blocks[2], values, crossings)
    return first, values, voxel / UNITS


def _blocks_near(corners: Floats, blocks: Numbers) -> tuple[NDArray[np.int32], int]:
    """(blocks,) the rows of blocks that may hold a centre within WIDTH of a face, ABSENT for others; and how many there are."""
    count, none = np.zeros(int(blocks.prod()), np.int64), np.empty(0, np.int32)
    # The middle of block k is at 8 k + 3.5, its centres up to 3.5 from that.
    bins = read_only_view((corners - 3.5) / 8.0)
    all_faces(
        lambda begin, end: bin_faces(bins, begin, end, 3.5 / 8.0, WIDTH / 8.0, blocks[0], blocks[1], blocks[2], False, count, none),
        len(corners),
    )
    first = np.full(len(count), ABSENT, np.int32)
    near = np.flatnonzero(count)
    first[near] = np.arange(len(near), dtype=np.int32)
    return first, len(near)


def near_words(first: NDArray[np.int32], values: NDArray[np.int16], cells: NDArray[np.integer[Any]]) -> NDArray[np.uint64]:
    """Return a bit for each voxel of the band's lattice, as words of 4 x 4 x 4: those with a point that is `NEAR` to the inside.

    A shell point in any other voxel has its foot outside. There are 2 x 2 x 2 words to a block, `band_blocks(cells)` of them.
    """
    blocks = band_blocks(cells)
    words = np.zeros(8 * int(blocks.prod()), np.uint64)
    mark_near(first, read_only_view(values.reshape(-1)), blocks[0], blocks[1], blocks[2], int(NEAR * UNITS), words)
    return words


# ---------------------------------------------------------------------- building


@kernel(forceinline=True)
def beside_squared(x, y, base, foot, height, left, right):  # type: ignore[no-untyped-def]
    """Squared distance in the plane of (x, y) to the triangle (0,0), (base,0), (foot,height); left, right: 1 / squared sides."""
    if height > 0.0 and y >= 0.0 and height * x >= foot * y and height * (base - x) >= (base - foot) * y:
        return 0.0
    dx = x - min(max(x, 0.0), base)
    least = dx * dx + y * y
    if height > 0.0:
        t = min(max((x * foot + y * height) * left, 0.0), 1.0)
        dx, dy = x - t * foot, y - t * height
        least = min(least, dx * dx + dy * dy)
        t = min(max(((x - base) * (foot - base) + y * height) * right, 0.0), 1.0)
        dx, dy = x - base - t * (foot - base), y - t * height
        least = min(least, dx * dx + dy * dy)
    return least


@kernel
def spread_distances(corners, face, first, bx, by, bz, values):  # type: ignore[no-untyped-def]
    """Lower the values of all centres to which a face is nearer than what is there."""
    frame = whole_frame(corners, face)
    _, (ux, uy, uz), (vx, vy, vz), base, foot, height = frame
    nx = uy * vz - uz * vy
    left = right = 0.0
    if height > 0.0:
        left = 1.0 / (foot * foot + height * height)
        right = 1.0 / ((base - foot) * (base - foot) + height * height)
    x_low, x_high = face_reach(corners, face, 0, WIDTH, 8 * bx)
    y_low, y_high = face_reach(corners, face, 1, WIDTH, 8 * by)
    z_low, z_high = face_reach(corners, face, 2, WIDTH, 8 * bz)
    for z in range(z_low, z_high + 1):
        for y in range(y_low, y_high + 1):
            u, v, n = in_frame(frame, Vec3(0.0, float(y), float(z)))
            low, high = narrow(x_low, x_high, n, nx, -WIDTH, WIDTH)
            low, high = narrow(low, high, v, vx, -WIDTH, height + WIDTH)
            low, high = narrow(low, high, u, ux, -WIDTH, base + WIDTH)
            row = ((z >> 3) * by + (y >> 3)) * bx
            inner = ((z & 7) << 6) | ((y & 7) << 3)
            for x in range(low, high + 1):
                block = first[row + (x >> 3)]
                if block < 0:  # beyond the band in truth, within it by rounding
                    continue
                place = inner | (x & 7)
                best = values[block, place] * (1.0 / UNITS)
                off = n + nx * x
                if off * off >= best * best:
                    continue
                squared = off * off + beside_squared(u + ux * x, v + vx * x, base, foot, height, left, right)
                if squared < best * best:
                    values[block, place] = int(math.sqrt(squared) * UNITS + 0.5)


@kernel(forceinline=True)
def passes_right(py, pz, ay, az, by, bz):  # type: ignore[no-untyped-def]
    """How an edge passes a ray on its right: 1 upwards, -1 downwards, 0 not; both faces of an edge get the same answer."""
    if (az > pz) == (bz > pz):
        return 0
    if az > bz:
        return -1 if (ay - by) * (pz - bz) > (py - by) * (az - bz) else 0
    return 1 if (by - ay) * (pz - az) > (py - ay) * (bz - az) else 0


@kernel
def spread_crossings(corners, face, first, bx, by, crossings):  # type: ignore[no-untyped-def]
    """Count at the first centre beyond it each crossing of a face with the rays along x through the centres."""
    ax, ay, az = corners[face, 0], corners[face, 1], corners[face, 2]
    cx, cy, cz = corners[face, 3], corners[face, 4], corners[face, 5]
    ex, ey, ez = corners[face, 6], corners[face, 7], corners[face, 8]
    nx = (cy - ay) * (ez - az) - (cz - az) * (ey - ay)
    ny = (cz - az) * (ex - ax) - (cx - ax) * (ez - az)
    nz = (cx - ax) * (ey - ay) - (cy - ay) * (ex - ax)
    x_least, x_most = min(ax, cx, ex), max(ax, cx, ex)
    for z in range(math.ceil(min(az, cz, ez)), math.floor(max(az, cz, ez)) + 1):
        for y in range(math.ceil(min(ay, cy, ey)), math.floor(max(ay, cy, ey)) + 1):
            around = passes_right(y, z, ay, az, cy, cz) + passes_right(y, z, cy, cz, ey, ez) + passes_right(y, z, ey, ez, ay, az)
            if around == 0:
                continue
            x = x_least
            if nx != 0.0:  # clamped: a face nearly along the ray has no good height of its own
                x = min(max(ax - (ny * (y - ay) + nz * (z - az)) / nx, x_least), x_most)
            after = math.floor(x) + 1
            block = first[((z >> 3) * by + (y >> 3)) * bx + (after >> 3)]
            crossings[block, ((z & 7) << 6) | ((y & 7) << 3) | (after & 7)] += around


@kernel
def spread_faces(corners, begin, end, first, bx, by, bz, values, crossings):  # type: ignore[no-untyped-def]
    """Enter distances (m,512) and crossings (m,512) of the faces begin … end - 1 of corners (k,9)."""
    for face in range(begin, end):
        spread_distances(corners, face, first, bx, by, bz, values)
        spread_crossings(corners, face, first, bx, by, crossings)


@kernel
def give_signs(words, cells_x, cells_y, cells_z, first, bx, by, bz, values, crossings):  # type: ignore[no-untyped-def]
    """Negate the values of centres inside, by the sums of crossings along x; blocks beyond the band in the map become DEEP."""
    winding = np.zeros(64, np.int64)
    wx, wy = (cells_x + 3) >> 2, (cells_y + 3) >> 2
    for z in range(bz):
        for y in range(by):
            for k in range(64):
                winding[k] = 0
            for x in range(bx):
                block = first[(z * by + y) * bx + x]
                if block < 0:
                    # All of its centres are on one side; that of its first voxel in the map decides.
                    mx, my, mz = 8 * x - MARGIN, 8 * y - MARGIN, 8 * z - MARGIN
                    if 0 <= mx < cells_x and 0 <= my < cells_y and 0 <= mz < cells_z:
                        word = words[((mz >> 2) * wy + (my >> 2)) * wx + (mx >> 2)]
                        if word & np.uint64(1):
                            first[(z * by + y) * bx + x] = DEEP
                    continue
                for row in range(64):
                    sum_along = winding[row]
                    for k in range(8 * row, 8 * row + 8):
                        sum_along += crossings[block, k]
                        if sum_along != 0:
                            values[block, k] = -values[block, k]
                    winding[row] = sum_along


@kernel
def mark_near(first, values, bx, by, bz, limit, words):  # type: ignore[no-untyped-def]
    """Set the bits of words (8*bz*by*bx,) where values (m*512,) are at most the limit."""
    for z in range(bz):
        for y in range(by):
            for x in range(bx):
                block = first[(z * by + y) * bx + x]
                if block == ABSENT:
                    continue
                for part in range(8):
                    i, j, k = part & 1, (part >> 1) & 1, part >> 2
                    word = np.uint64(0)
                    for bit in range(64):
                        place = ((4 * k + (bit >> 4)) << 6) | ((4 * j + ((bit >> 2) & 3)) << 3) | (4 * i + (bit & 3))
                        if block == DEEP or values[(block << 9) | place] <= limit:
                            word |= np.uint64(1) << np.uint64(bit)
                    words[((2 * z + k) * (2 * by) + (2 * y + j)) * (2 * bx) + (2 * x + i)] = word


# ---------------------------------------------------------------------- asking
# Here `values` is the array in one dimension, which is what a table of addresses gives.


@kernel(forceinline=True)
def value_at(first, values, block_number, place):  # type: ignore[no-untyped-def]
    """The value at a centre, by its block and its place there; beyond the band that of its nearer end."""
    block = first[block_number]
    if block < 0:
        return float(LARGEST) if block == ABSENT else -float(LARGEST)
    return float(values[(block << 9) | place])


@kernel
def distance_and_gradient(px, py, pz, first, values, bx, by, bz, step):  # type: ignore[no-untyped-def]
    """The interpolated signed distance at a point and its gradient (d, gx, gy, gz), which is about 1 long within the band.

    The point is in voxels from the map's origin; first (bz*by*bx,), values (m*512,), (bx, by, bz) as of `band_blocks`. d is in the
    mesh's units, ± WIDTH voxels beyond the band, where the gradient is 0.
    """
    px, py, pz = px + (MARGIN - 0.5), py + (MARGIN - 0.5), pz + (MARGIN - 0.5)
    if not (px >= 0.0 and py >= 0.0 and pz >= 0.0 and px < 8 * bx - 1 and py < 8 * by - 1 and pz < 8 * bz - 1):
        return LARGEST * step, 0.0, 0.0, 0.0
    x, y, z = int(px), int(py), int(pz)
    tx, ty, tz = px - x, py - y, pz - z
    number = ((z >> 3) * by + (y >> 3)) * bx + (x >> 3)
    place = ((z & 7) << 6) | ((y & 7) << 3) | (x & 7)
    if (x & 7) != 7 and (y & 7) != 7 and (z & 7) != 7:  # all eight in one block: two of three points
        block = first[number]
        if block < 0:
            return (1.0 if block == ABSENT else -1.0) * LARGEST * step, 0.0, 0.0, 0.0
        k = (block << 9) | place
        v000, v100, v010, v110 = float(values[k]), float(values[k + 1]), float(values[k + 8]), float(values[k + 9])
        v001, v101, v011, v111 = float(values[k + 64]), float(values[k + 65]), float(values[k + 72]), float(values[k + 73])
    else:
        # To the next centre along each axis: in the block as it goes, or back by seven in the next one.
        nx, ax = (1, -7) if (x & 7) == 7 else (0, 1)
        ny, ay = (bx, -56) if (y & 7) == 7 else (0, 8)
        nz, az = (bx * by, -448) if (z & 7) == 7 else (0, 64)
        v000, v100 = value_at(first, values, number, place), value_at(first, values, number + nx, place + ax)
        v010, v110 = value_at(first, values, number + ny, place + ay), value_at(first, values, number + nx + ny, place + ax + ay)
        number, place = number + nz, place + az
        v001, v101 = value_at(first, values, number, place), value_at(first, values, number + nx, place + ax)
        v011, v111 = value_at(first, values, number + ny, place + ay), value_at(first, values, number + nx + ny, place + ax + ay)
    x00, x10, x01, x11 = v100 - v000, v110 - v010, v101 - v001, v111 - v011
    v00, v10, v01, v11 = v000 + tx * x00, v010 + tx * x10, v001 + tx * x01, v011 + tx * x11
    y0, y1 = v10 - v00, v11 - v01
    v0, v1 = v00 + ty * y0, v01 + ty * y1
    gx0, gx1 = x00 + ty * (x10 - x00), x01 + ty * (x11 - x01)
    return (
        (v0 + tz * (v1 - v0)) * step,
        (gx0 + tz * (gx1 - gx0)) * (1.0 / UNITS),
        (y0 + tz * (y1 - y0)) * (1.0 / UNITS),
        (v1 - v0) * (1.0 / UNITS),
    )


@kernel(forceinline=True)
def way_out(gx, gy, gz, nx, ny, nz, ox, oy, oz):  # type: ignore[no-untyped-def]
    """The direction out of the map's body at a foot, of any length: along the band's gradient g, where it can be trusted.

    Forces along the gradient come from a potential, so that going round in a circle gains nothing. It is short where the nearest
    face changes (the middle of a thin part) and 0 beyond the band: there it is the way into the shell's body, against its normal n,
    or where there is none away from the middle of the map's body (o). Not made a unit: roots are what takes the time.
    """
    if gx * gx + gy * gy + gz * gz >= TRUSTED * TRUSTED:
        return gx, gy, gz
    if nx * nx + ny * ny + nz * nz >= 0.25:
        return -nx, -ny, -nz
    if ox * ox + oy * oy + oz * oz >= 1e-12:
        return ox, oy, oz
    return 1.0, 0.0, 0.0
