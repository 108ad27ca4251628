"""Solids made of convex pieces on whole numbers, and whether the interiors of two of them meet. Imports nothing of jostle.

A solid is a mesh and the convex pieces that it is the union of. Interiors of solids meet if and only if those of two pieces do, and
those of convex pieces are disjoint if and only if a plane parts them that is parallel to a face of either, or to an edge of each
(the facets of the set of differences). All of it in whole numbers.
"""

import itertools

import numpy as np

CORNERS = np.array(list(itertools.product((0, 2), repeat=3)))  # of a cell, which is 2 wide: half cells are whole numbers too
DIRECTIONS = np.concatenate([np.eye(3, dtype=int), -np.eye(3, dtype=int)])


class Solid:
    """Vertices (n,3), faces (m,3) and convex pieces: of each its corners, and the normals and edges of its faces."""

    def __init__(self, name, vertices, faces, pieces, manifold=True):
        self.name, self.manifold = name, manifold
        self.vertices, self.faces = np.asarray(vertices, dtype=np.int64), np.asarray(faces)
        self.pieces = [tuple(np.asarray(part, dtype=np.int64) for part in piece) for piece in pieces]

    def moved(self, matrix, shift):
        """The solid under a linear map of whole numbers, and a shift."""
        matrix, shift = np.asarray(matrix), np.asarray(shift)
        cofactors = np.array([np.cross(matrix[(i + 1) % 3], matrix[(i + 2) % 3]) for i in range(3)])  # normals turn with these
        pieces = [(corners @ matrix.T + shift, normals @ cofactors.T, edges @ matrix.T) for corners, normals, edges in self.pieces]
        return Solid(self.name, self.vertices @ matrix.T + shift, self.faces, pieces, self.manifold)

    def inverted(self):
        """The same with all faces turned over."""
        return Solid(f"inverted {self.name}", self.vertices, self.faces[:, ::-1], self.pieces, self.manifold)


def interiors_meet(one, other):
    """Whether the interiors of two solids have a common point."""
    return any(_pieces_meet(p, q) for p, q in itertools.product(one.pieces, other.pieces))


def _pieces_meet(one, other):
    corners, normals, edges = one
    other_corners, other_normals, other_edges = other
    if (corners.max(axis=0) <= other_corners.min(axis=0)).any() or (other_corners.max(axis=0) <= corners.min(axis=0)).any():
        return False
    axes = np.concatenate([normals, other_normals, np.cross(edges[:, None], other_edges[None]).reshape(-1, 3)])
    axes = axes[axes.any(axis=1)]
    mine, theirs = corners @ axes.T, other_corners @ axes.T
    return not ((mine.max(axis=0) <= theirs.min(axis=0)) | (theirs.max(axis=0) <= mine.min(axis=0))).any()


def of_cells(name, cells, rng, manifold=True):
    """The union of cells of a grid; every square side is cut along a diagonal of its own or around its middle, at random."""
    filled = {tuple(cell) for cell in cells}
    vertices, number, faces = [], {}, []

    def vertex(point):
        key = tuple(int(x) for x in point)
        if key not in number:
            number[key] = len(vertices)
            vertices.append(key)
        return number[key]

    for cell in sorted(filled):
        for way in DIRECTIONS:
            if tuple(np.add(cell, way)) in filled:
                continue
            axis = int(np.flatnonzero(way)[0])
            u, v = np.eye(3, dtype=int)[(axis + 1) % 3], np.eye(3, dtype=int)[(axis + 2) % 3]
            if way[axis] < 0:
                u, v = v, u
            start = 2 * np.array(cell) + 2 * np.maximum(way, 0)
            ring = [vertex(start), vertex(start + 2 * u), vertex(start + 2 * u + 2 * v), vertex(start + 2 * v)]
            cut = rng.integers(3)
            if cut == 2:
                middle = vertex(start + u + v)
                faces += [(ring[k], ring[(k + 1) % 4], middle) for k in range(4)]
            else:
                a, b, c, d = ring[cut:] + ring[:cut]
                faces += [(a, b, c), (a, c, d)]
    pieces = [(2 * np.array(cell) + CORNERS, np.eye(3, dtype=int), np.eye(3, dtype=int)) for cell in sorted(filled)]
    return Solid(name, vertices, faces, pieces, manifold)


def of_box(size, rng):
    """A box with twelve faces."""
    corners = np.array(list(itertools.product((0, 1), repeat=3))) * np.asarray(size)
    quads = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
    faces = []
    for quad in quads:
        k = int(rng.integers(2))
        a, b, c, d = quad[k:] + quad[:k]
        faces += [(a, b, c), (a, c, d)]
    return Solid("box", corners, faces, [(corners, np.eye(3, dtype=int), np.eye(3, dtype=int))])


def of_prism(size, rng):
    """A box cut in two along a diagonal."""
    corners = np.array([(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1), (1, 0, 1), (0, 1, 1)]) * np.asarray(size)
    faces = [(0, 2, 1), (3, 4, 5)]
    for quad in ((0, 1, 4, 3), (1, 2, 5, 4), (2, 0, 3, 5)):
        k = int(rng.integers(2))
        a, b, c, d = quad[k:] + quad[:k]
        faces += [(a, b, c), (a, c, d)]
    return hull("prism", corners, faces)


def of_corners(corners):
    """A tetrahedron, its faces outwards; None of corners in one plane."""
    corners = np.asarray(corners)
    volume = np.dot(np.cross(corners[1] - corners[0], corners[2] - corners[0]), corners[3] - corners[0])
    if volume == 0:
        return None
    faces = np.array([(0, 2, 1), (0, 1, 3), (1, 2, 3), (0, 3, 2)])
    return hull("tetrahedron", corners, faces if volume > 0 else faces[:, ::-1])


def octahedron():
    """Corners in the middles of the sides of a box of 4: they touch its faces, and nothing else does."""
    corners = np.array([(2, 2, 0), (2, 2, 4), (0, 2, 2), (4, 2, 2), (2, 0, 2), (2, 4, 2)])
    return hull("octahedron", corners, [(0, 2, 5), (0, 5, 3), (0, 3, 4), (0, 4, 2), (1, 5, 2), (1, 3, 5), (1, 4, 3), (1, 2, 4)])


def hull(name, corners, faces):
    """A convex solid of these faces."""
    triangles = np.asarray(corners)[np.asarray(faces)]
    normals = np.cross(triangles[:, 1] - triangles[:, 0], triangles[:, 2] - triangles[:, 0])
    edges = np.concatenate([triangles[:, k] - triangles[:, k - 1] for k in range(3)])
    return Solid(name, corners, faces, [(corners, normals, edges)])


def cells_of(*lines):
    """Cells of a drawing: layers from below, rows of characters, # is filled."""
    return [
        (x, y, z) for z, layer in enumerate(lines) for y, row in enumerate(layer.split("/")) for x, c in enumerate(row) if c == "#"
    ]


SHAPES = {
    "cell": (cells_of("#"), True),
    "bar": (cells_of("###"), True),
    "plate": (cells_of("###/###"), True),
    "L": (cells_of("##/#."), True),
    "tall L": (cells_of("##/#.", "#./.."), True),
    "U": (cells_of("#.#/###"), True),
    "ring": (cells_of("###/#.#/###"), True),
    "cross": (cells_of(".#./###/.#."), True),
    "block with a cavity": (cells_of("###/###/###", "###/#.#/###", "###/###/###"), True),
    "cup": (cells_of("###/###/###", "###/#.#/###"), True),
    "two cells apart": (cells_of("#.#"), True),
    "cells that share an edge": (cells_of("#./.#"), False),
    "cells that share a corner": (cells_of("#./..", "../.#"), True),
    "stairs": (cells_of("##/##", "#./##"), True),
}


def shape(name, rng):
    """One of the shapes of cells, or a convex one, triangulated at random."""
    if name == "box":
        return of_box(rng.integers(1, 7, 3), rng)
    if name == "prism":
        return of_prism(rng.integers(1, 7, 3), rng)
    if name == "octahedron":
        return octahedron()
    cells, manifold = SHAPES[name]
    return of_cells(name, cells, rng, manifold)


NAMES = (*SHAPES, "box", "prism", "octahedron", "box", "prism")


def rotations():
    """The 24 rotations of the axes, as matrices of whole numbers."""
    found = []
    for order in itertools.permutations(range(3)):
        for signs in itertools.product((1, -1), repeat=3):
            matrix = np.zeros((3, 3), dtype=int)
            matrix[range(3), order] = signs
            if round(np.linalg.det(matrix)) == 1:
                found.append(matrix)
    return found
