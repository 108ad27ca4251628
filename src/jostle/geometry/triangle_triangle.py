"""Do two closed triangles share a point, and do they cross? Decided exactly, by the signs of `predicates` alone.

The generic case follows Guigue and Devillers, "Fast and robust triangle-triangle overlap test using orientation predicates"
(2003): the sides of the corners, then the order of the ends of the two segments that the triangles cut out of the common
line of their planes. Deviation: coplanar and degenerate triangles (segments, points) are complete, in `flat_triangles`.

Answers: 0 apart. CROSSING: both triangles have an area, their planes differ, and the *relative interiors* share a point;
equivalently each has corners strictly on both sides of the other's plane and the common segment has a positive length;
equivalently no translation, however small, in no matter which direction, is free of contact. TOUCHING: any other common
point (coplanar overlap, an edge or a corner on a face, anything degenerate). The answer does not depend on the order of the
two triangles or of their corners. Coordinates: 0 or 1e-30 … 1e31 in magnitude.
"""

from jostle.geometry.contact_kind import CROSSING, TOUCHING
from jostle.geometry.flat_triangles import flat_triangles_touch, projection_axis, same_side_of_line
from jostle.geometry.predicates import orient3d, sides_of_plane
from jostle.kernels.jit import kernel


@kernel
def triangles_touch(a0x, a0y, a0z, a1x, a1y, a1z, a2x, a2y, a2z, b0x, b0y, b0z, b1x, b1y, b1z, b2x, b2y, b2z):
    """Return 0, TOUCHING or CROSSING for the closed triangles a and b. Exact. Callers test boxes first."""
    a0, a1, a2 = sides_of_plane(b0x, b0y, b0z, b1x, b1y, b1z, b2x, b2y, b2z, a0x, a0y, a0z, a1x, a1y, a1z, a2x, a2y, a2z)
    if a0 != 0 and a0 == a1 and a0 == a2:
        return 0
    b0, b1, b2 = sides_of_plane(a0x, a0y, a0z, a1x, a1y, a1z, a2x, a2y, a2z, b0x, b0y, b0z, b1x, b1y, b1z, b2x, b2y, b2z)
    if b0 != 0 and b0 == b1 and b0 == b2:
        return 0
    if (a0 == 0 and a1 == 0 and a2 == 0) or (b0 == 0 and b1 == 0 and b2 == 0):
        touch = flat_triangles_touch(
            a0x, a0y, a0z, a1x, a1y, a1z, a2x, a2y, a2z, b0x, b0y, b0z, b1x, b1y, b1z, b2x, b2y, b2z, a0, a1, a2, b0, b1, b2
        )
        return TOUCHING if touch else 0
    # Both have an area and the planes meet in a line. p is the corner that has its side of the other plane to itself.
    pa, above_a = lone_corner(a0, a1, a2)
    pb, above_b = lone_corner(b0, b1, b2)
    px, py, pz, qx, qy, qz, rx, ry, rz = arranged(a0x, a0y, a0z, a1x, a1y, a1z, a2x, a2y, a2z, pa, above_b)
    sx, sy, sz, tx, ty, tz, ux, uy, uz = arranged(b0x, b0y, b0z, b1x, b1y, b1z, b2x, b2y, b2z, pb, above_a)
    first = orient3d(px, py, pz, qx, qy, qz, sx, sy, sz, tx, ty, tz)
    if first > 0:
        return 0
    second = orient3d(px, py, pz, rx, ry, rz, sx, sy, sz, ux, uy, uz)
    if second < 0:
        return 0
    through_b = (a0 < 0 or a1 < 0 or a2 < 0) and (a0 > 0 or a1 > 0 or a2 > 0)
    through_a = (b0 < 0 or b1 < 0 or b2 < 0) and (b0 > 0 or b1 > 0 or b2 > 0)
    if first < 0 < second and through_a and through_b:
        return CROSSING
    return TOUCHING


@kernel
def lone_corner(s0, s1, s2):
    """Return the corner that is alone on its closed side of a plane, given the three sides, and whether that side is above.

    The sides are neither all 0 nor all equal. A corner in the plane is alone when the other two are strictly on one side; the
    segment from the lone corner to either of the others meets the plane in one point.
    """
    if s0 * s1 > 0:
        return 2, s0 < 0
    if s0 * s2 > 0:
        return 1, s0 < 0
    if s1 * s2 > 0:
        return 0, s1 < 0
    if s0 != 0:
        return 0, s0 > 0
    if s1 != 0:
        return 1, s1 > 0
    return 2, s2 > 0


@kernel
def arranged(x0, y0, z0, x1, y1, z1, x2, y2, z2, first, keep_turn):
    """Return the corners with number `first` first, in the same cyclic order, or in the opposite one.

    Each triangle is turned over when the lone corner of the *other* one lies below it. Then, with d the direction (normal
    of a) x (normal of b) of the common line and X the point where an edge from a lone corner p or s crosses it, the segments
    are [X(pr), X(pq)] and [X(st), X(su)] along d, and orient3d(p, v, s, w) < 0 says that X(sw) comes before X(pv).
    """
    if first == 1:
        x0, y0, z0, x1, y1, z1, x2, y2, z2 = x1, y1, z1, x2, y2, z2, x0, y0, z0
    elif first == 2:
        x0, y0, z0, x1, y1, z1, x2, y2, z2 = x2, y2, z2, x0, y0, z0, x1, y1, z1
    if keep_turn:
        return x0, y0, z0, x1, y1, z1, x2, y2, z2
    return x0, y0, z0, x2, y2, z2, x1, y1, z1


@kernel
def faces_touch(vertices_a, faces_a, i, vertices_b, faces_b, j):
    """Return `triangles_touch` of face i of a and face j of b; vertices (n,3) float64 in the world, faces (m,3) int32."""
    p, q, r = faces_a[i, 0], faces_a[i, 1], faces_a[i, 2]
    s, t, u = faces_b[j, 0], faces_b[j, 1], faces_b[j, 2]
    return triangles_touch(
        vertices_a[p, 0], vertices_a[p, 1], vertices_a[p, 2],
        vertices_a[q, 0], vertices_a[q, 1], vertices_a[q, 2],
        vertices_a[r, 0], vertices_a[r, 1], vertices_a[r, 2],
        vertices_b[s, 0], vertices_b[s, 1], vertices_b[s, 2],
        vertices_b[t, 0], vertices_b[t, 1], vertices_b[t, 2],
        vertices_b[u, 0], vertices_b[u, 1], vertices_b[u, 2],
    )  # fmt: skip


@kernel
def touch_beyond_shared(a0x, a0y, a0z, a1x, a1y, a1z, a2x, a2y, a2z, b0x, b0y, b0z, b1x, b1y, b1z, b2x, b2y, b2z, shared_count):
    """Return 0, TOUCHING or CROSSING: do two faces of one mesh have a common point outside the hull of what they share?

    The first `shared_count` (0 … 3) corners of a equal those of b, bit by bit. Exact.

    One shared corner v: take a common point other than v and follow the ray from v through it; it leaves one of the triangles
    first, on the edge opposite to v, at a point of both. So it is enough to ask whether the edge opposite to v of one meets
    the other. (A triangle without area is the two segments from v; it is left at their far ends.)
    Two: triangles of different planes have only the shared edge in common; in one plane, third corners on the same side of the
    edge overlap. Three: the whole face is common. None: any common point counts.
    """
    if shared_count == 0:
        return triangles_touch(a0x, a0y, a0z, a1x, a1y, a1z, a2x, a2y, a2z, b0x, b0y, b0z, b1x, b1y, b1z, b2x, b2y, b2z)
    if shared_count == 3:
        return TOUCHING
    # Two shared corners that far-off coordinates have rounded to one point are one.
    if shared_count == 2 and (a0x != a1x or a0y != a1y or a0z != a1z):
        if orient3d(a0x, a0y, a0z, a1x, a1y, a1z, a2x, a2y, a2z, b2x, b2y, b2z) != 0:
            return 0
        return TOUCHING if same_side_of_line(a0x, a0y, a0z, a1x, a1y, a1z, a2x, a2y, a2z, b2x, b2y, b2z) else 0
    for _ in range(2):
        _, a1, a2 = sides_of_plane(b0x, b0y, b0z, b1x, b1y, b1z, b2x, b2y, b2z, a0x, a0y, a0z, a1x, a1y, a1z, a2x, a2y, a2z)
        if a1 * a2 > 0:
            return 0
        a1x, a1y, a1z, a2x, a2y, a2z, b1x, b1y, b1z, b2x, b2y, b2z = b1x, b1y, b1z, b2x, b2y, b2z, a1x, a1y, a1z, a2x, a2y, a2z
    for _ in range(2):
        if _far_edge_touches(a0x, a0y, a0z, a1x, a1y, a1z, a2x, a2y, a2z, b1x, b1y, b1z, b2x, b2y, b2z):
            return triangles_touch(a0x, a0y, a0z, a1x, a1y, a1z, a2x, a2y, a2z, b0x, b0y, b0z, b1x, b1y, b1z, b2x, b2y, b2z)
        a1x, a1y, a1z, a2x, a2y, a2z, b1x, b1y, b1z, b2x, b2y, b2z = b1x, b1y, b1z, b2x, b2y, b2z, a1x, a1y, a1z, a2x, a2y, a2z
    return 0


@kernel
def _far_edge_touches(vx, vy, vz, px, py, pz, qx, qy, qz, rx, ry, rz, sx, sy, sz):
    """Return whether what is farthest from v in each direction in the triangle vpq meets the triangle vrs."""
    if projection_axis(vx, vy, vz, px, py, pz, qx, qy, qz) >= 0:
        return triangles_touch(px, py, pz, qx, qy, qz, qx, qy, qz, vx, vy, vz, rx, ry, rz, sx, sy, sz) != 0
    for _ in range(2):
        if (px != vx or py != vy or pz != vz) and triangles_touch(
            px, py, pz, px, py, pz, px, py, pz, vx, vy, vz, rx, ry, rz, sx, sy, sz
        ) != 0:
            return True
        px, py, pz = qx, qy, qz
    return False


@kernel
def adjacent_faces_touch(vertices, faces, welded_faces, i, j):
    """Return `touch_beyond_shared` of faces i and j of one mesh, or `faces_touch` where they share no welded vertex.

    vertices (n,3) float64 in the world, faces and welded_faces (m,3) int32 as in `Mesh`. Welded vertices that a deformation has
    pulled apart are shared no more.
    """
    a0, a1, a2, shared = _shared_first(vertices, faces, welded_faces, i, j)
    b0, b1, b2, _ = _shared_first(vertices, faces, welded_faces, j, i)
    if shared == 2 and not _is_one_corner(vertices, faces, welded_faces, i, a0, j, b0):
        b0, b1 = b1, b0
    p, q, r = faces[i, a0], faces[i, a1], faces[i, a2]
    s, t, u = faces[j, b0], faces[j, b1], faces[j, b2]
    return touch_beyond_shared(
        vertices[p, 0], vertices[p, 1], vertices[p, 2],
        vertices[q, 0], vertices[q, 1], vertices[q, 2],
        vertices[r, 0], vertices[r, 1], vertices[r, 2],
        vertices[s, 0], vertices[s, 1], vertices[s, 2],
        vertices[t, 0], vertices[t, 1], vertices[t, 2],
        vertices[u, 0], vertices[u, 1], vertices[u, 2],
        shared,
    )  # fmt: skip


@kernel
def _is_one_corner(vertices, faces, welded_faces, i, k, j, m):
    """Whether corner k of face i and corner m of face j are welded, and at one place."""
    if welded_faces[i, k] != welded_faces[j, m]:
        return False
    v, w = faces[i, k], faces[j, m]
    return vertices[v, 0] == vertices[w, 0] and vertices[v, 1] == vertices[w, 1] and vertices[v, 2] == vertices[w, 2]


@kernel
def _shared_first(vertices, faces, welded_faces, i, j):
    """Return the local corners of face i, those shared with face j first, and how many different ones are shared."""
    first, second, third = 0, 1, 2
    shared = 0
    for k in range(3):
        seen, met = False, False
        for m in range(3):
            seen |= m < k and _is_one_corner(vertices, faces, welded_faces, i, k, i, m)
            met |= _is_one_corner(vertices, faces, welded_faces, i, k, j, m)
        if met and not seen:
            # Local corner k still stands at place k, because only earlier places have been exchanged.
            if shared == 0:
                if k == 1:
                    first, second = 1, 0
                elif k == 2:
                    first, third = 2, 0
            elif shared == 1 and k == 2:
                second, third = 2, second
            shared += 1
    return first, second, third, shared
