"""Build by Morton order: sort the faces along a space-filling curve, then cut the line of faces into nodes.

A node with more than 512 faces is cut where the highest bit of the codes changes, its largest child again, until it has
eight children. Below that the curve's jumps cost more than a better order does: blocks of up to 512 faces are cut in halves across
their longest side again and again (`kd_order.py`), and become full nodes of 64 and full leaves of eight. A quarter to two fifths
fewer pairs of nodes are visited than with the curve alone, as few as with the surface-area heuristic. The faces' codes have
10 bits per axis and come from the middles of their boxes.
"""

from __future__ import annotations

from jostle.kernels.jit import kernel
from jostle.methods.wide_tree.kd_order import BLOCK_FACES, NODE_FACES, order_block
from jostle.methods.wide_tree.tree import LANES, LEAF_FACES

CODE_BITS = 10
CELLS = 1 << CODE_BITS


@kernel
def spread(x):  # type: ignore[no-untyped-def]
    """The 10 bits of x with two zeros between each."""
    x = (x | (x << 16)) & 0x030000FF
    x = (x | (x << 8)) & 0x0300F00F
    x = (x | (x << 4)) & 0x030C30C3
    return (x | (x << 2)) & 0x09249249


@kernel
def morton_order(vertices, faces, frame, keys, spare, histogram, middles):  # type: ignore[no-untyped-def]
    """Sort keys (m,) int64: the code of each face above its number; `spare` (m,) and `histogram` (1025,) are scratch.

    Three passes leave the sorted keys in `spare`. Written are also the middles (3 * m,) float32 of the faces' boxes, in cells.
    """
    cx, cy, cz = frame[0], frame[1], frame[2]
    # The middle of a box, doubled, is in -2 … 2 in the frame; 0.999 keeps the last cell from being passed.
    scale = frame[3] * (0.999 * CELLS / 4.0)
    for f in range(faces.shape[0]):
        p, q, r = faces[f, 0], faces[f, 1], faces[f, 2]
        px, py, pz = vertices[p, 0], vertices[p, 1], vertices[p, 2]
        qx, qy, qz = vertices[q, 0], vertices[q, 1], vertices[q, 2]
        rx, ry, rz = vertices[r, 0], vertices[r, 1], vertices[r, 2]
        x = ((min(px, min(qx, rx)) - cx) + (max(px, max(qx, rx)) - cx)) * scale
        y = ((min(py, min(qy, ry)) - cy) + (max(py, max(qy, ry)) - cy)) * scale
        z = ((min(pz, min(qz, rz)) - cz) + (max(pz, max(qz, rz)) - cz)) * scale
        middles[3 * f], middles[3 * f + 1], middles[3 * f + 2] = x, y, z
        half = CELLS // 2
        code = (spread(int(x + half)) << 2) | (spread(int(y + half)) << 1) | spread(int(z + half))
        keys[f] = (code << 32) | f
    for digit in range(3):
        shift = 32 + CODE_BITS * digit
        for k in range(CELLS + 1):
            histogram[k] = 0
        for f in range(keys.shape[0]):
            histogram[((keys[f] >> shift) & (CELLS - 1)) + 1] += 1
        for k in range(CELLS):
            histogram[k + 1] += histogram[k]
        for f in range(keys.shape[0]):
            cell = (keys[f] >> shift) & (CELLS - 1)
            spare[histogram[cell]] = keys[f]
            histogram[cell] += 1
        keys, spare = spare, keys


@kernel
def _cut(keys, begin, end):  # type: ignore[no-untyped-def]
    """Where the highest bit changes between the codes of begin and end-1; the middle if they are all equal."""
    low, high = keys[begin] >> 32, keys[end - 1] >> 32
    if low == high:
        return (begin + end) // 2
    bit = 1 << 29
    while (low ^ high) & bit == 0:
        bit >>= 1
    left, right = begin, end - 1
    while right - left > 1:
        middle = (left + right) // 2
        if (keys[middle] >> 32) & bit:
            right = middle
        else:
            left = middle
    return right


@kernel
def _full_runs(begin, end, size, ends):  # type: ignore[no-untyped-def]
    """Cut begin … end into runs of `size` faces; returns how many."""
    children = 0
    while begin < end:
        ends[children, 0], ends[children, 1] = begin, min(begin + size, end)
        begin += size
        children += 1
    return children


@kernel
def _eight_ranges(keys, begin, end, ends):  # type: ignore[no-untyped-def]
    """Cut begin … end, and then always the largest part of it, until there are eight or only leaves; returns how many."""
    ends[0, 0], ends[0, 1] = begin, end
    children = 1
    while children < LANES:
        largest, size = -1, LEAF_FACES
        for k in range(children):
            if ends[k, 1] - ends[k, 0] > size:
                largest, size = k, ends[k, 1] - ends[k, 0]
        if largest < 0:
            break
        middle = _cut(keys, ends[largest, 0], ends[largest, 1])
        ends[children, 0], ends[children, 1] = middle, ends[largest, 1]
        ends[largest, 1] = middle
        children += 1
    return children


@kernel
def cut_into_nodes(keys, middles, first, count, stack, ends, block, numbers, spare):  # type: ignore[no-untyped-def]
    """Make nodes over the sorted keys, which are put in a better order within blocks; returns the number of nodes.

    first and count (m,) are large enough, stack (8 * depth, 4) too; ends (8, 2) is scratch, block, numbers and spare are that of
    `order_block`.
    """
    stack[0, 0], stack[0, 1], stack[0, 2], stack[0, 3] = 0, 0, keys.shape[0], 0
    height, nodes = 1, 1
    while height > 0:
        height -= 1
        node, begin, end, ordered = stack[height, 0], stack[height, 1], stack[height, 2], stack[height, 3]
        if end - begin <= LEAF_FACES:
            first[node], count[node] = begin, begin - end
            continue
        if end - begin > BLOCK_FACES:
            children = _eight_ranges(keys, begin, end, ends)
        else:
            if ordered == 0:
                order_block(keys, middles, begin, end, block, numbers, spare)
                ordered = 1
            children = _full_runs(begin, end, NODE_FACES if end - begin > NODE_FACES else LEAF_FACES, ends)
        first[node], count[node] = nodes, children
        for k in range(children):
            stack[height, 0], stack[height, 1], stack[height, 2], stack[height, 3] = nodes + k, ends[k, 0], ends[k, 1], ordered
            height += 1
        nodes += children
    return nodes
