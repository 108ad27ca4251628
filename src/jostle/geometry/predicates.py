"""orient2d and orient3d: the exact sign of a determinant of float64 coordinates.

Three stages. (1) Plain float64 with a bound on its error that holds for the evaluated formula: every term passes through
at most 8 (4 in the plane) roundings, so the error is below 9 (5) times 2^-53 times the same formula on absolute values;
nothing can underflow in the accepted range, 0 or 1e-30 … 1e31 in magnitude. About 8 ns. (2) Where each of x, y and z spans
at most 58 bits over the four points, the rule for points near each other and for float32 data, exact integers of two
30-bit digits: no memory, 50 ns. (3) Exact integers of as many 28-bit digits as the coordinates need, ten at most:
0.3 µs for rotated coplanar parts, 2 µs for mixtures of 1e-30 and 1e30. Deviation from Shewchuk (1997), whose
expansions are the usual stage 3: they took three to six times as long (measured).

Signs: orient2d(a, b, c) > 0 when a, b, c turn counter-clockwise. orient3d(a, b, c, d) > 0 when d lies on the side of the
plane abc from which a, b, c are seen counter-clockwise: the sign of ((b-a) x (c-a)) . (d-a).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from jostle.geometry.triangle import Triangle
from jostle.geometry.vector import Vec2, Vec3, absolute, dot, minus, plus, write_point
from jostle.kernels.jit import kernel

UNIT_ROUNDOFF = 2.0**-53
FILTER_2D = 5.0 * UNIT_ROUNDOFF
FILTER_3D = 9.0 * UNIT_ROUNDOFF
ACCURATE = 2.0**40  # a value this many times above its error bound has a relative error below 2^-40

DIGIT = 30  # bits of an integer digit: products of two digits, summed six at a time, stay inside int64
DIGIT_MASK = (1 << DIGIT) - 1
DIGIT_BASE = float(1 << DIGIT)
COORDINATE_BITS = 58  # differences then have 59 bits, minors 119, and no sum of products reaches 2^63
LEADING_BIT = 2.0 ** (COORDINATE_BITS - 1)
LEADING_BIT_INVERSE = 1.0 / LEADING_BIT
LIMB = 28
LIMB_MASK = (1 << LIMB) - 1
LIMB_BASE = float(1 << LIMB)
LIMBS = 10  # of a coordinate
# Where `_long_volume` keeps its digits, highest first: x, y, z of u = b-a, of v = c-a, of w = d-a; three minors; their sum.
U, V, W, MINORS, SUM, ALL_DIGITS = 0, 30, 60, 90, 153, 183
MINOR = 21  # digits of a minor
NEXT_BINADE = 2.0**52 + 1.0

Sides = tuple[int, int, int]
"""On which sides of a plane three points lie: 1, 0 or -1 each."""


@kernel(forceinline=True)
def sign(value: float) -> int:
    """Return 1, 0 or -1."""
    return int(value > 0.0) - int(value < 0.0)


@kernel
def orient2d(a: Vec2, b: Vec2, c: Vec2) -> int:
    """Return 1, -1 or 0: a, b, c turn counter-clockwise, clockwise or not. Exact."""
    left = (b.x - a.x) * (c.y - a.y)
    right = (b.y - a.y) * (c.x - a.x)
    area = left - right
    size = abs(left) + abs(right)
    if abs(area) <= FILTER_2D * size:
        if size == 0.0:
            return 0  # products of exact zeros: nothing underflows
        # A fourth point one unit above a makes the volume equal to the area.
        area = exact_volume(Vec3(a.x, a.y, 0.0), Vec3(b.x, b.y, 0.0), Vec3(c.x, c.y, 0.0), Vec3(a.x, a.y, 1.0))
    return sign(area)


class FilteredPlane(NamedTuple):
    """A plane through three points, for filtered predicates.

    (b-a) × (c-a), and the same on absolute values.
    """

    normal: Vec3
    size: Vec3


@kernel(forceinline=True)
def plane_through(a: Vec3, b: Vec3, c: Vec3) -> FilteredPlane:
    """Set up the plane of three points."""
    u, v = minus(b, a), minus(c, a)
    first = Vec3(u.y * v.z, u.z * v.x, u.x * v.y)
    second = Vec3(u.z * v.y, u.x * v.z, u.y * v.x)
    return FilteredPlane(minus(first, second), plus(absolute(first), absolute(second)))


@kernel
def orient3d(a: Vec3, b: Vec3, c: Vec3, d: Vec3) -> int:
    """Return the side of the plane abc on which d lies: 1, -1 or 0. Exact.

    1 is the side from which a, b, c are seen counter-clockwise.
    """
    plane, w = plane_through(a, b, c), minus(d, a)
    volume, size = dot(w, plane.normal), dot(absolute(w), plane.size)
    if abs(volume) <= FILTER_3D * size:
        if size == 0.0:
            return 0
        volume = exact_volume(a, b, c, d)
    return sign(volume)


@kernel
def signed_volume(a: Vec3, b: Vec3, c: Vec3, d: Vec3) -> float:
    """Return the determinant of orient3d (six times the volume), exact in sign.

    Its relative error is below 2^-39.
    """
    plane, w = plane_through(a, b, c), minus(d, a)
    volume, size = dot(w, plane.normal), dot(absolute(w), plane.size)
    if abs(volume) > ACCURATE * FILTER_3D * size:
        return volume
    return exact_volume(a, b, c, d)


@kernel(forceinline=True)
def signed_area(a: Vec2, b: Vec2, c: Vec2) -> float:
    """Return the determinant of orient2d (twice the area), exact in sign.

    Its relative error is below 2^-39.
    """
    return signed_volume(Vec3(a.x, a.y, 0.0), Vec3(b.x, b.y, 0.0), Vec3(c.x, c.y, 0.0), Vec3(a.x, a.y, 1.0))


@kernel
def sides_of_plane(t: Triangle, points: Triangle) -> Sides:
    """Return the sides of the plane of t on which three points lie, as orient3d does.

    The plane is set up once for all three.
    """
    plane = plane_through(t.p, t.q, t.r)
    # The same operations as in orient3d, hence the same bound.
    u, v, w = minus(points.p, t.p), minus(points.q, t.p), minus(points.r, t.p)
    p, p_size = dot(u, plane.normal), dot(absolute(u), plane.size)
    q, q_size = dot(v, plane.normal), dot(absolute(v), plane.size)
    r, r_size = dot(w, plane.normal), dot(absolute(w), plane.size)
    if abs(p) <= FILTER_3D * p_size and p_size != 0.0:
        p = exact_volume(t.p, t.q, t.r, points.p)
    if abs(q) <= FILTER_3D * q_size and q_size != 0.0:
        q = exact_volume(t.p, t.q, t.r, points.q)
    if abs(r) <= FILTER_3D * r_size and r_size != 0.0:
        r = exact_volume(t.p, t.q, t.r, points.r)
    return sign(p), sign(q), sign(r)


@kernel
def exact_volume(a: Vec3, b: Vec3, c: Vec3, d: Vec3) -> float:
    """Return the determinant of orient3d, exact but for a last rounding of 2^-52."""
    x = _integer_differences(a.x, b.x, c.x, d.x)
    if x.fits:
        y = _integer_differences(a.y, b.y, c.y, d.y)
        if y.fits:
            z = _integer_differences(a.z, b.z, c.z, d.z)
            if z.fits:
                return _integer_volume(x, y, z) * (x.unit * y.unit * z.unit)
    return _long_volume(a, b, c, d)


class Differences(NamedTuple):
    """b-a, c-a and d-a of one coordinate as integers of a power-of-two unit.

    `fits` says whether 58 bits hold them.
    """

    fits: bool
    unit: float
    u: int
    v: int
    w: int


@kernel
def _integer_differences(a: float, b: float, c: float, d: float) -> Differences:
    """Return the differences of four coordinates from the first, exactly."""
    largest = max(max(abs(a), abs(b)), max(abs(c), abs(d)))
    if largest == 0.0:
        return Differences(True, 1.0, 0, 0, 0)
    # Rump's trick for the leading bit of a number, without looking at its representation.
    enlarged = NEXT_BINADE * largest
    leading = enlarged - (1.0 - UNIT_ROUNDOFF) * enlarged
    scale = LEADING_BIT / leading
    a, b, c, d = a * scale, b * scale, c * scale, d * scale
    i, j, k, m = int(a), int(b), int(c), int(d)
    fits = float(i) == a and float(j) == b and float(k) == c and float(m) == d
    return Differences(fits, leading * LEADING_BIT_INVERSE, j - i, k - i, m - i)


@kernel
def _integer_minor(p: int, q: int, r: int, s: int) -> tuple[int, int, int, int]:
    """Return p s - q r as four digits, lowest first; the highest is signed."""
    p1, q1, r1, s1 = p >> DIGIT, q >> DIGIT, r >> DIGIT, s >> DIGIT
    p0, q0, r0, s0 = p & DIGIT_MASK, q & DIGIT_MASK, r & DIGIT_MASK, s & DIGIT_MASK
    low = p0 * s0 - q0 * r0
    middle = p1 * s0 + p0 * s1 - q1 * r0 - q0 * r1 + (low >> DIGIT)
    high = p1 * s1 - q1 * r1 + (middle >> DIGIT)
    return low & DIGIT_MASK, middle & DIGIT_MASK, high & DIGIT_MASK, high >> DIGIT


@kernel
def _integer_volume(x: Differences, y: Differences, z: Differences) -> float:
    """Return the determinant of three columns of 59-bit integers, exact in sign."""
    f0, f1, f2, f3 = _integer_minor(y.u, z.u, y.v, z.v)
    g0, g1, g2, g3 = _integer_minor(z.u, x.u, z.v, x.v)
    h0, h1, h2, h3 = _integer_minor(x.u, y.u, x.v, y.v)
    x1, y1, z1 = x.w >> DIGIT, y.w >> DIGIT, z.w >> DIGIT
    x0, y0, z0 = x.w & DIGIT_MASK, y.w & DIGIT_MASK, z.w & DIGIT_MASK
    c0 = f0 * x0 + g0 * y0 + h0 * z0
    c1 = f0 * x1 + g0 * y1 + h0 * z1 + f1 * x0 + g1 * y0 + h1 * z0 + (c0 >> DIGIT)
    c2 = f1 * x1 + g1 * y1 + h1 * z1 + f2 * x0 + g2 * y0 + h2 * z0 + (c1 >> DIGIT)
    c3 = f2 * x1 + g2 * y1 + h2 * z1 + f3 * x0 + g3 * y0 + h3 * z0 + (c2 >> DIGIT)
    c4 = f3 * x1 + g3 * y1 + h3 * z1 + (c3 >> DIGIT)
    # From the top: a partial value other than 0 is at least 1 in magnitude and the next digit is below the base, so no
    # rounding can turn the sign, and cancellation happens only where the numbers are small and exact.
    value = float(c4 >> DIGIT) * DIGIT_BASE + float(c4 & DIGIT_MASK)
    value = value * DIGIT_BASE + float(c3 & DIGIT_MASK)
    value = value * DIGIT_BASE + float(c2 & DIGIT_MASK)
    value = value * DIGIT_BASE + float(c1 & DIGIT_MASK)
    return value * DIGIT_BASE + float(c0 & DIGIT_MASK)


@kernel
def _long_volume(a: Vec3, b: Vec3, c: Vec3, d: Vec3) -> float:
    """Return `exact_volume` for any accepted coordinates, by up to ten digits.

    The only place that allocates memory. Differences have digits below 2^29 in magnitude, minors have digits of 28 bits and a
    signed highest one below 2^32. One kernel of loops instead of one for each step: every caller of a predicate compiles a copy of
    it.
    """
    given = np.empty((4, 3), np.float64)
    write_point(given, 0, a)
    write_point(given, 1, b)
    write_point(given, 2, c)
    write_point(given, 3, d)
    digits = np.zeros(ALL_DIGITS, np.int64)
    weight = LIMB_BASE * LIMB_BASE
    count = 0
    for column in range(3):
        p, q, r, s = given[0, column], given[1, column], given[2, column], given[3, column]
        largest = max(max(abs(p), abs(q)), max(abs(r), abs(s)))
        if largest > 0.0:
            enlarged = NEXT_BINADE * largest
            unit = (enlarged - (1.0 - UNIT_ROUNDOFF) * enlarged) / (0.5 * LIMB_BASE)
            weight *= unit
            p, q, r, s = p / unit, q / unit, r / unit, s / unit
        to = LIMBS * column
        # Accepted coordinates never need more than ten digits; the bound keeps others (inf, 1e300) from doing harm.
        while to < LIMBS * column + LIMBS and (p != 0.0 or q != 0.0 or r != 0.0 or s != 0.0):
            # Cut off the whole part, move up the rest: both exact. Digits have the signs of their numbers.
            i, j, k, m = int(p), int(q), int(r), int(s)
            digits[U + to], digits[V + to], digits[W + to] = j - i, k - i, m - i
            p, q, r, s = (p - i) * LIMB_BASE, (q - j) * LIMB_BASE, (r - k) * LIMB_BASE, (s - m) * LIMB_BASE
            to += 1
        count = max(count, to - LIMBS * column)
    for step in range(9):
        # For each column k: u_i v_j, less u_j v_i, make the minor, which times w_k goes to the sum.
        k = step // 3
        i, j = LIMBS * ((k + 1) % 3), LIMBS * ((k + 2) % 3)
        left, left_count, right, factor_sign, to = U + i, count, V + j, 1, MINORS + MINOR * k
        if step % 3 == 1:
            left, right, factor_sign = U + j, V + i, -1
        elif step % 3 == 2:
            left, left_count, right, to = MINORS + MINOR * k, 2 * count, W + LIMBS * k, SUM
        for m in range(left_count - 1, -1, -1):
            factor = factor_sign * digits[left + m]
            carry = 0
            for n in range(count - 1, -1, -1):
                total = digits[to + 1 + m + n] + factor * digits[right + n] + carry
                digits[to + 1 + m + n] = total & LIMB_MASK
                carry = total >> LIMB
            digits[to + m] += carry
    value = 0.0
    for n in range(SUM, SUM + 3 * count):
        value += float(digits[n]) * weight
        weight /= LIMB_BASE
    return value
