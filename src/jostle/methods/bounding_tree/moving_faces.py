"""The faces of two leaves over an interval of time: which of them may meet, and from when on.

Corners are where their law puts them at start and end of the interval; in between a corner leaves its chord by at most the sagitta
of its arc, with which the face is padded. On an axis that stands still, least and greatest places of a face are then bounded by
linear functions of time: what two faces leave of the interval on the three coordinate axes, on the normals of both and across the
edges of both is their window, as for boxes in `swept.py`.
"""

from __future__ import annotations

import math

from jostle.geometry.moving_point import Arc, place_with_factors
from jostle.geometry.vector import Vec3
from jostle.kernels.jit import kernel
from jostle.methods.bounding_tree.motions import ALONG, ASIDE, TURN
from jostle.methods.bounding_tree.swept import OUTWARD

# Nine coordinates of corners at the start, nine at the end; lower and upper corner of the box at the start, then at the end; blur.
MOVING_FACE = 31
BOX, BLUR = 18, 30


@kernel
def fill_moving_leaf(lanes, faces, order, first, count, w0, w1, motion, table, start, end, s, e, sagitta):  # type: ignore[no-untyped-def]
    """Write `count` faces, from order[first] on, over [s, e] to lanes (n, MOVING_FACE); sagitta: as in pads, per |k × way|."""
    kx, ky, kz = motion[TURN], motion[TURN + 1], motion[TURN + 2]
    for i in range(count):
        face = order[first + i]
        farthest = 0.0
        for k in range(3):
            v = faces[face, k]
            x0, y0, z0, x1, y1, z1 = w0[v, 0], w0[v, 1], w0[v, 2], w1[v, 0], w1[v, 1], w1[v, 2]
            px, py, pz = x0, y0, z0
            if s > 0.0:
                arc = Arc(table[start, ALONG], table[start, ASIDE])
                px, py, pz = place_with_factors(Vec3(x0, y0, z0), Vec3(x1, y1, z1), Vec3(kx, ky, kz), s, arc)
            qx, qy, qz = x1, y1, z1
            if e < 1.0:
                arc = Arc(table[end, ALONG], table[end, ASIDE])
                qx, qy, qz = place_with_factors(Vec3(x0, y0, z0), Vec3(x1, y1, z1), Vec3(kx, ky, kz), e, arc)
            lanes[i, 3 * k], lanes[i, 3 * k + 1], lanes[i, 3 * k + 2] = px, py, pz
            lanes[i, 9 + 3 * k], lanes[i, 9 + 3 * k + 1], lanes[i, 9 + 3 * k + 2] = qx, qy, qz
            if sagitta > 0.0:
                dx, dy, dz = qx - px, qy - py, qz - pz
                x, y, z = ky * dz - kz * dy, kz * dx - kx * dz, kx * dy - ky * dx
                farthest = max(farthest, (x * x + y * y) + z * z)
        for c in range(3):
            lanes[i, BOX + c] = min(lanes[i, c], lanes[i, 3 + c], lanes[i, 6 + c])
            lanes[i, BOX + 3 + c] = max(lanes[i, c], lanes[i, 3 + c], lanes[i, 6 + c])
            lanes[i, BOX + 6 + c] = min(lanes[i, 9 + c], lanes[i, 12 + c], lanes[i, 15 + c])
            lanes[i, BOX + 9 + c] = max(lanes[i, 9 + c], lanes[i, 12 + c], lanes[i, 15 + c])
        lanes[i, BLUR] = sagitta * math.sqrt(farthest)


@kernel(forceinline=True)
def until_no_gap(low, high, g0, g1, slack):
    """Shorten a window of λ to where a gap that is at least g0 + λ (g1 - g0) may be no larger than the slack."""
    if g0 > slack:
        if g1 > slack:
            return 2.0, 0.0
        return max(low, (g0 - slack) / (g0 - g1) * OUTWARD), high
    if g1 > slack:
        return low, min(high, 1.0 - (g1 - slack) / (g1 - g0) * OUTWARD)
    return low, high


@kernel(forceinline=True)
def extent(lanes, i, at, nx, ny, nz, ox, oy, oz):
    """Least and greatest n · (corner - o) of the face in lane i, of the corners from column `at` on."""
    p = nx * (lanes[i, at] - ox) + ny * (lanes[i, at + 1] - oy) + nz * (lanes[i, at + 2] - oz)
    q = nx * (lanes[i, at + 3] - ox) + ny * (lanes[i, at + 4] - oy) + nz * (lanes[i, at + 5] - oz)
    r = nx * (lanes[i, at + 6] - ox) + ny * (lanes[i, at + 7] - oy) + nz * (lanes[i, at + 8] - oz)
    return min(p, q, r), max(p, q, r)


@kernel(forceinline=True)
def edge_at_middle(lanes, i, k):
    """The edge from corner k to the next of the face in lane i, twice as it is in the middle between start and end."""
    p, q = 3 * k, (3 * k + 3) % 9
    return (
        (lanes[i, q] - lanes[i, p]) + (lanes[i, q + 9] - lanes[i, p + 9]),
        (lanes[i, q + 1] - lanes[i, p + 1]) + (lanes[i, q + 10] - lanes[i, p + 10]),
        (lanes[i, q + 2] - lanes[i, p + 2]) + (lanes[i, q + 11] - lanes[i, p + 11]),
    )


@kernel(forceinline=True)
def normal_at_middle(lanes, i):
    """The normal, of no particular length, of the face in lane i in the middle between start and end."""
    ux, uy, uz = edge_at_middle(lanes, i, 0)
    vx, vy, vz = edge_at_middle(lanes, i, 1)
    return uy * vz - uz * vy, uz * vx - ux * vz, ux * vy - uy * vx


@kernel
def window_of_faces(lanes_a, i, lanes_b, j, padding):
    """When the faces in two lanes may meet: the window (low, high) of λ in [0, 1], empty where low > high."""
    slack = padding + (lanes_a[i, BLUR] + lanes_b[j, BLUR])
    low, high = 0.0, 1.0
    for c in range(BOX, BOX + 3):
        low, high = until_no_gap(low, high, lanes_b[j, c] - lanes_a[i, c + 3], lanes_b[j, c + 6] - lanes_a[i, c + 9], slack)
        low, high = until_no_gap(low, high, lanes_a[i, c] - lanes_b[j, c + 3], lanes_a[i, c + 6] - lanes_b[j, c + 9], slack)
    if low > high:
        return low, high
    ox, oy, oz = lanes_a[i, 0], lanes_a[i, 1], lanes_a[i, 2]
    ax, ay, az = normal_at_middle(lanes_a, i)
    bx, by, bz = normal_at_middle(lanes_b, j)
    for axis in range(8):
        # The two normals; then, in the plane of each face, across its edges.
        if axis < 2:
            nx, ny, nz = (ax, ay, az) if axis == 0 else (bx, by, bz)
        elif axis < 5:
            ex, ey, ez = edge_at_middle(lanes_a, i, axis - 2)
            nx, ny, nz = ay * ez - az * ey, az * ex - ax * ez, ax * ey - ay * ex
        else:
            ex, ey, ez = edge_at_middle(lanes_b, j, axis - 5)
            nx, ny, nz = by * ez - bz * ey, bz * ex - bx * ez, bx * ey - by * ex
        least_a, most_a = extent(lanes_a, i, 0, nx, ny, nz, ox, oy, oz)
        least_b, most_b = extent(lanes_b, j, 0, nx, ny, nz, ox, oy, oz)
        lower_a, upper_a = extent(lanes_a, i, 9, nx, ny, nz, ox, oy, oz)
        lower_b, upper_b = extent(lanes_b, j, 9, nx, ny, nz, ox, oy, oz)
        apart = slack * math.sqrt((nx * nx + ny * ny) + nz * nz)
        low, high = until_no_gap(low, high, least_b - most_a, lower_b - upper_a, apart)
        low, high = until_no_gap(low, high, least_a - most_b, lower_a - upper_b, apart)
        if low > high:
            return low, high
    return low, high
