"""Ray casting (§5 "The Voxmap"): sorted crossings of rays, and the voxels between.

Rays run along one axis through the centres of the pixels. A face is projected along that axis and rasterised. The paper instead
drops rays that pass through edges and vertices, which leaves odd counts. Here the row of pixels at which an edge begins is a
function of its end alone, and the pixel at which it passes a row is computed from its lower end: faces that share an edge
compute the same pixel, whatever the rounding, so the signed crossings of a closed mesh sum to 0 along every ray, needles and
steep faces included.

Positions along the ray are interpolated along the row between two edges and clamped to them, never extrapolated. Voxels are
filled from the one where the winding number leaves 0 to the one where it returns, both included.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from jostle._types import Floats, Ints
from jostle.geometry.vector import Vec2, Vec3
from jostle.kernels.arrays import read_only_view
from jostle.kernels.jit import kernel
from jostle.kernels.numbers import Whole
from jostle.kernels.sort import sort_with_values
from jostle.kernels.structs import borrowed
from jostle.methods.voxmap.map import Lattice, Words
from jostle.methods.voxmap.progress import Share, part_of, run_to_end

ALL_BITS = np.uint64(0xFFFFFFFFFFFFFFFF)
FIRST_SLICE = 1 << 20  # operations: 10 ms of small faces; later slices are sized by the clock


class Crossings(NamedTuple):
    """Where rays meet a surface: ray r has the entries starts[r] … starts[r + 1].

    The last entry of starts is not used.
    """

    starts: NDArray[np.int64]  # (rays + 2,)
    positions: Floats  # (k,) along the ray, in voxels from the origin
    signs: NDArray[np.int8]  # (k,) +1 or -1: what the winding number changes by


class Screen(NamedTuple):
    """The axes of the screen, that of the rays, and the words of the map along u."""

    u: int
    v: int
    w: int
    blocks_u: int


class ColumnLayout(NamedTuple):
    """Columns of words along the rays: number along u, strides of words and bits."""

    blocks_u: int
    stride_u: int
    stride_v: int
    stride_w: int
    bit_u: int
    bit_v: int
    bit_w: int


class ScreenEdge(NamedTuple):
    """An edge from its lower to its upper end along v; x, y, z are u, v, w.

    Slopes are those of u and w along v.
    """

    low: Vec3
    high: Vec3
    slope_u: float
    slope_w: float


class ScreenFace(NamedTuple):
    """The corners of a face in the order of v; the sign is -1 where that reversed it."""

    low: Vec3
    middle: Vec3
    high: Vec3
    sign: int


@kernel(forceinline=True)
def screen_point(points: Floats, i: Whole, screen: Screen) -> Vec3:
    """Return a point as (u, v, w)."""
    return Vec3(points[i, screen.u], points[i, screen.v], points[i, screen.w])


@kernel(forceinline=True)
def screen_face(points: Floats, faces: Ints, face: int, screen: Screen) -> ScreenFace:
    """Return a face projected along the rays. Each swap of two corners reverses it."""
    a, b, c = (
        screen_point(points, faces[face, 0], screen),
        screen_point(points, faces[face, 1], screen),
        screen_point(points, faces[face, 2], screen),
    )
    sign = 1
    if a.y > b.y:
        a, b, sign = b, a, -sign
    if b.y > c.y:
        b, c, sign = c, b, -sign
    if a.y > b.y:
        a, b, sign = b, a, -sign
    return ScreenFace(a, b, c, sign)


@kernel(forceinline=True)
def screen_edge(low: Vec3, high: Vec3) -> ScreenEdge:
    """Return the edge between two corners that differ in v."""
    return ScreenEdge(low, high, (high.x - low.x) / (high.y - low.y), (high.z - low.z) / (high.y - low.y))


@kernel(forceinline=True)
def edge_at(edge: ScreenEdge, q: float) -> Vec2:
    """Return (u, w) where an edge passes the row at q, within the edge's extent."""
    low, high = edge.low, edge.high
    t = q - low.y
    return Vec2(
        min(max(low.x + t * edge.slope_u, min(low.x, high.x)), max(low.x, high.x)),
        min(max(low.z + t * edge.slope_w, min(low.z, high.z)), max(low.z, high.z)),
    )


@kernel(forceinline=True)
def ray_number(i: int, j: int, blocks_u: int) -> int:
    """Return the index of a ray, by tiles of 4 x 4."""
    return ((((j >> 2) * blocks_u) + (i >> 2)) << 4) | ((j & 3) << 2) | (i & 3)


@kernel(forceinline=True)
def cast_row(j: int, sign: int, one: Vec2, other: Vec2, blocks_u: int, counting: bool, out: Crossings) -> int:
    """Cross the rays of a row between two edges (u, w); return their number.

    Counts them in starts[ray + 2], or writes them at starts[ray + 1].
    """
    first, last = math.ceil(one.x - 0.5), math.ceil(other.x - 0.5)
    if first > last:
        first, last = last, first
    else:
        sign = -sign
    if first == last:
        return 0
    slope = (other.y - one.y) / (other.x - one.x)
    low_w, high_w = min(one.y, other.y), max(one.y, other.y)
    for i in range(int(first), int(last)):
        ray = ray_number(i, j, blocks_u)
        if counting:
            out.starts[ray + 2] += 1
        else:
            k = out.starts[ray + 1]
            out.starts[ray + 1] = k + 1
            out.positions[k] = min(max(one.y + (i + 0.5 - one.x) * slope, low_w), high_w)
            out.signs[k] = sign
    return int(last - first)


@kernel(forceinline=True)
def cast_between(
    begin: int, end: int, sign: int, edges: tuple[ScreenEdge, ScreenEdge], blocks_u: int, counting: bool, out: Crossings
) -> int:
    """Cross the rays of rows begin … end - 1; return the operations used."""
    used = 0
    for j in range(begin, end):
        one, other = edge_at(edges[0], j + 0.5), edge_at(edges[1], j + 0.5)
        used += 1 + cast_row(j, sign, one, other, blocks_u, counting, out)
    return used


@kernel
def cast_faces(
    points: Floats, faces: Ints, screen: Screen, first: int, budget: int, counting: bool, crossings: Crossings
) -> tuple[int, int]:
    """Cross rays with faces from `first`; return the next face and operations used.

    points (n, 3) in voxels, faces (m, 3). An operation is a face, a row of one, or a crossing.
    """
    out = Crossings(borrowed(crossings.starts), borrowed(crossings.positions), borrowed(crossings.signs))
    used = 0
    number = first
    while number < faces.shape[0] and used < budget:
        face = screen_face(points, faces, number, screen)
        number += 1
        used += 1
        low, middle, high = math.ceil(face.low.y - 0.5), math.ceil(face.middle.y - 0.5), math.ceil(face.high.y - 0.5)
        if low == high:
            continue
        long_edge = screen_edge(face.low, face.high)
        for part in range(2):
            begin, end = (low, middle) if part == 0 else (middle, high)
            if begin == end:
                continue
            short_edge = screen_edge(face.low, face.middle) if part == 0 else screen_edge(face.middle, face.high)
            used += cast_between(begin, end, face.sign, (long_edge, short_edge), screen.blocks_u, counting, out)
    return number, used


@kernel(forceinline=True)
def fill_run(column: Words, low: int, high: int, along: int, offset: int) -> None:
    """Fill voxels low … high of a ray in a column of words.

    Its bits are `along` apart and start at `offset`.
    """
    one = np.uint64(1)
    step = np.uint64(along)
    ray = (one | (one << step) | (one << (step + step)) | (one << (step + step + step))) << np.uint64(offset)
    first, last = low >> 2, high >> 2
    from_low = ALL_BITS << np.uint64(along * (low & 3) + offset)
    to_high = ALL_BITS >> np.uint64(63 - (along * (high & 3) + offset))
    if first == last:
        column[first] |= ray & from_low & to_high
        return
    column[first] |= ray & from_low
    for k in range(first + 1, last):
        column[k] |= ray
    column[last] |= ray & to_high


@kernel(forceinline=True)
def fill_ray(crossings: Crossings, ray: int, depth: int, column: Words, along: int, offset: int) -> float:
    """Sort the crossings of a ray and fill between; return the longest path inside."""
    positions, signs = crossings.positions, crossings.signs
    low, high = crossings.starts[ray], crossings.starts[ray + 1]
    sort_with_values(positions, signs, low, high)
    winding, entered, longest = 0, 0.0, 0.0
    for k in range(low, high):
        if winding == 0:
            entered = positions[k]
        winding += signs[k]
        if winding == 0:
            longest = max(longest, positions[k] - entered)
            lowest = min(math.floor(entered), depth - 1)
            highest = min(max(math.ceil(positions[k]) - 1, lowest), depth - 1)
            fill_run(column, lowest, highest, along, offset)
    return longest


@kernel
def fill_columns(
    all_crossings: Crossings, depth: int, layout: ColumnLayout, first: int, budget: int, column: Words, words: Words
) -> tuple[int, int, float]:
    """Fill columns; return the next one, operations used, longest path inside.

    depth: voxels along the rays; column (words along the rays,) is scratch; the path is in voxels.
    """
    crossings = Crossings(borrowed(all_crossings.starts), borrowed(all_crossings.positions), borrowed(all_crossings.signs))
    starts = crossings.starts
    columns = (starts.shape[0] - 2) >> 4
    used = 0
    longest = 0.0
    tile = first
    while tile < columns and used < budget:
        count = starts[(tile + 1) << 4] - starts[tile << 4]
        used += 1
        if count > 0:
            used += count + column.shape[0]
            for k in range(column.shape[0]):
                column[k] = 0
            for within in range(16):
                offset = (within & 3) * layout.bit_u + (within >> 2) * layout.bit_v
                longest = max(longest, fill_ray(crossings, (tile << 4) | within, depth, column, layout.bit_w, offset))
            place = (tile % layout.blocks_u) * layout.stride_u + (tile // layout.blocks_u) * layout.stride_v
            for k in range(column.shape[0]):
                words[place + k * layout.stride_w] = column[k]
        tile += 1
    return tile, used, longest


def other_axes(axis: int) -> tuple[int, int]:
    """Return the two axes of the screen, the lower one first."""
    return (1, 2) if axis == 0 else (0, 2) if axis == 1 else (0, 1)


def no_crossings(lattice: Lattice, axis: int) -> NDArray[np.int64]:
    """Return the zeroed `starts` for the rays along an axis."""
    u, v = other_axes(axis)
    return np.zeros(16 * lattice.blocks[u] * lattice.blocks[v] + 2, np.int64)


def crossings_of_faces(vertices: Floats, faces: Ints, lattice: Lattice, axis: int, progress: Share | None = None) -> Crossings:
    """Return the crossings of all rays along an axis, unsorted within each ray."""
    points, faces = read_only_view(lattice.coordinates(vertices)), read_only_view(faces)
    u, v = other_axes(axis)
    screen = Screen(u, v, axis, lattice.blocks[u])

    def cast(crossings: Crossings, counting: bool, begin: float) -> None:
        run_to_end(
            lambda face, operations: cast_faces(points, faces, screen, face, operations, counting, crossings),
            len(faces), FIRST_SLICE, part_of(progress, begin, begin + 0.5),
        )  # fmt: skip

    starts = no_crossings(lattice, axis)
    cast(Crossings(starts, np.empty(0), np.empty(0, np.int8)), True, 0.0)
    np.cumsum(starts, out=starts)
    crossings = Crossings(starts, np.empty(starts[-1]), np.empty(starts[-1], np.int8))
    cast(crossings, False, 0.5)
    return crossings


def filled_between(crossings: Crossings, lattice: Lattice, axis: int) -> tuple[Words, float]:
    """Return the words filled between crossings, and the longest path inside."""
    u, v = other_axes(axis)
    bx, by, _ = lattice.blocks
    strides, bits = (1, bx, bx * by), (1, 4, 16)
    layout = ColumnLayout(lattice.blocks[u], strides[u], strides[v], strides[axis], bits[u], bits[v], bits[axis])
    words = lattice.empty()
    column = np.zeros(lattice.blocks[axis], np.uint64)
    longest = 0.0

    def step(tile: int, operations: int) -> tuple[int, int]:
        nonlocal longest
        tile, used, inside = fill_columns(crossings, int(lattice.cells[axis]), layout, tile, operations, column, words)
        longest = max(longest, inside)
        return tile, used

    run_to_end(step, (len(crossings.starts) - 2) // 16, FIRST_SLICE)
    return words, longest
