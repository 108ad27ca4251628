"""CoherentAabb: last frame's sorted list and pairs, updated for boxes that left their margins.

Paper: Lock, Wills 2000, §6, "Coherent AABB": the list of the frame before is nearly sorted, so sorting starts from it. As the
paper has it, after I-COLLIDE, every end of every box moves in every frame, and each exchange of two ends is book-keeping
(`sweep_and_prune`): that is slower than sorting anew. Deviation: boxes stand in the list with margins, as far as they will go in
the next dozen frames. A frame first asks which boxes left their margins, a few in a hundred; those get new ones, are merged into
the list of `sorted_boxes.py`, and only they look for the boxes that they now overlap. Of the pairs of boxes with margins, which
are kept sorted, those are returned whose own boxes overlap.
Guarantee: exactly the overlapping closed boxes, sorted, whatever the motion. Where more than a quarter of the boxes have left,
and where looking for those that did has cost more than a sweep, the list is sorted anew along what is the best axis by then.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from jostle._types import Floats, Longs
from jostle.broad_phase.fast_aabb import sweep_all
from jostle.broad_phase.margin_updates import (
    ANEW,
    FOLLOWED,
    NO_ROOM,
    UNCHANGED,
    FollowCounts,
    FrameLists,
    MarginArrays,
    Margins,
    begin_boxes,
    follow_boxes,
    lists_table,
    own_boxes_overlap,
    room_table,
)
from jostle.broad_phase.sorted_boxes import KeptAxis, SortedBoxes, sort_boxes
from jostle.broad_phase.sorted_keys import renumbered
from jostle.broad_phase.volumes import Volumes, boxes_for_kernel, sort_pairs
from jostle.interface.body_pairs import CandidatePairs
from jostle.kernels.handles import AddressTable

_TRY_EVERY = 16
_MOST_TESTS = 1 << 28  # so that Ctrl-C is heard: a sweep over all boxes is made in slices


@dataclass(frozen=True)
class CoherentAabb:
    """Sort the boxes along one axis, with margins, and keep list and pairs between frames."""

    def start(self, body_count: int) -> CoherentAabbFinder:
        """Return a finder for a world of `body_count` bodies."""
        return CoherentAabbFinder(body_count)


@dataclass
class CoherentAabbFinder:
    """Finds the overlapping boxes of each frame from those of the frames before."""

    body_count: int
    counters: dict[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._frame = 0
        self._is_sorted = False
        self._anew_in_a_row = 0
        self._axis = np.zeros(1, KeptAxis.dtype)  # of the list
        self._sweep_tests = 0  # comparisons of the last sweep over all boxes
        self._counts = np.zeros(1, FollowCounts.dtype)
        self._count = 0  # of the pairs of the last frame
        n = self.body_count
        self._make_room(MarginArrays.of(n), SortedBoxes.of(n), 4 * n + 64)

    def _make_room(self, margins: MarginArrays, boxes: SortedBoxes, pairs: int) -> None:
        """Make room for so many pairs, beside margins and a list of boxes."""
        n, found = len(margins.given), np.empty((2, pairs), np.int32)
        margins_table, room = Margins.table(**margins._asdict()), room_table(n, self._axis, self._counts, found)
        lists = _lists_of(FrameLists(boxes, np.empty(pairs, np.int64)), FrameLists.of(n, pairs))
        self.body_count, self._margins, self._margins_table = n, margins, margins_table
        self._found, self._room, self._lists = found, room, lists

    def find(self, volumes: Volumes) -> CandidatePairs:
        """Return all pairs of overlapping boxes, sorted."""
        lower, upper = boxes_for_kernel(volumes, self.body_count)
        self._frame += 1
        counts, done = self._counts, ANEW
        goes_on, self._is_sorted = self._is_sorted, False  # should Ctrl-C come in between, everything is made anew
        margins, room = self._margins_table.table[0], self._room.table[0]
        if goes_on:
            now, spare, to_spare, back = self._lists
            most_tests = min(self._sweep_tests, _MOST_TESTS)
            done = follow_boxes(lower, upper, margins, to_spare.table[0], room, self._frame, self._reach(), most_tests, self._count)
        else:
            begin_boxes(lower, upper, margins, room, self._frame, self._reach())
        if done == FOLLOWED:
            self._lists = spare, now, back, to_spare
            if len(now.boxes.body) != self.body_count:
                self._lists = _lists_of(spare, FrameLists.of(self.body_count, len(now.pairs)))
            self._count = int(counts["with_margins"][0])
        elif done != UNCHANGED:
            self._sort_anew(lower, upper, int(counts["new_pairs"][0]) if done == NO_ROOM else 0)
        self._is_sorted = True
        self._anew_in_a_row = 0 if done in (UNCHANGED, FOLLOWED) else self._anew_in_a_row + 1
        left, compared, _, _, kept = counts.item()
        self.counters = {
            "box_tests": compared + self._count,
            "left_margins": left,
            "sorted_anew": int(self._anew_in_a_row > 0),
            "pairs_with_margins": self._count,
            "pairs": kept,
        }
        return CandidatePairs(self._found[0, :kept].copy(), self._found[1, :kept].copy())

    def _reach(self) -> float:
        """Whether boxes get margins: not while motions are incoherent, but tried now and then."""
        return 0.0 if self._anew_in_a_row >= 2 and self._anew_in_a_row % _TRY_EVERY else 1.0

    def _sort_anew(self, lower: Floats, upper: Floats, new_pairs: int) -> None:
        """Sort all boxes with margins and sweep; make room for the pairs, and for new ones of a frame."""
        n, fat, counts = self.body_count, self._margins, self._counts
        (boxes, kept), spare, _, _ = self._lists
        if len(boxes.body) != n:
            boxes = SortedBoxes.of(n)
            self._lists = _lists_of(FrameLists(boxes, kept), spare)
        sort_boxes(boxes, fat.lower, fat.upper, boxes.ends.view(np.uint32), self._axis)
        found, self._sweep_tests, pairs = sweep_all(boxes, np.empty((3, 4 * n + 64), np.int32))
        sorted_pairs = np.empty((2, found), np.int32)
        self._count = sort_pairs(pairs, found, np.empty((2, n + 1), np.int32), sorted_pairs)
        if self._count + new_pairs > len(kept):
            # A half more than needed: the next frames have a few more, and lists are merged before pairs that ended are dropped.
            self._make_room(fat, boxes, (self._count + new_pairs) * 3 // 2)
            kept = self._lists[0].pairs
        kept[: self._count] = sorted_pairs[0, : self._count].astype(np.int64) << 32 | sorted_pairs[1, : self._count]
        counts["compared"] += self._sweep_tests
        counts["overlapping"] = own_boxes_overlap(lower, upper, kept, self._count, self._room.table[0])

    def change(self, body_count: int, old_to_new: NDArray[np.integer]) -> None:
        """Continue with other bodies, keeping the state of those that stay; new ones have no margins yet."""
        goes_on, self._is_sorted = self._is_sorted, False
        margins, (boxes, old_pairs) = MarginArrays.of(body_count), self._lists[0]
        new = np.asarray(old_to_new, np.int64)
        pairs: Longs = np.empty(0, np.int64)
        goes_on = goes_on and len(new) > 0 and body_count > 0
        if goes_on:
            stay = np.flatnonzero(new >= 0)
            for array, old in zip(margins, self._margins, strict=True):
                array[new[stay]] = old[stay]
            bodies = new[boxes.body]
            alive = bodies >= 0
            rows = boxes.ends.reshape(6, -1)[:, : len(bodies)][:, alive]
            boxes = SortedBoxes.of(int(alive.sum()))
            boxes.ends.reshape(6, -1)[:, : rows.shape[1]] = rows
            boxes.body[:] = bodies[alive]
            pairs = renumbered(old_pairs[: self._count], new)
        self._make_room(margins, boxes, max(4 * body_count + 64, len(pairs) * 3 // 2))
        self._count = len(pairs)
        self._lists[0].pairs[: self._count] = pairs
        self._is_sorted = goes_on


def _lists_of(now: FrameLists, spare: FrameLists) -> tuple[FrameLists, FrameLists, AddressTable, AddressTable]:
    """Return one frame's lists, room for the next frame's, and the tables between them in both directions."""
    return now, spare, lists_table(now, spare), lists_table(spare, now)
