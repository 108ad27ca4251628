"""Patches: the faces of a mesh in groups of 64 neighbours, the unit of drawing.

A patch has its own copies of its vertices and corners relative to its first one, so that it is placed in a view by one
pass over a short run of memory, and a patch whose box lies outside the picture costs one test. The copies are exact: a
vertex that two patches share gets the same bits in both, and the picture of a closed mesh stays closed. Faces are taken
in Morton order of their centroids, 64 at a time; none is dropped, not even one without area. Not from the paper, which
left this to the display list of its hardware.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from jostle._types import Floats, Ints
from jostle.geometry.morton import codes_of_points
from jostle.kernels.arrays import read_only_view

FACES_IN_PATCH = 64
POINTS_IN_PATCH = 3 * FACES_IN_PATCH  # at most, when no two faces share a vertex


class Patches(NamedTuple):
    """The patches of a mesh: k of them, with p points and m faces in all.

    Patch i has the points first_point[i] … first_point[i+1] and the faces first_face[i] … first_face[i+1].
    """

    points: Floats  # (p, 3) vertices of the patches one after another, exact copies
    vertex_of: Ints  # (p,) the vertex of the mesh that each is a copy of
    corners: Ints  # (m, 3) counted from the first point of the patch, in the order of the mesh's face
    face_of: Ints  # (m,) the face of the mesh
    first_point: Ints  # (k + 1,)
    first_face: Ints  # (k + 1,)
    centre: Floats  # (k, 3) middle of the box of each patch
    half: Floats  # (k, 3) half its sides, rounded outward


def patches_of(vertices: Floats, faces: Ints) -> Patches:
    """Group the faces of a mesh.

    Parameters
    ----------
    vertices : (n, 3) float64
        Finite.
    faces : (m, 3) int32
        Rows of `vertices`; m may be 0.

    Returns
    -------
    Patches
        All faces in ceil(m / 64) patches; every array is read-only.
    """
    vertices = np.asarray(vertices, np.float64).reshape(-1, 3)
    faces = np.asarray(faces, np.int32).reshape(-1, 3)
    # A third first: three coordinates near the largest float must not overflow.
    middles = (vertices / 3.0)[faces].sum(axis=1)
    order = np.argsort(codes_of_points(middles), kind="stable").astype(np.int32)
    first_face = np.append(np.arange(0, len(faces), FACES_IN_PATCH), len(faces)).astype(np.int32)
    # One sorted list of distinct (patch, vertex) pairs gives the points, and the place of each corner among them.
    patch_of_corner = np.repeat(np.arange(len(faces), dtype=np.int64) // FACES_IN_PATCH, 3)
    keys, place = np.unique((patch_of_corner << 32) | faces[order].ravel(), return_inverse=True)
    first_point = np.searchsorted(keys >> 32, np.arange(len(first_face))).astype(np.int32)
    corners = (place.ravel() - first_point[patch_of_corner]).astype(np.int32).reshape(-1, 3)
    vertex_of = (keys & 0xFFFFFFFF).astype(np.int32)
    points = vertices[vertex_of]
    centre, half = boxes_of(points, first_point)
    return Patches(*map(read_only_view, (points, vertex_of, corners, order, first_point, first_face, centre, half)))


def patch_arrays(patches: Patches) -> list[NDArray[Any]]:
    """Return the arrays of a row of an `AddressTable`, in the order kernels read."""
    return [patches.points, patches.corners, patches.first_point, patches.first_face, patches.centre, patches.half]


def boxes_of(points: Floats, first_point: Ints) -> tuple[Floats, Floats]:
    """Return middles and half sides (k, 3), rounded outward, of the patches' boxes."""
    if len(first_point) == 1:
        return np.empty((0, 3)), np.empty((0, 3))
    lower = np.minimum.reduceat(points, first_point[:-1], axis=0)
    upper = np.maximum.reduceat(points, first_point[:-1], axis=0)
    centre = lower + (upper - lower) / 2.0
    return centre, np.nextafter(np.maximum(upper - centre, centre - lower), np.inf)
