"""What the search looks at next (Guy and Debunne §3.2–3.4): representatives, lost ones, followed pairs, seeds, the rest.

An item is one pair of facets that goes on the stack, with what is to be done when all that came from it has been looked at: a
place that is not where it was is looked for in its cell, then below its roots; where nothing touches, the closest pair that was
met is followed. Each call ends an item and begins another one, or does one step of a seed's pass; the number of operations is
returned.
"""

import math

import numpy as np

from jostle.kernels.jit import kernel
from jostle.methods.monte_carlo import workspace as ws
from jostle.methods.monte_carlo.average_planes import gap_of_facets
from jostle.methods.monte_carlo.packed import (
    BODY,
    CELL,
    COARSEST,
    COARSEST_END,
    LINKS,
    PARENT,
    ROOT,
    SEEDS,
    are_neighbours,
    make_fresh,
)
from jostle.methods.monte_carlo.sampling import BACK, SWEEP, draw_seed, go_on_passing, over
from jostle.methods.monte_carlo.taking_turns import begin_discovery, next_to_discover, remember_turn
from jostle.methods.monte_carlo.update import coarsen, coarsest_within, walk

# Phases of a frame.
REPRESENTATIVES, LOST_ONES, FOLLOWING, SEEDING, DISCOVERING, REMAINDER, FILLING, SWEEPING, FINISHED = range(9)
# What the entries on the stack come from.
NOTHING, OF_REPRESENTATIVE, IN_CELL, IN_ROOT, OF_FOLLOWED, OF_SEED, OF_REMAINDER, OF_PENDING = range(8)
POSITIVE = 0x7FFFFFFFFFFFFFFF
WALKS = 4  # a pair walks to closer neighbours in one frame of so many (§3.3: only a part of the neighbours at each time step)


@kernel(forceinline=True)
def begin_item(state, numbers, stack, kind, index, couple, fa, fb, early):  # type: ignore[no-untyped-def]
    """Begin with a pair of facets, on the stack."""
    state[ws.ITEM], state[ws.ITEM_INDEX], state[ws.ITEM_HIT], state[ws.ITEM_ROW], state[ws.EARLY] = kind, index, 0, -1, early
    state[ws.ITEM_COUPLE], state[ws.ITEM_A], state[ws.ITEM_B] = couple, -1, -1
    numbers[ws.BEST_GAP] = math.inf
    stack[0], stack[1], stack[2] = couple, fa, fb


@kernel
def follow(table, payload, trackers, gaps, relative, state, couple, fa, fb, gap):  # type: ignore[no-untyped-def]
    """Put a pair that is apart on the list of those that are followed, if it is not there."""
    at = ws.COUPLE_FLOAT * couple
    relative[at + ws.NEAREST] = min(relative[at + ws.NEAREST], gap)
    slot, found = ws.find_slot(table, state[ws.STAMP], couple, ws.OF_TRACKER, fa, fb)
    if not found:
        ws.put_key(table, payload, slot, state[ws.STAMP], couple, ws.OF_TRACKER, fa, fb, 0, state)
        to = state[ws.TRACKERS]
        trackers[ws.TRACKER * to], trackers[ws.TRACKER * to + 1], trackers[ws.TRACKER * to + 2] = couple, fa, fb
        gaps[to] = gap
        state[ws.TRACKERS] += 1


@kernel
def next_item(  # type: ignore[no-untyped-def]
    data, links, neighbour, stamps, bodies, seeds, couples, relative, table, payload, stack, pending, row_floats, listed, looked_at,
    trackers, gaps, lost, ring, state, numbers,
):  # fmt: skip
    """End the present item and begin the next; returns the entries on the stack (0 or 1) and the operations. Arrays as in
    `workspace`.

    Longer than others, because the places where an item begins share their arrays and the test of its pair.
    """
    deformation, stamp = numbers[ws.DEFORMATION], state[ws.STAMP]
    used = 1
    phase, item = state[ws.PHASE], state[ws.ITEM]
    couple = fa = fb = index = np.int64(-1)
    kind, early = NOTHING, ws.ONE_ROW

    # The end of an item.
    if item != NOTHING:
        hit, i = state[ws.ITEM_HIT] != 0, state[ws.ITEM_INDEX]
        state[ws.ITEM] = NOTHING
        if item in (OF_REPRESENTATIVE, OF_REMAINDER):
            if hit:
                row_floats[ws.ROW_FLOAT * state[ws.ITEM_ROW] + 1] = i
            elif item == OF_REPRESENTATIVE:
                fa = links[LINKS * listed[ws.PAIR * i + ws.FACET_A] + CELL]
                fb = links[LINKS * listed[ws.PAIR * i + ws.FACET_B] + CELL]
                couple, kind, index = state[ws.ITEM_COUPLE], IN_CELL, i
                _, there = ws.find_slot(table, stamp, couple, ws.OF_CELL, fa, fb)
                if there:
                    return 0, used
        elif item == IN_CELL:
            if not hit:
                lost[state[ws.LOST]] = i
                state[ws.LOST] += 1
        else:
            if item == OF_SEED:
                key = -1
                if hit:
                    c = state[ws.ITEM_COUPLE]
                    key = np.int64(couples[ws.COUPLE * c + ws.BODY_A]) * 40503 + couples[ws.COUPLE * c + ws.BODY_B]
                    key = ((key << 40) ^ np.int64(i)) & POSITIVE
                ring[state[ws.RING_PLACE]] = key
                state[ws.RING_PLACE] = (state[ws.RING_PLACE] + 1) % ws.RING_LENGTH
            if not hit and state[ws.ITEM_A] >= 0 and (item != OF_PENDING or i >= 0):
                follow(
                    table, payload, trackers, gaps, relative, state, state[ws.ITEM_COUPLE], state[ws.ITEM_A], state[ws.ITEM_B],
                    numbers[ws.BEST_GAP],
                )  # fmt: skip
        if kind == NOTHING:
            return 0, used

    # The beginning of the next.
    elif phase in (REPRESENTATIVES, REMAINDER, FOLLOWING):
        i = state[ws.POSITION]
        end = state[ws.OLD_REPS]
        if phase == FOLLOWING:
            end += state[ws.OLD_TRACKERS]
        elif phase == REMAINDER:
            end = state[ws.OLD_PAIRS]
        if i >= end:
            state[ws.PHASE] += 1
            if phase in (REPRESENTATIVES, FOLLOWING):
                state[ws.POSITION] = 0
            return 0, used
        state[ws.POSITION] = i + 1
        at = ws.PAIR * i
        couple = ws.couple_of(couples, state[ws.COUPLES], state[ws.LAST_COUPLE], listed[at + ws.OF_A], listed[at + ws.OF_B])
        if couple < 0 or couples[ws.COUPLE * couple + ws.DECIDED] != 0:
            return 0, used
        state[ws.LAST_COUPLE] = couple
        state[ws.LOOKED] += 1
        looked_at[i] = 1
        fa, fb, index = np.int64(listed[at + ws.FACET_A]), np.int64(listed[at + ws.FACET_B]), i
        kind = OF_REPRESENTATIVE if phase == REPRESENTATIVES else (OF_FOLLOWED if phase == FOLLOWING else OF_REMAINDER)
    elif phase == LOST_ONES:
        if state[ws.POSITION] >= state[ws.LOST]:
            state[ws.PHASE], state[ws.POSITION] = FOLLOWING, state[ws.OLD_REPS]
            return 0, used
        i = lost[state[ws.POSITION]]
        state[ws.POSITION] += 1
        at = ws.PAIR * i
        couple = ws.couple_of(couples, state[ws.COUPLES], state[ws.LAST_COUPLE], listed[at + ws.OF_A], listed[at + ws.OF_B])
        state[ws.LAST_COUPLE] = couple
        fa, fb = links[LINKS * listed[at + ws.FACET_A] + ROOT], links[LINKS * listed[at + ws.FACET_B] + ROOT]
        kind, index = IN_ROOT, i
        if listed[at + ws.OF_A] == listed[at + ws.OF_B]:
            fa, fb = min(fa, fb), max(fa, fb)
            if are_neighbours(links, neighbour, fa, fb):  # left to the seeds: below them much is near that does not touch
                return 0, used
        slot, there = ws.find_slot(table, stamp, couple, ws.OF_ROOT, fa, fb)
        if there and payload[slot] & ws.HOT != 0:
            return 0, used
        if not there:
            ws.put_key(table, payload, slot, stamp, couple, ws.OF_ROOT, fa, fb, ws.SEEN, state)
        payload[slot] |= ws.QUEUED
    elif phase == SEEDING:
        if state[ws.STAGE] == 0:
            i = state[ws.POSITION]
            if i >= state[ws.SEEDS_EACH] * state[ws.COUPLES]:
                state[ws.PHASE] = DISCOVERING
                begin_discovery(pending, state)
                used += state[ws.TAIL]
                return 0, used
            state[ws.POSITION] = i + 1
            couple = (i + stamp) % state[ws.COUPLES]
            if couples[ws.COUPLE * couple + ws.DECIDED] == 0:
                draw_seed(data, bodies, seeds, couples, relative, state, numbers, couple)
                state[ws.SAMPLES] += 1
            return 0, used
        used += go_on_passing(
            data, links, neighbour, stamps, bodies, couples, relative, deformation, table, payload, pending, state, numbers
        )
        if state[ws.PLACE] < state[ws.PLACE_END]:
            return 0, used
        stage = state[ws.STAGE]
        state[ws.STAGE] = 0
        if stage != BACK or state[ws.CLOSEST] < 0:
            return 0, used
        couple, fa, fb, kind = state[ws.SEED_COUPLE], state[ws.SEED_FACET], state[ws.CLOSEST], OF_SEED
        if state[ws.SIDE] == 1:
            fa, fb = fb, fa
        index = (np.int64(fa) << 20) ^ np.int64(fb)
    elif phase == DISCOVERING:
        i, below_rows = next_to_discover(state)
        if i < 0:
            state[ws.PHASE], state[ws.POSITION] = REMAINDER, state[ws.OLD_REPS] + state[ws.OLD_TRACKERS]
            return 0, used
        at = ws.ENTRY * i
        couple, fa, fb = np.int64(pending[at]), np.int64(pending[at + 1]), np.int64(pending[at + 2])
        slot, there = ws.find_slot(table, stamp, couple, ws.OF_ROOT, fa, fb)
        if there:
            has_rows = payload[slot] & ws.HOT != 0
        else:  # put off when a row was found beside it: what is not below a known place may hide another one
            _, known = ws.find_slot(table, stamp, couple, ws.OF_CELL, links[LINKS * fa + CELL], links[LINKS * fb + CELL])
            if known:
                return 0, used
            has_rows = True
        if has_rows == below_rows:
            remember_turn(pending, i, state, below_rows)
            begin_item(state, numbers, stack, OF_PENDING, 0, couple, fa, fb, ws.PLACE_BY_PLACE if below_rows else ws.ONE_ROW)
            return 1, used
        return 0, used
    elif state[ws.HEAD] < state[ws.TAIL]:
        at = ws.ENTRY * state[ws.HEAD]
        couple, fa, fb, kind, early = (
            np.int64(pending[at]),
            np.int64(pending[at + 1]),
            np.int64(pending[at + 2]),
            OF_PENDING,
            ws.ALL_ROWS,
        )
        index = np.int64(0 if links[LINKS * fa + PARENT] < 0 and links[LINKS * fb + PARENT] < 0 else -1)
        state[ws.HEAD] += 1
        if state[ws.HEAD] == state[ws.TAIL]:
            state[ws.HEAD], state[ws.TAIL] = 0, 0
        begin_item(state, numbers, stack, kind, index, couple, fa, fb, early)
        return 1, used
    elif phase == FILLING:
        state[ws.PHASE] = SWEEPING if state[ws.THOROUGH] != 0 else FINISHED
        state[ws.COMPLETE] = state[ws.COUPLES] == 0
        return 0, used
    elif phase == SWEEPING:
        if state[ws.STAGE] == SWEEP:
            used += go_on_passing(
                data, links, neighbour, stamps, bodies, couples, relative, deformation, table, payload, pending, state, numbers
            )
            if state[ws.PLACE] >= state[ws.PLACE_END]:
                state[ws.STAGE] = 0
            return 0, used
        sweep_on(bodies, seeds, couples, state, numbers)
        return 0, used

    # One pair of facets: is it to be followed, or refined?
    a, b = couples[ws.COUPLE * couple + ws.BODY_A], couples[ws.COUPLE * couple + ws.BODY_B]
    at, moving = ws.COUPLE_FLOAT * couple, couples[ws.COUPLE * couple + ws.COUPLE_MOVING] != 0
    if kind == OF_FOLLOWED and (index + stamp) % WALKS == 0:
        fa, fb, more = walk(data, links, neighbour, stamps, bodies, relative, at, deformation, a, b, moving, fa, fb)
        used += more
    if a != b and numbers[ws.ERROR] > 0.0 and (kind in (OF_REPRESENTATIVE, OF_REMAINDER)):
        fa, fb = coarsest_within(data, links, stamps, bodies, relative, at, deformation, a, b, moving, fa, fb, numbers[ws.ERROR])
    if a == b:
        fa, fb = min(fa, fb), max(fa, fb)
        if kind == IN_CELL and are_neighbours(links, neighbour, fa, fb):
            lost[state[ws.LOST]] = index
            state[ws.LOST] += 1
            return 0, used
    if kind == OF_FOLLOWED:
        _, there = ws.find_slot(table, stamp, couple, ws.OF_TRACKER, fa, fb)
        if there:
            return 0, used
    if moving:
        make_fresh(bodies, a, b, fa, fb, data, links, stamps, deformation)
    gap = gap_of_facets(data, fa, fb, relative, at)
    state[ws.FACET_TESTS] += used
    begin_item(state, numbers, stack, kind, index, couple, fa, fb, early)
    if gap <= 0.0:
        return 1, used
    if kind in (OF_FOLLOWED, OF_SEED):
        fa, fb, gap, more = coarsen(data, links, neighbour, stamps, bodies, relative, at, deformation, a, b, moving, fa, fb, gap)
        used += more
    if kind == OF_REMAINDER:
        state[ws.ITEM] = NOTHING
    elif kind != OF_REPRESENTATIVE and kind != IN_CELL:
        numbers[ws.BEST_GAP], state[ws.ITEM_A], state[ws.ITEM_B] = gap, fa, fb
    return 0, used


@kernel
def sweep_on(bodies, seeds, couples, state, numbers):  # type: ignore[no-untyped-def]
    """Begin the pass of the next seed, of the body of each couple that has fewer of them; or end the search."""
    while state[ws.SWEEP_COUPLE] < state[ws.COUPLES]:
        couple = state[ws.SWEEP_COUPLE]
        at = ws.COUPLE * couple
        a, b = couples[at + ws.BODY_A], couples[at + ws.BODY_B]
        count_a = bodies[BODY * a + COARSEST_END] - bodies[BODY * a + COARSEST]
        count_b = bodies[BODY * b + COARSEST_END] - bodies[BODY * b + COARSEST]
        side = 0 if count_a <= count_b else 1
        count, body = (count_a, a) if side == 0 else (count_b, b)
        i = state[ws.SWEEP_PLACE]
        if i < count and couples[at + ws.DECIDED] == 0:
            state[ws.SWEEP_PLACE] = i + 1
            # From where the guaranteed seeds ended on: under a budget all of them get their turn.
            place = (couples[at + ws.CURSOR_A + side] + i) % count
            state[ws.SEED_COUPLE], state[ws.SIDE], state[ws.STAGE] = couple, side, SWEEP
            state[ws.SEED_FACET] = seeds[bodies[BODY * body + SEEDS] + place]
            numbers[ws.SEED_BEST] = math.inf
            state[ws.SAMPLES] += 1
            over(bodies, couples, state, 1 - side)
            return
        state[ws.SWEEP_COUPLE], state[ws.SWEEP_PLACE] = couple + 1, 0
    state[ws.PHASE], state[ws.COMPLETE] = FINISHED, 1
