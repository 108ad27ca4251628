"""Contacts along edges of two touching closed bodies: do interiors meet there?

An edge that lies in the plane of a face of the other body

| lies | then |
|---|---|
| outside the face | it decides nothing |
| in a face without area | the row is undecided |
| inside the face | the two faces at the edge are compared with the plane (`edge_in_face`) |
| along an edge of the face | the fans of both edges are compared (`edge_along_edge`) |
"""

from __future__ import annotations

from typing import NamedTuple

from jostle.geometry.contact_kind import NEAR
from jostle.geometry.predicates import orient3d, sides_of_plane
from jostle.geometry.triangle import Segment, Triangle, common_bounds, triangle_bounds, turned
from jostle.geometry.vector import Vec3, minus
from jostle.kernels.jit import kernel
from jostle.kernels.numbers import as_int64
from jostle.report.containment.contact_work import ALONG_EDGES, ContactRows, ContactWork, SolidPair
from jostle.report.containment.edge_place import INSIDE, NO_AREA, OUTSIDE, EdgePlace, side_of_segment, where_edge_lies
from jostle.report.containment.sectors import APART, MEETING, UNDECIDED, Fan, HalfPlane, sectors_meet
from jostle.report.containment.solid_bodies import SolidBody, corners_of_face, start_of


class ContactFace(NamedTuple):
    """A face of a row."""

    body: SolidBody
    face: int
    corners: Triangle


class ContactEdge(NamedTuple):
    """An edge of a row, in the plane of the other face."""

    body: SolidBody
    of_b: int  # whether it is one of body b
    side: int  # of its face; the lowest of the edge's fan
    corners: Triangle  # of the face; the edge leads from the first to the second
    third_lies: int  # on which side of the other face's plane the third corner lies


@kernel
def meet_along_edges(work: ContactWork, rows: ContactRows, pair: SolidPair) -> tuple[int, int]:
    """Test the contacts along edges of a pair; return answer and number of tests.

    It stops where interiors meet.
    """
    answer, tests = APART, 0
    for row in range(pair.first_row, pair.last_row):
        if rows.kind[row] == NEAR:
            continue
        face_a, face_b = as_int64(rows.face_a[row]), as_int64(rows.face_b[row])
        a = ContactFace(pair.a, face_a, corners_of_face(pair.a, face_a))
        b = ContactFace(pair.b, face_b, corners_of_face(pair.b, face_b))
        if share_a_point(a.corners, b.corners):
            continue
        found, tested = meet_in_row(work, a, b)
        tests += tested
        if found == MEETING:
            return MEETING, tests
        if found == UNDECIDED:
            answer = UNDECIDED
            rows.undecided[row] = True
    return answer, tests


@kernel(forceinline=True)
def share_a_point(a: Triangle, b: Triangle) -> bool:
    """Return whether boxes show that two touching faces share only a point.

    Many do.
    """
    common = common_bounds(triangle_bounds(a), triangle_bounds(b))
    return not (common.lower.x < common.upper.x or common.lower.y < common.upper.y or common.lower.z < common.upper.z)


@kernel(forceinline=True)
def meet_in_row(work: ContactWork, a: ContactFace, b: ContactFace) -> tuple[int, int]:
    """Test the edges of both faces of a row; return answer and number of tests.

    It stops where interiors meet.
    """
    answer, tests = APART, 0
    mine, other = a, b
    for of_b in range(2):
        corners = mine.corners
        p, q, r = sides_of_plane(other.corners, corners)
        for k in range(3):
            side = 3 * mine.face + k
            if p == 0 and q == 0 and mine.body.first_side[side] == side:
                found, tested = test_edge(work, ContactEdge(mine.body, of_b, side, corners, r), other)
                tests += tested
                if found == MEETING:
                    return MEETING, tests
                answer = max(answer, found)
            corners = turned(corners)
            p, q, r = q, r, p
        mine, other = other, mine
    return answer, tests


@kernel
def test_edge(work: ContactWork, edge: ContactEdge, other: ContactFace) -> tuple[int, int]:
    """Return whether interiors meet where an edge meets a face, and 1 if tested.

    A single common point is not tested.
    """
    place = where_edge_lies(Segment(edge.corners.p, edge.corners.q), other.corners)
    if place.where == OUTSIDE:
        return APART, 0
    if place.where == NO_AREA:
        return UNDECIDED, 0
    if place.where == INSIDE:
        return edge_in_face(work, edge, other, place), 1
    side = 3 * other.face + place.where
    if edge.of_b == 1 or other.body.first_side[side] != side:  # once: for the edges of a, in the row of the lowest face of b
        return APART, 0
    return edge_along_edge(work, edge, other.body, side), 1


@kernel
def edge_in_face(work: ContactWork, edge: ContactEdge, other: ContactFace, place: EdgePlace) -> int:
    """Return whether interiors meet where an edge enters a face of the other body.

    APART, MEETING or UNDECIDED.
    """
    body, t = edge.body, edge.corners
    sheet, other_sheet = as_int64(body.sheet_of_face[edge.side // 3]), as_int64(other.body.sheet_of_face[other.face])
    inner, other_inner = as_int64(body.inner[sheet]), as_int64(other.body.inner[other_sheet])
    work.marks[sheet].sheet[edge.of_b] |= ALONG_EDGES
    work.marks[other_sheet].sheet[1 - edge.of_b] |= ALONG_EDGES
    second = as_int64(body.next_side[edge.side])
    if second < 0 or body.next_side[second] >= 0 or abs(inner) != 1 or abs(other_inner) != 1:
        return UNDECIDED
    beside = start_of(body, side_before(second))  # the corner of the second face that is not on the edge
    second_lies = orient3d(other.corners.p, other.corners.q, other.corners.r, beside)
    if edge.third_lies == other_inner or second_lies == other_inner:
        return MEETING
    if edge.third_lies != 0 and second_lies != 0:  # both outside: the body is the sector between them, or all the rest
        lies = orient3d(t.p, t.q, t.r, beside)
        return APART if lies == inner else MEETING if lies == -inner else UNDECIDED
    # A face in the plane of the other: its inner side is that of the other, or the body is on the outer side of both.
    line = Segment(t.p, t.q)
    first_turned = side_of_segment(place.axis, line, t.r) if edge.third_lies == 0 else 0
    # The second face runs along the edge in the other direction.
    second_turned = -side_of_segment(place.axis, line, beside) if second_lies == 0 else 0
    if edge.third_lies == 0 and first_turned == 0:
        return UNDECIDED
    if (second_lies == 0 and second_turned == 0) or first_turned == -second_turned:
        return UNDECIDED
    face_turned = first_turned if edge.third_lies == 0 else second_turned
    return MEETING if inner * face_turned == other_inner * place.turned else APART


@kernel
def edge_along_edge(work: ContactWork, edge: ContactEdge, other: SolidBody, other_side: int) -> int:
    """Return whether interiors meet at an edge of a that runs along one of b.

    APART, MEETING or UNDECIDED.
    """
    line = Segment(edge.corners.p, edge.corners.q)
    a = fan_at(work, edge.body, edge.side, as_int64(0), line)
    if not a.known:
        return UNDECIDED
    b = fan_at(work, other, other_side, as_int64(1), line)
    return sectors_meet(line, a, b) if b.known else UNDECIDED


@kernel
def fan_at(work: ContactWork, body: SolidBody, side: int, of_b: int, line: Segment) -> Fan:
    """Return the half planes at a side's edge, which is on a line; mark their sheets."""
    first = second = HalfPlane(line.p, False)
    found, known = 0, True
    while side >= 0:
        sheet = as_int64(body.sheet_of_face[side // 3])
        inner = as_int64(body.inner[sheet])
        work.marks[sheet].sheet[of_b] |= ALONG_EDGES
        along = runs_along(line, minus(start_of(body, side_after(side)), start_of(body, side)))
        # Seen against the line, the space in front of a face that runs along it is counter-clockwise of the face.
        first, second = second, HalfPlane(start_of(body, side_before(side)), along == (inner > 0))
        known = known and abs(inner) == 1
        found += 1
        side = as_int64(body.next_side[side])
    return Fan(known and found == 2, first, second)


@kernel(forceinline=True)
def runs_along(line: Segment, direction: Vec3) -> bool:
    """Return whether a direction on a line is the line's own."""
    ahead = minus(line.q, line.p)
    x, y = direction.x * ahead.x, direction.y * ahead.y
    if x != 0.0:
        return x > 0.0
    return y > 0.0 if y != 0.0 else direction.z * ahead.z > 0.0


@kernel(forceinline=True)
def side_after(side: int) -> int:
    """Return the next side of the same face."""
    return side - 2 if side % 3 == 2 else side + 1


@kernel(forceinline=True)
def side_before(side: int) -> int:
    """Return the previous side of the same face."""
    return side + 2 if side % 3 == 0 else side - 1
