"""Write moving pictures as GIF files through Pillow.

All frames share one palette, in which up to 255 colours are kept exactly. Pillow alone would choose one for each frame by
its pixels: reds of a few touching faces came out 65 of 255 steps away. Of each frame it writes only what changed. Equal
frames give equal bytes with one version of Pillow; a file appears complete or not at all (`atomic_file.py`).
"""

from __future__ import annotations

import io
import os
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from jostle import cast
from jostle._types import Bytes, Longs
from jostle.atomic_file import atomic_write
from jostle.errors import InputError
from jostle.render.png import checked_target, require_pillow

if TYPE_CHECKING:
    from PIL.Image import Image

Progress = Callable[[int], None]

LARGEST_SIDE = 65535  # of a GIF, by its format
MOST_COLOURS = 255  # one entry of the palette is for pixels that do not change
MOST_DISTINCT = 1 << 16  # colours to choose a palette from: Pillow takes 0.6 s for them, without Ctrl-C


def encode_gif(frames: Sequence[Bytes], seconds: float = 0.05, *, loop: bool = True, progress: Progress | None = None) -> bytes:
    """Return the bytes of a GIF file.

    Parameters
    ----------
    frames : sequence of (h, w, 3) uint8
        All of one size; row 0 is the top.
    seconds : float
        From one frame to the next, 0.02 … 600; the format counts hundredths.
    loop : bool
        Whether it repeats.
    progress : callable, optional
        Called with the number of frames encoded so far.
    """
    checked = _checked_frames(frames)
    hundredths = _hundredths(seconds)
    require_pillow()
    palette, entry_of_colour = _shared_palette(checked)
    images = _images(checked, palette, entry_of_colour, progress)
    content = io.BytesIO()
    settings: dict[str, Any] = {"loop": 0} if loop else {}
    next(images).save(
        content,
        "GIF",
        save_all=True,
        append_images=images,
        duration=10 * hundredths,
        disposal=1,  # the next frame is drawn over it
        palette=palette,
        transparency=len(palette) // 3 - 1,
        optimize=True,  # unchanged pixels are transparent
        **settings,
    )
    return content.getvalue()


def write_gif(path: str | os.PathLike[str], frames: Sequence[Bytes], seconds: float = 0.05, **settings: Any) -> None:
    """Write a moving picture to a GIF file, atomically; settings as for `encode_gif`."""
    target = checked_target(path)
    content = encode_gif(frames, seconds, **settings)
    with atomic_write(target) as temporary:
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


def _images(frames: list[Bytes], palette: bytes, entry_of_colour: Bytes, progress: Progress | None) -> Iterator[Image]:
    """Yield each frame as an image of palette entries."""
    from PIL import Image

    before: Bytes | None = None
    for done, frame in enumerate(frames, start=1):
        entries = entry_of_colour[_packed(frame)]
        if before is not None and np.array_equal(entries, before):
            entries[0, 0] = len(palette) // 3 - 1  # transparent; Pillow would join equal frames, and fail if they last 656 s
        before = entries
        image = Image.fromarray(entries)
        image.putpalette(palette)
        yield image
        if progress is not None:
            progress(done)


def _shared_palette(frames: list[Bytes]) -> tuple[bytes, Bytes]:
    """Return a palette for all frames, and the entry (2^24,) of each packed colour.

    The last entry of the palette is for transparent pixels.
    """
    pixels_of = np.zeros(1 << 24, np.int64)
    for frame in frames:
        np.add.at(pixels_of, _packed(frame).ravel(), 1)
    colours = np.flatnonzero(pixels_of)
    # Too many are gathered in cells of 8 x 8 x 8.
    cell_of_colour = colours if len(colours) <= MOST_DISTINCT else colours & 0xF8F8F8 | 0x040404
    cells, number = np.unique(cell_of_colour, return_inverse=True)
    palette = _channels(cells)
    if len(cells) > MOST_COLOURS:
        # Weighted by the square root of its pixels: a few red faces matter more than a plain background.
        palette = _chosen_entries(np.repeat(cells, np.sqrt(np.bincount(number, pixels_of[colours])).astype(np.int64)))
    entry_of_colour = np.zeros(1 << 24, np.uint8)
    entry_of_colour[colours] = _nearest(_channels(cells), palette)[number]
    return palette.tobytes() + bytes(3), entry_of_colour


def _chosen_entries(sample: Longs) -> Bytes:
    """Return (MOST_COLOURS, 3) colours for (n,) packed ones."""
    from PIL import Image

    picture = Image.fromarray(_channels(sample)[np.newaxis])
    # Two thirds of the entries cover all colours, such as the red of few pixels; the rest divide the frequent ones, such as the
    # shades of the background, which would show bands.
    shares = ((Image.Quantize.MAXCOVERAGE, 2 * MOST_COLOURS // 3), (Image.Quantize.MEDIANCUT, MOST_COLOURS // 3))
    # kmeans is the number of pixels that may still change their entry.
    parts = [picture.quantize(count, method, kmeans=max(1, len(sample) // 1000)) for method, count in shares]
    entries = b"".join(bytes(part.getpalette() or ())[: 3 * count] for part, (_, count) in zip(parts, shares, strict=True))
    return np.frombuffer(entries, np.uint8).reshape(-1, 3)


def _nearest(colours: Bytes, palette: Bytes) -> Bytes:
    """Return (n,) the entry nearest to each colour (n, 3)."""
    entries = palette.astype(np.float64)
    squares = (entries * entries).sum(axis=1)
    found = np.empty(len(colours), np.uint8)
    for start in range(0, len(colours), 4096):
        found[start : start + 4096] = np.argmin(squares - 2.0 * colours[start : start + 4096] @ entries.T, axis=1)
    return found


def _channels(packed: Longs) -> Bytes:
    return np.stack([packed >> 16, packed >> 8 & 255, packed & 255], axis=1).astype(np.uint8)


def _packed(pixels: Bytes) -> NDArray[np.int32]:
    wide = pixels.astype(np.int32)
    packed: NDArray[np.int32] = wide[..., 0] << 16 | wide[..., 1] << 8 | wide[..., 2]
    return packed
