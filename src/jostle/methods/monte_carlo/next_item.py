"""The order of the work within a frame (§3.2–3.4): what is examined next.

A frame goes through *phases*, from what most likely touches to what was never examined, so that a budget that ends early cuts off
the least. A phase hands out *items*: a facet pair to examine, and an action for when everything refined from it has been examined
(`end_item`). One call of `next_item` ends the current item, begins the next one, or does one step of a seed's pass (`sampling.py`).
`examine.py` refines and tests the pairs; it ends the search from any phase where one row is enough.

Terms: a *root pair* is a pair of coarsest facets. A *contact site* is a pair of cells (ancestors some levels up, `Link.cell`) with
rows below it; the first of these rows is its *representative* in the list of sample pairs (`pair_list.py`).

| phase | examines | next phase |
|---|---|---|
| `REPRESENTATIVES` | the representative of each contact site of the last frame (§3.3) | `LOST`, after the last |
| `LOST` | root pairs of lost representatives: their pair and cells led to no row | `TRACKING` |
| `TRACKING` | listed pairs that were separated: updated (§3.3), then coarsened (§4.2) | `SEEDING` |
| `SEEDING` | new pairs, from a few seeds of each body pair (§3.1) | `DISCOVERING` |
| `DISCOVERING` | pending pairs in turn (§3.2), for new contact sites (`round_robin.py`) | `REMAINDER` |
| `REMAINDER` | the other listed pairs that touched in the last frame | `FILLING` |
| `FILLING` | all pending pairs, for all rows | `SWEEPING`; `FINISHED` if the search is not thorough |
| `SWEEPING` | the remaining seeds against all of the other body, and pairs that become pending | `FINISHED`, complete |
| `FINISHED` | nothing | – |

| item | its pair | when it ends |
|---|---|---|
| `REPRESENTATIVE_PAIR` | of the list | with a row: it inherits the sample's age (§5.5); else, at an unknown site: the next item |
| `REPRESENTATIVE_CELLS` | the cells of a representative | without a row the representative is lost |
| `REPRESENTATIVE_ROOTS` | the root pair of a lost representative | without a row its closest separated pair is tracked (§3.4) |
| `TRACKED_PAIR` | of the list | likewise |
| `SEED_PAIR` | where the passes of a seed ended (§3.1) | likewise; which site the seed led to is remembered |
| `DISCOVERY_PAIR` | the pending pair whose turn it is | likewise |
| `PENDING_ROOTS` | a pending root pair | likewise |
| `POSTPONED_PAIR` | a pending pair below the roots | nothing |
| `REMAINING_PAIR` | of the list | with a row: it inherits the sample's age |
"""

from __future__ import annotations

import math
from typing import NamedTuple

from jostle.kernels.jit import kernel
from jostle.kernels.numbers import as_int64
from jostle.methods.monte_carlo.average_planes import gap_of_facets
from jostle.methods.monte_carlo.flood import slot_of_root
from jostle.methods.monte_carlo.packed import are_neighbours, make_fresh
from jostle.methods.monte_carlo.refine import push
from jostle.methods.monte_carlo.round_robin import begin_discovery, next_turn, remember_turn
from jostle.methods.monte_carlo.sampling import BACK, NO_PASS, SWEEP, begin_pass, draw_seed, pair_with_seed, resume_pass
from jostle.methods.monte_carlo.update import coarsen, coarsest_within, walk
from jostle.methods.monte_carlo.work import (
    ALL_ROWS,
    CELL_KEY,
    HAS_ROWS,
    LED_NOWHERE,
    NEW_SITES,
    ONE_ROW,
    QUEUED,
    RING_LENGTH,
    ROOT_KEY,
    TRACKER_KEY,
    FacetPair,
    Key,
    Work,
    are_coarsest,
    cells_of,
    in_order,
    is_of_one_body,
    pair_of,
    roots_of,
    write_entry,
)
from jostle.methods.monte_carlo.workspace import body_pair_of, find_slot, is_known, put_key

# Phases of a frame, in their order.
REPRESENTATIVES, LOST, TRACKING, SEEDING, DISCOVERING, REMAINDER, FILLING, SWEEPING, FINISHED = range(9)
# Kinds of items.
(
    NO_ITEM, REPRESENTATIVE_PAIR, REPRESENTATIVE_CELLS, REPRESENTATIVE_ROOTS, TRACKED_PAIR, SEED_PAIR, DISCOVERY_PAIR,
    PENDING_ROOTS, POSTPONED_PAIR, REMAINING_PAIR,
) = range(10)  # fmt: skip
NOT_LISTED = -1
LARGEST_KEY = 0x7FFFFFFFFFFFFFFF  # of the ring of seeds, where a negative number means no key
BODY_MIX = 40503  # odd, so that two body numbers below 2^16 rarely give the same sum
WALKS = 4  # a tracked pair walks to closer neighbours in every fourth frame (§3.3: only a part of the neighbours each time step)


class Item(NamedTuple):
    """A pair of facets to examine, and what for.

    kind: see the module. listed: its number in the list of sample pairs, or NOT_LISTED. goal: ALL_ROWS, ONE_ROW or NEW_SITES.
    """

    kind: int
    listed: int
    pair: FacetPair
    goal: int


@kernel(forceinline=True)
def no_item() -> Item:
    """Return the item of a step that begins none."""
    return Item(NO_ITEM, NOT_LISTED, FacetPair(-1, -1, -1), ONE_ROW)


@kernel
def next_item(work: Work) -> int:
    """End the current item, or begin the phase's next one; returns the operations.

    A pair to refine is on the stack then.
    """
    used = 1
    if work.state.item_kind != NO_ITEM:
        item = end_item(work)
    else:
        item, more = next_of_phase(work)
        used += more
    if item.kind != NO_ITEM:
        used = begin_item(work, item, used)
    return used


@kernel(forceinline=True)
def next_of_phase(work: Work) -> tuple[Item, int]:
    """Return the next item of the phase, and the operations.

    No item at the end of the phase or within a seed's pass.
    """
    state = work.state
    phase = state.phase
    if phase in (REPRESENTATIVES, TRACKING, REMAINDER):
        return next_listed(work), 0
    if phase == LOST:
        return next_lost(work), 0
    if phase == SEEDING:
        return next_from_seeds(work)
    if phase == DISCOVERING:
        return next_to_discover(work), 0
    if state.head < state.tail:
        return next_pending(work), 0
    if phase == SWEEPING:
        return no_item(), sweep(work)
    if phase == FILLING:
        state.phase = SWEEPING if work.task.thorough != 0 else FINISHED
        state.complete = work.task.body_pairs == 0
    return no_item(), 0


@kernel
def next_listed(work: Work) -> Item:
    """Return the next sample pair of the phase's part of the list.

    After the last, the next phase begins.
    """
    state, ends = work.state, work.ends
    if state.phase == REPRESENTATIVES:
        kind, end = REPRESENTATIVE_PAIR, ends.representatives
    elif state.phase == TRACKING:
        kind, end = TRACKED_PAIR, ends.tracked
    else:
        kind, end = REMAINING_PAIR, ends.all
    listed = state.position
    if listed >= end:
        state.phase, state.position = state.phase + 1, 0
        return no_item()
    state.position = listed + 1
    body_pair = body_pair_of(work, work.listed[listed])
    if body_pair < 0 or work.body_pairs[body_pair].decided != 0:
        return no_item()
    work.counts.last_body_pair = body_pair
    work.counts.looked += 1
    work.looked_at[listed] = 1
    return Item(kind, listed, listed_pair(work, listed, body_pair), ONE_ROW)


@kernel(forceinline=True)
def listed_pair(work: Work, listed: int, body_pair: int) -> FacetPair:
    """Return the facets of a sample pair, given its body pair."""
    sample = work.listed[listed]
    return FacetPair(body_pair, as_int64(sample.facet_a), as_int64(sample.facet_b))


@kernel
def next_lost(work: Work) -> Item:
    """Return the root pair of the next lost representative, unless it has rows by now."""
    state = work.state
    if state.position >= state.lost:
        state.phase, state.position = TRACKING, work.ends.representatives
        return no_item()
    listed = as_int64(work.lost[state.position])
    state.position += 1
    body_pair = body_pair_of(work, work.listed[listed])
    work.counts.last_body_pair = body_pair
    roots = roots_of(work, listed_pair(work, listed, body_pair))
    if is_of_one_body(work, roots) and are_neighbours(work, roots):
        return no_item()  # left to the seeds: below adjacent facets much is near without touching
    slot = slot_of_root(work, roots)
    if work.payload[slot] & HAS_ROWS != 0:
        return no_item()
    work.payload[slot] |= QUEUED
    return Item(REPRESENTATIVE_ROOTS, listed, roots, ONE_ROW)


@kernel
def next_from_seeds(work: Work) -> tuple[Item, int]:
    """Draw the next seed, or resume its passes.

    Returns the pair where these end, and the operations.
    """
    state = work.state
    if state.seed_stage == NO_PASS:
        return no_item(), draw_next_seed(work)
    used = resume_pass(work)
    if state.pass_next < state.pass_end:
        return no_item(), used
    made_pair = state.seed_stage == BACK and state.seed_closest >= 0
    state.seed_stage = NO_PASS
    if not made_pair:
        return no_item(), used
    return Item(SEED_PAIR, NOT_LISTED, pair_with_seed(work, state.seed_closest), ONE_ROW), used


@kernel
def draw_next_seed(work: Work) -> int:
    """Draw a seed of the next body pair, or begin discovery after the last.

    Returns the operations.
    """
    state, task = work.state, work.task
    number = state.position
    if number >= task.seeds_each * task.body_pairs:
        state.phase = DISCOVERING
        begin_discovery(work)
        return state.tail  # of sorting: one for each entry
    state.position = number + 1
    body_pair = (number + work.carried.stamp) % task.body_pairs  # each frame begins with another body pair
    if work.body_pairs[body_pair].decided == 0:
        draw_seed(work, body_pair)
        work.counts.samples += 1
    return 0


@kernel
def next_to_discover(work: Work) -> Item:
    """Return the pending pair whose turn it is, if it is still of the expected kind."""
    state = work.state
    place, below_rows = next_turn(work)
    if place < 0:
        state.phase, state.position = REMAINDER, work.ends.tracked
        return no_item()
    pair = pair_of(work.pending[place])
    slot, is_root = find_slot(work, Key(ROOT_KEY, pair))
    if is_root:
        has_rows = work.payload[slot] & HAS_ROWS != 0
    else:  # postponed beside a row: it may hide another one only outside of known sites
        if is_known(work, Key(CELL_KEY, cells_of(work, pair))):
            return no_item()
        has_rows = True
    if has_rows != below_rows:
        return no_item()
    remember_turn(work, pair, below_rows)
    return Item(DISCOVERY_PAIR, NOT_LISTED, pair, NEW_SITES if below_rows else ONE_ROW)


@kernel(forceinline=True)
def next_pending(work: Work) -> Item:
    """Return the first pending pair, to be searched for all rows."""
    state = work.state
    pair = pair_of(work.pending[state.head])
    state.head += 1
    if state.head == state.tail:
        state.head, state.tail = 0, 0
    return Item(PENDING_ROOTS if are_coarsest(work, pair) else POSTPONED_PAIR, NOT_LISTED, pair, ALL_ROWS)


@kernel
def sweep(work: Work) -> int:
    """Resume a seed's pass over the other body, or begin the next seed's.

    Returns the operations.
    """
    state = work.state
    if state.seed_stage != SWEEP:
        begin_sweep(work)
        return 0
    used = resume_pass(work)
    if state.pass_next >= state.pass_end:
        state.seed_stage = NO_PASS
    return used


@kernel
def begin_sweep(work: Work) -> None:
    """Begin the next seed's pass; after the last, the search is complete.

    Seeds are of the body of a pair that has fewer.
    """
    state = work.state
    while state.sweep_body_pair < work.task.body_pairs:
        body_pair = work.body_pairs[state.sweep_body_pair]
        a, b = work.bodies[body_pair.body[0]], work.bodies[body_pair.body[1]]
        count_a, count_b = a.coarsest_end - a.coarsest, b.coarsest_end - b.coarsest
        side = 0 if count_a <= count_b else 1
        count, first_seed = (count_b, b.seeds) if side else (count_a, a.seeds)
        number = state.sweep_seed
        if number < count and body_pair.decided == 0:
            state.sweep_seed = number + 1
            # After the seeds of this frame: over several frames cut by a budget, all seeds get their turn.
            place = (body_pair.cursor[side] + number) % count
            state.seed_body_pair, state.seed_side, state.seed_stage = state.sweep_body_pair, side, SWEEP
            state.seed_facet = work.seed_order[first_seed + place]
            work.counts.samples += 1
            begin_pass(work, 1 - side)
            return
        state.sweep_body_pair, state.sweep_seed = state.sweep_body_pair + 1, 0
    state.phase, state.complete = FINISHED, 1


@kernel
def begin_item(work: Work, item: Item, used: int) -> int:
    """Update the pair of an item (§3.3) and test it (§4.2): refine or track it.

    Returns the operations, `used` included.

    A pending pair was tested when it became pending. An item whose pair is examined otherwise does not begin.
    """
    if item.kind in (DISCOVERY_PAIR, PENDING_ROOTS, POSTPONED_PAIR):
        set_item(work, item)
        push(work, item.pair)
        return used
    pair, more = updated_pair(work, item)
    used += more
    if item.kind == REPRESENTATIVE_CELLS and is_of_one_body(work, pair) and are_neighbours(work, pair):
        lose(work, item.listed)
        return used
    if item.kind == TRACKED_PAIR and is_known(work, Key(TRACKER_KEY, pair)):
        return used
    make_fresh(work, pair)
    gap = gap_of_facets(work, pair)
    work.counts.facet_tests += used
    set_item(work, Item(item.kind, item.listed, pair, item.goal))
    if gap <= 0.0:
        push(work, pair)
        return used
    return used + settle_separated(work, item.kind, pair, gap)


@kernel(forceinline=True)
def updated_pair(work: Work, item: Item) -> tuple[FacetPair, int]:
    """Return the current pair of an item (§3.3), and the number of distances.

    Closer, ordered, or coarser within the error.
    """
    pair, tests = item.pair, 0
    if item.kind == TRACKED_PAIR and (item.listed + work.carried.stamp) % WALKS == 0:
        pair, tests = walk(work, pair)
    if is_of_one_body(work, pair):
        pair = in_order(pair)
    elif work.task.error > 0.0 and item.kind in (REPRESENTATIVE_PAIR, REMAINING_PAIR):
        pair = coarsest_within(work, pair)
    return pair, tests


@kernel(forceinline=True)
def set_item(work: Work, item: Item) -> None:
    """Make an item the current one: no row, and no separated pair so far."""
    state = work.state
    state.item_kind, state.item_listed, state.item_body_pair, state.goal = item.kind, item.listed, item.pair.body_pair, item.goal
    state.item_hit, state.item_row = 0, -1
    state.closest_a, state.closest_b, state.closest_gap = -1, -1, math.inf


@kernel(forceinline=True)
def settle_separated(work: Work, kind: int, pair: FacetPair, gap: float) -> int:
    """Note the current item's separated pair, coarsened (§4.2); returns the tests.

    `end_item` tracks it.
    """
    state, tests = work.state, 0
    if kind in (TRACKED_PAIR, SEED_PAIR):
        pair, gap, tests = coarsen(work, pair, gap)
    if kind == REMAINING_PAIR:
        state.item_kind = NO_ITEM
    elif kind not in (REPRESENTATIVE_PAIR, REPRESENTATIVE_CELLS):  # for these, coarser pairs are tried first
        state.closest_gap, state.closest_a, state.closest_b = gap, pair.a, pair.b
    return tests


@kernel
def end_item(work: Work) -> Item:
    """Act on the result of the current item; returns the item that follows from it.

    The cells of a representative, or none.
    """
    state = work.state
    kind, has_row, listed = state.item_kind, state.item_hit != 0, state.item_listed
    state.item_kind = NO_ITEM
    if kind in (REPRESENTATIVE_PAIR, REMAINING_PAIR):
        if has_row:
            work.rows[state.item_row].sample = listed
        elif kind == REPRESENTATIVE_PAIR:
            cells = cells_of(work, listed_pair(work, listed, state.item_body_pair))
            if not is_known(work, Key(CELL_KEY, cells)):
                return Item(REPRESENTATIVE_CELLS, listed, cells, ONE_ROW)
    elif kind == REPRESENTATIVE_CELLS:
        if not has_row:
            lose(work, listed)
    else:
        if kind == SEED_PAIR:
            remember_seed(work)
        if kind != POSTPONED_PAIR and not has_row and state.closest_a >= 0:
            track(work, FacetPair(state.item_body_pair, state.closest_a, state.closest_b), state.closest_gap)
    return no_item()


@kernel(forceinline=True)
def lose(work: Work, listed: int) -> None:
    """Put a representative on the list of lost ones."""
    work.lost[work.state.lost] = listed
    work.state.lost += 1


@kernel
def remember_seed(work: Work) -> None:
    """Write the pair that the last seed led to, if it has rows, to the ring.

    `reached.undiscovered` is estimated from it.
    """
    state, carried, key = work.state, work.carried, LED_NOWHERE
    if state.item_hit != 0:
        bodies, pair = work.body_pairs[state.item_body_pair].body, pair_with_seed(work, state.seed_closest)
        key = (((as_int64(bodies[0]) * BODY_MIX + bodies[1]) << 40) ^ (pair.a << 20) ^ pair.b) & LARGEST_KEY
    work.ring[carried.ring_place] = key
    carried.ring_place = (carried.ring_place + 1) % RING_LENGTH


@kernel
def track(work: Work, pair: FacetPair, gap: float) -> None:
    """Track a separated pair (§3.4), unless it is tracked already."""
    state, relative = work.state, work.relative[pair.body_pair]
    relative.nearest = min(relative.nearest, gap)
    key = Key(TRACKER_KEY, pair)
    slot, found = find_slot(work, key)
    if not found:
        put_key(work, slot, key)
        work.payload[slot] = 0
        tracker = work.trackers[state.trackers]
        write_entry(tracker.pair, pair)
        tracker.gap = gap
        state.trackers += 1
