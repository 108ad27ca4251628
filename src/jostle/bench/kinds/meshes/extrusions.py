"""Parts with one outline along their whole length: beams and bent sheet metal."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from jostle._types import Floats
from jostle.shapes.formats.polygons import Polygons
from jostle.shapes.formats.source import Budget
from jostle.shapes.formats.triangulate import triangles
from jostle.shapes.limits import Limits
from jostle.shapes.mesh import Mesh


def extruded(outline: ArrayLike, length: float, name: str) -> Mesh:
    """Return the prism over an outline (k, 2), counter-clockwise: 4 * k - 4 faces."""
    corners = np.asarray(outline, dtype=float)
    count = len(corners)
    flat = np.hstack([corners, np.zeros((count, 1))])
    # Ears leave straight corners in the outline of the cap, so its edges match those of the sides.
    cap, _ = triangles(Polygons(flat, np.arange(count), np.array([count])), Budget(Limits()))
    half = np.array([0.0, 0.0, length / 2.0])
    here = np.arange(count)
    ahead = np.roll(here, -1)
    sides = np.vstack([np.stack([here, ahead, ahead + count], axis=1), np.stack([here, ahead + count, here + count], axis=1)])
    return Mesh(np.vstack([flat - half, flat + half]), np.vstack([sides, cap[:, ::-1], cap + count]), name=name)


def i_beam(length: float = 2.0) -> Mesh:
    """Return an I beam along z: 44 faces."""
    width, height, flange, web = 0.15, 0.2, 0.02, 0.012  # half of the first, second and last
    right = [(web, -height + flange), (web, height - flange), (width, height - flange), (width, height)]
    left = [(-x, -y) for x, y in right]
    outline = [(-width, -height), (width, -height), (width, -height + flange), *right]
    outline += [(-width, height), (-width, height - flange), *left[:2], left[2]]
    return extruded(outline, length, "I beam of 44 faces")


def l_beam(length: float = 2.0) -> Mesh:
    """Return an L profile along z: 20 faces."""
    width, wall = 0.25, 0.025
    corners = np.array([(0, 0), (width, 0), (width, wall), (wall, wall), (wall, width), (0, width)], float)
    return extruded(corners - corners.mean(axis=0), length, "L beam of 20 faces")


def bent_sheet(bend_steps: int = 12, length: float = 1.5) -> Mesh:
    """Return a sheet bent to a hat: 4 * (2 * (4 * bend_steps + 6)) - 4 faces.

    Its four bends are rounded, of `bend_steps` faces each.
    """
    middle = _rounded([(-0.9, 0.0), (-0.5, 0.0), (-0.5, 0.6), (0.5, 0.6), (0.5, 0.0), (0.9, 0.0)], 0.1, bend_steps)
    ahead = np.gradient(middle, axis=0)
    ahead /= np.linalg.norm(ahead, axis=1, keepdims=True)
    across = 0.01 * np.stack([-ahead[:, 1], ahead[:, 0]], axis=1)
    outline = np.vstack([middle - across, (middle + across)[::-1]]) - [0.0, 0.3]
    return extruded(outline, length, f"bent sheet of {4 * len(outline) - 4} faces")


def _rounded(corners: ArrayLike, radius: float, steps: int) -> Floats:
    """Return a path (k, 2) whose inner corners, of 90 degrees, are arcs."""
    path = np.asarray(corners, dtype=float)
    points = [path[:1]]
    for before, corner, after in zip(path, path[1:], path[2:], strict=False):
        back, ahead = (before - corner) / np.linalg.norm(before - corner), (after - corner) / np.linalg.norm(after - corner)
        turn = np.linspace(0.0, np.pi / 2.0, steps + 1)[:, None]
        points.append(corner + radius * (back * (1.0 - np.sin(turn)) + ahead * (1.0 - np.cos(turn))))
    return np.vstack([*points, path[-1:]])
