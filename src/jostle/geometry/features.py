"""Features: the vertex, edge or face of each of two bodies that meet first.

Vertices are numbered as in the mesh. A vertex meets a face, or an edge an edge; faces that already intersect at the start of a
motion, without a corner or two edges that meet, are two faces.
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
    def none(rows: int) -> Features:
        """Return features of contacts that have none."""
        kind, vertices = np.full(rows, NONE, np.uint8), np.full((rows, 3), -1, np.int32)
        return Features(kind, vertices, kind.copy(), vertices.copy())

    def select(self, rows: NDArray[Any] | slice) -> Features:
        """Return the rows of a mask, an index array or a slice."""
        return Features(self.kind_a[rows], self.vertices_a[rows], self.kind_b[rows], self.vertices_b[rows])

    @staticmethod
    def joined(parts: list[Features]) -> Features:
        """Return the rows of several, in order."""
        return Features(*(np.concatenate(column) for column in zip(*parts, strict=True))) if parts else Features.none(0)

    def of_a(self, row: int) -> Feature | None:
        """Return the feature of the first body, None if unknown.

        As ("vertex", (i,)), ("edge", (i, j)) or ("face", (i, j, k)).
        """
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
