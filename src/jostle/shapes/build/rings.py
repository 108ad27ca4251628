"""Skins over rings: how every round shape of this package gets its faces.

A body has rings of points from one end to the other, each counter-clockwise about the direction of travel, and a pole at either
end. Neighbouring rings may differ in their number of points: a strip between m and n points has m + n triangles, so a skin over
rings with N points in total has exactly 2 N faces. So the exact face counts of the papers are met. The skin is closed, manifold and
faces outward by construction; it does not cross itself if the rings are star-shaped about a common axis and keep the order of their
angles.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike

from jostle._types import Floats, Longs
from jostle.shapes.mesh import Mesh, concatenated


def skin(rings: Sequence[Floats], first_pole: ArrayLike, last_pole: ArrayLike, name: str) -> Mesh:
    """Return the closed mesh over rings (k_i, 3) between two poles: 2 sum(k_i) faces."""
    return Mesh(np.vstack([first_pole, *rings, last_pole]), skin_faces([len(ring) for ring in rings]), name=name)


def skin_faces(counts: Sequence[int]) -> Longs:
    """Return the faces of a skin; the first and last vertices are the poles."""
    last = 1 + sum(counts)
    rings = np.split(np.arange(1, last), np.cumsum(counts)[:-1])
    strips = [strip(lower, upper) for lower, upper in pairwise(rings)]
    return np.vstack([fan(0, rings[0][::-1]), *strips, fan(last, rings[-1])])


def fan(centre: int, ring: Longs) -> Longs:
    """Return the triangles between a centre and a ring, counter-clockwise outside."""
    return np.stack([np.full(len(ring), centre), ring, np.roll(ring, -1)], axis=1)


def strip(lower: Longs, upper: Longs) -> Longs:
    """Return the m + n triangles between two rings that start at the same angle.

    It advances on the ring with the smaller fraction passed; ties go to the lower ring.
    """
    m, n = len(lower), len(upper)
    # Integer keys: fraction (i + 1) / m against (j + 1) / n, ties go to the lower ring.
    keys = np.concatenate([2 * np.arange(1, m + 1) * n, 2 * np.arange(1, n + 1) * m + 1])
    steps_lower = np.argsort(keys) < m
    i: Longs = np.cumsum(steps_lower) - steps_lower
    j: Longs = np.cumsum(~steps_lower) - ~steps_lower
    here, above = lower[i % m], upper[j % n]
    third = np.where(steps_lower, lower[(i + 1) % m], upper[(j + 1) % n])
    return np.stack([here, third, above], axis=1)


def circle(count: int, radius: float = 1.0, z: float = 0.0) -> Floats:
    """Return (count, 3) points of a circle about the z axis, counter-clockwise."""
    angle = 2.0 * np.pi * np.arange(count) / count
    return np.stack([radius * np.cos(angle), radius * np.sin(angle), np.full(count, float(z))], axis=1)


def lathe(profile: ArrayLike, segments: int, bottom: float, top: float, name: str) -> Mesh:
    """Return a body of revolution about z from a profile (n, 2): radius, height."""
    rings = [circle(segments, radius, z) for radius, z in np.asarray(profile, dtype=float)]
    return skin(rings, (0.0, 0.0, bottom), (0.0, 0.0, top), name)


def tube(centres: Floats, sides: Floats, ups: Floats, sections: Sequence[Floats], name: str) -> Mesh:
    """Return a closed tube over sections (k, 2) placed along centres.

    Ring k is centres[k] + u * sides[k] + v * ups[k] for (u, v) in sections[k].

    `sides`, `ups` and the direction of travel are right-handed; the ends are closed by fans about the end centres.
    """
    rings = [c + s[:, :1] * u + s[:, 1:] * v for c, u, v, s in zip(centres, sides, ups, sections, strict=True)]
    return skin(rings, centres[0], centres[-1], name)


def joined(parts: Sequence[Mesh], name: str) -> Mesh:
    """Return all parts as one mesh, in order; no vertices are merged."""
    return Mesh(*concatenated((part.vertices, part.faces) for part in parts), name=name)


def placed(mesh: Mesh, at: ArrayLike = (0.0, 0.0, 0.0), turned: float = 0.0, name: str | None = None) -> Mesh:
    """Return the mesh turned about z by an angle in radians and then shifted."""
    c, s = np.cos(turned), np.sin(turned)
    x, y, z = mesh.vertices.T
    turned_vertices = np.stack([c * x - s * y, s * x + c * y, z], axis=1) + np.asarray(at, dtype=float)
    return Mesh(turned_vertices, mesh.faces, name=name or mesh.name)
