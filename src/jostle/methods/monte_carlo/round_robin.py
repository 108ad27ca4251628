"""Round robin (§3.2): a frame begins where the last one was cut short.

Pending pairs come in the order in which a frame found them, which differs from frame to frame. Sorted, the list changes
little, and a frame resumes after the pair at which the last one was cut: with time for a third of them, all are examined in three
frames. (With 20,000 operations a frame, unsorted, a region of eight or more pairs was missed for up to 6 frames in
`horseshoe_and_clover`; sorted, for 3.)

Two kinds of pairs take turns: *hot* ones, which have rows already, and *cold* ones, which have none.
"""

from __future__ import annotations

from jostle.kernels.jit import kernel
from jostle.kernels.sort import first_gap
from jostle.methods.monte_carlo.work import Entry, FacetPair, Work, exchange, pair_of, write_entry

BELOW_ROWS_SHARE = 3  # parts of the work below pairs with rows, to one below the others: most regions appear beside others


@kernel(forceinline=True)
def is_behind(entry: Entry, pair: FacetPair) -> bool:
    """Return whether an entry comes after a pair."""
    if entry.body_pair != pair.body_pair:
        return entry.body_pair > pair.body_pair
    if entry.a != pair.a:
        return entry.a > pair.a
    return entry.b > pair.b


@kernel
def sort_pending(work: Work) -> None:
    """Shell-sort the pending pairs by (body pair, facet a, facet b).

    As in `kernels/sort.py`, which sorts columns, not records.
    """
    entries, count = work.pending, work.state.tail
    gap = first_gap(count)
    while gap > 0:
        for i in range(gap, count):
            pair, j = pair_of(entries[i]), i
            while j >= gap and is_behind(entries[j - gap], pair):
                write_entry(entries[j], pair_of(entries[j - gap]))
                j -= gap
            write_entry(entries[j], pair)
        gap //= 3


@kernel
def turn_pending(work: Work, first: int) -> None:
    """Rotate the pending pairs to begin with entry `first`.

    Both parts are reversed, then the whole.
    """
    entries, count = work.pending, work.state.tail
    for part in range(3):
        i, j = (first if part == 1 else 0), (first if part == 0 else count) - 1
        while i < j:
            exchange(entries, i, j)
            i, j = i + 1, j - 1


@kernel
def first_behind(work: Work, mark: Entry) -> int:
    """Return the first sorted pending pair after a mark; 0 where there is none."""
    pair = pair_of(mark)
    low, high = 0, work.state.tail
    while low < high:
        middle = (low + high) // 2
        if is_behind(work.pending[middle], pair):
            high = middle
        else:
            low = middle + 1
    return 0 if low == work.state.tail else low


@kernel
def begin_discovery(work: Work) -> None:
    """Sort the pending pairs, rotated to begin after the last one that had rows.

    Pairs without rows have their own start.
    """
    state, count = work.state, work.state.tail
    sort_pending(work)
    hot, cold = first_behind(work, work.carried.hot), first_behind(work, work.carried.cold)
    turn_pending(work, hot)
    state.turns, state.hot_place, state.position = count, 0, 0
    state.cold_first = (cold - hot) % count if count > 0 else 0
    state.work_mark = work_so_far(work)


@kernel(forceinline=True)
def work_so_far(work: Work) -> int:
    """Return the work of a frame so far, in about operations."""
    return work.counts.facet_tests + 4 * work.counts.exact_tests


@kernel
def next_turn(work: Work) -> tuple[int, bool]:
    """Return the place of the next entry, and whether its turn is for pairs with rows.

    -1 after all turns.

    Below pairs with rows only new sites are sought, below the others any row. Both get their share of the work as long as both have
    turns left: either may need all the time of a frame.
    """
    state = work.state
    done, count = work_so_far(work), state.turns
    spent = done - state.work_mark
    state.balance += spent if state.below_rows != 0 else -BELOW_ROWS_SHARE * spent
    below_rows = (state.balance <= 0 and state.hot_place < count) or state.position >= count
    state.work_mark, state.below_rows = done, below_rows
    if below_rows:
        i = state.hot_place
        state.hot_place += 1
        return (i if i < count else -1), True
    i = (state.position + state.cold_first) % count
    state.position += 1
    return i, False


@kernel(forceinline=True)
def remember_turn(work: Work, pair: FacetPair, below_rows: bool) -> None:
    """Note that a pair was examined: the next frame begins after it."""
    write_entry(work.carried.hot if below_rows else work.carried.cold, pair)
