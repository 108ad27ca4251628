"""The paper's test: faces of one body counted before the far depth of the other.

Baciu et al. Fig. 3 and 4: RenderSetZ(A, ≥) keeps the largest depth of A, RenderTestZ(B, ≤) counts the faces of B at or
before it. A count of 1 means that B crosses the far side of A: a collision. A count of 2 means that B ends before it, and
leaves open whether it begins before A's near side: the second rendering exchanges the roles. The text counts the mask of
A as one more (1, 2, 3).

Deviation: in the second rendering a count of 2 is a collision as well as 1. There B is known to end at or before A's far
side; both faces of A at or before B's far side then mean that both end at one depth, as coincident bodies do: the paper
misses those. Bodies that are not convex may have any count; where both counts are at least 1 their layers are compared.
"""

from __future__ import annotations

import numpy as np

from jostle._types import Bytes, Floats
from jostle.kernels.jit import kernel
from jostle.methods.image_space.workspace import HIGH, LOW, MASK, OTHER, DrawnPair, Work, count_map, depth_map, fill_map
from jostle.render.depth_maps import count_in_front, draw_far
from jostle.render.drawn_body import DrawnBody, Table, drawn_shape
from jostle.render.spans import Scratch


@kernel
def render_set_and_test(set_body: DrawnBody, test_body: DrawnBody, far: Floats, count: Bytes, scratch: Scratch) -> int:
    """RenderSetZ of one body into far, RenderTestZ of the other into count.

    far is -inf where the body is not. Returns the number of faces drawn.
    """
    fill_map(far, -np.inf)
    for j in range(count.shape[0]):
        for i in range(count.shape[1]):
            count[j, i] = 0
    drawn = draw_far(set_body, far, scratch)
    if drawn > 0:
        drawn += count_in_front(test_body, far, count, scratch)
    return drawn


@kernel
def render_shapes(
    table: Table, set_shape: int, test_shape: int, set_view: Floats, test_view: Floats, far: Floats, count: Bytes, scratch: Floats
) -> int:
    """`render_set_and_test` for Python: two shapes of a table under views (12,)."""
    size = far.shape[0]
    set_body, test_body = drawn_shape(table, set_shape, set_view, size), drawn_shape(table, test_shape, test_view, size)
    return render_set_and_test(set_body, test_body, far, count, scratch)


@kernel
def stencil_depths(work: Work, pair: DrawnPair, one_is_enough: bool) -> tuple[int, int]:
    """RECODE(A, B): write a depth LOW = HIGH of both bodies at each colliding pixel.

    LOW > HIGH elsewhere. With `one_is_enough`, for convex bodies, a count of 1 ends the search, and only such pixels are
    written. Counts of B are left in MASK, those of A in OTHER. Returns the number of colliding pixels, and of the faces
    drawn.
    """
    size = pair.a.size
    low, high = depth_map(work, LOW, size), depth_map(work, HIGH, size)
    count_b, count_a = count_map(work, MASK, size), count_map(work, OTHER, size)
    drawn = render_set_and_test(pair.a, pair.b, low, count_b, work.scratch)
    collisions, second_rendering = 0, False
    for j in range(size):
        for i in range(size):
            collisions += count_b[j, i] == 1
            second_rendering |= count_b[j, i] >= 1
    if one_is_enough and collisions > 0:
        for j in range(size):
            for i in range(size):
                # B has a face before the far side of A and one behind it: that side is in both.
                high[j, i] = low[j, i] if count_b[j, i] == 1 else -np.inf
                low[j, i] = high[j, i] if count_b[j, i] == 1 else np.inf
        return collisions, drawn
    if not second_rendering:
        return 0, drawn
    drawn += render_set_and_test(pair.b, pair.a, high, count_a, work.scratch)
    collisions = 0
    for j in range(size):
        for i in range(size):
            both = count_b[j, i] >= 1 and count_a[j, i] >= 1
            # The nearer one of the two far sides is in both.
            depth = min(low[j, i], high[j, i])
            low[j, i] = depth if both else np.inf
            high[j, i] = depth if both else -np.inf
            collisions += both
    return collisions, drawn
