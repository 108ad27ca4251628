"""Screws: a threaded shank with a hexagonal head."""

from __future__ import annotations

import numpy as np

from jostle.shapes.build.rings import circle, skin
from jostle.shapes.mesh import Mesh

CORE, THREAD, HEAD = 0.16, 0.05, 0.34  # radii: of the core, height of the thread, across the flats of the head
BOTTOM, SHANK, TOP = -0.9, 0.6, 0.9


def screw(segments: int = 48, turns: int = 15, rings_per_turn: int = 8) -> Mesh:
    """Return a screw along z: 2 * segments * (turns * rings_per_turn + 3) faces."""
    angle = 2.0 * np.pi * np.arange(segments) / segments
    unit = circle(segments)
    rings = []
    for z in np.linspace(BOTTOM, SHANK, turns * rings_per_turn + 1):
        phase = (turns * (z - BOTTOM) / (SHANK - BOTTOM) - angle / (2.0 * np.pi)) % 1.0
        tooth = np.clip(2.0 - np.abs(8.0 * phase - 4.0), 0.0, 1.0)
        rings.append(unit * (CORE + THREAD * tooth)[:, None] + [0.0, 0.0, z])
    hexagon = HEAD / np.cos((angle + np.pi / 6.0) % (np.pi / 3.0) - np.pi / 6.0)
    rings += [unit * hexagon[:, None] + [0.0, 0.0, z] for z in (SHANK, TOP)]
    return skin(rings, (0.0, 0.0, BOTTOM), (0.0, 0.0, TOP), f"screw of {2 * segments * len(rings)} faces")
