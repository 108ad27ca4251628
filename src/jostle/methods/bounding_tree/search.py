"""Running the static kernel: the shapes by address, the arrays that grow, the slices, and the rows as columns."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from jostle._types import Floats, Ints
from jostle.kernels.arrays import read_only_view
from jostle.kernels.buffers import doubled
from jostle.kernels.handles import AddressTable
from jostle.kernels.slices import run_in_slices
from jostle.methods.bounding_tree import static
from jostle.methods.bounding_tree.axes import Affine
from jostle.methods.bounding_tree.leaves import SLOTS, LeafCache, WorldFace
from jostle.methods.bounding_tree.overlap import PairFrame
from jostle.methods.bounding_tree.tree import Point, Tree, TreeShape, Volume, topology_of
from jostle.report.assemble import Rows
from jostle.report.packing import ALL, unpacked
from jostle.report.report import Counters

FIRST_SLICE = 1 << 19  # operations: 50 ms of pairs of nodes; later slices are sized by the clock
LARGEST_KEPT = 1 << 20  # rows; longer outputs are given back after the call
FIRST_STACK, FIRST_ROWS = 1024, 1024
PLACE_OF = {field.name: place for place, field in enumerate(static.StaticWork.layout)}
VOLUMES, VERTICES = (place for place, field in enumerate(TreeShape.layout) if field.name in ("volumes", "vertices"))


class Shapes:
    """Trees with the vertices they stand for, by number, as the kernel wants them: a table of addresses."""

    def __init__(self, trees: list[Tree], vertices: list[Floats], welded: list[Ints]) -> None:
        self._table = AddressTable([_arrays(*three) for three in zip(trees, vertices, welded, strict=True)])
        self.addresses = self._table.table
        self.faces_of_leaf = max((_largest_leaf(tree) for tree in trees), default=1)

    def with_shapes(self, changed: Mapping[int, tuple[Tree, Floats]]) -> Shapes:
        """Return shapes of which some have other volumes and other vertices; these stay as they are."""
        made = copy.copy(self)
        made._table = self._table.with_rows({number: self._row(number, *pair) for number, pair in changed.items()})
        made.addresses = made._table.table
        return made

    def _row(self, number: int, tree: Tree, vertices: Floats) -> list[NDArray[Any]]:
        """Return the arrays of a shape, of which two are others. (`TreeShape.places` would take 10 µs more.)"""
        arrays = [self._table.array(number, place) for place in range(len(TreeShape.layout))]
        arrays[VOLUMES], arrays[VERTICES] = tree.volumes.view(Volume.dtype), vertices.view(Point.dtype)
        return arrays


def _arrays(tree: Tree, vertices: Floats, welded: Ints) -> list[NDArray[Any]]:
    return TreeShape.arrays(volumes=tree.volumes, vertices=vertices, welded=welded, **topology_of(tree))


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
        self._state = np.zeros(1, static.StaticState.dtype)
        self._cached_faces = 0
        self._caches = _empty_caches(0)
        self._table = static.StaticWork.table(
            state=self._state,
            frame=np.zeros(1, PairFrame.dtype),
            stack=np.empty(FIRST_STACK, static.StackRow.dtype),
            visited=np.empty(0, static.Visit.dtype),
            corners=np.empty(18),
            faces=np.empty(12, np.int32),
            **_room_for_rows(FIRST_ROWS),
        )

    def find(
        self, shapes: Shapes, kind: int, placed: Placed, row_mode: int = ALL, adjacent: bool = False, record: bool = False
    ) -> tuple[Rows, Counters]:
        """Return the rows of pairs of bodies: all, or one for each pair, or one in all (`ALL`, `FIRST`, `WORST`, `ANY`)."""
        state, per_leaf = self._state[0], shapes.faces_of_leaf
        asked, begun = (kind, row_mode, adjacent, per_leaf), (0, 0, 0, 0)
        self._state[0] = (*asked, *begun, state["query"], 0, 0, 0, 0)  # field by field it takes 1 µs more
        if record or len(self._array("visited")):
            self._replace(visited=np.empty(FIRST_ROWS if record else 0, static.Visit.dtype))
        if self._cached_faces < per_leaf:
            self._caches, self._cached_faces = _empty_caches(per_leaf), per_leaf
        while len(self._array("keys")) < 2 * per_leaf * per_leaf:
            self._grow(static.FULL_ROWS)
        pairs = (placed.shape_a, placed.shape_b, placed.body_a, placed.body_b)
        poses = (read_only_view(placed.poses), read_only_view(placed.corner_poses))

        def operations_so_far() -> int:
            return int(state["node_tests"] + static.EXACT_TEST * state["triangle_tests"] + state["passed_over"])

        def step(search: StaticSearch, operations: int) -> tuple[bool, int]:
            before = operations_so_far()
            tables = shapes.addresses, search._table.table[0], search._caches.table
            status = static.touching_faces(*tables, operations, *pairs, *poses)
            search._grow(status)
            return status == static.DONE, max(1, operations_so_far() - before)

        try:
            run_in_slices(step, self, FIRST_SLICE)
            return self._rows(len(placed.shape_a)), self._counters()
        finally:
            if len(self._array("keys")) > LARGEST_KEPT:
                self._replace(**_room_for_rows(FIRST_ROWS))

    def visited(self) -> Ints:
        """Return (n,3) the pair and the nodes of every pair of nodes that met in the last recorded search."""
        found: Ints = self._array("visited").view(np.int32).reshape(-1, 3)[: int(self._state["visited"][0])].copy()
        return found

    def _grow(self, status: int) -> None:
        grown = {static.FULL_ROWS: ("keys", "pair_of_key"), static.FULL_STACK: ("stack",), static.FULL_VISITED: ("visited",)}
        if status in grown:
            self._replace(**{name: doubled(self._array(name)) for name in grown[status]})

    def _array(self, name: str) -> NDArray[Any]:
        return self._table.array(0, PLACE_OF[name])

    def _replace(self, **arrays: NDArray[Any]) -> None:
        self._table = self._table.with_arrays(0, static.StaticWork.places(**arrays))

    def _rows(self, pairs: int) -> Rows:
        count = int(self._state["rows"][0])
        keys, pair = self._array("keys")[:count], self._array("pair_of_key")[:count]
        if pairs == 1:
            keys, pair = np.sort(keys), pair.copy()
        else:
            order = np.lexsort((keys, pair))
            keys, pair = keys[order], pair[order]
        return Rows(pair, *unpacked(keys), np.zeros(count))

    def _counters(self) -> Counters:
        return Counters(box_tests=int(self._state["node_tests"][0]), triangle_tests=int(self._state["triangle_tests"][0]))


def _empty_caches(faces_of_leaf: int) -> AddressTable:
    """Return a table of two empty leaf caches."""
    return LeafCache.tables([_empty_cache(faces_of_leaf) for _ in range(2)])


def _empty_cache(faces_of_leaf: int) -> dict[str, NDArray[Any]]:
    return {
        "tags": np.zeros(SLOTS, np.int64),
        "faces": np.empty(SLOTS * faces_of_leaf, WorldFace.dtype),
        "pose": np.zeros(1, Affine.dtype),
    }


def _room_for_rows(count: int) -> dict[str, NDArray[Any]]:
    return {"keys": np.empty(count, np.int64), "pair_of_key": np.empty(count, np.int32)}
