"""Whether two bodies touch, in one call of a kernel: what `Pair.touches` asks.

A call with eight arrays and another one for the check of the poses take twice as long as this one (0.9 and 0.4 µs of 2.0).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from jostle import cast
from jostle._types import Floats
from jostle.geometry.rigid import all_rigid
from jostle.kernels.jit import kernel
from jostle.kernels.structs import Addresses, One, Record, Rows, Struct, float64, int32, int64, opener
from jostle.kernels.work_arrays import WorkArrays
from jostle.methods.wide_tree.pair_work import START, open_work
from jostle.methods.wide_tree.pairs import DONE, touching_faces
from jostle.methods.wide_tree.search import OPERATIONS, TreePairs, Workspace
from jostle.methods.wide_tree.tree import Forest
from jostle.report.packing import FIRST

APART, TOUCHING, NOT_RIGID, UNFINISHED = range(4)


class PoseLimits(Record):
    """What poses are checked against; see `is_rigid`."""

    tolerance: float64
    farthest: float64


class TouchQuestion(Struct):
    """Two trees, and the workspace of their search."""

    trees: Rows[int64]  # the table of both
    first: Rows[int32]  # 0, the number of tree and pose of A
    second: Rows[int32]  # 1, those of B
    limits: One[PoseLimits]
    work: Rows[int64]  # the addresses of `PairWork`


open_question = opener(TouchQuestion)


@kernel
def touch(question: Addresses, poses: Floats) -> int:
    """Return APART or TOUCHING, NOT_RIGID if a pose (2,4,4) is not, or UNFINISHED if the search stopped before its end."""
    asked = open_question(question)
    if not all_rigid(poses, asked.limits.tolerance, asked.limits.farthest):
        return NOT_RIGID
    trees: Any = asked.trees
    first: Any = asked.first
    second: Any = asked.second
    work: Any = asked.work
    progress = open_work(work).progress
    progress.next_pair = START
    both = trees.reshape((2, len(trees) // 2))
    if touching_faces(both, first, second, first, second, poses, 0.0, FIRST, OPERATIONS, work) != DONE:
        return UNFINISHED
    return TOUCHING if progress.rows > 0 else APART


class TouchSearch:
    """A workspace for one question at a time; that of an interrupted one must not be used again.

    Parameters
    ----------
    forest : Forest
        Of two trees; the caller keeps it alive.
    pairs : TreePairs
        One pair; its poses (2,4,4) are read at each call.
    """

    def __init__(self, forest: Forest, pairs: TreePairs) -> None:
        self._forest, self._pairs, self._work = forest, pairs, Workspace()
        self._ask()

    def _ask(self) -> None:
        limits = np.array([(cast.RIGID_TOLERANCE, cast.LARGEST_COORDINATE)], PoseLimits.dtype)
        first, second = self._pairs.shape_a, self._pairs.shape_b
        trees, work = self._forest.addresses, self._work.addresses
        self._question = WorkArrays(TouchQuestion, trees=trees, first=first, second=second, limits=limits, work=work)
        self._addresses, self._poses = self._question.addresses, self._pairs.poses

    def answer(self) -> int:
        """Return whether the bodies touch at the present poses: APART, TOUCHING or NOT_RIGID."""
        found = touch(self._addresses, self._poses)
        if found != UNFINISHED:
            return int(found)
        self._work.find(self._forest, self._pairs, 0.0, FIRST)
        self._ask()  # its arrays may have grown
        return TOUCHING if self._work.row_count() > 0 else APART
