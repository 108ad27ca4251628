"""FastAabb: one sort and one sweep per frame, after Wagner and Fusco.

Paper: Lock, Wills 2000, §6, "Fast AABB"; Wagner, Fusco, Graphics Gems III. The lower ends along the best axis are sorted
(`sorted_boxes.py`), and a sweep compares each box with those that begin before it ends: O(n log n + k) where k counts the boxes
that overlap along that axis, some 170 per body for 10,000 bodies at a density of 2.5 %. Deviation: a radix sort, so the log is a
constant; boxes enclose the rotated bodies, not centre ± radius.
Guarantee: exactly the overlapping closed boxes, sorted. Only buffers are kept between frames.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from jostle._types import Ints
from jostle.broad_phase.sorted_boxes import KeptAxis, SortedBoxes, keep_overlapping, sort_boxes, sweep
from jostle.broad_phase.volumes import Volumes, boxes_for_kernel, find_with_room, sorted_once
from jostle.interface.body_pairs import CandidatePairs
from jostle.kernels.slices import run_in_slices

SLICE = 1 << 24  # comparisons of the first slice: some milliseconds


@dataclass(frozen=True)
class FastAabb:
    """Sort the boxes along one axis and sweep, from scratch in every frame."""

    def start(self, body_count: int) -> FastAabbFinder:
        """Return a finder for a world of `body_count` bodies."""
        return FastAabbFinder(body_count)


@dataclass
class FastAabbFinder:
    """Finds the overlapping boxes of each frame; it keeps only buffers between frames."""

    body_count: int
    counters: dict[str, int] = field(default_factory=dict)
    _pairs: Ints = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self._make_room()
        self._pairs = np.empty((3, 4 * self.body_count + 64), np.int32)

    def _make_room(self) -> None:
        self._boxes = SortedBoxes.of(self.body_count)
        self._axis = np.zeros(1, KeptAxis.dtype)
        self._bits = self._boxes.ends.view(np.uint32)
        self._tally = np.empty((2, self.body_count + 1), np.int32)

    def find(self, volumes: Volumes) -> CandidatePairs:
        """Return all pairs of overlapping boxes, sorted."""
        lower, upper = boxes_for_kernel(volumes, self.body_count)
        sort_boxes(self._boxes, lower, upper, self._bits, self._axis)
        found, tests, self._pairs = sweep_all(self._boxes, self._pairs)
        pairs = sorted_once(self._pairs, keep_overlapping(lower, upper, self._pairs, found), self._tally)
        self.counters = {"box_tests": tests, "axis": int(self._axis["axis"][0]), "pairs": len(pairs.body_a)}
        return pairs

    def change(self, body_count: int, old_to_new: NDArray[np.integer]) -> None:
        """Continue with other bodies."""
        if body_count != self.body_count:
            self.body_count = body_count
            self._make_room()


def sweep_all(boxes: SortedBoxes, pairs: Ints) -> tuple[int, int, Ints]:
    """Sweep over the whole list; return pair and test counts, and the pairs (3,k)."""
    state = np.empty(3, np.int64)  # place, pairs, comparisons

    def search(pairs: Ints) -> int:
        def step(state: NDArray[np.int64], operations: int) -> tuple[bool, int]:
            place, found, tests = sweep(boxes, int(state[0]), pairs, int(state[1]), operations)
            state[0], state[1], state[2] = place, found, state[2] + tests
            return bool(place == len(boxes.body)), max(1, tests)

        state.fill(0)
        run_in_slices(step, state, SLICE)
        return int(state[1])

    found, pairs = find_with_room(search, pairs)
    return found, int(state[2]), pairs
