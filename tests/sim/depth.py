"""Depth of vertices of one closed surface inside another, without the simulation."""

import numpy as np

from jostle.geometry.winding import winding_number


def distances(points, vertices, faces):
    """(k,) from points to a surface, by trying the inside, the edges and the corners of every face."""
    a, b, c = (vertices[faces[:, k]][None] for k in range(3))
    p = points[:, None]
    best = np.full((len(points), len(faces)), np.inf)
    for start, end in ((a, b), (b, c), (c, a)):
        way = end - start
        share = np.clip(((p - start) * way).sum(-1) / (way**2).sum(-1), 0.0, 1.0)
        best = np.minimum(best, ((start + share[..., None] * way - p) ** 2).sum(-1))
    normal = np.cross(b - a, c - a)
    inside = np.ones_like(best, bool)
    for start, end in ((a, b), (b, c), (c, a)):
        inside &= (np.cross(end - start, p - start) * normal).sum(-1) >= 0.0
    off = ((p - a) * normal).sum(-1) ** 2 / (normal**2).sum(-1)
    return np.sqrt(np.where(inside, np.minimum(off, best), best).min(axis=1))


def depth(points, vertices, faces):
    """The depth of the deepest of the points (k,3) inside a closed surface, 0 if none is."""
    box = (points >= vertices.min(axis=0)).all(axis=1) & (points <= vertices.max(axis=0)).all(axis=1)
    points = points[box]
    if len(points) == 0:
        return 0.0
    points = points[winding_number(points, vertices, faces) > 0.5]
    return float(distances(points, vertices, faces).max(initial=0.0))


def mutual_depth(simulation, a, b):
    """The same both ways, for two bodies as they are displayed."""
    world = simulation.world
    shapes = [(world[name].world_vertices, world[name].mesh.faces) for name in (a, b)]
    return max(depth(shapes[0][0], *shapes[1]), depth(shapes[1][0], *shapes[0]))
