"""The facets of all bodies in flat arrays, numbered across bodies and levels.

Rigid bodies with equal shapes share a range of facets; a deforming body has its own, in which a facet is updated when it is first
used after its vertices changed (Guy and Debunne §5.1: "those that belong to the facet list"). No frame visits all facets or
vertices, except for the largest coordinate of bodies that deformed.

A facet has a row of `Facet` and one of `Link` (`work.py`). The row of a body has the addresses of other arrays (vertices, corners,
averages).
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

RANGES = ["first", "coarsest", "coarsest_end", "seeds", "epoch", "moving"]  # fields that bodies with equal shapes share
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
        self._kept: list[dict[str, NDArray[Any]]] = [{} for _ in shapes]  # arrays whose addresses are in the rows
        self._seen: list[Floats | None] = [None] * len(bodies)
        firsts, shape_of_body = number_shapes(shapes, alone=bodies.deformable)
        parts = [_no_facets()]
        first = children = neighbours = seeds = edges = 0
        for body, shape in enumerate(shapes):
            moving = bool(bodies.deformable[body])
            twin, row = firsts[shape_of_body[body]], self.bodies[body]
            if twin == body:
                parts.append(_facets(shape, first, children, neighbours, edges, moving))
                coarsest, coarsest_end = (first + int(number) for number in shape.level_first[-2:])
                for name, number in zip(RANGES, (first, coarsest, coarsest_end, seeds, 0, moving), strict=True):
                    row[name] = number
                first += len(shape.radius)
                children, neighbours = children + len(shape.child), neighbours + len(shape.neighbour)
                seeds += coarsest_end - coarsest
                edges += len(shape.edge_plane)
            else:
                for name in RANGES:
                    row[name] = self.bodies[twin][name]
            self._describe(body, bodies.meshes[body], shape)
        columns = [np.concatenate(column) for column in zip(*parts, strict=True)]
        self.facets, links, self.child, self.neighbour, self.seeds, self.stamp, self.planes = columns
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
        """Update the vertices of bodies that deformed.

        boxes (n,3) each: of the bodies in their own frames, now.
        """
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
                    self.stamp[begin : begin + len(self.shapes[body].radius)] = -1
                row["farthest"] = max(map(abs, (*boxes[0][body].tolist(), *boxes[1][body].tolist())))


def _no_facets() -> tuple[NDArray[Any], ...]:
    none = np.empty(0, np.int32)
    return np.empty(0, Facet.dtype), np.empty(0, Link.dtype), none, none, none, none, np.empty(0, EdgePlane.dtype)


def _facets(shape: ShellShape, first: int, children: int, neighbours: int, edges: int, moving: bool) -> tuple[NDArray[Any], ...]:
    """The arrays of a shape, numbered from `first` on.

    Facets, links, children, neighbours, seeds of the coarsest level, stamps and planes.
    """
    count = len(shape.radius)
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
    """Return the level whose facet pairs are contact sites.

    Two up where there are four or more levels, else one up.
    """
    return min(2 if levels >= 4 else 1, levels - 1)


def _ancestors(shape: ShellShape, level: int) -> Ints:
    """Return each facet's ancestor of a level; for coarser facets, the facet itself."""
    ancestor = np.arange(len(shape.radius), dtype=np.int32)
    for finer in range(level - 1, -1, -1):
        part = slice(int(shape.level_first[finer]), int(shape.level_first[finer + 1]))
        ancestor[part] = ancestor[shape.parent[part]]
    return ancestor


@kernel
def refresh_facet(work: Work, body: PackedBody, f: int) -> None:
    """Update facet f of a deforming body."""
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
    """Update the facets of a pair, where a body deforms."""
    body_pair = work.body_pairs[pair.body_pair]
    if body_pair.moving != 0:
        make_one_fresh(work, work.bodies[body_pair.body[0]], pair.a)
        make_one_fresh(work, work.bodies[body_pair.body[1]], pair.b)


@kernel
def make_one_fresh(work: Work, body: PackedBody, f: int) -> None:
    """Update facet f of a body, if that deforms."""
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
    body = work.bodies[work.body_pairs[pair.body_pair].body[0]]
    welded = int32_at(body.welded.address, body.welded.length)
    i, j = 3 * (pair.a - body.first), 3 * (pair.b - body.first)
    p, q, r = welded[i], welded[i + 1], welded[i + 2]
    s, t, u = welded[j], welded[j + 1], welded[j + 2]
    return p in (s, t, u) or q in (s, t, u) or r in (s, t, u)


@kernel(forceinline=True)
def first_face(work: Work, f: int) -> int:
    """Return the face that represents a facet: the first one below it, or itself."""
    while work.links[f].level > 0:
        f = as_int64(work.child[work.links[f].children])
    return f
