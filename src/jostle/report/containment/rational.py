"""Whether interiors of two closed surfaces meet, in integers: general but slow.

Every test point is beside a face: m + ε d + ε² e + …, with ε infinitesimal. There is one on either side of every face that touches
the other body, and for every edge with a contact some on either side of each face there. The winding numbers of both surfaces are
exact at each; `jostle.report.containment` proves that the interiors meet only if they do at one of these points. Faces without area
bound nothing and are left out.
"""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from math import frexp
from typing import NamedTuple

import numpy as np

from jostle._types import Bools, Floats, Ints

Vector = tuple[int, int, int]
Homogeneous = tuple[int, int, int, int]  # a point times a positive number, and that number
TestPoint = tuple[Homogeneous, tuple[Vector, ...]]  # a point, and its displacements times ε, ε², …
Span = tuple[Fraction, Fraction]
Sides = list[tuple[int, int]]


class Surface(NamedTuple):
    """A closed surface in the world."""

    vertices: Floats  # (n,3)
    faces: Ints  # (m,3)


def interiors_meet(
    a: Surface, b: Surface, face_a: Ints, face_b: Ints, undecided: Bools | None = None, sides: tuple[Sides, Sides] | None = None
) -> bool:
    """Return whether the interiors of two closed surfaces meet.

    Parameters
    ----------
    a, b : Surface
    face_a, face_b : (k,) int32
        All pairs of faces that share a point; none of them crosses.
    undecided : (k,) bool, optional
        The pairs to test if interiors do not meet at edges of others. All by default.
    sides : pair of lists of (face, corner), optional
        The edges of a and of b to test if interiors can meet nowhere else, by a side that begins at this corner.
    """
    lowest = min(float(np.abs(v[v != 0.0]).min(initial=1.0)) for v in (a.vertices, b.vertices))
    bits = 60 - frexp(lowest)[1]
    one, other = _IntegerSurface(*a, bits), _IntegerSurface(*b, bits)
    rows = list(zip(face_a.tolist(), face_b.tolist(), strict=True))
    of_a, of_b = _touching(other, rows), _touching(one, [(g, f) for f, g in rows])
    chosen = rows if undecided is None else list(itertools.compress(rows, undecided.tolist()))
    faces_here = [sorted(each) for each in ({f for f, _ in chosen}, {g for _, g in chosen})] if sides is None else [[], []]
    sides_a, sides_b = ([(f, k) for f in each for k in range(3)] for each in faces_here) if sides is None else sides
    points = itertools.chain(
        _beside_faces(one, faces_here[0]),
        _beside_faces(other, faces_here[1]),
        _beside_edges(one, other, sides_a, of_a, of_b),
        _beside_edges(other, one, sides_b, of_b, of_a),
    )
    return any(one.winds(*point) and other.winds(*point) for point in points)


class _IntegerSurface:
    """A surface in integers: coordinates times 2**bits."""

    def __init__(self, vertices: Floats, faces: Ints, bits: int) -> None:
        self._vertices, self._faces, self._unit = vertices, faces, Fraction(2) ** -bits
        corners = vertices[faces]
        self._lower, self._upper = corners.min(axis=1), corners.max(axis=1)
        self._known: dict[int, tuple[Vector, Vector, Vector]] = {}

    def corners(self, face: int) -> tuple[Vector, Vector, Vector]:
        """Return the corners of a face."""
        if face not in self._known:
            a, b, c = (self._whole(self._vertices[v].tolist()) for v in self._faces[face])
            self._known[face] = a, b, c
        return self._known[face]

    def _whole(self, point: Sequence[float]) -> Vector:
        x, y, z = (int(Fraction(value) / self._unit) for value in point)
        return x, y, z

    def normal(self, face: int) -> Vector:
        """Return the normal of a face, of any length."""
        a, b, c = self.corners(face)
        return _cross(_minus(b, a), _minus(c, a))

    def faces_near(self, faces: Iterable[int], start: Vector, end: Vector) -> list[int]:
        """Return the faces whose boxes meet that of a segment between two corners."""
        chosen = np.fromiter(faces, np.int64)
        ends = np.array([[float(x * self._unit) for x in point] for point in (start, end)])  # exact: they are corners
        near = (self._lower[chosen] <= ends.max(axis=0)) & (self._upper[chosen] >= ends.min(axis=0))
        return [int(face) for face in chosen[near.all(axis=1)]]

    def winds(self, point: Homogeneous, offsets: tuple[Vector, ...]) -> bool:
        """Return whether the surface winds around point + ε offsets[0] + ε² offsets[1] + …"""
        *whole, weight = point
        # Rounding is monotone: a face beside the point stays on that side of its rounded coordinates.
        x, y, z = (float(Fraction(value, weight) * self._unit) for value in whole)
        lower, upper = self._lower, self._upper
        near = (lower[:, 0] <= x) & (upper[:, 0] >= x) & (lower[:, 1] <= y) & (upper[:, 1] >= y) & (upper[:, 2] >= z)
        return sum(_crossing(self.corners(face), point, offsets) for face in np.flatnonzero(near).tolist()) != 0


def _crossing(corners: tuple[Vector, Vector, Vector], point: Homogeneous, offsets: Sequence[Vector]) -> int:
    """Return a face's contribution to the winding number.

    The ray goes up, displaced slightly towards +x, and less towards +y.
    """
    a, b, c = corners
    around = 0
    above = [_first_sign([d[1] for d in (_from(corner, point), *offsets)]) < 0 for corner in corners]  # in y
    for k in range(3):
        if above[k - 1] != above[k]:
            p, edge = corners[k - 1], _minus(corners[k], corners[k - 1])
            side = _first_sign([edge[0] * d[1] - edge[1] * d[0] for d in (_from(p, point), *offsets)])
            around += 1 if above[k] and side > 0 else -1 if above[k - 1] and side < 0 else 0
    if around == 0:
        return 0
    normal = _cross(_minus(b, a), _minus(c, a))
    side = _first_sign([_dot(normal, d) for d in (_from(a, point), *offsets)])
    return around if side * around < 0 else 0


def _touching(other: _IntegerSurface, rows: list[tuple[int, int]]) -> dict[int, list[int]]:
    """Return for each face of one surface the touching faces with area of the other."""
    found = defaultdict(list)
    for f, g in rows:
        if any(other.normal(g)):
            found[f].append(g)
    return found


def _beside_faces(surface: _IntegerSurface, faces: Iterable[int]) -> Iterator[TestPoint]:
    """Yield a point on either side of each face."""
    for face in faces:
        a, b, c = surface.corners(face)
        normal = surface.normal(face)
        if any(normal):
            for turned in (normal, _minus((0, 0, 0), normal)):
                yield (*a, 1), (_minus(b, a), _minus(c, a), turned)


def _beside_edges(
    surface: _IntegerSurface, other: _IntegerSurface, sides: Sides, touching: dict[int, list[int]], touched_by: dict[int, list[int]]
) -> Iterator[TestPoint]:
    """Yield the points around the contacts of these sides, each edge once.

    All faces around an edge have the same contacts there.
    """
    seen = set()
    for face, k in sides:
        corners = surface.corners(face)
        start, end = sorted((corners[k], corners[(k + 1) % 3]))
        if start == end or (start, end) in seen or face not in touching:
            continue
        seen.add((start, end))
        there = [(other, g, _common_span(start, end, other, g)) for g in other.faces_near(touching[face], start, end)]
        mine = {f for _, g, span in there if span is not None for f in touched_by[g]}
        here = [(surface, f, _common_span(start, end, surface, f)) for f in surface.faces_near(sorted(mine), start, end)]
        yield from _around_edge(start, end, [(each, f, span) for each, f, span in (*here, *there) if span is not None])


def _around_edge(start: Vector, end: Vector, spans: list[tuple[_IntegerSurface, int, Span]]) -> Iterator[TestPoint]:
    """Yield points on either side of every face that contains a piece of an edge."""
    for low, high in itertools.pairwise(sorted({t for _, _, span in spans for t in span})):
        middle = (low + high) / 2
        n, w = middle.numerator, middle.denominator
        x, y, z = (p * w + n * (q - p) for p, q in zip(start, end, strict=True))
        around = [(surface, face) for surface, face, span in spans if span[0] < middle < span[1]]
        for surface, face in around if len({id(surface) for surface, _ in around}) == 2 else ():
            normal = surface.normal(face)
            across, sides = _cross(normal, _minus(end, start)), {0}
            for corner in surface.corners(face):
                side = _first_sign([_dot(across, _minus(corner, start))])
                if side not in sides:
                    sides.add(side)
                    offset = _minus((0, 0, 0), _from(corner, (x, y, z, w)))
                    yield (x, y, z, w), (offset, normal)
                    yield (x, y, z, w), (offset, _minus((0, 0, 0), normal))


def _common_span(start: Vector, end: Vector, surface: _IntegerSurface, face: int) -> Span | None:
    """Return the part of a segment (0 … 1) inside a closed face, if more than a point."""
    corners, normal = surface.corners(face), surface.normal(face)
    if _dot(normal, _minus(start, corners[0])) != 0 or _dot(normal, _minus(end, corners[0])) != 0 or start == end:
        return None
    low, high = Fraction(0), Fraction(1)
    for k in range(3):
        inward = _cross(normal, _minus(corners[k], corners[k - 1]))
        first, last = _dot(inward, _minus(start, corners[k])), _dot(inward, _minus(end, corners[k]))
        if first < 0 and last < 0:
            return None
        if first < last:
            low = max(low, Fraction(-first, last - first))
        elif first > last:
            high = min(high, Fraction(first, first - last))
        elif first < 0:
            return None
    return (low, high) if low < high else None


def _first_sign(values: Sequence[int]) -> int:
    for value in values:
        if value != 0:
            return 1 if value > 0 else -1
    return 0


def _from(corner: Vector, point: Homogeneous) -> Vector:
    """Return the vector from a corner to a point, times the point's weight."""
    x, y, z, w = point
    return x - w * corner[0], y - w * corner[1], z - w * corner[2]


def _minus(p: Vector, q: Vector) -> Vector:
    return p[0] - q[0], p[1] - q[1], p[2] - q[2]


def _cross(p: Vector, q: Vector) -> Vector:
    return p[1] * q[2] - p[2] * q[1], p[2] * q[0] - p[0] * q[2], p[0] * q[1] - p[1] * q[0]


def _dot(p: Vector, q: Vector) -> int:
    return p[0] * q[0] + p[1] * q[1] + p[2] * q[2]
