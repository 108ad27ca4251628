"""Maps as arrays of Booleans (x, y, z), and back."""

import numpy as np

from jostle.methods.voxmap.map import BLOCK


def filled_voxels(words, cells):
    """Return a map as an array (x, y, z) of Booleans."""
    bx, by, bz = ((cells + BLOCK - 1) // BLOCK).tolist()
    bits = np.unpackbits(words.astype("<u8").view(np.uint8), bitorder="little")
    grid = bits.reshape(bz, by, bx, BLOCK, BLOCK, BLOCK).transpose(0, 3, 1, 4, 2, 5)
    grid = grid.reshape(BLOCK * bz, BLOCK * by, BLOCK * bx).transpose(2, 1, 0)
    return np.ascontiguousarray(grid[: cells[0], : cells[1], : cells[2]]).astype(bool)


def words_of(filled):
    """Return the words of a map given as an array (x, y, z) of Booleans."""
    blocks = [(n + BLOCK - 1) // BLOCK for n in filled.shape]
    grid = np.zeros([BLOCK * b for b in blocks], np.uint8)
    grid[: filled.shape[0], : filled.shape[1], : filled.shape[2]] = filled
    bx, by, bz = blocks
    bits = grid.transpose(2, 1, 0).reshape(bz, BLOCK, by, BLOCK, bx, BLOCK).transpose(0, 2, 4, 1, 3, 5)
    packed = np.packbits(np.ascontiguousarray(bits).reshape(-1, 64), axis=1, bitorder="little")
    return np.ascontiguousarray(packed).view("<u8").ravel().astype(np.uint64)
