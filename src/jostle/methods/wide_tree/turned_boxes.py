"""The boxes of rotated nodes, fitted to the vertices of all faces below.

A box around rotated boxes would be larger than one around what they hold, so each of the eight is fitted to vertices, eight faces
at a time, of a leaf one per lane; unless the child below has the same rotation. Coordinates are computed in float64, off by 2^-49
at most, which the padding of node pairs covers (`relative_frame.py`), and rounded outward.
"""

from __future__ import annotations

import math
from typing import Any, Literal, NamedTuple

import numpy as np

from jostle._types import Ints
from jostle.kernels.jit import kernel
from jostle.kernels.numbers import as_float64, as_int64
from jostle.kernels.simd import (
    f32x8_store,
    f64x8_add,
    f64x8_load,
    f64x8_max,
    f64x8_min,
    f64x8_mul,
    f64x8_splat,
    f64x8_store,
    f64x8_sub,
)
from jostle.kernels.structs import Addresses, One, Record, Run, Struct, borrowed, float32, float64, opener
from jostle.methods.wide_tree.lanes import POINT_ROWS
from jostle.methods.wide_tree.leaf_cache import Lanes64, Points64, gather_faces, points64_at, rounded_down, rounded_up
from jostle.methods.wide_tree.scratch import SCRATCH
from jostle.methods.wide_tree.tree import (
    CROSSED,
    EMPTY,
    LANES,
    LEAF_FACES,
    ROW,
    Forest,
    Rotation,
    Tree,
    TreeArrays,
    TreeFrame,
    open_tree,
)

NOT_FITTED = -1  # no rotation's number


class FacesBelow(NamedTuple):
    """The faces below each node, in the tree's order: begin … end - 1."""

    begin: Ints
    end: Ints


class EightBoxes(Record):
    """Scratch for fitting eight boxes, and the corners of eight faces."""

    corners: Run[float64, Literal[72]]
    bounds: Run[float64, Literal[48]]  # of faces: lower and upper coordinates in rows of eight
    children: Run[float64, Literal[48]]  # the same of children
    boxes: Run[float32, Literal[48]]


class TurnedWork(Struct):
    """Scratch for fitting the boxes of rotated nodes."""

    eight: One[EightBoxes]


open_turned = opener(TurnedWork)


def fit_turned_boxes(tree: Tree) -> float:
    """Replace the boxes of rotated nodes; return by how much the area changes.

    All boxes are those of the identity before. The area is in units of the root's (`refit.fit_boxes`).
    """
    trees = Forest([tree])
    return float(fit_turned(trees.addresses, *faces_below(tree), SCRATCH.addresses(TurnedWork)))


def faces_below(tree: Tree) -> FacesBelow:
    """Return the arrays in which kernels note the faces below each node."""
    return FacesBelow(*(SCRATCH.array(f"{name} of faces below", len(tree.first), np.int32) for name in FacesBelow._fields))


@kernel
def fit_turned(trees: Addresses, begin: Ints, end: Ints, addresses: Addresses) -> float:
    """Replace the boxes of the rotated nodes of one tree; return the change in area.

    begin, end (nodes,): scratch.
    """
    tree, work, below = open_tree(trees, 0), open_turned(addresses), FacesBelow(borrowed(begin), borrowed(end))
    find_faces_below(tree, below)
    root, change = _half_area_of_all(tree), 0.0
    for node in range(len(tree.first) - 1, -1, -1):  # children first
        rotation = as_int64(tree.orientation[node]) // CROSSED
        if rotation > 0:
            change += fit_node(tree, below, node, rotation, tree.rotations[rotation], work.eight) - boxes_area(tree, node)
            take_boxes(tree, node, work.eight)
    return change / root if root > 0.0 else 0.0


@kernel
def find_faces_below(tree: TreeArrays, below: FacesBelow) -> None:
    """Write the faces below each node: one run, though children need not follow its order."""
    for node in range(len(tree.first) - 1, -1, -1):
        first, count = as_int64(tree.first[node]), as_int64(tree.count[node])
        begin, end = first, first - count
        if count > 0:
            begin, end = below.begin[first], below.end[first]
            for child in range(first + 1, first + count):
                begin, end = min(begin, below.begin[child]), max(end, below.end[child])
        below.begin[node], below.end[node] = begin, end


@kernel
def fit_node(tree: TreeArrays, below: FacesBelow, node: int, number: int, rotation: Rotation, eight: EightBoxes) -> float:
    """Write the eight boxes of a node under a rotation to scratch; return their half areas.

    number: of the rotation, if children that have it have their boxes already; these are united. NOT_FITTED otherwise.
    """
    first, count = as_int64(tree.first[node]), as_int64(tree.count[node])
    if count < 0:
        _bound_faces(tree, first, first - count, rotation, eight)
        _round_bounds(eight, eight.bounds, -count)
        return half_areas(eight.boxes, 0, -count)
    for lane in range(count):
        if as_int64(tree.orientation[first + lane]) // CROSSED == number:
            continue
        _bound_faces(tree, as_int64(below.begin[first + lane]), as_int64(below.end[first + lane]), rotation, eight)
        for row in range(3):
            low, high = math.inf, -math.inf
            for k in range(LANES):
                low = min(low, eight.bounds[LANES * row + k])
                high = max(high, eight.bounds[POINT_ROWS + LANES * row + k])
            eight.children[LANES * row + lane], eight.children[POINT_ROWS + LANES * row + lane] = low, high
    _round_bounds(eight, eight.children, count)
    for lane in range(count):
        if as_int64(tree.orientation[first + lane]) // CROSSED == number:
            _unite_boxes(tree, first + lane, eight, lane)
    return half_areas(eight.boxes, 0, count)


@kernel(forceinline=True)
def _unite_boxes(tree: TreeArrays, child: int, eight: EightBoxes, lane: int) -> None:
    """Write the box around all boxes of a child: that of its faces, as rounding is monotonous."""
    for row in range(0, POINT_ROWS, LANES):
        start = ROW * child + row
        low, high = tree.boxes[start], tree.boxes[start + POINT_ROWS]
        for k in range(1, LANES):  # empty boxes are inside out
            low, high = min(low, tree.boxes[start + k]), max(high, tree.boxes[start + POINT_ROWS + k])
        eight.boxes[row + lane], eight.boxes[POINT_ROWS + row + lane] = low, high


@kernel
def _bound_faces(tree: TreeArrays, begin: int, end: int, rotation: Rotation, eight: EightBoxes) -> None:
    """Write bounds of faces in eight lanes, each of an eighth of the faces."""
    below, above = f64x8_splat(math.inf), f64x8_splat(-math.inf)
    low, high = Points64(below, below, below), Points64(above, above, above)
    for start in range(begin, end, LEAF_FACES):
        gather_faces(eight.corners, tree, start, min(end - start, LEAF_FACES))
        for k in range(3):
            p = _in_frame(points64_at(eight.corners, POINT_ROWS * k), tree.frame)
            p = Points64(_row_of(rotation, 0, p), _row_of(rotation, 3, p), _row_of(rotation, 6, p))
            low = Points64(f64x8_min(low.x, p.x), f64x8_min(low.y, p.y), f64x8_min(low.z, p.z))
            high = Points64(f64x8_max(high.x, p.x), f64x8_max(high.y, p.y), f64x8_max(high.z, p.z))
    for k in range(3):
        f64x8_store(eight.bounds, LANES * k, low[k])
        f64x8_store(eight.bounds, POINT_ROWS + LANES * k, high[k])


@kernel(forceinline=True)
def _in_frame(p: Points64, frame: TreeFrame) -> Points64:
    """Return eight points in the frame of their tree."""
    centre, scale = frame.centre, f64x8_splat(frame.scale)
    return Points64(
        f64x8_mul(f64x8_sub(p.x, f64x8_splat(centre[0])), scale),
        f64x8_mul(f64x8_sub(p.y, f64x8_splat(centre[1])), scale),
        f64x8_mul(f64x8_sub(p.z, f64x8_splat(centre[2])), scale),
    )


@kernel(forceinline=True)
def _row_of(rotation: Rotation, row: int, p: Points64) -> Lanes64:
    """Return one rotated coordinate; `row` is the index of the row's first number."""
    x, y, z = as_float64(rotation.rows[row]), as_float64(rotation.rows[row + 1]), as_float64(rotation.rows[row + 2])
    return f64x8_add(f64x8_add(f64x8_mul(f64x8_splat(x), p.x), f64x8_mul(f64x8_splat(y), p.y)), f64x8_mul(f64x8_splat(z), p.z))


@kernel(forceinline=True)
def _round_bounds(eight: EightBoxes, bounds: Any, count: int) -> None:
    """Write eight boxes from their bounds, rounded outward, and empty ones."""
    for k in range(3):
        f32x8_store(eight.boxes, LANES * k, rounded_down(f64x8_load(bounds, LANES * k)))
        f32x8_store(eight.boxes, POINT_ROWS + LANES * k, rounded_up(f64x8_load(bounds, POINT_ROWS + LANES * k)))
    for lane in range(count, LANES):
        for k in range(3):
            eight.boxes[LANES * k + lane], eight.boxes[POINT_ROWS + LANES * k + lane] = EMPTY, -EMPTY


@kernel
def boxes_area(tree: TreeArrays, node: int) -> float:
    """Return the half areas of the boxes of a node."""
    return half_areas(tree.boxes, ROW * node, abs(as_int64(tree.count[node])))


@kernel(forceinline=True)
def half_areas(boxes: Any, start: int, count: int) -> float:
    """Return the half areas of boxes whose rows begin at `start`."""
    total = 0.0
    for lane in range(start, start + count):
        dx, dy, dz = extent_in_row(boxes, lane), extent_in_row(boxes, lane + LANES), extent_in_row(boxes, lane + 2 * LANES)
        total += dx * dy + dz * (dx + dy)
    return total


@kernel(forceinline=True)
def extent_in_row(boxes: Any, row: int) -> float:
    """Return one extent of a box; `row` is the index of its lower corner in a row of coordinates."""
    return as_float64(boxes[row + POINT_ROWS]) - as_float64(boxes[row])


@kernel
def _half_area_of_all(tree: TreeArrays) -> float:
    """Return half the area of the box of the whole tree, whose root is not rotated yet."""
    dx, dy, dz = _extent_of_all(tree, 0), _extent_of_all(tree, LANES), _extent_of_all(tree, 2 * LANES)
    return dx * dy + dz * (dx + dy)


@kernel
def _extent_of_all(tree: TreeArrays, row: int) -> float:
    low, high = math.inf, -math.inf
    for lane in range(row, row + LANES):  # empty boxes are inside out
        low, high = min(low, as_float64(tree.boxes[lane])), max(high, as_float64(tree.boxes[lane + POINT_ROWS]))
    return high - low


@kernel
def take_boxes(tree: TreeArrays, node: int, eight: EightBoxes) -> None:
    """Make the boxes in scratch those of a node."""
    for k in range(ROW):
        tree.boxes[ROW * node + k] = eight.boxes[k]
