"""For how long a direction keeps two moving faces apart.

Along a unit direction n the gap of two faces is the least n·(b_j - a_i) over their corners, which is never more than their
distance. From a time s on n may turn, at the rate r across it and with a change q of that rate: n(h) = n + h r + h² q/2. With
z = b_j - a_i and Taylor's formula

    n(h)·z(s + h) ≥ c0 + c1 h + c2 h² - K h³,   c0 = n·z,   c1 = n·z' + r·z,   c2 = (n·z'' + q·z)/2 + r·z',

where K = (angle_a A_a |n × k_a| + angle_b A_b |n × k_b|)/6 + |r|(A_a + A_b)/2 + |q|V/2 with the accelerations A and the largest
speed V of z: the third derivative of an arc has the length of its second times its angle, and lies across its axis k. The
faces are farther apart than `target` while this exceeds target · |n(h)| ≤ target · (1 + h²(r² + n·q)/2 + h³(|r||q|/2 + h q²/8)).
Up to a horizon H, K h³ ≤ K H h²: what is left are quadratics, at most nine, and the first of their roots is the time for which
the direction serves. Where the closest features stay the same, the gap along the direction between closest points meets the
distance in value and slope at s: stepping from root to root is Newton's method on the distance, and never passes the first
contact.
"""

import math

from jostle.geometry.moving_corners import ACCELERATION_A, ACCELERATION_B, OF_B, SPEED
from jostle.geometry.scalar_vector import cross, dot, length
from jostle.kernels.jit import kernel

MOST_HORIZONS = 4
# A horizon of this many times the step found is tried next: half of the cubic term is then lost at most.
WIDER = 3.0


@kernel
def gap_along(now, p, q, nx, ny, nz):
    """The least n·(b_j - a_i) at the current time; now (6,9)."""
    highest, lowest = -math.inf, math.inf
    for i in range(p):
        highest = max(highest, dot(nx, ny, nz, now[i, 0], now[i, 1], now[i, 2]))
    for j in range(OF_B, OF_B + q):
        lowest = min(lowest, dot(nx, ny, nz, now[j, 0], now[j, 1], now[j, 2]))
    return lowest - highest


@kernel
def project_corners(now, p, q, nx, ny, nz, rx, ry, rz, qx, qy, qz, shares):
    """Write each corner's part of c0, c1 and c2 into shares (6,3)."""
    for r in range(OF_B + q):
        if p <= r < OF_B:
            continue
        x, y, z, vx, vy, vz = now[r, 0], now[r, 1], now[r, 2], now[r, 3], now[r, 4], now[r, 5]
        shares[r, 0] = dot(nx, ny, nz, x, y, z)
        shares[r, 1] = dot(nx, ny, nz, vx, vy, vz) + dot(rx, ry, rz, x, y, z)
        shares[r, 2] = dot(nx, ny, nz, now[r, 6], now[r, 7], now[r, 8]) + (
            dot(rx, ry, rz, vx, vy, vz) + 0.5 * dot(qx, qy, qz, x, y, z)
        )


@kernel
def first_root(shares, p, q, target, bend, least_c2, horizon):
    """The first time in 0 … horizon at which one of the quadratics of shares (6,3) falls to `target`; the horizon if none does.

    `bend` is taken off every c2, but no c2 goes below `least_c2`.
    """
    first = horizon
    for i in range(p):
        for j in range(OF_B, OF_B + q):
            c0 = (shares[j, 0] - shares[i, 0]) - target
            if c0 <= 0.0:
                return 0.0
            c1 = shares[j, 1] - shares[i, 1]
            c2 = max((shares[j, 2] - shares[i, 2]) - bend, least_c2)
            if c0 + first * (min(c1, 0.0) + first * min(c2, 0.0)) > 0.0:
                continue
            discriminant = c1 * c1 - 4.0 * c2 * c0
            if discriminant < 0.0:
                continue
            root = math.sqrt(discriminant)
            if c1 < 0.0:
                first = min(first, 2.0 * c0 / (root - c1))
            elif c2 < 0.0:
                first = min(first, (c1 + root) / (-2.0 * c2))
    return first


@kernel
def free_step(now, turns, bounds, p, q, nx, ny, nz, rx, ry, rz, qx, qy, qz, target, rest, shares):
    """For how long, at most `rest`, the direction n, turning by r and q, keeps the faces farther apart than `target`."""
    rate, change = length(rx, ry, rz), length(qx, qy, qz)
    # The proof of the rounding needs |r| h ≤ 1 and |q| h² ≤ 1.
    if rate * rest > 1.0:
        rest = 1.0 / rate
    if change * rest * rest > 1.0:
        rest = math.sqrt(1.0 / change)
    project_corners(now, p, q, nx, ny, nz, rx, ry, rz, qx, qy, qz, shares)
    acceleration_a, acceleration_b = bounds[ACCELERATION_A], bounds[ACCELERATION_B]
    steady = 0.5 * target * max(rate * rate + dot(nx, ny, nz, qx, qy, qz), 0.0)
    if acceleration_a == 0.0 and acceleration_b == 0.0 and change == 0.0:
        return first_root(shares, p, q, target, steady, -math.inf, rest)
    # Along n only what an arc does across its axis counts: a face that turns about its own normal stays where it is.
    acceleration_a *= length(*cross(nx, ny, nz, turns[0, 0], turns[0, 1], turns[0, 2]))
    acceleration_b *= length(*cross(nx, ny, nz, turns[1, 0], turns[1, 1], turns[1, 2]))
    cubic = (turns[0, 3] * acceleration_a + turns[1, 3] * acceleration_b) / 6.0
    cubic += 0.5 * rate * (bounds[ACCELERATION_A] + bounds[ACCELERATION_B])
    cubic += change * (0.5 * bounds[SPEED] + target * (0.5 * rate + 0.125 * change * rest))
    cubic *= 1.0 + 1e-12
    least_c2 = -math.inf if rate > 0.0 else -0.5 * (acceleration_a + acceleration_b)
    step = first_root(shares, p, q, target, steady + cubic * rest, least_c2, rest)
    for _ in range(MOST_HORIZONS):
        horizon = WIDER * step
        if horizon >= rest or step == 0.0:
            break
        longer = first_root(shares, p, q, target, steady + cubic * horizon, least_c2, horizon)
        if longer <= step:
            break
        enough = longer < 1.2 * step
        step = longer
        if enough:
            break
    return step


@kernel
def feature_normal(now, p, q, nx, ny, nz):
    """The direction with the widest gap among normals of faces and pairs of edges, and n made across an edge: (gap, x, y, z).

    Between faces that are almost in contact the difference n of closest points has lost its digits, these have not. The gap is
    -inf where there is no such direction.
    """
    best, bx, by, bz = -math.inf, 0.0, 0.0, 0.0
    edges_a, edges_b = p if p == 3 else p - 1, q if q == 3 else q - 1
    crossings = 2 + edges_a * edges_b
    # Candidate 0 and 1: the faces; then all pairs of edges; then the edges of a and of b.
    for candidate in range(crossings + edges_a + edges_b):
        if candidate < 2:
            first = candidate * OF_B
            if (p if candidate == 0 else q) < 3:
                continue
            i0, i1, j0, j1 = first, first + 1, first, first + 2
        elif candidate >= crossings:
            edge = candidate - crossings
            i0, i1 = (edge, (edge + 1) % p) if edge < edges_a else (OF_B + edge - edges_a, OF_B + (edge - edges_a + 1) % q)
            j0, j1 = i0, i1
        else:
            i, j = (candidate - 2) // edges_b, (candidate - 2) % edges_b
            i0, i1, j0, j1 = i, (i + 1) % p, OF_B + j, OF_B + (j + 1) % q
        ex, ey, ez = now[i1, 0] - now[i0, 0], now[i1, 1] - now[i0, 1], now[i1, 2] - now[i0, 2]
        x, y, z = cross(ex, ey, ez, now[j1, 0] - now[j0, 0], now[j1, 1] - now[j0, 1], now[j1, 2] - now[j0, 2])
        if candidate >= crossings:
            squared = dot(ex, ey, ez, ex, ey, ez)
            if squared == 0.0:
                continue
            along = dot(nx, ny, nz, ex, ey, ez) / squared
            x, y, z = nx - along * ex, ny - along * ey, nz - along * ez
        norm = length(x, y, z)
        if norm == 0.0:
            continue
        x, y, z = x / norm, y / norm, z / norm
        for _ in range(2):
            gap = gap_along(now, p, q, x, y, z)
            if gap > best:
                best, bx, by, bz = gap, x, y, z
            x, y, z = -x, -y, -z
    return best, bx, by, bz
