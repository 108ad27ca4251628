"""The facets of all bodies in flat arrays, as the search wants them: one number for each facet, whatever its body and level.

Rigid bodies with equal shapes share a range of facets; a deforming body has its own, in which a facet is brought up to date when
it is first looked at after its vertices changed (Guy and Debunne §5.1: "those that belong to the facet list"). Nothing passes
over all facets or vertices in a frame, but for the largest coordinate of bodies that deformed.

A facet has eight float64 (see `average_planes`) and eight int32: its parent, where its children and its neighbours begin (they
end where the next facet's begin), its level, its ancestor of the coarsest level (the root) and that of a level between (the cell),
and the row of its further planes, if it has some.
Places of other arrays (vertices, corners, averages) stand in the row of the body, as addresses.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from jostle.frame import Bodies, Floats, Frame, Ints
from jostle.kernels.handles import float64_at, int32_at
from jostle.kernels.jit import kernel
from jostle.methods.monte_carlo.average_planes import ROW
from jostle.methods.monte_carlo.moving_shells import moved_facet
from jostle.methods.monte_carlo.shape import ShellShape
from jostle.shapes.mesh import Mesh

LINKS = 8
PARENT, CHILDREN, AROUND, LEVEL, ROOT, CELL, EDGES = range(7)

# Columns of a body: its facets, those of the coarsest level, where its seeds begin, what changed when; then (address, length).
FIRST, COARSEST, COARSEST_END, SEEDS, EPOCH, MOVING = range(6)
VERTICES, CORNER, WELDED, ANCHOR, IN_FRAME, RADIUS, THICKNESS, CENTRE = range(6, 22, 2)
BODY = 22
ALWAYS = np.iinfo(np.int32).max  # the stamp of a rigid facet


class Packed:
    """The facets of the bodies of a detector.

    Parameters
    ----------
    bodies : Bodies
    shapes : tuple of ShellShape
        One for each body; equal meshes have the same object.
    """

    def __init__(self, bodies: Bodies, shapes: tuple[ShellShape, ...]) -> None:
        self.shapes = shapes
        self.bodies: NDArray[np.int64] = np.zeros((max(1, len(bodies)), BODY), np.int64)
        self.size = np.array([float(shape.size) for shape in shapes])
        self.farthest = np.array([float(np.abs(mesh.vertices).max(initial=0.0)) for mesh in bodies.meshes])
        self.middle = np.array([np.mean(mesh.bounds, axis=0) for mesh in bodies.meshes]).reshape(-1, 3)
        self._kept: list[Any] = [None] * len(bodies)  # arrays whose addresses stand in the rows
        self._seen: list[Floats | None] = [None] * len(bodies)
        known: dict[int, int] = {}
        parts: list[tuple[NDArray[Any], ...]] = []
        first = children = neighbours = seeds = edges = 0
        for body, shape in enumerate(shapes):
            moving = bool(bodies.deformable[body])
            twin = None if moving else known.get(id(shape))
            if twin is None:
                parts.append(_facets(shape, first, children, neighbours, edges, moving))
                level_first = first + shape.level_first.astype(np.int64)
                row = (first, level_first[-2], level_first[-1], seeds, 0, moving)
                self.bodies[body, :VERTICES] = row
                if not moving:
                    known[id(shape)] = body
                first += len(shape.corner)
                children, neighbours = children + len(shape.child), neighbours + len(shape.neighbour)
                seeds += int(level_first[-1] - level_first[-2])
                edges += len(shape.edge_plane)
            else:
                self.bodies[body, :VERTICES] = self.bodies[twin, :VERTICES]
            self._tell(body, bodies.meshes[body], shape, bodies.meshes[body].vertices)
        self.data, links, self.child, self.neighbour, self.seeds, self.stamp, self.planes = (
            (np.ascontiguousarray(np.concatenate(column)) for column in zip(*parts, strict=True)) if parts else _no_facets()
        )
        end = np.zeros((1, LINKS), np.int32)
        end[0, CHILDREN], end[0, AROUND] = children, neighbours
        self.links = np.concatenate([links, end])
        self.most_children = int(np.diff(self.links[:, CHILDREN]).max(initial=1))
        self.most_neighbours = int(np.diff(self.links[:, AROUND]).max(initial=1))

    def _tell(self, body: int, mesh: Mesh, shape: ShellShape, vertices: Floats) -> None:
        """Write where the arrays of a body are."""
        arrays: tuple[NDArray[Any], ...] = (vertices, shape.corner, mesh.welded_faces, shape.anchor)
        arrays += shape.in_frame, shape.radius, shape.thickness, shape.centre
        arrays = tuple(np.ascontiguousarray(array) for array in arrays)
        self._kept[body] = arrays
        self.bodies[body, VERTICES:] = [number for array in arrays for number in (array.ctypes.data, array.size)]

    def follow(self, frame: Frame, boxes: tuple[Floats, Floats]) -> None:
        """Take in the vertices of bodies that deformed; boxes (n,3) each: those of the bodies in their own frames, now."""
        for body in frame.bodies.deforming:
            vertices = frame.vertices[body]
            if vertices is not self._seen[body]:
                self._seen[body] = vertices
                kept = np.ascontiguousarray(vertices)
                self._kept[body] = (kept, *self._kept[body][1:])
                self.bodies[body, VERTICES] = kept.ctypes.data
                self.bodies[body, EPOCH] += 1
                if self.bodies[body, EPOCH] >= ALWAYS:
                    self.bodies[body, EPOCH] = 0
                    begin = int(self.bodies[body, FIRST])
                    self.stamp[begin : begin + len(self.shapes[body].corner)] = -1
                self.farthest[body] = max(map(abs, (*boxes[0][body].tolist(), *boxes[1][body].tolist())))


def _no_facets() -> tuple[NDArray[Any], ...]:
    none = np.empty(0, np.int32)
    return np.empty(0), np.empty((0, LINKS), np.int32), none, none, none, none, np.empty(0)


def _facets(shape: ShellShape, first: int, children: int, neighbours: int, edges: int, moving: bool) -> tuple[NDArray[Any], ...]:
    """Facets, links, children, neighbours, seeds of the coarsest level, stamps and planes of a shape, numbered from `first` on."""
    count = len(shape.corner)
    half = 0.5 * shape.thickness
    data = np.empty((count, ROW))
    data[:, :3] = shape.centre - half[:, None] * shape.normal
    data[:, 3:6], data[:, 6], data[:, 7] = shape.normal, shape.radius, half
    begin, end = (int(number) for number in shape.level_first[-2:])
    levels = len(shape.level_first) - 1
    links = np.zeros((count, LINKS), np.int32)
    links[:, PARENT] = np.where(shape.parent >= 0, shape.parent + first, -1)
    links[:, CHILDREN] = shape.child_first[:-1] + children
    links[:, AROUND] = shape.neighbour_first[:-1] + neighbours
    links[:, LEVEL] = np.repeat(np.arange(levels), np.diff(shape.level_first))
    links[:, ROOT] = _ancestors(shape, levels - 1) + first
    links[:, CELL] = _ancestors(shape, cell_level(levels)) + first
    links[:, EDGES] = -1 if moving else np.where(shape.edge_row >= 0, shape.edge_row + edges, -1)
    seeds = (shape.seed_order[begin:end] + first).astype(np.int32)
    stamp = np.full(count, -1 if moving else ALWAYS, np.int32)
    child, neighbour = (shape.child + first).astype(np.int32), (shape.neighbour + first).astype(np.int32)
    return data.reshape(-1), links, child, neighbour, seeds, stamp, shape.edge_plane.reshape(-1)


def cell_level(levels: int) -> int:
    """Return the level whose pairs of facets stand for a place of contact: two up where there are four or more, else one up."""
    return min(2 if levels >= 4 else 1, levels - 1)


def _ancestors(shape: ShellShape, level: int) -> Ints:
    """Return for each facet its ancestor of a level; of coarser levels the facet itself."""
    ancestor = np.arange(len(shape.corner), dtype=np.int32)
    for finer in range(level - 1, -1, -1):
        part = slice(int(shape.level_first[finer]), int(shape.level_first[finer + 1]))
        ancestor[part] = ancestor[shape.parent[part]]
    return ancestor


@kernel
def refresh_facet(bodies, body, f, data, links, stamp, deformation):  # type: ignore[no-untyped-def]
    """Bring a facet of a deforming body up to date; bodies flat, rows of BODY."""
    at, i = BODY * body, ROW * f
    g = f - bodies[at + FIRST]
    x, y, z, u, v, w, radius, thickness = moved_facet(
        int32_at(bodies[at + CORNER], bodies[at + CORNER + 1]),
        int32_at(bodies[at + ANCHOR], bodies[at + ANCHOR + 1]),
        float64_at(bodies[at + IN_FRAME], bodies[at + IN_FRAME + 1]),
        float64_at(bodies[at + VERTICES], bodies[at + VERTICES + 1]),
        g,
        links[LINKS * f + LEVEL] == 0,
        float64_at(bodies[at + RADIUS], bodies[at + RADIUS + 1])[g],
        float64_at(bodies[at + THICKNESS], bodies[at + THICKNESS + 1])[g],
        deformation,
    )
    half = 0.5 * thickness
    data[i], data[i + 1], data[i + 2] = x - half * u, y - half * v, z - half * w
    data[i + 3], data[i + 4], data[i + 5], data[i + 6], data[i + 7] = u, v, w, radius, half
    stamp[f] = bodies[at + EPOCH]


@kernel
def make_fresh(bodies, a, b, fa, fb, data, links, stamp, deformation):  # type: ignore[no-untyped-def]
    """Bring two facets up to date, fa of body a and fb of body b, where a body deforms."""
    if stamp[fa] != ALWAYS and stamp[fa] != bodies[BODY * a + EPOCH]:
        refresh_facet(bodies, a, fa, data, links, stamp, deformation)
    if stamp[fb] != ALWAYS and stamp[fb] != bodies[BODY * b + EPOCH]:
        refresh_facet(bodies, b, fb, data, links, stamp, deformation)


@kernel
def are_neighbours(links, neighbour, f, g):  # type: ignore[no-untyped-def]
    """Whether two facets of one body and level are equal or share a vertex."""
    if f == g:
        return True
    found = False
    for k in range(links[LINKS * f + AROUND], links[LINKS * (f + 1) + AROUND]):
        found = found or neighbour[k] == g
    return found


@kernel(forceinline=True)
def share_a_vertex(bodies, body, f, g):  # type: ignore[no-untyped-def]
    """Whether two faces of one body share a welded vertex; facets of level 0."""
    at = BODY * body
    welded = int32_at(bodies[at + WELDED], bodies[at + WELDED + 1])
    i, j = 3 * (f - bodies[at + FIRST]), 3 * (g - bodies[at + FIRST])
    p, q, r = welded[i], welded[i + 1], welded[i + 2]
    s, t, u = welded[j], welded[j + 1], welded[j + 2]
    return p in (s, t, u) or q in (s, t, u) or r in (s, t, u)
