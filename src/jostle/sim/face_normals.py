"""Outward normals of all bodies' faces in one array, for contact manifolds.

Bodies that share a mesh share its normals. Normals of an inverted mesh (closed, of negative volume) are flipped outward. A
deforming body has its own normals, renewed when its vertices change.
"""

from __future__ import annotations

import numpy as np

from jostle._types import Floats
from jostle.interface.frame import Frame
from jostle.shapes.mesh import Mesh, unit_normals


class FaceNormals:
    """`normals` (f,3), and `first_face` (bodies,) int64, the first face of each body."""

    def __init__(self, frame: Frame) -> None:
        parts: list[Floats] = []
        self.first_face = np.zeros(len(frame), np.int64)
        first_of: dict[str, int] = {}
        total = 0
        for row, mesh in enumerate(frame.bodies.meshes):
            own = bool(frame.bodies.deformable[row])
            key = f"body {row}" if own else mesh.digest
            if key not in first_of:
                first_of[key] = total
                parts.append(_outward(mesh, frame.vertices[row] if own else mesh.vertices))
                total += len(mesh.faces)
            self.first_face[row] = first_of[key]
        self.normals = np.concatenate(parts) if parts else np.empty((0, 3))

    def renew(self, row: int, mesh: Mesh, vertices: Floats) -> None:
        """Update the normals of a deforming body from its vertices (n,3)."""
        first = int(self.first_face[row])
        self.normals[first : first + len(mesh.faces)] = _outward(mesh, vertices)


def _outward(mesh: Mesh, vertices: Floats) -> Floats:
    normals = unit_normals(*(vertices[mesh.faces[:, k]] for k in range(3)))
    return -normals if mesh.is_closed and mesh.volume < 0.0 else normals
