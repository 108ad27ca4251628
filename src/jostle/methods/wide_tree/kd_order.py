"""The order of up to 512 faces: halved on the longest side, down to leaves of 8.

Halves are cut so that nodes of 64 faces and leaves of eight are full, all but the last. A cut needs to know which faces come before
it, not their order, so faces are counted into bins along the axis instead of sorted; the bin of the cut is divided by count. That
takes three passes without a branch that a processor would mispredict.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from jostle.kernels.jit import kernel
from jostle.kernels.structs import Addresses, Rows, Struct, float32, int64, opener
from jostle.methods.wide_tree.tree import LANES, LEAF_FACES

NODE_FACES = LANES * LEAF_FACES
BLOCK_FACES = LANES * NODE_FACES
BINS = 64
FACE_OF_KEY = 0xFFFFFFFF  # the low bits of a key are the number of a face


class BlockWork(Struct):
    """Scratch for one block of up to 512 faces."""

    middles: Rows[float32]  # of the faces, three each
    keys: Rows[int64]
    numbers: Rows[int64]  # of the faces within the block, in their new order
    histogram: Rows[int64]  # faces in each bin
    bins: Rows[int64]  # of the faces that are cut
    aside: Rows[int64]  # the second half


BLOCK_ROOM = {
    "middles": 3 * BLOCK_FACES, "keys": BLOCK_FACES, "numbers": BLOCK_FACES,
    "histogram": BINS, "bins": BLOCK_FACES, "aside": BLOCK_FACES,
}  # fmt: skip

open_block = opener(BlockWork)


class Side(NamedTuple):
    """The longest side of a box: its axis, where it begins, and its length."""

    axis: int
    low: float
    length: float


@kernel
def order_block(keys: NDArray[np.int64], middles: NDArray[np.float32], begin: int, end: int, addresses: Addresses) -> None:
    """Put keys[begin : end], at most 512, in order.

    middles (3 * m,): of all faces; addresses: of `BlockWork`.
    """
    work, count = open_block(addresses), end - begin
    for i in range(count):
        key = keys[begin + i]
        face = 3 * (key & FACE_OF_KEY)
        for axis in range(3):
            work.middles[3 * i + axis] = middles[face + axis]
        work.keys[i] = key
        work.numbers[i] = i
    half = BLOCK_FACES // 2
    while half >= LEAF_FACES:
        for start in range(0, count, 2 * half):
            if start + half < count:
                _halve(work, start, min(start + 2 * half, count), start + half)
        half //= 2
    for i in range(count):
        keys[begin + i] = work.keys[work.numbers[i]]


@kernel
def _halve(work: BlockWork, begin: int, end: int, middle: int) -> None:
    """Move the lower numbers on the longest axis before `middle`, to a bin's width."""
    numbers: Any = work.numbers  # an array
    here = numbers[begin:end]
    side = _longest_side(work, here)
    if side.length > 0.0:
        _fill_bins(work, here, side)
        _part_at(work, here, middle - begin)


@kernel(forceinline=True)
def _middle(work: BlockWork, number: Any, axis: Any) -> Any:
    """Return one coordinate of a middle; unsigned indices save Numba's sign check."""
    return work.middles[np.uint64(3) * np.uint64(number) + np.uint64(axis)]


@kernel(forceinline=True)
def _longest_side(work: BlockWork, here: NDArray[np.int64]) -> Side:
    """Return the longest side of the box of the given middles."""
    low_x, low_y, low_z = _middle(work, here[0], 0), _middle(work, here[0], 1), _middle(work, here[0], 2)
    high_x, high_y, high_z = low_x, low_y, low_z
    for k in range(np.uint64(here.shape[0])):
        x, y, z = _middle(work, here[k], 0), _middle(work, here[k], 1), _middle(work, here[k], 2)
        low_x, high_x = min(low_x, x), max(high_x, x)
        low_y, high_y = min(low_y, y), max(high_y, y)
        low_z, high_z = min(low_z, z), max(high_z, z)
    side = Side(0, low_x, high_x - low_x)
    if high_y - low_y > side.length:
        side = Side(1, low_y, high_y - low_y)
    if high_z - low_z > side.length:
        side = Side(2, low_z, high_z - low_z)
    return side


@kernel(forceinline=True)
def _fill_bins(work: BlockWork, here: NDArray[np.int64], side: Side) -> None:
    """Write the bin of each face along a side, and the size of each bin."""
    bins, histogram = work.bins, work.histogram
    scale = np.float32((BINS - 0.5) / side.length)
    for b in range(BINS):
        histogram[b] = 0
    for k in range(np.uint64(here.shape[0])):
        own: Any = np.uint64(np.int32((_middle(work, here[k], side.axis) - side.low) * scale))
        bins[k] = own
        histogram[own] += 1


@kernel(forceinline=True)
def _part_at(work: BlockWork, here: NDArray[np.int64], needed: int) -> None:
    """Move the `needed` lowest faces by bin to the front, in a pass without branches."""
    histogram, bins, aside = work.histogram, work.bins, work.aside
    cut, before = 0, histogram[0]
    while before <= needed:
        cut += 1
        before += histogram[cut]
    room = needed - (before - histogram[cut])  # faces of the cut's bin that go before it
    left, right = np.uint64(0), np.uint64(0)
    for k in range(np.uint64(here.shape[0])):
        number, b = here[k], bins[k]
        at_cut: Any = np.int64(b == cut)
        first = np.int64(b < cut) | (at_cut & np.int64(room > 0))
        room -= at_cut
        here[left] = number  # left <= k: nothing is lost
        aside[right] = number
        left += np.uint64(first)
        right += np.uint64(1 - first)
    for k in range(needed, here.shape[0]):
        here[k] = aside[k - needed]
