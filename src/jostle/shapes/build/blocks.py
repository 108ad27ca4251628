"""Solids cut from a grid of blocks: the boundary between filled and empty cells.

Closed and facing outward by construction; manifold if no two filled cells meet only in an edge or a corner. Chairs, gates and walls
with doors are built this way.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from jostle.shapes.mesh import Mesh

# For each of the six sides of a cell: its direction, and its corners, counter-clockwise from outside.
_SIDES = (
    ((-1, 0, 0), ((0, 0, 0), (0, 0, 1), (0, 1, 1), (0, 1, 0))),
    ((1, 0, 0), ((1, 0, 0), (1, 1, 0), (1, 1, 1), (1, 0, 1))),
    ((0, -1, 0), ((0, 0, 0), (1, 0, 0), (1, 0, 1), (0, 0, 1))),
    ((0, 1, 0), ((0, 1, 0), (0, 1, 1), (1, 1, 1), (1, 1, 0))),
    ((0, 0, -1), ((0, 0, 0), (0, 1, 0), (1, 1, 0), (1, 0, 0))),
    ((0, 0, 1), ((0, 0, 1), (1, 0, 1), (1, 1, 1), (0, 1, 1))),
)


def blocks(xs: Sequence[float], ys: Sequence[float], zs: Sequence[float], filled: ArrayLike, name: str) -> Mesh:
    """Return the surface of the filled cells.

    Parameters
    ----------
    xs, ys, zs : sequences of float
        Rising positions of the grid planes.
    filled : (len(xs) - 1, len(ys) - 1, len(zs) - 1) array of bool
        Which cells are solid.
    name : str
        Of the mesh.
    """
    inside = np.pad(np.asarray(filled, dtype=bool), 1)
    number: dict[tuple[int, int, int], int] = {}
    faces = []
    for cell in np.argwhere(inside):
        for outward, corners in _SIDES:
            if inside[tuple(cell + outward)]:
                continue
            places = [tuple(int(i) for i in cell - 1 + corner) for corner in corners]
            a, b, c, d = (number.setdefault(place, len(number)) for place in places)  # type: ignore[arg-type]
            faces += [(a, b, c), (a, c, d)]
    return Mesh(np.array([(xs[i], ys[j], zs[k]) for i, j, k in number], dtype=float), faces, name=name)
