"""orient2d and orient3d: the sign of a determinant of float64 coordinates, always right.

Three stages. (1) Plain float64 with a bound on its error that holds for the evaluated formula: every term passes through
at most 8 (4 in the plane) roundings, so the error is below 9 (5) times 2^-53 times the same formula on absolute values;
nothing can underflow in the accepted range, 0 or 1e-30 … 1e31 in magnitude. (2) Where each of x, y and z spans at most
58 bits over the four points, which is the rule for nearby points and for float32 data, exact integers of 30-bit digits:
no memory, about 20 ns. (3) Expansion arithmetic after Shewchuk (1997) on exact differences: about 0.5 µs. Deviation from
Shewchuk: stage 2 instead of his B and C, because coplanar scenes need exact zeros, which those cannot give in general.

Signs: orient2d(a, b, c) > 0 when a, b, c turn counter-clockwise. orient3d(a, b, c, d) > 0 when d lies on the side of the
plane abc from which a, b, c are seen counter-clockwise: the sign of ((b-a) x (c-a)) . (d-a).
"""

import numpy as np

from jostle.geometry.expansion import put_difference, put_scaled, put_sum
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
NEXT_BINADE = 2.0**52 + 1.0


@kernel
def orient2d(ax, ay, bx, by, cx, cy):
    """Return 1, -1 or 0: a, b, c turn counter-clockwise, clockwise or lie on a line. Exact."""
    left = (bx - ax) * (cy - ay)
    right = (by - ay) * (cx - ax)
    area = left - right
    size = abs(left) + abs(right)
    if abs(area) <= FILTER_2D * size:
        if size == 0.0:
            return 0  # products of exact zeros: nothing underflows
        area = _exact_area(ax, ay, bx, by, cx, cy)
    if area > 0.0:
        return 1
    if area < 0.0:
        return -1
    return 0


@kernel
def orient3d(ax, ay, az, bx, by, bz, cx, cy, cz, dx, dy, dz):
    """Return the side of the plane abc on which d lies: 1 where a, b, c are seen counter-clockwise, -1 or 0. Exact."""
    volume, size = _rounded_volume(ax, ay, az, bx, by, bz, cx, cy, cz, dx, dy, dz)
    if abs(volume) <= FILTER_3D * size:
        if size == 0.0:
            return 0
        volume = exact_volume(ax, ay, az, bx, by, bz, cx, cy, cz, dx, dy, dz)
    if volume > 0.0:
        return 1
    if volume < 0.0:
        return -1
    return 0


@kernel
def signed_area(ax, ay, bx, by, cx, cy):
    """Return the determinant of orient2d (twice the area) with its exact sign and a relative error below 2^-39."""
    left = (bx - ax) * (cy - ay)
    right = (by - ay) * (cx - ax)
    if abs(left - right) > ACCURATE * FILTER_2D * (abs(left) + abs(right)):
        return left - right
    return _exact_area(ax, ay, bx, by, cx, cy)


@kernel
def signed_volume(ax, ay, az, bx, by, bz, cx, cy, cz, dx, dy, dz):
    """Return the determinant of orient3d (six times the volume) with its exact sign and a relative error below 2^-39."""
    volume, size = _rounded_volume(ax, ay, az, bx, by, bz, cx, cy, cz, dx, dy, dz)
    if abs(volume) > ACCURATE * FILTER_3D * size:
        return volume
    return exact_volume(ax, ay, az, bx, by, bz, cx, cy, cz, dx, dy, dz)


@kernel
def sides_of_plane(ax, ay, az, bx, by, bz, cx, cy, cz, px, py, pz, qx, qy, qz, rx, ry, rz):
    """Return orient3d(a, b, c, p), … q) and … r): the plane is set up once for the three points."""
    ux, uy, uz = bx - ax, by - ay, bz - az
    vx, vy, vz = cx - ax, cy - ay, cz - az
    yz, zy = uy * vz, uz * vy
    zx, xz = uz * vx, ux * vz
    xy, yx = ux * vy, uy * vx
    nx, ny, nz = yz - zy, zx - xz, xy - yx
    mx, my, mz = abs(yz) + abs(zy), abs(zx) + abs(xz), abs(xy) + abs(yx)
    # The same operations as in _rounded_volume, hence the same bound.
    wx, wy, wz = px - ax, py - ay, pz - az
    p = wx * nx + wy * ny + wz * nz
    p_size = abs(wx) * mx + abs(wy) * my + abs(wz) * mz
    wx, wy, wz = qx - ax, qy - ay, qz - az
    q = wx * nx + wy * ny + wz * nz
    q_size = abs(wx) * mx + abs(wy) * my + abs(wz) * mz
    wx, wy, wz = rx - ax, ry - ay, rz - az
    r = wx * nx + wy * ny + wz * nz
    r_size = abs(wx) * mx + abs(wy) * my + abs(wz) * mz
    if abs(p) <= FILTER_3D * p_size and p_size != 0.0:
        p = exact_volume(ax, ay, az, bx, by, bz, cx, cy, cz, px, py, pz)
    if abs(q) <= FILTER_3D * q_size and q_size != 0.0:
        q = exact_volume(ax, ay, az, bx, by, bz, cx, cy, cz, qx, qy, qz)
    if abs(r) <= FILTER_3D * r_size and r_size != 0.0:
        r = exact_volume(ax, ay, az, bx, by, bz, cx, cy, cz, rx, ry, rz)
    return int(p > 0.0) - int(p < 0.0), int(q > 0.0) - int(q < 0.0), int(r > 0.0) - int(r < 0.0)


@kernel
def _rounded_volume(ax, ay, az, bx, by, bz, cx, cy, cz, dx, dy, dz):
    """Return the determinant in plain float64, and the same formula on absolute values."""
    ux, uy, uz = bx - ax, by - ay, bz - az
    vx, vy, vz = cx - ax, cy - ay, cz - az
    wx, wy, wz = dx - ax, dy - ay, dz - az
    yz, zy = uy * vz, uz * vy
    zx, xz = uz * vx, ux * vz
    xy, yx = ux * vy, uy * vx
    volume = wx * (yz - zy) + wy * (zx - xz) + wz * (xy - yx)
    size = abs(wx) * (abs(yz) + abs(zy)) + abs(wy) * (abs(zx) + abs(xz)) + abs(wz) * (abs(xy) + abs(yx))
    return volume, size


@kernel
def _exact_area(ax, ay, bx, by, cx, cy):
    # A fourth point one unit above a makes the volume equal to the area.
    return exact_volume(ax, ay, 0.0, bx, by, 0.0, cx, cy, 0.0, ax, ay, 1.0)


@kernel
def exact_volume(ax, ay, az, bx, by, bz, cx, cy, cz, dx, dy, dz):
    """Return the determinant of orient3d from exact arithmetic, rounded only at the end: exact sign, error of some 2^-52."""
    whole_x, unit_x, ux, vx, wx = _integer_differences(ax, bx, cx, dx)
    if whole_x:
        whole_y, unit_y, uy, vy, wy = _integer_differences(ay, by, cy, dy)
        if whole_y:
            whole_z, unit_z, uz, vz, wz = _integer_differences(az, bz, cz, dz)
            if whole_z:
                return _integer_volume(ux, uy, uz, vx, vy, vz, wx, wy, wz) * (unit_x * unit_y * unit_z)
    return _expansion_volume(ax, ay, az, bx, by, bz, cx, cy, cz, dx, dy, dz)


@kernel
def _integer_differences(a, b, c, d):
    """Return (True, unit, b-a, c-a, d-a) as integers of a power-of-two unit, or False first if 58 bits do not hold a … d."""
    largest = max(max(abs(a), abs(b)), max(abs(c), abs(d)))
    if largest == 0.0:
        return True, 1.0, 0, 0, 0
    # Rump's trick for the leading bit of a number, without looking at its representation.
    enlarged = NEXT_BINADE * largest
    leading = enlarged - (1.0 - UNIT_ROUNDOFF) * enlarged
    scale = LEADING_BIT / leading
    a, b, c, d = a * scale, b * scale, c * scale, d * scale
    i, j, k, m = int(a), int(b), int(c), int(d)
    whole = float(i) == a and float(j) == b and float(k) == c and float(m) == d
    return whole, leading * LEADING_BIT_INVERSE, j - i, k - i, m - i


@kernel
def _integer_minor(p, q, r, s):
    """Return p s - q r as four digits, lowest first; the highest is signed."""
    p1, q1, r1, s1 = p >> DIGIT, q >> DIGIT, r >> DIGIT, s >> DIGIT
    p0, q0, r0, s0 = p & DIGIT_MASK, q & DIGIT_MASK, r & DIGIT_MASK, s & DIGIT_MASK
    low = p0 * s0 - q0 * r0
    middle = p1 * s0 + p0 * s1 - q1 * r0 - q0 * r1 + (low >> DIGIT)
    high = p1 * s1 - q1 * r1 + (middle >> DIGIT)
    return low & DIGIT_MASK, middle & DIGIT_MASK, high & DIGIT_MASK, high >> DIGIT


@kernel
def _integer_volume(ux, uy, uz, vx, vy, vz, wx, wy, wz):
    """Return the determinant of three rows of 59-bit integers as a float64 of exact sign."""
    f0, f1, f2, f3 = _integer_minor(uy, uz, vy, vz)
    g0, g1, g2, g3 = _integer_minor(uz, ux, vz, vx)
    h0, h1, h2, h3 = _integer_minor(ux, uy, vx, vy)
    x1, y1, z1 = wx >> DIGIT, wy >> DIGIT, wz >> DIGIT
    x0, y0, z0 = wx & DIGIT_MASK, wy & DIGIT_MASK, wz & DIGIT_MASK
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
def _expansion_volume(ax, ay, az, bx, by, bz, cx, cy, cz, dx, dy, dz):
    """Return the same for any accepted coordinates, by expansions; the only place that takes memory."""
    # Two turns of 192 components for the running sum, 18 for the differences, 12 for products, 12 for the coordinates.
    work = np.empty(428, np.float64)
    count = np.empty(9, np.int64)
    work[416], work[417], work[418] = ax, ay, az
    work[419], work[420], work[421] = bx, by, bz
    work[422], work[423], work[424] = cx, cy, cz
    work[425], work[426], work[427] = dx, dy, dz
    for n in range(9):
        count[n] = put_difference(work, work[419 + n], work[416 + n % 3], 384 + 2 * n)
    # Typed, because a literal argument would compile its callee once more.
    total, size = np.int64(0), np.int64(0)
    pair, triple = np.int64(402), np.int64(406)
    # The six terms ± u_i v_j w_k, component by component. Loops with one call site each: the same written out term by
    # term, with shared minors, took 13 s to compile and ran no faster.
    for term in range(6):
        k = term % 3
        i = (k + 1 + term // 3) % 3
        j = 3 - k - i
        sign = 1.0 - 2.0 * (term // 3)
        for v in range(390 + 2 * j, 390 + 2 * j + count[3 + j]):
            pairs = put_scaled(work, 384 + 2 * i, count[i], work[v], pair)
            for w in range(396 + 2 * k, 396 + 2 * k + count[6 + k]):
                triples = put_scaled(work, pair, pairs, sign * work[w], triple)
                size = put_sum(work, total, size, triple, triples, 192 - total)
                total = 192 - total
    value = 0.0
    for n in range(total, total + size):
        value += work[n]
    return value
