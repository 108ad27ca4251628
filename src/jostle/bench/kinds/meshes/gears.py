"""Gears: a toothed wheel with a bore."""

from __future__ import annotations

import numpy as np

from jostle.bench.kinds.meshes.round_parts import ring_of_rings
from jostle.shapes.build.rings import circle
from jostle.shapes.mesh import Mesh

_TOOTH = (0.0, 0.0, 0.35, 0.7, 1.0, 1.0, 0.7, 0.35)  # height at eight equal angles: root, flank, tip, flank


def gear(teeth: int = 24, bore_segments: int = 64) -> Mesh:
    """Return a spur gear about z: 4 * (8 * teeth + bore_segments) faces."""
    count = 8 * teeth
    reach = 0.8 + 0.12 * np.tile(_TOOTH, teeth)
    outline = circle(count)[:, :2] * reach[:, None]
    bore = circle(bore_segments, 0.25)[:, :2]
    sections = ((outline, -0.1), (outline, 0.1), (bore, 0.1), (bore, -0.1))
    rings = [np.hstack([points, np.full((len(points), 1), z)]) for points, z in sections]
    return ring_of_rings(rings, f"gear of {4 * (count + bore_segments)} faces")
