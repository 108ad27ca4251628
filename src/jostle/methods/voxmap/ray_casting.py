"""Ray casting (§5 "The Voxmap"): every crossing of every ray with the surface, sorted along the ray, and the voxels between.

Rays run along one axis through the centres of the pixels. A face is projected along that axis and rasterised; the paper instead
drops rays that pass through edges and vertices, which leaves odd counts. Here the row of pixels at which an edge begins is a
function of its end alone, and the pixel at which it passes a row is computed from its lower end: faces that share an edge ask
the same question, get the same answer whatever the rounding, and so the signed crossings of a closed mesh sum to 0 along every
ray, needles and steep faces included.

Positions along the ray are interpolated along the row between two edges and clamped to them, never extrapolated. Voxels are
filled from the one where the winding number leaves 0 to the one where it comes back, both included.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from jostle.frame import Floats, Ints
from jostle.kernels.arrays import read_only_view
from jostle.kernels.jit import kernel
from jostle.kernels.slices import run_in_slices
from jostle.methods.voxmap.map import Lattice, Words

ALL_BITS = np.uint64(0xFFFFFFFFFFFFFFFF)
FIRST_SLICE = 1 << 20  # operations: 10 ms of small faces; later slices are sized by the clock
INSERTION_SORTED = 24  # crossings of one ray up to which insertion sort is the fastest


@kernel(forceinline=True)
def edge_at(q, au, av, aw, ku, kw, low_u, high_u, low_w, high_w):  # type: ignore[no-untyped-def]
    """Where an edge from its lower end a, with slopes k, passes the row at q: (u, w), inside the edge's extent."""
    t = q - av
    return min(max(au + t * ku, low_u), high_u), min(max(aw + t * kw, low_w), high_w)


@kernel(forceinline=True)
def ray_number(i, j, blocks_u):  # type: ignore[no-untyped-def]
    """Rays are numbered by tiles of 4 x 4."""
    return ((((j >> 2) * blocks_u) + (i >> 2)) << 4) | ((j & 3) << 2) | (i & 3)


@kernel(forceinline=True)
def cast_row(j, sign, one, other, blocks_u, counting, starts, positions, signs):  # type: ignore[no-untyped-def]
    """Cross the rays of a row between two edges (u, w): count them in starts[ray + 2], or write them at starts[ray + 1]."""
    (u_one, w_one), (u_other, w_other) = one, other
    first, last = math.ceil(u_one - 0.5), math.ceil(u_other - 0.5)
    if first > last:
        first, last = last, first
    else:
        sign = -sign
    if first == last:
        return 0
    slope = (w_other - w_one) / (u_other - u_one)
    low_w, high_w = min(w_one, w_other), max(w_one, w_other)
    for i in range(int(first), int(last)):
        ray = ray_number(i, j, blocks_u)
        if counting:
            starts[ray + 2] += 1
        else:
            k = starts[ray + 1]
            starts[ray + 1] = k + 1
            positions[k] = min(max(w_one + (i + 0.5 - u_one) * slope, low_w), high_w)
            signs[k] = sign
    return int(last - first)


@kernel
def cast_faces(points, faces, axis_u, axis_v, axis_w, blocks_u, first, budget, counting, starts, positions, signs):  # type: ignore[no-untyped-def]
    """Cross rays with faces from `first` on, for about `budget` operations; the next face, and the operations used.

    points (n, 3) in voxels, faces (m, 3); starts (rays + 2,) int64, positions (k,) float64, signs (k,) int8. An operation is a
    face, a row of one, or a crossing.
    """
    used = 0
    face = first
    while face < faces.shape[0] and used < budget:
        a, b, c = faces[face, 0], faces[face, 1], faces[face, 2]
        face += 1
        used += 1
        # In the order of v: a below b below c. An exchange turns the face over.
        sign = 1
        if points[a, axis_v] > points[b, axis_v]:
            a, b, sign = b, a, -sign
        if points[b, axis_v] > points[c, axis_v]:
            b, c, sign = c, b, -sign
        if points[a, axis_v] > points[b, axis_v]:
            a, b, sign = b, a, -sign
        au, av, aw = points[a, axis_u], points[a, axis_v], points[a, axis_w]
        bu, bv, bw = points[b, axis_u], points[b, axis_v], points[b, axis_w]
        cu, cv, cw = points[c, axis_u], points[c, axis_v], points[c, axis_w]
        low, middle, high = math.ceil(av - 0.5), math.ceil(bv - 0.5), math.ceil(cv - 0.5)
        if low == high:
            continue
        long_u, long_w = (cu - au) / (cv - av), (cw - aw) / (cv - av)
        left, right = min(au, cu), max(au, cu)
        back, front = min(aw, cw), max(aw, cw)
        for part in range(2):
            if part == 0:
                begin, end, su, sv, sw, tu, tv, tw = low, middle, au, av, aw, bu, bv, bw
            else:
                begin, end, su, sv, sw, tu, tv, tw = middle, high, bu, bv, bw, cu, cv, cw
            if begin == end:
                continue
            short_u, short_w = (tu - su) / (tv - sv), (tw - sw) / (tv - sv)
            for j in range(begin, end):
                q = j + 0.5
                one = edge_at(q, au, av, aw, long_u, long_w, left, right, back, front)
                other = edge_at(q, su, sv, sw, short_u, short_w, min(su, tu), max(su, tu), min(sw, tw), max(sw, tw))
                used += 1 + cast_row(j, sign, one, other, blocks_u, counting, starts, positions, signs)
    return face, used


@kernel
def add_up(starts):  # type: ignore[no-untyped-def]
    """Turn counts at starts[ray + 2] into the places where crossings are written, at starts[ray + 1]."""
    total = 0
    for k in range(starts.shape[0]):
        total += starts[k]
        starts[k] = total


@kernel(forceinline=True)
def sort_crossings(positions, signs, begin, end):  # type: ignore[no-untyped-def]
    """Sort the crossings of one ray by their positions (insertion sort; Shell's, with Knuth's gaps, when there are many)."""
    gap = 1
    while end - begin > INSERTION_SORTED and 3 * gap + 1 < end - begin:
        gap = 3 * gap + 1
    while gap > 0:
        for k in range(begin + gap, end):
            position, sign = positions[k], signs[k]
            place = k
            while place - gap >= begin and positions[place - gap] > position:
                positions[place], signs[place] = positions[place - gap], signs[place - gap]
                place -= gap
            positions[place], signs[place] = position, sign
        gap //= 3


@kernel(forceinline=True)
def fill_run(column, low, high, along, offset):  # type: ignore[no-untyped-def]
    """Fill voxels low … high of a ray in a column of words; its bits are `along` apart and start at `offset`."""
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


@kernel
def fill_columns(starts, positions, signs, depth, layout, first, budget, column, words):  # type: ignore[no-untyped-def]
    """Fill columns of words from `first` on; (the next one, operations used, the longest way inside the solid in voxels).

    depth: voxels along the rays; layout (7,): blocks_u, then the strides of the words and the shifts of the bits along u, v, w.
    """
    blocks_u, stride_u, stride_v, stride_w = layout[0], layout[1], layout[2], layout[3]
    bit_u, bit_v, bit_w = layout[4], layout[5], layout[6]
    columns = (starts.shape[0] - 2) >> 4
    used = 0
    longest = 0.0
    tile = first
    while tile < columns and used < budget:
        begin, end = starts[tile << 4], starts[(tile + 1) << 4]
        used += 1
        if begin < end:
            used += end - begin + column.shape[0]
            for k in range(column.shape[0]):
                column[k] = 0
            for within in range(16):
                ray = (tile << 4) | within
                low, high = starts[ray], starts[ray + 1]
                sort_crossings(positions, signs, low, high)
                offset = (within & 3) * bit_u + (within >> 2) * bit_v
                winding = 0
                entered = 0.0
                for k in range(low, high):
                    if winding == 0:
                        entered = positions[k]
                    winding += signs[k]
                    if winding == 0:
                        longest = max(longest, positions[k] - entered)
                        lowest = min(math.floor(entered), depth - 1)
                        highest = min(max(math.ceil(positions[k]) - 1, lowest), depth - 1)
                        fill_run(column, lowest, highest, bit_w, offset)
            place = (tile % blocks_u) * stride_u + (tile // blocks_u) * stride_v
            for k in range(column.shape[0]):
                words[place + k * stride_w] = column[k]
        tile += 1
    return tile, used, longest


def other_axes(axis: int) -> tuple[int, int]:
    """Return the two axes of the screen, the lower one first."""
    return (1, 2) if axis == 0 else (0, 2) if axis == 1 else (0, 1)


class Crossings(NamedTuple):
    """Where rays meet a surface, by rays: ray r has the entries starts[r] … starts[r + 1]; the last entry of starts is not used."""

    starts: NDArray[np.int64]  # (rays + 2,)
    positions: Floats  # (k,) along the ray, in voxels from the origin
    signs: NDArray[np.int8]  # (k,) +1 or -1: what the winding number changes by


def no_crossings(lattice: Lattice, axis: int) -> NDArray[np.int64]:
    """Return the zeroed `starts` for the rays along an axis."""
    u, v = other_axes(axis)
    return np.zeros(16 * lattice.blocks[u] * lattice.blocks[v] + 2, np.int64)


def crossings_of_faces(
    vertices: Floats, faces: Ints, lattice: Lattice, axis: int, progress: Callable[[float], None] | None = None
) -> Crossings:
    """Return the crossings of all rays along an axis with the faces (m, 3) over vertices (n, 3), unsorted within each ray."""
    points, faces = read_only_view(lattice.coordinates(vertices)), read_only_view(faces)
    u, v = other_axes(axis)
    starts = no_crossings(lattice, axis)
    positions, signs = np.empty(0), np.empty(0, np.int8)
    counting = True

    def step(place: list[int], operations: int) -> tuple[bool, int]:
        place[0], used = cast_faces(
            points, faces, u, v, axis, lattice.blocks[u], place[0], operations, counting, starts, positions, signs
        )
        if progress is not None:
            progress(0.5 * place[0] / len(faces) + (0.0 if counting else 0.5))
        return place[0] == len(faces), used

    run_in_slices(step, [0], FIRST_SLICE)
    add_up(starts)
    positions, signs, counting = np.empty(int(starts[-1])), np.empty(int(starts[-1]), np.int8), False
    run_in_slices(step, [0], FIRST_SLICE)
    return Crossings(starts, positions, signs)


def filled_between(crossings: Crossings, lattice: Lattice, axis: int) -> tuple[Words, float]:
    """Return the words of the map filled between crossings, and the longest way of any ray inside the solid, in voxels."""
    u, v = other_axes(axis)
    bx, by, _ = lattice.blocks
    strides, bits = (1, bx, bx * by), (1, 4, 16)
    layout = np.array([lattice.blocks[u], strides[u], strides[v], strides[axis], bits[u], bits[v], bits[axis]])
    words = lattice.empty()
    column = np.zeros(lattice.blocks[axis], np.uint64)
    columns = (len(crossings.starts) - 2) // 16
    place, longest = [0], [0.0]

    def step(place: list[int], operations: int) -> tuple[bool, int]:
        place[0], used, inside = fill_columns(*crossings, int(lattice.cells[axis]), layout, place[0], operations, column, words)
        longest[0] = max(longest[0], inside)
        return place[0] == columns, used

    run_in_slices(step, place, FIRST_SLICE)
    return words, longest[0]
