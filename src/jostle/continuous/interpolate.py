"""The shortest screw between two poses, and the pose at any time on it.

A rigid body rotates about the axis of its relative rotation by the least angle, and its motion along the axis is uniform. A turn is
(kx, ky, kz, angle) as in `continuous/moving_point.py`, which places vertices in between; poses in between serve to place a body (a
walk that stops before a contact), for pictures, and to bound the motion of boxes.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from jostle import cast
from jostle.continuous.moving_point import place_all_into
from jostle.errors import InputError
from jostle.geometry.pose import rotation_about
from jostle.kernels.arrays import read_only_view

STRAIGHT = np.array([0.0, 0.0, 1.0, 0.0])
STRAIGHT.flags.writeable = False
# Below this angle (radians) the arc leaves the chord by less than a rounding: the motion counts as straight.
LEAST_ANGLE = 1e-14
# Nearer than this to half a turn the direction of the axis is lost, and with it which of the two rotations is shorter.
LEAST_REST_OF_HALF_TURN = 1e-6


def turn_between(pose_t0: NDArray[np.float64], pose_t1: NDArray[np.float64], owner: str = "") -> NDArray[np.float64]:
    """Return the turn (kx, ky, kz, angle) of the shortest screw between poses (4,4).

    It is `STRAIGHT` if they have the same rotation. Raises `InputError` for half a turn, which has no shortest screw.
    """
    start, end = pose_t0[:3, :3], pose_t1[:3, :3]
    if np.array_equal(start, end):
        return STRAIGHT
    turned = end @ np.linalg.inv(start)
    axial = 0.5 * np.array([turned[2, 1] - turned[1, 2], turned[0, 2] - turned[2, 0], turned[1, 0] - turned[0, 1]])
    sine = float(np.linalg.norm(axial))
    angle = float(np.arctan2(sine, 0.5 * (np.trace(turned) - 1.0)))
    if angle < LEAST_ANGLE:
        return STRAIGHT
    if np.pi - angle < LEAST_REST_OF_HALF_TURN:
        of = f"{owner}: " if owner else ""
        raise InputError(
            f"{of}the pose turns by half a turn within one step, which has no shortest screw; "
            "go through a pose in between, or use body.teleport(pose) if it is not a motion"
        )
    return np.append(axial / sine, angle)


def pose_at(pose_t0: ArrayLike, pose_t1: ArrayLike, time: float) -> NDArray[np.float64]:
    """Return the pose (4,4) at a time in 0 … 1 on the shortest screw between poses."""
    first, last = cast.as_pose(pose_t0, "pose_t0"), cast.as_pose(pose_t1, "pose_t1")
    time = cast.as_number(time, "time")
    if not 0.0 <= time <= 1.0:
        raise InputError(f"time is {time}; it must lie between 0 and 1")
    if time == 0.0 or time == 1.0:
        return (first if time == 0.0 else last).copy()
    turn = turn_between(first, last)
    pose = first.copy()
    if turn[3] > 0.0:
        pose[:3, :3] = rotation_about(turn[:3], time * turn[3])[:3, :3] @ first[:3, :3]
    # The body's origin moves like all its points.
    origin = np.empty((1, 3))
    place_all_into(
        read_only_view(first[None, :3, 3].copy()), read_only_view(last[None, :3, 3].copy()), read_only_view(turn), time, origin
    )
    pose[:3, 3] = origin[0]
    return pose
