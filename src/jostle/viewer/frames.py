"""The frames of a motion by number: recorded, or made by a scene when first shown.

Recording a scene of 800 frames takes seconds; the viewer shows the first frame at once and makes the others while they play.
"""

from __future__ import annotations

from typing import Protocol

from jostle._types import Floats
from jostle.motion.record import Motion
from jostle.scenes import Scene


class Frames(Protocol):
    """The frames of a motion."""

    dt: float  # seconds per frame, as the motion counts them
    count: int  # frames; it shrinks if a scene ends earlier

    def at(self, number: int) -> tuple[Floats, dict[int, Floats]]:
        """Return all poses (n,4,4), and vertices (k,3) of deforming bodies by number."""
        ...


class RecordedFrames:
    """The frames of a recorded motion."""

    def __init__(self, motion: Motion) -> None:
        self._motion = motion
        self.dt, self.count = motion.dt, len(motion)

    def at(self, number: int) -> tuple[Floats, dict[int, Floats]]:
        """See `Frames`."""
        return self._motion.poses[number], {k: vertices[number] for k, vertices in self._motion.vertices.items()}


class SceneFrames:
    """The frames of a scene; each is computed once, after all before it."""

    def __init__(self, scene: Scene) -> None:
        self._stepper = scene.stepper()
        self._poses = [self._stepper.poses]
        self._cycles = {k: body.cycle for k, body in enumerate(scene.bodies) if body.cycle is not None}
        self.dt, self.count = 1.0, scene.frames

    def at(self, number: int) -> tuple[Floats, dict[int, Floats]]:
        """See `Frames`."""
        while len(self._poses) <= number:
            if not self._stepper.advance():
                self.count = len(self._poses)
                break
            self._poses.append(self._stepper.poses)
        reached = min(number, len(self._poses) - 1)
        return self._poses[reached], {k: cycle.at(reached) for k, cycle in self._cycles.items()}
