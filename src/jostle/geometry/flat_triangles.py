"""Triangles that share a plane, and triangles without area: when they touch, exactly.

Two sets in one plane are compared in a projection along a coordinate axis that does not flatten the plane: it keeps
incidence, so the plane question is the space question. In the plane, disjoint convex polygons are separated by the line of
an edge of one of them; for two segments on one line, their boxes decide. A segment that pierces the plane of a triangle
is compared with its three edges. These are the rare branches of `triangle_triangle`; they take no memory either.
"""

from jostle.geometry.predicates import orient2d, orient3d
from jostle.kernels.jit import kernel


@kernel
def flat_triangles_touch(
    a0x, a0y, a0z, a1x, a1y, a1z, a2x, a2y, a2z, b0x, b0y, b0z, b1x, b1y, b1z, b2x, b2y, b2z, a0, a1, a2, b0, b1, b2
):
    """Return whether closed triangles touch that are coplanar, or of which one or both have no area.

    a0 … a2 are the sides of a's corners of the plane of b, b0 … b2 the reverse; at least one of the triples is all 0. One long
    kernel of loops: each further one would compile a copy of the predicates.
    """
    if b0 != 0 or b1 != 0 or b2 != 0:
        a0x, a0y, a0z, a1x, a1y, a1z, b0x, b0y, b0z, b1x, b1y, b1z = b0x, b0y, b0z, b1x, b1y, b1z, a0x, a0y, a0z, a1x, a1y, a1z
        a2x, a2y, a2z, b2x, b2y, b2z = b2x, b2y, b2z, a2x, a2y, a2z
        a0, a1, a2 = b0, b1, b2
    if a0 != 0 or a1 != 0 or a2 != 0:
        # b has a plane and a is not in it, so a's own sides are 0 because it is a segment: it pierces the plane in one point.
        for _ in range(3):
            if a0 == 0:
                break
            if a0 * a1 < 0:
                # Seen along the segment, the point is on the same side of all three edges, or on some of them.
                s = orient3d(a0x, a0y, a0z, a1x, a1y, a1z, b0x, b0y, b0z, b1x, b1y, b1z)
                t = orient3d(a0x, a0y, a0z, a1x, a1y, a1z, b1x, b1y, b1z, b2x, b2y, b2z)
                u = orient3d(a0x, a0y, a0z, a1x, a1y, a1z, b2x, b2y, b2z, b0x, b0y, b0z)
                return s * t >= 0 and t * u >= 0 and s * u >= 0
            a0x, a0y, a0z, a1x, a1y, a1z, a2x, a2y, a2z = a1x, a1y, a1z, a2x, a2y, a2z, a0x, a0y, a0z
            a0, a1, a2 = a1, a2, a0
        # The corner a0 is that point, and the only one of a that counts.
        a1x, a1y, a1z, a2x, a2y, a2z = a0x, a0y, a0z, a0x, a0y, a0z
    if (
        max(a0x, a1x, a2x) < min(b0x, b1x, b2x) or max(b0x, b1x, b2x) < min(a0x, a1x, a2x)
        or max(a0y, a1y, a2y) < min(b0y, b1y, b2y) or max(b0y, b1y, b2y) < min(a0y, a1y, a2y)
        or max(a0z, a1z, a2z) < min(b0z, b1z, b2z) or max(b0z, b1z, b2z) < min(a0z, a1z, a2z)
    ):  # fmt: skip
        return False
    first = _widest_axis(a0x, a0y, a0z, a1x, a1y, a1z, a2x, a2y, a2z, b0x, b0y, b0z, b1x, b1y, b1z, b2x, b2y, b2z)
    for k in range(3):
        axis = (first + k) % 3
        p0, p1 = projected(axis, a0x, a0y, a0z)
        q0, q1 = projected(axis, a1x, a1y, a1z)
        r0, r1 = projected(axis, a2x, a2y, a2z)
        s0, s1 = projected(axis, b0x, b0y, b0z)
        t0, t1 = projected(axis, b1x, b1y, b1z)
        u0, u1 = projected(axis, b2x, b2y, b2z)
        has_area = False
        for _ in range(2):
            turn = orient2d(p0, p1, q0, q1, r0, r1)
            has_area = has_area or turn != 0
            for _ in range(3):
                # Beyond an edge of a triangle is the side away from it; beyond a segment is either side.
                side = orient2d(p0, p1, q0, q1, s0, s1)
                if side not in (0, turn) and orient2d(p0, p1, q0, q1, t0, t1) == side == orient2d(p0, p1, q0, q1, u0, u1):
                    return False
                p0, p1, q0, q1, r0, r1 = q0, q1, r0, r1, p0, p1
            p0, p1, q0, q1, r0, r1, s0, s1, t0, t1, u0, u1 = s0, s1, t0, t1, u0, u1, p0, p1, q0, q1, r0, r1
        if has_area:
            return True  # this axis does not flatten the plane, so what it shows is the truth
    # Two segments or points that overlap along every axis. They touch if they have a plane in common, because at least one
    # of the axes does not flatten that.
    for _ in range(2):
        for _ in range(2):
            if orient3d(a0x, a0y, a0z, a1x, a1y, a1z, b0x, b0y, b0z, b1x, b1y, b1z) != 0:
                return False
            b1x, b1y, b1z, b2x, b2y, b2z = b2x, b2y, b2z, b1x, b1y, b1z
        a1x, a1y, a1z, a2x, a2y, a2z = a2x, a2y, a2z, a1x, a1y, a1z
    return True


@kernel
def _widest_axis(a0x, a0y, a0z, a1x, a1y, a1z, a2x, a2y, a2z, b0x, b0y, b0z, b1x, b1y, b1z, b2x, b2y, b2z):
    """Return the axis along which two triangles show most area, rounded: there most questions need no exact arithmetic."""
    ux, uy, uz, vx, vy, vz = a1x - a0x, a1y - a0y, a1z - a0z, a2x - a0x, a2y - a0y, a2z - a0z
    px, py, pz, qx, qy, qz = b1x - b0x, b1y - b0y, b1z - b0z, b2x - b0x, b2y - b0y, b2z - b0z
    nx = abs(uy * vz - uz * vy) + abs(py * qz - pz * qy)
    ny = abs(uz * vx - ux * vz) + abs(pz * qx - px * qz)
    nz = abs(ux * vy - uy * vx) + abs(px * qy - py * qx)
    if nx > ny and nx > nz:
        return 0
    return 1 if ny > nz else 2


@kernel
def projected(axis, x, y, z):
    """Return the two coordinates that are left when looking along an axis."""
    if axis == 0:
        return y, z
    if axis == 1:
        return z, x
    return x, y


@kernel
def projection_axis(ax, ay, az, bx, by, bz, cx, cy, cz):
    """Return an axis along which the triangle is seen with an area, or -1 if it has none. Exact."""
    first = _widest_axis(ax, ay, az, bx, by, bz, cx, cy, cz, ax, ay, az, bx, by, bz, cx, cy, cz)
    for k in range(3):
        axis = (first + k) % 3
        a0, a1 = projected(axis, ax, ay, az)
        b0, b1 = projected(axis, bx, by, bz)
        c0, c1 = projected(axis, cx, cy, cz)
        if orient2d(a0, a1, b0, b1, c0, c1) != 0:
            return axis
    return -1


@kernel
def same_side_of_line(vx, vy, vz, wx, wy, wz, px, py, pz, qx, qy, qz):
    """Return whether the triangles vwp and vwq, all in one plane and v != w, have more in common than the segment vw. Exact."""
    off_p = projection_axis(vx, vy, vz, wx, wy, wz, px, py, pz)
    off_q = projection_axis(vx, vy, vz, wx, wy, wz, qx, qy, qz)
    if off_p >= 0 and off_q >= 0:
        v0, v1 = projected(off_p, vx, vy, vz)
        w0, w1 = projected(off_p, wx, wy, wz)
        p0, p1 = projected(off_p, px, py, pz)
        q0, q1 = projected(off_p, qx, qy, qz)
        return orient2d(v0, v1, w0, w1, p0, p1) == orient2d(v0, v1, w0, w1, q0, q1)
    if off_p >= 0 or off_q >= 0:
        return False  # a segment along the edge of a triangle: beyond the edge's ends only one of them goes on
    # Both on the line: they must go on beyond the same end.
    for axis in range(3):
        v, _ = projected(axis, vx, vy, vz)
        w, _ = projected(axis, wx, wy, wz)
        p, _ = projected(axis, px, py, pz)
        q, _ = projected(axis, qx, qy, qz)
        if v != w:
            return (p > max(v, w) and q > max(v, w)) or (p < min(v, w) and q < min(v, w))
    return False
