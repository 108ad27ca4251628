"""Pieces: the tiles of the views, cut to what the device holds, packed in atlases.

A piece is a rectangle of pixels of one view, usually the whole tile. It is cut when it is wider or higher than half an
atlas, or when the slots for the layers of its pixels need more memory than a round has. Pieces lie on shelves, the
highest first, each with A's picture and beside it B's. What does not fit in one atlas goes to the next *round*: all
rounds use the same textures one after another, within one submission.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from jostle._types import Ints
from jostle.kernels.jit import kernel

LARGEST_ATLAS = 4096  # texels along a side: 64 MB for a depth texture
LARGEST_PIECE = LARGEST_ATLAS // 2
SIDE_STEP = 64  # atlases are multiples of it, so that a texture serves many frames
MOST_PIECES_IN_ROUND = 65535  # workgroups along one axis that every device takes


class Pieces(NamedTuple):
    """Rectangles of views, in drawing order."""

    view: Ints  # (n,)
    left: Ints  # (n,) first column in the tile
    top: Ints  # (n,) first row
    width: Ints  # (n,) pixels
    height: Ints  # (n,)
    slots: Ints  # (n,) layers of a body that a pixel has room for; 0: no layers are kept

    def take(self, rows: NDArray[np.bool_] | NDArray[np.int64] | slice) -> Pieces:
        """Return some of the pieces."""
        return Pieces(*(field[rows] for field in self))


class Packing(NamedTuple):
    """The place of each piece, and which of them make a round."""

    origin: Ints  # (n, 2) texel of the corner of A's picture; B's is one width to the right
    first_word: NDArray[np.int64]  # (n,) first counter in its round; the slots of one piece begin after those of the others
    first_slot: NDArray[np.int64]  # (n,)
    first_piece: NDArray[np.int64]  # (rounds + 1,)
    width: int  # texels of the largest atlas
    height: int


def pieces_of(view: Ints, size: Ints, slots: Ints, most_slots: int) -> Pieces:
    """Cut tiles of size × size pixels, with `slots` per pixel; highest first."""
    whole = Pieces(view, np.zeros_like(size), np.zeros_like(size), size, size, slots)
    return cut(whole, most_slots)


def cut(pieces: Pieces, most_slots: int) -> Pieces:
    """Cut pieces to the size of an atlas and `most_slots` slots; highest first.

    A piece needs 2 · width · height · slots.
    """
    area = np.int64(2) * pieces.width * pieces.height * np.maximum(pieces.slots, 1)
    fits = (pieces.width <= LARGEST_PIECE) & (pieces.height <= LARGEST_PIECE) & ((pieces.slots == 0) | (area <= most_slots))
    if not fits.all():
        parts = [part for row in np.flatnonzero(~fits).tolist() for part in _cut_one(pieces, row, most_slots)]
        pieces = Pieces(*(np.concatenate(both) for both in zip(pieces.take(fits), np.array(parts, np.int32).T, strict=True)))
    return _highest_first(pieces)


def joined(first: Pieces, then: Pieces) -> Pieces:
    """Return the pieces of both; highest first."""
    return _highest_first(Pieces(*(np.concatenate(fields) for fields in zip(first, then, strict=True))))


def _highest_first(pieces: Pieces) -> Pieces:
    """Return pieces by height, then by width.

    For the shelves, and so that pieces of one size are decided together.
    """
    return pieces.take(np.lexsort((-pieces.width, -pieces.height)))


def _cut_one(pieces: Pieces, row: int, most_slots: int) -> list[tuple[int, ...]]:
    view, left, top, width, height, slots = (int(field[row]) for field in pieces)
    pixels = max(1, most_slots // (2 * slots)) if slots else LARGEST_PIECE * LARGEST_PIECE
    wide = min(width, LARGEST_PIECE, pixels)
    high = min(height, LARGEST_PIECE, pixels // wide)
    return [
        (view, left + x, top + y, min(wide, width - x), min(high, height - y), slots)
        for y in range(0, height, high)
        for x in range(0, width, wide)
    ]


def pack(pieces: Pieces, most_slots: int) -> Packing:
    """Put pieces on shelves and in rounds, in their order."""
    count = len(pieces.view)
    area = 2.0 * float(np.dot(pieces.width.astype(np.float64), pieces.height))
    widest = 2 * int(pieces.width.max(initial=1))
    width = min(LARGEST_ATLAS, _in_steps(max(widest, math.ceil(math.sqrt(area)))))
    origin = np.empty((count, 2), np.int32)
    first_word, first_slot = np.empty(count, np.int64), np.empty(count, np.int64)
    first_piece = np.empty(count + 1, np.int64)
    rounds, rows = put_on_shelves(
        pieces.width, pieces.height, pieces.slots, width, LARGEST_ATLAS, most_slots, MOST_PIECES_IN_ROUND,
        origin, first_word, first_slot, first_piece,
    )  # fmt: skip
    return Packing(origin, first_word, first_slot, first_piece[: rounds + 1].copy(), width, _in_steps(rows))


def _in_steps(texels: int) -> int:
    return max(SIDE_STEP, -(-texels // SIDE_STEP) * SIDE_STEP)


@kernel
def put_on_shelves(
    width: Ints, height: Ints, slots: Ints, atlas_width: int, atlas_height: int, most_slots: int, most_pieces: int,
    origin: Ints, first_word: NDArray[np.int64], first_slot: NDArray[np.int64], first_piece: NDArray[np.int64],
) -> tuple[int, int]:  # fmt: skip
    """Pack pieces (n,) of falling height; return rounds and rows used.

    Writes origin (n,2), first_* (n,) and first_piece (rounds+1,).
    """
    rounds, rows = 0, 0
    x, y, shelf, words, used, begun = 0, 0, 0, 0, 0, 0
    for k in range(len(width)):
        pixels = np.int64(2) * width[k] * height[k]
        if x + 2 * width[k] > atlas_width:
            x, y, shelf = 0, y + shelf, 0
        full = y + height[k] > atlas_height or k - begun >= most_pieces
        if k == 0 or full or (slots[k] > 0 and used > 0 and used + pixels * slots[k] > most_slots):
            first_piece[rounds] = k
            rounds += 1
            x, y, shelf, words, used, begun = 0, 0, 0, 0, 0, k
        origin[k, 0], origin[k, 1] = x, y
        first_word[k], first_slot[k] = words, used
        if slots[k] > 0:
            words += pixels
            used += pixels * slots[k]
        x += 2 * width[k]
        shelf = max(shelf, height[k])
        rows = max(rows, y + height[k])
    first_piece[rounds] = len(width)
    return rounds, rows
