"""Winding numbers: 1 inside a closed mesh, 0 outside, -1 inside an inverted one.

`winding_number` sums signed solid angles (van Oosterom and Strackee 1983): a float for any mesh, open ones included,
off by about 1e-15 per face. It decides nothing near the surface.

`crossing_winding` is exact, for closed meshes. It counts the faces above the point with their orientation. The ray is
the vertical one moved by (ε, ε², 0) with ε infinitesimal: a corner at the point's y counts as below it, a point on the
shadow of an edge as right of it. Both faces at an edge make the same test on the same two ends in the same order, so no ray slips
through or counts twice, whatever it hits: vertices, edges, vertical or degenerate faces. Every decision is a comparison of
coordinates or an exact predicate; points on the surface are found exactly and reported.

A query point is a *flag* p, q, r: the point p + ε (q - p) + ε² (r - p), which lies beside p within the triangle pqr. So a face
whose corners touch the surface can be located, and no coordinate is ever rounded: a determinant is linear in the point, so
its sign is that of p, where that is 0 that of q, and then that of r. A plain point is the flag p, p, p.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from jostle._types import Floats, Ints
from jostle.geometry.predicates import orient2d, orient3d
from jostle.geometry.triangle import Triangle, face_at, turned
from jostle.geometry.vector import Vec2, Vec3, cross, dot, length, minus, point_at, point_from
from jostle.kernels.arrays import read_only_view
from jostle.kernels.jit import kernel


class Flag(NamedTuple):
    """The point p + ε (q - p) + ε² (r - p)."""

    p: Vec3
    q: Vec3
    r: Vec3


@kernel
def half_solid_angle(t: Triangle) -> float:
    """Return half the signed solid angle of a triangle from the origin, in radians.

    0 in its plane outside it.
    """
    a, b, c = length(t.p), length(t.q), length(t.r)
    bc, ca, ab = dot(t.q, t.r), dot(t.r, t.p), dot(t.p, t.q)
    return math.atan2(dot(t.p, cross(t.q, t.r)), ((a * b) * c + bc * a) + (ca * b + ab * c))


@kernel
def winding_number_into(points: Floats, vertices: Floats, faces: Ints, out: Floats) -> None:
    """Write the winding numbers of a surface around points (k,3) into out (k,)."""
    for i in range(points.shape[0]):
        at = point_at(points, i)
        total = 0.0
        for j in range(faces.shape[0]):
            t = face_at(vertices, faces, j)
            total += half_solid_angle(Triangle(minus(t.p, at), minus(t.q, at), minus(t.r, at)))
        out[i] = total / (2.0 * math.pi)


def winding_number(points: Floats, vertices: Floats, faces: Ints) -> Floats:
    """Return the generalised winding number of a surface around points.

    Parameters
    ----------
    points : (k, 3) float64
    vertices : (n, 3) float64
    faces : (m, 3) int32
        Any triangles; for an open surface the result is the signed share of the full solid angle that it covers.

    Returns
    -------
    (k,) float64
        Whole numbers up to rounding where the surface is closed and the point is not on it.
    """
    out = np.empty(len(points))
    winding_number_into(read_only_view(points), read_only_view(vertices), read_only_view(faces), out)
    return out


@kernel(forceinline=True)
def is_below(flag: Flag, a: Vec3) -> bool:
    """Return whether a flag has a smaller y than a."""
    if flag.p.y != a.y:
        return flag.p.y < a.y
    return flag.q.y < a.y or (flag.q.y == a.y and flag.r.y < a.y)


@kernel(forceinline=True)
def shadow(a: Vec3) -> Vec2:
    """Return the projection of a point along z."""
    return Vec2(a.x, a.y)


# The kernels below loop over coordinates and corners: each call of a predicate in the source is compiled in, and loops cut the
# compile time from 4.5 s to 2 s.
@kernel
def side_of_edge(flag: Flag, a: Vec3, b: Vec3) -> int:
    """Return the side of the line ab of a flag, seen from above. Exact.

    1 left, -1 right, 0 on it.
    """
    p, q, r = flag
    for _ in range(3):
        side = orient2d(shadow(a), shadow(b), shadow(p))
        if side != 0:
            return side
        p, q = q, r
    return 0


@kernel
def side_of_face(flag: Flag, t: Triangle) -> int:
    """Return the side of the plane of t of a flag: 1, -1 or 0. Exact.

    1 is the side from which its corners are seen counter-clockwise.
    """
    p, q, r = flag
    for _ in range(3):
        side = orient3d(t.p, t.q, t.r, p)
        if side != 0:
            return side
        p, q = q, r
    return 0


@kernel
def shadow_of_face(flag: Flag, t: Triangle) -> tuple[int, bool]:
    """Return how the shadow of a face winds around a flag, and whether it holds it.

    The latter for a closed triangle with an area.
    """
    around, lowest, highest = 0, 0, 0
    for _ in range(3):
        side = side_of_edge(flag, t.p, t.q)
        lowest, highest = min(lowest, side), max(highest, side)
        if is_below(flag, t.p):
            # An edge that passes on the right, seen from its lower end to its upper one, counts; a point on it is right of it.
            if not is_below(flag, t.q) and side < 0:
                around -= 1
        elif is_below(flag, t.q) and side > 0:
            around += 1
        t = turned(t)
    return around, lowest == 0 or highest == 0


@kernel
def on_face(flag: Flag, t: Triangle) -> bool:
    """Return whether a closed triangle contains a flag. Exact.

    The triangle may be a segment or a point; the flag's p is in its bounding box.
    """
    if side_of_face(flag, t) != 0:
        return False
    on_one_line = True
    for _ in range(3):
        # In the plane of a triangle with an area, any shadow that keeps an area tells in from out.
        if orient2d(shadow(t.p), shadow(t.q), shadow(t.r)) != 0:
            return shadow_of_face(flag, t)[1]
        on_one_line = on_one_line and side_of_edge(flag, t.p, t.q) == 0 and side_of_edge(flag, t.q, t.r) == 0
        flag = Flag(_rolled(flag.p), _rolled(flag.q), _rolled(flag.r))
        t = Triangle(_rolled(t.p), _rolled(t.q), _rolled(t.r))
    # Without area: on the line of the corners (both sides are asked, as one may be a point) and in their bounding box.
    return on_one_line


@kernel(forceinline=True)
def _rolled(a: Vec3) -> Vec3:
    """Return the point with coordinates y, z, x: the next axis points up."""
    return Vec3(a.y, a.z, a.x)


@kernel(forceinline=True)
def is_beside(at: Vec3, vertices: Floats, faces: Ints, j: int) -> bool:
    """Return whether simple comparisons show that face j is beside or under a point.

    They decide nearly all faces.
    """
    a, b, c = faces[j, 0], faces[j, 1], faces[j, 2]
    ay, by, cy = vertices[a, 1], vertices[b, 1], vertices[c, 1]
    if (ay < at.y and by < at.y and cy < at.y) or (ay > at.y and by > at.y and cy > at.y):
        return True
    ax, bx, cx = vertices[a, 0], vertices[b, 0], vertices[c, 0]
    if (ax < at.x and bx < at.x and cx < at.x) or (ax > at.x and bx > at.x and cx > at.x):
        return True
    return vertices[a, 2] < at.z and vertices[b, 2] < at.z and vertices[c, 2] < at.z


@kernel
def face_crossing(flag: Flag, t: Triangle) -> tuple[int, bool]:
    """Return a face's share of a flag's winding number, and whether it holds it.

    For a face that is not beside p.
    """
    around = shadow_of_face(flag, t)[0]
    if min(t.p.z, t.q.z, t.r.z) > flag.p.z:
        return around, False
    if around == 0:
        return 0, on_face(flag, t)
    # Under a face seen counter-clockwise from above, the flag is on the side from which it looks clockwise.
    side = side_of_face(flag, t)
    if side == 0:
        return 0, True
    return (around if side * around < 0 else 0), False


@kernel
def crossing_winding(point: Floats, vertices: Floats, faces: Ints) -> tuple[int, bool]:
    """Return the exact winding number of a closed mesh around a point.

    (winding, False), or (0, True) for a point on the surface. point (3,), vertices (n,3), faces (m,3). Meaningful only if
    `Mesh.is_closed`.
    """
    at = point_from(point, 0)
    winding = 0
    for j in range(faces.shape[0]):
        if is_beside(at, vertices, faces, j):
            continue
        crossing, on_it = face_crossing(Flag(at, at, at), face_at(vertices, faces, j))
        if on_it:
            return 0, True
        winding += crossing
    return winding, False


@kernel
def flag_winding(numbers: Floats, vertices: Floats, faces: Ints, chosen: NDArray[np.int64]) -> tuple[int, int, int]:
    """Return (winding, faces that hold the flag, their balance), exact.

    numbers (9,) of the flag, vertices (n,3) and faces (m,3) of a closed mesh; only the faces in `chosen` are counted. Where faces
    hold the flag, the winding is that on their upper side, or beside vertical ones that towards +x, or towards +y; on the other
    side it is larger by the balance.
    """
    flag = Flag(point_from(numbers, 0), point_from(numbers, 3), point_from(numbers, 6))
    winding, holding, balance = 0, 0, 0
    for i in range(chosen.shape[0]):
        j = chosen[i]
        if is_beside(flag.p, vertices, faces, j):
            continue
        crossing, on_it = face_crossing(flag, face_at(vertices, faces, j))
        winding += crossing
        if on_it:
            holding += 1
            balance += facing(vertices, faces, j)
    return winding, holding, balance


@kernel
def facing(vertices: Floats, faces: Ints, j: int) -> int:
    """Return the sign of the first nonzero coordinate of a face's normal. Exact.

    In the order z, x, y; 0 without area.
    """
    t = face_at(vertices, faces, j)
    for _ in range(3):
        sign = orient2d(shadow(t.p), shadow(t.q), shadow(t.r))
        if sign != 0:
            return sign
        t = Triangle(_rolled(t.p), _rolled(t.q), _rolled(t.r))
    return 0
