"""Pairs of bodies by their touching faces: do interiors meet along an edge, and which points remain to be asked for?

A contact along an edge is tested once, in the row of the lowest faces at its edges: every face around an edge that lies in a face
has a row with it. Rows that meet in a point alone say only that a sheet touches.
"""

import numpy as np

from jostle.containment.sectors import APART, MEETING, UNDECIDED, sectors_meet
from jostle.geometry.aabb import world_interval
from jostle.geometry.contact_kind import CROSSING, NEAR
from jostle.geometry.predicates import orient2d, orient3d, sides_of_plane
from jostle.geometry.triangle import Bounds, triangle_of_points
from jostle.geometry.vector import Vec2, point_at, point_from
from jostle.geometry.winding import flag_winding
from jostle.kernels.handles import float64_at, int32_at
from jostle.kernels.jit import kernel
from jostle.kernels.numbers import as_int64

# Columns of the table of bodies: addresses and lengths.
VERTICES, VERTEX_COUNT, FACES, FACE_COUNT, FIRST_SIDE, NEXT_SIDE, SHEET_OF_FACE, PART_OF_FACE = 0, 1, 2, 3, 4, 5, 6, 7
PART_FACE, PARTS, SHEET_FACE, SHEETS, INNER, CLOSED, COLUMNS = 8, 9, 10, 11, 12, 13, 14

# What a point is asked for: does the part lie inside; does the part, which touches; does the sheet.
FREE_PART, TOUCHING_PART, SHEET = 0, 1, 2

TOUCHED, ALONG_EDGES, CROSSED = 1, 2, 4  # marks of parts and sheets

UNTESTED = 3  # beside APART, MEETING and UNDECIDED: of bodies that share no point, that cross or that are open


@kernel
def test_pairs(  # type: ignore[no-untyped-def]
    table, boxes, pair_a, pair_b, first_row, last_row, face_a, face_b, kind, first, last, marks, meet, undecided, asked, flags
):
    """Decide the pairs first … last - 1 along edges, and list what has to be asked for by a winding number.

    table (n, COLUMNS) of bodies, boxes (n,6) of their world vertices; of each pair its bodies and its rows among face_a, face_b,
    kind. marks (4, most sheets or parts) is scratch. meet (pairs,) gets APART, MEETING, UNDECIDED or UNTESTED; undecided (rows,)
    gets True for rows with an edge that was not decided; asked (k,4) gets pair, 0 for a inside b or 1 for b inside a, what is asked
    for, and a face of it; flags (k,9) gets the point (`geometry/winding.py`). Returns how many questions there are, of which those
    beyond k are not written, and the number of contacts along edges.
    """
    points, left, turned = np.empty((6, 3)), np.zeros(6, np.bool_), np.empty((6, 6), np.int8)
    edges = 0
    count = np.int64(0)  # a plain 0 is a type of its own, for which all that it is handed to is compiled once more
    for pair in range(first, last):
        a, b = pair_a[pair], pair_b[pair]
        meet[pair] = UNTESTED
        if a == b or not (table[a, CLOSED] or table[b, CLOSED]):
            continue
        touches, crosses = mark_rows(table, a, b, face_a, face_b, kind, first_row[pair], last_row[pair], marks)
        both = table[a, CLOSED] and table[b, CLOSED] and touches and not crosses
        if both:
            meet[pair], tests = meet_along_edges(
                table, a, b, face_a, face_b, kind, first_row[pair], last_row[pair], marks, points, left, turned, undecided
            )
            edges += tests
        for k in range(2):
            inner, outer = (a, b) if k == 0 else (b, a)
            if not table[outer, CLOSED]:
                continue
            corners = int32_at(table[inner, FACES], 3 * table[inner, FACE_COUNT])
            vertices = float64_at(table[inner, VERTICES], 3 * table[inner, VERTEX_COUNT])
            parts = int32_at(table[inner, PART_FACE], table[inner, PARTS])
            sheets = int32_at(table[inner, SHEET_FACE], table[inner, SHEETS])
            inner_side = int32_at(table[inner, INNER], table[inner, SHEETS])
            sheets_asked = sheets.shape[0] if both and meet[pair] != MEETING else 0
            for i in range(parts.shape[0] + sheets_asked):
                if i < parts.shape[0]:
                    face, free = parts[i], marks[2 + k, i] == 0
                    what = FREE_PART if free else TOUCHING_PART
                    if free:
                        wanted = in_box(vertices, corners[3 * face], boxes, outer)
                    else:
                        wanted = marks[2 + k, i] == TOUCHED and not table[inner, CLOSED]
                else:
                    sheet = i - parts.shape[0]
                    face, what = sheets[sheet], SHEET
                    wanted = marks[k, sheet] == TOUCHED and inner_side[sheet] != 0
                if wanted:
                    ask(asked, flags, count, pair, as_int64(k), as_int64(what), as_int64(face), corners, vertices)
                    count += 1
    return count, edges


@kernel
def ask(asked, flags, count, pair, k, what, face, corners, vertices):  # type: ignore[no-untyped-def]
    """Write one question, if there is room."""
    if count < asked.shape[0]:
        asked[count, 0], asked[count, 1], asked[count, 2], asked[count, 3] = pair, k, what, face
        for i in range(9):
            # A part that touches nothing asks by its corner; a sheet that touches asks by a point beside it.
            flags[count, i] = vertices[3 * corners[3 * face + (i // 3 if what == SHEET else 0)] + i % 3]


@kernel
def in_box(vertices, v, boxes, body):  # type: ignore[no-untyped-def]
    """Whether a vertex lies in the closed box of a body."""
    inside = True
    for k in range(3):
        inside = inside and boxes[body, k] <= vertices[3 * v + k] <= boxes[body, 3 + k]
    return inside


@kernel
def boxes_meet(poses, bounds, body_a, body_b):  # type: ignore[no-untyped-def]
    """Whether the world boxes of any pair of bodies meet; bounds (n,2,3) in the bodies' own axes."""
    for pair in range(body_a.shape[0]):
        a, b = body_a[pair], body_b[pair]
        apart = False
        for k in range(3):
            lower_a, upper_a = world_bounds(poses, bounds, a, k)
            lower_b, upper_b = world_bounds(poses, bounds, b, k)
            apart = apart or lower_a > upper_b or lower_b > upper_a  # never of NaN, which bounds at infinity may give
        if not apart:
            return True
    return False


@kernel
def world_bounds(poses, bounds, body, k):  # type: ignore[no-untyped-def]
    """Return the lowest and highest world coordinate k of a body."""
    row = (poses[body, k, 0], poses[body, k, 1], poses[body, k, 2], poses[body, k, 3])
    return world_interval(row, Bounds(point_at(bounds[body], 0), point_at(bounds[body], 1)))


@kernel
def boxes_into(table, used, boxes):  # type: ignore[no-untyped-def]
    """Write the boxes (n,6) of the used bodies' faces, lowest coordinates first."""
    for body in range(table.shape[0]):
        if not used[body]:
            continue
        vertices = float64_at(table[body, VERTICES], 3 * table[body, VERTEX_COUNT])
        corners = int32_at(table[body, FACES], 3 * table[body, FACE_COUNT])
        for k in range(3):
            lower, upper = np.inf, -np.inf
            for i in range(corners.shape[0]):
                lower, upper = min(lower, vertices[3 * corners[i] + k]), max(upper, vertices[3 * corners[i] + k])
            boxes[body, k], boxes[body, 3 + k] = lower, upper


@kernel
def mark_rows(table, a, b, face_a, face_b, kind, first_row, last_row, marks):  # type: ignore[no-untyped-def]
    """Mark sheets (rows 0 and 1 of marks, of a and of b) and parts (rows 2 and 3) that touch or cross; return whether any do."""
    faces_a, faces_b = table[a, FACE_COUNT], table[b, FACE_COUNT]
    sheet_a, part_a = int32_at(table[a, SHEET_OF_FACE], faces_a), int32_at(table[a, PART_OF_FACE], faces_a)
    sheet_b, part_b = int32_at(table[b, SHEET_OF_FACE], faces_b), int32_at(table[b, PART_OF_FACE], faces_b)
    for k in range(4):
        for i in range(table[a if k % 2 == 0 else b, SHEETS if k < 2 else PARTS]):
            marks[k, i] = 0
    touches, crosses = False, False
    for row in range(first_row, last_row):
        if kind[row] == NEAR:
            continue
        touches = True
        mark = TOUCHED
        if kind[row] == CROSSING:
            mark = CROSSED
            crosses = True
        marks[0, sheet_a[face_a[row]]] |= mark
        marks[1, sheet_b[face_b[row]]] |= mark
        marks[2, part_a[face_a[row]]] |= mark
        marks[3, part_b[face_b[row]]] |= mark
    return touches, crosses


@kernel
def meet_along_edges(table, a, b, face_a, face_b, kind, first_row, last_row, marks, points, left, turned, undecided):  # type: ignore[no-untyped-def]
    """Test every contact along an edge of one pair, until interiors meet; return the answer and the number of contacts tested."""
    answer, tests = APART, 0
    t = np.empty((6, 3))  # the corners of the two faces
    sides = np.empty(6, np.int64)  # of the other plane, for each of these corners
    for row in range(first_row, last_row):
        if kind[row] == NEAR:
            continue
        for at in range(0, 6, 3):  # a loop, since what is called in two places is compiled into both
            body, face = (a, face_a[row]) if at == 0 else (b, face_b[row])
            load_face(table, body, face, t, at)
        if share_a_point(t):
            continue
        for at in range(0, 6, 3):
            sides[at], sides[at + 1], sides[at + 2] = sides_of(t, 3 - at, at)
        for k in range(6):
            # The k-th edge of both faces: does it lie in the plane of the other face, and meet it in more than a point?
            mine, other = (0, 3) if k < 3 else (3, 0)
            i, j = k % 3, (k + 1) % 3
            if sides[mine + i] != 0 or sides[mine + j] != 0:
                continue
            body, face, beside, beside_face = (a, face_a[row], b, face_b[row]) if k < 3 else (b, face_b[row], a, face_a[row])
            first_side = int32_at(table[body, FIRST_SIDE], 3 * table[body, FACE_COUNT])
            if first_side[3 * face + i] != 3 * face + i:
                continue
            for c in range(3):
                points[0, c], points[1, c] = t[mine + i, c], t[mine + j, c]
            shadow, lies = where_edge_lies(t, other, points)
            if lies == NO_AREA:
                answer, undecided[row] = UNDECIDED, True
            if lies < INSIDE:
                continue
            side = 3 * face + i
            if lies == INSIDE:
                found = edge_in_face(table, body, side, beside, beside_face, t, sides, mine, other, i, shadow, marks, k < 3)
            else:
                first_beside = int32_at(table[beside, FIRST_SIDE], 3 * table[beside, FACE_COUNT])
                other_side = 3 * beside_face + lies
                if k >= 3 or first_beside[other_side] != other_side:  # once: by the edges of a, in the row of the lowest face of b
                    continue
                known = True
                for of_b in range(2):
                    its_body, its_side = (b, other_side) if of_b == 1 else (a, side)
                    known = known and fan_of(table, its_body, its_side, points, left, 2 + 2 * of_b, marks[of_b])
                found = sectors_meet(points, left, turned) if known else UNDECIDED
            tests += 1
            if found == MEETING:
                return MEETING, tests
            if found == UNDECIDED:
                answer, undecided[row] = UNDECIDED, True
    return answer, tests


INSIDE, OUTSIDE, NO_AREA = -1, -2, -3


@kernel
def where_edge_lies(t, other, points):  # type: ignore[no-untyped-def]
    """Where the edge of points 0 and 1, which lies in the plane of a face, meets it in more than a point.

    Returns how the face is turned in the shadow along axis u - 1, times 4, plus u, and: INSIDE where the edge enters the inside of
    the face, 0 … 2 where it runs along that side of it, OUTSIDE, or NO_AREA of a face without area.
    """
    start = np.int64(0)
    for u in range(3):
        v = (u + 1) % 3
        turned = side_in_shadow(t, other, t, other + 1, t, other + 2, u, v)
        if turned == 0:
            continue
        lowest, highest, beside, corner = 0, 0, 0, 0
        for k in range(3):
            here = side_in_shadow(points, start, points, start + 1, t, other + k, u, v)
            lowest, highest = min(lowest, here), max(highest, here)
            if here != 0:
                beside += 1
                corner = k
        if lowest < 0 and highest > 0:
            for k in range(3):
                i, j = other + k, other + (k + 1) % 3
                outside = True
                for end in range(2):
                    outside = outside and turned * side_in_shadow(t, i, t, j, points, end, u, v) <= 0
                if outside:
                    return 0, OUTSIDE
            return 4 * turned + u, INSIDE
        if beside != 1:
            return 0, OUTSIDE
        along = (corner + 1) % 3  # the side across from the one corner that is not on the line
        i, j = other + along, other + (along + 1) % 3
        c = u if points[0, u] != points[1, u] else v
        lower = max(min(points[0, c], points[1, c]), min(t[i, c], t[j, c]))
        upper = min(max(points[0, c], points[1, c]), max(t[i, c], t[j, c]))
        return 0, along if lower < upper else OUTSIDE
    return 0, NO_AREA


@kernel
def side_in_shadow(p, i, q, j, r, k, u, v):  # type: ignore[no-untyped-def]
    """orient2d of three points in the coordinates u and v."""
    if q[j, u] == r[k, u] and q[j, v] == r[k, v]:  # often; the predicate would need its long way
        return 0
    return orient2d(Vec2(p[i, u], p[i, v]), Vec2(q[j, u], q[j, v]), Vec2(r[k, u], r[k, v]))


@kernel
def share_a_point(t):  # type: ignore[no-untyped-def]
    """Whether the boxes of two touching faces show that they share no more than a point, as many do."""
    for c in range(3):
        lower = max(min(t[0, c], t[1, c], t[2, c]), min(t[3, c], t[4, c], t[5, c]))
        if lower < min(max(t[0, c], t[1, c], t[2, c]), max(t[3, c], t[4, c], t[5, c])):
            return False
    return True


@kernel
def load_face(table, body, face, t, at):  # type: ignore[no-untyped-def]
    """Write the corners of a face into three rows."""
    corners = int32_at(table[body, FACES], 3 * table[body, FACE_COUNT])
    vertices = float64_at(table[body, VERTICES], 3 * table[body, VERTEX_COUNT])
    for k in range(3):
        for c in range(3):
            t[at + k, c] = vertices[3 * corners[3 * face + k] + c]


@kernel
def sides_of(t, plane, at):  # type: ignore[no-untyped-def]
    """On which side of the plane of three rows three others lie."""
    return sides_of_plane(triangle_of_points(t, plane, plane + 1, plane + 2), triangle_of_points(t, at, at + 1, at + 2))


@kernel
def fan_of(table, body, side, points, left, at, marks):  # type: ignore[no-untyped-def]
    """Write the two half planes of an edge and mark their sheets; False where there are not two with one inner side each."""
    corners = int32_at(table[body, FACES], 3 * table[body, FACE_COUNT])
    vertices = float64_at(table[body, VERTICES], 3 * table[body, VERTEX_COUNT])
    next_side = int32_at(table[body, NEXT_SIDE], 3 * table[body, FACE_COUNT])
    sheet_of_face = int32_at(table[body, SHEET_OF_FACE], table[body, FACE_COUNT])
    inner_side = int32_at(table[body, INNER], table[body, SHEETS])
    found, known = 0, True
    while side >= 0:
        face, k = side // 3, side % 3
        sheet = sheet_of_face[face]
        marks[sheet] |= ALONG_EDGES
        start, beside = corners[3 * face + k], corners[3 * face + (k + 2) % 3]
        if found < 2:
            along = 0.0  # the side's way along the line, which tells its direction; edges may begin anywhere on the line
            end = corners[3 * face + (k + 1) % 3]
            for c in range(3):
                points[at + found, c] = vertices[3 * beside + c]
                if along == 0.0:
                    along = (vertices[3 * end + c] - vertices[3 * start + c]) * (points[1, c] - points[0, c])
            # Seen against the line, a face that runs along it is followed counter-clockwise by what is before it.
            left[at + found] = (along > 0.0) == (inner_side[sheet] > 0)
        known = known and abs(inner_side[sheet]) == 1
        found += 1
        side = next_side[side]
    return known and found == 2


@kernel
def edge_in_face(table, body, side, beside, beside_face, t, sides, mine, other, i, shadow, marks, of_a):  # type: ignore[no-untyped-def]
    """Whether interiors meet at an edge of one body that enters a face of the other: APART, MEETING or UNDECIDED.

    side is the edge's lowest one, which is that of corner i of the face in rows `mine` of t; `sides` has its corners' sides of the
    other face, which stands in rows `other`, and shadow is that of `where_edge_lies`.
    """
    corners = int32_at(table[body, FACES], 3 * table[body, FACE_COUNT])
    vertices = float64_at(table[body, VERTICES], 3 * table[body, VERTEX_COUNT])
    next_side = int32_at(table[body, NEXT_SIDE], 3 * table[body, FACE_COUNT])
    sheet = int32_at(table[body, SHEET_OF_FACE], table[body, FACE_COUNT])[side // 3]
    inner = int32_at(table[body, INNER], table[body, SHEETS])[sheet]
    sheet_beside = int32_at(table[beside, SHEET_OF_FACE], table[beside, FACE_COUNT])[beside_face]
    inner_beside = int32_at(table[beside, INNER], table[beside, SHEETS])[sheet_beside]
    marks[0 if of_a else 1, sheet] |= ALONG_EDGES
    marks[1 if of_a else 0, sheet_beside] |= ALONG_EDGES
    second = next_side[side]
    if second < 0 or next_side[second] >= 0 or abs(inner) != 1 or abs(inner_beside) != 1:
        return UNDECIDED
    # The corners beside the edge: of the face at hand, and of the second one.
    x, v = mine + (i + 2) % 3, 3 * corners[3 * (second // 3) + (second % 3 + 2) % 3]
    first_lies = sides[x]
    p, q, r = other, other + 1, other + 2
    second_lies = 0
    for step in range(2):
        if step == 1:  # both outside: the sector between them is the body's, or all the rest is
            p, q, r = mine, mine + 1, mine + 2
        lies = orient3d(point_at(t, p), point_at(t, q), point_at(t, r), point_from(vertices, v))
        if step == 1:
            return APART if lies == inner else MEETING if lies == -inner else UNDECIDED
        second_lies = lies
        if first_lies == inner_beside or second_lies == inner_beside:
            return MEETING
        if first_lies == 0 or second_lies == 0:
            break
    # A face in the plane of the other: its inner side is that of the other, or the body is on the outer side of both.
    u = shadow & 3
    w = (u + 1) % 3
    start, end = mine + i, mine + (i + 1) % 3
    a, b = Vec2(t[start, u], t[start, w]), Vec2(t[end, u], t[end, w])
    first_turned = orient2d(a, b, Vec2(t[x, u], t[x, w])) if first_lies == 0 else 0
    # The second face runs along the edge the other way.
    second_turned = -orient2d(a, b, Vec2(vertices[v + u], vertices[v + w])) if second_lies == 0 else 0
    if (first_lies == 0 and first_turned == 0) or (second_lies == 0 and second_turned == 0) or first_turned == -second_turned:
        return UNDECIDED
    turned = first_turned if first_lies == 0 else second_turned
    return MEETING if inner * turned == inner_beside * (shadow >> 2) else APART


@kernel
def part_is_inside(vertices, faces, part_of_face, outer_vertices, outer_faces, first_face, box):  # type: ignore[no-untyped-def]
    """Whether a part of an open body, which crosses nothing, lies inside: its first face that is not on the other surface decides.

    vertices (n,3), faces (m,3), box (6,) of the outer body's vertices.
    """
    part = part_of_face[first_face]
    for f in range(first_face, faces.shape[0]):
        if part_of_face[f] == part:
            for k in range(9):
                x = vertices[faces[f, k // 3], k % 3]
                if x < box[k % 3] or x > box[3 + k % 3]:
                    return False
    flag, every = np.empty(9), np.arange(outer_faces.shape[0])
    for f in range(first_face, faces.shape[0]):
        if part_of_face[f] == part:
            for k in range(9):
                flag[k] = vertices[faces[f, k // 3], k % 3]
            winding, holding, _ = flag_winding(flag, outer_vertices, outer_faces, every)
            if holding == 0:
                return winding != 0
    return False
