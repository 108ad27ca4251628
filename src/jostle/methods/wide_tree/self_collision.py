"""All touching face pairs of one body: its tree walked against itself.

Boxes of nodes with the same rotation, mostly none, are compared as they are, eight at a time, one side padded for the rounding of
world vertices; others are moved into each other's rotation, as those of two bodies are. In a closed mesh nearly all faces whose
boxes meet are neighbours (300,000 of 303,000 pairs of a smooth mesh of 50,000 faces). Vector operations drop them before any exact
test: the three welded numbers of each face stand in three rows of float32. Rounding keeps equal numbers equal; from 2^24 on it also
makes different ones equal, so equal ones are compared again.

The kernel stops and resumes like that of `pairs.py`; its stack holds node pairs, each once, including a node with itself.
Rows equal those of brute force: faces a < b of the mesh, the exact test on world vertices, distances after the same boxes.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from jostle._types import Floats, Ints
from jostle.geometry.contact_kind import NEAR
from jostle.geometry.reported_distance import distance_if_nearer_at
from jostle.geometry.triangle import face_at
from jostle.geometry.triangle_triangle import adjacent_faces_touch, share_a_vertex, triangles_touch
from jostle.kernels.jit import kernel
from jostle.kernels.numbers import as_int64
from jostle.kernels.simd import bit_count, f32x8_equal, f32x8_splat, lowest_bit, without_lowest_bit
from jostle.kernels.structs import Addresses, Rows, borrowed
from jostle.methods.wide_tree.cross_axis import meeting_on_axis, set_up_cross_axis
from jostle.methods.wide_tree.lanes import POINT_ROWS, Boxes8, Points8, box_in_lane, boxes_at, boxes_meet, point_in_lane, points_at
from jostle.methods.wide_tree.pair_work import MOST_NEW
from jostle.methods.wide_tree.pairs import DONE, FULL_ROWS, FULL_STACK, OUT_OF_OPERATIONS
from jostle.methods.wide_tree.relative_frame import move_boxes, turn_transforms
from jostle.methods.wide_tree.self_work import SelfQuery, SelfWork, TwoNodes, WorldFaces, open_self_work
from jostle.methods.wide_tree.tree import CROSSED, LANES, ROW, NodePair, TreeArrays, is_oriented, open_tree, orientation_of
from jostle.report.packing import ALL, FACE_BITS, KIND_BITS


class Nodes(NamedTuple):
    """Two nodes to be compared, with boxes under one rotation or not."""

    node: int
    other: int
    are_turned: bool  # to different rotations: moved boxes are compared
    are_crossed: bool


@kernel
def self_touching_faces(
    trees: Addresses, vertices: Floats, faces: Ints, welded: Ints, adjacent: bool, clearance: float, row_mode: int,
    operations: int, addresses: Addresses,
) -> int:  # fmt: skip
    """Resume a walk; return why it stopped.

    One operation is a node pair or an exact test.
    """
    tree, work = open_tree(trees, 0), open_self_work(addresses)
    world, query = WorldFaces(borrowed(vertices), borrowed(faces), borrowed(welded)), SelfQuery(adjacent, clearance, row_mode)
    progress, stack = work.progress, work.stack
    limit = progress.node_tests + progress.triangle_tests + operations
    while progress.height > 0:
        if progress.node_tests + progress.triangle_tests >= limit:
            return OUT_OF_OPERATIONS
        if progress.height + MOST_NEW > len(stack):
            return FULL_STACK
        if progress.rows + MOST_NEW > len(work.keys):
            return FULL_ROWS
        progress.height -= 1
        top = stack[progress.height]
        nodes = _placed(tree, work, as_int64(top.node), as_int64(top.other))
        progress.node_tests += 1
        if tree.count[nodes.node] > 0 or tree.count[nodes.other] > 0:
            progress.height = _push_children(tree, work, nodes, progress.height)
            continue
        found = _find_face_pairs(tree, work, nodes, progress.is_exact != 0 and not adjacent)
        if _compare_face_pairs(tree, work, world, query, found):
            progress.height = 0
    return DONE


@kernel(forceinline=True)
def _placed(tree: TreeArrays, work: SelfWork, node: int, other: int) -> Nodes:
    """Return two nodes, with the boxes of each moved to the rotation of the other if they differ."""
    if not is_oriented(tree):
        return Nodes(node, other, False, False)
    rotation, long = as_int64(tree.orientation[node]) // CROSSED, as_int64(tree.orientation[node]) % CROSSED
    other_rotation, other_long = as_int64(tree.orientation[other]) // CROSSED, as_int64(tree.orientation[other]) % CROSSED
    if rotation == other_rotation:
        return Nodes(node, other, False, False)
    turned, moved, boxes = work.turned, work.moved, tree.boxes
    turn_transforms(work.transforms, tree, rotation, tree, other_rotation, turned)
    move_boxes(boxes, other * ROW, turned.transforms.into_x, moved.y)
    move_boxes(boxes, node * ROW, turned.transforms.into_y, moved.x)
    are_crossed = long > 0 and other_long > 0
    if are_crossed:
        into_node = turned.transforms.into_x
        set_up_cross_axis(tree, tree, NodePair(node, other), long - 1, other_long - 1, moved.y, into_node, work.crossed)
    return Nodes(node, other, True, are_crossed)


@kernel(forceinline=True)
def _meeting_boxes(tree: TreeArrays, work: SelfWork, nodes: Nodes, boxes: Boxes8, j: int) -> np.uint32:
    """Return the mask of the boxes of a node that meet box j of the other."""
    slot = nodes.other * ROW + j
    if not nodes.are_turned:
        return boxes_meet(boxes, _grown_box(tree, slot, work.progress.padding))
    mask = boxes_meet(boxes, box_in_lane(work.moved.y, j)) & boxes_meet(boxes_at(work.moved.x, 0), box_in_lane(tree.boxes, slot))
    return mask & meeting_on_axis(work.crossed, j) if nodes.are_crossed else mask


@kernel(forceinline=True)
def _push_children(tree: TreeArrays, work: SelfWork, nodes: Nodes, height: int) -> int:
    """Push pairs of children of two nodes, not both leaves; return the height.

    A leaf stays as it is.
    """
    stack, node, other = work.stack, nodes.node, nodes.other
    first, first_other = as_int64(tree.first[node]), as_int64(tree.first[other])
    boxes, beside_leaf = boxes_at(tree.boxes, node * ROW), np.uint32(0)
    candidates = _candidates(tree, work, node, other)
    while candidates != 0:
        j = lowest_bit(candidates)
        candidates = without_lowest_bit(candidates)
        mask = _meeting_boxes(tree, work, nodes, boxes, j)
        if node == other:
            height = _push(stack, height, first + j, first + j)
            mask &= np.uint32((1 << j) - 1)
        elif tree.count[node] < 0:
            if mask != 0:
                height = _push(stack, height, node, first_other + j)
            continue
        elif tree.count[other] < 0:
            beside_leaf |= mask
            continue
        while mask != 0:
            height = _push(stack, height, first + lowest_bit(mask), first_other + j)
            mask = without_lowest_bit(mask)
    while beside_leaf != 0:
        height = _push(stack, height, first + lowest_bit(beside_leaf), other)
        beside_leaf = without_lowest_bit(beside_leaf)
    return height


@kernel(forceinline=True)
def _push(stack: Rows[TwoNodes], height: int, node: int, other: int) -> int:
    """Push a node pair; return the height."""
    top = stack[height]
    top.node, top.other = node, other
    return height + 1


@kernel(forceinline=True)
def _find_face_pairs(tree: TreeArrays, work: SelfWork, nodes: Nodes, no_neighbours: bool) -> int:
    """Write the face pairs of two leaves whose boxes meet; return their number.

    The leaves may be one. With `no_neighbours`, faces with an equal number in their lanes are left out.
    """
    lanes, pitch, node, other = work.lanes, len(work.lanes) // 3, nodes.node, nodes.other
    first, first_other = as_int64(tree.first[node]), as_int64(tree.first[other])
    boxes, corners = boxes_at(tree.boxes, node * ROW), points_at(lanes, first, pitch)
    found, candidates = 0, _candidates(tree, work, node, other)
    while candidates != 0:
        j = lowest_bit(candidates)
        candidates = without_lowest_bit(candidates)
        mask = _meeting_boxes(tree, work, nodes, boxes, j)
        if node == other:
            mask &= np.uint32((1 << j) - 1)
        if mask == 0:
            continue
        if no_neighbours:
            mask &= ~_equal_numbers(corners, point_in_lane(lanes, first_other + j, pitch))
        while mask != 0:
            pair = work.face_pairs[found]
            pair.face, pair.other = first + lowest_bit(mask), first_other + j
            found += 1
            mask = without_lowest_bit(mask)
    return found


@kernel(forceinline=True)
def _equal_numbers(a: Points8, b: Points8) -> np.uint32:
    """Return the mask of lanes in which any number of a equals any of b."""
    equal = f32x8_equal(a.x, b.x) | f32x8_equal(a.x, b.y) | f32x8_equal(a.x, b.z)
    equal |= f32x8_equal(a.y, b.x) | f32x8_equal(a.y, b.y) | f32x8_equal(a.y, b.z)
    return equal | f32x8_equal(a.z, b.x) | f32x8_equal(a.z, b.y) | f32x8_equal(a.z, b.z)


@kernel(forceinline=True)
def _candidates(tree: TreeArrays, work: SelfWork, node: int, other: int) -> np.uint32:
    """Return the mask of the children of `other`, two or three as a rule, near `node`.

    All of them, where the box of `node` has another rotation.
    """
    slot = as_int64(work.slots[node])
    if node == other or orientation_of(tree, slot // ROW) // CROSSED != orientation_of(tree, other) // CROSSED:
        mask = np.uint32((1 << abs(as_int64(tree.count[other]))) - 1)
    else:
        mask = boxes_meet(boxes_at(tree.boxes, other * ROW), _grown_box(tree, slot, work.progress.padding))
    work.progress.box_tests += LANES * (bit_count(mask) + 1)
    return mask


@kernel(forceinline=True)
def _grown_box(tree: TreeArrays, slot: int, padding: float) -> Boxes8:
    """Return the box at a slot in all lanes, grown by the padding.

    Growing one of two boxes is enough. Rounding is monotone: a bound minus the padding that is below another bound stays below.
    """
    boxes, upper = tree.boxes, slot + POINT_ROWS
    x, y, z = boxes[slot] - padding, boxes[slot + LANES] - padding, boxes[slot + 2 * LANES] - padding
    ux, uy, uz = boxes[upper] + padding, boxes[upper + LANES] + padding, boxes[upper + 2 * LANES] + padding
    return Boxes8(
        Points8(f32x8_splat(x), f32x8_splat(y), f32x8_splat(z)), Points8(f32x8_splat(ux), f32x8_splat(uy), f32x8_splat(uz))
    )


@kernel(forceinline=True)
def _compare_face_pairs(tree: TreeArrays, work: SelfWork, world: WorldFaces, query: SelfQuery, found: int) -> bool:
    """Test face pairs exactly and write their rows; return whether these are enough."""
    progress = work.progress
    for k in range(found):
        f, g = as_int64(work.face_pairs[k].face), as_int64(work.face_pairs[k].other)
        a, b = as_int64(tree.face_ids[f]), as_int64(tree.face_ids[g])
        if a > b:  # the order of brute force: distances are then equal to the bit
            a, b, f, g = b, a, g, f
        shared = (query.adjacent or progress.is_exact == 0) and share_a_vertex(world.welded, f, g)
        if shared and not query.adjacent:
            continue
        kind, distance = _faces_meet(work, world, f, g, shared, query.clearance)
        if kind != 0:
            row = progress.rows
            work.keys[row] = (a << (FACE_BITS + KIND_BITS)) | (b << KIND_BITS) | kind
            work.distances[row] = distance
            progress.rows = row + 1
            if query.row_mode != ALL:
                return True
    return False


@kernel(forceinline=True)
def _faces_meet(work: SelfWork, world: WorldFaces, f: int, g: int, shared: bool, clearance: float) -> tuple[int, float]:
    """Return the kind of two faces, 0 if apart, and their distance if near.

    `shared`: they share a vertex.
    """
    work.progress.triangle_tests += 1
    if shared:
        return adjacent_faces_touch(world.vertices, world.faces, world.welded, f, g), 0.0
    face_a, face_b = face_at(world.vertices, world.faces, f), face_at(world.vertices, world.faces, g)
    kind, distance = triangles_touch(face_a, face_b), 0.0
    if kind == 0 and clearance > 0.0:
        work.progress.distance_tests += 1
        distance = distance_if_nearer_at(work.progress.distance_kernel, (face_a, face_b, clearance))
        kind = NEAR if distance < clearance else 0
    return kind, distance
