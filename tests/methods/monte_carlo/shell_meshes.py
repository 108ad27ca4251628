"""Meshes of all kinds for the shells, and what lies under a facet, found the slow way."""

from __future__ import annotations

import functools

import numpy as np

from jostle.methods.monte_carlo.shape import prepare
from jostle.shapes import build
from jostle.shapes.mesh import Mesh


def fine_box(cells=10):
    """A box of 12 * cells² faces; its sides share coordinates along the edges, not vertex numbers."""
    side = build.plate(cells, cells)
    flat = side.vertices
    parts = []
    for axis in range(3):
        for sign in (-1.0, 1.0):
            points = np.roll(np.column_stack([flat[:, :2], np.full(len(flat), 0.5)]), axis, axis=1)
            faces = side.faces if sign > 0 else side.faces[:, ::-1]
            points[:, (axis + 2) % 3] *= sign
            parts.append((points, faces))
    return joined_parts(parts, "fine box")


def joined_parts(parts, name):
    """Several (vertices, faces) as one mesh."""
    firsts = np.cumsum([0] + [len(points) for points, _ in parts[:-1]])
    vertices = np.concatenate([points for points, _ in parts])
    faces = np.concatenate([faces + first for (_, faces), first in zip(parts, firsts, strict=True)])
    return Mesh(vertices, faces, name=name)


def soup(count=600, seed=3):
    """Triangles that share no vertex."""
    rng = np.random.default_rng(seed)
    corners = rng.uniform(-1.0, 1.0, (count, 1, 3)) + rng.normal(0.0, 0.05, (count, 3, 3))
    return Mesh(corners.reshape(-1, 3), np.arange(3 * count).reshape(-1, 3), name="soup")


def with_bad_faces():
    """A blob with faces without area: points, needles at vertices of it and away from it, and faces given twice."""
    blob = build.blob(1200, seed=2)
    n = len(blob.vertices)
    away = np.array([[3.0, 0.0, 0.0], [3.0, 0.0, 1.0], [3.0, 0.0, 2.0], [-4.0, 1.0, 0.0]])
    bad = [[0, 0, 0], [5, 5, 9], [7, 8, 7], [n, n + 1, n + 2], [n + 3, n + 3, n + 3], [n, n + 1, n], [11, n + 3, 11]]
    vertices = np.concatenate([blob.vertices, away])
    return Mesh(vertices, np.concatenate([blob.faces, bad, blob.faces[:9]]), name="bad faces")


def many_parts():
    """Three spheres and a hundred tetrahedra in one mesh."""
    rng = np.random.default_rng(4)
    ball = build.icosphere(2, 0.4)
    parts = [(ball.vertices + np.array([1.5 * k, 0.0, 0.0]), ball.faces) for k in range(3)]
    corners = np.array([[0.0, 0.0, 0.0], [0.1, 0.0, 0.0], [0.0, 0.1, 0.0], [0.0, 0.0, 0.1]])
    faces = np.array([[0, 2, 1], [0, 1, 3], [1, 2, 3], [2, 0, 3]])
    parts += [(corners + rng.uniform([0.0, 1.0, 0.0], [4.0, 3.0, 2.0]), faces) for _ in range(100)]
    return joined_parts(parts, "many parts")


def needles(count=300):
    """Faces of all widths from a tenth to a rounding error, far from the origin."""
    rng = np.random.default_rng(5)
    a = rng.uniform(50.0, 60.0, (count, 3))
    along = rng.normal(size=(count, 3))
    c = a + rng.uniform(0.2, 0.8, (count, 1)) * along + 10.0 ** rng.uniform(-17.0, -1.0, (count, 1)) * rng.normal(size=(count, 3))
    return Mesh(np.stack([a, a + along, c], axis=1).reshape(-1, 3), np.arange(3 * count).reshape(-1, 3), name="needles")


def scaled_blob(scale):
    """A blob near the smallest or the largest coordinates that are accepted."""
    blob = build.blob(800, seed=7)
    vertices = blob.vertices * scale
    vertices[np.abs(vertices) < 1e-29] = 0.0
    return Mesh(vertices, blob.faces)


MESHES = {
    "sphere": lambda: build.icosphere(3),
    "torus": lambda: build.torus(segments=48, sides=24),
    "blob": lambda: build.blob(2000, seed=1),
    "cloth": lambda: build.cloth(24, 24, waviness=0.1),
    "box": fine_box,
    "plain box": build.box,
    "horseshoe": build.horseshoe,
    "soup": soup,
    "bad faces": with_bad_faces,
    "one triangle": lambda: Mesh([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.2, 0.7, 0.1]], [[0, 1, 2]]),
    "many parts": many_parts,
    "needles": needles,
    "cone": lambda: build.cone(segments=200),
    "far away": lambda: Mesh(build.blob(800, seed=6).vertices + np.array([1e7, -3e6, 2e5]), build.blob(800, seed=6).faces),
    "tiny": lambda: scaled_blob(1e-20),
    "huge": lambda: scaled_blob(1e29),
    "a point": lambda: Mesh(np.ones((400, 3)), np.arange(399).reshape(-1, 3)),
}


@functools.cache
def mesh_of(name):
    return MESHES[name]()


@functools.cache
def shape_of(name):
    return prepare(mesh_of(name))


def ancestors(shape, level):
    """For each face the facet of a level that stands for it."""
    facet = np.arange(shape.level_first[1])
    for _ in range(level):
        facet = shape.parent[facet]
    return facet


def levels_of(shape):
    return range(len(shape.level_first) - 1)
