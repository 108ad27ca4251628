"""The faces of two leaves that may be closest: boxes of faces in the world, gaps along an arrow, then the distance of triangles.

A leaf met for the first time is moved into the world and kept in a slot (leaf n in slot n mod SLOTS): it meets ten others.
Most pairs of leaves end at one comparison, of how far each reaches along the present arrow. In the others the faces with
the nearest boxes are compared first, and the direction between their closest points is the next arrow: it separates most of
the other faces at once, by projections of their corners, for a tenth of the price of a distance.

Which distance counts: that of `faces_distance`. The robust distance of triangles, which is cheaper and gives the points,
decides all that is clear beyond the rounding of both (BAND). Only ties within it are settled; and at the end the winner.
Faces so close that they may touch are listed as suspects, for the exact test.
"""

from __future__ import annotations

import math

import numpy as np

from jostle.geometry.faces_distance import SMALLEST_DISTANCE
from jostle.geometry.triangle import triangle_from, triangle_in_lane
from jostle.geometry.triangle_triangle_distance import closest_points_of_triangles
from jostle.geometry.triangles_distance import triangles_distance
from jostle.geometry.vector import length, minus, times, write_point_from
from jostle.kernels.jit import kernel
from jostle.kernels.simd import (
    f32x8_add,
    f32x8_less,
    f32x8_load,
    f32x8_splat,
    f32x8_store,
    f32x8_sub,
    lowest_bit,
    without_lowest_bit,
)
from jostle.kernels.simd64 import (
    f64x8_add,
    f64x8_load,
    f64x8_max,
    f64x8_min,
    f64x8_mul,
    f64x8_splat,
    f64x8_store,
    f64x8_sub,
    f64x8_to_f32x8,
)
from jostle.methods.wide_tree.leaf_cache import gather, move, one_step
from jostle.methods.wide_tree.nearest_bounds import (
    ARROW,
    BAND,
    CANDIDATES,
    CORNERS_OF_BEST,
    CORNERS_OF_OTHER,
    DISTANCE,
    DISTANCE_TESTS,
    FACE_LIMIT,
    FACE_TESTS,
    LAST_ARROW,
    LEAF_LIMIT_SQUARED,
    ORIGIN,
    REACH_X,
    REACH_Y,
    SCALE_Y,
    SQUARED,
    aim,
    squared_gaps,
)
from jostle.methods.wide_tree.tree import ROW

# The state, int32.
HEIGHT, FACE_A, FACE_B, PENDING, QUERY, VERSION, TIES, SWAPPED, SUSPECTS = range(9)
CANDIDATE_PAIRS = 16  # sixty-four: pairs of lanes of two leaves
SUSPECT_FACES = 80  # sixty-four times two: faces that may touch
STATE = SUSPECT_FACES + 2 * 64

SLOTS = 512
CORNERS = 72  # float64 numbers of a slot: nine rows (x, y, z of the first, second and third corner) of eight lanes
TAGS = 3  # int32 numbers of a slot: query and node, whose it is, and the version of the arrow that its end belongs to

# Past so many ties, which only meshes with whole regions at one distance have, what is less by no more than rounding is let go.
MOST_TIES = 1 << 16


@kernel(forceinline=True)
def leaf_in_world(tags, boxes, corners, ends, query, version, node, first, count, faces, vertices, pose, sign, search):  # type: ignore[no-untyped-def]
    """Return the slot of a leaf, filled, with its end along the arrow (sign 1), or against it (sign -1), up to date."""
    slot = node & (SLOTS - 1)
    tag = slot * TAGS
    if tags[tag] != query or tags[tag + 1] != node:
        tags[tag], tags[tag + 1], tags[tag + 2] = query, node, version - 1
        fill_leaf(
            boxes[slot * ROW : (slot + 1) * ROW], corners[slot * CORNERS : (slot + 1) * CORNERS],
            faces, first, count, vertices, pose, search,
        )  # fmt: skip
    if tags[tag + 2] != version:
        tags[tag + 2] = version
        ends[slot] = end_of_leaf(corners[slot * CORNERS : (slot + 1) * CORNERS], sign, search)
    return slot


@kernel
def fill_leaf(box, leaf, faces, first, count, vertices, pose, search):  # type: ignore[no-untyped-def]
    """Write the corners of a leaf's faces in the world, and their boxes relative to the origin, rounded outward, in Y's units."""
    gather(leaf, 0, faces, first, count, vertices)
    move(leaf, 0, pose)
    scale = f64x8_splat(search[SCALE_Y])
    for row in range(3):
        origin = f64x8_splat(search[ORIGIN + row])
        p, q, r = f64x8_load(leaf, 8 * row), f64x8_load(leaf, 24 + 8 * row), f64x8_load(leaf, 48 + 8 * row)
        low, high = f64x8_min(f64x8_min(p, q), r), f64x8_max(f64x8_max(p, q), r)
        near = f64x8_to_f32x8(f64x8_mul(f64x8_sub(low, origin), scale))
        f32x8_store(box, 8 * row, f32x8_sub(near, one_step(near)))
        near = f64x8_to_f32x8(f64x8_mul(f64x8_sub(high, origin), scale))
        f32x8_store(box, 24 + 8 * row, f32x8_add(near, one_step(near)))


@kernel
def reach_along(leaf, nx, ny, nz, search, reach):  # type: ignore[no-untyped-def]
    """Write how far the eight faces reach along (nx, ny, nz), from the origin, to search[reach : reach + 8]."""
    ox, oy, oz = f64x8_splat(search[ORIGIN]), f64x8_splat(search[ORIGIN + 1]), f64x8_splat(search[ORIGIN + 2])
    ux, uy, uz = f64x8_splat(nx), f64x8_splat(ny), f64x8_splat(nz)
    p = _along(leaf, 0, ux, uy, uz, ox, oy, oz)
    q = _along(leaf, 24, ux, uy, uz, ox, oy, oz)
    r = _along(leaf, 48, ux, uy, uz, ox, oy, oz)
    f64x8_store(search, reach, f64x8_max(f64x8_max(p, q), r))


@kernel(forceinline=True)
def _along(leaf, corner, ux, uy, uz, ox, oy, oz):  # type: ignore[no-untyped-def]
    x = f64x8_mul(ux, f64x8_sub(f64x8_load(leaf, corner), ox))
    y = f64x8_mul(uy, f64x8_sub(f64x8_load(leaf, corner + 8), oy))
    return f64x8_add(f64x8_add(x, y), f64x8_mul(uz, f64x8_sub(f64x8_load(leaf, corner + 16), oz)))


@kernel
def end_of_leaf(leaf, sign, search):  # type: ignore[no-untyped-def]
    """How far a leaf reaches along the arrow, or against it."""
    reach_along(leaf, sign * search[ARROW], sign * search[ARROW + 1], sign * search[ARROW + 2], search, REACH_X)
    return _largest(search[REACH_X : REACH_X + 8])


@kernel(forceinline=True)
def _largest(eight):  # type: ignore[no-untyped-def]
    """The largest of eight numbers."""
    largest = eight[0]
    for k in range(1, 8):
        largest = eight[k] if eight[k] > largest else largest
    return largest


@kernel(forceinline=True)
def reach_of_both(x, y, arrow, search):  # type: ignore[no-untyped-def]
    """Bring the reaches of the faces of two leaves along an arrow up to date: the gap of i and j is -REACH_Y[j] - REACH_X[i]."""
    nx, ny, nz = search[arrow], search[arrow + 1], search[arrow + 2]
    reach_along(x, nx, ny, nz, search, REACH_X)
    reach_along(y, -nx, -ny, -nz, search, REACH_Y)


@kernel
def compare_leaves(box_x, box_y, x, y, ids_x, ids_y, serves, pose_x, pose_y, state, lanes, search, suspects):  # type: ignore[no-untyped-def]
    """Compare the faces of two leaves in the world that may be closest. ids: the numbers of their faces."""
    # Neighbours have been compared just before: what lay between them separates half of what is left.
    reach_of_both(x, y, LAST_ARROW, search)
    if -_largest(search[REACH_Y : REACH_Y + 8]) - _largest(search[REACH_X : REACH_X + 8]) > search[FACE_LIMIT]:
        return
    found, chosen = _find_candidates(box_x, box_y, ids_x.shape[0], ids_y.shape[0], serves, state, lanes, search)
    if found > 0:
        reach_of_both(x, y, ARROW, search)
        found, chosen = _sift_candidates(found, state, lanes, search)
    while found > 0:
        pair = np.int64(state[CANDIDATE_PAIRS + chosen])
        i, j = pair & 7, pair >> 3
        search[FACE_TESTS] += 1.0
        if state[SWAPPED] != 0:
            changed = compare_faces(y, j, x, i, ids_y[j], ids_x[i], -1.0, state, search, suspects)
        else:
            changed = compare_faces(x, i, y, j, ids_x[i], ids_y[j], 1.0, state, search, suspects)
        if changed:
            state[VERSION] += 1
            aim(pose_x, pose_y, lanes, search, state[TIES] > MOST_TIES)
        found -= 1
        state[CANDIDATE_PAIRS + chosen], lanes[CANDIDATES + chosen] = state[CANDIDATE_PAIRS + found], lanes[CANDIDATES + found]
        if found > 0:
            reach_of_both(x, y, LAST_ARROW, search)
            found, chosen = _sift_candidates(found, state, lanes, search)


@kernel
def _find_candidates(box_x, box_y, count_x, count_y, serves, state, lanes, search):  # type: ignore[no-untyped-def]
    """List the pairs of faces whose boxes and reaches are near enough; returns how many, and which has the nearest boxes."""
    lx, ly, lz = f32x8_load(box_x, 0), f32x8_load(box_x, 8), f32x8_load(box_x, 16)
    ux, uy, uz = f32x8_load(box_x, 24), f32x8_load(box_x, 32), f32x8_load(box_x, 40)
    used = np.uint32((1 << count_x) - 1)
    limit = f32x8_splat(lanes[LEAF_LIMIT_SQUARED])
    found, chosen, nearest = 0, 0, np.float32(math.inf)
    for j in range(count_y):
        squared = f32x8_splat(np.float32(0.0))
        if serves > 0:
            squared = squared_gaps(lx, ly, lz, ux, uy, uz, box_y, j)
        mask = used & ~f32x8_less(limit, squared)
        f32x8_store(lanes, SQUARED, squared)
        while mask != 0:
            i = lowest_bit(mask)
            mask = without_lowest_bit(mask)
            if -search[REACH_Y + j] - search[REACH_X + i] > search[FACE_LIMIT]:
                continue
            state[CANDIDATE_PAIRS + found] = 8 * j + i
            lanes[CANDIDATES + found] = lanes[SQUARED + i]
            if lanes[SQUARED + i] < nearest:
                nearest, chosen = lanes[SQUARED + i], found
            found += 1
    return found, chosen


@kernel
def _sift_candidates(found, state, lanes, search):  # type: ignore[no-untyped-def]
    """Drop candidates that the latest reaches and limits rule out; returns how many are left, and which has the nearest boxes."""
    kept, chosen, nearest = 0, 0, np.float32(math.inf)
    for k in range(found):
        pair = state[CANDIDATE_PAIRS + k]
        gap = -search[REACH_Y + (pair >> 3)] - search[REACH_X + (pair & 7)]
        if lanes[CANDIDATES + k] > lanes[LEAF_LIMIT_SQUARED] or gap > search[FACE_LIMIT]:
            continue
        state[CANDIDATE_PAIRS + kept], lanes[CANDIDATES + kept] = pair, lanes[CANDIDATES + k]
        if lanes[CANDIDATES + k] < nearest:
            nearest, chosen = lanes[CANDIDATES + k], kept
        kept += 1
    return kept, chosen


@kernel
def compare_faces(p, i, q, j, face_a, face_b, sign, state, search, suspects):  # type: ignore[no-untyped-def]
    """Compare the faces in lanes i of p and j of q, of a and b, with the closest so far; returns whether the limits change."""
    robust, on_a, on_b = closest_points_of_triangles(triangle_in_lane(p, i), triangle_in_lane(q, j))
    arrow = minus(on_b, on_a)
    size = length(arrow)
    if size > 0.0:
        write_point_from(search, LAST_ARROW, times(sign / size, arrow))
    if robust > search[FACE_LIMIT]:
        return False
    if robust < search[DISTANCE] - search[BAND] and robust > search[BAND]:
        _keep(p, i, q, j, robust, face_a, face_b, state, search)
        state[PENDING] = 1
        return True
    # Too close to tell, to the best so far or to contact.
    if state[PENDING] != 0:
        state[PENDING] = 0
        search[DISTANCE] = settled_distance(search, CORNERS_OF_BEST)
    _copy_corners(p, i, q, j, search, CORNERS_OF_OTHER)
    distance, best = settled_distance(search, CORNERS_OF_OTHER), search[DISTANCE]
    if robust <= search[BAND]:
        suspect = state[SUSPECTS]
        _copy_corners(p, i, q, j, suspects, 18 * suspect)
        state[SUSPECT_FACES + 2 * suspect], state[SUSPECT_FACES + 2 * suspect + 1] = face_a, face_b
        state[SUSPECTS] = suspect + 1
    if distance < best or (distance == best and (face_a < state[FACE_A] or (face_a == state[FACE_A] and face_b < state[FACE_B]))):
        _keep(p, i, q, j, distance, face_a, face_b, state, search)
    state[TIES] += 1
    return distance < best or state[TIES] == MOST_TIES + 1


@kernel
def _keep(p, i, q, j, distance, face_a, face_b, state, search):  # type: ignore[no-untyped-def]
    """Make these faces the closest."""
    search[DISTANCE] = distance
    state[FACE_A], state[FACE_B] = face_a, face_b
    _copy_corners(p, i, q, j, search, CORNERS_OF_BEST)
    search[ARROW], search[ARROW + 1], search[ARROW + 2] = search[LAST_ARROW], search[LAST_ARROW + 1], search[LAST_ARROW + 2]


@kernel
def _copy_corners(p, i, q, j, out, at):  # type: ignore[no-untyped-def]
    """Copy the corners of two faces, face by face."""
    for k in range(9):
        out[at + k] = p[i + 8 * k]
        out[at + 9 + k] = q[j + 8 * k]


@kernel
def settled_distance(search, at):  # type: ignore[no-untyped-def]
    """The distance, as it is reported if they do not touch, of the faces with their eighteen coordinates at `at`."""
    search[DISTANCE_TESTS] += 1.0
    return max(triangles_distance(triangle_from(search, at), triangle_from(search, at + 9)), SMALLEST_DISTANCE)
