"""Points and polygons as readers return them, in the file's order.

Triangle k of a file of triangles is face k; `triangulate.py` cuts polygons. Points with bit-equal coordinates (-0.0 equals 0.0)
become one vertex, numbered by first occurrence; nothing is merged by tolerance.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from jostle import cast
from jostle._types import Floats, Longs
from jostle.shapes.formats.source import Source, UnreadableError


class Polygons(NamedTuple):
    """Polygons of a file: point numbers end to end, and the size of each polygon."""

    points: Floats  # (n, 3)
    corners: Longs  # (sum(sizes),)
    sizes: Longs  # (p,)


def polygons_from_lists(source: Source, points: list[list[float]] | Floats, polygons: list[list[int]]) -> Polygons:
    """Return `Polygons` from lists."""
    source.budget.take("vertices", len(points))
    return Polygons(
        np.asarray(points, dtype=np.float64).reshape(-1, 3),
        np.asarray([corner for polygon in polygons for corner in polygon], dtype=np.int64),
        np.asarray([len(polygon) for polygon in polygons], dtype=np.int64),
    )


def triangle_soup(source: Source, corners: NDArray[np.floating]) -> Polygons:
    """Return `Polygons` for (m, 3, 3) or (3 m, 3) corner coordinates."""
    source.budget.take("vertices", corners.size // 3)
    points = np.asarray(corners, dtype=np.float64).reshape(-1, 3)
    return Polygons(points, np.arange(len(points)), np.full(len(points) // 3, 3))


def checked(polygons: Polygons, where: str = "") -> Polygons:
    """Return the polygons, or raise for bad coordinates, corners or sizes."""
    points, corners, sizes = polygons
    prefix = f"{where}: " if where else ""
    if len(sizes) == 0:
        raise UnreadableError(f"{prefix}it holds no faces")
    if not np.isfinite(points).all():
        row, column = np.argwhere(~np.isfinite(points))[0]
        raise UnreadableError(f"{prefix}vertex {row} has {points[row, column]} as its {'xyz'[column]} coordinate")
    if (sizes < 3).any():
        first = int(np.argmax(sizes < 3))
        raise UnreadableError(f"{prefix}face {first} has {sizes[first]} corners; a face needs at least 3")
    bad = (corners < 0) | (corners >= len(points))
    if bad.any():
        at = int(np.argmax(bad))
        face = int(np.searchsorted(np.cumsum(sizes), at, side="right"))
        raise UnreadableError(
            f"{prefix}face {face} refers to vertex {corners[at]}; there are {len(points)} vertices (counted from 0)"
        )
    return polygons


def merged(points: Floats, faces: Longs) -> tuple[Floats, Longs]:
    """Return points without bit-equal duplicates, and renumbered faces.

    Points keep the order of their first occurrence.
    """
    points = np.ascontiguousarray(points + 0.0)  # -0.0 becomes 0.0
    _, first, inverse = np.unique(points.view("V24").ravel(), return_index=True, return_inverse=True)
    rank = np.empty(len(first), dtype=np.int64)
    rank[np.argsort(first)] = np.arange(len(first))
    return points[np.sort(first)], rank[inverse.ravel()][faces]


def moved(points: Floats, transform: Floats) -> Floats:
    """Apply a (4, 4) or (3, 3) transform, summing in a fixed order."""
    x, y, z = points.T
    with np.errstate(over="ignore", invalid="ignore"):
        columns = [(row[0] * x + row[1] * y) + row[2] * z for row in transform[:3]]
        if transform.shape == (4, 4):
            columns = [column + shift for column, shift in zip(columns, transform[:3, 3], strict=True)]
    result = np.stack(columns, axis=1)
    return np.where(np.abs(result) < cast.SMALLEST_COORDINATE, 0.0, result)


def is_mirroring(transform: Floats) -> bool:
    """Return whether a transform mirrors, even if its determinant underflows."""
    return bool(np.linalg.slogdet(transform[:3, :3])[0] < 0.0)
