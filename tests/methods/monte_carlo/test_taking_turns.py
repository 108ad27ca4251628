"""Who waits gets a turn: no pair is left out while others are looked at again, whatever order a frame meets them in."""

import itertools

import numpy as np
import pytest

from jostle.methods.monte_carlo import workspace as ws
from jostle.methods.monte_carlo.taking_turns import (
    BELOW_ROWS_SHARE,
    begin_discovery,
    first_behind,
    next_to_discover,
    remember_turn,
    sort_entries,
    turn_entries,
)

pytestmark = pytest.mark.small


def random_entries(rng, count):
    return rng.integers(0, 5, (count, 3)).astype(np.int32)


@pytest.mark.parametrize("count", [0, 1, 2, 3, 7, 40, 150])
def test_entries_are_sorted_and_turned(count):
    rng = np.random.default_rng(count)
    entries = random_entries(rng, count)
    expected = sorted(map(tuple, entries.tolist()))
    flat = entries.reshape(-1).copy()
    sort_entries(flat, count)
    assert list(map(tuple, flat.reshape(-1, 3).tolist())) == expected
    for first in {0, count // 3, max(0, count - 1)}:
        turned = flat.copy()
        turn_entries(turned, count, first)
        assert list(map(tuple, turned.reshape(-1, 3).tolist())) == expected[first:] + expected[:first]


def test_the_first_entry_behind_a_mark():
    flat = np.array([[0, 1, 1], [0, 1, 3], [0, 2, 0], [1, 0, 0]], np.int32).reshape(-1)
    state = np.zeros(ws.STATE, np.int64)
    for mark, expected in (
        ((0, 0, 9), 0),
        ((0, 1, 1), 1),
        ((0, 1, 2), 1),
        ((0, 1, 3), 2),
        ((0, 9, 0), 3),
        ((1, 0, 0), 0),
        ((7, 0, 0), 0),
    ):
        state[ws.COLD_MARK : ws.COLD_MARK + 3] = mark
        assert first_behind(flat, 4, state, ws.COLD_MARK) == expected


@pytest.mark.parametrize("share", [0.2, 0.35, 0.7])
def test_frames_that_are_cut_look_at_everything_in_a_few_of_them(share):
    """Pairs with rows (an even second number) and without, met in another order in each frame, which has time for a share."""
    rng = np.random.default_rng(1)
    pairs = np.array([(0, a, b) for a, b in itertools.product(range(10), range(10))], np.int32)
    state = np.zeros(ws.STATE, np.int64)
    last = {tuple(pair): 0 for pair in pairs.tolist()}
    longest = {True: 0, False: 0}
    for frame in range(1, 40):
        state[: ws.COMPLETE + 1] = 0
        state[ws.FACET_TESTS :] = 0
        state[ws.TAIL] = len(pairs)
        flat = rng.permutation(pairs).reshape(-1)
        begin_discovery(flat, state)
        for _ in range(int(share * len(pairs)) * 2):  # about every second turn meets the other kind, and does nothing
            i, below_rows = next_to_discover(state)
            if i < 0:
                break
            pair = tuple(flat[3 * i : 3 * i + 3].tolist())
            if (pair[1] % 2 == 0) == below_rows:
                remember_turn(flat, i, state, below_rows)
                state[ws.FACET_TESTS] += 50
                last[pair] = frame
        for with_rows in longest:
            waits = (frame - seen for pair, seen in last.items() if (pair[1] % 2 == 0) == with_rows)
            longest[with_rows] = max(longest[with_rows], *waits)
    # Half of the pairs are of either kind, and get that part of the work.
    part = BELOW_ROWS_SHARE / (BELOW_ROWS_SHARE + 1)
    assert longest[True] <= np.ceil(0.5 / (part * share)) + 1
    assert longest[False] <= np.ceil(0.5 / ((1.0 - part) * share)) + 1
