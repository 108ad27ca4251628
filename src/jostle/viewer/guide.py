"""A body moved by hand that stops before contact or slides, and records its path.

The walk that `jostle fit` makes along a recorded path (Eckstein, Schömer 1999, §5: an engineer pulls a cover out of a headlight),
one piece at a time: from where the body is to where the hand is.
"""

from __future__ import annotations

import copy
import time
from dataclasses import replace

import numpy as np

from jostle._types import Floats
from jostle.continuous.interpolate import pose_at, turn_between
from jostle.errors import InputError
from jostle.fitting import RecordedPath, Touch, walk_along
from jostle.fitting.walk import handle_of
from jostle.viewer.snapshot import Found, with_pressed
from jostle.world.all_or_nothing import all_or_nothing
from jostle.world.world import World

PATIENCE = 0.05  # seconds of one move; then the page shows the pose reached
LARGEST_TURN = 1.0  # radians of one move: half a turn has no shortest path
NEGLIGIBLE = 1e-3  # of the separation: shorter motions count as none


class Guide:
    """One guided body.

    Parameters
    ----------
    world : World
        Its method must support motion.
    body : int
    separation : float
        Distance to keep from other bodies.
    """

    def __init__(self, world: World, body: int, separation: float) -> None:
        self.world, self.body, self.separation = world, body, separation
        self.slides = True
        self.touch: Touch | None = None  # the contact at which it was stopped last
        self._handle = handle_of(world[body])
        self._poses: list[Floats] = [np.array(world[body].pose)]

    def move_to(self, goal: Floats) -> bool:
        """Move towards a pose until contact or time is up; return whether to continue."""
        twin = copy.copy(self)
        twin._poses = self._poses.copy()
        return all_or_nothing(self.world, self, twin, lambda: twin._move_to(goal))

    def _move_to(self, goal: Floats) -> bool:
        body = self.world[self.body]
        begin = np.array(body.pose)
        goal = self._limited(begin, goal)
        if self._distance(begin, goal) <= NEGLIGIBLE * self.separation:
            return False
        self.touch = None
        end = time.perf_counter() + PATIENCE
        steps = walk_along(self.world, body, RecordedPath(np.stack([begin, goal])), separation=self.separation, slide=self.slides)
        try:
            for step in steps:
                if self._distance(self._poses[-1], step.pose) > NEGLIGIBLE * self.separation:
                    self._poses.append(np.array(step.pose))
                self.touch = step.touch or self.touch
                if step.number > 0 and time.perf_counter() > end:  # after at least one step
                    break
        finally:
            steps.close()  # type: ignore[attr-defined]
        left = self._distance(body.pose, goal)
        return self._distance(begin, body.pose) > 0.1 * self.separation and left > self.separation

    def path(self) -> RecordedPath:
        """Return the path so far, for `jostle fit`."""
        if len(self._poses) < 2:
            raise InputError(f"body {self.world[self.body].name!r} has not moved yet; there is no path to save")
        return RecordedPath(np.stack(self._poses), body=self.world[self.body].name)

    def with_contact(self, found: Found) -> Found:
        """Return the findings with this body's contact added."""
        touch = self.touch
        if touch is None:
            return found
        rows = ([self.body], [self.world[touch.body].id], [touch.face], [touch.other_face])
        points, normals = np.vstack([found.points, touch.point]), np.vstack([found.normals, touch.normal])
        touching = with_pressed(found, *np.array(rows, np.int32))
        return replace(touching, face_pairs=found.face_pairs + 1, points=points, normals=normals)

    def _limited(self, begin: Floats, goal: Floats) -> Floats:
        """Return the goal, or the first part of a rotation that is too large.

        A hand ahead of a blocked body may turn far; half a turn has no direction.
        """
        try:
            angle = float(turn_between(begin, goal)[3])
        except InputError:
            shifted = np.array(begin)
            shifted[:3, 3] = goal[:3, 3]
            return shifted
        return goal if angle <= LARGEST_TURN else pose_at(begin, goal, LARGEST_TURN / angle)

    def _distance(self, begin: Floats, end: Floats) -> float:
        return float(np.linalg.norm(self._handle.motion(begin, end)))
