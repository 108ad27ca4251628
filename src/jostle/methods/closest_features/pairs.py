"""All pairs of a frame in one kernel: begin at the features of last frame, walk, prove, report.

A pair without features of last frame begins at the vertices that lie farthest towards the other body. A walk that gives up or
whose end is not proven stops the kernel; `fallback.py` settles that pair by other means, and the kernel goes on with the next.
"""

import numpy as np

from jostle.geometry.contact_kind import CROSSING, NEAR, TOUCHING
from jostle.geometry.rigid import rigid_coordinate, solve_relative_pose_into
from jostle.kernels.handles import float64_at, int32_at
from jostle.kernels.jit import kernel
from jostle.methods.closest_features.certificate import common_point, proven_gap, turned_back, world_points
from jostle.methods.closest_features.contact import gap_at_features, lowest_feature
from jostle.methods.closest_features.polyhedron import EDGE, EDGES, FACE, FACES, VERTEX, VERTICES
from jostle.methods.closest_features.regions import climb
from jostle.methods.closest_features.walk import APART, INSIDE, walk

DONE, UNPROVEN, PAUSED = 0, 1, 2
NEXT_PAIR, STEPS, USED, STATE = 0, 1, 2, 3
FACES_OF_A_STEP = 512  # faces that `highest_face` looks at in the time of one step
SLACK = 2.0**-48  # of the sizes of both bodies and of their offset
ROUNDING = 2.0**-48  # of the largest world coordinates of both bodies: what distances may be off by
STEPS_OF_ANY_WALK = 64
STRETCH = 3e-5  # an accepted pose may lengthen a vector by half of 3e-5


@kernel
def feature_code(kind, index):
    """One number for a feature, as it is remembered."""
    return 4 * index + kind


@kernel
def known_feature(links, record):
    """Kind and index of a remembered feature; a kind of -1 where there is none."""
    if np.isnan(record):
        return -1, 0
    code = int(record)
    kind, index = code & 3, code >> 2
    most = links[VERTICES] if kind == VERTEX else (links[EDGES] if kind == EDGE else links[FACES])
    if kind > FACE or index < 0 or index >= most:
        return -1, 0
    return kind, index


@kernel
def world_centre(sphere, pose, k):
    """One world coordinate of the centre of a body."""
    return rigid_coordinate(pose[k, 0], pose[k, 1], pose[k, 2], pose[k, 3], sphere[0], sphere[1], sphere[2])


@kernel
def rounding_of(sphere_a, pose_a, sphere_b, pose_b):
    """By how much a distance of world vertices may be rounded."""
    farthest = 0.0
    for k in range(3):
        farthest = max(farthest, abs(world_centre(sphere_a, pose_a, k)), abs(world_centre(sphere_b, pose_b, k)))
    # Sizes of local coordinates count too: a mesh far from its own origin is rounded there.
    for k in range(3):
        farthest = max(farthest, abs(sphere_a[k]), abs(sphere_b[k]))
    return ROUNDING * (2.0 * farthest + (sphere_a[3] + sphere_b[3]))


@kernel
def towards(numbers, links, pose, sphere, pose_of_other, sphere_of_other):
    """The vertex of a body that lies farthest towards the centre of another."""
    x = world_centre(sphere_of_other, pose_of_other, 0) - world_centre(sphere, pose, 0)
    y = world_centre(sphere_of_other, pose_of_other, 1) - world_centre(sphere, pose, 1)
    z = world_centre(sphere_of_other, pose_of_other, 2) - world_centre(sphere, pose, 2)
    x, y, z = turned_back(pose, x, y, z)
    return climb(numbers, links, 0, x, y, z)


@kernel(forceinline=True)
def settle_pair(numbers_a, links_a, sphere_a, pose_a, numbers_b, links_b, sphere_b, pose_b, move, record, touch, wanted, points):
    """The distance of one pair, with closest points (6,): (kind or 0, distance, steps, whether it is proven).

    `record` (2,) has the features to begin with, and then the closest ones. Up to `touch` apart the bodies are in contact, below
    `wanted` they are near.
    """
    kind_a, a = known_feature(links_a, record[0])
    kind_b, b = known_feature(links_b, record[1])
    if kind_a < 0 or kind_b < 0 or (kind_a == FACE and kind_b != VERTEX) or (kind_b == FACE and kind_a != VERTEX):
        kind_a, a = VERTEX, towards(numbers_a, links_a, pose_a, sphere_a, pose_b, sphere_b)
        kind_b, b = VERTEX, towards(numbers_b, links_b, pose_b, sphere_b, pose_a, sphere_a)
    solve_relative_pose_into(pose_a, pose_b, move[0])
    solve_relative_pose_into(pose_b, pose_a, move[1])
    rounding = rounding_of(sphere_a, pose_a, sphere_b, pose_b)
    touch = max(touch, rounding)
    most = STEPS_OF_ANY_WALK + (links_a[VERTICES] + links_b[VERTICES]) // 2
    status, kind_a, a, kind_b, b, steps, share, depth = walk(
        numbers_a, links_a, numbers_b, links_b, move, kind_a, a, kind_b, b, rounding * (SLACK / ROUNDING), most
    )
    record[0], record[1] = feature_code(kind_a, a), feature_code(kind_b, b)
    distance = 0.0
    if status == INSIDE:
        common_point(numbers_a, links_a, pose_a, numbers_b, links_b, pose_b, kind_a, a, kind_b, b, share, points)
        if depth > 2.0 * touch and (kind_a == VERTEX or kind_b == VERTEX):
            return CROSSING, 0.0, steps, True
    elif status != APART and (kind_a == FACE or kind_b == FACE):
        return 0, np.inf, steps, False
    else:
        distance = world_points(numbers_a, links_a, pose_a, numbers_b, links_b, pose_b, move, kind_a, a, kind_b, b, points)
    if distance <= touch:
        overlap = -2.0 * touch
        kind_a, a = lowest_feature(numbers_a, links_a, pose_a, kind_a, a, points[0], points[1], points[2], touch)
        kind_b, b = lowest_feature(numbers_b, links_b, pose_b, kind_b, b, points[3], points[4], points[5], touch)
        gap = gap_at_features(numbers_a, links_a, pose_a, numbers_b, links_b, pose_b, kind_a, a, kind_b, b, overlap)
        return (TOUCHING if gap >= overlap else CROSSING), (distance if distance > rounding else 0.0), steps, True
    error = max(0.5 * touch, rounding)
    gap = proven_gap(numbers_a, links_a, pose_a, numbers_b, links_b, pose_b, kind_a, a, kind_b, b, points, distance, error)
    return (NEAR if distance < wanted else 0), distance, steps, gap >= distance - error


@kernel
def settle_pairs(
    body_a, body_b, shape_of_body, table, poses, records, touch, wanted, only_one, operations, state, move, kind, distance,
    points,
):  # fmt: skip
    """Settle the pairs (k,) from state[NEXT_PAIR] on; write kind, distance, points (k,6) and, to records (k,2), features of each.

    Returns DONE, or UNPROVEN for the pair state[NEXT_PAIR], or PAUSED after so many operations, which it adds to state[USED]:
    steps, each counted as if it looked at all faces once. With `only_one` the search ends at the first pair with a kind. `table`
    has the arrays of each shape by address.
    """
    steps, used = 0, 0
    for p in range(state[NEXT_PAIR], body_a.shape[0]):
        if used >= operations:
            state[NEXT_PAIR] = p
            state[STEPS] += steps
            state[USED] += used
            return PAUSED
        a, b = body_a[p], body_b[p]
        s, t = shape_of_body[a], shape_of_body[b]
        numbers_a, links_a = float64_at(table[s, 0], table[s, 1]), int32_at(table[s, 2], table[s, 3])
        numbers_b, links_b = float64_at(table[t, 0], table[t, 1]), int32_at(table[t, 2], table[t, 3])
        sphere_a, sphere_b = float64_at(table[s, 4], table[s, 5]), float64_at(table[t, 4], table[t, 5])
        kind[p], distance[p], walked, proven = settle_pair(
            numbers_a, links_a, sphere_a, poses[a], numbers_b, links_b, sphere_b, poses[b], move, records[p], touch, wanted,
            points[p],
        )  # fmt: skip
        steps += walked
        used += walked * (1 + (links_a[FACES] + links_b[FACES]) // FACES_OF_A_STEP)
        if not proven:
            state[NEXT_PAIR] = p
            state[STEPS] += steps
            state[USED] += used
            return UNPROVEN
        if only_one and kind[p] != 0:
            break
    state[NEXT_PAIR] = body_a.shape[0]
    state[STEPS] += steps
    state[USED] += used
    return DONE


@kernel
def cubes_into(poses, spheres, larger, lower, upper):
    """Write the cubes (n,3) about the centres of bodies that hold them however they are turned, grown by the length `larger`.

    Padded for poses that are not quite rigid, for the rounding of the centre and for that of world vertices.
    """
    for body in range(poses.shape[0]):
        farthest = 0.0
        for k in range(3):
            farthest = max(farthest, abs(world_centre(spheres[body], poses[body], k)), abs(spheres[body, k]))
        half = (spheres[body, 3] * (1.0 + STRETCH) + larger) + ROUNDING * farthest
        for k in range(3):
            centre = world_centre(spheres[body], poses[body], k)
            lower[body, k], upper[body, k] = centre - half, centre + half
