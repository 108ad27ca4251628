"""The small interface behind which pictures are drawn: `software` (`software.py`) and `wgpu` (`gpu/`).

A renderer is told of the shapes of all bodies and decides views: each one a pair of bodies seen along a direction, over its minimal
overlapping region (`regions.py`). It answers whether any pixel collides, and where the first one does. All contact regions are made
by `contact_region.py` in float64, whatever the renderer.
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
    """What a renderer says of each view."""

    pixels: NDArray[np.int64]  # (n,) colliding pixels, 0 for none; a renderer that stops at the first says 1
    first: Ints  # (n,) the number y * size + x of the first colliding pixel, -1
    near: Floats  # (n,) where the common depths begin there, tile z; NaN where nothing collides
    far: Floats  # (n,) where they end
    drawn: int  # pixels looked at


class Renderer(Protocol):
    """Draws pairs of bodies and decides whether they collide."""

    @property
    def name(self) -> str:
        """What it is, for messages."""
        ...

    def change(self, shapes: tuple[ImageShape, ...]) -> None:
        """Take the shapes of all bodies, one each; bodies may share one."""
        ...

    def deform(self, body: int, shape: ImageShape) -> None:
        """Take other points and boxes for a body that deforms."""
        ...

    def decide(self, views: Views, test: str, workers: int | None) -> Decisions:
        """Decide each view by the paper's stencil counts ("stencil") or by near and far depth ("interval")."""
        ...


def no_decisions(count: int) -> Decisions:
    """Return decisions that say nothing yet: nothing collides."""
    return Decisions(np.zeros(count, np.int64), np.full(count, -1, np.int32), np.full(count, np.nan), np.full(count, np.nan), 0)


def gpu_renderer(method: ImageSpace) -> Renderer | None:
    """Return the renderer on a device that these settings ask for, None for software.

    "auto" takes a device that is a graphics processor and passes its start-up check; anything else is no error then.
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
