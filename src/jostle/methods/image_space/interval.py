"""The test by intervals: near and far depth of both bodies, and the depths that they share at each pixel (Baciu et al. §4, eq. 1).

A pixel collides when I_z(A) and I_z(B), the depths that each body takes up there, share a depth. The paper counts faces instead,
since its hardware could not keep two depths (`stencil.py`); arrays can. Decisions are the same, pixel by pixel. Depths are float64,
closed at both ends: bodies that touch along a pixel's ray collide, up to rounding.

For convex bodies that is all. For others it is where to look closer (`layers.py`): depths between near and far may be outside.
"""

from __future__ import annotations

import numpy as np

from jostle.kernels.jit import kernel
from jostle.methods.image_space.workspace import FAR, HIGH, LOW, NEAR, DrawnPair, Work, depth_map, fill_map, meet_maps
from jostle.render.depth_maps import draw_near_and_far


@kernel
def common_depths(work: Work, pair: DrawnPair) -> tuple[int, int]:
    """Write the common depths LOW <= HIGH of each pixel; LOW > HIGH where there are none.

    Returns the number of pixels that have some, and that of the faces drawn. What is in NEAR and FAR is of B alone.
    """
    size = pair.a.size
    low, high = depth_map(work, LOW, size), depth_map(work, HIGH, size)
    fill_map(low, np.inf)
    fill_map(high, -np.inf)
    drawn = draw_near_and_far(pair.a, low, high, work.scratch)
    if drawn == 0:
        return 0, 0
    near, far = depth_map(work, NEAR, size), depth_map(work, FAR, size)
    fill_map(near, np.inf)
    fill_map(far, -np.inf)
    drawn += draw_near_and_far(pair.b, near, far, work.scratch)
    return meet_maps(work, size), drawn
