"""Robot links: between a capsule and a rounded box, slightly bowed."""

from __future__ import annotations

import numpy as np

from jostle.shapes.build.rings import skin
from jostle.shapes.mesh import Mesh


def link(segments: int = 12, rings: int = 10, boxiness: float = 0.6) -> Mesh:
    """Return a link along z: 2 * segments * rings faces.

    Parameters
    ----------
    segments, rings : int
        Points around, and rings between the two ends.
    boxiness : float
        Of the middle: 0 is round, 1 nearly a box. The ends are round, as joints are.
    """
    height = -np.cos(np.pi * (np.arange(rings) + 1.0) / (rings + 1.0))
    angle = 2.0 * np.pi * np.arange(segments) / segments
    points = []
    for z in height:
        middle = np.exp(-((z / 0.6) ** 4))
        power = 2.0 + 6.0 * boxiness * middle
        section = (np.abs(np.cos(angle)) ** power + np.abs(np.sin(angle)) ** power) ** (-1.0 / power)
        radius = (0.16 + 0.05 * z * z) * np.sqrt(np.maximum(1.0 - z**8, 0.02)) * section
        bow = 0.08 * (1.0 - z * z)
        points.append(np.stack([bow + radius * np.cos(angle), 0.8 * radius * np.sin(angle), np.full(segments, 0.8 * z)], axis=1))
    return skin(points, (0.0, 0.0, -0.81), (0.0, 0.0, 0.81), f"link of {2 * segments * rings} faces")
