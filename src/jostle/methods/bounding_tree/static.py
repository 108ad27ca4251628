"""Static collision detection: the touching faces of pairs of bodies at one instant, by walking two trees together (§4).

A pair of nodes that meet is replaced by the children of the larger one, whatever its degree; two leaves come down to the boxes of
their faces in the world and the exact test. A body against itself is the same walk: a node with itself becomes all pairs of its
children, each once, and faces that share a welded vertex are left out (or asked whether they touch beyond what they share).

The kernel works on a list of pairs of bodies and can be stopped anywhere: after a number of operations, so that Python hears
Ctrl-C, or when an output or the stack is full. Called again with its state, it goes on. Exact: all culls are conservative for the
world vertices, and the last test is the one of all exact methods.
"""

from __future__ import annotations

import numpy as np

from jostle.geometry.contact_kind import CROSSING
from jostle.geometry.rigid import solve_relative_pose_into
from jostle.geometry.triangle import triangle_from
from jostle.geometry.triangle_triangle import adjacent_faces_touch, triangles_touch
from jostle.kernels.handles import float64_at, int32_at
from jostle.kernels.jit import kernel
from jostle.methods.bounding_tree.leaves import FACE, SLOTS, face_boxes_meet, fill_leaf, share_a_vertex
from jostle.methods.bounding_tree.overlap import FRAME, descends_into_a, nodes_apart, reach_of, set_up_frame
from jostle.packed_rows import ALL, ANY, FACE_BITS, KIND_BITS, WORST

# State: next pair, height of the stack, rows so far, rows of the present pair, query number, counts of tests, and operations.
STATE = 9
NEXT_PAIR, HEIGHT, ROWS, ROWS_OF_PAIR, QUERY, NODE_TESTS, TRIANGLE_TESTS, VISITED, SPENT = range(STATE)
# Arrays of a shape, by address.
VOLUMES, FIRST_CHILD, CHILD_COUNT, FIRST_FACE, FACE_COUNT, ORDER, FACES, VERTICES, WELDED = range(9)

DONE, OUT_OF_OPERATIONS, FULL_ROWS, FULL_STACK, FULL_VISITED = range(5)
MOST_NEW = 40  # pairs that one pair of nodes of degree 6 at most puts on the stack
EXACT_TEST = 30  # what an exact test counts for in pairs of nodes


@kernel
def touching_faces(  # type: ignore[no-untyped-def]
    trees, kind, shape_a, shape_b, body_a, body_b, poses, corner_poses, how_many, adjacent, faces_of_leaf, operations,
    state, stack, tags_a, lanes_a, tags_b, lanes_b, keys, pair_of_key, visited,
):  # fmt: skip
    """Go on with the pairs (shape_a[k] at body_a[k], shape_b[k] at body_b[k]); returns why it stopped.

    trees: address table of the arrays named above; poses and corner_poses (bodies,4,4) of the volumes and of the vertices; stack
    (n,2) int32; tags (SLOTS,) int64 and lanes of the two leaf caches, for `faces_of_leaf` faces each; keys (n,) int64 and
    pair_of_key (n,) int32 are the rows; visited (n,3) int32 takes pair and nodes of every pair of nodes that meets, unless it has
    no rows.
    """
    relative, frame = np.empty((4, 4)), np.empty(FRAME)
    corners, two_faces = np.empty((6, 3)), np.empty((4, 3), np.int32)
    total, spent, node_tests, triangle_tests = state[ROWS], 0, 0, 0
    record = visited.shape[0] > 0
    why = DONE
    while state[NEXT_PAIR] < shape_a.shape[0]:
        pair = state[NEXT_PAIR]
        p, q = shape_a[pair], shape_b[pair]
        itself = body_a[pair] == body_b[pair]
        volumes_a, volumes_b = _floats(trees, p, VOLUMES), _floats(trees, q, VOLUMES)
        pose_a, pose_b = poses[body_a[pair]], poses[body_b[pair]]
        solve_relative_pose_into(pose_a, pose_b, relative)
        set_up_frame(relative, pose_a, pose_b, reach_of(volumes_a), reach_of(volumes_b), frame)
        height, rows_of_pair = state[HEIGHT], state[ROWS_OF_PAIR]
        if height == 0:
            state[QUERY] += 1
            rows_of_pair = 0
            stack[0, 0], stack[0, 1] = 0, 0
            height = 1
        query = state[QUERY]
        first_child_a, first_child_b = _ints(trees, p, FIRST_CHILD), _ints(trees, q, FIRST_CHILD)
        child_count_a, child_count_b = _ints(trees, p, CHILD_COUNT), _ints(trees, q, CHILD_COUNT)
        first_face_a, first_face_b = _ints(trees, p, FIRST_FACE), _ints(trees, q, FIRST_FACE)
        face_count_a, face_count_b = _ints(trees, p, FACE_COUNT), _ints(trees, q, FACE_COUNT)
        order_a, order_b = _ints(trees, p, ORDER), _ints(trees, q, ORDER)
        faces_a, faces_b = _ints(trees, p, FACES), _ints(trees, q, FACES)
        vertices_a, vertices_b = _floats(trees, p, VERTICES), _floats(trees, q, VERTICES)
        welded = _ints(trees, p, WELDED)
        while height > 0:
            if node_tests + spent >= operations:
                why = OUT_OF_OPERATIONS
                break
            if height + MOST_NEW > stack.shape[0]:
                why = FULL_STACK
                break
            if total + faces_of_leaf * faces_of_leaf > keys.shape[0]:
                why = FULL_ROWS
                break
            if record:
                row = state[VISITED]
                if row == visited.shape[0]:
                    why = FULL_VISITED
                    break
                visited[row, 0], visited[row, 1], visited[row, 2] = pair, stack[height - 1, 0], stack[height - 1, 1]
                state[VISITED] += 1
            height -= 1
            a, b = np.int64(stack[height, 0]), np.int64(stack[height, 1])
            children_a, children_b = np.int64(child_count_a[a]), np.int64(child_count_b[b])
            if children_a > 0 or children_b > 0:
                begin_a, end_a, begin_b, end_b = a, a + 1, b, b + 1
                itself_again = itself and a == b
                if itself_again or descends_into_a(volumes_a, children_a, a, volumes_b, children_b, b):
                    begin_a = np.int64(first_child_a[a])
                    end_a = begin_a + children_a
                if itself_again or begin_a == a:
                    begin_b = np.int64(first_child_b[b])
                    end_b = begin_b + children_b
                for i in range(begin_a, end_a):
                    for j in range(i if itself_again else begin_b, end_b):
                        node_tests += 1
                        if (itself_again and i == j) or not nodes_apart(kind, volumes_a, i, volumes_b, j, frame):
                            stack[height, 0], stack[height, 1] = i, j
                            height += 1
                continue
            begin_a, begin_b = np.int64(first_face_a[a]), np.int64(first_face_b[b])
            count_a, count_b = np.int64(face_count_a[a]), np.int64(face_count_b[b])
            slot = a & (SLOTS - 1)
            base_a = slot * faces_of_leaf * FACE
            if tags_a[slot] != (query << 32) | a:
                tags_a[slot] = (query << 32) | a
                fill_leaf(lanes_a, base_a, faces_a, order_a, begin_a, count_a, vertices_a, corner_poses[body_a[pair]])
            slot = b & (SLOTS - 1)
            base_b = slot * faces_of_leaf * FACE
            if tags_b[slot] != (query << 32) | b:
                tags_b[slot] = (query << 32) | b
                fill_leaf(lanes_b, base_b, faces_b, order_b, begin_b, count_b, vertices_b, corner_poses[body_b[pair]])
            for k in range(count_a * count_b):
                i, j = k // count_b, k % count_b
                if (itself and a == b and j <= i) or not face_boxes_meet(lanes_a, base_a + FACE * i, lanes_b, base_b + FACE * j):
                    continue
                face_a, face_b = np.int64(order_a[begin_a + i]), np.int64(order_b[begin_b + j])
                at, other = base_a + FACE * i, base_b + FACE * j
                neighbours = itself and share_a_vertex(welded, face_a, face_b)
                if neighbours and not adjacent:
                    spent += 1
                    continue
                triangle_tests += 1
                spent += EXACT_TEST
                if neighbours:
                    found = neighbours_touch(lanes_a, at, lanes_b, other, welded, face_a, face_b, corners, two_faces)
                else:
                    found = triangles_touch(triangle_from(lanes_a, at), triangle_from(lanes_b, other))
                if found == 0:
                    continue
                if how_many == WORST and rows_of_pair > 0:
                    if (keys[total - 1] & ((1 << KIND_BITS) - 1)) >= found:
                        continue
                    total -= 1  # a worse one takes its place
                if itself and face_a > face_b:
                    face_a, face_b = face_b, face_a
                keys[total] = (face_a << (FACE_BITS + KIND_BITS)) | (face_b << KIND_BITS) | found
                pair_of_key[total] = pair
                total += 1
                rows_of_pair += 1
                if how_many != ALL and (how_many != WORST or found == CROSSING):
                    height = 0  # this pair is decided
                    break
        state[HEIGHT], state[ROWS_OF_PAIR] = height, rows_of_pair
        if why != DONE:
            break
        state[NEXT_PAIR] += 1
        if how_many == ANY and rows_of_pair > 0:
            state[NEXT_PAIR] = shape_a.shape[0]
    state[ROWS] = total
    state[NODE_TESTS] += node_tests
    state[TRIANGLE_TESTS] += triangle_tests
    state[SPENT] += node_tests + spent
    return why


@kernel(forceinline=True)
def _floats(trees, shape, which):  # type: ignore[no-untyped-def]
    return float64_at(trees[shape, 2 * which], trees[shape, 2 * which + 1])


@kernel(forceinline=True)
def _ints(trees, shape, which):  # type: ignore[no-untyped-def]
    return int32_at(trees[shape, 2 * which], trees[shape, 2 * which + 1])


@kernel
def neighbours_touch(lanes_a, i, lanes_b, j, welded, face_a, face_b, corners, two_faces):  # type: ignore[no-untyped-def]
    """Whether two neighbours in lanes, at i and j, touch beyond what they share; corners (6,3) and two_faces (4,3) are scratch."""
    for k in range(3):
        for c in range(3):
            corners[k, c], corners[3 + k, c] = lanes_a[i + 3 * k + c], lanes_b[j + 3 * k + c]
        two_faces[0, k], two_faces[1, k] = k, 3 + k
        two_faces[2, k], two_faces[3, k] = welded[3 * face_a + k], welded[3 * face_b + k]
    return adjacent_faces_touch(corners, two_faces[:2], two_faces[2:], 0, 1)
