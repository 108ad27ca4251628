"""The chair of Kitamura et al. 1998 (fig. 15): one closed surface of 146 faces.

A seat of 3 by 3 cells, four legs, a back of 3 by 3 cells with an opening in the middle (72 quads, so 144 triangles), and a crest
over the middle of the back instead of its top (two triangles more). Legs are splayed and the back leans.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from jostle.shapes.build.blocks import blocks
from jostle.shapes.mesh import Mesh


def chair() -> Mesh:
    """Return a chair with exactly 146 faces, 1 high, on z = 0, facing -y."""
    across = (-0.25, -0.19, 0.19, 0.25)
    along = (-0.25, -0.19, 0.19, 0.25)
    up = (0.0, 0.42, 0.48, 0.66, 0.84, 0.92)
    filled = np.zeros((3, 3, 5), dtype=bool)
    filled[:, :, 1] = True  # seat
    filled[::2, ::2, 0] = True  # legs
    filled[:, 2, 2:] = True  # back
    filled[1, 2, 3] = False  # the opening
    solid = blocks(across, along, up, filled, "chair")
    vertices, faces = _with_crest(solid, top=up[-1], tip=(0.0, (along[2] + along[3]) / 2.0, 1.0), half_width=across[2])
    x, y, z = vertices.T
    below, above = np.maximum(0.42 - z, 0.0), np.maximum(z - 0.48, 0.0)
    # A stretch and a shear that depend on z alone are one to one, so nothing crosses.
    vertices = np.stack([x * (1.0 + 0.35 * below), y * (1.0 + 0.35 * below) + 0.22 * above, z], axis=1)
    return Mesh(vertices, faces, name="chair")


def _with_crest(
    solid: Mesh, top: float, tip: tuple[float, float, float], half_width: float
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Replace the two triangles at the top of the back by four that meet in a tip."""
    corners = solid.vertices[solid.faces]
    middle = (corners[:, :, 2] == top).all(axis=1) & (np.abs(corners[:, :, 0]) <= half_width).all(axis=1)
    first, second = solid.faces[middle]
    rim = (first[0], first[1], first[2], second[2])
    crest = [(rim[k], rim[(k + 1) % 4], len(solid.vertices)) for k in range(4)]
    return np.vstack([solid.vertices, tip]), np.vstack([solid.faces[~middle], crest])
