"""The closest faces of two bodies: branch and bound over two trees.

Two trees are walked together from their roots. A pair of nodes gives 8 x 8 lower bounds of distances (`nearest_bounds.py`),
eight at a time; pairs of children that may hold something closer go on a stack, and two leaves to `nearest_faces.py`. The
children with the nearest boxes and centres come first: ordered by the bounds alone the search goes for the fattest boxes,
and takes up to twice as long.

The answer is that of comparing every face with every face: the least `faces_distance` of the world vertices, of equal ones
the lowest (face_a, face_b); bounds only leave out what is greater for certain. Of touching bodies it is any touching pair,
the first that is met. Where more than 65,536 pairs tie within rounding, the least distance is right to 2^-47 of the extent,
and the faces are any that have it.

The kernel stops after a number of operations, so that Python hears Ctrl-C, and goes on when called again; all that it knows
is in its arrays.
"""

from __future__ import annotations

import math
import threading
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jostle.details import closest_of_faces
from jostle.frame import Floats
from jostle.geometry.triangle import triangle_from
from jostle.geometry.triangle_triangle import triangles_touch
from jostle.kernels.arrays import read_only_view
from jostle.kernels.handles import float32_at, float64_at, int32_at
from jostle.kernels.jit import kernel
from jostle.kernels.simd import (
    f32x8_less,
    f32x8_load,
    f32x8_max,
    f32x8_mul,
    f32x8_splat,
    f32x8_store,
    f32x8_sub,
    lowest_bit,
    without_lowest_bit,
)
from jostle.kernels.slices import run_in_slices
from jostle.methods.wide_tree.motion import move_boxes
from jostle.methods.wide_tree.nearest_bounds import (
    ALONG,
    APART,
    ARROW,
    ARROW_X,
    ARROW_Y,
    BETWEEN,
    CENTRES,
    CORNERS_OF_BEST,
    DISTANCE,
    FACE_LIMIT,
    FACE_TESTS,
    LANES,
    LAST_ARROW,
    LEAF_TESTS,
    LIMIT_ALONG,
    LIMIT_SQUARED,
    MOVED_X,
    MOVED_Y,
    NEAR_Y,
    NODE_LIMIT_SQUARED,
    NODE_TESTS,
    RATIO,
    REACH_X,
    REACH_Y,
    SEARCH,
    SMALLEST_STRETCH,
    SQUARED,
    aim,
    farthest_along,
    set_up_search,
    squared_between_centres,
    squared_gaps,
)
from jostle.methods.wide_tree.nearest_faces import (
    CORNERS,
    FACE_A,
    FACE_B,
    HEIGHT,
    MOST_TIES,
    PENDING,
    QUERY,
    SLOTS,
    STATE,
    SUSPECT_FACES,
    SUSPECTS,
    SWAPPED,
    TAGS,
    TIES,
    VERSION,
    compare_leaves,
    leaf_in_world,
    settled_distance,
)
from jostle.methods.wide_tree.tree import ROW, Tree
from jostle.report import Closest

DONE, OUT_OF_OPERATIONS, FULL_STACK, SUSPICION = 0, 1, 2, 3
MOST_NEW = 64  # stack entries that one pair of nodes can add
FIRST_STACK = 4096
FIRST_SLICE = 1 << 16  # operations: about 10 ms
FACE_PRICE = 8  # operations: a pair of nodes is one


@kernel
def search_nearest(  # type: ignore[no-untyped-def]
    boxes_x, first_x, count_x, faces_x, ids_x, vertices_x, frame_x, pose_x,
    boxes_y, first_y, count_y, faces_y, ids_y, vertices_y, frame_y, pose_y,
    tags_x, slots_x, corners_x, ends_x, tags_y, slots_y, corners_y, ends_y,
    relative, operations, state, lanes, search, suspects, stack, bounds,
):  # fmt: skip
    """Go on with a search; returns why it stopped. stack (2n,) int32 and bounds (2n,) float64 hold pairs of nodes.

    Arrays that Python owns are counted, by atomic operations, wherever a view of one is made: that took half of the time.
    So they are taken by their addresses; the caller holds them.
    """
    boxes_x, first_x, count_x, faces_x = _float32(boxes_x), _int32(first_x), _int32(count_x), _int32(faces_x)
    boxes_y, first_y, count_y, faces_y = _float32(boxes_y), _int32(first_y), _int32(count_y), _int32(faces_y)
    ids_x, vertices_x, frame_x, pose_x = _int32(ids_x), _float64(vertices_x), _float64(frame_x), _float64(pose_x).reshape(4, 4)
    ids_y, vertices_y, frame_y, pose_y = _int32(ids_y), _float64(vertices_y), _float64(frame_y), _float64(pose_y).reshape(4, 4)
    tags_x, slots_x, corners_x, ends_x = _int32(tags_x), _float32(slots_x), _float64(corners_x), _float64(ends_x)
    tags_y, slots_y, corners_y, ends_y = _int32(tags_y), _float32(slots_y), _float64(corners_y), _float64(ends_y)
    relative, state, lanes, search = _float64(relative).reshape(4, 4), _int32(state), _float32(lanes), _float64(search)
    suspects, stack, bounds = _float64(suspects), _int32(stack), _float64(bounds)
    serves = set_up_search(pose_x, pose_y, frame_x, frame_y, relative, lanes, search)
    if math.isinf(search[DISTANCE]):
        _first_arrow(search)
    aim(pose_x, pose_y, lanes, search, state[TIES] > MOST_TIES)
    height = np.int64(state[HEIGHT])
    node_tests = 0
    enough = search[FACE_TESTS] * FACE_PRICE + operations
    why = DONE
    while height > 0:
        if node_tests + search[FACE_TESTS] * FACE_PRICE >= enough:
            why = OUT_OF_OPERATIONS
            break
        if 2 * (height + MOST_NEW) > stack.shape[0]:
            why = FULL_STACK
            break
        height -= 1
        if bounds[2 * height] > search[NODE_LIMIT_SQUARED]:
            continue
        node_tests += 1
        node_x, node_y = np.int64(stack[2 * height]), np.int64(stack[2 * height + 1])
        children_x, children_y = np.int64(count_x[node_x]), np.int64(count_y[node_y])
        if children_x < 0 and children_y < 0:
            search[LEAF_TESTS] += 1.0
            at_x, at_y = np.int64(first_x[node_x]), np.int64(first_y[node_y])
            query, version = state[QUERY], state[VERSION]
            slot_x = leaf_in_world(
                tags_x, slots_x, corners_x, ends_x, query, version, node_x, at_x, -children_x,
                faces_x, vertices_x, pose_x, 1.0, search,
            )  # fmt: skip
            slot_y = leaf_in_world(
                tags_y, slots_y, corners_y, ends_y, query, version, node_y, at_y, -children_y,
                faces_y, vertices_y, pose_y, -1.0, search,
            )  # fmt: skip
            if -ends_y[slot_y] - ends_x[slot_x] > search[FACE_LIMIT]:
                continue
            compare_leaves(
                slots_x[slot_x * ROW : (slot_x + 1) * ROW], slots_y[slot_y * ROW : (slot_y + 1) * ROW],
                corners_x[slot_x * CORNERS : (slot_x + 1) * CORNERS], corners_y[slot_y * CORNERS : (slot_y + 1) * CORNERS],
                ids_x[at_x : at_x - children_x], ids_y[at_y : at_y - children_y],
                serves, pose_x, pose_y, state, lanes, search, suspects,
            )  # fmt: skip
            if state[SUSPECTS] > 0:
                why = SUSPICION
                break
        else:
            height = _expand(
                boxes_x, boxes_y, node_x, node_y, children_x, children_y, np.int64(first_x[node_x]), np.int64(first_y[node_y]),
                serves, lanes, search, stack, bounds, height,
            )  # fmt: skip
    if why == DONE and state[PENDING] != 0:
        search[DISTANCE] = settled_distance(search, CORNERS_OF_BEST)
    state[HEIGHT] = height
    search[NODE_TESTS] += node_tests
    return why


@kernel(forceinline=True)
def _float32(array):  # type: ignore[no-untyped-def]
    """The same array, flat, without an owner."""
    return float32_at(array.ctypes.data, array.size)


@kernel(forceinline=True)
def _float64(array):  # type: ignore[no-untyped-def]
    """The same array, flat, without an owner."""
    return float64_at(array.ctypes.data, array.size)


@kernel(forceinline=True)
def _int32(array):  # type: ignore[no-untyped-def]
    """The same array, flat, without an owner."""
    return int32_at(array.ctypes.data, array.size)


@kernel
def _first_arrow(search):  # type: ignore[no-untyped-def]
    """Before anything is found the arrow is the way between the centres."""
    x, y, z = search[BETWEEN], search[BETWEEN + 1], search[BETWEEN + 2]
    length = math.sqrt((x * x + y * y) + z * z)
    if length == 0.0:
        x, length = 1.0, 1.0
    for arrow in (ARROW, LAST_ARROW):
        search[arrow], search[arrow + 1], search[arrow + 2] = x / length, y / length, z / length


@kernel(forceinline=True)
def _expand(  # type: ignore[no-untyped-def]
    boxes_x, boxes_y, node_x, node_y, children_x, children_y, child_x, child_y, serves, lanes, search, stack, bounds, height
):
    """Push the pairs of children of two nodes, not both leaves, that may hold something closer; returns the new height."""
    base_x, base_y, base = node_x * ROW, node_y * ROW, height
    far_x = farthest_along(boxes_x, base_x, lanes, ARROW_X, 24, 0)
    f32x8_store(lanes, NEAR_Y, farthest_along(boxes_y, base_y, lanes, ARROW_Y, 0, 24))
    used = np.uint32((1 << abs(children_x)) - 1)
    limit = f32x8_splat(lanes[LIMIT_ALONG])
    near = np.uint32(0)
    for j in range(abs(children_y)):
        if used & ~f32x8_less(limit, f32x8_sub(f32x8_splat(lanes[NEAR_Y + j]), far_x)) != 0:
            near |= np.uint32(1 << j)
    if near == 0:
        return height
    if serves >= 1:
        move_boxes(boxes_y, base_y, lanes, 0, 42, lanes, MOVED_Y)
    if serves == 2:
        move_boxes(boxes_x, base_x, lanes, 21, 43, lanes, MOVED_X)
    lx, ly, lz = f32x8_load(boxes_x, base_x), f32x8_load(boxes_x, base_x + 8), f32x8_load(boxes_x, base_x + 16)
    ux, uy, uz = f32x8_load(boxes_x, base_x + 24), f32x8_load(boxes_x, base_x + 32), f32x8_load(boxes_x, base_x + 40)
    ax, ay, az = f32x8_load(lanes, MOVED_X), f32x8_load(lanes, MOVED_X + 8), f32x8_load(lanes, MOVED_X + 16)
    bx, by, bz = f32x8_load(lanes, MOVED_X + 24), f32x8_load(lanes, MOVED_X + 32), f32x8_load(lanes, MOVED_X + 40)
    limit_squared = f32x8_splat(lanes[LIMIT_SQUARED])
    squared_ratio = f32x8_splat(np.float32(search[RATIO] * search[RATIO]))
    stretch, along = search[SMALLEST_STRETCH] * search[SMALLEST_STRETCH], search[ALONG]
    for i in range(16):
        search[REACH_X + i] = math.inf  # of pairs with a leaf of Y: least bound of each child of X, and its rank
    while near != 0:
        j = lowest_bit(near)
        near = without_lowest_bit(near)
        apart = f32x8_sub(f32x8_splat(lanes[NEAR_Y + j]), far_x)
        mask = used & ~f32x8_less(limit, apart)
        squared = f32x8_splat(np.float32(0.0))
        centres = squared
        if serves >= 1:
            squared = squared_gaps(lx, ly, lz, ux, uy, uz, lanes, MOVED_Y + j)
            mask &= ~f32x8_less(limit_squared, squared)
            if mask == 0:
                continue
            centres = squared_between_centres(lx, ly, lz, ux, uy, uz, lanes, MOVED_Y + j)
        if serves == 2:
            squared = f32x8_max(squared, f32x8_mul(squared_gaps(ax, ay, az, bx, by, bz, boxes_y, base_y + j), squared_ratio))
            mask &= ~f32x8_less(limit_squared, squared)
        f32x8_store(lanes, SQUARED, squared)
        f32x8_store(lanes, APART, apart)
        f32x8_store(lanes, CENTRES, centres)
        least, least_rank = math.inf, math.inf
        while mask != 0:
            i = lowest_bit(mask)
            mask = without_lowest_bit(mask)
            gap = max(np.float64(lanes[APART + i]) + along, 0.0)
            bound = max(np.float64(lanes[SQUARED + i]) * stretch, gap * gap)
            rank = bound + np.float64(lanes[CENTRES + i])
            if children_y < 0:
                search[REACH_X + i], search[REACH_Y + i] = min(search[REACH_X + i], bound), min(search[REACH_Y + i], rank)
            elif children_x < 0:
                least, least_rank = min(least, bound), min(least_rank, rank)
            else:
                height = _push(stack, bounds, base, height, child_x + i, child_y + j, bound, rank)
        if least < math.inf:
            height = _push(stack, bounds, base, height, node_x, child_y + j, least, least_rank)
    if children_y < 0:
        for i in range(8):
            if search[REACH_X + i] < math.inf:
                height = _push(stack, bounds, base, height, child_x + i, node_y, search[REACH_X + i], search[REACH_Y + i])
    return height


@kernel(forceinline=True)
def _push(stack, bounds, base, height, node_x, node_y, bound, rank):  # type: ignore[no-untyped-def]
    """Put a pair of nodes on the stack, among those from `base` on, so that the lowest rank is on top; returns the new height."""
    k = height
    while k > base and bounds[2 * k - 1] < rank:
        stack[2 * k], stack[2 * k + 1] = stack[2 * k - 2], stack[2 * k - 1]
        bounds[2 * k], bounds[2 * k + 1] = bounds[2 * k - 2], bounds[2 * k - 1]
        k -= 1
    stack[2 * k], stack[2 * k + 1] = node_x, node_y
    bounds[2 * k], bounds[2 * k + 1] = bound, rank
    return height + 1


@kernel
def first_touching(suspects, count):  # type: ignore[no-untyped-def]
    """The first of `count` pairs of faces (18 coordinates each) that share a point, by the exact test, or -1.

    A kernel of its own: the exact test takes as long to compile as all of the search, which seldom needs it.
    """
    for k in range(count):
        if triangles_touch(triangle_from(suspects, 18 * k), triangle_from(suspects, 18 * k + 9)) != 0:
            return k
    return -1


class _Room:
    """The arrays of a search, kept from call to call: fresh ones would cost as much as the search."""

    def __init__(self) -> None:
        self.slots = [
            array
            for _ in range(2)
            for array in (
                np.full(SLOTS * TAGS, -1, np.int32),
                np.zeros(SLOTS * ROW, np.float32),
                np.zeros(SLOTS * CORNERS),
                np.zeros(SLOTS),
            )
        ]
        self.relative = np.empty((4, 4))
        self.state = np.zeros(STATE, np.int32)
        self.lanes = np.zeros(LANES, np.float32)
        self.search = np.zeros(SEARCH)
        self.suspects = np.zeros(64 * 18)
        self.stack = np.zeros(2 * FIRST_STACK, np.int32)
        self.bounds = np.zeros(2 * FIRST_STACK)
        self.queries = 0

    def start(self, swapped: bool) -> None:
        """Begin at the roots."""
        self.queries = (self.queries + 1) & 0x7FFFFFFF
        self.state[:] = 0
        self.state[[HEIGHT, QUERY, SWAPPED, FACE_A, FACE_B]] = 1, self.queries, swapped, -1, -1
        self.search[:] = 0.0
        self.search[DISTANCE] = np.inf
        self.stack[:2] = 0
        self.bounds[:2] = 0.0

    def operations(self) -> int:
        """Say how much was done since the start."""
        return int(self.search[NODE_TESTS] + FACE_PRICE * self.search[FACE_TESTS])

    def found_contact(self) -> bool:
        """Put the suspects to the exact test; the first that touch are the answer."""
        count = int(self.state[SUSPECTS])
        self.state[SUSPECTS] = 0
        touching = first_touching(self.suspects, count)
        if touching < 0:
            return False
        self.state[[FACE_A, FACE_B]] = self.state[SUSPECT_FACES + 2 * touching : SUSPECT_FACES + 2 * touching + 2]
        self.search[CORNERS_OF_BEST : CORNERS_OF_BEST + 18] = self.suspects[18 * touching : 18 * (touching + 1)]
        self.search[DISTANCE] = 0.0
        return True


_kept = threading.local()


def closest_faces(tree_a: Tree, tree_b: Tree, pose_a: Floats, pose_b: Floats) -> Closest:
    """Return the closest points of two bodies, of equal distances those of the lowest faces.

    Parameters
    ----------
    tree_a, tree_b : Tree
    pose_a, pose_b : (4, 4) float64
        Body to world.
    """
    # X is the one with the larger extent: its scale is the smaller.
    swapped = bool(tree_a.frame[3] > tree_b.frame[3])
    x, y = ((tree_b, pose_b), (tree_a, pose_a)) if swapped else ((tree_a, pose_a), (tree_b, pose_b))
    # Taken out while in use: another search that begins in between gets a room of its own.
    room: _Room | None = _kept.__dict__.pop("room", None)
    if room is None:
        room = _Room()
    room.start(swapped)
    trees = [read_only_view(array) for tree, pose in (x, y) for array in (*_flat(tree), pose)]

    def go_on(room: _Room, operations: int) -> tuple[bool, int]:
        before = room.operations()
        why = search_nearest(
            *trees,
            *room.slots,
            room.relative,
            operations,
            room.state,
            room.lanes,
            room.search,
            room.suspects,
            room.stack,
            room.bounds,
        )
        if why == SUSPICION and room.found_contact():
            return True, 1
        if why == FULL_STACK:
            room.stack = np.concatenate([room.stack, np.empty_like(room.stack)])
            room.bounds = np.concatenate([room.bounds, np.empty_like(room.bounds)])
        return why == DONE, max(1, room.operations() - before)

    run_in_slices(go_on, room, FIRST_SLICE)
    distance, face_a, face_b = float(room.search[DISTANCE]), int(room.state[FACE_A]), int(room.state[FACE_B])
    triangle_a, triangle_b = room.search[CORNERS_OF_BEST : CORNERS_OF_BEST + 18].reshape(2, 3, 3).copy()
    _kept.room = room
    return closest_of_faces(distance, face_a, face_b, triangle_a, triangle_b)


def _flat(tree: Tree) -> tuple[NDArray[Any], ...]:
    """The arrays of a tree as the kernel takes them."""
    return tree.boxes, tree.first, tree.count, tree.faces.reshape(-1), tree.face_ids, tree.vertices.reshape(-1), tree.frame
