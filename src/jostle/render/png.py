"""Write pictures as PNG files with nothing but zlib and struct.

One IHDR, one IDAT and one IEND chunk, 8 bits per channel, RGB or RGBA, no interlacing. Of the five row filters "none" and
"up" are tried on the whole picture and the shorter one is kept: drawings with many lines are a sixth shorter without a filter,
smooth ones shorter with it; a choice row by row was longer than "none" on all pictures of the gallery.
A file appears complete or not at all (`whole_file.py`).
Equal pictures give equal files (no time stamp, fixed compression level).
"""

from __future__ import annotations

import os
import struct
import zlib
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jostle.errors import InputError
from jostle.whole_file import written_whole

SIGNATURE = b"\x89PNG\r\n\x1a\n"
_COLOUR_TYPE = {3: 2, 4: 6}  # channels -> PNG colour type: truecolour, truecolour with alpha
_FILTER_UP = 2


def encode_png(pixels: NDArray[np.uint8]) -> bytes:
    """Return the bytes of a PNG file.

    Parameters
    ----------
    pixels : (h, w, 3) or (h, w, 4) uint8
        Row 0 is the top of the picture.
    """
    array: NDArray[Any] = np.asarray(pixels)
    if array.dtype != np.uint8 or array.ndim != 3 or array.shape[2] not in _COLOUR_TYPE or 0 in array.shape:
        raise InputError(
            f"pixels has shape {array.shape} and dtype {array.dtype}; pass a non-empty (h, w, 3) or (h, w, 4) uint8 array"
        )
    height, width, channels = array.shape
    rows = array.reshape(height, width * channels)
    filtered = np.empty((height, 1 + width * channels), dtype=np.uint8)
    filtered[:, 0] = _FILTER_UP
    filtered[0, 1:] = rows[0]
    np.subtract(rows[1:], rows[:-1], out=filtered[1:, 1:])  # uint8 wraps around, which is what the filter asks for
    header = struct.pack(">IIBBBBB", width, height, 8, _COLOUR_TYPE[channels], 0, 0, 0)
    plain = np.concatenate([np.zeros((height, 1), np.uint8), rows], axis=1)
    packed = min((zlib.compress(each.tobytes(), 9) for each in (filtered, plain)), key=len)
    return SIGNATURE + _chunk(b"IHDR", header) + _chunk(b"IDAT", packed) + _chunk(b"IEND", b"")


def write_png(path: str | os.PathLike[str], pixels: NDArray[np.uint8]) -> None:
    """Write a picture to a PNG file, atomically; the directory must exist.

    Parameters
    ----------
    path : path-like
        Where to write; an existing file is replaced.
    pixels : (h, w, 3) or (h, w, 4) uint8
        Row 0 is the top of the picture.
    """
    target = checked_target(path)
    content = encode_png(pixels)
    with written_whole(target) as temporary:
        temporary.write_bytes(content)


def checked_target(path: str | os.PathLike[str]) -> Path:
    """Return where a file is to be written, if it can be there."""
    target = Path(path)
    if not target.parent.is_dir():
        raise InputError(f"path is {str(target)!r}, but there is no directory {str(target.parent)!r}; create it first")
    if target.is_dir():
        raise InputError(f"path is {str(target)!r}, which is a directory; name a file in it")
    return target


def _chunk(kind: bytes, body: bytes) -> bytes:
    return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))
