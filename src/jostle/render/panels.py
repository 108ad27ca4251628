"""Images of an overlay, such as depth buffers, beside a picture as named panels."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from jostle._types import Bytes
from jostle.render.caption import ADVANCE, GLYPH_HEIGHT, write_text

PAPER = (252, 252, 253)
NOTHING = (236, 239, 243)  # where an image has no value
FRAME = (150, 158, 170)
MOST = 8
# From near to far, light enough at both ends for print; counts take them in steps.
SCALE = np.array([[20, 44, 84], [36, 92, 140], [70, 150, 164], [150, 200, 164], [236, 230, 170]], np.float64)


def set_beside(pixels: Bytes, images: Mapping[str, NDArray[np.generic]]) -> Bytes:
    """Return a picture with images (h, w) or (h, w, 3) in columns at its right.

    At most MOST of them, in one or two columns.
    """
    shown = list(images.items())[:MOST]
    if not shown:
        return pixels
    height = pixels.shape[0]
    columns = 1 if len(shown) <= 3 else 2
    rows = -(-len(shown) // columns)
    space = max(4, height // 60)
    scale = max(1, min(height // 360, 3))
    name_height = (GLYPH_HEIGHT + 4) * scale
    side = max(8, (height - space * (rows + 1)) // rows - name_height)
    result = np.empty((height, pixels.shape[1] + columns * side + (columns + 1) * space, 3), np.uint8)
    result[:] = PAPER
    result[:, : pixels.shape[1]] = pixels
    top_of_all = (height - rows * (side + name_height + space) + space) // 2
    for number, (name, image) in enumerate(shown):
        row, column = divmod(number, columns)
        top = top_of_all + row * (side + name_height + space)
        left = pixels.shape[1] + space + column * (side + space)
        result[top : top + side, left : left + side] = _framed(coloured(image), side)
        write_text(result[:, : left + side], _shortened(name, side, scale), left, top + side + 3 * scale, scale=scale)
    return result


def coloured(image: NDArray[np.generic]) -> Bytes:
    """Return (h, w, 3) colours of an image: numbers on a scale, NaN as nothing.

    Images with colours keep them.
    """
    array = np.asarray(image)
    if array.ndim == 3:
        top = 255.0 if array.dtype.kind in "ui" else max(float(np.nanmax(array)), 1e-300)
        kept: Bytes = np.clip(np.nan_to_num(array.astype(np.float64) * (255.0 / top)), 0.0, 255.0).astype(np.uint8)
        return kept
    values = array.astype(np.float64)
    known = np.isfinite(values)
    if array.dtype.kind in "uib":
        known &= values != 0.0  # counts: none is nothing
    if not known.any():
        return np.broadcast_to(np.array(NOTHING, np.uint8), (*values.shape, 3)).copy()
    low, high = float(values[known].min()), float(values[known].max())
    place = np.where(known, (values - low) / max(high - low, 1e-300), 0.0) * (len(SCALE) - 1)
    channels = [np.interp(place, np.arange(len(SCALE)), channel) for channel in SCALE.T]
    colours: Bytes = np.rint(np.stack(channels, axis=2)).astype(np.uint8)
    colours[~known] = NOTHING
    return colours


def _framed(image: Bytes, side: int) -> Bytes:
    """Return an image as side x side pixels, nearest neighbour, within a thin frame."""
    height, width, _ = image.shape
    longest = max(height, width)
    at = (np.arange(side) * longest) // side
    inside = (at < height)[:, None] & (at < width)[None, :]
    result = np.empty((side, side, 3), np.uint8)
    result[:] = PAPER
    result[inside] = image[np.minimum(at, height - 1)][:, np.minimum(at, width - 1)][inside]
    result[[0, -1]] = FRAME
    result[:, [0, -1]] = FRAME
    return result


def _shortened(name: str, side: int, scale: int) -> str:
    """Return a name that fits under a panel: cut before a colon, then at its end."""
    room = max(1, side // (ADVANCE * scale))
    short = name if len(name) <= room else name.rpartition(": ")[2]
    return short if len(short) <= room else short[: max(1, room - 2)] + ".."
