"""Kernels on sorted rows and body pairs: summaries, and differences of lists.

NumPy needs five to ten passes of 1 to 5 µs for each, more than a query of two bodies takes; a kernel needs 1 µs. Rows are sorted by
(body_a, body_b), so the rows of a pair are adjacent.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from jostle._types import Bools, Bytes, Floats, Ints
from jostle.kernels.interpreting import in_columns
from jostle.kernels.jit import kernel


@kernel
def count_runs(body_a: Ints, body_b: Ints) -> int:
    """Return the number of different pairs in sorted columns."""
    found = 0
    for row in range(body_a.shape[0]):
        if row == 0 or body_a[row] != body_a[row - 1] or body_b[row] != body_b[row - 1]:
            found += 1
    return found


@kernel
def summarise_runs(
    body_a: Ints, body_b: Ints, kind: Bytes, distance: Floats, time: Floats,
    pair_a: Ints, pair_b: Ints, worst: Bytes, rows: Ints, nearest: Floats, first: Floats,
) -> None:  # fmt: skip
    """Write each pair's bodies, worst kind, row count, least distance and time.

    NaN only if all rows have it.
    """
    pair = -1
    for row in range(body_a.shape[0]):
        if row == 0 or body_a[row] != body_a[row - 1] or body_b[row] != body_b[row - 1]:
            pair += 1
            pair_a[pair] = body_a[row]
            pair_b[pair] = body_b[row]
            worst[pair] = kind[row]
            rows[pair] = 0
            nearest[pair] = distance[row]
            first[pair] = time[row]
        rows[pair] += 1
        worst[pair] = max(worst[pair], kind[row])
        # A NaN gives way to anything and replaces nothing.
        if distance[row] < nearest[pair] or np.isnan(nearest[pair]):
            nearest[pair] = distance[row]
        if time[row] < first[pair] or np.isnan(first[pair]):
            first[pair] = time[row]


@kernel
def label_runs(
    pair: Ints, kind: Bytes, distance: Floats, pairs_a: Ints, pairs_b: Ints,
    body_a: Ints, body_b: Ints, pair_a: Ints, pair_b: Ints, worst: Bytes, rows: Ints, nearest: Floats,
) -> int:  # fmt: skip
    """Write the bodies of each row by its pair number, and summarise the pairs.

    Returns how many these are. The distances hold no NaN.
    """
    found = 0
    for row in range(pair.shape[0]):
        number = pair[row]
        a, b = pairs_a[number], pairs_b[number]
        body_a[row] = a
        body_b[row] = b
        if row == 0 or number != pair[row - 1]:
            pair_a[found] = a
            pair_b[found] = b
            worst[found] = kind[row]
            rows[found] = 0
            nearest[found] = distance[row]
            found += 1
        rows[found - 1] += 1
        worst[found - 1] = max(worst[found - 1], kind[row])
        nearest[found - 1] = min(nearest[found - 1], distance[row])
    return found


@kernel
def mark_missing(mine_a: Ints, mine_b: Ints, theirs_a: Ints, theirs_b: Ints, missing: NDArray[np.bool_]) -> None:
    """Mark the pairs (sorted, unique) of the first list that the second lacks."""
    other = 0
    for pair in range(mine_a.shape[0]):
        while other < theirs_a.shape[0] and (
            theirs_a[other] < mine_a[pair] or (theirs_a[other] == mine_a[pair] and theirs_b[other] < mine_b[pair])
        ):
            other += 1
        missing[pair] = other == theirs_a.shape[0] or theirs_a[other] != mine_a[pair] or theirs_b[other] != mine_b[pair]


def _starts(*columns: Ints) -> NDArray[np.intp]:
    """Return the rows at which sorted columns change, the first among them."""
    if len(columns[0]) == 0:
        return np.empty(0, np.intp)
    changes: Bools = np.logical_or.reduce([column[1:] != column[:-1] for column in columns])
    return np.flatnonzero(np.concatenate([[True], changes]))


@in_columns(count_runs)
def _count_columns(body_a: Ints, body_b: Ints) -> int:
    return len(_starts(body_a, body_b))


@in_columns(summarise_runs)
def _summarise_columns(
    body_a: Ints, body_b: Ints, kind: Bytes, distance: Floats, time: Floats,
    pair_a: Ints, pair_b: Ints, worst: Bytes, rows: Ints, nearest: Floats, first: Floats,
) -> None:  # fmt: skip
    starts = _starts(body_a, body_b)
    if len(starts) == 0:
        return
    pair_a[:], pair_b[:] = body_a[starts], body_b[starts]
    worst[:] = np.maximum.reduceat(kind, starts)
    rows[:] = np.diff(starts, append=len(body_a))
    nearest[:] = np.fmin.reduceat(distance, starts)
    first[:] = np.fmin.reduceat(time, starts)


@in_columns(label_runs)
def _label_columns(
    pair: Ints, kind: Bytes, distance: Floats, pairs_a: Ints, pairs_b: Ints,
    body_a: Ints, body_b: Ints, pair_a: Ints, pair_b: Ints, worst: Bytes, rows: Ints, nearest: Floats,
) -> int:  # fmt: skip
    body_a[:], body_b[:] = pairs_a[pair], pairs_b[pair]
    starts = _starts(pair)
    found = len(starts)
    if found:
        pair_a[:found], pair_b[:found] = body_a[starts], body_b[starts]
        worst[:found] = np.maximum.reduceat(kind, starts)
        rows[:found] = np.diff(starts, append=len(pair))
        nearest[:found] = np.minimum.reduceat(distance, starts)
    return found


@in_columns(mark_missing)
def _mark_columns(mine_a: Ints, mine_b: Ints, theirs_a: Ints, theirs_b: Ints, missing: NDArray[np.bool_]) -> None:
    mine, theirs = ((a.astype(np.int64) << 32) | b for a, b in ((mine_a, mine_b), (theirs_a, theirs_b)))
    missing[:] = ~np.isin(mine, theirs, assume_unique=True)
