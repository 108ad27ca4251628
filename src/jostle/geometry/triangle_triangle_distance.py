"""Distance and closest points of two closed triangles.

Disjoint triangles are closest at a corner over the other face (6 cases) or at two edges (9 cases, which contain all
that ends on an edge or corner). Where an edge passes through a face the distance is 0 and the point of passage is
returned for both. Whether triangles touch *exactly* is for the exact test in `triangle_triangle` to say: this
function rounds, so a caller who needs 0 to mean contact asks that test first.

Accuracy: with S the largest |coordinate difference| among the six corners, the distance is off by less than
128 · 2⁻⁵³ · S (1.5e-14 S; measured: 3 · 2⁻⁵³ · S) for triangles of any shape; an offset of all coordinates costs
nothing, and sizes of 1e-46 … 1e60 are safe. The points are rounded to their coordinates: with an offset of 1e7 they
carry its ulp. Early exit and all: 0.3 µs for triangles apart, 0.5 µs for near ones.
"""

import math

from jostle.geometry.point_triangle import in_frame, out_of_frame, over_triangle, triangle_frame
from jostle.geometry.segment_segment import closest_points_of_segments
from jostle.geometry.vector import dot
from jostle.kernels.jit import kernel

# Closest points of nearly parallel edges, and so the direction between them, are off by up to 64 · 2⁻⁵³ of the size S;
# projected on a length S that is 2⁻⁴⁷ S². Only corners farther out than that, with room to spare, settle the case.
SETTLED = 2.0**-45


@kernel
def corners_against_face(frame, ax, ay, az, bx, by, bz, cx, cy, cz):
    """The least squared distance of a corner of abc over the face with this frame, 0 where an edge of abc passes through it.

    Returns (squared distance, point on the face, point on abc), seven floats; inf where no corner is over the face.
    """
    best = math.inf
    fx, fy, fz, gx, gy, gz = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    x, y, z = in_frame(frame, cx, cy, cz)
    for _ in range(3):
        # The edge from the last corner to a; a, b, c then change places, so that the loop body is compiled once.
        last_x, last_y, last_z = x, y, z
        x, y, z = in_frame(frame, ax, ay, az)
        if z * z < best and over_triangle(frame, x, y):
            best = z * z
            fx, fy, fz = out_of_frame(frame, x, y)
            gx, gy, gz = ax, ay, az
        if (last_z < 0.0 and z > 0.0) or (last_z > 0.0 and z < 0.0):
            t = last_z / (last_z - z)
            through_x, through_y = last_x + t * (x - last_x), last_y + t * (y - last_y)
            if over_triangle(frame, through_x, through_y):
                fx, fy, fz = out_of_frame(frame, through_x, through_y)
                return 0.0, fx, fy, fz, fx, fy, fz
        ax, ay, az, bx, by, bz, cx, cy, cz = bx, by, bz, cx, cy, cz, ax, ay, az
    return best, fx, fy, fz, gx, gy, gz


@kernel
def closest_points_of_edges(ax, ay, az, bx, by, bz, cx, cy, cz, px, py, pz, qx, qy, qz, rx, ry, rz):
    """The closest points of the boundaries of abc and pqr, or of the triangles where that is settled early.

    Returns (settled, squared distance, point on abc, point on pqr). The planes through the closest points of two edges,
    across the line between them, have these edges on their far sides. Where the third corners lie there too, by more than
    rounding can feign, the triangles have no closer points.
    """
    size = max(abs(ax), abs(ay), abs(az), abs(bx), abs(by), abs(bz), abs(cx), abs(cy), abs(cz))
    size = max(size, abs(px), abs(py), abs(pz), abs(qx), abs(qy), abs(qz), abs(rx), abs(ry), abs(rz))
    margin = SETTLED * size * size
    best = math.inf
    fx, fy, fz, gx, gy, gz = ax, ay, az, px, py, pz
    for _ in range(3):
        for _ in range(3):
            d, ex, ey, ez, hx, hy, hz = closest_points_of_segments(ax, ay, az, bx, by, bz, px, py, pz, qx, qy, qz)
            if d < best:
                best = d
                fx, fy, fz, gx, gy, gz = ex, ey, ez, hx, hy, hz
                wx, wy, wz = gx - fx, gy - fy, gz - fz
                if dot(cx - fx, cy - fy, cz - fz, wx, wy, wz) < -margin and dot(rx - gx, ry - gy, rz - gz, wx, wy, wz) > margin:
                    return True, best, fx, fy, fz, gx, gy, gz
            px, py, pz, qx, qy, qz, rx, ry, rz = qx, qy, qz, rx, ry, rz, px, py, pz
        ax, ay, az, bx, by, bz, cx, cy, cz = bx, by, bz, cx, cy, cz, ax, ay, az
    return False, best, fx, fy, fz, gx, gy, gz


@kernel
def closest_points_of_triangles(ax, ay, az, bx, by, bz, cx, cy, cz, px, py, pz, qx, qy, qz, rx, ry, rz):
    """Distance of the closed triangles abc and pqr, the closest point on abc and the one on pqr: seven floats."""
    # About a, so that rounding is relative to the triangles and not to where they are.
    ox, oy, oz = ax, ay, az
    ax, ay, az, bx, by, bz, cx, cy, cz = 0.0, 0.0, 0.0, bx - ox, by - oy, bz - oz, cx - ox, cy - oy, cz - oz
    px, py, pz, qx, qy, qz, rx, ry, rz = px - ox, py - oy, pz - oz, qx - ox, qy - oy, qz - oz, rx - ox, ry - oy, rz - oz
    settled, best, fx, fy, fz, gx, gy, gz = closest_points_of_edges(
        ax, ay, az, bx, by, bz, cx, cy, cz, px, py, pz, qx, qy, qz, rx, ry, rz
    )
    if not settled:
        for _ in range(2):
            # Twice, with the triangles changing places, so that the kernels below are compiled into this one only once.
            d, hx, hy, hz, ex, ey, ez = corners_against_face(
                triangle_frame(px, py, pz, qx, qy, qz, rx, ry, rz), ax, ay, az, bx, by, bz, cx, cy, cz
            )
            if d < best:
                best = d
                fx, fy, fz, gx, gy, gz = ex, ey, ez, hx, hy, hz
            fx, fy, fz, gx, gy, gz = gx, gy, gz, fx, fy, fz
            ax, ay, az, px, py, pz = px, py, pz, ax, ay, az
            bx, by, bz, qx, qy, qz = qx, qy, qz, bx, by, bz
            cx, cy, cz, rx, ry, rz = rx, ry, rz, cx, cy, cz
    return math.sqrt(best), ox + fx, oy + fy, oz + fz, ox + gx, oy + gy, oz + gz
