"""The couples of bodies of a frame: where one body is in the frame of the other, how much rounding has to be allowed for, seeds.

Facets are compared in the frame of the first body of a couple (`geometry/rigid.py` has the proof of the padding). Poses need not be
quite orthonormal: what they lack is allowed for in proportion to the sizes of facets. Where the seeds of a couple had come to is
kept as long as the broad phase finds it; a new couple begins at a random one.
"""

import numpy as np

from jostle.geometry.rigid import cull_padding, solve_relative_pose_into
from jostle.kernels.jit import kernel
from jostle.kernels.random import below
from jostle.methods.monte_carlo import workspace as ws
from jostle.methods.monte_carlo.packed import COARSEST, COARSEST_END, MOVING

ROUNDING = 64.0 * 2.0**-52  # of directions: a dozen operations on numbers below 2
BY_MOTION, BY_CAMERA = 1, 2


@kernel
def lack_of_orthonormality(poses, body):  # type: ignore[no-untyped-def]
    """The largest entry of RᵀR - I; poses (n,4,4)."""
    worst = 0.0
    for i in range(3):
        for j in range(i, 3):
            product = (poses[body, 0, i] * poses[body, 0, j] + poses[body, 1, i] * poses[body, 1, j]) + poses[body, 2, i] * poses[
                body, 2, j
            ]
            worst = max(worst, abs(product - (1.0 if i == j else 0.0)))
    return worst


@kernel
def reach_in_world(poses, body, farthest):  # type: ignore[no-untyped-def]
    """A bound of the world coordinates of a body whose own are at most `farthest`."""
    return max(abs(poses[body, 0, 3]), abs(poses[body, 1, 3]), abs(poses[body, 2, 3])) + 1.7321 * (1.0 + 1e-5) * farthest


@kernel
def set_up_couples(  # type: ignore[no-untyped-def]
    body_a,
    body_b,
    bodies,
    poses,
    poses_t0,
    farthest,
    size,
    middle,
    clearance,
    epsilon,
    order,
    camera,
    old,
    couples,
    relative,
    random,
):
    """Fill in the couples (body_a[k], body_b[k]) of a frame, sorted; old, couples, relative flat as in `workspace`."""
    scratch = np.empty((4, 4))
    towards = np.empty(3)
    known = 0
    for k in range(body_a.shape[0]):
        a, b = body_a[k], body_b[k]
        at, to = ws.COUPLE_FLOAT * k, ws.COUPLE * k
        lack = 0.0
        if a == b:
            for i in range(3):
                for j in range(4):
                    relative[at + 4 * i + j] = 1.0 if i == j else 0.0
            lack = lack_of_orthonormality(poses, a)
        else:
            solve_relative_pose_into(poses[a], poses[b], scratch)
            for i in range(3):
                for j in range(4):
                    relative[at + 4 * i + j] = scratch[i, j]
            lack = lack_of_orthonormality(poses, a) + lack_of_orthonormality(poses, b)
        eta = ROUNDING + 8.0 * lack
        padding = cull_padding(
            reach_in_world(poses, a, farthest[a]), reach_in_world(poses, b, farthest[b]), max(farthest[a], farthest[b])
        )
        relative[at + ws.ETA], relative[at + ws.SLACK] = eta, 4.0 * padding + clearance * (1.0 + 8.0 * lack + 1e-9)
        relative[at + ws.EPSILON], relative[at + ws.NEAREST] = epsilon * max(size[a], size[b]), np.inf
        # The place where seeds go on: couples of this frame and of the last are sorted alike.
        while known < old.shape[0] // ws.COUPLE and (
            old[ws.COUPLE * known + ws.BODY_A] < a
            or (old[ws.COUPLE * known + ws.BODY_A] == a and old[ws.COUPLE * known + ws.BODY_B] < b)
        ):
            known += 1
        of = ws.COUPLE * known
        kept = known < old.shape[0] // ws.COUPLE and old[of + ws.BODY_A] == a and old[of + ws.BODY_B] == b
        couples[to + ws.BODY_A], couples[to + ws.BODY_B], couples[to + ws.COUPLE_ROWS], couples[to + ws.DECIDED] = a, b, 0, 0
        couples[to + ws.COUPLE_MOVING] = bodies[a, MOVING] + bodies[b, MOVING] > 0
        couples[to + ws.DRAWN] = old[of + ws.DRAWN] if kept else 0
        for side in range(2):
            body = a if side == 0 else b
            count = bodies[body, COARSEST_END] - bodies[body, COARSEST]
            if kept:
                couples[to + ws.CURSOR_A + side] = old[of + ws.CURSOR_A + side]
            else:
                couples[to + ws.CURSOR_A + side] = below(random, count) if count > 0 else 0
            if count == 0:
                couples[to + ws.DECIDED] = 1  # nothing to meet
            if order != 0:
                other = b if side == 0 else a
                share = _towards(poses, poses_t0, middle, order, camera, body, other, towards)
                for i in range(3):
                    # In the frame of the body: the transposed rotation.
                    turned = poses[body, 0, i] * towards[0] + poses[body, 1, i] * towards[1] + poses[body, 2, i] * towards[2]
                    relative[at + ws.TOWARDS_A + 4 * side + i] = turned
                relative[at + ws.TOWARDS_A + 4 * side + 3] = share


@kernel
def _towards(poses, poses_t0, middle, order, camera, body, other, out):  # type: ignore[no-untyped-def]
    """Write how a body moves relative to another, or where the camera is from its origin; 0 for a direction, 1 for a place."""
    for i in range(3):
        out[i] = camera[i] - poses[body, i, 3]
    if order == BY_CAMERA:
        return 1.0
    for i in range(3):
        out[i] = 0.0
        for which, sign in ((body, 1.0), (other, -1.0)):
            moved = poses[which, i, 3] - poses_t0[which, i, 3]
            for j in range(3):
                moved += (poses[which, i, j] - poses_t0[which, i, j]) * middle[which, j]
            out[i] += sign * moved
    return 0.0
