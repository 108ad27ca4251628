"""Sliding: the motion nearest to a wished one that goes into no contact plane.

A small motion of a rigid body is a shift v of its centre and a turn w about it (a vector of radians). At a contact with the point p
and the unit normal n towards the body it is allowed if n·(v + w × (p - centre)) is not less than what the arc of the turn bends
towards the plane. Of all motions that every contact allows the one nearest to the wished one is taken, with turns measured by the
body's radius: a body that is drawn against a plate slides along it, and turns about an edge that holds one end of it.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from jostle.motion.interpolate import turn_between
from jostle.motion.pose import rotation_about

Floats = NDArray[np.float64]

MOST_PLANES = 6  # a rigid body with more independent contacts cannot move at all
LARGEST_TURN = 0.1  # radians in one slide: contact planes hold for small turns only
TRIES = 8
_SLACK = 1e-12


class Plane(NamedTuple):
    """A contact that holds a body up: point (3,) in body coordinates, unit normal (3,) of the world, towards the body.

    The point goes with the body, as a corner that slides over a plate does.
    """

    point: Floats
    normal: Floats
    lack: float = 0.0  # how far the body should move off, >= 0


class Handle(NamedTuple):
    """What a body is held at: a centre (3,) in its own coordinates, and the radius that makes a turn a length."""

    centre: Floats
    radius: float

    def at(self, pose: Floats) -> Floats:
        """(3,) the centre in the world."""
        place: Floats = pose[:3, :3] @ self.centre + pose[:3, 3]
        return place

    def motion(self, begin: Floats, end: Floats) -> Floats:
        """(6,) shift of the centre and turn times radius from one pose to another. Raises for half a turn."""
        turn = turn_between(begin, end)
        return np.concatenate([self.at(end) - self.at(begin), turn[:3] * (turn[3] * self.radius)])

    def angle(self, motion: Floats) -> float:
        """By how many radians a motion (6,) turns."""
        return float(np.linalg.norm(motion[3:])) / self.radius

    def moved(self, pose: Floats, motion: Floats) -> Floats:
        """(4, 4) the pose after a motion (6,)."""
        angle, end = self.angle(motion), pose.copy()
        if angle > 0.0:
            end[:3, :3] = rotation_about(motion[3:], angle)[:3, :3] @ pose[:3, :3]
        end[:3, 3] = self.at(pose) + motion[:3] - end[:3, :3] @ self.centre
        return end


def add_plane(planes: Sequence[Plane], plane: Plane, near: float) -> list[Plane]:
    """Return the planes with a new one, which takes the place of its like: less than `near` away and almost parallel."""
    kept = [old for old in planes if old.normal @ plane.normal < 0.999 or np.linalg.norm(old.point - plane.point) > near]
    return [*kept, plane][-MOST_PLANES:]


def slide(handle: Handle, pose: Floats, wish: Floats, planes: Sequence[Plane]) -> Floats:
    """Return the motion (6,) nearest to the wished one, or to a part of it, that all planes allow; zeros if there is none."""
    arms = (np.array([plane.point for plane in planes]) - handle.centre) @ pose[:3, :3].T
    normals = np.array([plane.normal for plane in planes])
    rows = np.hstack([normals, np.cross(arms, normals) / handle.radius])
    lack, reach = np.array([plane.lack for plane in planes]), np.linalg.norm(arms, axis=1)
    angle = min(handle.angle(wish), LARGEST_TURN)
    for _ in range(TRIES):
        motion = _nearest(wish, rows, lack + 0.5 * angle**2 * reach)
        if motion is None:
            break
        turned = handle.angle(motion)
        if turned <= angle:
            return motion
        # What was kept for the arc does not suffice: keep more, or turn less.
        if turned > LARGEST_TURN:
            wish = wish * (0.9 * LARGEST_TURN / turned)
        angle = min(1.1 * turned, LARGEST_TURN)
    # Between planes that face each other there is no room for an arc: the body may still shift.
    straight = _nearest(wish[:3], normals, np.zeros(len(planes)))
    return np.zeros(6) if straight is None else np.concatenate([straight, np.zeros(3)])


def _nearest(wish: Floats, rows: Floats, least: Floats) -> Floats | None:
    """The point x nearest to a wish with rows @ x >= least, None if there is none: the one whose active rows push, and only they.

    There are at most `MOST_PLANES` rows, so all sets of active ones are tried, small sets first.
    """
    slack = _SLACK * (1.0 + float(np.linalg.norm(wish)))
    for count in range(min(len(rows), len(wish)) + 1):
        for chosen in itertools.combinations(range(len(rows)), count):
            active = rows[list(chosen)]
            push = np.linalg.lstsq(active @ active.T, least[list(chosen)] - active @ wish, rcond=None)[0] if count else np.empty(0)
            if (push < 0.0).any():
                continue
            point: Floats = wish + active.T @ push
            if (rows @ point >= least - slack).all():
                return point
    return None
