"""Orientations: a rotation for the eight boxes of a node where that makes them much smaller.

Six axes part everything but long thin boxes that cross, and boxes along the axes of the mesh fit nothing thin that runs askew. CAD
models are made of such parts: pipes, cylinders, cones, beams. Their faces are *slivers*: the longest edge squared is more than
SLENDER times the area. Nodes whose faces are mostly slivers, by the squares of the longest edges, are candidates, and so are those
of parts that are flat (`flat_parts.py`):

- A candidate takes the rotation of the node above it, or the principal axes of its own faces, if that makes its boxes smaller by
  GAIN. Nodes that share rotations share a product of matrices, so its own axes must gain SHARE beside the other's.
- Nodes below a rotated one may take its rotation, too.
- A node whose boxes are mostly LONG times as long as thick says so: `pairs.py` then tests one more axis, the cross product of the
  long directions of two nodes.

Where slivers have less than FEW_SLIVERS of the squared edges of a mesh, and no part is flat and askew, nothing more is looked at;
and where orientations concern less than LEAST_CONCERNED of the area of all boxes the tree stays as it was. So organic meshes, whose
slivers are small, cost nothing, and a few long pipes in one of them are found.
"""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from jostle._types import Floats, Ints, Singles
from jostle.geometry.eigenvectors import Matrix, Moments, eigenvectors
from jostle.geometry.triangle import Triangle, face_at
from jostle.geometry.vector import Vec3, cross, dot, minus, plus
from jostle.kernels.arrays import read_only_view
from jostle.kernels.jit import kernel
from jostle.kernels.numbers import as_float64, as_int64
from jostle.kernels.simd import f32x8_add, f32x8_less, f32x8_max, f32x8_mul, f32x8_store
from jostle.kernels.structs import Addresses, One, Record, Rows, Run, Struct, borrowed, float64, int64, opener
from jostle.kernels.work_arrays import made_arrays
from jostle.methods.wide_tree.flat_parts import BROAD, flat_and_askew, has_flat_part_askew
from jostle.methods.wide_tree.lanes import boxes_at, in_every_lane, minus8
from jostle.methods.wide_tree.tree import CROSSED, LANES, ROW, Forest, Rotation, Tree, TreeArrays, open_tree
from jostle.methods.wide_tree.turned_boxes import (
    NOT_FITTED,
    EightBoxes,
    FacesBelow,
    boxes_area,
    extent_in_row,
    faces_below,
    find_faces_below,
    fit_node,
    half_areas,
    take_boxes,
)

SLENDER = 16.0  # longest edge squared / area
FEW_SLIVERS = 0.05
LARGE = 16.0  # times the mean of the squared longest sides
SAMPLED = 128  # leaves
LEAST_CONCERNED = 0.1
GAIN = 0.7  # of the area of a node's boxes
SHARE = 0.87
LONG = 3.0


class NodeMoments(Record):
    """Moments of the faces below a node, weighted by the squares of their longest edges."""

    parent: int64
    slivers: float64  # the weight of slivers
    weight: float64
    sum: Run[float64, Literal[3]]
    squares: Run[float64, Literal[6]]  # xx, xy, xz, yy, yz, zz


class Choice(Record):
    """What is known of the tree so far, and scratch."""

    rotations: int64
    weight: float64  # of all faces
    area: float64  # of all boxes without orientations
    saved: float64  # of it by rotations
    long: float64  # area of the boxes of nodes with a long axis
    empty: float64  # by how much boxes are larger than all those in them
    matrix: Matrix
    axes: Matrix
    trial: Rotation


class OrientWork(Struct):
    """Scratch for orienting a tree."""

    choice: One[Choice]
    eight: One[EightBoxes]
    moments: Rows[NodeMoments]


open_orient = opener(OrientWork)


class Measured(NamedTuple):
    """A tree, the area of its boxes (`refit.fit_boxes`), and by what share of it boxes are larger than all those in them."""

    tree: Tree
    area: float
    empty: float = 0.0


def oriented(tree: Tree, area: float) -> Measured:
    """Return a tree with orientations if it has slivers or flat parts, or as it is.

    area: of its boxes as they are.
    """
    first, count, vertices, faces = (read_only_view(array) for array in (tree.first, tree.count, tree.vertices, tree.faces))
    if len(first) == 1:
        return Measured(tree, area)  # a single leaf has little to gain
    if share_of_slivers(tree.boxes, first, count, vertices, faces) < FEW_SLIVERS and not has_flat_part_askew(
        tree.boxes, first, count
    ):
        return Measured(tree, area)
    nodes = len(tree.first)
    orientation, rotations = np.zeros(nodes, np.int32), np.zeros(9 * (nodes + 1), np.float32)
    tried = tree._replace(boxes=tree.boxes.copy(), orientation=orientation, rotations=rotations)
    arrays = made_arrays(OrientWork, moments=nodes)
    table, forest, choice = OrientWork.table(**arrays), Forest([tried]), arrays["choice"]
    used = orient_nodes(forest.addresses, *faces_below(tree), table.table[0])
    if used == 0:
        return Measured(tree, area)
    whole, saved, empty = (float(choice[name][0]) for name in ("area", "saved", "empty"))
    left = whole - saved
    emptiness = empty / left if left > 0.0 else 0.0  # faces on one line leave nothing
    return Measured(tried._replace(rotations=rotations[: 9 * used].copy()), area * left / whole, emptiness)


@kernel
def share_of_slivers(boxes: NDArray[np.float32], first: Ints, count: Ints, vertices: Floats, faces: Ints) -> float:
    """Return an estimate of the share of slivers in the squared longest edges.

    The longest side of its box stands for the longest edge of a face. Faces that are LARGE are all looked at; of the others, those
    in SAMPLED leaves. (All faces would take a tenth of the time of a build.)
    """
    sides, sums, leaves = np.empty(LANES, np.float32), in_every_lane(0.0), 0
    for node in range(len(first)):
        if count[node] < 0:
            leaves += 1
            sums = f32x8_add(sums, _squared_sides(boxes, ROW * node))
    f32x8_store(sides, 0, sums)
    total, large, large_slivers, sampled, sampled_slivers = 0.0, 0.0, 0.0, 0.0, 0.0
    for lane in range(LANES):
        total += as_float64(sides[lane])
    limit, step = in_every_lane(LARGE * total / len(faces)), leaves // SAMPLED + 1
    for node in range(len(first)):
        if count[node] > 0:
            continue
        squared = _squared_sides(boxes, ROW * node)
        is_large, is_sampled = f32x8_less(limit, squared), node % step == 0
        if is_large == 0 and not is_sampled:
            continue
        f32x8_store(sides, 0, squared)
        for lane in range(-as_int64(count[node])):
            side, large_face = as_float64(sides[lane]), (is_large >> np.uint32(lane)) & np.uint32(1) != 0
            if not large_face and not is_sampled:
                continue
            sliver = side if is_sliver(face_at(vertices, faces, first[node] + lane)) else 0.0
            if large_face:
                large, large_slivers = large + side, large_slivers + sliver
            else:
                sampled, sampled_slivers = sampled + side, sampled_slivers + sliver
    others = (total - large) * sampled_slivers / sampled if sampled > 0.0 else 0.0
    return (large_slivers + others) / total if total > 0.0 else 0.0


@kernel(forceinline=True)
def _squared_sides(boxes: Any, start: int) -> Singles:
    """Return the squares of the longest sides of eight boxes, 0 of empty ones."""
    box = boxes_at(boxes, start)
    sides = minus8(box.upper, box.lower)
    side = f32x8_max(f32x8_max(sides.x, in_every_lane(0.0)), f32x8_max(sides.y, sides.z))
    return f32x8_mul(side, side)


@kernel
def is_sliver(face: Triangle) -> bool:
    """Return whether the longest edge of a face is long for its area."""
    u, v = minus(face.q, face.p), minus(face.r, face.p)
    w, normal = minus(v, u), cross(u, v)
    edge = max(dot(u, u), dot(v, v), dot(w, w))
    return 4.0 * edge * edge > SLENDER * SLENDER * dot(normal, normal)


@kernel
def orient_nodes(trees: Addresses, begin: Ints, end: Ints, addresses: Addresses) -> int:
    """Choose orientations and fit boxes; return how many rotations, 0 for a plain tree.

    begin, end (nodes,): scratch.
    """
    tree, work, below = open_tree(trees, 0), open_orient(addresses), FacesBelow(borrowed(begin), borrowed(end))
    choice = work.choice
    find_faces_below(tree, below)
    for node in range(len(tree.first) - 1, -1, -1):
        _sum_moments(tree, work.moments, node)
        choice.area += boxes_area(tree, node)
    for k in range(9):
        tree.rotations[0].rows[k] = 1.0 if k % 4 == 0 else 0.0
    choice.rotations, choice.weight = 1, work.moments[0].weight
    for node in range(len(tree.first)):
        moments, inherited, rotation = work.moments[node], 0, 0
        if node > 0:
            inherited = as_int64(tree.orientation[as_int64(moments.parent)]) // CROSSED
        is_own_tried = _is_candidate(moments, choice.weight)
        if is_own_tried or inherited > 0:
            rotation = _choose_rotation(tree, below, work, node, inherited, is_own_tried)
        long, area = _long_axis(tree.boxes, ROW * node, abs(as_int64(tree.count[node]))), boxes_area(tree, node)
        if long > 0:
            choice.long += area
        if node > 0:
            choice.empty += max(_area_of_box(tree, as_int64(moments.parent), node) - area, 0.0)
        tree.orientation[node] = CROSSED * rotation + long
    return choice.rotations if choice.saved + choice.long > LEAST_CONCERNED * choice.area else 0


@kernel(forceinline=True)
def _area_of_box(tree: TreeArrays, parent: int, node: int) -> float:
    """Return the half area of the box that a node has in its parent."""
    return half_areas(tree.boxes, ROW * parent + node - as_int64(tree.first[parent]), 1)


@kernel(forceinline=True)
def _is_candidate(moments: NodeMoments, whole: float) -> bool:
    """Return whether the faces below a node are mostly slivers, or a broad flat part."""
    return 2.0 * moments.slivers > moments.weight or (moments.weight > BROAD * whole and flat_and_askew(_variances(moments))[0])


@kernel
def _sum_moments(tree: TreeArrays, all_moments: Rows[NodeMoments], node: int) -> None:
    """Write the moments of a node from its children's, or its faces'."""
    moments, first, count = all_moments[node], as_int64(tree.first[node]), as_int64(tree.count[node])
    for f in range(first, first - count):  # none for inner nodes
        _add_face(tree, moments, f)
    for child in range(first, first + count):  # none for leaves
        other = all_moments[child]
        other.parent = node
        moments.slivers += other.slivers
        moments.weight += other.weight
        for k in range(3):
            moments.sum[k] += other.sum[k]
        for k in range(6):
            moments.squares[k] += other.squares[k]


@kernel
def _add_face(tree: TreeArrays, moments: NodeMoments, f: int) -> None:
    """Add a face: the integrals over it, divided by its area and weighted."""
    p, q, r = _in_frame(tree, 3 * f), _in_frame(tree, 3 * f + 1), _in_frame(tree, 3 * f + 2)
    u, v, w = minus(q, p), minus(r, q), minus(p, r)
    weight = max(dot(u, u), dot(v, v), dot(w, w))
    moments.weight += weight
    if is_sliver(Triangle(p, q, r)):
        moments.slivers += weight
    total = plus(plus(p, q), r)
    for k in range(3):
        moments.sum[k] += weight * total[k] / 3.0
    n = 0
    for i in range(3):
        for j in range(i, 3):
            moments.squares[n] += weight * (total[i] * total[j] + p[i] * p[j] + q[i] * q[j] + r[i] * r[j]) / 12.0
            n += 1


@kernel(forceinline=True)
def _in_frame(tree: TreeArrays, corner: int) -> Vec3:
    """Return a corner of a face in the frame of the tree."""
    v, frame = 3 * as_int64(tree.faces[corner]), tree.frame
    x, y, z = tree.vertices[v] - frame.centre[0], tree.vertices[v + 1] - frame.centre[1], tree.vertices[v + 2] - frame.centre[2]
    return Vec3(x * frame.scale, y * frame.scale, z * frame.scale)


@kernel
def _choose_rotation(
    tree: TreeArrays, below: FacesBelow, work: OrientWork, node: int, inherited: int, is_own_tried: bool
) -> int:  # fmt: skip
    """Give a node the inherited rotation or one of its own; return its number, or 0."""
    choice, rotation, plain, count = work.choice, 0, boxes_area(tree, node), abs(as_int64(tree.count[node]))
    least, kept, limit = plain, 1.0, GAIN * plain if _long_axis(tree.boxes, ROW * node, count) > 0 else plain
    if inherited > 0:
        area = fit_node(tree, below, node, NOT_FITTED, tree.rotations[inherited], work.eight)
        if area < GAIN * plain or (area < limit and _long_axis(work.eight.boxes, 0, count) > 0):
            rotation, least, kept = inherited, area, SHARE
            take_boxes(tree, node, work.eight)
    if is_own_tried:
        _set_own_axes(work.moments[node], choice)
        area = fit_node(tree, below, node, NOT_FITTED, choice.trial, work.eight)
        if area < kept * least and (area < GAIN * plain or (area < limit and _long_axis(work.eight.boxes, 0, count) > 0)):
            rotation, least = choice.rotations, area
            take_boxes(tree, node, work.eight)
            for k in range(9):
                tree.rotations[rotation].rows[k] = choice.trial.rows[k]
            choice.rotations += 1
    choice.saved += plain - least
    return rotation


@kernel
def _set_own_axes(moments: NodeMoments, choice: Choice) -> None:
    """Write the principal axes of the faces below a node as a rotation for trial.

    Rounding an entry to float32 costs 2^-25 at most, so the rows are orthogonal to 2√3 · 2^-25, below `ORTHOGONAL`.
    """
    eigenvectors(_variances(moments), choice.matrix, choice.axes)
    for k in range(9):
        choice.trial.rows[k] = choice.axes.rows[k]


@kernel
def _variances(moments: NodeMoments) -> Moments:
    """Return the second moments about the middle, divided by the weight."""
    weight, squares = moments.weight, moments.squares
    x, y, z = moments.sum[0] / weight, moments.sum[1] / weight, moments.sum[2] / weight
    return Moments(
        max(squares[0] / weight - x * x, 0.0), squares[1] / weight - x * y, squares[2] / weight - x * z,
        max(squares[3] / weight - y * y, 0.0), squares[4] / weight - y * z, max(squares[5] / weight - z * z, 0.0),
    )  # fmt: skip


@kernel
def _long_axis(boxes: Any, start: int, count: int) -> int:
    """Return 1 + the axis along which half of the boxes of a node are long, or 0."""
    x, y, z = 0, 0, 0
    for lane in range(start, start + count):
        dx, dy, dz = extent_in_row(boxes, lane), extent_in_row(boxes, lane + LANES), extent_in_row(boxes, lane + 2 * LANES)
        x += dx > LONG * max(dy, dz)
        y += dy > LONG * max(dx, dz)
        z += dz > LONG * max(dx, dy)
    most = max(x, y, z)
    if 2 * most < count:
        return 0
    return 1 if x == most else (2 if y == most else 3)
