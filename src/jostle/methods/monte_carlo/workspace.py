"""The buffers of a search, their growth, and the hash table of pairs.

Kernels get one row of addresses and open it as `Work`. When an array is full they return which, Python doubles it, and they resume
where they stopped.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from jostle.kernels.buffers import doubled, pieces
from jostle.kernels.hash_set import EMPTY, HALF_WORD, enter_again, find_key, write_key
from jostle.kernels.jit import kernel
from jostle.kernels.structs import Addresses
from jostle.methods.monte_carlo.work import (
    FULL_PENDING,
    FULL_ROWS,
    FULL_STACK,
    FULL_TABLE,
    FULL_TRACKERS,
    NOT_DRAWN,
    RING_LENGTH,
    SLOTS,
    Carried,
    Key,
    ListedPair,
    ListEnds,
    SearchCounts,
    SearchState,
    Task,
    Work,
    open_work,
)

# Initial lengths; `Search` adds the arrays of facets and bodies.
ROOM = {
    "body_pairs": 8, "known": 8, "relative": 8, "keys": 1 << 14, "payload": 1 << 14, "stack": 1 << 11, "pending": 1 << 12,
    "rows": 1 << 11, "cells": 1 << 11, "region": 1 << 11, "trackers": 1 << 10, "ring": RING_LENGTH, "tags": 2 * SLOTS,
    "placed": 2 * SLOTS, "state": 1, "task": 1, "ends": 1, "carried": 1, "counts": 1,
}  # fmt: skip
BY_LIST = ("listed", "next_listed", "looked_at", "lost")
GROW_TOGETHER = {
    FULL_STACK: ("stack",), FULL_PENDING: ("pending",), FULL_ROWS: ("rows", "cells", "region"), FULL_TRACKERS: ("trackers",),
}  # fmt: skip


@kernel(forceinline=True)
def words_of(work: Work, key: Key) -> tuple[int, int]:
    """Return the two words of a key in this frame."""
    pair = key.pair
    return (work.carried.stamp << HALF_WORD) | (pair.body_pair * 4 + key.kind), (pair.a << HALF_WORD) | pair.b


@kernel
def find_slot(work: Work, key: Key) -> tuple[int, bool]:
    """Return the slot of a key, or a free one, and whether the key is there."""
    first, second = words_of(work, key)
    return find_key(work.keys, first, second)


@kernel(forceinline=True)
def put_key(work: Work, slot: int, key: Key) -> None:
    """Write a key to the free slot from `find_slot`; the caller writes its payload."""
    first, second = words_of(work, key)
    write_key(work.keys, slot, first, second)
    work.state.keys += 1


@kernel(forceinline=True)
def is_known(work: Work, key: Key) -> bool:
    """Return whether a key is in the table."""
    _, found = find_slot(work, key)
    return found


@kernel
def copy_keys(old_addresses: Addresses, addresses: Addresses, begin: int, end: int) -> None:
    """Put the keys of this frame from `begin` to `end` into a larger table."""
    old, work = open_work(old_addresses), open_work(addresses)
    for k in range(begin, end):
        slot = enter_again(old.keys, k, work.keys, work.carried.stamp)
        if slot != EMPTY:
            work.payload[slot] = old.payload[k]


@kernel
def body_pair_of(work: Work, sample: ListedPair) -> int:
    """Return the number of a sample pair's body pair in this frame, or -1.

    The frame's body pairs are sorted.
    """
    count, last, a, b = work.task.body_pairs, work.counts.last_body_pair, sample.body_a, sample.body_b
    if last < count and work.body_pairs[last].body[0] == a and work.body_pairs[last].body[1] == b:
        return last
    low, high = 0, count
    while low < high:
        middle = (low + high) >> 1
        body = work.body_pairs[middle].body
        if body[0] < a or (body[0] == a and body[1] < b):
            low = middle + 1
        else:
            high = middle
    if low < count and work.body_pairs[low].body[0] == a and work.body_pairs[low].body[1] == b:
        return low
    return -1


class Workspace:
    """The arrays of a search by their names in `Work`, and their address table.

    `state`, `task`, `ends`, `carried` and `counts` read and write the records of these names.
    """

    def __init__(self, most_pairs: int) -> None:
        room = {**ROOM, **dict.fromkeys(BY_LIST, most_pairs)}
        arrays = {field.name: np.zeros(room.get(field.name, 0), field.dtype) for field in Work.layout}
        arrays["ring"][:] = NOT_DRAWN
        self._table = Work.table(**arrays)
        self.state, self.task = SearchState(arrays["state"][0]), Task(arrays["task"][0])
        self.ends, self.carried = ListEnds(arrays["ends"][0]), Carried(arrays["carried"][0])
        self.counts = SearchCounts(arrays["counts"][0])
        self._of_one_frame = arrays["state"].view(np.int64), arrays["counts"].view(np.int64)

    @property
    def addresses(self) -> Addresses:
        """The row for kernels."""
        return self._table.table[0]

    def __getitem__(self, name: str) -> NDArray[Any]:
        return self._table.array(0, PLACES[name])

    def put(self, **arrays: NDArray[Any]) -> None:
        """Replace arrays; they must be C-contiguous."""
        self._table = self._table.with_arrays(0, Work.places(**arrays))

    def grow(self, why: int) -> None:
        """Enlarge the array that was full."""
        if why == FULL_TABLE:
            count = 2 * len(self["keys"])
            arrays = {"keys": np.zeros(count, self["keys"].dtype), "payload": np.zeros(count, np.int32)}
            table = self._table.with_arrays(0, Work.places(**arrays))
            for begin, end in pieces(len(self["keys"])):
                copy_keys(self.addresses, table.table[0], begin, end)
            self._table = table
        else:
            self.put(**{name: doubled(self[name]) for name in GROW_TOGETHER[why]})

    def begin_frame(self) -> None:
        """Reset the state and counts of the last frame."""
        for numbers in self._of_one_frame:
            numbers.fill(0)

    def adopt_next_list(self) -> None:
        """Make the next list the current one."""
        one, other = PLACES["listed"], PLACES["next_listed"]
        self._table = self._table.with_arrays(0, {one: self["next_listed"], other: self["listed"]})


PLACES = {field.name: place for place, field in enumerate(Work.layout)}
