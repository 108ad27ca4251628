"""The faces of all bodies in one flat table, and the world vertices of a frame as columns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from jostle._types import Floats, Longs
from jostle.geometry.rigid import SMALLEST_WORLD_COORDINATE
from jostle.interface.frame import Frame
from jostle.shapes.mesh import Mesh


class FaceTable(NamedTuple):
    """Which vertices the faces of all bodies have; bodies one after the other."""

    corners: Longs  # (3, m) in the columns of `world_points`
    first_face: Longs  # (n,) the first face of each body
    first_point: Longs  # (n,) the first vertex of each body

    @staticmethod
    def of(meshes: Sequence[Mesh]) -> FaceTable:
        """Return the faces of some meshes."""
        faces, points = (np.array([len(getattr(mesh, name)) for mesh in meshes], np.int64) for name in ("faces", "vertices"))
        first_point = np.cumsum(points) - points
        corners = [mesh.faces.T + start for mesh, start in zip(meshes, first_point, strict=True)]
        return FaceTable(np.concatenate([np.empty((3, 0), np.int64), *corners], axis=1), np.cumsum(faces) - faces, first_point)


def world_points(frame: Frame, first_point: Longs) -> Floats:
    """Return the world vertices (3, v) of all bodies, by the formula of `geometry/rigid.py`.

    Bodies that share their vertices are placed together.
    """
    points = np.empty((3, sum(map(len, frame.vertices))))
    sharing: dict[int, list[int]] = {}
    for body, vertices in enumerate(frame.vertices):
        sharing.setdefault(id(vertices), []).append(body)
    for bodies in sharing.values():
        x, y, z = frame.vertices[bodies[0]].T
        places = first_point[bodies][:, None] + np.arange(len(x))
        for axis in range(3):
            r0, r1, r2, t = frame.poses[bodies, axis].T[:, :, None]
            points[axis][places] = ((r0 * x + r1 * y) + r2 * z) + t
    points[np.abs(points) < SMALLEST_WORLD_COORDINATE] = 0.0
    return points
