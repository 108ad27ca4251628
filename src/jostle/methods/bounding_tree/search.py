"""Running the static kernel: shapes by address, slices, and rows as columns."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from jostle._types import Floats, Ints
from jostle.interface.body_pairs import CandidatePairs
from jostle.kernels.arrays import read_only_view
from jostle.kernels.handles import AddressTable
from jostle.kernels.slices import run_in_slices
from jostle.kernels.work_arrays import WorkArrays, made_arrays
from jostle.methods.bounding_tree import static
from jostle.methods.bounding_tree.leaves import AXES_OF_FACE, AXIS_SLOTS, SLOTS, LeafCache
from jostle.methods.bounding_tree.tree import Point, Tree, TreeShape, Volume, topology_of
from jostle.report.assemble import Rows
from jostle.report.packing import ALL, unpacked
from jostle.report.report import Counters

FIRST_SLICE = 1 << 19  # operations: 50 ms of node pairs; later slices are sized by the clock
LARGEST_KEPT = 1 << 20  # rows; longer arrays are released after the call
FIRST_STACK, FIRST_ROWS = 1024, 1024
GROWN = {static.FULL_ROWS: ("keys", "pair_of_key"), static.FULL_STACK: ("stack",), static.FULL_VISITED: ("visited",)}
VOLUMES, VERTICES = (place for place, field in enumerate(TreeShape.layout) if field.name in ("volumes", "vertices"))


class Shapes:
    """Trees with their vertices, by number, for the kernel: a table of addresses."""

    def __init__(self, trees: list[Tree], vertices: list[Floats], welded: list[Ints]) -> None:
        self._table = AddressTable([_arrays(*three) for three in zip(trees, vertices, welded, strict=True)])
        self.addresses = self._table.table
        self.faces_of_leaf = max((_largest_leaf(tree) for tree in trees), default=1)

    def with_shapes(self, changed: Mapping[int, tuple[Tree, Floats]]) -> Shapes:
        """Return shapes with some volumes and vertices replaced; this one is unchanged."""
        made = copy.copy(self)
        made._table = self._table.with_rows({number: self._row(number, *pair) for number, pair in changed.items()})
        made.addresses = made._table.table
        return made

    def _row(self, number: int, tree: Tree, vertices: Floats) -> list[NDArray[Any]]:
        """Return a shape's arrays, two replaced. (`TreeShape.places` takes 10 µs more.)"""
        arrays = [self._table.array(number, place) for place in range(len(TreeShape.layout))]
        arrays[VOLUMES], arrays[VERTICES] = tree.volumes.view(Volume.dtype), vertices.view(Point.dtype)
        return arrays


def _arrays(tree: Tree, vertices: Floats, welded: Ints) -> list[NDArray[Any]]:
    return TreeShape.arrays(volumes=tree.volumes, vertices=vertices, welded=welded, **topology_of(tree))


def _largest_leaf(tree: Tree) -> int:
    return int(tree.face_count[tree.child_count == 0].max(initial=1))


class PosedPairs(NamedTuple):
    """Body pairs: numbers of their shapes, numbers of their poses, and poses (n,4,4)."""

    shape_a: Ints
    shape_b: Ints
    body_a: Ints
    body_b: Ints
    poses: Floats

    @staticmethod
    def of(pairs: CandidatePairs, shape_of_body: Ints, poses: Floats) -> PosedPairs:
        """Return body pairs with the shapes of their bodies."""
        return PosedPairs(shape_of_body[pairs.body_a], shape_of_body[pairs.body_b], *pairs, read_only_view(poses))


class StaticSearch:
    """The static kernel and its arrays, kept between frames; one for each detector."""

    def __init__(self) -> None:
        rows = {"keys": FIRST_ROWS, "pair_of_key": FIRST_ROWS}
        self._work = WorkArrays(static.StaticWork, stack=FIRST_STACK, visited=0, corners=18, faces=12, **rows)
        self._state = self._work.arrays["state"]
        self._cached_faces = 0
        self._caches = _empty_caches(0)

    def find(
        self, shapes: Shapes, kind: int, pairs: PosedPairs, row_mode: int = ALL, adjacent: bool = False, record: bool = False
    ) -> tuple[Rows, Counters]:
        """Return the rows of body pairs that the mode wants (`report/packing.py`)."""
        state, per_leaf = self._state[0], shapes.faces_of_leaf
        asked, begun = (kind, row_mode, adjacent, per_leaf), (0, 0, 0, 0)
        self._state[0] = (*asked, *begun, state["query"], 0, 0, 0, 0)  # field by field it takes 1 µs more
        if record or len(self._work.arrays["visited"]):
            self._work.replace(visited=np.empty(FIRST_ROWS if record else 0, static.Visit.dtype))
        if self._cached_faces < per_leaf:
            self._caches, self._cached_faces = _empty_caches(per_leaf), per_leaf
        while len(self._work.arrays["keys"]) < 2 * per_leaf * per_leaf:
            self._work.double(*GROWN[static.FULL_ROWS])

        def operations_so_far() -> int:
            return int(state["node_tests"] + static.EXACT_TEST * state["triangle_tests"] + state["passed_over"])

        def step(work: WorkArrays, operations: int) -> tuple[bool, int]:
            before = operations_so_far()
            status = static.touching_faces(shapes.addresses, work.addresses, self._caches.table, operations, *pairs)
            if status in GROWN:
                work.double(*GROWN[status])
            return status == static.DONE, max(1, operations_so_far() - before)

        try:
            run_in_slices(step, self._work, FIRST_SLICE)
            return self._rows(len(pairs.shape_a)), self._counters()
        finally:
            if len(self._work.arrays["keys"]) > LARGEST_KEPT:
                self._work.replace(keys=np.empty(FIRST_ROWS, np.int64), pair_of_key=np.empty(FIRST_ROWS, np.int32))

    def visited(self) -> Ints:
        """Return (n,3) pair and nodes of the node pairs met in the last recorded search."""
        found: Ints = self._work.arrays["visited"].view(np.int32).reshape(-1, 3)[: int(self._state["visited"][0])].copy()
        return found

    def _rows(self, pairs: int) -> Rows:
        count = int(self._state["rows"][0])
        keys, pair = self._work.arrays["keys"][:count], self._work.arrays["pair_of_key"][:count]
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
    faces, axes = SLOTS * faces_of_leaf, AXIS_SLOTS * AXES_OF_FACE * faces_of_leaf
    return LeafCache.tables([made_arrays(LeafCache, tags=SLOTS, faces=faces, axis_tags=AXIS_SLOTS, axes=axes) for _ in range(2)])
