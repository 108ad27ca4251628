"""The smallest enclosing oriented box of a set of faces (§3), by a given measure.

No exact method is quick enough for thousands of sets, so several orientations compete: the eigenvectors of the covariance of
the faces (Gottschalk, Lin and Manocha 1996), those of the covariance of the points, the coordinate axes, and a triangle of far
points (as in Larsson and Källberg, "Fast computation of tight-fitting oriented bounding boxes", 2011). Each is
improved by turning the box about each of its axes in turn to the smallest rectangle around the projected points, which lies
along an edge of their hull.

Sets of more than 26 points are first represented by 26 of them, the extreme ones in 13 directions of a frame in which the
points are about as wide in all directions; the finalists are then measured on all points. With the Hausdorff measure the box is
chosen by volume. Guarantee: every point is in the box, up to rounding; tests measure how near it is to the smallest box.
"""

from __future__ import annotations

import math

from jostle.geometry.eigenvectors import Matrix, Moments, eigenvectors
from jostle.geometry.vector import Vec3, coordinate, cross, divided, dot, length, minus, plus, point_from, times, write_point_from
from jostle.kernels.jit import kernel
from jostle.kernels.structs import Rows
from jostle.methods.bounding_tree.axes import COORDINATE_AXES, Axes, along, write_axes
from jostle.methods.bounding_tree.face_sets import FEW, FlatPoint, SetWork, point_of
from jostle.methods.bounding_tree.tree import Point, Volume
from jostle.methods.bounding_tree.volumes.aabb import extent_along, fit_in_axes
from jostle.methods.bounding_tree.volumes.quality import box_measure

ROUNDS = 4  # of turns about three axes, at most
LEAST_GAIN = 1e-9  # of the measure, that a turn must bring to count
FACES, POINTS, COORDINATES, TRIANGLE = range(4)  # frames, followed by the same four improved
IMPROVED, LAST = 4, 8
TURNED, COVARIANCE = 8, 9
DIRECTIONS = 13  # from the centre of a cube to its sides, corners and edges


@kernel
def fit_obb(work: SetWork, n: int, moments: Moments, quality: int, volume: Volume) -> None:
    """Write centre, half extents and axes of a small box of the first n >= 1 points.

    moments: those of the faces about their centre, of any scale; zeros leave them out.
    """
    frames = work.frames
    write_matrix(frames[COORDINATES], COORDINATE_AXES)
    for into in range(FACES, POINTS + 1):
        if into == POINTS:
            moments = _moments_of_points(work.points, n)
        eigenvectors(moments, frames[COVARIANCE], frames[into])
    count = _represent(work, n, axes_in(frames[POINTS]))
    write_matrix(frames[TRIANGLE], _far_triangle(work.few, count))
    for frame in range(IMPROVED):
        write_matrix(frames[IMPROVED + frame], axes_in(frames[frame]))
        _turn_to_smallest(work, count, quality, IMPROVED + frame)
    best, least = IMPROVED, math.inf
    for candidate in range(IMPROVED if n <= FEW else 0, LAST):  # where the few are all, the improved ones are better
        measure = _measure_in(work.points, n, axes_in(frames[candidate]), quality)
        if measure < least:
            best, least = candidate, measure
    axes = axes_in(frames[best])
    write_axes(volume, _orthonormal(axes.u, axes.v))
    fit_in_axes(work.points, n, volume)


@kernel(forceinline=True)
def axes_in(matrix: Matrix) -> Axes:
    """Return the rows of a matrix."""
    return Axes(point_from(matrix.rows, 0), point_from(matrix.rows, 3), point_from(matrix.rows, 6))


@kernel(forceinline=True)
def write_matrix(matrix: Matrix, axes: Axes) -> None:
    """Write the rows of a matrix."""
    write_point_from(matrix.rows, 0, axes.u)
    write_point_from(matrix.rows, 3, axes.v)
    write_point_from(matrix.rows, 6, axes.w)


@kernel
def _moments_of_points(points: Rows[Point], n: int) -> Moments:
    """Return the second moments of the first n points about their mean."""
    total = Vec3(0.0, 0.0, 0.0)
    for i in range(n):
        total = plus(total, point_of(points, i))
    mean = divided(total, n)
    xx, xy, xz, yy, yz, zz = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    for i in range(n):
        d = minus(point_of(points, i), mean)
        xx, xy, xz = xx + d.x * d.x, xy + d.x * d.y, xz + d.x * d.z
        yy, yz, zz = yy + d.y * d.y, yz + d.y * d.z, zz + d.z * d.z
    return Moments(xx, xy, xz, yy, yz, zz)


@kernel
def _represent(work: SetWork, n: int, axes: Axes) -> int:
    """Write the extreme points in 13 directions, or all if few; return their number."""
    if n <= FEW:
        for i in range(n):
            write_point_from(work.few[i].at, 0, point_of(work.points, i))
        return n
    # One unit along each axis: the extent of the points, or a share of the longest where that is rounding.
    extents = _extents_in(work.points, n, axes)
    longest = max(extents.x, extents.y, extents.z)
    if not longest > 0.0:
        longest = 1.0
    least = 1e-12 * longest
    _find_extremes(work, n, axes, Vec3(1.0 / max(extents.x, least), 1.0 / max(extents.y, least), 1.0 / max(extents.z, least)))
    return _take_extremes(work)


@kernel
def _extents_in(points: Rows[Point], n: int, axes: Axes) -> Vec3:
    """Return the extents of the first n points along three axes."""
    x, y, z = extent_along(points, n, axes.u), extent_along(points, n, axes.v), extent_along(points, n, axes.w)
    return Vec3(x.high - x.low, y.high - y.low, z.high - z.low)


@kernel
def _find_extremes(work: SetWork, n: int, axes: Axes, scale: Vec3) -> None:
    """Write the numbers of the extreme points, scaled, in 13 directions and back."""
    extreme, reach = work.extreme, work.reach
    for d in range(DIRECTIONS):
        extreme[d], reach[d] = 0, math.inf
        extreme[DIRECTIONS + d], reach[DIRECTIONS + d] = 0, -math.inf
    for i in range(n):
        p = along(axes, point_of(work.points, i))
        p = Vec3(scale.x * p.x, scale.y * p.y, scale.z * p.z)
        for d in range(DIRECTIONS):
            value = _value_in_direction(p, d)
            if value < reach[d]:
                extreme[d], reach[d] = i, value
            if value > reach[DIRECTIONS + d]:
                extreme[DIRECTIONS + d], reach[DIRECTIONS + d] = i, value


@kernel(forceinline=True)
def _value_in_direction(p: Vec3, d: int) -> float:
    """Return p along a direction: to a side, a corner or an edge of a cube."""
    if d < 3:
        return coordinate(p, d)
    if d < 7:
        return p.x + (p.y if d & 1 else -p.y) + (p.z if d < 5 else -p.z)
    if d < 9:
        return p.x + (p.y if d & 1 else -p.y)
    if d < 11:
        return p.y + (p.z if d & 1 else -p.z)
    return p.z + (p.x if d & 1 else -p.x)


@kernel
def _take_extremes(work: SetWork) -> int:
    """Write the extreme points to the few, each once; return their number."""
    extreme, count = work.extreme, 0
    for d in range(2 * DIRECTIONS):
        known = False
        for k in range(count):
            known = known or extreme[k] == extreme[d]
        if not known:
            extreme[count] = extreme[d]
            write_point_from(work.few[count].at, 0, point_of(work.points, extreme[d]))
            count += 1
    return count


@kernel
def _far_triangle(few: Rows[Point], n: int) -> Axes:
    """Return the frame of a large triangle: its longest side, then across it."""
    far, p, q = 0.0, 0, 0
    for i in range(n):
        for j in range(i):
            d = minus(point_of(few, i), point_of(few, j))
            squared = dot(d, d)
            if squared > far:
                far, p, q = squared, j, i
    if not far > 0.0:
        return COORDINATE_AXES
    u = times(1.0 / math.sqrt(far), minus(point_of(few, q), point_of(few, p)))
    highest, height = 0.0, Vec3(0.0, 0.0, 0.0)
    for i in range(n):
        d = minus(point_of(few, i), point_of(few, p))
        d = minus(d, times(dot(u, d), u))
        squared = dot(d, d)
        if squared > highest:
            highest, height = squared, d
    if highest <= 1e-24 * far:  # all on one line: any direction across it
        height = _most_across(u)
    return _orthonormal(u, height)


@kernel
def _most_across(u: Vec3) -> Vec3:
    """Return the coordinate axis along which u is shortest."""
    if abs(u.x) <= abs(u.y) and abs(u.x) <= abs(u.z):
        return Vec3(1.0, 0.0, 0.0)
    return Vec3(0.0, 1.0, 0.0) if abs(u.y) <= abs(u.z) else Vec3(0.0, 0.0, 1.0)


@kernel
def _orthonormal(u: Vec3, v: Vec3) -> Axes:
    """Return an orthonormal frame: u first, then v as far as it is across u."""
    u = times(1.0 / length(u), u)
    for _ in range(2):  # twice is enough
        v = minus(v, times(dot(u, v), u))
        v = times(1.0 / length(v), v)
    return Axes(u, v, cross(u, v))


@kernel
def _measure_in(points: Rows[Point], n: int, axes: Axes, quality: int) -> float:
    """Return the measure of the box of the first n points in given axes."""
    return box_measure(_extents_in(points, n, axes), quality)


@kernel
def _turn_to_smallest(work: SetWork, n: int, quality: int, frame: int) -> None:
    """Turn a frame about its axes in turn, as long as the box of the few gets smaller."""
    least = _measure_in(work.few, n, axes_in(work.frames[frame]), quality)
    idle = 0
    for turn in range(3 * ROUNDS):
        _turn_about(work, turn % 3, n, quality, work.frames[frame])
        turned = axes_in(work.frames[TURNED])
        measure = _measure_in(work.few, n, turned, quality)
        idle += 1
        if measure < least * (1.0 - LEAST_GAIN):
            least, idle = measure, 0
            write_matrix(work.frames[frame], turned)
        if idle == 3:
            break


@kernel
def _turn_about(work: SetWork, axis: int, n: int, quality: int, frame: Matrix) -> None:
    """Write to TURNED a frame turned about an axis to the smallest box of the few.

    That box lies along an edge of their hull, seen along the axis.
    """
    next_axis, last_axis = (axis + 1) % 3, (axis + 2) % 3
    normal, u, v = point_from(frame.rows, 3 * axis), point_from(frame.rows, 3 * next_axis), point_from(frame.rows, 3 * last_axis)
    for i in range(n):
        p, shadow = point_of(work.few, i), work.flat[i]
        shadow.x, shadow.y = dot(u, p), dot(v, p)
    height = extent_along(work.few, n, normal)
    cos, sin = _smallest_rectangle(work, _hull_in_plane(work, n), height.high - height.low, quality)
    out = work.frames[TURNED].rows
    write_point_from(out, 3 * axis, normal)
    write_point_from(out, 3 * next_axis, plus(times(cos, u), times(sin, v)))
    write_point_from(out, 3 * last_axis, minus(times(cos, v), times(sin, u)))


@kernel
def _smallest_rectangle(work: SetWork, corners: int, height: float, quality: int) -> tuple[float, float]:
    """Return the direction of the hull's edge along which the box is smallest."""
    hull, flat = work.hull, work.flat
    cos, sin, least = 1.0, 0.0, math.inf
    for e in range(corners):
        p, q = flat[hull[e]], flat[hull[e + 1 if e + 1 < corners else 0]]
        x, y = q.x - p.x, q.y - p.y
        edge = math.sqrt(x * x + y * y)
        if not edge > 0.0:
            continue
        x, y = x / edge, y / edge
        low_x, high_x, low_y, high_y = math.inf, -math.inf, math.inf, -math.inf
        for h in range(corners):
            r = flat[hull[h]]
            s, t = x * r.x + y * r.y, x * r.y - y * r.x
            low_x, high_x, low_y, high_y = min(low_x, s), max(high_x, s), min(low_y, t), max(high_y, t)
        measure = box_measure(Vec3(high_x - low_x, high_y - low_y, height), quality)
        if measure < least:
            cos, sin, least = x, y, measure
    return cos, sin


@kernel
def _hull_in_plane(work: SetWork, n: int) -> int:
    """Write the corners of the convex hull of n projected points; return their number.

    Andrew's monotone chain.
    """
    _sort_projected(work, n)
    hull, ordered, flat = work.hull, work.ordered, work.flat
    size = 0
    for side in range(2):
        floor = size + 1
        for step in range(n):
            p = ordered[step] if side == 0 else ordered[n - 1 - step]
            while size > floor and _turns_right(flat[hull[size - 2]], flat[hull[size - 1]], flat[p]):
                size -= 1
            hull[size] = p
            size += 1
        size -= 1  # the last point of a side is the first of the other
    return max(size, 1)


@kernel
def _sort_projected(work: SetWork, n: int) -> None:
    """Write the numbers of n projected points in the order of x, then y.

    An order, which leaves the few points where they are: `kernels/sort.py` would move them.
    """
    ordered, flat = work.ordered, work.flat
    for i in range(n):
        k = i
        while k > 0:
            p = ordered[k - 1]
            if flat[p].x < flat[i].x or (flat[p].x == flat[i].x and flat[p].y <= flat[i].y):
                break
            ordered[k] = p
            k -= 1
        ordered[k] = i


@kernel(forceinline=True)
def _turns_right(p: FlatPoint, q: FlatPoint, r: FlatPoint) -> bool:
    """Return whether the path p, q, r does not turn left."""
    return (q.x - p.x) * (r.y - p.y) - (q.y - p.y) * (r.x - p.x) <= 0.0
