"""Mass properties of the solid within a mesh: volume, centre of mass and inertia.

By the divergence theorem every face adds the signed tetrahedron that it spans with one point, which is right for concave solids,
cavities with a reversed shell and several shells; where closed shells overlap, the common part counts twice. The point is the
centre of the mesh's box, so that nothing cancels far from the origin. An inverted mesh has the mass of the outward one. Open meshes
and closed meshes without volume raise an error with a cure; the simulation uses `mass_of_box` for them.

`principal_axes` diagonalises an inertia by Jacobi rotations in plain floats: the same bits on every processor.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from jostle._types import Floats
from jostle.errors import InputError
from jostle.shapes.mesh import Mesh

# Share of the box's volume: less than this is rounding.
LEAST_SHARE = 1e-12
_SWEEPS = 30  # of Jacobi rotations; five suffice for float64


class MassProperties(NamedTuple):
    """Mass properties of a solid of density 1; multiply by a density for others."""

    volume: float  # > 0
    centre: Floats  # (3,) centre of mass, body coordinates
    inertia: Floats  # (3,3) about the centre of mass, along the axes of the body; unit length to the fifth


def mass_properties(mesh: Mesh) -> MassProperties:
    """Return volume, centre of mass and inertia of a closed mesh of density 1.

    Raises `InputError` for an open mesh and for one without volume.
    """
    if not mesh.is_closed:
        raise InputError(f"mesh {mesh.name!r} is open, so it has no volume; close it, or take mass_of_box for the box about it")
    bounds = mesh.bounds
    middle = 0.5 * bounds[0] + 0.5 * bounds[1]
    # In units of the mesh size: the fifth power of 1e-30 would underflow.
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
    """Return volume, centre of mass and inertia of a mesh's box, of density 1.

    Axes are those of the body. A flat mesh has volume 0.
    """
    x, y, z = (float(edge) for edge in mesh.bounds[1] - mesh.bounds[0])
    volume = x * y * z
    inertia = volume / 12.0 * np.diag([y * y + z * z, z * z + x * x, x * x + y * y])
    return MassProperties(volume, 0.5 * mesh.bounds[0] + 0.5 * mesh.bounds[1], inertia)


def principal_axes(inertia: ArrayLike) -> tuple[Floats, Floats]:
    """Return the moments (3,) and right-handed axes (3,3) of a symmetric matrix.

    Axes are in columns. A diagonal matrix gives its own entries in order, and the coordinate axes.
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
    # Below the rounding of the diagonal.
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
    """Return cross products of (…,3) vectors, three times as fast as np.cross."""
    return a[..., [1, 2, 0]] * b[..., [2, 0, 1]] - a[..., [2, 0, 1]] * b[..., [1, 2, 0]]
