"""Exact test of coplanar triangles and triangles without area, in columns.

The cases are those of `geometry/flat_triangles.py`. Nearly all are triangles of one plane, each with an area: they are projected
along the axis that shows most of it, and are apart if and only if the line of one of the six edges separates them. What has no area
in that projection goes the long way.
"""

from __future__ import annotations

from itertools import product

import numpy as np
from numpy.typing import NDArray

from jostle._types import Bools, Floats, Longs
from jostle.methods.plain.signs import Certain, Signs, filtered_turn, orient2d, orient3d

IN_PLANE = 13  # the code of three signs 0; see `triangles`
TURNS = np.array([[0, 1, 2], [1, 2, 0], [2, 0, 1]], np.intp)
NO_AXIS = -1  # of what has no area along any axis
SEEN = np.array([[1, 2], [2, 0], [0, 1]], np.intp)  # the coordinates left in a projection along x, y, z


def _piercing_corner(sides: tuple[int, ...]) -> tuple[int, bool]:
    """Return the corner from which a segment goes through a plane, and True; or one in the plane, and False."""
    for corner in range(3):
        if sides[corner] == 0:
            return corner, False
        if sides[corner] * sides[(corner + 1) % 3] < 0:
            return corner, True
    return 0, False


_PIERCING = [_piercing_corner(sides) for sides in product((-1, 0, 1), repeat=3)]
CORNER = np.array([corner for corner, _ in _PIERCING])
THROUGH = np.array([through for _, through in _PIERCING])


def flat_triangles_touch(a: Floats, b: Floats, sides_a: Signs, sides_b: Signs, certain: Certain) -> Bools:
    """Return whether triangles (3, 3, n) touch of which at least one is in the other's plane.

    sides_a, sides_b : codes of the sides of the other's plane, as in `triangles`
    """
    in_both = (sides_a == IN_PLANE) & (sides_b == IN_PLANE)
    if in_both.all():
        return _coplanar_touch(a, b, certain)
    touch = np.empty(a.shape[2], bool)
    chosen, rest = np.flatnonzero(in_both), np.flatnonzero(~in_both)
    touch[chosen] = _coplanar_touch(a.take(chosen, axis=2), b.take(chosen, axis=2), certain)
    touch[rest] = _segments_touch(a.take(rest, axis=2), b.take(rest, axis=2), sides_a[rest], sides_b[rest], certain)
    return touch


def _segments_touch(a: Floats, b: Floats, sides_a: Signs, sides_b: Signs, certain: Certain) -> Bools:
    """Return whether segments touch the triangles whose planes they pierce.

    One of each pair has a plane and the other is not in it, so that is a segment: its own plane is none, and the sides of it are 0.
    """
    swap = sides_b != IN_PLANE
    a, b = np.where(swap, b, a), np.where(swap, a, b)
    sides = np.where(swap, sides_b, sides_a)
    order, pairs, axes = TURNS[CORNER[sides]].T, np.arange(len(sides)), np.arange(3)[:, None]
    p, q = a[order[0], axes, pairs], a[order[1], axes, pairs]
    # Seen along the segment, the point in the plane is on the same side of all three edges, or on some of them.
    first, second, third = (orient3d(p, q, b[k], b[(k + 1) % 3], certain) for k in range(3))
    touch: Bools = (first * second >= 0) & (second * third >= 0) & (first * third >= 0)
    inside = np.flatnonzero(~THROUGH[sides])
    if len(inside):  # the corner in the plane is the only point of the segment that counts
        corner = np.repeat(p[None][:, :, inside], 3, axis=0)
        touch[inside] = _coplanar_touch(corner, b.take(inside, axis=2), certain)
    return touch


def _coplanar_touch(a: Floats, b: Floats, certain: Certain) -> Bools:
    """Return whether triangles, segments or points of one plane touch."""
    touch = ((a.min(axis=0) <= b.max(axis=0)) & (b.min(axis=0) <= a.max(axis=0))).all(axis=0)
    left = np.flatnonzero(touch)
    if len(left) < len(touch):
        a, b = a.take(left, axis=2), b.take(left, axis=2)
    axis = np.argmax(np.abs(_normals(a)) + np.abs(_normals(b)), axis=0)
    p, q = projected(a, axis), projected(b, axis)
    turn_p, turn_q = orient2d(p[0], p[1], p[2], certain), orient2d(q[0], q[1], q[2], certain)
    separate = np.zeros(len(left), bool)
    for one, other, turn in ((p, q, turn_p), (q, p, turn_q)):
        for k in range(3):
            separate |= _beyond_edge(one[k], one[(k + 1) % 3], turn, other, certain)
    touch[left] = ~separate
    flat = np.flatnonzero((turn_p == 0) | (turn_q == 0))
    if len(flat):
        touch[left[flat]] = _without_area_touch(a.take(flat, axis=2), b.take(flat, axis=2), axis[flat], certain)
    return touch


def _normals(t: Floats) -> Floats:
    (ux, uy, uz), (vx, vy, vz) = t[1] - t[0], t[2] - t[0]
    return np.stack((uy * vz - uz * vy, uz * vx - ux * vz, ux * vy - uy * vx))


def projected(t: Floats, axis: NDArray[np.intp]) -> Floats:
    """Return triangles (3, 2, n) seen along an axis each."""
    first = int(axis[0]) if len(axis) else 0
    if (axis == first).all():
        return t[:, SEEN[first]]
    return np.take_along_axis(t, SEEN[axis].T[None], axis=1)


def projection_axis(t: Floats, certain: Certain) -> NDArray[np.intp]:
    """Return an axis (n,) along which each triangle shows an area, `NO_AXIS` if none."""
    (ux, uy, uz), (vx, vy, vz) = t[1] - t[0], t[2] - t[0]
    # The kernel adds the normals of two equal triangles, which changes no comparison.
    x, y, z = np.abs(uy * vz - uz * vy), np.abs(uz * vx - ux * vz), np.abs(ux * vy - uy * vx)
    first = np.where((x > y) & (x > z), 0, np.where(y > z, 1, 2))
    axis = np.full(len(first), NO_AXIS)
    left = np.arange(len(first))
    for k in range(3):
        tried = (first[left] + k) % 3
        seen = projected(t.take(left, axis=2), tried)
        shows = orient2d(seen[0], seen[1], seen[2], certain) != 0
        axis[left[shows]] = tried[shows]
        left = left[~shows]
        if not len(left):
            break
    return axis


def _beyond_edge(start: Floats, end: Floats, turn: Signs, points: Floats, certain: Certain) -> Bools:
    """Return whether three points are strictly beyond an edge of a triangle that turns so."""
    along_x, along_y = (end - start) * turn
    first, second, third = (along_x * (point[1] - start[1]) - along_y * (point[0] - start[0]) for point in points)
    nearest = np.maximum(np.maximum(first, second, out=first), third, out=first)
    beyond: Bools = nearest < -certain.area
    if certain.area > 0.0:
        doubtful = np.flatnonzero(np.abs(nearest, out=nearest) <= certain.area)
        if len(doubtful):
            one, other, away = start[:, doubtful], end[:, doubtful], -turn[doubtful]
            beyond[doubtful] = np.logical_and.reduce([filtered_turn(one, other, point[:, doubtful]) == away for point in points])
            beyond[doubtful] &= away != 0
    return beyond


def _without_area_touch(a: Floats, b: Floats, widest: Longs, certain: Certain) -> Bools:
    """Return whether pairs of one plane touch of which one or both may have no area."""
    touch = np.zeros(a.shape[2], bool)
    left = np.arange(a.shape[2])
    for k in range(3):
        p, q = projected(a, (widest + k) % 3), projected(b, (widest + k) % 3)
        has_area, separate = np.zeros(len(left), bool), np.zeros(len(left), bool)
        for one, other in ((p, q), (q, p)):
            turn = orient2d(one[0], one[1], one[2], certain)
            has_area |= turn != 0
            for m in range(3):
                # Beyond an edge of a triangle is the side away from it; beyond a segment is either side.
                first, second, third = (orient2d(one[m], one[(m + 1) % 3], point, certain) for point in other)
                separate |= (first != 0) & (first != turn) & (first == second) & (first == third)
        touch[left[has_area & ~separate]] = True  # this axis does not flatten the plane
        kept = np.flatnonzero(~has_area & ~separate)
        a, b, left, widest = a.take(kept, axis=2), b.take(kept, axis=2), left[kept], widest[kept]
        if not len(left):
            return touch
    # Segments or points that overlap along every axis touch if they have a plane in common.
    common = np.ones(len(left), bool)
    for m, n in product((1, 2), repeat=2):
        common &= orient3d(a[0], a[m], b[0], b[n], certain) == 0
    touch[left] = common
    return touch
