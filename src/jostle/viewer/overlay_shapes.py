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
        (overlay.boxes, _edges_of_boxes),
        (overlay.spheres, _circles_of_spheres),
        (overlay.discs, _outlines_of_discs),
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


def _edges_of_boxes(boxes: Floats) -> Floats:
    """Return the edges (12 k,2,3)."""
    corners = boxes[:, :1] + _CORNERS * (boxes[:, 1:] - boxes[:, :1])
    edges: Floats = corners[:, _EDGES].reshape(-1, 2, 3)
    return edges


def _circles_of_spheres(spheres: Floats) -> Floats:
    """Return (72 k,2,3): a circle around each axis."""
    circles = []
    for axis in range(3):
        circle = np.zeros((25, 3))
        circle[:, [k for k in range(3) if k != axis]] = _CIRCLE
        points = spheres[:, None, :3] + spheres[:, None, 3:] * circle
        circles.append(np.stack([points[:, :-1], points[:, 1:]], axis=2).reshape(-1, 2, 3))
    return np.concatenate(circles)


def _outlines_of_discs(discs: Floats) -> Floats:
    """Return (25 k,2,3): the rim, and a normal as long as the radius."""
    centre, normal, radius = discs[:, :3], discs[:, 3:6], discs[:, 6:]
    aside = np.where(np.abs(normal[:, :1]) < 0.9, [[1.0, 0.0, 0.0]], [[0.0, 1.0, 0.0]])
    first = np.cross(normal, aside)
    first /= np.maximum(np.linalg.norm(first, axis=1, keepdims=True), 1e-300)
    second = np.cross(normal, first)
    flat = first[:, None] * _CIRCLE[:, :1] + second[:, None] * _CIRCLE[:, 1:]
    rim = centre[:, None] + radius[:, None] * flat
    rims = np.stack([rim[:, :-1], rim[:, 1:]], axis=2).reshape(-1, 2, 3)
    return np.concatenate([rims, np.stack([centre, centre + radius * normal], axis=1)])


def as_picture(image: NDArray[Any], smallest: int = 160) -> NDArray[np.uint8]:
    """Return an overlay's image in colours (h,w,3): dark to light, NaN white."""
    values = np.asarray(image, np.float64)
    if values.ndim == 2:
        finite = np.isfinite(values)
        low, high = (values[finite].min(), values[finite].max()) if finite.any() else (0.0, 1.0)
        share = np.clip((np.where(finite, values, high) - low) / (high - low if high > low else 1.0), 0.0, 1.0)
        dark, light = np.array([28, 44, 84.0]), np.array([252, 214, 140.0])
        coloured = dark + share[..., None] * (light - dark)
        values = np.where(finite[..., None], coloured, 255.0)
    elif values.max(initial=0.0) <= 1.0:
        values = 255.0 * values
    # Small images are enlarged pixel by pixel.
    times = max(1, smallest // max(values.shape[0], 1))
    pixels: NDArray[np.uint8] = np.clip(values, 0, 255).astype(np.uint8).repeat(times, axis=0).repeat(times, axis=1)
    return pixels
