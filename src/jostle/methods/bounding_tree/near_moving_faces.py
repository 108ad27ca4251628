"""The faces of a leaf against a node that is much smaller, over an interval of time.

The rule is that of one instant (`near_faces.py`). The points of a node stay within `blur` of a block: its volume as oriented at the
middle of the interval, whose centre goes straight. The corners of a face stay within its blur of their chords. So on a fixed axis
each of the two stays between linear functions of time (`moving_faces.py`), and they may meet only in a window. A face is near if
its window begins before the limit. Entries keep the times of their nodes: the order of the search does not change.
"""

from __future__ import annotations

from typing import NamedTuple

from jostle.geometry.vector import Vec3, cross, dot, length, point_from, times, write_point_from
from jostle.kernels.jit import kernel
from jostle.methods.bounding_tree.axes import axes_of
from jostle.methods.bounding_tree.leaves import AXES_OF_FACE
from jostle.methods.bounding_tree.moving_faces import edge_at_middle, extent, normal_at_middle, set_up_leaf, until_no_gap
from jostle.methods.bounding_tree.near_faces import Block, bit_of
from jostle.methods.bounding_tree.swept import set_up_axes, time_of
from jostle.methods.bounding_tree.swept_body import Interval, MovingAxis, MovingFace, SweptBody, SweptNode, Window


class MovingLeaf(NamedTuple):
    """A leaf that is large for the nodes of the other body, and its faces in question."""

    body: SweptBody
    node: int
    near: int


class MovingBlock(NamedTuple):
    """A node over an interval: its block at the start, its shift, and its blur."""

    block: Block
    shift: Vec3
    blur: float


@kernel
def near_moving_faces(
    leaf: MovingLeaf, other: SweptBody, number: int, interval: Interval, padding: float, limit: float
) -> tuple[int, int]:
    """Return the mask of the faces that may meet a node, and how many were tested.

    The node is the one at work of the other body; number: of the interval.
    """
    set_up_leaf_axes(leaf.body, leaf.node, number, interval)
    if other.scratch.place.has_axes == 0:
        set_up_axes(other, interval)
    block = moving_block_of(other.scratch.place)
    near, tests = 0, 0
    for i in range(leaf.body.shape.face_count[leaf.node]):
        if leaf.near & bit_of(i):
            tests += 1
            window = window_of_face(leaf.body, i, block, padding)
            if window.low <= window.high and time_of(interval, window.low) <= limit:
                near |= bit_of(i)
    return near, tests


@kernel(forceinline=True)
def moving_block_of(place: SweptNode) -> MovingBlock:
    """Return the block of a node over an interval."""
    axes, half = axes_of(place), point_from(place.half, 0)
    block = Block(point_from(place.centre, 0), times(half.x, axes.u), times(half.y, axes.v), times(half.z, axes.w))
    return MovingBlock(block, point_from(place.shift, 0), place.blur)


@kernel(forceinline=True)
def window_of_face(body: SweptBody, i: int, moving: MovingBlock, padding: float) -> Window:
    """Return when face i of the leaf at work may meet a block."""
    block, slack = moving.block, padding + (body.scratch.faces[i].blur + moving.blur)
    window = Window(0.0, 1.0)
    for k in range(AXES_OF_FACE * i, AXES_OF_FACE * (i + 1)):
        row = body.scratch.axes[k]
        axis = point_from(row.axis, 0)
        radius = abs(dot(axis, block.u)) + abs(dot(axis, block.v)) + abs(dot(axis, block.w))
        start, grown = dot(axis, block.centre), radius + slack * row.length
        end = start + dot(axis, moving.shift)
        window = until_no_gap(window, start - row.high_t0, end - row.high_t1, grown)
        window = until_no_gap(window, row.low_t0 - start, row.low_t1 - end, grown)
        if window.low > window.high:
            return window
    return window


@kernel
def set_up_leaf_axes(body: SweptBody, node: int, number: int, interval: Interval) -> None:
    """Set up the faces of a leaf and their axes, unless they are those at work."""
    leaf = body.scratch.leaf
    set_up_leaf(body, node, number, interval)
    if leaf.has_axes != 0:
        return
    leaf.has_axes = 1
    for i in range(body.shape.face_count[node]):
        face, row = body.scratch.faces[i], AXES_OF_FACE * i
        normal = normal_at_middle(face)
        write_axis(body.scratch.axes[row], normal, face)
        for k in range(3):
            write_axis(body.scratch.axes[row + 1 + k], cross(normal, edge_at_middle(face, k)), face)


@kernel(forceinline=True)
def write_axis(row: MovingAxis, axis: Vec3, face: MovingFace) -> None:
    """Write an axis and the range of a face on it at both ends of the interval."""
    origin = Vec3(0.0, 0.0, 0.0)
    write_point_from(row.axis, 0, axis)
    row.length = length(axis)
    row.low_t0, row.high_t0 = extent(face.start, axis, origin)
    row.low_t1, row.high_t1 = extent(face.end, axis, origin)
