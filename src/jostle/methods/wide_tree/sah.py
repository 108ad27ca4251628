"""Build by the surface-area heuristic: cut at the least sum of area times faces.

The heuristic is MacDonald and Booth's (1990), in bins as in Wald, "On fast construction of SAH-based bounding volume hierarchies"
(2007), along the longest axis of the middles of the boxes. Deviations, for nodes of eight children: a node cuts its largest child
until it has eight, and a cut moves to the nearest multiple of eight faces, so that all leaves but one are full. Faces with equal
middles are cut in the middle of the list. Any input works: the larger part waits at the bottom of the stack, which is thus no
higher than eight for each halving of the number of faces. It takes ten times as long as the Morton build.

A box is eight float32: lower x, y, z, 0, minus upper x, y, z, 0. The box of two boxes is then one minimum of vectors.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from jostle._types import Floats, Ints
from jostle.kernels.arrays import read_only_view
from jostle.kernels.jit import kernel
from jostle.kernels.numbers import as_float64
from jostle.kernels.simd import f32x8_load, f32x8_min, f32x8_store
from jostle.kernels.structs import Addresses, Record, Rows, Struct, float32, float64, int64, opener
from jostle.methods.wide_tree.lanes import in_every_lane
from jostle.methods.wide_tree.scratch import SCRATCH
from jostle.methods.wide_tree.tree import EMPTY, LANES, LEAF_FACES, frame_in

MOST_BINS, FEW_BINS = 16, 8
BOX = 8  # float32 numbers of a box
UPPER = 4  # index of minus upper x in a box
FEW_FACES = LANES * LEAF_FACES
SMALLEST_EXTENT = 1e-30  # of smaller ones the inverse is useless
STACK_ROWS = 8 * 32
# Faces on one line have boxes without area: a little of their length keeps cuts off the ends.
LENGTH_WEIGHT = 1e-6


class WaitingNode(Record):
    """A node to be cut: its faces begin … end."""

    node: int64
    begin: int64
    end: int64


class Part(Record):
    """The faces begin … end of a child, and its size."""

    begin: int64
    end: int64
    size: float64


class Bin(Record):
    """The number of faces of a bin, and the size of all bins from it on."""

    faces: float64
    size_from_here: float64


class SahWork(Struct):
    """Scratch for cutting faces into nodes."""

    stack: Rows[WaitingNode]
    parts: Rows[Part]
    bins: Rows[Bin]
    boxes: Rows[float32]  # of the bins, and one more


SAH_ROOM = {"stack": STACK_ROWS, "parts": LANES, "bins": MOST_BINS, "boxes": BOX * (MOST_BINS + 1)}

open_sah_work = opener(SahWork)


class FaceBoxes(NamedTuple):
    """The boxes of faces (8 * m,), and the numbers of the faces (m,), in one order."""

    boxes: NDArray[np.float32]
    order: Ints


class Binning(NamedTuple):
    """How middles of boxes are put into bins: along an axis, from its low end."""

    axis: int
    low: float
    scale: float
    bin_count: int


class Cut(NamedTuple):
    """Where the second part begins, as a face or a bin, and the sizes of both parts."""

    middle: int
    size: float
    other_size: float


def sah_nodes(vertices: Floats, faces: Ints, frame: Floats) -> tuple[NDArray[np.int32], Ints, Ints]:
    """Return the order of the faces, and `first` and `count` of the nodes.

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
    arrays = (read_only_view(vertices), read_only_view(faces), read_only_view(frame))
    nodes = cut_by_area(*arrays, boxes, order, first, count, SCRATCH.addresses(SahWork, **SAH_ROOM))
    return order, first[:nodes].copy(), count[:nodes].copy()


@kernel
def cut_by_area(
    vertices: Floats, faces: Ints, frame: Floats, boxes: NDArray[np.float32], order: Ints, first: Ints, count: Ints,
    addresses: Addresses,
) -> int:  # fmt: skip
    """Make nodes; return their number.

    Writes boxes (8 * m,), order (m,), first and count (2 * m,).
    """
    work, given = open_sah_work(addresses), FaceBoxes(boxes, order)
    _box_faces(vertices, faces, frame, given)
    stack, parts = work.stack, work.parts
    _push(stack[0], 0, 0, faces.shape[0])
    height, nodes = 1, 1
    while height > 0:
        height -= 1
        node, begin, end = stack[height].node, stack[height].begin, stack[height].end
        if end - begin <= LEAF_FACES:
            first[node], count[node] = begin, begin - end
            continue
        children = _eight_parts(work, given, begin, end)
        first[node], count[node] = nodes, children
        largest = 0
        for k in range(children):
            if parts[k].end - parts[k].begin > parts[largest].end - parts[largest].begin:
                largest = k
        for k in range(children):
            child = largest if k == 0 else (0 if k == largest else k)
            _push(stack[height], nodes + child, parts[child].begin, parts[child].end)
            height += 1
        nodes += children
    return nodes


@kernel(forceinline=True)
def _push(free: WaitingNode, node: int, begin: int, end: int) -> None:
    free.node, free.begin, free.end = node, begin, end


@kernel
def _box_faces(vertices: Floats, faces: Ints, frame: Floats, out: FaceBoxes) -> None:
    """Write boxes and numbers of faces. Rounded to nearest: they only guide the cuts."""
    boxes, tree_frame = out.boxes, frame_in(frame)
    for f in range(faces.shape[0]):
        p, q, r = faces[f, 0], faces[f, 1], faces[f, 2]
        out.order[f] = f
        lower, upper = BOX * f, BOX * f + UPPER
        for k in range(3):
            x, y, z = vertices[p, k], vertices[q, k], vertices[r, k]
            boxes[lower + k] = (min(x, min(y, z)) - tree_frame.centre[k]) * tree_frame.scale
            boxes[upper + k] = (tree_frame.centre[k] - max(x, max(y, z))) * tree_frame.scale
        boxes[lower + 3], boxes[upper + 3] = 0.0, 0.0


@kernel
def _eight_parts(work: SahWork, given: FaceBoxes, begin: int, end: int) -> int:
    """Cut begin … end, then the largest part, up to eight; return the number of parts."""
    parts = work.parts
    parts[0].begin, parts[0].end, parts[0].size = begin, end, 0.0
    children = 1
    while children < LANES:
        largest, size = -1, -1.0
        for k in range(children):
            if parts[k].end - parts[k].begin > LEAF_FACES and parts[k].size > size:
                largest, size = k, parts[k].size
        if largest < 0:
            break
        part, added = parts[largest], parts[children]
        cut = _cut(work, given, part.begin, part.end)
        added.begin, added.end, added.size = cut.middle, part.end, cut.other_size
        part.end, part.size = cut.middle, cut.size
        children += 1
    return children


@kernel
def _cut(work: SahWork, given: FaceBoxes, begin: int, end: int) -> Cut:
    """Move the first part to the front; return where the second begins; none is empty."""
    axis, low, extent = _longest_axis(given.boxes, begin, end)
    # All leaves of the first part are full; of the second all but one.
    if not extent > SMALLEST_EXTENT:
        return Cut(_whole_leaves(begin, end, (begin + end) // 2), 1.0, 1.0)
    bin_count = MOST_BINS if end - begin > FEW_FACES else FEW_BINS
    binning = Binning(axis, low, (1.0 - 1e-6) * bin_count / extent, bin_count)
    _fill_bins(work, given.boxes, begin, end, binning)
    best = _best_bin(work, bin_count)
    middle = begin
    for f in range(begin, end):
        # Always exchanged: a mispredicted branch would cost more.
        belongs = _bin_of(given.boxes, f, binning) < best.middle
        _exchange(given, f, middle)
        middle += int(belongs)
    wanted = _whole_leaves(begin, end, middle)
    while middle < wanted:  # at most seven times, and twice on average
        _exchange(given, middle, _lowest(given.boxes, middle, end, axis, 1.0))
        middle += 1
    while middle > wanted:
        middle -= 1
        _exchange(given, middle, _lowest(given.boxes, begin, middle + 1, axis, -1.0))
    return Cut(middle, best.size, best.other_size)


@kernel
def _whole_leaves(begin: int, end: int, middle: int) -> int:
    """Return the position nearest to `middle` that fills leaves and empties no part."""
    leaves = (middle - begin + LEAF_FACES // 2) // LEAF_FACES
    most = (end - begin - 1) // LEAF_FACES
    return begin + LEAF_FACES * max(1, min(leaves, most))


@kernel
def _lowest(boxes: NDArray[np.float32], begin: int, end: int, axis: int, sign: float) -> int:
    """Return the face in begin … end with the lowest (sign 1) or highest (-1) middle."""
    best, least = begin, sign * _middle(boxes, begin, axis)
    for f in range(begin + 1, end):
        value = sign * _middle(boxes, f, axis)
        if value < least:
            best, least = f, value
    return best


@kernel(forceinline=True)
def _exchange(given: FaceBoxes, f: int, g: int) -> None:
    boxes, order = given.boxes, given.order
    order[f], order[g] = order[g], order[f]
    one, other = f32x8_load(boxes, BOX * f), f32x8_load(boxes, BOX * g)
    f32x8_store(boxes, BOX * f, other)
    f32x8_store(boxes, BOX * g, one)


@kernel(forceinline=True)
def _middle(boxes: NDArray[np.float32], f: int, axis: int) -> float:
    """Return the middle of a face's box on an axis, doubled."""
    return as_float64(boxes[BOX * f + axis] - boxes[BOX * f + UPPER + axis])


@kernel(forceinline=True)
def _bin_of(boxes: NDArray[np.float32], f: int, binning: Binning) -> int:
    """Return the bin of a face."""
    return int((_middle(boxes, f, binning.axis) - binning.low) * binning.scale)


@kernel
def _longest_axis(boxes: NDArray[np.float32], begin: int, end: int) -> tuple[int, float, float]:
    """Return the axis on which middles are farthest apart, the lowest, and the extent."""
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
def _fill_bins(work: SahWork, boxes: NDArray[np.float32], begin: int, end: int, binning: Binning) -> None:
    """Write the box and the number of faces whose middles are in each bin."""
    bins, box_of_bin = work.bins, work.boxes
    for b in range(binning.bin_count):
        f32x8_store(box_of_bin, BOX * b, in_every_lane(EMPTY))
        bins[b].faces = 0.0
    for f in range(begin, end):
        b = _bin_of(boxes, f, binning)
        f32x8_store(box_of_bin, BOX * b, f32x8_min(f32x8_load(box_of_bin, BOX * b), f32x8_load(boxes, BOX * f)))
        bins[b].faces += 1.0


@kernel
def _best_bin(work: SahWork, bin_count: int) -> Cut:
    """Return the first bin of the second part; the end bins hold faces: none is empty."""
    bins, boxes, spare = work.bins, work.boxes, BOX * MOST_BINS
    here, faces = in_every_lane(EMPTY), 0.0
    for b in range(bin_count - 1, 0, -1):
        here = f32x8_min(here, f32x8_load(boxes, BOX * b))
        f32x8_store(boxes, spare, here)
        bins[b].size_from_here = _size(boxes, spare)
        faces += bins[b].faces
    here, before = in_every_lane(EMPTY), 0.0
    best, least, size = 1, math.inf, 0.0
    for b in range(1, bin_count):
        here = f32x8_min(here, f32x8_load(boxes, BOX * (b - 1)))
        f32x8_store(boxes, spare, here)
        own = _size(boxes, spare)
        before += bins[b - 1].faces
        cost = own * before + bins[b].size_from_here * faces
        faces -= bins[b].faces
        if cost < least:
            best, least, size = b, cost, own
    return Cut(best, size, bins[best].size_from_here)


@kernel
def _size(boxes: Any, start: int) -> float:
    """Return half the area of a box, plus a little of its length."""
    upper = start + UPPER
    dx = -as_float64(boxes[upper] + boxes[start])
    dy = -as_float64(boxes[upper + 1] + boxes[start + 1])
    dz = -as_float64(boxes[upper + 2] + boxes[start + 2])
    return dx * dy + dy * dz + dz * dx + LENGTH_WEIGHT * (dx + dy + dz)
