"""Edges that make a shape readable: creases between faces, and borders."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from jostle._types import Floats
from jostle.shapes.mesh import unit_normals

CREASE_COSINE = math.cos(math.radians(35.0))  # as in jostle's pictures
MOST_FACES = 40_000  # of a body with drawn edges: more lines are a blur, and slow


def creases_of(vertices: Floats, faces: NDArray[np.int32]) -> NDArray[np.float32]:
    """Return creases and borders (k,2,3) of a mesh; none if the mesh is large."""
    if len(faces) == 0 or len(faces) > MOST_FACES:
        return np.empty((0, 2, 3), np.float32)
    normal = unit_normals(*(vertices[faces[:, k]] for k in range(3)))
    welded = np.unique(vertices, axis=0, return_inverse=True)[1].reshape(-1)[faces]
    ends = np.sort(welded[:, [[0, 1], [1, 2], [2, 0]]].reshape(-1, 2), axis=1)
    owner = np.repeat(np.arange(len(faces)), 3)
    order = np.lexsort((ends[:, 1], ends[:, 0]))
    ends, owner = ends[order], owner[order]
    first = np.flatnonzero(np.append(True, (ends[1:] != ends[:-1]).any(axis=1)))
    count = np.diff(np.append(first, len(ends)))
    second = np.minimum(first + 1, len(ends) - 1)
    flat = (normal[owner[first]] * normal[owner[second]]).sum(axis=1) > CREASE_COSINE
    drawn = order[first[(count != 2) | ~flat]]
    edge = faces[:, [[0, 1], [1, 2], [2, 0]]].reshape(-1, 2)[drawn]
    lines: NDArray[np.float32] = vertices[edge].astype(np.float32)
    return lines
