"""Faces that contain part of an edge, and where they cut it.

Cuts are exact, or floats with error bounds.
"""

from __future__ import annotations

from typing import NamedTuple

from jostle.geometry.predicates import orient3d
from jostle.geometry.triangle import Bounds, Segment, bounds_meet, segment_bounds
from jostle.geometry.vector import Vec3, coordinate, point_from, seen_along, write_point_from
from jostle.kernels.jit import kernel
from jostle.kernels.numbers import as_int64
from jostle.report.containment.edge_place import NO_AREA, OUTSIDE, side_of_segment, where_edge_lies
from jostle.report.containment.edge_work import EPSILON, MOST, EdgeWork, corner_of, face_corners, longest_axis

UNCERTAIN = -1  # instead of a cut, where floats cannot decide


@kernel
def faces_along(work: EdgeWork, e: int, line: Segment) -> tuple[int, int]:
    """List the faces that contain more than a point of an edge.

    Returns their number, and that of the other surface. Those of the other surface come first. Beyond MOST they are only counted.
    """
    face = work.sides[e] // 3
    count = as_int64(0)
    for i in range(work.first_row[face], work.first_row[face + 1]):
        count = add_face(work, work.touching[i], e, line, count)
    others = count
    for j in range(min(others, MOST)):
        other = work.holding[j].face
        for i in range(work.first_row[other], work.first_row[other + 1]):
            count = add_face(work, work.touching[i], e, line, count)
    return count, others


@kernel
def add_face(work: EdgeWork, f: int, e: int, line: Segment, count: int) -> int:
    """List a face if it contains more than a point of an edge; return the list length."""
    if work.looked_at[f] == e:
        return count
    work.looked_at[f] = e
    box = work.boxes[f]
    if not bounds_meet(Bounds(point_from(box.lower, 0), point_from(box.upper, 0)), segment_bounds(line)):
        return count
    t = face_corners(work, f)
    end = line.p
    for _ in range(2):
        if orient3d(t.p, t.q, t.r, end) != 0:
            return count
        end = line.q
    place = where_edge_lies(line, t)
    if place.where == OUTSIDE or place.where == NO_AREA:
        return count
    if count < MOST:
        holding = work.holding[count]
        holding.face, holding.axis, holding.turned = f, place.axis, place.turned
        holding.corner_sides[0], holding.corner_sides[1], holding.corner_sides[2] = place.p, place.q, place.r
    return count + 1


@kernel
def cut_edge(work: EdgeWork, line: Segment, count: int) -> int:
    """Cut an edge at the ends of each face's part; return the number of cuts.

    It is 0 if floats cannot decide. The first two cuts are the ends of the edge.
    """
    c = longest_axis(line)
    write_vertex_cut(work, as_int64(0), line.p, coordinate(line.p, c))
    write_vertex_cut(work, as_int64(1), line.q, coordinate(line.q, c))
    cut_count = as_int64(2)
    for j in range(count):
        holding = work.holding[j]
        t = face_corners(work, holding.face)
        end = 0
        for k in range(3):
            n = (k + 1) % 3
            here, there = holding.corner_sides[k], holding.corner_sides[n]
            if here == 0:
                cut = vertex_cut(work, corner_of(t, k), c, cut_count)
            elif here * there < 0:
                cut = crossing_cut(work, line, Segment(corner_of(t, k), corner_of(t, n)), holding.axis, cut_count)
            else:
                continue
            if cut == UNCERTAIN or cut >= MOST - 1:
                return 0
            holding.ends[end] = cut
            end += 1
            cut_count = max(cut_count, cut + 1)
    return cut_count


@kernel(forceinline=True)
def write_vertex_cut(work: EdgeWork, j: int, vertex: Vec3, where: float) -> None:
    """Write a cut at a vertex."""
    work.cuts[j].where, work.cuts[j].error = where, 0.0
    write_point_from(work.cuts[j].p, 0, vertex)


@kernel
def vertex_cut(work: EdgeWork, vertex: Vec3, c: int, cut_count: int) -> int:
    """Return the cut at a vertex on the line, possibly new, or UNCERTAIN."""
    x = coordinate(vertex, c)
    low = 0 if work.cuts[0].where < work.cuts[1].where else 1
    if x <= work.cuts[low].where:
        return low
    if x >= work.cuts[1 - low].where:
        return 1 - low
    for j in range(cut_count):
        cut = work.cuts[j]
        if abs(x - cut.where) > cut.error:
            continue
        if cut.error == 0.0:
            return j
        side = Segment(point_from(cut.p, 0), point_from(cut.q, 0))
        return j if side_of_segment(cut.axis, side, vertex) == 0 else UNCERTAIN
    write_vertex_cut(work, cut_count, vertex, x)
    return cut_count


class Crossing(NamedTuple):
    """Where a side crosses the line of an edge, on the edge's longest axis."""

    known: bool
    where: float
    error: float


@kernel
def crossing_cut(work: EdgeWork, line: Segment, side: Segment, axis: int, cut_count: int) -> int:
    """Return the cut where a side crosses the line, possibly new, or UNCERTAIN."""
    if side_of_segment(axis, side, line.p) == 0:
        return 0
    if side_of_segment(axis, side, line.q) == 0:
        return 1
    crossing = crossing_of(line, side, axis)
    if not crossing.known:
        return UNCERTAIN
    x, error = crossing.where, crossing.error
    low = 0 if work.cuts[0].where < work.cuts[1].where else 1
    if x + error < work.cuts[low].where:
        return low
    if x - error > work.cuts[1 - low].where:
        return 1 - low
    for j in range(cut_count):
        cut = work.cuts[j]
        if abs(x - cut.where) > error + cut.error:
            continue
        # Certainly the same place: a vertex on the side, or a side along it.
        same = side_of_segment(axis, side, point_from(cut.p, 0)) == 0
        same = same and (cut.error == 0.0 or side_of_segment(axis, side, point_from(cut.q, 0)) == 0)
        return j if same else UNCERTAIN
    cut = work.cuts[cut_count]
    cut.where, cut.error, cut.axis = x, error, axis
    write_point_from(cut.p, 0, side.p)
    write_point_from(cut.q, 0, side.q)
    return cut_count


@kernel
def crossing_of(line: Segment, side: Segment, axis: int) -> Crossing:
    """Return where a side's line crosses an edge's, seen along an axis."""
    c = longest_axis(line)
    start, end, first, second = coordinate(line.p, c), coordinate(line.q, c), seen_along(axis, line.p), seen_along(axis, line.q)
    p, q = seen_along(axis, side.p), seen_along(axis, side.q)
    dx, dy = q.x - p.x, q.y - p.y
    one = dx * (first.y - p.y) - dy * (first.x - p.x)
    other = dx * (second.y - p.y) - dy * (second.x - p.x)
    # A product of two rounded differences is off by less than 4 EPSILON of its size; the bounds below have room for more.
    reach = max(abs(first.x - p.x), abs(first.y - p.y), abs(second.x - p.x), abs(second.y - p.y))
    size = max(abs(dx), abs(dy)) * reach
    across = one - other
    if abs(across) <= 256.0 * EPSILON * size:
        return Crossing(False, 0.0, 0.0)
    part, length = one / across, end - start
    x = start + part * length
    error = 128.0 * (1.0 + abs(part)) * EPSILON * (size / abs(across)) * abs(length)
    error += 8.0 * EPSILON * (abs(start) + abs(end) + abs(x))
    return Crossing(True, x, error)
