"""Taking turns (Guy and Debunne §3.2): what one frame did not come to look at, the next one begins with.

Pairs of coarsest facets that are not parted, and wait for being looked at, come in the order in which a frame met them, which is
another one in each frame. Sorted, they are the same list but for what came and went, and a frame goes on behind the pair at which
the last one was cut: with time for a third of them, all are looked at in three frames. (With 20,000 operations a frame, and in the
order in which they came, a region of eight or more pairs was missed for up to 6 frames in `horseshoe_and_clover`; so for 3.)
"""

from __future__ import annotations

from jostle.kernels.jit import kernel
from jostle.kernels.sort import first_gap
from jostle.methods.monte_carlo.work import Entry, FacetPair, Work, pair_of, write_entry

BELOW_ROWS_SHARE = 3  # of the work below pairs with rows, to one below the others: most regions come up beside others


@kernel(forceinline=True)
def is_behind(entry: Entry, pair: FacetPair) -> bool:
    """Return whether an entry comes behind a pair."""
    if entry.couple != pair.couple:
        return entry.couple > pair.couple
    if entry.a != pair.a:
        return entry.a > pair.a
    return entry.b > pair.b


@kernel
def sort_pending(work: Work) -> None:
    """Sort what is pending by (couple, facet a, facet b): `kernels/sort.py` for rows of records, which it takes by columns."""
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
    """Turn what is pending so that it begins with one of its entries: both parts reversed, then the whole."""
    entries, count = work.pending, work.state.tail
    for part in range(3):
        i, j = (first if part == 1 else 0), (first if part == 0 else count) - 1
        while i < j:
            one, other = pair_of(entries[i]), pair_of(entries[j])
            write_entry(entries[i], other)
            write_entry(entries[j], one)
            i, j = i + 1, j - 1


@kernel
def first_behind(work: Work, mark: Entry) -> int:
    """Return the first of what is pending, sorted, behind a mark; 0 where there is none."""
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
    """Put what is pending in order, from behind the last pair with rows that was looked at; the others have their own start."""
    state, count = work.state, work.state.tail
    sort_pending(work)
    hot, cold = first_behind(work, work.carried.hot), first_behind(work, work.carried.cold)
    turn_pending(work, hot)
    state.turns, state.hot_place, state.position = count, 0, 0
    state.cold_first = (cold - hot) % count if count > 0 else 0
    state.work_mark = work_so_far(work)


@kernel(forceinline=True)
def work_so_far(work: Work) -> int:
    """Return what a frame has done, in about operations."""
    return work.counts.facet_tests + 4 * work.counts.exact_tests


@kernel
def next_turn(work: Work) -> tuple[int, bool]:
    """Return the place of the next entry, and whether its turn is one of pairs that have rows already; -1 where all had theirs.

    New places are looked for below pairs with rows, and any below the others. Both get their share of the work as long as both have
    something left: either may need all that a frame has.
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
    """Note that a pair was looked at: the next frame begins behind it."""
    write_entry(work.carried.hot if below_rows else work.carried.cold, pair)
