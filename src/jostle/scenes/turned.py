"""Turned and milled parts: a profile swept around an axis, varying with the angle.

A ring sweeps a closed profile (a collar, a reflector, a plate with a hole); the profile of a solid starts and ends on the axis (a
cover, a bulb, a screw). Where a lug or a ledge begins or ends, two angles lie close together, so that its flank is almost straight.
Rings and solids are closed, manifold and face outward by construction.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from jostle._types import Bools, Floats
from jostle.shapes.mesh import Mesh

FLANK = 0.001  # radians from a flank to the angles on its two sides
ROUND = 2.0 * np.pi


@dataclass(frozen=True)
class Fineness:
    """How finely parts are cut: 1 as drawn; 0.5 for a quarter of the faces."""

    scale: float

    def around(self, points: int, lowest: int = 24) -> int:
        """Return the number of points on a full circle."""
        return max(lowest, round(points * self.scale))

    def along(self, pieces: int) -> int:
        """Return the number of pieces of a line or a bend."""
        return max(1, round(pieces * self.scale))


def angles_round(count: int, flanks: Sequence[float] = ()) -> Floats:
    """Return about `count` rising angles of one turn, two close ones per flank."""
    if not len(flanks):
        return np.arange(count, dtype=np.float64) * (ROUND / count)
    at = np.sort(np.mod(np.asarray(flanks, float), ROUND))
    angles = []
    for begin, end in zip(at, np.append(at[1:], at[0] + ROUND), strict=True):
        pieces = max(2, round(count * (end - begin) / ROUND))
        angles.append(np.linspace(begin + FLANK, end - FLANK, pieces + 1))
    return np.concatenate(angles)


def flanks_of(middles: ArrayLike, half_width: float) -> list[float]:
    """Return the two flanks of each of several equal sectors."""
    return [float(middle) + side * half_width for middle in np.ravel(middles) for side in (-1.0, 1.0)]


def in_sectors(angles: Floats, middles: ArrayLike, half_width: float) -> Bools:
    """Return (n,) whether each angle lies within one of several equal sectors."""
    away = np.abs(np.mod(angles[:, None] - np.ravel(middles) + np.pi, ROUND) - np.pi)
    return (away < half_width).any(axis=1)


def oblong(angles: Floats, half_width: float, half_height: float, power: float = 8.0) -> Floats:
    """Return (n,) radii of a rounded rectangle; a larger power sharpens corners."""
    return (np.abs(np.cos(angles) / half_width) ** power + np.abs(np.sin(angles) / half_height) ** power) ** (-1.0 / power)


# A corner of a profile: radius and height (numbers, or one per angle), and the number of pieces to the next corner.
Corner = tuple[float | Floats, float | Floats, int]


def ring(angles: Floats, profile: Sequence[Corner], name: str) -> Mesh:
    """Return the closed ring over a closed profile: 2 faces per angle and piece."""
    grid = _points_of_profile(angles, [*profile, (*profile[0][:2], 1)])[:, :-1]
    radius, height = grid[:, :, 0].mean(axis=0), grid[:, :, 1].mean(axis=0)
    area = np.dot(radius, np.roll(height, -1)) - np.dot(np.roll(radius, -1), height)
    if area < 0.0:
        grid = grid[:, ::-1]
    count, points = grid.shape[:2]
    return Mesh(_placed_round(angles, grid).reshape(-1, 3), _quads(count, points, points), name=name, units="mm")


def solid(angles: Floats, profile: Sequence[Corner], name: str) -> Mesh:
    """Return the closed solid over a profile from axis to axis, bottom up."""
    grid = _points_of_profile(angles, profile)
    inner = grid[:, 1:-1]
    count, points = inner.shape[:2]
    vertices = np.vstack([_placed_round(angles, inner).reshape(-1, 3), [(0.0, 0.0, grid[0, 0, 1]), (0.0, 0.0, grid[0, -1, 1])]])
    here = np.arange(count) * points
    beside = np.roll(here, -1)
    low, high = np.full(count, count * points), np.full(count, count * points + 1)
    caps = [np.stack([low, beside, here], axis=1), np.stack([here + points - 1, beside + points - 1, high], axis=1)]
    return Mesh(vertices, np.vstack([_quads(count, points, points - 1), *caps]), name=name, units="mm")


def sheet(points: Floats, name: str) -> Mesh:
    """Return the open sheet over a grid of points (m, n, 3)."""
    rows, columns = points.shape[:2]
    corner = (np.arange(rows - 1)[:, None] * columns + np.arange(columns - 1)).ravel()
    a, b, c, d = corner, corner + columns, corner + columns + 1, corner + 1
    faces = np.stack([a, b, c, a, c, d], axis=1).reshape(-1, 3)
    return Mesh(points.reshape(-1, 3), faces, name=name, units="mm")


def moved(mesh: Mesh, pose: Floats) -> Mesh:
    """Return a mesh with its vertices moved by a pose (4, 4)."""
    x, y, z = mesh.vertices.T[:, :, None]
    vertices = (x * pose[:3, 0] + y * pose[:3, 1]) + z * pose[:3, 2] + pose[:3, 3]
    return Mesh(vertices, mesh.faces, name=mesh.name, units=mesh.units)


def in_mm(mesh: Mesh) -> Mesh:
    """Return a mesh with millimetres as its units."""
    return Mesh(mesh.vertices, mesh.faces, name=mesh.name, units="mm")


def _points_of_profile(angles: Floats, profile: Sequence[Corner]) -> Floats:
    """Return (angles, points, 2) radii and heights along a profile."""
    corners = np.stack([np.stack(np.broadcast_arrays(r, z, angles)[:2], axis=1) for r, z, _ in profile], axis=1)
    points = []
    for k, (_, _, pieces) in enumerate(profile[:-1]):
        share = (np.arange(pieces) / pieces)[None, :, None]
        points.append(corners[:, k, None] * (1.0 - share) + corners[:, k + 1, None] * share)
    return np.concatenate([*points, corners[:, -1:]], axis=1)


def _placed_round(angles: Floats, grid: Floats) -> Floats:
    """Return (angles, points, 3) points from radii and heights."""
    radius, height = grid[:, :, 0], grid[:, :, 1]
    return np.stack([radius * np.cos(angles)[:, None], radius * np.sin(angles)[:, None], height], axis=2)


def _quads(count: int, points: int, pieces: int) -> NDArray[np.int64]:
    """Return two faces per angle and piece.

    With as many pieces as points the profile is closed.
    """
    i, j = (index.ravel() for index in np.indices((count, pieces)))
    beside, above = (i + 1) % count, (j + 1) % points
    a, b, c, d = i * points + j, beside * points + j, beside * points + above, i * points + above
    return np.stack([a, b, c, a, c, d], axis=1).reshape(-1, 3)
