"""Running the pair kernel: its workspace, its growth, its slices, and its rows as columns.

A workspace belongs to one thread. The kernel stops when an array is full, or after a number of node pairs; it is called again with larger
arrays, or after Python has had the chance to hear Ctrl-C.
"""

from __future__ import annotations

import threading
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from jostle.frame import Floats, Ints
from jostle.kernels.handles import AddressTable
from jostle.methods.wide_tree.leaf_cache import CORNERS, empty_cache
from jostle.methods.wide_tree.pairs import (
    ALL,
    DISTANCE_TESTS,
    DONE,
    FACE_BITS,
    FULL_ROWS,
    FULL_STACK,
    HEIGHT,
    KIND_BITS,
    NEXT_PAIR,
    NODE_TESTS,
    ROWS,
    STATE,
    TRIANGLE_TESTS,
    touching_faces,
)
from jostle.methods.wide_tree.tree import Tree
from jostle.report import Counters

OPERATIONS = 1_000_000  # node pairs until Python looks up: 0.05 to 0.2 s


class Rows(NamedTuple):
    """Rows of many pairs: the number of the pair in the list, faces, kind and distance; sorted by (pair, face_a, face_b)."""

    pair: Ints
    face_a: Ints
    face_b: Ints
    kind: NDArray[np.uint8]
    distance: Floats


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
        self._table = AddressTable([_arrays(tree) for tree in trees])
        self.addresses = self._table.table
        self.frames = np.array([tree.frame for tree in trees]).reshape(-1, 6)

    def replace(self, number: int, tree: Tree) -> None:
        """Put another tree in the place of one."""
        self._table.replace(number, _arrays(tree))
        self.frames[number] = tree.frame


def _arrays(tree: Tree) -> list[NDArray[np.generic]]:
    return [tree.boxes, tree.first, tree.count, tree.faces, tree.face_ids, tree.vertices]


class Workspace(threading.local):
    """Scratch arrays of one thread; they grow and stay."""

    def __init__(self) -> None:
        self.state = np.zeros(STATE, np.int64)
        self.stack = np.empty((2048, 2), np.int32)
        self.cache_x, self.cache_y = empty_cache(), empty_cache()
        self.leaf = np.zeros(CORNERS)
        self.scratch = np.zeros(144, np.float32)
        self.relative = np.empty((4, 4))
        self.make_room(1024)

    def make_room(self, rows: int) -> None:
        """Make the outputs at least this long, keeping what they hold."""
        old = getattr(self, "rows", np.empty(0, np.int64)), getattr(self, "pair", None), getattr(self, "distance", None)
        self.rows, self.pair, self.distance = np.empty(rows, np.int64), np.empty(rows, np.int32), np.empty(rows)
        for before, after in zip(old, (self.rows, self.pair, self.distance), strict=True):
            if before is not None:
                after[: len(before)] = before


WORKSPACE = Workspace()
LARGEST_KEPT = 1 << 20  # rows; longer outputs are given back after the call


def find_rows(forest: Forest, placed: Placed, clearance: float = 0.0, how_many: int = ALL) -> tuple[Rows, Counters]:
    """Return the rows of pairs of trees: all, or one for each pair, or one in all (`ALL`, `FIRST`, `ANY`)."""
    work = WORKSPACE
    work.state[[NEXT_PAIR, HEIGHT, ROWS, NODE_TESTS, TRIANGLE_TESTS, DISTANCE_TESTS]] = 0
    try:
        while True:
            why = touching_faces(
                forest.addresses, forest.frames, placed.shape_a, placed.shape_b, placed.pose_a, placed.pose_b, placed.poses,
                clearance, how_many, OPERATIONS, work.state, work.stack, work.cache_x, work.cache_y, work.leaf, work.scratch,
                work.relative, work.rows, work.pair, work.distance,
            )  # fmt: skip
            if why == DONE:
                break
            if why == FULL_ROWS:
                work.make_room(2 * len(work.rows))
            elif why == FULL_STACK:
                work.stack = np.concatenate([work.stack, np.empty_like(work.stack)])
        return _sorted(work, len(placed.shape_a)), _counters(work)
    finally:
        if len(work.rows) > LARGEST_KEPT:
            del work.rows, work.pair, work.distance
            work.make_room(1024)


def _sorted(work: Workspace, pairs: int) -> Rows:
    found = slice(int(work.state[ROWS]))
    keys, pair, distance = work.rows[found], work.pair[found], work.distance[found]
    if pairs == 1 and not distance.any():
        keys = np.sort(keys)  # vectorised in NumPy; an order would cost ten times as much
        pair, distance = pair.copy(), distance.copy()
    else:
        order = np.argsort(keys, kind="stable") if pairs == 1 else np.lexsort((keys, pair))
        keys, pair, distance = keys[order], pair[order], distance[order]
    return Rows(pair, *unpacked(keys), distance)


def unpacked(keys: NDArray[np.int64]) -> tuple[Ints, Ints, NDArray[np.uint8]]:
    """Return face_a, face_b and kind of rows as the kernels pack them."""
    face_a = (keys >> (FACE_BITS + KIND_BITS)).astype(np.int32)
    face_b = ((keys >> KIND_BITS) & ((1 << FACE_BITS) - 1)).astype(np.int32)
    return face_a, face_b, (keys & ((1 << KIND_BITS) - 1)).astype(np.uint8)


def _counters(work: Workspace) -> Counters:
    state = work.state
    return Counters(
        box_tests=64 * int(state[NODE_TESTS]), triangle_tests=int(state[TRIANGLE_TESTS]), distance_tests=int(state[DISTANCE_TESTS])
    )
