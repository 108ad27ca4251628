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

from collections.abc import Callable
from typing import Any, NamedTuple
from weakref import ReferenceType, ref

import numpy as np
from numpy.typing import NDArray

from jostle._types import Floats, Ints
from jostle.geometry.contact_kind import NEAR
from jostle.geometry.reported_distance import distance_if_nearer, distance_if_nearer_at
from jostle.geometry.rigid import cull_padding, transform_into
from jostle.geometry.triangle import face_at
from jostle.geometry.triangle_triangle import adjacent_faces_touch, share_a_vertex, triangles_touch
from jostle.kernels.arrays import read_only_view
from jostle.kernels.buffers import KEPT_BYTES
from jostle.kernels.jit import kernel
from jostle.kernels.late import address_of
from jostle.kernels.numbers import as_int64
from jostle.kernels.pool import cancelled, share_out, threads_for
from jostle.kernels.scratch import Workspaces
from jostle.kernels.simd import bit_count, f32x8_equal, f32x8_splat, lowest_bit, without_lowest_bit
from jostle.kernels.slices import run_in_slices
from jostle.kernels.structs import Addresses, One, Record, Rows, Struct, borrowed, float32, float64, int32, int64, opener
from jostle.kernels.work_arrays import WorkArrays
from jostle.methods.wide_tree.cross_axis import CrossIntervals, meeting_on_axis, set_up_cross_axis
from jostle.methods.wide_tree.lanes import POINT_ROWS, Boxes8, Points8, box_in_lane, boxes_at, boxes_meet, point_in_lane, points_at
from jostle.methods.wide_tree.pair_work import MOST_NEW, MovedBoxes
from jostle.methods.wide_tree.pairs import DONE, FULL_ROWS, FULL_STACK, OUT_OF_OPERATIONS
from jostle.methods.wide_tree.relative_frame import (
    REACH,
    TURNED_PADDING,
    FrameTransform,
    FrameTransforms,
    TurnedTransforms,
    forget_turned,
    move_boxes,
    turn_transforms,
)
from jostle.methods.wide_tree.tree import CROSSED, LANES, ROW, NodePair, Tree, TreeArrays, is_oriented, open_tree, orientation_of
from jostle.report.packing import ALL, FACE_BITS, KIND_BITS
from jostle.report.report import Counters

EXACT_IN_FLOAT32 = 1 << 24
LARGEST_PADDING = 4.0  # all boxes are in -1 … 1; more would only make empty lanes meet
FIRST_SLICE = 1 << 17  # operations: 5 ms of node pairs, or 0.25 s of the slowest exact tests
FIRST_ROOM = 1 << 12  # rows, and stack entries
LARGE = 8_192  # faces of a body that is worth several threads: 0.7 ms
SEEDS = 64  # node pairs that are enough for all threads
HANDS = 32  # parts of these
COUNTED = ("node_tests", "box_tests", "triangle_tests", "distance_tests")


class SelfProgress(Record):
    """Progress of a walk, its counts, and what `set_up_self` found."""

    height: int64  # of the stack
    rows: int64
    node_tests: int64
    box_tests: int64
    triangle_tests: int64
    distance_tests: int64
    distance_kernel: int64  # address of `distance_if_nearer`, if there is a clearance
    is_exact: int64  # whether the lanes hold all welded numbers exactly
    padding: float32  # of boxes, in units of the frame


class TwoNodes(Record):
    """A node pair on the stack."""

    node: int32
    other: int32


class Nodes(NamedTuple):
    """Two nodes to be compared, with boxes under one rotation or not."""

    node: int
    other: int
    are_turned: bool  # to different rotations: moved boxes are compared
    are_crossed: bool


class TwoFaces(Record):
    """A pair of faces by their positions in the tree."""

    face: int32
    other: int32


class SelfWork(Struct):
    """The arrays of a walk."""

    progress: One[SelfProgress]
    transforms: One[FrameTransforms]  # the identity
    turned: One[TurnedTransforms]
    crossed: One[CrossIntervals]
    moved: One[MovedBoxes]
    lanes: Rows[float32]  # three columns of welded numbers in the tree's order, each of m + 8 or more
    slots: Rows[int32]  # of each node's box within its parent's boxes
    stack: Rows[TwoNodes]
    face_pairs: Rows[TwoFaces]  # scratch
    keys: Rows[int64]
    distances: Rows[float64]


class WorldFaces(NamedTuple):
    """World vertices (n,3), faces (m,3) and welded faces (m,3), in the tree's order."""

    vertices: Floats
    faces: Ints
    welded: Ints


class SelfQuery(NamedTuple):
    """The query: adjacent faces too, a clearance, all rows or one."""

    adjacent: bool
    clearance: float
    row_mode: int


open_self_work = opener(SelfWork)


@kernel
def set_up_numbers(trees: Addresses, welded_faces: Ints, welded: Ints, addresses: Addresses) -> None:
    """Write what depends on the order of the tree only: lanes, slots and the `welded` faces (m,3)."""
    tree, work = open_tree(trees, 0), open_self_work(addresses)
    ids, lanes, count = tree.face_ids, work.lanes, len(tree.face_ids)
    pitch, is_exact = len(lanes) // 3, True
    for f in range(count):
        for k in range(3):
            number = welded_faces[ids[f], k]
            is_exact = is_exact and number < EXACT_IN_FLOAT32
            welded[f, k] = number
            lanes[k * pitch + f] = number
    for k in range(3):
        for f in range(count, count + LANES):
            lanes[k * pitch + f] = -1.0
    for node in range(len(tree.first)):
        for lane in range(tree.count[node]):  # none for leaves: their count is negative
            work.slots[tree.first[node] + lane] = node * ROW + lane
    work.progress.is_exact = int(is_exact)


@kernel
def set_up_self(
    trees: Addresses, vertices: Floats, pose: Floats, clearance: float, world: Floats, addresses: Addresses
) -> None:  # fmt: skip
    """Begin a walk; write the `world` vertices (n,3)."""
    tree, work = open_tree(trees, 0), open_self_work(addresses)
    _start(work)
    transform_into(pose, vertices, world)
    largest = max(abs(pose[0, 3]), abs(pose[1, 3]), abs(pose[2, 3])) + 1.7321 * REACH * tree.frame.farthest
    # `cull_padding` is for two poses, here equal; doubled for the roundings about the centre.
    apart = 2.0 * cull_padding(largest, largest, tree.frame.farthest) * tree.frame.scale
    reach = clearance * REACH * tree.frame.scale
    padding = min((apart + reach) * (1.0 + 1e-6), LARGEST_PADDING)  # the factor covers rounding to float32
    if is_oriented(tree):
        padding = min(1.7321 * apart + reach, LARGEST_PADDING) + TURNED_PADDING * (1.0 + padding)
        _set_up_identity(work.transforms.into_x, padding)
        _set_up_identity(work.transforms.into_y, padding)
    work.progress.padding = padding


@kernel
def _set_up_identity(transform: FrameTransform, padding: float) -> None:
    """Write the transform of a frame into itself."""
    for k in range(9):
        transform.matrix[k] = 1.0 if k % 4 == 0 else 0.0
    for k in range(3):
        transform.shift[k] = 0.0
    transform.turned_padding = padding


@kernel(forceinline=True)
def _start(work: SelfWork) -> None:
    """Put the root with itself on the stack, and reset the counts."""
    progress = work.progress
    forget_turned(work.turned)  # they are those of another tree
    progress.height = _push(work.stack, 0, 0, 0)
    progress.rows, progress.node_tests, progress.box_tests, progress.triangle_tests, progress.distance_tests = 0, 0, 0, 0, 0


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


class SelfWorkspace(WorkArrays):
    """The arrays of a walk, kept between calls: a table takes a tenth of a small walk.

    So is what depends on the order of a tree only, for the next frame of a body that deforms.
    """

    def __init__(self) -> None:
        rows = {"keys": FIRST_ROOM, "distances": FIRST_ROOM}
        super().__init__(SelfWork, lanes=0, slots=0, stack=FIRST_ROOM, face_pairs=MOST_NEW, **rows)
        self.progress = SelfProgress(self.arrays["progress"][0])
        self.used = self.arrays["progress"][["node_tests", "triangle_tests"]]  # a view: attributes of a record take 0.5 µs each
        self.welded: Ints = np.empty((0, 3), np.int32)
        self._numbered: tuple[ReferenceType[Any], ...] = ()  # the arrays whose numbers it holds

    def number(self, tree: Tree, trees: Addresses, welded_faces: Ints) -> None:
        """Hold the numbers of a tree, for whose arrays it makes room."""
        of = tree.face_ids, tree.first, welded_faces
        if self._numbered and all(known() is array for known, array in zip(self._numbered, of, strict=True)):
            return
        self._numbered = ()  # an interrupt leaves half of them
        lanes, slots = 3 * (len(tree.faces) + LANES), len(tree.first)
        if lanes > len(self.arrays["lanes"]) or slots > len(self.arrays["slots"]):
            self.replace(lanes=np.empty(lanes, np.float32), slots=np.empty(slots, np.int32))
        welded = np.empty_like(welded_faces)
        set_up_numbers(trees, read_only_view(welded_faces), welded, self.addresses)
        self.welded = read_only_view(welded)
        self._numbered = tuple(map(ref, of))

    def share(self, other: SelfWorkspace) -> None:
        """Use the numbers and frames of another walk, and count from zero."""
        self._numbered = ()
        self.replace(lanes=other.arrays["lanes"], slots=other.arrays["slots"])
        for name in ("progress", "transforms", "turned"):
            self.arrays[name][:] = other.arrays[name]
        counts = self.arrays["progress"]
        for name in ("height", "rows", *COUNTED):
            counts[name] = 0

    def give_back(self) -> None:
        """Keep it for the next walk, unless it is very large."""
        if not self._numbered:  # its numbers are those of another workspace, which may change them
            self.replace(lanes=np.empty(0, np.float32), slots=np.empty(0, np.int32))
        if sum(array.nbytes for array in self.arrays.values()) <= KEPT_BYTES:
            WORKSPACES.give_back(self)


WORKSPACES = Workspaces(SelfWorkspace)


class Walk:
    """A walk of a workspace, which can be resumed."""

    def __init__(self, work: SelfWorkspace, trees: Addresses, world: WorldFaces, query: SelfQuery) -> None:
        self.work, self._trees, self._world, self._query = work, trees, world, query

    @staticmethod
    def begun(work: SelfWorkspace, tree: Tree, trees: Addresses, welded_faces: Ints, pose: Floats, query: SelfQuery) -> Walk:
        """Return the walk of a tree, set up."""
        work.number(tree, trees, welded_faces)
        world = np.empty_like(tree.vertices)
        if query.clearance > 0.0:
            work.progress.distance_kernel = address_of(distance_if_nearer)
        set_up_self(trees, read_only_view(tree.vertices), read_only_view(pose), query.clearance, world, work.addresses)
        return Walk(work, trees, WorldFaces(read_only_view(world), read_only_view(tree.faces), work.welded), query)

    def beside(self) -> Walk:
        """Return another walk of the same body, with nothing to do yet."""
        work = WORKSPACES.take()
        work.share(self.work)
        return Walk(work, self._trees, self._world, self._query)

    def resume(self, operations: int) -> tuple[bool, int]:
        """Do about so many operations; return whether it is done, and how many were used."""
        before = self._used()
        while True:
            left = operations - (self._used() - before)
            why = self_touching_faces(self._trees, *self._world, *self._query, left, self.work.addresses)
            if why == FULL_ROWS:
                self.work.double("keys", "distances")
            elif why == FULL_STACK:
                self.work.double("stack")
            else:
                return why == DONE, self._used() - before

    def waiting(self) -> NDArray[Any]:
        """Return the node pairs on the stack, as a view."""
        waiting: NDArray[Any] = self.work.arrays["stack"][: self.work.progress.height]
        return waiting

    def put(self, nodes: NDArray[Any]) -> None:
        """Replace the stack by some node pairs."""
        while len(self.work.arrays["stack"]) < nodes.size:
            self.work.double("stack")
        self.work.arrays["stack"][: nodes.size] = nodes
        self.work.progress.height = nodes.size

    def _used(self) -> int:
        node_tests, triangle_tests = self.work.used.item()
        return int(node_tests + triangle_tests)

    def found(self) -> tuple[NDArray[np.int64], Floats]:
        """Return the rows and distances so far, as views."""
        count = int(self.work.progress.rows)
        return self.work.arrays["keys"][:count], self.work.arrays["distances"][:count]

    def counters(self) -> Counters:
        """Return the tests so far."""
        progress = self.work.progress
        return Counters(
            box_tests=int(progress.box_tests),
            triangle_tests=int(progress.triangle_tests),
            distance_tests=int(progress.distance_tests),
        )


def find_self_rows(
    tree: Tree,
    trees: Addresses,
    welded_faces: Ints,
    pose: Floats,
    adjacent: bool,
    clearance: float,
    row_mode: int = ALL,
    workers: int | None = 1,
) -> tuple[NDArray[np.int64], Floats, Counters]:
    """Return the face pairs of one body that touch or are within a clearance.

    Parameters
    ----------
    tree : Tree
        Of the current vertices.
    trees : (1, …) int64
        Its addresses, in a `Forest` that the caller holds.
    welded_faces : (m, 3) int32
        Faces with welded vertex numbers, in the mesh's order. Faces that share one are adjacent.
    pose : (4, 4) float64
        Body to world.
    adjacent : bool
        Also report adjacent faces that touch beyond what they share; clearance does not apply to them.
    clearance : float
        Length in the user's units; 0 for touching pairs only.
    row_mode : int
        `ALL` rows, or any one (`FIRST` or `ANY` of `report/packing.py`).
    workers : int, optional
        Threads for all rows of a large body; the answer does not depend on it.

    Returns
    -------
    rows : (n,) int64
        Sorted; face a, face b > a and kind, packed as in `pairs.py`.
    distances : (n,) float64
        0 for faces that touch.
    counters : Counters
    """
    walk = Walk.begun(WORKSPACES.take(), tree, trees, welded_faces, pose, SelfQuery(adjacent, clearance, row_mode))
    walks = [walk]
    if row_mode == ALL and len(tree.faces) >= LARGE and threads_for(workers) > 1:
        walks += _walk_on_threads(walk, workers)
    else:
        run_in_slices(Walk.resume, walk, FIRST_SLICE, cancel=cancelled)
    rows, distances = (np.concatenate(column) for column in zip(*(each.found() for each in walks), strict=True))
    order = np.argsort(rows)
    counters = sum((each.counters() for each in walks), Counters())
    for each in reversed(walks):  # the next walk of this tree takes the first one
        each.work.give_back()
    return rows[order], distances[order], counters


def _walk_on_threads(walk: Walk, workers: int | None) -> list[Walk]:
    """Run a walk to its end; return the other walks that took part.

    Nodes are compared with themselves level by level until there are enough node pairs to deal out. Each is compared in one walk,
    whichever it is, so neither rows nor counters depend on the threads.
    """
    nodes = walk.waiting().copy()
    while len(nodes) < SEEDS and (are_one := nodes["node"] == nodes["other"]).any():
        found = [nodes[~are_one]]
        for pair in nodes[are_one]:
            walk.put(pair)
            walk.resume(1)
            found.append(walk.waiting().copy())
        nodes = np.concatenate(found)
    others: list[Walk] = []
    first = [walk]

    def make_share() -> Callable[[int], None]:
        if first:
            own = first.pop()  # the calling thread comes first
        else:
            own = walk.beside()
            others.append(own)

        def play(hand: int) -> None:
            own.put(parts[hand])
            run_in_slices(Walk.resume, own, FIRST_SLICE, cancel=cancelled)

        return play

    # Neighbours stay together: they meet the same leaves.
    parts = np.array_split(nodes, max(1, min(HANDS, len(nodes))))
    share_out(range(len(parts)), make_share, workers)
    return others
