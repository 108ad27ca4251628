"""The closest faces of two bodies: branch and bound over two trees.

X is the tree with the larger extent, Y the other. The *arrow* is the unit vector from the closest point found so far on x to the
one on y; at first, from centre to centre. The trees are walked together from their roots, one node pair at a time:

1. `_not_beyond_arrow`: drops children of Y that are too far from all of X's along the arrow.
2. `_bound_children`: bounds the distances of the others in the frames of both trees (`nearest_bounds.py`), eight at once.
3. `_push_with_child`: pushes pairs of children that may be closer, those with the nearest boxes and centres on top. Ordered by the
   bounds alone, the search goes for the fattest boxes and takes up to twice as long.
4. `_compare_leaves`: compares the faces of two leaves (`nearest_faces.py`). A closer pair is the new limit and the new arrow.

The answer is that of comparing every face with every face: the least `exact_zero_distance` of the world vertices; ties go to the
lowest (face_a, face_b). Bounds only drop what is certainly farther. Of touching bodies it is the first touching pair found. Where
more than 65,536 pairs tie within rounding, the distance is right to 2^-47 of the extent, and the faces are any that have it.

The kernel can be stopped anywhere: called again, it resumes. Its whole state is in its arrays (`nearest_work.py`).

| returns | when | before Python calls again |
|---|---|---|
| DONE | the stack is empty | – |
| OUT_OF_OPERATIONS | the operations of this call are used up | it handles Ctrl-C |
| FULL_STACK | the children of the next node pair might not fit | it doubles the stack |
| SUSPICION | two leaves have faces that may touch | it runs the exact test; if any touch, the search ends |
"""

from __future__ import annotations

import math

import numpy as np

from jostle._types import Floats, Singles
from jostle.geometry.triangle import triangle_from
from jostle.geometry.triangle_triangle import triangles_touch
from jostle.geometry.vector import Vec3, divided, length, point_from, write_point_from
from jostle.kernels.arrays import read_only_view
from jostle.kernels.jit import kernel
from jostle.kernels.numbers import as_float64, as_int64
from jostle.kernels.scratch import Workspaces
from jostle.kernels.simd import LANES, f32x8_less, f32x8_max, f32x8_mul, f32x8_store, f32x8_sub, lowest_bit, without_lowest_bit
from jostle.kernels.slices import run_in_slices
from jostle.kernels.structs import Addresses, Rows, borrowed
from jostle.kernels.work_arrays import WorkArrays
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
from jostle.methods.wide_tree.nearest_faces import compare_near_leaves, settled_distance, slot_of_near_leaf
from jostle.methods.wide_tree.nearest_work import MOST_FACE_PAIRS, SLOTS, NearestWork, WaitingPair, open_nearest
from jostle.methods.wide_tree.relative_frame import BOTH_FRAMES, NO_FRAME, forget_turned, move_boxes, turn_transforms
from jostle.methods.wide_tree.tree import CROSSED, ROW, Forest, NodePair, PlacedTree, TreeArrays, open_tree, orientation_of
from jostle.report.contact_geometry import closest_of_faces
from jostle.report.report import Closest

DONE, OUT_OF_OPERATIONS, FULL_STACK, SUSPICION = range(4)
MOST_NEW = LANES * LANES  # stack entries that a node pair can add
FIRST_STACK = 4096
FIRST_SLICE = 1 << 16  # operations: about 10 ms
FACE_PRICE = 8  # operations of a face pair; a node pair is one


@kernel
def search_nearest(
    trees: Addresses, shape_a: int, shape_b: int, pose_a: Floats, pose_b: Floats, operations: int, addresses: Addresses
) -> int:
    """Resume a search; return why it stopped.

    trees: address table of `TreeArrays`; addresses: of `NearestWork`.
    """
    work = open_nearest(addresses)
    best = work.best
    x, y = PlacedTree(open_tree(trees, shape_a), borrowed(pose_a)), PlacedTree(open_tree(trees, shape_b), borrowed(pose_b))
    swapped = x.arrays.frame.scale > y.arrays.frame.scale  # the larger extent has the smaller scale
    if swapped:
        x, y = y, x
    work.counts.swapped = int(swapped)
    set_up_search(work, x, y)
    forget_turned(work.turned)  # they are those of another pair
    if math.isinf(best.distance):
        _set_first_arrow(work)
    aim(work, x, y)
    why = _walk(work, x, y, _operations_of(work) + operations)
    if why == DONE and best.is_robust_only != 0:
        best.distance = settled_distance(work, best.corners)
    return why


@kernel(forceinline=True)
def _walk(work: NearestWork, x: PlacedTree, y: PlacedTree, limit: int) -> int:
    """Compare the node pairs on the stack and below; return why it stopped."""
    counts, stack = work.counts, work.stack
    while counts.height > 0:
        if _operations_of(work) >= limit:
            return OUT_OF_OPERATIONS
        if counts.height + MOST_NEW > len(stack):
            return FULL_STACK
        counts.height -= 1
        top = stack[counts.height]
        if top.bound > work.limits.node_squared:
            continue
        counts.node_tests += 1
        nodes = NodePair(as_int64(top.x), as_int64(top.y))
        if x.arrays.count[nodes.x] > 0 or y.arrays.count[nodes.y] > 0:
            counts.height = _push_children(work, x, y, nodes, counts.height)
            continue
        _compare_leaves(work, x, y, nodes)
        if counts.suspects > 0:
            return SUSPICION
    return DONE


@kernel(forceinline=True)
def _operations_of(work: NearestWork) -> int:
    """Return the operations so far."""
    return work.counts.node_tests + FACE_PRICE * work.counts.face_tests


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
def _compare_leaves(work: NearestWork, x: PlacedTree, y: PlacedTree, nodes: NodePair) -> None:
    """Compare the faces of two leaves, unless these are too far apart along the arrow."""
    slot_x = slot_of_near_leaf(work, work.leaves_x, x, nodes.x, 1.0)
    slot_y = slot_of_near_leaf(work, work.leaves_y, y, nodes.y, -1.0)
    if not -work.leaves_y[slot_y].end - work.leaves_x[slot_x].end > work.limits.face:
        compare_near_leaves(work, x, y, nodes, slot_x, slot_y)


@kernel(forceinline=True)
def _push_children(work: NearestWork, x: PlacedTree, y: PlacedTree, nodes: NodePair, height: int) -> int:
    """Push the pairs of children that may be closer; return the height.

    Not both nodes are leaves. A leaf stays as it is: its lanes are faces, and the least of their bounds is that of the leaf.
    """
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
            height = _push_with_child(work, x, y, nodes, mask, j, base, height)
    if y.arrays.count[nodes.y] < 0:
        first_x = as_int64(x.arrays.first[nodes.x])
        for i in range(LANES):
            if bounds.least[i] < math.inf:
                height = _push(work.stack, base, height, NodePair(first_x + i, nodes.y), bounds.least[i], bounds.least_rank[i])
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
    work: NearestWork, x: PlacedTree, y: PlacedTree, nodes: NodePair, mask: np.uint32, j: int, base: int, height: int
) -> int:
    """Push child j of Y with the children of X in the mask, or with a leaf X.

    Where Y is a leaf, it only records the least bounds. Pairs are ordered by rank: the bound plus the squared distance of the
    centres.
    """
    bounds, along = work.nodes, work.placement.along
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
            height = _push(work.stack, base, height, NodePair(child_x + i, child_y), bound, rank)
    if least < math.inf:
        height = _push(work.stack, base, height, NodePair(nodes.x, child_y), least, least_rank)
    return height


@kernel(forceinline=True)
def _push(stack: Rows[WaitingPair], base: int, height: int, nodes: NodePair, bound: float, rank: float) -> int:
    """Insert a node pair in the sorted stack from `base` on; return the height."""
    k = height
    while k > base and stack[k - 1].rank < rank:
        _copy_pair(stack[k], stack[k - 1])
        k -= 1
    free = stack[k]
    free.x, free.y, free.bound, free.rank = nodes.x, nodes.y, bound, rank
    return height + 1


@kernel(forceinline=True)
def _copy_pair(to: WaitingPair, source: WaitingPair) -> None:
    to.x, to.y, to.bound, to.rank = source.x, source.y, source.bound, source.rank


@kernel
def first_touching(addresses: Addresses) -> int:
    """Return the first suspect whose faces touch, by the exact test, or -1.

    A kernel of its own: the exact test takes as long to compile as all of the search, which seldom needs it.
    """
    work = open_nearest(addresses)
    for k in range(work.counts.suspects):
        corners = work.suspects[k].corners
        if triangles_touch(triangle_from(corners.a, 0), triangle_from(corners.b, 0)) != 0:
            return k
    return -1


class _Workspace(WorkArrays):
    """The arrays of a search, kept between calls: new ones cost as much as a search."""

    def __init__(self) -> None:
        face_pairs = {"candidates": MOST_FACE_PAIRS, "suspects": MOST_FACE_PAIRS}
        super().__init__(NearestWork, leaves_x=SLOTS, leaves_y=SLOTS, stack=FIRST_STACK, relative=16, **face_pairs)
        self.arrays["leaves_x"]["node"] = self.arrays["leaves_y"]["node"] = -1
        self.best, self.counts = self.arrays["best"], self.arrays["counts"]
        self.queries = 0

    def start(self) -> None:
        """Begin at the roots."""
        self.queries += 1
        self.counts[0], self.best[0], self.arrays["stack"][0] = 0, 0, 0
        self.counts["height"], self.counts["query"] = 1, self.queries
        self.best["distance"], self.best["face_a"], self.best["face_b"] = np.inf, -1, -1

    def operations(self) -> int:
        """Return the operations since the start."""
        return int(self.counts["node_tests"][0] + FACE_PRICE * self.counts["face_tests"][0])

    def found_contact(self) -> bool:
        """Run the exact test on the suspects; the first that touch are the answer."""
        touching = int(first_touching(self.addresses))
        self.counts["suspects"] = 0
        if touching < 0:
            return False
        self.best["distance"] = 0.0
        for field in ("face_a", "face_b", "corners"):
            self.best[field] = self.arrays["suspects"][field][touching]
        return True


_workspaces = Workspaces(_Workspace)


def closest_faces(forest: Forest, shape_a: int, shape_b: int, pose_a: Floats, pose_b: Floats) -> Closest:
    """Return the closest points of two bodies; ties go to the lowest faces.

    Parameters
    ----------
    forest : Forest
    shape_a, shape_b : int
        Numbers of their trees.
    pose_a, pose_b : (4, 4) float64
        Body to world.
    """
    work = _workspaces.take()
    work.start()
    given = (forest.addresses, shape_a, shape_b, read_only_view(pose_a), read_only_view(pose_b))

    def resume(work: _Workspace, operations: int) -> tuple[bool, int]:
        before = work.operations()
        why = search_nearest(*given, operations, work.addresses)
        if why == SUSPICION and work.found_contact():
            return True, 1
        if why == FULL_STACK:
            work.double("stack")
        return why == DONE, max(1, work.operations() - before)

    run_in_slices(resume, work, FIRST_SLICE)
    best = work.best[0]
    corners = best["corners"]
    triangle_a, triangle_b = corners["a"].reshape(3, 3).copy(), corners["b"].reshape(3, 3).copy()
    found = float(best["distance"]), int(best["face_a"]), int(best["face_b"])
    _workspaces.give_back(work)
    return closest_of_faces(*found, triangle_a, triangle_b)
