"""The list of sample pairs (Guy and Debunne §3.4): what is followed from frame to frame, one list for all bodies.

First one representative of each place that touches (a cell: a pair of facets some levels up with rows below it), then pairs that
are apart, then the other rows. Of those apart the ones are kept whose gap is below k times the least of their couple, plus ε. The
number is bounded. What a frame that was cut did not come to look at stays, ahead of what it found, so that all get their turn.

A pair ages (§5.5) as long as it touches and its middles stay where they are relative to each other, within 1 % of the size of the
bodies a second. Regions are cells that hang together over neighbouring facets on one side.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from jostle.frame import Floats, Ints
from jostle.kernels.handles import float64_at, int32_at, int64_at
from jostle.kernels.jit import kernel
from jostle.methods.monte_carlo import workspace as ws
from jostle.methods.monte_carlo.average_planes import ROW, in_frame
from jostle.methods.monte_carlo.packed import AROUND, CELL, LINKS, make_fresh


class SamplePairs(NamedTuple):
    """The list of sample pairs, one row for each; facets by the numbers of `ShellShape`, bodies by their place in `Bodies`."""

    body_a: Ints
    body_b: Ints
    level_a: Ints
    facet_a: Ints
    level_b: Ints
    facet_b: Ints
    distance: Floats  # of the middles
    gap: Floats  # a lower bound of the distance of what is below the two facets; 0 where faces touch
    age: Floats  # seconds
    region: Ints  # -1 where nothing touches, or where it is not known any more
    touching: NDArray[np.bool_]


@kernel
def write_pair(data, links, stamps, bodies, couples, relative, deformation, ints, floats, to, couple, fa, fb, touches, region, gap):  # type: ignore[no-untyped-def]
    """Write row `to` of a list: bodies, facets, gap, distance and the place of b's middle relative to a's; age 0."""
    a, b = couples[ws.COUPLE * couple + ws.BODY_A], couples[ws.COUPLE * couple + ws.BODY_B]
    if couples[ws.COUPLE * couple + ws.COUPLE_MOVING] != 0:
        make_fresh(bodies, a, b, fa, fb, data, links, stamps, deformation)
    at, of, i = ws.PAIR * to, ws.PAIR_FLOAT * to, ROW * fa
    ints[at + ws.OF_A], ints[at + ws.OF_B], ints[at + ws.FACET_A], ints[at + ws.FACET_B] = a, b, fa, fb
    ints[at + ws.TOUCHES], ints[at + ws.REGION] = touches, region
    x, y, z, _, _, _ = in_frame(data, fb, relative, ws.COUPLE_FLOAT * couple)
    x, y, z = x - data[i], y - data[i + 1], z - data[i + 2]
    floats[of + ws.GAP], floats[of + ws.DISTANCE], floats[of + ws.AGE] = gap, np.sqrt((x * x + y * y) + z * z), 0.0
    floats[of + ws.BETWEEN], floats[of + ws.BETWEEN + 1], floats[of + ws.BETWEEN + 2] = x, y, z


@kernel
def grow_older(old, i, floats, to, still, dt):  # type: ignore[no-untyped-def]
    """Let pair `to` be as old as pair i of the last list and dt, if it has not moved by more than `still`."""
    p, q = ws.PAIR_FLOAT * i + ws.BETWEEN, ws.PAIR_FLOAT * to + ws.BETWEEN
    x, y, z = floats[q] - old[p], floats[q + 1] - old[p + 1], floats[q + 2] - old[p + 2]
    if (x * x + y * y) + z * z <= still * still:
        floats[ws.PAIR_FLOAT * to + ws.AGE] = old[ws.PAIR_FLOAT * i + ws.AGE] + dt


@kernel(forceinline=True)
def root_of(cells, k):  # type: ignore[no-untyped-def]
    """The cell that stands for the region of cell k; paths are halved."""
    while cells[k] != k:
        cells[k] = cells[cells[k]]
        k = cells[k]
    return k


@kernel
def join_cells(links, neighbour, table, payload, cells, region, state):  # type: ignore[no-untyped-def]
    """Number the regions: cells that hang together over neighbours on one side. Writes region (cells,); returns their number."""
    count, stamp = state[ws.CELLS], state[ws.STAMP]
    for k in range(count):
        region[k] = k
    for k in range(count):
        couple, ca, cb = cells[ws.CELL_INT * k], cells[ws.CELL_INT * k + 1], cells[ws.CELL_INT * k + 2]
        for side in range(2):
            f = cb if side else ca
            for n in range(links[LINKS * f + AROUND], links[LINKS * (f + 1) + AROUND]):
                g = neighbour[n]
                # Each pair of neighbouring cells once.
                if g < f:
                    continue
                fa, fb = (ca, g) if side else (g, cb)
                slot, found = ws.find_slot(table, stamp, couple, ws.OF_CELL, fa, fb)
                if found:
                    p, q = root_of(region, k), root_of(region, payload[slot])
                    region[max(p, q)] = min(p, q)
    regions = 0
    for k in range(count):
        # The root of a region is its first cell, and so has its number already.
        if region[k] == k:
            region[k] = -1 - regions
            regions += 1
        else:
            p = region[k]
            while p >= 0 and region[p] >= 0:
                p = region[p]
            region[k] = region[p]
    for k in range(count):
        region[k] = -1 - region[k]
    return regions


@kernel
def make_list(addresses, state, numbers, ints, floats, region, most, dt):  # type: ignore[no-untyped-def]
    """Write the list for the next frame to ints and floats (most pairs); sets OLD_REPS, OLD_TRACKERS, OLD_PAIRS, REGIONS."""
    data = float64_at(addresses[0, 2 * ws.DATA], addresses[0, 2 * ws.DATA + 1])
    links = int32_at(addresses[0, 2 * ws.LINK], addresses[0, 2 * ws.LINK + 1])
    neighbour = int32_at(addresses[0, 2 * ws.AROUND_FACET], addresses[0, 2 * ws.AROUND_FACET + 1])
    stamps = int32_at(addresses[0, 2 * ws.STAMPS], addresses[0, 2 * ws.STAMPS + 1])
    bodies = int64_at(addresses[0, 2 * ws.BODIES], addresses[0, 2 * ws.BODIES + 1])
    couples = int32_at(addresses[0, 2 * ws.COUPLE_INTS], addresses[0, 2 * ws.COUPLE_INTS + 1])
    relative = float64_at(addresses[0, 2 * ws.COUPLE_FLOATS], addresses[0, 2 * ws.COUPLE_FLOATS + 1])
    table = int64_at(addresses[0, 2 * ws.TABLE], addresses[0, 2 * ws.TABLE + 1])
    payload = int32_at(addresses[0, 2 * ws.PAYLOAD], addresses[0, 2 * ws.PAYLOAD + 1])
    rows = int32_at(addresses[0, 2 * ws.ROW_INTS], addresses[0, 2 * ws.ROW_INTS + 1])
    row_floats = float64_at(addresses[0, 2 * ws.ROW_FLOATS], addresses[0, 2 * ws.ROW_FLOATS + 1])
    cells = int32_at(addresses[0, 2 * ws.CELL_INTS], addresses[0, 2 * ws.CELL_INTS + 1])
    old = int32_at(addresses[0, 2 * ws.LIST_INTS], addresses[0, 2 * ws.LIST_INTS + 1])
    old_floats = float64_at(addresses[0, 2 * ws.LIST_FLOATS], addresses[0, 2 * ws.LIST_FLOATS + 1])
    looked_at = int32_at(addresses[0, 2 * ws.LOOKED_AT], addresses[0, 2 * ws.LOOKED_AT + 1])
    trackers = int32_at(addresses[0, 2 * ws.TRACKER_INTS], addresses[0, 2 * ws.TRACKER_INTS + 1])
    gaps = float64_at(addresses[0, 2 * ws.TRACKER_FLOATS], addresses[0, 2 * ws.TRACKER_FLOATS + 1])
    deformation, stamp = numbers[ws.DEFORMATION], state[ws.STAMP]
    state[ws.REGIONS] = join_cells(links, neighbour, table, payload, cells, region, state)
    count = 0
    ends = (state[ws.OLD_REPS], state[ws.OLD_REPS] + state[ws.OLD_TRACKERS], state[ws.OLD_PAIRS])
    begin = 0
    for part in range(3):
        # What was not looked at stays, unless the frame has come to it in another way, or its bodies are apart.
        for i in range(begin, ends[part]):
            if looked_at[i] != 0 or count >= most:
                continue
            at = ws.PAIR * i
            couple = ws.couple_of(couples, state[ws.COUPLES], state[ws.LAST_COUPLE], old[at + ws.OF_A], old[at + ws.OF_B])
            if couple < 0:
                continue
            state[ws.LAST_COUPLE] = couple
            fa, fb = old[at + ws.FACET_A], old[at + ws.FACET_B]
            what = ws.OF_CELL if part == 0 else (ws.OF_TRACKER if part == 1 else ws.OF_PAIR)
            if part == 0:
                fa, fb = links[LINKS * fa + CELL], links[LINKS * fb + CELL]
            _, found = ws.find_slot(table, stamp, couple, what, fa, fb)
            if not found:
                for k in range(ws.PAIR):
                    ints[ws.PAIR * count + k] = old[at + k]
                for k in range(ws.PAIR_FLOAT):
                    floats[ws.PAIR_FLOAT * count + k] = old_floats[ws.PAIR_FLOAT * i + k]
                count += 1
        begin = ends[part]
        if part == 1:
            for t in range(state[ws.TRACKERS]):
                couple = trackers[ws.TRACKER * t]
                at = ws.COUPLE_FLOAT * couple
                if count < most and gaps[t] < numbers[ws.FOLLOW] * relative[at + ws.NEAREST] + relative[at + ws.EPSILON]:
                    write_pair(
                        data, links, stamps, bodies, couples, relative, deformation, ints, floats, count, couple,
                        trackers[ws.TRACKER * t + 1], trackers[ws.TRACKER * t + 2], 0, -1, gaps[t],
                    )  # fmt: skip
                    count += 1
            state[ws.OLD_TRACKERS] = count - state[ws.OLD_REPS]
            continue
        # Representatives are the first rows of their cells; those of a cell that has none left are the others.
        for k in range(state[ws.CELLS] if part == 0 else state[ws.ROWS]):
            row = cells[ws.CELL_INT * k + 3] if part == 0 else k
            if count >= most:
                break
            couple, fa, fb = rows[ws.ROW_INT * row], rows[ws.ROW_INT * row + 1], rows[ws.ROW_INT * row + 2]
            slot, _ = ws.find_slot(table, stamp, couple, ws.OF_CELL, links[LINKS * fa + CELL], links[LINKS * fb + CELL])
            cell = payload[slot]
            if part == 2 and cells[ws.CELL_INT * cell + 3] == row:
                continue
            write_pair(
                data, links, stamps, bodies, couples, relative, deformation, ints, floats, count, couple, fa, fb,
                rows[ws.ROW_INT * row + 3], region[cell], row_floats[ws.ROW_FLOAT * row],
            )  # fmt: skip
            before = int(row_floats[ws.ROW_FLOAT * row + 1])
            if before >= 0:
                grow_older(old_floats, before, floats, count, numbers[ws.STILL] * dt, dt)
            count += 1
        if part == 0:
            state[ws.OLD_REPS] = count
    state[ws.OLD_PAIRS] = count
