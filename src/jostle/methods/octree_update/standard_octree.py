"""The spatial subdivision stage: the standard octree over the world cube, with transformed black nodes in place of faces (§5.2).

Subdivision ends where black nodes of a single body are left, and a child is compared with no others than those of its parent
(§3.5). No octree is stored: the nodes on the way down are a stack of lists. At a voxel, a node of the finest level, the faces
of its black nodes are paired and checked (`face_pairs.py`). The kernel stops when an array is full, or after a number of
operations, and goes on where it stopped.
"""

import numpy as np

from jostle.geometry.box_box import oriented_box_meets_box
from jostle.geometry.triangle_box import centre_and_half
from jostle.geometry.vector import Vec3
from jostle.kernels.jit import kernel
from jostle.methods.octree_update.face_pairs import list_faces, pair_of, put_on_checklist, rows_boxes_overlap, rows_touch

PAUSED, DONE, FULL_ENTRIES, FULL_FACES, FULL_CHECKLIST, FULL_ROWS, FULL_SEEN = range(7)

# Places in the state. DEPTH: of the node at work, -1 at the end. FACES: listed ones of the voxel at work, 0 when none is; FIRST and
# SECOND: the pair of them that comes next. VOXELS: never set back, since stamps of faces outlive a search.
DEPTH, VOXELS, FACES, FIRST, SECOND, NEEDED, ROWS, CHECKED, NODE_TESTS, BOX_TESTS, TRIANGLE_TESTS, SEEN = range(12)
STATE = 12
# Columns of the stack: cell numbers, child that comes next (-1: not looked at yet), and its range of entries.
CELL, CHILD, BEGIN, END = 0, 3, 4, 5
STACK_WIDTH = 6
TRIANGLE_WEIGHT = 32  # operations that an exact test counts as


def start(state, stack, entries, node_count):
    """Begin at the root, with all nodes of the checklist."""
    state[[DEPTH, FACES, NEEDED, ROWS, CHECKED, NODE_TESTS, BOX_TESTS, TRIANGLE_TESTS, SEEN]] = 0
    stack[0] = (0, 0, 0, -1, 0, node_count)
    entries[:node_count] = np.arange(node_count)


@kernel
def touching_faces(
    octrees, octree_of, poses, half_axes, nodes, centres, pair_start, partner, cube, finest, first_only, record, operations,
    state, stack, entries, stamps, stamp_start, listed, corners, checklist_pair, checklist_faces, rows, seen,
):  # fmt: skip
    """Go on with the search; write rows (n,4) of pair, face_a, face_b and kind, unsorted, and return why it stopped.

    With `record` the cells that hold two bodies are written to `seen` (n,4), level first.
    """
    end = spent(state) + operations
    while state[DEPTH] >= 0 or state[FACES] > 0:
        if state[FACES] > 0:
            why = _check_pairs(pair_start, partner, first_only, end, state, listed, corners, checklist_pair, checklist_faces, rows)
            if why != DONE:
                return why
            if first_only and state[ROWS] > 0:
                state[DEPTH] = -1
            continue
        if spent(state) >= end:
            return PAUSED
        depth = state[DEPTH]
        if stack[depth, CHILD] < 0:
            if nodes.shape[0] == 0 or nodes[entries[stack[depth, BEGIN]], 0] == nodes[entries[stack[depth, END] - 1], 0]:
                state[DEPTH] -= 1  # entries are in the order of bodies: all are of one
                continue
            if record and state[SEEN] == seen.shape[0]:
                return FULL_SEEN
            if depth == finest:
                state[VOXELS] += 1
                count = list_faces(
                    octrees, octree_of, poses, nodes, entries, stack[depth, BEGIN], stack[depth, END], state[VOXELS], stamps,
                    stamp_start, listed, corners,
                )  # fmt: skip
                if count < 0:
                    state[NEEDED] = -count
                    return FULL_FACES
                state[FACES], state[FIRST], state[SECOND] = count, 0, listed[0, 2]
                state[DEPTH] -= 1
            stack[depth, CHILD] = 0
            if record:
                seen[state[SEEN], 0] = depth
                for k in range(3):
                    seen[state[SEEN], k + 1] = stack[depth, CELL + k]
                state[SEEN] += 1
            continue
        if stack[depth, CHILD] == 8:
            state[DEPTH] -= 1
            continue
        if 2 * stack[depth, END] - stack[depth, BEGIN] > entries.shape[0]:
            return FULL_ENTRIES
        _descend(half_axes, nodes, centres, cube, state, stack, entries)
    return DONE


@kernel
def spent(state):
    """Return the operations so far."""
    return state[NODE_TESTS] + state[BOX_TESTS] + TRIANGLE_WEIGHT * state[TRIANGLE_TESTS]


@kernel
def _descend(half_axes, nodes, centres, cube, state, stack, entries):
    """Put the next child on the stack, with those of its parent's black nodes that meet it."""
    depth = state[DEPTH]
    child = stack[depth, CHILD]
    stack[depth, CHILD] += 1
    side = cube[3] / 2.0 ** (depth + 1)
    i = 2 * stack[depth, CELL] + (child >> 2)
    j = 2 * stack[depth, CELL + 1] + ((child >> 1) & 1)
    k = 2 * stack[depth, CELL + 2] + (child & 1)
    ox, hx = centre_and_half(cube[0] + i * side, cube[0] + (i + 1) * side)
    oy, hy = centre_and_half(cube[1] + j * side, cube[1] + (j + 1) * side)
    oz, hz = centre_and_half(cube[2] + k * side, cube[2] + (k + 1) * side)
    begin, end = stack[depth, BEGIN], stack[depth, END]
    written = end
    for entry in range(begin, end):
        node = entries[entry]
        away = Vec3(centres[node, 0] - ox, centres[node, 1] - oy, centres[node, 2] - oz)
        if oriented_box_meets_box(half_axes, nodes[node, 0], away, Vec3(hx, hy, hz)):
            entries[written] = node
            written += 1
    state[NODE_TESTS] += end - begin
    if written == end:
        return
    depth += 1
    state[DEPTH] = depth
    stack[depth, CELL], stack[depth, CELL + 1], stack[depth, CELL + 2] = i, j, k
    stack[depth, CHILD], stack[depth, BEGIN], stack[depth, END] = -1, end, written


@kernel
def _check_pairs(pair_start, partner, first_only, end, state, listed, corners, checklist_pair, checklist_faces, rows):
    """Check the pairs of faces of the voxel at work, from FIRST and SECOND on; DONE when it has no more."""
    count = state[FACES]
    while state[FIRST] < count:
        i = state[FIRST]
        body = -1
        pair = -1
        while state[SECOND] < count:
            j = state[SECOND]
            if listed[j, 0] != body:
                body = listed[j, 0]
                pair = pair_of(pair_start, partner, listed[i, 0], body)
            if pair < 0:
                state[SECOND] = listed[j, 2]
                continue
            if rows_boxes_overlap(corners, i, j):
                if 2 * state[CHECKED] >= checklist_pair.shape[0]:
                    return FULL_CHECKLIST
                if state[ROWS] == rows.shape[0]:
                    return FULL_ROWS
                if spent(state) >= end:
                    return PAUSED
                if put_on_checklist(checklist_pair, checklist_faces, pair, listed[i, 1], listed[j, 1]):
                    state[CHECKED] += 1
                    state[TRIANGLE_TESTS] += 1
                    kind = rows_touch(corners, i, j)
                    if kind != 0:
                        row = state[ROWS]
                        rows[row, 0] = pair
                        rows[row, 1] = listed[i, 1]
                        rows[row, 2] = listed[j, 1]
                        rows[row, 3] = kind
                        state[ROWS] += 1
                        if first_only:
                            state[FACES] = 0
                            return DONE
            state[BOX_TESTS] += 1
            state[SECOND] += 1
        state[FIRST] += 1
        if state[FIRST] < count:
            state[SECOND] = listed[state[FIRST], 2]
            if spent(state) >= end:
                return PAUSED
    state[FACES] = 0
    return DONE
