"""Kernels on sorted rows and body pairs: summaries, and differences of lists.

NumPy needs five to ten passes of 1 to 5 µs for each, more than a query of two bodies takes; a kernel needs 1 µs. Rows are sorted by
(body_a, body_b), so the rows of a pair are adjacent.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from jostle._types import Bytes, Floats, Ints
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
