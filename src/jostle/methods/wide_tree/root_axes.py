"""Nine more axes for two roots: the cross products of the directions of their boxes.

Two flat or long parts that nearly meet with their edges overlap on the six axes of their sides, and so do the nodes below them,
down to the leaves. A cross axis of the roots tells many of them apart at once. For nodes farther down, nine axes cost more than
they cull (half as much time again, where pipes, discs and gears nearly meet).

Let e be coordinate axis k of the frame of X's root and m = column j of the matrix from Y's into it. The axis e × m has two
coordinates: -b along axis k + 1 and a along axis k + 2, where a and b are m's. Any axis is valid: a point of X and one of Y that
coincide are apart by at most `padding` per coordinate, so by padding · (|a| + |b|) on the axis. All numbers are float32 taken
exactly. The roundings of float64 stay below 2^-44 · (|a| + |b|), in a padding of 2^-18 that has room for 2^-19 · (|a| + |b|).
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from jostle.geometry.vector import Vec3, dot
from jostle.kernels.jit import kernel
from jostle.kernels.numbers import as_float64
from jostle.kernels.simd import LANES
from jostle.methods.wide_tree.lanes import POINT_ROWS
from jostle.methods.wide_tree.relative_frame import FrameTransform, row_of

ROOT = 0


class CentredBox(NamedTuple):
    """A box by its centre and half its sides."""

    centre: Vec3
    half: Vec3


@kernel
def are_apart_on_cross_axis(boxes_x: Any, boxes_y: Any, into_x: FrameTransform) -> bool:
    """Return whether a cross axis separates two roots, by their boxes in their own frames and the transform between these."""
    x, y = _box_around(boxes_x), _box_around(boxes_y)
    matrix, shift, padding = into_x.matrix, into_x.shift, as_float64(into_x.padding)
    for k in range(3):
        after, last = (k + 1) % 3, (k + 2) % 3
        row_after, row_last = row_of(matrix, after), row_of(matrix, last)
        gap_after = dot(row_after, y.centre) + as_float64(shift[after]) - x.centre[after]
        gap_last = dot(row_last, y.centre) + as_float64(shift[last]) - x.centre[last]
        for j in range(3):
            a, b = row_after[j], row_last[j]
            reach = abs(a) * (x.half[last] + padding) + abs(b) * (x.half[after] + padding)
            for q in range(3):
                reach += abs(a * row_last[q] - b * row_after[q]) * y.half[q]
            if abs(a * gap_last - b * gap_after) > reach:
                return True
    return False


@kernel(forceinline=True)
def _box_around(boxes: Any) -> CentredBox:
    """Return the box around the eight of a root."""
    x, y, z = _interval(boxes, 0), _interval(boxes, 1), _interval(boxes, 2)
    return CentredBox(Vec3(x[0], y[0], z[0]), Vec3(x[1], y[1], z[1]))


@kernel(forceinline=True)
def _interval(boxes: Any, axis: int) -> tuple[float, float]:
    """Return the middle of all boxes along an axis, and half their extent."""
    lower, upper = math.inf, -math.inf
    for lane in range(LANES * axis, LANES * axis + LANES):
        lower, upper = min(lower, as_float64(boxes[lane])), max(upper, as_float64(boxes[POINT_ROWS + lane]))
    return 0.5 * (lower + upper), 0.5 * (upper - lower)
