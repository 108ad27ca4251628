"""Running the kernel of closest faces: workspaces, slices, threads, and rows as columns."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from jostle._types import Floats, Longs
from jostle.geometry.triangle_triangle import triangles_touch
from jostle.kernels.handles import AddressTable
from jostle.kernels.late import address_of
from jostle.kernels.pool import cancelled, share_out, threads_for
from jostle.kernels.scratch import Workspaces
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
from jostle.methods.wide_tree.portions import Collected, falling_portions, joined, total_of
from jostle.methods.wide_tree.search import ROW_ARRAYS, Found, TreePairs, columns_of
from jostle.methods.wide_tree.tree import LANES, Forest
from jostle.report.assemble import NO_ROWS, Rows
from jostle.report.contact_geometry import closest_of_faces
from jostle.report.packing import FACE_BITS
from jostle.report.report import Closest, Counters

FIRST_STACK, FIRST_ROWS = 4096, 256
OPERATIONS = 1_000_000  # until Python handles Ctrl-C: about 0.15 s
LARGEST_KEPT = 1 << 20  # rows
NO_GAPS = np.empty(0)
LARGEST_FACE = (1 << FACE_BITS) - 1
NO_SEED = np.array([NONE, 0, 0])  # a `nearest_work.Seed`, as three numbers
FEWEST = 8  # groups for several threads
PORTION = 4  # fewest pairs of a portion: of a search for the nearest faces each takes some 10 µs
_ZERO, _ONE = np.zeros(1, np.int32), np.ones(1, np.int32)


class NearQuestion(NamedTuple):
    """The options of a search for near faces; see `nearest_work.Asked`."""

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
    lowest: AddressTable = NO_LOWEST_FACES  # of `FaceOrder`: not its addresses alone, so the arrays live as long as a search
    gaps: Floats = NO_GAPS

    def until(self, stop: int) -> NearList:
        """Return the pairs before one."""
        return NearList(self.pairs.chosen(slice(stop)), self.lowest, self.gaps[:stop])


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
        self.go_on(forest, near, START)

    def go_on(self, forest: Forest, near: NearList, pair: int) -> None:
        """Run the kernel to the end from a pair on, keeping the rows so far."""
        self._next_pair[0] = pair
        while not self.resume(forest, near, OPERATIONS):
            if cancelled():
                return

    def resume(self, forest: Forest, near: NearList, operations: int) -> bool:
        """Run the kernel for a number of operations; return whether it is done."""
        pairs, lowest, gaps = near.pairs, near.lowest.table, near.gaps
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

    def found(self) -> Found:
        """Return keys, pairs and distances of the rows so far, as views."""
        count, arrays = self.row_count(), self.arrays
        return arrays["keys"][:count], arrays["pair_of_key"][:count], arrays["distance_of_key"][:count]


WORKSPACES = Workspaces(NearestWorkspace)


def give_back(work: NearestWorkspace) -> None:
    """Keep a workspace for the next search, unless its rows are very long."""
    if len(work.arrays["keys"]) <= LARGEST_KEPT:
        WORKSPACES.give_back(work)


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
    rows = columns_of(work.found()) if work.row_count() > 0 else NO_ROWS  # new columns take 2.5 µs
    found = rows, work.counters()
    give_back(work)
    return found


def find_nearest_rows_parallel(
    forest: Forest, near: NearList, question: NearQuestion, workers: int | None
) -> tuple[Rows, Counters]:  # fmt: skip
    """Return the rows of `find_nearest_rows`, using several threads where that pays.

    Groups are dealt out in portions (`portions.py`). The search of a group is that of one thread, so the answer does not depend on
    their number.
    """
    count, group = len(near.pairs.shape_a) // question.group, question.group
    if workers == 1 or question.mode == FIRST_NEAREST or count < FEWEST or threads_for(workers) == 1:
        return find_nearest_rows(forest, near, question)
    shares: list[_Share] = []

    def make_share() -> _Share:
        work = WORKSPACES.take()
        work.find(forest, near.until(0), question)
        shares.append(_Share(work, forest, near, group))
        return shares[-1]

    share_out(falling_portions(0, count, max(1, PORTION // group), workers), make_share, workers)
    found = joined(shares, workers), total_of(shares)
    for share in shares:
        give_back(share.work)
    return found


class _Share(Collected):
    """What one thread searches."""

    work: NearestWorkspace

    def __init__(self, work: NearestWorkspace, forest: Forest, near: NearList, group: int) -> None:
        super().__init__(work)
        self._forest, self._near, self._group = forest, near, group

    def __call__(self, portion: tuple[int, int]) -> None:
        """Search some groups."""
        start, stop = portion[0] * self._group, portion[1] * self._group
        self.begin_portion(start)
        self.work.go_on(self._forest, self._near.until(stop), start)
