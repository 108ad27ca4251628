"""The motion of §5: a hand removes the covers of the headlight.

The paper's interactive sequences are not published. Here each cover follows its collision-free path of `headlight`, but for half
of every `PERIOD` frames the hand pushes it aside and tilts it by more than there is room for, each time in another direction. So in
some frames the cover sits in its collar with half a millimetre to spare, in some it cuts into collar, battery or pipe, and in
some it is far from everything.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from jostle._types import Floats
from jostle.geometry.pose import rotation_about, translation
from jostle.motion.record import Motion
from jostle.scenes import make_scene

ALL_FRAMES = 1000  # more than there are
PATHS = ("remove_cover_1", "remove_cover_2")
PERIOD = 14  # frames from one push of the hand to the next
PUSHING = 0.5  # of a period
PUSH, TILT = 1.2, 1.5  # mm and degrees, where the cover sits
GROWTH = 1.0 / 10.0  # of both per mm of travel: there is more room beyond the collar
GOLDEN = np.pi * (3.0 - np.sqrt(5.0))  # angle between the directions of successive pushes


@dataclass(frozen=True)
class Removal:
    """The removal of the covers, to be recorded.

    Parameters
    ----------
    faces : int
        Approximate number for all parts.
    every : int
        Keep every n-th frame of the whole motion.
    """

    faces: int
    every: int = 1

    def record(self, frames: int | None = None) -> Motion:
        """Return the first frames of the motion, or all."""
        scene = make_scene("headlight", faces=self.faces)
        paths = [scene.paths[name] for name in PATHS]
        start = scene.record(1)
        total = sum(len(path) for path in paths)
        poses = np.repeat(start.poses, total, axis=0)
        done = 0
        for path in paths:
            row = start.names.index(path.body)
            poses[done : done + len(path), row] = [_pushed(path.poses, frame) for frame in range(len(path))]
            done += len(path)
            poses[done:, row] = poses[done - 1, row]
        moved = {path.body for path in paths}
        motion = replace(
            start,
            poses=poses[:: self.every],
            static=tuple(name not in moved for name in start.names),
            title=f"{scene.title}: a hand removes the covers",
        )
        return motion if frames is None else motion.first(frames)


def _pushed(path: Floats, frame: int) -> Floats:
    """Return the pose of a cover in a frame of its path, with the push of the hand."""
    pose: Floats = path[frame]
    push, phase = divmod(frame / PERIOD, 1.0)
    if phase < 1.0 - PUSHING:
        return pose
    travel = float(np.linalg.norm(pose[:3, 3] - path[0, :3, 3]))
    strength = np.sin(np.pi * (phase - 1.0 + PUSHING) / PUSHING) * (1.0 + GROWTH * travel)
    direction = np.array([np.cos(GOLDEN * push), np.sin(GOLDEN * push), 0.0])
    tilt = rotation_about(direction, np.radians(TILT) * strength)
    moved: Floats = pose @ translation(PUSH * strength * direction) @ tilt
    return moved
