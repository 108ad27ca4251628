"""The test by intervals: near and far depth of both bodies, and the depths that they share at each pixel (Baciu et al. §4, eq. 1).

A pixel collides when I_z(A) and I_z(B), the depths that each body takes up there, share a depth. The paper counts faces instead,
since its hardware could not keep two depths (`stencil.py`); arrays can. Decisions are the same, pixel by pixel. Depths are float64,
closed at both ends: bodies that touch along a pixel's ray collide, up to rounding.

For convex bodies that is all. For others it is where to look closer (`layers.py`): depths between near and far may be outside.
"""

from __future__ import annotations

import numpy as np

from jostle.frame import Floats
from jostle.kernels.jit import kernel
from jostle.render.depth_maps import draw_near_and_far
from jostle.render.spans import Table


@kernel(forceinline=True)
def as_int64(number: int) -> int:
    """A number from an array of int32: `int` leaves it what it is, and kernels that take it would be compiled for both."""
    return np.int64(number)  # type: ignore[return-value]


@kernel
def fill_map(values: Floats, value: float) -> None:
    """Set all of values (size, size)."""
    for j in range(values.shape[0]):
        for i in range(values.shape[1]):
            values[j, i] = value


@kernel
def common_depths(
    table: Table, shape_a: int, shape_b: int, view_a: Floats, view_b: Floats, size: int,
    low: Floats, high: Floats, near: Floats, far: Floats, scratch: Floats,
) -> tuple[int, int]:  # fmt: skip
    """Write the common depths low <= high of each pixel, all maps (size, size); low > high where there are none.

    Returns the number of pixels that have some, and that of the faces drawn. What is in near and far is of B alone.
    """
    fill_map(low, np.inf)
    fill_map(high, -np.inf)
    drawn = draw_near_and_far(table, shape_a, view_a, size, low, high, scratch)
    if drawn == 0:
        return 0, 0
    fill_map(near, np.inf)
    fill_map(far, -np.inf)
    drawn += draw_near_and_far(table, shape_b, view_b, size, near, far, scratch)
    count = 0
    for j in range(size):
        for i in range(size):
            low[j, i] = max(low[j, i], near[j, i])
            high[j, i] = min(high[j, i], far[j, i])
            count += low[j, i] <= high[j, i]
    return count, drawn
