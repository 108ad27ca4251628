"""Truths for the depth tests, written without the code under test: rays against triangles, rational clipping, solid angles."""

from fractions import Fraction
from functools import cache

import numpy as np

from jostle.shapes import build
from tests.tiny import random_pose


@cache
def bodies():
    """Closed meshes of many kinds: round, with a hole, with teeth, with fingers, bumpy, with faces that cross each other."""
    made = [build.icosphere(2), build.torus(segments=24, sides=12), build.comb(), build.hand(), build.blob(1000, seed=3)]
    return {mesh.name: mesh for mesh in [*made, build.stellated_dodecahedron(), build.cone(face_count=300)]}


def crumpled(rng, spread):
    """A closed surface of 80 faces with its corners anywhere on a grid of half pixels: edges on centres, flat and edge-on faces."""
    sphere = build.icosphere(1)
    return rng.integers(-2, 2 * spread, (len(sphere.vertices), 3)) / 2.0, sphere.faces


def on_centres_and_far_away(rng):
    """A closed surface with coordinates on centres, one rounding beside them, and far outside of a tile of 3 pixels."""
    centres = rng.integers(0, 3, (12, 3)) + 0.5
    beside = np.nextafter(centres, rng.choice([-9.0, 9.0], (12, 3)))
    outside = rng.choice([-1.0, 1.0], 3) * rng.uniform(3, 1000, (12, 3))
    return np.choose(rng.integers(0, 3, (12, 3)), [centres, beside, outside]), build.icosahedron().faces


def random_view(rng, vertices, size, fill=1.0):
    """A view (3, 4) along a random direction that shows the vertices `fill` times as large as the tile; right-handed."""
    turn = random_pose(rng)[:3, :3]
    placed = vertices @ turn.T
    lower, upper = placed.min(axis=0), placed.max(axis=0)
    scale = fill * size / (upper - lower)[:2].max()
    middle = (lower + upper) / 2.0
    view = np.empty((3, 4))
    # A little off the middle, so that no centre lies on an edge by symmetry.
    view[:2, :3], view[:2, 3] = turn[:2] * scale, size / 2.0 - scale * middle[:2] + rng.uniform(-0.05, 0.05, 2)
    view[2, :3], view[2, 3] = turn[2], -middle[2]
    return view


def aligned_view(axis, scale, shift):
    """A view along a coordinate axis; with a power of two as the scale and a multiple of 1/2 as the shift all is exact."""
    view = np.zeros((3, 4))
    view[0, (axis + 1) % 3] = view[1, (axis + 2) % 3] = scale
    view[2, axis] = 1.0
    view[:2, 3] = shift
    return view


def in_view(view, vertices):
    return vertices @ np.asarray(view).reshape(3, 4)[:, :3].T + np.asarray(view).reshape(3, 4)[:, 3]


def crossings_of_centres(placed, faces, size):
    """By brute force: rows (pixel, face, depth, sign) of all faces that hold a pixel centre; no centre may lie on an edge."""
    middle = np.arange(size) + 0.5
    px, py = (grid.ravel() for grid in np.meshgrid(middle, middle))
    rows = []
    for number, (a, b, c) in enumerate(placed[faces]):
        area = (b[0] - a[0]) * (c[1] - a[1]) - (c[0] - a[0]) * (b[1] - a[1])
        if area == 0.0:
            continue
        u = ((px - a[0]) * (c[1] - a[1]) - (c[0] - a[0]) * (py - a[1])) / area
        v = ((b[0] - a[0]) * (py - a[1]) - (px - a[0]) * (b[1] - a[1])) / area
        hit = np.flatnonzero((u > 0.0) & (v > 0.0) & (u + v < 1.0))
        depth = a[2] + u[hit] * (b[2] - a[2]) + v[hit] * (c[2] - a[2])
        rows += [(p, number, z, 1 if area > 0.0 else -1) for p, z in zip(hit.tolist(), depth, strict=True)]
    return rows


def rational(points):
    return [tuple(Fraction(float(x)) for x in point) for point in points]


def clipped(polygon, axis, sign, limit):
    """The part of a convex polygon where sign * coordinate <= sign * limit, in rational arithmetic."""
    kept = []
    for k, this in enumerate(polygon):
        before = polygon[k - 1]
        this_in, before_in = sign * (this[axis] - limit) <= 0, sign * (before[axis] - limit) <= 0
        if this_in != before_in:
            part = (limit - before[axis]) / (this[axis] - before[axis])
            kept.append(tuple(p + part * (q - p) for p, q in zip(before, this, strict=True)))
        if this_in:
            kept.append(this)
    return kept


def depths_over(triangle, left, right, top, bottom):
    """Lowest and highest depth of a rational triangle over a closed rectangle; None if it does not touch it."""
    polygon = triangle
    for axis, sign, limit in ((0, -1, left), (0, 1, right), (1, -1, top), (1, 1, bottom)):
        polygon = clipped(polygon, axis, sign, limit)
    depths = [point[2] for point in polygon]
    return (min(depths), max(depths)) if depths else None


def winding_numbers(vertices, faces, points):
    """Winding number (n,) of a closed mesh around points (n, 3), by solid angles."""
    a, b, c = (vertices[faces[:, k]][None] - points[:, None] for k in range(3))
    la, lb, lc = (np.linalg.norm(x, axis=2) for x in (a, b, c))
    volume = np.einsum("nfk,nfk->nf", a, np.cross(b, c))
    dot = la * lb * lc + (a * b).sum(2) * lc + (b * c).sum(2) * la + (c * a).sum(2) * lb
    return np.arctan2(volume, dot).sum(axis=1) / (2.0 * np.pi)


def common_intervals(one, other):
    """Non-empty intersections of closed intervals, given as lists of (low, high)."""
    shared = [(max(a, c), min(b, d)) for a, b in one for c, d in other]
    return [(low, high) for low, high in shared if low <= high]
