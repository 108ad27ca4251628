"""Known scenes that a device must decide rightly before it is trusted.

Through each pipeline (interval, stencil, layers) go, in one frame and at different sizes: boxes that overlap, with the colliding
pixels in a known corner of the picture, so that a picture upside down is seen; the same in a mirror; a box within a box; boxes at
the same place; wedges whose boxes overlap and who are apart; and, for the layers, boxes in two storeys that pass between each
other, and that meet in the upper storey only, where near and far depth alone would tell a lie.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from jostle._types import Floats
from jostle.methods.image_space.regions import Views
from jostle.methods.image_space.shape import ImageShape
from jostle.render.patches import patches_of

if TYPE_CHECKING:
    from jostle.methods.image_space.gpu.device import SharedDevice

DEPTH_ERROR = 1e-3  # of depths of about 1: coarse, since a device that is wrong is so by far

# Corners of a box are numbered by the bits of x, y, z; faces are seen from outside counterclockwise.
BOX_FACES = np.array(
    [
        [0, 2, 1],
        [1, 2, 3],
        [4, 5, 6],
        [5, 7, 6],
        [0, 1, 4],
        [1, 5, 4],
        [2, 6, 3],
        [3, 6, 7],
        [0, 4, 2],
        [2, 4, 6],
        [1, 3, 5],
        [3, 7, 5],
    ],
    np.int32,
)


class Scene(NamedTuple):
    """A pair of shapes, both seen along z over the square from (0, 0), and what must be said of it."""

    name: str
    a: ImageShape
    b: ImageShape
    size: int  # pixels of the tile, of width 1/8
    mirrored: bool
    pixels: int
    first: int
    near: float
    far: float


def failed_scene(shared: SharedDevice) -> str:
    """Return what a device decides wrongly; empty when all is right."""
    from jostle.methods.image_space.gpu.renderer import WgpuRenderer

    for kind in ("interval", "stencil", "layers"):
        scenes = _scenes(layered=kind == "layers")
        renderer = WgpuRenderer(shared)
        renderer.change(tuple(shape for scene in scenes for shape in (scene.a, scene.b)))
        found = renderer.decide(_views(scenes), "interval" if kind == "layers" else kind, 1)
        for k, scene in enumerate(scenes):
            near = scene.far if kind == "stencil" else scene.near
            right = found.pixels[k] == scene.pixels and found.first[k] == scene.first
            if right and scene.pixels:
                right = abs(found.near[k] - near) < DEPTH_ERROR and abs(found.far[k] - scene.far) < DEPTH_ERROR
            if not right:
                said = f"{found.pixels[k]} pixels from {found.first[k]} on, depths {found.near[k]:.4g} to {found.far[k]:.4g}"
                return f"it failed its start-up check ({kind}, {scene.name}: {said})"
    return ""


def _scenes(layered: bool) -> list[Scene]:
    nan = np.nan
    cube = _boxes(layered, ((0, 0, 0), (1, 1, 1)))
    square = [(0, 0), (1, 0), (0, 1), (1, 1)]
    below = [*((x, y, 0) for x, y in square), *((x, y, y) for x, y in square)]
    above = [*((x, y, y + 0.3) for x, y in square), *((x, y, 1.3) for x, y in square)]
    scenes = [
        Scene("boxes that overlap", cube, _boxes(layered, ((0.25, 0.5, 0.75), (0.75, 2, 2))), 8, False, 16, 4 * 8 + 2, 0.75, 1.0),
        Scene("boxes in a mirror", cube, _boxes(layered, ((0.25, 0.5, 0.75), (0.75, 2, 2))), 8, True, 16, 4 * 8 + 2, -1.0, -0.75),
        Scene("a box in a box", _boxes(layered, ((-9, -9, -9), (9, 9, 9))), cube, 13, False, 64, 0, 0.0, 1.0),
        Scene("boxes at one place", cube, _boxes(layered, ((0, 0, 0), (1, 1, 1))), 32, False, 64, 0, 0.0, 1.0),
        Scene("wedges that are apart", _shape(below, layered), _shape(above, layered), 8, False, 0, -1, nan, nan),
    ]
    if layered:
        storeys = _boxes(True, ((0, 0, 0), (1, 1, 1)), ((0, 0, 2), (1, 1, 3)))
        between = _boxes(True, ((0, 0, 1.2), (1, 1, 1.8)), ((0, 0, 3.2), (1, 1, 3.8)))
        meeting = _boxes(True, ((0, 0, 1.2), (1, 1, 1.8)), ((0, 0, 2.5), (1, 0.5, 3.8)))
        scenes.append(Scene("storeys that pass between each other", storeys, between, 8, False, 0, -1, nan, nan))
        scenes.append(Scene("storeys that meet above", storeys, meeting, 8, False, 32, 0, 2.5, 3.0))
    return scenes


def _boxes(layered: bool, *boxes: tuple[tuple[float, ...], tuple[float, ...]]) -> ImageShape:
    corners = [tuple(box[k >> axis & 1][axis] for axis in range(3)) for box in boxes for k in range(8)]
    return _shape(corners, layered)


def _shape(corners: Sequence[tuple[float, ...]], layered: bool) -> ImageShape:
    """The shape of boxes, or of what has their faces, of eight corners each."""
    points: Floats = np.array(corners, np.float64)
    faces = np.concatenate([BOX_FACES + 8 * k for k in range(len(points) // 8)]).astype(np.int32)
    return ImageShape(*patches_of(points, faces), points.min(axis=0), points.max(axis=0), 0 if layered else 1)


def _views(scenes: list[Scene]) -> Views:
    count = len(scenes)
    rows = np.arange(count, dtype=np.int32)
    to_tile = np.tile([8.0, 0, 0, 0, 0, 8.0, 0, 0, 0, 0, 1, 0], (count, 2, 1))
    to_tile[[scene.mirrored for scene in scenes], :, 10] = -1.0
    to_world = np.tile([0.125, 0, 0, 0, 0, 0.125, 0, 0, 0, 0, 1, 0], (count, 1))
    size = np.array([scene.size for scene in scenes], np.int32)
    return Views(
        rows, 2 * rows, 2 * rows + 1, to_tile, to_world, size, np.full((count, 2), 0.125),
        np.tile([0.0, 0.0, 1.0], (count, 1)), np.zeros((count, 2)),
    )  # fmt: skip
