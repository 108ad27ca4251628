"""One more axis for two nodes of long boxes: the cross product of their long directions.

Two long boxes that cross at an angle overlap on all six axes of their sides. The eight boxes of a node share their directions, so
the axis is that of all 64 pairs, and each box has one interval on it.

Let e be the long direction of X's boxes, coordinate axis k of the frame in which they are compared, and m = column j of the matrix
of Y's. The axis e × m has two coordinates: -b along axis k + 1 and a along axis k + 2, where a and b are m's. Any axis is valid: a
point of X and one of Y that coincide are apart by at most `padding` per coordinate, so by padding · (|a| + |b|) on the axis.
Intervals are off by at most 64 · 2^-24 · ratio (|m| is the ratio of the scales, boxes that touch have coordinates below 4, and
each end is a dozen roundings); SLACK is twice that. Y's directions need not be orthogonal: their products with the axis are
computed.
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from jostle._types import Singles
from jostle.kernels.jit import kernel
from jostle.kernels.numbers import as_float64
from jostle.kernels.simd import (
    LANES,
    f32x8_add,
    f32x8_less_equal,
    f32x8_load,
    f32x8_mul,
    f32x8_multiply_add,
    f32x8_splat,
    f32x8_store,
    f32x8_sub,
)
from jostle.kernels.structs import Record, Run, float32
from jostle.methods.wide_tree.lanes import POINT_ROWS, Boxes8, boxes_at, in_every_lane
from jostle.methods.wide_tree.relative_frame import FrameTransform
from jostle.methods.wide_tree.tree import ROW, NodePair, TreeArrays

SLACK = 128.0 * 2.0**-24


class CrossIntervals(Record):
    """The intervals of two times eight boxes on a cross axis."""

    low_x: Run[float32, Literal[8]]
    high_x: Run[float32, Literal[8]]
    low_y: Run[float32, Literal[8]]
    high_y: Run[float32, Literal[8]]


@kernel
def set_up_cross_axis(
    x: TreeArrays, y: TreeArrays, nodes: NodePair, axis_x: int, axis_y: int, moved_y: Any, into_x: FrameTransform,
    intervals: CrossIntervals,
) -> None:  # fmt: skip
    """Write the intervals of eight boxes of X and eight of Y.

    axis_x, axis_y: along which they are long; moved_y: Y's boxes in X's frame, by `into_x`.
    """
    boxes_x, boxes_y, start_x, start_y = x.boxes, y.boxes, nodes.x * ROW, nodes.y * ROW
    after, last, matrix = (axis_x + 1) % 3, (axis_x + 2) % 3, into_x.matrix
    a, b = as_float64(matrix[3 * after + axis_y]), as_float64(matrix[3 * last + axis_y])
    along, across = in_every_lane(a), in_every_lane(-b)
    near, far = boxes_at(boxes_x, start_x), boxes_at(moved_y, 0)
    middle = f32x8_multiply_add(_middle(near, after), across, f32x8_mul(_middle(near, last), along))
    reach = f32x8_mul(_halves(boxes_x, start_x + LANES * last), in_every_lane(abs(a)))
    reach = f32x8_multiply_add(_halves(boxes_x, start_x + LANES * after), in_every_lane(abs(b)), reach)
    f32x8_store(intervals.low_x, 0, f32x8_sub(middle, reach))
    f32x8_store(intervals.high_x, 0, f32x8_add(middle, reach))
    middle = f32x8_multiply_add(_middle(far, after), across, f32x8_mul(_middle(far, last), along))
    ratio = abs(a) + abs(b) + as_float64(into_x.absolute[3 * axis_x + axis_y])
    reach = in_every_lane(as_float64(into_x.padding) * (abs(a) + abs(b)) + SLACK * ratio)
    for step in range(1, 3):
        axis = (axis_y + step) % 3
        length = abs(a * as_float64(matrix[3 * last + axis]) - b * as_float64(matrix[3 * after + axis]))
        reach = f32x8_multiply_add(_halves(boxes_y, start_y + LANES * axis), in_every_lane(length), reach)
    f32x8_store(intervals.low_y, 0, f32x8_sub(middle, reach))
    f32x8_store(intervals.high_y, 0, f32x8_add(middle, reach))


@kernel(forceinline=True)
def _middle(boxes: Boxes8, axis: int) -> Singles:
    """Return one coordinate of the middles of eight boxes."""
    return f32x8_mul(f32x8_add(boxes.lower[axis], boxes.upper[axis]), in_every_lane(0.5))


@kernel(forceinline=True)
def _halves(boxes: Any, row: int) -> Singles:
    """Return one half extent of eight boxes."""
    return f32x8_mul(f32x8_sub(f32x8_load(boxes, row + POINT_ROWS), f32x8_load(boxes, row)), in_every_lane(0.5))


@kernel(forceinline=True)
def meeting_on_axis(intervals: CrossIntervals, j: int) -> np.uint32:
    """Return the mask of boxes of X whose intervals meet that of box j of Y."""
    below = f32x8_less_equal(f32x8_load(intervals.low_x, 0), f32x8_splat(intervals.high_y[j]))
    return below & f32x8_less_equal(f32x8_splat(intervals.low_y[j]), f32x8_load(intervals.high_x, 0))
