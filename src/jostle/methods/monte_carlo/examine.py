"""The one resumable kernel of the search (Guy and Debunne §3, §4.2): pairs of facets are refined, faces tested, rows written.

A frame looks at one representative of each place that touched in the last frame; at lost ones by way of their ancestors; at the
pairs that are followed; at some new seeds; at the rest of what touched; at all that is below pairs of coarsest facets which are
known not to be parted, and around them; and at the remaining seeds (`next_item`). Whatever it is, it ends up as entries on one
stack, and here is the one place where a pair is refined, or tested exactly.

The kernel stops after a number of operations (one is about a test of two facets, an exact test counts as four), or where an array
is full, and goes on from there: where a search is cut depends on the number of operations alone. While a single row is looked
for, what is on the stack when it is found is put off (pending); while new places are looked for, what is below known ones is. A
pair bears the stamp of the frame in a hash table once it is refined or tested, so that nothing is done twice, from wherever it is
reached.
"""

import numpy as np

from jostle.geometry.contact_kind import CROSSING, NEAR, TOUCHING
from jostle.geometry.rigid import rigid_coordinate
from jostle.geometry.triangle import triangle_from
from jostle.geometry.triangle_triangle import triangles_touch
from jostle.geometry.triangles_distance import distance_if_nearer
from jostle.kernels.handles import float64_at, int32_at, int64_at
from jostle.kernels.jit import kernel
from jostle.methods.monte_carlo import workspace as ws
from jostle.methods.monte_carlo.average_planes import spread_of
from jostle.methods.monte_carlo.flood import flood, queue_root
from jostle.methods.monte_carlo.next_item import FINISHED, next_item
from jostle.methods.monte_carlo.packed import (
    BODY,
    CELL,
    CORNER,
    FIRST,
    LEVEL,
    LINKS,
    PARENT,
    ROOT,
    VERTICES,
    share_a_vertex,
)
from jostle.methods.monte_carlo.refine import refine, refine_itself
from jostle.methods.monte_carlo.sampling import PORTION
from jostle.methods.monte_carlo.what_is_told import first_face
from jostle.packed_rows import ALL, ANY, WORST

EXACT_OPERATIONS = 4


@kernel
def place_face(tags, corners, side, bodies, body, face, poses):  # type: ignore[no-untyped-def]
    """Return where in `corners` the nine world coordinates of a face stand; faces of the last tests are kept."""
    slot = side * ws.SLOTS + (face & (ws.SLOTS - 1))
    tag = (np.int64(body) << 32) | np.int64(face)
    to = 9 * slot
    if tags[slot] != tag:
        tags[slot] = tag
        at = BODY * body
        faces = int32_at(bodies[at + CORNER], bodies[at + CORNER + 1])
        vertices = float64_at(bodies[at + VERTICES], bodies[at + VERTICES + 1])
        for k in range(3):
            v = 3 * faces[3 * face + k]
            x, y, z = vertices[v], vertices[v + 1], vertices[v + 2]
            for row in range(3):
                p = 16 * body + 4 * row
                corners[to + 3 * k + row] = rigid_coordinate(poses[p], poses[p + 1], poses[p + 2], poses[p + 3], x, y, z)
    return to


@kernel(forceinline=True)
def boxes_apart(corners, p, q, by):  # type: ignore[no-untyped-def]
    """Whether the boxes of two faces, nine numbers each from p and q on, are farther apart than `by` along an axis."""
    for k in range(3):
        low_p = min(corners[p + k], corners[p + k + 3], corners[p + k + 6])
        high_q = max(corners[q + k], corners[q + k + 3], corners[q + k + 6])
        low_q = min(corners[q + k], corners[q + k + 3], corners[q + k + 6])
        high_p = max(corners[p + k], corners[p + k + 3], corners[p + k + 6])
        if low_p - by > high_q or low_q - by > high_p:
            return True
    return False


@kernel(forceinline=True)
def register(links, couples, relative, table, payload, pending, cells, state, couple, a, b, fa, fb, row):  # type: ignore[no-untyped-def]
    """Enter a new row in its cell, and have all below its roots looked at."""
    stamp = state[ws.STAMP]
    ca, cb = links[LINKS * fa + CELL], links[LINKS * fb + CELL]
    slot, found = ws.find_slot(table, stamp, couple, ws.OF_CELL, ca, cb)
    if not found:
        cell = state[ws.CELLS]
        ws.put_key(table, payload, slot, stamp, couple, ws.OF_CELL, ca, cb, cell, state)
        to = ws.CELL_INT * cell
        cells[to], cells[to + 1], cells[to + 2], cells[to + 3] = couple, ca, cb, row
        state[ws.CELLS] += 1
        ra, rb = links[LINKS * fa + ROOT], links[LINKS * fb + ROOT]
        if a == b:
            ra, rb = min(ra, rb), max(ra, rb)
        slot, found = ws.find_slot(table, stamp, couple, ws.OF_ROOT, ra, rb)
        if not found:
            ws.put_key(table, payload, slot, stamp, couple, ws.OF_ROOT, ra, rb, ws.SEEN, state)
        payload[slot] |= ws.HOT
        queue_root(table, payload, pending, state, couple, ra, rb)
    couples[ws.COUPLE * couple + ws.COUPLE_ROWS] += 1
    relative[ws.COUPLE_FLOAT * couple + ws.NEAREST] = 0.0


@kernel(forceinline=True)
def put_off(stack, begin, end, pending, state):  # type: ignore[no-untyped-def]
    """Move entries of the stack to those that are pending."""
    to = ws.ENTRY * (state[ws.TAIL] - begin)
    for k in range(ws.ENTRY * begin, ws.ENTRY * end):
        pending[to + k] = stack[k]
    state[ws.TAIL] += end - begin


@kernel
def examine(addresses, state, numbers, operations):  # type: ignore[no-untyped-def]
    """Go on with the search for so many operations; returns why it stopped and the operations used. Arrays as in `workspace`.

    Long on purpose: it holds the only call of each exact test, and Numba optimises what is below a kernel again at each level of
    calls.
    """
    data = float64_at(addresses[0, 2 * ws.DATA], addresses[0, 2 * ws.DATA + 1])
    links = int32_at(addresses[0, 2 * ws.LINK], addresses[0, 2 * ws.LINK + 1])
    child = int32_at(addresses[0, 2 * ws.CHILD], addresses[0, 2 * ws.CHILD + 1])
    neighbour = int32_at(addresses[0, 2 * ws.AROUND_FACET], addresses[0, 2 * ws.AROUND_FACET + 1])
    stamps = int32_at(addresses[0, 2 * ws.STAMPS], addresses[0, 2 * ws.STAMPS + 1])
    bodies = int64_at(addresses[0, 2 * ws.BODIES], addresses[0, 2 * ws.BODIES + 1])
    planes = float64_at(addresses[0, 2 * ws.PLANES], addresses[0, 2 * ws.PLANES + 1])
    seeds = int32_at(addresses[0, 2 * ws.SEED_ORDER], addresses[0, 2 * ws.SEED_ORDER + 1])
    poses = float64_at(addresses[0, 2 * ws.POSES], addresses[0, 2 * ws.POSES + 1])
    couples = int32_at(addresses[0, 2 * ws.COUPLE_INTS], addresses[0, 2 * ws.COUPLE_INTS + 1])
    relative = float64_at(addresses[0, 2 * ws.COUPLE_FLOATS], addresses[0, 2 * ws.COUPLE_FLOATS + 1])
    table = int64_at(addresses[0, 2 * ws.TABLE], addresses[0, 2 * ws.TABLE + 1])
    payload = int32_at(addresses[0, 2 * ws.PAYLOAD], addresses[0, 2 * ws.PAYLOAD + 1])
    stack = int32_at(addresses[0, 2 * ws.STACK], addresses[0, 2 * ws.STACK + 1])
    pending = int32_at(addresses[0, 2 * ws.PENDING], addresses[0, 2 * ws.PENDING + 1])
    rows = int32_at(addresses[0, 2 * ws.ROW_INTS], addresses[0, 2 * ws.ROW_INTS + 1])
    row_floats = float64_at(addresses[0, 2 * ws.ROW_FLOATS], addresses[0, 2 * ws.ROW_FLOATS + 1])
    cells = int32_at(addresses[0, 2 * ws.CELL_INTS], addresses[0, 2 * ws.CELL_INTS + 1])
    listed = int32_at(addresses[0, 2 * ws.LIST_INTS], addresses[0, 2 * ws.LIST_INTS + 1])
    looked_at = int32_at(addresses[0, 2 * ws.LOOKED_AT], addresses[0, 2 * ws.LOOKED_AT + 1])
    trackers = int32_at(addresses[0, 2 * ws.TRACKER_INTS], addresses[0, 2 * ws.TRACKER_INTS + 1])
    gaps = float64_at(addresses[0, 2 * ws.TRACKER_FLOATS], addresses[0, 2 * ws.TRACKER_FLOATS + 1])
    lost = int32_at(addresses[0, 2 * ws.LOST_REPS], addresses[0, 2 * ws.LOST_REPS + 1])
    ring = int64_at(addresses[0, 2 * ws.RING], addresses[0, 2 * ws.RING + 1])
    tags = int64_at(addresses[0, 2 * ws.TAGS], addresses[0, 2 * ws.TAGS + 1])
    corners = float64_at(addresses[0, 2 * ws.CORNERS], addresses[0, 2 * ws.CORNERS + 1])

    around, widest = state[ws.MOST_NEIGHBOURS], state[ws.MOST_CHILDREN]
    most_height = stack.shape[0] // ws.ENTRY - widest * (widest + 1) // 2 - 1
    most_keys = payload.shape[0] // 2 - (PORTION + 2 * around + 8)
    most_pending = pending.shape[0] // ws.ENTRY - (PORTION + 2 * around + 8)
    most_rows, most_trackers = rows.shape[0] // ws.ROW_INT - 1, gaps.shape[0] - 2
    stamp, how_many = state[ws.STAMP], state[ws.HOW_MANY]
    clearance, deformation, error = numbers[ws.CLEARANCE], numbers[ws.DEFORMATION], numbers[ws.ERROR]
    best_gap, best_a, best_b = numbers[ws.BEST_GAP], state[ws.ITEM_A], state[ws.ITEM_B]
    height, used, why = state[ws.HEIGHT], 0, ws.DONE
    while height > 0 or state[ws.PHASE] != FINISHED or state[ws.ITEM] != 0:
        if used >= operations:
            why = ws.OUT_OF_OPERATIONS
            break
        if height > most_height:
            why = ws.FULL_STACK
            break
        if state[ws.TAIL] + height > most_pending:
            why = ws.FULL_PENDING
            break
        if state[ws.KEYS] > most_keys:
            why = ws.FULL_TABLE
            break
        if state[ws.ROWS] > most_rows:
            why = ws.FULL_ROWS
            break
        if state[ws.TRACKERS] > most_trackers:
            why = ws.FULL_TRACKERS
            break
        if height == 0:
            numbers[ws.BEST_GAP], state[ws.ITEM_A], state[ws.ITEM_B] = best_gap, best_a, best_b
            height, more = next_item(
                data, links, neighbour, stamps, bodies, seeds, couples, relative, table, payload, stack, pending, row_floats,
                listed, looked_at, trackers, gaps, lost, ring, state, numbers,
            )  # fmt: skip
            used += more
            best_gap, best_a, best_b = numbers[ws.BEST_GAP], state[ws.ITEM_A], state[ws.ITEM_B]
            continue
        height -= 1
        used += 1
        couple = np.int64(stack[ws.ENTRY * height])
        fa, fb = np.int64(stack[ws.ENTRY * height + 1]), np.int64(stack[ws.ENTRY * height + 2])
        at_couple, at = ws.COUPLE * couple, ws.COUPLE_FLOAT * couple
        if couples[at_couple + ws.DECIDED] != 0:
            continue
        a, b = np.int64(couples[at_couple + ws.BODY_A]), np.int64(couples[at_couple + ws.BODY_B])
        moving = couples[at_couple + ws.COUPLE_MOVING] != 0
        if a == b and fa > fb:
            fa, fb = fb, fa
        slot, found = ws.find_slot(table, stamp, couple, ws.OF_PAIR, fa, fb)
        if found:
            if payload[slot] >= 0:
                state[ws.ITEM_HIT], state[ws.ITEM_ROW] = 1, payload[slot]
            continue
        if state[ws.EARLY] == ws.PLACE_BY_PLACE:
            _, known = ws.find_slot(table, stamp, couple, ws.OF_CELL, links[LINKS * fa + CELL], links[LINKS * fb + CELL])
            if known:
                state[ws.ITEM_HIT] = 1
                stack[ws.ENTRY * height + 1], stack[ws.ENTRY * height + 2] = fa, fb
                put_off(stack, height, height + 1, pending, state)
                continue
        # Faces are entered when they touch: a second test of others costs less than room for all that were ever tested.
        if links[LINKS * fa + LEVEL] > 0 or links[LINKS * fb + LEVEL] > 0:
            ws.put_key(table, payload, slot, stamp, couple, ws.OF_PAIR, fa, fb, -1, state)
        if links[LINKS * fa + PARENT] < 0 and links[LINKS * fb + PARENT] < 0:
            used += flood(
                data, links, neighbour, stamps, bodies, relative, at, deformation, a, b, moving, couple, fa, fb, table, payload,
                pending, state,
            )  # fmt: skip
        # A body against itself always goes down to the faces: its neighbouring facets are never apart.
        fine_enough = a != b and error > 0.0 and spread_of(data, fa, fb, relative, at) <= error
        if not fine_enough and (links[LINKS * fa + LEVEL] > 0 or links[LINKS * fb + LEVEL] > 0):
            if fa == fb and a == b:
                height, more = refine_itself(
                    data, links, child, stamps, bodies, relative, at, deformation, a, moving, couple, fa, stack, height
                )
                used += more
            else:
                height, best_gap, best_a, best_b, more = refine(
                    data, links, child, planes, stamps, bodies, relative, at, deformation, a, b, moving, couple, fa, fb, stack,
                    height, best_gap, best_a, best_b,
                )  # fmt: skip
                used += more
            state[ws.FACET_TESTS] += more
            continue
        if a == b and (fa == fb or share_a_vertex(bodies, a, fa, fb)):
            continue
        face_a, face_b = (
            first_face(links, child, fa) - bodies[BODY * a + FIRST],
            first_face(links, child, fb) - bodies[BODY * b + FIRST],
        )
        p, q = place_face(tags, corners, 0, bodies, a, face_a, poses), place_face(tags, corners, 1, bodies, b, face_b, poses)
        used += 1
        near = error if fine_enough else clearance
        if boxes_apart(corners, p, q, near):
            continue
        used += EXACT_OPERATIONS - 1
        state[ws.EXACT_TESTS] += 1
        triangle_a, triangle_b = triangle_from(corners, p), triangle_from(corners, q)
        kind, distance = triangles_touch(triangle_a, triangle_b), 0.0
        if kind == 0 and near > 0.0:
            state[ws.DISTANCE_TESTS] += 1
            used += EXACT_OPERATIONS
            distance = distance_if_nearer(triangle_a, triangle_b, near)
            if distance < near:
                kind = TOUCHING if fine_enough else NEAR
        if kind == 0:
            continue
        row = state[ws.ROWS]
        state[ws.ROWS] = row + 1
        to = ws.ROW_INT * row
        rows[to], rows[to + 1], rows[to + 2], rows[to + 3] = couple, fa, fb, kind
        row_floats[ws.ROW_FLOAT * row], row_floats[ws.ROW_FLOAT * row + 1] = distance, -1.0
        if links[LINKS * fa + LEVEL] > 0 or links[LINKS * fb + LEVEL] > 0:
            payload[slot] = row
        else:
            ws.put_key(table, payload, slot, stamp, couple, ws.OF_PAIR, fa, fb, row, state)
        state[ws.ITEM_HIT], state[ws.ITEM_ROW] = 1, row
        register(links, couples, relative, table, payload, pending, cells, state, couple, a, b, fa, fb, row)
        if how_many != ALL and (how_many != WORST or kind == CROSSING or fine_enough):
            couples[at_couple + ws.DECIDED] = 1
            if how_many == ANY:
                height, state[ws.ITEM], state[ws.PHASE], state[ws.COMPLETE] = 0, 0, FINISHED, 1
                state[ws.HEAD], state[ws.TAIL] = 0, 0
        if state[ws.EARLY] == ws.ONE_ROW:
            put_off(stack, 0, height, pending, state)
            height = 0
    numbers[ws.BEST_GAP], state[ws.ITEM_A], state[ws.ITEM_B] = best_gap, best_a, best_b
    state[ws.HEIGHT] = height
    state[ws.OPERATIONS] += used
    return why, used
