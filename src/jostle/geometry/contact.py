"""Segment and normal of contact rows: where two faces meet, and which way is from a into b.

The normal is the direction of n_a - n_b, with the outward normals of the two faces: the sum of the ways out of a and into b.
(The average n_a + n_b of two faces that meet head-on would vanish.) Where the normals agree, so that nothing is left, it is n_a;
where a has no area, -n_b; where neither has, the way between the centroids, or at last +z. Never zero, never NaN.
Near faces have the way from the closest point on a to the one on b.
"""

import math

from jostle.geometry.contact_kind import A_IN_B, B_IN_A, NEAR
from jostle.geometry.triangle_intersection import intersection_segment
from jostle.geometry.triangle_triangle_distance import closest_points_of_triangles
from jostle.kernels.jit import kernel

NO_DIRECTION_LEFT = 1e-8  # of the difference of two unit vectors: below this it is rounding


@kernel
def describe_rows(triangles_a, triangles_b, kind, segment, normal):
    """Write segment (n,2,3) and normal (n,3) of rows of faces (n,3,3) with their kind (n,) uint8."""
    for row in range(kind.shape[0]):
        a = _nine(triangles_a, row)
        b = _nine(triangles_b, row)
        if kind[row] == A_IN_B:
            ends = (a[0], a[1], a[2], a[0], a[1], a[2])
            nx, ny, nz = unit_or_z(*unit_normal(*a))
        elif kind[row] == B_IN_A:
            ends = (b[0], b[1], b[2], b[0], b[1], b[2])
            nx, ny, nz = unit_normal(*b)
            nx, ny, nz = unit_or_z(-nx, -ny, -nz)
        elif kind[row] == NEAR:
            _, px, py, pz, qx, qy, qz = closest_points_of_triangles(*a, *b)
            ends = (px, py, pz, qx, qy, qz)
            nx, ny, nz = scaled_to_unit(qx - px, qy - py, qz - pz)
            if nx == 0.0 and ny == 0.0 and nz == 0.0:  # so near that the points round to one
                nx, ny, nz = contact_normal(a, b)
        else:
            ends = intersection_segment(*a, *b)
            nx, ny, nz = contact_normal(a, b)
        for k in range(3):
            segment[row, 0, k] = ends[k]
            segment[row, 1, k] = ends[3 + k]
        normal[row, 0] = nx
        normal[row, 1] = ny
        normal[row, 2] = nz


@kernel
def contact_normal(a, b):
    """The unit normal from a into b of two faces (nine numbers each) that share a point."""
    ax, ay, az = unit_normal(*a)
    bx, by, bz = unit_normal(*b)
    x, y, z = ax - bx, ay - by, az - bz
    if math.sqrt(x * x + y * y + z * z) > NO_DIRECTION_LEFT:
        return scaled_to_unit(x, y, z)
    if ax != 0.0 or ay != 0.0 or az != 0.0:
        return ax, ay, az
    # Neither has an area (if only b had one, the difference would be -n_b). Thirds of differences, so that nothing overflows.
    x = (b[0] - a[0]) + (b[3] - a[3]) + (b[6] - a[6])
    y = (b[1] - a[1]) + (b[4] - a[4]) + (b[7] - a[7])
    z = (b[2] - a[2]) + (b[5] - a[5]) + (b[8] - a[8])
    return unit_or_z(x, y, z)


@kernel
def unit_normal(ax, ay, az, bx, by, bz, cx, cy, cz):
    """The unit normal of a triangle, counter-clockwise, or zeros for one without area. Safe at every accepted scale."""
    # Edges of length one: the cross product of edges of 1e-30 is far from underflow, but that of an edge and a sliver may vanish.
    ux, uy, uz = scaled_to_unit(bx - ax, by - ay, bz - az)
    vx, vy, vz = scaled_to_unit(cx - ax, cy - ay, cz - az)
    return scaled_to_unit(uy * vz - uz * vy, uz * vx - ux * vz, ux * vy - uy * vx)


@kernel
def scaled_to_unit(x, y, z):
    """The vector with length 1, or zeros for the zero vector."""
    largest = max(abs(x), abs(y), abs(z))
    if largest == 0.0:
        return 0.0, 0.0, 0.0
    x, y, z = x / largest, y / largest, z / largest
    length = math.sqrt(x * x + y * y + z * z)
    return x / length, y / length, z / length


@kernel
def unit_or_z(x, y, z):
    """The vector with length 1, or +z for the zero vector."""
    if x == 0.0 and y == 0.0 and z == 0.0:
        return 0.0, 0.0, 1.0
    return scaled_to_unit(x, y, z)


@kernel
def _nine(triangles, row):
    return (
        triangles[row, 0, 0], triangles[row, 0, 1], triangles[row, 0, 2],
        triangles[row, 1, 0], triangles[row, 1, 1], triangles[row, 1, 2],
        triangles[row, 2, 0], triangles[row, 2, 1], triangles[row, 2, 2],
    )  # fmt: skip
