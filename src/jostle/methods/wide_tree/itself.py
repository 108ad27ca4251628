"""All touching pairs of faces of one body: its tree walked against itself, each pair of nodes once.

One tree has one frame, so boxes are compared as they are, eight at a time, one side grown for the rounding of world vertices. In a
closed mesh nearly all faces whose boxes meet are neighbours (300,000 of 303,000 pairs of a smooth mesh of 50,000 faces). They are
sorted out in vectors before any exact test: the three welded numbers of each face stand in three rows of float32. Rounding keeps
equal numbers equal; from 2^24 on, where it also makes different ones equal, what looks equal is compared again.

The kernel can be stopped and called again as that of `pairs.py`; its stack holds pairs of nodes, a node with itself among them.
Rows equal those of the brute force: faces a < b of the mesh, the exact test on world vertices, distances after the same boxes.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from jostle.frame import Floats, Ints
from jostle.geometry.contact_kind import NEAR
from jostle.geometry.rigid import cull_padding, transform_into
from jostle.geometry.triangle import face_at
from jostle.geometry.triangle_triangle import adjacent_faces_touch, share_a_vertex, triangles_touch
from jostle.geometry.triangles_distance import distance_if_nearer
from jostle.kernels.arrays import read_only_view
from jostle.kernels.buffers import doubled
from jostle.kernels.jit import kernel
from jostle.kernels.numbers import as_int64
from jostle.kernels.simd import bit_count, f32x8_equal, f32x8_load, f32x8_overlap, f32x8_splat, lowest_bit, without_lowest_bit
from jostle.kernels.slices import run_in_slices
from jostle.methods.wide_tree.pairs import (
    BOX_TESTS,
    DISTANCE_TESTS,
    DONE,
    FULL_ROWS,
    FULL_STACK,
    HEIGHT,
    MOST_NEW,
    NODE_TESTS,
    OUT_OF_OPERATIONS,
    ROWS,
    STATE,
    TRIANGLE_TESTS,
)
from jostle.methods.wide_tree.tree import LANES, ROW, Tree
from jostle.packed_rows import ALL, FACE_BITS, KIND_BITS
from jostle.report import Counters

EXACT_IN_FLOAT32 = 1 << 24
LARGEST_PADDING = 4.0  # all boxes are in -1 … 1: more changes nothing, but would turn the boxes of empty lanes into some
FIRST_SLICE = 1 << 17  # operations: 5 ms of node pairs, or a quarter of a second of the slowest exact tests
FIRST_ROOM = 1 << 12  # rows, and stack entries


@kernel
def set_up_itself(first, count, ids, welded_faces, vertices, frame, pose, clearance, lanes, slots, welded, world):  # type: ignore[no-untyped-def]
    """Write what the walk needs; return the padding of boxes, in units of the frame, and whether lanes hold all numbers exactly.

    first, count, ids, vertices, frame as in `Tree`; welded_faces (m,3) in the mesh's order. Written are `welded` (m,3), the same in
    the tree's order, and `lanes` (3 * (m+8),) float32, its columns; `slots` (nodes,) int32, where in its parent's boxes each node
    has its own; `world` (n,3).
    """
    transform_into(pose, vertices, world)
    pitch = ids.shape[0] + LANES
    exact = True
    for f in range(ids.shape[0]):
        for k in range(3):
            number = welded_faces[ids[f], k]
            exact = exact and number < EXACT_IN_FLOAT32
            welded[f, k] = number
            lanes[k * pitch + f] = np.float32(number)
    for k in range(3):
        for f in range(ids.shape[0], pitch):
            lanes[k * pitch + f] = np.float32(-1.0)
    for node in range(first.shape[0]):
        for lane in range(count[node]):  # of a leaf none: its count is negative
            slots[first[node] + lane] = node * ROW + lane
    # RᵀR differs from the identity by at most 1e-5 in each entry: rows of R and of its inverse are not longer than this.
    reach = 1.0 + 1e-5
    largest = max(abs(pose[0, 3]), abs(pose[1, 3]), abs(pose[2, 3])) + 1.7321 * reach * frame[5]
    # `cull_padding` is for two bodies under two poses, of which this is the simplest; doubled for the roundings about the centre.
    padding = (2.0 * cull_padding(largest, largest, frame[5]) + clearance * reach) * frame[3]
    return min(padding * (1.0 + 1e-6), LARGEST_PADDING), exact  # the factor makes the nearest float32 large enough


@kernel
def touching_faces_of_itself(  # type: ignore[no-untyped-def]
    boxes, first, count, faces, ids, welded, vertices, lanes, slots, padding, exact, adjacent, clearance, how_many, operations,
    state, stack, face_pairs, rows, distances,
):  # fmt: skip
    """Go on with a walk; returns why it stopped. One operation is a pair of nodes or an exact test.

    boxes, first, count, faces, ids as in `Tree`; vertices (n,3) in the world; welded, lanes, slots, padding (float32) and exact of
    `set_up_itself`; rows (n,) int64 as in `pairs.py`, with distances; face_pairs (64,2) int32 is scratch. A walk begins with
    state[HEIGHT] = 1 and stack[0] = 0, 0. Helpers with arrays hold no calls of exact tests: Numba would count references there.
    """
    height = state[HEIGHT]
    used = 0
    why = DONE
    while height > 0:
        if used >= operations:
            why = OUT_OF_OPERATIONS
            break
        if height + MOST_NEW > stack.shape[0]:
            why = FULL_STACK
            break
        if state[ROWS] + MOST_NEW > rows.shape[0]:
            why = FULL_ROWS
            break
        height -= 1
        node, other = np.int64(stack[height, 0]), np.int64(stack[height, 1])
        state[NODE_TESTS] += 1
        used += 1
        if count[node] > 0 or count[other] > 0:
            height = _push_children(boxes, first, count, slots, padding, node, other, state, stack, height)
            continue
        found = _meet_faces(boxes, first, count, lanes, slots, padding, exact and not adjacent, node, other, state, face_pairs)
        for k in range(found):
            f, g = as_int64(face_pairs[k, 0]), as_int64(face_pairs[k, 1])
            a, b = as_int64(ids[f]), as_int64(ids[g])
            if a > b:  # the same order as in the brute force: distances are then equal to the last bit
                a, b, f, g = b, a, g, f
            shared = (adjacent or not exact) and share_a_vertex(welded, f, g)
            if shared and not adjacent:
                continue
            state[TRIANGLE_TESTS] += 1
            used += 1
            if shared:
                kind, distance = adjacent_faces_touch(vertices, faces, welded, f, g), 0.0
            else:
                face_a, face_b = face_at(vertices, faces, f), face_at(vertices, faces, g)
                kind, distance = triangles_touch(face_a, face_b), 0.0
                if kind == 0 and clearance > 0.0:
                    state[DISTANCE_TESTS] += 1
                    distance = distance_if_nearer(face_a, face_b, clearance)
                    kind = NEAR if distance < clearance else 0
            if kind != 0:
                row = state[ROWS]
                rows[row] = (a << (FACE_BITS + KIND_BITS)) | (b << KIND_BITS) | kind
                distances[row] = distance
                state[ROWS] = row + 1
                if how_many != ALL:
                    height = 0
                    break
    state[HEIGHT] = height
    return why


@kernel(forceinline=True)
def _push_children(boxes, first, count, slots, padding, node, other, state, stack, height):  # type: ignore[no-untyped-def]
    """Put pairs of children of two nodes, not both leaves, on the stack; a leaf stays as it is. Returns the height."""
    begin, begin_other = np.int64(first[node]), np.int64(first[other])
    any_child = np.uint32(0)
    base = node * ROW
    lx, ly, lz = f32x8_load(boxes, base), f32x8_load(boxes, base + 8), f32x8_load(boxes, base + 16)
    ux, uy, uz = f32x8_load(boxes, base + 24), f32x8_load(boxes, base + 32), f32x8_load(boxes, base + 40)
    candidates = _candidates(boxes, count, slots, padding, node, other)
    state[BOX_TESTS] += LANES * (bit_count(candidates) + 1)
    while candidates != 0:
        j = lowest_bit(candidates)
        candidates = without_lowest_bit(candidates)
        mask = _meeting(lx, ly, lz, ux, uy, uz, boxes, other * ROW + j, padding)
        if node == other:
            stack[height, 0], stack[height, 1] = begin + j, begin + j
            height += 1
            mask &= np.uint32((1 << j) - 1)
        elif count[node] < 0:
            if mask != 0:
                stack[height, 0], stack[height, 1] = node, begin_other + j
                height += 1
            continue
        elif count[other] < 0:
            any_child |= mask
            continue
        while mask != 0:
            stack[height, 0], stack[height, 1] = begin + lowest_bit(mask), begin_other + j
            height += 1
            mask = without_lowest_bit(mask)
    while any_child != 0:
        stack[height, 0], stack[height, 1] = begin + lowest_bit(any_child), other
        height += 1
        any_child = without_lowest_bit(any_child)
    return height


@kernel(forceinline=True)
def _meet_faces(boxes, first, count, lanes, slots, padding, no_neighbours, node, other, state, face_pairs):  # type: ignore[no-untyped-def]
    """Write those pairs of faces of two leaves, or of a leaf with itself, to face_pairs whose boxes meet; returns their number.

    With `no_neighbours` faces with an equal number in their lanes are left out.
    """
    begin, begin_other, pitch = np.int64(first[node]), np.int64(first[other]), lanes.shape[0] // 3
    base, base_other = node * ROW, other * ROW
    lx, ly, lz = f32x8_load(boxes, base), f32x8_load(boxes, base + 8), f32x8_load(boxes, base + 16)
    ux, uy, uz = f32x8_load(boxes, base + 24), f32x8_load(boxes, base + 32), f32x8_load(boxes, base + 40)
    p, q, r = f32x8_load(lanes, begin), f32x8_load(lanes, pitch + begin), f32x8_load(lanes, 2 * pitch + begin)
    found = 0
    candidates = _candidates(boxes, count, slots, padding, node, other)
    state[BOX_TESTS] += LANES * (bit_count(candidates) + 1)
    while candidates != 0:
        j = lowest_bit(candidates)
        candidates = without_lowest_bit(candidates)
        mask = _meeting(lx, ly, lz, ux, uy, uz, boxes, base_other + j, padding)
        if node == other:
            mask &= np.uint32((1 << j) - 1)
        if mask == 0:
            continue
        g = begin_other + j
        if no_neighbours:
            s, t, u = f32x8_splat(lanes[g]), f32x8_splat(lanes[pitch + g]), f32x8_splat(lanes[2 * pitch + g])
            neighbours = f32x8_equal(p, s) | f32x8_equal(p, t) | f32x8_equal(p, u) | f32x8_equal(q, s) | f32x8_equal(q, t)
            mask &= ~(neighbours | f32x8_equal(q, u) | f32x8_equal(r, s) | f32x8_equal(r, t) | f32x8_equal(r, u))
        while mask != 0:
            face_pairs[found, 0], face_pairs[found, 1] = begin + lowest_bit(mask), g
            found += 1
            mask = without_lowest_bit(mask)
    return found


@kernel(forceinline=True)
def _candidates(boxes, count, slots, padding, node, other):  # type: ignore[no-untyped-def]
    """The mask of those children of `other` that meet the box of all of `node`: two or three of eight, as a rule."""
    if node == other:
        return np.uint32((1 << abs(count[other])) - 1)
    base = other * ROW
    lx, ly, lz = f32x8_load(boxes, base), f32x8_load(boxes, base + 8), f32x8_load(boxes, base + 16)
    ux, uy, uz = f32x8_load(boxes, base + 24), f32x8_load(boxes, base + 32), f32x8_load(boxes, base + 40)
    return _meeting(lx, ly, lz, ux, uy, uz, boxes, np.int64(slots[node]), padding)


@kernel(forceinline=True)
def _meeting(lx, ly, lz, ux, uy, uz, boxes, slot, padding):  # type: ignore[no-untyped-def]
    """The mask of the eight boxes that meet the one at `slot`.

    Only that one is grown. Rounding is monotone: a bound minus the padding that is below another bound is so rounded, too.
    """
    return f32x8_overlap(
        lx, ly, lz, ux, uy, uz,
        f32x8_splat(boxes[slot] - padding), f32x8_splat(boxes[slot + 8] - padding), f32x8_splat(boxes[slot + 16] - padding),
        f32x8_splat(boxes[slot + 24] + padding), f32x8_splat(boxes[slot + 32] + padding), f32x8_splat(boxes[slot + 40] + padding),
    )  # fmt: skip


class _Walk:
    """A walk that can be gone on with: the arrays that grow, and those that do not."""

    def __init__(self, tree: Tree, welded_faces: Ints, pose: Floats, adjacent: bool, clearance: float, how_many: int) -> None:
        lanes = np.empty(3 * (len(tree.faces) + LANES), np.float32)
        slots, welded, world = np.empty(len(tree.first), np.int32), np.empty_like(welded_faces), np.empty_like(tree.vertices)
        boxes, first, count, faces, ids, vertices, frame = (read_only_view(array) for array in tree)
        given = (first, count, ids, read_only_view(welded_faces), vertices, frame, read_only_view(pose), clearance)
        padding, exact = set_up_itself(*given, lanes, slots, welded, world)
        arrays = (boxes, first, count, faces, ids, read_only_view(welded), read_only_view(world), lanes, slots)
        self.arguments = (*arrays, np.float32(padding), exact, adjacent, clearance, how_many)
        self.state = np.zeros(STATE, np.int64)
        self.state[HEIGHT] = 1
        self.stack, self.face_pairs = np.zeros((FIRST_ROOM, 2), np.int32), np.empty((MOST_NEW, 2), np.int32)
        self.rows, self.distances = np.empty(FIRST_ROOM, np.int64), np.empty(FIRST_ROOM)

    def go_on(self, operations: int) -> tuple[bool, int]:
        """Do about so many operations; return whether all is done, and how many they were."""
        before = self._used()
        while True:
            left = operations - (self._used() - before)
            why = touching_faces_of_itself(
                *self.arguments, left, self.state, self.stack, self.face_pairs, self.rows, self.distances
            )
            if why == FULL_ROWS:
                self.rows, self.distances = doubled(self.rows), doubled(self.distances)
            elif why == FULL_STACK:
                self.stack = doubled(self.stack)
            else:
                return why == DONE, self._used() - before

    def _used(self) -> int:
        return int(self.state[NODE_TESTS] + self.state[TRIANGLE_TESTS])


def find_rows_of_itself(
    tree: Tree, welded_faces: Ints, pose: Floats, adjacent: bool, clearance: float, how_many: int = ALL
) -> tuple[NDArray[np.int64], Floats, Counters]:
    """Return the pairs of faces of one body that touch, or are nearer than a clearance.

    Parameters
    ----------
    tree : Tree
        Of the body as it is now.
    welded_faces : (m, 3) int32
        Faces with welded vertex numbers, in the mesh's order. Faces that share one are adjacent.
    pose : (4, 4) float64
        Body to world.
    adjacent : bool
        Also report adjacent faces that touch beyond what they share. Clearance is no question for them.
    clearance : float
        Length in the user's units; 0 for touching pairs only.
    how_many : int
        `ALL` rows, or any one (`FIRST` or `ANY` of `packed_rows.py`).

    Returns
    -------
    rows : (n,) int64
        Sorted; face a, face b > a and kind, packed as in `pairs.py`.
    distances : (n,) float64
        0 for faces that touch.
    counters : Counters
    """
    walk = _Walk(tree, welded_faces, pose, adjacent, clearance, how_many)
    run_in_slices(_Walk.go_on, walk, FIRST_SLICE)
    found = int(walk.state[ROWS])
    rows, distances = walk.rows[:found], walk.distances[:found]
    order = np.argsort(rows)
    box_tests, triangle_tests, distance_tests = (int(walk.state[k]) for k in (BOX_TESTS, TRIANGLE_TESTS, DISTANCE_TESTS))
    counters = Counters(box_tests=box_tests, triangle_tests=triangle_tests, distance_tests=distance_tests)
    return rows[order], distances[order], counters
