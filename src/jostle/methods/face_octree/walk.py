"""Runs the walk of `subdivision.py`: buffers, slices, subtrees on threads (§7).

On several threads the walk first runs alone for a while. The children not yet visited of the nodes on its path are then subtrees,
each walked to its end by one thread with a checklist of its own. Pairs found in several subtrees are checked once. Neither the
subtrees nor the rows depend on the number of threads.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from jostle._types import Floats, Longs
from jostle.geometry.triangle_box import CLIP_WORKSPACE
from jostle.kernels.buffers import doubled, full, pieces
from jostle.kernels.hash_set import EMPTY, enter_keys
from jostle.kernels.pool import cancelled, map_chunks
from jostle.methods.face_octree.subdivision import (
    ALL_CHILDREN,
    CELLS_ALONG,
    DEEPEST,
    DONE,
    FULL_CHECKS,
    FULL_LISTS,
    start_below,
    start_walk,
    subdivide,
)
from jostle.methods.face_octree.work import Checklist, Entry, Node, State, Tallies, Tree, Work

OPERATIONS = 2_500_000  # box comparisons between returns to Python: 0.03 s, or 0.25 s if most enter a pair into a large table
SOON = 200_000  # comparisons after which a walk is shared with other threads: some 1 ms
SMALLEST = 4096  # entries of the first arrays
LARGEST_KEPT = 1 << 20  # entries; longer arrays are released after the walk
NO_NODES = np.empty((0, 6), np.int64)
PLACES = {field.name: place for place, field in enumerate(Work.layout)}

Nodes = NDArray[np.int64]


def _lists(entries: NDArray[Any]) -> dict[str, NDArray[Any]]:
    """The buffers of node lists: entries, the same memory as words, and masks."""
    return {"entries": entries, "words": entries.view(np.int64), "masks": np.empty(len(entries), np.uint8)}


class Walk:
    """The buffers of one walk, in one table: an interrupt cannot separate them."""

    def __init__(self, size: int = SMALLEST) -> None:
        self._table = Work.table(
            state=np.zeros(1, State.dtype),
            nodes=np.zeros(DEEPEST + 2, Node.dtype),
            tallies=np.zeros(1, Tallies.dtype),
            polygon=np.zeros(CLIP_WORKSPACE),
            pair_table=np.empty(2 * size, np.int64),
            checks=np.empty(size, np.int64),
            **_lists(np.empty(size, Entry.dtype)),
        )

    def array(self, name: str) -> NDArray[Any]:
        """Return an array of the walk."""
        return self._table.array(0, PLACES[name])

    @property
    def state(self) -> np.void:
        """Progress and counts of the walk."""
        return self.array("state")[0]

    def start(self, faces: Checklist, tree: Tree) -> None:
        """Begin with all faces of a checklist."""
        self._make_room(2 * len(faces.owner))
        self.array("pair_table").fill(EMPTY)
        start_walk(self._table.table[0], faces, tree)

    def start_below(self, other: Walk, depth: int, child: int, bintree: bool) -> None:
        """Begin with one child of a node on the path of another walk."""
        parent = other.array("nodes")[depth]
        begin, end = parent["child_begin"][child], parent["child_end"][child]
        count = int(end - begin)
        self._make_room(2 * count)
        self.array("entries")[:count] = other.array("entries")[begin:end]
        self.array("pair_table").fill(EMPTY)
        self.array("nodes")[depth] = parent
        start_below(self._table.table[0], depth, child, bintree)

    def resume(self, faces: Checklist, tree: Tree, operations: int, nodes: Nodes = NO_NODES) -> bool:
        """Resume the walk for this many operations; returns whether it ended."""
        while True:
            why = subdivide(self._table.table[0], faces, tree, nodes, operations)
            if why == FULL_LISTS:
                self._double_lists()
            elif why == FULL_CHECKS:
                self._double_checks()
            else:
                return bool(why == DONE)

    def finish(self, faces: Checklist, tree: Tree, nodes: Nodes = NO_NODES) -> None:
        """Walk to the end."""
        while not self.resume(faces, tree, OPERATIONS, nodes):
            if cancelled():
                return

    def found(self) -> Longs:
        """Return the face-pair checklist so far: keys of two places in the face checklist."""
        return self.array("checks")[: self.state["checks"]]

    def release(self) -> None:
        """Release very long arrays."""
        if len(self.array("masks")) + len(self.array("checks")) > LARGEST_KEPT:
            self._table = Walk()._table

    def _make_room(self, entries: int) -> None:
        while len(self.array("masks")) < entries:
            self._double_lists()

    def _double_lists(self) -> None:
        """Double the buffers of lists, keeping their contents."""
        masks, larger = self.array("masks"), _lists(doubled(self.array("entries")))
        for begin, end in pieces(len(masks)):
            larger["masks"][begin:end] = masks[begin:end]
        self._table = self._table.with_arrays(0, Work.places(**larger))

    def _double_checks(self) -> None:
        """Double the buffers of pairs, keeping their contents."""
        checks = doubled(self.array("checks"))
        pair_table = full(2 * len(self.array("pair_table")), EMPTY, np.int64)
        for begin, end in pieces(int(self.state["checks"])):
            enter_keys(checks, begin, end, pair_table)
        self._table = self._table.with_arrays(0, Work.places(checks=checks, pair_table=pair_table))


def find_face_pairs(walk: Walk, faces: Checklist, tree: Tree, workers: int | None) -> tuple[Longs, int]:
    """Return the face-pair checklist, each pair once, and the number of box tests."""
    walk.start(faces, tree)
    if workers == 1:
        walk.finish(faces, tree)
    if workers == 1 or walk.resume(faces, tree, SOON):
        return walk.found(), int(walk.state["box_tests"])
    # The current node may be a voxel: the walk finishes that one itself.
    path = walk.array("nodes")[: int(walk.state["depth"]) + 1]
    subtrees = [
        (k, child)
        for k, node in enumerate(path)
        for child in range(int(node["next"]) if node["next"] >= 0 else ALL_CHILDREN, ALL_CHILDREN)
        if node["child_pairs"][child] > 0
    ]
    path["next"][path["next"] >= 0] = ALL_CHILDREN

    def below(number: int, _: int) -> tuple[Longs, int]:
        one = Walk()
        one.start_below(walk, *subtrees[number], tree.bintree)
        one.finish(faces, tree)
        return one.found(), int(one.state["box_tests"])

    parts = map_chunks(below, len(subtrees), 1, workers)
    walk.finish(faces, tree)
    parts.append((walk.found(), int(walk.state["box_tests"])))
    return np.unique(np.concatenate([keys for keys, _ in parts])), sum(tests for _, tests in parts)


def cells_of(walk: Walk, faces: Checklist, tree: Tree) -> Floats:
    """Return the boxes (k,6) of all visited nodes, for the overlay."""
    nodes = NO_NODES
    while True:
        walk.start(faces, tree)
        walk.finish(faces, tree, nodes)
        needed = int(walk.state["visited"])
        if needed <= len(nodes):
            edge = (tree.cube[3] - tree.cube[0]) / CELLS_ALONG
            return np.tile(tree.cube[:3], 2) + edge * nodes[:needed]
        nodes = np.empty((needed, 6), np.int64)
