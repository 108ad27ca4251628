"""The faces of a body in the world with their boxes, for all-pairs kernels."""

from __future__ import annotations

from typing import NamedTuple

from jostle._types import Floats, Ints
from jostle.geometry.aabb import face_boxes
from jostle.kernels.arrays import read_only_view


class PlacedFaces(NamedTuple):
    """World vertices (n,3), faces (m,3), and lower and upper corners (m,3) of boxes."""

    vertices: Floats
    faces: Ints
    lower: Floats
    upper: Floats


def placed_faces(vertices: Floats, faces: Ints) -> PlacedFaces:
    """Return faces with their boxes, all read-only."""
    lower, upper = face_boxes(vertices, faces)
    return PlacedFaces(read_only_view(vertices), read_only_view(faces), read_only_view(lower), read_only_view(upper))
