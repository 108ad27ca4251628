"""CoherentAabb: last frame's list and pairs, updated for boxes that left margins.

Paper: Lock, Wills 2000, §6, "Coherent AABB": last frame's list is nearly sorted, so sorting starts from it. In the paper, after
I-COLLIDE, every end of every box moves in every frame, and each exchange of two ends costs book-keeping (`sweep_and_prune`), which
is slower than sorting from scratch. Deviation: the listed boxes have margins for their motion in the next dozen frames. A frame
first finds the boxes that left their margins, a few in a hundred; those get new margins, are merged into the list of
`sorted_boxes.py`, and only for them overlapping boxes are searched. The pairs of boxes with margins are kept sorted; those whose
own boxes overlap are returned.
Guarantee: exactly the overlapping closed boxes, sorted, for any motion. If more than a quarter of the boxes left, or finding their
pairs cost more than a sweep, the list is sorted from scratch along the axis that is best then.
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
from jostle.broad_phase.volumes import Volumes, boxes_for_kernel, sorted_once
from jostle.interface.body_pairs import CandidatePairs, pair_key
from jostle.kernels.handles import AddressTable

_TRY_EVERY = 16
_MOST_TESTS = 1 << 28  # so that Ctrl-C is heard; a sweep over all boxes runs in slices


@dataclass(frozen=True)
class CoherentAabb:
    """Sort boxes with margins along one axis, keeping list and pairs between frames."""

    def start(self, body_count: int) -> CoherentAabbFinder:
        """Return a finder for a world of `body_count` bodies."""
        return CoherentAabbFinder(body_count)


@dataclass
class CoherentAabbFinder:
    """Finds the overlapping boxes of each frame from those of previous frames."""

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
        """Make room for this many pairs, with given margins and list of boxes."""
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
        resumes, self._is_sorted = self._is_sorted, False  # if Ctrl-C interrupts, everything is rebuilt
        margins, room = self._margins_table.table[0], self._room.table[0]
        if resumes:
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
        """Return the reach of margins: 0 while motions are incoherent, with exceptions."""
        return 0.0 if self._anew_in_a_row >= 2 and self._anew_in_a_row % _TRY_EVERY else 1.0

    def _sort_anew(self, lower: Floats, upper: Floats, new_pairs: int) -> None:
        """Sort all boxes with margins and sweep; make room for the pairs."""
        n, fat, counts = self.body_count, self._margins, self._counts
        (boxes, kept), spare, _, _ = self._lists
        if len(boxes.body) != n:
            boxes = SortedBoxes.of(n)
            self._lists = _lists_of(FrameLists(boxes, kept), spare)
        sort_boxes(boxes, fat.lower, fat.upper, boxes.ends.view(np.uint32), self._axis)
        found, self._sweep_tests, pairs = sweep_all(boxes, np.empty((3, 4 * n + 64), np.int32))
        sorted_pairs = sorted_once(pairs, found, np.empty((2, n + 1), np.int32))
        self._count = len(sorted_pairs.body_a)
        if self._count + new_pairs > len(kept):
            # Half more than needed: the next frames have a few more, and merging comes before dropping pairs that ended.
            self._make_room(fat, boxes, (self._count + new_pairs) * 3 // 2)
            kept = self._lists[0].pairs
        kept[: self._count] = pair_key(*sorted_pairs)
        counts["compared"] += self._sweep_tests
        counts["overlapping"] = own_boxes_overlap(lower, upper, kept, self._count, self._room.table[0])

    def change(self, body_count: int, old_to_new: NDArray[np.integer]) -> None:
        """Continue with other bodies, keeping the state of those that remain."""
        resumes, self._is_sorted = self._is_sorted and len(old_to_new) > 0 and body_count > 0, False
        margins, (boxes, old_pairs) = MarginArrays.of(body_count), self._lists[0]
        new = np.asarray(old_to_new, np.int64)
        pairs: Longs = np.empty(0, np.int64)
        if resumes:
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
        self._is_sorted = resumes


def _lists_of(now: FrameLists, spare: FrameLists) -> tuple[FrameLists, FrameLists, AddressTable, AddressTable]:
    """Return lists of this frame and room for the next, with tables both ways."""
    return now, spare, lists_table(now, spare), lists_table(spare, now)
