"""Running the kernel of closest faces: workspaces, slices, threads, and rows as columns."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from jostle._types import Floats, Longs
from jostle.geometry.triangle_triangle import triangles_touch
from jostle.kernels.late import address_of
from jostle.kernels.pool import cancelled, map_chunks
from jostle.kernels.scratch import Workspaces
from jostle.kernels.structs import Addresses
from jostle.kernels.work_arrays import WorkArrays
from jostle.methods.wide_tree.lowest_faces import NO_LOWEST_FACES
from jostle.methods.wide_tree.nearest import DONE, FULL_ROWS, FULL_STACK, SUSPICION, search_nearest
from jostle.methods.wide_tree.nearest_work import (
    FIRST_NEAREST,
    MOST_FACE_PAIRS,
    NEAREST,
    NONE,
    SLOTS,
    START,
    NearestWork,
)
from jostle.methods.wide_tree.search import ROW_ARRAYS, TreePairs, columns_of
from jostle.methods.wide_tree.tree import LANES, Forest
from jostle.report.assemble import NO_ROWS, Rows
from jostle.report.contact_geometry import closest_of_faces
from jostle.report.packing import FACE_BITS
from jostle.report.report import Closest, Counters

FIRST_STACK, FIRST_ROWS = 4096, 256
OPERATIONS = 1_000_000  # until Python handles Ctrl-C: about 0.15 s
LARGEST_KEPT = 1 << 20  # rows
NO_GAPS = np.empty(0)
CHUNK = 32  # fewest pairs of a chunk for a thread
MOST_CHUNKS = 64
LARGEST_FACE = (1 << FACE_BITS) - 1
NO_SEED = np.array([NONE, 0, 0])  # a `nearest_work.Seed`, as three numbers
_ZERO, _ONE = np.zeros(1, np.int32), np.ones(1, np.int32)


class NearQuestion(NamedTuple):
    """What is asked of a list of pairs; see `nearest_work.Asked`."""

    mode: int = NEAREST
    group: int = 1
    limit: float = np.inf
    clearance: float = np.inf
    is_seeded: bool = False

    @staticmethod
    def within(clearance: float, mode: int = NEAREST, group: int = 1) -> NearQuestion:
        """Return a question for faces that are near."""
        return NearQuestion(mode, group, clearance, clearance)


ANY_DISTANCE = NearQuestion()
SEEDED_DISTANCE = NearQuestion(is_seeded=True)


class NearList(NamedTuple):
    """Pairs of trees, the lowest faces of their nodes, and bounds of their distances.

    gaps: lower bounds, ascending in each group, or empty.
    """

    pairs: TreePairs
    lowest: Addresses = NO_LOWEST_FACES.table
    gaps: Floats = NO_GAPS


class NearestWorkspace(WorkArrays):
    """The arrays of a search, kept between calls: new ones cost as much as a search.

    That of an interrupted search must not be used again.
    """

    def __init__(self) -> None:
        face_pairs = {"candidates": MOST_FACE_PAIRS, "suspects": MOST_FACE_PAIRS}
        rows = dict.fromkeys(ROW_ARRAYS, FIRST_ROWS)
        super().__init__(NearestWork, leaves_x=SLOTS, leaves_y=SLOTS, stack=FIRST_STACK, relative=16, **face_pairs, **rows)
        self.arrays["leaves_x"]["node"] = self.arrays["leaves_y"]["node"] = -1
        self._asked, self.best, counts = self.arrays["asked"], self.arrays["best"], self.arrays["counts"]
        self._next_pair, self._row_count, self._exact_test = counts["next_pair"], counts["rows"], counts["exact_test"]
        # Views: a field of a record takes 0.5 µs more.
        self._distance, self._faces, corners = self.best["distance"], self.best["faces"], self.best["corners"]
        self._corners = corners["a"].reshape(3, 3), corners["b"].reshape(3, 3)
        self._tests = counts[["node_tests", "triangle_tests", "face_tests"]]
        self.seed = self.arrays["seed"].view(np.int64)
        self.seed[:] = NO_SEED
        self._shape_a, self._shape_b, self._poses = np.zeros(1, np.int32), np.zeros(1, np.int32), np.empty((2, 4, 4))
        poses = self._poses.view()
        poses.flags.writeable = False
        self._one_pair = NearList(TreePairs(self._shape_a, self._shape_b, _ZERO, _ONE, poses))

    def one_pair(self, shape_a: int, shape_b: int, pose_a: Floats, pose_b: Floats) -> NearList:
        """Return a list of one pair; the next one replaces it."""
        self._shape_a[0], self._shape_b[0], self._poses[0], self._poses[1] = shape_a, shape_b, pose_a, pose_b
        return self._one_pair

    def find(self, forest: Forest, near: NearList, question: NearQuestion) -> None:
        """Run the kernel to the end."""
        self._asked[0] = question
        self._next_pair[0] = START
        while not self.resume(forest, near, OPERATIONS):
            if cancelled():
                return

    def resume(self, forest: Forest, near: NearList, operations: int) -> bool:
        """Run the kernel for a number of operations; return whether it is done."""
        pairs, lowest, gaps = near
        while True:
            why = search_nearest(forest.addresses, lowest, *pairs, gaps, operations, self.addresses)
            if why == SUSPICION:
                self._exact_test[0] = address_of(triangles_touch)
            elif why == FULL_STACK:
                self.double("stack")
            elif why == FULL_ROWS:
                self.double(*ROW_ARRAYS)
            else:
                return bool(why == DONE)

    def row_count(self) -> int:
        """Return the number of rows so far."""
        return int(self._row_count[0])

    def distance(self) -> float:
        """Return the least distance found."""
        return self._distance.item()

    def closest(self) -> Closest:
        """Return the closest points of the nearest faces found."""
        faces: int = self._faces.item()
        return closest_of_faces(self.distance(), faces >> FACE_BITS, faces & LARGEST_FACE, *self._corners)

    def counters(self) -> Counters:
        """Return the tests so far."""
        node_tests, triangle_tests, face_tests = self._tests.item()
        return Counters(box_tests=LANES * LANES * node_tests, triangle_tests=triangle_tests, distance_tests=face_tests)

    def rows(self) -> Rows:
        """Return the rows, as new columns."""
        count, arrays = self.row_count(), self.arrays
        if count == 0:
            return NO_ROWS
        return columns_of((arrays["keys"][:count], arrays["pair_of_key"][:count], arrays["distance_of_key"][:count]))


WORKSPACES = Workspaces(NearestWorkspace)


def closest_faces(forest: Forest, shape_a: int, shape_b: int, pose_a: Floats, pose_b: Floats, seed: Longs) -> Closest:
    """Return the closest points of two bodies; ties go to the lowest faces.

    Parameters
    ----------
    forest : Forest
    shape_a, shape_b : int
        Numbers of their trees.
    pose_a, pose_b : (4, 4) float64
        Body to world.
    seed : (3,) int64
        Of the last search for these bodies, or `NO_SEED`; replaced by the next. The answer does not depend on it.
    """
    work = WORKSPACES.take()
    work.seed[:] = seed
    work.find(forest, work.one_pair(shape_a, shape_b, pose_a, pose_b), SEEDED_DISTANCE)
    closest = work.closest()
    seed[:] = work.seed
    WORKSPACES.give_back(work)
    return closest


def find_nearest_rows(forest: Forest, near: NearList, question: NearQuestion) -> tuple[Rows, Counters]:
    """Return a row for each group of pairs that has one (`nearest.py`)."""
    work = WORKSPACES.take()
    work.find(forest, near, question)
    found = work.rows(), work.counters()
    if len(work.arrays["keys"]) <= LARGEST_KEPT:
        WORKSPACES.give_back(work)
    return found


def find_nearest_rows_parallel(
    forest: Forest, near: NearList, question: NearQuestion, workers: int | None
) -> tuple[Rows, Counters]:  # fmt: skip
    """Return the rows of `find_nearest_rows`, using several threads where that pays.

    Groups are cut into chunks, each with a search of its own. These do not depend on the number of threads, so the answer does not.
    """
    count, group = len(near.pairs.shape_a), question.group
    if workers == 1 or question.mode == FIRST_NEAREST or count < 2 * max(CHUNK, group):
        return find_nearest_rows(forest, near, question)

    def chunk(start: int, stop: int) -> tuple[Rows, Counters]:
        cut = slice(start * group, stop * group)
        rows, counters = find_nearest_rows(forest, NearList(near.pairs.chosen(cut), near.lowest, near.gaps[cut]), question)
        return rows._replace(pair=rows.pair + np.int32(start * group)), counters

    found = map_chunks(chunk, count // group, max(1, max(CHUNK, count // MOST_CHUNKS) // group), workers)
    return Rows.joined([rows for rows, _ in found]), sum((counters for _, counters in found), Counters())
