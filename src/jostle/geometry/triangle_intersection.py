"""Where two touching triangles touch: the ends of their intersection, rounded to float64.

Which edges the ends lie on is decided by exact signs; only the place on the edge is rounded, from determinants with a relative
error below 2^-39 however flat the angle between the planes is. So each end lies within 1e-11 times the longest edge plus
4 units in the last place of the largest coordinate of a true end: never NaN, never on the wrong edge. Both ends are
equal where the triangles have one point in common, and always inside the boxes of both triangles.

Where the intersection is an area (coplanar triangles), the answer is the two corners of it that are farthest apart.
"""

import numpy as np

from jostle.geometry.flat_triangles import projected, projection_axis
from jostle.geometry.predicates import orient3d, sides_of_plane, signed_volume
from jostle.geometry.triangle_triangle import arranged, lone_corner, triangles_touch
from jostle.kernels.jit import kernel


@kernel
def intersection_segment(a0x, a0y, a0z, a1x, a1y, a1z, a2x, a2y, a2z, b0x, b0y, b0z, b1x, b1y, b1z, b2x, b2y, b2z):
    """Return x0, y0, z0, x1, y1, z1: the ends of the intersection of two closed triangles that touch.

    For triangles that do not touch the answer is some point between or on them.
    """
    a0, a1, a2 = sides_of_plane(b0x, b0y, b0z, b1x, b1y, b1z, b2x, b2y, b2z, a0x, a0y, a0z, a1x, a1y, a1z, a2x, a2y, a2z)
    b0, b1, b2 = sides_of_plane(a0x, a0y, a0z, a1x, a1y, a1z, a2x, a2y, a2z, b0x, b0y, b0z, b1x, b1y, b1z, b2x, b2y, b2z)
    if (a0 == 0 and a1 == 0 and a2 == 0) or (b0 == 0 and b1 == 0 and b2 == 0):
        x0, y0, z0, x1, y1, z1 = _flat_ends(
            a0x, a0y, a0z, a1x, a1y, a1z, a2x, a2y, a2z, b0x, b0y, b0z, b1x, b1y, b1z, b2x, b2y, b2z,
            a0 == 0 and a1 == 0 and a2 == 0 and b0 == 0 and b1 == 0 and b2 == 0,
        )  # fmt: skip
    else:
        pa, above_a = lone_corner(a0, a1, a2)
        pb, above_b = lone_corner(b0, b1, b2)
        px, py, pz, qx, qy, qz, rx, ry, rz = arranged(a0x, a0y, a0z, a1x, a1y, a1z, a2x, a2y, a2z, pa, above_b)
        sx, sy, sz, tx, ty, tz, ux, uy, uz = arranged(b0x, b0y, b0z, b1x, b1y, b1z, b2x, b2y, b2z, pb, above_a)
        # The segments are [X(pr), X(pq)] and [X(st), X(su)]; see `arranged`. Take the later start and the earlier end.
        if orient3d(px, py, pz, rx, ry, rz, sx, sy, sz, tx, ty, tz) < 0:
            _, x0, y0, z0 = _edge_in_plane(px, py, pz, rx, ry, rz, sx, sy, sz, tx, ty, tz, ux, uy, uz)
        else:
            _, x0, y0, z0 = _edge_in_plane(sx, sy, sz, tx, ty, tz, px, py, pz, qx, qy, qz, rx, ry, rz)
        if orient3d(px, py, pz, qx, qy, qz, sx, sy, sz, ux, uy, uz) < 0:
            _, x1, y1, z1 = _edge_in_plane(sx, sy, sz, ux, uy, uz, px, py, pz, qx, qy, qz, rx, ry, rz)
        else:
            _, x1, y1, z1 = _edge_in_plane(px, py, pz, qx, qy, qz, sx, sy, sz, tx, ty, tz, ux, uy, uz)
        if orient3d(px, py, pz, qx, qy, qz, sx, sy, sz, tx, ty, tz) == 0 or (
            orient3d(px, py, pz, rx, ry, rz, sx, sy, sz, ux, uy, uz) == 0
        ):
            x1, y1, z1 = x0, y0, z0  # the segments meet end to end: rounding must not make two points of it
    lowest, highest = _common_range(a0x, a1x, a2x, b0x, b1x, b2x)
    x0, x1 = min(max(x0, lowest), highest), min(max(x1, lowest), highest)
    lowest, highest = _common_range(a0y, a1y, a2y, b0y, b1y, b2y)
    y0, y1 = min(max(y0, lowest), highest), min(max(y1, lowest), highest)
    lowest, highest = _common_range(a0z, a1z, a2z, b0z, b1z, b2z)
    z0, z1 = min(max(z0, lowest), highest), min(max(z1, lowest), highest)
    return x0, y0, z0, x1, y1, z1


@kernel
def _common_range(a, b, c, d, e, f):
    return max(min(a, min(b, c)), min(d, min(e, f))), min(max(a, max(b, c)), max(d, max(e, f)))


@kernel
def _between(px, py, pz, qx, qy, qz, from_p, from_q):
    """Return the point of the segment pq whose distances from p and q are as |from_p| to |from_q| (of opposite signs)."""
    span = abs(from_p) + abs(from_q)
    if span == 0.0:
        return px, py, pz
    # Measured from the nearer end, so that an end that is met exactly is returned exactly.
    if abs(from_p) <= abs(from_q):
        t = abs(from_p) / span
        return px + t * (qx - px), py + t * (qy - py), pz + t * (qz - pz)
    t = abs(from_q) / span
    return qx + t * (px - qx), qy + t * (py - qy), qz + t * (pz - qz)


@kernel
def _edge_in_plane(px, py, pz, qx, qy, qz, ax, ay, az, bx, by, bz, cx, cy, cz):
    """Return whether p and q are strictly on different sides of the plane abc, and where the edge pq meets it if at all."""
    from_p = signed_volume(ax, ay, az, bx, by, bz, cx, cy, cz, px, py, pz)
    from_q = signed_volume(ax, ay, az, bx, by, bz, cx, cy, cz, qx, qy, qz)
    x, y, z = _between(px, py, pz, qx, qy, qz, from_p, from_q)
    return (from_p < 0.0 < from_q) or (from_q < 0.0 < from_p), x, y, z


@kernel
def _flat_ends(a0x, a0y, a0z, a1x, a1y, a1z, a2x, a2y, a2z, b0x, b0y, b0z, b1x, b1y, b1z, b2x, b2y, b2z, in_one_plane):
    """Return the two farthest corners of the intersection of triangles that are coplanar or have no area."""
    corner = np.empty((6, 3), np.float64)
    corner[0, 0], corner[0, 1], corner[0, 2] = a0x, a0y, a0z
    corner[1, 0], corner[1, 1], corner[1, 2] = a1x, a1y, a1z
    corner[2, 0], corner[2, 1], corner[2, 2] = a2x, a2y, a2z
    corner[3, 0], corner[3, 1], corner[3, 2] = b0x, b0y, b0z
    corner[4, 0], corner[4, 1], corner[4, 2] = b1x, b1y, b1z
    corner[5, 0], corner[5, 1], corner[5, 2] = b2x, b2y, b2z
    found = np.empty((16, 3), np.float64)
    found[0, 0], found[0, 1], found[0, 2] = a0x, a0y, a0z
    count = 0
    axis = projection_axis(a0x, a0y, a0z, a1x, a1y, a1z, a2x, a2y, a2z)
    if axis < 0:
        axis = projection_axis(b0x, b0y, b0z, b1x, b1y, b1z, b2x, b2y, b2z)
    for k in range(15):
        if k < 6:
            # Corners of the intersection are corners of one triangle that lie in the other ...
            x, y, z = corner[k, 0], corner[k, 1], corner[k, 2]
            o = 3 - 3 * (k // 3)
            is_one = triangles_touch(
                x, y, z, x, y, z, x, y, z,
                corner[o, 0], corner[o, 1], corner[o, 2],
                corner[o + 1, 0], corner[o + 1, 1], corner[o + 1, 2],
                corner[o + 2, 0], corner[o + 2, 1], corner[o + 2, 2],
            ) != 0  # fmt: skip
        elif count > 0 and (axis < 0 or not in_one_plane):
            # Only one point is common. A segment has edges on top of each other: they would give other roundings of it.
            is_one = False
        elif in_one_plane:
            # ... and crossings of two edges ...
            i, j = (k - 6) // 3, k % 3
            is_one, x, y, z = _edges_cross(corner, i, (i + 1) % 3, 3 + j, 3 + (j + 1) % 3, axis)
        else:
            # ... or of an edge and a face.
            p, q, o = k % 6, 3 * (k % 6 // 3) + (k + 1) % 3, 3 - 3 * (k % 6 // 3)
            is_one, x, y, z = _edge_in_plane(
                corner[p, 0], corner[p, 1], corner[p, 2], corner[q, 0], corner[q, 1], corner[q, 2],
                corner[o, 0], corner[o, 1], corner[o, 2],
                corner[o + 1, 0], corner[o + 1, 1], corner[o + 1, 2],
                corner[o + 2, 0], corner[o + 2, 1], corner[o + 2, 2],
            )  # fmt: skip
        if is_one:
            found[count, 0], found[count, 1], found[count, 2] = x, y, z
            count += 1
    first, second, farthest = 0, 0, 0.0
    for i in range(count):
        for j in range(i):
            x, y, z = found[i, 0] - found[j, 0], found[i, 1] - found[j, 1], found[i, 2] - found[j, 2]
            distance = x * x + y * y + z * z
            if distance > farthest:
                first, second, farthest = i, j, distance
    return found[first, 0], found[first, 1], found[first, 2], found[second, 0], found[second, 1], found[second, 2]


@kernel
def _edges_cross(corner, p, q, r, s, only_axis):
    """Return whether two edges of one plane cross inside both, and where.

    `only_axis` is a projection that does not flatten the plane; -1 (two segments) tries all: a flattening one shows no crossing.
    """
    for axis in range(3):
        if only_axis >= 0 and axis != only_axis:
            continue
        p0, p1 = projected(axis, corner[p, 0], corner[p, 1], corner[p, 2])
        q0, q1 = projected(axis, corner[q, 0], corner[q, 1], corner[q, 2])
        r0, r1 = projected(axis, corner[r, 0], corner[r, 1], corner[r, 2])
        s0, s1 = projected(axis, corner[s, 0], corner[s, 1], corner[s, 2])
        from_r = signed_volume(p0, p1, 0.0, q0, q1, 0.0, r0, r1, 0.0, p0, p1, 1.0)
        from_s = signed_volume(p0, p1, 0.0, q0, q1, 0.0, s0, s1, 0.0, p0, p1, 1.0)
        if not (from_r < 0.0 < from_s or from_s < 0.0 < from_r):
            continue
        from_p = signed_volume(r0, r1, 0.0, s0, s1, 0.0, p0, p1, 0.0, r0, r1, 1.0)
        from_q = signed_volume(r0, r1, 0.0, s0, s1, 0.0, q0, q1, 0.0, r0, r1, 1.0)
        if from_p < 0.0 < from_q or from_q < 0.0 < from_p:
            x, y, z = _between(corner[p, 0], corner[p, 1], corner[p, 2], corner[q, 0], corner[q, 1], corner[q, 2], from_p, from_q)
            return True, x, y, z
    return False, 0.0, 0.0, 0.0
