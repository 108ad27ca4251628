"""Dynamic collision detection: two trees walked along the motion, the earliest first (§4).

A pair of nodes belongs to an interval of time, at first the whole step. Where the two may meet within it (`swept.py`), either the
interval is halved, if what rotation adds to the volumes is large beside them, or the larger node is replaced by its children.
Pairs wait in a queue: one stack for each 1024th of the step, by the earliest time at which they may meet, so that what is early
comes first and within that what is deep. Pairs of leaves come down to pairs of faces: candidates with an earliest time.

The kernel stops when it has enough candidates; Python finds their times (`jostle/continuous`) and hands the best one back as the
limit: what may meet only later is never looked at. It stops as well when an array is full, and after a number of operations, so
that Ctrl-C is heard. No contact is lost: windows are conservative, and pairs are dropped only when they start after the limit.
"""

from __future__ import annotations

import numpy as np

from jostle.geometry.rigid import CULL_FLOOR
from jostle.geometry.triangle_triangle import share_a_vertex
from jostle.kernels.jit import kernel
from jostle.methods.bounding_tree.motions import ANGLE, INSTANTS, LACK, LARGEST, MOST_HALVINGS, set_up_instant, set_up_pads
from jostle.methods.bounding_tree.moving_faces import fill_moving_leaf, window_of_faces
from jostle.methods.bounding_tree.swept import (
    OUTWARD,
    PLACE,
    set_up_axes,
    set_up_node,
    strayed,
    window_of_centres,
    window_of_places,
)
from jostle.methods.bounding_tree.tree import RADIUS, SPHERE

BUCKETS = 1024
# State: the bucket that is being emptied, entries ever used, first free entry, entries that wait, candidates, counts of tests.
STATE = 8
BUCKET, USED, FREE, WAITING, CANDIDATES, NODE_TESTS, FACE_TESTS, HALVED = range(STATE)
ANEW = -1  # as the bucket: begin with the roots
NEXT, NODE_A, NODE_B, INTERVAL = range(4)  # columns of an entry
# An interval is 1 for the whole step, and 2 i and 2 i + 1 for the halves of i. With this bit it is to be halved.
TO_HALVE = 1 << 20

DONE, OUT_OF_OPERATIONS, ENOUGH, FULL_QUEUE = range(4)
MOST_NEW = 40  # entries that one can put in the queue
BLURRED = 0.25  # an interval is halved when rotation adds more than this part of the radii
ROUNDING = 2.0**-43


@kernel
def sweep(  # type: ignore[no-untyped-def]
    kind, relative, most_halvings, itself,
    volumes_t0_a, volumes_t1_a, first_child_a, child_count_a, first_face_a, face_count_a, order_a, faces_a, vertices_t0_a,
    vertices_t1_a, motion_a,
    volumes_t0_b, volumes_t1_b, first_child_b, child_count_b, first_face_b, face_count_b, order_b, faces_b, vertices_t0_b,
    vertices_t1_b, motion_b,
    welded, distance, limit, enough, operations,
    state, heads, entries, starts, tables, pads, lanes, leaf_at, candidates, earliest,
):  # fmt: skip
    """Go on with a pair of bodies; returns why it stopped.

    volumes_t0_a … motion_a and the same of b: the fields of two `MovingTree`, which Numba would take 0.1 ms to recognise as tuples;
    distance: faces that come so near are in contact; limit: the latest time of interest; heads (BUCKETS,) int32, entries (n,4)
    int32, starts (n,): the queue; tables (2, INSTANTS, INSTANT), pads (2, MOST_HALVINGS + 1, 2), lanes (2, faces of a leaf,
    MOVING_FACE), leaf_at (2,2) int64: scratch; candidates (n,2) int32 and earliest (n,): face pairs, some more than once.
    """
    table_a, table_b, pads_a, pads_b, lanes_a, lanes_b = tables[0], tables[1], pads[0], pads[1], lanes[0], lanes[1]
    place_a, place_b = np.empty(PLACE), np.empty(PLACE)
    lack = 4.0 * (motion_a[LACK] + motion_b[LACK])
    # World coordinates below 1e-30 are 0, which volumes do not know: the floor.
    padding = distance + ROUNDING * (motion_a[LARGEST] + motion_b[LARGEST]) + CULL_FLOOR
    if state[BUCKET] == ANEW:
        _begin(motion_a, motion_b, most_halvings, state, heads, entries, starts, tables, pads, leaf_at)
    bucket, used, free, waiting = state[BUCKET], state[USED], state[FREE], state[WAITING]
    found, node_tests, face_tests = state[CANDIDATES], 0, 0
    most_faces = lanes_a.shape[0] * lanes_b.shape[0]
    why = DONE
    while bucket < BUCKETS and bucket <= limit * BUCKETS:
        entry = np.int64(heads[bucket])
        if entry < 0:
            bucket += 1
            continue
        if node_tests + face_tests >= operations:
            why = OUT_OF_OPERATIONS
            break
        if waiting + MOST_NEW > entries.shape[0]:
            why = FULL_QUEUE
            break
        if found >= enough or found + most_faces > candidates.shape[0]:
            why = ENOUGH
            break
        heads[bucket] = entries[entry, NEXT]
        entries[entry, NEXT] = free
        free = entry
        waiting -= 1
        start = starts[entry]
        if start > limit:
            continue
        a, b, interval = np.int64(entries[entry, NODE_A]), np.int64(entries[entry, NODE_B]), np.int64(entries[entry, INTERVAL])
        children_a, children_b = np.int64(child_count_a[a]), np.int64(child_count_b[b])
        first_interval, last_interval = interval, interval
        begin_a, end_a, begin_b, end_b = a, a + 1, b, b + 1
        again = False
        if interval & TO_HALVE:
            interval ^= TO_HALVE
            first_interval, last_interval = 2 * interval, 2 * interval + 1
            state[HALVED] += 1
        elif children_a > 0 or children_b > 0:
            again = itself and a == b
            larger = volumes_t0_a[a, RADIUS] >= volumes_t0_b[b, RADIUS]
            if again or children_b == 0 or (children_a > 0 and larger):
                begin_a = np.int64(first_child_a[a])
                end_a = begin_a + children_a
            if again or begin_a == a:
                begin_b = np.int64(first_child_b[b])
                end_b = begin_b + children_b
        else:
            halvings, s, e, row, _, last = _instants(interval)
            if leaf_at[0, 0] != a or leaf_at[0, 1] != interval:
                leaf_at[0, 0], leaf_at[0, 1] = a, interval
                fill_moving_leaf(
                    lanes_a, faces_a, order_a, first_face_a[a], face_count_a[a], vertices_t0_a,
                    vertices_t1_a, motion_a, table_a, row, last, s, e, pads_a[halvings, 1],
                )  # fmt: skip
            if leaf_at[1, 0] != b or leaf_at[1, 1] != interval:
                leaf_at[1, 0], leaf_at[1, 1] = b, interval
                fill_moving_leaf(
                    lanes_b, faces_b, order_b, first_face_b[b], face_count_b[b], vertices_t0_b,
                    vertices_t1_b, motion_b, table_b, row, last, s, e, pads_b[halvings, 1],
                )  # fmt: skip
            for i in range(face_count_a[a]):
                face_a = np.int64(order_a[first_face_a[a] + i])
                for j in range(face_count_b[b]):
                    face_b = np.int64(order_b[first_face_b[b] + j])
                    if itself and ((a == b and j <= i) or share_a_vertex(welded, face_a, face_b)):
                        continue
                    face_tests += 1
                    low, high = window_of_faces(lanes_a, i, lanes_b, j, padding)
                    time = max(start, s + low * (e - s) * OUTWARD)
                    if low <= high and time <= limit:
                        swapped = itself and face_a > face_b
                        candidates[found, 0] = face_b if swapped else face_a
                        candidates[found, 1] = face_a if swapped else face_b
                        earliest[found] = time
                        found += 1
            continue
        for part in range(first_interval, last_interval + 1):
            halvings, s, e, row, middle, last = _instants(part)
            _know_instants(motion_a, table_a, row, middle, last)
            _know_instants(motion_b, table_b, row, middle, last)
            known_b, axes_of_b = -1, False
            for i in range(begin_a, end_a):
                set_up_node(volumes_t0_a, volumes_t1_a, motion_a, pads_a, i, table_a, halvings, s, e, row, last, place_a)
                axes_of_a = False
                for j in range(i if again else begin_b, end_b):
                    time, code = start, part
                    if not again or i != j:
                        node_tests += 1
                        if known_b != j:
                            known_b, axes_of_b = j, False
                            set_up_node(
                                volumes_t0_b, volumes_t1_b, motion_b, pads_b, j, table_b, halvings, s, e, row, last,
                                place_b,
                            )  # fmt: skip
                        low, high = window_of_centres(relative, kind == SPHERE, place_a, place_b, padding)
                        if low > high or s + low * (e - s) * OUTWARD > limit:
                            continue
                        if kind != SPHERE:
                            if not axes_of_a:
                                set_up_axes(volumes_t0_a, volumes_t1_a, motion_a, i, table_a, s, e, middle, place_a)
                                axes_of_a = True
                            if not axes_of_b:
                                set_up_axes(volumes_t0_b, volumes_t1_b, motion_b, j, table_b, s, e, middle, place_b)
                                axes_of_b = True
                            low, high = window_of_places(relative, low, high, place_a, place_b, lack, padding)
                        time = max(start, s + low * (e - s) * OUTWARD)
                        if low > high or time > limit:
                            continue
                        if halvings < most_halvings and strayed(relative, place_a, place_b) > BLURRED * (place_a[6] + place_b[6]):
                            code = part | TO_HALVE
                    slot = free
                    if slot >= 0:
                        free = np.int64(entries[slot, NEXT])
                    else:
                        slot = used
                        used += 1
                    place = min(BUCKETS - 1, np.int64(time * BUCKETS))
                    entries[slot, NEXT], entries[slot, NODE_A], entries[slot, NODE_B], entries[slot, INTERVAL] = (
                        heads[place], i, j, code,
                    )  # fmt: skip
                    starts[slot] = time
                    heads[place] = slot
                    waiting += 1
    state[BUCKET], state[USED], state[FREE], state[WAITING] = bucket, used, free, waiting
    state[CANDIDATES] = found
    state[NODE_TESTS] += node_tests
    state[FACE_TESTS] += face_tests
    return why


@kernel
def _begin(motion_a, motion_b, most_halvings, state, heads, entries, starts, tables, pads, leaf_at):  # type: ignore[no-untyped-def]
    """Put the roots in the empty queue, forget all instants."""
    for k in range(BUCKETS):
        heads[k] = -1
    for k in range(INSTANTS):
        tables[0, k, 0], tables[1, k, 0] = np.nan, np.nan
    set_up_pads(motion_a, pads[0])
    set_up_pads(motion_b, pads[1])
    for k in range(2):
        leaf_at[k, 0], leaf_at[k, 1] = -1, -1
        set_up_instant(motion_a, float(k), tables[0], k * (INSTANTS - 1))
        set_up_instant(motion_b, float(k), tables[1], k * (INSTANTS - 1))
    for k in range(STATE):
        state[k] = 0
    turned = max(motion_a[ANGLE], motion_b[ANGLE])
    whole = 1 | TO_HALVE if turned > 2.0 * BLURRED and most_halvings > 0 else 1
    entries[0, NEXT], entries[0, NODE_A], entries[0, NODE_B], entries[0, INTERVAL] = -1, 0, 0, whole
    starts[0] = 0.0
    heads[0] = 0
    state[USED], state[FREE], state[WAITING] = 1, -1, 1


@kernel(forceinline=True)
def _instants(interval):  # type: ignore[no-untyped-def]
    """How often the step was halved for an interval, its start and end, and the rows of start, middle and end in the tables."""
    halvings = 0
    while interval >> (halvings + 1):
        halvings += 1
    number = interval - (1 << halvings)
    row = number << (MOST_HALVINGS + 1 - halvings)
    half = 1 << (MOST_HALVINGS - halvings)
    span = 1.0 / (1 << halvings)
    return halvings, number * span, (number + 1) * span, row, row + half, row + 2 * half


@kernel(forceinline=True)
def _know_instants(motion, table, row, middle, last):  # type: ignore[no-untyped-def]
    """Fill rows of instants that were not needed before."""
    for k in (row, middle, last):
        if np.isnan(table[k, 0]):
            set_up_instant(motion, k / (INSTANTS - 1), table, k)
