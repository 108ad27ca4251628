"""The distance of two convex hulls, after Gilbert, Johnson and Keerthi (1988).

With y = b - a for points a of A and b of B, the distance is the least |y|. A simplex of up to four such differences walks towards
it: its point v nearest to the origin bounds the distance from above, and the *support* along v (the farthest point of each hull
along a direction, found by `support.py`) bounds it from below, whatever the direction is and however v was rounded. Both bounds
are kept, so an answer states its own error, upper - lower; a direction with a gap gives a separating plane. Rounding can keep the
bounds apart: then the search returns UNDECIDED, and its caller must settle the pair by other means.

Deviations from the paper, all for robustness: the nearest point of a simplex is the best of explicit convex combinations, not a
solution of Johnson's determinants; a triangle gives its own normal as the next direction, since v divided by its length loses
all digits between large faces that are almost in contact; a tetrahedron holds the origin only where all signs are beyond rounding.
The search ends after `MOST_STEPS` in any case. Measured on hulls of every shape, including flat ones and needles, 1e-10 of their
size apart or more, at scales 1e-3 … 1e4: both bounds are within 1.2e-15 of the largest coordinate, a third of `ROUNDING`. One in
10,000 searches is undecided for overlapping hulls with extents of 1e-3 … 1e5, and one in ten for lumps of 0.02 in needles 1e5 long.
"""

from __future__ import annotations

import math
from typing import Literal, NamedTuple

import numpy as np

from jostle._types import Floats
from jostle.geometry.rigid import RigidPose, pose_at, turned_back, world_point
from jostle.geometry.support import Hull, farthest_point, welded_points
from jostle.geometry.vector import Vec3, cross, dot, length, minus, negative, plus, point_from, same_point, times, write_point_from
from jostle.kernels.handles import AddressTable
from jostle.kernels.jit import kernel
from jostle.kernels.structs import Addresses, One, Record, Rows, Run, Struct, float64, int64, opener, row_opener

# A plane separates; the upper bound is as low as wanted; a tetrahedron holds the origin; the search gave up between its bounds.
APART, MEET, INSIDE, UNDECIDED = 0, 1, 2, 3
MOST_STEPS = 256
MOST_SETBACKS = 8  # steps that bring v no nearer, by rounding, before the search gives up
ROUNDING = 2.0**-48  # error of the bounds, relative to the largest world coordinates of both
NOISE = 2.0**-47  # of the product of the lengths in a determinant: below it a sign means nothing
ON_THE_SIDE = 2.0**-40  # a weight this far below 0 keeps the triangle, and so its normal


class PlacedHull(NamedTuple):
    """A hull at a pose."""

    hull: Hull
    pose: RigidPose


class SearchLimits(NamedTuple):
    """When a search may stop.

    At a gap above `wanted` that is at least `share` of the distance, or at the distance within `rounding`.
    """

    wanted: float
    share: float
    rounding: float


class SimplexCorner(Record):
    """A simplex corner: the difference y = b - a of two vertices, and its weight in v."""

    y: Run[float64, Literal[3]]
    a: Run[float64, Literal[3]]
    b: Run[float64, Literal[3]]
    vertex_a: int64
    vertex_b: int64
    weight: float64


class SearchResult(Record):
    """The input and result of a search."""

    normal: Run[float64, Literal[3]]  # the starting direction, then the best unit normal from A to B
    lower: float64  # the gap along it, negative where the hulls overlap
    upper: float64  # the length of v
    point_a: Run[float64, Literal[3]]  # the closest points
    point_b: Run[float64, Literal[3]]
    count: int64  # corners of the simplex, at the start and at the end
    support_a: int64  # guesses for supports, then the last ones
    support_b: int64
    steps: int64


class PlaneSearch(Struct):
    """A search: its simplex and its result."""

    corners: Rows[SimplexCorner]  # (4,); the next difference is tried in the place after the simplex
    found: One[SearchResult]


open_search, open_hull = opener(PlaneSearch), row_opener(Hull)


def empty_search() -> AddressTable:
    """Return a search that starts without a simplex, along x."""
    found = np.zeros(1, SearchResult.dtype)
    found["normal"][0, 0] = 1.0
    return PlaneSearch.table(corners=np.zeros(4, SimplexCorner.dtype), found=found)


def found_by(search: AddressTable) -> np.void:
    """Return the `SearchResult` of a search."""
    found: np.void = search.array(0, 1)[0]
    return found


@kernel(forceinline=True)
def y_of(corner: SimplexCorner) -> Vec3:
    """Return the difference of a corner."""
    return point_from(corner.y, 0)


class Nearest(NamedTuple):
    """The point of a triangle nearest to the origin.

    The corners it needs as bits, their weights, and its squared distance.
    """

    mask: int
    a: float
    b: float
    c: float
    squared: float


@kernel
def nearest_of_segment(a: Vec3, b: Vec3) -> tuple[float, float]:
    """Return the point of ab nearest to the origin: share of b, squared distance."""
    e = minus(b, a)
    squared = dot(e, e)
    if squared == 0.0:
        return 0.0, dot(a, a)
    t = min(max(-dot(a, e) / squared, 0.0), 1.0)
    v = plus(times(1.0 - t, a), times(t, b))
    return t, dot(v, v)


@kernel
def normal_of_triangle(a: Vec3, b: Vec3, c: Vec3) -> tuple[Vec3, float]:
    """Return a normal of the triangle abc by its shorter sides, and their product.

    The product of the side lengths bounds its rounding.
    """
    u, v, w = minus(b, a), minus(c, b), minus(a, c)
    uu, vv, ww = dot(u, u), dot(v, v), dot(w, w)
    if uu >= vv and uu >= ww:
        return cross(v, w), math.sqrt(vv * ww)
    if vv >= ww:
        return cross(w, u), math.sqrt(ww * uu)
    return cross(u, v), math.sqrt(uu * vv)


@kernel
def nearest_of_triangle(a: Vec3, b: Vec3, c: Vec3) -> Nearest:
    """Return the point of the triangle abc nearest to the origin."""
    best = Nearest(0, 0.0, 0.0, 0.0, math.inf)
    normal, product = normal_of_triangle(a, b, c)
    area = dot(normal, normal)
    if area > (NOISE * product) * (NOISE * product):
        # The weight of a corner is the area that the foot of the origin spans with the opposite side.
        fa, fb, fc = dot(normal, cross(b, c)) / area, dot(normal, cross(c, a)) / area, dot(normal, cross(a, b)) / area
        if fa >= -ON_THE_SIDE and fb >= -ON_THE_SIDE and fc >= -ON_THE_SIDE:
            fa, fb, fc = max(fa, 0.0), max(fb, 0.0), max(fc, 0.0)
            total = (fa + fb) + fc
            wa, wb, wc = fa / total, fb / total, fc / total
            v = plus(plus(times(wa, a), times(wb, b)), times(wc, c))
            best = Nearest(7, wa, wb, wc, dot(v, v) * (1.0 - ON_THE_SIDE))
    t, squared = nearest_of_segment(a, b)
    if squared < best.squared:
        best = Nearest(ends_needed(t, 1, 2), 1.0 - t, t, 0.0, squared)
    t, squared = nearest_of_segment(b, c)
    if squared < best.squared:
        best = Nearest(ends_needed(t, 2, 4), 0.0, 1.0 - t, t, squared)
    t, squared = nearest_of_segment(c, a)
    if squared < best.squared:
        best = Nearest(ends_needed(t, 4, 1), t, 0.0, 1.0 - t, squared)
    return best


@kernel(forceinline=True)
def ends_needed(t: float, first: int, second: int) -> int:
    """Return the ends that a point of a segment needs, as bits."""
    return (first if t < 1.0 else 0) | (second if t > 0.0 else 0)


@kernel
def origin_is_behind(a: Vec3, b: Vec3, c: Vec3, d: Vec3) -> tuple[bool, float]:
    """Return whether the origin is on d's side of the plane abc, and d's weight.

    Beyond rounding. The weight is the origin's height over d's.
    """
    u, v, w = minus(b, a), minus(c, a), minus(d, a)
    normal = cross(u, v)
    product = NOISE * length(u) * length(v)
    height, own = dot(normal, w), -dot(normal, a)
    if abs(height) <= product * length(w) or abs(own) <= product * length(a):
        return False, 0.0
    return (height > 0.0) == (own > 0.0), own / height


@kernel
def reduce_tetrahedron(corners: Rows[SimplexCorner]) -> int:
    """Weigh the corners of a tetrahedron for its point nearest to the origin.

    Returns those it needs as bits; 15 where it is the origin itself.
    """
    best, mask, total = math.inf, 15, 0.0
    inside = (0.0, 0.0, 0.0, 0.0)
    for k in range(4):
        i, j, m = (k + 1) & 3, (k + 2) & 3, (k + 3) & 3
        a, b, c = y_of(corners[i]), y_of(corners[j]), y_of(corners[m])
        behind, share = origin_is_behind(a, b, c, y_of(corners[k]))
        if behind:
            total += share
            inside = with_share(inside, k, share)
            continue
        near = nearest_of_triangle(a, b, c)
        if near.squared < best:
            best = near.squared
            corners[i].weight, corners[j].weight, corners[m].weight, corners[k].weight = near.a, near.b, near.c, 0.0
            mask = ((near.mask & 1) << i) | (((near.mask >> 1) & 1) << j) | (((near.mask >> 2) & 1) << m)
    if mask == 15:
        corners[0].weight, corners[1].weight = inside[0] / total, inside[1] / total
        corners[2].weight, corners[3].weight = inside[2] / total, inside[3] / total
    return mask


@kernel(forceinline=True)
def with_share(shares: tuple[float, float, float, float], k: int, share: float) -> tuple[float, float, float, float]:
    """Return four shares with another one in place k."""
    return (
        share if k == 0 else shares[0],
        share if k == 1 else shares[1],
        share if k == 2 else shares[2],
        share if k == 3 else shares[3],
    )


@kernel
def reduce_simplex(corners: Rows[SimplexCorner], count: int) -> int:
    """Keep the corners that the nearest point needs, with weights; return how many.

    4 means that the origin is inside.
    """
    mask = 1
    if count == 1:
        corners[0].weight = 1.0
    elif count == 2:
        t, _ = nearest_of_segment(y_of(corners[0]), y_of(corners[1]))
        corners[0].weight, corners[1].weight = 1.0 - t, t
        mask = ends_needed(t, 1, 2)
    elif count == 3:
        near = nearest_of_triangle(y_of(corners[0]), y_of(corners[1]), y_of(corners[2]))
        corners[0].weight, corners[1].weight, corners[2].weight = near.a, near.b, near.c
        mask = near.mask
    else:
        mask = reduce_tetrahedron(corners)
    kept = 0
    for k in range(count):
        if (mask >> k) & 1:
            if kept != k:
                copy_corner(corners[k], corners[kept])
            kept += 1
    return kept


@kernel(forceinline=True)
def copy_corner(corner: SimplexCorner, to: SimplexCorner) -> None:
    """Copy a corner."""
    for m in range(3):
        to.y[m], to.a[m], to.b[m] = corner.y[m], corner.a[m], corner.b[m]
    to.vertex_a, to.vertex_b, to.weight = corner.vertex_a, corner.vertex_b, corner.weight


@kernel
def nearest_difference(corners: Rows[SimplexCorner], count: int) -> Vec3:
    """Return the point v of a reduced simplex that is nearest to the origin."""
    v = Vec3(0.0, 0.0, 0.0)
    for k in range(count):
        v = plus(v, times(corners[k].weight, y_of(corners[k])))
    return v


@kernel
def write_closest_points(search: PlaneSearch, count: int) -> None:
    """Write the same convex combination of the corners' points on A and on B."""
    for m in range(3):
        on_a, on_b = 0.0, 0.0
        for k in range(count):
            corner = search.corners[k]
            on_a += corner.weight * corner.a[m]
            on_b += corner.weight * corner.b[m]
        search.found.point_a[m], search.found.point_b[m] = on_a, on_b


@kernel
def next_direction(corners: Rows[SimplexCorner], count: int, v: Vec3) -> Vec3:
    """Return the direction to search against for a nearer point.

    The normal of a triangle, else v, made perpendicular to a segment.
    """
    if count == 2:
        e = minus(y_of(corners[1]), y_of(corners[0]))
        return minus(v, times(dot(v, e) / dot(e, e), e))
    if count != 3:
        return v
    normal, product = normal_of_triangle(y_of(corners[0]), y_of(corners[1]), y_of(corners[2]))
    if dot(normal, normal) <= (NOISE * product) * (NOISE * product):
        return v  # never: such a triangle is reduced to a side
    if dot(normal, v) < 0.0:
        return negative(normal)
    return normal


@kernel(forceinline=True)
def place_corner(a: PlacedHull, b: PlacedHull, i: int, j: int, corner: SimplexCorner) -> None:
    """Write the world positions of vertices i of A and j of B, and their difference."""
    on_a = world_point(a.pose, point_from(a.hull.points, 3 * i))
    on_b = world_point(b.pose, point_from(b.hull.points, 3 * j))
    write_point_from(corner.y, 0, minus(on_b, on_a))
    write_point_from(corner.a, 0, on_a)
    write_point_from(corner.b, 0, on_b)
    corner.vertex_a, corner.vertex_b = i, j


@kernel(forceinline=True)
def support_along(placed: PlacedHull, direction: Vec3, start: int) -> int:
    """Return the vertex farthest along a world direction; `start` is a guess."""
    hull = placed.hull
    return farthest_point(hull.points, hull.first, hull.near, turned_back(placed.pose, direction), start)


@kernel
def is_in_simplex(corners: Rows[SimplexCorner], count: int) -> bool:
    """Return whether the difference in corner `count` equals an earlier one."""
    known = False
    for k in range(count):
        known |= same_point(y_of(corners[k]), y_of(corners[count]))
    return known


@kernel
def search_plane(a: PlacedHull, b: PlacedHull, limits: SearchLimits, search: PlaneSearch) -> int:
    """Search for a plane that separates two hulls by more than `wanted`.

    Returns APART, MEET, INSIDE or UNDECIDED. It ends when a plane has a gap above `wanted` that is at least `share` of the
    distance, when the distance is known within `rounding` (a `share` of 1 always requires this), or when rounding stops progress.
    MEET: they are at most twice `wanted` apart. UNDECIDED: the upper bound is above that, and no plane was found. The first
    `found.count` corners are the starting simplex, by their vertices, as the last search left it; without one, `found.normal` is
    the starting direction.
    """
    corners, found, rounding = search.corners, search.found, limits.rounding
    lower, upper, d = -math.inf, math.inf, point_from(found.normal, 0)
    count, i, j = found.count, found.support_a, found.support_b
    if count > 0:
        for k in range(count):
            place_corner(a, b, corners[k].vertex_a, corners[k].vertex_b, corners[k])
        count = reduce_simplex(corners, count)
    setbacks, steps, status, turned = 0, 0, APART, False
    while True:
        if count > 0:
            v = nearest_difference(corners, count)
            if length(v) < upper:
                upper = length(v)
                write_closest_points(search, count)
            else:
                setbacks += 1
            if count == 4:
                status, upper = INSIDE, 0.0
                break
            d = next_direction(corners, count, v)
            if turned:
                d = negative(d)
        size = length(d)
        if size == 0.0 or steps == MOST_STEPS or setbacks == MOST_SETBACKS:
            break
        steps += 1
        d = Vec3(d.x / size, d.y / size, d.z / size)
        i, j = support_along(a, d, i), support_along(b, negative(d), j)
        place_corner(a, b, i, j, corners[count])
        gap = dot(d, y_of(corners[count]))
        if gap > lower:
            lower = gap
            write_point_from(found.normal, 0, d)
        if upper <= rounding and lower < -rounding and count == 3 and not turned:
            turned = True  # the origin is on the triangle, and the sign of v does not tell which side is outside
            continue
        if upper <= rounding or (lower > limits.wanted and lower >= limits.share * upper) or upper - lower <= rounding:
            break
        if is_in_simplex(corners, count):
            break
        count = reduce_simplex(corners, count + 1)
    # Where rounding leaves it open, a low enough upper bound decides: it is the distance of two actual points.
    if status != INSIDE and (upper <= limits.wanted or lower <= limits.wanted):
        status = MEET if upper <= 2.0 * limits.wanted else UNDECIDED
    found.lower, found.upper, found.count, found.steps = lower, upper, count, steps
    found.support_a, found.support_b = i, j
    return status


@kernel
def search_hulls(hulls: Addresses, poses: Floats, wanted: float, share: float, rounding: float, search: Addresses) -> int:
    """Run `search_plane` on the two hulls of a table, at poses (2,4,4)."""
    a = PlacedHull(open_hull(hulls, 0), pose_at(poses, 0))
    b = PlacedHull(open_hull(hulls, 1), pose_at(poses, 1))
    return search_plane(a, b, SearchLimits(wanted, share, rounding), open_search(search))


def hulls_of(points_a: Floats, points_b: Floats) -> AddressTable:
    """Return the table of two hulls of points (n, 3), whose support is by scan."""
    none = np.empty(0, np.int32)
    return Hull.tables([{"points": welded_points(points), "first": none, "near": none} for points in (points_a, points_b)])


def hull_distance(
    points_a: Floats, points_b: Floats, pose_a: Floats | None = None, pose_b: Floats | None = None
) -> tuple[float, Floats, Floats, float]:
    """Return the distance of two convex hulls, closest points and its error.

    Parameters
    ----------
    points_a, points_b : (n, 3) float64
        Points whose convex hulls are meant.
    pose_a, pose_b : (4, 4), optional
        Body to world.

    Returns
    -------
    distance : float
        0.0 where the hulls were found to share a point, within rounding. Hulls that do may still have a distance, with an error as
        large as it: an answer is only as good as its error.
    point_a, point_b : (3,) float64
        World coordinates; a common point where the distance is 0.
    error : float
        The distance exceeds the truth by at most this (and rounding, `ROUNDING` of the largest coordinate).
    """
    poses = np.array([np.eye(4) if pose is None else pose for pose in (pose_a, pose_b)], np.float64)
    placed = zip((points_a, points_b), poses, strict=True)
    world = [np.abs(np.asarray(p) @ pose[:3, :3].T + pose[:3, 3]).max() for p, pose in placed]
    rounding = ROUNDING * float(world[0] + world[1])
    hulls, search = hulls_of(points_a, points_b), empty_search()
    search_hulls(hulls.table, poses, rounding, 1.0, rounding, search.table[0])
    return closest_points(search, rounding)


def closest_points(search: AddressTable, rounding: float) -> tuple[float, Floats, Floats, float]:
    """Return (distance, point_a, point_b, error) of a search's result.

    Within rounding the two points become one.
    """
    found = found_by(search)
    point_a, point_b = found["point_a"].copy(), found["point_b"].copy()
    distance, lower = float(found["upper"]), float(found["lower"])
    if distance <= rounding:
        middle = 0.5 * (point_a + point_b)
        return 0.0, middle, middle.copy(), 0.0
    return distance, point_a, point_b, distance - max(lower, 0.0)
