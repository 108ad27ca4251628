"""Marked faces as triangles over a body, lifted to both sides so that they show from both.

Only the marked faces are sent to a page, not the colours of all faces of a body: some hundred triangles instead of 50,000 for
every frame. Each face has corners of its own and is lifted along its own normal.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from jostle._types import Floats, Ints


def lifted(vertices: Floats, faces: Ints, marked: Ints, lift: float) -> tuple[NDArray[np.float32], NDArray[np.uint32]]:
    """Return corners (6k,3) and triangles (2k,3) of k marked faces: one above each face, one flipped below."""
    corners = vertices[faces[marked]]
    across = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    length = np.linalg.norm(across, axis=1, keepdims=True)
    normal = np.divide(across, length, out=np.zeros_like(across), where=length > 0.0)
    up = (corners + lift * normal[:, None]).reshape(-1, 3)
    down = (corners - lift * normal[:, None])[:, ::-1].reshape(-1, 3)
    points = np.concatenate([up, down]).astype(np.float32)
    return points, np.arange(len(points), dtype=np.uint32).reshape(-1, 3)
