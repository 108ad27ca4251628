"""Connectivity of a mesh in NumPy: what `connect` in `topology.py` writes, until Numba is loaded."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from jostle._types import Bools, Ints, Longs


def connect_columns(
    faces: Ints, vertex_count: int, first_side: Ints, next_side: Ints, sheet: Ints, part: Ints, first_faces: Ints
) -> tuple[int, int, bool]:
    """Write the topology of faces (m,3); return sheet and part counts, and closedness."""
    m = len(faces)
    start = faces.reshape(-1).astype(np.int64)
    end = faces[:, [1, 2, 0]].reshape(-1).astype(np.int64)
    first_side[:], next_side[:] = np.arange(3 * m), -1
    sides = np.flatnonzero(start != end)
    key = np.minimum(start, end)[sides] * vertex_count + np.maximum(start, end)[sides]
    order = np.argsort(key, kind="stable")
    sides, key = sides[order], key[order]
    begins = np.flatnonzero(np.concatenate([np.ones(min(1, len(key)), bool), key[1:] != key[:-1]]))
    count = np.diff(begins, append=len(key))
    first_side[sides] = np.repeat(sides[begins], count)
    inner = np.ones(len(sides), bool)
    inner[begins] = False
    following = np.flatnonzero(inner)
    next_side[sides[following - 1]] = sides[following]
    balance = np.zeros(0, np.int64)
    if len(sides):
        balance = np.add.reduceat(np.where(start[sides] < end[sides], 1, -1), begins)
    pairs = begins[(count == 2) & (balance == 0)]
    sheets = _numbered(lowest_linked(m, sides[pairs] // 3, sides[pairs + 1] // 3), sheet, first_faces[0])
    root = lowest_linked(vertex_count, start, end)[start[::3]]
    face_of_root = np.full(vertex_count, m)
    np.minimum.at(face_of_root, root, np.arange(m))
    parts = _numbered(face_of_root[root], part, first_faces[1])
    return sheets, parts, bool(len(sides)) and not balance.any()


def lowest_linked(count: int, i: Longs, j: Longs) -> Longs:
    """Return the lowest number (count,) that each is linked with, by links i … j."""
    root = np.arange(count)
    while len(i):
        a, b = root[i], root[j]
        apart = a != b
        i, j, a, b = i[apart], j[apart], a[apart], b[apart]
        np.minimum.at(root, np.maximum(a, b), np.minimum(a, b))
        above = root[root]
        while (above != root).any():
            root, above = above, above[above]
    return root


def _numbered(lowest: Longs, number: Ints, first: Ints) -> int:
    """Write each member's set number and each set's lowest member; return the set count."""
    is_lowest: Bools = lowest == np.arange(len(lowest))
    numbers: NDArray[np.int64] = np.cumsum(is_lowest) - 1
    number[:] = numbers[lowest]
    roots = np.flatnonzero(is_lowest)
    first[: len(roots)] = roots
    return len(roots)
