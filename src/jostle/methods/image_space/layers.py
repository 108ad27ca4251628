"""Concave bodies by layered depth: all depths at which the surfaces cross the ray of a pixel, as intervals inside, intersected.

The paper's bodies are compositions of convex blocks (§2, §4), each of which a ray meets at most twice. A concave body it meets in
any number of intervals. Near and far depths do not decide then: two meshes of two boxes each, those of one between and beyond those
of the other, collide nowhere. Nor does the parity of faces before the farthest one, which misses where both are concave. So where
near and far depths overlap, and only there, every crossing is kept (`render/depth_layers.py`), sorted, and the intervals of both
bodies are compared. A point is inside where the winding number is not 0: parts of a mesh may overlap, cavities are free.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from jostle._types import Bytes, Floats, Ints
from jostle.kernels.jit import kernel
from jostle.kernels.sort import sort_by_two_keys
from jostle.methods.image_space.workspace import HIGH, LOW, MASK, DrawnPair, Work, count_map, depth_map, mask_meeting_depths
from jostle.render.depth_layers import LayerList, count_layers, fill_layers, layers_meet, sort_layers
from jostle.render.drawn_body import DrawnBody, box_is_outside, faces_of_patch, patch_count
from jostle.render.spans import ROW, Scratch, depth_in_span, place_patch, span_at, spans_of_faces


@kernel(forceinline=True)
def layer_lists(work: Work, size: int, of_a: int) -> tuple[LayerList, LayerList]:
    """Return the lists of A, which has the first `of_a` of all crossings, and of B."""
    firsts: Any = work.firsts
    depths: Any = work.depths
    labels: Any = work.labels
    begin = size * size + 2
    return LayerList(firsts[:begin], depths[:of_a], labels[:of_a]), LayerList(
        firsts[begin : 2 * begin], depths[of_a:], labels[of_a:]
    )


@kernel
def list_layers(work: Work, pair: DrawnPair, mask: Bytes) -> tuple[int, int]:
    """List all crossings of both bodies where mask (size, size) is set; returns how many there are of A and of both.

    `layer_lists` has them. Nothing is listed when there is not room for all.
    """
    size = pair.a.size
    a, b = layer_lists(work, size, 0)
    of_a = count_layers(pair.a, mask, a.first, work.scratch)
    of_b = count_layers(pair.b, mask, b.first, work.scratch)
    if of_a + of_b <= work.depths.shape[0]:
        a, b = layer_lists(work, size, of_a)
        fill_layers(pair.a, mask, a, work.scratch)
        fill_layers(pair.b, mask, b, work.scratch)
        sort_layers(size, a)
        sort_layers(size, b)
    return of_a, of_a + of_b


@kernel
def common_layers(work: Work, pair: DrawnPair, longest: bool) -> tuple[int, int]:
    """Compare the layers of both bodies where LOW <= HIGH, and put their common depths there, or LOW > HIGH where there are none.

    The longest common interval is taken, or the first. Returns the number of colliding pixels, and the room that lists need; where
    they have less, nothing was changed.
    """
    size = pair.a.size
    low, high, mask = depth_map(work, LOW, size), depth_map(work, HIGH, size), count_map(work, MASK, size)
    mask_meeting_depths(low, high, mask)
    of_a, needed = list_layers(work, pair, mask)
    if needed > work.depths.shape[0]:
        return 0, needed
    a, b = layer_lists(work, size, of_a)
    depth_a, depth_b, found = a.depth, b.depth, 0
    for j in range(size):
        for i in range(size):
            if mask[j, i]:
                common = layers_meet(a, b, j * size + i, longest)
                low[j, i], high[j, i] = np.inf, -np.inf
                if common.in_a >= 0:
                    low[j, i] = max(depth_a[common.in_a], depth_b[common.in_b])
                    high[j, i] = min(depth_a[common.out_a], depth_b[common.out_b])
                    found += 1
    return found, needed


@kernel
def pixel_collides(work: Work, pair: DrawnPair, pixel: int) -> bool:
    """Return whether both bodies share a depth at one pixel: to the bit what a comparison of the whole tile says of it.

    Lists are written over; where they have not room for all crossings the answer is no.
    """
    firsts: Any = work.firsts
    depth_a: Any = work.depths
    label_a: Any = work.labels
    of_a = layers_of_pixel(pair.a, pixel, depth_a, label_a, work.scratch)
    if of_a == 0 or of_a > depth_a.shape[0]:
        return False
    depth_b, label_b = depth_a[of_a:], label_a[of_a:]
    of_b = layers_of_pixel(pair.b, pixel, depth_b, label_b, work.scratch)
    if of_b == 0 or of_b > depth_b.shape[0]:
        return False
    if pair.both_convex:
        return bool(max(depth_a[0], depth_b[0]) <= min(depth_a[of_a - 1], depth_b[of_b - 1]))
    firsts[0], firsts[1], firsts[2], firsts[3] = 0, of_a, 0, of_b
    a, b = LayerList(firsts[:2], depth_a, label_a), LayerList(firsts[2:4], depth_b, label_b)
    return layers_meet(a, b, 0, False).in_a >= 0


@kernel
def layers_of_pixel(body: DrawnBody, pixel: int, depth: Floats, label: Ints, scratch: Scratch) -> int:
    """List the crossings of one pixel in depth and label (n,), sorted, the same bits as in `list_layers`; returns their number.

    Where there is not room for all, what is listed means nothing.
    """
    mesh, view = body.mesh, body.to_tile
    j, i = pixel // body.size, pixel % body.size
    count = 0
    for patch in range(patch_count(mesh)):
        if box_is_outside(mesh, patch, view.x, float(i), i + 1.0) or box_is_outside(mesh, patch, view.y, float(j), j + 1.0):
            continue
        place_patch(body, patch, scratch)
        # A picture that ends above and below this row: no other row of any face is looked at.
        for k in range(mesh.first_point[patch + 1] - mesh.first_point[patch]):
            scratch[ROW + k] = min(max(scratch[ROW + k], float(j)), j + 1.0)
        face, end = faces_of_patch(mesh, patch)
        while face < end:
            face, spans = spans_of_faces(body, face, end, scratch)
            for k in range(spans):
                span = span_at(scratch, k)
                if span.first <= i < span.after:
                    if count < depth.shape[0]:
                        depth[count] = depth_in_span(span, i - span.first)
                        label[count] = span.label
                    count += 1
    if count <= depth.shape[0]:
        sort_by_two_keys(depth, label, 0, count)
    return count
