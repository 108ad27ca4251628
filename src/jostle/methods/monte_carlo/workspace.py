"""What the search holds from step to step and from frame to frame: the places of its arrays, and how they grow.

A kernel gets one table of addresses instead of thirty arrays. Where an array is full it says which, Python doubles it, and the
kernel goes on where it stopped. Entries of stack and of what is pending are pairs (couple, facet a, facet b) that no direction
parts; a row is a pair of faces that touch. Hash tables need no clearing: an entry counts only in the frame whose stamp it bears.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from jostle.kernels.buffers import doubled, pieces
from jostle.kernels.handles import AddressTable
from jostle.kernels.jit import kernel

# Arrays, by their places in the table of addresses.
(
    DATA, LINK, CHILD, AROUND_FACET, STAMPS, BODIES, SEED_ORDER, POSES, COUPLE_INTS, COUPLE_FLOATS, TABLE, PAYLOAD, STACK, PENDING,
    ROW_INTS, ROW_FLOATS, CELL_INTS, LIST_INTS, LIST_FLOATS, LOOKED_AT, TRACKER_INTS, TRACKER_FLOATS, LOST_REPS, RING, TAGS,
    CORNERS, RANDOM, PLANES,
) = range(28)  # fmt: skip

# The state: where the search stands …
(
    PHASE, POSITION, HEIGHT, HEAD, TAIL, ROWS, CELLS, TRACKERS, LOST, KEYS, ITEM, ITEM_INDEX, ITEM_HIT, ITEM_ROW, ITEM_COUPLE,
    ITEM_A, ITEM_B, EARLY, STAMP, STAGE, SEED_COUPLE, SIDE, SEED_FACET, PLACE, PLACE_END, CLOSEST, SWEEP_COUPLE, SWEEP_PLACE,
    RING_PLACE, HOT_PLACE, COLD_FIRST, BALANCE, WORK_MARK, BELOW_ROWS, COMPLETE,
) = range(35)  # fmt: skip
# … what it was told, and where the last frame was cut: three numbers from HOT_MARK, and from COLD_MARK on …
(
    COUPLES, OLD_REPS, OLD_TRACKERS, OLD_PAIRS, HOW_MANY, SEEDS_EACH, THOROUGH, ORDERED, MOST_CHILDREN, MOST_NEIGHBOURS,
) = range(35, 45)  # fmt: skip
# … and what was counted.
HOT_MARK, COLD_MARK = 45, 48
FACET_TESTS, EXACT_TESTS, DISTANCE_TESTS, SAMPLES, LOOKED, REGIONS, OPERATIONS, LAST_COUPLE = range(51, 59)
STATE = 59
BEST_GAP, SEED_BEST, DEFORMATION, FOLLOW, CLEARANCE, STILL, ERROR, NUMBERS = range(8)

COUPLE, COUPLE_FLOAT = 8, 24
BODY_A, BODY_B, COUPLE_ROWS, DECIDED, CURSOR_A, CURSOR_B, DRAWN, COUPLE_MOVING = range(8)
ETA, SLACK, EPSILON, NEAREST, TOWARDS_A, TOWARDS_B = 12, 13, 14, 15, 16, 20

# The list of sample pairs (§3.4).
PAIR, PAIR_FLOAT = 6, 6
OF_A, OF_B, FACET_A, FACET_B, TOUCHES, REGION = range(6)
GAP, DISTANCE, AGE, BETWEEN = range(4)

ENTRY, ROW_INT, ROW_FLOAT, CELL_INT, TRACKER, TRACKER_FLOAT = 3, 4, 2, 4, 3, 1
RING_LENGTH, NOT_DRAWN = 256, -2  # a seed that led nowhere is -1
SLOTS = 2048  # world triangles that are kept, of each side
ALL_ROWS, ONE_ROW, PLACE_BY_PLACE = range(3)  # what an item is to find: EARLY
DONE, OUT_OF_OPERATIONS, FULL_STACK, FULL_PENDING, FULL_TABLE, FULL_ROWS, FULL_TRACKERS = range(7)

OF_PAIR, OF_CELL, OF_ROOT, OF_TRACKER = range(4)  # what a key in the table is of
SEEN, QUEUED, HOT = 1, 2, 4  # payload of a root pair


@kernel(forceinline=True)
def find_slot(table, stamp, couple, what, fa, fb):  # type: ignore[no-untyped-def]
    """Return where a pair stands in the table, or the free slot for it, and whether it is there; table flat, two int64 a slot."""
    f, g = np.int64(fa), np.int64(fb)
    tag = np.int64(couple) * 4 + what
    mixed = ((f * 73856093) ^ (g * 19349663)) ^ (tag * 83492791)
    mixed ^= mixed >> 15
    mask = (table.shape[0] >> 1) - 1
    slot = mixed & mask
    key, tag = (f << 32) | g, (np.int64(stamp) << 32) | tag
    while table[2 * slot + 1] >> 32 == stamp:
        if table[2 * slot] == key and table[2 * slot + 1] == tag:
            return slot, True
        slot = (slot + 1) & mask
    return slot, False


@kernel(forceinline=True)
def put_key(table, payload, slot, stamp, couple, what, fa, fb, value, state):  # type: ignore[no-untyped-def]
    """Write a pair to the free slot that `find_slot` gave."""
    table[2 * slot] = (np.int64(fa) << 32) | np.int64(fb)
    table[2 * slot + 1] = (np.int64(stamp) << 32) | (np.int64(couple) * 4 + what)
    payload[slot] = value
    state[KEYS] += 1


@kernel
def copy_keys(old_table, old_payload, begin, end, table, payload, stamp):  # type: ignore[no-untyped-def]
    """Put the keys of this frame from `begin` to `end` into a larger table."""
    for k in range(begin, end):
        tag = old_table[2 * k + 1]
        if tag >> 32 == stamp:
            key = old_table[2 * k]
            couple = tag & 0xFFFFFFFF
            slot, _ = find_slot(table, stamp, couple >> 2, couple & 3, key >> 32, key & 0xFFFFFFFF)
            table[2 * slot], table[2 * slot + 1], payload[slot] = key, tag, old_payload[k]


@kernel(forceinline=True)
def couple_of(couples, count, last, a, b):  # type: ignore[no-untyped-def]
    """Return the number of the couple of two bodies among those of this frame, which are sorted; -1 where there is none."""
    if last < count and couples[COUPLE * last + BODY_A] == a and couples[COUPLE * last + BODY_B] == b:
        return last
    low, high = 0, count
    while low < high:
        middle = (low + high) >> 1
        x = couples[COUPLE * middle + BODY_A]
        if x < a or (x == a and couples[COUPLE * middle + BODY_B] < b):
            low = middle + 1
        else:
            high = middle
    if low < count and couples[COUPLE * low + BODY_A] == a and couples[COUPLE * low + BODY_B] == b:
        return low
    return -1


class Workspace:
    """The arrays of a search by their names, and the table of their addresses for kernels."""

    def __init__(self, most_pairs: int, random: NDArray[np.uint64]) -> None:
        self.state = np.zeros(STATE, np.int64)
        self.numbers = np.zeros(NUMBERS)
        arrays: list[NDArray[Any]] = [np.empty(0)] * 28
        room = {
            TABLE: 1 << 15, PAYLOAD: 1 << 14, STACK: ENTRY << 11, PENDING: ENTRY << 12, ROW_INTS: ROW_INT << 11,
            ROW_FLOATS: ROW_FLOAT << 11, CELL_INTS: CELL_INT << 11, LIST_INTS: PAIR * most_pairs,
            LIST_FLOATS: PAIR_FLOAT * most_pairs, LOOKED_AT: most_pairs,
            TRACKER_INTS: TRACKER << 10, TRACKER_FLOATS: TRACKER_FLOAT << 10, LOST_REPS: most_pairs, RING: RING_LENGTH,
            TAGS: 2 * SLOTS, CORNERS: 2 * 9 * SLOTS,
        }  # fmt: skip
        floats = (ROW_FLOATS, LIST_FLOATS, TRACKER_FLOATS, CORNERS)
        longs = (TABLE, RING, TAGS)
        for name, length in room.items():
            arrays[name] = np.zeros(length, np.float64 if name in floats else (np.int64 if name in longs else np.int32))
        arrays[RING][:] = NOT_DRAWN
        arrays[RANDOM] = random.view(np.int64)
        self._spare = np.zeros(PAIR * most_pairs, np.int32), np.zeros(PAIR_FLOAT * most_pairs)
        self._table = AddressTable([arrays])

    @property
    def addresses(self) -> NDArray[np.int64]:
        """The table for kernels."""
        return self._table.table

    def __getitem__(self, name: int) -> NDArray[Any]:
        return self._table.array(0, name)

    def put(self, *named: tuple[int, NDArray[Any]]) -> None:
        """Put arrays in their places; they must be C-contiguous."""
        self._table = self._table.with_arrays(0, dict(named))

    def grow(self, why: int) -> None:
        """Make longer what was full."""
        if why == FULL_TABLE:
            table, payload = np.zeros(2 * len(self[TABLE]), np.int64), np.zeros(2 * len(self[PAYLOAD]), np.int32)
            for begin, end in pieces(len(self[PAYLOAD])):
                copy_keys(self[TABLE], self[PAYLOAD], begin, end, table, payload, self.state[STAMP])
            self.put((TABLE, table), (PAYLOAD, payload))
            return
        together = {
            FULL_STACK: (STACK,), FULL_PENDING: (PENDING,), FULL_ROWS: (ROW_INTS, ROW_FLOATS, CELL_INTS),
            FULL_TRACKERS: (TRACKER_INTS, TRACKER_FLOATS),
        }[why]  # fmt: skip
        self.put(*((name, doubled(self[name])) for name in together))

    def next_list(self) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
        """Return the arrays for the next list; `adopt` puts them in the place of the present one."""
        return self._spare

    def adopt(self) -> None:
        """Make the next list the present one."""
        spare = self[LIST_INTS], self[LIST_FLOATS]
        self.put((LIST_INTS, self._spare[0]), (LIST_FLOATS, self._spare[1]))
        self._spare = spare
