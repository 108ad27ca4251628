"""The facets of all bodies in flat arrays, as the search wants them: one number for each facet, whatever its body and level.

Rigid bodies with equal shapes share a range of facets; a deforming body has its own, in which a facet is brought up to date when
it is first looked at after its vertices changed (Guy and Debunne §5.1: "those that belong to the facet list"). Nothing passes
over all facets or vertices in a frame, but for the largest coordinate of bodies that deformed.

A facet has a row of `Facet` and one of `Link` (`work.py`). Places of other arrays (vertices, corners, averages) stand in the row of
the body, as addresses.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from jostle._types import Floats, Ints
from jostle.geometry.vector import minus, times, write_point_from
from jostle.interface.frame import Bodies, Frame
from jostle.interface.shape_numbers import number_shapes
from jostle.kernels.handles import float64_at, int32_at
from jostle.kernels.jit import kernel
from jostle.kernels.numbers import as_int64
from jostle.methods.monte_carlo.moving_shells import FacetArrays, moved_facet
from jostle.methods.monte_carlo.shape import ShellShape
from jostle.methods.monte_carlo.work import EdgePlane, Facet, FacetPair, Link, PackedBody, Work
from jostle.shapes.mesh import Mesh

RANGES = ["first", "coarsest", "coarsest_end", "seeds", "epoch", "moving"]  # what bodies with equal shapes have in common
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
        self.bodies: NDArray[Any] = np.zeros(max(1, len(bodies)), PackedBody.dtype)
        self._kept: list[dict[str, NDArray[Any]]] = [{} for _ in shapes]  # arrays whose addresses stand in the rows
        self._seen: list[Floats | None] = [None] * len(bodies)
        firsts, shape_of_body = number_shapes(shapes, alone=bodies.deformable)
        parts: list[tuple[NDArray[Any], ...]] = []
        first = children = neighbours = seeds = edges = 0
        for body, shape in enumerate(shapes):
            moving = bool(bodies.deformable[body])
            twin, row = firsts[shape_of_body[body]], self.bodies[body]
            if twin == body:
                parts.append(_facets(shape, first, children, neighbours, edges, moving))
                coarsest, coarsest_end = (first + int(number) for number in shape.level_first[-2:])
                for name, number in zip(RANGES, (first, coarsest, coarsest_end, seeds, 0, moving), strict=True):
                    row[name] = number
                first += len(shape.corner)
                children, neighbours = children + len(shape.child), neighbours + len(shape.neighbour)
                seeds += coarsest_end - coarsest
                edges += len(shape.edge_plane)
            else:
                for name in RANGES:
                    row[name] = self.bodies[twin][name]
            self._describe(body, bodies.meshes[body], shape)
        self.facets, links, self.child, self.neighbour, self.seeds, self.stamp, self.planes = (
            (np.ascontiguousarray(np.concatenate(column)) for column in zip(*parts, strict=True)) if parts else _no_facets()
        )
        end = np.zeros(1, Link.dtype)
        end["children"], end["around"] = children, neighbours
        self.links = np.concatenate([links, end])
        self.most_children = int(np.diff(self.links["children"]).max(initial=1))
        self.most_neighbours = int(np.diff(self.links["around"]).max(initial=1))
        self.largest = float(self.bodies["size"].max())

    def _describe(self, body: int, mesh: Mesh, shape: ShellShape) -> None:
        """Write the size of a body and where its arrays are."""
        row = self.bodies[body]
        row["size"], row["farthest"] = float(shape.size), float(np.abs(mesh.vertices).max(initial=0.0))
        row["middle"] = np.mean(mesh.bounds, axis=0)
        arrays = {
            "vertices": mesh.vertices, "corner": shape.corner, "welded": mesh.welded_faces, "anchor": shape.anchor,
            "in_frame": shape.in_frame, "radius": shape.radius, "thickness": shape.thickness, "centre": shape.centre,
        }  # fmt: skip
        self._kept[body] = {name: np.ascontiguousarray(array) for name, array in arrays.items()}
        for name, array in self._kept[body].items():
            row[name] = array.ctypes.data, array.size

    def follow(self, frame: Frame, boxes: tuple[Floats, Floats]) -> None:
        """Take in the vertices of bodies that deformed; boxes (n,3) each: those of the bodies in their own frames, now."""
        for body in frame.bodies.deforming:
            vertices = frame.vertices[body]
            if vertices is not self._seen[body]:
                self._seen[body] = vertices
                kept, row = np.ascontiguousarray(vertices), self.bodies[body]
                self._kept[body]["vertices"] = kept
                row["vertices"]["address"] = kept.ctypes.data
                row["epoch"] += 1
                if row["epoch"] >= ALWAYS:
                    row["epoch"] = 0
                    begin = int(row["first"])
                    self.stamp[begin : begin + len(self.shapes[body].corner)] = -1
                row["farthest"] = max(map(abs, (*boxes[0][body].tolist(), *boxes[1][body].tolist())))


def _no_facets() -> tuple[NDArray[Any], ...]:
    none = np.empty(0, np.int32)
    return np.empty(0, Facet.dtype), np.empty(0, Link.dtype), none, none, none, none, np.empty(0, EdgePlane.dtype)


def _facets(shape: ShellShape, first: int, children: int, neighbours: int, edges: int, moving: bool) -> tuple[NDArray[Any], ...]:
    """Facets, links, children, neighbours, seeds of the coarsest level, stamps and planes of a shape, numbered from `first` on."""
    count = len(shape.corner)
    half = 0.5 * shape.thickness
    facets = np.empty(count, Facet.dtype)
    facets["middle"] = shape.centre - half[:, None] * shape.normal
    facets["axis"], facets["radius"], facets["half"] = shape.normal, shape.radius, half
    begin, end = (int(number) for number in shape.level_first[-2:])
    levels = len(shape.level_first) - 1
    links = np.zeros(count, Link.dtype)
    links["parent"] = np.where(shape.parent >= 0, shape.parent + first, -1)
    links["children"] = shape.child_first[:-1] + children
    links["around"] = shape.neighbour_first[:-1] + neighbours
    links["level"] = np.repeat(np.arange(levels), np.diff(shape.level_first))
    links["root"] = _ancestors(shape, levels - 1) + first
    links["cell"] = _ancestors(shape, cell_level(levels)) + first
    links["edge_row"] = -1 if moving else np.where(shape.edge_row >= 0, shape.edge_row + edges, -1)
    seeds = (shape.seed_order[begin:end] + first).astype(np.int32)
    stamp = np.full(count, -1 if moving else ALWAYS, np.int32)
    child, neighbour = (shape.child + first).astype(np.int32), (shape.neighbour + first).astype(np.int32)
    return facets, links, child, neighbour, seeds, stamp, np.ascontiguousarray(shape.edge_plane).reshape(-1).view(EdgePlane.dtype)


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
def refresh_facet(work: Work, body: PackedBody, f: int) -> None:
    """Bring facet f of a deforming body up to date."""
    g = f - body.first
    arrays = FacetArrays(
        int32_at(body.corner.address, body.corner.length),
        int32_at(body.anchor.address, body.anchor.length),
        float64_at(body.in_frame.address, body.in_frame.length),
        float64_at(body.vertices.address, body.vertices.length),
    )
    radius = float64_at(body.radius.address, body.radius.length)[g]
    thickness = float64_at(body.thickness.address, body.thickness.length)[g]
    disc = moved_facet(arrays, g, work.links[f].level == 0, radius, thickness, work.task.deformation)
    facet, half = work.facets[f], 0.5 * disc.thickness
    write_point_from(facet.middle, 0, minus(disc.centre, times(half, disc.normal)))
    write_point_from(facet.axis, 0, disc.normal)
    facet.radius, facet.half = disc.radius, half
    work.stamps[f] = body.epoch


@kernel(forceinline=True)
def make_fresh(work: Work, pair: FacetPair) -> None:
    """Bring two facets up to date, where a body deforms."""
    couple = work.couples[pair.couple]
    if couple.moving != 0:
        make_one_fresh(work, work.bodies[couple.body[0]], pair.a)
        make_one_fresh(work, work.bodies[couple.body[1]], pair.b)


@kernel
def make_one_fresh(work: Work, body: PackedBody, f: int) -> None:
    """Bring facet f of a body up to date, where it deforms."""
    if work.stamps[f] != ALWAYS and work.stamps[f] != body.epoch:
        refresh_facet(work, body, f)


@kernel
def are_neighbours(work: Work, pair: FacetPair) -> bool:
    """Return whether two facets of one body and level are equal or share a vertex."""
    if pair.a == pair.b:
        return True
    found = False
    for k in range(work.links[pair.a].around, work.links[pair.a + 1].around):
        found = found or work.neighbour[k] == pair.b
    return found


@kernel(forceinline=True)
def faces_share_a_vertex(work: Work, pair: FacetPair) -> bool:
    """Return whether two faces of one body share a welded vertex."""
    body = work.bodies[work.couples[pair.couple].body[0]]
    welded = int32_at(body.welded.address, body.welded.length)
    i, j = 3 * (pair.a - body.first), 3 * (pair.b - body.first)
    p, q, r = welded[i], welded[i + 1], welded[i + 2]
    s, t, u = welded[j], welded[j + 1], welded[j + 2]
    return p in (s, t, u) or q in (s, t, u) or r in (s, t, u)


@kernel(forceinline=True)
def first_face(work: Work, f: int) -> int:
    """Return the face that stands for a facet: the first one below it, a facet of level 0 itself."""
    while work.links[f].level > 0:
        f = as_int64(work.child[work.links[f].children])
    return f
