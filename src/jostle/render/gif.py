"""Write moving pictures as GIF files, with nothing but NumPy and a kernel.

GIF89a: one palette for all frames (palette.py), LZW codes, each frame after the first as the rectangle that changed, with the
pixels in it that did not change transparent: what stands still costs next to nothing. A picture of at most 255 colours is kept
exactly. Equal frames give equal bytes; a file appears complete or not at all.
"""

from __future__ import annotations

import math
import os
import struct
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jostle import cast
from jostle.errors import InputError
from jostle.kernels.jit import kernel
from jostle.render.palette import palette_of
from jostle.render.png import checked_target
from jostle.whole_file import written_whole

Bytes = NDArray[np.uint8]
Table = NDArray[np.int32]
Progress = Callable[[int], None]

LARGEST_SIDE = 65535  # of a GIF, by its format
MOST_COLOURS = 255  # one entry of the palette is for pixels that do not change
MOST_CODES = 4096  # of LZW in a GIF: twelve bits
SLOTS = 16384  # of the table of codes: a power of two, four times as many as codes


def encode_gif(frames: Sequence[Bytes], seconds: float = 0.05, *, loop: bool = True, progress: Progress | None = None) -> bytes:
    """Return the bytes of a GIF file.

    Parameters
    ----------
    frames : sequence of (h, w, 3) uint8
        All of one size; row 0 is the top.
    seconds : float
        From one frame to the next, 0.02 … 600; the format counts hundredths.
    loop : bool
        Whether it begins again when it is over.
    progress : callable, optional
        Called with the number of frames written so far.
    """
    checked = _checked_frames(frames)
    hundredths = _hundredths(seconds)
    height, width, _ = checked[0].shape
    palette, index_of = palette_of(checked, MOST_COLOURS)
    bits = max(1, math.ceil(math.log2(len(palette) + 1)))
    table = np.zeros((1 << bits, 3), np.uint8)
    table[: len(palette)] = palette
    parts = [b"GIF89a", struct.pack("<HHBBB", width, height, 0xF0 | (bits - 1), 0, 0), table.tobytes()]
    if loop:
        parts.append(b"\x21\xff\x0bNETSCAPE2.0\x03\x01\x00\x00\x00")
    before: Bytes | None = None
    for done, frame in enumerate(checked, start=1):
        indices = index_of(frame)
        parts.append(_frame_block(indices, before, len(palette), bits, hundredths))
        before = indices
        if progress is not None:
            progress(done)
    return b"".join([*parts, b"\x3b"])


def write_gif(path: str | os.PathLike[str], frames: Sequence[Bytes], seconds: float = 0.05, **settings: Any) -> None:
    """Write a moving picture to a GIF file, whole or not at all; everything after `path` as for `encode_gif`."""
    target = checked_target(path)
    content = encode_gif(frames, seconds, **settings)
    with written_whole(target) as temporary:
        temporary.write_bytes(content)


def _checked_frames(frames: Sequence[Bytes]) -> list[Bytes]:
    arrays = [np.asarray(frame) for frame in frames]
    if not arrays:
        raise InputError("frames is empty; a moving picture has at least one")
    for number, array in enumerate(arrays):
        if array.dtype != np.uint8 or array.ndim != 3 or array.shape[2] != 3 or 0 in array.shape:
            raise InputError(f"frames[{number}] has shape {array.shape} and dtype {array.dtype}; pass (h, w, 3) uint8")
        if array.shape != arrays[0].shape:
            raise InputError(f"frames[{number}] has shape {array.shape}, frames[0] {arrays[0].shape}; all must have one size")
        if max(array.shape) > LARGEST_SIDE:
            raise InputError(f"frames[{number}] has shape {array.shape}; a GIF has at most {LARGEST_SIDE} pixels each way")
    return arrays


def _hundredths(seconds: float) -> int:
    number = cast.as_number(seconds, "seconds")
    if not 0.02 <= number <= 600.0:  # below two hundredths browsers show a tenth of a second instead
        raise InputError(f"seconds is {number}; a frame of a GIF lasts 0.02 to 600 seconds")
    return round(number * 100.0)


def _frame_block(indices: Bytes, before: Bytes | None, transparent: int, bits: int, hundredths: int) -> bytes:
    """Return one frame: how long it lasts, where it lies, and its codes; only what differs from the frame before."""
    top, left, shown = 0, 0, indices
    if before is not None:
        changed = indices != before
        rows, columns = np.flatnonzero(changed.any(axis=1)), np.flatnonzero(changed.any(axis=0))
        if len(rows) == 0:  # a frame must have a pixel
            rows = columns = np.zeros(1, np.int64)
        top, left = int(rows[0]), int(columns[0])
        part = slice(top, int(rows[-1]) + 1), slice(left, int(columns[-1]) + 1)
        shown = np.where(changed[part], indices[part], np.uint8(transparent))
    height, width = shown.shape
    control = struct.pack("<BBBBHBB", 0x21, 0xF9, 4, (1 << 2) | (before is not None), hundredths, transparent, 0)
    place = struct.pack("<BHHHHB", 0x2C, left, top, width, height, 0)
    smallest = max(2, bits)  # the format has no codes for one bit
    codes = lzw(np.ascontiguousarray(shown).ravel(), smallest).tobytes()
    blocks = b"".join(bytes([len(codes[k : k + 255])]) + codes[k : k + 255] for k in range(0, len(codes), 255))
    return control + place + bytes([smallest]) + blocks + b"\x00"


def lzw(indices: Bytes, bits: int) -> Bytes:
    """Return the LZW codes of (n,) indices below 2^bits, packed as a GIF wants them."""
    # No pixel needs more than one code of at most twelve bits, and the table is cleared once in 3,800 codes at most.
    packed = np.empty((len(indices) + len(indices) // 2048 + 8) * 3 // 2 + 8, np.uint8)
    length = pack_codes(indices, bits, np.empty(SLOTS, np.int32), np.empty(SLOTS, np.int32), packed)
    return packed[:length]


@kernel
def slot_of(key: int, keys: Table) -> int:
    """Where the table has a key, or the free slot for it."""
    slot = (key * 40503 >> 4) & (SLOTS - 1)
    while keys[slot] != -1 and keys[slot] != key:
        slot = (slot + 1) & (SLOTS - 1)
    return slot


@kernel
def pack_codes(indices: Bytes, bits: int, keys: Table, codes: Table, packed: Bytes) -> int:
    """Write the codes of (n,) indices into packed; keys and codes (SLOTS,) are scratch. Returns the number of bytes."""
    clear = 1 << bits
    held, filled, length = clear, bits + 1, 0  # the first code clears the table
    width, following = bits + 1, clear + 2
    for i in range(SLOTS):
        keys[i] = -1
    prefix = int(np.int64(indices[0]))  # of one type: mixed ones would become floats
    for i in range(1, indices.shape[0]):
        index = int(np.int64(indices[i]))
        key = prefix << 8 | index
        slot = slot_of(key, keys)
        if keys[slot] == key:
            prefix = int(np.int64(codes[slot]))
            continue
        held |= prefix << filled
        filled += width
        if following < MOST_CODES:
            keys[slot] = key
            codes[slot] = following
            # The code just entered may be the first that is too long for the present width; the reader knows it one code later.
            if following == 1 << width:
                width += 1
            following += 1
        else:
            held |= clear << filled
            filled += width
            width, following = bits + 1, clear + 2
            for j in range(SLOTS):
                keys[j] = -1
        prefix = index
        while filled >= 8:
            packed[length] = held & 255
            length, held, filled = length + 1, held >> 8, filled - 8
    held |= prefix << filled
    filled += width
    # This code, too, makes the reader enter one, which may widen what follows.
    if following == 1 << width and width < 12:
        width += 1
    held |= (clear + 1) << filled
    filled += width
    while filled > 0:
        packed[length] = held & 255
        length, held, filled = length + 1, held >> 8, filled - 8
    return length
