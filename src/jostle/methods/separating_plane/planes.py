"""The test of all pairs (§5.1): the cached plane first, a new one where it no longer separates, a collision where there is none.

One kernel over all pairs. A pair's record is eight float64, one line of memory: the normal of its plane, in world axes, from A to B
(NaN where there is none yet); the vertices of both bodies that were nearest to the plane; and the simplex that the last search
ended with. The place of the plane along its normal is not kept: the vertices nearest to it are looked for anyway, and a plane
between them separates wherever it stands. World axes, because bodies turn more than the line between them does.

Deviation: a plane is tried on the spheres around the bodies before it is tried on their vertices.
"""

from __future__ import annotations

import numpy as np

from jostle.geometry.contact_kind import CROSSING, TOUCHING
from jostle.geometry.gjk import (
    APART,
    INSIDE,
    LOWER,
    NORMAL,
    ROUNDING,
    UNDECIDED,
    UPPER,
    place_corner,
    search_plane,
    support_along,
)
from jostle.geometry.rigid import rigid_coordinate
from jostle.geometry.scalar_vector import dot
from jostle.kernels.handles import float64_at, int32_at
from jostle.kernels.jit import kernel

RECORD = 8  # normal (3), vertices of the plane (1), corners of the simplex (4); two vertex numbers in each of the latter
PLANE_VERTICES, SIMPLEX = 3, 4
TWO_IN_ONE = 1 << 26
FLOOR = 2.0**-46  # of the largest world coordinates of a pair: the least resolution that rounding leaves
CLIMB = 16  # operations that a support by climbing counts for

# Columns of `places`: the world centre, the radius, and the largest world coordinate of each body.
RADIUS, REACH, PLACE = 3, 4, 5
# Entries of `state`.
NEXT_PAIR, MEETING, HELD, SEARCHED, STEPS, GAVE_UP, STATE = 0, 1, 2, 3, 4, 5, 6


@kernel
def place_bodies(spheres, shape_of_body, poses, places):  # type: ignore[no-untyped-def]
    """Write the world sphere of every body, and its largest world coordinate, into places (n, PLACE)."""
    for body in range(poses.shape[0]):
        shape = shape_of_body[body]
        x, y, z, radius = spheres[shape, 0], spheres[shape, 1], spheres[shape, 2], spheres[shape, 3]
        farthest = 0.0
        for k in range(3):
            places[body, k] = rigid_coordinate(poses[body, k, 0], poses[body, k, 1], poses[body, k, 2], poses[body, k, 3], x, y, z)
            farthest = max(farthest, abs(places[body, k]))
        places[body, RADIUS] = radius
        places[body, REACH] = farthest + radius


@kernel
def spheres_gap(places, a, b, nx, ny, nz):  # type: ignore[no-untyped-def]
    """By how much a plane with this normal separates the spheres of two bodies."""
    x, y, z = places[b, 0] - places[a, 0], places[b, 1] - places[a, 1], places[b, 2] - places[a, 2]
    return dot(x, y, z, nx, ny, nz) - (places[a, RADIUS] + places[b, RADIUS])


@kernel
def unpacked(number):  # type: ignore[no-untyped-def]
    """The two vertex numbers in one entry of a record."""
    whole = np.int64(number)
    return whole // TWO_IN_ONE, whole % TWO_IN_ONE


@kernel
def recall_simplex(records, pair, vertex):  # type: ignore[no-untyped-def]
    """Write the corners of the last simplex of a pair into vertex (4,2) and return how many there are."""
    count = 0
    while count < 4 and records[pair, SIMPLEX + count] >= 0.0:
        vertex[count, 0], vertex[count, 1] = unpacked(records[pair, SIMPLEX + count])
        count += 1
    return count


@kernel
def remember(records, pair, nx, ny, nz, i, j, vertex, count):  # type: ignore[no-untyped-def]
    """Write the record of a pair."""
    records[pair, 0], records[pair, 1], records[pair, 2] = nx, ny, nz
    records[pair, PLANE_VERTICES] = np.float64(i * TWO_IN_ONE + j)
    for k in range(4):
        records[pair, SIMPLEX + k] = np.float64(vertex[k, 0] * TWO_IN_ONE + vertex[k, 1]) if k < count else -1.0


@kernel
def decide_pair(  # type: ignore[no-untyped-def]
    a, b, row_a, row_b, addresses, places, poses, wanted, share, pair, records, state, corner, vertex, weight, found
):
    """Decide one pair by its cached plane or by a new one; returns (kind or 0, distance, operations); sets state[GAVE_UP]."""
    points_a = float64_at(addresses[row_a, 0], addresses[row_a, 1])
    first_a, near_a = int32_at(addresses[row_a, 2], addresses[row_a, 3]), int32_at(addresses[row_a, 4], addresses[row_a, 5])
    points_b = float64_at(addresses[row_b, 0], addresses[row_b, 1])
    first_b, near_b = int32_at(addresses[row_b, 2], addresses[row_b, 3]), int32_at(addresses[row_b, 4], addresses[row_b, 5])
    pose_a, pose_b = poses[a], poses[b]
    supports = (CLIMB if near_a.shape[0] else points_a.shape[0]) + (CLIMB if near_b.shape[0] else points_b.shape[0])
    nx, ny, nz = records[pair, 0], records[pair, 1], records[pair, 2]
    i, j, count, cached = np.int64(0), np.int64(0), np.int64(0), -np.inf
    if nx == nx:
        i, j = unpacked(records[pair, PLANE_VERTICES])
        i = support_along(points_a, first_a, near_a, pose_a, nx, ny, nz, i)
        j = support_along(points_b, first_b, near_b, pose_b, -nx, -ny, -nz, j)
        place_corner(points_a, pose_a, points_b, pose_b, i, j, corner, np.int64(0))
        cached = dot(nx, ny, nz, corner[0, 0], corner[0, 1], corner[0, 2])
        if cached > wanted:
            state[HELD] += 1
            records[pair, PLANE_VERTICES] = np.float64(i * TWO_IN_ONE + j)
            return 0, cached, supports
        count = recall_simplex(records, pair, vertex)
    else:
        found[NORMAL], found[NORMAL + 1], found[NORMAL + 2] = 1.0, 0.0, 0.0
        x, y, z = places[b, 0] - places[a, 0], places[b, 1] - places[a, 1], places[b, 2] - places[a, 2]
        if x != 0.0 or y != 0.0 or z != 0.0:
            found[NORMAL], found[NORMAL + 1], found[NORMAL + 2] = x, y, z
    rounding = ROUNDING * (places[a, REACH] + places[b, REACH])
    status, count, steps, i, j = search_plane(
        points_a, first_a, near_a, pose_a, points_b, first_b, near_b, pose_b, i, j, count, wanted, share, rounding, corner, vertex,
        weight, found,
    )  # fmt: skip
    state[SEARCHED] += 1
    state[STEPS] += steps
    lower = found[LOWER]
    if lower > cached:
        nx, ny, nz = found[NORMAL], found[NORMAL + 1], found[NORMAL + 2]
    remember(records, pair, nx, ny, nz, i, j, vertex, count)
    if status == APART:
        return 0, lower, (1 + steps) * supports
    # Touching is a proof: there is a plane along which they overlap by no more than the resolution. Crossing is the lack of one.
    kind = TOUCHING if max(lower, cached) >= -2.0 * wanted else CROSSING
    if status == UNDECIDED:
        state[GAVE_UP] = 1
    distance = 0.0 if status == INSIDE or kind == CROSSING or found[UPPER] <= rounding else found[UPPER]
    return kind, distance, (1 + steps) * supports


@kernel
def separate_pairs(  # type: ignore[no-untyped-def]
    body_a, body_b, shape_of_body, addresses, places, poses, resolution, share, most, operations, state, records, meeting, kinds,
    distances, corner, vertex, weight, found,
):  # fmt: skip
    """Decide pairs from state[NEXT_PAIR] on, for so many operations or until `most` meet; returns the operations used.

    Pairs that meet are written into meeting, kinds and distances (k,), from state[MEETING] on; records (k, RECORD) is brought
    up to date. It also returns at a pair that the search gives up on: state[GAVE_UP] is 1 then, and the pair is written as if it
    met, but neither counted nor passed over.
    """
    used = 0
    pair = state[NEXT_PAIR]
    while pair < body_a.shape[0] and used < operations and state[MEETING] < most:
        a, b = np.int64(body_a[pair]), np.int64(body_b[pair])
        used += 1
        wanted = 0.5 * max(resolution, FLOOR * (places[a, REACH] + places[b, REACH]))
        # NaN, where there is no plane, is never above.
        if spheres_gap(places, a, b, records[pair, 0], records[pair, 1], records[pair, 2]) > wanted:
            state[HELD] += 1
        else:
            shape_a, shape_b = np.int64(shape_of_body[a]), np.int64(shape_of_body[b])
            kind, distance, did = decide_pair(
                a, b, shape_a, shape_b, addresses, places, poses, wanted, share, pair, records, state, corner, vertex, weight, found
            )
            used += did
            if kind != 0:
                place = state[MEETING]
                meeting[place], kinds[place], distances[place] = pair, kind, distance
                if state[GAVE_UP] != 0:
                    break
                state[MEETING] = place + 1
        pair += 1
    state[NEXT_PAIR] = pair
    return used
