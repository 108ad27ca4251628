"""The closest faces of body pairs: branch and bound over two trees.

X is the tree with the larger extent, Y the other. The *arrow* is the unit vector from the closest point found so far on x to the
one on y; at first, from centre to centre. The trees are walked together from their roots, one node pair at a time:

1. `_not_beyond_arrow`: drops children of Y that are too far from all of X's along the arrow.
2. `_bound_children`: bounds the distances of the others in the frames of both trees (`nearest_bounds.py`), eight at once.
3. `_push_with_child`: pushes pairs of children that may be closer, those with the nearest boxes and centres on top. Ordered by the
   bounds alone, the search goes for the fattest boxes and takes up to twice as long.
4. `compare_near_leaves`: compares the faces of two leaves (`nearest_faces.py`). A closer pair is the new limit and the new arrow.

A search for one pair may begin at the faces that were closest the last time (`nearest_seed.py`), which changes no answer.

The kernel works on a list of body pairs in groups of equal length. What it looks for (`Asked`):

| mode | a row for each group | the search starts at |
|---|---|---|
| NEAREST | the nearest faces; ties go to the lowest (face_a, face_b) | the limit; later pairs at the least distance of the group |
| FIRST_NEAREST | the same, for the first group that has some | the limit |
| ANY_NEAR | any faces nearer than the limit, the first that are met | the limit |
| LOWEST_TOUCHING | of a pair, the lowest faces that touch | 0 |

The answer is that of comparing every face with every face: the least `exact_zero_distance` of the world vertices; ties go to the
lowest (face_a, face_b). Bounds only drop what is certainly farther. Of touching bodies it is the first touching pair found. Where
more than 65,536 pairs tie within rounding, and there is no clearance, the distance is right to 2^-47 of the extent, and the faces
are any that have it.

The kernel can be stopped anywhere: called again, it resumes. Its whole state is in its arrays (`nearest_work.py`).

| returns | when | before Python calls again |
|---|---|---|
| DONE | the list is at its end | – |
| OUT_OF_OPERATIONS | the operations of this call are used up | it handles Ctrl-C |
| FULL_ROWS | there is no room for the row of a group | it doubles the rows |
| FULL_STACK | the children of the next node pair might not fit | it doubles the stack |
| SUSPICION | two leaves have faces that may touch, and the exact test is not compiled | it passes the address of the exact test |

The exact test takes as long to compile as all of the search, which seldom needs it.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from jostle._types import Floats, Ints, Singles
from jostle.geometry.vector import Vec3, divided, length, point_from, write_point_from
from jostle.kernels.jit import kernel
from jostle.kernels.numbers import as_float64, as_int64
from jostle.kernels.simd import LANES, f32x8_less, f32x8_max, f32x8_mul, f32x8_store, f32x8_sub, lowest_bit, without_lowest_bit
from jostle.kernels.structs import Addresses, borrowed
from jostle.methods.wide_tree.lanes import Boxes8, box_in_lane, boxes_at, in_every_lane
from jostle.methods.wide_tree.nearest_bounds import (
    aim,
    far_ends,
    near_ends,
    set_up_search,
    squared_between_centres,
    squared_gaps,
    turn_arrow,
)
from jostle.methods.wide_tree.nearest_faces import (
    compare_near_leaves,
    is_enough,
    settled_distance,
    slot_of_near_leaf,
    test_suspects,
)
from jostle.methods.wide_tree.nearest_seed import begin_at_seed, keep_seed
from jostle.methods.wide_tree.nearest_work import (
    ANY_NEAR,
    FIRST_NEAREST,
    LOWEST_TOUCHING,
    NONE,
    START,
    FaceOrder,
    NearestWork,
    open_nearest,
    open_order,
)
from jostle.methods.wide_tree.relative_frame import BOTH_FRAMES, NO_FRAME, forget_turned, move_boxes, turn_transforms
from jostle.methods.wide_tree.tree import CROSSED, ROW, NodePair, PlacedTree, TreeArrays, open_tree, orientation_of
from jostle.report.packing import FACE_BITS, KIND_BITS

DONE, OUT_OF_OPERATIONS, FULL_ROWS, FULL_STACK, SUSPICION = range(5)
MOST_NEW = LANES * LANES  # stack entries that a node pair can add
FACES = 1 << (2 * FACE_BITS)  # more than any two faces, packed


class TwoTrees(NamedTuple):
    """Two trees under their poses, and the lowest faces below their nodes."""

    x: PlacedTree
    y: PlacedTree
    faces_x: FaceOrder
    faces_y: FaceOrder


@kernel
def search_nearest(
    trees: Addresses, orders: Addresses, shape_a: Ints, shape_b: Ints, pose_a: Ints, pose_b: Ints, poses: Floats, gaps: Floats,
    operations: int, addresses: Addresses,
) -> int:  # fmt: skip
    """Resume the search for the closest faces of body pairs; return why it stopped.

    Pair k is shape_a[k] at poses[pose_a[k]] and shape_b[k] at poses[pose_b[k]]. trees: address table of `TreeArrays`; orders: of
    `FaceOrder`, for LOWEST_TOUCHING; gaps: lower bounds of the distances of pairs, ascending in each group, or empty; addresses: of
    `NearestWork`, where the rows are written.
    """
    work = open_nearest(addresses)
    counts, best, mode, group, pairs = work.counts, work.best, work.asked.mode, work.asked.group, shape_a.shape[0]
    if counts.next_pair == START:
        counts.next_pair = counts.is_open = counts.rows = counts.suspects = counts.operations = 0
        counts.node_tests = counts.face_tests = counts.distance_tests = counts.triangle_tests = 0
    last = counts.operations + operations
    while counts.next_pair < pairs:
        k = counts.next_pair
        if counts.rows == len(work.keys):
            return FULL_ROWS
        if k % group == 0 and counts.is_open == 0:
            best.distance, best.faces = (0.0, FACES) if mode == LOWEST_TOUCHING else (work.asked.limit, NONE)
            best.kind = best.is_robust_only = 0
        end = (k // group + 1) * group
        if counts.is_open != 0 or gaps.shape[0] == 0 or gaps[k] <= best.distance:
            a, b = as_int64(shape_a[k]), as_int64(shape_b[k])
            x = PlacedTree(open_tree(trees, a), borrowed(poses[pose_a[k]]))
            y = PlacedTree(open_tree(trees, b), borrowed(poses[pose_b[k]]))
            if mode != LOWEST_TOUCHING:
                a = b = 0
            two = TwoTrees(x, y, open_order(orders, a), open_order(orders, b))
            swapped = x.arrays.frame.scale > y.arrays.frame.scale  # the larger extent has the smaller scale
            if swapped:
                two = TwoTrees(y, x, two.faces_y, two.faces_x)
            counts.swapped = int(swapped)
            why = _search_pair(work, two, last)
            if why != DONE:
                return why
            if work.asked.is_seeded != 0 and not keep_seed(work):
                continue  # the same pair again, without a seed
            end = end if is_enough(work) else k + 1
        counts.next_pair = end
        if end % group == 0 and best.kind != 0:
            work.keys[counts.rows] = (best.faces << KIND_BITS) | best.kind
            work.pair_of_key[counts.rows], work.distance_of_key[counts.rows] = best.pair, best.distance
            counts.rows += 1
            counts.next_pair = pairs if mode == FIRST_NEAREST else end
    return DONE


@kernel(forceinline=True)
def _search_pair(work: NearestWork, two: TwoTrees, last: int) -> int:
    """Start or resume the walk of a pair; return why it stopped."""
    counts, best = work.counts, work.best
    set_up_search(work, two.x, two.y)
    forget_turned(work.turned)  # they are those of another pair
    if counts.is_open == 0:
        counts.is_open = counts.height = 1
        counts.query += 1
        counts.ties = 0
        root = work.stack[0]
        root.x = root.y = 0
        root.bound = root.rank = 0.0
        best.seen = math.inf
        _set_first_arrow(work)
        if work.asked.is_seeded != 0:
            begin_at_seed(work, two.x, two.y)
    aim(work, two.x, two.y)
    why = _walk(work, two, last)
    if why == DONE:
        counts.is_open = 0
        if best.is_robust_only != 0 and work.asked.mode != ANY_NEAR:
            best.is_robust_only = 0
            best.distance = settled_distance(work, best.corners, best.distance)
    return why


@kernel
def _set_first_arrow(work: NearestWork) -> None:
    """Point the arrow from centre to centre; along x where they coincide."""
    between = point_from(work.placement.between, 0)
    size = length(between)
    if size == 0.0:
        between, size = Vec3(1.0, between.y, between.z), 1.0
    arrow = divided(between, size)
    write_point_from(work.best.arrow, 0, arrow)
    write_point_from(work.leaves.last_arrow, 0, arrow)


@kernel(forceinline=True)
def _walk(work: NearestWork, two: TwoTrees, last: int) -> int:
    """Compare the node pairs on the stack and below; return why it stopped."""
    counts, stack, is_lowest = work.counts, work.stack, work.asked.mode == LOWEST_TOUCHING
    while True:
        if is_enough(work):
            counts.height = counts.suspects = 0
        if counts.suspects > 0:
            if counts.exact_test == 0:
                return SUSPICION
            test_suspects(work)
            continue
        if counts.height == 0:
            return DONE
        if counts.operations >= last:
            return OUT_OF_OPERATIONS
        if counts.height + MOST_NEW > len(stack):
            return FULL_STACK
        counts.height -= 1
        top = stack[counts.height]
        if top.bound > work.limits.node_squared or (is_lowest and top.rank > as_float64(work.best.faces)):
            continue
        counts.node_tests += 1
        counts.operations += 1
        nodes = NodePair(as_int64(top.x), as_int64(top.y))
        if two.x.arrays.count[nodes.x] > 0 or two.y.arrays.count[nodes.y] > 0:
            counts.height = _push_children(work, two, nodes, counts.height)
            continue
        slot_x = slot_of_near_leaf(work, work.leaves_x, two.x, nodes.x, 1.0)
        slot_y = slot_of_near_leaf(work, work.leaves_y, two.y, nodes.y, -1.0)
        if not -work.leaves_y[slot_y].end - work.leaves_x[slot_x].end > work.limits.face:  # not too far apart along the arrow
            compare_near_leaves(work, two.x, two.y, nodes, slot_x, slot_y)


@kernel(forceinline=True)
def _push_children(work: NearestWork, two: TwoTrees, nodes: NodePair, height: int) -> int:
    """Push the pairs of children that may be closer; return the height.

    Not both nodes are leaves. A leaf stays as it is: its lanes are faces, and the least of their bounds is that of the leaf.
    """
    x, y = two.x, two.y
    boxes_x, boxes_y, bounds, transforms = x.arrays.boxes, y.arrays.boxes, work.nodes, work.transforms
    start_x, start_y, frames = nodes.x * ROW, nodes.y * ROW, work.placement.frames
    arrow_x, arrow_y = work.placement.arrow_x, work.placement.arrow_y
    if _are_turned(work, x.arrays, y.arrays, nodes):
        transforms, arrow_x, arrow_y = work.turned.transforms, bounds.arrow_x, bounds.arrow_y
    far_x = far_ends(boxes_x, start_x, arrow_x)
    f32x8_store(bounds.near_y, 0, near_ends(boxes_y, start_y, arrow_y))
    used = np.uint32((1 << abs(as_int64(x.arrays.count[nodes.x]))) - 1)
    near = _not_beyond_arrow(work, far_x, used, abs(as_int64(y.arrays.count[nodes.y])))
    if near == 0:
        return height
    if frames != NO_FRAME:
        move_boxes(boxes_y, start_y, transforms.into_x, bounds.moved_y)
    if frames == BOTH_FRAMES:
        move_boxes(boxes_x, start_x, transforms.into_y, bounds.moved_x)
    for i in range(LANES):
        bounds.least[i] = bounds.least_rank[i] = math.inf
    own_x, moved_x, base = boxes_at(boxes_x, start_x), boxes_at(bounds.moved_x, 0), height
    while near != 0:
        j = lowest_bit(near)
        near = without_lowest_bit(near)
        mask = _bound_children(work, own_x, moved_x, far_x, box_in_lane(boxes_y, start_y + j), j, used)
        if mask != 0:
            height = _push_with_child(work, two, nodes, mask, j, base, height)
    if y.arrays.count[nodes.y] < 0:
        first_x = as_int64(x.arrays.first[nodes.x])
        for i in range(LANES):
            if bounds.least[i] < math.inf:
                height = _push(work, two, base, height, NodePair(first_x + i, nodes.y), bounds.least[i], bounds.least_rank[i])
    return height


@kernel(forceinline=True)
def _are_turned(work: NearestWork, x: TreeArrays, y: TreeArrays, nodes: NodePair) -> bool:
    """Return whether two nodes have rotated boxes, with transforms and arrows for these."""
    rotation_x, rotation_y = orientation_of(x, nodes.x) // CROSSED, orientation_of(y, nodes.y) // CROSSED
    if (rotation_x | rotation_y) == 0:
        return False
    turned, arrow_x, arrow_y = work.turned, work.placement.arrow_x, work.placement.arrow_y
    turn_transforms(work.transforms, x, rotation_x, y, rotation_y, turned)
    turn_arrow(arrow_x, x, rotation_x, work.nodes.arrow_x)
    turn_arrow(arrow_y, y, rotation_y, work.nodes.arrow_y)
    return True


@kernel(forceinline=True)
def _not_beyond_arrow(work: NearestWork, far_x: Singles, used: np.uint32, count: int) -> np.uint32:
    """Return the mask of Y's children that are near any of X's along the arrow."""
    limit, near = in_every_lane(work.limits.along), np.uint32(0)
    for j in range(count):
        if used & ~f32x8_less(limit, f32x8_sub(in_every_lane(work.nodes.near_y[j]), far_x)) != 0:
            near |= np.uint32(1 << j)
    return near


@kernel(forceinline=True)
def _bound_children(
    work: NearestWork, own_x: Boxes8, moved_x: Boxes8, far_x: Singles, box_y: Boxes8, j: int, used: np.uint32
) -> np.uint32:
    """Write bounds of X's children from child j of Y; return the mask of near ones."""
    bounds, placement = work.nodes, work.placement
    limit = in_every_lane(work.limits.squared)
    apart = f32x8_sub(in_every_lane(bounds.near_y[j]), far_x)
    mask = used & ~f32x8_less(in_every_lane(work.limits.along), apart)
    squared = in_every_lane(0.0)
    centres = squared
    if placement.frames != NO_FRAME:
        moved_y = box_in_lane(bounds.moved_y, j)
        squared = squared_gaps(own_x, moved_y)
        mask &= ~f32x8_less(limit, squared)
        if mask == 0:
            return mask
        centres = squared_between_centres(own_x, moved_y)
    if placement.frames == BOTH_FRAMES:
        ratio = in_every_lane(placement.ratio * placement.ratio)
        squared = f32x8_max(squared, f32x8_mul(squared_gaps(moved_x, box_y), ratio))
        mask &= ~f32x8_less(limit, squared)
    f32x8_store(bounds.apart, 0, apart)
    f32x8_store(bounds.squared, 0, squared)
    f32x8_store(bounds.centres, 0, centres)
    return mask


@kernel(forceinline=True)
def _push_with_child(
    work: NearestWork, two: TwoTrees, nodes: NodePair, mask: np.uint32, j: int, base: int, height: int
) -> int:  # fmt: skip
    """Push child j of Y with the children of X in the mask, or with a leaf X.

    Where Y is a leaf, it only records the least bounds. Pairs are ordered by rank: the bound plus the squared distance of the
    centres; where the lowest faces are wanted, the lowest faces below.
    """
    x, y, bounds, along = two.x, two.y, work.nodes, work.placement.along
    stretch = work.placement.smallest_stretch * work.placement.smallest_stretch
    child_x, child_y = as_int64(x.arrays.first[nodes.x]), as_int64(y.arrays.first[nodes.y]) + j
    is_leaf_x, is_leaf_y = x.arrays.count[nodes.x] < 0, y.arrays.count[nodes.y] < 0
    least, least_rank = math.inf, math.inf
    while mask != 0:
        i = lowest_bit(mask)
        mask = without_lowest_bit(mask)
        gap = max(as_float64(bounds.apart[i]) + along, 0.0)
        bound = max(as_float64(bounds.squared[i]) * stretch, gap * gap)
        rank = bound + as_float64(bounds.centres[i])
        if is_leaf_y:
            bounds.least[i], bounds.least_rank[i] = min(bounds.least[i], bound), min(bounds.least_rank[i], rank)
        elif is_leaf_x:
            least, least_rank = min(least, bound), min(least_rank, rank)
        else:
            height = _push(work, two, base, height, NodePair(child_x + i, child_y), bound, rank)
    if least < math.inf:
        height = _push(work, two, base, height, NodePair(nodes.x, child_y), least, least_rank)
    return height


@kernel(forceinline=True)
def _push(work: NearestWork, two: TwoTrees, base: int, height: int, nodes: NodePair, bound: float, rank: float) -> int:
    """Insert a node pair in the sorted stack from `base` on; return the height."""
    stack, k = work.stack, height
    if work.asked.mode == LOWEST_TOUCHING:
        a, b = as_int64(two.faces_x.lowest[nodes.x]), as_int64(two.faces_y.lowest[nodes.y])
        rank = as_float64((b << FACE_BITS) | a if work.counts.swapped != 0 else (a << FACE_BITS) | b)
    while k > base and stack[k - 1].rank < rank:
        to, source = stack[k], stack[k - 1]
        to.x, to.y, to.bound, to.rank = source.x, source.y, source.bound, source.rank
        k -= 1
    free = stack[k]
    free.x, free.y, free.bound, free.rank = nodes.x, nodes.y, bound, rank
    return height + 1
