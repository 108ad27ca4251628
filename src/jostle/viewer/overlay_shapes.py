"""An `Overlay` as lines, points and images that a page can draw.

Boxes become their edges, spheres three circles, discs a circle and its normal. Nothing is left out silently: `drawn` returns how
many shapes there are and how many are drawn.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from jostle._types import Floats
from jostle.interface.overlay import Overlay
from jostle.render.panels import coloured

MOST_SHAPES = 4000  # of each kind: 48,000 lines, which a browser still rotates smoothly
_CORNERS = np.array([[x, y, z] for x in (0, 1) for y in (0, 1) for z in (0, 1)])
_EDGES = np.array([[a, b] for a in range(8) for b in range(a + 1, 8) if np.abs(_CORNERS[a] - _CORNERS[b]).sum() == 1])
_AROUND = 2.0 * np.pi * np.arange(25) / 24
_CIRCLE = np.stack([np.cos(_AROUND), np.sin(_AROUND)], axis=1)


class Drawn(NamedTuple):
    """Lines (k,2,3) and points (k,3) of an overlay, and how many shapes they show."""

    lines: Floats
    points: Floats
    shapes: int
    shown: int


def drawn(overlay: Overlay) -> Drawn:
    """Return an overlay's shapes in the world, at most `MOST_SHAPES` of each kind."""
    parts = []
    shapes = shown = 0
    for each, as_lines in (
        (overlay.boxes, _box_edges),
        (overlay.spheres, _sphere_circles),
        (overlay.discs, _disc_outlines),
        (overlay.segments, np.asarray),
    ):
        chosen = each[_spread(len(each), MOST_SHAPES)]
        shapes, shown = shapes + len(each), shown + len(chosen)
        if len(chosen):
            parts.append(as_lines(chosen))
    chosen = overlay.points[_spread(len(overlay.points), 20 * MOST_SHAPES)]
    shapes, shown = shapes + len(overlay.points), shown + len(chosen)
    return Drawn(np.concatenate([np.empty((0, 2, 3)), *parts]), chosen, shapes, shown)


def _spread(count: int, most: int) -> NDArray[np.int64]:
    """Return at most `most` indices, evenly spread over the scene."""
    return np.arange(count) if count <= most else np.linspace(0, count - 1, most).astype(np.int64)


def _box_edges(boxes: Floats) -> Floats:
    """Return the edges (12 k,2,3)."""
    corners = boxes[:, :1] + _CORNERS * (boxes[:, 1:] - boxes[:, :1])
    edges: Floats = corners[:, _EDGES].reshape(-1, 2, 3)
    return edges


def _sphere_circles(spheres: Floats) -> Floats:
    """Return (72 k,2,3): a circle around each axis."""
    return np.concatenate([_rims(spheres[:, :3], np.tile(axis, (len(spheres), 1)), spheres[:, 3:]) for axis in np.eye(3)])


def _disc_outlines(discs: Floats) -> Floats:
    """Return (25 k,2,3): the rim, and a normal as long as the radius."""
    centre, normal, radius = discs[:, :3], discs[:, 3:6], discs[:, 6:]
    return np.concatenate([_rims(centre, normal, radius), np.stack([centre, centre + radius * normal], axis=1)])


def _rims(centre: Floats, normal: Floats, radius: Floats) -> Floats:
    """Return circles (24 k,2,3) by centres (k,3), normals (k,3) and radii (k,1)."""
    aside = np.where(np.abs(normal[:, :1]) < 0.9, [[1.0, 0.0, 0.0]], [[0.0, 1.0, 0.0]])
    first = np.cross(normal, aside)
    first /= np.maximum(np.linalg.norm(first, axis=1, keepdims=True), 1e-300)
    second = np.cross(normal, first)
    flat = first[:, None] * _CIRCLE[:, :1] + second[:, None] * _CIRCLE[:, 1:]
    rim = centre[:, None] + radius[:, None] * flat
    return np.stack([rim[:, :-1], rim[:, 1:]], axis=2).reshape(-1, 2, 3)


def as_picture(image: NDArray[Any], smallest: int = 160) -> NDArray[np.uint8]:
    """Return an overlay's image (h,w,3) coloured as in pictures, small ones enlarged."""
    times = max(1, smallest // max(image.shape[0], 1))
    return coloured(image).repeat(times, axis=0).repeat(times, axis=1)
