"""Pairs dealt out to threads: each searches what it takes in one workspace, and the rows are put in order at the end.

A portion has no workspace, no arrays of rows, no counters of its own. So portions can be small where the list ends,
and all threads end together. The first ones are large.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from jostle._types import Bytes, Floats, Ints, Longs
from jostle.kernels.jit import kernel
from jostle.kernels.pool import map_chunks, threads_for
from jostle.methods.wide_tree.search import Found, copy_rows, empty_rows
from jostle.report.assemble import Rows
from jostle.report.report import Counters

PARTS = 4  # of the pairs that are left, by thread: the share of a portion
ROWS_APART = 20_000  # fewest rows that threads copy: 0.1 ms


class SearchWork(Protocol):
    """A workspace that collects rows, those of a portion in the order of its pairs."""

    def found(self) -> Found:
        """Return keys, pairs and distances of the rows so far, as views."""
        ...

    def row_count(self) -> int:
        """Return the number of rows so far."""
        ...

    def counters(self) -> Counters:
        """Return the tests so far."""
        ...


class Collected:
    """The rows of one thread, and where those of each portion begin."""

    def __init__(self, work: SearchWork) -> None:
        self.work = work
        self._places = [(0, 0)]  # the first pair and the first row of each portion; the search may have begun

    def begin_portion(self, pair: int) -> None:
        """Note that the rows from here on are of this pair, and later ones."""
        self._places.append((pair, self.work.row_count()))

    def portions(self) -> list[tuple[int, int, int]]:
        """Return the first pair, first row and last row of each portion that has rows."""
        ends = [begin for _, begin in self._places[1:]] + [self.work.row_count()]
        return [(pair, begin, end) for (pair, begin), end in zip(self._places, ends, strict=True) if begin < end]


def falling_portions(start: int, stop: int, least: int, workers: int | None) -> list[tuple[int, int]]:
    """Return the start and stop of portions, each a share of what is left."""
    portions, parts = [], PARTS * threads_for(workers)
    while start < stop:
        size = max(least, (stop - start) // parts)
        portions.append((start, min(start + size, stop)))
        start += size
    return portions


def total_of(shares: Sequence[Collected]) -> Counters:
    """Return the tests of all threads."""
    return sum((share.work.counters() for share in shares), Counters())


def joined(shares: Sequence[Collected], workers: int | None) -> Rows:
    """Return the rows of all threads in the order of their pairs, as new columns."""
    portions = sorted((*portion, number) for number, share in enumerate(shares) for portion in share.portions())
    runs: list[list[tuple[int, int, int]]] = [[] for _ in shares]
    count = 0
    for _, begin, end, number in portions:
        runs[number].append((begin, end, count))
        count += end - begin
    rows = empty_rows(count)

    def copy(number: int, _: int) -> None:
        places = np.array(runs[number], np.int64).reshape(-1, 3)
        copy_runs(*shares[number].work.found(), places, rows.pair, rows.face_a, rows.face_b, rows.kind, rows.distance)

    map_chunks(copy, len(shares), 1, workers if count >= ROWS_APART else 1)
    return rows


def concatenated(shares: Sequence[Collected]) -> Found:
    """Return the rows of all threads, sorted by pair only."""
    keys, pair, distance = (np.concatenate(column) for column in zip(*(share.work.found() for share in shares), strict=True))
    order: NDArray[np.int64] = np.argsort(pair, kind="stable")
    return keys[order], pair[order], distance[order]


@kernel
def copy_runs(
    keys: Longs, pair: Ints, distance: Floats, runs: Longs,
    to_pair: Ints, face_a: Ints, face_b: Ints, kind: Bytes, to_distance: Floats,
) -> None:  # fmt: skip
    """Write runs of rows as columns; `runs` (n,3) are begin, end, and the row to write to."""
    for run in range(runs.shape[0]):
        begin, end, to = runs[run, 0], runs[run, 1], runs[run, 2]
        last = to + end - begin
        copy_rows(
            keys[begin:end], pair[begin:end], distance[begin:end],
            to_pair[to:last], face_a[to:last], face_b[to:last], kind[to:last], to_distance[to:last],
        )  # fmt: skip
