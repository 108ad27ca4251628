"""Mass properties of a mesh: volume, centre of mass and inertia of the solid it bounds.

By the divergence theorem every face adds the tetrahedron that it spans with one point, with the sign of its side, so that concave
solids, cavities with a reversed shell and several shells come out right; where closed shells overlap, the common part counts twice.
The point is the middle of the box about the mesh: far from the origin nothing cancels. An inverted mesh has the mass of the outward
one. An open mesh bounds nothing, and neither does a closed one without volume: both are an error that says what to do, and
`mass_of_box` gives the mass of the box about them, which is what the simulation takes for them.

`principal_axes` turns an inertia until it is diagonal, by Jacobi's rotations in plain floats: the same bits on every processor.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from jostle._types import Floats
from jostle.errors import InputError
from jostle.shapes.mesh import Mesh

# A share of the box about a mesh: a closed mesh with less volume than this has none but roundings.
LEAST_SHARE = 1e-12
_SWEEPS = 30  # of Jacobi's rotations; five are enough for float64


class MassProperties(NamedTuple):
    """Mass properties of a solid of density 1; multiply by a density for others."""

    volume: float  # > 0
    centre: Floats  # (3,) centre of mass, body coordinates
    inertia: Floats  # (3,3) about the centre of mass, along the axes of the body; unit length to the fifth


def mass_properties(mesh: Mesh) -> MassProperties:
    """Return volume, centre of mass and inertia of a closed mesh, filled with density 1.

    Raises `InputError` for an open mesh and for one without volume.
    """
    if not mesh.is_closed:
        raise InputError(f"mesh {mesh.name!r} is open, so it has no volume; close it, or take mass_of_box for the box about it")
    bounds = mesh.bounds
    middle = 0.5 * bounds[0] + 0.5 * bounds[1]
    # In units of the size of the mesh: the fifth power of 1e-30 would be no number.
    size = mesh.size if mesh.size > 0.0 else 1.0
    a, b, c = ((mesh.vertices[mesh.faces[:, k]] - middle) / size for k in range(3))
    six_volumes = (a * cross(b, c)).sum(axis=1)
    total = a + b + c
    volume = float(six_volumes.sum()) / 6.0
    edges = (bounds[1] - bounds[0]) / size
    if abs(volume) <= LEAST_SHARE * float(edges[0] * edges[1] * edges[2]):
        raise InputError(f"mesh {mesh.name!r} is closed but holds no volume; thicken it, or take mass_of_box for the box about it")
    centre = (six_volumes[:, None] * total).sum(axis=0) / (24.0 * volume)
    # ∫ x xᵀ over the tetrahedron 0 a b c is its determinant / 120 times the sum below.
    second = np.empty((3, 3))
    for i in range(3):
        for j in range(i + 1):
            products = total[:, i] * total[:, j] + a[:, i] * a[:, j] + b[:, i] * b[:, j] + c[:, i] * c[:, j]
            second[i, j] = second[j, i] = float((six_volumes * products).sum()) / 120.0
    second -= volume * (centre[:, None] * centre)
    if volume < 0.0:
        volume, second = -volume, -second
    inertia = (second[0, 0] + second[1, 1] + second[2, 2]) * np.eye(3) - second
    return MassProperties(volume * size**3, middle + centre * size, inertia * size**5)


def mass_of_box(mesh: Mesh) -> MassProperties:
    """Return volume, centre of mass and inertia of a mesh's bounding box (body axes), density 1.

    The volume of a flat mesh is 0 here.
    """
    x, y, z = (float(edge) for edge in mesh.bounds[1] - mesh.bounds[0])
    volume = x * y * z
    inertia = volume / 12.0 * np.diag([y * y + z * z, z * z + x * x, x * x + y * y])
    return MassProperties(volume, 0.5 * mesh.bounds[0] + 0.5 * mesh.bounds[1], inertia)


def principal_axes(inertia: ArrayLike) -> tuple[Floats, Floats]:
    """Return the moments (3,) and right-handed axes (3,3), in columns, of a symmetric matrix.

    A diagonal matrix comes back with its own moments in their order, and the axes of its coordinates.
    """
    m = np.array(inertia, dtype=np.float64).tolist()
    axes = np.eye(3).tolist()
    for _ in range(_SWEEPS):
        if m[0][1] == 0.0 and m[0][2] == 0.0 and m[1][2] == 0.0:
            break
        for p, q in ((0, 1), (0, 2), (1, 2)):
            _rotate(m, axes, p, q)
    return np.array([m[0][0], m[1][1], m[2][2]]), np.array(axes)


def _rotate(m: list[list[float]], axes: list[list[float]], p: int, q: int) -> None:
    """Rotate about the third axis until the entry (p, q) of m vanishes."""
    off = m[p][q]
    # What a diagonal entry does not notice is 0.
    if abs(off) <= 1e-18 * (abs(m[p][p]) + abs(m[q][q])):
        m[p][q] = m[q][p] = 0.0
        return
    ratio = (m[q][q] - m[p][p]) / (2.0 * off)
    tangent = math.copysign(1.0, ratio) / (abs(ratio) + math.hypot(1.0, ratio))
    cosine = 1.0 / math.sqrt(1.0 + tangent * tangent)
    sine = tangent * cosine
    m[p][p] -= tangent * off
    m[q][q] += tangent * off
    m[p][q] = m[q][p] = 0.0
    r = 3 - p - q
    m[r][p], m[r][q] = cosine * m[r][p] - sine * m[r][q], sine * m[r][p] + cosine * m[r][q]
    m[p][r], m[q][r] = m[r][p], m[r][q]
    for row in axes:
        row[p], row[q] = cosine * row[p] - sine * row[q], sine * row[p] + cosine * row[q]


def cross(a: Floats, b: Floats) -> Floats:
    """Cross products of (…,3) vectors: the same as np.cross, in a third of the time."""
    return a[..., [1, 2, 0]] * b[..., [2, 0, 1]] - a[..., [2, 0, 1]] * b[..., [1, 2, 0]]
