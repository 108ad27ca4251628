"""Perforated sheet metal: a plate with a grid of round holes."""

from __future__ import annotations

import numpy as np

from jostle.shapes.build.rings import circle, strip
from jostle.shapes.mesh import Mesh


def perforated_sheet(nx: int = 16, ny: int = 12, segments: int = 16, thickness: float = 0.02) -> Mesh:
    """Return a sheet in z = 0 of nx by ny square cells with a hole each.

    It has nx * ny * (8 + 4 * segments) + 4 * (nx + ny) faces; `segments` are those of a hole, a multiple of 4. The sheet is 1.6
    along x.
    """
    pitch = 1.6 / nx
    corners, holes = (nx + 1) * (ny + 1), nx * ny * segments
    grid = np.stack(np.meshgrid(np.arange(nx + 1) - nx / 2.0, np.arange(ny + 1) - ny / 2.0), axis=-1).reshape(-1, 2)
    centres = np.stack(np.meshgrid(np.arange(nx) + 0.5 - nx / 2.0, np.arange(ny) + 0.5 - ny / 2.0), axis=-1).reshape(-1, 1, 2)
    # Holes begin at the angle of a cell's first corner, as `strip` expects.
    turned = circle(segments, 0.35)[:, :2] @ np.array([[1.0, 1.0], [-1.0, 1.0]]) * -(0.5**0.5)
    side = np.vstack([grid, (centres + turned).reshape(-1, 2)]) * pitch
    vertices = np.vstack([np.hstack([side, np.full((len(side), 1), z)]) for z in (thickness / 2.0, -thickness / 2.0)])
    top = np.arange(corners + holes)
    below = corners + holes  # from a vertex to the one under it
    faces = []
    for cell in range(nx * ny):
        corner = cell // nx * (nx + 1) + cell % nx
        square = top[[corner, corner + 1, corner + nx + 2, corner + nx + 1]]
        hole = top[corners + cell * segments : corners + (cell + 1) * segments]
        upper = strip(square, hole)
        faces += [upper, upper[:, ::-1] + below, strip(hole, hole + below)]
    row, column = np.arange(nx + 1), np.arange(ny + 1) * (nx + 1)
    rim = np.concatenate([row[:-1], column[:-1] + nx, (row + column[-1])[:0:-1], column[:0:-1]])
    faces.append(strip(rim + below, rim))
    return Mesh(vertices, np.vstack(faces), name=f"perforated sheet of {sum(len(each) for each in faces)} faces")
