"""Marked faces as triangles on both sides of a body's surface.

Only the marked faces are sent to a page, not the colours of all faces: some hundred triangles per frame instead of 50,000. Each
face has its own corners and is lifted along its own normal.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from jostle._types import Floats, Ints
from jostle.shapes.mesh import unit_normals


def lifted(vertices: Floats, faces: Ints, marked: Ints, lift: float) -> tuple[NDArray[np.float32], NDArray[np.uint32]]:
    """Return corners (6k,3) and triangles (2k,3): two for each face, one flipped."""
    corners = vertices[faces[marked]]
    raised = lift * unit_normals(corners[:, 0], corners[:, 1], corners[:, 2])[:, None]
    up, down = (corners + raised).reshape(-1, 3), (corners - raised)[:, ::-1].reshape(-1, 3)
    points = np.concatenate([up, down]).astype(np.float32)
    return points, np.arange(len(points), dtype=np.uint32).reshape(-1, 3)
