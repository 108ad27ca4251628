"""The body pairs of a frame: relative poses, rounding slack, and seeds.

Facets are compared in the frame of a pair's first body (`geometry/rigid.py` has the proof of the padding). Poses need not be quite
orthonormal: their error is allowed for in proportion to the sizes of facets. The position of a body pair's seeds is kept as long as
the broad phase finds the pair; a new pair begins at a random one.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from jostle._types import Floats, Ints
from jostle.geometry.rigid import cull_padding, pose_at, solve_relative_pose_into, turned_back
from jostle.geometry.vector import Vec3, largest_coordinate, minus, point_from
from jostle.kernels.jit import kernel
from jostle.kernels.numbers import as_int64
from jostle.kernels.random import Words, below
from jostle.kernels.structs import Addresses
from jostle.methods.monte_carlo.work import BodyPair, PoseRow, Work, open_work

ROUNDING = 64.0 * 2.0**-52  # of directions: a dozen operations on numbers below 2
BY_MOTION, BY_CAMERA = 1, 2
LAST_STAMP = 2**31 - 1  # a key has 31 bits for its stamp


class Motion(NamedTuple):
    """Poses (n,4,4) of bodies at the end and at the beginning of a frame."""

    poses: Floats
    poses_t0: Floats


@kernel
def begin_frame(work: Work) -> None:
    """Stamp the frame; clear what was examined and the cached faces."""
    work.carried.stamp += 1
    if work.carried.stamp >= LAST_STAMP:
        for k in range(len(work.keys)):
            work.keys[k].first = 0
        work.carried.stamp = 1
    for k in range(len(work.tags)):
        work.tags[k] = -1
    for k in range(work.ends.all):
        work.looked_at[k] = 0


@kernel
def set_up_body_pairs(addresses: Addresses, body_a: Ints, body_b: Ints, poses: Floats, poses_t0: Floats, random: Words) -> None:
    """Begin a frame with the body pairs (body_a[k], body_b[k]), sorted.

    poses, poses_t0: (n,4,4) at its end and at its beginning; random: the state of the generator, which advances.
    """
    work = open_work(addresses)
    begin_frame(work)
    scratch = np.empty((4, 4))
    known = 0
    for k in range(body_a.shape[0]):
        a, b, body_pair = as_int64(body_a[k]), as_int64(body_b[k]), work.body_pairs[k]
        body_pair.body[0], body_pair.body[1], body_pair.decided = a, b, 0
        body_pair.moving = work.bodies[a].moving + work.bodies[b].moving > 0
        set_relative_pose(work, k, poses, scratch)
        # The body pairs of this frame and of the last are sorted alike.
        while known < work.task.known_body_pairs and is_before(work.known[known], body_pair):
            known += 1
        place_seeds(work, k, known, random)
        if work.task.order != 0:
            aim_seeds(work, k, Motion(poses, poses_t0))


@kernel(forceinline=True)
def is_before(one: BodyPair, other: BodyPair) -> bool:
    """Return whether a body pair sorts before another."""
    return one.body[0] < other.body[0] or (one.body[0] == other.body[0] and one.body[1] < other.body[1])


@kernel
def set_relative_pose(work: Work, k: int, poses: Floats, scratch: Floats) -> None:
    """Write the second body's pose in the frame of the first, and the rounding slack."""
    body_pair, relative, task = work.body_pairs[k], work.relative[k], work.task
    a, b = as_int64(body_pair.body[0]), as_int64(body_pair.body[1])
    lack = lack_of_orthonormality(poses, a)
    if a == b:
        for i in range(3):
            for j in range(4):
                scratch[i, j] = 1.0 if i == j else 0.0
    else:
        solve_relative_pose_into(poses[a], poses[b], scratch)
        lack += lack_of_orthonormality(poses, b)
    write_pose_row(relative.x, scratch, 0)
    write_pose_row(relative.y, scratch, 1)
    write_pose_row(relative.z, scratch, 2)
    one, other = work.bodies[a], work.bodies[b]
    padding = cull_padding(
        reach_in_world(poses, a, one.farthest), reach_in_world(poses, b, other.farthest), max(one.farthest, other.farthest)
    )
    relative.eta, relative.slack = ROUNDING + 8.0 * lack, 4.0 * padding + task.clearance * (1.0 + 8.0 * lack + 1e-9)
    relative.epsilon, relative.nearest = task.epsilon * max(one.size, other.size), np.inf


@kernel(forceinline=True)
def write_pose_row(row: PoseRow, pose: Floats, i: int) -> None:
    """Write row i of a pose (4,4)."""
    row.x, row.y, row.z, row.shift = pose[i, 0], pose[i, 1], pose[i, 2], pose[i, 3]


@kernel
def lack_of_orthonormality(poses: Floats, body: int) -> float:
    """Return the largest entry of RᵀR - I; poses (n,4,4)."""
    r, worst = poses[body], 0.0
    for i in range(3):
        for j in range(i, 3):
            product = (r[0, i] * r[0, j] + r[1, i] * r[1, j]) + r[2, i] * r[2, j]
            worst = max(worst, abs(product - (1.0 if i == j else 0.0)))
    return worst


@kernel
def reach_in_world(poses: Floats, body: int, farthest: float) -> float:
    """Bound the world coordinates of a body whose own are at most `farthest`."""
    return largest_coordinate(origin_of(poses, body)) + 1.7321 * (1.0 + 1e-5) * farthest


@kernel
def place_seeds(work: Work, k: int, known: int, random: Words) -> None:
    """Resume the seeds of body pair k where the last frame stopped, or at random ones."""
    body_pair = work.body_pairs[k]
    kept = known < work.task.known_body_pairs and not is_before(body_pair, work.known[known])
    body_pair.drawn = work.known[known].drawn if kept else 0
    for side in range(2):
        body = work.bodies[body_pair.body[side]]
        count = body.coarsest_end - body.coarsest
        if kept:
            body_pair.cursor[side] = work.known[known].cursor[side]
        else:
            body_pair.cursor[side] = as_int64(below(random, count)) if count > 0 else 0
        if count == 0:
            body_pair.decided = 1  # nothing to meet


@kernel
def aim_seeds(work: Work, k: int, motion: Motion) -> None:
    """Write where the first seeds of each body of pair k face, in its own frame."""
    body_pair, relative = work.body_pairs[k], work.relative[k]
    for side in range(2):
        body, other = as_int64(body_pair.body[side]), as_int64(body_pair.body[1 - side])
        aim = relative.aim_b if side else relative.aim_a
        if work.task.order == BY_CAMERA:
            towards = minus(point_from(work.task.camera, 0), origin_of(motion.poses, body))
            aim.share = 1.0
        else:
            towards = minus(path_of(work, motion, body), path_of(work, motion, other))
            aim.share = 0.0
        aim.x, aim.y, aim.z = turned_back(pose_at(motion.poses, body), towards)


@kernel(forceinline=True)
def origin_of(poses: Floats, body: int) -> Vec3:
    """Return the world position of a body's origin; poses (n,4,4)."""
    return Vec3(poses[body, 0, 3], poses[body, 1, 3], poses[body, 2, 3])


@kernel
def path_of(work: Work, motion: Motion, body: int) -> Vec3:
    """Return how far the middle of a body has moved in a frame."""
    middle = point_from(work.bodies[body].middle, 0)
    pose, before = motion.poses[body], motion.poses_t0[body]
    return Vec3(path_along(pose, before, middle, 0), path_along(pose, before, middle, 1), path_along(pose, before, middle, 2))


@kernel(forceinline=True)
def path_along(pose: Floats, before: Floats, a: Vec3, i: int) -> float:
    """Return one coordinate of a point's path between two poses (4,4)."""
    moved: float = pose[i, 3] - before[i, 3]
    moved += (pose[i, 0] - before[i, 0]) * a.x
    moved += (pose[i, 1] - before[i, 1]) * a.y
    moved += (pose[i, 2] - before[i, 2]) * a.z
    return moved
