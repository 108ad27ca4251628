"""The list of sample pairs (§3.4): followed from frame to frame, for all bodies.

First one representative of each contact site (a pair of cells, facets some levels up, with rows below it), then tracked pairs,
which are separated, then the other rows. A separated pair is tracked while its gap is below k times the least of its body pair,
plus ε. The length is bounded. Pairs that a frame cut short did not examine stay, ahead of new ones, so that all get their turn.

A pair ages (§5.5) as long as it touches and its middles keep their relative position, within 1 % of the size of the bodies per
second. Regions are cells connected by neighbouring facets on one side.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from jostle._types import Floats, Ints
from jostle.geometry.vector import dot, length, minus, point_from, write_point_from
from jostle.kernels.jit import kernel
from jostle.kernels.numbers import as_int64
from jostle.kernels.structs import Addresses
from jostle.methods.monte_carlo.average_planes import between_middles
from jostle.methods.monte_carlo.levels import lowest_connected
from jostle.methods.monte_carlo.packed import make_fresh
from jostle.methods.monte_carlo.work import (
    CELL_KEY,
    PAIR_KEY,
    TRACKER_KEY,
    FacetPair,
    Key,
    ListedPair,
    Work,
    cells_of,
    open_work,
    pair_of,
    with_neighbour,
)
from jostle.methods.monte_carlo.workspace import body_pair_of, find_slot, is_known


class SamplePairs(NamedTuple):
    """The list of sample pairs, one row each.

    Facets by the numbers of `ShellShape`, bodies by their place in `Bodies`.
    """

    body_a: Ints
    body_b: Ints
    level_a: Ints
    facet_a: Ints
    level_b: Ints
    facet_b: Ints
    distance: Floats  # of the middles
    gap: Floats  # a lower bound of the distance of what is below the two facets; 0 where faces touch
    age: Floats  # seconds
    region: Ints  # -1 where nothing touches, or where it is unknown
    touching: NDArray[np.bool_]


@kernel
def make_list(addresses: Addresses, dt: float) -> None:
    """Write the next frame's list to `next_listed`, and number the regions.

    dt seconds have passed since the last frame.
    """
    work = open_work(addresses)
    ends = work.ends
    work.counts.regions = join_cells(work)
    ends.written = 0
    keep_unseen(work, CELL_KEY, 0, ends.representatives)
    for k in range(work.state.cells):
        list_row(work, as_int64(work.cells[k].row), k, dt)
    representatives = ends.written
    keep_unseen(work, TRACKER_KEY, ends.representatives, ends.tracked)
    list_trackers(work)
    tracked = ends.written
    keep_unseen(work, PAIR_KEY, ends.tracked, ends.all)
    for row in range(work.state.rows):
        # Representatives are the first rows of their cells; the others come last.
        slot, _ = find_slot(work, Key(CELL_KEY, cells_of(work, pair_of(work.rows[row].pair))))
        cell = as_int64(work.payload[slot])
        if work.cells[cell].row != row:
            list_row(work, row, cell, dt)
    ends.representatives, ends.tracked, ends.all = representatives, tracked, ends.written
    keep_body_pairs(work)


@kernel(forceinline=True)
def keep_body_pairs(work: Work) -> None:
    """Keep the body pairs: in the next frame their seeds resume where they are."""
    work.task.known_body_pairs = work.task.body_pairs
    for k in range(work.task.body_pairs):
        body_pair, known = work.body_pairs[k], work.known[k]
        known.drawn = body_pair.drawn
        for side in range(2):
            known.body[side], known.cursor[side] = body_pair.body[side], body_pair.cursor[side]


@kernel(forceinline=True)
def is_full(work: Work) -> bool:
    """Return whether the next list has no room left."""
    return work.ends.written >= len(work.next_listed)


@kernel
def keep_unseen(work: Work, kind: int, begin: int, end: int) -> None:
    """Keep the listed pairs begin … end-1 that the frame did not examine.

    Not those whose key of this kind it found otherwise, nor those whose bodies are apart.
    """
    for i in range(begin, end):
        if work.looked_at[i] != 0 or is_full(work):
            continue
        sample = work.listed[i]
        body_pair = body_pair_of(work, sample)
        if body_pair < 0:
            continue
        work.counts.last_body_pair = body_pair
        pair = FacetPair(body_pair, as_int64(sample.facet_a), as_int64(sample.facet_b))
        if kind == CELL_KEY:
            pair = cells_of(work, pair)
        if not is_known(work, Key(kind, pair)):
            copy_pair(work.next_listed[work.ends.written], sample)
            work.ends.written += 1


@kernel
def list_trackers(work: Work) -> None:
    """List the pairs that are apart and near enough: d < k * dmin + ε (§3.4)."""
    for k in range(work.state.trackers):
        tracker = work.trackers[k]
        relative = work.relative[tracker.pair.body_pair]
        if not is_full(work) and tracker.gap < work.task.follow * relative.nearest + relative.epsilon:
            write_pair(work, pair_of(tracker.pair), 0, -1, tracker.gap)


@kernel
def list_row(work: Work, row: int, cell: int, dt: float) -> None:
    """List the pair of a row of a cell, if there is room."""
    if is_full(work):
        return
    found, to = work.rows[row], work.ends.written
    write_pair(work, pair_of(found.pair), as_int64(found.kind), as_int64(work.region[cell]), found.distance)
    if found.sample >= 0:
        grow_older(work.listed[found.sample], work.next_listed[to], work.task.still * dt, dt)


@kernel
def write_pair(work: Work, pair: FacetPair, kind: int, region: int, gap: float) -> None:
    """Write the next row of the list, with age 0.

    kind: of the pair's row, 0 for none; region: -1 for none.
    """
    make_fresh(work, pair)
    bodies, sample = work.body_pairs[pair.body_pair].body, work.next_listed[work.ends.written]
    sample.body_a, sample.body_b, sample.facet_a, sample.facet_b = bodies[0], bodies[1], pair.a, pair.b
    between = between_middles(work, pair)
    sample.kind, sample.region, sample.gap, sample.distance, sample.age = kind, region, gap, length(between), 0.0
    write_point_from(sample.between, 0, between)
    work.ends.written += 1


@kernel(forceinline=True)
def copy_pair(to: ListedPair, sample: ListedPair) -> None:
    """Copy a row of the list."""
    to.body_a, to.body_b, to.facet_a, to.facet_b = sample.body_a, sample.body_b, sample.facet_a, sample.facet_b
    to.kind, to.region = sample.kind, sample.region
    to.gap, to.distance, to.age = sample.gap, sample.distance, sample.age
    write_point_from(to.between, 0, point_from(sample.between, 0))


@kernel(forceinline=True)
def grow_older(old: ListedPair, new: ListedPair, still: float, dt: float) -> None:
    """Add dt to the age of a pair that has not moved by more than `still` (§5.5)."""
    d = minus(point_from(new.between, 0), point_from(old.between, 0))
    if dot(d, d) <= still * still:
        new.age = old.age + dt


@kernel
def join_cells(work: Work) -> int:
    """Number the regions: cells connected by neighbours on one side.

    Writes `region`; returns the number of regions.
    """
    region = work.region
    for k in range(work.state.cells):
        region[k] = k
    for k in range(work.state.cells):
        pair = pair_of(work.cells[k].pair)
        for side in range(2):
            f = pair.b if side else pair.a
            for place in range(work.links[f].around, work.links[f + 1].around):
                # Each pair of neighbouring cells once.
                if work.neighbour[place] < f:
                    continue
                slot, found = find_slot(work, Key(CELL_KEY, with_neighbour(work, pair, side, place)))
                if found:
                    p, q = lowest_connected(region, k), lowest_connected(region, as_int64(work.payload[slot]))
                    region[max(p, q)] = min(p, q)
    return number_regions(work)


@kernel
def number_regions(work: Work) -> int:
    """Replace the cells in `region` by numbers 0, 1, …; returns how many there are."""
    region, regions = work.region, 0
    for k in range(work.state.cells):
        # The first cell of a region represents it, so it is numbered already.
        if region[k] == k:
            region[k] = -1 - regions
            regions += 1
        else:
            p = as_int64(region[k])
            while p >= 0 and region[p] >= 0:
                p = as_int64(region[p])
            region[k] = region[p]
    for k in range(work.state.cells):
        region[k] = -1 - region[k]
    return regions
