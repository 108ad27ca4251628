"""Brute force for tests of shapes: which faces of a mesh, or of two meshes, cross. Plain NumPy, one face at a time.

An edge crosses a face when its ends lie strictly on either side of the face's plane and it passes through the face.
Edges that share a vertex with the face are left out, so neighbours are tested with what they do not share. Exactly
coplanar overlaps are not seen; `folds` finds those between neighbours.
"""

from __future__ import annotations

import numpy as np


def crossings(mesh, other=None):
    """Return the list of (face, face) whose edges cross, each pair once, in welded vertices."""
    same = other is None
    other = mesh if same else other
    corners_a, corners_b = mesh.vertices[mesh.faces], other.vertices[other.faces]
    low_a, high_a, low_b, high_b = corners_a.min(1), corners_a.max(1), corners_b.min(1), corners_b.max(1)
    order = np.argsort(low_b[:, 0], kind="stable")
    sorted_low = low_b[order, 0]
    found = set()
    for f in range(len(corners_a)):
        near = order[: np.searchsorted(sorted_low, high_a[f, 0], side="right")]
        near = near[((high_b[near] >= low_a[f]) & (low_b[near] <= high_a[f])).all(axis=1)]
        near = near[near != f] if same else near
        if len(near) == 0:
            continue
        for i, j in ((0, 1), (1, 2), (2, 0)):
            hit = _pierced(corners_a[f, i], corners_a[f, j], corners_b[near])
            if same:
                shares = np.isin(mesh.welded_faces[near], mesh.welded_faces[f, [i, j]]).any(axis=1)
                hit &= ~shares
            found |= {(f, int(g)) for g in near[hit]}
    if same:
        return sorted({tuple(sorted(pair)) for pair in found})
    # Each crossing pair has an edge of one through a face of the other: look from the other side as well.
    return sorted(found)


def _pierced(start, end, triangles):
    a, b, c = triangles[:, 0], triangles[:, 1], triangles[:, 2]
    below, above = _volume(a, b, c, start), _volume(a, b, c, end)
    through = np.stack([_volume(start, end, a, b), _volume(start, end, b, c), _volume(start, end, c, a)])
    inside = (through > 0).all(axis=0) | (through < 0).all(axis=0)
    return (below * above < 0) & inside


def _volume(a, b, c, d):
    return np.einsum("...i,...i->...", np.cross(b - a, c - a), d - a)


def folds(mesh):
    """Return the number of edges at which two neighbouring faces lie flat on each other."""
    edges = np.sort(mesh.welded_faces[:, [[0, 1], [1, 2], [2, 0]]].reshape(-1, 2), axis=1)
    face = np.repeat(np.arange(len(mesh.faces)), 3)
    order = np.lexsort(edges.T)
    edges, face = edges[order], face[order]
    twins = np.flatnonzero((edges[1:] == edges[:-1]).all(axis=1))
    normals = mesh.face_normals
    return int((np.einsum("ij,ij->i", normals[face[twins]], normals[face[twins + 1]]) < -1.0 + 1e-9).sum())
