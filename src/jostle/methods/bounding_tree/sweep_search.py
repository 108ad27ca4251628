"""Dynamic collision detection: two trees walked along the motion, the earliest first (§4).

A pair of nodes belongs to an interval of time, at first the whole step. Where the two may meet within it (`swept.py`), either the
interval is halved, if what rotation adds to the volumes is large beside them, or the larger node is replaced by its children.
Pairs wait in a queue: one stack for each 1024th of the step, by the earliest time at which they may meet, so that what is early
comes first and within that what is deep. Pairs of leaves come down to pairs of faces: candidates with an earliest time.

Python finds the times of the candidates (`jostle/continuous`) and hands the best one back as the limit: what may meet only later is
never looked at. No contact is lost: windows are conservative, and pairs are dropped only when they start after the limit.

| status | when | the caller |
|---|---|---|
| DONE | nothing waits that may meet before the limit | takes the candidates |
| OUT_OF_OPERATIONS | enough was tested since the call | hears Ctrl-C, calls again |
| ENOUGH | there are as many candidates as wanted, or no room for more | takes them, or doubles their arrays, calls again |
| FULL_QUEUE | what comes of the next pair might not find room | doubles the queue, calls again |
"""

from __future__ import annotations

import math
from typing import NamedTuple

from jostle.frame import Ints
from jostle.geometry.rigid import CULL_FLOOR
from jostle.geometry.triangle_triangle import share_a_vertex
from jostle.kernels.jit import kernel
from jostle.kernels.numbers import as_int64
from jostle.kernels.structs import Addresses, One, Record, Rows, Struct, float64, int32, int64, opener, row_opener
from jostle.methods.bounding_tree.motions import INSTANTS, MOST_HALVINGS, MovingShape, set_up_instant, set_up_pad
from jostle.methods.bounding_tree.moving_faces import fill_moving_leaf, window_of_faces
from jostle.methods.bounding_tree.swept import (
    OUTWARD,
    set_up_axes,
    set_up_node,
    strayed,
    window_of_centres,
    window_of_places,
)
from jostle.methods.bounding_tree.swept_body import EMPTY, Interval, SweepScratch, SweptBody, Window
from jostle.methods.bounding_tree.tree import SPHERE

BUCKETS = 1024
ANEW = -1  # as the bucket: begin with the roots
# An interval is 1 for the whole step, and 2 i and 2 i + 1 for the halves of i. With this bit it is to be halved.
TO_HALVE = 1 << 20

DONE, OUT_OF_OPERATIONS, ENOUGH, FULL_QUEUE = range(4)
MOST_NEW = 40  # entries that one can put in the queue
BLURRED = 0.25  # an interval is halved when rotation adds more than this part of the radii
ROUNDING = 2.0**-43


class SweepState(Record):
    """Where a search stands, and counts of tests."""

    bucket: int64  # that is being emptied
    used: int64  # entries, ever
    free: int64  # the first free entry of those used, or -1
    waiting: int64  # entries
    candidates: int64
    node_tests: int64
    face_tests: int64
    halved: int64  # intervals


class Entry(Record):
    """A pair of nodes that waits, and the next in its bucket or the next free one."""

    next: int32
    a: int32
    b: int32
    interval: int32


class Candidate(Record):
    """Faces that may meet; they may come several times."""

    face_a: int32
    face_b: int32


class SweepWork(Struct):
    """The arrays of a search."""

    state: One[SweepState]
    heads: Rows[int32]  # (BUCKETS,) the first entry of each, or -1
    entries: Rows[Entry]
    starts: Rows[float64]  # of entries: the earliest time at which they may meet
    candidates: Rows[Candidate]
    earliest: Rows[float64]  # of candidates


open_work, open_shape, open_scratch = opener(SweepWork), opener(MovingShape), row_opener(SweepScratch)


class SweepOptions(NamedTuple):
    """What is asked for, and how far roundings and poses may be off."""

    kind: int
    relative: bool
    most_halvings: int
    itself: bool
    padding: float
    lack: float
    limit: float  # the latest time of interest


class Waiting(NamedTuple):
    """What was taken from the queue."""

    a: int
    b: int
    interval: int
    start: float


class Successors(NamedTuple):
    """What a pair of nodes is replaced by: intervals and nodes of both, the first and one beyond the last of each."""

    first_interval: int
    end_interval: int
    begin_a: int
    end_a: int
    begin_b: int
    end_b: int
    with_itself: bool  # then each pair of children once


@kernel
def sweep(
    shape_a: Addresses, shape_b: Addresses, scratch: Addresses, addresses: Addresses, kind: int, relative: bool,
    most_halvings: int, welded: Ints, distance: float, limit: float, enough: int, operations: int,
) -> int:  # fmt: skip
    """Resume a pair of bodies; return why it stopped.

    shape_a, shape_b: addresses of `MovingShape`; scratch: table of two `SweepScratch`; addresses: those of `SweepWork`;
    welded: (m,3) of a body against itself, else without rows; distance: faces that come so near are in contact; enough: candidates.
    """
    work = open_work(addresses)
    state = work.state
    a, b = SweptBody(open_shape(shape_a), open_scratch(scratch, 0)), SweptBody(open_shape(shape_b), open_scratch(scratch, 1))
    if state.bucket == ANEW:
        begin_with_roots(work, a, b, most_halvings)
    # World coordinates below 1e-30 are 0, which volumes do not know: the floor.
    padding = distance + ROUNDING * (a.shape.motion.largest + b.shape.motion.largest) + CULL_FLOOR
    lack = 4.0 * (a.shape.motion.lack + b.shape.motion.lack)
    options = SweepOptions(kind, relative, most_halvings, welded.shape[0] > 0, padding, lack, limit)
    most_tests = (state.node_tests + state.face_tests) + operations
    most_candidates = min(enough - 1, len(work.candidates) - len(a.scratch.faces) * len(b.scratch.faces))
    while True:
        entry = earliest_entry(work, limit)
        if entry < 0:
            return DONE
        if state.node_tests + state.face_tests >= most_tests:
            return OUT_OF_OPERATIONS
        if state.waiting + MOST_NEW > len(work.entries):
            return FULL_QUEUE
        if state.candidates > most_candidates:
            return ENOUGH
        item = taken(work, entry)
        if item.start > limit:
            continue
        if item.interval & TO_HALVE or a.shape.child_count[item.a] > 0 or b.shape.child_count[item.b] > 0:
            compare_nodes(work, a, b, item, options)
        else:
            compare_leaves(work, a, b, item, options, welded)


@kernel
def begin_with_roots(work: SweepWork, a: SweptBody, b: SweptBody, most_halvings: int) -> None:
    """Put the roots in the empty queue, forget all instants."""
    state = work.state
    for k in range(BUCKETS):
        work.heads[k] = -1
    forget_instants(a)
    forget_instants(b)
    state.bucket, state.used, state.free, state.waiting = 0, 0, -1, 0
    state.candidates, state.node_tests, state.face_tests, state.halved = 0, 0, 0, 0
    turned = max(a.shape.motion.angle, b.shape.motion.angle)
    push(work, 0.0, 0, 0, 1 | TO_HALVE if turned > 2.0 * BLURRED and most_halvings > 0 else 1)


@kernel
def forget_instants(body: SweptBody) -> None:
    """Set up both ends of the step, and what to pad; mark all instants in between as unknown."""
    scratch, motion = body.scratch, body.shape.motion
    for k in range(INSTANTS):
        scratch.instants[k].place.u[0] = math.nan
    for halvings in range(MOST_HALVINGS + 1):
        set_up_pad(motion, halvings, scratch.pads[halvings])
    scratch.leaf.node, scratch.leaf.interval = -1, -1
    set_up_instant(motion, 0.0, scratch.instants[0])
    set_up_instant(motion, 1.0, scratch.instants[INSTANTS - 1])


@kernel(forceinline=True)
def earliest_entry(work: SweepWork, limit: float) -> int:
    """Return the first entry of the first bucket that has one, -1 if none is before the limit."""
    bucket, entry = work.state.bucket, -1
    while bucket < BUCKETS and bucket <= limit * BUCKETS:
        entry = as_int64(work.heads[bucket])
        if entry >= 0:
            break
        bucket += 1
    work.state.bucket = bucket
    return entry


@kernel(forceinline=True)
def taken(work: SweepWork, number: int) -> Waiting:
    """Take the first entry out of its bucket."""
    state, entry = work.state, work.entries[number]
    work.heads[state.bucket] = entry.next
    entry.next = state.free
    state.free = number
    state.waiting -= 1
    return Waiting(as_int64(entry.a), as_int64(entry.b), as_int64(entry.interval), work.starts[number])


@kernel(forceinline=True)
def push(work: SweepWork, time: float, a: int, b: int, interval: int) -> None:
    """Put a pair of nodes in the queue."""
    state = work.state
    number = state.free
    if number >= 0:
        state.free = as_int64(work.entries[number].next)
    else:
        number = state.used
        state.used += 1
    bucket, entry = min(BUCKETS - 1, int(time * BUCKETS)), work.entries[number]
    entry.next, entry.a, entry.b, entry.interval = work.heads[bucket], a, b, interval
    work.starts[number] = time
    work.heads[bucket] = number
    state.waiting += 1


@kernel(forceinline=True)
def compare_nodes(work: SweepWork, a: SweptBody, b: SweptBody, item: Waiting, options: SweepOptions) -> None:
    """Halve the interval of two nodes, or replace the larger one by its children; those that may meet go to the queue."""
    new = successors(work, a.shape, b.shape, item, options.itself)
    tests = 0
    for part in range(new.first_interval, new.end_interval):
        interval = interval_of(part)
        know_instants(a, interval)
        know_instants(b, interval)
        b.scratch.place.node = -1
        for i in range(new.begin_a, new.end_a):
            set_up_node(a, i, interval)
            for j in range(i if new.with_itself else new.begin_b, new.end_b):
                if new.with_itself and i == j:
                    push(work, item.start, i, j, part)
                    continue
                tests += 1
                if b.scratch.place.node != j:
                    set_up_node(b, j, interval)
                window = window_of_nodes(a, b, interval, options)
                time = max(item.start, time_of(interval, window.low))
                if window.low <= window.high and time <= options.limit:
                    push(work, time, i, j, part | TO_HALVE if is_blurred(a, b, interval, options) else part)
    work.state.node_tests += tests


@kernel(forceinline=True)
def successors(work: SweepWork, a: MovingShape, b: MovingShape, item: Waiting, itself: bool) -> Successors:
    """Return what a pair of nodes is replaced by."""
    if item.interval & TO_HALVE:
        work.state.halved += 1
        whole = item.interval ^ TO_HALVE
        return Successors(2 * whole, 2 * whole + 2, item.a, item.a + 1, item.b, item.b + 1, False)
    children_a, children_b = as_int64(a.child_count[item.a]), as_int64(b.child_count[item.b])
    with_itself = itself and item.a == item.b
    larger = a.volumes_t0[item.a].radius >= b.volumes_t0[item.b].radius
    begin_a, end_a, begin_b, end_b = item.a, item.a + 1, item.b, item.b + 1
    into_a = with_itself or children_b == 0 or (children_a > 0 and larger)
    if into_a:
        begin_a = as_int64(a.first_child[item.a])
        end_a = begin_a + children_a
    if with_itself or not into_a:
        begin_b = as_int64(b.first_child[item.b])
        end_b = begin_b + children_b
    return Successors(item.interval, item.interval + 1, begin_a, end_a, begin_b, end_b, with_itself)


@kernel(forceinline=True)
def interval_of(number: int) -> Interval:
    """Return an interval by its number."""
    halvings = 0
    while number >> (halvings + 1):
        halvings += 1
    place = number - (1 << halvings)
    first = place << (MOST_HALVINGS + 1 - halvings)
    half = 1 << (MOST_HALVINGS - halvings)
    span = 1.0 / (1 << halvings)
    return Interval(halvings, place * span, (place + 1) * span, first, first + half, first + 2 * half)


@kernel(forceinline=True)
def know_instants(body: SweptBody, interval: Interval) -> None:
    """Set up instants of an interval that were not needed before."""
    for k in (interval.first, interval.middle, interval.last):
        instant = body.scratch.instants[k]
        if math.isnan(instant.place.u[0]):
            set_up_instant(body.shape.motion, k / (INSTANTS - 1), instant)


@kernel(forceinline=True)
def time_of(interval: Interval, low: float) -> float:
    """Return the time, or a little less, at which a window of an interval begins."""
    return interval.start + low * (interval.end - interval.start) * OUTWARD


@kernel(forceinline=True)
def window_of_nodes(a: SweptBody, b: SweptBody, interval: Interval, options: SweepOptions) -> Window:
    """Return when the nodes that are set up may meet: by spheres about them, and where these may meet by their boxes."""
    place_a, place_b = a.scratch.place, b.scratch.place
    window = window_of_centres(options.relative, options.kind == SPHERE, place_a, place_b, options.padding)
    if window.low > window.high or time_of(interval, window.low) > options.limit:
        return EMPTY
    if options.kind == SPHERE:
        return window
    if place_a.has_axes == 0:
        set_up_axes(a, interval)
    if place_b.has_axes == 0:
        set_up_axes(b, interval)
    return window_of_places(options.relative, window, place_a, place_b, options.lack, options.padding)


@kernel(forceinline=True)
def is_blurred(a: SweptBody, b: SweptBody, interval: Interval, options: SweepOptions) -> bool:
    """Return whether the interval is to be halved: motion adds much to the nodes that are set up."""
    place_a, place_b = a.scratch.place, b.scratch.place
    much = BLURRED * (place_a.radius + place_b.radius)
    return interval.halvings < options.most_halvings and strayed(options.relative, place_a, place_b) > much


@kernel(forceinline=True)
def compare_leaves(work: SweepWork, a: SweptBody, b: SweptBody, item: Waiting, options: SweepOptions, welded: Ints) -> None:
    """Write the faces of two leaves that may meet to the candidates."""
    state, interval = work.state, interval_of(item.interval)
    set_up_leaf(a, item.a, item.interval, interval)
    set_up_leaf(b, item.b, item.interval, interval)
    first_a, first_b = as_int64(a.shape.first_face[item.a]), as_int64(b.shape.first_face[item.b])
    for i in range(a.shape.face_count[item.a]):
        face_a = as_int64(a.shape.order[first_a + i])
        for j in range(b.shape.face_count[item.b]):
            face_b = as_int64(b.shape.order[first_b + j])
            if options.itself and ((item.a == item.b and j <= i) or share_a_vertex(welded, face_a, face_b)):
                continue
            state.face_tests += 1
            window = window_of_faces(a.scratch.faces[i], b.scratch.faces[j], options.padding)
            time = max(item.start, time_of(interval, window.low))
            if window.low <= window.high and time <= options.limit:
                swapped = options.itself and face_a > face_b
                candidate = work.candidates[state.candidates]
                candidate.face_a, candidate.face_b = (face_b, face_a) if swapped else (face_a, face_b)
                work.earliest[state.candidates] = time
                state.candidates += 1


@kernel(forceinline=True)
def set_up_leaf(body: SweptBody, node: int, number: int, interval: Interval) -> None:
    """Set up the faces of a leaf over the interval of this number, unless they are."""
    leaf = body.scratch.leaf
    if leaf.node != node or leaf.interval != number:
        leaf.node, leaf.interval = node, number
        fill_moving_leaf(body, node, interval)
