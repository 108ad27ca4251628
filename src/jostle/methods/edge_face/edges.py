"""The unique edges of a mesh and their faces: E in §1 of Kitamura et al. 1998.

An edge is a pair of vertex numbers. Deviation: coincident vertices with different numbers are not welded, because a deformation
may pull them apart. So faces that share no vertex numbers (a soup, most STL files) have three edges each, where a welded surface
has one and a half. Sides of zero length are kept: a face that is a point has no other edges.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from jostle._types import Ints
from jostle.geometry.unique_rows import unique_rows


class EdgeShape(NamedTuple):
    """Faces and edges; those of edge k: edge_faces[edge_start[k] : edge_start[k + 1]]."""

    faces: Ints  # (m,3)
    edges: Ints  # (e,2) lower vertex number first
    edge_start: Ints  # (e+1,)
    edge_faces: Ints  # (3m,) or fewer: a face that has one edge twice is listed once


def edges_with_their_faces(faces: Ints) -> EdgeShape:
    """Return the unique edges of faces (m,3), sorted, and the faces of each."""
    sides = np.sort(faces[:, [[0, 1], [1, 2], [2, 0]]].reshape(-1, 2), axis=1)
    holder = np.repeat(np.arange(len(faces), dtype=np.int32), 3)
    held = unique_rows(np.column_stack([sides, holder]))
    new = np.ones(len(held), bool)
    new[1:] = (held[1:, :2] != held[:-1, :2]).any(axis=1)
    start = np.append(np.flatnonzero(new), len(held)).astype(np.int32)
    edges, edge_faces = (np.ascontiguousarray(part.astype(np.int32)) for part in (held[new, :2], held[:, 2]))
    return EdgeShape(faces, edges, start, edge_faces)
