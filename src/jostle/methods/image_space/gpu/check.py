"""Known cases that a device must decide correctly before it is trusted.

Through each pipeline (interval, stencil, layers) go, in one frame and at different sizes: boxes that overlap, with the
colliding pixels in a known corner of the picture, which shows a picture upside down; the same in a mirror; a box within a
box; boxes at the same place; wedges that are apart while their boxes overlap; and, for the layers, boxes in two storeys
that pass between each other, and that meet in the upper storey only, where near and far depth alone are wrong.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from jostle._types import Floats
from jostle.methods.image_space.regions import Views
from jostle.methods.image_space.shape import ImageShape
from jostle.render.patches import patches_of
from jostle.shapes import build

if TYPE_CHECKING:
    from jostle.methods.image_space.gpu.device import SharedDevice

DEPTH_ERROR = 1e-3  # of depths of about 1: coarse, since a faulty device is far off


class CheckCase(NamedTuple):
    """A pair of shapes seen along z from (0, 0), and the right decision."""

    name: str
    a: ImageShape
    b: ImageShape
    size: int  # pixels of the tile, of width 1/8
    mirrored: bool
    pixels: int
    first: int
    near: float
    far: float


def failed_case(shared: SharedDevice) -> str:
    """Return what a device decides wrongly; empty if nothing."""
    from jostle.methods.image_space.gpu.renderer import WgpuRenderer

    for kind in ("interval", "stencil", "layers"):
        cases = _cases(layered=kind == "layers")
        renderer = WgpuRenderer(shared)
        renderer.change(tuple(shape for case in cases for shape in (case.a, case.b)))
        found = renderer.decide(_views(cases), "interval" if kind == "layers" else kind, 1)
        for k, case in enumerate(cases):
            near = case.far if kind == "stencil" else case.near
            right = found.pixels[k] == case.pixels and found.first[k] == case.first
            if right and case.pixels:
                right = abs(found.near[k] - near) < DEPTH_ERROR and abs(found.far[k] - case.far) < DEPTH_ERROR
            if not right:
                said = f"{found.pixels[k]} pixels from {found.first[k]} on, depths {found.near[k]:.4g} to {found.far[k]:.4g}"
                return f"it failed its start-up check ({kind}, {case.name}: {said})"
    return ""


def _cases(layered: bool) -> list[CheckCase]:
    nan = np.nan
    cube = _boxes(layered, ((0, 0, 0), (1, 1, 1)))
    square = [(0, 0), (1, 0), (0, 1), (1, 1)]
    below = [*((x, y, 0) for x, y in square), *((x, y, y) for x, y in square)]
    above = [*((x, y, y + 0.3) for x, y in square), *((x, y, 1.3) for x, y in square)]
    cases = [
        CheckCase(
            "boxes that overlap", cube, _boxes(layered, ((0.25, 0.5, 0.75), (0.75, 2, 2))), 8, False, 16, 4 * 8 + 2, 0.75, 1.0
        ),
        CheckCase(
            "boxes in a mirror", cube, _boxes(layered, ((0.25, 0.5, 0.75), (0.75, 2, 2))), 8, True, 16, 4 * 8 + 2, -1.0, -0.75
        ),
        CheckCase("a box in a box", _boxes(layered, ((-9, -9, -9), (9, 9, 9))), cube, 13, False, 64, 0, 0.0, 1.0),
        CheckCase("boxes at one place", cube, _boxes(layered, ((0, 0, 0), (1, 1, 1))), 32, False, 64, 0, 0.0, 1.0),
        CheckCase("wedges that are apart", _shape(below, layered), _shape(above, layered), 8, False, 0, -1, nan, nan),
    ]
    if layered:
        storeys = _boxes(True, ((0, 0, 0), (1, 1, 1)), ((0, 0, 2), (1, 1, 3)))
        between = _boxes(True, ((0, 0, 1.2), (1, 1, 1.8)), ((0, 0, 3.2), (1, 1, 3.8)))
        meeting = _boxes(True, ((0, 0, 1.2), (1, 1, 1.8)), ((0, 0, 2.5), (1, 0.5, 3.8)))
        cases.append(CheckCase("storeys that pass between each other", storeys, between, 8, False, 0, -1, nan, nan))
        cases.append(CheckCase("storeys that meet above", storeys, meeting, 8, False, 32, 0, 2.5, 3.0))
    return cases


def _boxes(layered: bool, *boxes: tuple[tuple[float, ...], tuple[float, ...]]) -> ImageShape:
    corners = [tuple(box[k >> axis & 1][axis] for axis in range(3)) for box in boxes for k in range(8)]
    return _shape(corners, layered)


def _shape(corners: Sequence[tuple[float, ...]], layered: bool) -> ImageShape:
    """Return the shape of boxes, or of deformed boxes, of eight corners each."""
    points: Floats = np.array(corners, np.float64)
    box = build.box().faces  # corners are numbered by the bits of x, y, z
    faces = np.concatenate([box + 8 * k for k in range(len(points) // 8)]).astype(np.int32)
    return ImageShape(*patches_of(points, faces), points.min(axis=0), points.max(axis=0), 0 if layered else 1)


def _views(cases: list[CheckCase]) -> Views:
    count = len(cases)
    rows = np.arange(count, dtype=np.int32)
    to_tile = np.tile([8.0, 0, 0, 0, 0, 8.0, 0, 0, 0, 0, 1, 0], (count, 2, 1))
    to_tile[[case.mirrored for case in cases], :, 10] = -1.0
    to_world = np.tile([0.125, 0, 0, 0, 0, 0.125, 0, 0, 0, 0, 1, 0], (count, 1))
    size = np.array([case.size for case in cases], np.int32)
    return Views(
        rows, 2 * rows, 2 * rows + 1, to_tile, to_world, size, np.full((count, 2), 0.125),
        np.tile([0.0, 0.0, 1.0], (count, 1)), np.zeros((count, 2)),
    )  # fmt: skip
