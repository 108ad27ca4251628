"""Make a nearly convex mesh exactly convex by flipping diagonals.

The quads of a sphere between circles of latitude are planar on paper; their four rounded corners are not, and one of the two
diagonals then makes a crease of 1e-17 that an exact convexity test detects. Each such quad gets the diagonal that bulges, decided
in integers. A closed surface that bulges at every edge is convex, so methods that need convex bodies accept these meshes without
any tolerance.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from jostle.shapes.mesh import Mesh

NEARLY_PLANE = 1e-9  # creases below this share of the cubed size are decided in integers


def with_bulging_diagonals(mesh: Mesh) -> Mesh:
    """Return the mesh with every creased edge flipped, at most one per face."""
    faces = mesh.faces.astype(np.int64)
    left, right, corners = _edges_with_both_faces(faces)
    rise = _volume(*(mesh.vertices[corner] for corner in corners))
    doubtful = np.flatnonzero(rise > -NEARLY_PLANE * mesh.size**3)
    whole = _as_whole_numbers(mesh.vertices)
    exact = _volume(*(whole[corner[doubtful]] for corner in corners))
    creased = doubtful[np.array([volume > 0 for volume in exact], dtype=bool)]
    a, b, c, d = (corner[creased] for corner in corners)
    faces[left[creased]] = np.stack([a, d, c], axis=1)
    faces[right[creased]] = np.stack([d, b, c], axis=1)
    return Mesh(mesh.vertices, faces, name=mesh.name)


def _edges_with_both_faces(faces: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64], tuple[NDArray[np.int64], ...]]:
    """Return the faces (a, b, c) and (b, a, d) of each edge a-b, and the corners.

    The mesh is a closed manifold.
    """
    start, end, apex = faces.ravel(), np.roll(faces, -1, axis=1).ravel(), np.roll(faces, -2, axis=1).ravel()
    face = np.repeat(np.arange(len(faces)), 3)
    forward, backward = np.flatnonzero(start < end), np.flatnonzero(start > end)
    forward = forward[np.lexsort((end[forward], start[forward]))]
    backward = backward[np.lexsort((start[backward], end[backward]))]
    return face[forward], face[backward], (start[forward], end[forward], apex[forward], apex[backward])


def _volume(a: NDArray, b: NDArray, c: NDArray, d: NDArray) -> NDArray:  # type: ignore[type-arg]
    """Return six times a tetrahedron's volume, positive if d is in front of (a, b, c).

    Works for floats and integers.
    """
    u, v, w = b - a, c - a, d - a
    volume: NDArray = (  # type: ignore[type-arg]
        (u[:, 1] * v[:, 2] - u[:, 2] * v[:, 1]) * w[:, 0]
        + (u[:, 2] * v[:, 0] - u[:, 0] * v[:, 2]) * w[:, 1]
        + (u[:, 0] * v[:, 1] - u[:, 1] * v[:, 0]) * w[:, 2]
    )
    return volume


def _as_whole_numbers(points: NDArray[np.float64]) -> NDArray[np.object_]:
    """Scale all coordinates by one power of two to Python integers."""
    fraction, exponent = np.frexp(points)
    lowest = int(exponent[points != 0.0].min())
    mantissa = np.ldexp(fraction, 53).astype(np.int64).ravel().tolist()
    # A coordinate of 0 has exponent 0, perhaps below the lowest of the others; its mantissa is 0 anyway.
    shift = np.maximum(exponent - lowest, 0).ravel().tolist()
    whole = np.empty(points.size, dtype=object)
    whole[:] = [m << e for m, e in zip(mantissa, shift, strict=True)]
    return whole.reshape(points.shape)
