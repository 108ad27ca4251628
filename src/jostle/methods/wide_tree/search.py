"""Running the pair kernel: workspaces, slices, and rows as columns.

A workspace belongs to one search at a time. The kernel stops when an array is full, or after a number of operations; it is called
again with larger arrays, or after Python has handled Ctrl-C.
"""

from __future__ import annotations

from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from jostle._types import Bytes, Floats, Ints, Longs
from jostle.geometry.reported_distance import distance_if_nearer
from jostle.kernels.jit import kernel
from jostle.kernels.late import address_of
from jostle.kernels.pool import cancelled
from jostle.kernels.scratch import Workspaces
from jostle.kernels.sort import sort_with_values
from jostle.kernels.work_arrays import WorkArrays
from jostle.methods.wide_tree.leaf_cache import empty_cache
from jostle.methods.wide_tree.pair_work import START, PairWork, Progress
from jostle.methods.wide_tree.pairs import DONE, FULL_ROWS, FULL_STACK, touching_faces
from jostle.methods.wide_tree.tree import LANES, Forest
from jostle.report.assemble import NO_ROWS, Rows
from jostle.report.packing import ALL, FACE_BITS, KIND_BITS
from jostle.report.report import Counters

Found: TypeAlias = tuple[Longs, Ints, Floats]  # rows as the kernel writes them: keys, pairs, distances

# Rows of a pair from which on NumPy sorts faster than a Shell sort: 2,600 rows in 7 µs (22 with distances) instead of 50.
LONG_RUN = 512
OPERATIONS = 2_000_000  # node pairs, or exact tests times their weight, until Python handles Ctrl-C: 0.05 to 0.3 s
FIRST_STACK, FIRST_ROWS = 2048, 1024
LARGEST_KEPT = 1 << 20  # rows
ROW_ARRAYS = ("keys", "pair_of_key", "distance_of_key")


class TreePairs(NamedTuple):
    """Pairs of trees: shape_a[k] at poses[pose_a[k]], shape_b[k] at poses[pose_b[k]]."""

    shape_a: Ints
    shape_b: Ints
    pose_a: Ints
    pose_b: Ints
    poses: Floats

    def chosen(self, which: Ints | NDArray[np.int64] | slice) -> TreePairs:
        """Return some of the pairs."""
        return TreePairs(self.shape_a[which], self.shape_b[which], self.pose_a[which], self.pose_b[which], self.poses)

    def between(self, begin: int, end: int) -> TreePairs:
        """Return the pairs from begin to end - 1; all are not copied."""
        return self if begin == 0 and end >= len(self.shape_a) else self.chosen(slice(begin, end))


class Workspace(WorkArrays):
    """The arrays of a search, which grow and are kept.

    The workspace of an interrupted search must not be used again: take one from `WORKSPACES`, and return it with `give_back` at
    the end, not in a `finally`.
    """

    def __init__(self) -> None:
        caches = {"leaves_x": empty_cache(), "leaves_y": empty_cache()}
        super().__init__(PairWork, relative=16, stack=FIRST_STACK, **caches, **dict.fromkeys(ROW_ARRAYS, FIRST_ROWS))
        progress = self.arrays["progress"]
        self.progress = Progress(progress[0])
        # Views: an attribute of a record takes 0.5 µs more.
        self._next_pair, self._row_count, self._distance_kernel = (
            progress["next_pair"],
            progress["rows"],
            progress["distance_kernel"],
        )
        self._tests = progress[["node_tests", "triangle_tests", "distance_tests"]]

    def start(self) -> None:
        """Let the next call of the kernel begin a new search."""
        self._next_pair[0] = START

    def go_to(self, pair: int) -> None:
        """Let the next call of the kernel begin at a pair, keeping the rows."""
        self._next_pair[0] = pair

    def pair(self) -> int:
        """Return the present pair."""
        return int(self._next_pair[0])

    def begin_below(self, pair: int, nodes: NDArray[Any]) -> None:
        """Let the next call of the kernel search a pair below some node pairs only."""
        while len(self.arrays["stack"]) < len(nodes):
            self.double("stack")
        self.arrays["stack"][: len(nodes)] = nodes
        progress = self.progress
        progress.next_pair, progress.height, progress.query, progress.rows_of_pair = pair, len(nodes), progress.query + 1, 0

    def taken_nodes(self) -> NDArray[Any]:
        """Return the node pairs that are left of the present pair; the next call goes on to the next pair."""
        nodes: NDArray[Any] = self.arrays["stack"][: self.progress.height].copy()
        self.progress.next_pair, self.progress.height = self.progress.next_pair + 1, 0
        return nodes

    def find(self, forest: Forest, pairs: TreePairs, clearance: float, row_mode: int) -> None:
        """Run the kernel to the end."""
        while not self.resume(forest, pairs, clearance, row_mode, OPERATIONS):
            if cancelled():
                return

    def resume(self, forest: Forest, pairs: TreePairs, clearance: float, row_mode: int, operations: int) -> bool:
        """Run the kernel for a number of operations; return whether it is done."""
        if clearance > 0.0:
            self._distance_kernel[0] = address_of(distance_if_nearer)
        while True:
            why = touching_faces(forest.addresses, *pairs, clearance, row_mode, operations, self.addresses)
            if why == FULL_ROWS:
                self.double(*ROW_ARRAYS)
            elif why == FULL_STACK:
                self.double("stack")
            else:
                return bool(why == DONE)

    def row_count(self) -> int:
        """Return the number of rows so far."""
        return int(self._row_count[0])

    def counters(self) -> Counters:
        """Return the tests so far."""
        node_tests, triangle_tests, distance_tests = self._tests.item()
        return Counters(box_tests=LANES * LANES * node_tests, triangle_tests=triangle_tests, distance_tests=distance_tests)

    def found(self) -> Found:
        """Return keys, pairs and distances of the rows so far, as views."""
        count, arrays = self.row_count(), self.arrays
        return arrays["keys"][:count], arrays["pair_of_key"][:count], arrays["distance_of_key"][:count]


WORKSPACES = Workspaces(Workspace)


def give_back(work: Workspace) -> None:
    """Keep a workspace for the next search, unless its rows are very long."""
    if len(work.arrays["keys"]) <= LARGEST_KEPT:
        WORKSPACES.give_back(work)


def find_rows(forest: Forest, pairs: TreePairs, clearance: float = 0.0, row_mode: int = ALL) -> tuple[Rows, Counters]:
    """Return the rows of tree pairs that the mode wants (`report/packing.py`)."""
    work = WORKSPACES.take()
    work.start()
    work.find(forest, pairs, clearance, row_mode)
    found = rows_in_order(work, len(pairs.shape_a), clearance), work.counters()
    give_back(work)
    return found


def copied(found: Found) -> Found:
    """Return copies that the next search does not overwrite."""
    keys, pair, distance = found
    return keys.copy(), pair.copy(), distance.copy()


def rows_in_order(work: Workspace, pair_count: int, clearance: float) -> Rows:
    """Return the rows found of some pairs, sorted, as new columns."""
    if work.row_count() == 0:
        return NO_ROWS  # new columns take 2.5 µs, a sixth of a call
    found = work.found()
    if pair_count == 1 and clearance == 0.0:  # all distances are 0
        found[0].sort()
    else:
        sort_rows(found)
    return columns_of(found)


def sort_rows(found: Found) -> None:
    """Sort the rows of each pair."""
    sort_long_runs(*found)
    sort_runs(*found)


def columns_of(found: Found) -> Rows:
    """Return rows as new columns."""
    count = len(found[0])
    rows = empty_rows(count)
    copy_rows(*found, rows.pair, rows.face_a, rows.face_b, rows.kind, rows.distance)
    return rows


def empty_rows(count: int) -> Rows:
    """Return columns of unknown content."""
    return Rows(
        np.empty(count, np.int32), np.empty(count, np.int32), np.empty(count, np.int32), np.empty(count, np.uint8), np.empty(count)
    )


@kernel
def copy_rows(
    keys: Longs, pair: Ints, distance: Floats, to_pair: Ints, face_a: Ints, face_b: Ints, kind: Bytes, to_distance: Floats,
) -> None:  # fmt: skip
    """Write rows of packed keys as columns."""
    for k in range(keys.shape[0]):
        key = keys[k]
        to_pair[k] = pair[k]
        face_a[k] = key >> (FACE_BITS + KIND_BITS)
        face_b[k] = (key >> KIND_BITS) & ((1 << FACE_BITS) - 1)
        kind[k] = key & ((1 << KIND_BITS) - 1)
        to_distance[k] = distance[k]


def sort_long_runs(keys: Longs, pair: Ints, distance: Floats) -> None:
    """Sort keys and distances within each run of equal `pair` longer than `LONG_RUN`."""
    if len(keys) <= LONG_RUN:
        return
    begins = np.concatenate([[0], np.flatnonzero(pair[1:] != pair[:-1]) + 1, [len(pair)]])
    for k in np.flatnonzero(np.diff(begins) > LONG_RUN).tolist():
        run = slice(begins[k], begins[k + 1])
        if not distance[run].any():
            keys[run].sort()  # vectorised in NumPy; argsort costs three times as much
            continue
        order = np.argsort(keys[run])
        keys[run], distance[run] = keys[run][order], distance[run][order]


@kernel
def sort_runs(keys: Longs, pair: Ints, distance: Floats) -> None:
    """Sort the other runs, mostly of some dozen rows."""
    begin = 0
    while begin < keys.shape[0]:
        end = begin + 1
        while end < keys.shape[0] and pair[end] == pair[begin]:
            end += 1
        if end - begin <= LONG_RUN:
            sort_with_values(keys, distance, begin, end)
        begin = end
