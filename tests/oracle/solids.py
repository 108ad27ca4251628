"""The truth about two convex solids given by their world triangles. Imports nothing of jostle.

Two statements that a method with a resolution must honour, each proved in exact fractions or not made at all:

- `largest_erosion`: the two solids, each shrunk by r, still share a point. A linear programme over the half-spaces of all faces
  finds the largest such r (simplex method on the dual, Bland's rule, fractions); lengths of normals are rounded so that it is not
  overestimated, and its sign, which they do not change, says whether the closed solids meet.
- `farther_apart`: a plane between the two leaves a gap larger than r. Planes are taken from the closest points of a search over all
  faces, from faces and from pairs of edges, in floats; the gap is evaluated in fractions, so it does not matter how one was found.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np


def largest_erosion(triangles_a, triangles_b):
    """Return the largest r by which both solids can be shrunk and still meet, as a fraction; negative where they are apart."""
    return _dual_simplex([_half_space(triangle) for triangle in [*triangles_a, *triangles_b] if _half_space(triangle) is not None])


def farther_apart(triangles_a, triangles_b, r):
    """Whether a plane proves that the solids are farther apart than r."""
    corners_a, corners_b = np.array(triangles_a), np.array(triangles_b)
    normals = _likely_normals(corners_a, corners_b)
    gaps = (corners_b.reshape(-1, 3) @ normals.T).min(axis=0) - (corners_a.reshape(-1, 3) @ normals.T).max(axis=0)
    best = np.argsort(-gaps, kind="stable")[:2]
    return any(_gap_exceeds(triangles_a, triangles_b, normal, r) for normal in [normals[0], *normals[best]])


def _gap_exceeds(triangles_a, triangles_b, normal, r):
    """Whether the planes with this normal that touch the two solids are farther apart than r, in fractions."""
    normal = [Fraction(x) for x in normal.tolist()]
    square = sum(x * x for x in normal)
    points_a, points_b = ({tuple(p) for triangle in each for p in triangle} for each in (triangles_a, triangles_b))
    highest = max(sum(n * Fraction(x) for n, x in zip(normal, p, strict=True)) for p in points_a)
    lowest = min(sum(n * Fraction(x) for n, x in zip(normal, p, strict=True)) for p in points_b)
    return lowest > highest and (lowest - highest) ** 2 > Fraction(r) ** 2 * square


def _likely_normals(corners_a, corners_b):
    """Unit normals in floats: between the closest points first, then of all faces, and across all pairs of edges."""
    point_a, point_b = closest_points(corners_a, corners_b)
    faces = [np.cross(t[:, 1] - t[:, 0], t[:, 2] - t[:, 0]) for t in (corners_a, corners_b)]
    edges = [np.concatenate([t[:, k] - t[:, k - 1] for k in range(3)]) for t in (corners_a, corners_b)]
    across = np.cross(edges[0][:, None], edges[1][None]).reshape(-1, 3)
    normals = np.concatenate([(point_b - point_a)[None], faces[0], -faces[1], across, -across])
    length = np.linalg.norm(normals, axis=1)
    return normals[length > 0] / length[length > 0, None] if length[0] > 0 else np.eye(3)


def _half_space(triangle):
    """(n, length of n rounded up, n·p): the solid has n·x <= n·p. None for a face without area."""
    a, b, c = ([Fraction(x) for x in point] for point in triangle)
    u, v = [q - p for p, q in zip(a, b, strict=True)], [q - p for p, q in zip(a, c, strict=True)]
    n = [u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0]]
    largest = max(abs(x) for x in n)
    if largest == 0:
        return None
    n = [x / largest for x in n]
    length = Fraction(math.nextafter(math.sqrt(float(sum(x * x for x in n))), 2.0) * (1 + 1e-15))
    return n, length, sum(x * y for x, y in zip(n, a, strict=True))


def _dual_simplex(planes):
    """max t with n·x + |n| t <= m for all planes, by its dual: min m·y with sum y (n, |n|) = (0, 0, 0, 1), y >= 0."""
    columns = [[*n, length] for n, length, _ in planes]
    costs = [m for _, _, m in planes]
    # Artificial columns of an unknown, larger cost: a cost is a pair, compared from left to right.
    signs = [[Fraction(int(i == k)) for i in range(4)] for k in range(4)]
    columns, costs = [*columns, *signs], [(Fraction(0), m) for m in costs] + [(Fraction(1), Fraction(0))] * 4
    count = len(planes)
    basis = [count, count + 1, count + 2, count + 3]
    inverse = [[Fraction(int(i == k)) for i in range(4)] for k in range(4)]
    values = [Fraction(0), Fraction(0), Fraction(0), Fraction(1)]
    while True:
        prices = [tuple(sum(costs[basis[i]][part] * inverse[i][k] for i in range(4)) for part in range(2)) for k in range(4)]
        entering = None
        for j in range(count):
            if j in basis:
                continue
            reduced = tuple(costs[j][part] - sum(prices[k][part] * columns[j][k] for k in range(4)) for part in range(2))
            if reduced < (0, 0):
                entering = j
                break
        if entering is None:
            break
        direction = [sum(inverse[i][k] * columns[entering][k] for k in range(4)) for i in range(4)]
        ratios = [(values[i] / direction[i], basis[i], i) for i in range(4) if direction[i] > 0]
        assert ratios, "the half-spaces do not bound a solid"
        _, _, leaving = min(ratios)
        pivot = direction[leaving]
        inverse[leaving] = [x / pivot for x in inverse[leaving]]
        values[leaving] /= pivot
        for i in range(4):
            if i != leaving:
                inverse[i] = [x - direction[i] * y for x, y in zip(inverse[i], inverse[leaving], strict=True)]
                values[i] -= direction[i] * values[leaving]
        basis[leaving] = entering
    assert all(b < count or values[i] == 0 for i, b in enumerate(basis)), "the half-spaces do not bound a solid"
    return sum((costs[b][1] * values[i] for i, b in enumerate(basis)), Fraction(0))


# ------------------------------------------------------------------ closest points, all faces against all, in floats


def closest_points(triangles_a, triangles_b):
    """Return the closest points of two sets of triangles (m,3,3) that do not touch."""
    found = []
    for one, other, swapped in ((triangles_a, triangles_b, False), (triangles_b, triangles_a, True)):
        points = one.reshape(-1, 3)
        near, gap = _points_on_triangles(points, other)
        i, j = np.unravel_index(int(np.argmin(gap)), gap.shape)
        pair = (points[i], near[i, j])
        found.append((gap[i, j], *(pair[::-1] if swapped else pair)))
    edges = [triangles[:, [[0, 1], [1, 2], [2, 0]]].reshape(-1, 2, 3) for triangles in (triangles_a, triangles_b)]
    on_a, on_b = _edges_and_edges(*edges)
    gap = ((on_a - on_b) ** 2).sum(axis=2)
    i, j = np.unravel_index(int(np.argmin(gap)), gap.shape)
    found.append((gap[i, j], on_a[i, j], on_b[i, j]))
    _, point_a, point_b = min(found, key=lambda each: each[0])
    return point_a, point_b


def distance(triangles_a, triangles_b):
    """Return the distance of two solids that are known to be apart, in floats."""
    point_a, point_b = closest_points(np.array(triangles_a), np.array(triangles_b))
    return float(np.linalg.norm(point_b - point_a))


def _points_on_triangles(points, triangles):
    """(n,m,3) feet of points on the planes of triangles, and their squared distances, infinite where a foot is outside."""
    a, u, v = triangles[:, 0], triangles[:, 1] - triangles[:, 0], triangles[:, 2] - triangles[:, 0]
    n = np.cross(u, v)
    square = (n * n).sum(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        w = points[:, None] - a
        s = (np.cross(w, v) * n).sum(axis=2) / square
        t = (np.cross(u, w) * n).sum(axis=2) / square
        feet = a + s[..., None] * u + t[..., None] * v
    gap = ((points[:, None] - feet) ** 2).sum(axis=2)
    inside = (s >= 0) & (t >= 0) & (s + t <= 1)
    return feet, np.where(inside, gap, np.inf)


def _edges_and_edges(edges_a, edges_b):
    """(n,m,3) closest points of every edge with every edge: the best of five candidates, corners against edges and inside."""
    p, d = edges_a[:, None, 0], edges_a[:, None, 1] - edges_a[:, None, 0]
    q, e = edges_b[None, :, 0], edges_b[None, :, 1] - edges_b[None, :, 0]
    dd, ee, de = (d * d).sum(axis=2), (e * e).sum(axis=2), (d * e).sum(axis=2)
    w = p - q
    dw, ew = (d * w).sum(axis=2), (e * w).sum(axis=2)
    with np.errstate(divide="ignore", invalid="ignore"):
        inside = np.nan_to_num(np.clip((de * ew - ee * dw) / (dd * ee - de * de), 0, 1))
        shares = [(np.zeros_like(de), np.clip(ew / ee, 0, 1)), (np.ones_like(de), np.clip((ew + de) / ee, 0, 1))]
        shares += [(np.clip(-dw / dd, 0, 1), np.zeros_like(de)), (np.clip((de - dw) / dd, 0, 1), np.ones_like(de))]
        shares += [(inside, np.clip((ew + inside * de) / ee, 0, 1))]
    best, on_a, on_b = np.full(de.shape, np.inf), np.zeros((*de.shape, 3)), np.zeros((*de.shape, 3))
    for s, t in shares:
        a, b = p + s[..., None] * d, q + t[..., None] * e
        gap = np.nan_to_num(((a - b) ** 2).sum(axis=2), nan=np.inf)
        better = gap < best
        best = np.where(better, gap, best)
        on_a, on_b = np.where(better[..., None], a, on_a), np.where(better[..., None], b, on_b)
    return on_a, on_b
