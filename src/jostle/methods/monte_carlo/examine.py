"""The loop of the search (§4.2): refine facet pairs, test face pairs, write rows.

`next_item` decides the order of the work and puts one facet pair at a time on the stack. `examine` pops pairs: a facet pair is
replaced by the pairs of its children that are not separated (`refine.py`), a face pair is tested exactly. A pair is refined, and
makes a row, once a frame, however it is reached: the hash table holds the pairs refined and the faces that touch.

| goal of the item | when a row is found | below a known contact site |
|---|---|---|
| `ALL_ROWS` | continues | continues |
| `ONE_ROW` | postpones the rest of the stack | continues |
| `NEW_SITES` | continues | postpones the pair |

Postponed pairs become pending; `next_item` returns to them later in the frame. Where one row is enough for all body pairs
(`row_mode` is ANY), the first row ends the search from any phase (`decide`).

`examine` stops after a number of operations, or where an array might not hold what one more step adds, and resumes from there:
where a search is cut depends only on the number of operations. An operation is about one test of two facets.

| returns | when | what Python does before it calls again |
|---|---|---|
| `DONE` | the stack is empty and the last phase is over | – |
| `OUT_OF_OPERATIONS` | the operations of this call are used up | looks at the clock |
| `FULL_…` | an array has no room for another step | doubles that array |
"""

from __future__ import annotations

from typing import NamedTuple

from jostle.geometry.contact_kind import CROSSING, NEAR, TOUCHING
from jostle.geometry.reported_distance import distance_if_nearer
from jostle.geometry.rigid import world_point
from jostle.geometry.triangle import Triangle, triangle_bounds, triangle_from
from jostle.geometry.triangle_triangle import triangles_touch
from jostle.geometry.vector import point_from, write_point_from
from jostle.kernels.handles import float64_at, int32_at
from jostle.kernels.jit import kernel
from jostle.kernels.numbers import as_int64
from jostle.kernels.structs import Addresses
from jostle.methods.monte_carlo.average_planes import spread_of
from jostle.methods.monte_carlo.flood import flood, postpone, queue_root, slot_of_root
from jostle.methods.monte_carlo.next_item import FINISHED, NO_ITEM, next_item
from jostle.methods.monte_carlo.packed import faces_share_a_vertex, first_face
from jostle.methods.monte_carlo.refine import refine, refine_itself
from jostle.methods.monte_carlo.sampling import PORTION
from jostle.methods.monte_carlo.work import (
    CELL_KEY,
    DONE,
    FULL_PENDING,
    FULL_ROWS,
    FULL_STACK,
    FULL_TABLE,
    FULL_TRACKERS,
    HAS_ROWS,
    NEW_SITES,
    ONE_ROW,
    OUT_OF_OPERATIONS,
    PAIR_KEY,
    SLOTS,
    FacetPair,
    Key,
    Work,
    are_coarsest,
    are_faces,
    cells_of,
    in_order,
    is_of_one_body,
    open_work,
    pair_of,
    rigid_pose,
    roots_of,
    write_entry,
)
from jostle.methods.monte_carlo.workspace import find_slot, is_known, put_key
from jostle.report.packing import ALL, ANY, WORST

EXACT_OPERATIONS = 4  # what an exact test counts for
NO_ROW = -1  # the payload of a pair that was refined
A_FEW = 8  # pairs, or keys, that a step may add besides those of a pass and of flooding


class Room(NamedTuple):
    """How full arrays may be before a step, so that whatever it adds has room."""

    height: int
    pending: int
    keys: int
    rows: int
    trackers: int


@kernel
def examine(addresses: Addresses, operations: int) -> tuple[int, int]:
    """Resume the search for a number of operations.

    Returns why it stopped, and the operations used.
    """
    work = open_work(addresses)
    state, room = work.state, room_of(work)
    used, why = 0, DONE
    while state.height > 0 or state.phase != FINISHED or state.item_kind != NO_ITEM:
        why = OUT_OF_OPERATIONS if used >= operations else full_array(work, room)
        if why != DONE:
            break
        used += examine_top(work) if state.height > 0 else next_item(work)
    work.counts.operations += used
    return why, used


@kernel(forceinline=True)
def room_of(work: Work) -> Room:
    """Return how full arrays may be before a step."""
    task = work.task
    most_children = task.most_children * (task.most_children + 1) // 2  # pairs, of one facet with itself
    most_new = PORTION + 2 * task.most_neighbours + A_FEW  # a portion of a pass, or flooding on both sides
    return Room(
        len(work.stack) - most_children - 1,
        len(work.pending) - most_new,
        len(work.payload) // 2 - most_new,  # a hash table more than half full is slow
        len(work.rows) - 1,
        len(work.trackers) - 2,
    )


@kernel(forceinline=True)
def full_array(work: Work, room: Room) -> int:
    """Return which array might have no room for another step; `DONE` where all have."""
    state = work.state
    if state.height > room.height:
        return FULL_STACK
    if state.tail + state.height > room.pending:  # all of the stack may be postponed
        return FULL_PENDING
    if state.keys > room.keys:
        return FULL_TABLE
    if state.rows > room.rows:
        return FULL_ROWS
    return FULL_TRACKERS if state.trackers > room.trackers else DONE


@kernel(forceinline=True)
def examine_top(work: Work) -> int:
    """Pop a pair off the stack and examine it, unless that is done or postponed.

    Returns the operations.
    """
    state = work.state
    state.height -= 1
    pair = pair_of(work.stack[state.height])
    if work.body_pairs[pair.body_pair].decided != 0:
        return 1
    if is_of_one_body(work, pair):
        pair = in_order(pair)
    slot, found = find_slot(work, Key(PAIR_KEY, pair))
    if found:
        if work.payload[slot] >= 0:
            state.item_hit, state.item_row = 1, work.payload[slot]
        return 1
    if state.goal == NEW_SITES and is_known(work, Key(CELL_KEY, cells_of(work, pair))):
        state.item_hit = 1
        postpone(work, pair)
        return 1
    return 1 + examine_pair(work, pair, slot)


@kernel(forceinline=True)
def examine_pair(work: Work, pair: FacetPair, slot: int) -> int:
    """Refine a facet pair, or test a face pair (§4.2), new in this frame.

    Returns the operations beside the first.
    """
    are_finest, one_body, used = are_faces(work, pair), is_of_one_body(work, pair), 0
    # Faces get their key when they touch: testing others twice costs less than room for all that were tested.
    if not are_finest:
        put_key(work, slot, Key(PAIR_KEY, pair))
        work.payload[slot] = NO_ROW
    if are_coarsest(work, pair):
        used += flood(work, pair)
    # Within one body refinement always goes down to the faces: neighbouring facets are never separated.
    fine_enough = not one_body and work.task.error > 0.0 and spread_of(work, pair) <= work.task.error
    if not (fine_enough or are_finest):
        tests = refine_itself(work, pair) if one_body and pair.a == pair.b else refine(work, pair)
        work.counts.facet_tests += tests
        return used + tests
    if one_body and (pair.a == pair.b or faces_share_a_vertex(work, pair)):
        return used
    return used + test_faces(work, pair, slot, fine_enough)


@kernel(forceinline=True)
def test_faces(work: Work, pair: FacetPair, slot: int, fine_enough: bool) -> int:
    """Test two faces, or those that represent two facets; write a row if they meet.

    Returns the operations.
    """
    near = work.task.error if fine_enough else work.task.clearance
    bodies = work.body_pairs[pair.body_pair].body
    face_a = placed_face(work, 0, as_int64(bodies[0]), pair.a)
    face_b = placed_face(work, 1, as_int64(bodies[1]), pair.b)
    if boxes_apart(face_a, face_b, near):
        return 1
    used = EXACT_OPERATIONS
    work.counts.exact_tests += 1
    kind, distance = triangles_touch(face_a, face_b), 0.0
    if kind == 0 and near > 0.0:
        work.counts.distance_tests += 1
        used += EXACT_OPERATIONS
        distance = distance_if_nearer(face_a, face_b, near)
        if distance < near:
            kind = TOUCHING if fine_enough else NEAR
    if kind != 0:
        row = add_row(work, pair, slot, kind, distance)
        register_site(work, pair, row)
        is_worst = kind == CROSSING or fine_enough
        if work.task.row_mode != ALL and (work.task.row_mode != WORST or is_worst):
            decide(work, pair)
        if work.state.goal == ONE_ROW:
            postpone_stack(work)
    return used


@kernel(forceinline=True)
def placed_face(work: Work, side: int, number: int, facet: int) -> Triangle:
    """Return the face that represents a facet of a body, in the world.

    The faces of recent tests are cached, separately for either side of body pairs.
    """
    body = work.bodies[number]
    face = first_face(work, facet) - body.first
    slot = side * SLOTS + (face & (SLOTS - 1))
    tag, placed = (number << 32) | face, work.placed[slot]
    if work.tags[slot] != tag:
        work.tags[slot] = tag
        corner = int32_at(body.corner.address, body.corner.length)
        vertices = float64_at(body.vertices.address, body.vertices.length)
        to_world = rigid_pose(work.poses[number])
        for k in range(3):
            vertex = point_from(vertices, 3 * corner[3 * face + k])
            write_point_from(placed.corners, 3 * k, world_point(to_world, vertex))
    return triangle_from(placed.corners, 0)


@kernel(forceinline=True)
def boxes_apart(a: Triangle, b: Triangle, by: float) -> bool:
    """Return whether the boxes of two faces are farther apart than `by` along an axis."""
    p, q = triangle_bounds(a), triangle_bounds(b)
    return (
        p.lower.x - by > q.upper.x or q.lower.x - by > p.upper.x
        or p.lower.y - by > q.upper.y or q.lower.y - by > p.upper.y
        or p.lower.z - by > q.upper.z or q.lower.z - by > p.upper.z
    )  # fmt: skip


@kernel(forceinline=True)
def add_row(work: Work, pair: FacetPair, slot: int, kind: int, distance: float) -> int:
    """Write a row, with its number as the payload of its pair; returns the number.

    slot: of the pair in the hash table.
    """
    state = work.state
    row = state.rows
    found = work.rows[row]
    write_entry(found.pair, pair)
    found.kind, found.sample, found.distance = kind, -1, distance
    if are_faces(work, pair):
        put_key(work, slot, Key(PAIR_KEY, pair))
    work.payload[slot] = row
    state.item_hit, state.item_row, state.rows = 1, row, row + 1
    return row


@kernel
def register_site(work: Work, pair: FacetPair, row: int) -> None:
    """Register the contact site of a new row; queue the roots of a new site."""
    state, key = work.state, Key(CELL_KEY, cells_of(work, pair))
    slot, found = find_slot(work, key)
    if not found:
        put_key(work, slot, key)
        work.payload[slot] = state.cells
        cell = work.cells[state.cells]
        write_entry(cell.pair, key.pair)
        cell.row = row
        state.cells += 1
        roots = roots_of(work, pair)
        work.payload[slot_of_root(work, roots)] |= HAS_ROWS
        queue_root(work, roots)
    work.relative[pair.body_pair].nearest = 0.0


@kernel(forceinline=True)
def decide(work: Work, pair: FacetPair) -> None:
    """Stop looking for rows of a body pair, or end the search where any row is enough."""
    state = work.state
    work.body_pairs[pair.body_pair].decided = 1
    if work.task.row_mode == ANY:
        state.height, state.item_kind, state.phase, state.complete = 0, NO_ITEM, FINISHED, 1
        state.head, state.tail = 0, 0


@kernel(forceinline=True)
def postpone_stack(work: Work) -> None:
    """Move the stack to the end of the pending pairs."""
    for k in range(work.state.height):
        postpone(work, pair_of(work.stack[k]))
    work.state.height = 0
