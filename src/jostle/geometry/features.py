"""Features: the vertex, edge or face of each of two bodies that meet first.

Vertices are numbered as in the mesh. Where one of two is a vertex the other is a face, or both are edges; faces that pass through
each other at the start of a motion, where no corner and no two edges meet, are two faces.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

NONE, VERTEX, EDGE, FACE = range(4)  # kinds: the number of their vertices
NAMES = ("", "vertex", "edge", "face")

Feature = tuple[str, tuple[int, ...]]


class Features(NamedTuple):
    """The two features of each of n contacts."""

    kind_a: NDArray[np.uint8]  # (n,) NONE, VERTEX, EDGE or FACE
    vertices_a: NDArray[np.int32]  # (n,3) as many as the feature has, the rest -1
    kind_b: NDArray[np.uint8]
    vertices_b: NDArray[np.int32]

    @staticmethod
    def empty(rows: int) -> Features:
        """Return room for features, not filled."""
        return Features(
            np.empty(rows, np.uint8), np.empty((rows, 3), np.int32), np.empty(rows, np.uint8), np.empty((rows, 3), np.int32)
        )

    @staticmethod
    def none(rows: int) -> Features:
        """Return features of contacts that have none."""
        found = Features.empty(rows)
        found.kind_a.fill(NONE)
        found.kind_b.fill(NONE)
        found.vertices_a.fill(-1)
        found.vertices_b.fill(-1)
        return found

    def select(self, rows: NDArray[Any] | slice) -> Features:
        """Return the rows of a mask, an index array or a slice."""
        return Features(self.kind_a[rows], self.vertices_a[rows], self.kind_b[rows], self.vertices_b[rows])

    @staticmethod
    def joined(parts: list[Features]) -> Features:
        """Return all rows of several."""
        return Features(*(np.concatenate(column) for column in zip(*parts, strict=True))) if parts else Features.none(0)

    def of_a(self, row: int) -> Feature | None:
        """Return the feature of the first body, as ("vertex", (i,)), ("edge", (i, j)) or ("face", (i, j, k)); None if unknown."""
        return _feature(int(self.kind_a[row]), self.vertices_a[row].tolist())

    def of_b(self, row: int) -> Feature | None:
        """Return the feature of the second body."""
        return _feature(int(self.kind_b[row]), self.vertices_b[row].tolist())

    def all_of_a(self) -> list[Feature | None]:
        """Return the features of the first bodies, row by row."""
        return [_feature(kind, vertices) for kind, vertices in zip(self.kind_a.tolist(), self.vertices_a.tolist(), strict=True)]

    def all_of_b(self) -> list[Feature | None]:
        """Return the features of the second bodies, row by row."""
        return [_feature(kind, vertices) for kind, vertices in zip(self.kind_b.tolist(), self.vertices_b.tolist(), strict=True)]


def _feature(kind: int, vertices: list[int]) -> Feature | None:
    return None if kind == NONE else (NAMES[kind], tuple(vertices[:kind]))
