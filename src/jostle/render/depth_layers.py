"""Depth layers: all depths at which a body's surface crosses the ray through a pixel centre, and where two bodies share depths.

The paper draws convex pieces, which have one near and one far depth; a concave body has more, and the farthest of them with a
parity is not enough when both bodies are concave. Here every crossing of every pixel of a mask is kept, with its face and its
sign, in one array: count, prefix sum, fill, sort. For a closed mesh the signs of a pixel sum to exactly 0 (`spans.py`), and the
ray is inside where the sum so far is not 0. Intervals are closed: bodies that share a single depth meet.

A crossing's *label* is sign * (face + 1): negative where the ray enters, positive where it leaves, if the faces are seen
counter-clockwise from outside and the tile's x, y, z are right-handed; all exchanged otherwise, which decides nothing
otherwise: only parts of a body that touch at one depth are one interval for outward faces, and two for those that are inside out.
The face is counted in the order of the patches (`Patches.face_of`).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from jostle._types import Floats, Ints, Longs
from jostle.kernels.handles import AddressTable
from jostle.kernels.jit import kernel
from jostle.kernels.sort import sort_by_two_keys
from jostle.render.drawn_body import DrawnBody, Table, drawn_shape, patch_count
from jostle.render.patches import Patches, patch_arrays
from jostle.render.spans import (
    NOT_PLACED,
    Scratch,
    as_view_and_size,
    depth_in_span,
    next_spans,
    scratch_for_drawing,
    span_at,
)

Mask = NDArray[Any]


class Layers(NamedTuple):
    """Crossings of pixel p = row * size + column: depth[first[p] : first[p + 1]], in ascending order, and so `sign` and `face`."""

    first: Longs  # (size * size + 1,)
    depth: Floats  # (n,)
    sign: NDArray[np.int8]  # (n,) -1 or +1, see above
    face: Ints  # (n,) of the mesh


class LayerList(NamedTuple):
    """Crossings of pixels with their labels: those of pixel p are first[p] … first[p + 1]."""

    first: Longs  # (size * size + 2,)
    depth: Floats  # (n,)
    label: Ints  # (n,)


class CommonInterval(NamedTuple):
    """Rows of two lists between which two bodies share depths: where a begins and ends, then b; all -1 where they share none.

    The common depths go from the greater one of the two beginnings to the smaller one of the two ends.
    """

    in_a: int
    out_a: int
    in_b: int
    out_b: int


@kernel
def count_layers(body: DrawnBody, mask: Mask, first: Longs, scratch: Scratch) -> int:
    """Count the crossings of a body where mask (size, size) is not 0; return their number, the room that is needed.

    Written is first (size * size + 2,), which is what `fill_layers` needs to begin with.
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
def fill_layers(body: DrawnBody, mask: Mask, layers: LayerList, scratch: Scratch) -> None:
    """Write depth and label (n,) of the crossings that `count_layers` counted; then pixel p has first[p] … first[p + 1] of them."""
    first, depth, label, size = layers.first, layers.depth, layers.label, body.size
    patch, face = 0, NOT_PLACED
    while patch < patch_count(body.mesh):
        patch, face, spans, _begun = next_spans(body, patch, face, scratch)
        for k in range(spans):
            span = span_at(scratch, k)
            j, begin = span.row, span.first
            for i in range(span.after - begin):
                if mask[j, begin + i]:
                    # The place of the next crossing of this pixel; in the end it is the first one of the pixel that follows.
                    to = first[j * size + begin + i + 1]
                    first[j * size + begin + i + 1] = to + 1
                    depth[to] = depth_in_span(span, i)
                    label[to] = span.label


@kernel
def sort_layers(size: int, layers: LayerList) -> None:
    """Sort the crossings of each pixel by (depth, label): of equal depths the negative ones come first."""
    first, depth, label = layers.first, layers.depth, layers.label
    for p in range(size * size):
        sort_by_two_keys(depth, label, first[p], first[p + 1])


@kernel
def next_inside(label: Ints, begin: int, end: int) -> tuple[int, int]:
    """First interval inside among the sorted crossings begin … end: where it is entered and where it is left; end, end if none."""
    winding = 0
    for i in range(begin, end):
        winding += 1 if label[i] > 0 else -1
        if winding == 0:
            return begin, i
    return (begin, end - 1) if begin < end else (end, end)


@kernel(forceinline=True)
def layers_meet(a: LayerList, b: LayerList, pixel: int, longest: bool) -> CommonInterval:
    """Return the crossings around the first depths that two bodies share at a pixel, or around the longest interval of them."""
    depth_a, label_a, depth_b, label_b = a.depth, a.label, b.depth, b.label
    end_a, end_b = a.first[pixel + 1], b.first[pixel + 1]
    in_a, out_a = next_inside(label_a, a.first[pixel], end_a)
    in_b, out_b = next_inside(label_b, b.first[pixel], end_b)
    best, found = -1.0, CommonInterval(-1, -1, -1, -1)
    while in_a < end_a and in_b < end_b:
        length = min(depth_a[out_a], depth_b[out_b]) - max(depth_a[in_a], depth_b[in_b])
        if length > best and length >= 0.0:
            best, found = length, CommonInterval(in_a, out_a, in_b, out_b)
            if not longest:
                return found
        if depth_a[out_a] <= depth_b[out_b]:
            in_a, out_a = next_inside(label_a, out_a + 1, end_a)
        else:
            in_b, out_b = next_inside(label_b, out_b + 1, end_b)
    return found


@kernel
def count_layers_of_shape(table: Table, shape: int, view: Floats, size: int, mask: Mask, first: Longs, scratch: Floats) -> int:
    """Count the crossings of body `shape` of a table of patches under a view (12,): `count_layers` for Python."""
    return count_layers(drawn_shape(table, shape, view, size), mask, first, scratch)


@kernel
def list_layers_of_shape(table: Table, shape: int, view: Floats, size: int, mask: Mask, layers: LayerList, scratch: Floats) -> None:
    """Write and sort the crossings that `count_layers_of_shape` counted."""
    fill_layers(drawn_shape(table, shape, view, size), mask, layers, scratch)
    sort_layers(size, layers)


def depth_layers(patches: Patches, view: Floats, size: int) -> Layers:
    """All layers of one mesh; the arguments are those of `depth_maps`."""
    matrix, size = as_view_and_size(view, size)
    table = AddressTable([patch_arrays(patches)])
    mask, scratch = np.ones((size, size), np.uint8), scratch_for_drawing()
    first = np.empty(size * size + 2, np.int64)
    count = count_layers_of_shape(table.table, 0, matrix, size, mask, first, scratch)
    depth, label = np.empty(count), np.empty(count, np.int32)
    list_layers_of_shape(table.table, 0, matrix, size, mask, LayerList(first, depth, label), scratch)
    return Layers(first[:-1], depth, np.sign(label).astype(np.int8), patches.face_of[np.abs(label) - 1])
