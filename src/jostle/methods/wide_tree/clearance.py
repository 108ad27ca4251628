"""Rows within a clearance, where not all are wanted: of each pair the nearest, or whether anything is near.

A search for touching faces comes first: it costs a few hundredths of a search for the nearest faces, and decides the kinds of the
pairs that touch. Only pairs that do not touch are searched for their nearest faces, within the clearance (`nearest.py`).

| rows | of pairs that touch | of pairs that are near |
|---|---|---|
| "first" | the lowest faces that touch; faces of the most severe kind, if those are others | the nearest faces |
| "pairs" | faces of the most severe kind | the nearest faces |
| "any" | the same, for the lowest pair that touches or is near | |
| all rows of touching faces (`solid`) | all | the nearest faces |
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from jostle._types import Ints
from jostle.methods.wide_tree.lowest_faces import LowestFaces
from jostle.methods.wide_tree.nearest_search import NearList, NearQuestion, find_nearest_rows, find_nearest_rows_parallel
from jostle.methods.wide_tree.nearest_work import ANY_NEAR, FIRST_NEAREST, LOWEST_TOUCHING
from jostle.methods.wide_tree.parallel import find_rows_parallel
from jostle.methods.wide_tree.search import TreePairs
from jostle.methods.wide_tree.tree import Forest, Tree
from jostle.report.assemble import NO_ROWS, Rows
from jostle.report.packing import WORST, WORST_OF_ANY
from jostle.report.report import Counters

FIRST_PAIRS = 8  # of bodies that `rows="any"` searches first; four times as many each time


class Trees:
    """The trees of a detector by number, for searches."""

    def __init__(self, trees: Sequence[Tree], forest: Forest, lowest: LowestFaces) -> None:
        self._trees, self.forest, self._lowest = trees, forest, lowest

    def lowest(self, pairs: TreePairs) -> NearList:
        """Return pairs with the lowest faces of their trees."""
        return NearList(pairs, self._lowest.table(self._trees, np.concatenate([pairs.shape_a, pairs.shape_b])))


def nearest_rows(
    trees: Trees, pairs: TreePairs, clearance: float, row_mode: int, workers: int | None
) -> tuple[Rows, Counters]:  # fmt: skip
    """Return the touching rows that the mode wants, and the nearest row of each other pair."""
    touching, counters = find_rows_parallel(trees.forest, pairs, 0.0, row_mode, workers)
    question = NearQuestion.within(clearance)
    if len(touching.pair) == 0:  # choosing and sorting take 10 µs, as long as two simple bodies
        near, work = find_nearest_rows_parallel(trees.forest, NearList(pairs), question, workers)
        return near, counters + work
    others = pairs_without(touching, len(pairs.shape_a))
    near, work = find_nearest_rows_parallel(trees.forest, NearList(pairs.chosen(others)), question, workers)
    return in_order(touching, near._replace(pair=others[near.pair])), counters + work


def first_rows(trees: Trees, pairs: TreePairs, clearance: float, workers: int | None) -> tuple[Rows, Counters]:
    """Return the nearest row of each pair, and one of its kind if that is another."""
    rows, counters = nearest_rows(trees, pairs, clearance, WORST, workers)
    touching = np.flatnonzero(rows.distance == 0.0)
    if len(touching) == 0:
        return rows, counters
    number = rows.pair[touching]
    lowest, work = find_nearest_rows_parallel(
        trees.forest, trees.lowest(pairs.chosen(number)), NearQuestion(LOWEST_TOUCHING), workers
    )  # fmt: skip
    # The lowest replaces the row of the pair's kind where it is of that kind.
    kept = np.ones(len(rows.pair), bool)
    kept[touching] = lowest.kind < rows.kind[touching]
    lowest = lowest._replace(pair=number[lowest.pair])
    return in_order(rows.chosen(kept), lowest), counters + work


def any_rows(trees: Trees, pairs: TreePairs, clearance: float, workers: int | None) -> tuple[Rows, Counters]:
    """Return the rows of the lowest pair that touches or is near."""
    begin, many, counters = 0, FIRST_PAIRS, Counters()
    while begin < len(pairs.shape_a):
        some = pairs.between(begin, begin + many)
        rows, work = find_rows_parallel(trees.forest, some, 0.0, WORST_OF_ANY, workers)
        before = int(rows.pair[0]) if len(rows.pair) else many
        near, more = find_nearest_rows(
            trees.forest, NearList(some.between(0, before)), NearQuestion.within(clearance, FIRST_NEAREST)
        )  # fmt: skip
        counters += work + more
        found = near if len(near.pair) else rows
        if len(found.pair):
            return found if begin == 0 else found._replace(pair=found.pair + np.int32(begin)), counters
        begin, many = begin + many, 4 * many
    return NO_ROWS, counters


def any_near_row(trees: Trees, pairs: TreePairs, clearance: float) -> tuple[Rows, Counters]:
    """Return a row of any pair that touches or is near."""
    if len(pairs.shape_a) == 0:
        return NO_ROWS, Counters()
    question = NearQuestion.within(clearance, ANY_NEAR, len(pairs.shape_a))
    return find_nearest_rows(trees.forest, NearList(pairs), question)


def in_order(one: Rows, other: Rows) -> Rows:
    """Return rows of both, sorted; those of `other` come first within a pair."""
    if len(one.pair) == 0 or len(other.pair) == 0:
        return one if len(other.pair) == 0 else other
    both = Rows.joined([other, one])
    return both.chosen(np.argsort(both.pair, kind="stable"))


def pairs_without(rows: Rows, count: int) -> Ints:
    """Return the numbers of the pairs without rows."""
    left = np.ones(count, bool)
    left[rows.pair] = False
    numbers: Ints = np.flatnonzero(left).astype(np.int32)
    return numbers
