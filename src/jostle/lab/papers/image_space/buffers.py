"""Pictures of the depth and stencil buffers (fig. 1 and 2) of one colliding pair.

Near and far depths of both bodies, dark where near, and two stencils that count the faces of one body at or before the far side of
the other: pale for none, a colour for each count, colliding pixels in red.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jostle.methods.image_space.method import ImageSpace
from jostle.motion.record import Motion
from jostle.render import write_png
from jostle.render.caption import write_text

Pixels = NDArray[np.uint8]

RESOLUTION = 256
BORDER, LINE = 8, 12
PAPER, PALE = (255, 255, 255), (238, 240, 243)
COUNTS = np.array([PALE, (244, 196, 92), (92, 148, 214), (120, 94, 180)], np.uint8)  # 0, 1, 2, and more
COLLIDING = (200, 30, 40)


def draw_buffers(motion: Motion, frame: int, path: Path) -> Path:
    """Draw the buffers of the pair with the most colliding pixels; return the file."""
    world = motion.world(ImageSpace(resolution=RESOLUTION, view="z"))
    motion.apply(world, frame)
    pairs = world.detect().pairs
    largest = int(np.argmax(pairs.rows))
    names = " and ".join(world[int(body)].name for body in (pairs.body_a[largest], pairs.body_b[largest]))
    images = {
        key.removeprefix(f"{names}: "): image for key, image in world.overlay().images.items() if key.startswith(f"{names}: ")
    }
    depths = {title: image for title, image in images.items() if "depth" in title}
    counts = {title: image for title, image in images.items() if "faces" in title}
    both: NDArray[np.bool_] = np.all([np.asarray(image, np.int64) > 0 for image in counts.values()], axis=0)
    tiles = [(title, _in_grey(image, list(depths.values()))) for title, image in depths.items()]
    tiles += [(title, _in_colours(image, both)) for title, image in counts.items()]
    write_png(path, _beside(tiles))
    return path


def _in_grey(depth: NDArray[Any], all_depths: list[NDArray[Any]]) -> Pixels:
    """Return depths as greys on one scale for all pictures; pale where empty."""
    low, high = np.nanmin([np.nanmin(each) for each in all_depths]), np.nanmax([np.nanmax(each) for each in all_depths])
    drawn = np.isfinite(depth)
    grey = 40.0 + 180.0 * (np.where(drawn, depth, low) - low) / max(float(high - low), 1e-300)
    picture = np.repeat(grey[:, :, None], 3, axis=2).astype(np.uint8)
    picture[~drawn] = PALE
    return picture


def _in_colours(count: NDArray[Any], colliding: NDArray[np.bool_]) -> Pixels:
    """Return counts as colours, colliding pixels in red."""
    picture: Pixels = COUNTS[np.minimum(count, len(COUNTS) - 1)]
    picture[colliding] = COLLIDING
    return picture


def _beside(tiles: list[tuple[str, Pixels]]) -> Pixels:
    """Return tiles with their titles in rows of two: depths of each body, then counts."""
    high, wide = tiles[0][1].shape[:2]
    step_y, step_x = high + 2 * LINE + BORDER, wide + BORDER
    rows = -(-len(tiles) // 2)
    picture: Pixels = np.full((rows * step_y + BORDER, 2 * step_x + BORDER, 3), PAPER, np.uint8)
    for number, (title, tile) in enumerate(tiles):
        top, left = BORDER + number // 2 * step_y, BORDER + number % 2 * step_x
        for line, words in enumerate(title.replace(" before", "\nbefore").split("\n")):
            write_text(picture, words, left, top + line * LINE, scale=1)
        top += 2 * LINE
        picture[top : top + high, left : left + wide] = tile[::-1]  # y grows upwards
    return picture
