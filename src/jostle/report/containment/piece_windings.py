"""Winding numbers around a piece of an edge.

That of one sector comes from a ray, in floats with bounds, the others from jumps.
"""

from __future__ import annotations

from typing import NamedTuple

from jostle.geometry.triangle import Bounds, Segment, Triangle
from jostle.geometry.vector import (
    Vec3,
    coordinate,
    cross,
    dot,
    largest_coordinate,
    minus,
    plus,
    point_from,
    times,
    write_point_from,
)
from jostle.kernels.jit import kernel
from jostle.kernels.numbers import as_int64
from jostle.report.containment.edge_work import EPSILON, EdgeWork, corner_of, face_corners, longest_axis
from jostle.report.containment.sectors import (
    APART,
    HALF,
    MEETING,
    MORE_THAN_HALF,
    SAME,
    UNDECIDED,
    turn,
)

# An unlikely direction of faces, near the vertical: few faces are above a point. Edges may be vertical too.
RAY_X, RAY_Y, RAY_Z = 0.01371, 0.02917, 1.0


class Piece(NamedTuple):
    """The half planes and faces around a piece, and whether both surfaces have some."""

    planes: int
    faces: int
    of_both: bool


class Ray(NamedTuple):
    """A ray from a point of an edge."""

    start: Vec3
    direction: Vec3


@kernel
def test_pieces(work: EdgeWork, line: Segment, count: int, cut_count: int) -> int:
    """Return whether interiors meet around a piece of an edge between two cuts.

    APART, MEETING or UNDECIDED.
    """
    order_cuts(work, cut_count)
    beside = plus(line.p, times(work.surfaces.largest, Vec3(RAY_X, RAY_Y, RAY_Z)))
    answer = APART
    for k in range(cut_count - 1):
        piece = surround_piece(work, k, count)
        if not piece.of_both:
            continue
        low, high = work.cuts[work.cut_order[k]], work.cuts[work.cut_order[k + 1]]
        x = low.where + 0.4375 * (high.where - low.where)
        if not low.where + low.error < x < high.where - high.error:
            answer = UNDECIDED
            continue
        ray = Ray(point_on_line(line, x), minus(beside, line.p))
        found = sectors_wind(work, line, beside, piece, ray)
        if found == MEETING:
            return MEETING
        answer = max(answer, found)
    return answer


@kernel
def order_cuts(work: EdgeWork, cut_count: int) -> None:
    """Sort the cuts along the edge; no two of them have the same place."""
    order = work.cut_order
    for k in range(cut_count):
        at = k
        while at > 0 and work.cuts[order[at - 1]].where > work.cuts[k].where:
            order[at] = order[at - 1]
            at -= 1
        order[at] = k
    for at in range(cut_count):
        work.cut_rank[order[at]] = at


@kernel
def surround_piece(work: EdgeWork, piece: int, count: int) -> Piece:
    """List the faces that contain a piece of the edge, and their half planes."""
    planes, faces, some_a, some_b = 0, 0, False, False
    for j in range(count):
        holding = work.holding[j]
        one, other = work.cut_rank[holding.ends[0]], work.cut_rank[holding.ends[1]]
        if min(one, other) > piece or max(one, other) <= piece:
            continue
        work.around[faces] = holding.face
        faces += 1
        of_b = holding.face >= work.surfaces.count_a
        some_a, some_b = some_a or not of_b, some_b or of_b
        t, sides = face_corners(work, holding.face), holding.corner_sides
        for k in range(3):
            # One corner on either side of the line.
            if sides[k] == 0 or (k > 0 and sides[k] == sides[0]) or (k > 1 and sides[k] == sides[1]):
                continue
            plane = work.planes[planes]
            # Going around the line, from behind a face to its front, the winding number falls.
            plane.jump, plane.of_b = -sides[k] * holding.turned, of_b
            write_point_from(plane.corner, 0, corner_of(t, k))
            planes += 1
    return Piece(planes, faces, some_a and some_b)


@kernel
def point_on_line(line: Segment, x: float) -> Vec3:
    """Return a line's point by its coordinate on the longest axis; others round."""
    c = longest_axis(line)
    start, end = coordinate(line.p, c), coordinate(line.q, c)
    at = plus(line.p, times((x - start) / (end - start), minus(line.q, line.p)))
    return Vec3(x if c == 0 else at.x, x if c == 1 else at.y, x if c == 2 else at.z)


@kernel
def sectors_wind(work: EdgeWork, line: Segment, beside: Vec3, piece: Piece, ray: Ray) -> int:
    """Return whether both surfaces wind in a sector between half planes.

    APART, MEETING or UNDECIDED.

    beside is a point in the half plane of the ray, which lies in the first sector.
    """
    if not order_planes(work, line, beside, piece.planes):
        return UNDECIDED
    count_a = work.surfaces.count_a
    winds_a, certain_a = ray_winding(work, as_int64(0), count_a, piece.faces, ray)
    winds_b, certain_b = ray_winding(work, count_a, len(work.boxes), piece.faces, ray)
    if not (certain_a and certain_b):
        return UNDECIDED
    if winds_a != 0 and winds_b != 0:
        return MEETING
    start_a, start_b = winds_a, winds_b
    meeting = False
    for i in range(piece.planes):
        plane = work.planes[work.plane_order[i]]
        if plane.of_b:
            winds_b += plane.jump
        else:
            winds_a += plane.jump
        if i + 1 < piece.planes and coincide(work, line, work.plane_order[i], work.plane_order[i + 1]):
            continue
        meeting = meeting or (winds_a != 0 and winds_b != 0)
    if winds_a != start_a or winds_b != start_b:
        return UNDECIDED
    return MEETING if meeting else APART


@kernel
def order_planes(work: EdgeWork, line: Segment, beside: Vec3, planes: int) -> bool:
    """Sort half planes counter-clockwise from the ray; False if one coincides."""
    order = work.plane_order
    for k in range(planes):
        plane = work.planes[k]
        plane.turned = turn(line, beside, point_from(plane.corner, 0))
        if plane.turned <= SAME:
            return False
        at = k
        while at > 0 and comes_later(work, line, order[at - 1], k):
            order[at] = order[at - 1]
            at -= 1
        order[at] = k
    return True


@kernel
def comes_later(work: EdgeWork, line: Segment, h: int, k: int) -> bool:
    """Return whether half plane h comes after k, going around from the ray."""
    one, other = work.planes[h], work.planes[k]
    if one.turned != other.turned:
        return one.turned > other.turned
    return other.turned != HALF and turn(line, point_from(one.corner, 0), point_from(other.corner, 0)) == MORE_THAN_HALF


@kernel
def coincide(work: EdgeWork, line: Segment, h: int, k: int) -> bool:
    """Return whether two consecutive half planes are the same."""
    one, other = work.planes[h], work.planes[k]
    if one.turned != other.turned:
        return False
    return one.turned == HALF or turn(line, point_from(one.corner, 0), point_from(other.corner, 0)) == SAME


@kernel
def ray_winding(work: EdgeWork, first: int, last: int, faces: int, ray: Ray) -> tuple[int, bool]:
    """Return the winding of faces first … last - 1 about a ray's start.

    Faces around the piece are left out. Also returns whether that is certain.
    """
    off = 32.0 * EPSILON * work.surfaces.largest  # error of a distance from the rounded start: less than 12 EPSILON
    bounds = bounds_of_ray(ray, work.surfaces.top, off)
    lower, upper = bounds.lower, bounds.upper
    winding = 0
    for f in range(first, last):
        box = work.boxes[f]
        if (
            box.lower[0] > upper.x or box.upper[0] < lower.x
            or box.lower[1] > upper.y or box.upper[1] < lower.y
            or box.upper[2] < lower.z
        ):  # fmt: skip
            continue
        skipped = False
        for k in range(faces):
            skipped = skipped or work.around[k] == f
        if skipped:
            continue
        crossing, certain = ray_crossing(ray, face_corners(work, f), off)
        if not certain:
            return 0, False
        winding += crossing
    return winding, True


@kernel(forceinline=True)
def bounds_of_ray(ray: Ray, top: float, off: float) -> Bounds:
    """Return a box around a ray up to the top of all faces."""
    up = max(top - ray.start.z, 0.0) / ray.direction.z
    lower, upper = ray.start, ray.start
    grown = 1.0 + 8.0 * EPSILON
    return Bounds(
        Vec3(lower.x - 4.0 * off, lower.y - 4.0 * off, lower.z - 4.0 * off),
        Vec3(
            upper.x + up * ray.direction.x * grown + 4.0 * off,
            upper.y + up * ray.direction.y * grown + 4.0 * off,
            upper.z + up * ray.direction.z * grown + 4.0 * off,
        ),
    )


@kernel
def ray_crossing(ray: Ray, t: Triangle, off: float) -> tuple[int, bool]:
    """Return a face's part of the winding about a ray's start; is it certain?"""
    a, b, c = minus(t.p, ray.start), minus(t.q, ray.start), minus(t.r, ray.start)
    reach = max(largest_coordinate(a), largest_coordinate(b), largest_coordinate(c))
    # Six products of three factors; two have an error of `off`, one a rounding error.
    margin = 100.0 * largest_coordinate(ray.direction) * reach * off
    volume = dot(a, cross(b, c))
    above, below = 0, 0
    for _ in range(3):
        side = dot(ray.direction, cross(b, c))
        above += side > margin
        below += side < -margin
        a, b, c = b, c, a
    if above > 0 and below > 0:
        return 0, True
    if above + below < 3 or abs(volume) <= 200.0 * reach * reach * off:
        return 0, False
    if above == 3:
        return (1 if volume > 0.0 else 0), True
    return (-1 if volume < 0.0 else 0), True
