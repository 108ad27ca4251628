"""Complete face octrees: the black nodes of a mesh and the faces in each (§5.2).

A node is black if a face meets it, else white. The octree is built level by level; a face is tested only against the children of
nodes that it meets. The test (`geometry/triangle_box.py`) never misses, so every point of a face lies in a black node that lists
that face. Deviation: only the black nodes of the finest level are kept; nothing uses those above.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from jostle._types import Floats, Ints
from jostle.geometry.triangle import face_at
from jostle.geometry.triangle_box import triangle_meets_box
from jostle.geometry.vector import point_from
from jostle.interface.method import Progress
from jostle.kernels.arrays import read_only_view
from jostle.kernels.jit import kernel
from jostle.kernels.slices import run_in_slices
from jostle.methods.octree_update.cubes import Cell, cell_bounds, child_cell, cube_about
from jostle.shapes.mesh import Mesh

CELL_BITS = 10  # of each of the three numbers of a packed node
CELL_MASK = (1 << CELL_BITS) - 1
FIRST_SLICE = 1 << 15  # faces in nodes


class BlackNodes(NamedTuple):
    """The finest black nodes of a mesh, in order.

    The faces of node k are node_faces[node_start[k] : node_start[k + 1]].
    """

    cube: Floats  # (4,) lower corner and side, in body coordinates
    level: NDArray[np.int64]  # () of the finest nodes
    cells: Ints  # (k,3) whole numbers, times side / 2**level from the lower corner
    node_start: Ints  # (k+1,)
    node_faces: Ints  # ascending within a node


class Entries(NamedTuple):
    """Nodes of a level, by their packed cell numbers, and a face that meets each."""

    nodes: NDArray[np.int64]
    faces: Ints


@kernel(forceinline=True)
def packed(cell: Cell) -> int:
    """Return the numbers of a cell as one."""
    return (cell.i << (2 * CELL_BITS)) | (cell.j << CELL_BITS) | cell.k


@kernel(forceinline=True)
def unpacked(node: int) -> Cell:
    """Return the numbers of a packed cell."""
    return Cell(node >> (2 * CELL_BITS), (node >> CELL_BITS) & CELL_MASK, node & CELL_MASK)


@kernel
def split_nodes(
    vertices: Floats, faces: Ints, cube: Floats, level: int, entries: Entries, first: int, last: int, out: Entries
) -> int:
    """Write the children of entries first … last-1 that their faces meet.

    Returns the number of new entries.

    The entries are of `level`. The output has room for eight times as many.
    """
    written = 0
    corner, side = point_from(cube, 0), cube[3] / 2.0 ** (level + 1)
    for entry in range(first, last):
        face = entries.faces[entry]
        triangle = face_at(vertices, faces, face)
        for number in range(8):
            child = child_cell(unpacked(entries.nodes[entry]), number)
            if triangle_meets_box(triangle, cell_bounds(corner, side, child)):
                out.nodes[written], out.faces[written] = packed(child), face
                written += 1
    return written


@dataclass
class _Building:
    """The entries of one level, and those of the next in portions."""

    level: int
    entries: Entries
    next_entry: int
    portions: list[Entries]


def complete_face_octree(mesh: Mesh, level: int, progress: Progress | None = None) -> BlackNodes:
    """Return the black nodes of a mesh at a level (0: the root alone)."""
    cube = cube_about(*mesh.bounds)
    arrays = read_only_view(mesh.vertices), read_only_view(mesh.faces), read_only_view(cube)
    count = len(mesh.faces)
    building = _Building(0, Entries(np.zeros(count, np.int64), np.arange(count, dtype=np.int32)), 0, [])

    def step(state: _Building, operations: int) -> tuple[bool, int]:
        if state.level == level:
            return True, 1
        first = state.next_entry
        last = min(len(state.entries.nodes), first + operations)
        out = Entries(np.empty(8 * (last - first), np.int64), np.empty(8 * (last - first), np.int32))
        written = split_nodes(*arrays, state.level, state.entries, first, last, out)
        state.portions.append(Entries(out.nodes[:written].copy(), out.faces[:written].copy()))
        state.next_entry = last
        if last == len(state.entries.nodes):
            nodes, faces = (np.concatenate(column) for column in zip(*state.portions, strict=True))
            state.entries, state.level, state.next_entry, state.portions = Entries(nodes, faces), state.level + 1, 0, []
            if progress is not None:
                progress(state.level / level, "face octree")
        return state.level == level, max(1, last - first)

    run_in_slices(step, building, FIRST_SLICE)
    return _in_order(cube, level, *building.entries)


def _in_order(cube: Floats, level: int, nodes: NDArray[np.int64], faces: Ints) -> BlackNodes:
    """Sort the entries of the finest level by node and face."""
    keys = np.sort((nodes << 32) | faces)
    nodes = keys >> 32
    start = np.flatnonzero(np.diff(nodes, prepend=-1))
    black = nodes[start]
    cells = np.stack([black >> (2 * CELL_BITS), (black >> CELL_BITS) & CELL_MASK, black & CELL_MASK], axis=1)
    return BlackNodes(
        cube,
        np.array(level),
        cells.astype(np.int32),
        np.append(start, len(keys)).astype(np.int32),
        (keys & 0xFFFFFFFF).astype(np.int32),
    )
