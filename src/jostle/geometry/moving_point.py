"""How a vertex moves within a step: from its place at t = 0 to its place at t = 1, on a straight line or on the arc of a screw.

A motion is given by its two ends and a turn (kx, ky, kz, angle): the unit direction of the axis and the angle in [0, π), 0 for
straight lines. The ends are the world vertices that every exact method sees, so a motion begins and ends on them to the bit,
whatever the poses lack in orthonormality; in between the part of the way across the axis is an arc of that angle, the part
along the axis is straight. All vertices of a rigid body with its turn move along one screw.

With D = w1 - w0, m its part across the axis, s = t - 1/2 and h = angle/2 the place at t is
w0 + t D + m (sin(2hs)/(2 sin h) - s) - (k × m)(cos(2hs) - cos h)/(2 sin h).
"""

import math

from jostle.geometry.scalar_vector import cross, dot
from jostle.kernels.jit import kernel


@kernel
def arc_factors(angle, t):
    """What an arc adds to the chord at time t: (along, aside), to be multiplied by m and by -(k × m). Both are 0 at the ends."""
    if angle == 0.0 or t == 0.0 or t == 1.0:
        return 0.0, 0.0
    half, s = 0.5 * angle, t - 0.5
    twice_sine = 2.0 * math.sin(half)
    # cos(2hs) - cos h as a product: the difference would lose the digits of a small angle.
    aside = 2.0 * math.sin(half * t) * math.sin(half * (1.0 - t)) / twice_sine
    return math.sin(angle * s) / twice_sine - s, aside


@kernel
def place_with_factors(x0, y0, z0, x1, y1, z1, kx, ky, kz, t, along, aside):
    """The place at time t of a point that goes from (x0, y0, z0) to (x1, y1, z1); along and aside come from `arc_factors`."""
    if t == 1.0:
        return x1, y1, z1
    dx, dy, dz = x1 - x0, y1 - y0, z1 - z0
    x, y, z = x0 + t * dx, y0 + t * dy, z0 + t * dz
    if along != 0.0 or aside != 0.0:
        axial = dot(kx, ky, kz, dx, dy, dz)
        mx, my, mz = dx - axial * kx, dy - axial * ky, dz - axial * kz
        cx, cy, cz = cross(kx, ky, kz, mx, my, mz)
        x, y, z = x + (along * mx - aside * cx), y + (along * my - aside * cy), z + (along * mz - aside * cz)
    return x, y, z


@kernel
def place(x0, y0, z0, x1, y1, z1, kx, ky, kz, angle, t):
    """The place at time t of a point that goes from (x0, y0, z0) to (x1, y1, z1) with the turn (kx, ky, kz, angle)."""
    along, aside = arc_factors(angle, t)
    return place_with_factors(x0, y0, z0, x1, y1, z1, kx, ky, kz, t, along, aside)


@kernel
def place_all_into(points_t0, points_t1, turn, t, out):
    """Write the places at time t of points (n,3) with the turn (4,) into out (n,3)."""
    kx, ky, kz, angle = turn[0], turn[1], turn[2], turn[3]
    along, aside = arc_factors(angle, t)
    for i in range(points_t0.shape[0]):
        x, y, z = place_with_factors(
            points_t0[i, 0], points_t0[i, 1], points_t0[i, 2], points_t1[i, 0], points_t1[i, 1], points_t1[i, 2],
            kx, ky, kz, t, along, aside,
        )  # fmt: skip
        out[i, 0], out[i, 1], out[i, 2] = x, y, z


@kernel
def most_acceleration(x0, y0, z0, x1, y1, z1, kx, ky, kz, angle):
    """The length of the second derivative of the place, which is the same at all times; 0 for straight lines.

    A motion leaves its own chord over a part Δt of the step by at most this times Δt²/8.
    """
    if angle == 0.0:
        return 0.0
    dx, dy, dz = x1 - x0, y1 - y0, z1 - z0
    cx, cy, cz = cross(kx, ky, kz, dx, dy, dz)
    return angle * angle * math.sqrt((cx * cx + cy * cy) + cz * cz) / (2.0 * math.sin(0.5 * angle))
