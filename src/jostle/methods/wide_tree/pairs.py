"""All touching face pairs of pairs of bodies: two trees walked together, node against node.

From a pair of nodes, the eight boxes of each are brought into the frame of the other, and compared there, 8 x 8 at a time
in vectors: six separating axes. (The nine cross axes cut only 11–13 % of the node pairs more and cost more than that.)
Pairs of children that may meet go on a stack; two leaves go to `leaf_cache`, where boxes of faces in the world are
compared, and what is left to the exact test.

The kernel works on a list of pairs of bodies and can be stopped anywhere: after a number of operations (so that Python
hears Ctrl-C), or when an output or the stack is full. Its state is an array; called again, it goes on. A row is one int64:
face a, face b and kind, in sorting order.
"""

from __future__ import annotations

import numpy as np

from jostle.geometry.contact_kind import CROSSING, NEAR
from jostle.geometry.triangle import triangle_in_lane
from jostle.geometry.triangle_triangle import triangles_touch
from jostle.geometry.triangles_distance import distance_if_nearer
from jostle.kernels.handles import float32_at, float64_at, int32_at, int64_at
from jostle.kernels.jit import kernel
from jostle.kernels.simd import (
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
    f32x8_overlap,
    f32x8_splat,
    f32x8_store,
    f32x8_sub,
    lowest_bit,
    without_lowest_bit,
)
from jostle.kernels.simd64 import prefetch
from jostle.methods.wide_tree.leaf_cache import (
    CORNER_ROW,
    CORNERS,
    LANES32,
    NORMAL_ROW,
    OFFSET_ROW,
    PLANE_SLACK,
    SLACK_ROW,
    SLOTS,
    fill_leaf,
)
from jostle.methods.wide_tree.motion import LARGEST_PADDING, move_boxes, set_up_motion
from jostle.methods.wide_tree.tree import ROW
from jostle.packed_rows import ALL, ANY, FACE_BITS, KIND_BITS, WORST

# State: next pair, height of the stack, rows so far, rows of the present pair, query number, and counts of tests.
STATE = 9
NEXT_PAIR, HEIGHT, ROWS, ROWS_OF_PAIR, QUERY, NODE_TESTS, BOX_TESTS, TRIANGLE_TESTS, DISTANCE_TESTS = range(STATE)
ANEW = -1  # as the next pair: forget all but the number of the last query, with which the leaf caches are tagged

# Arrays of the workspace, by address: handing over so many would cost more than a short search.
STACK, TAGS_X, LANES_X, CORNERS_X, TAGS_Y, LANES_Y, CORNERS_Y, MOTION_AND_BOXES, KEYS, PAIR_OF_KEY, DISTANCE_OF_KEY = range(11)

DONE, OUT_OF_OPERATIONS, FULL_ROWS, FULL_STACK = 0, 1, 2, 3
SHALLOWNESS = 144  # place in MOTION_AND_BOXES: motion 0, boxes of Y in X's frame 48, of X in Y's 96
MANY_LEFT = 4  # faces after two culls, from which on a third pays
MOST_NEW = 64  # rows, or stack entries, that one pair of nodes can add
# What an exact test counts for in node pairs: as much as one costs whose every decision needs exact arithmetic.
EXACT_TEST = 100


@kernel
def touching_faces(  # type: ignore[no-untyped-def]
    trees, frames, shape_a, shape_b, pose_a, pose_b, poses, clearance, how_many, operations, state, work, relative
):
    """Go on with the pairs (shape_a[k] at poses[pose_a[k]], shape_b[k] at poses[pose_b[k]]); returns why it stopped.

    trees: address table of (boxes, first, count, faces, face_ids, vertices); frames (shapes,6); work: address table of one row,
    see `search.Workspace`; relative (4,4) is scratch. Rows are in KEYS, with PAIR_OF_KEY and DISTANCE_OF_KEY.

    One long function on purpose. Numba optimises everything below a kernel again for each level of calls: cut into four it took
    58 s to compile instead of 16. And inlined by Numba, arrays become counted references inside the loop, which doubles its time.
    """
    stack = int32_at(work[0, 2 * STACK], work[0, 2 * STACK + 1])
    tags_x, tags_y = int64_at(work[0, 2 * TAGS_X], SLOTS), int64_at(work[0, 2 * TAGS_Y], SLOTS)
    lanes_x, lanes_y = float32_at(work[0, 2 * LANES_X], SLOTS * LANES32), float32_at(work[0, 2 * LANES_Y], SLOTS * LANES32)
    corners_x, corners_y = float64_at(work[0, 2 * CORNERS_X], SLOTS * CORNERS), float64_at(work[0, 2 * CORNERS_Y], SLOTS * CORNERS)
    scratch = float32_at(work[0, 2 * MOTION_AND_BOXES], 152)
    rows = int64_at(work[0, 2 * KEYS], work[0, 2 * KEYS + 1])
    row_pair = int32_at(work[0, 2 * PAIR_OF_KEY], work[0, 2 * PAIR_OF_KEY + 1])
    row_distance = float64_at(work[0, 2 * DISTANCE_OF_KEY], work[0, 2 * DISTANCE_OF_KEY + 1])
    if state[NEXT_PAIR] == ANEW:
        for k in range(STATE):
            if k != QUERY:
                state[k] = 0
    total_rows, spent, triangle_tests, distance_tests, node_tests = state[ROWS], 0, 0, 0, 0
    why = DONE
    while state[NEXT_PAIR] < shape_a.shape[0]:
        pair = state[NEXT_PAIR]
        x, y, px, py = shape_a[pair], shape_b[pair], pose_a[pair], pose_b[pair]
        # X is the one with the larger extent: its scale is the smaller.
        swapped = frames[x, 3] > frames[y, 3]
        if swapped:
            x, y, px, py = y, x, py, px
        pose_x, pose_y = poses[px], poses[py]
        serves = set_up_motion(pose_x, pose_y, frames[x], frames[y], clearance, relative, scratch)
        height, rows_of_pair = state[HEIGHT], state[ROWS_OF_PAIR]
        if height == 0:
            if serves == 0:
                state[NEXT_PAIR] += 1
                continue
            state[QUERY] += 1
            rows_of_pair = 0
            stack[0], stack[1] = 0, 0
            height = 1
        boxes_x, boxes_y = float32_at(trees[x, 0], trees[x, 1]), float32_at(trees[y, 0], trees[y, 1])
        first_x, first_y = int32_at(trees[x, 2], trees[x, 3]), int32_at(trees[y, 2], trees[y, 3])
        count_x, count_y = int32_at(trees[x, 4], trees[x, 5]), int32_at(trees[y, 4], trees[y, 5])
        faces_x, faces_y = int32_at(trees[x, 6], trees[x, 7]), int32_at(trees[y, 6], trees[y, 7])
        ids_x, ids_y = int32_at(trees[x, 8], trees[x, 9]), int32_at(trees[y, 8], trees[y, 9])
        vertices_x, vertices_y = float64_at(trees[x, 10], trees[x, 11]), float64_at(trees[y, 10], trees[y, 11])
        scale, query = frames[x, 3], state[QUERY]
        ox, oy, oz = pose_x[0, 3], pose_x[1, 3], pose_x[2, 3]
        more = clearance * scale * (1.0 + 1e-6)
        planes = more <= LARGEST_PADDING  # beyond it they part nothing, and float32 might overflow
        while height > 0:
            if node_tests + spent >= operations:
                why = OUT_OF_OPERATIONS
                break
            if 2 * (height + MOST_NEW) > stack.shape[0]:
                why = FULL_STACK
                break
            if total_rows + MOST_NEW > rows.shape[0]:
                why = FULL_ROWS
                break
            height -= 1
            node_tests += 1
            node_x, node_y = np.int64(stack[2 * height]), np.int64(stack[2 * height + 1])
            children_x, children_y = np.int64(count_x[node_x]), np.int64(count_y[node_y])
            begin_x, begin_y = np.int64(first_x[node_x]), np.int64(first_y[node_y])
            base_x, base_y = node_x * ROW, node_y * ROW
            move_boxes(boxes_y, base_y, scratch, 0, 42, scratch, 48)
            if serves == 2:
                move_boxes(boxes_x, base_x, scratch, 21, 43, scratch, 96)
            if children_x < 0 and children_y < 0:
                near = np.uint32(0)
                for j in range(-children_y):
                    mask = boxes_that_meet(boxes_x, base_x, scratch, 48 + j)
                    if mask != 0 and serves == 2:
                        mask &= boxes_that_meet(scratch, 96, boxes_y, base_y + j)
                    if mask != 0:
                        near |= np.uint32(1) << np.uint32(j)
                if near == 0:
                    continue
                # Two leaves: cull by boxes and planes of faces in the world, then the exact test.
                slot = node_x & (SLOTS - 1)
                base_x, corner_x = slot * LANES32, slot * CORNERS
                if tags_x[slot] != (query << 32) | node_x:
                    tags_x[slot] = (query << 32) | node_x
                    fill_leaf(
                        lanes_x, base_x, corners_x, corner_x, faces_x, begin_x, -children_x, vertices_x,
                        pose_x, (ox, oy, oz), scale, more,
                    )  # fmt: skip
                slot = node_y & (SLOTS - 1)
                base_y, corner_y = slot * LANES32, slot * CORNERS
                if tags_y[slot] != (query << 32) | node_y:
                    tags_y[slot] = (query << 32) | node_y
                    fill_leaf(
                        lanes_y, base_y, corners_y, corner_y, faces_y, begin_y, -children_y, vertices_y,
                        pose_y, (ox, oy, oz), scale, more,
                    )  # fmt: skip
                used = np.uint32((np.uint32(1) << np.uint32(-children_x)) - np.uint32(1))
                while near != 0:
                    j = lowest_bit(near)
                    near = without_lowest_bit(near)
                    # A clearance may be larger than the place of empty boxes.
                    mask = boxes_that_meet(lanes_x, base_x, lanes_y, base_y + j) & used
                    if mask != 0 and planes:
                        mask &= planes_that_do_not_part(lanes_x, base_x, lanes_y, base_y + j)
                    if clearance == 0.0 and bit_count(mask) >= MANY_LEFT:
                        mask &= edges_that_do_not_part(lanes_x, base_x, lanes_y, base_y + j)
                    while mask != 0:
                        i = lowest_bit(mask)
                        mask = without_lowest_bit(mask)
                        triangle_tests += 1
                        spent += EXACT_TEST
                        p, q = corner_x + i, corner_y + j
                        kind = triangles_touch(triangle_in_lane(corners_x, p), triangle_in_lane(corners_y, q))
                        distance = 0.0
                        if kind == 0 and clearance > 0.0:
                            distance_tests += 1
                            if swapped:
                                distance = distance_of_faces(corners_y, q, corners_x, p, clearance)
                            else:
                                distance = distance_of_faces(corners_x, p, corners_y, q, clearance)
                            if distance < clearance:
                                kind = NEAR
                        if kind == 0:
                            continue
                        if how_many == WORST and rows_of_pair > 0:
                            if (rows[total_rows - 1] & ((1 << KIND_BITS) - 1)) >= kind:
                                continue
                            total_rows -= 1  # a worse one takes its place
                        face_a, face_b = np.int64(ids_x[begin_x + i]), np.int64(ids_y[begin_y + j])
                        if swapped:
                            face_a, face_b = face_b, face_a
                        rows[total_rows] = (face_a << (FACE_BITS + KIND_BITS)) | (face_b << KIND_BITS) | kind
                        row_pair[total_rows] = pair
                        row_distance[total_rows] = distance
                        total_rows += 1
                        rows_of_pair += 1
                        if how_many != ALL and (how_many != WORST or kind == CROSSING):
                            height, near, mask = 0, np.uint32(0), np.uint32(0)  # this pair is decided
                continue
            any_x, every_x = np.uint32(0), np.uint32(0)
            deepest, least = height, np.float32(np.inf)
            for j in range(abs(children_y)):
                mask = boxes_that_meet(boxes_x, base_x, scratch, 48 + j)
                if mask != 0 and serves == 2:
                    mask &= boxes_that_meet(scratch, 96, boxes_y, base_y + j)
                if mask == 0:
                    continue
                if children_y < 0:
                    any_x |= mask
                elif children_x < 0:
                    ask_for_node(boxes_y, begin_y + j)
                    stack[2 * height], stack[2 * height + 1] = node_x, begin_y + j
                    height += 1
                else:
                    ask_for_node(boxes_y, begin_y + j)
                    every_x |= mask
                    if how_many != ALL:
                        f32x8_store(scratch, SHALLOWNESS, shallowness(boxes_x, base_x, scratch, 48 + j))
                    while mask != 0:
                        i = lowest_bit(mask)
                        if how_many != ALL and scratch[SHALLOWNESS + i] < least:
                            deepest, least = height, scratch[SHALLOWNESS + i]
                        stack[2 * height], stack[2 * height + 1] = begin_x + i, begin_y + j
                        height += 1
                        mask = without_lowest_bit(mask)
            if how_many != ALL and least < np.inf:
                # Where one row is enough, boxes that overlap most come first: half the node pairs until a hit.
                i, j = 2 * deepest, 2 * (height - 1)
                stack[i], stack[j] = stack[j], stack[i]
                stack[i + 1], stack[j + 1] = stack[j + 1], stack[i + 1]
            every_x |= any_x
            while every_x != 0:
                ask_for_node(boxes_x, begin_x + lowest_bit(every_x))
                every_x = without_lowest_bit(every_x)
            while any_x != 0:
                stack[2 * height], stack[2 * height + 1] = begin_x + lowest_bit(any_x), node_y
                height += 1
                any_x = without_lowest_bit(any_x)
        state[HEIGHT], state[ROWS_OF_PAIR] = height, rows_of_pair
        if why != DONE:
            break
        state[NEXT_PAIR] += 1
        if how_many == ANY and rows_of_pair > 0:
            state[NEXT_PAIR] = shape_a.shape[0]
    state[ROWS] = total_rows
    state[NODE_TESTS] += node_tests
    state[TRIANGLE_TESTS] += triangle_tests
    state[DISTANCE_TESTS] += distance_tests
    return why


@kernel(forceinline=True)
def shallowness(x, base, y, j):  # type: ignore[no-untyped-def]
    """How little the eight boxes at x[base] overlap that in the lane y[j], on the axis where it is least: minus that length."""
    dx = f32x8_sub(f32x8_max(f32x8_load(x, base), f32x8_splat(y[j])), f32x8_min(f32x8_load(x, base + 24), f32x8_splat(y[j + 24])))
    dy = f32x8_sub(
        f32x8_max(f32x8_load(x, base + 8), f32x8_splat(y[j + 8])), f32x8_min(f32x8_load(x, base + 32), f32x8_splat(y[j + 32]))
    )
    dz = f32x8_sub(
        f32x8_max(f32x8_load(x, base + 16), f32x8_splat(y[j + 16])), f32x8_min(f32x8_load(x, base + 40), f32x8_splat(y[j + 40]))
    )
    return f32x8_max(dx, f32x8_max(dy, dz))


@kernel(forceinline=True)
def ask_for_node(boxes, node):  # type: ignore[no-untyped-def]
    """Have the boxes of a node brought near; it is looked at soon."""
    for line in range(3):
        prefetch(boxes, node * ROW + 16 * line)


@kernel
def distance_of_faces(p, i, q, j, clearance):  # type: ignore[no-untyped-def]
    """The distance of two faces with nine coordinates each, at every eighth place from p[i] and q[j] on, if it may be below."""
    return distance_if_nearer(triangle_in_lane(p, i), triangle_in_lane(q, j), clearance)


@kernel(forceinline=True)
def boxes_that_meet(x, base, y, j):  # type: ignore[no-untyped-def]
    """The faces of the leaf at x[base] whose boxes meet that of the face in the lane y[j]."""
    return f32x8_overlap(
        f32x8_load(x, base), f32x8_load(x, base + 8), f32x8_load(x, base + 16),
        f32x8_load(x, base + 24), f32x8_load(x, base + 32), f32x8_load(x, base + 40),
        f32x8_splat(y[j]), f32x8_splat(y[j + 8]), f32x8_splat(y[j + 16]),
        f32x8_splat(y[j + 24]), f32x8_splat(y[j + 32]), f32x8_splat(y[j + 40]),
    )  # fmt: skip


@kernel(forceinline=True)
def planes_that_do_not_part(x, base, y, j):  # type: ignore[no-untyped-def]
    """The faces of the leaf at x[base] that are not on one side of the face in the lane y[j], nor it on one side of them."""
    corner_x, corner_y = base + CORNER_ROW, j + CORNER_ROW
    # The corners of the one face against the eight planes …
    nx, ny, nz = f32x8_load(x, base + NORMAL_ROW), f32x8_load(x, base + NORMAL_ROW + 8), f32x8_load(x, base + NORMAL_ROW + 16)
    d, slack = f32x8_load(x, base + OFFSET_ROW), f32x8_load(x, base + SLACK_ROW)
    p = _heights(nx, ny, nz, d, f32x8_splat(y[corner_y]), f32x8_splat(y[corner_y + 8]), f32x8_splat(y[corner_y + 16]))
    q = _heights(nx, ny, nz, d, f32x8_splat(y[corner_y + 24]), f32x8_splat(y[corner_y + 32]), f32x8_splat(y[corner_y + 40]))
    r = _heights(nx, ny, nz, d, f32x8_splat(y[corner_y + 48]), f32x8_splat(y[corner_y + 56]), f32x8_splat(y[corner_y + 64]))
    mask = _not_all_beyond(p, q, r, slack)
    # … and the corners of the eight faces against the one plane.
    nx, ny, nz = f32x8_splat(y[j + NORMAL_ROW]), f32x8_splat(y[j + NORMAL_ROW + 8]), f32x8_splat(y[j + NORMAL_ROW + 16])
    d, slack = f32x8_splat(y[j + OFFSET_ROW]), f32x8_splat(y[j + SLACK_ROW])
    p = _heights(nx, ny, nz, d, f32x8_load(x, corner_x), f32x8_load(x, corner_x + 8), f32x8_load(x, corner_x + 16))
    q = _heights(nx, ny, nz, d, f32x8_load(x, corner_x + 24), f32x8_load(x, corner_x + 32), f32x8_load(x, corner_x + 40))
    r = _heights(nx, ny, nz, d, f32x8_load(x, corner_x + 48), f32x8_load(x, corner_x + 56), f32x8_load(x, corner_x + 64))
    return mask & _not_all_beyond(p, q, r, slack)


@kernel
def edges_that_do_not_part(x, base, y, j):  # type: ignore[no-untyped-def]
    """The faces of the leaf at x[base] that no edge parts from the face in the lane y[j], nor an edge of theirs it from them.

    An edge parts two faces when, seen along the plane of its own face and across the edge, one is beyond the other. Slivers, which
    are most of what exact tests turn down, are parted so. Projections of corners on an axis a are each off by less than
    5 · 2^-24 · |a|₁ · (the size of coordinates).
    """
    size = np.float32(0.0)
    for row in range(6):
        size = max(size, abs(y[j + 8 * row]))
    sizes = f32x8_splat(size)
    for row in range(6):
        sizes = f32x8_max(sizes, f32x8_abs(f32x8_load(x, base + 8 * row)))
    slack = f32x8_mul(sizes, f32x8_splat(np.float32(PLANE_SLACK)))
    parted = np.uint32(0)
    nx, ny, nz = f32x8_load(x, base + NORMAL_ROW), f32x8_load(x, base + NORMAL_ROW + 8), f32x8_load(x, base + NORMAL_ROW + 16)
    mx, my, mz = y[j + NORMAL_ROW], y[j + NORMAL_ROW + 8], y[j + NORMAL_ROW + 16]
    for k in range(3):
        p, q = CORNER_ROW + 24 * k, CORNER_ROW + (24 * k + 24 if k < 2 else 0)
        # Across an edge of Y's face …
        ex, ey, ez = y[j + q] - y[j + p], y[j + q + 8] - y[j + p + 8], y[j + q + 16] - y[j + p + 16]
        ax, ay, az = f32x8_splat(my * ez - mz * ey), f32x8_splat(mz * ex - mx * ez), f32x8_splat(mx * ey - my * ex)
        parted |= parted_along(ax, ay, az, x, base, y, j, slack)
        # … and across edges of X's eight.
        ux = f32x8_sub(f32x8_load(x, base + q), f32x8_load(x, base + p))
        uy = f32x8_sub(f32x8_load(x, base + q + 8), f32x8_load(x, base + p + 8))
        uz = f32x8_sub(f32x8_load(x, base + q + 16), f32x8_load(x, base + p + 16))
        ax = f32x8_sub(f32x8_mul(ny, uz), f32x8_mul(nz, uy))
        ay = f32x8_sub(f32x8_mul(nz, ux), f32x8_mul(nx, uz))
        az = f32x8_sub(f32x8_mul(nx, uy), f32x8_mul(ny, ux))
        parted |= parted_along(ax, ay, az, x, base, y, j, slack)
    return parted ^ np.uint32(0xFF)


@kernel(forceinline=True)
def parted_along(ax, ay, az, x, base, y, j, slack):  # type: ignore[no-untyped-def]
    """The lanes whose faces do not overlap that of the lane y[j] on the axis (ax, ay, az), by more than the slack."""
    zero, first, other = f32x8_splat(np.float32(0.0)), base + CORNER_ROW, j + CORNER_ROW
    p = _heights(ax, ay, az, zero, f32x8_load(x, first), f32x8_load(x, first + 8), f32x8_load(x, first + 16))
    q = _heights(ax, ay, az, zero, f32x8_load(x, first + 24), f32x8_load(x, first + 32), f32x8_load(x, first + 40))
    r = _heights(ax, ay, az, zero, f32x8_load(x, first + 48), f32x8_load(x, first + 56), f32x8_load(x, first + 64))
    low, high = f32x8_min(p, f32x8_min(q, r)), f32x8_max(p, f32x8_max(q, r))
    p = _heights(ax, ay, az, zero, f32x8_splat(y[other]), f32x8_splat(y[other + 8]), f32x8_splat(y[other + 16]))
    q = _heights(ax, ay, az, zero, f32x8_splat(y[other + 24]), f32x8_splat(y[other + 32]), f32x8_splat(y[other + 40]))
    r = _heights(ax, ay, az, zero, f32x8_splat(y[other + 48]), f32x8_splat(y[other + 56]), f32x8_splat(y[other + 64]))
    length = f32x8_add(f32x8_abs(ax), f32x8_add(f32x8_abs(ay), f32x8_abs(az)))
    apart = f32x8_multiply_add(length, slack, f32x8_splat(np.float32(1e-30)))
    below = f32x8_less(f32x8_add(f32x8_max(p, f32x8_max(q, r)), apart), low)
    return below | f32x8_less(f32x8_add(high, apart), f32x8_min(p, f32x8_min(q, r)))


@kernel(forceinline=True)
def _heights(nx, ny, nz, d, x, y, z):  # type: ignore[no-untyped-def]
    return f32x8_multiply_add(nx, x, f32x8_multiply_add(ny, y, f32x8_sub(f32x8_mul(nz, z), d)))


@kernel(forceinline=True)
def _not_all_beyond(p, q, r, slack):  # type: ignore[no-untyped-def]
    low, high = f32x8_min(p, f32x8_min(q, r)), f32x8_max(p, f32x8_max(q, r))
    return f32x8_less_equal(low, slack) & f32x8_less_equal(f32x8_sub(f32x8_splat(np.float32(0.0)), slack), high)
