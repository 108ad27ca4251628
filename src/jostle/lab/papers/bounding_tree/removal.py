"""The motion of §5: the two covers of the headlight are taken off by a hand, one after the other, with and without collisions.

The paper's sequences were made interactively and are not printed. Here a cover goes the way that `headlight` has for it, which is
free, but the hand presses: for a while every `PERIOD` frames it pushes the cover aside and tilts it, by more than there is room
for, each time in another direction. So there are frames in which the cover sits in its collar with half a millimetre to spare,
frames in which it cuts into collar, battery or pipe, and frames in which it is far from everything.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from jostle._types import Floats
from jostle.geometry.pose import rotation_about, translation
from jostle.motion.record import Motion
from jostle.scenes import make_scene

ALL_FRAMES = 1000  # more than there are
WAYS = ("remove_cover_1", "remove_cover_2")
PERIOD = 14  # frames from one push of the hand to the next
PUSHING = 0.5  # of a period
PUSH, TILT = 1.2, 1.5  # mm and degrees, where the cover sits
GROWTH = 1.0 / 10.0  # of both per mm that the cover has come: the way is narrow in the collar, wider behind it
GOLDEN = np.pi * (3.0 - np.sqrt(5.0))  # from the direction of one push to that of the next


@dataclass(frozen=True)
class Removal:
    """The removal of the covers as something that can be recorded.

    Parameters
    ----------
    faces : int
        About how many, of all parts.
    every : int
        Of the frames of the whole motion every so many are taken, always the first.
    """

    faces: int
    every: int = 1

    def record(self, frames: int | None = None) -> Motion:
        """Return the first frames of the motion; all for None."""
        scene = make_scene("headlight", faces=self.faces)
        paths = [scene.paths[way] for way in WAYS]
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
            title=f"{scene.title}: the covers are taken off by a hand",
        )
        return motion if frames is None else motion.first(frames)


def _pushed(way: Floats, frame: int) -> Floats:
    """The pose of a cover in a frame of its way, with what the hand adds."""
    pose: Floats = way[frame]
    push, phase = divmod(frame / PERIOD, 1.0)
    if phase < 1.0 - PUSHING:
        return pose
    come = float(np.linalg.norm(pose[:3, 3] - way[0, :3, 3]))
    strength = np.sin(np.pi * (phase - 1.0 + PUSHING) / PUSHING) * (1.0 + GROWTH * come)
    direction = np.array([np.cos(GOLDEN * push), np.sin(GOLDEN * push), 0.0])
    tilt = rotation_about(direction, np.radians(TILT) * strength)
    moved: Floats = pose @ translation(PUSH * strength * direction) @ tilt
    return moved
