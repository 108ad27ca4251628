"""The interval test: near and far depth of both bodies at each pixel (§4, eq. 1).

A pixel collides when I_z(A) and I_z(B), the depths that each body takes up there, share a depth. The paper counts faces
instead, since its hardware could not keep two depths (`stencil.py`). Both decide the same, pixel by pixel. Depths are
float64, closed at both ends: bodies that touch along a pixel's ray collide, up to rounding. With CONSERVATIVE the depths
are those over whole pixels (`render/depth_ranges.py`).

For convex bodies that is all. For others it shows where to compare layers (`layers.py`): depths between near and far may
be outside.
"""

from __future__ import annotations

import numpy as np

from jostle._types import Floats
from jostle.kernels.jit import kernel
from jostle.methods.image_space.workspace import CONSERVATIVE, FAR, HIGH, LOW, NEAR, DrawnPair, Work, depth_map, fill_map, meet_maps
from jostle.render.depth_maps import draw_near_and_far
from jostle.render.depth_ranges import draw_possible_near_and_far
from jostle.render.drawn_body import DrawnBody


@kernel
def common_depths(work: Work, pair: DrawnPair) -> tuple[int, int]:
    """Write the common depths LOW <= HIGH of each pixel, LOW > HIGH without any.

    Returns the number of pixels with common depths, and of the faces drawn. NEAR and FAR keep the depths of B alone.
    """
    size = pair.a.size
    drawn = draw_depths(work, pair, pair.a, depth_map(work, LOW, size), depth_map(work, HIGH, size))
    if drawn == 0:
        return 0, 0
    drawn += draw_depths(work, pair, pair.b, depth_map(work, NEAR, size), depth_map(work, FAR, size))
    return meet_maps(work, size), drawn


@kernel
def draw_depths(work: Work, pair: DrawnPair, body: DrawnBody, near: Floats, far: Floats) -> int:
    """Write near and far (size, size) of a body; return the number of faces drawn."""
    fill_map(near, np.inf)
    fill_map(far, -np.inf)
    if work.search.test == CONSERVATIVE:
        return draw_possible_near_and_far(body, pair.slack, near, far, work.scratch)
    return draw_near_and_far(body, near, far, work.scratch)
