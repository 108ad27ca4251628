"""Many pairs, or one large pair, on several threads.

Many pairs are cut into chunks, each with a search of its own. Of few pairs, one that takes long is split: the node pairs on its
stack are dealt like cards, and each hand is played by some thread. Chunks and hands do not depend on the number of threads, and
rows are sorted in the end, so the answer does not depend on it either.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from jostle.kernels.pool import map_chunks
from jostle.methods.wide_tree.search import (
    WORKSPACES,
    Found,
    TreePairs,
    Workspace,
    copied,
    find_rows,
    give_back,
    rows_in_order,
)
from jostle.methods.wide_tree.tree import Forest
from jostle.report.assemble import Rows
from jostle.report.packing import ALL, ANY, WORST_OF_ANY, unpacked
from jostle.report.report import Counters

CHUNK = 128  # fewest pairs of a chunk, which costs some 30 µs whatever it holds
MOST_CHUNKS = 64
HANDS = 16  # parts of the stack of a large pair
SOON = 250_000  # operations after which a pair is split: about 1 ms


def find_rows_parallel(
    forest: Forest, pairs: TreePairs, clearance: float, row_mode: int, workers: int | None
) -> tuple[Rows, Counters]:
    """Return the rows of `find_rows`, using several threads where that pays."""
    count = len(pairs.shape_a)
    if workers == 1 or row_mode in (ANY, WORST_OF_ANY) or (count < 2 * CHUNK and row_mode != ALL):
        return find_rows(forest, pairs, clearance, row_mode)
    if count < 2 * CHUNK:
        return _split(forest, pairs, clearance, workers)

    def chunk(start: int, stop: int) -> tuple[Rows, Counters]:
        rows, counters = find_rows(forest, pairs.chosen(slice(start, stop)), clearance, row_mode)
        return rows._replace(pair=rows.pair + np.int32(start)), counters

    found = map_chunks(chunk, count, max(CHUNK, count // MOST_CHUNKS), workers)
    return Rows.joined([rows for rows, _ in found]), sum((counters for _, counters in found), Counters())


def _split(forest: Forest, pairs: TreePairs, clearance: float, workers: int | None) -> tuple[Rows, Counters]:
    """Return all rows of few pairs, splitting the long ones."""
    work = WORKSPACES.take()
    work.start()
    progress = work.progress
    parts: list[tuple[Found, Counters]] = []
    while not work.resume(forest, pairs, clearance, ALL, SOON):
        parts.append((copied(work.found()), Counters()))
        parts += _deal(forest, pairs, clearance, workers, work)
        progress.next_pair, progress.height, progress.rows = progress.next_pair + 1, 0, 0
    if not parts:
        found = rows_in_order(work, len(pairs.shape_a)), work.counters()
    else:
        parts.append((work.found(), work.counters()))
        keys, pair, distance = (np.concatenate(column) for column in zip(*(found for found, _ in parts), strict=True))
        order = np.lexsort((keys, pair))
        rows = Rows(pair[order], *unpacked(keys[order]), distance[order])
        found = rows, sum((counters for _, counters in parts), Counters())
    give_back(work)
    return found


def _deal(forest: Forest, pairs: TreePairs, clearance: float, workers: int | None, work: Workspace) -> list[tuple[Found, Counters]]:
    """Deal the stack of the current pair to the threads; return the rows of each hand."""
    pair, height = int(work.progress.next_pair), int(work.progress.height)
    nodes = work.arrays["stack"][:height].copy()
    until = pairs.chosen(slice(0, pair + 1))

    def play(hand: int, _: int) -> tuple[Found, Counters]:
        # Neighbours on the stack are alike: every hand gets large ones and small ones.
        return _below(nodes[hand::HANDS], forest, until, clearance)

    return map_chunks(play, min(HANDS, height), 1, workers)


def _below(nodes: NDArray[Any], forest: Forest, pairs: TreePairs, clearance: float) -> tuple[Found, Counters]:
    """Return the rows of the last pair below the given node pairs."""
    work = WORKSPACES.take()
    while len(work.arrays["stack"]) < len(nodes):
        work.double("stack")
    work.arrays["stack"][: len(nodes)] = nodes
    progress = work.progress
    progress.next_pair, progress.height, progress.query = len(pairs.shape_a) - 1, len(nodes), progress.query + 1
    progress.rows = progress.rows_of_pair = progress.node_tests = progress.triangle_tests = progress.distance_tests = 0
    work.find(forest, pairs, clearance, ALL)
    found = copied(work.found()), work.counters()
    give_back(work)
    return found
