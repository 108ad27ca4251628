"""What the search looks at next (Guy and Debunne §3.2–3.4): representatives, lost ones, followed pairs, seeds, the rest.

An item is one pair of facets that goes on the stack, with what is to be done when all that came from it has been looked at
(`end_item`). Each call of `next_item` ends an item and begins another one, or does one step of a seed's pass.

| phase | what it looks at | leaves to |
|---|---|---|
| `REPRESENTATIVES` | one pair of each place that touched in the last frame | `LOST_ONES`, after the last |
| `LOST_ONES` | the roots of those that were found neither where they were nor in their cells | `FOLLOWING` |
| `FOLLOWING` | pairs that were apart: updated (§3.3), coarsened (§4.2) | `SEEDING` |
| `SEEDING` | new pairs from some seeds of each couple (§3.1) | `DISCOVERING` |
| `DISCOVERING` | pairs of coarsest facets that are not parted, by turns (§3.2): new places only | `REMAINDER` |
| `REMAINDER` | the other pairs that touched in the last frame | `FILLING` |
| `FILLING` | all that is pending, for all rows | `SWEEPING`; `FINISHED` where not thorough |
| `SWEEPING` | the remaining seeds, each against all of the other body, and what that makes pending | `FINISHED`, complete |
| `FINISHED` | nothing | |

| item | its pair | at its end |
|---|---|---|
| `OF_REPRESENTATIVE` | of the list | with a row: that row ages with it; without: `IN_CELL` |
| `IN_CELL` | the cells of a representative | without a row it is lost: `IN_ROOT` in the next phase |
| `IN_ROOT` | the roots of a lost representative | without a row the closest pair that was met is followed (§3.4) |
| `OF_FOLLOWED` | of the list, apart so far | the same |
| `OF_SEED` | what a seed led to | the same; where it led to is remembered |
| `OF_REMAINDER` | of the list | with a row: that row ages with it |
| `OF_PENDING` | coarsest facets, or what was postponed | without a row, of coarsest facets: the closest is followed |
"""

from __future__ import annotations

import math
from typing import NamedTuple

from jostle.kernels.jit import kernel
from jostle.kernels.numbers import as_int64
from jostle.methods.monte_carlo.average_planes import gap_of_facets
from jostle.methods.monte_carlo.flood import slot_of_root
from jostle.methods.monte_carlo.packed import are_neighbours, make_fresh
from jostle.methods.monte_carlo.sampling import BACK, NO_PASS, SWEEP, begin_pass, draw_seed, resume_pass
from jostle.methods.monte_carlo.taking_turns import begin_discovery, next_turn, remember_turn
from jostle.methods.monte_carlo.update import coarsen, coarsest_within, walk
from jostle.methods.monte_carlo.work import (
    ALL_ROWS,
    HOT,
    OF_CELL,
    OF_ROOT,
    OF_TRACKER,
    ONE_ROW,
    PLACE_BY_PLACE,
    QUEUED,
    RING_LENGTH,
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
from jostle.methods.monte_carlo.workspace import couple_of, find_slot, is_known, put_key

# Phases of a frame.
REPRESENTATIVES, LOST_ONES, FOLLOWING, SEEDING, DISCOVERING, REMAINDER, FILLING, SWEEPING, FINISHED = range(9)
# Kinds of items.
NOTHING, OF_REPRESENTATIVE, IN_CELL, IN_ROOT, OF_FOLLOWED, OF_SEED, OF_REMAINDER, OF_PENDING = range(8)
POSITIVE = 0x7FFFFFFFFFFFFFFF
WALKS = 4  # a pair walks to closer neighbours in one frame of so many (§3.3: only a part of the neighbours at each time step)


class Item(NamedTuple):
    """What comes next: its kind (NOTHING: none), its number in its list or 0, its pair, what is to be found."""

    kind: int
    number: int
    pair: FacetPair
    early: int


@kernel(forceinline=True)
def no_item() -> Item:
    """Return that nothing begins in this step."""
    return Item(NOTHING, -1, FacetPair(-1, -1, -1), ONE_ROW)


@kernel
def next_item(work: Work) -> int:
    """End the present item and begin the next; where that is to be refined, it is on the stack. Returns the operations."""
    state = work.state
    phase, used = state.phase, 1
    if state.item != NOTHING:
        item = end_item(work)
    elif phase in (REPRESENTATIVES, FOLLOWING, REMAINDER):
        item = next_listed(work)
    elif phase == LOST_ONES:
        item = next_lost(work)
    elif phase == SEEDING:
        item, more = next_from_seeds(work)
        used += more
    elif phase == DISCOVERING:
        item = next_to_discover(work)
    elif state.head < state.tail:
        item = next_pending(work)
    else:
        item = no_item()
        if phase == FILLING:
            state.phase = SWEEPING if work.task.thorough != 0 else FINISHED
            state.complete = work.task.couples == 0
        elif phase == SWEEPING:
            used += sweep(work)
    if item.kind == OF_PENDING:
        begin_item(work, item)
        state.height = 1
    elif item.kind != NOTHING:
        used = update_item(work, item, used)
    return used


@kernel
def end_item(work: Work) -> Item:
    """Note what came of the present item; where a representative is not where it was, its cell is what comes next."""
    state = work.state
    kind, hit, index = state.item, state.item_hit != 0, state.item_index
    state.item = NOTHING
    if kind in (OF_REPRESENTATIVE, OF_REMAINDER):
        if hit:
            work.rows[state.item_row].sample = index
        elif kind == OF_REPRESENTATIVE:
            sample = work.listed[index]
            cells = cells_of(work, FacetPair(state.item_couple, as_int64(sample.facet_a), as_int64(sample.facet_b)))
            if not is_known(work, Key(OF_CELL, cells)):
                return Item(IN_CELL, index, cells, ONE_ROW)
    elif kind == IN_CELL:
        if not hit:
            lose(work, index)
    else:
        if kind == OF_SEED:
            remember_seed(work)
        if not hit and state.item_a >= 0 and (kind != OF_PENDING or index >= 0):
            follow(work, FacetPair(state.item_couple, state.item_a, state.item_b), state.best_gap)
    return no_item()


@kernel(forceinline=True)
def lose(work: Work, index: int) -> None:
    """Have a representative looked for below its roots."""
    work.lost[work.state.lost] = index
    work.state.lost += 1


@kernel
def remember_seed(work: Work) -> None:
    """Note in the ring to which place the last seed has led."""
    state, key = work.state, -1
    if state.item_hit != 0:
        couple = work.couples[state.item_couple]
        key = as_int64(couple.body[0]) * 40503 + couple.body[1]
        key = ((key << 40) ^ state.item_index) & POSITIVE
    work.ring[work.carried.ring_place] = key
    work.carried.ring_place = (work.carried.ring_place + 1) % RING_LENGTH


@kernel
def follow(work: Work, pair: FacetPair, gap: float) -> None:
    """Put a pair that is apart on the list of those that are followed, if it is not there."""
    state, relative = work.state, work.relative[pair.couple]
    relative.nearest = min(relative.nearest, gap)
    key = Key(OF_TRACKER, pair)
    slot, found = find_slot(work, key)
    if not found:
        put_key(work, slot, key)
        work.payload[slot] = 0
        tracker = work.trackers[state.trackers]
        write_entry(tracker.pair, pair)
        tracker.gap = gap
        state.trackers += 1


@kernel
def next_listed(work: Work) -> Item:
    """Return the next representative, followed pair or other pair of the list."""
    state, ends = work.state, work.ends
    if state.phase == REPRESENTATIVES:
        kind, end = OF_REPRESENTATIVE, ends.representatives
    elif state.phase == FOLLOWING:
        kind, end = OF_FOLLOWED, ends.followed
    else:
        kind, end = OF_REMAINDER, ends.all
    index = state.position
    if index >= end:
        state.phase += 1
        if kind != OF_REMAINDER:
            state.position = 0
        return no_item()
    state.position = index + 1
    sample = work.listed[index]
    couple = couple_of(work, sample)
    if couple < 0 or work.couples[couple].decided != 0:
        return no_item()
    work.counts.last_couple = couple
    work.counts.looked += 1
    work.looked_at[index] = 1
    return Item(kind, index, FacetPair(couple, as_int64(sample.facet_a), as_int64(sample.facet_b)), ONE_ROW)


@kernel
def next_lost(work: Work) -> Item:
    """Return the roots of the next representative that was not found in its cell."""
    state = work.state
    if state.position >= state.lost:
        state.phase, state.position = FOLLOWING, work.ends.representatives
        return no_item()
    index = as_int64(work.lost[state.position])
    state.position += 1
    sample = work.listed[index]
    couple = couple_of(work, sample)
    work.counts.last_couple = couple
    roots = roots_of(work, FacetPair(couple, as_int64(sample.facet_a), as_int64(sample.facet_b)))
    if is_of_one_body(work, roots) and are_neighbours(work, roots):
        return no_item()  # left to the seeds: below them much is near that does not touch
    slot = slot_of_root(work, roots)
    if work.payload[slot] & HOT != 0:
        return no_item()
    work.payload[slot] |= QUEUED
    return Item(IN_ROOT, index, roots, ONE_ROW)


@kernel
def next_from_seeds(work: Work) -> tuple[Item, int]:
    """Draw the next seed, or go on with its pass; returns the pair to which it has led, and the operations."""
    state = work.state
    if state.stage == NO_PASS:
        index = state.position
        if index >= work.task.seeds_each * work.task.couples:
            state.phase = DISCOVERING
            begin_discovery(work)
            return no_item(), state.tail
        state.position = index + 1
        couple = (index + work.carried.stamp) % work.task.couples
        if work.couples[couple].decided == 0:
            draw_seed(work, couple)
            work.counts.samples += 1
        return no_item(), 0
    used = resume_pass(work)
    if state.place < state.place_end:
        return no_item(), used
    stage = state.stage
    state.stage = NO_PASS
    if stage != BACK or state.closest < 0:
        return no_item(), used
    f, g, couple = state.seed_facet, state.closest, state.seed_couple
    pair = FacetPair(couple, f, g) if state.side == 0 else FacetPair(couple, g, f)
    return Item(OF_SEED, (pair.a << 20) ^ pair.b, pair, ONE_ROW), used


@kernel
def next_to_discover(work: Work) -> Item:
    """Return the pair of coarsest facets whose turn it is."""
    state = work.state
    place, below_rows = next_turn(work)
    if place < 0:
        state.phase, state.position = REMAINDER, work.ends.followed
        return no_item()
    pair = pair_of(work.pending[place])
    slot, found = find_slot(work, Key(OF_ROOT, pair))
    if found:
        has_rows = work.payload[slot] & HOT != 0
    else:  # postponed when a row was found beside it: what is not below a known place may hide another one
        if is_known(work, Key(OF_CELL, cells_of(work, pair))):
            return no_item()
        has_rows = True
    if has_rows != below_rows:
        return no_item()
    remember_turn(work, pair, below_rows)
    return Item(OF_PENDING, 0, pair, PLACE_BY_PLACE if below_rows else ONE_ROW)


@kernel(forceinline=True)
def next_pending(work: Work) -> Item:
    """Return the first of what is pending."""
    state = work.state
    pair = pair_of(work.pending[state.head])
    state.head += 1
    if state.head == state.tail:
        state.head, state.tail = 0, 0
    return Item(OF_PENDING, 0 if are_coarsest(work, pair) else -1, pair, ALL_ROWS)


@kernel(forceinline=True)
def begin_item(work: Work, item: Item) -> None:
    """Begin an item, with its pair on the stack."""
    state = work.state
    state.item, state.item_index, state.item_hit, state.item_row, state.early = item.kind, item.number, 0, -1, item.early
    state.item_couple, state.item_a, state.item_b, state.best_gap = item.pair.couple, -1, -1, math.inf
    write_entry(work.stack[0], item.pair)


@kernel
def update_item(work: Work, item: Item, used: int) -> int:
    """Update the pair of an item (§3.3), and begin it: to be refined, or followed where it is apart (§4.2).

    Nothing begins where others do the same. Returns the operations, after those `used` so far.
    """
    state, kind, pair = work.state, item.kind, item.pair
    if kind == OF_FOLLOWED and (item.number + work.carried.stamp) % WALKS == 0:
        pair, more = walk(work, pair)
        used += more
    if is_of_one_body(work, pair):
        pair = in_order(pair)
        if kind == IN_CELL and are_neighbours(work, pair):
            lose(work, item.number)
            return used
    elif work.task.error > 0.0 and kind in (OF_REPRESENTATIVE, OF_REMAINDER):
        pair = coarsest_within(work, pair)
    if kind == OF_FOLLOWED and is_known(work, Key(OF_TRACKER, pair)):
        return used
    make_fresh(work, pair)
    gap = gap_of_facets(work, pair)
    work.counts.facet_tests += used
    begin_item(work, Item(kind, item.number, pair, item.early))
    if gap <= 0.0:
        state.height = 1
        return used
    if kind in (OF_FOLLOWED, OF_SEED):
        pair, gap, more = coarsen(work, pair, gap)
        used += more
    if kind == OF_REMAINDER:
        state.item = NOTHING
    elif kind not in (OF_REPRESENTATIVE, IN_CELL):
        state.best_gap, state.item_a, state.item_b = gap, pair.a, pair.b
    return used


@kernel
def sweep(work: Work) -> int:
    """Go on with the pass of a seed over all that is not parted from it, or begin the next; returns the operations."""
    state = work.state
    if state.stage != SWEEP:
        begin_sweep(work)
        return 0
    used = resume_pass(work)
    if state.place >= state.place_end:
        state.stage = NO_PASS
    return used


@kernel
def begin_sweep(work: Work) -> None:
    """Begin the pass of the next seed, of the body of each couple that has fewer of them; or end the search."""
    state = work.state
    while state.sweep_couple < work.task.couples:
        couple = work.couples[state.sweep_couple]
        a, b = work.bodies[couple.body[0]], work.bodies[couple.body[1]]
        count_a, count_b = a.coarsest_end - a.coarsest, b.coarsest_end - b.coarsest
        side = 0 if count_a <= count_b else 1
        count, first_seed = (count_b, b.seeds) if side else (count_a, a.seeds)
        index = state.sweep_place
        if index < count and couple.decided == 0:
            state.sweep_place = index + 1
            # From where the guaranteed seeds ended on: under a budget all of them get their turn.
            place = (couple.cursor[side] + index) % count
            state.seed_couple, state.side, state.stage = state.sweep_couple, side, SWEEP
            state.seed_facet = work.seed_order[first_seed + place]
            work.counts.samples += 1
            begin_pass(work, 1 - side)
            return
        state.sweep_couple, state.sweep_place = state.sweep_couple + 1, 0
    state.phase, state.complete = FINISHED, 1
