"""Nine more axes for two roots: the cross products of the directions of their boxes.

Two flat or long parts that nearly meet with their edges overlap on the six axes of their sides, and so do the nodes below them,
down to the leaves. A cross axis of the roots tells many of them apart at once. For nodes farther down, nine axes cost more than
they cull (half as much time again, where pipes, discs and gears nearly meet).

Let e be coordinate axis k of the frame of X's root and m = column j of the matrix from Y's into it. The axis e × m has two
coordinates: -b along axis k + 1 and a along axis k + 2, where a and b are m's. Any axis is valid: a point of X and one of Y that
coincide are apart by at most `padding` per coordinate, so by padding · (|a| + |b|) on the axis. All numbers are float32 taken
exactly. The roundings of float64 stay below 2^-44 · (|a| + |b|). The padding has room for them: 111 · 2^-24 of it are for roundings
of float32 (`relative_frame.py`), of which this test has none.
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


class Interval(NamedTuple):
    """An interval by its middle and half its length."""

    middle: float
    half: float


@kernel
def are_apart_on_cross_axis(boxes_x: Any, boxes_y: Any, into_x: FrameTransform) -> bool:
    """Return whether a cross axis separates two roots, by their boxes in their own frames and the transform between these."""
    x = _interval(boxes_x, 0), _interval(boxes_x, 1), _interval(boxes_x, 2)
    y = _interval(boxes_y, 0), _interval(boxes_y, 1), _interval(boxes_y, 2)
    centre_y, half_y = Vec3(y[0].middle, y[1].middle, y[2].middle), Vec3(y[0].half, y[1].half, y[2].half)
    matrix, shift, padding = into_x.matrix, into_x.shift, as_float64(into_x.padding)
    for k in range(3):
        after, last = (k + 1) % 3, (k + 2) % 3
        row_after, row_last = row_of(matrix, after), row_of(matrix, last)
        gap_after = dot(row_after, centre_y) + as_float64(shift[after]) - x[after].middle
        gap_last = dot(row_last, centre_y) + as_float64(shift[last]) - x[last].middle
        for j in range(3):
            a, b = row_after[j], row_last[j]
            reach = abs(a) * (x[last].half + padding) + abs(b) * (x[after].half + padding)
            for q in range(3):
                reach += abs(a * row_last[q] - b * row_after[q]) * half_y[q]
            if abs(a * gap_last - b * gap_after) > reach:
                return True
    return False


@kernel(forceinline=True)
def _interval(boxes: Any, axis: int) -> Interval:
    """Return the interval of the eight boxes of a root along an axis."""
    lower, upper = math.inf, -math.inf
    for lane in range(LANES * axis, LANES * axis + LANES):
        lower, upper = min(lower, as_float64(boxes[lane])), max(upper, as_float64(boxes[POINT_ROWS + lane]))
    return Interval(0.5 * (lower + upper), 0.5 * (upper - lower))
