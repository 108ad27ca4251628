"""Picking: where a click's ray hits a mesh, computed in Python.

If the browser did it, surfaces would hide a gizmo that is drawn in front of them, and a body inside or behind another could not be
dragged.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from jostle._types import Floats


def distance_along(origin: Floats, direction: Floats, vertices: Floats, faces: NDArray[np.int32]) -> float:
    """Return where a ray first hits a mesh, in lengths of `direction`; inf if never."""
    if len(faces) == 0:
        return float("inf")
    a, b, c = (vertices[faces[:, k]] for k in range(3))
    first, second = b - a, c - a
    across = np.cross(direction, second)
    volume = (first * across).sum(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        share_b = ((origin - a) * across).sum(axis=1) / volume
        turned = np.cross(origin - a, first)
        share_c = turned @ direction / volume
        along = (second * turned).sum(axis=1) / volume
        meets = (share_b >= 0.0) & (share_c >= 0.0) & (share_b + share_c <= 1.0) & (along > 0.0)
    return float(along[meets].min(initial=np.inf))
