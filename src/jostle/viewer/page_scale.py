"""From the world to the page and back. A page's camera sees well between a hundredth and a thousand, in float32; worlds are of any
size anywhere. So the page shows the world shifted to the origin and scaled to a size of a few units.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from jostle._types import Floats
from jostle.fitting.path import quaternion_of
from jostle.motion.record import Motion

SIZE = 4.0  # of the longest side of the first frame, on the page


@dataclass(frozen=True, eq=False)
class PageScale:
    """The world's initial centre and the scale to page units; `lowest` is the floor, in page units."""

    middle: Floats
    factor: float
    lowest: float
    extent: Floats  # (3,) of the world, in page units

    @staticmethod
    def of(start: Motion, cube: float | None = None) -> PageScale:
        """Frame all bodies at their start, with their cube if there is one."""
        corners = []
        for k, (mesh, pose) in enumerate(zip(start.meshes, start.poses[0], strict=True)):
            points = start.vertices[k][0] if k in start.vertices else mesh.vertices
            corners.append(points @ pose[:3, :3].T + pose[:3, 3])
        if cube is not None:
            corners.append(np.array([[-0.5 * cube] * 3, [0.5 * cube] * 3]))
        points = np.vstack([each for each in corners if len(each)] or [np.zeros((1, 3))])
        lower, upper = points.min(axis=0), points.max(axis=0)
        longest = float((upper - lower).max())
        factor = SIZE / longest if longest > 0.0 else 1.0
        middle = 0.5 * lower + 0.5 * upper
        return PageScale(middle, factor, factor * float(lower[2] - middle[2]), factor * (upper - lower))

    def points(self, places: Floats) -> Floats:
        """(…,3) places of the world on the page."""
        shown: Floats = (places - self.middle) * self.factor
        return shown

    def place(self, pose: Floats, centre: Floats) -> tuple[Floats, Floats]:
        """Return quaternion (w, x, y, z) and position on the page of a body's point (3,)."""
        return quaternion_of(pose), self.points(pose[:3, :3] @ centre + pose[:3, 3])

    def pose(self, wxyz: Floats, position: Floats, centre: Floats) -> Floats:
        """Return (4,4) the pose of a body whose point `centre` has this position and rotation on the page."""
        w, x, y, z = np.asarray(wxyz, np.float64) / np.linalg.norm(wxyz)
        pose = np.eye(4)
        pose[:3, :3] = [
            [1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y - w * z), 2.0 * (x * z + w * y)],
            [2.0 * (x * y + w * z), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z - w * x)],
            [2.0 * (x * z - w * y), 2.0 * (y * z + w * x), 1.0 - 2.0 * (x * x + y * y)],
        ]
        pose[:3, 3] = np.asarray(position, np.float64) / self.factor + self.middle - pose[:3, :3] @ centre
        return pose
