"""How often a surface winds around a point: 1 inside a closed mesh with outward faces, 0 outside, -1 inside an inverted one.

`winding_number` sums signed solid angles (van Oosterom and Strackee 1983): a float for any mesh, open ones included,
off by about 1e-15 per face. It decides nothing near the surface.

`crossing_winding` is exact, for closed meshes. It counts the faces above the point with their orientation. The ray is
the vertical one moved by (ε, ε², 0) with ε infinitesimal: a corner at the point's y counts as below it, a point on the
shadow of an edge as right of it. Both faces at an edge ask the same question of the same two ends in the same
order, so no ray slips through or counts twice, whatever it hits: vertices, edges, vertical or degenerate faces. Every
decision is a comparison of coordinates or an exact predicate; points on the surface are found exactly and reported.

A query point is a *flag* p, q, r: the point p + ε (q - p) + ε² (r - p), which lies beside p within the triangle pqr. So a face
whose corners touch the surface can ask where it lies, and no coordinate is ever rounded: a determinant is linear in the point, so
its sign is that of p, where that is 0 that of q, and then that of r. A plain point is the flag p, p, p.
"""

import math

import numpy as np

from jostle.geometry.predicates import orient2d, orient3d
from jostle.geometry.vector import cross, dot, length
from jostle.kernels.arrays import read_only_view
from jostle.kernels.jit import kernel


@kernel
def half_solid_angle(ax, ay, az, bx, by, bz, cx, cy, cz):
    """Half the signed solid angle of triangle abc from the origin, in radians; 0 in its plane outside it."""
    nx, ny, nz = cross(bx, by, bz, cx, cy, cz)
    a, b, c = length(ax, ay, az), length(bx, by, bz), length(cx, cy, cz)
    bc, ca, ab = dot(bx, by, bz, cx, cy, cz), dot(cx, cy, cz, ax, ay, az), dot(ax, ay, az, bx, by, bz)
    return math.atan2(dot(ax, ay, az, nx, ny, nz), ((a * b) * c + bc * a) + (ca * b + ab * c))


@kernel
def winding_number_into(points, vertices, faces, out):
    """Write the winding numbers of the surface (vertices (n,3), faces (m,3)) around points (k,3) into out (k,)."""
    for i in range(points.shape[0]):
        px, py, pz = points[i, 0], points[i, 1], points[i, 2]
        total = 0.0
        for j in range(faces.shape[0]):
            a, b, c = faces[j, 0], faces[j, 1], faces[j, 2]
            total += half_solid_angle(
                *(vertices[a, 0] - px, vertices[a, 1] - py, vertices[a, 2] - pz),
                *(vertices[b, 0] - px, vertices[b, 1] - py, vertices[b, 2] - pz),
                *(vertices[c, 0] - px, vertices[c, 1] - py, vertices[c, 2] - pz),
            )
        out[i] = total / (2.0 * math.pi)


def winding_number(points, vertices, faces):
    """Return the generalised winding number of a surface around points.

    Parameters
    ----------
    points : (k, 3) float64
    vertices : (n, 3) float64
    faces : (m, 3) int32
        Any triangles; for an open surface the result is the share of the full solid angle that it covers, signed.

    Returns
    -------
    (k,) float64
        Whole numbers but for rounding where the surface is closed and the point is not on it.
    """
    out = np.empty(len(points))
    winding_number_into(read_only_view(points), read_only_view(vertices), read_only_view(faces), out)
    return out


@kernel
def is_below(py, qy, ry, ay):
    """Whether the flag (p, q, r) has a smaller coordinate than a."""
    if py != ay:
        return py < ay
    return qy < ay or (qy == ay and ry < ay)


# The kernels below let coordinates and corners change places in loops: each call of a predicate that stands in the
# source is compiled into it, and 4.5 s became 2 s.
@kernel
def side_of_edge(px, py, qx, qy, rx, ry, ax, ay, bx, by):
    """On which side of the line ab in the plane the flag (p, q, r) lies: 1 left, -1 right, 0 on it. Exact."""
    for _ in range(3):
        side = orient2d(ax, ay, bx, by, px, py)
        if side != 0:
            return side
        px, py, qx, qy = qx, qy, rx, ry
    return 0


@kernel
def side_of_face(px, py, pz, qx, qy, qz, rx, ry, rz, ax, ay, az, bx, by, bz, cx, cy, cz):
    """On which side of the plane abc the flag (p, q, r) lies: 1 where a, b, c are seen counter-clockwise, -1 or 0. Exact."""
    for _ in range(3):
        side = orient3d(ax, ay, az, bx, by, bz, cx, cy, cz, px, py, pz)
        if side != 0:
            return side
        px, py, pz, qx, qy, qz = qx, qy, qz, rx, ry, rz
    return 0


@kernel
def shadow_of_face(px, py, qx, qy, rx, ry, ax, ay, bx, by, cx, cy):
    """How the shadow of the face abc winds around the flag, and whether its closed triangle, if it has an area, holds the flag."""
    around, lowest, highest = 0, 0, 0
    for _ in range(3):
        side = side_of_edge(px, py, qx, qy, rx, ry, ax, ay, bx, by)
        lowest, highest = min(lowest, side), max(highest, side)
        if is_below(py, qy, ry, ay):
            # An edge that passes on the right, seen from its lower end to its upper one, counts; a point on it is right of it.
            if not is_below(py, qy, ry, by) and side < 0:
                around -= 1
        elif is_below(py, qy, ry, by) and side > 0:
            around += 1
        ax, ay, bx, by, cx, cy = bx, by, cx, cy, ax, ay
    return around, lowest == 0 or highest == 0


@kernel
def on_face(px, py, pz, qx, qy, qz, rx, ry, rz, ax, ay, az, bx, by, bz, cx, cy, cz):
    """Whether the closed triangle abc, which may be a segment or a point, contains the flag; p is in its bounding box. Exact."""
    if side_of_face(px, py, pz, qx, qy, qz, rx, ry, rz, ax, ay, az, bx, by, bz, cx, cy, cz) != 0:
        return False
    on_one_line = True
    for _ in range(3):
        # In the plane of a triangle with an area, any shadow that keeps an area tells in from out.
        if orient2d(ax, ay, bx, by, cx, cy) != 0:
            return shadow_of_face(px, py, qx, qy, rx, ry, ax, ay, bx, by, cx, cy)[1]
        on_one_line = (
            on_one_line
            and side_of_edge(px, py, qx, qy, rx, ry, ax, ay, bx, by) == 0
            and side_of_edge(px, py, qx, qy, rx, ry, bx, by, cx, cy) == 0
        )
        px, py, pz, qx, qy, qz, rx, ry, rz = py, pz, px, qy, qz, qx, ry, rz, rx
        ax, ay, az, bx, by, bz, cx, cy, cz = ay, az, ax, by, bz, bx, cy, cz, cx
    # Without area: on the line of the corners (both sides are asked, as one may be a point) and in their bounding box.
    return on_one_line


@kernel(forceinline=True)
def is_beside(px, py, pz, vertices, a, b, c):
    """Whether a face is beside the point, or under it, by comparisons that decide nearly all faces."""
    ay, by, cy = vertices[a, 1], vertices[b, 1], vertices[c, 1]
    if (ay < py and by < py and cy < py) or (ay > py and by > py and cy > py):
        return True
    ax, bx, cx = vertices[a, 0], vertices[b, 0], vertices[c, 0]
    if (ax < px and bx < px and cx < px) or (ax > px and bx > px and cx > px):
        return True
    return vertices[a, 2] < pz and vertices[b, 2] < pz and vertices[c, 2] < pz


@kernel
def face_crossing(px, py, pz, qx, qy, qz, rx, ry, rz, ax, ay, az, bx, by, bz, cx, cy, cz):
    """What face abc, which is not beside p, adds to the winding number of the flag, and whether the flag lies on the face."""
    around = shadow_of_face(px, py, qx, qy, rx, ry, ax, ay, bx, by, cx, cy)[0]
    if min(az, bz, cz) > pz:
        return around, False
    if around == 0:
        return 0, on_face(px, py, pz, qx, qy, qz, rx, ry, rz, ax, ay, az, bx, by, bz, cx, cy, cz)
    # Under a face seen counter-clockwise from above, the flag is on the side from which it looks clockwise.
    side = side_of_face(px, py, pz, qx, qy, qz, rx, ry, rz, ax, ay, az, bx, by, bz, cx, cy, cz)
    if side == 0:
        return 0, True
    return (around if side * around < 0 else 0), False


@kernel
def crossing_winding(px, py, pz, vertices, faces):
    """Exact winding number of a closed mesh around a point: (winding, False), or (0, True) for a point on the surface.

    vertices (n,3), faces (m,3). `Mesh.is_closed` is the condition under which the first result means something.
    """
    winding = 0
    for j in range(faces.shape[0]):
        a, b, c = faces[j, 0], faces[j, 1], faces[j, 2]
        if is_beside(px, py, pz, vertices, a, b, c):
            continue
        crossing, on_it = face_crossing(
            *(px, py, pz, px, py, pz, px, py, pz),
            *(vertices[a, 0], vertices[a, 1], vertices[a, 2]),
            *(vertices[b, 0], vertices[b, 1], vertices[b, 2]),
            *(vertices[c, 0], vertices[c, 1], vertices[c, 2]),
        )
        if on_it:
            return 0, True
        winding += crossing
    return winding, False


@kernel
def flag_winding(flag, vertices, faces, chosen):
    """Exact winding number of a closed mesh around a flag: (winding, faces that hold the flag, their balance).

    flag (9,), vertices (n,3), faces (m,3), of which those in `chosen` are counted. Where faces hold the flag, the winding is that
    on their upper side, or beside vertical ones that towards +x, or towards +y; on the other side it is larger by the balance.
    """
    winding, holding, balance = 0, 0, 0
    for i in range(chosen.shape[0]):
        j = chosen[i]
        a, b, c = faces[j, 0], faces[j, 1], faces[j, 2]
        if is_beside(flag[0], flag[1], flag[2], vertices, a, b, c):
            continue
        crossing, on_it = face_crossing(
            *(flag[0], flag[1], flag[2], flag[3], flag[4], flag[5], flag[6], flag[7], flag[8]),
            *(vertices[a, 0], vertices[a, 1], vertices[a, 2]),
            *(vertices[b, 0], vertices[b, 1], vertices[b, 2]),
            *(vertices[c, 0], vertices[c, 1], vertices[c, 2]),
        )
        winding += crossing
        if on_it:
            holding += 1
            balance += facing(vertices, a, b, c)
    return winding, holding, balance


@kernel
def facing(vertices, a, b, c):
    """The sign of the first coordinate of a face's normal that is not 0, of z, x and y; 0 for a face without area. Exact."""
    for k in range(3):
        u, v = k, (k + 1) % 3
        sign = orient2d(vertices[a, u], vertices[a, v], vertices[b, u], vertices[b, v], vertices[c, u], vertices[c, v])
        if sign != 0:
            return sign
    return 0
