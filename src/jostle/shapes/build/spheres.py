"""Spheres, ellipsoids and icospheres, with those of Kitamura et al. 1998 (fig. 5).

A latitude-longitude sphere with s segments and n rings between its poles has 2 s n faces; 8, 10, 24, 48, 54, 80, 120, 168, 224,
360, 528, 728, 960 and 3968 faces, the counts of the paper, are all of this family. Of the possible pairs (s, n) the roundest is
used: s nearest to 2 (n + 1). All shapes here are exactly convex (convex.py).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from jostle import cast
from jostle.errors import InputError
from jostle.shapes.build.convex import with_bulging_diagonals
from jostle.shapes.build.rings import circle, skin
from jostle.shapes.mesh import Mesh

PAPER_SPHERES = (8, 10, 24, 48, 54, 80, 120, 168, 224, 360, 528, 728, 960, 3968)
LARGEST_STRETCH = 2.0  # largest factor between segments and 2 (rings + 1) of a round sphere


def sphere(face_count: int = 528, radius: float = 1.0) -> Mesh:
    """Return a latitude-longitude sphere with exactly `face_count` faces.

    Parameters
    ----------
    face_count : int
        Even, at least 8, and the count of a round sphere; otherwise `InputError` names the nearest such counts.
        (`blob(face_count, roughness=0)` is a sphere of any even count.)
    radius : float
        Of the sphere through all vertices.
    """
    face_count = cast.as_count(face_count, "face_count", lowest=1)
    radius = positive(radius, "radius")
    family = _roundest_family(face_count)
    if family is None:
        raise InputError(_no_such_sphere(face_count))
    segments, rings = family
    latitude = np.pi * np.arange(1, rings + 1) / (rings + 1)
    points = [circle(segments, radius * np.sin(a), -radius * np.cos(a)) for a in latitude]
    solid = skin(points, (0.0, 0.0, -radius), (0.0, 0.0, radius), f"sphere of {face_count} faces")
    return with_bulging_diagonals(solid)


def _roundest_family(face_count: int) -> tuple[int, int] | None:
    """Return (segments, rings) of the roundest sphere with this many faces, or None."""
    if face_count % 2 or face_count < 8:
        return None
    half = face_count // 2
    pairs = [(half // rings, rings) for rings in range(1, half // 3 + 1) if half % rings == 0]
    stretch, segments, rings = min((abs(np.log(s / (2.0 * (n + 1)))), s, n) for s, n in pairs)
    return (segments, rings) if stretch <= np.log(LARGEST_STRETCH) else None


def _no_such_sphere(face_count: int) -> str:
    possible: list[int] = []
    distance = 1
    while len(possible) < 4:
        candidates = (face_count - distance, face_count + distance)
        possible += [count for count in candidates if _roundest_family(count) is not None]
        distance += 1
    nearest = ", ".join(str(count) for count in sorted(possible[:4]))
    return (
        f"face_count is {face_count}; no round latitude-longitude sphere has that many faces. The nearest that exist have "
        f"{nearest}; blob(face_count, roughness=0) makes a sphere of any even count from 8 on"
    )


def ellipsoid(face_count: int = 528, radii: tuple[float, float, float] = (1.0, 0.7, 0.3)) -> Mesh:
    """Return `sphere(face_count)` stretched to three radii.

    The default is the flat ellipsoid of Baciu et al. 1998.
    """
    ball = sphere(face_count)
    scale = np.array([positive(radius, f"radii[{k}]") for k, radius in enumerate(radii)])
    return with_bulging_diagonals(Mesh(ball.vertices * scale, ball.faces, name=f"ellipsoid of {face_count} faces"))


def icosahedron(radius: float = 1.0) -> Mesh:
    """Return the regular icosahedron (20 faces) with its vertices on a sphere."""
    return icosphere(0, radius)


def icosphere(subdivisions: int = 2, radius: float = 1.0) -> Mesh:
    """Return a subdivided icosahedron: 20 * 4**subdivisions nearly equal faces."""
    subdivisions = cast.as_count(subdivisions, "subdivisions", lowest=0, highest=9)
    radius = positive(radius, "radius")
    points, faces = _icosahedron()
    for _ in range(subdivisions):
        points, faces = _split_in_four(points, faces)
    return Mesh(points * radius, faces, name="icosahedron" if subdivisions == 0 else f"icosphere of {len(faces)} faces")


def _icosahedron() -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return unit vertices and outward faces of an icosahedron."""
    z = 1.0 / 5.0**0.5
    lower, upper = circle(5, 2.0 * z, -z), circle(5, 2.0 * z, z)
    half_step = np.pi / 5.0
    turn = np.array([[np.cos(half_step), np.sin(half_step)], [-np.sin(half_step), np.cos(half_step)]])
    upper[:, :2] = upper[:, :2] @ turn
    mesh = skin([lower, upper], (0.0, 0.0, -1.0), (0.0, 0.0, 1.0), "icosahedron")
    points = mesh.vertices / np.linalg.norm(mesh.vertices, axis=1, keepdims=True)
    return points, mesh.faces.astype(np.int64)


def _split_in_four(points: NDArray[np.float64], faces: NDArray[np.int64]) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Split every face at the middles of its sides, moved out to the unit sphere."""
    sides = np.sort(faces[:, [[0, 1], [1, 2], [2, 0]]].reshape(-1, 2), axis=1)
    edges, of_side = np.unique(sides, axis=0, return_inverse=True)
    middles = points[edges[:, 0]] + points[edges[:, 1]]
    middles /= np.linalg.norm(middles, axis=1, keepdims=True)
    ab, bc, ca = (of_side.reshape(-1, 3) + len(points)).T
    a, b, c = faces.T
    quarters = np.stack([[a, ab, ca], [ab, b, bc], [ca, bc, c], [ab, bc, ca]])  # (4, 3, m)
    return np.vstack([points, middles]), quarters.transpose(2, 0, 1).reshape(-1, 3)


def positive(value: float, field: str) -> float:
    """Return a length > 0 within the accepted range of coordinates."""
    number = cast.as_length(value, field)
    if number < cast.SMALLEST_COORDINATE:
        raise InputError(f"{field} is {number}; it must be a length > 0")
    return number
