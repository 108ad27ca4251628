"""The closest points of two closed segments, right for parallel, nearly parallel and degenerate ones.

The minimum of a convex quadratic over a square: the free minimum along the second segment, clamped, its partner on
the first, and where that has to be clamped too, its partner on the second again. The free minimum divides by the
part of the second direction perpendicular to the first, made perpendicular twice: the usual denominator
|e|²|f|² − (e·f)² loses all digits at an angle of 1e-8, where the error of the distance would be 1e-8 of the length.

Accuracy: with S the largest |coordinate difference| among the four ends, the distance is off by less than
64 · 2⁻⁵³ · S (measured: 4). Offsets cost nothing (only differences enter), sizes of 1e-46 … 1e60 are safe (only
squares are formed).
"""

from jostle.geometry.vector import dot, length
from jostle.kernels.jit import kernel

# A perpendicular part below this share of the segment is rounding noise without a direction: parallel.
PARALLEL = 2.0**-51


@kernel
def free_minimum(ux, uy, uz, fx, fy, fz, f_squared, rx, ry, rz):
    """The share of f at which the second line (from r along f) is closest to the first (from 0 along unit u); 0 if parallel."""
    along = dot(fx, fy, fz, ux, uy, uz)
    vx, vy, vz = fx - along * ux, fy - along * uy, fz - along * uz
    along = dot(vx, vy, vz, ux, uy, uz)
    vx, vy, vz = vx - along * ux, vy - along * uy, vz - along * uz
    across = dot(vx, vy, vz, vx, vy, vz)
    if across <= PARALLEL * PARALLEL * f_squared:
        return 0.0
    return -dot(rx, ry, rz, vx, vy, vz) / across


@kernel
def closest_points_of_segments(ax, ay, az, bx, by, bz, cx, cy, cz, dx, dy, dz):
    """Closest points of the segments ab and cd: (squared distance, point on ab, point on cd), seven floats."""
    ex, ey, ez = bx - ax, by - ay, bz - az
    fx, fy, fz = dx - cx, dy - cy, dz - cz
    rx, ry, rz = cx - ax, cy - ay, cz - az
    e_length = length(ex, ey, ez)
    f_squared = dot(fx, fy, fz, fx, fy, fz)
    s, t = 0.0, 0.0
    partner_of_s = e_length == 0.0
    if e_length > 0.0:
        shrink = 1.0 / e_length
        ux, uy, uz = shrink * ex, shrink * ey, shrink * ez
        if f_squared > 0.0:
            t = min(max(free_minimum(ux, uy, uz, fx, fy, fz, f_squared, rx, ry, rz), 0.0), 1.0)
        free = dot(rx + t * fx, ry + t * fy, rz + t * fz, ux, uy, uz) * shrink
        s = min(max(free, 0.0), 1.0)
        partner_of_s = s != free
    if partner_of_s and f_squared > 0.0:
        t = min(max(dot(s * ex - rx, s * ey - ry, s * ez - rz, fx, fy, fz) / f_squared, 0.0), 1.0)
    gx, gy, gz = (rx + t * fx) - s * ex, (ry + t * fy) - s * ey, (rz + t * fz) - s * ez
    squared = dot(gx, gy, gz, gx, gy, gz)
    return squared, ax + s * ex, ay + s * ey, az + s * ez, cx + t * fx, cy + t * fy, cz + t * fz
