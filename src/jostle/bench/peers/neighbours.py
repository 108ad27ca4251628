"""Faces that share a vertex, which some peers report as self-collisions."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from jostle.bench.case import Case, Found
from jostle.shapes.mesh import Mesh


def without_neighbours(case: Case, face_a: ArrayLike, face_b: ArrayLike) -> Found:
    """Return self-collision rows of body 0 without faces that share a welded vertex."""
    welded = Mesh(*case.mesh(0)).welded_faces
    a, b = np.asarray(face_a, np.int64).reshape(-1), np.asarray(face_b, np.int64).reshape(-1)
    apart = ~(welded[a][:, :, None] == welded[b][:, None, :]).any(axis=(1, 2))
    return Found.rows(a[apart], b[apart], 0, 0)
