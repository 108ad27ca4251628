"""Exact test of two closed triangles for whole columns of pairs at once.

The cases are those of `geometry/triangle_triangle.py`, with masks and tables instead of branches: which sides of each other's plane
the corners lie on, then the order of the ends of the two segments that the triangles cut out of the line common to both planes.
Coplanar triangles and those without area are in `flat_triangles.py`. Arithmetic and culling share nothing with the kernels.

Triangles are arrays (3, 3, n): corner, coordinate, pair. Three signs make one number, the *code* of the sides: 0 … 26, and 13
if all are 0; tables hold what follows from it.
"""

from __future__ import annotations

from itertools import product

import numpy as np
from numpy.typing import NDArray

from jostle._types import Bytes, Floats
from jostle.geometry.contact_kind import CROSSING, TOUCHING
from jostle.methods.plain.flat_triangles import flat_triangles_touch
from jostle.methods.plain.signs import Certain, Signs, orient3d, sides_of_plane

ALL_SIDES = tuple(product((-1, 0, 1), repeat=3))  # by code
IN_PLANE = ALL_SIDES.index((0, 0, 0))
BESIDE = np.array([abs(sum(sides)) == 3 for sides in ALL_SIDES])
ON_BOTH_SIDES = np.array([min(sides) < 0 < max(sides) for sides in ALL_SIDES])


def _lone_corner(sides: tuple[int, ...]) -> tuple[int, bool]:
    """Return the corner alone on its closed side of a plane, and whether that is above.

    A corner in the plane is alone when the other two are strictly on one side. Any answer will do where a triangle is beside the
    plane or in it.
    """
    for corner in range(3):
        one, other = sides[(corner + 1) % 3], sides[(corner + 2) % 3]
        if one * other > 0:
            return corner, one < 0
    corner = next((corner for corner in range(3) if sides[corner] != 0), 2)
    return corner, sides[corner] > 0


ABOVE = np.array([_lone_corner(sides)[1] for sides in ALL_SIDES])
# The corners from the lone one on; [code, 0] in the opposite turn, [code, 1] in the same.
ARRANGED = np.array(
    [
        [[first, (first + 2) % 3, (first + 1) % 3], [first, (first + 1) % 3, (first + 2) % 3]]
        for first in (_lone_corner(sides)[0] for sides in ALL_SIDES)
    ],
    np.intp,
)


def triangles_touch(a: Floats, b: Floats, certain: Certain) -> Bytes:
    """Return 0, TOUCHING or CROSSING (n,) of closed triangles whose boxes meet. Exact."""
    kind = np.zeros(a.shape[2], np.uint8)
    sides_a = code_of(sides_of_plane(b, a, certain))
    left = np.flatnonzero(~BESIDE[sides_a])
    a, b, sides_a = a.take(left, axis=2), b.take(left, axis=2), sides_a[left]
    sides_b = code_of(sides_of_plane(a, b, certain))
    kept = np.flatnonzero(~BESIDE[sides_b])
    if len(kept) < len(left):
        a, b, sides_a, sides_b, left = a.take(kept, axis=2), b.take(kept, axis=2), sides_a[kept], sides_b[kept], left[kept]
    flat = (sides_a == IN_PLANE) | (sides_b == IN_PLANE)
    if flat.any():
        chosen, rest = np.flatnonzero(flat), np.flatnonzero(~flat)
        touch = flat_triangles_touch(a.take(chosen, axis=2), b.take(chosen, axis=2), sides_a[chosen], sides_b[chosen], certain)
        kind[left[chosen]] = np.where(touch, TOUCHING, 0)
        a, b, sides_a, sides_b, left = a.take(rest, axis=2), b.take(rest, axis=2), sides_a[rest], sides_b[rest], left[rest]
    if len(left):
        kind[left] = _kinds_of_segments(a, b, sides_a, sides_b, certain)
    return kind


def code_of(sides: list[Signs]) -> NDArray[np.int8]:
    """Return the codes (n,) of three columns of signs."""
    code: NDArray[np.int8] = sides[0] * np.int8(9)
    code += sides[1] * np.int8(3)
    code += sides[2]
    code += np.int8(IN_PLANE)
    return code


def _kinds_of_segments(a: Floats, b: Floats, sides_a: Signs, sides_b: Signs, certain: Certain) -> Bytes:
    """Return the kinds (n,) where the planes meet in a line.

    Each triangle is turned over when the lone corner of the other lies below it; then two signs say how the segments on the line
    follow each other (`arranged` in `geometry/triangle_triangle.py` has the proof).
    """
    p, q, r = arranged(a, sides_a, ABOVE[sides_b])
    s, t, u = arranged(b, sides_b, ABOVE[sides_a])
    first = orient3d(p, q, s, t, certain)
    second = orient3d(p, r, s, u, certain)
    crossing = (first < 0) & (second > 0) & ON_BOTH_SIDES[sides_a] & ON_BOTH_SIDES[sides_b]
    touching = (first <= 0) & (second >= 0)
    return np.where(crossing, CROSSING, np.where(touching, TOUCHING, 0)).astype(np.uint8)


def arranged(corners: Floats, sides: Signs, keep_turn: NDArray[np.bool_]) -> tuple[Floats, Floats, Floats]:
    """Return the corners of triangles from the lone one on, in the other turn unless it is kept."""
    """Return the corners of triangles from the lone one on, turned over unless `keep_turn`."""
    order = ARRANGED[sides, keep_turn.view(np.int8)].T
    pairs = np.arange(corners.shape[2])
    axes = np.arange(3)[:, None]
    return corners[order[0], axes, pairs], corners[order[1], axes, pairs], corners[order[2], axes, pairs]
