"""Static collision detection: touching faces at one instant, by two trees (§4).

A node pair that meets is replaced by the children of the larger node, whatever its degree; two leaves are compared by the boxes of
their faces in the world and the exact test. Below a leaf that is large for the other node, the children are compared with each of
its faces instead of with its volume (`near_faces.py`). A body against itself is the same walk: a node with itself becomes all pairs
of its children, each once, and faces that share a welded vertex are left out (or tested for contact beyond what they share).

The kernel works on a list of body pairs and can be stopped anywhere; called again with its state, it resumes. Exact: all culls are
conservative for the world vertices, and the last test is that of all exact methods.

| status | when | the caller |
|---|---|---|
| DONE | no body pair is left | reads the rows |
| OUT_OF_OPERATIONS | the operations of this call are used up | handles Ctrl-C, calls again |
| FULL_STACK, FULL_ROWS, FULL_VISITED | the next node pair might not fit | doubles that array, calls again |
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from jostle._types import Floats, Ints
from jostle.geometry.contact_kind import CROSSING
from jostle.geometry.rigid import RigidPose, pose_at, solve_relative_pose_into
from jostle.geometry.triangle import bounds_meet
from jostle.geometry.triangle_triangle import adjacent_faces_touch, share_a_vertex, triangles_touch
from jostle.geometry.vector import point_from, write_point
from jostle.kernels.jit import kernel
from jostle.kernels.numbers import as_int64
from jostle.kernels.structs import Addresses, One, Record, Rows, Struct, float64, int32, int64, opener, row_opener
from jostle.methods.bounding_tree.leaves import LeafCache, WorldFace, box_of, cached_leaf, triangle_of
from jostle.methods.bounding_tree.near_faces import EVERY_FACE, LargeLeaf, bit_of, block_of, is_large_leaf, moved_block, near_faces
from jostle.methods.bounding_tree.overlap import PairFrame, nodes_apart, reach_of, set_up_frame
from jostle.methods.bounding_tree.tree import NodePair, TreeShape, opened
from jostle.report.packing import ALL, ANY, FACE_BITS, KIND_BITS, WORST, WORST_OF_ANY

DONE, OUT_OF_OPERATIONS, FULL_ROWS, FULL_STACK, FULL_VISITED = range(5)
MOST_NEW = 40  # node pairs that one of degree 6 can push
EXACT_TEST = 30  # cost of an exact test in node pairs
KIND_MASK = (1 << KIND_BITS) - 1


class StaticState(Record):
    """The query, the progress of the search, and counts."""

    kind: int64  # of the volumes
    row_mode: int64  # of report/packing.py
    adjacent: int64  # whether faces that share a vertex are tested for more contact
    faces_of_leaf: int64
    next_pair: int64
    height: int64  # of the stack
    rows: int64
    rows_of_pair: int64
    query: int64  # number of the body pair, over all searches: tag of the leaf caches
    node_tests: int64
    triangle_tests: int64
    passed_over: int64  # face pairs skipped for a shared vertex
    visited: int64


class StackRow(Record):
    """A node pair that meets."""

    a: int32
    b: int32
    near_a: int64  # of a leaf: the faces that may meet the other node (`near_faces.py`)
    near_b: int64


class Visit(Record):
    """A node pair that met, and the number of its body pair."""

    pair: int32
    a: int32
    b: int32


class StaticWork(Struct):
    """The arrays of a search."""

    state: One[StaticState]
    frame: One[PairFrame]
    stack: Rows[StackRow]
    keys: Rows[int64]  # packed rows
    pair_of_key: Rows[int32]
    visited: Rows[Visit]  # empty unless visits are recorded
    corners: Rows[float64]  # of two faces that share a vertex: scratch
    faces: Rows[int32]  # both of them, and both welded


open_work, open_shape, open_cache = opener(StaticWork), row_opener(TreeShape), row_opener(LeafCache)


class Side(NamedTuple):
    """One of the two bodies."""

    shape: TreeShape
    cache: LeafCache
    pose: RigidPose


class WaitingPair(NamedTuple):
    """A node pair that meets, and the faces of leaves that may meet the other node."""

    nodes: NodePair
    near_a: int
    near_b: int


class Neighbours(NamedTuple):
    """The welded faces (m,3) of a body against itself, and scratch.

    Scratch: the corners (6,3) of two faces, and both as faces (4,3).
    """

    welded: Ints
    corners: Floats
    faces: Ints


@kernel
def touching_faces(
    shapes: Addresses, addresses: Addresses, caches: Addresses, operations: int,
    shape_a: Ints, shape_b: Ints, body_a: Ints, body_b: Ints, poses: Floats,
) -> int:  # fmt: skip
    """Resume the search for touching faces of body pairs; return why it stopped.

    Pair k is shape_a[k] at poses[body_a[k]] and shape_b[k] at poses[body_b[k]]. shapes: table of `TreeShape`; addresses: of
    `StaticWork`; caches: table of two `LeafCache`.
    """
    work = open_work(addresses)
    state, relative = work.state, np.empty((4, 4))
    limit = operations_so_far(state) + operations
    while state.next_pair < shape_a.shape[0]:
        pair = state.next_pair
        i, j = as_int64(body_a[pair]), as_int64(body_b[pair])
        a = Side(open_shape(shapes, as_int64(shape_a[pair])), open_cache(caches, 0), pose_at(poses, i))
        b = Side(open_shape(shapes, as_int64(shape_b[pair])), open_cache(caches, 1), pose_at(poses, j))
        solve_relative_pose_into(poses[i], poses[j], relative)
        set_up_frame(relative, poses[i], poses[j], reach_of(a.shape.volumes[0]), reach_of(b.shape.volumes[0]), work.frame)
        if state.height == 0:
            begin_with_roots(work)
        neighbours = Neighbours(in_threes(a.shape.welded), in_threes(work.corners), in_threes(work.faces))
        status = walk_together(work, a, b, i == j, limit, neighbours)
        if status != DONE:
            return status
        state.next_pair += 1
        if state.row_mode in (ANY, WORST_OF_ANY) and state.rows_of_pair > 0:
            state.next_pair = shape_a.shape[0]
    return DONE


@kernel(forceinline=True)
def operations_so_far(state: StaticState) -> int:
    """Return the operations so far, in node pairs."""
    return state.node_tests + EXACT_TEST * state.triangle_tests + state.passed_over


@kernel(forceinline=True)
def in_threes(numbers: Any) -> Any:
    """Return a flat array (3 n,) as rows (n,3)."""
    return numbers.reshape((numbers.shape[0] // 3, 3))


@kernel(forceinline=True)
def begin_with_roots(work: StaticWork) -> None:
    """Put the roots of the next body pair on the empty stack."""
    state = work.state
    state.query += 1
    state.rows_of_pair = 0
    push(work, 0, WaitingPair(NodePair(0, 0), EVERY_FACE, EVERY_FACE))
    state.height = 1


@kernel(forceinline=True)
def push(work: StaticWork, height: int, pair: WaitingPair) -> None:
    """Put a node pair on the stack at this height."""
    top = work.stack[height]
    top.a, top.b, top.near_a, top.near_b = pair.nodes.a, pair.nodes.b, pair.near_a, pair.near_b


@kernel
def walk_together(work: StaticWork, a: Side, b: Side, itself: bool, limit: int, neighbours: Neighbours) -> int:
    """Resume one body pair; return why it stopped."""
    state = work.state
    kind = state.kind
    while state.height > 0:
        status = room_for_one_more(work, limit)
        if status != DONE:
            return status
        state.height -= 1
        top = work.stack[state.height]
        nodes = NodePair(as_int64(top.a), as_int64(top.b))
        pair = WaitingPair(nodes, top.near_a, top.near_b)
        if len(work.visited) > 0:
            visit = work.visited[state.visited]
            visit.pair, visit.a, visit.b = state.next_pair, nodes.a, nodes.b
            state.visited += 1
        inner_a, inner_b = a.shape.child_count[nodes.a] > 0, b.shape.child_count[nodes.b] > 0
        if not (inner_a or inner_b):
            if compare_leaves(work, a, b, pair, itself, neighbours):
                state.height = 0
        elif not inner_a and is_large_leaf(a.shape.volumes[nodes.a], b.shape.volumes[nodes.b]):
            compare_with_faces(work, a, b, pair, True)
        elif not inner_b and is_large_leaf(b.shape.volumes[nodes.b], a.shape.volumes[nodes.a]):
            compare_with_faces(work, a, b, pair, False)
        else:
            compare_children(work, kind, a.shape, b.shape, pair, itself)
    return DONE


@kernel(forceinline=True)
def room_for_one_more(work: StaticWork, limit: int) -> int:
    """Return DONE if the next node pair fits, else what is missing."""
    state = work.state
    if operations_so_far(state) >= limit:
        return OUT_OF_OPERATIONS
    if state.height + MOST_NEW > len(work.stack):
        return FULL_STACK
    if state.rows + state.faces_of_leaf * state.faces_of_leaf > len(work.keys):
        return FULL_ROWS
    if 0 < len(work.visited) == state.visited:
        return FULL_VISITED
    return DONE


@kernel(forceinline=True)
def compare_children(work: StaticWork, kind: int, a: TreeShape, b: TreeShape, pair: WaitingPair, itself: bool) -> None:
    """Replace the larger node by its children; push those near the other node."""
    nodes = pair.nodes
    with_itself = itself and nodes.a == nodes.b
    is_larger_a = a.volumes[nodes.a].radius >= b.volumes[nodes.b].radius
    nodes_a, nodes_b = opened(a, b, nodes, with_itself, is_larger_a)
    height, tests = work.state.height, 0
    for i in range(nodes_a.begin, nodes_a.end):
        for j in range(i if with_itself else nodes_b.begin, nodes_b.end):
            tests += 1
            if (with_itself and i == j) or not nodes_apart(kind, a.volumes[i], b.volumes[j], work.frame):
                push(work, height, WaitingPair(NodePair(i, j), pair.near_a, pair.near_b))
                height += 1
    work.state.height = height
    work.state.node_tests += tests


@kernel
def compare_with_faces(work: StaticWork, a: Side, b: Side, pair: WaitingPair, large_a: bool) -> None:
    """Replace the other node of a large leaf by its children; push those near a face."""
    state, frame, nodes = work.state, work.frame, pair.nodes
    height, tests = state.height, 0
    if large_a:
        leaf = LargeLeaf(a.cache, a.shape, nodes.a, pair.near_a, False)
        begin = as_int64(b.shape.first_child[nodes.b])
        for j in range(begin, begin + b.shape.child_count[nodes.b]):
            near, more = near_faces(leaf, moved_block(b.shape.volumes[j], frame.pose), frame, state.query, state.faces_of_leaf)
            tests += more
            if near != 0:
                push(work, height, WaitingPair(NodePair(nodes.a, j), near, EVERY_FACE))
                height += 1
    else:
        leaf = LargeLeaf(b.cache, b.shape, nodes.b, pair.near_b, True)
        begin = as_int64(a.shape.first_child[nodes.a])
        for i in range(begin, begin + a.shape.child_count[nodes.a]):
            near, more = near_faces(leaf, block_of(a.shape.volumes[i]), frame, state.query, state.faces_of_leaf)
            tests += more
            if near != 0:
                push(work, height, WaitingPair(NodePair(i, nodes.b), EVERY_FACE, near))
                height += 1
    state.height = height
    state.node_tests += tests


@kernel(forceinline=True)
def compare_leaves(work: StaticWork, a: Side, b: Side, pair: WaitingPair, itself: bool, neighbours: Neighbours) -> bool:
    """Write the rows of two leaves; return whether the body pair is decided."""
    state, nodes = work.state, pair.nodes
    cached_a = cached_leaf(a.cache, a.shape, a.pose, nodes.a, state.query, state.faces_of_leaf)
    cached_b = cached_leaf(b.cache, b.shape, b.pose, nodes.b, state.query, state.faces_of_leaf)
    count_a, count_b = as_int64(a.shape.face_count[nodes.a]), as_int64(b.shape.face_count[nodes.b])
    first_a, first_b = as_int64(a.shape.first_face[nodes.a]), as_int64(b.shape.first_face[nodes.b])
    for i in range(count_a):
        if pair.near_a & bit_of(i) == 0:
            continue
        world_a = a.cache.faces[cached_a + i]
        box_a = box_of(world_a)
        for j in range(i + 1 if itself and nodes.a == nodes.b else 0, count_b):
            world_b = b.cache.faces[cached_b + j]
            if pair.near_b & bit_of(j) == 0 or not bounds_meet(box_a, box_of(world_b)):
                continue
            face_a, face_b = as_int64(a.shape.order[first_a + i]), as_int64(b.shape.order[first_b + j])
            if compare_faces(work, world_a, world_b, face_a, face_b, itself, neighbours):
                return True
    return False


@kernel(forceinline=True)
def compare_faces(
    work: StaticWork, world_a: WorldFace, world_b: WorldFace, face_a: int, face_b: int, itself: bool, neighbours: Neighbours
) -> bool:
    """Write the row of two faces if they meet; return whether the body pair is decided."""
    state = work.state
    adjacent = itself and share_a_vertex(neighbours.welded, face_a, face_b)
    if adjacent and state.adjacent == 0:
        state.passed_over += 1
        return False
    state.triangle_tests += 1
    if adjacent:
        found = neighbours_touch(world_a, world_b, face_a, face_b, neighbours)
    else:
        found = triangles_touch(triangle_of(world_a), triangle_of(world_b))
    if itself and face_a > face_b:
        face_a, face_b = face_b, face_a
    return found != 0 and write_row(work, face_a, face_b, found)


@kernel(forceinline=True)
def write_row(work: StaticWork, face_a: int, face_b: int, found: int) -> bool:
    """Write a row if it is wanted; return whether the body pair is decided."""
    state = work.state
    wants_worst = state.row_mode in (WORST, WORST_OF_ANY)
    if wants_worst and state.rows_of_pair > 0:
        if (work.keys[state.rows - 1] & KIND_MASK) >= found:
            return False
        state.rows -= 1  # replaced by a worse one
    work.keys[state.rows] = (face_a << (FACE_BITS + KIND_BITS)) | (face_b << KIND_BITS) | found
    work.pair_of_key[state.rows] = state.next_pair
    state.rows += 1
    state.rows_of_pair += 1
    return found == CROSSING if wants_worst else state.row_mode != ALL


@kernel
def neighbours_touch(world_a: WorldFace, world_b: WorldFace, face_a: int, face_b: int, neighbours: Neighbours) -> int:
    """Return the kind of contact of two faces beyond their shared vertices, 0 if none."""
    corners, faces = neighbours.corners, neighbours.faces
    for k in range(3):
        write_point(corners, k, point_from(world_a.corners, 3 * k))
        write_point(corners, 3 + k, point_from(world_b.corners, 3 * k))
        faces[0, k], faces[1, k] = k, 3 + k
        faces[2, k], faces[3, k] = neighbours.welded[face_a, k], neighbours.welded[face_b, k]
    return adjacent_faces_touch(corners, faces[:2], faces[2:], 0, 1)
