"""The interface of device renderers (`gpu/`), and the decisions of a renderer.

A renderer has the shapes of all bodies and decides views: each a pair of bodies projected along a direction, over its
minimal overlapping region (`regions.py`). It returns whether any pixel collides, and the first one. Contact regions are
always made by `contact_region.py` in float64.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from jostle._types import Floats, Ints
from jostle.errors import InputError
from jostle.methods.image_space.regions import Views
from jostle.methods.image_space.shape import ImageShape

if TYPE_CHECKING:
    from jostle.methods.image_space.method import ImageSpace

RENDERERS = ("software", "auto", "wgpu")
TESTS = ("interval", "stencil")


class Decisions(NamedTuple):
    """The decision of a renderer on each view."""

    pixels: NDArray[np.int64]  # (n,) colliding pixels, 0 for none; 1 if the renderer stops at the first
    first: Ints  # (n,) the number y * size + x of the first colliding pixel, -1
    near: Floats  # (n,) where the common depths begin there, tile z; NaN where nothing collides
    far: Floats  # (n,) where they end
    drawn: int  # pixels compared


class Renderer(Protocol):
    """Draws pairs of bodies on a device and decides whether they collide."""

    def change(self, shapes: tuple[ImageShape, ...]) -> None:
        """Take the shapes of all bodies, one each; bodies may share one."""
        ...

    def deform(self, body: int, shape: ImageShape) -> None:
        """Take new points and boxes for a deforming body."""
        ...

    def decide(self, views: Views, test: str, workers: int | None) -> Decisions:
        """Decide each view by counts ("stencil") or near and far depth ("interval")."""
        ...


def no_decisions(count: int) -> Decisions:
    """Return empty decisions: nothing collides."""
    return Decisions(np.zeros(count, np.int64), np.full(count, -1, np.int32), np.full(count, np.nan), np.full(count, np.nan), 0)


def gpu_renderer(method: ImageSpace) -> Renderer | None:
    """Return the device renderer for these settings, None for software.

    "auto" takes a graphics processor that passes its start-up check, and software otherwise.
    """
    if method.renderer == "software" or method.conservative or method.share_depth:
        return None
    from jostle.methods.image_space import gpu

    try:
        started: Renderer = gpu.start(only_real=method.renderer == "auto")
    except InputError:
        if method.renderer == "auto":
            return None
        raise
    return started
