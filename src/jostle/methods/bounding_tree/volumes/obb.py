"""The smallest enclosing oriented box of a set of faces (§3), with respect to the measure that is asked for.

No exact method is quick enough for thousands of sets, so several orientations compete: the eigenvectors of the covariance of
the faces (Gottschalk, Lin and Manocha 1996), those of the covariance of the points, the coordinate axes, and a triangle of far
points (as in Larsson and Källberg, "Fast computation of tight-fitting oriented bounding boxes", 2011). Each is
improved by turning the box about each of its axes in turn to the smallest rectangle around the projected points, which lies
along an edge of their hull.

Sets of more than 26 points are first represented by 26 of them, the extreme ones in 13 directions of a frame in which the
points are about as wide in all directions; the finalists are then measured on all points. With the Hausdorff measure the box is
chosen by volume. Guarantee: every point is in the box, up to rounding; how near it is to the smallest box is measured by the
tests.
"""

import math

import numpy as np

from jostle.kernels.jit import kernel
from jostle.methods.bounding_tree.tree import AXES
from jostle.methods.bounding_tree.volumes.aabb import fit_in_axes, lengths_along
from jostle.methods.bounding_tree.volumes.quality import box_measure

FEW = 26
ROUNDS = 4  # of turns about three axes, at most
FLAT, REACH = 3, 5  # columns of the few
NUMBERS = 3 * FEW + 2
LEAST_GAIN = 1e-9  # of the measure, that a turn must bring to count
FACES, POINTS, COORDINATES, TRIANGLE = range(4)  # frames, followed by the same four improved
TURNED, COVARIANCE = 8, 9
FRAMES = 10


@kernel
def fit_obb(points, n, xx, xy, xz, yy, yz, zz, quality, few, numbers, frames, volume):
    """Write centre, half extents and axes of a small box of the first n >= 1 of points (.,3) to volume (16,).

    xx … zz: second moments of the faces about their centre, of any scale; zeros leave them out. Scratch: few (26,6) holds the
    points that stand for all, the same projected, and how far they reach; numbers (80,) those of a hull's corners and of
    sorted points; frames (10,9) three axes each, row after row.
    """
    for k in range(9):
        frames[COORDINATES, k] = 1.0 if k % 4 == 0 else 0.0
    for into in range(FACES, POINTS + 1):
        if into == POINTS:
            xx, xy, xz, yy, yz, zz = _moments_of_points(points, n)
        eigenvectors(xx, xy, xz, yy, yz, zz, frames, into)
    count = _represent(points, n, few, numbers, frames[POINTS])
    _far_triangle(few, count, frames)
    for frame in range(4):
        for k in range(9):
            frames[4 + frame, k] = frames[frame, k]
        _turn_to_smallest(few, count, quality, numbers, frames, 4 + frame)
    best, least = 4, math.inf
    for candidate in range(4 if n <= FEW else 0, 8):  # where the few are all, what was improved is better
        measure = _measure_in(points, n, frames, candidate, quality)
        if measure < least:
            best, least = candidate, measure
    a = frames[best]
    _write_frame(volume[AXES : AXES + 9], a[0], a[1], a[2], a[3], a[4], a[5])
    fit_in_axes(points, n, volume)


@kernel
def _moments_of_points(points, n):
    """Second moments xx, xy, xz, yy, yz, zz of the first n points about their mean."""
    x, y, z = 0.0, 0.0, 0.0
    for i in range(n):
        x, y, z = x + points[i, 0], y + points[i, 1], z + points[i, 2]
    x, y, z = x / n, y / n, z / n
    xx, xy, xz, yy, yz, zz = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    for i in range(n):
        dx, dy, dz = points[i, 0] - x, points[i, 1] - y, points[i, 2] - z
        xx, xy, xz = xx + dx * dx, xy + dx * dy, xz + dx * dz
        yy, yz, zz = yy + dy * dy, yz + dy * dz, zz + dz * dz
    return xx, xy, xz, yy, yz, zz


@kernel
def eigenvectors(xx, xy, xz, yy, yz, zz, frames, into):
    """Write the unit eigenvectors of a symmetric matrix, by Jacobi's rotations, as rows to frames[into]; the unit matrix for 0."""
    for k in range(9):
        frames[into, k] = 1.0 if k % 4 == 0 else 0.0
    trace = (xx + yy) + zz
    if not trace > 0.0:
        return
    a = frames[COVARIANCE]
    a[0], a[1], a[2], a[4], a[5], a[8] = xx / trace, xy / trace, xz / trace, yy / trace, yz / trace, zz / trace
    a[3], a[6], a[7] = a[1], a[2], a[5]
    for _ in range(12):  # sweeps; it converges quadratically: 4 to 6 are enough
        if abs(a[1]) + abs(a[2]) + abs(a[5]) < 1e-18:
            break
        for p in range(2):
            for q in range(p + 1, 3):
                off = a[3 * p + q]
                if off == 0.0:
                    continue
                half = 0.5 * (a[4 * q] - a[4 * p]) / off
                t = 1.0 / (abs(half) + math.sqrt(half * half + 1.0))
                if half < 0.0:
                    t = -t
                c = 1.0 / math.sqrt(t * t + 1.0)
                s = t * c
                r = 3 - p - q
                a[4 * p] -= t * off
                a[4 * q] += t * off
                rp, rq = a[3 * r + p], a[3 * r + q]
                a[3 * r + p] = a[3 * p + r] = c * rp - s * rq
                a[3 * r + q] = a[3 * q + r] = s * rp + c * rq
                a[3 * p + q] = a[3 * q + p] = 0.0
                for k in range(3):
                    vp, vq = frames[into, 3 * p + k], frames[into, 3 * q + k]
                    frames[into, 3 * p + k], frames[into, 3 * q + k] = c * vp - s * vq, s * vp + c * vq


@kernel
def _represent(points, n, few, numbers, axes):
    """Write the extreme points in 13 directions, each once, to few; returns how many. All where there are few."""
    if n <= FEW:
        for i in range(n):
            for k in range(3):
                few[i, k] = points[i, k]
        return n
    # One unit along each axis: the extent of the points, or a share of the longest where that is rounding.
    longest = 0.0
    ex, ey, ez = 0.0, 0.0, 0.0
    for k in range(3):
        low, high = lengths_along(points, n, axes[3 * k], axes[3 * k + 1], axes[3 * k + 2])
        longest = max(longest, high - low)
        if k == 0:
            ex = high - low
        elif k == 1:
            ey = high - low
        else:
            ez = high - low
    if not longest > 0.0:
        longest = 1.0
    sx, sy, sz = 1.0 / max(ex, 1e-12 * longest), 1.0 / max(ey, 1e-12 * longest), 1.0 / max(ez, 1e-12 * longest)
    return _extremes(points, n, axes, sx, sy, sz, few, numbers)


@kernel
def _extremes(points, n, axes, sx, sy, sz, few, extreme):
    """Write the points that are extreme along the 13 directions from the centre of a cube to its corners, edges and sides."""
    for d in range(13):
        extreme[d], few[d, REACH] = 0, math.inf
        extreme[13 + d], few[13 + d, REACH] = 0, -math.inf
    for i in range(n):
        px, py, pz = points[i, 0], points[i, 1], points[i, 2]
        x = sx * ((axes[0] * px + axes[1] * py) + axes[2] * pz)
        y = sy * ((axes[3] * px + axes[4] * py) + axes[5] * pz)
        z = sz * ((axes[6] * px + axes[7] * py) + axes[8] * pz)
        for d in range(13):
            if d < 3:
                value = x if d == 0 else (y if d == 1 else z)
            elif d < 7:
                value = x + (y if d & 1 else -y) + (z if d < 5 else -z)
            elif d < 9:
                value = x + (y if d & 1 else -y)
            elif d < 11:
                value = y + (z if d & 1 else -z)
            else:
                value = z + (x if d & 1 else -x)
            if value < few[d, REACH]:
                extreme[d], few[d, REACH] = i, value
            if value > few[13 + d, REACH]:
                extreme[13 + d], few[13 + d, REACH] = i, value
    count = 0
    for d in range(26):
        known = False
        for k in range(count):
            known = known or extreme[k] == extreme[d]
        if not known:
            extreme[count] = extreme[d]
            for k in range(3):
                few[count, k] = points[extreme[d], k]
            count += 1
    return count


@kernel
def _far_triangle(few, n, frames):
    """Write the frame of a triangle of three points far apart: its longest side first, then across it in its plane."""
    for k in range(9):
        frames[TRIANGLE, k] = frames[COORDINATES, k]
    far, p, q = 0.0, 0, 0
    for i in range(n):
        for j in range(i):
            x, y, z = few[i, 0] - few[j, 0], few[i, 1] - few[j, 1], few[i, 2] - few[j, 2]
            squared = (x * x + y * y) + z * z
            if squared > far:
                far, p, q = squared, j, i
    if not far > 0.0:
        return
    along = 1.0 / math.sqrt(far)
    ux, uy, uz = along * (few[q, 0] - few[p, 0]), along * (few[q, 1] - few[p, 1]), along * (few[q, 2] - few[p, 2])
    highest, hx, hy, hz = 0.0, 0.0, 0.0, 0.0
    for i in range(n):
        x, y, z = few[i, 0] - few[p, 0], few[i, 1] - few[p, 1], few[i, 2] - few[p, 2]
        foot = (ux * x + uy * y) + uz * z
        x, y, z = x - foot * ux, y - foot * uy, z - foot * uz
        squared = (x * x + y * y) + z * z
        if squared > highest:
            highest, hx, hy, hz = squared, x, y, z
    if highest <= 1e-24 * far:  # all on one line: any direction across it
        hx, hy, hz = 0.0, 0.0, 0.0
        if abs(ux) <= abs(uy) and abs(ux) <= abs(uz):
            hx = 1.0
        elif abs(uy) <= abs(uz):
            hy = 1.0
        else:
            hz = 1.0
    _write_frame(frames[TRIANGLE], ux, uy, uz, hx, hy, hz)


@kernel
def _write_frame(axes, ux, uy, uz, vx, vy, vz):
    """Write to axes (9,) an orthonormal frame whose first axis is u and whose second is v as far as it is across u."""
    scale = 1.0 / math.sqrt((ux * ux + uy * uy) + uz * uz)
    ux, uy, uz = scale * ux, scale * uy, scale * uz
    for _ in range(2):  # twice is enough
        foot = (ux * vx + uy * vy) + uz * vz
        vx, vy, vz = vx - foot * ux, vy - foot * uy, vz - foot * uz
        scale = 1.0 / math.sqrt((vx * vx + vy * vy) + vz * vz)
        vx, vy, vz = scale * vx, scale * vy, scale * vz
    axes[0], axes[1], axes[2] = ux, uy, uz
    axes[3], axes[4], axes[5] = vx, vy, vz
    axes[6], axes[7], axes[8] = uy * vz - uz * vy, uz * vx - ux * vz, ux * vy - uy * vx


@kernel
def _measure_in(points, n, frames, frame, quality):
    """Measure of the box of the first n points in the axes of a frame."""
    a = frames[frame]
    x, y, z = 0.0, 0.0, 0.0
    for k in range(3):
        low, high = lengths_along(points, n, a[3 * k], a[3 * k + 1], a[3 * k + 2])
        x, y, z = y, z, high - low
    return box_measure(x, y, z, quality)


@kernel
def _turn_to_smallest(few, n, quality, numbers, frames, frame):
    """Turn a frame about its axes, one after the other, as long as the box of the few gets smaller."""
    least = _measure_in(few, n, frames, frame, quality)
    idle = 0
    for turn in range(3 * ROUNDS):
        _turn_about(turn % 3, few, n, quality, numbers, frames, frame)
        measure = _measure_in(few, n, frames, np.int64(TURNED), quality)
        idle += 1
        if measure < least * (1.0 - LEAST_GAIN):
            least, idle = measure, 0
            for k in range(9):
                frames[frame, k] = frames[TURNED, k]
        if idle == 3:
            break


@kernel
def _turn_about(axis, few, n, quality, hull, frames, frame):
    """Write to TURNED the frame, turned about an axis to the smallest box of the few: along an edge of their shadow's hull."""
    n0, u0, v0 = 3 * axis, 3 * ((axis + 1) % 3), 3 * ((axis + 2) % 3)
    nx, ny, nz = frames[frame, n0], frames[frame, n0 + 1], frames[frame, n0 + 2]
    ux, uy, uz = frames[frame, u0], frames[frame, u0 + 1], frames[frame, u0 + 2]
    vx, vy, vz = frames[frame, v0], frames[frame, v0 + 1], frames[frame, v0 + 2]
    for i in range(n):
        few[i, FLAT] = (ux * few[i, 0] + uy * few[i, 1]) + uz * few[i, 2]
        few[i, FLAT + 1] = (vx * few[i, 0] + vy * few[i, 1]) + vz * few[i, 2]
    low, high = lengths_along(few, n, nx, ny, nz)
    height = high - low
    corners = _hull_in_plane(few, n, hull)
    cos, sin, least = 1.0, 0.0, math.inf
    for e in range(corners):
        p, q = hull[e], hull[e + 1 if e + 1 < corners else 0]
        x, y = few[q, FLAT] - few[p, FLAT], few[q, FLAT + 1] - few[p, FLAT + 1]
        along = math.sqrt(x * x + y * y)
        if not along > 0.0:
            continue
        x, y = x / along, y / along
        low_x, high_x, low_y, high_y = math.inf, -math.inf, math.inf, -math.inf
        for h in range(corners):
            i = hull[h]
            s, t = x * few[i, FLAT] + y * few[i, FLAT + 1], x * few[i, FLAT + 1] - y * few[i, FLAT]
            low_x, high_x, low_y, high_y = min(low_x, s), max(high_x, s), min(low_y, t), max(high_y, t)
        measure = box_measure(high_x - low_x, high_y - low_y, height, quality)
        if measure < least:
            cos, sin, least = x, y, measure
    frames[TURNED, n0], frames[TURNED, n0 + 1], frames[TURNED, n0 + 2] = nx, ny, nz
    frames[TURNED, u0], frames[TURNED, u0 + 1], frames[TURNED, u0 + 2] = (
        cos * ux + sin * vx,
        cos * uy + sin * vy,
        cos * uz + sin * vz,
    )
    frames[TURNED, v0], frames[TURNED, v0 + 1], frames[TURNED, v0 + 2] = (
        cos * vx - sin * ux,
        cos * vy - sin * uy,
        cos * vz - sin * uz,
    )


@kernel
def _hull_in_plane(few, n, hull):
    """Write the numbers of the corners of the convex hull of n projected points; returns how many (Andrew's monotone chain)."""
    order = hull[2 * FEW + 2 :]
    for i in range(n):
        k = i
        while k > 0:
            p = order[k - 1]
            if few[p, FLAT] < few[i, FLAT] or (few[p, FLAT] == few[i, FLAT] and few[p, FLAT + 1] <= few[i, FLAT + 1]):
                break
            order[k] = p
            k -= 1
        order[k] = i
    size = 0
    for side in range(2):
        floor = size + 1
        for step in range(n):
            p = order[step] if side == 0 else order[n - 1 - step]
            while size > floor and _turns_right(few, hull[size - 2], hull[size - 1], p):
                size -= 1
            hull[size] = p
            size += 1
        size -= 1  # the last point of a side is the first of the other
    return max(size, 1)


@kernel(forceinline=True)
def _turns_right(few, p, q, r):
    """Whether the way p, q, r does not turn left, projected."""
    ax, ay = few[q, FLAT] - few[p, FLAT], few[q, FLAT + 1] - few[p, FLAT + 1]
    bx, by = few[r, FLAT] - few[p, FLAT], few[r, FLAT + 1] - few[p, FLAT + 1]
    return ax * by - ay * bx <= 0.0
