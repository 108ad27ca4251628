"""Terrain: a height field with hills within hills."""

from __future__ import annotations

import numpy as np

from jostle.shapes import build
from jostle.shapes.mesh import Mesh


def terrain(nx: int = 500, ny: int = 498, seed: int = 5) -> Mesh:
    """Return an open height field over 2 by 2: 2 * nx * ny faces up."""
    rng = np.random.default_rng(seed)
    sheet = build.plate(nx, ny, (2.0, 2.0))
    x, y = sheet.vertices[:, 0], sheet.vertices[:, 1]
    height = np.zeros(len(x))
    for octave in range(6):
        for _ in range(4):
            direction = rng.normal(size=2)
            direction *= 2.5 * 2.0**octave / np.linalg.norm(direction)
            height += 0.06 * 0.5**octave * np.sin(x * direction[0] + y * direction[1] + rng.uniform(0.0, 2.0 * np.pi))
    return Mesh(np.stack([x, y, height], axis=1), sheet.faces, name=f"terrain of {len(sheet.faces)} faces")
