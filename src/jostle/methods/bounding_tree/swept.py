"""Bounding objects swept over an interval of time, and whether two of them meet (§4.1).

Over an interval [s, e] a point of a node stays within a distance `blur` of: the centre on the chord from c(s) to c(e), plus an
offset in the volume as it is oriented at the middle (`motions.py` has the proof and the distance; for deforming bodies the larger
half extents of both ends, and no blur). Two tests are made of that:

- enclosing: the paper's. Each node becomes a sphere, or a box in its orientation at the middle, that encloses start and end and,
  deviating from the paper, all that is in between; the two are compared as at one instant.
- relative: on each separating axis the distance of the two centres changes linearly; where it is larger than the radii together
  the nodes are apart at that part of the interval. They may meet only in what all axes leave: a window of time, which starts no
  later than the first contact. Bodies that fly together, or one that is fast and small, cost no more than bodies at rest.

Guarantee: no contact is outside of the window. Windows are rounded outward.
"""

from __future__ import annotations

import math

from jostle.kernels.jit import kernel
from jostle.methods.bounding_tree.motions import DEFORMS, TURN
from jostle.methods.bounding_tree.tree import AXES, HALF, RADIUS

OUTWARD = 1.0 - 2.0**-40
PLACE = 20  # of a node over an interval: centre, way, radius, blur, three axes, half extents


@kernel(forceinline=True)
def clipped(low, high, f0, f1, radius):
    """Shorten the window [low, high] of λ to where |f0 + λ (f1 - f0)| <= radius; empty where low > high."""
    if f0 > radius:
        if f1 > radius:
            return 2.0, 0.0
        low = max(low, (f0 - radius) / (f0 - f1) * OUTWARD)
    elif f0 < -radius:
        if f1 < -radius:
            return 2.0, 0.0
        low = max(low, (f0 + radius) / (f0 - f1) * OUTWARD)
    if f1 > radius:
        high = min(high, 1.0 - (f1 - radius) / (f1 - f0) * OUTWARD)
    elif f1 < -radius:
        high = min(high, 1.0 - (f1 + radius) / (f1 - f0) * OUTWARD)
    return low, high


@kernel(forceinline=True)
def set_up_node(volumes_t0, volumes_t1, motion, pads, node, table, halvings, s, e, start, end, place):
    """Write where the centre of a node is at s, its way until e, radius and blur to place (PLACE,).

    start, end: rows of the instants s and e in the table of the body.
    """
    x, y, z, radius = volumes_t0[node, 0], volumes_t0[node, 1], volumes_t0[node, 2], volumes_t0[node, RADIUS]
    p, q, r = x, y, z
    if motion[DEFORMS] != 0.0:
        dx, dy, dz = volumes_t1[node, 0] - x, volumes_t1[node, 1] - y, volumes_t1[node, 2] - z
        p, q, r = x + e * dx, y + e * dy, z + e * dz
        x, y, z = x + s * dx, y + s * dy, z + s * dz
        more = volumes_t1[node, RADIUS] - radius
        radius = max(radius + s * more, radius + e * more)
    cx = (table[start, 0] * x + table[start, 1] * y + table[start, 2] * z) + table[start, 9]
    cy = (table[start, 3] * x + table[start, 4] * y + table[start, 5] * z) + table[start, 10]
    cz = (table[start, 6] * x + table[start, 7] * y + table[start, 8] * z) + table[start, 11]
    wx = (table[end, 0] * p + table[end, 1] * q + table[end, 2] * r) + table[end, 9] - cx
    wy = (table[end, 3] * p + table[end, 4] * q + table[end, 5] * r) + table[end, 10] - cy
    wz = (table[end, 6] * p + table[end, 7] * q + table[end, 8] * r) + table[end, 11] - cz
    blur = pads[halvings, 0] * radius
    if pads[halvings, 1] > 0.0:
        kx, ky, kz = motion[TURN], motion[TURN + 1], motion[TURN + 2]
        x, y, z = ky * wz - kz * wy, kz * wx - kx * wz, kx * wy - ky * wx
        blur += pads[halvings, 1] * math.sqrt((x * x + y * y) + z * z)
    place[0], place[1], place[2], place[3], place[4], place[5], place[6], place[7] = cx, cy, cz, wx, wy, wz, radius, blur


@kernel(forceinline=True)
def set_up_axes(volumes_t0, volumes_t1, motion, node, table, s, e, middle, place):
    """Write the axes of a node as they are at the middle, and its half extents, to place (PLACE,)."""
    for k in range(3):
        x, y, z = volumes_t0[node, AXES + 3 * k], volumes_t0[node, AXES + 3 * k + 1], volumes_t0[node, AXES + 3 * k + 2]
        place[8 + 3 * k] = table[middle, 0] * x + table[middle, 1] * y + table[middle, 2] * z
        place[9 + 3 * k] = table[middle, 3] * x + table[middle, 4] * y + table[middle, 5] * z
        place[10 + 3 * k] = table[middle, 6] * x + table[middle, 7] * y + table[middle, 8] * z
        half = volumes_t0[node, HALF + k]
        if motion[DEFORMS] != 0.0:
            more = volumes_t1[node, HALF + k] - half
            half = max(half + s * more, half + e * more)
        place[17 + k] = half


@kernel(forceinline=True)
def window_of_spheres(along, way, far, squared):
    """The window of λ in which |s + λ d|² <= `squared`, for along = s · d, way = |d|² and far = |s|²."""
    if way == 0.0:
        return (0.0, 1.0) if far <= squared else (2.0, 0.0)
    under = along * along - way * (far - squared)
    # More than the rounding of `under`, and by that the window is wider than the rounding of what follows.
    under += 2.0**-48 * (along * along + way * (far + squared))
    if under < 0.0:
        return 2.0, 0.0
    root = math.sqrt(under)
    return (-along - root) / way - 2.0**-40, (-along + root) / way + 2.0**-40


@kernel(forceinline=True)
def window_of_centres(relative, exact, a, b, padding):
    """When spheres about two nodes, in places a and b (PLACE,), meet: the window (low, high) of λ, empty where low > high.

    Unless `exact`, it is all of [0, 1] where they may meet, and costs no root: for boxes, which shorten it better.
    """
    sx, sy, sz = b[0] - a[0], b[1] - a[1], b[2] - a[2]
    dx, dy, dz = b[3] - a[3], b[4] - a[4], b[5] - a[5]
    radius = (a[6] + b[6]) * (1.0 + 1e-4) + (a[7] + b[7]) + padding
    if not relative:
        # Each sphere encloses its own way: half of that is added to its radius, and it is compared in the middle.
        way_a = math.sqrt((a[3] * a[3] + a[4] * a[4]) + a[5] * a[5])
        way_b = math.sqrt((b[3] * b[3] + b[4] * b[4]) + b[5] * b[5])
        sx, sy, sz = sx + 0.5 * dx, sy + 0.5 * dy, sz + 0.5 * dz
        dx, dy, dz = 0.0, 0.0, 0.0
        radius += 0.5 * (way_a + way_b) * (1.0 + 1e-12)
    far, squared = (sx * sx + sy * sy) + sz * sz, radius * radius
    if far <= squared and not exact:
        return 0.0, 1.0
    along, way = (sx * dx + sy * dy) + sz * dz, (dx * dx + dy * dy) + dz * dz
    at_end = (far + 2.0 * along) + way
    # Outside at the start: free where the centres part, or are not near enough at the end and were never nearer.
    if far > squared and (along >= 0.0 or (along + way < 0.0 and at_end > squared * (1.0 + 2.0**-40) + 2.0**-44 * far)):
        return 2.0, 0.0
    low, high = window_of_spheres(along, way, far, squared)
    if low > high or not exact:
        return (2.0, 0.0) if low > high else (0.0, 1.0)
    return max(low, 0.0), min(high, 1.0)


@kernel(forceinline=True)
def strayed(relative, a, b):
    """What motion adds to the extents of two nodes in places a and b: blur and, where they enclose their ways, half of these."""
    if relative:
        return a[7] + b[7]
    way_a = math.sqrt((a[3] * a[3] + a[4] * a[4]) + a[5] * a[5])
    way_b = math.sqrt((b[3] * b[3] + b[4] * b[4]) + b[5] * b[5])
    return (a[7] + b[7]) + 0.5 * (way_a + way_b)


@kernel(forceinline=True)
def window_of_places(relative, low, high, a, b, lack, padding):
    """Shorten a window by the boxes of two nodes in places a and b (PLACE,), axes included. Enclosing, it is all or nothing.

    lack: how far the axes of both may be from orthonormal.
    """
    sx, sy, sz = b[0] - a[0], b[1] - a[1], b[2] - a[2]
    ex, ey, ez = sx + (b[3] - a[3]), sy + (b[4] - a[4]), sz + (b[5] - a[5])
    u0x, u0y, u0z, u1x, u1y, u1z, u2x, u2y, u2z = a[8], a[9], a[10], a[11], a[12], a[13], a[14], a[15], a[16]
    w0x, w0y, w0z, w1x, w1y, w1z, w2x, w2y, w2z = b[8], b[9], b[10], b[11], b[12], b[13], b[14], b[15], b[16]
    a0, a1, a2, b0, b1, b2 = a[17], a[18], a[19], b[17], b[18], b[19]
    if not relative:
        sx, sy, sz = 0.5 * (sx + ex), 0.5 * (sy + ey), 0.5 * (sz + ez)
        ex, ey, ez = sx, sy, sz
        a0 += 0.5 * abs(u0x * a[3] + u0y * a[4] + u0z * a[5])
        a1 += 0.5 * abs(u1x * a[3] + u1y * a[4] + u1z * a[5])
        a2 += 0.5 * abs(u2x * a[3] + u2y * a[4] + u2z * a[5])
        b0 += 0.5 * abs(w0x * b[3] + w0y * b[4] + w0z * b[5])
        b1 += 0.5 * abs(w1x * b[3] + w1y * b[4] + w1z * b[5])
        b2 += 0.5 * abs(w2x * b[3] + w2y * b[4] + w2z * b[5])
    # Distances of centres in the axes of a, at both ends, and the axes of b there.
    s0, s1, s2 = u0x * sx + u0y * sy + u0z * sz, u1x * sx + u1y * sy + u1z * sz, u2x * sx + u2y * sy + u2z * sz
    e0, e1, e2 = u0x * ex + u0y * ey + u0z * ez, u1x * ex + u1y * ey + u1z * ez, u2x * ex + u2y * ey + u2z * ez
    r00, r01, r02 = u0x * w0x + u0y * w0y + u0z * w0z, u0x * w1x + u0y * w1y + u0z * w1z, u0x * w2x + u0y * w2y + u0z * w2z
    r10, r11, r12 = u1x * w0x + u1y * w0y + u1z * w0z, u1x * w1x + u1y * w1y + u1z * w1z, u1x * w2x + u1y * w2y + u1z * w2z
    r20, r21, r22 = u2x * w0x + u2y * w0y + u2z * w0z, u2x * w1x + u2y * w1y + u2z * w1z, u2x * w2x + u2y * w2y + u2z * w2z
    far = max(abs(s0), abs(s1), abs(s2), abs(e0), abs(e1), abs(e2))
    grown = (a[7] + b[7]) + padding + lack * (far + (a0 + a1 + a2) + (b0 + b1 + b2))
    return window_of_boxes(
        low, high, s0, s1, s2, e0, e1, e2, r00, r01, r02, r10, r11, r12, r20, r21, r22, a0, a1, a2, b0, b1, b2, grown
    )


@kernel(forceinline=True)
def window_of_boxes(low, high, s0, s1, s2, e0, e1, e2, r00, r01, r02, r10, r11, r12, r20, r21, r22, a0, a1, a2, b0, b1, b2, grown):
    """Shorten a window of λ by 15 axes: a box of half extents a at the origin, one of half extents b and axes r from s to e."""
    m00, m01, m02 = abs(r00), abs(r01), abs(r02)
    m10, m11, m12 = abs(r10), abs(r11), abs(r12)
    m20, m21, m22 = abs(r20), abs(r21), abs(r22)
    low, high = clipped(low, high, s0, e0, a0 + (m00 * b0 + m01 * b1 + m02 * b2) + grown)
    if low > high:
        return low, high
    low, high = clipped(low, high, s1, e1, a1 + (m10 * b0 + m11 * b1 + m12 * b2) + grown)
    if low > high:
        return low, high
    low, high = clipped(low, high, s2, e2, a2 + (m20 * b0 + m21 * b1 + m22 * b2) + grown)
    if low > high:
        return low, high
    f0, f1 = s0 * r00 + s1 * r10 + s2 * r20, e0 * r00 + e1 * r10 + e2 * r20
    low, high = clipped(low, high, f0, f1, b0 + (a0 * m00 + a1 * m10 + a2 * m20) + grown)
    f0, f1 = s0 * r01 + s1 * r11 + s2 * r21, e0 * r01 + e1 * r11 + e2 * r21
    low, high = clipped(low, high, f0, f1, b1 + (a0 * m01 + a1 * m11 + a2 * m21) + grown)
    f0, f1 = s0 * r02 + s1 * r12 + s2 * r22, e0 * r02 + e1 * r12 + e2 * r22
    low, high = clipped(low, high, f0, f1, b2 + (a0 * m02 + a1 * m12 + a2 * m22) + grown)
    if low > high:
        return low, high
    radius = (a1 * m20 + a2 * m10) + (b1 * m02 + b2 * m01) + grown
    low, high = clipped(low, high, s2 * r10 - s1 * r20, e2 * r10 - e1 * r20, radius)
    radius = (a1 * m21 + a2 * m11) + (b0 * m02 + b2 * m00) + grown
    low, high = clipped(low, high, s2 * r11 - s1 * r21, e2 * r11 - e1 * r21, radius)
    radius = (a1 * m22 + a2 * m12) + (b0 * m01 + b1 * m00) + grown
    low, high = clipped(low, high, s2 * r12 - s1 * r22, e2 * r12 - e1 * r22, radius)
    radius = (a0 * m20 + a2 * m00) + (b1 * m12 + b2 * m11) + grown
    low, high = clipped(low, high, s0 * r20 - s2 * r00, e0 * r20 - e2 * r00, radius)
    radius = (a0 * m21 + a2 * m01) + (b0 * m12 + b2 * m10) + grown
    low, high = clipped(low, high, s0 * r21 - s2 * r01, e0 * r21 - e2 * r01, radius)
    radius = (a0 * m22 + a2 * m02) + (b0 * m11 + b1 * m10) + grown
    low, high = clipped(low, high, s0 * r22 - s2 * r02, e0 * r22 - e2 * r02, radius)
    radius = (a0 * m10 + a1 * m00) + (b1 * m22 + b2 * m21) + grown
    low, high = clipped(low, high, s1 * r00 - s0 * r10, e1 * r00 - e0 * r10, radius)
    radius = (a0 * m11 + a1 * m01) + (b0 * m22 + b2 * m20) + grown
    low, high = clipped(low, high, s1 * r01 - s0 * r11, e1 * r01 - e0 * r11, radius)
    radius = (a0 * m12 + a1 * m02) + (b0 * m21 + b1 * m20) + grown
    return clipped(low, high, s1 * r02 - s0 * r12, e1 * r02 - e0 * r12, radius)
