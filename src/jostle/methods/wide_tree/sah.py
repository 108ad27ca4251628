"""Build by the surface-area heuristic: cut where the sum of area times faces of the two parts is least.

The heuristic is MacDonald and Booth's (1990), in bins as in Wald, "On fast construction of SAH-based bounding volume hierarchies"
(2007), along the longest axis of the middles of the boxes. Deviations, for nodes of eight children: a node cuts its largest child
until it has eight, and a cut moves to the nearest multiple of eight faces, so that all leaves but one are full. Where nothing tells
faces apart they are cut in the middle. Any input will do: the larger part waits at the bottom of the stack, which is so no higher
than eight for each halving of the number of faces. It takes ten times as long as the Morton build.

A box is eight float32: lower x, y, z, 0, minus upper x, y, z, 0. The box of two boxes is then one minimum of vectors.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from jostle.frame import Floats, Ints
from jostle.kernels.arrays import read_only_view
from jostle.kernels.jit import kernel
from jostle.kernels.simd import f32x8_load, f32x8_min, f32x8_splat, f32x8_store
from jostle.methods.wide_tree.scratch import SCRATCH
from jostle.methods.wide_tree.tree import EMPTY, LANES, LEAF_FACES

MOST_BINS, FEW_BINS = 16, 8
BOX = 8  # float32 numbers of a box
FEW_FACES = LANES * LEAF_FACES
SMALLEST_EXTENT = 1e-30  # what is smaller has no inverse of use
STACK_ROWS = 8 * 32
# Faces on one line have boxes without area. A little of their length keeps the cut in the middle of them, not at an end.
LENGTH_WEIGHT = 1e-6


def sah_nodes(vertices: Floats, faces: Ints, frame: Floats) -> tuple[NDArray[np.int32], Ints, Ints]:
    """Return the order of the faces, and first and count of the nodes.

    Parameters
    ----------
    vertices : (n, 3) float64
    faces : (m, 3) int32
    frame : (6,) float64
        As in `Tree`.

    Returns
    -------
    order : (m,) int32
        The mesh's number of each face in the tree's order.
    first, count : (nodes,) int32
        As in `Tree`.
    """
    face_count = len(faces)
    boxes, order = SCRATCH.array("records", BOX * face_count, np.float32), np.empty(face_count, np.int32)
    first, count = SCRATCH.array("first", 2 * face_count, np.int32), SCRATCH.array("count", 2 * face_count, np.int32)
    bins, sums = np.empty(BOX * (MOST_BINS + 1), np.float32), np.empty((MOST_BINS, 2))
    ends, stack = np.empty((LANES, 3)), np.empty((STACK_ROWS, 3), np.int64)
    arrays = (read_only_view(vertices), read_only_view(faces), read_only_view(frame))
    nodes = cut_by_area(*arrays, boxes, order, first, count, bins, sums, ends, stack)
    return order, first[:nodes].copy(), count[:nodes].copy()


@kernel
def cut_by_area(vertices, faces, frame, boxes, order, first, count, bins, sums, ends, stack):  # type: ignore[no-untyped-def]
    """Make nodes; returns their number. boxes (8 * m,), order (m,), first and count (2 * m,) are written, the rest is scratch."""
    _box_faces(vertices, faces, frame, boxes, order)
    stack[0, 0], stack[0, 1], stack[0, 2] = 0, 0, faces.shape[0]
    height, nodes = 1, 1
    while height > 0:
        height -= 1
        node, begin, end = stack[height, 0], stack[height, 1], stack[height, 2]
        if end - begin <= LEAF_FACES:
            first[node], count[node] = begin, begin - end
            continue
        children = _eight_ranges(boxes, order, begin, end, bins, sums, ends)
        first[node], count[node] = nodes, children
        largest = 0
        for k in range(children):
            if ends[k, 1] - ends[k, 0] > ends[largest, 1] - ends[largest, 0]:
                largest = k
        for k in range(children):
            child = largest if k == 0 else (0 if k == largest else k)
            stack[height, 0], stack[height, 1], stack[height, 2] = nodes + child, int(ends[child, 0]), int(ends[child, 1])
            height += 1
        nodes += children
    return nodes


@kernel
def _box_faces(vertices, faces, frame, boxes, order):  # type: ignore[no-untyped-def]
    """Write the boxes of faces in the frame, and their numbers. Rounded to nearest: they only guide the cuts."""
    for f in range(faces.shape[0]):
        p, q, r = faces[f, 0], faces[f, 1], faces[f, 2]
        order[f] = f
        for k in range(3):
            x, y, z = vertices[p, k], vertices[q, k], vertices[r, k]
            boxes[BOX * f + k] = np.float32((min(x, min(y, z)) - frame[k]) * frame[3])
            boxes[BOX * f + 4 + k] = np.float32((frame[k] - max(x, max(y, z))) * frame[3])
        boxes[BOX * f + 3], boxes[BOX * f + 7] = np.float32(0.0), np.float32(0.0)


@kernel
def _eight_ranges(boxes, order, begin, end, bins, sums, ends):  # type: ignore[no-untyped-def]
    """Cut begin … end, and then always the largest part, until there are eight or only leaves; returns how many.

    ends (8,3): begin and end of each part, and its size.
    """
    ends[0, 0], ends[0, 1], ends[0, 2] = begin, end, 0.0
    children = 1
    while children < LANES:
        largest, size = -1, -1.0
        for k in range(children):
            if ends[k, 1] - ends[k, 0] > LEAF_FACES and ends[k, 2] > size:
                largest, size = k, ends[k, 2]
        if largest < 0:
            break
        low, high = int(ends[largest, 0]), int(ends[largest, 1])
        middle, ends[largest, 2], ends[children, 2] = _cut(boxes, order, low, high, bins, sums)
        ends[largest, 1] = middle
        ends[children, 0], ends[children, 1] = middle, high
        children += 1
    return children


@kernel
def _cut(boxes, order, begin, end, bins, sums):  # type: ignore[no-untyped-def]
    """Bring the faces of the first part to the front; returns where the second begins, and the sizes of both. Neither is empty."""
    axis, low, extent = _longest_axis(boxes, begin, end)
    # All leaves of the first part are full; of the second all but one.
    if not extent > SMALLEST_EXTENT:
        return _whole_leaves(begin, end, (begin + end) // 2), 1.0, 1.0
    bin_count = MOST_BINS if end - begin > FEW_FACES else FEW_BINS
    scale = (1.0 - 1e-6) * bin_count / extent
    _fill_bins(boxes, begin, end, axis, low, scale, bin_count, bins, sums)
    cut, size, other_size = _best_bin(bin_count, bins, sums)
    middle = begin
    for f in range(begin, end):
        # Exchanged whether or not it belongs to the front: branches that cannot be foreseen cost more.
        belongs = int((_middle(boxes, f, axis) - low) * scale) < cut
        _exchange(boxes, order, f, middle)
        middle += int(belongs)
    wanted = _whole_leaves(begin, end, middle)
    while middle < wanted:  # at most seven times, and twice on average
        _exchange(boxes, order, middle, _lowest(boxes, middle, end, axis, 1.0))
        middle += 1
    while middle > wanted:
        middle -= 1
        _exchange(boxes, order, middle, _lowest(boxes, begin, middle + 1, axis, -1.0))
    return middle, size, other_size


@kernel
def _whole_leaves(begin, end, middle):  # type: ignore[no-untyped-def]
    """The place nearest to `middle` with a multiple of eight faces before it, and some before and behind it."""
    leaves = (middle - begin + LEAF_FACES // 2) // LEAF_FACES
    most = (end - begin - 1) // LEAF_FACES
    return begin + LEAF_FACES * max(1, min(leaves, most))


@kernel
def _lowest(boxes, begin, end, axis, sign):  # type: ignore[no-untyped-def]
    """The face with the lowest middle (sign 1) or the highest (-1) in begin … end."""
    best, least = begin, sign * _middle(boxes, begin, axis)
    for f in range(begin + 1, end):
        value = sign * _middle(boxes, f, axis)
        if value < least:
            best, least = f, value
    return best


@kernel(forceinline=True)
def _exchange(boxes, order, f, g):  # type: ignore[no-untyped-def]
    order[f], order[g] = order[g], order[f]
    one, other = f32x8_load(boxes, BOX * f), f32x8_load(boxes, BOX * g)
    f32x8_store(boxes, BOX * f, other)
    f32x8_store(boxes, BOX * g, one)


@kernel(forceinline=True)
def _middle(boxes, f, axis):  # type: ignore[no-untyped-def]
    """The middle of a face's box on an axis, doubled."""
    return float(boxes[BOX * f + axis] - boxes[BOX * f + 4 + axis])


@kernel
def _longest_axis(boxes, begin, end):  # type: ignore[no-untyped-def]
    """The axis on which the middles are farthest apart, the lowest of them, and how far."""
    low_x, low_y, low_z = math.inf, math.inf, math.inf
    high_x, high_y, high_z = -math.inf, -math.inf, -math.inf
    for f in range(begin, end):
        x, y, z = _middle(boxes, f, 0), _middle(boxes, f, 1), _middle(boxes, f, 2)
        low_x, low_y, low_z = min(low_x, x), min(low_y, y), min(low_z, z)
        high_x, high_y, high_z = max(high_x, x), max(high_y, y), max(high_z, z)
    if high_x - low_x >= high_y - low_y and high_x - low_x >= high_z - low_z:
        return 0, low_x, high_x - low_x
    if high_y - low_y >= high_z - low_z:
        return 1, low_y, high_y - low_y
    return 2, low_z, high_z - low_z


@kernel
def _fill_bins(boxes, begin, end, axis, low, scale, bin_count, bins, sums):  # type: ignore[no-untyped-def]
    """Write the box of the faces whose middles are in each bin, and their number to column 0 of sums (16,2)."""
    nothing = f32x8_splat(np.float32(EMPTY))
    for b in range(bin_count):
        f32x8_store(bins, BOX * b, nothing)
        sums[b, 0] = 0.0
    for f in range(begin, end):
        b = int((_middle(boxes, f, axis) - low) * scale)
        f32x8_store(bins, BOX * b, f32x8_min(f32x8_load(bins, BOX * b), f32x8_load(boxes, BOX * f)))
        sums[b, 0] += 1.0


@kernel
def _best_bin(bin_count, bins, sums):  # type: ignore[no-untyped-def]
    """The first bin of the second part, and the sizes of the two parts. First and last bin hold faces, so neither is empty."""
    here = f32x8_splat(np.float32(EMPTY))
    faces = 0.0
    for b in range(bin_count - 1, 0, -1):
        here = f32x8_min(here, f32x8_load(bins, BOX * b))
        f32x8_store(bins, BOX * MOST_BINS, here)
        sums[b, 1] = _size(bins, BOX * MOST_BINS)
        faces += sums[b, 0]
    here = f32x8_splat(np.float32(EMPTY))
    before = 0.0
    best, least, size = 1, math.inf, 0.0
    for b in range(1, bin_count):
        here = f32x8_min(here, f32x8_load(bins, BOX * (b - 1)))
        f32x8_store(bins, BOX * MOST_BINS, here)
        own = _size(bins, BOX * MOST_BINS)
        before += sums[b - 1, 0]
        cost = own * before + sums[b, 1] * faces
        faces -= sums[b, 0]
        if cost < least:
            best, least, size = b, cost, own
    return best, size, sums[best, 1]


@kernel
def _size(boxes, base):  # type: ignore[no-untyped-def]
    """Half the area of a box, and a little of its length."""
    dx, dy, dz = (
        -float(boxes[base + 4] + boxes[base]),
        -float(boxes[base + 5] + boxes[base + 1]),
        -float(boxes[base + 6] + boxes[base + 2]),
    )
    return dx * dy + dy * dz + dz * dx + LENGTH_WEIGHT * (dx + dy + dz)
