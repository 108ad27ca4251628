"""The basic tests of face pairs: 6 corners against faces and 9 pairs of edges each, asked once though many face pairs share them.

Each face pair has 15 codes: 0 … 2 corner i of face a against face b, 3 … 5 corner j of face b against face a, 6 … 14 edge i of a
against edge j of b as 6 + 3 i + j, where edge k joins the corners k and (k + 1) mod 3. A query is written with its corners in an
order of its own (those of a face as the mesh has them, the ends of an edge by their numbers), so that its answer does not depend on
the face pair that asks.

Cull: on an axis on which one feature lies beyond the other at both ends of a straight motion it does so all the time, because the
difference is linear in time. Signs of differences are exact. Arcs leave their chords by at most `bulge`, both faces together.
"""

import math

from jostle.geometry.scalar_vector import cross, dot
from jostle.kernels.jit import kernel

CODES = 15
FIRST_OF_B, FIRST_OF_EDGES, FACES = 3, 6, 15  # FACES: two faces that cross, where neither corners nor edges meet
_LOW = (1 << 31) - 1


@kernel
def box_of_face(vertices, faces, i):
    """The box of face i: lower and upper corner, six numbers."""
    p, q, r = faces[i, 0], faces[i, 1], faces[i, 2]
    return (
        min(vertices[p, 0], vertices[q, 0], vertices[r, 0]),
        min(vertices[p, 1], vertices[q, 1], vertices[r, 1]),
        min(vertices[p, 2], vertices[q, 2], vertices[r, 2]),
        max(vertices[p, 0], vertices[q, 0], vertices[r, 0]),
        max(vertices[p, 1], vertices[q, 1], vertices[r, 1]),
        max(vertices[p, 2], vertices[q, 2], vertices[r, 2]),
    )


@kernel
def box_of_edge(vertices, p, q):
    """The box of the edge from vertex p to vertex q; of a vertex, where they are one."""
    return (
        min(vertices[p, 0], vertices[q, 0]),
        min(vertices[p, 1], vertices[q, 1]),
        min(vertices[p, 2], vertices[q, 2]),
        max(vertices[p, 0], vertices[q, 0]),
        max(vertices[p, 1], vertices[q, 1]),
        max(vertices[p, 2], vertices[q, 2]),
    )


@kernel(forceinline=True)
def stay_apart(a0, a1, b0, b1, gap):
    """Whether boxes a and b, given at both ends of a motion, are more than `gap` apart on one axis and one side at both."""
    # Written out, so that the boxes stay in registers.
    return (
        (a0[0] - b0[3] > gap and a1[0] - b1[3] > gap)
        or (b0[0] - a0[3] > gap and b1[0] - a1[3] > gap)
        or (a0[1] - b0[4] > gap and a1[1] - b1[4] > gap)
        or (b0[1] - a0[4] > gap and b1[1] - a1[4] > gap)
        or (a0[2] - b0[5] > gap and a1[2] - b1[5] > gap)
        or (b0[2] - a0[5] > gap and b1[2] - a1[5] > gap)
    )


@kernel
def bulge_of_face(vertices_t0, vertices_t1, faces, i, turn):
    """How far the corners of face i leave the straight lines between their ends at most, rounded up; turn (4,)."""
    angle = turn[3]
    if angle == 0.0:
        return 0.0
    longest, size = 0.0, 0.0
    for corner in range(3):
        v = faces[i, corner]
        x, y, z = vertices_t0[v, 0], vertices_t0[v, 1], vertices_t0[v, 2]
        dx, dy, dz = vertices_t1[v, 0] - x, vertices_t1[v, 1] - y, vertices_t1[v, 2] - z
        cx, cy, cz = cross(turn[0], turn[1], turn[2], dx, dy, dz)
        longest = max(longest, dot(cx, cy, cz, cx, cy, cz))
        size = max(size, abs(x), abs(y), abs(z), abs(dx), abs(dy), abs(dz))
    # The height of an arc over its chord c is c tan(angle/4)/2; a share of 1e-9 and 8 units in the last place cover all roundings.
    return 0.5 * math.sqrt(longest) * math.tan(0.25 * angle) * (1.0 + 1e-9) + 1e-15 * size


@kernel
def mark_meeting(a_t0, a_t1, faces_a, turn_a, b_t0, b_t1, faces_b, turn_b, face_a, face_b, separation, share, meeting):
    """Write to meeting (n,) whether faces of rows may come within `separation` and a share of their size."""
    for row in range(face_a.shape[0]):
        i, j = face_a[row], face_b[row]
        box_a0, box_a1 = box_of_face(a_t0, faces_a, i), box_of_face(a_t1, faces_a, i)
        box_b0, box_b1 = box_of_face(b_t0, faces_b, j), box_of_face(b_t1, faces_b, j)
        size = 0.0
        for k in range(3):
            upper = max(box_a0[k + 3], box_a1[k + 3], box_b0[k + 3], box_b1[k + 3])
            size = max(size, upper - min(box_a0[k], box_a1[k], box_b0[k], box_b1[k]))
        bulge = bulge_of_face(a_t0, a_t1, faces_a, i, turn_a) + bulge_of_face(b_t0, b_t1, faces_b, j, turn_b)
        meeting[row] = not stay_apart(box_a0, box_a1, box_b0, box_b1, (separation + share * size) + bulge)


@kernel
def numbered(table, names, count, name_a, name_b):
    """The number of a query with these names; `count` if it is new, and then it is entered. A table of a power of two of places."""
    mask = table.shape[0] - 1
    # Products below 2^58: nothing overflows.
    place = ((name_a & _LOW) * 73856093) ^ ((name_a >> 31) * 19349663) ^ ((name_b & _LOW) * 83492791) ^ ((name_b >> 31) * 49979687)
    place = (place ^ (place >> 17)) & mask
    while table[place] >= 0:
        number = table[place]
        if names[number, 0] == name_a and names[number, 1] == name_b:
            return number
        place = (place + 1) & mask
    table[place] = count
    names[count, 0], names[count, 1] = name_a, name_b
    return count


@kernel
def _copy_vertex(vertices_t0, vertices_t1, vertex, corners, query, corner):
    for k in range(3):
        corners[query, corner, k] = vertices_t0[vertex, k]
        corners[query, corner + 4, k] = vertices_t1[vertex, k]


@kernel
def collect_queries(
    a_t0, a_t1, faces_a, turn_a, b_t0, b_t1, faces_b, turn_b, face_a, face_b, tables, point_names, points, edge_names, edges, slots
):
    """Write the queries of rows face_a, face_b (n,) that are not culled, and their numbers into slots (n,15), -1 where culled.

    a_t0, a_t1, b_t0, b_t1 (v,3) vertices at the ends; tables (2, power of two) int32 filled with -1; names (most,2) int64 and
    corners (most,8,3) of queries of corners against faces (most: 6 n) and of pairs of edges (9 n). Returns the number of each.
    """
    point_count, edge_count = 0, 0
    for row in range(face_a.shape[0]):
        i, j = face_a[row], face_b[row]
        for code in range(CODES):
            slots[row, code] = -1
        box_a0, box_a1 = box_of_face(a_t0, faces_a, i), box_of_face(a_t1, faces_a, i)
        box_b0, box_b1 = box_of_face(b_t0, faces_b, j), box_of_face(b_t1, faces_b, j)
        bulge = bulge_of_face(a_t0, a_t1, faces_a, i, turn_a) + bulge_of_face(b_t0, b_t1, faces_b, j, turn_b)
        if stay_apart(box_a0, box_a1, box_b0, box_b1, bulge):
            continue
        for k in range(3):
            v = faces_a[i, k]
            if not stay_apart(box_of_edge(a_t0, v, v), box_of_edge(a_t1, v, v), box_b0, box_b1, bulge):
                number = numbered(tables[0], point_names, point_count, int(v), -1 - int(j))
                if number == point_count:
                    _copy_vertex(a_t0, a_t1, v, points, number, 0)
                    for m in range(3):
                        _copy_vertex(b_t0, b_t1, faces_b[j, m], points, number, 1 + m)
                    point_count += 1
                slots[row, k] = number
            w = faces_b[j, k]
            if not stay_apart(box_a0, box_a1, box_of_edge(b_t0, w, w), box_of_edge(b_t1, w, w), bulge):
                number = numbered(tables[0], point_names, point_count, -1 - int(i), int(w))
                if number == point_count:
                    _copy_vertex(b_t0, b_t1, w, points, number, 0)
                    for m in range(3):
                        _copy_vertex(a_t0, a_t1, faces_a[i, m], points, number, 1 + m)
                    point_count += 1
                slots[row, FIRST_OF_B + k] = number
        for k in range(3):
            p, q = faces_a[i, k], faces_a[i, (k + 1) % 3]
            p, q = min(p, q), max(p, q)
            box_p0, box_p1 = box_of_edge(a_t0, p, q), box_of_edge(a_t1, p, q)
            if stay_apart(box_p0, box_p1, box_b0, box_b1, bulge):
                continue
            for m in range(3):
                r, s = faces_b[j, m], faces_b[j, (m + 1) % 3]
                r, s = min(r, s), max(r, s)
                if stay_apart(box_p0, box_p1, box_of_edge(b_t0, r, s), box_of_edge(b_t1, r, s), bulge):
                    continue
                number = numbered(tables[1], edge_names, edge_count, (int(p) << 31) | int(q), (int(r) << 31) | int(s))
                if number == edge_count:
                    _copy_vertex(a_t0, a_t1, p, edges, number, 0)
                    _copy_vertex(a_t0, a_t1, q, edges, number, 1)
                    _copy_vertex(b_t0, b_t1, r, edges, number, 2)
                    _copy_vertex(b_t0, b_t1, s, edges, number, 3)
                    edge_count += 1
                slots[row, FIRST_OF_EDGES + 3 * k + m] = number
    return point_count, edge_count


@kernel
def least_times(slots, point_times, edge_times, together, time, code):
    """Write the least time of the queries of each row (inf if none), and the lowest code that is later by at most `together`."""
    for row in range(slots.shape[0]):
        least = float("inf")
        for k in range(CODES):
            number = slots[row, k]
            if number >= 0:
                least = min(least, point_times[number] if k < FIRST_OF_EDGES else edge_times[number])
        time[row] = least
        code[row] = -1
        if least <= 1.0:
            for k in range(CODES):
                number = slots[row, k]
                if number >= 0 and (point_times[number] if k < FIRST_OF_EDGES else edge_times[number]) <= least + together:
                    code[row] = k
                    break


@kernel
def write_features(code, face_a, face_b, faces_a, faces_b, kind_a, vertices_a, kind_b, vertices_b):
    """Write the features of codes (n,) int8 of rows: kinds (n,) uint8, and vertices (n,3) int32 filled up with -1."""
    for row in range(code.shape[0]):
        c, i, j = code[row], face_a[row], face_b[row]
        for k in range(3):
            vertices_a[row, k], vertices_b[row, k] = -1, -1
        kind_a[row], kind_b[row] = 0, 0
        if c < 0:
            continue
        if FIRST_OF_EDGES <= c < FACES:
            kind_a[row], kind_b[row] = 2, 2
            k, m = (c - FIRST_OF_EDGES) // 3, (c - FIRST_OF_EDGES) % 3
            p, q = faces_a[i, k], faces_a[i, (k + 1) % 3]
            r, s = faces_b[j, m], faces_b[j, (m + 1) % 3]
            vertices_a[row, 0], vertices_a[row, 1] = min(p, q), max(p, q)
            vertices_b[row, 0], vertices_b[row, 1] = min(r, s), max(r, s)
            continue
        if c < FIRST_OF_B:
            kind_a[row], vertices_a[row, 0] = 1, faces_a[i, c]
        else:
            kind_a[row] = 3
            for k in range(3):
                vertices_a[row, k] = faces_a[i, k]
        if FIRST_OF_B <= c < FIRST_OF_EDGES:
            kind_b[row], vertices_b[row, 0] = 1, faces_b[j, c - FIRST_OF_B]
        else:
            kind_b[row] = 3
            for k in range(3):
                vertices_b[row, k] = faces_b[j, k]
