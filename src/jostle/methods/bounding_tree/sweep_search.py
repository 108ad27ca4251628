"""Dynamic collision detection: two trees along the motion, earliest first (§4).

An entry of the queue is a node pair and an interval of time, at first the roots and the whole step. Entries are taken in the
order of the earliest time at which they may meet, and replaced (`successors`):

| entry | is replaced by |
|---|---|
| its interval is marked `TO_HALVE` | the same nodes over both halves: "intermediate points in time" (§4.1) where rotation blurs |
| a node against itself | all pairs of its children |
| any other with an inner node | the children of the larger node, each with the other node |
| two leaves | candidates: face pairs that may meet, with an earliest time (§4.2) |

Replacements go to the queue only if their swept bounding objects may meet (`swept.py`, §4.1) before the limit; those with a leaf
that is large for the other node, only if one of its faces may meet that node (`near_moving_faces.py`). The queue is one
stack for each 1024th of the step: early entries come first, and among them those deep in the trees.

Python finds the contact times of the candidates (`jostle/continuous`, §4.2) and passes the best one back as the limit: entries
that may meet only later are never examined. No contact is lost: windows are conservative, and entries are dropped only when they
start after the limit.

| returns | when | the caller |
|---|---|---|
| `DONE` | nothing waits that may meet before the limit | takes the candidates |
| `OUT_OF_OPERATIONS` | the tests of this call are used up | handles Ctrl-C, calls again |
| `ENOUGH` | there are as many candidates as wanted | takes them, calls again with a lower limit |
| `FULL_CANDIDATES` | the face pairs of two leaves might not fit | doubles the candidates, calls again |
| `FULL_QUEUE` | the replacements of one entry might not fit | doubles the queue, calls again |
"""

from __future__ import annotations

import math
from typing import NamedTuple

from jostle._types import Ints
from jostle.geometry.rigid import CULL_FLOOR
from jostle.geometry.triangle_triangle import share_a_vertex
from jostle.kernels.jit import kernel
from jostle.kernels.numbers import as_int64
from jostle.kernels.structs import Addresses, One, Record, Rows, Struct, float64, int32, int64, opener, row_opener
from jostle.methods.bounding_tree.motions import INSTANTS, MOST_HALVINGS, MovingShape, set_up_instant, set_up_pad
from jostle.methods.bounding_tree.moving_faces import set_up_leaf, window_of_faces
from jostle.methods.bounding_tree.near_faces import EVERY_FACE, bit_of, is_large_leaf
from jostle.methods.bounding_tree.near_moving_faces import MovingLeaf, near_moving_faces
from jostle.methods.bounding_tree.swept import (
    added_extent,
    set_up_axes,
    set_up_node,
    time_of,
    window_of_centres,
    window_of_places,
)
from jostle.methods.bounding_tree.swept_body import EMPTY, Interval, SweepScratch, SweptBody, Window
from jostle.methods.bounding_tree.tree import SPHERE, NodePair, Range, opened

BUCKETS = 1024
START = -1  # as the bucket: begin with the roots
# Intervals are numbered: 1 is the whole step, 2 i and 2 i + 1 are the halves of i. With this bit, one is to be halved first.
WHOLE_STEP, TO_HALVE = 1, 1 << 20

DONE, OUT_OF_OPERATIONS, ENOUGH, FULL_CANDIDATES, FULL_QUEUE = range(5)
MOST_NEW = 6 * 7 // 2  # entries that replace one: all pairs of six children
BLURRED = 0.25  # an interval is halved when rotation adds more than this part of the radii
NO_NODE = -1
ROUNDING = 2.0**-43  # of the largest coordinates: the difference of world vertices and volumes


class SweepState(Record):
    """Progress of a search, and its counts."""

    bucket: int64  # that is being emptied, or START
    used: int64  # entries ever in use …
    free: int64  # … the first free one among them, or -1 …
    waiting: int64  # … and the number in the queue
    candidates: int64
    node_tests: int64
    face_tests: int64
    halved: int64  # intervals


class Entry(Record):
    """A queued node pair over an interval; `next` in its bucket, or next free entry."""

    next: int32
    a: int32
    b: int32
    interval: int32
    near_a: int64  # of a leaf: the faces that may meet the other node (`near_moving_faces.py`)
    near_b: int64


class Candidate(Record):
    """Faces that may meet; listed once for each interval in which they may."""

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
    """The query, and the errors of roundings and poses."""

    kind: int  # of the bounding objects
    relative: bool  # compare by relative motion, not by enclosing each path
    most_halvings: int
    itself: bool  # one body against itself
    padding: float
    skew: float  # of orthonormality, of both bodies
    limit: float  # the latest time of interest


class Waiting(NamedTuple):
    """An entry taken from the queue; its nodes may meet from `start` on."""

    a: int
    b: int
    interval: int
    start: float
    near_a: int  # faces of leaves that may meet the other node
    near_b: int


class Successors(NamedTuple):
    """The replacements of an entry: these intervals with these nodes of a and b."""

    intervals: Range
    a: Range
    b: Range
    with_itself: bool  # of a node against itself: each pair of children once
    large_a: bool  # whether a is a leaf that is large for b …
    large_b: bool  # … or b for a


@kernel
def sweep(
    shape_a: Addresses, shape_b: Addresses, scratch: Addresses, addresses: Addresses, kind: int, relative: bool,
    most_halvings: int, welded: Ints, distance: float, limit: float, enough: int, operations: int,
) -> int:  # fmt: skip
    """Resume the search of a body pair; return why it stopped.

    shape_a, shape_b: addresses of `MovingShape`; scratch: table of two `SweepScratch`; addresses: of `SweepWork`; welded: (m,3)
    of a body against itself, else without rows; distance: at which faces are in contact; enough: candidates.
    """
    work = open_work(addresses)
    state = work.state
    a, b = SweptBody(open_shape(shape_a), open_scratch(scratch, 0)), SweptBody(open_shape(shape_b), open_scratch(scratch, 1))
    if state.bucket == START:
        begin_with_roots(work, a, b, most_halvings)
    motion_a, motion_b = a.shape.motion, b.shape.motion
    # World coordinates below 1e-30 are 0, which volumes do not know: the floor.
    padding = distance + ROUNDING * (motion_a.largest + motion_b.largest) + CULL_FLOOR
    skew = 4.0 * (motion_a.skew + motion_b.skew)
    options = SweepOptions(kind, relative, most_halvings, welded.shape[0] > 0, padding, skew, limit)
    most_tests = (state.node_tests + state.face_tests) + operations
    most_candidates = len(work.candidates) - len(a.scratch.faces) * len(b.scratch.faces)
    while True:
        number = earliest_entry(work, limit)
        if number < 0:
            return DONE
        if state.node_tests + state.face_tests >= most_tests:
            return OUT_OF_OPERATIONS
        if state.waiting + MOST_NEW > len(work.entries):
            return FULL_QUEUE
        if state.candidates >= enough:
            return ENOUGH
        if state.candidates > most_candidates:
            return FULL_CANDIDATES
        item = pop(work, number)
        if item.start > limit:
            continue
        if item.interval & TO_HALVE or a.shape.child_count[item.a] > 0 or b.shape.child_count[item.b] > 0:
            compare_nodes(work, a, b, item, options)
        else:
            compare_leaves(work, a, b, item, options, welded)


@kernel
def begin_with_roots(work: SweepWork, a: SweptBody, b: SweptBody, most_halvings: int) -> None:
    """Begin a search: queue the roots over the whole step, and reset the counts."""
    state = work.state
    for k in range(BUCKETS):
        work.heads[k] = -1
    set_up_body(a)
    set_up_body(b)
    state.bucket, state.used, state.free, state.waiting = 0, 0, -1, 0
    state.candidates, state.node_tests, state.face_tests, state.halved = 0, 0, 0, 0
    # Rotation adds about half of the angle to the radii (`motions.py`).
    blurred = 0.5 * max(a.shape.motion.angle, b.shape.motion.angle) > BLURRED
    push(work, Waiting(0, 0, marked(WHOLE_STEP, blurred and most_halvings > 0), 0.0, EVERY_FACE, EVERY_FACE))


@kernel
def set_up_body(body: SweptBody) -> None:
    """Set up both ends of the step and the padding; mark other instants unknown (NaN)."""
    scratch, motion = body.scratch, body.shape.motion
    for k in range(INSTANTS):
        scratch.instants[k].place.u[0] = math.nan
    for halvings in range(MOST_HALVINGS + 1):
        set_up_pad(motion, halvings, scratch.pads[halvings])
    scratch.leaf.node, scratch.leaf.interval = NO_NODE, -1
    set_up_instant(motion, 0.0, scratch.instants[0])
    set_up_instant(motion, 1.0, scratch.instants[INSTANTS - 1])


@kernel(forceinline=True)
def earliest_entry(work: SweepWork, limit: float) -> int:
    """Return the first entry of the first filled bucket; -1 if none before the limit."""
    bucket, entry = work.state.bucket, -1
    while bucket < BUCKETS and bucket <= limit * BUCKETS:
        entry = as_int64(work.heads[bucket])
        if entry >= 0:
            break
        bucket += 1
    work.state.bucket = bucket
    return entry


@kernel(forceinline=True)
def pop(work: SweepWork, number: int) -> Waiting:
    """Take the first entry of the current bucket out of the queue."""
    state, entry = work.state, work.entries[number]
    work.heads[state.bucket] = entry.next
    entry.next = state.free
    state.free = number
    state.waiting -= 1
    a, b, interval = as_int64(entry.a), as_int64(entry.b), as_int64(entry.interval)
    return Waiting(a, b, interval, work.starts[number], entry.near_a, entry.near_b)


@kernel(forceinline=True)
def push(work: SweepWork, item: Waiting) -> None:
    """Put a node pair over an interval in the queue."""
    state = work.state
    number = state.free
    if number >= 0:
        state.free = as_int64(work.entries[number].next)
    else:
        number = state.used
        state.used += 1
    bucket, entry = min(BUCKETS - 1, int(item.start * BUCKETS)), work.entries[number]
    entry.next, entry.a, entry.b, entry.interval = work.heads[bucket], item.a, item.b, item.interval
    entry.near_a, entry.near_b = item.near_a, item.near_b
    work.starts[number] = item.start
    work.heads[bucket] = number
    state.waiting += 1


@kernel(forceinline=True)
def marked(interval: int, to_halve: bool) -> int:
    """Return the number of an interval, marked if it is to be halved."""
    return interval | TO_HALVE if to_halve else interval


@kernel(forceinline=True)
def compare_nodes(work: SweepWork, a: SweptBody, b: SweptBody, item: Waiting, options: SweepOptions) -> None:
    """Replace an entry by those of its successors that may meet (§4.1)."""
    new = successors(work, a.shape, b.shape, item, options.itself)
    tests = 0
    for part in range(new.intervals.begin, new.intervals.end):
        interval = interval_of(part)
        set_up_instants(a, interval)
        set_up_instants(b, interval)
        b.scratch.place.node = NO_NODE  # it may belong to another interval
        for i in range(new.a.begin, new.a.end):
            set_up_node(a, i, interval)
            for j in range(i if new.with_itself else new.b.begin, new.b.end):
                pair = Waiting(i, j, part, item.start, item.near_a, item.near_b)
                if new.with_itself and i == j:
                    push(work, pair)
                    continue
                tests += 1
                if b.scratch.place.node != j:
                    set_up_node(b, j, interval)
                push_if_meeting(work, a, b, pair, new, interval, options)
    work.state.node_tests += tests


@kernel(forceinline=True)
def push_if_meeting(
    work: SweepWork, a: SweptBody, b: SweptBody, item: Waiting, new: Successors, interval: Interval, options: SweepOptions
) -> None:
    """Queue the nodes at work if they may meet before the limit, from `item.start` on."""
    window = window_of_nodes(a, b, interval, options)
    time = max(item.start, time_of(interval, window.low))
    if window.low > window.high or time > options.limit:
        return
    near_a, near_b, tests = item.near_a, item.near_b, 0
    if new.large_a:
        leaf = MovingLeaf(a, item.a, near_a)
        near_a, tests = near_moving_faces(leaf, b, item.interval, interval, options.padding, options.limit)
    elif new.large_b:
        leaf = MovingLeaf(b, item.b, near_b)
        near_b, tests = near_moving_faces(leaf, a, item.interval, interval, options.padding, options.limit)
    work.state.face_tests += tests
    if near_a != 0 and near_b != 0:
        push(work, Waiting(item.a, item.b, marked(item.interval, is_blurred(a, b, interval, options)), time, near_a, near_b))


@kernel(forceinline=True)
def successors(work: SweepWork, a: MovingShape, b: MovingShape, item: Waiting, itself: bool) -> Successors:
    """Return the replacements of an entry; see the module."""
    volume_a, volume_b = a.volumes_t0[item.a], b.volumes_t0[item.b]
    large_a = a.child_count[item.a] == 0 and is_large_leaf(volume_a, volume_b)
    large_b = b.child_count[item.b] == 0 and is_large_leaf(volume_b, volume_a)
    if item.interval & TO_HALVE:
        work.state.halved += 1
        whole = item.interval ^ TO_HALVE
        halves, same_a, same_b = Range(2 * whole, 2 * whole + 2), Range(item.a, item.a + 1), Range(item.b, item.b + 1)
        return Successors(halves, same_a, same_b, False, large_a, large_b)
    with_itself = itself and item.a == item.b
    nodes_a, nodes_b = opened(a, b, NodePair(item.a, item.b), with_itself, volume_a.radius >= volume_b.radius)
    return Successors(Range(item.interval, item.interval + 1), nodes_a, nodes_b, with_itself, large_a, large_b)


@kernel(forceinline=True)
def interval_of(number: int) -> Interval:
    """Return the interval of a number without a mark."""
    halvings = 0
    while number >> (halvings + 1):
        halvings += 1
    place = number - (1 << halvings)
    first = place << (MOST_HALVINGS + 1 - halvings)
    half = 1 << (MOST_HALVINGS - halvings)
    span = 1.0 / (1 << halvings)
    return Interval(halvings, place * span, (place + 1) * span, first, first + half, first + 2 * half)


@kernel(forceinline=True)
def set_up_instants(body: SweptBody, interval: Interval) -> None:
    """Set up the start, middle and end of an interval where unknown."""
    for k in (interval.first, interval.middle, interval.last):
        instant = body.scratch.instants[k]
        if math.isnan(instant.place.u[0]):
            set_up_instant(body.shape.motion, k / (INSTANTS - 1), instant)


@kernel(forceinline=True)
def window_of_nodes(a: SweptBody, b: SweptBody, interval: Interval, options: SweepOptions) -> Window:
    """Return when the nodes at work may meet: by their spheres first, then by boxes."""
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
    return window_of_places(options.relative, window, place_a, place_b, options.skew, options.padding)


@kernel(forceinline=True)
def is_blurred(a: SweptBody, b: SweptBody, interval: Interval, options: SweepOptions) -> bool:
    """Return whether to halve the interval: motion adds much, and halving is allowed."""
    place_a, place_b = a.scratch.place, b.scratch.place
    much = BLURRED * (place_a.radius + place_b.radius)
    return interval.halvings < options.most_halvings and added_extent(options.relative, place_a, place_b) > much


@kernel(forceinline=True)
def compare_leaves(work: SweepWork, a: SweptBody, b: SweptBody, item: Waiting, options: SweepOptions, welded: Ints) -> None:
    """Add the face pairs of two leaves that may meet before the limit (§4.2)."""
    state, interval = work.state, interval_of(item.interval)
    set_up_leaf(a, item.a, item.interval, interval)
    set_up_leaf(b, item.b, item.interval, interval)
    first_a, first_b = as_int64(a.shape.first_face[item.a]), as_int64(b.shape.first_face[item.b])
    for i in range(a.shape.face_count[item.a]):
        if item.near_a & bit_of(i) == 0:
            continue
        face_a = as_int64(a.shape.order[first_a + i])
        for j in range(b.shape.face_count[item.b]):
            face_b = as_int64(b.shape.order[first_b + j])
            if item.near_b & bit_of(j) == 0:
                continue
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
