"""Shell facets: a disc for every facet of every level, behind which everything lies that the facet stands for (§4.1).

A facet's disc has a centre c, a unit normal n and a radius; with its thickness it makes a **cylinder** that reaches from the
disc backwards. All corners of all faces under the facet lie in the cylinder: n·(x - c) <= 0, -n·(x - c) <= thickness, and at
most `radius` from the axis. A cylinder is convex, so whole faces lie in it, and the discs of a level, taken as cylinders,
leave no holes.

Proof: offset, thickness, radius and reach are maxima over the corners themselves, not over the children's discs as in the
paper (which is looser), each enlarged by `PAD` times the largest coordinate, which is more than the rounding of the few
operations behind it.

Deviations: a face's radius goes to its farthest corner from the barycentre (the circumradius does not cover); a coarser
disc's centre lies over the middle of the smallest circle about what is under it, and its normal is that of the surface under
it, tilted where that makes the cylinder thinner.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from jostle.frame import Floats
from jostle.kernels.arrays import read_only_view
from jostle.kernels.jit import kernel

Ints = NDArray[np.int32]

PAD = 64.0 * 2.0**-53  # times the largest coordinate: lengths are rounded outward by this
POINTS = 2_000_000  # to a call of the fitting kernel, about 0.1 s
TILTS = 8  # attempts at a thinner cylinder
PIVOTS = 24  # attempts at a smaller circle
DIRECTIONS = 12  # in which a coarse facet is anchored to the outermost vertices under it, four to each corner
COSINE, SINE = math.sqrt(0.75), 0.5  # of the angle between two of them
IN_LINE = 0.03  # height of the triangle of a facet's corners over its longest side below which they are chosen otherwise


class Discs(NamedTuple):
    """Discs with their cylinders; arrays of f rows."""

    centre: Floats  # (f, 3)
    normal: Floats  # (f, 3) unit
    radius: Floats
    thickness: Floats
    reach: Floats  # radius of a ball about the centre that holds what is under the disc


def discs_of_faces(vertices: Floats, faces: Ints) -> Discs:
    """Return the discs of faces (m, 3): about the barycentre, as thick as rounding."""
    discs = _empty(len(faces))
    fit_faces(read_only_view(vertices), read_only_view(faces), *discs)
    return discs


def discs_of_groups(vertices: Floats, first: Ints, under: Ints, towards: Floats) -> tuple[Discs, Ints]:
    """Return the discs of groups of vertices, and the vertices that anchor each of them.

    Parameters
    ----------
    vertices : (n, 3) array
    first, under : (f + 1,) and (u,) int32 arrays
        The vertices of group k are ``under[first[k]:first[k + 1]]``; none is empty.
    towards : (f, 3) array
        About where the normals should point; a zero vector where nothing is known.

    Returns
    -------
    Discs, and (f, 12) int32
        Corner j of a group's frame is the mean of the vertices in columns 4 j … 4 j + 3.
    """
    count = len(first) - 1
    discs, anchor = _empty(count), np.zeros((count, DIRECTIONS), np.int32)
    discs.normal[:] = towards
    pad = PAD * float(np.abs(vertices[under]).max())
    scratch = np.empty((int(np.diff(first).max()), 2))
    begin = 0
    while begin < count:
        end = max(begin + 1, int(np.searchsorted(first, first[begin] + POINTS, side="right")) - 1)
        fit_groups(begin, end, read_only_view(vertices), read_only_view(first), read_only_view(under), pad, scratch, *discs, anchor)
        begin = end
    return discs, anchor


def _empty(count: int) -> Discs:
    return Discs(np.zeros((count, 3)), np.zeros((count, 3)), np.zeros(count), np.zeros(count), np.zeros(count))


@kernel
def any_normal(x, y, z):  # type: ignore[no-untyped-def]
    """A unit vector at right angles to (x, y, z); (0, 0, 1) if that is zero."""
    ax, ay, az = abs(x), abs(y), abs(z)
    if ax == 0.0 and ay == 0.0 and az == 0.0:
        return 0.0, 0.0, 1.0
    if ax <= ay and ax <= az:
        size = math.sqrt(y * y + z * z)
        return 0.0, z / size, -y / size
    if ay <= az:
        size = math.sqrt(x * x + z * z)
        return -z / size, 0.0, x / size
    size = math.sqrt(x * x + y * y)
    return y / size, -x / size, 0.0


@kernel
def normal_of_corners(ax, ay, az, bx, by, bz, cx, cy, cz):  # type: ignore[no-untyped-def]
    """The unit normal of a triangle; of one without area some unit vector at right angles to its longest edge.

    A sliver's cross product is mostly rounding; at right angles to the longest edge its corners are in the plane all the same.
    """
    ux, uy, uz = bx - ax, by - ay, bz - az
    vx, vy, vz = cx - ax, cy - ay, cz - az
    nx, ny, nz = uy * vz - uz * vy, uz * vx - ux * vz, ux * vy - uy * vx
    ex, ey, ez, longest = ux, uy, uz, (ux * ux + uy * uy) + uz * uz
    other = (vx * vx + vy * vy) + vz * vz
    if other > longest:
        ex, ey, ez, longest = vx, vy, vz, other
    wx, wy, wz = cx - bx, cy - by, cz - bz
    other = (wx * wx + wy * wy) + wz * wz
    if other > longest:
        ex, ey, ez, longest = wx, wy, wz, other
    if longest == 0.0:
        return 0.0, 0.0, 1.0
    for _ in range(2):
        along = ((nx * ex + ny * ey) + nz * ez) / longest
        nx, ny, nz = nx - along * ex, ny - along * ey, nz - along * ez
        size = math.sqrt((nx * nx + ny * ny) + nz * nz)
        if size == 0.0:
            return any_normal(ex, ey, ez)
        nx, ny, nz = nx / size, ny / size, nz / size
    return nx, ny, nz


@kernel
def disc_of_face(ax, ay, az, bx, by, bz, cx, cy, cz):  # type: ignore[no-untyped-def]
    """Centre, normal, radius, thickness and reach of a face's disc, from its corners a, b, c; rounded outward."""
    nx, ny, nz = normal_of_corners(ax, ay, az, bx, by, bz, cx, cy, cz)
    largest = max(abs(ax), abs(ay), abs(az), abs(bx), abs(by), abs(bz))
    pad = PAD * max(largest, abs(cx), abs(cy), abs(cz))
    # Halves of the sum would overflow nowhere near 1e30; a third is rounded once more, which the pad covers.
    x, y, z = ((ax + bx) + cx) / 3.0, ((ay + by) + cy) / 3.0, ((az + bz) + cz) / 3.0
    front = (nx * (ax - x) + ny * (ay - y)) + nz * (az - z)
    front = max(front, (nx * (bx - x) + ny * (by - y)) + nz * (bz - z))
    front = max(front, (nx * (cx - x) + ny * (cy - y)) + nz * (cz - z)) + pad
    x, y, z = x + front * nx, y + front * ny, z + front * nz
    ha, ra, da = _behind(ax - x, ay - y, az - z, nx, ny, nz)
    hb, rb, db = _behind(bx - x, by - y, bz - z, nx, ny, nz)
    hc, rc, dc = _behind(cx - x, cy - y, cz - z, nx, ny, nz)
    return x, y, z, nx, ny, nz, max(ra, rb, rc) + pad, max(ha, hb, hc) + pad, max(da, db, dc) + pad


@kernel
def _behind(x, y, z, nx, ny, nz):  # type: ignore[no-untyped-def]
    """How far (x, y, z) is behind the plane through 0, from the axis n, and from 0."""
    # The distance from the axis by a product of vectors: a difference of squares would lose half of the digits.
    px, py, pz = ny * z - nz * y, nz * x - nx * z, nx * y - ny * x
    return -((nx * x + ny * y) + nz * z), math.sqrt((px * px + py * py) + pz * pz), math.sqrt((x * x + y * y) + z * z)


@kernel
def fit_faces(vertices, faces, centre, normal, radius, thickness, reach):  # type: ignore[no-untyped-def]
    """Write the discs of all faces (m,3)."""
    for f in range(faces.shape[0]):
        a, b, c = faces[f, 0], faces[f, 1], faces[f, 2]
        x, y, z, nx, ny, nz, r, h, d = disc_of_face(
            vertices[a, 0], vertices[a, 1], vertices[a, 2],
            vertices[b, 0], vertices[b, 1], vertices[b, 2],
            vertices[c, 0], vertices[c, 1], vertices[c, 2],
        )  # fmt: skip
        centre[f, 0], centre[f, 1], centre[f, 2] = x, y, z
        normal[f, 0], normal[f, 1], normal[f, 2] = nx, ny, nz
        radius[f], thickness[f], reach[f] = r, h, d


@kernel
def fit_groups(begin, end, vertices, first, under, pad, scratch, centre, normal, radius, thickness, reach, anchor):  # type: ignore[no-untyped-def]
    """Write the discs of the groups begin … end-1; `normal` holds where they should point. scratch: (largest group, 2)."""
    for f in range(begin, end):
        low, count = first[f], first[f + 1] - first[f]
        ox, oy, oz = vertices[under[low], 0], vertices[under[low], 1], vertices[under[low], 2]
        nx, ny, nz = _starting_normal(vertices, under, low, count, normal[f, 0], normal[f, 1], normal[f, 2])
        nx, ny, nz = _tilted(vertices, under, low, count, nx, ny, nz)
        ux, uy, uz = any_normal(nx, ny, nz)
        vx, vy, vz = ny * uz - nz * uy, nz * ux - nx * uz, nx * uy - ny * ux
        front = -np.inf
        for k in range(count):
            i = under[low + k]
            x, y, z = vertices[i, 0] - ox, vertices[i, 1] - oy, vertices[i, 2] - oz
            scratch[k, 0] = (ux * x + uy * y) + uz * z
            scratch[k, 1] = (vx * x + vy * y) + vz * z
            front = max(front, (nx * x + ny * y) + nz * z)
        p, q = _middle_of_circle(scratch, count)
        front += pad
        x, y, z = ox + (p * ux + q * vx + front * nx), oy + (p * uy + q * vy + front * ny), oz + (p * uz + q * vz + front * nz)
        deepest, widest, farthest = 0.0, 0.0, 0.0
        for k in range(count):
            i = under[low + k]
            h, r, d = _behind(vertices[i, 0] - x, vertices[i, 1] - y, vertices[i, 2] - z, nx, ny, nz)
            deepest, widest, farthest = max(deepest, h), max(widest, r), max(farthest, d)
        centre[f, 0], centre[f, 1], centre[f, 2] = x, y, z
        normal[f, 0], normal[f, 1], normal[f, 2] = nx, ny, nz
        radius[f], thickness[f], reach[f] = widest + pad, deepest + pad, farthest + pad
        _outermost(scratch, under, low, count, anchor, f)
        keep_corners_apart(vertices, under, low, count, anchor, f)


@kernel
def _starting_normal(vertices, under, low, count, nx, ny, nz):  # type: ignore[no-untyped-def]
    """The direction (nx, ny, nz) at length 1, or if it is zero the normal of three vertices that are far apart."""
    size = math.sqrt((nx * nx + ny * ny) + nz * nz)
    if size > 0.0:
        nx, ny, nz = nx / size, ny / size, nz / size
        size = math.sqrt((nx * nx + ny * ny) + nz * nz)  # once more: the length of a small vector is rounded coarsely
        return nx / size, ny / size, nz / size
    a = under[low]
    b, c = a, a
    for _ in range(2):  # from any vertex to the farthest from it, and to the farthest from that
        a, best = b, -1.0
        for k in range(count):
            i = under[low + k]
            x, y, z = vertices[i, 0] - vertices[a, 0], vertices[i, 1] - vertices[a, 1], vertices[i, 2] - vertices[a, 2]
            square = (x * x + y * y) + z * z
            if square > best:
                best, b = square, i
    ex, ey, ez = vertices[b, 0] - vertices[a, 0], vertices[b, 1] - vertices[a, 1], vertices[b, 2] - vertices[a, 2]
    best = -1.0
    for k in range(count):
        i = under[low + k]
        x, y, z = vertices[i, 0] - vertices[a, 0], vertices[i, 1] - vertices[a, 1], vertices[i, 2] - vertices[a, 2]
        px, py, pz = ey * z - ez * y, ez * x - ex * z, ex * y - ey * x
        square = (px * px + py * py) + pz * pz
        if square > best:
            best, c = square, i
    return normal_of_corners(
        vertices[a, 0], vertices[a, 1], vertices[a, 2],
        vertices[b, 0], vertices[b, 1], vertices[b, 2],
        vertices[c, 0], vertices[c, 1], vertices[c, 2],
    )  # fmt: skip


@kernel
def _tilted(vertices, under, low, count, nx, ny, nz):  # type: ignore[no-untyped-def]
    """Tilt the normal, step by step, so that the foremost and the hindmost vertex come closer to one height."""
    step, width = 0.5, np.inf
    bx, by, bz = nx, ny, nz  # the best so far, and the way between its outermost vertices
    gx, gy, gz = 0.0, 0.0, 0.0
    for _ in range(TILTS + 1):
        top, bottom = -np.inf, np.inf
        i, j = under[low], under[low]
        for k in range(count):
            v = under[low + k]
            height = (nx * vertices[v, 0] + ny * vertices[v, 1]) + nz * vertices[v, 2]
            if height > top:
                top, i = height, v
            if height < bottom:
                bottom, j = height, v
        if top - bottom < width:
            width = top - bottom
            bx, by, bz = nx, ny, nz
            gx, gy, gz = vertices[i, 0] - vertices[j, 0], vertices[i, 1] - vertices[j, 1], vertices[i, 2] - vertices[j, 2]
            gx, gy, gz = gx - width * nx, gy - width * ny, gz - width * nz
        else:
            step *= 0.5
        square = (gx * gx + gy * gy) + gz * gz
        if square <= width * width:  # steeper than 45 degrees: this is no longer a tilt
            break
        turn = step * width / square
        nx, ny, nz = bx - turn * gx, by - turn * gy, bz - turn * gz
        size = math.sqrt((nx * nx + ny * ny) + nz * nz)
        nx, ny, nz = nx / size, ny / size, nz / size
    return bx, by, bz


@kernel
def _middle_of_circle(scratch, count):  # type: ignore[no-untyped-def]
    """The middle of about the smallest circle around the points scratch (count,2).

    A few points on the circle are kept; the farthest point outside joins them, and the smallest circle about those replaces it.
    """
    ax, ay = scratch[0, 0], scratch[0, 1]
    bx, by, cx, cy = ax, ay, ax, ay
    x, y, square = ax, ay, 0.0
    for _ in range(PIVOTS):
        far, at = -1.0, 0
        for k in range(count):
            p, q = scratch[k, 0] - x, scratch[k, 1] - y
            if p * p + q * q > far:
                far, at = p * p + q * q, k
        if far <= square * (1.0 + 1e-9):
            break
        dx, dy = scratch[at, 0], scratch[at, 1]
        x, y, square, leave = _circle_with(dx, dy, ax, ay, bx, by, cx, cy)
        if leave == 0:
            ax, ay = dx, dy
        elif leave == 1:
            bx, by = dx, dy
        else:
            cx, cy = dx, dy
    return x, y


@kernel
def _circle_with(dx, dy, ax, ay, bx, by, cx, cy):  # type: ignore[no-untyped-def]
    """The smallest circle through d that holds a, b and c: its middle, squared radius, and which of a, b, c it can do without."""
    best, leave = np.inf, 0
    mx, my = dx, dy
    for k in range(6):
        # Two points: d and one other. Three: d and two others. The one left out first is the one that is not needed.
        if k == 0:
            x, y, without = 0.5 * (dx + ax), 0.5 * (dy + ay), 1
        elif k == 1:
            x, y, without = 0.5 * (dx + bx), 0.5 * (dy + by), 2
        elif k == 2:
            x, y, without = 0.5 * (dx + cx), 0.5 * (dy + cy), 0
        elif k == 3:
            x, y = _circumcentre(dx, dy, ax, ay, bx, by)
            without = 2
        elif k == 4:
            x, y = _circumcentre(dx, dy, bx, by, cx, cy)
            without = 0
        else:
            x, y = _circumcentre(dx, dy, cx, cy, ax, ay)
            without = 1
        square = (x - dx) ** 2 + (y - dy) ** 2
        most = max((x - ax) ** 2 + (y - ay) ** 2, (x - bx) ** 2 + (y - by) ** 2, (x - cx) ** 2 + (y - cy) ** 2)
        if most <= square * (1.0 + 1e-9) and square < best:
            best, leave, mx, my = square, without, x, y
    if best == np.inf:  # rounding left no circle that holds all: take the farthest across, and let the next round mend it
        to_a, to_b, to_c = (dx - ax) ** 2 + (dy - ay) ** 2, (dx - bx) ** 2 + (dy - by) ** 2, (dx - cx) ** 2 + (dy - cy) ** 2
        if to_a >= to_b and to_a >= to_c:
            mx, my, best, leave = 0.5 * (dx + ax), 0.5 * (dy + ay), 0.25 * to_a, 1
        elif to_b >= to_c:
            mx, my, best, leave = 0.5 * (dx + bx), 0.5 * (dy + by), 0.25 * to_b, 2
        else:
            mx, my, best, leave = 0.5 * (dx + cx), 0.5 * (dy + cy), 0.25 * to_c, 0
    return mx, my, best, leave


@kernel
def _circumcentre(ax, ay, bx, by, cx, cy):  # type: ignore[no-untyped-def]
    """The middle of the circle through a, b and c; infinitely far away when they are in line."""
    ux, uy, vx, vy = bx - ax, by - ay, cx - ax, cy - ay
    twice = 2.0 * (ux * vy - uy * vx)
    if twice == 0.0:
        return np.inf, np.inf
    p, q = ux * ux + uy * uy, vx * vx + vy * vy
    return ax + (vy * p - uy * q) / twice, ay + (ux * q - vx * p) / twice


@kernel
def _outermost(scratch, under, low, count, anchor, f):  # type: ignore[no-untyped-def]
    """Write the anchors of group f: the outermost vertices in twelve directions, the longest side of their triangle first."""
    x, y = 1.0, 0.0
    for d in range(DIRECTIONS):
        best, at = -np.inf, 0
        for k in range(count):
            along = x * scratch[k, 0] + y * scratch[k, 1]
            if along > best:
                best, at = along, k
        anchor[f, d] = at
        x, y = COSINE * x - SINE * y, SINE * x + COSINE * y
    longest, turn = -1.0, 0
    for j in range(3):
        x, y = 0.0, 0.0
        for k in range(4):
            a, b = anchor[f, 4 * j + k], anchor[f, (4 * j + 4 + k) % DIRECTIONS]
            x += scratch[b, 0] - scratch[a, 0]
            y += scratch[b, 1] - scratch[a, 1]
        if x * x + y * y > longest:
            longest, turn = x * x + y * y, j
    while turn > 0:  # the corners move down by one until the longest side goes from the first to the second
        for k in range(4):
            first = anchor[f, k]
            anchor[f, k], anchor[f, 4 + k], anchor[f, 8 + k] = anchor[f, 4 + k], anchor[f, 8 + k], first
        turn -= 1
    for d in range(DIRECTIONS):
        anchor[f, d] = under[low + anchor[f, d]]


@kernel
def keep_corners_apart(vertices, under, low, count, anchor, f):  # type: ignore[no-untyped-def]
    """Anchor group f to three single vertices where its corners, means of four, are in line: their frame would be rounding."""
    if _spread_of_corners(vertices, anchor, f) > IN_LINE:
        return
    a = _farthest_from(vertices, under, low, count, under[low], under[low])
    b = _farthest_from(vertices, under, low, count, a, a)
    c = _farthest_from(vertices, under, low, count, a, b)
    for k in range(4):
        anchor[f, k], anchor[f, 4 + k], anchor[f, 8 + k] = a, b, c


@kernel
def _spread_of_corners(vertices, anchor, f):  # type: ignore[no-untyped-def]
    """The height of the triangle of a facet's corners over its longest side, as a share of that; 0 for a point."""
    x, y, z = np.zeros(3), np.zeros(3), np.zeros(3)
    for j in range(3):
        for k in range(4):
            v = anchor[f, 4 * j + k]
            x[j] += 0.25 * vertices[v, 0]
            y[j] += 0.25 * vertices[v, 1]
            z[j] += 0.25 * vertices[v, 2]
    longest = 0.0
    for j in range(3):
        i = (j + 1) % 3
        longest = max(longest, ((x[i] - x[j]) ** 2 + (y[i] - y[j]) ** 2) + (z[i] - z[j]) ** 2)
    ux, uy, uz, vx, vy, vz = x[1] - x[0], y[1] - y[0], z[1] - z[0], x[2] - x[0], y[2] - y[0], z[2] - z[0]
    px, py, pz = uy * vz - uz * vy, uz * vx - ux * vz, ux * vy - uy * vx
    return math.sqrt((px * px + py * py) + pz * pz) / longest if longest > 0.0 else 0.0


@kernel
def _farthest_from(vertices, under, low, count, a, b):  # type: ignore[no-untyped-def]
    """The vertex of a group that is farthest from the line through the vertices a and b, or from the point where they are one."""
    ux, uy, uz = vertices[b, 0] - vertices[a, 0], vertices[b, 1] - vertices[a, 1], vertices[b, 2] - vertices[a, 2]
    size = math.sqrt((ux * ux + uy * uy) + uz * uz)
    best, far = a, -1.0
    for k in range(count):
        v = under[low + k]
        x, y, z = vertices[v, 0] - vertices[a, 0], vertices[v, 1] - vertices[a, 1], vertices[v, 2] - vertices[a, 2]
        if size > 0.0:
            x, y, z = (uy * z - uz * y) / size, (uz * x - ux * z) / size, (ux * y - uy * x) / size
        if (x * x + y * y) + z * z > far:
            best, far = v, (x * x + y * y) + z * z
    return best
