"""Running the walk of `subdivision.py`: its arrays, their growth, its slices, and its subtrees on threads (§7).

On several threads the walk goes some way alone. What is then left are the children, not yet visited, of the nodes on its
way: each is a subtree, walked to its end by some thread with a checklist of its own. Pairs that several subtrees found are
checked once. Neither the subtrees nor the rows depend on the number of threads.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from jostle.frame import Floats, Ints
from jostle.geometry.triangle_box import CLIP_WORKSPACE
from jostle.kernels.buffers import doubled
from jostle.kernels.pool import map_chunks, told_to_stop
from jostle.methods.face_octree.pair_checklist import enter_again
from jostle.methods.face_octree.subdivision import (
    BEGIN,
    BOX_TESTS,
    CELLS_ALONG,
    CHECKS,
    CHILD_BEGIN,
    CHILD_END,
    CHILD_PAIRS,
    DEEPEST,
    DEPTH,
    DONE,
    END,
    FULL_CHECKS,
    FULL_LISTS,
    NEXT,
    NODE,
    NODES,
    NOT_DIVIDED,
    PAIRS,
    STATE,
    TOP,
    middles,
    start_walk,
    subdivide,
    write_child,
)

OPERATIONS = 10_000_000  # comparisons of boxes until Python looks up: some 0.1 s
SOON = 200_000  # comparisons after which a walk is shared with other threads: some 1 ms
SMALLEST = 4096  # entries of the first arrays
LARGEST_KEPT = 1 << 20  # entries; longer arrays are given back after the walk
NO_NODES = np.empty((0, 6), np.int64)

Keys = NDArray[np.int64]
Nodes = NDArray[np.int64]


class Checklist(NamedTuple):
    """The faces left after §3.4, of all bodies together, sorted by (owner, face)."""

    world: Floats  # (v,3) vertices of all bodies
    corner: Ints  # (c,3) vertices in `world`
    owner: Ints  # (c,) place of the body in the list of bodies
    face: Ints  # (c,)


class Tree(NamedTuple):
    """The octree that a walk goes through."""

    cube: Floats  # (6,)
    level: int  # AUTO, or the depth of voxels
    bintree: bool
    how: int  # how faces are tested against boxes
    grown: float  # half of what faces may be apart
    allowed: Keys  # sorted pairs of owners that may meet; none for all


class Lists(NamedTuple):
    """Room for the lists of nodes, three times the same memory, and for the masks of their entries."""

    cells: NDArray[np.uint16]
    numbers: Ints
    words: NDArray[np.int64]
    masks: NDArray[np.uint8]

    @staticmethod
    def of(entries: int) -> Lists:
        """Return room for so many entries."""
        words = np.empty(2 * entries, np.int64)
        return Lists(words.view(np.uint16), words.view(np.int32), words, np.empty(entries, np.uint8))

    def doubled(self) -> Lists:
        """Return twice the room, with what is in it."""
        larger = Lists.of(2 * len(self.masks))
        larger.words[: len(self.words)] = self.words
        larger.masks[: len(self.masks)] = self.masks
        return larger


class Checks(NamedTuple):
    """Room for the face-pair checklist, and the table in which pairs are looked up, of twice its size."""

    table: Keys
    keys: Keys

    @staticmethod
    def of(pairs: int) -> Checks:
        """Return room for so many pairs, a power of two."""
        return Checks(np.empty(2 * pairs, np.int64), np.empty(pairs, np.int64))

    def doubled(self, count: int) -> Checks:
        """Return twice the room, with the pairs that are in it."""
        larger = Checks(np.full(2 * len(self.table), -1, np.int64), doubled(self.keys))
        enter_again(larger.keys, count, larger.table)
        return larger


class Walk:
    """The arrays of one walk; they grow and stay. Those that belong together change together: an interrupt cannot part them."""

    def __init__(self, size: int = SMALLEST) -> None:
        self.state = np.zeros(STATE, np.int64)
        self.node = np.zeros((DEEPEST + 2, NODE), np.int64)
        self.lists, self.checks = Lists.of(size), Checks.of(size)
        self._tallies = np.zeros(16, np.int64)
        self._polygon = np.zeros(CLIP_WORKSPACE)

    def start(self, faces: Checklist, tree: Tree) -> None:
        """Begin with all faces of a checklist."""
        self._make_room(2 * len(faces.owner))
        self.checks.table.fill(-1)
        start_walk(*faces[:3], tree.cube, tree.level, tree.bintree, tree.grown, self.node, *self.lists[:2], self.state)

    def start_below(self, other: Walk, depth: int, child: int, bintree: bool) -> None:
        """Begin with one child of a node on the way of another walk."""
        parent = other.node[depth]
        begin, end = parent[CHILD_BEGIN + child], parent[CHILD_END + child]
        count = int(end - begin)
        self._make_room(2 * count)
        self.lists.words[: 2 * count] = other.lists.words[2 * begin : 2 * end]
        self.checks.table.fill(-1)
        self.state[:] = 0
        self.state[DEPTH] = depth + 1
        self.node[depth] = parent
        write_child(self.node, depth, child, *middles(self.node, depth, bintree))
        self.node[: depth + 1, NEXT] = 8  # nothing is left to do above
        self.node[depth + 1, [BEGIN, END, TOP, PAIRS, NEXT]] = 0, count, count, parent[CHILD_PAIRS + child], NOT_DIVIDED

    def go_on(self, faces: Checklist, tree: Tree, operations: int, nodes: Nodes = NO_NODES) -> bool:
        """Walk on for so many operations; returns whether it has come to the end."""
        while True:
            why = subdivide(
                *faces[:3], tree.allowed, tree.cube, tree.level, tree.bintree, tree.how, tree.grown, operations,
                self.node, *self.lists, self._tallies, self._polygon, *self.checks, nodes, self.state,
            )  # fmt: skip
            if why == FULL_LISTS:
                self.lists = self.lists.doubled()
            elif why == FULL_CHECKS:
                self.checks = self.checks.doubled(int(self.state[CHECKS]))
            else:
                return bool(why == DONE)

    def finish(self, faces: Checklist, tree: Tree, nodes: Nodes = NO_NODES) -> None:
        """Walk to the end."""
        while not self.go_on(faces, tree, OPERATIONS, nodes):
            if told_to_stop():
                return

    def found(self) -> Keys:
        """Return the face-pair checklist so far: a view of keys, two places in the checklist of faces each."""
        return self.checks.keys[: self.state[CHECKS]]

    def let_go(self) -> None:
        """Give very long arrays back."""
        if len(self.lists.masks) + len(self.checks.keys) > LARGEST_KEPT:
            self.lists, self.checks = Lists.of(SMALLEST), Checks.of(SMALLEST)

    def _make_room(self, entries: int) -> None:
        while len(self.lists.masks) < entries:
            self.lists = self.lists.doubled()


def find_face_pairs(walk: Walk, faces: Checklist, tree: Tree, workers: int | None) -> tuple[Keys, int]:
    """Return the face-pair checklist, without repetition, and the comparisons of boxes that it took."""
    walk.start(faces, tree)
    if workers == 1:
        walk.finish(faces, tree)
        return walk.found(), int(walk.state[BOX_TESTS])
    if walk.go_on(faces, tree, SOON):
        return walk.found(), int(walk.state[BOX_TESTS])
    # The node that the walk stands at may be a voxel: it ends that one itself.
    depth = int(walk.state[DEPTH])
    subtrees = [
        (k, child)
        for k in range(depth + 1)
        for child in range(int(walk.node[k, NEXT]) if walk.node[k, NEXT] >= 0 else 8, 8)
        if walk.node[k, CHILD_PAIRS + child] > 0
    ]
    ways = walk.node[: depth + 1, NEXT]
    ways[ways >= 0] = 8

    def below(number: int, _: int) -> tuple[Keys, int]:
        one = Walk()
        one.start_below(walk, *subtrees[number], tree.bintree)
        one.finish(faces, tree)
        return one.found(), int(one.state[BOX_TESTS])

    parts = map_chunks(below, len(subtrees), 1, workers)
    walk.finish(faces, tree)
    parts.append((walk.found(), int(walk.state[BOX_TESTS])))
    return np.unique(np.concatenate([keys for keys, _ in parts])), sum(tests for _, tests in parts)


def cells_of(walk: Walk, faces: Checklist, tree: Tree) -> Floats:
    """(k,6) the boxes of all nodes that are visited, for a picture."""
    nodes = NO_NODES
    while True:
        walk.start(faces, tree)
        walk.finish(faces, tree, nodes)
        needed = int(walk.state[NODES])
        if needed <= len(nodes):
            edge = (tree.cube[3] - tree.cube[0]) / CELLS_ALONG
            boxes: Floats = np.tile(tree.cube[:3], 2) + edge * nodes[:needed]
            return boxes
        nodes = np.empty((needed, 6), np.int64)
