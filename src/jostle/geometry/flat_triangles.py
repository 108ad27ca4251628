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

    a0 … a2 are the sides of a's corners of the plane of b, b0 … b2 the reverse; at least one of the triples is all 0.
    """
    if a0 != 0 or a1 != 0 or a2 != 0:
        # b has a plane and a is not in it, so a's own sides are 0 because it is a segment.
        return _segment_touches(
            a0x, a0y, a0z, a1x, a1y, a1z, a2x, a2y, a2z, b0x, b0y, b0z, b1x, b1y, b1z, b2x, b2y, b2z, a0, a1, a2
        )
    if b0 != 0 or b1 != 0 or b2 != 0:
        return _segment_touches(
            b0x, b0y, b0z, b1x, b1y, b1z, b2x, b2y, b2z, a0x, a0y, a0z, a1x, a1y, a1z, a2x, a2y, a2z, b0, b1, b2
        )
    if (
        max(a0x, a1x, a2x) < min(b0x, b1x, b2x) or max(b0x, b1x, b2x) < min(a0x, a1x, a2x)
        or max(a0y, a1y, a2y) < min(b0y, b1y, b2y) or max(b0y, b1y, b2y) < min(a0y, a1y, a2y)
        or max(a0z, a1z, a2z) < min(b0z, b1z, b2z) or max(b0z, b1z, b2z) < min(a0z, a1z, a2z)
    ):  # fmt: skip
        return False
    axis = projection_axis(a0x, a0y, a0z, a1x, a1y, a1z, a2x, a2y, a2z)
    if axis < 0:
        axis = projection_axis(b0x, b0y, b0z, b1x, b1y, b1z, b2x, b2y, b2z)
    if axis >= 0:
        return _overlap_along(axis, a0x, a0y, a0z, a1x, a1y, a1z, a2x, a2y, a2z, b0x, b0y, b0z, b1x, b1y, b1z, b2x, b2y, b2z)
    # Two segments or points. They can only touch in a common plane ...
    if (
        orient3d(a0x, a0y, a0z, a1x, a1y, a1z, b0x, b0y, b0z, b1x, b1y, b1z) != 0
        or orient3d(a0x, a0y, a0z, a1x, a1y, a1z, b0x, b0y, b0z, b2x, b2y, b2z) != 0
        or orient3d(a0x, a0y, a0z, a2x, a2y, a2z, b0x, b0y, b0z, b1x, b1y, b1z) != 0
        or orient3d(a0x, a0y, a0z, a2x, a2y, a2z, b0x, b0y, b0z, b2x, b2y, b2z) != 0
    ):
        return False
    # ... which at least one axis does not flatten; touching shows along every axis.
    for axis in range(3):
        if not _overlap_along(axis, a0x, a0y, a0z, a1x, a1y, a1z, a2x, a2y, a2z, b0x, b0y, b0z, b1x, b1y, b1z, b2x, b2y, b2z):
            return False
    return True


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
    """Return an axis along which the triangle is seen with an area, or -1 if it has none. Exact.

    The axis of the largest rounded area is asked first: there most later questions need no exact arithmetic.
    """
    ux, uy, uz = bx - ax, by - ay, bz - az
    vx, vy, vz = cx - ax, cy - ay, cz - az
    nx, ny, nz = abs(uy * vz - uz * vy), abs(uz * vx - ux * vz), abs(ux * vy - uy * vx)
    best = 2
    if nx > ny and nx > nz:
        best = 0
    elif ny > nz:
        best = 1
    for k in range(3):
        axis = (best + k) % 3
        a0, a1 = projected(axis, ax, ay, az)
        b0, b1 = projected(axis, bx, by, bz)
        c0, c1 = projected(axis, cx, cy, cz)
        if orient2d(a0, a1, b0, b1, c0, c1) != 0:
            return axis
    return -1


@kernel
def _overlap_along(axis, a0x, a0y, a0z, a1x, a1y, a1z, a2x, a2y, a2z, b0x, b0y, b0z, b1x, b1y, b1z, b2x, b2y, b2z):
    """Return whether no edge of one of the triangles, seen along an axis, has all of the other strictly beyond it."""
    a0, a1 = projected(axis, a0x, a0y, a0z)
    a2, a3 = projected(axis, a1x, a1y, a1z)
    a4, a5 = projected(axis, a2x, a2y, a2z)
    b0, b1 = projected(axis, b0x, b0y, b0z)
    b2, b3 = projected(axis, b1x, b1y, b1z)
    b4, b5 = projected(axis, b2x, b2y, b2z)
    for _ in range(2):
        turn = orient2d(a0, a1, a2, a3, a4, a5)
        for _ in range(3):
            # Beyond an edge of a triangle is the side away from it; beyond a segment is either side.
            side = orient2d(a0, a1, a2, a3, b0, b1)
            if side not in (0, turn) and orient2d(a0, a1, a2, a3, b2, b3) == side and orient2d(a0, a1, a2, a3, b4, b5) == side:
                return False
            a0, a1, a2, a3, a4, a5 = a2, a3, a4, a5, a0, a1
        a0, a1, a2, a3, a4, a5, b0, b1, b2, b3, b4, b5 = b0, b1, b2, b3, b4, b5, a0, a1, a2, a3, a4, a5
    return True


@kernel
def _segment_touches(a0x, a0y, a0z, a1x, a1y, a1z, a2x, a2y, a2z, b0x, b0y, b0z, b1x, b1y, b1z, b2x, b2y, b2z, a0, a1, a2):
    """Return whether a triangle `a` without area, not in the plane of b, meets b; a0 … a2 are the sides of its corners."""
    for _ in range(3):
        if a0 == 0:
            # The only point of a in the plane.
            axis = projection_axis(b0x, b0y, b0z, b1x, b1y, b1z, b2x, b2y, b2z)
            return _overlap_along(axis, a0x, a0y, a0z, a0x, a0y, a0z, a0x, a0y, a0z, b0x, b0y, b0z, b1x, b1y, b1z, b2x, b2y, b2z)
        if a0 * a1 < 0:
            # Seen along the segment, the piercing point is on the same side of all three edges, or on some of them.
            s = orient3d(a0x, a0y, a0z, a1x, a1y, a1z, b0x, b0y, b0z, b1x, b1y, b1z)
            t = orient3d(a0x, a0y, a0z, a1x, a1y, a1z, b1x, b1y, b1z, b2x, b2y, b2z)
            if s * t < 0:
                return False
            u = orient3d(a0x, a0y, a0z, a1x, a1y, a1z, b2x, b2y, b2z, b0x, b0y, b0z)
            return s * u >= 0 and t * u >= 0
        a0x, a0y, a0z, a1x, a1y, a1z, a2x, a2y, a2z = a1x, a1y, a1z, a2x, a2y, a2z, a0x, a0y, a0z
        a0, a1, a2 = a1, a2, a0
    return False


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
