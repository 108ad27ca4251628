"""Regions of contact: connected touching face pairs, reported or missed.

Two touching pairs are connected if they share a face and their other faces, of one body, share a welded vertex; a region is a
connected component. Where surfaces cross, a region is a curve of intersection: it leaves a face through an edge, and the pair
beyond that edge shares the other face. Guy and Debunne 2004 (§3.4) find and follow regions by the same neighbours.

A region continues one of the previous frame if both are within 1 % of the body's size on either body. That joins rather too many,
so a miss is counted too long rather than too short. A shared vertex would not do: with 50,000 and 70,000 faces one large region
in fifty slides by more than a face in a frame.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jostle._types import Bools, Longs
from jostle.kernels.jit import kernel
from jostle.shapes.mesh import Mesh

BODY_A, BODY_B, FACE_A, FACE_B = range(4)  # columns of rows
SAME_PLACE = 0.01  # of a body's size
_SHIFT = 32
_CELL = 8  # bits: along an axis a body has 101 cells at most


@dataclass(frozen=True, eq=False)
class Regions:
    """The touching pairs of a frame by region."""

    rows: Longs  # (k,4) body_a, body_b, face_a, face_b
    label: Longs  # (k,) the region of each row, numbered by first row

    @property
    def count(self) -> int:
        """The number of regions."""
        return int(self.label.max()) + 1 if len(self.label) else 0

    @property
    def sizes(self) -> Longs:
        """(count,) touching pairs of each region."""
        sizes: Longs = np.bincount(self.label, minlength=self.count)
        return sizes

    def reported(self, found: NDArray[Any]) -> Bools:
        """Return (count,) whether the found rows (k,4) have a pair of each region."""
        reported: Bools = np.zeros(self.count, bool)
        reported[self.label[_is_among(self.rows, np.asarray(found, np.int64).reshape(-1, 4))]] = True
        return reported

    def faces(self, chosen: Bools | None = None) -> int:
        """Return the number of distinct touching faces, in all or the chosen regions."""
        rows = self.rows if chosen is None else self.rows[chosen[self.label]]
        sides = [_together(rows[:, BODY_A], rows[:, FACE_A]), _together(rows[:, BODY_B], rows[:, FACE_B])]
        return len(np.unique(np.concatenate(sides)))


def regions_of(rows: NDArray[Any], meshes: Sequence[Mesh]) -> Regions:
    """Return the regions of touching pairs.

    Parameters
    ----------
    rows : (k, 4)
        body_a, body_b, face_a, face_b; self-contacts have the same body twice.
    meshes : sequence of Mesh
        One for each body; deforming does not change adjacency.
    """
    pairs: Longs = np.ascontiguousarray(rows, np.int64).reshape(-1, 4)
    label: Longs = np.arange(len(pairs))
    if len(pairs):
        row, first, second = _neighbourhoods(pairs, meshes)
        order = np.lexsort((row, second, first))
        join_equal(row[order], first[order], second[order], label)
        label = np.unique(label, return_inverse=True)[1].reshape(-1).astype(np.int64)
    return Regions(pairs, label)


def _neighbourhoods(rows: Longs, meshes: Sequence[Mesh]) -> tuple[Longs, Longs, Longs]:
    """Return (6k,) row numbers with two keys, which are equal for connected rows."""
    number: Longs = np.arange(len(rows))
    sides = (BODY_A, FACE_A, BODY_B, FACE_B), (BODY_B, FACE_B, BODY_A, FACE_A)
    row, first, second = [], [], []
    for body, face, other_body, other_face in sides:
        corners = _corners(rows[:, other_body], rows[:, other_face], meshes)
        for corner in range(3):
            row.append(number)
            first.append(_together(rows[:, body], rows[:, other_body]))
            second.append(_together(rows[:, face], corners[:, corner]))
    return np.concatenate(row), np.concatenate(first), np.concatenate(second)


def _corners(bodies: Longs, faces: Longs, meshes: Sequence[Mesh]) -> Longs:
    """Return (k,3) welded vertices of faces of several bodies."""
    corners: Longs = np.empty((len(faces), 3), np.int64)
    for body in np.unique(bodies).tolist():
        there = bodies == body
        corners[there] = meshes[body].welded_faces[faces[there]]
    return corners


def _together(high: Longs, low: Longs) -> Longs:
    """Pack two numbers below 2^31 into one."""
    both: Longs = (high << _SHIFT) | low
    return both


def _is_among(rows: Longs, found: Longs) -> Bools:
    """Return (k,) whether each row is among the found ones."""
    among: Bools = np.zeros(len(rows), bool)
    bodies, others = (_together(each[:, BODY_A], each[:, BODY_B]) for each in (rows, found))
    for pair in np.unique(bodies).tolist():
        here, there = bodies == pair, others == pair
        keys = _together(found[there, FACE_A], found[there, FACE_B])
        among[here] = np.isin(_together(rows[here, FACE_A], rows[here, FACE_B]), keys)
    return among


@kernel
def join_equal(row: Longs, first: Longs, second: Longs, label: Longs) -> None:
    """Write to label (k,) the least connected row; entries (n,) are sorted by keys."""
    for entry in range(1, row.shape[0]):
        if first[entry] == first[entry - 1] and second[entry] == second[entry - 1]:
            a, b = row[entry], row[entry - 1]
            while label[a] != a:
                label[a] = label[label[a]]
                a = label[a]
            while label[b] != b:
                label[b] = label[label[b]]
                b = label[b]
            if a < b:
                label[b] = a
            else:
                label[a] = b
    # Labels point to earlier rows only, so earlier rows are final already.
    for k in range(label.shape[0]):
        label[k] = label[label[k]]


class MissedFor:
    """Counts for how many frames each region has been missed."""

    def __init__(self, meshes: Sequence[Mesh]) -> None:
        self._meshes = meshes
        # Duration and cells of each missed region, of the last frame and of the one before it.
        self._last: list[tuple[int, Longs]] = []
        self._before: list[tuple[int, Longs]] = []

    def follow(self, regions: Regions, missed: Bools, counted: Bools, again: bool = False) -> Longs:
        """Return (count,) for how many frames each region has been missed.

        Parameters
        ----------
        missed : (count,) bool
        counted : (count,) bool
            Frames in which a region is too small to count neither add to its duration nor end it.
        again : bool
            Whether this repeats the last frame, with another answer.
        """
        if not again:
            self._before = self._last
        frames: Longs = np.zeros(regions.count, np.int64)
        now = []
        for region in np.flatnonzero(missed).tolist():
            cells = self._cells(regions.rows[regions.label == region])
            around = _with_neighbours(cells)
            longest = max((time for time, others in self._before if np.isin(around, others).any()), default=0)
            frames[region] = longest + int(counted[region])
            now.append((int(frames[region]), cells))
        self._last = now
        return frames

    def _cells(self, rows: Longs) -> Longs:
        """Return the cells that a region covers on its bodies at rest."""
        found = []
        for side, face in ((BODY_A, FACE_A), (BODY_B, FACE_B)):
            for body in np.unique(rows[:, side]).tolist():
                mesh = self._meshes[body]
                points = mesh.vertices[np.unique(mesh.faces[rows[rows[:, side] == body, face]])] - mesh.bounds[0]
                # Starting at 1, so that neighbours are not negative.
                places = 1 + np.floor(points / (SAME_PLACE * mesh.size or 1.0)).astype(np.int64)
                found.append((((body << _CELL | places[:, 0]) << _CELL | places[:, 1]) << _CELL) | places[:, 2])
        cells: Longs = np.unique(np.concatenate(found))
        return cells


def _with_neighbours(cells: Longs) -> Longs:
    """Return the cells and all their neighbours, each once."""
    steps = np.array([(x << _CELL | y) << _CELL | z for x in range(3) for y in range(3) for z in range(3)])
    around: Longs = np.unique(cells[:, None] + (steps - steps[len(steps) // 2]))
    return around
