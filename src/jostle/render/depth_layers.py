"""Depth layers: all depths at which a body's surface crosses the ray of a pixel.

The paper draws convex pieces, which have one near and one far depth; a concave body has more, and the farthest of them
with a parity is not enough when both bodies are concave. Here every crossing of every pixel of a mask is kept, with its
face and its sign, in one array: count, prefix sum, fill, sort. For a closed mesh the signs of a pixel sum to exactly 0
(`spans.py`), and the ray is inside where the sum so far is not 0.

A crossing's *label* is sign * (face + 1): negative where the ray enters, positive where it leaves, if the faces are
counter-clockwise from outside and the tile's x, y, z are right-handed; all reversed otherwise. That changes no decision:
only parts of a body that touch at one depth are one interval for outward faces, and two for a mesh that is inside out.
The face is counted in the order of the patches (`Patches.face_of`).
"""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from jostle._types import Longs
from jostle.kernels.jit import kernel
from jostle.kernels.sort import sort_by_two_keys
from jostle.render.depth_intervals import DepthList
from jostle.render.drawn_body import DrawnBody, patch_count
from jostle.render.spans import NOT_PLACED, Scratch, depth_in_span, next_spans, span_at

Mask = NDArray[Any]


@kernel
def count_layers(body: DrawnBody, mask: Mask, first: Longs, scratch: Scratch) -> int:
    """Count the crossings of a body where mask (size, size) is not 0.

    Writes first (size * size + 2,) for `fill_layers`.
    """
    size = body.size
    for p in range(size * size + 2):
        first[p] = 0
    patch, face = 0, NOT_PLACED
    while patch < patch_count(body.mesh):
        patch, face, spans, _begun = next_spans(body, patch, face, scratch)
        for k in range(spans):
            span = span_at(scratch, k)
            for i in range(span.first, span.after):
                if mask[span.row, i]:
                    first[span.row * size + i + 2] += 1
    for p in range(size * size + 1):
        first[p + 1] += first[p]
    return int(first[size * size + 1])


@kernel
def fill_layers(body: DrawnBody, mask: Mask, layers: DepthList, scratch: Scratch) -> None:
    """Write depth and label (n,) of the crossings that `count_layers` counted.

    Afterwards pixel p has the rows first[p] … first[p + 1].
    """
    first, depth, label, size = layers.first, layers.low, layers.label, body.size
    patch, face = 0, NOT_PLACED
    while patch < patch_count(body.mesh):
        patch, face, spans, _begun = next_spans(body, patch, face, scratch)
        for k in range(spans):
            span = span_at(scratch, k)
            j, begin = span.row, span.first
            for i in range(span.after - begin):
                if mask[j, begin + i]:
                    # The place of this pixel's next crossing; in the end the first of the next pixel.
                    to = first[j * size + begin + i + 1]
                    first[j * size + begin + i + 1] = to + 1
                    depth[to] = depth_in_span(span, i)
                    label[to] = span.label


@kernel
def sort_layers(size: int, layers: DepthList) -> None:
    """Sort the crossings of each pixel by (depth, label): entering ones first."""
    first, depth, label = layers.first, layers.low, layers.label
    for p in range(size * size):
        sort_by_two_keys(depth, label, first[p], first[p + 1])
