"""SweepAndPrune: three sorted lists of ends with temporal coherence.

After I-COLLIDE (Cohen, Lin, Manocha, Ponamgi 1995).
Three sorted lists hold the ends of all boxes along x, y and z. They persist between frames: bodies move little, so the last order
is nearly right and an insertion sort restores it with few exchanges. The overlapping pairs persist too, and only exchanges change
them: a lower end that moves below an upper end may begin an overlap (the boxes are then compared), an upper end that moves below a
lower end finishes one. At equal coordinates lower ends come first, so boxes that touch overlap.
The first frame, and frames with more exchanges than sorting costs, sort the lists from scratch and sweep along the best axis.
Guarantee: exactly the overlapping closed boxes, sorted, for any motion. Deviation: pairs are a sorted list into which the changes
of a frame are merged, not a matrix of n² bits. Lock and Wills (2000, §6) found it slower than sorting from scratch and suspected
the book-keeping; `docs/broad_phases.md` has the counts, and `coherent_aabb` shows what makes coherence pay.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from jostle._types import Floats, Ints, Longs
from jostle.broad_phase.sorted_keys import key_of, renumbered, sort_once, split_keys
from jostle.broad_phase.volumes import Volumes, boxes_for_kernel, find_with_room, overlap
from jostle.interface.body_pairs import CandidatePairs
from jostle.kernels.jit import kernel
from jostle.kernels.slices import run_in_slices

# Sorting from scratch and sweeping costs about as much as this many exchanges per body (500 ns per body, 2 ns per exchange).
_EXCHANGES_PER_BODY = 256
_CHANGES_PER_BODY = 4
_SLICE = 1 << 22  # comparisons of the first slice of a sweep: some milliseconds


@dataclass(frozen=True)
class SweepAndPrune:
    """Sorted lists of the boxes' ends along three axes, kept from frame to frame."""

    def start(self, body_count: int) -> SweepAndPruneFinder:
        """Return a finder for a world of `body_count` bodies."""
        return SweepAndPruneFinder(body_count)


@dataclass
class SweepAndPruneFinder:
    """Finds the overlapping boxes of each frame from those of the previous one.

    Ends are numbered 0 … n-1 for the lower ends of bodies 0 … n-1 and n … 2n-1 for the upper ones.
    """

    body_count: int
    counters: dict[str, int] = field(default_factory=dict)
    _order: Ints = field(init=False, repr=False)  # (3, 2n) ends in the order of the last frame
    _boxes: Floats = field(init=False, repr=False)  # (2, n, 3) boxes of the last frame; empty for new bodies
    _pairs: Longs = field(init=False, repr=False)  # (k,) sorted keys of the overlapping pairs
    _is_sorted: bool = field(default=False, init=False, repr=False)

    def __post_init__(self) -> None:
        self._pairs = np.empty(0, np.int64)
        self._make_room(np.empty((3, 0), np.int32), np.empty((2, 0, 3)))

    def _make_room(self, order: Ints, boxes: Floats) -> None:
        self._order, self._boxes = order, boxes
        self._value = np.empty(2 * self.body_count)
        self._added = np.empty(_CHANGES_PER_BODY * self.body_count + 64, np.int64)
        self._removed = np.empty_like(self._added)

    def find(self, volumes: Volumes) -> CandidatePairs:
        """Return all pairs of overlapping boxes, sorted."""
        lower, upper = boxes_for_kernel(volumes, self.body_count)
        n = self.body_count
        exchanges = tests = 0
        anew = not self._is_sorted
        self._is_sorted = False  # if Ctrl-C interrupts, the lists are rebuilt
        if not anew:
            most = _EXCHANGES_PER_BODY * n + 4096
            exchanges, tests, added, removed = follow_boxes(
                lower, upper, self._boxes, self._order, self._value, self._added, self._removed, most
            )
            anew = added < 0
            if not anew and added + removed > 0:
                pairs = np.empty(len(self._pairs) + added, np.int64)
                count = merge_changes(self._pairs, self._added, added, self._removed, removed, pairs)
                self._pairs = pairs[:count]
        if anew:
            tests += self._sort_anew(lower, upper)
        self._boxes[0], self._boxes[1] = lower, upper
        self._is_sorted = True
        self.counters = {"box_tests": tests, "exchanges": exchanges, "sorted_anew": int(anew), "pairs": len(self._pairs)}
        body_a, body_b = np.empty((2, len(self._pairs)), np.int32)
        split_keys(self._pairs, body_a, body_b)
        return CandidatePairs(body_a, body_b)

    def _sort_anew(self, lower: Floats, upper: Floats) -> int:
        n = self.body_count
        ends = np.concatenate([lower, upper])
        order = np.empty((3, 2 * n), np.int32)
        for axis in range(3):
            # The sort is stable and lower ends stand first, so they come first among equals.
            order[axis] = np.argsort(ends[:, axis], kind="stable")
        pairs, active = np.empty(4 * n + 64, np.int64), np.empty(2 * n, np.int32)
        axis, tests = best_axis_of_ends(order)

        def search(pairs: Longs) -> int:
            def step(state: NDArray[np.int64], operations: int) -> tuple[bool, int]:
                used = sweep_boxes(lower, upper, order[axis], state, active, pairs, operations)
                return bool(state[0] == 2 * n), used

            state = np.zeros(3, np.int64)  # place, open boxes, pairs
            run_in_slices(step, state, _SLICE)
            return int(state[2])

        found, pairs = find_with_room(search, pairs)
        self._pairs = np.sort(pairs[:found])
        self._make_room(order, np.empty((2, n, 3)))
        return int(tests)

    def change(self, body_count: int, old_to_new: NDArray[np.integer]) -> None:
        """Continue with other bodies; new ends are appended and sorted in later."""
        old_count, self.body_count = self.body_count, body_count
        if not self._is_sorted or old_count == 0 or body_count == 0:
            self._is_sorted = False
            return
        new = np.asarray(old_to_new, np.int64)
        stay = np.flatnonzero(new >= 0)
        of_end = np.concatenate([new, np.where(new >= 0, new + body_count, -1)])
        moved = of_end[self._order]
        kept = moved[moved >= 0].reshape(3, -1)
        is_new = np.ones(body_count, bool)
        is_new[new[stay]] = False
        # Lower, upper, lower, upper …: new bodies start after the last end, overlapping nothing.
        arrived = np.flatnonzero(is_new)
        ends = np.broadcast_to(np.stack([arrived, arrived + body_count], axis=1).ravel(), (3, 2 * len(arrived)))
        boxes = np.empty((2, body_count, 3))
        boxes[0], boxes[1] = np.inf, -np.inf
        boxes[:, new[stay]] = self._boxes[:, stay]
        self._pairs = renumbered(self._pairs, new)
        self._make_room(np.concatenate([kept, ends], axis=1).astype(np.int32), boxes)


@kernel
def follow_boxes(
    lower: Floats, upper: Floats, old: Floats, order: Ints, value: Floats, added: Longs, removed: Longs, most: int
) -> tuple[int, int, int, int]:
    """Sort the lists (3,2n) by insertion; write the pairs that begin and end.

    Those are sorted, each once. Returns the numbers of exchanges, box tests, pairs added and pairs removed; -1 pairs if sorting
    from scratch is cheaper.
    """
    n = lower.shape[0]
    exchanges = tests = adds = removals = 0
    for axis in range(3):
        for place in range(2 * n):
            end = order[axis, place]
            value[place] = lower[end, axis] if end < n else upper[end - n, axis]
        for place in range(1, 2 * n):
            end = order[axis, place]
            at = value[place]
            is_lower = end < n
            body = end if is_lower else end - n
            to = place
            while to > 0:
                other = order[axis, to - 1]
                other_is_lower = other < n
                if value[to - 1] < at or (value[to - 1] == at and (other_is_lower or not is_lower)):
                    break
                if is_lower != other_is_lower:
                    partner = other if other_is_lower else other - n
                    tests += 1
                    if is_lower:
                        if overlap(lower, upper, body, partner):
                            if adds == added.shape[0]:
                                return exchanges, tests, -1, -1
                            added[adds] = key_of(body, partner)
                            adds += 1
                    elif overlap(old[0], old[1], body, partner):
                        if removals == removed.shape[0]:
                            return exchanges, tests, -1, -1
                        removed[removals] = key_of(body, partner)
                        removals += 1
                value[to] = value[to - 1]
                order[axis, to] = other
                to -= 1
            value[to] = at
            order[axis, to] = end
            exchanges += place - to
            if exchanges > most:
                return exchanges, tests, -1, -1
    return exchanges, tests, sort_once(added, adds), sort_once(removed, removals)


@kernel
def merge_changes(pairs: Longs, added: Longs, add_count: int, removed: Longs, remove_count: int, out: Longs) -> int:
    """Write the sorted pairs with some removed and others added; return how many."""
    count = add = remove = 0
    for p in range(pairs.shape[0]):
        key = pairs[p]
        while add < add_count and added[add] < key:
            out[count] = added[add]
            add += 1
            count += 1
        while remove < remove_count and removed[remove] < key:
            remove += 1
        if remove < remove_count and removed[remove] == key:
            continue
        out[count] = key
        count += 1
    while add < add_count:
        out[count] = added[add]
        add += 1
        count += 1
    return count


@kernel
def best_axis_of_ends(order: Ints) -> tuple[int, int]:
    """Return the axis (of lists (3,2n)) with the fewest overlaps, and their number."""
    n = order.shape[1] // 2
    best_axis = 0
    fewest = -1
    for axis in range(3):
        open_count = overlaps = 0
        for place in range(2 * n):
            if order[axis, place] < n:
                overlaps += open_count
                open_count += 1
            else:
                open_count -= 1
        if fewest < 0 or overlaps < fewest:
            fewest = overlaps
            best_axis = axis
    return best_axis, fewest


@kernel
def sweep_boxes(
    lower: Floats, upper: Floats, order: Ints, state: Longs, active: Ints, pairs: Longs, operations: int
) -> int:  # fmt: skip
    """Sweep over a list (2n,) and write the keys of overlapping pairs.

    Stops after about `operations` comparisons. Pairs beyond the room are only counted. Continues from `state` (3,): place, open
    boxes and pairs so far; `active` (2n,) holds the open bodies, then the place of each. Returns the operations used.
    """
    n = lower.shape[0]
    place, open_count, found = state[0], state[1], state[2]
    used = 0
    while place < 2 * n and used < operations:
        end = order[place]
        if end < n:
            for k in range(open_count):
                other = active[k]
                if overlap(lower, upper, end, other):
                    if found < pairs.shape[0]:
                        pairs[found] = key_of(end, other)
                    found += 1
            active[open_count] = end
            active[n + end] = open_count
            used += open_count + 1
            open_count += 1
        else:
            open_count -= 1
            last = active[open_count]
            active[active[end]] = last  # the number of an upper end is n + body, where the body's place is
            active[n + last] = active[end]
            used += 1
        place += 1
    state[0], state[1], state[2] = place, open_count, found
    return used
