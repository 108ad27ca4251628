"""Deep points: one voxel centre in every part of the inside of a map.

Interior voxels are filled voxels whose six face neighbours are filled too. Voxels that share a face are connected; each component
gives the centre of its lowest voxel (in the order of the map's words and bits). Beyond the paper, whose shells miss a
body that lies wholly inside another. Components are found by words: the pieces of each word (nearly always one) are the nodes
of a union-find.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from jostle._types import Floats
from jostle.kernels.arrays import read_only_view
from jostle.kernels.buffers import GrowingRows
from jostle.kernels.jit import kernel
from jostle.kernels.numbers import as_int64
from jostle.methods.voxmap.map import GridSize, Lattice, Words, cell_number
from jostle.methods.voxmap.progress import Share, part_of, run_to_end
from jostle.methods.voxmap.surface import FULL, NONE, X_BITS, Y_BITS, Z_BITS, AxisBits, Word, with_both, word_or_none

Int32s = NDArray[np.int32]

FIRST_SLICE = 1 << 20  # words


@kernel(forceinline=True)
def beside(voxels: Word, axis: AxisBits) -> Word:
    """Return the neighbours of voxels along an axis, within their word."""
    return ((voxels & ~axis.high) << axis.one) | ((voxels & ~axis.low) >> axis.one)


@kernel(forceinline=True)
def piece_with(word: Word, seed: Word) -> Word:
    """Return the voxels of a word connected to `seed` inside the word."""
    piece = seed
    while True:
        grown = (piece | beside(piece, X_BITS) | beside(piece, Y_BITS) | beside(piece, Z_BITS)) & word
        if grown == piece:
            return piece
        piece = grown


@kernel(forceinline=True)
def lowest_voxel(word: Word) -> Word:
    """Return the lowest voxel of a non-empty word, as a word."""
    return word & (~word + np.uint64(1))


@kernel(forceinline=True)
def interior_of(words: Words, size: GridSize, x: int, y: int, z: int) -> Word:
    """Return the filled voxels of a word whose six face neighbours are filled."""
    word = words[cell_number(size, x, y, z)]
    along_x = with_both(word, word_or_none(words, size, x - 1, y, z), word_or_none(words, size, x + 1, y, z), X_BITS)
    along_y = with_both(word, word_or_none(words, size, x, y - 1, z), word_or_none(words, size, x, y + 1, z), Y_BITS)
    along_z = with_both(word, word_or_none(words, size, x, y, z - 1), word_or_none(words, size, x, y, z + 1), Z_BITS)
    return along_x & along_y & along_z


@kernel(forceinline=True)
def piece_count(word: Word) -> int:
    """Return the number of pieces of a word."""
    if word == FULL:
        return 1
    pieces = 0
    rest = word
    while rest != NONE:
        rest &= ~piece_with(word, lowest_voxel(rest))
        pieces += 1
    return pieces


@kernel
def find_interior(words: Words, size: GridSize, first: int, budget: int, inside: Words, nodes: Int32s) -> tuple[int, int]:
    """Write interior voxels and number of pieces of each word, from row `first`.

    inside (n,) gets the voxels, nodes[word + 1] of (n + 1,) the pieces. Returns the next row and the words visited.
    """
    used = 0
    row = first
    while row < size.y * size.z and used < budget:
        used += size.x
        for x in range(size.x):
            place = row * size.x + x
            word = NONE
            if words[place] != NONE:
                word = interior_of(words, size, x, row % size.y, row // size.y)
            inside[place] = word
            nodes[place + 1] = piece_count(word)
        row += 1
    return row, used


@kernel(forceinline=True)
def root_of(parents: Int32s, node: int) -> int:
    """Return the lowest node of a component so far, halving the path to it."""
    while parents[node] != node:
        parents[node] = parents[parents[node]]
        node = as_int64(parents[node])
    return node


@kernel
def join_with(inside: Words, nodes: Int32s, parents: Int32s, node: int, touched: Word, other: int) -> None:
    """Join a node with the pieces of the word `other` that hold voxels of `touched`."""
    word = inside[other]
    touched &= word
    piece_node = as_int64(nodes[other])
    single = nodes[other + 1] - piece_node == 1
    rest = word
    while touched != NONE:
        piece = word if single else piece_with(word, lowest_voxel(rest))
        if piece & touched != NONE:
            a, b = root_of(parents, node), root_of(parents, piece_node)
            if a < b:
                parents[b] = a
            else:
                parents[a] = b
            touched &= ~piece
        rest &= ~piece
        piece_node += 1


@kernel
def join_pieces(inside: Words, nodes: Int32s, size: GridSize, first: int, budget: int, parents: Int32s) -> tuple[int, int]:
    """Join the pieces of words with those of the next lower words along x, y and z.

    Returns the next row and the words visited.
    """
    used = 0
    row = first
    while row < size.y * size.z and used < budget:
        y, z = row % size.y, row // size.y
        used += size.x
        for x in range(size.x):
            place = row * size.x + x
            word = inside[place]
            rest = word
            node = as_int64(nodes[place])
            single = nodes[place + 1] - node == 1
            while rest != NONE:
                piece = word if single else piece_with(word, lowest_voxel(rest))
                if x > 0 and piece & X_BITS.low != NONE:
                    join_with(inside, nodes, parents, node, (piece & X_BITS.low) << X_BITS.three, place - 1)
                if y > 0 and piece & Y_BITS.low != NONE:
                    join_with(inside, nodes, parents, node, (piece & Y_BITS.low) << Y_BITS.three, place - size.x)
                if z > 0:
                    join_with(inside, nodes, parents, node, piece << Z_BITS.three, place - size.y * size.x)
                rest &= ~piece
                node += 1
        row += 1
    return row, used


@kernel(forceinline=True)
def write_voxel(voxels: NDArray[np.int64], row: int, size: GridSize, place: int, seed: Word) -> None:
    """Write the coordinates of the only voxel of `seed` in the word at `place`."""
    bit = 0
    while (seed >> np.uint64(bit)) & np.uint64(1) == NONE:
        bit += 1
    voxels[row, 0] = 4 * (place % size.x) + (bit & 3)
    voxels[row, 1] = 4 * ((place // size.x) % size.y) + ((bit >> 2) & 3)
    voxels[row, 2] = 4 * (place // (size.x * size.y)) + (bit >> 4)


@kernel
def lowest_voxels(inside: Words, nodes: Int32s, parents: Int32s, size: GridSize, voxels: NDArray[np.int64]) -> int:
    """Write the lowest voxel of each component to voxels (k, 3); count them.

    Rows beyond the end are counted and not written.
    """
    count = 0
    for place in range(inside.shape[0]):
        if nodes[place] == nodes[place + 1]:
            continue
        word = inside[place]
        rest = word
        for node in range(nodes[place], nodes[place + 1]):
            seed = lowest_voxel(rest)
            if parents[node] == node:
                if count < voxels.shape[0]:
                    write_voxel(voxels, count, size, place, seed)
                count += 1
            if node + 1 < nodes[place + 1]:
                rest &= ~piece_with(word, seed)
    return count


def deep_points(words: Words, lattice: Lattice, progress: Share | None = None) -> Floats:
    """Return the (k, 3) deep points of a map in body coordinates, in the map's order."""
    size = lattice.blocks
    rows = size.y * size.z
    words = read_only_view(words)
    inside = np.empty(len(words), np.uint64)
    nodes = np.zeros(len(words) + 1, np.int32)
    run_to_end(
        lambda row, operations: find_interior(words, size, row, operations, inside, nodes),
        rows, FIRST_SLICE, part_of(progress, 0.0, 0.5),
    )  # fmt: skip
    np.cumsum(nodes, dtype=np.int32, out=nodes)  # from counts of pieces to first nodes
    parents = np.arange(nodes[-1], dtype=np.int32)
    run_to_end(
        lambda row, operations: join_pieces(inside, nodes, size, row, operations, parents),
        rows, FIRST_SLICE, part_of(progress, 0.5, 1.0),
    )  # fmt: skip
    voxels = GrowingRows(np.int64, 3, 8).fill(lambda found: lowest_voxels(inside, nodes, parents, size, found))
    points: Floats = lattice.origin + lattice.voxel * (voxels + 0.5)
    return points
