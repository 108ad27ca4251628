"""A palette for frames of a moving picture, and the nearest entry for every pixel.

Few colours are kept as they are. Otherwise colours are gathered in cells of 4 x 4 x 4, cells are divided where they vary most
(median cut, at the mean), and the entries are moved to the middle of what is nearest to them (Lloyd's iteration). A colour counts
by the square root of its pixels: a few red faces are what the picture is about, and a plain background is not.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

Bytes = NDArray[np.uint8]
Floats = NDArray[np.float64]
IndexOf = Callable[[Bytes], Bytes]

CELLS = 1 << 18  # six bits for each channel
ROUNDS = 4  # of Lloyd's iteration; more of them change no entry by a whole step


def palette_of(frames: Sequence[Bytes], most: int) -> tuple[Bytes, IndexOf]:
    """Return a palette (k, 3), k <= most <= 255, and the function that gives (h, w) indices of (h, w, 3) pixels."""
    exact = _exact_colours(frames, most)
    if exact is not None:

        def exact_index(pixels: Bytes) -> Bytes:
            return np.searchsorted(exact, _packed(pixels)).astype(np.uint8)

        return np.stack([exact >> 16, exact >> 8 & 255, exact & 255], axis=1).astype(np.uint8), exact_index
    cells, colours, weights = _gathered(frames)
    entries = _divided(colours, weights, most)
    for _ in range(ROUNDS):
        nearest = _nearest(colours, entries)
        total = np.bincount(nearest, weights, len(entries))
        used = total > 0.0
        for channel in range(3):
            entries[used, channel] = np.bincount(nearest, weights * colours[:, channel], len(entries))[used] / total[used]
    palette = np.rint(entries).astype(np.uint8)
    table = np.zeros(CELLS, np.uint8)
    table[cells] = _nearest(colours, palette.astype(np.float64))

    def index(pixels: Bytes) -> Bytes:
        found: Bytes = table[_cell(pixels)]
        return found

    return palette, index


def _packed(pixels: Bytes) -> NDArray[np.int32]:
    wide = pixels.astype(np.int32)
    packed: NDArray[np.int32] = wide[..., 0] << 16 | wide[..., 1] << 8 | wide[..., 2]
    return packed


def _cell(pixels: Bytes) -> NDArray[np.int32]:
    wide = pixels.astype(np.int32) >> 2
    cell: NDArray[np.int32] = wide[..., 0] << 12 | wide[..., 1] << 6 | wide[..., 2]
    return cell


def _exact_colours(frames: Sequence[Bytes], most: int) -> NDArray[np.int32] | None:
    """Return the colours of all frames, packed and sorted, if they are few enough."""
    seen = np.empty(0, np.int32)
    for frame in frames:
        seen = np.union1d(seen, _packed(frame))
        if len(seen) > most:
            return None
    return seen


def _gathered(frames: Sequence[Bytes]) -> tuple[NDArray[np.int64], Floats, Floats]:
    """Return the cells that have pixels, their mean colours (n, 3) and their weights."""
    count, total = np.zeros(CELLS), np.zeros((3, CELLS))
    for frame in frames:
        cell = _cell(frame).ravel()
        count += np.bincount(cell, minlength=CELLS)
        for channel in range(3):
            total[channel] += np.bincount(cell, frame[..., channel].ravel().astype(np.float64), CELLS)
    cells = np.flatnonzero(count)
    return cells, (total[:, cells] / count[cells]).T.copy(), np.sqrt(count[cells])


def _divided(colours: Floats, weights: Floats, most: int) -> Floats:
    """Return the mean colours (k, 3), k <= most, of parts that were divided where they vary most."""
    parts = [np.arange(len(colours))]
    spreads = [_spread(colours, weights)]
    while len(parts) < most:
        worst = int(np.argmax([float(spread.max()) for spread in spreads]))
        if spreads[worst].max() <= 0.0:
            break
        part, axis = parts[worst], int(np.argmax(spreads[worst]))
        value = colours[part, axis]
        low = value <= np.average(value, weights=weights[part])
        if low.all() or not low.any():  # rounding: they are as good as equal
            spreads[worst] = np.zeros(3)
            continue
        parts[worst : worst + 1] = [part[low], part[~low]]
        spreads[worst : worst + 1] = [_spread(colours[half], weights[half]) for half in (part[low], part[~low])]
    return np.array([np.average(colours[part], axis=0, weights=weights[part]) for part in parts])


def _spread(colours: Floats, weights: Floats) -> Floats:
    """Return (3,) the weighted sum of squares about the mean."""
    offset = colours - np.average(colours, axis=0, weights=weights)
    spread: Floats = weights @ (offset * offset)
    return spread


def _nearest(colours: Floats, entries: Floats) -> NDArray[np.int64]:
    """Return (n,) the entry nearest to each colour; the first of equally near ones."""
    squares = (entries * entries).sum(axis=1)
    found = np.empty(len(colours), np.int64)
    for start in range(0, len(colours), 4096):
        some = colours[start : start + 4096]
        found[start : start + 4096] = np.argmin(squares - 2.0 * some @ entries.T, axis=1)
    return found
