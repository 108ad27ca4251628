"""Bodies within a step, as the traversal sees them: where volumes are at an instant, and how far they stray in between.

By `geometry/moving_point.py` the place of a vertex at time t is an affine function of its places at both ends, and those are affine
functions of its local place v. So at every instant a rigid body is an affine image A v + b of its mesh, exactly by the law
that its vertices follow, whatever the poses lack in orthonormality; no screw of poses stands in between. A deforming body
is in the world already (A = 1, b = 0), and its volumes at both ends are interpolated linearly.

From s to e a body turns by an angle φ. The centre c of a node then leaves its chord by at most φ² |k × (c(e) - c(s))| /
(16 sin(φ/2)), since it is on an arc of radius |k × (c(e) - c(s))| / (2 sin(φ/2)). An offset o from the centre, |o| <= r, is
turned by at most φ/2 from where it is at the middle, which moves it by 2 r sin(φ/4). Where the poses differ by a matrix E from
a rotation times each other, (L(t) - L(t')) E comes to that, L(t) being how much of its change a place has at t, |dL/dt| <= π/2.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from jostle.frame import Floats, Ints
from jostle.geometry.moving_point import arc_factors
from jostle.kernels.arrays import read_only_view
from jostle.kernels.jit import kernel
from jostle.methods.bounding_tree.tree import RADIUS, Tree

# A motion: rotation and translation at the start (12), their change (12), axis and angle of the turn, how far the poses are from
# a rotation times each other, how far rotations in between may be from orthonormal, the largest |coordinate| of the step, and
# whether the volumes at both ends differ.
MOTION = 32
START, CHANGE, TURN, ANGLE, UNLIKE, LACK, LARGEST, DEFORMS = 0, 12, 24, 27, 28, 29, 30, 31
# An instant: A (9), b (3), and the factors of the arc for single vertices.
INSTANT = 14
ALONG, ASIDE = 12, 13
MOST_HALVINGS = 7
INSTANTS = (2 << MOST_HALVINGS) + 1  # starts, ends and middles of all intervals
IDENTITY = np.eye(4)
IDENTITY.flags.writeable = False


class MovingTree(NamedTuple):
    """A tree within a step; all arrays read-only, flat where not said."""

    volumes_t0: Floats  # (n,16) in body coordinates; in the world for a deforming body
    volumes_t1: Floats
    first_child: Ints
    child_count: Ints
    first_face: Ints
    face_count: Ints
    order: Ints
    faces: Ints  # (m,3)
    vertices_t0: Floats  # (v,3) in the world
    vertices_t1: Floats
    motion: Floats  # (MOTION,)


def moving_tree(
    tree: Tree,
    volumes: tuple[Floats, Floats],
    poses: tuple[Floats, Floats],
    turn: Floats,
    world: tuple[Floats, Floats],
) -> MovingTree:
    """Put together a tree within a step: volumes, poses (the identity for a deforming body) and world vertices at both ends."""
    motion = np.zeros(MOTION)
    roots = read_only_view(volumes[0][0]), read_only_view(volumes[1][0])
    set_up_motion(read_only_view(poses[0]), read_only_view(poses[1]), read_only_view(turn), *roots, motion)
    motion[DEFORMS] = float(volumes[0] is not volumes[1])
    topology = (tree.first_child, tree.child_count, tree.first_face, tree.face_count, tree.order, tree.faces)
    arrays = (*volumes, *topology, *world, motion)
    return MovingTree(*(read_only_view(array) for array in arrays))


@kernel
def set_up_motion(pose_t0, pose_t1, turn, root_t0, root_t1, motion):  # type: ignore[no-untyped-def]
    """Write the motion (MOTION,) between two poses (4,4) with a turn (4,), of a body with these root volumes (16,) at both ends."""
    lack, unlike = 0.0, 0.0
    sine, cosine = math.sin(turn[3]), math.cos(turn[3])
    for j in range(4):
        x, y, z = pose_t0[0, j], pose_t0[1, j], pose_t0[2, j]
        axial = (1.0 - cosine) * (turn[0] * x + turn[1] * y + turn[2] * z)
        for i in range(3):
            at = START + (3 * i + j if j < 3 else 9 + i)
            motion[at] = pose_t0[i, j]
            motion[at + CHANGE] = pose_t1[i, j] - pose_t0[i, j]
            if j == 3:
                continue
            # The column turned by Rodrigues' formula, against that of the pose at the end.
            k, m = (i + 1) % 3, (i + 2) % 3
            turned = cosine * pose_t0[i, j] + sine * (turn[k] * pose_t0[m, j] - turn[m] * pose_t0[k, j]) + axial * turn[i]
            unlike += abs(pose_t1[i, j] - turned)
            product = -1.0 if i == j else 0.0
            for n in range(3):
                product += pose_t0[n, i] * pose_t0[n, j]
            lack += abs(product)
    for k in range(4):
        motion[TURN + k] = turn[k]
    motion[UNLIKE] = unlike
    motion[LACK] = lack + 6.0 * unlike
    # An upper bound of where it may be: on an arc a point is no farther from its chord than half of that is long.
    local, world = 0.0, 0.0
    for k in range(3):
        local = max(local, abs(root_t0[k]) + root_t0[RADIUS], abs(root_t1[k]) + root_t1[RADIUS])
        world = max(world, abs(pose_t0[k, 3]), abs(pose_t1[k, 3]))
    motion[LARGEST] = 3.0 * (world + 2.0 * local)


@kernel
def set_up_instant(motion, t, table, row):  # type: ignore[no-untyped-def]
    """Write A, b and the factors of the arc at time t into a row of `table` (n, INSTANT)."""
    along, aside = arc_factors(motion[ANGLE], t)
    kx, ky, kz = motion[TURN], motion[TURN + 1], motion[TURN + 2]
    for j in range(4):
        at, step = (j, 3) if j < 3 else (9, 1)
        dx, dy, dz = motion[CHANGE + at], motion[CHANGE + at + step], motion[CHANGE + at + 2 * step]
        axial = kx * dx + ky * dy + kz * dz
        mx, my, mz = dx - axial * kx, dy - axial * ky, dz - axial * kz
        table[row, at] = motion[at] + (t * dx + (along * mx - aside * (ky * mz - kz * my)))
        table[row, at + step] = motion[at + step] + (t * dy + (along * my - aside * (kz * mx - kx * mz)))
        table[row, at + 2 * step] = motion[at + 2 * step] + (t * dz + (along * mz - aside * (kx * my - ky * mx)))
    table[row, ALONG], table[row, ASIDE] = along, aside


@kernel
def set_up_pads(motion, pads):  # type: ignore[no-untyped-def]
    """Write for each number of halvings into pads (n,2): what to pad per radius, and per |k × way of the centre|."""
    for halvings in range(pads.shape[0]):
        span = 0.5**halvings
        turned = motion[ANGLE] * span
        # 1e-4 is for poses that stretch by 1e-5, and for roundings.
        pads[halvings, 0] = (2.0 * math.sin(0.25 * turned) + span * motion[UNLIKE]) * (1.0 + 1e-4)
        pads[halvings, 1] = 0.0 if turned == 0.0 else turned * turned / (16.0 * math.sin(0.5 * turned)) * (1.0 + 1e-4)
