"""Questions to the Voronoi regions of a polyhedron: what a point or a segment is beyond of.

All coordinates are in the frame of the polyhedron whose region is asked. Planes point outwards from a feature to the neighbour
behind them; a point is in the region where it is beyond no plane. Kernels read the arrays of `polyhedron.py`: coordinates and unit
vectors in `numbers`, and what belongs to what in `links`.
"""

import math

from jostle.kernels.jit import kernel
from jostle.methods.closest_features.polyhedron import EDGES, FACE, FACE_FIRST, FACES, HEADER, VERTEX, VERTEX_FIRST, VERTICES

NONE = -1


@kernel(forceinline=True)
def moved(move, k, x, y, z):
    """The point (x, y, z) under the pose move[k]."""
    return (
        ((move[k, 0, 0] * x + move[k, 0, 1] * y) + move[k, 0, 2] * z) + move[k, 0, 3],
        ((move[k, 1, 0] * x + move[k, 1, 1] * y) + move[k, 1, 2] * z) + move[k, 1, 3],
        ((move[k, 2, 0] * x + move[k, 2, 1] * y) + move[k, 2, 2] * z) + move[k, 2, 3],
    )


@kernel(forceinline=True)
def vertex_at(numbers, v):
    """The coordinates of vertex v."""
    return numbers[3 * v], numbers[3 * v + 1], numbers[3 * v + 2]


@kernel(forceinline=True)
def along(numbers, place, x, y, z):
    """The product of the vector at `place` with (x, y, z)."""
    return (numbers[place] * x + numbers[place + 1] * y) + numbers[place + 2] * z


@kernel(forceinline=True)
def links_of_edge(links, e):
    """Tail and head of an edge."""
    return int(links[HEADER + 4 * e]), int(links[HEADER + 4 * e + 1])


@kernel(forceinline=True)
def edge_place(links, e):
    """Where the three vectors of edge e begin in `numbers`."""
    return 3 * links[VERTICES] + 9 * e


@kernel(forceinline=True)
def normal_place(links, f):
    """Where the normal of face f begins in `numbers`, followed by the height of its plane over the centre."""
    return 3 * links[VERTICES] + 9 * links[EDGES] + 4 * f


@kernel(forceinline=True)
def centre_of(numbers):
    """The centre about which heights of planes are stored: the last three numbers."""
    last = numbers.shape[0] - 3
    return numbers[last], numbers[last + 1], numbers[last + 2]


@kernel(forceinline=True)
def height_over(numbers, links, f, x, y, z):
    """The signed distance of a point from the plane of face f: positive outside."""
    cx, cy, cz = centre_of(numbers)
    place = normal_place(links, f)
    return along(numbers, place, x - cx, y - cy, z - cz) - numbers[place + 3]


@kernel
def highest_face(numbers, links, x, y, z):
    """The face whose plane a point is farthest in front of, or least behind; and its height: not positive inside of the body."""
    cx, cy, cz = centre_of(numbers)
    x, y, z = x - cx, y - cy, z - cz
    place = normal_place(links, 0)
    highest, found = -math.inf, 0
    for f in range(links[FACES]):
        height = along(numbers, place, x, y, z) - numbers[place + 3]
        place += 4
        if height > highest:
            highest = height
            found = f
    return found, highest


@kernel
def edge_beyond_vertex(numbers, links, v, x, y, z, slack):
    """The edge of vertex v behind whose plane the point lies farthest, or NONE where it is in the region of v."""
    vx, vy, vz = vertex_at(numbers, v)
    x, y, z = x - vx, y - vy, z - vz
    farthest, found = slack, NONE
    first = links[VERTEX_FIRST] + v
    for k in range(links[first], links[first + 1]):
        code = links[k]
        beyond = along(numbers, edge_place(links, code >> 1), x, y, z)
        if code & 1:
            beyond = -beyond
        if beyond > farthest:
            farthest = beyond
            found = code >> 1
    return found


@kernel
def edge_beyond_face(numbers, links, f, x, y, z):
    """The edge of face f behind whose plane the point lies farthest, or NONE where it is over or under the face."""
    farthest, found = 0.0, NONE
    first = links[FACE_FIRST] + f
    for k in range(links[first], links[first + 1]):
        e = links[k] >> 1
        vx, vy, vz = vertex_at(numbers, links[HEADER + 4 * e])
        inside = along(numbers, edge_place(links, e) + 3 + 3 * (links[k] & 1), x - vx, y - vy, z - vz)
        if inside < farthest:
            farthest = inside
            found = e
    return found


@kernel
def ends_of_edge(numbers, links, e, move, k):
    """Tail and head of an edge under the pose move[k]: six floats."""
    tail, head = links_of_edge(links, e)
    tx, ty, tz = vertex_at(numbers, tail)
    hx, hy, hz = vertex_at(numbers, head)
    tx, ty, tz = moved(move, k, tx, ty, tz)
    hx, hy, hz = moved(move, k, hx, hy, hz)
    return tx, ty, tz, hx, hy, hz


@kernel
def falls_towards(numbers, links, kind, index, px, py, pz, wx, wy, wz):
    """How the distance from a vertex or face changes at the point p along w: the sign of its derivative."""
    if kind == VERTEX:
        vx, vy, vz = vertex_at(numbers, index)
        return ((px - vx) * wx + (py - vy) * wy) + (pz - vz) * wz
    rise = along(numbers, normal_place(links, index), wx, wy, wz)
    return rise if height_over(numbers, links, index, px, py, pz) > 0.0 else -rise


@kernel
def region_of_edge(numbers, links, e, tx, ty, tz, hx, hy, hz):
    """Cut the segment from t to h by the region of edge e: the feature to go to, or (NONE, NONE) where it is nearest inside."""
    tail, head = links_of_edge(links, e)
    ax, ay, az = vertex_at(numbers, tail)
    bx, by, bz = vertex_at(numbers, head)
    place = edge_place(links, e)
    low, high, low_kind, high_kind, low_index, high_index = 0.0, 1.0, NONE, NONE, NONE, NONE
    for plane in range(4):
        if plane == 0:
            t, h = along(numbers, place, tx - ax, ty - ay, tz - az), along(numbers, place, hx - ax, hy - ay, hz - az)
            kind, index = VERTEX, tail
        elif plane == 1:
            t, h = -along(numbers, place, tx - bx, ty - by, tz - bz), -along(numbers, place, hx - bx, hy - by, hz - bz)
            kind, index = VERTEX, head
        else:
            across = place + 3 * (plane - 1)
            t, h = -along(numbers, across, tx - ax, ty - ay, tz - az), -along(numbers, across, hx - ax, hy - ay, hz - az)
            kind, index = FACE, int(links[HEADER + 4 * e + plane])
        if t < 0.0 and h < 0.0:
            return kind, index
        if t < 0.0:
            cut = t / (t - h)
            if cut > low or low_kind == NONE:
                low, low_kind, low_index = cut, kind, index
        elif h < 0.0:
            cut = t / (t - h)
            if cut < high or high_kind == NONE:
                high, high_kind, high_index = cut, kind, index
    wx, wy, wz = hx - tx, hy - ty, hz - tz
    if low_kind != NONE:
        slope = falls_towards(numbers, links, low_kind, low_index, tx + low * wx, ty + low * wy, tz + low * wz, wx, wy, wz)
        if slope > 0.0:
            return low_kind, low_index
    if high_kind != NONE:
        slope = falls_towards(numbers, links, high_kind, high_index, tx + high * wx, ty + high * wy, tz + high * wz, wx, wy, wz)
        if slope < 0.0:
            return high_kind, high_index
    if low > high:
        return low_kind, low_index  # cut away by two planes: one of the two had to be nearer, rounding hid which
    return NONE, NONE


@kernel
def climb(numbers, links, v, x, y, z):
    """The vertex farthest along (x, y, z), from v on: on a convex body the one that no neighbour exceeds."""
    for _ in range(links[VERTICES]):
        vx, vy, vz = vertex_at(numbers, v)
        highest, found = 0.0, NONE
        first = links[VERTEX_FIRST] + v
        for k in range(links[first], links[first + 1]):
            other = int(links[HEADER + 4 * (links[k] >> 1) + 1 - (links[k] & 1)])
            ox, oy, oz = vertex_at(numbers, other)
            rise = (x * (ox - vx) + y * (oy - vy)) + z * (oz - vz)
            if rise > highest:
                highest = rise
                found = other
        if found == NONE:
            break
        v = found
    return v
