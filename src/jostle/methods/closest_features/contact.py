"""Touching or crossing: two bodies in contact only touch where a plane proves that they overlap by no more than the resolution.

Such a plane is sought among the few that can part bodies at their closest features: those of the faces there, and those along
an edge of each, at the vertex, edge or face that holds the contact. Where none does, the bodies are said to cross.
"""

import math

from jostle.geometry.scalar_vector import cross, length
from jostle.geometry.segment_segment import closest_points_of_segments
from jostle.geometry.triangle import Segment
from jostle.geometry.vector import Vec3
from jostle.kernels.jit import kernel
from jostle.methods.closest_features.certificate import any_vertex, gap_along, world_ends
from jostle.methods.closest_features.polyhedron import EDGE, FACE, FACE_FIRST, HEADER, VERTEX, VERTEX_FIRST
from jostle.methods.closest_features.regions import NONE, normal_place

MOST_EDGES = 16  # at a vertex with more, such as the pole of a globe, not all are tried


@kernel
def face_at(links, kind, index, k):
    """The k-th face at a feature, or NONE."""
    if kind == FACE:
        return index if k == 0 else NONE
    if kind == EDGE:
        return int(links[HEADER + 4 * index + 2 + k]) if k < 2 else NONE
    first = links[VERTEX_FIRST] + index
    place = links[first] + k
    if place >= links[first + 1]:
        return NONE
    # The left face of an edge that leaves the vertex, the right one of an edge that comes: each face once.
    return int(links[HEADER + 4 * (links[place] >> 1) + 2 + (links[place] & 1)])


@kernel
def edge_at(links, kind, index, k):
    """The k-th edge at a feature, or NONE; a face has none."""
    if kind == EDGE:
        return index if k == 0 else NONE
    first = links[VERTEX_FIRST] + index
    if kind == FACE or k >= MOST_EDGES or links[first] + k >= links[first + 1]:
        return NONE
    return int(links[links[first] + k] >> 1)


@kernel
def lowest_feature(numbers, links, pose, kind, index, x, y, z, near):
    """The feature of lowest dimension that holds a world point of a feature, within the length `near`."""
    if kind == FACE:
        first = links[FACE_FIRST] + index
        for k in range(links[first], links[first + 1]):
            tx, ty, tz, hx, hy, hz = world_ends(numbers, links, EDGE, links[k] >> 1, pose)
            point, edge = Segment(Vec3(x, y, z), Vec3(x, y, z)), Segment(Vec3(tx, ty, tz), Vec3(hx, hy, hz))
            if closest_points_of_segments(point, edge).squared <= near * near:
                kind, index = EDGE, int(links[k] >> 1)
                break
    if kind == EDGE:
        tx, ty, tz, hx, hy, hz = world_ends(numbers, links, EDGE, index, pose)
        if length(tx - x, ty - y, tz - z) <= near:
            return VERTEX, int(links[HEADER + 4 * index])
        if length(hx - x, hy - y, hz - z) <= near:
            return VERTEX, int(links[HEADER + 4 * index + 1])
    return kind, index


@kernel
def gap_at_features(numbers_a, links_a, pose_a, numbers_b, links_b, pose_b, kind_a, a, kind_b, b, enough):
    """The largest gap (negative: the least overlap) along the directions of two features, or the first that is `enough`."""
    i, j = any_vertex(links_a, kind_a, a), any_vertex(links_b, kind_b, b)
    best = -math.inf
    for body in range(2):
        numbers, links, pose, kind, index, sign = numbers_a, links_a, pose_a, kind_a, a, 1.0
        if body == 1:
            numbers, links, pose, kind, index, sign = numbers_b, links_b, pose_b, kind_b, b, -1.0
        k = 0
        while best < enough:
            face = face_at(links, kind, index, k)
            if face == NONE:
                break
            place = normal_place(links, face)
            nx, ny, nz = numbers[place], numbers[place + 1], numbers[place + 2]
            x = (pose[0, 0] * nx + pose[0, 1] * ny) + pose[0, 2] * nz
            y = (pose[1, 0] * nx + pose[1, 1] * ny) + pose[1, 2] * nz
            z = (pose[2, 0] * nx + pose[2, 1] * ny) + pose[2, 2] * nz
            size = sign * length(x, y, z)
            if size != 0.0:
                gap = gap_along(numbers_a, links_a, pose_a, numbers_b, links_b, pose_b, i, j, x / size, y / size, z / size)
                best = max(best, gap)
            k += 1
    m = 0
    while best < enough:
        d = edge_at(links_a, kind_a, a, m)
        if d == NONE:
            break
        m += 1
        tx, ty, tz, hx, hy, hz = world_ends(numbers_a, links_a, EDGE, d, pose_a)
        k = 0
        while best < enough:
            # Every other time the same pair of edges, and the opposite direction.
            e = edge_at(links_b, kind_b, b, k >> 1)
            if e == NONE:
                break
            px, py, pz, qx, qy, qz = world_ends(numbers_b, links_b, EDGE, e, pose_b)
            x, y, z = cross(hx - tx, hy - ty, hz - tz, qx - px, qy - py, qz - pz)
            size = length(x, y, z) * (1.0 - 2.0 * (k & 1))
            if size != 0.0:
                gap = gap_along(numbers_a, links_a, pose_a, numbers_b, links_b, pose_b, i, j, x / size, y / size, z / size)
                best = max(best, gap)
            k += 1
    return best
