"""Running the pair kernel: its workspace, its growth, its slices, and its rows as columns.

A workspace belongs to one search at a time. The kernel stops when an array is full, or after a number of operations; it is called
again with larger arrays, or after Python has had the chance to hear Ctrl-C.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from jostle.frame import Floats, Ints
from jostle.kernels.buffers import doubled
from jostle.kernels.handles import AddressTable
from jostle.kernels.jit import kernel
from jostle.kernels.pool import told_to_stop
from jostle.methods.wide_tree.leaf_cache import empty_cache
from jostle.methods.wide_tree.pairs import (
    ANEW,
    DISTANCE_TESTS,
    DONE,
    FULL_ROWS,
    FULL_STACK,
    NEXT_PAIR,
    NODE_TESTS,
    ROWS,
    STATE,
    TRIANGLE_TESTS,
    touching_faces,
)
from jostle.methods.wide_tree.tree import Tree
from jostle.packed_rows import ALL, FACE_BITS, KIND_BITS
from jostle.report import Counters
from jostle.rows import Rows

Found: TypeAlias = tuple[NDArray[np.int64], Ints, Floats]  # rows as the kernel writes them: keys, pairs, distances

LONG_RUN = 4096  # rows of a pair, of which NumPy's order takes a tenth of the time of a shell sort
OPERATIONS = 2_000_000  # node pairs, or exact tests times their weight, until Python looks up: 0.05 to 0.3 s
LARGEST_KEPT = 1 << 20  # rows; longer outputs are given back after the call


class Placed(NamedTuple):
    """Pairs of shapes at poses: shape_a[k] at poses[pose_a[k]] against shape_b[k] at poses[pose_b[k]]."""

    shape_a: Ints
    shape_b: Ints
    pose_a: Ints
    pose_b: Ints
    poses: Floats


class Forest:
    """The trees of a detector by number, as kernels want them: a table of addresses and the frames."""

    def __init__(self, trees: list[Tree]) -> None:
        self._hold(AddressTable([_arrays(tree) for tree in trees]), np.array([tree.frame for tree in trees]).reshape(-1, 6))

    def _hold(self, table: AddressTable, frames: Floats) -> None:
        self._table, self.addresses, self.frames = table, table.table, frames

    def with_trees(self, trees: Mapping[int, Tree]) -> Forest:
        """Return a forest with other trees in the places of some; this one stays as it is."""
        made, frames = Forest.__new__(Forest), self.frames.copy()
        for number, tree in trees.items():
            frames[number] = tree.frame
        made._hold(self._table.with_rows({number: _arrays(tree) for number, tree in trees.items()}), frames)
        return made


def _arrays(tree: Tree) -> list[NDArray[np.generic]]:
    return [tree.boxes, tree.first, tree.count, tree.faces, tree.face_ids, tree.vertices]


class Workspace:
    """Scratch arrays of a search, as the kernel wants them: a table of addresses. They grow and stay.

    A search that is interrupted may leave arrays and addresses that do not fit together: its workspace must not be used again.
    So take one with `take_workspace` and give it back at the end, not in a `finally`.
    """

    def __init__(self) -> None:
        self.state = np.zeros(STATE, np.int64)
        self.relative = np.empty((4, 4))
        self.stack = np.empty(4096, np.int32)
        self._caches = [*empty_cache(), *empty_cache()]
        self._motion_and_boxes = np.zeros(152, np.float32)
        self.keys: NDArray[np.int64]
        self.pair: Ints
        self.distance: Floats
        self._start_rows()

    def _tell(self) -> None:
        rows: list[NDArray[Any]] = [self.keys, self.pair, self.distance]
        self._table = AddressTable([[self.stack, *self._caches, self._motion_and_boxes, *rows]])
        self.addresses = self._table.table

    def double_stack(self) -> None:
        """Make the stack longer, keeping what it holds."""
        self.stack = doubled(self.stack)
        self._tell()

    def double_rows(self) -> None:
        """Make the outputs longer, keeping what they hold."""
        self.keys, self.pair, self.distance = doubled(self.keys), doubled(self.pair), doubled(self.distance)
        self._tell()

    def let_go(self) -> None:
        """Give very long outputs back."""
        if len(self.keys) > LARGEST_KEPT:
            self._start_rows()

    def _start_rows(self) -> None:
        self.keys, self.pair, self.distance = np.empty(1024, np.int64), np.empty(1024, np.int32), np.empty(1024)
        self._tell()

    def find(self, forest: Forest, placed: Placed, clearance: float, how_many: int) -> None:
        """Run the kernel to the end from `state` on."""
        while not self.go_on(forest, placed, clearance, how_many, OPERATIONS):
            if told_to_stop():
                return

    def go_on(self, forest: Forest, placed: Placed, clearance: float, how_many: int, operations: int) -> bool:
        """Run the kernel from `state` on for so many operations; returns whether it has come to the end."""
        while True:
            why = touching_faces(
                forest.addresses, forest.frames, *placed, clearance, how_many, operations, self.state, self.addresses, self.relative
            )
            if why == FULL_ROWS:
                self.double_rows()
            elif why == FULL_STACK:
                self.double_stack()
            else:
                return bool(why == DONE)

    def found(self) -> Found:
        """Return keys, pairs and distances of the rows so far: views."""
        count = int(self.state[ROWS])
        return self.keys[:count], self.pair[:count], self.distance[:count]


_kept = threading.local()


def take_workspace() -> Workspace:
    """Return a workspace that nobody uses, of this thread."""
    kept: list[Workspace] = _kept.__dict__.setdefault("workspaces", [])
    return kept.pop() if kept else Workspace()


def give_back(work: Workspace) -> None:
    """Keep a workspace for the next search of this thread."""
    work.let_go()
    _kept.workspaces.append(work)


def find_rows(forest: Forest, placed: Placed, clearance: float = 0.0, how_many: int = ALL) -> tuple[Rows, Counters]:
    """Return the rows of pairs of trees: all, or one for each pair, or one in all (`ALL`, `FIRST`, `WORST`, `ANY`)."""
    work = take_workspace()
    work.state[NEXT_PAIR] = ANEW
    work.find(forest, placed, clearance, how_many)
    found = rows_in_order(work, len(placed.shape_a)), counters_of(work)
    give_back(work)
    return found


def copied(found: Found) -> Found:
    """Return rows that the next search does not overwrite."""
    keys, pair, distance = found
    return keys.copy(), pair.copy(), distance.copy()


def rows_in_order(work: Workspace, pairs: int) -> Rows:
    """Return what was found, sorted, as columns of its own."""
    keys, pair, distance = work.found()
    if pairs == 1 and not distance.any():
        keys.sort()  # vectorised in NumPy; an order would cost ten times as much
    else:
        sort_long_runs(keys, pair, distance)
        sort_runs(keys, pair, distance)
    count = len(keys)
    rows = Rows(
        np.empty(count, np.int32), np.empty(count, np.int32), np.empty(count, np.int32), np.empty(count, np.uint8), np.empty(count)
    )
    copy_rows(keys, pair, distance, *rows)
    return rows


@kernel
def copy_rows(keys, pair, distance, to_pair, face_a, face_b, kind, to_distance):  # type: ignore[no-untyped-def]
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
def sort_runs(keys, pair, distance):  # type: ignore[no-untyped-def]
    """Do the same for the other runs, mostly of some dozen rows: shell sort."""
    begin = 0
    while begin < keys.shape[0]:
        end = begin + 1
        while end < keys.shape[0] and pair[end] == pair[begin]:
            end += 1
        gap = 1 if end - begin <= LONG_RUN else 0
        while gap > 0 and 3 * gap + 1 < end - begin:
            gap = 3 * gap + 1
        while gap > 0:
            for i in range(begin + gap, end):
                key, moved = keys[i], distance[i]
                j = i
                while j - gap >= begin and keys[j - gap] > key:
                    keys[j], distance[j] = keys[j - gap], distance[j - gap]
                    j -= gap
                keys[j], distance[j] = key, moved
            gap //= 3
        begin = end


def counters_of(work: Workspace) -> Counters:
    """Return how much work was done."""
    state = work.state
    return Counters(
        box_tests=64 * int(state[NODE_TESTS]), triangle_tests=int(state[TRIANGLE_TESTS]), distance_tests=int(state[DISTANCE_TESTS])
    )
