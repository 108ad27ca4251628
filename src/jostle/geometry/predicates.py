"""orient2d and orient3d: the sign of a determinant of float64 coordinates, always right.

Three stages. (1) Plain float64 with a bound on its error that holds for the evaluated formula: every term passes through
at most 8 (4 in the plane) roundings, so the error is below 9 (5) times 2^-53 times the same formula on absolute values;
nothing can underflow in the accepted range, 0 or 1e-30 … 1e31 in magnitude. About 8 ns. (2) Where each of x, y and z spans
at most 58 bits over the four points, the rule for points near each other and for float32 data, exact integers of two
30-bit digits: no memory, 50 ns. (3) Exact integers of as many 28-bit digits as the coordinates need, ten at most:
0.3 µs for what rotation makes of coplanar parts, 2 µs for mixtures of 1e-30 and 1e30. Deviation from Shewchuk (1997), whose
expansions are the usual stage 3: written and measured first, they took three to six times as long.

Signs: orient2d(a, b, c) > 0 when a, b, c turn counter-clockwise. orient3d(a, b, c, d) > 0 when d lies on the side of the
plane abc from which a, b, c are seen counter-clockwise: the sign of ((b-a) x (c-a)) . (d-a).
"""

import numpy as np

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
        # A fourth point one unit above a makes the volume equal to the area.
        area = exact_volume(ax, ay, 0.0, bx, by, 0.0, cx, cy, 0.0, ax, ay, 1.0)
    if area > 0.0:
        return 1
    if area < 0.0:
        return -1
    return 0


@kernel
def orient3d(ax, ay, az, bx, by, bz, cx, cy, cz, dx, dy, dz):
    """Return the side of the plane abc on which d lies: 1 where a, b, c are seen counter-clockwise, -1 or 0. Exact."""
    ux, uy, uz = bx - ax, by - ay, bz - az
    vx, vy, vz = cx - ax, cy - ay, cz - az
    wx, wy, wz = dx - ax, dy - ay, dz - az
    yz, zy = uy * vz, uz * vy
    zx, xz = uz * vx, ux * vz
    xy, yx = ux * vy, uy * vx
    volume = wx * (yz - zy) + wy * (zx - xz) + wz * (xy - yx)
    size = abs(wx) * (abs(yz) + abs(zy)) + abs(wy) * (abs(zx) + abs(xz)) + abs(wz) * (abs(xy) + abs(yx))
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
def signed_volume(ax, ay, az, bx, by, bz, cx, cy, cz, dx, dy, dz):
    """Return the determinant of orient3d (six times the volume) with its exact sign and a relative error below 2^-39.

    With z = 0 for a, b and c and d one unit above a it is the determinant of orient2d, twice the area.
    """
    ux, uy, uz = bx - ax, by - ay, bz - az
    vx, vy, vz = cx - ax, cy - ay, cz - az
    wx, wy, wz = dx - ax, dy - ay, dz - az
    yz, zy = uy * vz, uz * vy
    zx, xz = uz * vx, ux * vz
    xy, yx = ux * vy, uy * vx
    volume = wx * (yz - zy) + wy * (zx - xz) + wz * (xy - yx)
    size = abs(wx) * (abs(yz) + abs(zy)) + abs(wy) * (abs(zx) + abs(xz)) + abs(wz) * (abs(xy) + abs(yx))
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
    # The same operations as in orient3d, hence the same bound.
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
def exact_volume(ax, ay, az, bx, by, bz, cx, cy, cz, dx, dy, dz):
    """Return the determinant of orient3d from exact arithmetic, rounded only at the end: exact sign, error of some 2^-52."""
    whole_x, unit_x, ux, vx, wx = _integer_differences(ax, bx, cx, dx)
    if whole_x:
        whole_y, unit_y, uy, vy, wy = _integer_differences(ay, by, cy, dy)
        if whole_y:
            whole_z, unit_z, uz, vz, wz = _integer_differences(az, bz, cz, dz)
            if whole_z:
                return _integer_volume(ux, uy, uz, vx, vy, vz, wx, wy, wz) * (unit_x * unit_y * unit_z)
    return _long_volume(ax, ay, az, bx, by, bz, cx, cy, cz, dx, dy, dz)


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
def _long_volume(ax, ay, az, bx, by, bz, cx, cy, cz, dx, dy, dz):
    """Return the same for any accepted coordinates, by integers of up to ten digits; the only place that takes memory.

    Differences have digits below 2^29 in magnitude, minors have digits of 28 bits and a signed highest one below 2^32. One
    kernel of loops instead of one for each step: every caller of a predicate compiles a copy of all that stands here.
    """
    given = np.empty(12, np.float64)
    given[0], given[1], given[2], given[3], given[4], given[5] = ax, ay, az, bx, by, bz
    given[6], given[7], given[8], given[9], given[10], given[11] = cx, cy, cz, dx, dy, dz
    # Highest digits first: x, y, z of u = b-a from 0, 10, 20, of v = c-a from 30, of w = d-a from 60; the minors from 90, 111
    # and 132; their sum from 153.
    digits = np.zeros(183, np.int64)
    weight = LIMB_BASE * LIMB_BASE
    count = 0
    for column in range(3):
        a, b, c, d = given[column], given[column + 3], given[column + 6], given[column + 9]
        largest = max(max(abs(a), abs(b)), max(abs(c), abs(d)))
        if largest > 0.0:
            enlarged = NEXT_BINADE * largest
            unit = (enlarged - (1.0 - UNIT_ROUNDOFF) * enlarged) / (0.5 * LIMB_BASE)
            weight *= unit
            a, b, c, d = a / unit, b / unit, c / unit, d / unit
        to = 10 * column
        # Accepted coordinates never need more than ten digits; the bound keeps others (inf, 1e300) from doing harm.
        while to < 10 * column + 10 and (a != 0.0 or b != 0.0 or c != 0.0 or d != 0.0):
            # Cut off the whole part, move up the rest: both exact. Digits have the signs of their numbers.
            i, j, k, m = int(a), int(b), int(c), int(d)
            digits[to], digits[to + 30], digits[to + 60] = j - i, k - i, m - i
            a, b, c, d = (a - i) * LIMB_BASE, (b - j) * LIMB_BASE, (c - k) * LIMB_BASE, (d - m) * LIMB_BASE
            to += 1
        count = max(count, to - 10 * column)
    for step in range(9):
        # For each column k: u_i v_j, less u_j v_i, make the minor, which times w_k goes to the sum.
        k = step // 3
        i, j = 10 * ((k + 1) % 3), 10 * ((k + 2) % 3)
        left, left_count, right, sign, to = i, count, 30 + j, 1, 90 + 21 * k
        if step % 3 == 1:
            left, right, sign = j, 30 + i, -1
        elif step % 3 == 2:
            left, left_count, right, to = 90 + 21 * k, 2 * count, 60 + 10 * k, 153
        for m in range(left_count - 1, -1, -1):
            factor = sign * digits[left + m]
            carry = 0
            for n in range(count - 1, -1, -1):
                total = digits[to + 1 + m + n] + factor * digits[right + n] + carry
                digits[to + 1 + m + n] = total & LIMB_MASK
                carry = total >> LIMB
            digits[to + m] += carry
    value = 0.0
    for n in range(153, 153 + 3 * count):
        value += float(digits[n]) * weight
        weight /= LIMB_BASE
    return value
