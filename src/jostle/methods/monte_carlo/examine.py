"""The one resumable kernel of the search (Guy and Debunne §3, §4.2): pairs of facets are refined, faces tested, rows written.

A frame looks at one representative of each place that touched in the last frame; at lost ones by way of their ancestors; at the
pairs that are followed; at some new seeds; at the rest of what touched; at all that is below pairs of coarsest facets which are
known not to be parted, and around them; and at the remaining seeds (`next_item`). Whatever it is, it ends up as entries on one
stack, and here is the one place where a pair is refined, or tested exactly.

The kernel stops after a number of operations (one is about a test of two facets, an exact test counts as four), or where an array
is full, and goes on from there: where a search is cut depends on the number of operations alone. While a single row is looked
for, what is on the stack when it is found is postponed; while new places are looked for, what is below known ones is. A
pair bears the stamp of the frame in a hash table once it is refined or tested, so that nothing is done twice, from wherever it is
reached.
"""

from __future__ import annotations

from typing import NamedTuple

from jostle.geometry.contact_kind import CROSSING, NEAR, TOUCHING
from jostle.geometry.rigid import PoseRow, RigidPose, world_point
from jostle.geometry.triangle import Triangle, triangle_bounds, triangle_from
from jostle.geometry.triangle_triangle import triangles_touch
from jostle.geometry.triangles_distance import distance_if_nearer
from jostle.geometry.vector import point_from, write_point_from
from jostle.kernels.handles import float64_at, int32_at
from jostle.kernels.jit import kernel
from jostle.kernels.numbers import as_int64
from jostle.kernels.structs import Addresses
from jostle.methods.monte_carlo.average_planes import spread_of
from jostle.methods.monte_carlo.flood import flood, postpone, queue_root, slot_of_root
from jostle.methods.monte_carlo.next_item import FINISHED, NOTHING, next_item
from jostle.methods.monte_carlo.packed import faces_share_a_vertex, first_face
from jostle.methods.monte_carlo.refine import refine, refine_itself
from jostle.methods.monte_carlo.sampling import PORTION
from jostle.methods.monte_carlo.work import (
    DONE,
    FULL_PENDING,
    FULL_ROWS,
    FULL_STACK,
    FULL_TABLE,
    FULL_TRACKERS,
    HOT,
    OF_CELL,
    OF_PAIR,
    ONE_ROW,
    OUT_OF_OPERATIONS,
    PLACE_BY_PLACE,
    SLOTS,
    BodyPose,
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
    roots_of,
    write_entry,
)
from jostle.methods.monte_carlo.workspace import find_slot, is_known, put_key
from jostle.packed_rows import ALL, ANY, WORST

EXACT_OPERATIONS = 4


class Room(NamedTuple):
    """What arrays may hold before a step; one step adds no more than what they have beside that."""

    height: int
    pending: int
    keys: int
    rows: int
    trackers: int


class SideFacet(NamedTuple):
    """A facet of the body on one side of a couple."""

    side: int
    body: int
    facet: int


@kernel
def examine(addresses: Addresses, operations: int) -> tuple[int, int]:
    """Go on with the search for so many operations; returns why it stopped and the operations used."""
    work = open_work(addresses)
    state, room = work.state, room_of(work)
    used, why = 0, DONE
    while state.height > 0 or state.phase != FINISHED or state.item != NOTHING:
        why = OUT_OF_OPERATIONS if used >= operations else what_is_full(work, room)
        if why != DONE:
            break
        used += examine_top(work) if state.height > 0 else next_item(work)
    work.counts.operations += used
    return why, used


@kernel(forceinline=True)
def room_of(work: Work) -> Room:
    """Return how far arrays may be filled."""
    widest = work.task.most_children
    step = PORTION + 2 * work.task.most_neighbours + 8
    return Room(
        len(work.stack) - widest * (widest + 1) // 2 - 1,
        len(work.pending) - step,
        len(work.payload) // 2 - step,
        len(work.rows) - 1,
        len(work.trackers) - 2,
    )


@kernel(forceinline=True)
def what_is_full(work: Work, room: Room) -> int:
    """Return which array has no room for another step; `DONE` where all have."""
    state = work.state
    if state.height > room.height:
        return FULL_STACK
    if state.tail + state.height > room.pending:
        return FULL_PENDING
    if state.keys > room.keys:
        return FULL_TABLE
    if state.rows > room.rows:
        return FULL_ROWS
    return FULL_TRACKERS if state.trackers > room.trackers else DONE


@kernel(forceinline=True)
def examine_top(work: Work) -> int:
    """Take the topmost pair off the stack, and refine or test it if it is new in this frame; returns the operations."""
    state = work.state
    state.height -= 1
    pair = pair_of(work.stack[state.height])
    if work.couples[pair.couple].decided != 0:
        return 1
    one_body = is_of_one_body(work, pair)
    if one_body:
        pair = in_order(pair)
    key = Key(OF_PAIR, pair)
    slot, found = find_slot(work, key)
    if found:
        if work.payload[slot] >= 0:
            state.item_hit, state.item_row = 1, work.payload[slot]
        return 1
    if state.early == PLACE_BY_PLACE and is_known(work, Key(OF_CELL, cells_of(work, pair))):
        state.item_hit = 1
        postpone(work, pair)
        return 1
    # Faces are entered when they touch: a second test of others costs less than room for all that were ever tested.
    finest = are_faces(work, pair)
    if not finest:
        put_key(work, slot, key)
        work.payload[slot] = -1
    used = 1
    if are_coarsest(work, pair):
        used += flood(work, pair)
    # A body against itself always goes down to the faces: its neighbouring facets are never apart.
    fine_enough = not one_body and work.task.error > 0.0 and spread_of(work, pair) <= work.task.error
    if not (fine_enough or finest):
        more = refine_itself(work, pair) if one_body and pair.a == pair.b else refine(work, pair)
        work.counts.facet_tests += more
        return used + more
    if one_body and (pair.a == pair.b or faces_share_a_vertex(work, pair)):
        return used
    return used + test_faces(work, pair, slot, fine_enough)


@kernel(forceinline=True)
def test_faces(work: Work, pair: FacetPair, slot: int, fine_enough: bool) -> int:
    """Test two faces exactly, or those that stand for two facets; where they touch, write a row. Returns the operations."""
    near = work.task.error if fine_enough else work.task.clearance
    bodies = work.couples[pair.couple].body
    face_a = placed_face(work, SideFacet(0, as_int64(bodies[0]), pair.a))
    face_b = placed_face(work, SideFacet(1, as_int64(bodies[1]), pair.b))
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
        register(work, pair, row)
        if work.task.row_mode != ALL and (work.task.row_mode != WORST or kind == CROSSING or fine_enough):
            decide(work, pair)
        if work.state.early == ONE_ROW:
            postpone_stack(work)
    return used


@kernel(forceinline=True)
def placed_face(work: Work, of: SideFacet) -> Triangle:
    """Return the face that stands for a facet in the world; faces of the last tests are kept, those of each side apart."""
    body = work.bodies[of.body]
    face = first_face(work, of.facet) - body.first
    slot = of.side * SLOTS + (face & (SLOTS - 1))
    tag, placed = (of.body << 32) | face, work.placed[slot]
    if work.tags[slot] != tag:
        work.tags[slot] = tag
        corner = int32_at(body.corner.address, body.corner.length)
        vertices = float64_at(body.vertices.address, body.vertices.length)
        to_world = rigid_pose(work.poses[of.body])
        for k in range(3):
            vertex = point_from(vertices, 3 * corner[3 * face + k])
            write_point_from(placed.corners, 3 * k, world_point(to_world, vertex))
    return triangle_from(placed.corners, 0)


@kernel(forceinline=True)
def rigid_pose(pose: BodyPose) -> RigidPose:
    """Return a pose as a value."""
    x, y, z = pose.x, pose.y, pose.z
    return RigidPose(
        PoseRow(x.x, x.y, x.z, x.shift),
        PoseRow(y.x, y.y, y.z, y.shift),
        PoseRow(z.x, z.y, z.z, z.shift),
    )


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
    """Write a row and enter it in the hash table, at the slot of its pair; returns its number."""
    state = work.state
    row = state.rows
    found = work.rows[row]
    write_entry(found.pair, pair)
    found.kind, found.sample, found.distance = kind, -1, distance
    if are_faces(work, pair):
        put_key(work, slot, Key(OF_PAIR, pair))
    work.payload[slot] = row
    state.item_hit, state.item_row, state.rows = 1, row, row + 1
    return row


@kernel
def register(work: Work, pair: FacetPair, row: int) -> None:
    """Enter a new row in its cell, and have all below its roots looked at."""
    state, key = work.state, Key(OF_CELL, cells_of(work, pair))
    slot, found = find_slot(work, key)
    if not found:
        put_key(work, slot, key)
        work.payload[slot] = state.cells
        cell = work.cells[state.cells]
        write_entry(cell.pair, key.pair)
        cell.row = row
        state.cells += 1
        roots = roots_of(work, pair)
        work.payload[slot_of_root(work, roots)] |= HOT
        queue_root(work, roots)
    work.couples[pair.couple].rows += 1
    work.relative[pair.couple].nearest = 0.0


@kernel(forceinline=True)
def decide(work: Work, pair: FacetPair) -> None:
    """Look for no further row of a couple; where any row is enough, end the search."""
    state = work.state
    work.couples[pair.couple].decided = 1
    if work.task.row_mode == ANY:
        state.height, state.item, state.phase, state.complete = 0, NOTHING, FINISHED, 1
        state.head, state.tail = 0, 0


@kernel(forceinline=True)
def postpone_stack(work: Work) -> None:
    """Move the stack to the end of what is pending."""
    for k in range(work.state.height):
        postpone(work, pair_of(work.stack[k]))
    work.state.height = 0
