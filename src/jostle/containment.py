"""Solids: which connected parts of a body lie inside another one.

A part (connected component of faces) that crosses the other surface is not inside it. Any other part lies on one side as a whole,
so one of its vertices decides: the first that is not exactly on the other surface, by the exact winding number of
`geometry/winding.py` (inside means not zero: inverted meshes and overlapping shells count, a cavity with its own reversed shell is
free). A part with all of its vertices on the other surface is left as touching. Only the outer body has to be closed.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from jostle.broad_phase.volumes import CandidatePairs
from jostle.frame import Floats, Frame, Ints
from jostle.geometry.contact_kind import A_IN_B, B_IN_A, CROSSING
from jostle.geometry.winding import crossing_winding
from jostle.kernels.arrays import read_only_view
from jostle.report import Contacts


def first_faces_of_contained_parts(
    vertices: Floats,
    faces: Ints,
    part_of_face: Ints,
    crossing_faces: NDArray[np.integer],
    outer_vertices: Floats,
    outer_faces: Ints,
) -> list[int]:
    """Return the lowest face of every part of a body that lies inside the outer body (both in world vertices)."""
    outer_vertices, outer_faces = read_only_view(outer_vertices), read_only_view(outer_faces)
    lower, upper = outer_vertices[np.unique(outer_faces)].min(axis=0), outer_vertices[np.unique(outer_faces)].max(axis=0)
    crossing = np.zeros(int(part_of_face.max()) + 1, bool)
    crossing[part_of_face[crossing_faces]] = True
    _, first_faces = np.unique(part_of_face, return_index=True)
    found = []
    for part, first in enumerate(first_faces.tolist()):
        if crossing[part]:
            continue
        corners = np.unique(faces[part_of_face == part])
        points = vertices[corners]
        if (points < lower).any() or (points > upper).any():
            continue
        for x, y, z in points.tolist():
            winding, on_surface = crossing_winding(x, y, z, outer_vertices, outer_faces)
            if not on_surface:
                if winding != 0:
                    found.append(first)
                break
    return found


def contained_parts(pairs: CandidatePairs, contacts: Contacts, frame: Frame) -> list[tuple[int, int, int, int, int]]:
    """Return (body_a, body_b, face_a, face_b, kind) for every part that lies inside the other body of its pair.

    `contacts` are all touching rows of these pairs, with bodies by number; one of the two faces is -1.
    """
    found = []
    meshes = frame.bodies.meshes
    for a, b in zip(pairs.body_a.tolist(), pairs.body_b.tolist(), strict=True):
        crossing = (contacts.body_a == a) & (contacts.body_b == b) & (contacts.kind == CROSSING)
        for inner, outer, faces, kind in ((a, b, contacts.face_a, A_IN_B), (b, a, contacts.face_b, B_IN_A)):
            if not meshes[outer].is_closed:
                continue
            mesh = meshes[inner]
            for face in first_faces_of_contained_parts(
                frame.world_vertices(inner),
                mesh.faces,
                mesh.component_of_face,
                faces[crossing],
                frame.world_vertices(outer),
                meshes[outer].faces,
            ):
                found.append((a, b, face, -1, kind) if kind == A_IN_B else (a, b, -1, face, kind))
    return found
