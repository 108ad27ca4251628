"""Do the interiors of two closed surfaces of any kind meet? By the test points of `rational.py`, most of them without its numbers.

Beside faces, exact winding numbers of flags decide (`geometry/winding.py`). An edge is cut where the faces that contain a part of
it begin and end. Around one piece these faces are half planes, in order by exact predicates, and a winding number changes by one
at each of them: that of one sector is counted along a ray, in floats with a bound of their error. Where floats do not tell,
`rational.py` decides the edge.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from jostle.containment import rational
from jostle.containment.face_contacts import side_in_shadow
from jostle.containment.sectors import APART, MEETING, UNDECIDED, turn
from jostle.geometry.flat_triangles import projection_axis
from jostle.geometry.predicates import orient2d, orient3d
from jostle.geometry.vector import Vec2, point_at
from jostle.geometry.winding_columns import windings
from jostle.kernels.arrays import read_only_view
from jostle.kernels.jit import kernel
from jostle.kernels.numbers import as_int64

Floats = NDArray[np.float64]
Ints = NDArray[np.int32]
Rows = tuple[NDArray[np.int64], NDArray[np.int64]]  # of each face the first of its rows, and the face that touches it in each row

EPSILON = 2.0**-52
MOST = 128  # faces that contain a part of one edge, and places where it is cut; more are left to whole numbers
FEW_ROWS = 100  # to look at, for which whole numbers take some 20 ms, and nothing is compiled
EDGES_AT_ONCE = 2_000  # for one call of the kernel, so that Ctrl-C is heard

# Columns of cuts: where along the edge and how far off at most; then a vertex, or the ends of a side that crosses the edge, and the
# first axis of a shadow that keeps their plane.
WHERE, ERROR, P, Q, AXIS, CUT = 0, 1, 2, 5, 8, 9


def interiors_meet(
    vertices_a: Floats,
    faces_a: Ints,
    vertices_b: Floats,
    faces_b: Ints,
    face_a: Ints,
    face_b: Ints,
    undecided: NDArray[np.bool_] | None = None,
) -> bool:
    """Return whether the interiors of two closed surfaces meet; parameters as in `rational.interiors_meet`."""
    chosen = np.ones(len(face_a), bool) if undecided is None else undecided
    if np.count_nonzero(chosen) < FEW_ROWS:
        return rational.interiors_meet(vertices_a, faces_a, vertices_b, faces_b, face_a, face_b, undecided)
    touching_a, touching_b = np.unique(face_a[chosen]), np.unique(face_b[chosen])
    corners = read_only_view(np.concatenate([vertices_a[faces_a], vertices_b[faces_b]]))
    has_area = np.empty(len(corners), bool)
    areas_into(corners, has_area)
    faces = np.concatenate([touching_a, touching_b + np.int64(len(faces_a))])
    faces = faces[has_area[faces]]
    if _meet_beside(corners[faces].reshape(-1, 9), ((vertices_a, faces_a), (vertices_b, faces_b))):
        return True
    left = _left_by_floats(corners, len(faces_a), faces, _rows_of_faces(face_a, face_b, len(faces_a), has_area))
    if left is None or len(left) == 0:
        return left is None
    sides: tuple[list[tuple[int, int]], ...] = ([], [])
    for side in left.tolist():
        of_b = side >= 3 * len(faces_a)
        sides[of_b].append(divmod(side - 3 * len(faces_a) * of_b, 3))
    return rational.interiors_meet(vertices_a, faces_a, vertices_b, faces_b, face_a, face_b, sides=(sides[0], sides[1]))


def _meet_beside(flags: Floats, surfaces: tuple[tuple[Floats, Ints], tuple[Floats, Ints]]) -> bool:
    """Return whether both surfaces wind on the same side of one of these faces."""
    (a, _), (b, _) = (windings(flags, vertices, faces) for vertices, faces in surfaces)
    above = (a[:, 0] != 0) & (b[:, 0] != 0)
    below = (a[:, 0] + a[:, 2] != 0) & (b[:, 0] + b[:, 2] != 0)
    return bool((above | below).any())


def _rows_of_faces(face_a: Ints, face_b: Ints, count_a: int, has_area: NDArray[np.bool_]) -> Rows:
    """Return which faces touch each face, of those with an area: those of face f are touching[first[f] : first[f + 1]]."""
    a, b = face_a.astype(np.int64), face_b.astype(np.int64) + count_a
    both = has_area[a] & has_area[b]
    one, other = np.concatenate([a[both], b[both]]), np.concatenate([b[both], a[both]])
    first = np.concatenate([[0], np.cumsum(np.bincount(one, minlength=len(has_area)))])
    return first, other[np.argsort(one, kind="stable")]


def _left_by_floats(corners: Floats, count_a: int, faces: NDArray[np.int64], rows: Rows) -> NDArray[np.int64] | None:
    """Return which sides (3 times a face, plus the corner it begins at) are not decided, or None where interiors meet."""
    sides = (3 * faces[:, None] + np.arange(3)).ravel()
    start, end = corners.reshape(-1, 3)[sides], corners[:, [1, 2, 0]].reshape(-1, 3)[sides]
    swapped = (start[:, 0] > end[:, 0]) | (
        (start[:, 0] == end[:, 0]) & ((start[:, 1] > end[:, 1]) | ((start[:, 1] == end[:, 1]) & (start[:, 2] > end[:, 2])))
    )
    edges = np.where(swapped[:, None], np.hstack([end, start]), np.hstack([start, end]))
    # Each edge of either surface once: all faces around it touch the same there.
    of_b = sides >= 3 * count_a
    order = np.lexsort((sides, *edges.T, of_b))
    edges, of_b, sides = edges[order], of_b[order], sides[order]
    new = np.ones(len(sides), bool)
    new[1:] = (edges[1:] != edges[:-1]).any(axis=1) | (of_b[1:] != of_b[:-1])
    new &= (edges[:, :3] != edges[:, 3:]).any(axis=1)
    edges, sides = read_only_view(edges[new].reshape(-1, 2, 3)), sides[new]
    first_row, touching = rows
    boxes = np.concatenate([corners.min(axis=1), corners.max(axis=1)], axis=1)
    answers = np.empty(len(sides), np.uint8)
    for first in range(0, len(sides), EDGES_AT_ONCE):
        last = min(first + EDGES_AT_ONCE, len(sides))
        if test_edges(edges, sides, corners, boxes, count_a, first_row, touching, first, last, answers):
            return None
    left: NDArray[np.int64] = sides[answers == UNDECIDED]
    return left


@kernel
def areas_into(corners, has_area):  # type: ignore[no-untyped-def]
    """Write which faces (m,3,3) have an area."""
    for f in range(corners.shape[0]):
        has_area[f] = projection_axis(point_at(corners[f], 0), point_at(corners[f], 1), point_at(corners[f], 2)) >= 0


@kernel
def test_edges(edges, sides, corners, boxes, count_a, first_row, touching, first, last, answers):  # type: ignore[no-untyped-def]
    """Write APART or UNDECIDED for the edges first … last - 1; return True as soon as interiors meet at one.

    edges (e,2,3), sides (e,) a side of each, corners (m,3,3) and boxes (m,6) of the faces of both surfaces, the first count_a of
    which are those of the one; first_row (m + 1,) and touching: which faces of the other surface touch each face.
    """
    m = corners.shape[0]
    largest, top = 0.0, -np.inf
    for f in range(m):
        top = max(top, boxes[f, 5])
        for k in range(6):
            largest = max(largest, abs(boxes[f, k]))
    seen = np.full(m, -1)  # last edge for which a face was looked at
    cuts = np.empty((MOST, CUT))
    found, here = np.empty(MOST, np.int64), np.empty((MOST, 5), np.int64)  # faces, and what `add_face` says of them
    ends = np.empty((MOST, 2), np.int64)
    for e in range(first, last):
        answers[e] = APART
        line = edges[e]
        face = sides[e] // 3
        count = 0
        for i in range(first_row[face], first_row[face + 1]):
            count = add_face(corners, boxes, touching[i], line, seen, e, found, here, count)
        others = count
        for j in range(min(others, MOST)):
            for i in range(first_row[found[j]], first_row[found[j] + 1]):
                count = add_face(corners, boxes, touching[i], line, seen, e, found, here, count)
        if others == 0:
            continue
        answers[e] = UNDECIDED
        if count <= MOST:
            cut_count = cut_edge(corners, line, found, here, count, cuts, ends)
            if cut_count > 0:
                answers[e] = test_pieces(corners, boxes, count_a, line, found, here, count, cuts[:cut_count], ends, largest, top)
        if answers[e] == MEETING:
            return True
    return False


@kernel
def add_face(corners, boxes, f, line, seen, stamp, found, here, count):  # type: ignore[no-untyped-def]
    """Add a face to the list if it contains more than a point of the line's segment; return the new length of the list.

    Its row of `here` (5,) gets on which side of the line its corners lie, how it is turned in a shadow, and that shadow's axis.
    """
    if seen[f] == stamp:
        return count
    seen[f] = stamp
    for c in range(3):
        if boxes[f, c] > max(line[0, c], line[1, c]) or boxes[f, 3 + c] < min(line[0, c], line[1, c]):
            return count
    t = corners[f]
    for k in range(2):
        if orient3d(point_at(t, 0), point_at(t, 1), point_at(t, 2), point_at(line, k)) != 0:
            return count
    row = here[min(count, MOST - 1)]
    zero = np.int64(0)
    for u in range(3):
        v = (u + 1) % 3
        row[3], row[4] = side_in_shadow(t, zero, t, zero + 1, t, zero + 2, u, v), u
        if row[3] != 0:
            break
    u = row[4]
    v = (u + 1) % 3
    on_line = 0
    for k in range(3):
        row[k] = side_in_shadow(line, zero, line, zero + 1, t, k, u, v)
        on_line += row[k] == 0
    if min(row[0], row[1], row[2]) < 0 and max(row[0], row[1], row[2]) > 0:
        for k in range(3):
            outside = True
            for end in range(2):
                outside = outside and row[3] * side_in_shadow(t, k, t, (k + 1) % 3, line, end, u, v) <= 0
            if outside:
                return count
    elif on_line == 2:
        c = longest_axis(line)
        lower, upper = np.inf, -np.inf
        for k in range(3):
            if row[k] == 0:
                lower, upper = min(lower, t[k, c]), max(upper, t[k, c])
        if max(lower, min(line[0, c], line[1, c])) >= min(upper, max(line[0, c], line[1, c])):
            return count
    else:
        return count
    if count < MOST:
        found[count] = f
    return count + 1


@kernel
def longest_axis(line):  # type: ignore[no-untyped-def]
    """The coordinate that changes most along a segment (2,3)."""
    longest = 0
    for c in range(1, 3):
        if abs(line[1, c] - line[0, c]) > abs(line[1, longest] - line[0, longest]):
            longest = c
    return longest


@kernel
def cut_edge(corners, line, found, here, count, cuts, ends):  # type: ignore[no-untyped-def]
    """Cut a segment at the ends of what each face contains of it; return how many cuts there are, or 0 where floats do not tell.

    The first two cuts are the ends of the segment. ends (k,2) gets the two cuts of each face.
    """
    c = longest_axis(line)
    for k in range(2):
        cuts[k, WHERE], cuts[k, ERROR] = line[k, c], 0.0
        for i in range(3):
            cuts[k, P + i] = line[k, i]
    cut_count = 2
    for j in range(count):
        t = corners[found[j]]
        end = 0
        for k in range(3):
            n = (k + 1) % 3
            if here[j, k] == 0:
                cut = vertex_cut(t[k], c, cuts, cut_count)
            elif here[j, k] * here[j, n] < 0:
                cut = crossing_cut(t, k, n, here[j, 4], c, line, cuts, cut_count)
            else:
                continue
            if cut < 0 or cut >= MOST - 1:
                return 0
            ends[j, end] = cut
            end += 1
            cut_count = max(cut_count, cut + 1)
    return cut_count


@kernel
def vertex_cut(vertex, c, cuts, cut_count):  # type: ignore[no-untyped-def]
    """Return the cut at a vertex on the line, which may be a new one; -1 where floats do not tell."""
    x = vertex[c]
    low = 0 if cuts[0, WHERE] < cuts[1, WHERE] else 1
    if x <= cuts[low, WHERE]:
        return low
    if x >= cuts[1 - low, WHERE]:
        return 1 - low
    for j in range(cut_count):
        if abs(x - cuts[j, WHERE]) > cuts[j, ERROR]:
            continue
        u = int(cuts[j, AXIS]) if cuts[j, ERROR] > 0.0 else 0
        if cuts[j, ERROR] == 0.0 or side_of_cut(cuts, j, vertex[u], vertex[(u + 1) % 3], u) == 0:
            return j
        return -1
    cuts[cut_count, WHERE], cuts[cut_count, ERROR] = x, 0.0
    for i in range(3):
        cuts[cut_count, P + i] = vertex[i]
    return cut_count


@kernel
def side_of_cut(cuts, j, x, y, u):  # type: ignore[no-untyped-def]
    """On which side of a cut's crossing side a point lies in its shadow."""
    v = (u + 1) % 3
    return orient2d(Vec2(cuts[j, P + u], cuts[j, P + v]), Vec2(cuts[j, Q + u], cuts[j, Q + v]), Vec2(x, y))


@kernel
def crossing_cut(t, k, n, axis, c, line, cuts, cut_count):  # type: ignore[no-untyped-def]
    """Return the cut where the side of corners k and n crosses the line, which may be a new one; -1 where floats do not tell."""
    u, v = axis, (axis + 1) % 3
    new = cut_count
    cuts[new, AXIS] = u
    for i in range(3):
        cuts[new, P + i], cuts[new, Q + i] = t[k, i], t[n, i]
    for end in range(2):
        if side_of_cut(cuts, new, line[end, u], line[end, v], u) == 0:
            return end
    px, py, dx, dy = t[k, u], t[k, v], t[n, u] - t[k, u], t[n, v] - t[k, v]
    one = dx * (line[0, v] - py) - dy * (line[0, u] - px)
    other = dx * (line[1, v] - py) - dy * (line[1, u] - px)
    # A product of two rounded differences is off by less than 4 EPSILON of its size; the bounds below have room for more.
    size = max(abs(dx), abs(dy)) * max(abs(line[0, u] - px), abs(line[0, v] - py), abs(line[1, u] - px), abs(line[1, v] - py))
    across = one - other
    if abs(across) <= 256.0 * EPSILON * size:
        return -1
    part, length = one / across, line[1, c] - line[0, c]
    x = line[0, c] + part * length
    error = 128.0 * (1.0 + abs(part)) * EPSILON * (size / abs(across)) * abs(length)
    error += 8.0 * EPSILON * (abs(line[0, c]) + abs(line[1, c]) + abs(x))
    low = 0 if line[0, c] < line[1, c] else 1
    if x + error < line[low, c]:
        return low
    if x - error > line[1 - low, c]:
        return 1 - low
    for j in range(cut_count):
        if abs(x - cuts[j, WHERE]) > error + cuts[j, ERROR]:
            continue
        # The same place for certain: a vertex on the side, or a side along it.
        same = True
        for at in range(P, Q + 3 if cuts[j, ERROR] > 0.0 else P + 3, 3):
            same = same and side_of_cut(cuts, new, cuts[j, at + u], cuts[j, at + v], u) == 0
        return j if same else -1
    cuts[new, WHERE], cuts[new, ERROR] = x, error
    return new


@kernel
def test_pieces(corners, boxes, count_a, line, found, here, count, cuts, ends, largest, top):  # type: ignore[no-untyped-def]
    """Whether interiors meet around a piece of an edge between two cuts: APART, MEETING or UNDECIDED."""
    c = longest_axis(line)
    order = np.argsort(cuts[:, WHERE])
    rank = np.empty(len(order), np.int64)
    for i in range(len(order)):
        rank[order[i]] = i
    points, jumps, of_b = np.empty((3 + 2 * count, 3)), np.empty(2 * count, np.int64), np.empty(2 * count, np.bool_)
    around, middle, way = np.empty(count, np.int64), np.empty(3), np.empty(3)
    for i in range(3):
        points[0, i], points[1, i] = line[0, i], line[1, i]
        # A direction that no face is likely to have, near the vertical: few faces stand above a point. Edges may be vertical too.
        points[2, i] = line[0, i] + largest * (0.01371 if i == 0 else 0.02917 if i == 1 else 1.0)
        way[i] = points[2, i] - line[0, i]
    answer = APART
    for piece in range(len(order) - 1):
        low, high = order[piece], order[piece + 1]
        planes, held, some_a, some_b = 0, 0, False, False
        for j in range(count):
            if min(rank[ends[j, 0]], rank[ends[j, 1]]) > piece or max(rank[ends[j, 0]], rank[ends[j, 1]]) <= piece:
                continue
            around[held] = found[j]
            held += 1
            is_b = found[j] >= count_a
            some_a, some_b = some_a or not is_b, some_b or is_b
            for k in range(3):
                # One corner on either side of the line.
                if here[j, k] == 0 or (k > 0 and here[j, k] == here[j, 0]) or (k > 1 and here[j, k] == here[j, 1]):
                    continue
                # On the way around the line, from behind a face to before it, the winding number falls.
                jumps[planes], of_b[planes] = -here[j, k] * here[j, 3], is_b
                for i in range(3):
                    points[3 + planes, i] = corners[found[j], k, i]
                planes += 1
        if not (some_a and some_b):
            continue
        x = cuts[low, WHERE] + 0.4375 * (cuts[high, WHERE] - cuts[low, WHERE])
        if not cuts[low, WHERE] + cuts[low, ERROR] < x < cuts[high, WHERE] - cuts[high, ERROR]:
            answer = UNDECIDED
            continue
        for i in range(3):
            middle[i] = line[0, i] + (line[1, i] - line[0, i]) * ((x - line[0, c]) / (line[1, c] - line[0, c]))
        middle[c] = x
        found_here = sectors_wind(
            points[: 3 + planes], jumps, of_b, corners, boxes, count_a, around[:held], middle, way, largest, top
        )
        if found_here == MEETING:
            return MEETING
        answer = max(answer, found_here)
    return answer


@kernel
def sectors_wind(points, jumps, of_b, corners, boxes, count_a, around, middle, way, largest, top):  # type: ignore[no-untyped-def]
    """Whether both surfaces wind in one of the sectors between half planes: APART, MEETING or UNDECIDED.

    points (3 + k,3): two of the line, one beside it in the direction of the ray, and one of each half plane.
    """
    planes = points.shape[0] - 3
    order, turned = np.empty(planes, np.int64), np.empty(planes, np.int64)
    two = as_int64(2)
    for k in range(planes):
        turned[k] = turn(points, two, 3 + k)
        if turned[k] <= 0:
            return UNDECIDED
        at = k
        while at > 0:
            before = order[at - 1]
            later = turned[before] - turned[k]
            if later == 0 and turned[k] != 2:
                later = 1 if turn(points, 3 + before, 3 + k) == 3 else 0
            if later <= 0:
                break
            order[at] = before
            at -= 1
        order[at] = k
    winds_a, certain_a = ray_winding(corners, boxes, 0 * two, count_a, around, middle, way, largest, top)
    winds_b, certain_b = ray_winding(corners, boxes, count_a, corners.shape[0], around, middle, way, largest, top)
    if not (certain_a and certain_b):
        return UNDECIDED
    start_a, start_b = winds_a, winds_b
    if winds_a != 0 and winds_b != 0:
        return MEETING
    meeting = False
    for i in range(planes):
        k = order[i]
        if of_b[k]:
            winds_b += jumps[k]
        else:
            winds_a += jumps[k]
        if i + 1 < planes:
            n = order[i + 1]
            if turned[n] == turned[k] and (turned[k] == 2 or turn(points, 3 + k, 3 + n) == 0):
                continue  # in the same half plane
        meeting = meeting or (winds_a != 0 and winds_b != 0)
    if winds_a != start_a or winds_b != start_b:
        return UNDECIDED
    return MEETING if meeting else APART


@kernel
def ray_winding(corners, boxes, first, last, around, middle, way, largest, top):  # type: ignore[no-untyped-def]
    """Return how the faces first … last - 1 but those in `around` wind about a point, by a ray, and whether that is certain."""
    off = 32.0 * EPSILON * largest  # of a coordinate's distance from the point, which is rounded itself: less than 12 EPSILON
    lower, upper = np.empty(3), np.empty(3)
    up = max(top - middle[2], 0.0) / way[2]
    for i in range(3):
        lower[i], upper[i] = middle[i] - 4.0 * off, middle[i] + up * way[i] * (1.0 + 8.0 * EPSILON) + 4.0 * off
    winding = 0
    longest = max(abs(way[0]), abs(way[1]), abs(way[2]))
    for f in range(first, last):
        if (
            boxes[f, 0] > upper[0] or boxes[f, 3] < lower[0]
            or boxes[f, 1] > upper[1] or boxes[f, 4] < lower[1]
            or boxes[f, 5] < lower[2]
        ):  # fmt: skip
            continue
        skipped = False
        for k in range(around.shape[0]):
            skipped = skipped or around[k] == f
        if skipped:
            continue
        t = corners[f]
        ax, ay, az = t[0, 0] - middle[0], t[0, 1] - middle[1], t[0, 2] - middle[2]
        bx, by, bz = t[1, 0] - middle[0], t[1, 1] - middle[1], t[1, 2] - middle[2]
        cx, cy, cz = t[2, 0] - middle[0], t[2, 1] - middle[1], t[2, 2] - middle[2]
        reach = max(abs(ax), abs(ay), abs(az), abs(bx), abs(by), abs(bz), abs(cx), abs(cy), abs(cz))
        # Six products of three factors, of which two are off by `off` and one by a rounding.
        margin = 100.0 * longest * reach * off
        volume = ax * (by * cz - bz * cy) + ay * (bz * cx - bx * cz) + az * (bx * cy - by * cx)
        above, below, unknown = 0, 0, 0
        for _ in range(3):
            side = way[0] * (by * cz - bz * cy) + way[1] * (bz * cx - bx * cz) + way[2] * (bx * cy - by * cx)
            if side > margin:
                above += 1
            elif side < -margin:
                below += 1
            else:
                unknown += 1
            ax, ay, az, bx, by, bz, cx, cy, cz = bx, by, bz, cx, cy, cz, ax, ay, az
        if above > 0 and below > 0:
            continue
        if unknown > 0 or abs(volume) <= 200.0 * reach * reach * off:
            return 0, False
        if above == 3 and volume > 0.0:
            winding += 1
        elif below == 3 and volume < 0.0:
            winding -= 1
    return winding, True
