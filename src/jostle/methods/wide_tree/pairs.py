"""All touching face pairs of body pairs: two trees walked together.

X is the tree with the larger extent, Y the other (`relative_frame.py`). A node pair is compared as follows:

1. `move_boxes`: moves the eight boxes of each node into the frame of the other tree.
2. `_boxes_that_meet`: tests all 8 x 8 pairs of boxes on six separating axes, three in each frame, eight pairs at a time. (The nine
   cross axes would cut only 11–13 % more of the node pairs of plain trees, and cost more than that.) In trees with orientations
   the frames are those of the nodes, long boxes have one cross axis (`turned_nodes.py`), and roots all nine (`root_axes.py`).
3. `_push_children`: pushes pairs of children that may meet. A leaf beside an inner node stays as it is.
4. `compare_leaves`: culls and tests the faces of two leaves (`leaf_pairs.py`).

The kernel works on a list of body pairs and can be stopped anywhere: called again, it resumes where its `Progress` says.

| returns | when | before Python calls again |
|---|---|---|
| DONE | the list is at its end | – |
| OUT_OF_OPERATIONS | the operations of this call are used up | it handles Ctrl-C |
| FULL_ROWS | the rows of the next pair of leaves might not fit | it doubles the rows |
| FULL_STACK | the children of the next node pair might not fit | it doubles the stack |

The stages are cut for the reader only: each has one caller and is inlined there. Out of line they take 2.4 times as long.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from jostle._types import Floats, Ints
from jostle.geometry.vector import Vec3
from jostle.kernels.jit import kernel
from jostle.kernels.numbers import as_int64
from jostle.kernels.simd import LANES, f32x8_store, lowest_bit, prefetch, without_lowest_bit
from jostle.kernels.structs import Addresses, Rows, borrowed
from jostle.methods.wide_tree.lanes import box_in_lane, boxes_at, boxes_meet, byte_of, in_byte, separations
from jostle.methods.wide_tree.leaf_cache import Reference
from jostle.methods.wide_tree.leaf_pairs import BodyPair, compare_leaves
from jostle.methods.wide_tree.pair_work import EXACT_TEST, MOST_NEW, START, PairWork, Progress, WaitingNodes, open_work
from jostle.methods.wide_tree.relative_frame import BOTH_FRAMES, NO_FRAME, forget_turned, matrix_in, move_boxes, set_up_transforms
from jostle.methods.wide_tree.tree import ROW, NodePair, PlacedTree, is_oriented, open_tree
from jostle.methods.wide_tree.turned_nodes import turned_boxes_that_meet
from jostle.report.packing import ALL, ANY, WORST_OF_ANY

DONE, OUT_OF_OPERATIONS, FULL_ROWS, FULL_STACK = range(4)
OUTWARD = 1.0 + 1e-6  # covers the rounding of a clearance to float32


@kernel
def touching_faces(
    trees: Addresses, shape_a: Ints, shape_b: Ints, pose_a: Ints, pose_b: Ints, poses: Floats,
    clearance: float, row_mode: int, operations: int, addresses: Addresses,
) -> int:  # fmt: skip
    """Resume the search for touching faces of body pairs; return why it stopped.

    Pair k is shape_a[k] at poses[pose_a[k]] and shape_b[k] at poses[pose_b[k]]. trees: address table of `TreeArrays`; addresses: of
    `PairWork`, where the rows are written.
    """
    work = open_work(addresses)
    progress, pairs = work.progress, shape_a.shape[0]
    if progress.next_pair == START:
        _start(progress)
    limit = progress.node_tests + EXACT_TEST * progress.triangle_tests + operations  # a node pair is one
    while progress.next_pair < pairs:
        k = progress.next_pair
        x = PlacedTree(open_tree(trees, as_int64(shape_a[k])), borrowed(poses[pose_a[k]]))
        y = PlacedTree(open_tree(trees, as_int64(shape_b[k])), borrowed(poses[pose_b[k]]))
        swapped = x.arrays.frame.scale > y.arrays.frame.scale  # the larger extent has the smaller scale
        if swapped:
            x, y = y, x
        are_oriented = is_oriented(x.arrays) or is_oriented(y.arrays)
        transforms = work.transforms if are_oriented else work.turned.transforms  # the latter are those of a node pair
        frames = set_up_transforms(x, y, clearance, matrix_in(work.relative), transforms)
        forget_turned(work.turned)
        if progress.height == 0:
            if frames == NO_FRAME:
                progress.next_pair += 1
                continue
            _start_pair(work)
        pair = BodyPair(x, y, _reference(x, clearance), clearance, row_mode, frames == BOTH_FRAMES, are_oriented, swapped, k)
        why = _walk(pair, work, limit)
        if why != DONE:
            return why
        is_enough = row_mode in (ANY, WORST_OF_ANY) and progress.rows_of_pair > 0
        progress.next_pair = pairs if is_enough else k + 1
    return DONE


@kernel(forceinline=True)
def _reference(x: PlacedTree, clearance: float) -> Reference:
    """Return the reference of leaves: the origin of X's body, and X's units."""
    scale, pose = x.arrays.frame.scale, x.pose
    return Reference(Vec3(pose[0, 3], pose[1, 3], pose[2, 3]), scale, clearance * scale * OUTWARD)


@kernel(forceinline=True)
def _start(progress: Progress) -> None:
    """Reset all but the query number, with which the leaf caches are tagged."""
    progress.next_pair = progress.height = progress.rows = progress.rows_of_pair = 0
    progress.node_tests = progress.triangle_tests = progress.distance_tests = 0


@kernel(forceinline=True)
def _start_pair(work: PairWork) -> None:
    """Put the roots on the stack; leaves of the last walk become invalid."""
    progress = work.progress
    progress.query += 1
    progress.rows_of_pair = 0
    progress.height = _push(work.stack, 0, 0, 0)


@kernel(forceinline=True)
def _walk(pair: BodyPair, work: PairWork, limit: int) -> int:
    """Compare the node pairs on the stack and below; return why it stopped."""
    progress, stack = work.progress, work.stack
    # Counted in a register: in memory, node pairs take 4 % more time.
    height, node_tests, why, moved_y = progress.height, progress.node_tests, DONE, -1
    while height > 0:
        if node_tests + EXACT_TEST * progress.triangle_tests >= limit:
            why = OUT_OF_OPERATIONS
            break
        if height + MOST_NEW > len(stack):
            why = FULL_STACK
            break
        if progress.rows + MOST_NEW > len(work.keys):
            why = FULL_ROWS
            break
        height -= 1
        node_tests += 1
        nodes = NodePair(as_int64(stack[height].x), as_int64(stack[height].y))
        x, y, are_crossed = pair.x.arrays, pair.y.arrays, False
        if pair.is_oriented:
            meeting, are_crossed = turned_boxes_that_meet(work, x, y, nodes, pair.both_frames)
        else:
            meeting = _boxes_that_meet(pair, work, nodes, nodes.y == moved_y)
            moved_y = nodes.y
        if meeting == 0:
            continue
        if x.count[nodes.x] > 0 or y.count[nodes.y] > 0:
            height = _push_children(pair, work, nodes, meeting, height)
            continue
        if compare_leaves(pair, work, nodes, meeting, are_crossed):
            height = 0
    progress.height, progress.node_tests = height, node_tests
    return why


@kernel(forceinline=True)
def _boxes_that_meet(pair: BodyPair, work: PairWork, nodes: NodePair, y_is_moved: bool) -> np.uint64:
    """Return which boxes of two plain nodes meet: in byte j the mask of those of X that meet box j of Y.

    y_is_moved: whether the last pair of nodes had the same Y, whose boxes are in X's frame then: 2 to 5 % of the time.
    """
    x, y, moved, transforms = pair.x.arrays, pair.y.arrays, work.moved, work.turned.transforms
    start_x, start_y = nodes.x * ROW, nodes.y * ROW
    if not y_is_moved:
        move_boxes(y.boxes, start_y, transforms.into_x, moved.y)
    boxes, count, meeting = boxes_at(x.boxes, start_x), abs(as_int64(y.count[nodes.y])), np.uint64(0)
    for j in range(count):
        meeting |= in_byte(boxes_meet(boxes, box_in_lane(moved.y, j)), j)
    if meeting == 0 or not pair.both_frames:
        return meeting
    move_boxes(x.boxes, start_x, transforms.into_y, moved.x)
    boxes, left = boxes_at(moved.x, 0), np.uint64(0)
    for j in range(count):
        mask = byte_of(meeting, j)
        if mask != 0:
            left |= in_byte(np.uint32(mask & boxes_meet(boxes, box_in_lane(y.boxes, start_y + j))), j)
    return left


@kernel(forceinline=True)
def _push_children(pair: BodyPair, work: PairWork, nodes: NodePair, meeting: np.uint64, height: int) -> int:
    """Push the pairs of children that may meet; return the height.

    A leaf is paired with the other's children. Where one row is enough, the boxes that overlap most come to the top: half the
    node pairs until a hit.
    """
    x, y, stack, moved = pair.x.arrays, pair.y.arrays, work.stack, work.moved
    first_x, first_y = as_int64(x.first[nodes.x]), as_int64(y.first[nodes.y])
    is_leaf_x, is_leaf_y, one_is_enough = x.count[nodes.x] < 0, y.count[nodes.y] < 0, pair.row_mode != ALL
    meeting_x = np.uint32(0)  # children of X that meet any of Y
    deepest, least = height, math.inf
    for j in range(abs(as_int64(y.count[nodes.y]))):
        mask = byte_of(meeting, j)
        if mask == 0:
            continue
        meeting_x |= mask
        if is_leaf_y:
            continue
        _prefetch_node(y.boxes, first_y + j)
        if is_leaf_x:
            height = _push(stack, height, nodes.x, first_y + j)
            continue
        if one_is_enough:
            f32x8_store(moved.separations, 0, separations(boxes_at(x.boxes, nodes.x * ROW), box_in_lane(moved.y, j)))
        while mask != 0:
            i = lowest_bit(mask)
            mask = without_lowest_bit(mask)
            if one_is_enough and moved.separations[i] < least:
                deepest, least = height, moved.separations[i]
            height = _push(stack, height, first_x + i, first_y + j)
    if one_is_enough and least < math.inf:
        _exchange(stack, deepest, height - 1)
    if is_leaf_x:
        return height
    while meeting_x != 0:
        i = lowest_bit(meeting_x)
        meeting_x = without_lowest_bit(meeting_x)
        _prefetch_node(x.boxes, first_x + i)
        if is_leaf_y:
            height = _push(stack, height, first_x + i, nodes.y)
    return height


@kernel(forceinline=True)
def _push(stack: Rows[WaitingNodes], height: int, x: int, y: int) -> int:
    """Push a node pair; return the height."""
    top = stack[height]
    top.x, top.y = x, y
    return height + 1


@kernel(forceinline=True)
def _exchange(stack: Rows[WaitingNodes], i: int, j: int) -> None:
    """Exchange two node pairs on the stack."""
    one, other = stack[i], stack[j]
    x, y = one.x, one.y
    one.x, one.y = other.x, other.y
    other.x, other.y = x, y


@kernel(forceinline=True)
def _prefetch_node(boxes: Any, node: int) -> None:
    """Prefetch the boxes of a node that is on the stack."""
    for line in range(ROW // (2 * LANES)):  # of 64 bytes
        prefetch(boxes, node * ROW + 2 * LANES * line)
