"""Which facets of a level touch each other (§3.3).

Pairs are updated by neighbours. Faces are neighbours when they share a welded vertex; facets of a coarser level when children of
theirs are. So faces that touch on the mesh belong to one facet or two neighbours on every level, and a walk or a flood over the
neighbours of any level reaches the whole connected component. (Simplified meshes need not have that property: they lose edges where
parts vanish.) Neighbours across an edge come first.

Around a vertex with more than `CROWD` faces, each face has only the `WINDOW` before and after it as neighbours, which keeps them
connected; all neighbours of the 10,000 faces at the tip of a cone would be 100 million.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from jostle._types import Ints
from jostle.kernels.arrays import read_only_view
from jostle.kernels.jit import kernel
from jostle.kernels.numbers import as_int64
from jostle.kernels.sort import sort_keys
from jostle.methods.monte_carlo.levels import faces_around, row_starts

CROWD = 64
WINDOW = 16
ROWS = 200_000  # per kernel call


class Neighbours(NamedTuple):
    """The neighbours of facet f: ``neighbour[first[f]:first[f + 1]]``.

    The first ``across_edges[f]`` are across an edge; both parts ascend.
    """

    first: Ints  # (f + 1,)
    neighbour: Ints  # (n,)
    across_edges: Ints  # (f,)


class FacesAround(NamedTuple):
    """Faces (m, 3), and those at vertex v: ``around[first[v]:first[v + 1]]``.

    Ascending.
    """

    faces: Ints
    first: Ints
    around: Ints


class Window(NamedTuple):
    """Some faces at a vertex, cyclic: `steps` of the `crowd`, from `start` on."""

    low: int
    crowd: int
    start: int
    steps: int


def neighbours_of_faces(welded_faces: Ints, vertex_count: int) -> Neighbours:
    """Return the neighbours of faces (m, 3) by shared vertices."""
    count = len(welded_faces)
    mesh = FacesAround(read_only_view(welded_faces), *(read_only_view(array) for array in faces_around(welded_faces, vertex_count)))
    first, across = np.zeros(count + 1, np.int32), np.zeros(count, np.int32)
    seen = np.full(count, -1, np.int32)
    neighbour = np.zeros(0, np.int32)
    for writing in (False, True):
        for begin in range(0, count, ROWS):
            end = min(begin + ROWS, count)
            gather_neighbours(begin, end, writing, mesh, seen, Neighbours(first, neighbour, across))
        if not writing:
            np.cumsum(first, out=first)
            neighbour = np.zeros(int(first[-1]), np.int32)
            seen[:] = -1
    return Neighbours(first, neighbour, across)


def neighbours_of_parents(finer: Neighbours, parent: Ints, count: int) -> Neighbours:
    """Return the neighbours among `count` parents: those with neighbouring children."""
    rows = np.diff(finer.first)
    facet = np.repeat(np.arange(len(parent), dtype=np.int32), rows)
    place = np.arange(len(facet), dtype=np.int32) - np.repeat(finer.first[:-1], rows)
    only_vertex = place >= np.repeat(finer.across_edges, rows)
    a, b = parent[facet].astype(np.int64), parent[finer.neighbour]
    apart = a != b
    # Row, other facet, then kind: sorting these numbers brings equal pairs together, the edge first.
    pair = np.sort(((a[apart] * count + b[apart]) << 1) | only_vertex[apart])
    pair = pair[first_of_equals(pair >> 1)]
    row, other = np.divmod(pair >> 1, max(count, 1))
    kind = pair & 1
    order = np.argsort((row * 2 + kind) * count + other)
    across = np.bincount(row[kind == 0], minlength=count).astype(np.int32)
    return Neighbours(row_starts(row, count), other[order].astype(np.int32), across)


def first_of_equals(rising: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Return which of ascending numbers are the first of their value.

    With `np.sort`, three times as fast as `np.unique`.
    """
    first = np.ones(len(rising), bool)
    np.not_equal(rising[1:], rising[:-1], out=first[1:])
    return first


@kernel
def gather_neighbours(begin: int, end: int, writing: bool, mesh: FacesAround, seen: Ints, out: Neighbours) -> None:
    """Count the neighbours of faces begin … end-1, or write them.

    Counts go to out.first[f + 1] and out.across_edges[f].

    seen (m,) int32: the last face that each was found for, -1 at first.
    """
    for f in range(begin, end):
        total, edges = 0, 0
        base = as_int64(out.first[f])
        for k in range(3):
            window = window_at(mesh, f, k)
            for step in range(window.steps):
                g = as_int64(mesh.around[window.low + (window.start + step) % window.crowd])
                if g == f or seen[g] == f:
                    continue
                seen[g] = f
                across_an_edge = shared_vertices(mesh.faces, f, g) > 1
                if writing:
                    at = base + total
                    if across_an_edge:  # make room at the end of the edges
                        out.neighbour[at] = out.neighbour[base + edges]
                        at = base + edges
                    out.neighbour[at] = g
                edges += int(across_an_edge)
                total += 1
        if writing:
            sort_keys(out.neighbour, base, base + edges)
            sort_keys(out.neighbour, base + edges, base + total)
        else:
            out.first[f + 1], out.across_edges[f] = total, edges


@kernel(forceinline=True)
def window_at(mesh: FacesAround, f: int, k: int) -> Window:
    """Return which faces at corner k of face f are its neighbours.

    All of them, or in a crowd those before and after it.
    """
    v = mesh.faces[f, k]
    low = as_int64(mesh.first[v])
    crowd = as_int64(mesh.first[v + 1]) - low
    if crowd <= CROWD:
        return Window(low, crowd, 0, crowd)
    place, high = 0, crowd
    while high - place > 1:
        half = (place + high) // 2
        if mesh.around[low + half] <= f:
            place = half
        else:
            high = half
    return Window(low, crowd, place - WINDOW + crowd, 2 * WINDOW + 1)


@kernel(forceinline=True)
def shared_vertices(faces: Ints, f: int, g: int) -> int:
    """Return how many different vertices of face f are vertices of face g."""
    shared = 0
    for i in range(3):
        v = faces[f, i]
        again = (i > 0 and v == faces[f, 0]) or (i > 1 and v == faces[f, 1])
        if not again and (v == faces[g, 0] or v == faces[g, 1] or v == faces[g, 2]):
            shared += 1
    return shared
