"""Many pairs, or few large ones, on several threads.

The first operations of a search run in the calling thread: for less no thread is worth waking. What is left is dealt out in
portions (`portions.py`). A pair that takes long when nothing is left for another thread is split: the node pairs on its stack are
dealt like cards, and each hand is played by some thread; a hand that takes long is split again.

A row, and each test that is counted, belongs to one pair of nodes. So neither rows nor counters depend on portions, hands and
threads. Where one row of a pair is enough, the pair is not split, for what is tested depends on what was found before.
"""

from __future__ import annotations

import functools
from collections import deque
from typing import Any, NamedTuple

from numpy.typing import NDArray

from jostle.kernels.pool import cancelled, share_out, threads_for
from jostle.methods.wide_tree.portions import Collected, concatenated, falling_portions, joined, total_of
from jostle.methods.wide_tree.search import (
    WORKSPACES,
    TreePairs,
    Workspace,
    columns_of,
    find_rows,
    give_back,
    rows_in_order,
    sort_rows,
)
from jostle.methods.wide_tree.tree import Forest
from jostle.report.assemble import Rows
from jostle.report.packing import ALL, ANY, WORST_OF_ANY
from jostle.report.report import Counters

ALONE = 3_000  # operations before threads are woken: 0.02 to 0.1 ms
MANY = 1_000  # pairs for which threads are woken at once
SOON = 400_000  # operations of a slice, 0.3 to 3 ms; a pair that takes more than two is split, if threads are idle
HANDS = 16  # parts of the stack of a large pair
FEW = 16  # pairs of which each is a portion of its own
CHUNK = 16  # fewest pairs of a portion, of which each may take two slices


class Search(NamedTuple):
    """Pairs of trees, and the options of their search."""

    forest: Forest
    pairs: TreePairs
    clearance: float
    row_mode: int


class Hand(NamedTuple):
    """Pairs start … stop - 1; if there are nodes, one pair below these only."""

    start: int
    stop: int
    nodes: NDArray[Any] | None = None


def find_rows_parallel(
    forest: Forest, pairs: TreePairs, clearance: float, row_mode: int, workers: int | None
) -> tuple[Rows, Counters]:
    """Return the rows of `find_rows`, using several threads where that pays."""
    if workers == 1 or row_mode in (ANY, WORST_OF_ANY) or threads_for(workers) == 1:
        return find_rows(forest, pairs, clearance, row_mode)
    work = WORKSPACES.take()
    work.start()
    if work.resume(forest, pairs, clearance, row_mode, ALONE if len(pairs.shape_a) < MANY else 1):
        found = rows_in_order(work, len(pairs.shape_a), clearance), work.counters()
        give_back(work)
        return found
    return _Deal(Search(forest, pairs, clearance, row_mode), work, workers).rows()


class _Deal:
    """A search that goes on in several threads.

    Parameters
    ----------
    search : Search
    work : Workspace
        Of the search so far; it stopped within a pair.
    workers : int, optional
    """

    def __init__(self, search: Search, work: Workspace, workers: int | None) -> None:
        self.search, self._workers = search, workers
        self.split: deque[tuple[int, NDArray[Any]]] = deque()  # pairs that take long, and the node pairs that are left
        self.waiting: deque[Hand] = deque()  # for a thread, in this round
        self._shares = [_Share(self, work)]
        self._first = work.pair()

    def rows(self) -> tuple[Rows, Counters]:
        """Return all rows of the search, and its tests."""
        first, count, has_split = self._first, len(self.search.pairs.shape_a), False
        if self.search.row_mode == ALL and count - first < threads_for(self._workers):
            self._shares[0].split_pair()
            first += 1
        hands = [Hand(*portion) for portion in falling_portions(first, count, CHUNK if count > FEW else 1, self._workers)]
        while hands or self.split:
            has_split = has_split or len(self.split) > 0
            # Neighbours on a stack are alike: every hand gets large ones and small ones.
            hands += [Hand(pair, pair + 1, nodes[k::HANDS]) for pair, nodes in self.split for k in range(min(HANDS, len(nodes)))]
            self.split.clear()
            self.waiting = deque(hands)
            share_out(hands, functools.partial(self._share, deque(self._shares)), self._workers)
            hands = []
        rows, counters = self._split_rows() if has_split else joined(self._shares, self._workers), total_of(self._shares)
        for share in self._shares:
            give_back(share.work)
        return rows, counters

    def _share(self, idle: deque[_Share]) -> _Share:
        """Return a share of an earlier round, the first one for the calling thread, or another one."""
        try:
            return idle.popleft()
        except IndexError:
            pass
        work = WORKSPACES.take()
        work.start()
        work.find(self.search.forest, self.search.pairs.chosen(slice(0)), self.search.clearance, self.search.row_mode)
        self._shares.append(_Share(self, work))
        return self._shares[-1]

    def _split_rows(self) -> Rows:
        found = concatenated(self._shares)
        sort_rows(found)
        return columns_of(found)


class _Share(Collected):
    """What one thread searches."""

    work: Workspace

    def __init__(self, deal: _Deal, work: Workspace) -> None:
        super().__init__(work)
        self._deal = deal
        self._sorted = 0  # rows

    def __call__(self, hand: Hand) -> None:
        """Search a hand; put pairs that take long aside."""
        (forest, pairs, clearance, row_mode), work = self._deal.search, self.work
        pairs, last = pairs.chosen(slice(hand.stop)), -1
        self._deal.waiting.popleft()
        self.begin_portion(hand.start)
        if hand.nodes is None:
            work.go_to(hand.start)  # the first pair of all has begun, and goes on
        else:
            work.begin_below(hand.start, hand.nodes)
        while not work.resume(forest, pairs, clearance, row_mode, SOON):
            if cancelled():
                return
            # While hands are waiting no thread is idle; a hand that is split costs a seventh more, for leaves are set up again.
            if work.pair() == last and row_mode == ALL and not self._deal.waiting:
                self.split_pair()
            last = work.pair()
        if row_mode == ALL:
            keys, pair, distance = work.found()
            sort_rows((keys[self._sorted :], pair[self._sorted :], distance[self._sorted :]))
            self._sorted = len(keys)

    def split_pair(self) -> None:
        """Leave the rest of the present pair to all threads, and go on to the next one."""
        self._deal.split.append((self.work.pair(), self.work.taken_nodes()))
