"""Faces that share a vertex: self-collision leaves them out, but some peers report them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from jostle.bench.case import Case, Found
from jostle.shapes.mesh import Mesh


def without_neighbours(case: Case, face_a: Sequence[int], face_b: Sequence[int]) -> Found:
    """Return rows of body 0 with itself, without faces that share a welded vertex."""
    welded = Mesh(*case.mesh(0)).welded_faces
    a, b = np.asarray(face_a, np.int64).reshape(-1), np.asarray(face_b, np.int64).reshape(-1)
    apart = ~(welded[a][:, :, None] == welded[b][:, None, :]).any(axis=(1, 2))
    return Found.rows(a[apart], b[apart], 0, 0)
