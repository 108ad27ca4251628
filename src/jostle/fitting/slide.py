"""Sliding: the allowed motion nearest to a desired one.

A motion of a rigid body is the screw with the initial velocity v of its centre and the turn w about it (a vector of radians). A
contact at the point p with the unit normal n towards the body allows it if the velocity there, n·(v + w × (p - centre)), is at
least the later bend of the screw towards the plane. Of all motions that every contact allows, the nearest to the desired one is
used, with turns measured by the body's radius: a body pulled against a plate slides along it, and turns about an edge that holds
one end.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from jostle._types import Floats
from jostle.continuous.interpolate import turn_between
from jostle.geometry.pose import rotation_about

MOST_PLANES = 6  # a rigid body with more independent contacts cannot move at all
LARGEST_TURN = 0.1  # radians in one slide: contact planes hold for small turns only
TRIES = 8
_SLACK = 1e-12


class Plane(NamedTuple):
    """A contact plane: point (3,) of the body, world normal (3,) towards the body.

    The point moves with the body, like a corner that slides over a plate.
    """

    point: Floats
    normal: Floats


class Handle(NamedTuple):
    """The reference of small motions: a centre (3,) and a radius for rotations."""

    centre: Floats
    radius: float

    def at(self, pose: Floats) -> Floats:
        """(3,) the centre in the world."""
        return pose[:3, :3] @ self.centre + pose[:3, 3]

    def motion(self, begin: Floats, end: Floats) -> Floats:
        """Return (6,) the screw between two poses: centre velocity, turn times radius.

        Raises for half a turn.
        """
        turn = turn_between(begin, end)
        turned = turn[:3] * turn[3]
        return np.concatenate([np.linalg.solve(_mean_turn(turned), self.at(end) - self.at(begin)), turned * self.radius])

    def angle(self, motion: Floats) -> float:
        """Return the angle of a motion (6,) in radians."""
        return float(np.linalg.norm(motion[3:])) / self.radius

    def moved(self, pose: Floats, motion: Floats) -> Floats:
        """(4, 4) the pose after a motion (6,)."""
        angle, end = self.angle(motion), pose.copy()
        if angle > 0.0:
            end[:3, :3] = rotation_about(motion[3:], angle)[:3, :3] @ pose[:3, :3]
        end[:3, 3] = self.at(pose) + _mean_turn(motion[3:] / self.radius) @ motion[:3] - end[:3, :3] @ self.centre
        return end


def _mean_turn(turned: Floats) -> Floats:
    """Return (3, 3) the mean rotation during a turn (a vector of radians)."""
    angle = float(np.linalg.norm(turned))
    x, y, z = turned
    cross = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    if angle < 1e-4:
        sagging, lagging = 1.0 / 2.0, 1.0 / 6.0
    else:
        sagging, lagging = (1.0 - np.cos(angle)) / angle**2, (angle - np.sin(angle)) / angle**3
    return np.eye(3) + sagging * cross + lagging * (cross @ cross)


def add_plane(planes: Sequence[Plane], plane: Plane, near: float) -> list[Plane]:
    """Return the planes with a new one, replacing a near and parallel one."""
    kept = [old for old in planes if old.normal @ plane.normal < 0.999 or np.linalg.norm(old.point - plane.point) > near]
    return [*kept, plane][-MOST_PLANES:]


def slide(handle: Handle, pose: Floats, desired: Floats, planes: Sequence[Plane]) -> Floats:
    """Return the allowed motion (6,) nearest to the desired one; zeros if none."""
    arms = (np.array([plane.point for plane in planes]) - handle.centre) @ pose[:3, :3].T
    normals = np.array([plane.normal for plane in planes])
    rows = np.hstack([normals, np.cross(arms, normals) / handle.radius])
    bend = np.zeros(len(planes))
    if handle.angle(desired) > LARGEST_TURN:
        desired = desired * (LARGEST_TURN / handle.angle(desired))
    for _ in range(TRIES):
        motion = _nearest(desired, rows, bend)
        if motion is None:
            break
        if handle.angle(motion) > LARGEST_TURN:
            desired = desired * (0.9 * LARGEST_TURN / handle.angle(motion))
            continue
        needed = _bend(handle, motion, arms, normals)
        if (needed <= bend).all():
            return motion
        bend = np.maximum(bend, 1.1 * needed)
    # Between facing planes there is no room for an arc: the body may still shift.
    straight = _nearest(desired[:3], normals, np.zeros(len(planes)))
    return np.zeros(6) if straight is None else np.concatenate([straight, np.zeros(3)])


def _bend(handle: Handle, motion: Floats, arms: Floats, normals: Floats) -> Floats:
    """Return (n,) bounds of how far a screw (6,) bends towards each plane.

    It is half the initial acceleration plus a bound of the rest.
    """
    turned = motion[3:] / handle.radius
    velocities = motion[:3] + np.cross(turned, arms)
    towards = -np.sum(normals * np.cross(turned, velocities), axis=1)
    more = (turned @ turned) * np.linalg.norm(velocities, axis=1)
    return np.maximum(0.5 * towards, 0.0) + more / 6.0


def _nearest(desired: Floats, rows: Floats, least: Floats) -> Floats | None:
    """Return the point nearest to a desired one with rows @ x >= least, or None.

    Its active rows all push. There are at most `MOST_PLANES` rows, so all active sets are tried, small sets first.
    """
    slack = _SLACK * (1.0 + float(np.linalg.norm(desired)))
    for count in range(min(len(rows), len(desired)) + 1):
        for chosen in itertools.combinations(range(len(rows)), count):
            active = rows[list(chosen)]
            push = (
                np.linalg.lstsq(active @ active.T, least[list(chosen)] - active @ desired, rcond=None)[0] if count else np.empty(0)
            )
            if (push < 0.0).any():
                continue
            point: Floats = desired + active.T @ push
            if (rows @ point >= least - slack).all():
                return point
    return None
