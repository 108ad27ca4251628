"""The closest faces of two bodies: branch and bound over two trees.

X is the tree with the larger extent, Y the other. The *arrow* is the unit vector from the closest point found so far on x to the
one on y; at first, from centre to centre. The trees are walked together from their roots, a pair of nodes at a time:

1. `_not_beyond_arrow`: children of Y that are too far from all of X's along the arrow are dropped.
2. `_bound_children`: lower bounds of the distances of the others, in the frames of both trees (`nearest_bounds.py`), eight at once.
3. `_push_with_child`: pairs of children that may hold something closer go on the stack, those with the nearest boxes and centres on
   top. Ordered by the bounds alone the search goes for the fattest boxes, and takes up to twice as long.
4. `_compare_leaves`: the faces of two leaves are compared (`nearest_faces.py`). What is closer is the new limit, and the new arrow.

The answer is that of comparing every face with every face: the least `exact_zero_distance` of the world vertices, of equal ones
the lowest (face_a, face_b); bounds only leave out what is greater for certain. Of touching bodies it is any touching pair,
the first that is met. Where more than 65,536 pairs tie within rounding, the least distance is right to 2^-47 of the extent,
and the faces are any that have it.

The kernel can be stopped anywhere: called again, it resumes. All that it knows is in its arrays (`nearest_work.py`).

| returns | when | what Python does before it calls again |
|---|---|---|
| DONE | the stack is empty | – |
| OUT_OF_OPERATIONS | the operations of this call are used up | hears Ctrl-C |
| FULL_STACK | the children of one more pair of nodes might not fit | doubles the stack |
| SUSPICION | two leaves have faces that may touch | puts them to the exact test; if any touch, the search ends |
"""

from __future__ import annotations

import math
import threading

import numpy as np

from jostle._types import Floats, Singles
from jostle.geometry.triangle import triangle_from
from jostle.geometry.triangle_triangle import triangles_touch
from jostle.geometry.vector import Vec3, length, point_from, write_point_from
from jostle.kernels.arrays import read_only_view
from jostle.kernels.buffers import doubled
from jostle.kernels.handles import AddressTable
from jostle.kernels.jit import kernel
from jostle.kernels.numbers import as_float64, as_int64
from jostle.kernels.simd import LANES, f32x8_less, f32x8_max, f32x8_mul, f32x8_sub, lowest_bit, without_lowest_bit
from jostle.kernels.slices import run_in_slices
from jostle.kernels.structs import Addresses, Rows, borrowed
from jostle.methods.wide_tree.lanes import Boxes8, box_in_lane, boxes_at, in_every_lane, store_lanes
from jostle.methods.wide_tree.nearest_bounds import (
    aim,
    far_ends,
    near_ends,
    set_up_search,
    squared_between_centres,
    squared_gaps,
)
from jostle.methods.wide_tree.nearest_faces import compare_near_leaves, settled_distance, slot_of_near_leaf
from jostle.methods.wide_tree.nearest_work import (
    MOST_FACE_PAIRS,
    SLOTS,
    Best,
    Candidate,
    Counts,
    FaceCorners,
    LeafBounds,
    Limits,
    NearestWork,
    NearLeaf,
    NodeBounds,
    Placement,
    Suspect,
    WaitingPair,
    open_nearest,
)
from jostle.methods.wide_tree.relative_frame import BOTH_FRAMES, NO_FRAME, Motion, move_boxes
from jostle.methods.wide_tree.tree import ROW, Forest, NodePair, PlacedTree, Tree, open_tree
from jostle.report.contact_geometry import closest_of_faces
from jostle.report.report import Closest

DONE, OUT_OF_OPERATIONS, FULL_STACK, SUSPICION = range(4)
MOST_NEW = LANES * LANES  # stack entries that one pair of nodes can add
FIRST_STACK = 4096
FIRST_SLICE = 1 << 16  # operations: about 10 ms
FACE_PRICE = 8  # operations of a pair of faces; a pair of nodes is one


@kernel
def search_nearest(
    trees: Addresses, shape_a: int, shape_b: int, pose_a: Floats, pose_b: Floats, operations: int, addresses: Addresses
) -> int:
    """Resume a search; returns why it stopped. trees: address table of `TreeArrays`; addresses: those of `NearestWork`."""
    work = open_nearest(addresses)
    best = work.best
    x, y = PlacedTree(open_tree(trees, shape_a), borrowed(pose_a)), PlacedTree(open_tree(trees, shape_b), borrowed(pose_b))
    swapped = x.arrays.frame.scale > y.arrays.frame.scale  # the larger extent has the smaller scale
    if swapped:
        x, y = y, x
    work.counts.swapped = int(swapped)
    set_up_search(work, x, y)
    if math.isinf(best.distance):
        _set_first_arrow(work)
    aim(work, x, y)
    why = _walk(work, x, y, _operations_of(work) + operations)
    if why == DONE and best.is_robust_only != 0:
        best.distance = settled_distance(work, best.corners)
    return why


@kernel(forceinline=True)
def _walk(work: NearestWork, x: PlacedTree, y: PlacedTree, limit: int) -> int:
    """Compare the pairs of nodes on the stack, and all below them that may be closer; returns why it stopped."""
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
    """Let the arrow go from centre to centre, as nothing is found yet; along x where they coincide."""
    way = point_from(work.placement.between, 0)
    size = length(way)
    if size == 0.0:
        way, size = Vec3(1.0, way.y, way.z), 1.0
    arrow = Vec3(way.x / size, way.y / size, way.z / size)
    write_point_from(work.best.arrow, 0, arrow)
    write_point_from(work.leaves.last_arrow, 0, arrow)


@kernel(forceinline=True)
def _compare_leaves(work: NearestWork, x: PlacedTree, y: PlacedTree, nodes: NodePair) -> None:
    """Compare the faces of two leaves, unless these are too far apart along the arrow."""
    work.counts.leaf_tests += 1
    slot_x = slot_of_near_leaf(work, work.leaves_x, x, nodes.x, 1.0)
    slot_y = slot_of_near_leaf(work, work.leaves_y, y, nodes.y, -1.0)
    if not -work.leaves_y[slot_y].end - work.leaves_x[slot_x].end > work.limits.face:
        compare_near_leaves(work, x, y, nodes, slot_x, slot_y)


@kernel(forceinline=True)
def _push_children(work: NearestWork, x: PlacedTree, y: PlacedTree, nodes: NodePair, height: int) -> int:
    """Push the pairs of children of two nodes, not both leaves, that may hold something closer; returns the height.

    A leaf stays as it is: its lanes are faces, and the least of their bounds is that of the leaf.
    """
    boxes_x, boxes_y, bounds, motion = x.arrays.boxes, y.arrays.boxes, work.nodes, work.motion
    start_x, start_y, frames = nodes.x * ROW, nodes.y * ROW, work.placement.frames
    far_x = far_ends(boxes_x, start_x, work.placement.arrow_x)
    store_lanes(bounds.near_y, 0, near_ends(boxes_y, start_y, work.placement.arrow_y))
    used = np.uint32((1 << abs(as_int64(x.arrays.count[nodes.x]))) - 1)
    near = _not_beyond_arrow(work, far_x, used, abs(as_int64(y.arrays.count[nodes.y])))
    if near == 0:
        return height
    if frames != NO_FRAME:
        move_boxes(boxes_y, start_y, motion.into_x, bounds.moved_y)
    if frames == BOTH_FRAMES:
        move_boxes(boxes_x, start_x, motion.into_y, bounds.moved_x)
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
def _not_beyond_arrow(work: NearestWork, far_x: Singles, used: np.uint32, count: int) -> np.uint32:
    """Return the mask of Y's children that are near enough to any of X's along the arrow."""
    limit, near = in_every_lane(work.limits.along), np.uint32(0)
    for j in range(count):
        if used & ~f32x8_less(limit, f32x8_sub(in_every_lane(work.nodes.near_y[j]), far_x)) != 0:
            near |= np.uint32(1 << j)
    return near


@kernel(forceinline=True)
def _bound_children(
    work: NearestWork, own_x: Boxes8, moved_x: Boxes8, far_x: Singles, box_y: Boxes8, j: int, used: np.uint32
) -> np.uint32:
    """Write the bounds of X's children from child j of Y; returns the mask of those that may hold something closer."""
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
    store_lanes(bounds.apart, 0, apart)
    store_lanes(bounds.squared, 0, squared)
    store_lanes(bounds.centres, 0, centres)
    return mask


@kernel(forceinline=True)
def _push_with_child(
    work: NearestWork, x: PlacedTree, y: PlacedTree, nodes: NodePair, mask: np.uint32, j: int, base: int, height: int
) -> int:
    """Push child j of Y with the children of X in the mask, or with a leaf X; where Y is a leaf, only note the least bounds.

    The rank, by which pairs are ordered, is the bound and the squared distance of the centres.
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
    """Insert a pair of nodes in the stack from `base` on, which is sorted: the lowest rank on top; returns the height."""
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
    """Return the first of the suspects whose faces touch, by the exact test, or -1.

    A kernel of its own: the exact test takes as long to compile as all of the search, which seldom needs it.
    """
    work = open_nearest(addresses)
    for k in range(work.counts.suspects):
        corners = work.suspects[k].corners
        if triangles_touch(triangle_from(corners.a, 0), triangle_from(corners.b, 0)) != 0:
            return k
    return -1


class _Room:
    """The arrays of a search, kept from call to call: fresh ones would cost as much as the search."""

    def __init__(self) -> None:
        leaves_x, leaves_y = np.zeros(SLOTS, NearLeaf.dtype), np.zeros(SLOTS, NearLeaf.dtype)
        leaves_x["node"] = leaves_y["node"] = -1
        self.best, self.counts = np.zeros(1, Best.dtype), np.zeros(1, Counts.dtype)
        self.suspects = np.zeros(MOST_FACE_PAIRS, Suspect.dtype)
        self.stack = np.zeros(FIRST_STACK, WaitingPair.dtype)
        self.queries = 0
        self._hold(
            NearestWork.table(
                best=self.best,
                other=np.zeros(1, FaceCorners.dtype),
                limits=np.zeros(1, Limits.dtype),
                placement=np.zeros(1, Placement.dtype),
                motion=np.zeros(1, Motion.dtype),
                nodes=np.zeros(1, NodeBounds.dtype),
                leaves=np.zeros(1, LeafBounds.dtype),
                counts=self.counts,
                leaves_x=leaves_x,
                leaves_y=leaves_y,
                candidates=np.zeros(MOST_FACE_PAIRS, Candidate.dtype),
                suspects=self.suspects,
                stack=self.stack,
                relative=np.empty(16),
            )
        )

    def _hold(self, table: AddressTable) -> None:
        self._table, self.addresses = table, table.table[0]

    def double_stack(self) -> None:
        """Make the stack longer, keeping what it holds."""
        self.stack = doubled(self.stack)
        self._hold(self._table.with_arrays(0, NearestWork.places(stack=self.stack)))

    def start(self) -> None:
        """Begin at the roots."""
        self.queries += 1
        self.counts[0], self.best[0], self.stack[0] = 0, 0, 0
        self.counts["height"], self.counts["query"] = 1, self.queries
        self.best["distance"], self.best["face_a"], self.best["face_b"] = np.inf, -1, -1

    def operations(self) -> int:
        """Return how much was done since the start."""
        return int(self.counts["node_tests"][0] + FACE_PRICE * self.counts["face_tests"][0])

    def found_contact(self) -> bool:
        """Put the suspects to the exact test; the first that touch are the answer."""
        touching = int(first_touching(self.addresses))
        self.counts["suspects"] = 0
        if touching < 0:
            return False
        self.best["distance"] = 0.0
        for field in ("face_a", "face_b", "corners"):
            self.best[field] = self.suspects[field][touching]
        return True


_kept = threading.local()


def closest_faces(tree_a: Tree, tree_b: Tree, pose_a: Floats, pose_b: Floats) -> Closest:
    """Return the closest points of two bodies; see `closest_in_forest`."""
    return closest_in_forest(Forest([tree_a, tree_b]), 0, 1, pose_a, pose_b)


def closest_in_forest(forest: Forest, shape_a: int, shape_b: int, pose_a: Floats, pose_b: Floats) -> Closest:
    """Return the closest points of two bodies, of equal distances those of the lowest faces.

    Parameters
    ----------
    forest : Forest
    shape_a, shape_b : int
        Numbers of their trees.
    pose_a, pose_b : (4, 4) float64
        Body to world.
    """
    # Taken out while in use: another search that begins in between gets a room of its own.
    room: _Room | None = _kept.__dict__.pop("room", None)
    if room is None:
        room = _Room()
    room.start()
    given = (forest.addresses, shape_a, shape_b, read_only_view(pose_a), read_only_view(pose_b))

    def resume(room: _Room, operations: int) -> tuple[bool, int]:
        before = room.operations()
        why = search_nearest(*given, operations, room.addresses)
        if why == SUSPICION and room.found_contact():
            return True, 1
        if why == FULL_STACK:
            room.double_stack()
        return why == DONE, max(1, room.operations() - before)

    run_in_slices(resume, room, FIRST_SLICE)
    best = room.best[0]
    corners = best["corners"]
    triangle_a, triangle_b = corners["a"].reshape(3, 3).copy(), corners["b"].reshape(3, 3).copy()
    found = float(best["distance"]), int(best["face_a"]), int(best["face_b"])
    _kept.room = room
    return closest_of_faces(*found, triangle_a, triangle_b)
