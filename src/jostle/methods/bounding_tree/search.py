"""Running the static kernel: the shapes by address, the arrays that grow, the slices, and the rows as columns."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from jostle.frame import Floats, Ints
from jostle.kernels.arrays import read_only_view
from jostle.kernels.buffers import doubled
from jostle.kernels.handles import AddressTable
from jostle.kernels.slices import run_in_slices
from jostle.methods.bounding_tree import static
from jostle.methods.bounding_tree.leaves import FACE, SLOTS
from jostle.methods.bounding_tree.tree import Tree
from jostle.packed_rows import ALL, unpacked
from jostle.report import Counters
from jostle.rows import Rows

FIRST_SLICE = 1 << 19  # operations: 50 ms of pairs of nodes; later slices are sized by the clock
LARGEST_KEPT = 1 << 20  # rows; longer outputs are given back after the call


class Shapes:
    """Trees with the vertices they stand for, by number, as the kernel wants them: a table of addresses."""

    def __init__(self, trees: list[Tree], vertices: list[Floats], welded: list[Ints]) -> None:
        self._welded = welded
        self._table = AddressTable([_arrays(*three) for three in zip(trees, vertices, welded, strict=True)])
        self.addresses = self._table.table
        self.faces_of_leaf = max((_largest_leaf(tree) for tree in trees), default=1)

    def with_shapes(self, changed: Mapping[int, tuple[Tree, Floats]]) -> Shapes:
        """Return shapes of which some have other volumes and other vertices; these stay as they are."""
        made = copy.copy(self)
        rows = {number: _arrays(tree, vertices, self._welded[number]) for number, (tree, vertices) in changed.items()}
        made._table = self._table.with_rows(rows)
        made.addresses = made._table.table
        return made


def _arrays(tree: Tree, vertices: Floats, welded: Ints) -> list[NDArray[Any]]:
    arrays: list[NDArray[Any]] = [tree.volumes, tree.first_child, tree.child_count, tree.first_face, tree.face_count]
    return [*arrays, tree.order, tree.faces, vertices, welded]


def _largest_leaf(tree: Tree) -> int:
    return int(tree.face_count[tree.child_count == 0].max(initial=1))


class Placed(NamedTuple):
    """Pairs of bodies: shapes by number, bodies by number of their pose; poses of volumes and of vertices, (n,4,4) each."""

    shape_a: Ints
    shape_b: Ints
    body_a: Ints
    body_b: Ints
    poses: Floats
    corner_poses: Floats


class StaticSearch:
    """The static kernel with its scratch arrays, which stay from frame to frame. It belongs to one detector."""

    def __init__(self) -> None:
        self._state = np.zeros(static.STATE, np.int64)
        self._stack = np.empty((1024, 2), np.int32)
        self._tags = np.zeros((2, SLOTS), np.int64)
        self._lanes = np.empty((2, 0))
        self._visited = np.empty((0, 3), np.int32)
        self._start_rows()

    def _start_rows(self) -> None:
        self._keys, self._pair = np.empty(1024, np.int64), np.empty(1024, np.int32)

    def find(
        self, shapes: Shapes, kind: int, placed: Placed, how_many: int = ALL, adjacent: bool = False, record: bool = False
    ) -> tuple[Rows, Counters]:
        """Return the rows of pairs of bodies: all, or one for each pair, or one in all (`ALL`, `FIRST`, `WORST`, `ANY`)."""
        state, query = self._state, int(self._state[static.QUERY])
        state[:] = 0
        state[static.QUERY] = query  # the leaf caches are tagged with it
        self._visited = np.empty((1024 if record else 0, 3), np.int32)
        per_leaf = shapes.faces_of_leaf
        if self._lanes.shape[1] < SLOTS * per_leaf * FACE:
            self._lanes = np.empty((2, SLOTS * per_leaf * FACE))
            self._tags[:] = 0
        while len(self._keys) < 2 * per_leaf * per_leaf:
            self._grow(static.FULL_ROWS)
        pairs = (placed.shape_a, placed.shape_b, placed.body_a, placed.body_b)
        poses = (read_only_view(placed.poses), read_only_view(placed.corner_poses))

        def step(search: StaticSearch, operations: int) -> tuple[bool, int]:
            before = int(state[static.SPENT])
            why = static.touching_faces(
                shapes.addresses, kind, *pairs, *poses, how_many, adjacent, per_leaf, operations, state, search._stack,
                search._tags[0], search._lanes[0], search._tags[1], search._lanes[1], search._keys, search._pair, search._visited,
            )  # fmt: skip
            search._grow(why)
            return why == static.DONE, max(1, int(state[static.SPENT]) - before)

        try:
            run_in_slices(step, self, FIRST_SLICE)
            return self._rows(len(placed.shape_a)), self._counters()
        finally:
            if len(self._keys) > LARGEST_KEPT:
                self._start_rows()

    def visited(self) -> Ints:
        """Return (n,3) the pair and the nodes of every pair of nodes that met in the last recorded search."""
        return self._visited[: self._state[static.VISITED]].copy()

    def _grow(self, why: int) -> None:
        if why == static.FULL_ROWS:
            self._keys, self._pair = doubled(self._keys), doubled(self._pair)
        elif why == static.FULL_STACK:
            self._stack = doubled(self._stack)
        elif why == static.FULL_VISITED:
            self._visited = doubled(self._visited)

    def _rows(self, pairs: int) -> Rows:
        count = int(self._state[static.ROWS])
        keys, pair = self._keys[:count], self._pair[:count]
        if pairs == 1:
            keys, pair = np.sort(keys), pair.copy()
        else:
            order = np.lexsort((keys, pair))
            keys, pair = keys[order], pair[order]
        return Rows(pair, *unpacked(keys), np.zeros(count))

    def _counters(self) -> Counters:
        return Counters(box_tests=int(self._state[static.NODE_TESTS]), triangle_tests=int(self._state[static.TRIANGLE_TESTS]))
