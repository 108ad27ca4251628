"""Faces that touch when the step begins, and leave: for how long the first part of their way is certainly free.

Two touching faces part at once when there is a direction along which all corners of b are at or beyond those of a, up to
rounding, and soon after strictly beyond. The directions with n·z ≥ 0 for all differences z = b_j - a_i of corners form a cone; if
one of them parts the faces, an extreme one does, and each of these lies across two of the differences, or, where all
differences share a plane, across one of them in that plane. Where all share a line, the direction in which corners move
apart is tried, made perpendicular to that line.
"""

from jostle.geometry.moving_corners import ACCELERATION_A, ACCELERATION_B, OF_B, ROUNDING
from jostle.geometry.moving_directions import gap_along, project_corners
from jostle.geometry.scalar_vector import cross, dot, length
from jostle.kernels.jit import kernel

MOST_HALVINGS = 40


@kernel
def parting_time(now, turns, bounds, p, q, nx, ny, nz, clear, shares):
    """The longest of the times 1, 1/2, 1/4 … by which direction n has opened a gap of `clear` without closing it before; 0 if none.

    The quadratics of `moving_directions.py` are least at one of the ends of that time, or between them where they bend upwards.
    """
    if gap_along(now, p, q, nx, ny, nz) < -bounds[ROUNDING]:
        return 0.0
    project_corners(now, p, q, nx, ny, nz, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, shares)
    cubic = (turns[0, 3] * bounds[ACCELERATION_A] + turns[1, 3] * bounds[ACCELERATION_B]) / 6.0
    h = 1.0
    for _ in range(MOST_HALVINGS):
        open_by_then = True
        for i in range(p):
            for j in range(OF_B, OF_B + q):
                c0, c1 = shares[j, 0] - shares[i, 0], shares[j, 1] - shares[i, 1]
                c2 = (shares[j, 2] - shares[i, 2]) - cubic * h
                dips = c1 < 0.0 and c2 > 0.0 and c0 - c1 * c1 / (4.0 * c2) < -bounds[ROUNDING]
                open_by_then = open_by_then and not dips and c0 + h * (c1 + h * c2) >= clear
        if open_by_then:
            return h
        h *= 0.5
    return 0.0


@kernel
def difference(now, pair, q, first):
    """b_j - a_i for the pair number i q + j, in the three columns of now (6,9) from `first` on."""
    i, j = pair // q, OF_B + pair % q
    return now[j, first] - now[i, first], now[j, first + 1] - now[i, first + 1], now[j, first + 2] - now[i, first + 2]


@kernel
def leaving_time(now, turns, bounds, p, q, clear, shares):
    """A time until which faces that touch at t = 0 part, having opened a gap of `clear` by then; 0 if they are not seen to."""
    pairs = p * q
    best = 0.0
    widest, wx, wy, wz = 0.0, 0.0, 0.0, 0.0
    longest, lx, ly, lz = 0.0, 0.0, 0.0, 0.0
    # First across two differences, then in the plane of all of them, then where corners move, across a line and freely.
    for candidate in range(pairs * (pairs + 3)):
        kind, pair = candidate // pairs - pairs, candidate % pairs
        zx, zy, zz = difference(now, pair, q, 0)
        if kind < 0:
            if candidate // pairs == 0:
                norm = length(zx, zy, zz)
                if norm > longest:
                    longest, lx, ly, lz = norm, zx / norm, zy / norm, zz / norm
            if candidate // pairs >= pair:
                continue
            x, y, z = difference(now, candidate // pairs, q, 0)
            x, y, z = cross(x, y, z, zx, zy, zz)
        elif best > 0.0:
            break
        elif kind == 0:
            x, y, z = cross(wx, wy, wz, zx, zy, zz)
        else:
            x, y, z = difference(now, pair, q, 3)
            if kind == 1:
                along = dot(x, y, z, lx, ly, lz)
                x, y, z = x - along * lx, y - along * ly, z - along * lz
        norm = length(x, y, z)
        if norm == 0.0:
            continue
        x, y, z = x / norm, y / norm, z / norm
        if kind < 0 and norm > widest:
            widest, wx, wy, wz = norm, x, y, z
        for _ in range(2):
            best = max(best, parting_time(now, turns, bounds, p, q, x, y, z, clear, shares))
            x, y, z = -x, -y, -z
    return best
