"""The walk of Lin and Canny (1991): from a pair of features to a neighbouring pair that is nearer, until none is.

The closest points of two convex bodies are on a pair of features each of which holds the other's point in its Voronoi region;
and such a pair is the closest of all. Where a plane of a region is violated, the feature behind that plane is nearer and takes
the place of the present one. From last frame's pair that takes a step or two, whatever the number of faces.

Deviation: edges are not represented by their closest points but cut by the planes of the other feature's region, and where the
distance still falls at the cut, the walk goes on behind it (Mirtich 1998, V-Clip). Parallel edges and faces, where closest points
are not unique and where the original walk runs in circles, need no special case so; and an edge through a face, or a vertex
behind all faces, is a witness of penetration. Points of one body are brought into the frame of the other, whose planes stay as they
were prepared: right for poses that are not quite orthonormal, too. After `most` steps the walk gives up and says so.
"""

import math

from jostle.geometry.segment_segment import closest_points_of_segments
from jostle.geometry.triangle import Segment
from jostle.geometry.vector import Vec3
from jostle.kernels.jit import kernel
from jostle.methods.closest_features.polyhedron import EDGE, FACE, FACE_FIRST, HEADER, VERTEX, VERTEX_FIRST
from jostle.methods.closest_features.regions import (
    NONE,
    along,
    edge_beyond_face,
    edge_beyond_vertex,
    edge_place,
    ends_of_edge,
    height_over,
    highest_face,
    links_of_edge,
    moved,
    normal_place,
    region_of_edge,
    vertex_at,
)

WALKING, APART, INSIDE, LOST = 0, 1, 2, 3
PARALLEL = 2.0**-46  # an edge that falls less towards a face is parallel to it, as far as rounding tells


@kernel
def vertex_and_vertex(nx, lx, ny, ly, move, to_x, v, w, slack):
    """One step from two vertices: the next features, or the same ones where the walk is at its end."""
    x, y, z = vertex_at(ny, w)
    x, y, z = moved(move, to_x, x, y, z)
    e = edge_beyond_vertex(nx, lx, v, x, y, z, slack)
    if e != NONE:
        return WALKING, EDGE, e, VERTEX, w
    x, y, z = vertex_at(nx, v)
    x, y, z = moved(move, 1 - to_x, x, y, z)
    e = edge_beyond_vertex(ny, ly, w, x, y, z, slack)
    if e != NONE:
        return WALKING, VERTEX, v, EDGE, e
    return APART, VERTEX, v, VERTEX, w


@kernel
def vertex_and_edge(nx, lx, ny, ly, move, to_x, v, e, slack):
    """One step from a vertex of X and an edge of Y."""
    x, y, z = vertex_at(nx, v)
    x, y, z = moved(move, 1 - to_x, x, y, z)
    tail, head = links_of_edge(ly, e)
    tx, ty, tz = vertex_at(ny, tail)
    hx, hy, hz = vertex_at(ny, head)
    place = edge_place(ly, e)
    from_tail = along(ny, place, x - tx, y - ty, z - tz)
    if from_tail < 0.0:
        return WALKING, VERTEX, v, VERTEX, tail
    if along(ny, place, x - hx, y - hy, z - hz) > 0.0:
        return WALKING, VERTEX, v, VERTEX, head
    left = along(ny, place + 3, x - tx, y - ty, z - tz)
    right = along(ny, place + 6, x - tx, y - ty, z - tz)
    if left > 0.0 or right > 0.0:
        return WALKING, VERTEX, v, FACE, int(ly[HEADER + 4 * e + (2 if left >= right else 3)])
    # The point of the edge nearest to the vertex.
    x, y, z = tx + from_tail * ny[place], ty + from_tail * ny[place + 1], tz + from_tail * ny[place + 2]
    x, y, z = moved(move, to_x, x, y, z)
    other = edge_beyond_vertex(nx, lx, v, x, y, z, slack)
    if other != NONE:
        return WALKING, EDGE, other, EDGE, e
    return APART, VERTEX, v, EDGE, e


@kernel
def vertex_and_face(nx, lx, ny, ly, move, to_x, v, f, look):
    """One step from a vertex of X and a face of Y; with the depth where the vertex is inside of Y.

    With `look` a vertex under the face is compared with all faces at once: one that was inside in the last frame mostly still is.
    """
    x, y, z = vertex_at(nx, v)
    x, y, z = moved(move, 1 - to_x, x, y, z)
    height = height_over(ny, ly, f, x, y, z)
    if look and height <= 0.0:
        found, highest = highest_face(ny, ly, x, y, z)
        if highest <= 0.0:
            return INSIDE, VERTEX, v, FACE, found, -highest
    e = edge_beyond_face(ny, ly, f, x, y, z)
    if e != NONE:
        return WALKING, VERTEX, v, EDGE, e, 0.0
    # Towards the face, in X's frame: a product with the transpose, right for any linear map.
    place = normal_place(ly, f)
    px, py, pz = ny[place], ny[place + 1], ny[place + 2]
    k = 1 - to_x
    mx = (move[k, 0, 0] * px + move[k, 1, 0] * py) + move[k, 2, 0] * pz
    my = (move[k, 0, 1] * px + move[k, 1, 1] * py) + move[k, 2, 1] * pz
    mz = (move[k, 0, 2] * px + move[k, 1, 2] * py) + move[k, 2, 2] * pz
    if height < 0.0:
        mx, my, mz = -mx, -my, -mz
    steepest, found = -PARALLEL, NONE
    first = lx[VERTEX_FIRST] + v
    for k in range(lx[first], lx[first + 1]):
        fall = along(nx, edge_place(lx, lx[k] >> 1), mx, my, mz)
        if lx[k] & 1:
            fall = -fall
        if fall < steepest:
            steepest = fall
            found = lx[k] >> 1
    if found != NONE:
        return WALKING, EDGE, found, FACE, f, 0.0
    if height > 0.0:
        return APART, VERTEX, v, FACE, f, 0.0
    # Under the face and no way up: inside of Y, unless it is in front of another face.
    found, highest = highest_face(ny, ly, x, y, z)
    if highest > 0.0:
        return WALKING, VERTEX, v, FACE, found, 0.0
    return INSIDE, VERTEX, v, FACE, found, -highest


@kernel
def edge_and_edge(nx, lx, ny, ly, move, to_x, d, e):
    """One step from two edges."""
    tx, ty, tz, hx, hy, hz = ends_of_edge(ny, ly, e, move, to_x)
    kind, index = region_of_edge(nx, lx, d, tx, ty, tz, hx, hy, hz)
    if kind != NONE:
        return WALKING, kind, index, EDGE, e
    tx, ty, tz, hx, hy, hz = ends_of_edge(nx, lx, d, move, 1 - to_x)
    kind, index = region_of_edge(ny, ly, e, tx, ty, tz, hx, hy, hz)
    if kind != NONE:
        return WALKING, EDGE, d, kind, index
    return APART, EDGE, d, EDGE, e


@kernel
def edge_that_excludes(numbers, links, f, wholly, tx, ty, tz, hx, hy, hz):
    """Of the edges of face f that have the segment from t to h outside, wholly or in part, the nearest."""
    best, found = math.inf, NONE
    first = links[FACE_FIRST] + f
    for k in range(links[first], links[first + 1]):
        e = links[k] >> 1
        tail, head = links_of_edge(links, e)
        ax, ay, az = vertex_at(numbers, tail)
        place = edge_place(links, e) + 3 + 3 * (links[k] & 1)
        t, h = along(numbers, place, tx - ax, ty - ay, tz - az), along(numbers, place, hx - ax, hy - ay, hz - az)
        if (t < 0.0 and h < 0.0) or (not wholly and (t < 0.0 or h < 0.0)):
            bx, by, bz = vertex_at(numbers, head)
            edge = Segment(Vec3(ax, ay, az), Vec3(bx, by, bz))
            squared = closest_points_of_segments(edge, Segment(Vec3(tx, ty, tz), Vec3(hx, hy, hz))).squared
            if squared < best or found == NONE:
                best = squared
                found = e
    return found


@kernel
def edge_and_face(nx, lx, ny, ly, move, to_x, d, f):
    """One step from an edge of X and a face of Y; with the share of the edge and the depth where it passes through the face."""
    tx, ty, tz, hx, hy, hz = ends_of_edge(nx, lx, d, move, 1 - to_x)
    low, high, low_edge, high_edge = 0.0, 1.0, NONE, NONE
    first = ly[FACE_FIRST] + f
    excluded = False
    for k in range(ly[first], ly[first + 1]):
        e = ly[k] >> 1
        vx, vy, vz = vertex_at(ny, ly[HEADER + 4 * e])
        place = edge_place(ly, e) + 3 + 3 * (ly[k] & 1)
        t, h = along(ny, place, tx - vx, ty - vy, tz - vz), along(ny, place, hx - vx, hy - vy, hz - vz)
        if t < 0.0 and h < 0.0:
            excluded = True
            break
        if t < 0.0:
            cut = t / (t - h)
            if cut > low or low_edge == NONE:
                low, low_edge = cut, e
        elif h < 0.0:
            cut = t / (t - h)
            if cut < high or high_edge == NONE:
                high, high_edge = cut, e
    if excluded or low > high:
        return WALKING, EDGE, d, EDGE, int(edge_that_excludes(ny, ly, f, excluded, tx, ty, tz, hx, hy, hz)), 0.0, 0.0
    wx, wy, wz = hx - tx, hy - ty, hz - tz
    at_low = height_over(ny, ly, f, tx + low * wx, ty + low * wy, tz + low * wz)
    at_high = height_over(ny, ly, f, tx + high * wx, ty + high * wy, tz + high * wz)
    if at_low == 0.0:
        return INSIDE, EDGE, d, FACE, f, low, 0.0
    if at_high == 0.0:
        return INSIDE, EDGE, d, FACE, f, high, 0.0
    if (at_low > 0.0) != (at_high > 0.0):
        share = low + (high - low) * (at_low / (at_low - at_high))
        return INSIDE, EDGE, d, FACE, f, share, min(abs(at_low), abs(at_high))
    slope = along(ny, normal_place(ly, f), wx, wy, wz)
    if at_low < 0.0:
        slope = -slope
    tail, head = links_of_edge(lx, d)
    if slope >= 0.0:
        if low_edge != NONE:
            return WALKING, EDGE, d, EDGE, int(low_edge), 0.0, 0.0
        return WALKING, VERTEX, tail, FACE, f, 0.0, 0.0
    if high_edge != NONE:
        return WALKING, EDGE, d, EDGE, int(high_edge), 0.0, 0.0
    return WALKING, VERTEX, head, FACE, f, 0.0, 0.0


@kernel(forceinline=True)
def walk(numbers_a, links_a, numbers_b, links_b, move, kind_a, a, kind_b, b, slack, most):
    """Walk from features a and b to the closest ones; move (2,4,4) brings points of B into A's frame and points of A into B's.

    Returns (APART | INSIDE | LOST, kind_a, a, kind_b, b, steps, share of the edge at which it passes through a face, depth of the
    witness of penetration). `slack` is a length below which a vertex does not give way to its edges.
    """
    steps, share, depth, status, looked = 0, 0.0, 0.0, WALKING, False
    while status == WALKING and steps < most:
        steps += 1
        # X has the feature of lower dimension.
        swapped = kind_a > kind_b
        if swapped:
            nx, lx, ny, ly, to_x = numbers_b, links_b, numbers_a, links_a, 1
            kind_x, x, kind_y, y = kind_b, b, kind_a, a
        else:
            nx, lx, ny, ly, to_x = numbers_a, links_a, numbers_b, links_b, 0
            kind_x, x, kind_y, y = kind_a, a, kind_b, b
        if kind_y == VERTEX:
            status, kind_x, x, kind_y, y = vertex_and_vertex(nx, lx, ny, ly, move, to_x, x, y, slack)
        elif kind_x == VERTEX and kind_y == EDGE:
            status, kind_x, x, kind_y, y = vertex_and_edge(nx, lx, ny, ly, move, to_x, x, y, slack)
        elif kind_x == VERTEX:
            status, kind_x, x, kind_y, y, depth = vertex_and_face(nx, lx, ny, ly, move, to_x, x, y, not looked)
            looked = True
        elif kind_x == EDGE and kind_y == EDGE:
            status, kind_x, x, kind_y, y = edge_and_edge(nx, lx, ny, ly, move, to_x, x, y)
        else:
            status, kind_x, x, kind_y, y, share, depth = edge_and_face(nx, lx, ny, ly, move, to_x, x, y)
        if swapped:
            kind_b, b, kind_a, a = kind_x, x, kind_y, y
        else:
            kind_a, a, kind_b, b = kind_x, x, kind_y, y
    return (LOST if status == WALKING else status), kind_a, a, kind_b, b, steps, share, depth
