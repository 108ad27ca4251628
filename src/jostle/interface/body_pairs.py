"""Body pairs as two columns, and as one sortable number each."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from jostle._types import Ints, Longs


class CandidatePairs(NamedTuple):
    """Body pairs whose volumes overlap, sorted; (k,) int32 columns.

    `body_a < body_b`, sorted by (body_a, body_b), each pair once.
    """

    body_a: Ints
    body_b: Ints


# Writable: a kernel would be compiled a second time for arrays that are not.
NO_PAIRS = CandidatePairs(np.empty(0, np.int32), np.empty(0, np.int32))
FIRST_AND_SECOND = CandidatePairs(np.zeros(1, np.int32), np.ones(1, np.int32))


def every_pair(body_count: int) -> CandidatePairs:
    """Return all pairs of this many bodies; free for up to two."""
    if body_count <= 2:
        return FIRST_AND_SECOND if body_count == 2 else NO_PAIRS
    body_a, body_b = np.triu_indices(body_count, 1)
    return CandidatePairs(body_a.astype(np.int32), body_b.astype(np.int32))


def pair_key(body_a: Ints, body_b: Ints) -> Longs:
    """Return one sortable number per body pair."""
    return (np.asarray(body_a, dtype=np.int64) << 32) | np.asarray(body_b, dtype=np.int64)
