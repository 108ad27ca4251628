"""What a reader hands over: points and polygons in the file's order; and how triangles are made of them.

A polygon is cut into a fan about its first corner, in order, so triangle k of a file of triangles is face k, and
`source_face` leads from every triangle back to its polygon. Points with bit-equal coordinates (-0.0 equals 0.0) become one
vertex, numbered by first occurrence; nothing is merged by tolerance.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


class UnreadableError(Exception):
    """The file cannot be read; the message gives the reason without the file's name."""


class Polygons(NamedTuple):
    """Polygons of a file: `corners` holds the point numbers of all polygons end to end, `sizes` how many each has."""

    points: Floats  # (n, 3)
    corners: Ints  # (sum(sizes),)
    sizes: Ints  # (p,)


def polygons_from_lists(points: list[list[float]] | Floats, polygons: list[list[int]]) -> Polygons:
    """Return `Polygons` from lists."""
    corners = [corner for polygon in polygons for corner in polygon]
    return Polygons(
        np.asarray(points, dtype=np.float64).reshape(-1, 3),
        np.asarray(corners, dtype=np.int64),
        np.asarray([len(polygon) for polygon in polygons], dtype=np.int64),
    )


def triangle_soup(corners: NDArray[np.floating]) -> Polygons:
    """Return `Polygons` for (m, 3, 3) or (3 m, 3) corner coordinates, three of its own for every triangle."""
    points = np.asarray(corners, dtype=np.float64).reshape(-1, 3)
    return Polygons(points, np.arange(len(points)), np.full(len(points) // 3, 3))


def checked(polygons: Polygons, where: str = "") -> Polygons:
    """Return the polygons if every coordinate is finite, every corner exists and every polygon has at least 3 corners."""
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


def triangles(polygons: Polygons) -> tuple[Ints, NDArray[np.int32]]:
    """Return (m, 3) triangles, each polygon a fan about its first corner, and the polygon of each."""
    _, corners, sizes = polygons
    starts = np.cumsum(sizes) - sizes
    per_polygon = sizes - 2
    source = np.repeat(np.arange(len(sizes)), per_polygon)
    step = np.arange(len(source)) - np.repeat(np.cumsum(per_polygon) - per_polygon, per_polygon)
    start = starts[source]
    faces = np.stack([corners[start], corners[start + step + 1], corners[start + step + 2]], axis=1)
    return faces, source.astype(np.int32)


def merged(points: Floats, faces: Ints) -> tuple[Floats, Ints]:
    """Return points without bit-equal repetitions, in order of first occurrence, and the faces renumbered."""
    points = np.ascontiguousarray(points + 0.0)  # -0.0 becomes 0.0
    keys = points.view("V24").ravel()
    _, first, inverse = np.unique(keys, return_index=True, return_inverse=True)
    rank = np.empty(len(first), dtype=np.int64)
    rank[np.argsort(first)] = np.arange(len(first))
    return points[np.sort(first)], rank[inverse.ravel()][faces]


def as_number(word: str, line: int) -> float:
    """Return the number a word spells; Python's digit separators are not numbers here."""
    try:
        if "_" in word:
            raise ValueError
        return float(word)
    except ValueError:
        raise UnreadableError(f"line {line}: {word!r} is not a number") from None


def as_index(word: str, line: int) -> int:
    """Return the whole number a word spells."""
    try:
        if "_" in word:
            raise ValueError
        return int(word)
    except ValueError:
        raise UnreadableError(f"line {line}: {word!r} is not a whole number") from None


def lines_of(data: bytes) -> list[str]:
    """Return the lines of a text file, whichever way they end."""
    return as_text(data).replace("\r\n", "\n").replace("\r", "\n").split("\n")


def as_text(data: bytes) -> str:
    """Return the text of a file: UTF-8 or, failing that, Latin-1 (names may hold anything; numbers are ASCII)."""
    if b"\0" in data:
        raise UnreadableError("it should be a text file but holds binary data")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return data.decode("latin-1")
