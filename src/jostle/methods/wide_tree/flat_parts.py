"""Flat parts that lie askew in their mesh: sheets, plates, panels.

Their faces need not be slivers, but boxes along the axes of the mesh are about as thick as the part is wide. A part is *flat* if
its least principal variance is less than FLAT of the middle one, and *askew* if its variance along each axis of the mesh is more
than ASKEW times the least. Both are told from the characteristic polynomial: det / minors is close to the least eigenvalue of a
flat part, minors / trace to the middle one.

Every small patch of a smooth surface is flat. So a part must have BROAD of the mesh (`orient.py`), and before that is looked at, a
sample must have a flat eighth (`has_flat_part_askew`). An eighth of a sphere has a ratio of 0.04.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from jostle._types import Ints
from jostle.geometry.eigenvectors import Moments
from jostle.kernels.jit import kernel
from jostle.kernels.numbers import as_float64, as_int64
from jostle.methods.wide_tree.lanes import POINT_ROWS
from jostle.methods.wide_tree.tree import LANES, ROW

FLAT = 0.01
ASKEW = 4.0
BROAD = 0.1
SAMPLED = 128  # leaves
RUNS = 8  # of sampled leaves that follow each other


class PointSums(NamedTuple):
    """How many points, their sum, and the sums of their products."""

    points: float
    x: float
    y: float
    z: float
    xx: float
    xy: float
    xz: float
    yy: float
    yz: float
    zz: float


@kernel(forceinline=True)
def flat_and_askew(m: Moments) -> tuple[bool, bool]:
    """Return whether points with these variances are flat, and whether they are askew."""
    trace = m.xx + m.yy + m.zz
    minors = (m.xx * m.yy - m.xy * m.xy) + (m.xx * m.zz - m.xz * m.xz) + (m.yy * m.zz - m.yz * m.yz)
    x, y, z = m.yy * m.zz - m.yz * m.yz, m.xy * m.zz - m.yz * m.xz, m.xy * m.yz - m.yy * m.xz
    determinant = m.xx * x - m.xy * y + m.xz * z
    return determinant * trace < FLAT * minors * minors, min(m.xx, m.yy, m.zz) * minors > ASKEW * determinant


@kernel
def has_flat_part_askew(boxes: Any, first: Ints, count: Ints) -> bool:
    """Return whether a sample of the faces of a tree, or an eighth of it, is flat and askew.

    boxes: rows of the nodes (`tree.py`). The middles of boxes stand for the faces.
    """
    leaves = 0
    for node in range(len(first)):
        leaves += count[node] < 0
    step = leaves // SAMPLED + 1
    run = max(leaves // (step * RUNS), 1)
    nothing = PointSums(0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    everything, part, leaf, taken = nothing, nothing, 0, 0
    for node in range(len(first)):
        if count[node] > 0:
            continue
        leaf += 1
        if leaf % step != 0:
            continue
        for lane in range(-as_int64(count[node])):
            everything, part = _with_middle(everything, boxes, ROW * node + lane), _with_middle(part, boxes, ROW * node + lane)
        taken += 1
        if taken % run == 0:
            if _is_flat_askew(part):
                return True
            part = nothing
    return _is_flat_askew(everything)


@kernel(forceinline=True)
def _with_middle(s: PointSums, boxes: Any, row: int) -> PointSums:
    """Add the middle of a box, doubled."""
    x = as_float64(boxes[row]) + as_float64(boxes[row + POINT_ROWS])
    y = as_float64(boxes[row + LANES]) + as_float64(boxes[row + LANES + POINT_ROWS])
    z = as_float64(boxes[row + 2 * LANES]) + as_float64(boxes[row + 2 * LANES + POINT_ROWS])
    return PointSums(
        s.points + 1.0, s.x + x, s.y + y, s.z + z,
        s.xx + x * x, s.xy + x * y, s.xz + x * z, s.yy + y * y, s.yz + y * z, s.zz + z * z,
    )  # fmt: skip


@kernel
def _is_flat_askew(s: PointSums) -> bool:
    n = s.points
    x, y, z = s.x / n, s.y / n, s.z / n
    moments = Moments(
        s.xx / n - x * x, s.xy / n - x * y, s.xz / n - x * z, s.yy / n - y * y, s.yz / n - y * z, s.zz / n - z * z
    )  # fmt: skip
    is_flat, is_askew = flat_and_askew(moments)
    return is_flat and is_askew
