"""The distance of the convex hulls of two sets of points, after Gilbert, Johnson and Keerthi (1988).

With y = b - a for points a of A and b of B, the distance is the least |y|. A simplex of up to four such differences walks towards
it: its point v nearest to the origin bounds the distance from above, and the *support* along v (the farthest point of each hull
along a direction, found by `support.py`) bounds it from below, whatever the direction is and however v was rounded. Both bounds
are kept, so an answer states its own error, upper - lower; where a plane with a gap is found, that plane separates. Rounding can
keep the bounds apart: then the search says that it is undecided, and its caller has to settle the pair by other means.

Deviations from the paper, all for robustness: the nearest point of a simplex is the best of explicit convex combinations, not a
solution of Johnson's determinants; a triangle gives its own normal as the next direction, since v divided by its length loses
all digits between large faces that are almost in contact; a tetrahedron holds the origin only where all signs are beyond rounding.
The search ends after `MOST_STEPS` whatever happens. Measured on hulls of every shape, flat ones and needles too, 1e-10 of their
size apart or more, at scales 1e-3 … 1e4: both bounds are within 1.2e-15 of the largest coordinate, a third of `ROUNDING`. Undecided
end one in 10,000 searches for overlapping hulls with extents of 1e-3 … 1e5, and one in ten for lumps of 0.02 in needles 1e5 long.
"""

import math

import numpy as np

from jostle.geometry.rigid import rigid_coordinate
from jostle.geometry.scalar_vector import cross, dot, length
from jostle.geometry.support import farthest_point, welded_points
from jostle.kernels.arrays import read_only_view
from jostle.kernels.jit import kernel

# A plane separates; the upper bound is as low as wanted; a tetrahedron holds the origin; the search gave up between its bounds.
APART, MEET, INSIDE, UNDECIDED = 0, 1, 2, 3
MOST_STEPS = 256
MOST_SETBACKS = 8  # steps that bring v no nearer, by rounding, before the search gives up
ROUNDING = 2.0**-48  # of the largest world coordinates of both: what the bounds may be off by
NOISE = 2.0**-47  # of the product of the lengths in a determinant: below it a sign means nothing
ON_THE_SIDE = 2.0**-40  # a weight this far below 0 keeps the triangle, and so its normal

# Places in `found`: what a search is told and tells.
NORMAL, LOWER, UPPER, POINT_A, POINT_B, FOUND = 0, 3, 4, 5, 8, 11
# Places in a corner of the simplex: the difference y first, then the points a and b.
A, B, CORNER = 3, 6, 9


@kernel
def nearest_of_segment(ax, ay, az, bx, by, bz):
    """The point of the segment ab nearest to the origin: the share t of b, and its squared distance."""
    ex, ey, ez = bx - ax, by - ay, bz - az
    squared = dot(ex, ey, ez, ex, ey, ez)
    if squared == 0.0:
        return 0.0, dot(ax, ay, az, ax, ay, az)
    t = min(max(-dot(ax, ay, az, ex, ey, ez) / squared, 0.0), 1.0)
    s = 1.0 - t
    x, y, z = s * ax + t * bx, s * ay + t * by, s * az + t * bz
    return t, dot(x, y, z, x, y, z)


@kernel
def normal_of_triangle(ax, ay, az, bx, by, bz, cx, cy, cz):
    """A normal (x, y, z) of the triangle abc by its two shorter sides, and the product of their lengths, for its rounding."""
    ux, uy, uz = bx - ax, by - ay, bz - az
    vx, vy, vz = cx - bx, cy - by, cz - bz
    wx, wy, wz = ax - cx, ay - cy, az - cz
    uu, vv, ww = dot(ux, uy, uz, ux, uy, uz), dot(vx, vy, vz, vx, vy, vz), dot(wx, wy, wz, wx, wy, wz)
    if uu >= vv and uu >= ww:
        x, y, z = cross(vx, vy, vz, wx, wy, wz)
        return x, y, z, math.sqrt(vv * ww)
    if vv >= ww:
        x, y, z = cross(wx, wy, wz, ux, uy, uz)
        return x, y, z, math.sqrt(ww * uu)
    x, y, z = cross(ux, uy, uz, vx, vy, vz)
    return x, y, z, math.sqrt(uu * vv)


@kernel
def nearest_of_triangle(ax, ay, az, bx, by, bz, cx, cy, cz):
    """The point of the triangle abc nearest to the origin: (corners it needs as bits 1, 2, 4; three weights; squared distance)."""
    mask, wa, wb, wc, best = 0, 0.0, 0.0, 0.0, math.inf
    nx, ny, nz, product = normal_of_triangle(ax, ay, az, bx, by, bz, cx, cy, cz)
    area = dot(nx, ny, nz, nx, ny, nz)
    if area > (NOISE * product) * (NOISE * product):
        # The weight of a corner is the area that the foot of the origin spans with the opposite side.
        fa = dot(nx, ny, nz, *cross(bx, by, bz, cx, cy, cz)) / area
        fb = dot(nx, ny, nz, *cross(cx, cy, cz, ax, ay, az)) / area
        fc = dot(nx, ny, nz, *cross(ax, ay, az, bx, by, bz)) / area
        if fa >= -ON_THE_SIDE and fb >= -ON_THE_SIDE and fc >= -ON_THE_SIDE:
            fa, fb, fc = max(fa, 0.0), max(fb, 0.0), max(fc, 0.0)
            total = (fa + fb) + fc
            wa, wb, wc = fa / total, fb / total, fc / total
            x, y, z = (wa * ax + wb * bx) + wc * cx, (wa * ay + wb * by) + wc * cy, (wa * az + wb * bz) + wc * cz
            mask, best = 7, dot(x, y, z, x, y, z) * (1.0 - ON_THE_SIDE)
    t, squared = nearest_of_segment(ax, ay, az, bx, by, bz)
    if squared < best:
        mask, wa, wb, wc, best = (1 if t < 1.0 else 0) | (2 if t > 0.0 else 0), 1.0 - t, t, 0.0, squared
    t, squared = nearest_of_segment(bx, by, bz, cx, cy, cz)
    if squared < best:
        mask, wa, wb, wc, best = (2 if t < 1.0 else 0) | (4 if t > 0.0 else 0), 0.0, 1.0 - t, t, squared
    t, squared = nearest_of_segment(cx, cy, cz, ax, ay, az)
    if squared < best:
        mask, wa, wb, wc, best = (4 if t < 1.0 else 0) | (1 if t > 0.0 else 0), t, 0.0, 1.0 - t, squared
    return mask, wa, wb, wc, best


@kernel
def origin_is_behind(ax, ay, az, bx, by, bz, cx, cy, cz, dx, dy, dz):
    """Whether the origin lies on d's side of the plane abc, beyond rounding; and how far, over d's height: d's weight."""
    ux, uy, uz = bx - ax, by - ay, bz - az
    vx, vy, vz = cx - ax, cy - ay, cz - az
    nx, ny, nz = cross(ux, uy, uz, vx, vy, vz)
    product = NOISE * length(ux, uy, uz) * length(vx, vy, vz)
    height = dot(nx, ny, nz, dx - ax, dy - ay, dz - az)
    own = -dot(nx, ny, nz, ax, ay, az)
    if abs(height) <= product * length(dx - ax, dy - ay, dz - az) or abs(own) <= product * length(ax, ay, az):
        return False, 0.0
    return (height > 0.0) == (own > 0.0), own / height


@kernel
def reduce_tetrahedron(corner, weight):
    """The corners, as bits, that the point of a tetrahedron nearest to the origin needs; 15 where it is the origin itself."""
    best, mask = math.inf, 15
    total = 0.0
    inside_a, inside_b, inside_c, inside_d = 0.0, 0.0, 0.0, 0.0
    for k in range(4):
        i, j, m = (k + 1) & 3, (k + 2) & 3, (k + 3) & 3
        ax, ay, az = corner[i, 0], corner[i, 1], corner[i, 2]
        bx, by, bz = corner[j, 0], corner[j, 1], corner[j, 2]
        cx, cy, cz = corner[m, 0], corner[m, 1], corner[m, 2]
        behind, share = origin_is_behind(ax, ay, az, bx, by, bz, cx, cy, cz, corner[k, 0], corner[k, 1], corner[k, 2])
        if behind:
            total += share
            if k == 0:
                inside_a = share
            elif k == 1:
                inside_b = share
            elif k == 2:
                inside_c = share
            else:
                inside_d = share
            continue
        needed, wa, wb, wc, squared = nearest_of_triangle(ax, ay, az, bx, by, bz, cx, cy, cz)
        if squared < best:
            best = squared
            weight[i], weight[j], weight[m], weight[k] = wa, wb, wc, 0.0
            mask = ((needed & 1) << i) | (((needed >> 1) & 1) << j) | (((needed >> 2) & 1) << m)
    if mask == 15:
        weight[0], weight[1], weight[2], weight[3] = inside_a / total, inside_b / total, inside_c / total, inside_d / total
    return mask


@kernel
def reduce_simplex(corner, vertex, weight, count):
    """Keep the corners that the nearest point needs, with their weights; returns how many (4: the origin is inside)."""
    mask = 1
    if count == 1:
        weight[0] = 1.0
    elif count == 2:
        t, _ = nearest_of_segment(corner[0, 0], corner[0, 1], corner[0, 2], corner[1, 0], corner[1, 1], corner[1, 2])
        weight[0], weight[1] = 1.0 - t, t
        mask = (1 if t < 1.0 else 0) | (2 if t > 0.0 else 0)
    elif count == 3:
        mask, weight[0], weight[1], weight[2], _ = nearest_of_triangle(
            corner[0, 0], corner[0, 1], corner[0, 2],
            corner[1, 0], corner[1, 1], corner[1, 2],
            corner[2, 0], corner[2, 1], corner[2, 2],
        )  # fmt: skip
    else:
        mask = reduce_tetrahedron(corner, weight)
    kept = 0
    for k in range(count):
        if (mask >> k) & 1:
            if kept != k:
                for m in range(CORNER):
                    corner[kept, m] = corner[k, m]
                vertex[kept, 0], vertex[kept, 1], weight[kept] = vertex[k, 0], vertex[k, 1], weight[k]
            kept += 1
    return kept


@kernel
def nearest_difference(corner, weight, count):
    """The point v (x, y, z) of a reduced simplex that is nearest to the origin."""
    x, y, z = 0.0, 0.0, 0.0
    for k in range(count):
        x, y, z = x + weight[k] * corner[k, 0], y + weight[k] * corner[k, 1], z + weight[k] * corner[k, 2]
    return x, y, z


@kernel
def write_closest_points(corner, weight, count, found):
    """Write the same convex combination of the corners' points on A and on B into `found`."""
    for m in range(6):
        total = 0.0
        for k in range(count):
            total += weight[k] * corner[k, A + m]
        found[POINT_A + m] = total


@kernel
def next_direction(corner, count, vx, vy, vz):
    """Where to look for a nearer point: against this direction. The normal of a triangle, else v, made normal to a segment."""
    if count == 2:
        ex, ey, ez = corner[1, 0] - corner[0, 0], corner[1, 1] - corner[0, 1], corner[1, 2] - corner[0, 2]
        along = dot(vx, vy, vz, ex, ey, ez) / dot(ex, ey, ez, ex, ey, ez)
        return vx - along * ex, vy - along * ey, vz - along * ez
    if count != 3:
        return vx, vy, vz
    nx, ny, nz, product = normal_of_triangle(
        corner[0, 0], corner[0, 1], corner[0, 2],
        corner[1, 0], corner[1, 1], corner[1, 2],
        corner[2, 0], corner[2, 1], corner[2, 2],
    )  # fmt: skip
    if dot(nx, ny, nz, nx, ny, nz) <= (NOISE * product) * (NOISE * product):
        return vx, vy, vz  # never: such a triangle is reduced to a side
    if dot(nx, ny, nz, vx, vy, vz) < 0.0:
        return -nx, -ny, -nz
    return nx, ny, nz


@kernel
def place_corner(points_a, pose_a, points_b, pose_b, i, j, corner, k):
    """Write the world places of vertex i of A and j of B, and their difference, into corner k."""
    for m in range(3):
        a = rigid_coordinate(
            pose_a[m, 0], pose_a[m, 1], pose_a[m, 2], pose_a[m, 3], points_a[3 * i], points_a[3 * i + 1], points_a[3 * i + 2]
        )  # fmt: skip
        b = rigid_coordinate(
            pose_b[m, 0], pose_b[m, 1], pose_b[m, 2], pose_b[m, 3], points_b[3 * j], points_b[3 * j + 1], points_b[3 * j + 2]
        )  # fmt: skip
        corner[k, m], corner[k, A + m], corner[k, B + m] = b - a, a, b


@kernel
def support_along(points, first, near, pose, x, y, z, start):
    """The vertex that lies farthest along the world direction (x, y, z); `start` is a guess."""
    return farthest_point(
        points, first, near,
        (pose[0, 0] * x + pose[1, 0] * y) + pose[2, 0] * z,
        (pose[0, 1] * x + pose[1, 1] * y) + pose[2, 1] * z,
        (pose[0, 2] * x + pose[1, 2] * y) + pose[2, 2] * z,
        start,
    )  # fmt: skip


@kernel
def is_in_simplex(corner, count):
    """Whether the difference in corner `count` is already one of those before it."""
    for k in range(count):
        if corner[k, 0] == corner[count, 0] and corner[k, 1] == corner[count, 1] and corner[k, 2] == corner[count, 2]:
            return True
    return False


@kernel
def search_plane(
    points_a, first_a, near_a, pose_a, points_b, first_b, near_b, pose_b, i, j, count, wanted, share, rounding, corner, vertex,
    weight, found,
):  # fmt: skip
    """Find a plane that separates two hulls by more than `wanted`, or that none does.

    Returns (APART | MEET | INSIDE | UNDECIDED, corners of the simplex, steps, last support of A, of B). It ends when a plane has a
    gap above `wanted` that is at least `share` of the distance, or when the distance is known within `rounding` (a `share` of 1
    always asks for the latter), or when rounding lets it get no nearer. MEET: they are at most 2 `wanted` apart. UNDECIDED: the
    upper bound is above that, and no plane was found. `points` (3n,) are local, `pose` (4,4); `i`, `j` are guesses for supports.
    `vertex` (4,2) has the first `count` corners of a simplex to begin with, as the last search left it; `found` (FOUND,) holds a
    direction to begin with where there is none. Then it has the best normal (unit, from A to B), its gap (`LOWER`, negative where
    the hulls overlap along it), the length of v (`UPPER`) and the closest points. `corner` (4, CORNER) and `weight` (4,) are
    scratch.
    """
    lower, upper = -math.inf, math.inf
    dx, dy, dz = found[0], found[1], found[2]
    if count > 0:
        for k in range(count):
            place_corner(points_a, pose_a, points_b, pose_b, vertex[k, 0], vertex[k, 1], corner, k)
        count = reduce_simplex(corner, vertex, weight, count)
    setbacks, steps, status, turned = 0, 0, APART, False
    while True:
        if count > 0:
            vx, vy, vz = nearest_difference(corner, weight, count)
            v = length(vx, vy, vz)
            if v < upper:
                upper = v
                write_closest_points(corner, weight, count, found)
            else:
                setbacks += 1
            if count == 4:
                status, upper = INSIDE, 0.0
                break
            dx, dy, dz = next_direction(corner, count, vx, vy, vz)
            if turned:
                dx, dy, dz = -dx, -dy, -dz
        size = length(dx, dy, dz)
        if size == 0.0 or steps == MOST_STEPS or setbacks == MOST_SETBACKS:
            break
        steps += 1
        dx, dy, dz = dx / size, dy / size, dz / size
        i = support_along(points_a, first_a, near_a, pose_a, dx, dy, dz, i)
        j = support_along(points_b, first_b, near_b, pose_b, -dx, -dy, -dz, j)
        place_corner(points_a, pose_a, points_b, pose_b, i, j, corner, count)
        gap = dot(dx, dy, dz, corner[count, 0], corner[count, 1], corner[count, 2])
        if gap > lower:
            lower = gap
            found[NORMAL], found[NORMAL + 1], found[NORMAL + 2] = dx, dy, dz
        if upper <= rounding and lower < -rounding and count == 3 and not turned:
            turned = True  # the origin is on the triangle, and which side of it is outside the sign of v does not tell
            continue
        if upper <= rounding or (lower > wanted and lower >= share * upper) or upper - lower <= rounding:
            break
        if is_in_simplex(corner, count):
            break
        vertex[count, 0], vertex[count, 1] = i, j
        count = reduce_simplex(corner, vertex, weight, count + 1)
    # What rounding left open is decided by the upper bound, the distance of two points that are there, where that is low enough.
    if status != INSIDE and (upper <= wanted or lower <= wanted):
        status = MEET if upper <= 2.0 * wanted else UNDECIDED
    found[LOWER], found[UPPER] = lower, upper
    return status, count, steps, i, j


def hull_distance(points_a, points_b, pose_a=None, pose_b=None):
    """Return the distance of two convex hulls, with closest points and the error of the distance.

    Parameters
    ----------
    points_a, points_b : (n, 3) float64
        Points in general; their hulls are meant.
    pose_a, pose_b : (4, 4), optional
        Body to world.

    Returns
    -------
    distance : float
        0.0 where the hulls were seen to share a point, within rounding. Hulls that do may have a distance all the same, with an
        error as large as it: an answer is only as good as its error says.
    point_a, point_b : (3,) float64
        World coordinates; a common point where the distance is 0.
    error : float
        The distance exceeds the truth by no more than this (and rounding, `ROUNDING` of the largest coordinate).
    """
    pose_a, pose_b = (np.eye(4) if pose is None else np.asarray(pose, np.float64) for pose in (pose_a, pose_b))
    world = [np.abs(np.asarray(p) @ pose[:3, :3].T + pose[:3, 3]).max() for p, pose in ((points_a, pose_a), (points_b, pose_b))]
    a, b = welded_points(points_a), welded_points(points_b)
    none = read_only_view(np.empty(0, np.int32))
    found = np.zeros(FOUND)
    found[0] = 1.0
    rounding = ROUNDING * float(world[0] + world[1])
    search_plane(
        a, none, none, read_only_view(pose_a), b, none, none, read_only_view(pose_b), 0, 0, 0, rounding, 1.0, rounding,
        np.empty((4, CORNER)), np.empty((4, 2), np.int64), np.empty(4), found,
    )  # fmt: skip
    return closest_points(found, rounding)


def closest_points(found, rounding):
    """Return (distance, point_a, point_b, error) of what a search found; within rounding the two points become one."""
    point_a, point_b = found[POINT_A : POINT_A + 3].copy(), found[POINT_B : POINT_B + 3].copy()
    distance, lower = float(found[UPPER]), float(found[LOWER])
    if distance <= rounding:
        middle = 0.5 * (point_a + point_b)
        return 0.0, middle, middle.copy(), 0.0
    return distance, point_a, point_b, distance - max(lower, 0.0)
