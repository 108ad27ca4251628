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

    Examples
    --------
    >>> drawing = jostle.Overlay("one box", boxes=[[(0, 0, 0), (1, 1, 1)]])
    >>> drawing.title, len(drawing.points)
    ('one box', 0)
    """

    title: str
    boxes: NDArray[np.float64] = field(default_factory=lambda: _none(2, 3))
    spheres: NDArray[np.float64] = field(default_factory=lambda: _none(4))
    points: NDArray[np.float64] = field(default_factory=lambda: _none(3))
    segments: NDArray[np.float64] = field(default_factory=lambda: _none(2, 3))
    discs: NDArray[np.float64] = field(default_factory=lambda: _none(7))
    faces: dict[int, NDArray[np.int32]] = field(default_factory=dict)
    images: dict[str, NDArray[np.generic]] = field(default_factory=dict)


EDGES_OF_BOX = np.array([[a, a | bit] for a in range(8) for bit in (1, 2, 4) if not a & bit])
CORNERS_OF_BOX = np.array([[(k >> axis & 1) * 2.0 - 1.0 for axis in range(3)] for k in range(8)])


def edges_of_boxes(centre: NDArray[np.float64], half_axes: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the edges (12 k,2,3) of boxes by centres (k,3) and half axes (k,3,3), in rows."""
    corners = centre[:, None] + np.einsum("ca,nak->nck", CORNERS_OF_BOX, half_axes)
    edges: NDArray[np.float64] = corners[:, EDGES_OF_BOX].reshape(-1, 2, 3)
    return edges
