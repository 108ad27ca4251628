"""Start positions of two flying bodies that first touch in a given frame.

The experiments of Kitamura et al. 1998 (§4.1, §5.1, §5.2) end with the cycle in which two bodies collide. How far two surfaces
reach towards each other depends on their orientation in that frame, so the start is searched: for the last frames the default
engine finds the shift along the line at which they just touch, and the start lies between that of the last frame and the largest of
the frames before.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from jostle._types import Floats
from jostle.geometry.pose import translation
from jostle.methods.wide_tree.pair import Pair
from jostle.scenes.bodies import MovingBody
from jostle.scenes.stepper import Stepper
from jostle.scenes.touch_search import outermost_touch

STEPS_INWARDS = 128  # finer than the thinnest part of the bodies, so that no contact is missed
HALVINGS = 24
STARTS = 8  # tried between the two bounds, from the middle


def placed_to_meet(a: MovingBody, b: MovingBody, along: Floats, last: int) -> tuple[MovingBody, MovingBody] | None:
    """Move two bodies apart so that they first touch in frame `last`, or None.

    Parameters
    ----------
    a, b : MovingBody
        Rigid, on their paths; `a` is moved against `along`, `b` with it.
    along : (3,)
        Unit vector from a to b.
    last : int
        The frame of the first contact.
    """
    approach = _Approach(a, b, along, last)
    reach = approach.outermost_touch(last)
    if reach is None:
        return None
    lowest = reach - approach.closing  # at most two steps deep
    for frame in range(last - 1, -1, -1):
        if approach.balls_part_at(frame) > lowest:  # else it cannot raise the bound
            touch = approach.outermost_touch(frame)
            lowest = lowest if touch is None else max(lowest, touch)
    if lowest >= reach:
        return None
    for k in range(STARTS):
        shift = reach + (lowest - reach) * 0.5 ** (k + 1)
        if approach.touches(last, shift):
            return approach.moved(shift)
    return None


class _Approach:
    """Two bodies on their paths, as if they started `shift` farther apart."""

    def __init__(self, a: MovingBody, b: MovingBody, along: Floats, last: int) -> None:
        self._bodies, self._along = (a, b), along
        self._pair = Pair(a.mesh, b.mesh)
        self._reach = a.radius + b.radius
        stepper = Stepper([a, b])
        frames = [(stepper.poses, stepper.centres) for _ in stepper.steps(last + 1)]
        self._poses, self._apart = [poses for poses, _ in frames], [centres[1] - centres[0] for _, centres in frames]
        self.closing = float(np.linalg.norm(b.velocity - a.velocity))  # per frame; a shift moves both, so half of it is a step

    def moved(self, shift: float) -> tuple[MovingBody, MovingBody]:
        a, b = self._bodies
        return (
            replace(a, pose=translation(-shift * self._along) @ a.pose),
            replace(b, pose=translation(shift * self._along) @ b.pose),
        )

    def touches(self, frame: int, shift: float) -> bool:
        pose_a, pose_b = (pose.copy() for pose in self._poses[frame])
        pose_a[:3, 3] -= shift * self._along
        pose_b[:3, 3] += shift * self._along
        return self._pair.touches(pose_a, pose_b)

    def balls_part_at(self, frame: int) -> float:
        """Return the shift beyond which bounding balls are apart, or -inf."""
        return self._span(frame)[1]

    def outermost_touch(self, frame: int) -> float | None:
        """Return the largest shift at which they touch, rounded down, or None."""
        low, high = self._span(frame)
        if low == -np.inf:
            return None
        return outermost_touch(lambda shift: self.touches(frame, shift), high, low, STEPS_INWARDS, HALVINGS)

    def _span(self, frame: int) -> tuple[float, float]:
        """Return the shifts between which the bounding balls overlap."""
        apart = self._apart[frame]
        lengthwise = float((apart * self._along).sum())
        across = float(((apart - lengthwise * self._along) ** 2).sum())
        if across >= self._reach**2:
            return -np.inf, -np.inf
        half = float(np.sqrt(self._reach**2 - across))
        return (-lengthwise - half) / 2.0, (-lengthwise + half) / 2.0
