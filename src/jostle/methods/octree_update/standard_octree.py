"""Spatial subdivision: the standard octree over the world cube (§5.2).

Transformed black nodes take the place of faces. Subdivision ends where the black nodes of only one body are left, and a child is
compared only with the nodes of its parent (§3.5). No octree is stored: the nodes on the way down are a stack of lists. At a voxel
(a node of the finest level) the faces of its black nodes are paired and checked (`face_pairs.py`). The kernel stops when an array
is full, or after a number of operations, and resumes where it stopped. The state is that of the node on top of the stack:

| state | enters when | leaves to |
|---|---|---|
| voxel: `faces` > 0 | its faces were listed | the node above, when all their pairs are checked |
| `child` is NOT_VISITED | the node was put on the stack | the node above, if it holds one body only; voxel; child 0 |
| `child` is 0 … 7 | it holds two bodies and is no voxel | that child, if black nodes meet it; else the next child |
| `child` is CHILDREN | all children were visited | the node above |
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from jostle.geometry.triangle import triangle_from
from jostle.geometry.triangle_box import centred
from jostle.geometry.triangle_triangle import triangles_touch
from jostle.geometry.vector import point_at, point_from
from jostle.kernels.jit import kernel
from jostle.kernels.numbers import as_int64
from jostle.kernels.structs import Addresses, borrowed
from jostle.methods.octree_update.cubes import Cell, cell_bounds, child_cell
from jostle.methods.octree_update.face_pairs import (
    NOT_TESTED,
    BodyPairs,
    boxes_overlap,
    list_faces,
    pair_of,
    put_on_checklist,
)
from jostle.methods.octree_update.node_checklist import ListedNodes, PlacedOctrees, node_meets_box, without_owners
from jostle.methods.octree_update.work import StackNode, State, Work, open_work

PAUSED, DONE, FULL_ENTRIES, FULL_FACES, FULL_CHECKLIST, FULL_ROWS, FULL_SEEN = range(7)
NOT_VISITED, CHILDREN = -1, 8
TRIANGLE_WEIGHT = 32  # operations that an exact test counts as


@kernel
def touching_faces(
    addresses: Addresses,
    octrees: Addresses,
    placed: PlacedOctrees,
    checklist: ListedNodes,
    stamp_start: NDArray[np.int64],
    pairs: BodyPairs,
    operations: int,
) -> int:
    """Resume a search: write rows, unsorted, and return why it stopped.

    `state.used` has the operations used.
    """
    work = open_work(addresses)
    placed, checklist = without_owners(placed), ListedNodes(borrowed(checklist.nodes), borrowed(checklist.centres))
    pairs, stamp_start = BodyPairs(borrowed(pairs.start), borrowed(pairs.partner)), borrowed(stamp_start)
    before = spent(work.state)
    why = walk(work, octrees, placed, checklist, stamp_start, pairs, before + operations)
    work.state.used = spent(work.state) - before
    return why


@kernel(forceinline=True)
def walk(
    work: Work,
    octrees: Addresses,
    placed: PlacedOctrees,
    checklist: ListedNodes,
    stamp_start: NDArray[np.int64],
    pairs: BodyPairs,
    end: int,
) -> int:
    """Walk the octree until `end` operations are used; return why it stopped."""
    state = work.state
    while state.depth >= 0 or state.faces > 0:
        if state.faces > 0:
            why = check_pairs(work, pairs, end)
            if why != DONE:
                return why
            if work.options.first_only != 0 and state.rows > 0:
                state.depth = -1
            continue
        if spent(state) >= end:
            return PAUSED
        node = work.stack[state.depth]
        if node.child == NOT_VISITED:
            why = visit_node(work, octrees, placed, checklist, stamp_start)
            if why != DONE:
                return why
        elif node.child == CHILDREN:
            state.depth -= 1
        elif 2 * node.end - node.begin > len(work.entries):
            return FULL_ENTRIES
        else:
            descend(work, placed, checklist)
    return DONE


@kernel(forceinline=True)
def spent(state: State) -> int:
    """Return the operations used so far."""
    return state.node_tests + state.box_tests + TRIANGLE_WEIGHT * state.triangle_tests


@kernel(forceinline=True)
def visit_node(
    work: Work, octrees: Addresses, placed: PlacedOctrees, checklist: ListedNodes, stamp_start: NDArray[np.int64]
) -> int:
    """Leave a node with one body, list the faces of a voxel, or begin the children.

    Returns DONE, or which array is full.
    """
    state, record = work.state, work.options.record != 0
    depth = state.depth
    node = work.stack[depth]
    if holds_one_body(work, node, checklist):
        state.depth -= 1
        return DONE
    if record and state.seen == len(work.seen):
        return FULL_SEEN
    if depth == work.options.finest:
        state.voxels += 1
        count = list_faces(work, octrees, placed, checklist, stamp_start)
        if count < 0:
            state.needed = -count
            return FULL_FACES
        state.faces, state.first, state.second = count, 0, work.listed[0].following
        state.depth -= 1
    node.child = 0
    if record:
        seen = work.seen[state.seen]
        seen.level, seen.i, seen.j, seen.k = depth, node.i, node.j, node.k
        state.seen += 1
    return DONE


@kernel(forceinline=True)
def holds_one_body(work: Work, node: StackNode, checklist: ListedNodes) -> bool:
    """Return whether all black nodes in a node, sorted by body, are of one body."""
    nodes = checklist.nodes
    return nodes.shape[0] == 0 or bool(nodes[work.entries[node.begin], 0] == nodes[work.entries[node.end - 1], 0])


@kernel(forceinline=True)
def descend(work: Work, placed: PlacedOctrees, checklist: ListedNodes) -> None:
    """Put the next child on the stack, with its parent's black nodes that meet it."""
    state, options = work.state, work.options
    parent = work.stack[state.depth]
    cell = child_cell(Cell(parent.i, parent.j, parent.k), parent.child)
    parent.child += 1
    side = options.side / 2.0 ** (state.depth + 1)
    box = centred(cell_bounds(point_from(options.corner, 0), side, cell))
    written = parent.end
    for entry in range(parent.begin, parent.end):
        listed = work.entries[entry]
        if node_meets_box(placed.half_axes, as_int64(checklist.nodes[listed, 0]), point_at(checklist.centres, listed), box):
            work.entries[written] = listed
            written += 1
    state.node_tests += parent.end - parent.begin
    if written == parent.end:
        return
    state.depth += 1
    node = work.stack[state.depth]
    node.i, node.j, node.k = cell.i, cell.j, cell.k
    node.child, node.begin, node.end = NOT_VISITED, parent.end, written


@kernel(forceinline=True)
def check_pairs(work: Work, pairs: BodyPairs, end: int) -> int:
    """Check the face pairs of the current voxel, from (`first`, `second`) on.

    Returns DONE after the last.
    """
    state = work.state
    while state.first < state.faces:
        why = check_face(work, pairs, end)
        if why != DONE:
            return why
        if work.options.first_only != 0 and state.rows > 0:
            break
        state.first += 1
        if state.first < state.faces:
            state.second = work.listed[state.first].following
            if spent(state) >= end:
                return PAUSED
    state.faces = 0
    return DONE


@kernel(forceinline=True)
def check_face(work: Work, pairs: BodyPairs, end: int) -> int:
    """Check the first face with all of other bodies, from `second` on.

    Returns DONE after the last, or when one row is enough.
    """
    state, i = work.state, work.state.first
    body, pair = -1, NOT_TESTED
    while state.second < state.faces:
        j = state.second
        if work.listed[j].body != body:
            body = as_int64(work.listed[j].body)
            pair = pair_of(pairs, as_int64(work.listed[i].body), body)
        if pair == NOT_TESTED:
            state.second = work.listed[j].following
            continue
        if boxes_overlap(work.placed[i], work.placed[j]):
            if 2 * state.checked >= len(work.checklist):
                return FULL_CHECKLIST
            if state.rows == len(work.rows):
                return FULL_ROWS
            if spent(state) >= end:
                return PAUSED
            if check_pair(work, pair, i, j) and work.options.first_only != 0:
                return DONE
        state.box_tests += 1
        state.second += 1
    return DONE


@kernel(forceinline=True)
def check_pair(work: Work, pair: int, i: int, j: int) -> bool:
    """Test two listed faces, unless on the checklist; write a row if they touch.

    Returns whether a row was written.
    """
    state, face_a, face_b = work.state, as_int64(work.listed[i].face), as_int64(work.listed[j].face)
    if not put_on_checklist(work.checklist, pair, face_a, face_b):
        return False
    state.checked += 1
    state.triangle_tests += 1
    kind = triangles_touch(triangle_from(work.placed[i].corners, 0), triangle_from(work.placed[j].corners, 0))
    if kind == 0:
        return False
    row = work.rows[state.rows]
    row.pair, row.face_a, row.face_b, row.kind = pair, face_a, face_b, kind
    state.rows += 1
    return True
