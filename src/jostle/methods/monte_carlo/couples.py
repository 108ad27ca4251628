"""The couples of bodies of a frame: where one body is in the frame of the other, how much rounding has to be allowed for, seeds.

Facets are compared in the frame of the first body of a couple (`geometry/rigid.py` has the proof of the padding). Poses need not be
quite orthonormal: what they lack is allowed for in proportion to the sizes of facets. Where the seeds of a couple had come to is
kept as long as the broad phase finds it; a new couple begins at a random one.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from jostle._types import Floats, Ints
from jostle.geometry.rigid import cull_padding, solve_relative_pose_into
from jostle.geometry.vector import Vec3, minus, point_from
from jostle.kernels.jit import kernel
from jostle.kernels.numbers import as_int64
from jostle.kernels.random import Words, below
from jostle.kernels.structs import Addresses
from jostle.methods.monte_carlo.work import Aim, Couple, PoseRow, Work, open_work

ROUNDING = 64.0 * 2.0**-52  # of directions: a dozen operations on numbers below 2
BY_MOTION, BY_CAMERA = 1, 2
LAST_STAMP = 2**31 - 1  # keys have 31 bits for it


class Motion(NamedTuple):
    """Poses (n,4,4) of bodies at the end and at the beginning of a frame."""

    poses: Floats
    poses_t0: Floats


@kernel
def begin_frame(work: Work) -> None:
    """Give the frame its stamp, and forget what was looked at, and where faces were."""
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
def set_up_couples(addresses: Addresses, body_a: Ints, body_b: Ints, poses: Floats, poses_t0: Floats, random: Words) -> None:
    """Begin a frame with the couples (body_a[k], body_b[k]), sorted.

    poses, poses_t0: (n,4,4) at its end and at its beginning; random: the state of the generator, which moves on.
    """
    work = open_work(addresses)
    begin_frame(work)
    scratch = np.empty((4, 4))
    known = 0
    for k in range(body_a.shape[0]):
        a, b, couple = as_int64(body_a[k]), as_int64(body_b[k]), work.couples[k]
        couple.body[0], couple.body[1], couple.rows, couple.decided = a, b, 0, 0
        couple.moving = work.bodies[a].moving + work.bodies[b].moving > 0
        set_relative_pose(work, k, poses, scratch)
        # Couples of this frame and of the last are sorted alike.
        while known < work.task.known_couples and is_before(work.known[known], couple):
            known += 1
        place_seeds(work, k, known, random)
        if work.task.order != 0:
            aim_seeds(work, k, Motion(poses, poses_t0))


@kernel(forceinline=True)
def is_before(one: Couple, other: Couple) -> bool:
    """Return whether a couple comes before another."""
    return one.body[0] < other.body[0] or (one.body[0] == other.body[0] and one.body[1] < other.body[1])


@kernel
def set_relative_pose(work: Work, k: int, poses: Floats, scratch: Floats) -> None:
    """Write where the second body of couple k is in the frame of the first, and what rounding takes."""
    couple, relative, task = work.couples[k], work.relative[k], work.task
    a, b = as_int64(couple.body[0]), as_int64(couple.body[1])
    lack = lack_of_orthonormality(poses, a)
    if a == b:
        for i in range(3):
            for j in range(4):
                scratch[i, j] = 1.0 if i == j else 0.0
    else:
        solve_relative_pose_into(poses[a], poses[b], scratch)
        lack += lack_of_orthonormality(poses, b)
    for i in range(3):
        row = relative.x if i == 0 else (relative.y if i == 1 else relative.z)
        write_pose_row(row, scratch, i)
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
    """Return a bound of the world coordinates of a body whose own are at most `farthest`."""
    shift: float = max(abs(poses[body, 0, 3]), abs(poses[body, 1, 3]), abs(poses[body, 2, 3]))
    return shift + 1.7321 * (1.0 + 1e-5) * farthest


@kernel
def place_seeds(work: Work, k: int, known: int, random: Words) -> None:
    """Let the seeds of couple k go on where they had come to in the last frame, or begin at random ones."""
    couple = work.couples[k]
    kept = known < work.task.known_couples and not is_before(couple, work.known[known])
    couple.drawn = work.known[known].drawn if kept else 0
    for side in range(2):
        body = work.bodies[couple.body[side]]
        count = body.coarsest_end - body.coarsest
        if kept:
            couple.cursor[side] = work.known[known].cursor[side]
        else:
            couple.cursor[side] = as_int64(below(random, count)) if count > 0 else 0
        if count == 0:
            couple.decided = 1  # nothing to meet


@kernel
def aim_seeds(work: Work, k: int, motion: Motion) -> None:
    """Write for either body of couple k where its first seeds face, in its own frame."""
    couple, relative = work.couples[k], work.relative[k]
    for side in range(2):
        body, other = as_int64(couple.body[side]), as_int64(couple.body[1 - side])
        aim = relative.aim_b if side else relative.aim_a
        if work.task.order == BY_CAMERA:
            towards = minus(point_from(work.task.camera, 0), origin_of(motion.poses, body))
            aim.share = 1.0
        else:
            towards = minus(path_of(work, motion, body), path_of(work, motion, other))
            aim.share = 0.0
        turn_back(aim, motion.poses, body, towards)


@kernel(forceinline=True)
def origin_of(poses: Floats, body: int) -> Vec3:
    """Return where the origin of a body is; poses (n,4,4)."""
    return Vec3(poses[body, 0, 3], poses[body, 1, 3], poses[body, 2, 3])


@kernel
def path_of(work: Work, motion: Motion, body: int) -> Vec3:
    """Return how far the middle of a body has moved in a frame."""
    middle = point_from(work.bodies[body].middle, 0)
    pose, before = motion.poses[body], motion.poses_t0[body]
    path = Vec3(0.0, 0.0, 0.0)
    for i in range(3):
        path = Vec3(path.y, path.z, path_along(pose, before, middle, i))
    return path


@kernel(forceinline=True)
def path_along(pose: Floats, before: Floats, a: Vec3, i: int) -> float:
    """Return one coordinate of the way of a point between two poses (4,4)."""
    moved: float = pose[i, 3] - before[i, 3]
    moved += (pose[i, 0] - before[i, 0]) * a.x
    moved += (pose[i, 1] - before[i, 1]) * a.y
    moved += (pose[i, 2] - before[i, 2]) * a.z
    return moved


@kernel(forceinline=True)
def turn_back(aim: Aim, poses: Floats, body: int, a: Vec3) -> None:
    """Write a direction of the world in the frame of a body: by the transposed rotation."""
    r = poses[body]
    aim.x = r[0, 0] * a.x + r[1, 0] * a.y + r[2, 0] * a.z
    aim.y = r[0, 1] * a.x + r[1, 1] * a.y + r[2, 1] * a.z
    aim.z = r[0, 2] * a.x + r[1, 2] * a.y + r[2, 2] * a.z
