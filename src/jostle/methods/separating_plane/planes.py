"""The test of all pairs by separating planes (§5.1).

The cached plane is tried first, then a new one is sought; without one, the bodies collide. One kernel decides all pairs. A pair's
record is eight float64, one cache line: the normal of its plane, in world axes, from A to B (NaN before the first search); the
vertices of both bodies nearest to the plane; and the simplex that the last search ended with. The plane's position along its normal
is not kept: the vertices nearest to it are looked up anyway, and any plane between them separates. World axes are used because
bodies turn more than the line between them does.

Deviation: a plane is tried on the bounding spheres before it is tried on vertices.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from jostle._types import Floats, Ints
from jostle.geometry.contact_kind import CROSSING, TOUCHING
from jostle.geometry.gjk import (
    APART,
    INSIDE,
    ROUNDING,
    UNDECIDED,
    PlacedHull,
    PlaneSearch,
    SearchLimits,
    open_hull,
    open_search,
    place_corner,
    search_plane,
    support_along,
    y_of,
)
from jostle.geometry.rigid import pose_at, world_point
from jostle.geometry.support import Hull
from jostle.geometry.vector import (
    Vec3,
    dot,
    is_zero,
    largest_coordinate,
    minus,
    negative,
    point_at,
    point_from,
    write_point,
    write_point_from,
)
from jostle.kernels.jit import kernel
from jostle.kernels.numbers import as_float64, as_int64
from jostle.kernels.structs import Addresses, Record, Run, borrowed, float64, int32, int64, record_viewer, uint8

TWO_IN_ONE = 1 << 26  # two vertex numbers share one float64 of a record
NO_CORNER = -1.0
FLOOR = 2.0**-46  # of the largest world coordinates of a pair: the least resolution that rounding leaves
CLIMB = 16  # operations that a support by climbing counts for

# Columns of `places`: the world centre, the radius, and the largest world coordinate of each body.
RADIUS, REACH, PLACE = 3, 4, 5


class PairRecord(Record):
    """The cached plane and simplex of a body pair."""

    normal: Run[float64, Literal[3]]  # of its plane; NaN where there is none yet
    plane_vertices: float64  # two vertex numbers
    simplex: Run[float64, Literal[4]]  # corners, two vertex numbers each, or NO_CORNER


RECORD = PairRecord.dtype.itemsize // 8


class State(Record):
    """Progress through the pairs of a frame."""

    next_pair: int64
    meeting: int64  # pairs that meet
    held: int64  # pairs whose plane still separates
    searched: int64
    gave_up: int64  # 1 where the search gave up on the current pair


view_record, view_state = record_viewer(PairRecord), record_viewer(State)


class MeetingPair(Record):
    """A pair that meets: its number among those tested, its kind and its distance."""

    pair: int32
    kind: uint8
    distance: float64


view_meeting = record_viewer(MeetingPair)


class Decision(NamedTuple):
    """The decision on a pair: kind or 0, a distance, and the operations used."""

    kind: int
    distance: float
    operations: int


@kernel
def place_bodies(spheres: Floats, shape_of_body: Ints, poses: Floats, places: Floats) -> None:
    """Write the world sphere and largest coordinate of each body to places (n, PLACE)."""
    for body in range(poses.shape[0]):
        shape = as_int64(shape_of_body[body])
        centre, radius = world_point(pose_at(poses, body), point_at(spheres, shape)), spheres[shape, 3]
        write_point(places, body, centre)
        places[body, RADIUS] = radius
        places[body, REACH] = largest_coordinate(centre) + radius


@kernel(forceinline=True)
def spheres_gap(places: Floats, a: int, b: int, normal: Vec3) -> float:
    """Return the gap between the spheres of two bodies along a normal."""
    return dot(minus(point_at(places, b), point_at(places, a)), normal) - as_float64(places[a, RADIUS] + places[b, RADIUS])


@kernel(forceinline=True)
def packed(i: int, j: int) -> float:
    """Return two vertex numbers as one number of a record."""
    return as_float64(i * TWO_IN_ONE + j)


@kernel(forceinline=True)
def unpacked(number: float) -> tuple[int, int]:
    """Return the two vertex numbers in one number of a record."""
    whole = int(number)
    return whole // TWO_IN_ONE, whole % TWO_IN_ONE


@kernel(forceinline=True)
def recall_simplex(record: PairRecord, search: PlaneSearch) -> None:
    """Begin a search with the last simplex of a pair."""
    count = 0
    while count < 4 and record.simplex[count] >= 0.0:
        i, j = unpacked(record.simplex[count])
        search.corners[count].vertex_a, search.corners[count].vertex_b = i, j
        count += 1
    search.found.count = count


@kernel(forceinline=True)
def remember(record: PairRecord, normal: Vec3, search: PlaneSearch) -> None:
    """Write the record of a pair."""
    write_point_from(record.normal, 0, normal)
    record.plane_vertices = packed(search.found.support_a, search.found.support_b)
    for k in range(4):
        corner = search.corners[k]
        record.simplex[k] = packed(corner.vertex_a, corner.vertex_b) if k < search.found.count else NO_CORNER


@kernel(forceinline=True)
def work_of_support(hull: Hull) -> int:
    """Return the operations that a support point counts for."""
    return CLIMB if len(hull.near) > 0 else len(hull.points)


@kernel(forceinline=True)
def gap_of_plane(a: PlacedHull, b: PlacedHull, normal: Vec3, record: PairRecord, search: PlaneSearch) -> float:
    """Return the gap along the cached normal; supports climb from the last ones."""
    found = search.found
    i, j = unpacked(record.plane_vertices)
    found.support_a, found.support_b = support_along(a, normal, i), support_along(b, negative(normal), j)
    place_corner(a, b, found.support_a, found.support_b, search.corners[0])
    return dot(normal, y_of(search.corners[0]))


@kernel(forceinline=True)
def begin_at_centres(places: Floats, a: int, b: int, search: PlaneSearch) -> None:
    """Begin a search along the line of centres, or along x if the centres coincide."""
    along = minus(point_at(places, b), point_at(places, a))
    write_point_from(search.found.normal, 0, Vec3(1.0, 0.0, 0.0) if is_zero(along) else along)
    search.found.count, search.found.support_a, search.found.support_b = 0, 0, 0


@kernel
def decide_pair(
    a: PlacedHull, b: PlacedHull, limits: SearchLimits, has_plane: bool, record: PairRecord, search: PlaneSearch, state: State
) -> Decision:
    """Decide one pair by its cached plane or by a new one; may set `gave_up`.

    Without a cached plane, the caller has set up the search.
    """
    supports, found = work_of_support(a.hull) + work_of_support(b.hull), search.found
    normal, cached = point_from(record.normal, 0), -np.inf
    if has_plane:
        cached = gap_of_plane(a, b, normal, record, search)
        if cached > limits.wanted:
            state.held += 1
            record.plane_vertices = packed(found.support_a, found.support_b)
            return Decision(0, cached, supports)
        recall_simplex(record, search)
    status = search_plane(a, b, limits, search)
    state.searched += 1
    operations = (1 + found.steps) * supports
    remember(record, point_from(found.normal, 0) if found.lower > cached else normal, search)
    if status == APART:
        return Decision(0, found.lower, operations)
    # Touching is proven by a plane along which they overlap by no more than the resolution; crossing is the lack of one.
    kind = TOUCHING if max(found.lower, cached) >= -2.0 * limits.wanted else CROSSING
    if status == UNDECIDED:
        state.gave_up = 1
    at_once = status == INSIDE or kind == CROSSING or found.upper <= limits.rounding
    return Decision(kind, 0.0 if at_once else found.upper, operations)


@kernel
def separate_pairs(
    body_a: Ints, body_b: Ints, records: Floats, hulls: Addresses, places: Floats, poses: Floats, search_row: Addresses,
    resolution: float, share: float, operations: int, numbers: NDArray[np.int64], out: NDArray[np.void],
) -> int:  # fmt: skip
    """Decide pairs (k,) from the next one on; return the operations used.

    Stops after this many operations, or when `out` is full.

    Pairs that meet are written to `out`, rows of `MeetingPair`; records (k, RECORD) are updated. The kernel also returns at a pair
    that the search gives up on: `gave_up` is 1 then, and the pair is written as if it met, but neither counted nor skipped.
    `hulls` is a table of `Hull`, `places` (n, PLACE) and `poses` (n,4,4) are of the same bodies, `search_row` is the row of a
    `PlaneSearch`, `numbers` a `State`. Arrays are passed one by one: NamedTuples would add 2 µs to a call of 23.
    """
    search, state = open_search(search_row), view_state(numbers)
    places, poses, records, out = borrowed(places), borrowed(poses), borrowed(records), borrowed(out)
    used = 0
    while state.next_pair < body_a.shape[0] and used < operations and state.meeting < out.shape[0]:
        pair = state.next_pair
        a, b, record = as_int64(body_a[pair]), as_int64(body_b[pair]), view_record(records[pair])
        used += 1
        reach, normal = places[a, REACH] + places[b, REACH], point_from(record.normal, 0)
        limits = SearchLimits(0.5 * max(resolution, FLOOR * reach), share, ROUNDING * reach)
        # NaN, where there is no plane, is never above.
        if spheres_gap(places, a, b, normal) > limits.wanted:
            state.held += 1
        else:
            has_plane = normal.x == normal.x
            if not has_plane:
                begin_at_centres(places, a, b, search)
            placed_a = PlacedHull(open_hull(hulls, a), pose_at(poses, a))
            placed_b = PlacedHull(open_hull(hulls, b), pose_at(poses, b))
            decided = decide_pair(placed_a, placed_b, limits, has_plane, record, search, state)
            used += decided.operations
            if decided.kind != 0:
                met = view_meeting(out[state.meeting : state.meeting + 1])
                met.pair, met.kind, met.distance = pair, decided.kind, decided.distance
                if state.gave_up != 0:
                    break
                state.meeting += 1
        state.next_pair += 1
    return used
