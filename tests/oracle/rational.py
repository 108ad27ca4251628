"""The truth about two triangles, in exact integers and fractions. Imports nothing of jostle.

A float64 is a whole number times a power of two, so all coordinates of a question become Python integers after one common
scaling, and homogeneous integers (x, y, z, w > 0) hold every point that is constructed from them.

The algorithm is constructive and shares no idea with the kernels: a closed triangle, segment or point is an intersection of
half-spaces; the other triangle is clipped against them one by one (Sutherland and Hodgman), and what is left *is* the set of
common points, as the corners of its hull. Touching, kind and "beyond what is shared" are read off that set.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from fractions import Fraction

TOUCHING = 2
CROSSING = 5

Point = tuple[int, int, int]
Homogeneous = tuple[int, int, int, int]
Plane = tuple[int, int, int, int]  # n . x + m w >= 0
FloatTriangle = Sequence[Sequence[float]]


def whole_numbers(values: Sequence[float]) -> tuple[list[int], int]:
    """Return integers and the denominator (a power of two) by which they all must be divided."""
    ratios = [float(v).as_integer_ratio() for v in values]
    denominator = max(d for _, d in ratios)
    return [n * (denominator // d) for n, d in ratios], denominator


def _whole_triangles(a: FloatTriangle, b: FloatTriangle) -> tuple[list[Point], list[Point], int]:
    numbers, denominator = whole_numbers([x for triangle in (a, b) for corner in triangle for x in corner])
    points = [(numbers[k], numbers[k + 1], numbers[k + 2]) for k in range(0, 18, 3)]
    return points[:3], points[3:], denominator


def _minus(p: Point, q: Point) -> Point:
    return p[0] - q[0], p[1] - q[1], p[2] - q[2]


def _dot(p: Point, q: Point) -> int:
    return p[0] * q[0] + p[1] * q[1] + p[2] * q[2]


def _cross(p: Point, q: Point) -> Point:
    return p[1] * q[2] - p[2] * q[1], p[2] * q[0] - p[0] * q[2], p[0] * q[1] - p[1] * q[0]


def _sign(value: int | Fraction) -> int:
    return (value > 0) - (value < 0)


def orient2d(*coordinates: float) -> int:
    """Sign of (b-a) x (c-a) for ax, ay, bx, by, cx, cy."""
    (ax, ay, bx, by, cx, cy), _ = whole_numbers(coordinates)
    # Expanded about the origin, unlike the kernel, which works with differences.
    return _sign(ax * by - ay * bx + bx * cy - by * cx + cx * ay - cy * ax)


def orient3d(*coordinates: float) -> int:
    """Sign of ((b-a) x (c-a)) . (d-a) for the twelve coordinates of a, b, c, d."""
    n, _ = whole_numbers(coordinates)
    a, b, c, d = ((n[k], n[k + 1], n[k + 2]) for k in range(0, 12, 3))
    return _sign(_dot(_cross(b, c), d) - _dot(_cross(a, c), d) + _dot(_cross(a, b), d) - _dot(_cross(a, b), c))


def _half_space(normal: Point, on: Point) -> Plane:
    return normal[0], normal[1], normal[2], -_dot(normal, on)


def _both_sides(normal: Point, on: Point) -> list[Plane]:
    x, y, z, m = _half_space(normal, on)
    return [(x, y, z, m), (-x, -y, -z, -m)]


def _longest_side(triangle: list[Point]) -> tuple[Point, Point]:
    pairs = itertools.combinations(triangle, 2)
    return max(pairs, key=lambda pair: _dot(_minus(*pair), _minus(*pair)))


def _half_spaces(triangle: list[Point]) -> list[Plane]:
    """The closed triangle, or the segment or point that it has become, as an intersection of half-spaces."""
    a, b, c = triangle
    normal = _cross(_minus(b, a), _minus(c, a))
    if any(normal):
        planes = _both_sides(normal, a)
        for start, end in ((a, b), (b, c), (c, a)):
            planes.append(_half_space(_cross(normal, _minus(end, start)), start))
        return planes
    start, end = _longest_side(triangle)
    along = _minus(end, start)
    if any(along):
        planes = [_half_space(along, start), _half_space((-along[0], -along[1], -along[2]), end)]
        axes: list[Point] = [(1, 0, 0), (0, 1, 0), (0, 0, 1)]
        return planes + [plane for axis in axes for plane in _both_sides(_cross(along, axis), start)]
    return [plane for axis in ((1, 0, 0), (0, 1, 0), (0, 0, 1)) for plane in _both_sides(axis, a)]


def _clip(corners: list[Homogeneous], plane: Plane) -> list[Homogeneous]:
    """The corners of what a convex polygon (or segment, or point) has in a closed half-space."""
    nx, ny, nz, m = plane
    height = [nx * x + ny * y + nz * z + m * w for x, y, z, w in corners]
    if min(height) >= 0:
        return corners
    if max(height) < 0:
        return []
    kept: list[Homogeneous] = []
    for k, corner in enumerate(corners):
        before, above, under = corners[k - 1], height[k], height[k - 1]
        if (above < 0 < under) or (under < 0 < above):
            # above * before - under * corner has height 0; its weight must stay positive.
            s, t = (above, -under) if above > 0 else (-above, under)
            x, y, z, w = (s * p + t * q for p, q in zip(before, corner, strict=True))
            kept.append((x, y, z, w))
        if above >= 0:
            kept.append(corner)
    return kept


def _common(a: list[Point], b: list[Point]) -> list[Homogeneous]:
    """Corners of the intersection of two closed triangles (repetitions possible); empty when they are apart."""
    for k in range(3):
        if max(p[k] for p in a) < min(p[k] for p in b) or max(p[k] for p in b) < min(p[k] for p in a):
            return []
    corners: list[Homogeneous] = [(x, y, z, 1) for x, y, z in a]
    for plane in _half_spaces(b):
        corners = _clip(corners, plane)
        if not corners:
            break
    return corners


def triangles_touch(a: FloatTriangle, b: FloatTriangle) -> bool:
    """Whether two closed triangles, however degenerate, share a point."""
    first, second, _ = _whole_triangles(a, b)
    return bool(_common(first, second))


def _strictly_inside(point: tuple[Fraction, ...], triangle: list[Point]) -> bool:
    """Whether a point of the triangle's plane lies in its relative interior: all three areas have the sign of the whole."""
    a, b, c = triangle
    normal = _cross(_minus(b, a), _minus(c, a))
    for start, end in ((a, b), (b, c), (c, a)):
        inward = _cross(normal, _minus(end, start))
        if sum(n * (p - s) for n, p, s in zip(inward, point, start, strict=True)) <= 0:
            return False
    return True


def kind(a: FloatTriangle, b: FloatTriangle) -> int:
    """0 apart; CROSSING when two non-degenerate triangles of different planes have a common relative interior point."""
    first, second, _ = _whole_triangles(a, b)
    corners = _common(first, second)
    if not corners:
        return 0
    normals = [_cross(_minus(t[1], t[0]), _minus(t[2], t[0])) for t in (first, second)]
    if not any(normals[0]) or not any(normals[1]) or not any(_cross(normals[0], normals[1])):
        return TOUCHING  # degenerate, or parallel planes with a common point: coplanar
    # The mean of the corners is in the relative interior of the common set; where the relative interiors of two convex sets
    # meet, that is the intersection of the two relative interiors.
    mean = tuple(sum((Fraction(p[k], p[3]) for p in corners), Fraction(0)) / len(corners) for k in range(3))
    return CROSSING if _strictly_inside(mean, first) and _strictly_inside(mean, second) else TOUCHING


def common_points(a: FloatTriangle, b: FloatTriangle) -> list[tuple[Fraction, Fraction, Fraction]]:
    """The corners of the set of common points, each once."""
    first, second, denominator = _whole_triangles(a, b)
    corners = {tuple(Fraction(x, p[3] * denominator) for x in p[:3]) for p in _common(first, second)}
    return sorted(corners)  # type: ignore[arg-type]


def point_in_closed_triangle(point: Sequence[float], triangle: FloatTriangle) -> bool:
    """Whether a point belongs to a closed triangle."""
    return triangles_touch((point, point, point), triangle)


def touch_beyond_shared(a: FloatTriangle, b: FloatTriangle, shared: int) -> bool:
    """Whether two triangles whose first `shared` corners are equal have a common point outside the hull of those corners.

    Three shared corners: always, the whole face is common.
    """
    if shared == 3:
        return True
    first, second, _ = _whole_triangles(a, b)
    assert first[:shared] == second[:shared]
    hull = [first[0], first[shared - 1], first[shared - 1]]
    planes = _half_spaces(hull)
    return any(nx * x + ny * y + nz * z + m * w < 0 for x, y, z, w in _common(first, second) for nx, ny, nz, m in planes)


Vector = tuple[Fraction, Fraction, Fraction]


def _fractions(triangle: FloatTriangle) -> list[Vector]:
    return [(Fraction(p[0]), Fraction(p[1]), Fraction(p[2])) for p in triangle]


def _sub(p: Vector, q: Vector) -> Vector:
    return p[0] - q[0], p[1] - q[1], p[2] - q[2]


def _inner(p: Vector, q: Vector) -> Fraction:
    return p[0] * q[0] + p[1] * q[1] + p[2] * q[2]


def _point_segment(p: Vector, a: Vector, b: Vector) -> Fraction:
    along, off = _sub(b, a), _sub(p, a)
    length = _inner(along, along)
    t = min(max(_inner(off, along) / length, Fraction(0)), Fraction(1)) if length else Fraction(0)
    rest = (off[0] - t * along[0], off[1] - t * along[1], off[2] - t * along[2])
    return _inner(rest, rest)


def _line_line(a: Vector, b: Vector, c: Vector, d: Vector) -> Fraction | None:
    """Squared distance of two segments where both inner points of closest approach exist."""
    u, v, w = _sub(b, a), _sub(d, c), _sub(a, c)
    uu, uv, vv, uw, vw = _inner(u, u), _inner(u, v), _inner(v, v), _inner(u, w), _inner(v, w)
    det = uu * vv - uv * uv
    if det == 0:
        return None
    s, t = (uv * vw - vv * uw) / det, (uu * vw - uv * uw) / det
    if not (0 <= s <= 1 and 0 <= t <= 1):
        return None
    rest = (w[0] + s * u[0] - t * v[0], w[1] + s * u[1] - t * v[1], w[2] + s * u[2] - t * v[2])
    return _inner(rest, rest)


def _point_face(p: Vector, a: Vector, b: Vector, c: Vector) -> Fraction | None:
    """Squared distance of a point to the plane of a triangle where its foot lies inside."""
    u, v, w = _sub(b, a), _sub(c, a), _sub(p, a)
    uu, uv, vv, uw, vw = _inner(u, u), _inner(u, v), _inner(v, v), _inner(u, w), _inner(v, w)
    det = uu * vv - uv * uv
    if det == 0:
        return None
    s, t = (vv * uw - uv * vw) / det, (uu * vw - uv * uw) / det
    if s < 0 or t < 0 or s + t > 1:
        return None
    rest = (w[0] - s * u[0] - t * v[0], w[1] - s * u[1] - t * v[1], w[2] - s * u[2] - t * v[2])
    return _inner(rest, rest)


def squared_distance(a: FloatTriangle, b: FloatTriangle) -> Fraction:
    """The exact squared distance of two closed triangles, 0 where they touch.

    Every candidate is the distance of two points of the triangles, and the closest pair is among the candidates.
    """
    if triangles_touch(a, b):
        return Fraction(0)
    first, second = _fractions(a), _fractions(b)
    found: list[Fraction | None] = []
    for one, other in ((first, second), (second, first)):
        for p in one:
            found.append(_point_face(p, *other))
            found += [_point_segment(p, other[k - 1], other[k]) for k in range(3)]
    for i, j in itertools.product(range(3), range(3)):
        found.append(_line_line(first[i - 1], first[i], second[j - 1], second[j]))
    return min(d for d in found if d is not None)
