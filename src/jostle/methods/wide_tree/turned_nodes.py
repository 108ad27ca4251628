"""Which boxes of two nodes meet, where nodes have orientations.

Out of line, so that plain trees pay nothing for it. Most pairs of nodes are told apart in the frame of X's node, before the
transform the other way is set up.
"""

from __future__ import annotations

import numpy as np

from jostle.kernels.jit import kernel
from jostle.kernels.numbers import as_int64
from jostle.methods.wide_tree.cross_axis import meeting_on_axis, set_up_cross_axis
from jostle.methods.wide_tree.lanes import box_in_lane, boxes_at, boxes_meet, byte_of, in_byte
from jostle.methods.wide_tree.pair_work import PairWork
from jostle.methods.wide_tree.relative_frame import move_boxes, turn_into_x, turn_into_y
from jostle.methods.wide_tree.root_axes import ROOT, are_apart_on_cross_axis
from jostle.methods.wide_tree.tree import CROSSED, ROW, NodePair, TreeArrays, orientation_of


@kernel
def turned_boxes_that_meet(
    work: PairWork, x: TreeArrays, y: TreeArrays, nodes: NodePair, both_frames: bool
) -> tuple[np.uint64, bool]:
    """Return which boxes of two nodes meet, and whether these have a cross axis.

    In byte j is the mask of the boxes of X that meet box j of Y.
    """
    orientation_x, orientation_y = orientation_of(x, nodes.x), orientation_of(y, nodes.y)
    rotation_x, long_x = orientation_x // CROSSED, orientation_x % CROSSED
    rotation_y, long_y = orientation_y // CROSSED, orientation_y % CROSSED
    turned, moved, start_x, start_y = work.turned, work.moved, nodes.x * ROW, nodes.y * ROW
    turn_into_x(work.transforms, x, rotation_x, y, rotation_y, turned)
    move_boxes(y.boxes, start_y, turned.transforms.into_x, moved.y)
    boxes, count, meeting = boxes_at(x.boxes, start_x), abs(as_int64(y.count[nodes.y])), np.uint64(0)
    for j in range(count):
        meeting |= in_byte(boxes_meet(boxes, box_in_lane(moved.y, j)), j)
    if meeting == 0 or not both_frames:
        return meeting, False
    if nodes.x == ROOT and nodes.y == ROOT and are_apart_on_cross_axis(x.boxes, y.boxes, turned.transforms.into_x):
        return np.uint64(0), False
    are_crossed = long_x > 0 and long_y > 0
    if are_crossed:
        into_x, crossed = turned.transforms.into_x, work.crossed
        set_up_cross_axis(x, y, nodes, long_x - 1, long_y - 1, moved.y, into_x, crossed)
        left = np.uint64(0)
        for j in range(count):
            left |= in_byte(np.uint32(byte_of(meeting, j) & meeting_on_axis(crossed, j)), j)
        meeting = left
        if meeting == 0:
            return meeting, True
    turn_into_y(work.transforms, x, rotation_x, y, rotation_y, turned)
    move_boxes(x.boxes, start_x, turned.transforms.into_y, moved.x)
    boxes, left = boxes_at(moved.x, 0), np.uint64(0)
    for j in range(count):
        mask = byte_of(meeting, j)
        if mask != 0:
            left |= in_byte(np.uint32(mask & boxes_meet(boxes, box_in_lane(y.boxes, start_y + j))), j)
    return left, are_crossed
