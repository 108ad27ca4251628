"""PairMemory: records per body pair that outlive the frame.

For example a cached plane, or the last nodes. Arrays in, arrays out, so that a method with ten thousand pairs has no Python loop
over them.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from jostle.interface.body_pairs import CandidatePairs, pair_key


class PairMemory:
    """Records of `width` float64 numbers per pair, NaN for pairs not stored last time."""

    def __init__(self, width: int = 0) -> None:
        self.keys: NDArray[np.int64] = np.empty(0, np.int64)
        self.records: NDArray[np.float64] = np.empty((0, width))

    def recall(self, pairs: CandidatePairs) -> NDArray[np.float64]:
        """Return (k, width) the record of each pair, NaN if there is none."""
        keys = pair_key(pairs.body_a, pairs.body_b)
        if len(keys) == len(self.keys) and (keys == self.keys).all():  # the usual case where all pairs are tested
            return self.records.copy()
        found = np.full((len(keys), self.records.shape[1]), np.nan)
        if len(self.keys):
            place = np.minimum(np.searchsorted(self.keys, keys), len(self.keys) - 1)
            known = self.keys[place] == keys
            found[known] = self.records[place[known]]
        return found

    def remember(self, pairs: CandidatePairs, records: NDArray[np.float64]) -> None:
        """Replace all records by these, of sorted pairs."""
        self.keys = pair_key(pairs.body_a, pairs.body_b)
        self.records = np.array(records, dtype=np.float64)

    def renumber(self, old_to_new: NDArray[np.int32]) -> None:
        """Renumber the bodies; drop pairs of removed ones."""
        body_a = old_to_new[self.keys >> 32]
        body_b = old_to_new[self.keys & 0xFFFFFFFF]
        alive = (body_a >= 0) & (body_b >= 0)
        # Renumbering keeps the order of bodies, so the keys stay sorted.
        self.keys = pair_key(body_a[alive], body_b[alive])
        self.records = self.records[alive]
