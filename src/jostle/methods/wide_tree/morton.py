"""Build by Morton order: sort faces along a space-filling curve, then make nodes.

A node with more than 512 faces is cut where the highest bit of the codes changes, then its largest child again, until it has eight
children. Below that the curve's jumps cost more than a better order: blocks of up to 512 faces are halved across their longest side
repeatedly (`kd_order.py`), and become full nodes of 64 and full leaves of eight. Queries visit a quarter to two fifths fewer node
pairs than with the curve alone, as few as with the surface-area heuristic. Codes have 10 bits per axis and come from the middles of
the faces' boxes.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from jostle._types import Floats, Ints, Longs
from jostle.geometry.morton import morton_code
from jostle.geometry.triangle import face_at, triangle_bounds
from jostle.kernels.jit import kernel
from jostle.kernels.structs import Addresses, Record, Rows, Struct, int64, opener
from jostle.methods.wide_tree.kd_order import BLOCK_FACES, NODE_FACES, order_block
from jostle.methods.wide_tree.tree import LANES, LEAF_FACES, frame_in

CODE_BITS = 10
CELLS = 1 << CODE_BITS
CODE_SHIFT = 32  # of a key: the code is above the number of the face
STACK_ROWS = 1024  # eight per level; a level has half the faces of the one above, or one bit less of their codes


class WaitingNode(Record):
    """A node to be cut: its faces begin … end, and whether their order is final."""

    node: int64
    begin: int64
    end: int64
    is_ordered: int64


class FaceRange(Record):
    """The faces begin … end of a child."""

    begin: int64
    end: int64


class NodeWork(Struct):
    """Scratch for cutting faces into nodes."""

    stack: Rows[WaitingNode]
    parts: Rows[FaceRange]


NODE_ROOM = {"stack": STACK_ROWS, "parts": LANES}

open_node_work = opener(NodeWork)


@kernel
def morton_order(
    vertices: Floats, faces: Ints, frame: Floats, keys: Longs, spare: Longs, histogram: Longs, middles: NDArray[np.float32]
) -> None:
    """Sort keys (m,) int64: the code of each face above its number.

    Three passes leave the sorted keys in `spare` (m,); `histogram` (1025,) is scratch. Also writes the middles (3 * m,) float32
    of the faces' boxes, in cells.
    """
    _write_keys(vertices, faces, frame, keys, middles)
    for digit in range(3):
        _sort_by_digit(keys, spare, CODE_SHIFT + CODE_BITS * digit, histogram)
        keys, spare = spare, keys


@kernel
def _write_keys(vertices: Floats, faces: Ints, frame: Floats, keys: Longs, middles: NDArray[np.float32]) -> None:
    """Write codes and middles of all faces."""
    tree_frame, half = frame_in(frame), CELLS // 2
    cx, cy, cz = tree_frame.centre[0], tree_frame.centre[1], tree_frame.centre[2]
    # The doubled middle of a box is in -2 … 2; 0.999 keeps it within the last cell.
    scale = tree_frame.scale * (0.999 * CELLS / 4.0)
    for f in range(faces.shape[0]):
        box = triangle_bounds(face_at(vertices, faces, f))
        x = ((box.lower.x - cx) + (box.upper.x - cx)) * scale
        y = ((box.lower.y - cy) + (box.upper.y - cy)) * scale
        z = ((box.lower.z - cz) + (box.upper.z - cz)) * scale
        middles[3 * f], middles[3 * f + 1], middles[3 * f + 2] = x, y, z
        keys[f] = (morton_code(int(x + half), int(y + half), int(z + half)) << CODE_SHIFT) | f


@kernel
def _sort_by_digit(keys: Longs, out: Longs, shift: int, histogram: Longs) -> None:
    """Write the keys to `out`, sorted by ten of their bits: a pass of a radix sort."""
    for k in range(CELLS + 1):
        histogram[k] = 0
    for f in range(keys.shape[0]):
        histogram[((keys[f] >> shift) & (CELLS - 1)) + 1] += 1
    for k in range(CELLS):
        histogram[k + 1] += histogram[k]
    for f in range(keys.shape[0]):
        cell = (keys[f] >> shift) & (CELLS - 1)
        out[histogram[cell]] = keys[f]
        histogram[cell] += 1


@kernel
def _cut(keys: Longs, begin: int, end: int) -> int:
    """Return where the highest bit of the codes changes; the middle if all are equal."""
    low, high = keys[begin] >> CODE_SHIFT, keys[end - 1] >> CODE_SHIFT
    if low == high:
        return (begin + end) // 2
    bit = 1 << (3 * CODE_BITS - 1)
    while (low ^ high) & bit == 0:
        bit >>= 1
    left, right = begin, end - 1
    while right - left > 1:
        middle = (left + right) // 2
        if (keys[middle] >> CODE_SHIFT) & bit:
            right = middle
        else:
            left = middle
    return right


@kernel
def _full_runs(begin: int, end: int, size: int, parts: Rows[FaceRange]) -> int:
    """Cut begin … end into runs of `size` faces; return their number."""
    children = 0
    while begin < end:
        parts[children].begin, parts[children].end = begin, min(begin + size, end)
        begin += size
        children += 1
    return children


@kernel
def _eight_ranges(keys: Longs, begin: int, end: int, parts: Rows[FaceRange]) -> int:
    """Cut begin … end, then the largest part, up to eight; return the number of parts."""
    parts[0].begin, parts[0].end = begin, end
    children = 1
    while children < LANES:
        largest, size = -1, LEAF_FACES
        for k in range(children):
            if parts[k].end - parts[k].begin > size:
                largest, size = k, parts[k].end - parts[k].begin
        if largest < 0:
            break
        part, added = parts[largest], parts[children]
        middle = _cut(keys, part.begin, part.end)
        added.begin, added.end = middle, part.end
        part.end = middle
        children += 1
    return children


@kernel
def cut_into_nodes(
    keys: Longs, middles: NDArray[np.float32], first: Ints, count: Ints, addresses: Addresses, block: Addresses
) -> int:
    """Make nodes over the sorted keys, reordering within blocks; return their number.

    Writes `first` and `count`, which must be long enough. addresses: of `NodeWork`; block: of `BlockWork`.
    """
    work = open_node_work(addresses)
    stack, parts = work.stack, work.parts
    _push(stack[0], 0, 0, keys.shape[0], 0)
    height, nodes = 1, 1
    while height > 0:
        height -= 1
        top = stack[height]
        node, begin, end, is_ordered = top.node, top.begin, top.end, top.is_ordered
        if end - begin <= LEAF_FACES:
            first[node], count[node] = begin, begin - end
            continue
        if end - begin > BLOCK_FACES:
            children = _eight_ranges(keys, begin, end, parts)
        else:
            if is_ordered == 0:
                order_block(keys, middles, begin, end, block)
                is_ordered = 1
            children = _full_runs(begin, end, NODE_FACES if end - begin > NODE_FACES else LEAF_FACES, parts)
        first[node], count[node] = nodes, children
        for k in range(children):
            _push(stack[height], nodes + k, parts[k].begin, parts[k].end, is_ordered)
            height += 1
        nodes += children
    return nodes


@kernel(forceinline=True)
def _push(free: WaitingNode, node: int, begin: int, end: int, is_ordered: int) -> None:
    free.node, free.begin, free.end, free.is_ordered = node, begin, end, is_ordered
