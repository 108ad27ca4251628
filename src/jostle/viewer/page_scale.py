"""From world to page coordinates and back.

A page's camera sees well from a hundredth to a thousand units, in float32; worlds have any size anywhere. So the page shows the
world shifted to the origin and scaled to a few units.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from jostle._types import Floats
from jostle.fitting.path import quaternion_of
from jostle.motion.record import Motion
from jostle.sim.state import rotations_of
from jostle.viewer.subject import first_vertices, world_box

SIZE = 4.0  # page units of the first frame's longest side


@dataclass(frozen=True, eq=False)
class PageScale:
    """The world's initial centre, scale and extent; `lowest` is the floor."""

    middle: Floats
    factor: float
    lowest: float
    extent: Floats  # (3,) of the world, in page units

    @staticmethod
    def of(start: Motion, cube: float | None = None) -> PageScale:
        """Frame all bodies at their start, with their cube if any."""
        placed = [(first_vertices(start, body), pose) for body, pose in enumerate(start.poses[0])]
        if cube is not None:
            placed.append((np.array([[-0.5 * cube] * 3, [0.5 * cube] * 3]), np.eye(4)))
        lower, upper = world_box(placed)
        longest = float((upper - lower).max())
        factor = SIZE / longest if longest > 0.0 else 1.0
        middle = 0.5 * lower + 0.5 * upper
        return PageScale(middle, factor, factor * float(lower[2] - middle[2]), factor * (upper - lower))

    def points(self, places: Floats) -> Floats:
        """Return points (…,3) of the world on the page."""
        shown: Floats = (places - self.middle) * self.factor
        return shown

    def place(self, pose: Floats, centre: Floats) -> tuple[Floats, Floats]:
        """Return the rotation (w, x, y, z) of a body and the page position of its point."""
        return quaternion_of(pose), self.points(pose[:3, :3] @ centre + pose[:3, 3])

    def pose(self, wxyz: Floats, position: Floats, centre: Floats) -> Floats:
        """Return the pose (4,4) of a body from its rotation and its point's page position."""
        unit = np.asarray(wxyz, np.float64) / np.linalg.norm(wxyz)
        pose = np.eye(4)
        pose[:3, :3] = rotations_of(unit[None])[0]
        pose[:3, 3] = np.asarray(position, np.float64) / self.factor + self.middle - pose[:3, :3] @ centre
        return pose
