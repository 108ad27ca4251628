"""Shell facets: a disc in front of everything that a facet represents (§4.1).

A facet's disc has a centre c, a unit normal n and a radius; with its thickness it makes a **cylinder** that reaches from the
disc backwards. All corners of all faces under the facet lie in the cylinder: n·(x - c) <= 0, -n·(x - c) <= thickness, and at
most `radius` from the axis. A cylinder is convex, so whole faces lie in it, and the discs of a level, taken as cylinders,
leave no holes.

Proof: offset, thickness and radius are maxima over the corners themselves, not over the children's discs as in the paper (which is
looser), each enlarged by `PAD` times the largest coordinate, which is more than the rounding of the few operations behind it.

Deviations: a face's radius reaches its farthest corner from the barycentre (the circumradius does not cover all); a coarser disc's
centre is above the middle of the smallest circle about what is under it, and its normal is that of the surface under it, tilted
where that makes the cylinder thinner.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from jostle._types import Floats, Ints
from jostle.geometry.triangle import Triangle, face_at
from jostle.geometry.vector import (
    Vec2,
    Vec3,
    absolute,
    cross,
    divided,
    dot,
    is_zero,
    largest_coordinate,
    length,
    minus,
    plus,
    point_at,
    times,
    write_point,
)
from jostle.kernels.arrays import read_only_view
from jostle.kernels.jit import kernel
from jostle.kernels.numbers import as_int64

PAD = 64.0 * 2.0**-53  # times the largest coordinate: lengths are rounded outward by this
POINTS = 2_000_000  # per call of the fitting kernel, about 0.1 s
TILTS = 8  # attempts at a thinner cylinder
PIVOTS = 24  # attempts at a smaller circle
DIRECTIONS = 12  # in which a coarse facet is anchored to the outermost vertices under it, four for each corner
COSINE, SINE = math.sqrt(0.75), 0.5  # of the angle between two of them
IN_LINE = 0.03  # corners are chosen otherwise if their triangle's height is a smaller share of its longest side


class Discs(NamedTuple):
    """Discs with their cylinders; arrays of f rows."""

    centre: Floats  # (f, 3)
    normal: Floats  # (f, 3) unit
    radius: Floats
    thickness: Floats


class FacetDisc(NamedTuple):
    """One disc with its cylinder."""

    centre: Vec3
    normal: Vec3
    radius: float
    thickness: float


class VertexGroups(NamedTuple):
    """Vertices (n, 3) and groups of them: ``under[first[k]:first[k + 1]]``."""

    vertices: Floats
    first: Ints
    under: Ints


class Group(NamedTuple):
    """The part of `under` that is one group."""

    first: int
    size: int


class Beyond(NamedTuple):
    """How far a point is behind the plane of a disc, and aside of its axis."""

    depth: float
    aside: float


class EnclosingCircle(NamedTuple):
    """Middle, squared radius, and which of three points it can do without."""

    middle: Vec2
    square: float
    without: int


def discs_of_faces(vertices: Floats, faces: Ints) -> Discs:
    """Return the discs of faces (m, 3): about the barycentre, as thick as rounding."""
    discs = _empty(len(faces))
    fit_faces(read_only_view(vertices), read_only_view(faces), discs)
    return discs


def discs_of_groups(vertices: Floats, first: Ints, under: Ints, towards: Floats) -> tuple[Discs, Ints]:
    """Return the discs of groups of vertices, and the vertices that anchor each.

    Parameters
    ----------
    vertices : (n, 3) array
    first, under : (f + 1,) and (u,) int32 arrays
        The vertices of group k are ``under[first[k]:first[k + 1]]``; none is empty.
    towards : (f, 3) array
        Rough directions of the normals; a zero vector where unknown.

    Returns
    -------
    Discs, and (f, 12) int32
        Corner j of a group's frame is the mean of the vertices in columns 4 j … 4 j + 3.
    """
    count = len(first) - 1
    discs, anchor = _empty(count), np.zeros((count, DIRECTIONS), np.int32)
    discs.normal[:] = towards
    pad = PAD * float(np.abs(vertices[under]).max())
    scratch = np.empty((int(np.diff(first).max()), 2))
    groups = VertexGroups(read_only_view(vertices), read_only_view(first), read_only_view(under))
    begin = 0
    while begin < count:
        end = max(begin + 1, int(np.searchsorted(first, first[begin] + POINTS, side="right")) - 1)
        fit_groups(begin, end, groups, pad, scratch, discs, anchor)
        begin = end
    return discs, anchor


def _empty(count: int) -> Discs:
    return Discs(np.zeros((count, 3)), np.zeros((count, 3)), np.zeros(count), np.zeros(count))


@kernel
def any_normal(a: Vec3) -> Vec3:
    """Return a unit vector perpendicular to another; (0, 0, 1) if that is zero."""
    if is_zero(a):
        return Vec3(0.0, 0.0, 1.0)
    size = absolute(a)
    if size.x <= size.y and size.x <= size.z:
        across = math.sqrt(a.y * a.y + a.z * a.z)
        return Vec3(0.0, a.z / across, -a.y / across)
    if size.y <= size.z:
        across = math.sqrt(a.x * a.x + a.z * a.z)
        return Vec3(-a.z / across, 0.0, a.x / across)
    across = math.sqrt(a.x * a.x + a.y * a.y)
    return Vec3(a.y / across, -a.x / across, 0.0)


@kernel
def normal_of_corners(t: Triangle) -> Vec3:
    """Return the unit normal of a triangle.

    Without area, some unit vector at right angles to its longest edge.

    A sliver's cross product is mostly rounding; perpendicular to the longest edge, the plane still holds its corners.
    """
    u, v, w = minus(t.q, t.p), minus(t.r, t.p), minus(t.r, t.q)
    n = cross(u, v)
    edge, longest = u, dot(u, u)
    if dot(v, v) > longest:
        edge, longest = v, dot(v, v)
    if dot(w, w) > longest:
        edge, longest = w, dot(w, w)
    if longest == 0.0:
        return Vec3(0.0, 0.0, 1.0)
    for _ in range(2):
        n = minus(n, times(dot(n, edge) / longest, edge))
        size = length(n)
        if size == 0.0:
            return any_normal(edge)
        n = divided(n, size)
    return n


@kernel(forceinline=True)
def barycentre(t: Triangle) -> Vec3:
    """Return the mean of the corners; the sum overflows nowhere near 1e30."""
    return divided(plus(plus(t.p, t.q), t.r), 3.0)


@kernel
def disc_of_face(t: Triangle) -> FacetDisc:
    """Return the disc of a face, rounded outward."""
    n = normal_of_corners(t)
    pad = PAD * max(largest_coordinate(t.p), largest_coordinate(t.q), largest_coordinate(t.r))
    c = barycentre(t)
    front = max(dot(n, minus(t.p, c)), dot(n, minus(t.q, c)), dot(n, minus(t.r, c))) + pad
    c = plus(c, times(front, n))
    p, q, r = beyond(minus(t.p, c), n), beyond(minus(t.q, c), n), beyond(minus(t.r, c), n)
    thickness = max(p.depth, q.depth, r.depth) + pad
    return FacetDisc(c, n, max(p.aside, q.aside, r.aside) + pad, thickness)


@kernel
def beyond(a: Vec3, n: Vec3) -> Beyond:
    """Return the position of a point relative to a disc at 0 with normal n."""
    # The distance from the axis by a cross product: a difference of squares would lose half of the digits.
    return Beyond(-dot(n, a), length(cross(n, a)))


@kernel
def fit_faces(vertices: Floats, faces: Ints, discs: Discs) -> None:
    """Write the discs of all faces (m,3)."""
    for f in range(faces.shape[0]):
        write_disc(discs, f, disc_of_face(face_at(vertices, faces, f)))


@kernel(forceinline=True)
def write_disc(discs: Discs, f: int, disc: FacetDisc) -> None:
    """Write row f."""
    write_point(discs.centre, f, disc.centre)
    write_point(discs.normal, f, disc.normal)
    discs.radius[f], discs.thickness[f] = disc.radius, disc.thickness


@kernel(forceinline=True)
def vertex_of(groups: VertexGroups, group: Group, k: int) -> Vec3:
    """Return the kth vertex of a group."""
    return point_at(groups.vertices, groups.under[group.first + k])


@kernel
def fit_groups(begin: int, end: int, groups: VertexGroups, pad: float, scratch: Floats, discs: Discs, anchor: Ints) -> None:
    """Write the discs of groups begin … end-1.

    `discs.normal` holds where they should point. scratch: (largest group, 2).
    """
    for f in range(begin, end):
        group = Group(as_int64(groups.first[f]), as_int64(groups.first[f + 1]) - as_int64(groups.first[f]))
        n = starting_normal(groups, group, point_at(discs.normal, f))
        n = tilted(groups, group, n)
        write_disc(discs, f, disc_of_group(groups, group, n, pad, scratch))
        outermost(scratch, groups, group, anchor, f)
        keep_corners_apart(groups, group, anchor, f)


@kernel
def disc_of_group(groups: VertexGroups, group: Group, n: Vec3, pad: float, scratch: Floats) -> FacetDisc:
    """Return the disc with a normal; writes vertex positions in its plane to scratch.

    scratch: (count, 2).
    """
    origin = vertex_of(groups, group, 0)
    u = any_normal(n)
    v = cross(n, u)
    front = -np.inf
    for k in range(group.size):
        a = minus(vertex_of(groups, group, k), origin)
        scratch[k, 0] = dot(u, a)
        scratch[k, 1] = dot(v, a)
        front = max(front, dot(n, a))
    middle = middle_of_circle(scratch, group.size)
    front += pad
    c = plus(origin, plus(plus(times(middle.x, u), times(middle.y, v)), times(front, n)))
    deepest, widest = 0.0, 0.0
    for k in range(group.size):
        place = beyond(minus(vertex_of(groups, group, k), c), n)
        deepest, widest = max(deepest, place.depth), max(widest, place.aside)
    return FacetDisc(c, n, widest + pad, deepest + pad)


@kernel
def starting_normal(groups: VertexGroups, group: Group, towards: Vec3) -> Vec3:
    """Return a direction scaled to 1, or if zero a normal of three distant vertices."""
    size = length(towards)
    if size > 0.0:
        n = divided(towards, size)
        return divided(n, length(n))  # once more: the length of a small vector is rounded coarsely
    a = as_int64(groups.under[group.first])
    b = farthest_from(groups, group, a, a)  # from any vertex to the farthest from it, and to the farthest from that
    a, b = b, farthest_from(groups, group, b, b)
    p, q = point_at(groups.vertices, a), point_at(groups.vertices, b)
    edge = minus(q, p)
    r, best = p, -1.0
    for k in range(group.size):
        v = vertex_of(groups, group, k)
        aside = cross(edge, minus(v, p))
        if dot(aside, aside) > best:
            best, r = dot(aside, aside), v
    return normal_of_corners(Triangle(p, q, r))


@kernel
def tilted(groups: VertexGroups, group: Group, n: Vec3) -> Vec3:
    """Tilt the normal step by step to make the cylinder thinner.

    The foremost and the hindmost vertex come closer to one height.
    """
    step, width = 0.5, np.inf
    best, slope = n, Vec3(0.0, 0.0, 0.0)  # the best so far, and the vector between its outermost vertices
    for _ in range(TILTS + 1):
        top, bottom = -np.inf, np.inf
        p, q = n, n
        for k in range(group.size):
            v = vertex_of(groups, group, k)
            height = dot(n, v)
            if height > top:
                top, p = height, v
            if height < bottom:
                bottom, q = height, v
        if top - bottom < width:
            width = top - bottom
            best = n
            slope = minus(minus(p, q), times(width, n))
        else:
            step *= 0.5
        square = dot(slope, slope)
        if square <= width * width:  # steeper than 45 degrees: no longer a tilt
            break
        n = minus(best, times(step * width / square, slope))
        n = divided(n, length(n))
    return best


@kernel(forceinline=True)
def square_between(p: Vec2, q: Vec2) -> float:
    """Return the squared distance of two points."""
    return (p.x - q.x) ** 2 + (p.y - q.y) ** 2


@kernel(forceinline=True)
def halfway(p: Vec2, q: Vec2) -> Vec2:
    """Return the point in the middle."""
    return Vec2(0.5 * (p.x + q.x), 0.5 * (p.y + q.y))


@kernel
def middle_of_circle(scratch: Floats, count: int) -> Vec2:
    """Return about the middle of the smallest circle around points scratch (count,2).

    A few points on the circle are kept; the farthest point outside joins them, and the smallest circle about those replaces it.
    """
    a = Vec2(scratch[0, 0], scratch[0, 1])
    b, c = a, a
    middle, square = a, 0.0
    for _ in range(PIVOTS):
        far, at = -1.0, 0
        for k in range(count):
            x, y = scratch[k, 0] - middle.x, scratch[k, 1] - middle.y
            if x * x + y * y > far:
                far, at = x * x + y * y, k
        if far <= square * (1.0 + 1e-9):
            break
        d = Vec2(scratch[at, 0], scratch[at, 1])
        circle = circle_with(d, a, b, c)
        middle, square = circle.middle, circle.square
        if circle.without == 0:
            a = d
        elif circle.without == 1:
            b = d
        else:
            c = d
    return middle


@kernel
def circle_with(d: Vec2, a: Vec2, b: Vec2, c: Vec2) -> EnclosingCircle:
    """Return the smallest circle through d that holds a, b and c.

    The circle is through d and one or two others; `without` is one that it does not need.
    """
    best, without, middle = np.inf, 0, d
    for k in range(6):
        # First through one other point, p, then through two, p and q.
        p, q = (a, b) if k % 3 == 0 else ((b, c) if k % 3 == 1 else (c, a))
        m, spare = (halfway(d, p), (k + 1) % 3) if k < 3 else (circumcentre(d, p, q), (k + 2) % 3)
        square = square_between(m, d)
        most = max(square_between(m, a), square_between(m, b), square_between(m, c))
        if most <= square * (1.0 + 1e-9) and square < best:
            best, without, middle = square, spare, m
    if best < np.inf:
        return EnclosingCircle(middle, best, without)
    # Rounding left no circle that holds all: take the farthest across; the next round corrects it.
    to_a, to_b, to_c = square_between(d, a), square_between(d, b), square_between(d, c)
    if to_a >= to_b and to_a >= to_c:
        return EnclosingCircle(halfway(d, a), 0.25 * to_a, 1)
    if to_b >= to_c:
        return EnclosingCircle(halfway(d, b), 0.25 * to_b, 2)
    return EnclosingCircle(halfway(d, c), 0.25 * to_c, 0)


@kernel
def circumcentre(a: Vec2, b: Vec2, c: Vec2) -> Vec2:
    """Return the middle of the circle through three points; infinite if collinear."""
    ux, uy, vx, vy = b.x - a.x, b.y - a.y, c.x - a.x, c.y - a.y
    twice = 2.0 * (ux * vy - uy * vx)
    if twice == 0.0:
        return Vec2(np.inf, np.inf)
    p, q = ux * ux + uy * uy, vx * vx + vy * vy
    return Vec2(a.x + (vy * p - uy * q) / twice, a.y + (ux * q - vx * p) / twice)


@kernel
def outermost(scratch: Floats, groups: VertexGroups, group: Group, anchor: Ints, f: int) -> None:
    """Write the anchors of group f: the outermost vertices in twelve directions.

    The longest side of their triangle comes first.
    """
    x, y = 1.0, 0.0
    for d in range(DIRECTIONS):
        best, at = -np.inf, 0
        for k in range(group.size):
            along = x * scratch[k, 0] + y * scratch[k, 1]
            if along > best:
                best, at = along, k
        anchor[f, d] = at
        x, y = COSINE * x - SINE * y, SINE * x + COSINE * y
    longest, turn = -1.0, 0
    for j in range(3):
        x, y = 0.0, 0.0
        for k in range(4):
            a, b = anchor[f, 4 * j + k], anchor[f, (4 * j + 4 + k) % DIRECTIONS]
            x += scratch[b, 0] - scratch[a, 0]
            y += scratch[b, 1] - scratch[a, 1]
        if x * x + y * y > longest:
            longest, turn = x * x + y * y, j
    while turn > 0:  # the corners move down by one until the longest side goes from the first to the second
        for k in range(4):
            first = anchor[f, k]
            anchor[f, k], anchor[f, 4 + k], anchor[f, 8 + k] = anchor[f, 4 + k], anchor[f, 8 + k], first
        turn -= 1
    for d in range(DIRECTIONS):
        anchor[f, d] = groups.under[group.first + anchor[f, d]]


@kernel
def keep_corners_apart(groups: VertexGroups, group: Group, anchor: Ints, f: int) -> None:
    """Anchor group f to three single vertices where its corners are collinear.

    The frame of such corners, means of four, would be rounding.
    """
    if spread_of_corners(groups.vertices, anchor, f) > IN_LINE:
        return
    start = as_int64(groups.under[group.first])
    a = farthest_from(groups, group, start, start)
    b = farthest_from(groups, group, a, a)
    c = farthest_from(groups, group, a, b)
    for k in range(4):
        anchor[f, k], anchor[f, 4 + k], anchor[f, 8 + k] = a, b, c


@kernel(forceinline=True)
def mean_of_anchors(vertices: Floats, anchor: Ints, f: int, j: int) -> Vec3:
    """Return corner j of facet f, as a sum of quarters."""
    corner = Vec3(0.0, 0.0, 0.0)
    for k in range(4):
        corner = plus(corner, times(0.25, point_at(vertices, anchor[f, 4 * j + k])))
    return corner


@kernel
def spread_of_corners(vertices: Floats, anchor: Ints, f: int) -> float:
    """Return the height of a facet's corner triangle over its longest side.

    As a share of that side; 0 for a point.
    """
    p = q = r = Vec3(0.0, 0.0, 0.0)
    for j in range(3):
        p, q, r = q, r, mean_of_anchors(vertices, anchor, f, j)
    u, v, w = minus(q, p), minus(r, q), minus(p, r)
    longest = max(0.0, dot(u, u), dot(v, v), dot(w, w))
    return length(cross(u, minus(r, p))) / longest if longest > 0.0 else 0.0


@kernel
def farthest_from(groups: VertexGroups, group: Group, a: int, b: int) -> int:
    """Return the vertex of a group farthest from the line through vertices a and b.

    From a where a and b are one.
    """
    p = point_at(groups.vertices, a)
    line = minus(point_at(groups.vertices, b), p)
    size = length(line)
    best, far = a, -1.0
    for k in range(group.size):
        d = minus(vertex_of(groups, group, k), p)
        if size > 0.0:
            d = divided(cross(line, d), size)
        if dot(d, d) > far:
            best, far = as_int64(groups.under[group.first + k]), dot(d, d)
    return best
