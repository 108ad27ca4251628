"""FastAabb: one sort and one sweep per frame, from scratch, after Wagner and Fusco.

Paper: Lock, Wills 2000, §6, "Fast AABB"; Wagner, Fusco, Graphics Gems III. The lower ends along the best axis are sorted
(`sorted_boxes.py`), and a sweep compares each box with those that begin before it ends: O(n log n + k) where k counts the boxes
that overlap along that axis, some 170 for each of 10,000 bodies at a density of 2.5 %. Deviation: a radix sort, so the log is a
constant; boxes are those of the bodies as they are turned, not centre ± radius.
Guarantee: exactly the overlapping closed boxes, sorted. Nothing but memory is kept between frames.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from jostle._types import Ints
from jostle.broad_phase.sorted_boxes import KeptAxis, SortedBoxes, keep_overlapping, sort_boxes, sweep
from jostle.broad_phase.volumes import Volumes, boxes_for_kernel, refuse_too_many_pairs, sort_pairs
from jostle.interface.body_pairs import CandidatePairs
from jostle.kernels.slices import run_in_slices

SLICE = 1 << 24  # comparisons of a first slice: some milliseconds


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
        found = keep_overlapping(lower, upper, self._pairs, found)
        sorted_pairs = np.empty((2, found), np.int32)
        kept = sort_pairs(self._pairs, found, self._tally, sorted_pairs)
        self.counters = {"box_tests": tests, "axis": int(self._axis["axis"][0]), "pairs": kept}
        return CandidatePairs(sorted_pairs[0, :kept], sorted_pairs[1, :kept])

    def change(self, body_count: int, old_to_new: NDArray[np.integer]) -> None:
        """Continue with other bodies."""
        if body_count != self.body_count:
            self.body_count = body_count
            self._make_room()


def sweep_all(boxes: SortedBoxes, pairs: Ints) -> tuple[int, int, Ints]:
    """Sweep over the whole list; return counts of pairs and comparisons, and the pairs (3,k), grown if needed."""
    while True:
        state = np.zeros(3, np.int64)  # place, pairs, comparisons

        def step(state: NDArray[np.int64], operations: int, pairs: Ints = pairs) -> tuple[bool, int]:
            place, found, tests = sweep(boxes, int(state[0]), pairs, int(state[1]), operations)
            state[0], state[1], state[2] = place, found, state[2] + tests
            return bool(place == len(boxes.body)), max(1, tests)

        run_in_slices(step, state, SLICE)
        found = int(state[1])
        if found < pairs.shape[1]:
            return found, int(state[2]), pairs
        refuse_too_many_pairs(found)
        # A quarter more than needed: the next frame usually has a few pairs more.
        pairs = np.empty((3, found + found // 4 + 1), np.int32)
