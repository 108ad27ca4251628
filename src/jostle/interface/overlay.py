"""Overlay: a drawing of a method's internals, for viewers and pictures.

Plain arrays in world coordinates, so that methods know nothing about drawing and viewers nothing about methods.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray


def _none(*shape: int) -> NDArray[np.float64]:
    return np.empty((0, *shape))


@dataclass(frozen=True, eq=False)
class Overlay:
    """A drawing in world coordinates.

    Boxes (k,2,3) lower and upper, spheres (k,4) centre and radius, points (k,3), segments (k,2,3), discs (k,7) centre,
    normal and radius, faces {body id: face indices} to mark, and named images (h,w) or (h,w,3).
    """

    title: str
    boxes: NDArray[np.float64] = field(default_factory=lambda: _none(2, 3))
    spheres: NDArray[np.float64] = field(default_factory=lambda: _none(4))
    points: NDArray[np.float64] = field(default_factory=lambda: _none(3))
    segments: NDArray[np.float64] = field(default_factory=lambda: _none(2, 3))
    discs: NDArray[np.float64] = field(default_factory=lambda: _none(7))
    faces: dict[int, NDArray[np.int32]] = field(default_factory=dict)
    images: dict[str, NDArray[np.generic]] = field(default_factory=dict)
