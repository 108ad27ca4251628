"""Running the pair kernel: its workspace, its growth, its slices, and its rows as columns.

A workspace belongs to one search at a time. The kernel stops when an array is full, or after a number of operations; it is called
again with larger arrays, or after Python has had the chance to hear Ctrl-C.
"""

from __future__ import annotations

import threading
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from jostle._types import Floats, Ints
from jostle.kernels.buffers import doubled
from jostle.kernels.handles import AddressTable
from jostle.kernels.jit import kernel
from jostle.kernels.pool import cancelled
from jostle.kernels.sort import sort_with_values
from jostle.methods.wide_tree.leaf_cache import empty_cache
from jostle.methods.wide_tree.pair_work import START, MovedBoxes, PairWork, Progress
from jostle.methods.wide_tree.pairs import DONE, FULL_ROWS, FULL_STACK, touching_faces
from jostle.methods.wide_tree.relative_frame import Motion
from jostle.methods.wide_tree.tree import LANES, Forest
from jostle.report.assemble import Rows
from jostle.report.packing import ALL, FACE_BITS, KIND_BITS
from jostle.report.report import Counters

Found: TypeAlias = tuple[NDArray[np.int64], Ints, Floats]  # rows as the kernel writes them: keys, pairs, distances

LONG_RUN = 4096  # rows of a pair, of which NumPy's order takes a tenth of the time of a shell sort
OPERATIONS = 2_000_000  # node pairs, or exact tests times their weight, until Python looks up: 0.05 to 0.3 s
FIRST_ROWS = 1024
LARGEST_KEPT = 1 << 20  # rows; longer outputs are given back after the call


class Placed(NamedTuple):
    """Pairs of shapes at poses: shape_a[k] at poses[pose_a[k]] against shape_b[k] at poses[pose_b[k]]."""

    shape_a: Ints
    shape_b: Ints
    pose_a: Ints
    pose_b: Ints
    poses: Floats


class Workspace:
    """Scratch arrays of a search, as the kernel wants them: a table of addresses. They grow and stay.

    A search that is interrupted may leave arrays and addresses that do not fit together: its workspace must not be used again.
    So take one with `take_workspace` and give it back at the end, not in a `finally`.
    """

    def __init__(self) -> None:
        progress = np.zeros(1, Progress.dtype)
        self.progress = Progress(progress[0])
        # Views, as an attribute of a record takes 0.5 µs more.
        self._next_pair, self._row_count = progress["next_pair"], progress["rows"]
        self._tests = progress[["node_tests", "triangle_tests", "distance_tests"]]
        self.stack = np.empty((2048, 2), np.int32)
        self.keys, self.pair, self.distance = _empty_rows()
        self._hold(
            PairWork.table(
                progress=progress,
                motion=np.zeros(1, Motion.dtype),
                moved=np.zeros(1, MovedBoxes.dtype),
                relative=np.empty(16),
                stack=self.stack,
                leaves_x=empty_cache(),
                leaves_y=empty_cache(),
                keys=self.keys,
                pair_of_key=self.pair,
                distance_of_key=self.distance,
            )
        )

    def _hold(self, table: AddressTable) -> None:
        self._table, self.addresses = table, table.table[0]

    def double_stack(self) -> None:
        """Make the stack longer, keeping what it holds."""
        self.stack = doubled(self.stack)
        self._hold(self._table.with_arrays(0, PairWork.places(stack=self.stack)))

    def double_rows(self) -> None:
        """Make the outputs longer, keeping what they hold."""
        self._hold_rows((doubled(self.keys), doubled(self.pair), doubled(self.distance)))

    def release_rows(self) -> None:
        """Give very long outputs back."""
        if len(self.keys) > LARGEST_KEPT:
            self._hold_rows(_empty_rows())

    def _hold_rows(self, rows: Found) -> None:
        self.keys, self.pair, self.distance = rows
        arrays = PairWork.places(keys=self.keys, pair_of_key=self.pair, distance_of_key=self.distance)
        self._hold(self._table.with_arrays(0, arrays))

    def start(self) -> None:
        """Let the next call of the kernel begin a new search."""
        self._next_pair[0] = START

    def find(self, forest: Forest, placed: Placed, clearance: float, row_mode: int) -> None:
        """Run the kernel to the end."""
        while not self.resume(forest, placed, clearance, row_mode, OPERATIONS):
            if cancelled():
                return

    def resume(self, forest: Forest, placed: Placed, clearance: float, row_mode: int, operations: int) -> bool:
        """Run the kernel for so many operations; returns whether it has come to the end."""
        while True:
            why = touching_faces(forest.addresses, *placed, clearance, row_mode, operations, self.addresses)
            if why == FULL_ROWS:
                self.double_rows()
            elif why == FULL_STACK:
                self.double_stack()
            else:
                return bool(why == DONE)

    def row_count(self) -> int:
        """Return how many rows there are so far."""
        return int(self._row_count[0])

    def tests(self) -> tuple[int, int, int]:
        """Return how many tests there were so far: of pairs of nodes, of triangles, and of distances."""
        node_tests, triangle_tests, distance_tests = self._tests.item()
        return node_tests, triangle_tests, distance_tests

    def found(self) -> Found:
        """Return keys, pairs and distances of the rows so far: views."""
        count = self.row_count()
        return self.keys[:count], self.pair[:count], self.distance[:count]


def _empty_rows() -> Found:
    return np.empty(FIRST_ROWS, np.int64), np.empty(FIRST_ROWS, np.int32), np.empty(FIRST_ROWS)


_kept = threading.local()


def take_workspace() -> Workspace:
    """Return a workspace that nobody uses, of this thread."""
    kept: list[Workspace] = _kept.__dict__.setdefault("workspaces", [])
    return kept.pop() if kept else Workspace()


def give_back(work: Workspace) -> None:
    """Keep a workspace for the next search of this thread."""
    work.release_rows()
    _kept.workspaces.append(work)


def find_rows(forest: Forest, placed: Placed, clearance: float = 0.0, row_mode: int = ALL) -> tuple[Rows, Counters]:
    """Return the rows of pairs of trees: all, or one for each pair, or one in all (`ALL`, `FIRST`, `WORST`, `ANY`)."""
    work = take_workspace()
    work.start()
    work.find(forest, placed, clearance, row_mode)
    found = rows_in_order(work, len(placed.shape_a)), counters_of(work)
    give_back(work)
    return found


def copied(found: Found) -> Found:
    """Return rows that the next search does not overwrite."""
    keys, pair, distance = found
    return keys.copy(), pair.copy(), distance.copy()


def rows_in_order(work: Workspace, pairs: int) -> Rows:
    """Return what was found, sorted, as columns of its own."""
    found = work.found()
    keys, _, distance = found
    if pairs == 1 and not distance.any():
        keys.sort()  # vectorised in NumPy; an order would cost ten times as much
    else:
        sort_long_runs(*found)
        sort_runs(*found)
    count = len(keys)
    rows = Rows(
        np.empty(count, np.int32), np.empty(count, np.int32), np.empty(count, np.int32), np.empty(count, np.uint8), np.empty(count)
    )
    copy_rows(*found, rows.pair, rows.face_a, rows.face_b, rows.kind, rows.distance)
    return rows


@kernel
def copy_rows(
    keys: NDArray[np.int64], pair: Ints, distance: Floats,
    to_pair: Ints, face_a: Ints, face_b: Ints, kind: NDArray[np.uint8], to_distance: Floats,
) -> None:  # fmt: skip
    """Write rows of packed keys as columns."""
    for k in range(keys.shape[0]):
        key = keys[k]
        to_pair[k] = pair[k]
        face_a[k] = key >> (FACE_BITS + KIND_BITS)
        face_b[k] = (key >> KIND_BITS) & ((1 << FACE_BITS) - 1)
        kind[k] = key & ((1 << KIND_BITS) - 1)
        to_distance[k] = distance[k]


def sort_long_runs(keys: NDArray[np.int64], pair: Ints, distance: Floats) -> None:
    """Sort the keys, and the distances with them, within each run of equal `pair` that is longer than `LONG_RUN`."""
    if len(keys) <= LONG_RUN:
        return
    begins = np.concatenate([[0], np.flatnonzero(pair[1:] != pair[:-1]) + 1, [len(pair)]])
    for k in np.flatnonzero(np.diff(begins) > LONG_RUN).tolist():
        run = slice(begins[k], begins[k + 1])
        order = np.argsort(keys[run])
        keys[run], distance[run] = keys[run][order], distance[run][order]


@kernel
def sort_runs(keys: NDArray[np.int64], pair: Ints, distance: Floats) -> None:
    """Do the same for the other runs, mostly of some dozen rows."""
    begin = 0
    while begin < keys.shape[0]:
        end = begin + 1
        while end < keys.shape[0] and pair[end] == pair[begin]:
            end += 1
        if end - begin <= LONG_RUN:
            sort_with_values(keys, distance, begin, end)
        begin = end


def counters_of(work: Workspace) -> Counters:
    """Return how much work was done."""
    node_tests, triangle_tests, distance_tests = work.tests()
    return Counters(box_tests=LANES * LANES * node_tests, triangle_tests=triangle_tests, distance_tests=distance_tests)
