"""The faces of two leaves: culled by boxes and planes, then tested exactly.

A third cull tries axes in the plane of each face, across its edges. It pays only where many faces are left: slivers, which make up
most failed exact tests, are separated so.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from jostle._types import Singles
from jostle.geometry.contact_kind import CROSSING, NEAR
from jostle.geometry.reported_distance import distance_if_nearer_at
from jostle.geometry.triangle import Triangle, triangle_in_lane
from jostle.geometry.triangle_triangle import triangles_touch
from jostle.kernels.jit import kernel
from jostle.kernels.numbers import as_int64
from jostle.kernels.simd import (
    LANES,
    bit_count,
    f32x8_abs,
    f32x8_add,
    f32x8_less,
    f32x8_less_equal,
    f32x8_load,
    f32x8_max,
    f32x8_min,
    f32x8_mul,
    f32x8_multiply_add,
    f32x8_sub,
    lowest_bit,
    without_lowest_bit,
)
from jostle.methods.wide_tree.lanes import (
    BOX_ROWS,
    POINT_ROWS,
    Faces8,
    Points8,
    box_in_lane,
    boxes_at,
    boxes_meet,
    byte_of,
    cross8,
    face_in_lane,
    faces_at,
    heights,
    in_every_lane,
    minus8,
    point_in_lane,
    points_at,
    squared_length,
    sum_of_sizes,
)
from jostle.methods.wide_tree.leaf_cache import (
    PLANE_SLACK,
    Planes8,
    Reference,
    WorldLeaf,
    plane_of,
    planes_of,
    slot_of_leaf,
)
from jostle.methods.wide_tree.pair_work import PairWork
from jostle.methods.wide_tree.relative_frame import LARGEST_PADDING
from jostle.methods.wide_tree.tree import NodePair, PlacedTree
from jostle.report.packing import ALL, FACE_BITS, KIND_BITS, WORST, WORST_OF_ANY

MANY_LEFT = 4  # faces after two culls for which a third pays


class BodyPair(NamedTuple):
    """A body pair and the query; X has the larger extent, `swapped` if it is b."""

    x: PlacedTree
    y: PlacedTree
    reference: Reference
    clearance: float
    row_mode: int
    both_frames: bool
    is_oriented: bool
    swapped: bool
    number: int


@kernel(forceinline=True)
def compare_leaves(pair: BodyPair, work: PairWork, nodes: NodePair, near: np.uint64, is_crossed: bool) -> bool:
    """Test two leaves; return whether the body pair is decided.

    near: for face j of Y, in byte j, the faces of X to test.
    """
    progress = work.progress
    slot_x = slot_of_leaf(work.leaves_x, progress.query, nodes.x, pair.x, pair.reference)
    slot_y = slot_of_leaf(work.leaves_y, progress.query, nodes.y, pair.y, pair.reference)
    leaf_x, leaf_y = work.leaves_x[slot_x], work.leaves_y[slot_y]
    # A clearance may reach beyond empty boxes.
    used = np.uint32((np.uint32(1) << np.uint32(-as_int64(pair.x.arrays.count[nodes.x]))) - np.uint32(1))
    for j in range(-as_int64(pair.y.arrays.count[nodes.y])):
        mask = byte_of(near, j) & used
        if mask == 0:
            continue
        mask = _faces_left(pair, leaf_x, leaf_y, j, mask, is_crossed)
        while mask != 0:
            i = lowest_bit(mask)
            mask = without_lowest_bit(mask)
            kind, distance = _faces_meet(pair, work, triangle_in_lane(leaf_x.corners, i), triangle_in_lane(leaf_y.corners, j))
            if kind != 0:
                face_x = as_int64(pair.x.arrays.face_ids[pair.x.arrays.first[nodes.x] + i])
                face_y = as_int64(pair.y.arrays.face_ids[pair.y.arrays.first[nodes.y] + j])
                if _add_row(pair, work, face_x, face_y, kind, distance):
                    return True
    return False


@kernel(forceinline=True)
def _faces_left(pair: BodyPair, leaf_x: WorldLeaf, leaf_y: WorldLeaf, j: int, near: np.uint32, is_crossed: bool) -> np.uint32:
    """Return the mask of those faces of X's leaf that may meet face j of Y's."""
    mask = boxes_meet(boxes_at(leaf_x.boxes, 0), box_in_lane(leaf_y.boxes, j)) & near
    if mask != 0 and pair.reference.growth <= LARGEST_PADDING:  # beyond, planes separate nothing and float32 might overflow
        mask &= planes_that_do_not_part(leaf_x, leaf_y, j)
    if pair.clearance == 0.0:
        if mask != 0 and is_crossed:
            mask &= crosses_that_do_not_part(leaf_x, leaf_y, j)
        if bit_count(mask) >= MANY_LEFT:
            mask &= edges_that_do_not_part(leaf_x, leaf_y, j)
    return mask


@kernel(forceinline=True)
def _faces_meet(pair: BodyPair, work: PairWork, face_x: Triangle, face_y: Triangle) -> tuple[int, float]:
    """Return the kind of two faces, 0 if apart, and their distance if near."""
    work.progress.triangle_tests += 1
    kind, distance = triangles_touch(face_x, face_y), 0.0
    if kind == 0 and pair.clearance > 0.0:
        work.progress.distance_tests += 1
        if pair.swapped:
            face_x, face_y = face_y, face_x
        distance = distance_if_nearer_at(work.progress.distance_kernel, (face_x, face_y, pair.clearance))
        if distance < pair.clearance:
            kind = NEAR
    return kind, distance


@kernel(forceinline=True)
def _add_row(pair: BodyPair, work: PairWork, face_x: int, face_y: int, kind: int, distance: float) -> bool:
    """Write a row; return whether the body pair is decided.

    Where the worst is wanted, it replaces a less severe row.
    """
    progress, row_mode = work.progress, pair.row_mode
    row, wants_worst = progress.rows, row_mode in (WORST, WORST_OF_ANY)
    if wants_worst and progress.rows_of_pair > 0:
        row -= 1
        if (work.keys[row] & ((1 << KIND_BITS) - 1)) >= kind:
            return False
    face_a, face_b = (face_y, face_x) if pair.swapped else (face_x, face_y)
    work.keys[row] = (face_a << (FACE_BITS + KIND_BITS)) | (face_b << KIND_BITS) | kind
    work.pair_of_key[row] = pair.number
    work.distance_of_key[row] = distance
    progress.rows = row + 1
    progress.rows_of_pair += 1
    return kind == CROSSING if wants_worst else row_mode != ALL


@kernel(forceinline=True)
def planes_that_do_not_part(x: WorldLeaf, y: WorldLeaf, j: int) -> np.uint32:
    """Return the mask of faces of x that neither plane separates from face j of y."""
    face, faces = face_in_lane(y.rounded_corners, j), faces_at(x.rounded_corners, 0)
    return _not_on_one_side(face, planes_of(x)) & _not_on_one_side(faces, plane_of(y, j))


@kernel(forceinline=True)
def _not_on_one_side(faces: Faces8, planes: Planes8) -> np.uint32:
    p = heights(planes.normal, planes.offset, faces.p)
    q = heights(planes.normal, planes.offset, faces.q)
    r = heights(planes.normal, planes.offset, faces.r)
    low, high = f32x8_min(p, f32x8_min(q, r)), f32x8_max(p, f32x8_max(q, r))
    return f32x8_less_equal(low, planes.slack) & f32x8_less_equal(f32x8_sub(in_every_lane(0.0), planes.slack), high)


@kernel
def edges_that_do_not_part(x: WorldLeaf, y: WorldLeaf, j: int) -> np.uint32:
    """Return the mask of the faces of x that no edge, in its plane, separates from face j of y."""
    slack = _slack_of_projections(x, y, j)
    faces, face = faces_at(x.rounded_corners, 0), face_in_lane(y.rounded_corners, j)
    normals, normal = points_at(x.normals, 0), point_in_lane(y.normals, j)
    parted = np.uint32(0)
    for k in range(3):
        corner, after = POINT_ROWS * k, POINT_ROWS * (k + 1 if k < 2 else 0)
        edge = minus8(point_in_lane(y.rounded_corners, after + j), point_in_lane(y.rounded_corners, corner + j))
        parted |= _parted_along(cross8(normal, edge), faces, face, slack)
        edges = minus8(points_at(x.rounded_corners, after), points_at(x.rounded_corners, corner))
        parted |= _parted_along(cross8(normals, edges), faces, face, slack)
    return parted ^ np.uint32(0xFF)


@kernel
def crosses_that_do_not_part(x: WorldLeaf, y: WorldLeaf, j: int) -> np.uint32:
    """Return the mask of the faces of x that no edge across the longest of face j of y separates from it."""
    slack, longest = _slack_of_projections(x, y, j), _longest_edge(face_in_lane(y.rounded_corners, j))
    faces, face = faces_at(x.rounded_corners, 0), face_in_lane(y.rounded_corners, j)
    parted = np.uint32(0)
    for k in range(3):
        corner, after = POINT_ROWS * k, POINT_ROWS * (k + 1 if k < 2 else 0)
        edges = minus8(points_at(x.rounded_corners, after), points_at(x.rounded_corners, corner))
        parted |= _parted_along(cross8(edges, longest), faces, face, slack)
    return parted ^ np.uint32(0xFF)


@kernel(forceinline=True)
def _slack_of_projections(x: WorldLeaf, y: WorldLeaf, j: int) -> Singles:
    """Return the error, for an axis of |a|₁ = 1, of projections of the faces of x and of face j of y.

    Projections of corners on an axis a are each off by less than 5 · 2^-24 · |a|₁ · (the size of coordinates).
    """
    size = in_every_lane(0.0)
    for row in range(0, BOX_ROWS, LANES):
        size = f32x8_max(size, f32x8_max(in_every_lane(abs(y.boxes[row + j])), f32x8_abs(f32x8_load(x.boxes, row))))
    return f32x8_mul(size, in_every_lane(PLANE_SLACK))


@kernel(forceinline=True)
def _longest_edge(face: Faces8) -> Points8:
    """Return the longest edge of a face that is in all lanes."""
    u, v, w = minus8(face.q, face.p), minus8(face.r, face.q), minus8(face.p, face.r)
    uu, vv, ww = squared_length(u), squared_length(v), squared_length(w)
    if f32x8_less(uu, vv) != 0:
        u, uu = v, vv
    return w if f32x8_less(uu, ww) != 0 else u


@kernel(forceinline=True)
def _parted_along(axis: Points8, faces: Faces8, others: Faces8, slack: Singles) -> np.uint32:
    """Return the mask of lanes whose faces are apart on an axis, beyond the slack."""
    zero = in_every_lane(0.0)
    p, q, r = heights(axis, zero, faces.p), heights(axis, zero, faces.q), heights(axis, zero, faces.r)
    low, high = f32x8_min(p, f32x8_min(q, r)), f32x8_max(p, f32x8_max(q, r))
    p, q, r = heights(axis, zero, others.p), heights(axis, zero, others.q), heights(axis, zero, others.r)
    apart = f32x8_multiply_add(sum_of_sizes(axis), slack, in_every_lane(1e-30))
    below = f32x8_less(f32x8_add(f32x8_max(p, f32x8_max(q, r)), apart), low)
    return below | f32x8_less(f32x8_add(high, apart), f32x8_min(p, f32x8_min(q, r)))
