"""The order of up to 512 faces: cut in halves across the longest side, and the halves again, down to leaves of eight.

Halves are such that nodes of 64 faces and leaves of eight are full, all but the last. A cut needs to know which faces are before
it, not their order, so that faces are counted into bins along the axis instead of sorted; of those in the bin of the cut, the first
ones go before it. That takes three passes without a branch that a processor would mispredict.
"""

from __future__ import annotations

import numpy as np

from jostle.kernels.jit import kernel
from jostle.methods.wide_tree.tree import LANES, LEAF_FACES

NODE_FACES = LANES * LEAF_FACES
BLOCK_FACES = LANES * NODE_FACES
BINS = 64


@kernel
def order_block(keys, middles, begin, end, block, numbers, spare):  # type: ignore[no-untyped-def]
    """Put keys[begin : end] in order, at most 512 of them, whose low 32 bits are numbers of faces.

    middles (3 * m,) float32; scratch: block (3 * 512,) float32, numbers (512,) and spare (4 * 512,) int64.
    """
    for i in range(end - begin):
        key = keys[begin + i]
        face = 3 * (key & 0xFFFFFFFF)
        block[3 * i], block[3 * i + 1], block[3 * i + 2] = middles[face], middles[face + 1], middles[face + 2]
        spare[BLOCK_FACES + i] = key
        numbers[i] = i
    count, half = end - begin, BLOCK_FACES // 2
    while half >= LEAF_FACES:
        for start in range(0, count, 2 * half):
            if start + half < count:
                _halve(block, numbers, spare, start, min(start + 2 * half, count), start + half)
        half //= 2
    for i in range(end - begin):
        keys[begin + i] = spare[BLOCK_FACES + numbers[i]]


@kernel
def _halve(block, numbers, spare, begin, end, middle):  # type: ignore[no-untyped-def]
    """Exchange numbers such that those before `middle` are not beyond those after it on the longest axis, to a bin's width."""
    here = numbers[begin:end]
    count = np.uint64(end - begin)  # unsigned: Numba then does not ask whether an index is negative
    i = np.uint64(3) * np.uint64(here[0])
    low_x, low_y, low_z = block[i], block[i + np.uint64(1)], block[i + np.uint64(2)]
    high_x, high_y, high_z = low_x, low_y, low_z
    for k in range(count):
        i = np.uint64(3) * np.uint64(here[k])
        x, y, z = block[i], block[i + np.uint64(1)], block[i + np.uint64(2)]
        low_x, high_x = min(low_x, x), max(high_x, x)
        low_y, high_y = min(low_y, y), max(high_y, y)
        low_z, high_z = min(low_z, z), max(high_z, z)
    axis, low, length = np.uint64(0), low_x, high_x - low_x
    if high_y - low_y > length:
        axis, low, length = np.uint64(1), low_y, high_y - low_y
    if high_z - low_z > length:
        axis, low, length = np.uint64(2), low_z, high_z - low_z
    if not length > 0.0:
        return
    scale = np.float32((BINS - 0.5) / length)
    histogram, bins = spare[:BINS], spare[3 * BLOCK_FACES :]
    for b in range(BINS):
        histogram[b] = 0
    for k in range(count):
        b = np.uint64(np.int32((block[np.uint64(3) * np.uint64(here[k]) + axis] - low) * scale))
        bins[k] = b
        histogram[b] += 1
    cut, before = 0, histogram[0]
    needed = middle - begin
    while before <= needed:
        cut += 1
        before += histogram[cut]
    room = needed - (before - histogram[cut])  # of the bin of the cut, so many go before it
    left, right = np.uint64(0), np.uint64(0)
    aside = spare[BINS : BINS + end - middle + 1]  # one more, which takes what is not meant
    for k in range(count):
        number, b = here[k], bins[k]
        at_cut = np.int64(b == cut)
        first = np.int64(b < cut) | (at_cut & np.int64(room > 0))
        room -= at_cut
        here[left] = number  # left <= k: nothing is lost
        aside[right] = number
        left += np.uint64(first)
        right += np.uint64(1 - first)
    rest = here[needed:]
    for k in range(end - middle):
        rest[k] = aside[k]
