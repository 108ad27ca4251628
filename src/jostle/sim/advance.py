"""One kernel moves all bodies by one step: integrator, walls and new poses."""

import math

from jostle.kernels.jit import kernel
from jostle.sim.integrate import rotation_of, tumble
from jostle.sim.walls import reflected


@kernel
def advance_bodies(  # type: ignore[no-untyped-def]
    free, room, quotients, fitted, middle, gravity, dt, integrator, restitution,
    centre, velocity, spin, attitude, new_centre, new_velocity, new_spin, new_attitude, poses,
):  # fmt: skip
    """Write the state and poses after a step; return the first lost body, or -1.

    Centre, velocity and spin are (n,3), attitude (n,4), poses (n,4,4). free (n,) bool: other bodies and their poses stay. room
    (n,): largest distance of a centre from the origin along each axis, inf without walls. quotients (n,3) of the principal moments.
    fitted (n,3,3): rotation of the pose in principal axes. middle (n,3): centre of mass, body coordinates. gravity (3,) acts after
    the move.
    """
    for body in range(free.shape[0]):
        if not free[body]:
            for k in range(3):
                new_centre[body, k] = centre[body, k]
                new_velocity[body, k] = velocity[body, k]
                new_spin[body, k] = spin[body, k]
            for k in range(4):
                new_attitude[body, k] = attitude[body, k]
            continue
        total = 0.0
        for k in range(3):
            place = centre[body, k] + dt * velocity[body, k]
            speed = velocity[body, k] + dt * gravity[k]
            place, speed = reflected(place, speed, room[body], restitution)
            new_centre[body, k] = place
            new_velocity[body, k] = speed
            total += abs(place) + abs(speed)
        qw, qx, qy, qz, sx, sy, sz = tumble(
            attitude[body, 0], attitude[body, 1], attitude[body, 2], attitude[body, 3],
            spin[body, 0], spin[body, 1], spin[body, 2],
            quotients[body, 0], quotients[body, 1], quotients[body, 2], dt, integrator,
        )  # fmt: skip
        new_attitude[body, 0], new_attitude[body, 1], new_attitude[body, 2], new_attitude[body, 3] = qw, qx, qy, qz
        new_spin[body, 0], new_spin[body, 1], new_spin[body, 2] = sx, sy, sz
        if not math.isfinite(total + abs(sx) + abs(sy) + abs(sz)):
            return body
        _write_pose(body, new_centre, new_attitude, fitted, middle, poses)
    return -1


@kernel
def write_poses(free, centre, attitude, fitted, middle, poses):  # type: ignore[no-untyped-def]
    """Write the poses (n,4,4) of free bodies from centres (n,3), attitudes (n,4)."""
    for body in range(free.shape[0]):
        if free[body]:
            _write_pose(body, centre, attitude, fitted, middle, poses)


@kernel
def _write_pose(body, centre, attitude, fitted, middle, poses):  # type: ignore[no-untyped-def]
    r = rotation_of(attitude[body, 0], attitude[body, 1], attitude[body, 2], attitude[body, 3])
    x, y, z = middle[body, 0], middle[body, 1], middle[body, 2]
    for i in range(3):
        a, b, c = r[3 * i], r[3 * i + 1], r[3 * i + 2]
        p = (a * fitted[body, 0, 0] + b * fitted[body, 1, 0]) + c * fitted[body, 2, 0]
        q = (a * fitted[body, 0, 1] + b * fitted[body, 1, 1]) + c * fitted[body, 2, 1]
        s = (a * fitted[body, 0, 2] + b * fitted[body, 1, 2]) + c * fitted[body, 2, 2]
        poses[body, i, 0], poses[body, i, 1], poses[body, i, 2] = p, q, s
        poses[body, i, 3] = centre[body, i] - ((p * x + q * y) + s * z)
