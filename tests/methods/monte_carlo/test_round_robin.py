"""Who waits gets a turn: no pair is left out while others are looked at again, whatever order a frame meets them in."""

import itertools

import numpy as np
import pytest

from jostle.kernels.jit import kernel
from jostle.methods.monte_carlo.round_robin import (
    BELOW_ROWS_SHARE,
    begin_discovery,
    first_behind,
    next_turn,
    remember_turn,
    sort_pending,
    turn_pending,
)
from jostle.methods.monte_carlo.work import open_work, pair_of
from jostle.methods.monte_carlo.workspace import Workspace

pytestmark = pytest.mark.small


@kernel
def sort_at(addresses):
    """Sort what is pending."""
    sort_pending(open_work(addresses))


@kernel
def turn_at(addresses, first):
    """Turn what is pending."""
    turn_pending(open_work(addresses), first)


@kernel
def first_behind_cold(addresses):
    """The first entry behind the mark of pairs without rows."""
    work = open_work(addresses)
    return first_behind(work, work.carried.cold)


@kernel
def begin_at(addresses):
    """Begin to take turns."""
    begin_discovery(open_work(addresses))


@kernel
def next_at(addresses):
    """Whose turn it is."""
    return next_turn(open_work(addresses))


@kernel
def remember_at(addresses, place, below_rows):
    """Note whose turn it was."""
    work = open_work(addresses)
    remember_turn(work, pair_of(work.pending[place]), below_rows)


def workspace_with(entries):
    """A workspace with entries (n,3) pending."""
    work = Workspace(1)
    work.put(pending=np.ascontiguousarray(entries))
    work.state.tail = len(entries)
    return work


def pending_in(work):
    return [tuple(entry.tolist()) for entry in work["pending"][: work.state.tail]]


def random_entries(rng, count):
    return rng.integers(0, 5, (count, 3)).astype(np.int32)


@pytest.mark.parametrize("count", [0, 1, 2, 3, 7, 40, 150])
def test_entries_are_sorted_and_turned(count):
    rng = np.random.default_rng(count)
    entries = random_entries(rng, count)
    expected = sorted(map(tuple, entries.tolist()))
    work = workspace_with(entries)
    sort_at(work.addresses)
    assert pending_in(work) == expected
    for first in {0, count // 3, max(0, count - 1)}:
        turned = workspace_with(np.array(expected, np.int32).reshape(-1, 3))
        turn_at(turned.addresses, first)
        assert pending_in(turned) == expected[first:] + expected[:first]


def test_the_first_entry_behind_a_mark():
    work = workspace_with(np.array([[0, 1, 1], [0, 1, 3], [0, 2, 0], [1, 0, 0]], np.int32))
    for mark, expected in (
        ((0, 0, 9), 0),
        ((0, 1, 1), 1),
        ((0, 1, 2), 1),
        ((0, 1, 3), 2),
        ((0, 9, 0), 3),
        ((1, 0, 0), 0),
        ((7, 0, 0), 0),
    ):
        work["carried"]["cold"] = mark
        assert first_behind_cold(work.addresses) == expected


@pytest.mark.parametrize("share", [0.2, 0.35, 0.7])
def test_frames_that_are_cut_look_at_everything_in_a_few_of_them(share):
    """Pairs with rows (an even second number) and without, met in another order in each frame, which has time for a share."""
    rng = np.random.default_rng(1)
    pairs = np.array([(0, a, b) for a, b in itertools.product(range(10), range(10))], np.int32)
    work = workspace_with(pairs.copy())
    last = {tuple(pair): 0 for pair in pairs.tolist()}
    longest = {True: 0, False: 0}
    for frame in range(1, 40):
        work.begin_frame()
        work.put(pending=rng.permutation(pairs))
        work.state.tail = len(pairs)
        begin_at(work.addresses)
        for _ in range(int(share * len(pairs)) * 2):  # about every second turn meets the other kind, and does nothing
            i, below_rows = next_at(work.addresses)
            if i < 0:
                break
            pair = work["pending"][i].item()
            if (pair[1] % 2 == 0) == below_rows:
                remember_at(work.addresses, i, below_rows)
                work.counts.facet_tests += 50
                last[pair] = frame
        for with_rows in longest:
            waits = (frame - seen for pair, seen in last.items() if (pair[1] % 2 == 0) == with_rows)
            longest[with_rows] = max(longest[with_rows], *waits)
    # Half of the pairs are of either kind, and get that part of the work.
    part = BELOW_ROWS_SHARE / (BELOW_ROWS_SHARE + 1)
    assert longest[True] <= np.ceil(0.5 / (part * share)) + 1
    assert longest[False] <= np.ceil(0.5 / ((1.0 - part) * share)) + 1
