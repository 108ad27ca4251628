"""The overlay: regions of colliding pairs, and their images.

A region is the frame of its tile and the box of the common depths over it, as segments, and that box in world axes.
Images are those of Fig. 1 and 2 of Baciu et al.: near and far depths of both bodies, NaN where a body is not, and the
stencil: how many faces of one body are at or before the far side of the other. Row j of an image has the pixels with y =
j.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from jostle._types import Floats
from jostle.interface.frame import Frame
from jostle.interface.overlay import Overlay
from jostle.kernels.arrays import read_only_view
from jostle.methods.image_space.regions import Views
from jostle.methods.image_space.shape_table import ShapesOfBodies
from jostle.methods.image_space.software import Pixels
from jostle.methods.image_space.stencil import render_shapes
from jostle.render.depth_maps import draw_shape
from jostle.render.spans import scratch_for_drawing

OVERLAYS = ("", "region", "depth", "stencil")

# The edges of a box by its corners; bit k of a corner is its side of axis k.
EDGES = [(corner, corner | 1 << axis) for axis in range(3) for corner in range(8) if not corner >> axis & 1]


def shown(what: str, views: Views, pixels: Pixels, frame: Frame, shapes: ShapesOfBodies) -> Overlay:
    """Return the regions and images of the views with colliding pixels."""
    found = np.unique(pixels.view)
    boxes, segments = [np.empty((0, 2, 3))], [np.empty((0, 2, 3))]
    images: dict[str, NDArray[np.generic]] = {}
    for view in found.tolist():
        rows = slice(*np.searchsorted(pixels.view, (view, view + 1)))
        if what in ("", "region"):
            corners = _corners(views, view, float(pixels.low[rows].min()), float(pixels.high[rows].max()))
            boxes.append(np.stack([corners.min(axis=0), corners.max(axis=0)])[None])
            segments.append(np.stack([corners[[a, b]] for a, b in EDGES]))
            segments.append(_frame_of_tile(views, view))
        a, b = (frame.bodies.names[int(column[view])] for column in (views.body_a, views.body_b))
        if what in ("", "depth"):
            images |= {f"{a} and {b}: {name}": image for name, image in depth_images(views, view, shapes, a, b).items()}
        if what in ("", "stencil"):
            images |= {f"{a} and {b}: {name}": image for name, image in stencil_images(views, view, shapes, a, b).items()}
    title = {"": "regions and pictures", "region": "regions", "depth": "depths", "stencil": "stencil counts"}[what]
    return Overlay(f"{title} of {len(found)} pairs", boxes=np.concatenate(boxes), segments=np.concatenate(segments), images=images)


def depth_images(views: Views, view: int, shapes: ShapesOfBodies, a: str, b: str) -> dict[str, NDArray[Any]]:
    """Return near and far depths (size, size) of both bodies; NaN where a body is not."""
    size = int(views.size[view])
    images: dict[str, NDArray[Any]] = {}
    for role, name in enumerate((a, b)):
        near, far = np.full((size, size), np.inf), np.full((size, size), -np.inf)
        draw_shape(*_drawn(views, view, role, shapes), size, near, far, scratch_for_drawing())
        nothing = near > far
        near[nothing] = far[nothing] = np.nan
        images |= {f"near depth of {name}": near, f"far depth of {name}": far}
    return images


def stencil_images(views: Views, view: int, shapes: ShapesOfBodies, a: str, b: str) -> dict[str, NDArray[Any]]:
    """Return the counts (size, size) of both renderings, with the roles exchanged."""
    size = int(views.size[view])
    images: dict[str, NDArray[Any]] = {}
    table = shapes.table.table
    for role, (of, other) in enumerate(((b, a), (a, b))):
        far, count = np.empty((size, size)), np.empty((size, size), np.uint8)
        _, set_shape, set_view = _drawn(views, view, role, shapes)
        _, test_shape, test_view = _drawn(views, view, 1 - role, shapes)
        render_shapes(table, set_shape, test_shape, set_view, test_view, far, count, scratch_for_drawing())
        images[f"faces of {of} before the far side of {other}"] = count
    return images


def _drawn(views: Views, view: int, role: int, shapes: ShapesOfBodies) -> tuple[Any, int, Floats]:
    """Return table, row and matrix of body A (role 0) or B (role 1) for kernels."""
    body = (views.body_a, views.body_b)[role][view]
    return shapes.table.table, int(shapes.shape_of_body[body]), read_only_view(views.to_tile[view, role].copy())


def in_world(views: Views, view: int, points: Floats) -> Floats:
    """Return tile points (k, 3) in the world."""
    matrix = views.to_world[view].reshape(3, 4)
    placed: Floats = points @ matrix[:, :3].T + matrix[:, 3]
    return placed


def _corners(views: Views, view: int, low: float, high: float) -> Floats:
    """Return the world corners (8, 3) of a region between two depths."""
    size = float(views.size[view])
    corners = [[size * (k & 1), size * (k >> 1 & 1), high if k >> 2 else low] for k in range(8)]
    return in_world(views, view, np.array(corners))


def _frame_of_tile(views: Views, view: int) -> Floats:
    """Return the frame (4, 2, 3) of a tile, through the middle of the region."""
    size = float(views.size[view])
    around = in_world(views, view, np.array([[0.0, 0.0, 0.0], [size, 0.0, 0.0], [size, size, 0.0], [0.0, size, 0.0]]))
    return np.stack([around, np.roll(around, -1, axis=0)], axis=1)
