"""Taking turns (Guy and Debunne §3.2): what one frame did not come to look at, the next one begins with.

Pairs of coarsest facets that are not parted, and wait for being looked at, come in the order in which a frame met them, which is
another one in each frame. Sorted, they are the same list but for what came and went, and a frame goes on behind the pair at which
the last one was cut: with time for a third of them, all are looked at in three frames. (With 20,000 operations a frame, and in the
order in which they came, a region of eight or more pairs was missed for up to 6 frames in `horseshoe_and_clover`; so for 3.)
"""

from jostle.kernels.jit import kernel
from jostle.methods.monte_carlo import workspace as ws

BELOW_ROWS_SHARE = 3  # of the work below pairs with rows, to one below the others: most regions come up beside others


@kernel(forceinline=True)
def is_before(entries, i, couple, fa, fb):  # type: ignore[no-untyped-def]
    """Whether entry i comes before (couple, fa, fb), or is that."""
    at = ws.ENTRY * i
    if entries[at] != couple:
        return entries[at] < couple
    if entries[at + 1] != fa:
        return entries[at + 1] < fa
    return entries[at + 2] <= fb


@kernel
def sort_entries(entries, count):  # type: ignore[no-untyped-def]
    """Sort entries (couple, facet a, facet b), flat int32, by Shell's method."""
    gap = 1
    while gap < count // 3:
        gap = 3 * gap + 1
    while gap > 0:
        for i in range(gap, count):
            couple, fa, fb = entries[ws.ENTRY * i], entries[ws.ENTRY * i + 1], entries[ws.ENTRY * i + 2]
            j = i
            while j >= gap and not is_before(entries, j - gap, couple, fa, fb):
                for k in range(ws.ENTRY):
                    entries[ws.ENTRY * j + k] = entries[ws.ENTRY * (j - gap) + k]
                j -= gap
            entries[ws.ENTRY * j], entries[ws.ENTRY * j + 1], entries[ws.ENTRY * j + 2] = couple, fa, fb
        gap //= 3


@kernel
def turn_entries(entries, count, first):  # type: ignore[no-untyped-def]
    """Turn a list of entries so that it begins with one of them: both parts reversed, then the whole."""
    for part in range(3):
        i, j = (first if part == 1 else 0), (first if part == 0 else count) - 1
        while i < j:
            for k in range(ws.ENTRY):
                p, q = ws.ENTRY * i + k, ws.ENTRY * j + k
                entries[p], entries[q] = entries[q], entries[p]
            i, j = i + 1, j - 1


@kernel
def first_behind(entries, count, state, mark):  # type: ignore[no-untyped-def]
    """The first of sorted entries behind the one that state[mark …] holds; 0 where there is none."""
    low, high = 0, count
    while low < high:
        middle = (low + high) // 2
        if is_before(entries, middle, state[mark], state[mark + 1], state[mark + 2]):
            low = middle + 1
        else:
            high = middle
    return 0 if low == count else low


@kernel
def begin_discovery(entries, state):  # type: ignore[no-untyped-def]
    """Put what is pending in order, from behind the last pair with rows that was looked at; the others have their own start."""
    count = state[ws.TAIL]
    sort_entries(entries, count)
    hot, cold = first_behind(entries, count, state, ws.HOT_MARK), first_behind(entries, count, state, ws.COLD_MARK)
    turn_entries(entries, count, hot)
    state[ws.PLACE_END], state[ws.HOT_PLACE], state[ws.POSITION] = count, 0, 0
    state[ws.COLD_FIRST] = (cold - hot) % count if count > 0 else 0
    state[ws.WORK_MARK] = work_so_far(state)


@kernel(forceinline=True)
def work_so_far(state):  # type: ignore[no-untyped-def]
    """What a frame has done, in about operations."""
    return state[ws.FACET_TESTS] + 4 * state[ws.EXACT_TESTS]


@kernel
def next_to_discover(state):  # type: ignore[no-untyped-def]
    """The place of the next entry, and whether its turn is one of pairs that have rows already; -1 where all had theirs.

    New places are looked for below pairs with rows, and any below the others. Both get their share of the work as long as both have
    something left: either may need all that a frame has.
    """
    work, count = work_so_far(state), state[ws.PLACE_END]
    spent = work - state[ws.WORK_MARK]
    state[ws.BALANCE] += spent if state[ws.BELOW_ROWS] != 0 else -BELOW_ROWS_SHARE * spent
    below_rows = (state[ws.BALANCE] <= 0 and state[ws.HOT_PLACE] < count) or state[ws.POSITION] >= count
    state[ws.WORK_MARK], state[ws.BELOW_ROWS] = work, below_rows
    if below_rows:
        i = state[ws.HOT_PLACE]
        state[ws.HOT_PLACE] += 1
        return (i if i < count else -1), True
    i = (state[ws.POSITION] + state[ws.COLD_FIRST]) % count
    state[ws.POSITION] += 1
    return i, False


@kernel(forceinline=True)
def remember_turn(entries, i, state, below_rows):  # type: ignore[no-untyped-def]
    """Note that entry i was looked at: the next frame begins behind it."""
    mark = ws.HOT_MARK if below_rows else ws.COLD_MARK
    for k in range(ws.ENTRY):
        state[mark + k] = entries[ws.ENTRY * i + k]
