"""Depth maps: nearest and farthest depth of a body at each pixel centre.

Section 4 of the paper draws with a depth buffer and counts with a stencil buffer; here both are arrays. Tiles and views
are those of `drawn_body.py`; `spans.py` defines what a face covers. Everything is float64. A patch outside the tile costs
one test. Where nothing is drawn the near depth stays +inf and the far depth -inf, as the caller filled them.
"""

from __future__ import annotations

from jostle._types import Bytes, Floats
from jostle.kernels.jit import kernel
from jostle.render.drawn_body import DrawnBody, Table, drawn_shape, patch_count
from jostle.render.spans import NOT_PLACED, Scratch, depth_in_span, next_spans, span_at

FULL = 255  # a count that stays where it is


@kernel
def draw_near_and_far(body: DrawnBody, near: Floats, far: Floats, scratch: Scratch) -> int:
    """Lower near and raise far, both (size, size), to the depths of a body.

    Returns the number of faces in patches that may touch the tile. `scratch` is that of `scratch_for_drawing`; size is at
    most 4096.
    """
    patch, face, drawn = 0, NOT_PLACED, 0
    while patch < patch_count(body.mesh):
        patch, face, spans, begun = next_spans(body, patch, face, scratch)
        drawn += begun
        for k in range(spans):
            span = span_at(scratch, k)
            j, first = span.row, span.first
            for i in range(span.after - first):
                depth = depth_in_span(span, i)
                near[j, first + i] = min(near[j, first + i], depth)
                far[j, first + i] = max(far[j, first + i], depth)
    return drawn


@kernel
def draw_far(body: DrawnBody, far: Floats, scratch: Scratch) -> int:
    """Raise far (size, size) to the depths of a body; see `draw_near_and_far`."""
    patch, face, drawn = 0, NOT_PLACED, 0
    while patch < patch_count(body.mesh):
        patch, face, spans, begun = next_spans(body, patch, face, scratch)
        drawn += begun
        for k in range(spans):
            span = span_at(scratch, k)
            j, first = span.row, span.first
            for i in range(span.after - first):
                depth = depth_in_span(span, i)
                far[j, first + i] = max(far[j, first + i], depth)
    return drawn


@kernel
def count_in_front(body: DrawnBody, limit: Floats, count: Bytes, scratch: Scratch) -> int:
    """Add 1 to count (size, size) for every face at or before limit: RenderTestZ.

    255 stays. All else as in `draw_near_and_far`.
    """
    patch, face, drawn = 0, NOT_PLACED, 0
    while patch < patch_count(body.mesh):
        patch, face, spans, begun = next_spans(body, patch, face, scratch)
        drawn += begun
        for k in range(spans):
            span = span_at(scratch, k)
            j, first = span.row, span.first
            for i in range(span.after - first):
                depth = depth_in_span(span, i)
                if depth <= limit[j, first + i] and count[j, first + i] < FULL:
                    count[j, first + i] += 1
    return drawn


@kernel
def draw_shape(table: Table, shape: int, view: Floats, size: int, near: Floats, far: Floats, scratch: Floats) -> int:
    """`draw_near_and_far` for Python: body `shape` of a table under a view (12,)."""
    return draw_near_and_far(drawn_shape(table, shape, view, size), near, far, scratch)
