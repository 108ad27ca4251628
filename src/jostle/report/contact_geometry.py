"""Contact geometry: where two faces touch or are closest; made on first access.

It needs the rows' frame. Frames are snapshots, so the world may have moved since.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from jostle._types import Floats, Ints
from jostle.geometry.contact import describe_rows
from jostle.geometry.contact_kind import NEAR, TOUCHING
from jostle.interface.frame import Frame
from jostle.report.report import Closest, Details

_TOUCHING, _NEAR = np.array([TOUCHING], np.uint8), np.array([NEAR], np.uint8)


def details_of_rows(
    frame: Frame, body_a: Ints, body_b: Ints, face_a: Ints, face_b: Ints, kind: NDArray[np.uint8]
) -> Callable[[], Details]:
    """Return a function that computes segment and normal of these rows.

    Bodies are given by number.
    """

    def compute() -> Details:
        triangles_a, triangles_b = triangles_of(frame, body_a, face_a), triangles_of(frame, body_b, face_b)
        segment, normal = np.empty((len(kind), 2, 3)), np.empty((len(kind), 3))
        describe_rows(triangles_a, triangles_b, kind, segment, normal)
        return Details(segment=segment, normal=normal)

    return compute


def triangles_of(frame: Frame, body: Ints, face: Ints) -> Floats:
    """Return (n,3,3) world corners of the faces of rows; those of face 0 for -1."""
    corners = np.empty((len(face), 3, 3))
    order = np.argsort(body, kind="stable")
    for rows in np.split(order, np.flatnonzero(np.diff(body[order])) + 1):
        if len(rows):
            number = int(body[rows[0]])
            faces = frame.bodies.meshes[number].faces[np.maximum(face[rows], 0)]
            corners[rows] = frame.world_vertices(number)[faces]
    return corners


def closest_of_faces(distance: float, face_a: int, face_b: int, triangle_a: Floats, triangle_b: Floats) -> Closest:
    """Return the closest points of two faces (3,3); a common point if they touch."""
    segment, normal = np.empty((1, 2, 3)), np.empty((1, 3))
    kind = _TOUCHING if distance == 0.0 else _NEAR
    describe_rows(triangle_a.reshape(1, 3, 3), triangle_b.reshape(1, 3, 3), kind, segment, normal)
    point_a, point_b = segment[0, 0], segment[0, 1]
    if distance == 0.0:
        point_a = point_b = 0.5 * point_a + 0.5 * point_b
    return Closest(distance, point_a, point_b, face_a, face_b)
