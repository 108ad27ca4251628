"""Closest points of two features, and the proof that nothing is nearer.

The walk decides in floating point. Its end is therefore checked in the world: the closest points of the two features bound the
distance from above, and the two planes across a direction between them, moved out to the farthest vertex of either body, bound it
from below; these vertices are found by climbing from the features. The bounds differ by rounding only, unless the walk went
astray. So every distance that is reported carries a proof of its error, whatever rounding did on the way.
"""

import math

from jostle.geometry.rigid import rigid_coordinate
from jostle.geometry.scalar_vector import cross, dot, length
from jostle.geometry.segment_segment import closest_points_of_segments
from jostle.geometry.triangle import Segment
from jostle.geometry.vector import Vec3
from jostle.kernels.jit import kernel
from jostle.methods.closest_features.polyhedron import EDGE, FACE, FACE_FIRST, HEADER, VERTEX
from jostle.methods.closest_features.regions import climb, height_over, links_of_edge, moved, normal_place, vertex_at


@kernel
def world_vertex(numbers, v, pose):
    """The world coordinates of a vertex, by the one formula."""
    x, y, z = vertex_at(numbers, v)
    return (
        rigid_coordinate(pose[0, 0], pose[0, 1], pose[0, 2], pose[0, 3], x, y, z),
        rigid_coordinate(pose[1, 0], pose[1, 1], pose[1, 2], pose[1, 3], x, y, z),
        rigid_coordinate(pose[2, 0], pose[2, 1], pose[2, 2], pose[2, 3], x, y, z),
    )


@kernel
def world_ends(numbers, links, kind, index, pose):
    """The world ends of an edge; of a vertex twice itself."""
    tail = head = index
    if kind == EDGE:
        tail, head = links_of_edge(links, index)
    tx, ty, tz = world_vertex(numbers, tail, pose)
    if tail == head:
        return tx, ty, tz, tx, ty, tz
    hx, hy, hz = world_vertex(numbers, head, pose)
    return tx, ty, tz, hx, hy, hz


@kernel
def foot_on_face(numbers_x, v, numbers_y, links_y, f, pose_y, move, k):
    """The world point under vertex v of X on the plane of face f of Y."""
    x, y, z = vertex_at(numbers_x, v)
    x, y, z = moved(move, k, x, y, z)
    height = height_over(numbers_y, links_y, f, x, y, z)
    place = normal_place(links_y, f)
    x, y, z = x - height * numbers_y[place], y - height * numbers_y[place + 1], z - height * numbers_y[place + 2]
    return (
        rigid_coordinate(pose_y[0, 0], pose_y[0, 1], pose_y[0, 2], pose_y[0, 3], x, y, z),
        rigid_coordinate(pose_y[1, 0], pose_y[1, 1], pose_y[1, 2], pose_y[1, 3], x, y, z),
        rigid_coordinate(pose_y[2, 0], pose_y[2, 1], pose_y[2, 2], pose_y[2, 3], x, y, z),
    )


@kernel(forceinline=True)
def world_points(numbers_a, links_a, pose_a, numbers_b, links_b, pose_b, move, kind_a, a, kind_b, b, points):
    """Write the closest points (6,) of two features that the walk ends at; return their distance."""
    if kind_b == FACE:
        ax, ay, az = world_vertex(numbers_a, a, pose_a)
        bx, by, bz = foot_on_face(numbers_a, a, numbers_b, links_b, b, pose_b, move, 1)
    elif kind_a == FACE:
        bx, by, bz = world_vertex(numbers_b, b, pose_b)
        ax, ay, az = foot_on_face(numbers_b, b, numbers_a, links_a, a, pose_a, move, 0)
    else:
        tx, ty, tz, hx, hy, hz = world_ends(numbers_a, links_a, kind_a, a, pose_a)
        px, py, pz, qx, qy, qz = world_ends(numbers_b, links_b, kind_b, b, pose_b)
        edge_a = Segment(Vec3(tx, ty, tz), Vec3(hx, hy, hz))
        _, (ax, ay, az), (bx, by, bz) = closest_points_of_segments(edge_a, Segment(Vec3(px, py, pz), Vec3(qx, qy, qz)))
    points[0], points[1], points[2], points[3], points[4], points[5] = ax, ay, az, bx, by, bz
    return length(bx - ax, by - ay, bz - az)


@kernel(forceinline=True)
def common_point(numbers_a, links_a, pose_a, numbers_b, links_b, pose_b, kind_a, a, kind_b, b, share, points):
    """Write the witness of penetration twice into points (6,): a vertex inside the other body, or an edge's way through a face."""
    if kind_a == FACE:
        tx, ty, tz, hx, hy, hz = world_ends(numbers_b, links_b, kind_b, b, pose_b)
    else:
        tx, ty, tz, hx, hy, hz = world_ends(numbers_a, links_a, kind_a, a, pose_a)
    x, y, z = tx + share * (hx - tx), ty + share * (hy - ty), tz + share * (hz - tz)
    points[0], points[1], points[2], points[3], points[4], points[5] = x, y, z, x, y, z


@kernel(forceinline=True)
def turned_back(pose, x, y, z):
    """The local vector whose product with a local point is that of (x, y, z) with its place in the world, but for a constant."""
    return (
        (pose[0, 0] * x + pose[1, 0] * y) + pose[2, 0] * z,
        (pose[0, 1] * x + pose[1, 1] * y) + pose[2, 1] * z,
        (pose[0, 2] * x + pose[1, 2] * y) + pose[2, 2] * z,
    )


@kernel
def any_vertex(links, kind, index):
    """A vertex of a feature."""
    if kind == VERTEX:
        return index
    if kind == FACE:
        index = links[links[links[FACE_FIRST] + index]] >> 1
    return int(links[HEADER + 4 * index])


@kernel
def gap_along(numbers_a, links_a, pose_a, numbers_b, links_b, pose_b, i, j, x, y, z):
    """The gap between the bodies along the unit vector (x, y, z), negative where they overlap; climbing begins at i and j."""
    mx, my, mz = turned_back(pose_a, x, y, z)
    i = climb(numbers_a, links_a, i, mx, my, mz)
    mx, my, mz = turned_back(pose_b, -x, -y, -z)
    j = climb(numbers_b, links_b, j, mx, my, mz)
    ax, ay, az = world_vertex(numbers_a, i, pose_a)
    bx, by, bz = world_vertex(numbers_b, j, pose_b)
    return dot(x, y, z, bx - ax, by - ay, bz - az)


@kernel(forceinline=True)
def normal_of_features(numbers_a, links_a, pose_a, numbers_b, links_b, pose_b, kind_a, a, kind_b, b):
    """A direction across a face, or across two edges: what remains where the closest points are too near to give one."""
    if kind_a == FACE or kind_b == FACE:
        sign = 1.0
        numbers, links, pose, face = numbers_a, links_a, pose_a, a
        if kind_b == FACE:
            sign = -1.0
            numbers, links, pose, face = numbers_b, links_b, pose_b, b
        place = normal_place(links, face)
        x, y, z = sign * numbers[place], sign * numbers[place + 1], sign * numbers[place + 2]
        return (
            (pose[0, 0] * x + pose[0, 1] * y) + pose[0, 2] * z,
            (pose[1, 0] * x + pose[1, 1] * y) + pose[1, 2] * z,
            (pose[2, 0] * x + pose[2, 1] * y) + pose[2, 2] * z,
        )
    tx, ty, tz, hx, hy, hz = world_ends(numbers_a, links_a, kind_a, a, pose_a)
    px, py, pz, qx, qy, qz = world_ends(numbers_b, links_b, kind_b, b, pose_b)
    x, y, z = cross(hx - tx, hy - ty, hz - tz, qx - px, qy - py, qz - pz)
    if dot(x, y, z, px - tx, py - ty, pz - tz) < 0.0:
        return -x, -y, -z
    return x, y, z


@kernel(forceinline=True)
def proven_gap(numbers_a, links_a, pose_a, numbers_b, links_b, pose_b, kind_a, a, kind_b, b, points, distance, error):
    """A gap between the bodies that is proven: the distance but for `error`, where the features are the closest."""
    i, j = any_vertex(links_a, kind_a, a), any_vertex(links_b, kind_b, b)
    gap = -math.inf
    if distance > 0.0:
        x, y, z = (points[3] - points[0]) / distance, (points[4] - points[1]) / distance, (points[5] - points[2]) / distance
        gap = gap_along(numbers_a, links_a, pose_a, numbers_b, links_b, pose_b, i, j, x, y, z)
    if gap < distance - error:
        x, y, z = normal_of_features(numbers_a, links_a, pose_a, numbers_b, links_b, pose_b, kind_a, a, kind_b, b)
        size = length(x, y, z)
        if size > 0.0:
            x, y, z = x / size, y / size, z / size
            gap = max(gap, gap_along(numbers_a, links_a, pose_a, numbers_b, links_b, pose_b, i, j, x, y, z))
    return gap
