"""The faces of a body in the world with their boxes: what kernels take that compare every face with every face."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from jostle.geometry.aabb import face_boxes
from jostle.geometry.vector import Points
from jostle.kernels.arrays import read_only_view

Faces = NDArray[np.int32]


class PlacedFaces(NamedTuple):
    """World vertices (n,3), faces (m,3), and the lower and upper corners (m,3) of the boxes of faces."""

    vertices: Points
    faces: Faces
    lower: Points
    upper: Points


def placed_faces(vertices: Points, faces: Faces) -> PlacedFaces:
    """Return faces with their boxes, all read-only."""
    lower, upper = face_boxes(vertices, faces)
    return PlacedFaces(read_only_view(vertices), read_only_view(faces), read_only_view(lower), read_only_view(upper))
