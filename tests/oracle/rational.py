"""The truth about two triangles, in exact integers and fractions. Imports nothing of jostle.

A float64 is a whole number times a power of two, so all coordinates of a question become Python integers after one common
scaling, and homogeneous integers (x, y, z, w > 0) hold every point that is constructed from them.

The algorithm is constructive and shares no idea with the kernels: a closed triangle, segment or point is an intersection of
half-spaces; the other triangle is clipped against them one by one (Sutherland and Hodgman), and what is left *is* the set of
common points, as the corners of its hull. Touching, kind and "beyond what is shared" are read off that set.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
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


def _short_triangles(a: FloatTriangle, b: FloatTriangle) -> tuple[list[Point], list[Point]]:
    """Two triangles moved so that one corner is the origin, and scaled: whole numbers as short as a power of two makes them."""
    first, second, _ = _whole_triangles(a, b)
    x, y, z = first[0]
    points = [(p[0] - x, p[1] - y, p[2] - z) for p in (*first, *second)]
    digits = 0
    for p in points:
        digits |= p[0] | p[1] | p[2]
    zeros = (digits & -digits).bit_length() - 1
    if zeros > 0:
        points = [(p[0] >> zeros, p[1] >> zeros, p[2] >> zeros) for p in points]
    return points[:3], points[3:]


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


def _half_spaces(triangle: list[Point]) -> Iterator[Plane]:
    """The closed triangle, or the segment or point that it has become, as an intersection of half-spaces, made one by one."""
    a, b, c = triangle
    axes: list[Point] = [(1, 0, 0), (0, 1, 0), (0, 0, 1)]
    normal = _cross(_minus(b, a), _minus(c, a))
    if any(normal):
        yield from _both_sides(normal, a)
        for start, end in ((a, b), (b, c), (c, a)):
            yield _half_space(_cross(normal, _minus(end, start)), start)
        return
    start, end = _longest_side(triangle)
    along = _minus(end, start)
    if any(along):
        yield _half_space(along, start)
        yield _half_space((-along[0], -along[1], -along[2]), end)
        axes = [_cross(along, axis) for axis in axes]
    for axis in axes:
        yield from _both_sides(axis, start)


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
            (x, y, z, w), (to_x, to_y, to_z, to_w) = before, corner
            kept.append((s * x + t * to_x, s * y + t * to_y, s * z + t * to_z, s * w + t * to_w))
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
    return bool(_common(*_short_triangles(a, b)))


def _strictly_inside(point: Homogeneous, triangle: list[Point], normal: Point) -> bool:
    """Whether a point of the triangle's plane lies in its relative interior: all three areas have the sign of the whole."""
    x, y, z, w = point
    a, b, c = triangle
    for start, end in ((a, b), (b, c), (c, a)):
        nx, ny, nz, m = _half_space(_cross(normal, _minus(end, start)), start)
        if nx * x + ny * y + nz * z + m * w <= 0:
            return False
    return True


def kind(a: FloatTriangle, b: FloatTriangle) -> int:
    """0 apart; CROSSING when two non-degenerate triangles of different planes have a common relative interior point."""
    first, second = _short_triangles(a, b)
    corners = _common(first, second)
    if not corners:
        return 0
    normal_a, normal_b = (_cross(_minus(t[1], t[0]), _minus(t[2], t[0])) for t in (first, second))
    if not any(normal_a) or not any(normal_b) or not any(_cross(normal_a, normal_b)):
        return TOUCHING  # degenerate, or parallel planes with a common point: coplanar
    # A mean of the corners, here with their denominators as weights, is in the relative interior of the common set; where the
    # relative interiors of two convex sets meet, that is the intersection of the two relative interiors.
    x, y, z, w = (sum(values) for values in zip(*corners, strict=True))
    mean = (x, y, z, w)
    return CROSSING if _strictly_inside(mean, first, normal_a) and _strictly_inside(mean, second, normal_b) else TOUCHING


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
    first, second = _short_triangles(a, b)
    assert first[:shared] == second[:shared]
    hull = [first[0], first[shared - 1], first[shared - 1]]
    planes = list(_half_spaces(hull))
    return any(nx * x + ny * y + nz * z + m * w < 0 for x, y, z, w in _common(first, second) for nx, ny, nz, m in planes)


Ratio = tuple[int, int]  # numerator, and a denominator that is positive


def _corner_to_edge(off: Point, along: Point) -> Ratio:
    """Squared distance of a corner to a segment, by the corner's place and the segment's end as seen from its start."""
    length, over = _dot(along, along), _dot(off, along)
    if over <= 0:
        return _dot(off, off), 1
    if over >= length:
        rest = _minus(off, along)
        return _dot(rest, rest), 1
    return _dot(off, off) * length - over * over, length


def _line_to_line(u: Point, v: Point, w: Point) -> Ratio | None:
    """Squared distance of two lines along u and v, w from start to start, where both feet lie on the segments."""
    across = _cross(u, v)
    area = _dot(across, across)
    if area == 0 or not (0 <= -_dot(_cross(w, v), across) <= area and 0 <= -_dot(_cross(w, u), across) <= area):
        return None
    return _dot(w, across) ** 2, area


def _corner_to_face(off: Point, u: Point, v: Point, normal: Point, area: int) -> Ratio | None:
    """Squared distance of a corner to the plane of a triangle with sides u and v, where its foot lies inside."""
    s, t = _dot(_cross(off, v), normal), _dot(_cross(u, off), normal)
    if area == 0 or s < 0 or t < 0 or s + t > area:
        return None
    return _dot(off, normal) ** 2, area


def _distances(first: list[Point], second: list[Point]) -> Iterator[Ratio | None]:
    for triangle, other in ((first, second), (second, first)):
        a, b, c = triangle
        u, v = _minus(b, a), _minus(c, a)
        normal = _cross(u, v)
        area = _dot(normal, normal)
        sides = ((a, u), (b, _minus(c, b)), (c, _minus(a, c)))
        for corner in other:
            yield _corner_to_face(_minus(corner, a), u, v, normal, area)
            for start, along in sides:
                yield _corner_to_edge(_minus(corner, start), along)
    for i, j in itertools.product(range(3), range(3)):
        a, b = first[i - 1], second[j - 1]
        yield _line_to_line(_minus(first[i], a), _minus(second[j], b), _minus(a, b))


def squared_distance(a: FloatTriangle, b: FloatTriangle) -> Fraction:
    """The exact squared distance of two closed triangles, 0 where they touch.

    Every candidate is the distance of two points of the triangles, and the closest pair is among the candidates.
    """
    first, second, denominator = _whole_triangles(a, b)
    if _common(first, second):
        return Fraction(0)
    least, under = 1, 0
    for found in _distances(first, second):
        if found is not None and found[0] * under < least * found[1]:
            least, under = found
    return Fraction(least, under * denominator**2)
