"""Exact test of two closed triangles: apart, touching or crossing.

Only the signs of `predicates` decide. The generic case follows Guigue and Devillers, "Fast and robust triangle-triangle overlap
test using orientation predicates" (2003): the sides of the corners, then the order of the ends of the two segments that the
triangles cut out of the common line of their planes. Deviation: coplanar and degenerate triangles (segments, points) are handled
completely, in `flat_triangles`.

Answers: 0 apart. CROSSING: both triangles have an area, their planes differ, and the *relative interiors* share a point;
equivalently each has corners strictly on both sides of the other's plane and the common segment has a positive length; equivalently
no arbitrarily small translation separates them. TOUCHING: any other common point (coplanar overlap, an edge or a corner on a face,
anything degenerate). The answer does not depend on the order of the two triangles or of their corners. Coordinates: 0 or 1e-30 …
1e31 in magnitude.
"""

from __future__ import annotations

from jostle._types import Floats, Ints
from jostle.geometry.contact_kind import CROSSING, TOUCHING
from jostle.geometry.flat_triangles import flat_triangles_touch, projection_axis, same_side_of_line
from jostle.geometry.predicates import Sides, orient3d, sides_of_plane
from jostle.geometry.triangle import Triangle, face_at, flipped, point_triangle, triangle_of_points, turned
from jostle.geometry.vector import point_at, same_point
from jostle.kernels.jit import kernel


@kernel
def triangles_touch(a: Triangle, b: Triangle) -> int:
    """Return 0, TOUCHING or CROSSING for two closed triangles. Exact.

    Callers test boxes first.
    """
    sides_a = sides_of_plane(b, a)
    if strictly_beside(sides_a):
        return 0
    sides_b = sides_of_plane(a, b)
    if strictly_beside(sides_b):
        return 0
    if sides_a == (0, 0, 0) or sides_b == (0, 0, 0):
        return TOUCHING if flat_triangles_touch(a, b, sides_a, sides_b) else 0
    # Both have an area and the planes meet in a line. p and s are the corners that are alone on their side of the other plane.
    lone_a, above_a = lone_corner(sides_a)
    lone_b, above_b = lone_corner(sides_b)
    p, q, r = arranged(a, lone_a, above_b)
    s, t, u = arranged(b, lone_b, above_a)
    first = orient3d(p, q, s, t)
    if first > 0:
        return 0
    second = orient3d(p, r, s, u)
    if second < 0:
        return 0
    if first < 0 < second and on_both_sides(sides_a) and on_both_sides(sides_b):
        return CROSSING
    return TOUCHING


@kernel(forceinline=True)
def strictly_beside(sides: Sides) -> bool:
    """Return whether all three corners are strictly on one side."""
    return sides[0] != 0 and sides[0] == sides[1] and sides[0] == sides[2]


@kernel(forceinline=True)
def on_both_sides(sides: Sides) -> bool:
    """Return whether there are corners strictly on either side."""
    return min(sides[0], sides[1], sides[2]) < 0 < max(sides[0], sides[1], sides[2])


@kernel
def lone_corner(sides: Sides) -> tuple[int, bool]:
    """Return the corner alone on its closed side of a plane, and whether above.

    The sides are neither all 0 nor all equal. A corner in the plane is alone when the other two are strictly on one side; the
    segment from the lone corner to either of the others meets the plane in one point.
    """
    s0, s1, s2 = sides
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
def arranged(t: Triangle, first: int, keep_turn: bool) -> Triangle:
    """Return the triangle starting at corner `first`, in the same order or reversed.

    Each triangle is turned over when the lone corner of the *other* one lies below it. Then, with d the direction (normal
    of a) x (normal of b) of the common line and X the point where an edge from a lone corner p or s crosses it, the segments
    are [X(pr), X(pq)] and [X(st), X(su)] along d, and orient3d(p, v, s, w) < 0 says that X(sw) comes before X(pv).
    """
    if first == 1:
        t = turned(t)
    elif first == 2:
        t = turned(turned(t))
    return t if keep_turn else flipped(t)


@kernel
def faces_touch(vertices_a: Floats, faces_a: Ints, i: int, vertices_b: Floats, faces_b: Ints, j: int) -> int:
    """Return `triangles_touch` of face i of a and face j of b.

    World vertices (n,3) float64, faces (m,3) int32.
    """
    return triangles_touch(face_at(vertices_a, faces_a, i), face_at(vertices_b, faces_b, j))


@kernel
def touch_beyond_shared(a: Triangle, b: Triangle, shared_count: int) -> int:
    """Return 0, TOUCHING or CROSSING of two faces outside the hull of what they share.

    The first `shared_count` (0 … 3) corners of a equal those of b, bit by bit. Exact.

    One shared corner v: take a common point other than v and follow the ray from v through it; it leaves one of the triangles
    first, on the edge opposite to v, at a point of both. So it is enough to test whether the edge opposite to v of one meets the
    other. (A triangle without area is the two segments from v; the ray leaves it at their far ends.) Two: triangles of different
    planes have only the shared edge in common; in one plane, third corners on the same side of the edge overlap. Three: the whole
    face is common. None: any common point counts.
    """
    if shared_count == 0:
        return triangles_touch(a, b)
    if shared_count == 3:
        return TOUCHING
    # Two shared corners may coincide after rounding, far from the origin: they count as one.
    if shared_count == 2 and not same_point(a.p, a.q):
        if orient3d(a.p, a.q, a.r, b.r) != 0:
            return 0
        return TOUCHING if same_side_of_line(a.p, a.q, a.r, b.r) else 0
    for _ in range(2):
        _, second, third = sides_of_plane(b, a)
        if second * third > 0:
            return 0
        a, b = b, a
    for _ in range(2):
        if _far_edge_touches(a, b):
            return triangles_touch(a, b)
        a, b = b, a
    return 0


@kernel
def _far_edge_touches(a: Triangle, b: Triangle) -> bool:
    """Return whether the part of a opposite to its shared first corner meets b.

    The opposite edge, or the far ends of a triangle without area.
    """
    if projection_axis(a.p, a.q, a.r) >= 0:
        return triangles_touch(Triangle(a.q, a.r, a.r), b) != 0
    for _ in range(2):
        if not same_point(a.q, a.p) and triangles_touch(point_triangle(a.q), b) != 0:
            return True
        a = flipped(a)
    return False


@kernel
def adjacent_faces_touch(vertices: Floats, faces: Ints, welded_faces: Ints, i: int, j: int) -> int:
    """Return `touch_beyond_shared` of faces i and j of one mesh.

    World vertices (n,3) float64, faces and welded_faces (m,3) int32 as in `Mesh`. Faces without a common welded vertex share
    nothing, and welded vertices that a deformation has pulled apart are no longer shared.
    """
    a0, a1, a2, shared = _shared_first(vertices, faces, welded_faces, i, j)
    b0, b1, b2, _ = _shared_first(vertices, faces, welded_faces, j, i)
    if shared == 2 and not _is_one_corner(vertices, faces, welded_faces, i, a0, j, b0):
        b0, b1 = b1, b0
    return touch_beyond_shared(
        triangle_of_points(vertices, faces[i, a0], faces[i, a1], faces[i, a2]),
        triangle_of_points(vertices, faces[j, b0], faces[j, b1], faces[j, b2]),
        shared,
    )


@kernel(forceinline=True)
def share_a_vertex(welded_faces: Ints, i: int, j: int) -> bool:
    """Return whether faces i and j of one mesh share a welded vertex."""
    p, q, r = welded_faces[i, 0], welded_faces[i, 1], welded_faces[i, 2]
    s, t, u = welded_faces[j, 0], welded_faces[j, 1], welded_faces[j, 2]
    return p in (s, t, u) or q in (s, t, u) or r in (s, t, u)


@kernel
def _is_one_corner(vertices: Floats, faces: Ints, welded_faces: Ints, i: int, k: int, j: int, m: int) -> bool:
    """Return whether corners k of face i and m of face j are welded and coincide."""
    if welded_faces[i, k] != welded_faces[j, m]:
        return False
    return same_point(point_at(vertices, faces[i, k]), point_at(vertices, faces[j, m]))


@kernel
def _shared_first(vertices: Floats, faces: Ints, welded_faces: Ints, i: int, j: int) -> tuple[int, int, int, int]:
    """Return the local corners of face i, shared ones first, and their number."""
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
