"""How often a surface winds around a point: 1 inside a closed mesh with outward faces, 0 outside, -1 inside an inverted one.

`winding_number` sums signed solid angles (van Oosterom and Strackee 1983): a float for any mesh, open ones included,
off by about 1e-15 per face. It decides nothing near the surface.

`crossing_winding` is exact, for closed meshes. It counts the faces above the point with their orientation. The ray is
the vertical one moved by (ε, ε², 0) with ε infinitesimal: a corner at the point's y counts as below it, a point on the
shadow of an edge as right of it. Both faces at an edge ask the same question of the same two ends in the same
order, so no ray slips through or counts twice, whatever it hits: vertices, edges, vertical or degenerate faces. Every
decision is a comparison of coordinates or an exact predicate; points on the surface are found exactly and reported.
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
def edge_crossing(px, py, ax, ay, bx, by):
    """How the shadow of the edge ab passes the point on its right: 1 upwards, -1 downwards, 0 not at all."""
    if (ay > py) == (by > py):
        return 0
    direction = 1
    if ay > by:
        ax, ay, bx, by = bx, by, ax, ay
        direction = -1
    return direction if orient2d(ax, ay, bx, by, px, py) > 0 else 0


# The two kernels below let coordinates and corners change places in a loop: each call of a predicate that stands in the
# source is compiled into it, and 4.5 s became 2 s.
@kernel
def shadow_holds(px, py, ax, ay, bx, by, cx, cy):
    """Whether the closed triangle abc in the plane, which has an area, contains p."""
    lowest, highest = 0, 0
    for _ in range(3):
        side = orient2d(ax, ay, bx, by, px, py)
        lowest, highest = min(lowest, side), max(highest, side)
        ax, ay, bx, by, cx, cy = bx, by, cx, cy, ax, ay
    return lowest == 0 or highest == 0


@kernel
def on_triangle(px, py, pz, ax, ay, az, bx, by, bz, cx, cy, cz):
    """Whether the closed triangle abc, which may be a segment or a point, contains p; p is in its bounding box. Exact."""
    if orient3d(ax, ay, az, bx, by, bz, cx, cy, cz, px, py, pz) != 0:
        return False
    on_one_line = True
    for _ in range(3):
        # In the plane of a triangle with an area, any shadow that keeps an area tells in from out.
        if orient2d(ax, ay, bx, by, cx, cy) != 0:
            return shadow_holds(px, py, ax, ay, bx, by, cx, cy)
        on_one_line = on_one_line and orient2d(ax, ay, bx, by, px, py) == 0 and orient2d(bx, by, cx, cy, px, py) == 0
        px, py, pz, ax, ay, az, bx, by, bz, cx, cy, cz = py, pz, px, ay, az, ax, by, bz, bx, cy, cz, cx
    # Without area: on the line of the corners (both sides are asked, as one may be a point) and in their bounding box.
    return on_one_line


@kernel
def face_crossing(px, py, pz, ax, ay, az, bx, by, bz, cx, cy, cz):
    """What face abc adds to the winding number of p, 1, 0 or -1, and whether p lies on the face."""
    # Beside the face, or above it: nothing. These comparisons decide nearly all faces.
    if max(ay, by, cy) < py or min(ay, by, cy) > py or max(ax, bx, cx) < px or min(ax, bx, cx) > px or max(az, bz, cz) < pz:
        return 0, False
    around = edge_crossing(px, py, ax, ay, bx, by) + edge_crossing(px, py, bx, by, cx, cy) + edge_crossing(px, py, cx, cy, ax, ay)
    if min(az, bz, cz) > pz:
        return around, False
    if around == 0:
        return 0, on_triangle(px, py, pz, ax, ay, az, bx, by, bz, cx, cy, cz)
    # Under a face seen counter-clockwise from above, p is on the side from which it looks clockwise.
    side = orient3d(ax, ay, az, bx, by, bz, cx, cy, cz, px, py, pz)
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
        crossing, on_face = face_crossing(
            *(px, py, pz),
            *(vertices[a, 0], vertices[a, 1], vertices[a, 2]),
            *(vertices[b, 0], vertices[b, 1], vertices[b, 2]),
            *(vertices[c, 0], vertices[c, 1], vertices[c, 2]),
        )
        if on_face:
            return 0, True
        winding += crossing
    return winding, False
