"""Many pairs, or one large pair, on several threads.

Pairs are cut into portions, each with a search of its own. Of few pairs, one that is not soon done is split: the pairs of
nodes that wait on its stack are dealt out like cards, and every hand is played to the end by some thread. Neither the
portions nor the hands depend on the number of threads, and rows are sorted in the end, so that the answer does not either.
"""

from __future__ import annotations

import numpy as np

from jostle._types import Ints
from jostle.kernels.pool import map_chunks
from jostle.methods.wide_tree.search import (
    Found,
    Placed,
    Workspace,
    copied,
    counters_of,
    find_rows,
    give_back,
    rows_in_order,
    take_workspace,
)
from jostle.methods.wide_tree.tree import Forest
from jostle.report.assemble import Rows
from jostle.report.packing import ALL, ANY, unpacked
from jostle.report.report import Counters

CHUNK = 128  # the fewest pairs that make a portion, which costs some 30 µs whatever is in it
MOST_CHUNKS = 64  # the most portions
HANDS = 16  # into which the stack of a large pair is dealt
SOON = 250_000  # operations after which a pair is large enough to be split: about 1 ms


def find_rows_on_threads(
    forest: Forest, placed: Placed, clearance: float, row_mode: int, workers: int | None
) -> tuple[Rows, Counters]:
    """Return the same as `find_rows`, on several threads where that pays; rows do not depend on their number."""
    pairs = len(placed.shape_a)
    if workers == 1 or row_mode == ANY:
        return find_rows(forest, placed, clearance, row_mode)
    if pairs < 2 * CHUNK:
        return find_rows(forest, placed, clearance, row_mode) if row_mode != ALL else _split(forest, placed, clearance, workers)

    def chunk(start: int, stop: int) -> tuple[Rows, Counters]:
        part = placed._replace(**{name: getattr(placed, name)[start:stop] for name in Placed._fields[:4]})
        rows, counters = find_rows(forest, part, clearance, row_mode)
        return rows._replace(pair=rows.pair + np.int32(start)), counters

    found = map_chunks(chunk, pairs, max(CHUNK, pairs // MOST_CHUNKS), workers)
    return Rows.joined([rows for rows, _ in found]), sum((counters for _, counters in found), Counters())


def _split(forest: Forest, placed: Placed, clearance: float, workers: int | None) -> tuple[Rows, Counters]:
    """Return all rows of few pairs: each pair that is not soon done is split, its stack dealt out to the threads."""
    work = take_workspace()
    work.start()
    progress = work.progress
    parts: list[tuple[Found, Counters]] = []
    while not work.resume(forest, placed, clearance, ALL, SOON):
        parts.append((copied(work.found()), Counters()))
        parts += _deal(forest, placed, clearance, workers, work)
        progress.next_pair, progress.height, progress.rows = progress.next_pair + 1, 0, 0
    if not parts:
        found = rows_in_order(work, len(placed.shape_a)), counters_of(work)
    else:
        parts.append((work.found(), counters_of(work)))
        keys, pair, distance = (np.concatenate(column) for column in zip(*(found for found, _ in parts), strict=True))
        order = np.lexsort((keys, pair))
        rows = Rows(pair[order], *unpacked(keys[order]), distance[order])
        found = rows, sum((counters for _, counters in parts), Counters())
    give_back(work)
    return found


def _deal(forest: Forest, placed: Placed, clearance: float, workers: int | None, work: Workspace) -> list[tuple[Found, Counters]]:
    """Deal the stack of the present pair out, and return what is found below each hand."""
    pair, height = int(work.progress.next_pair), int(work.progress.height)
    nodes = work.stack[:height].copy()
    one = placed._replace(**{name: getattr(placed, name)[: pair + 1] for name in Placed._fields[:4]})

    def play(hand: int, _: int) -> tuple[Found, Counters]:
        # Neighbours on the stack are alike: every hand gets large ones and small ones.
        return _below(nodes[hand::HANDS], forest, one, clearance)

    return map_chunks(play, min(HANDS, height), 1, workers)


def _below(nodes: Ints, forest: Forest, placed: Placed, clearance: float) -> tuple[Found, Counters]:
    """Return the rows of the last pair below some pairs of nodes."""
    work = take_workspace()
    while len(work.stack) < len(nodes):
        work.double_stack()
    work.stack[: len(nodes)] = nodes
    progress = work.progress
    progress.next_pair, progress.height, progress.query = len(placed.shape_a) - 1, len(nodes), progress.query + 1
    progress.rows = progress.rows_of_pair = progress.node_tests = progress.triangle_tests = progress.distance_tests = 0
    work.find(forest, placed, clearance, ALL)
    found = copied(work.found()), counters_of(work)
    give_back(work)
    return found
