"""A lattice whose cells may be split into 2 × 2 × 2 (Guy and Debunne 2004, §5.2).

Tables are computed once: all finer cells with their shares, all lines of both sizes, and the weights of every vertex in its cell
and in its finer one. When the split cells change, a lattice is selected from these tables in about a millisecond, without sorting.

Each cell has springs of its own size and its own volume, so that every cell has the given material next to any neighbour; stiffness
scales with the edge. A node in the middle of an edge or a face of a whole cell hangs there: it is tied to its corners (`ties.py`).
So a uniform strain has uniform stress, and no net force on any inner node (tested).

Of a split cell's eight parts, only those with content count. So it may lack some of its own corners while split; the nearest part
defines their positions, extrapolated beyond its border.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from jostle._types import Bools, Floats, Ints, Longs
from jostle.geometry.unique_rows import unique_rows
from jostle.shapes.mesh import Mesh
from jostle.sim.lattice import (
    CORNERS,
    DIAGONALS,
    EDGES,
    LEAST_MASS,
    LEAST_SHARE,
    Grid,
    Lattice,
    cell_of,
    grid_of,
    lattice_of,
    points_on,
    shares_in,
    trilinear,
)

LINES = np.concatenate([EDGES, DIAGONALS])
OF_LINE = np.concatenate(
    [np.full(len(EDGES), 0.25), np.full(len(DIAGONALS), 0.5)]
)  # an edge has four cells about it, a diagonal two
# From the end with the smaller number to the other one; lines of a cell have nine directions.
_STEPS = CORNERS[LINES[:, 1]] - CORNERS[LINES[:, 0]]
_BACK = _STEPS[np.arange(len(LINES)), np.abs(_STEPS).argmax(axis=1)] < 0
LOW = np.where(_BACK, LINES[:, 1], LINES[:, 0])
DIRECTIONS, DIRECTION = np.unique(np.where(_BACK[:, None], -_STEPS, _STEPS), axis=0, return_inverse=True)
ALONG = np.abs(DIRECTIONS).argmax(axis=1)
# The 27 places of the finer grid in a cell; of these the middles of its edges and faces, and which corners those lie between.
PLACES = np.stack(np.meshgrid(range(3), range(3), range(3), indexing="ij"), axis=-1).reshape(-1, 3)
IN_CELL = trilinear(0.5 * PLACES)  # (27,8)
MIDDLES = np.flatnonzero(((PLACES == 1).sum(axis=1) == 1) | ((PLACES == 1).sum(axis=1) == 2))
BETWEEN = np.stack([np.resize(np.flatnonzero(IN_CELL[place] > 0.0), 4) for place in MIDDLES])  # (18,4)
SHARED = np.array([(0.5, 0.5, 0.0, 0.0) if (PLACES[place] == 1).sum() == 1 else (0.25,) * 4 for place in MIDDLES])
# Weights of the corners of part j for corner k of the cell, which may be beyond that part.
BEYOND = trilinear((2.0 * CORNERS[:, None] - CORNERS[None]).reshape(-1, 3)).reshape(8, 8, 8)
STEPS_APART = np.abs(CORNERS[:, None] - CORNERS[None]).sum(axis=2)  # (8,8) from corner k to part j


class Resolutions(NamedTuple):
    """A lattice and its refinements; a node's "key" is its place on the fine grid."""

    coarse: Lattice  # nothing is split
    grid: Grid  # of the finer cells
    cell_key: Longs  # (c,8) corners of the cells
    place_key: Longs  # (c,27) all places of the finer grid in them
    part_key: Longs  # (p,8) corners of the parts of all cells
    part_of: Longs  # (p,) the cell that each is a part of
    part_share: Floats  # (p,) how much of it counts
    part: Longs  # (c,8) number of each part of a cell, -1 if empty
    nearest_part: Longs  # (c,8) 0 … 7: the part with content nearest to a corner
    line: Longs  # (c,24) of the cells, rows of what follows
    part_line: Longs  # (p,24) of the parts
    line_end: Longs  # (k,2) keys of the ends of all lines
    line_rest: Floats  # (k,) lengths
    vertex_part: Longs  # (v,) of each vertex of the mesh
    vertex_weight: Floats  # (v,8) of the corners of its part
    face_part: Longs  # (f,) of the middle of each face
    face_weight: Floats  # (f,8)
    passing_face: Longs  # (k,) faces, and
    passed_cell: Longs  # (k,) the cells that they pass


def resolutions_of(mesh: Mesh, cells: int) -> Resolutions:
    """Return the lattice of a mesh with `cells` cells, and its refinements."""
    coarse, (origin, edge, counts) = lattice_of(mesh, cells), grid_of(mesh, cells)
    grid = Grid(origin, 0.5 * edge, 2 * counts)
    where = np.rint((coarse.node[coarse.cell[:, 0]] - origin) / edge).astype(np.int64)
    parts = (2 * where[:, None] + CORNERS[None]).reshape(-1, 3)
    # An open mesh is the middle of a sheet as thick as a cell, and stays so.
    shares = shares_in(mesh, grid)[tuple(parts.T)] if mesh.is_closed else np.ones(len(parts))
    shares = shares.reshape(-1, 8)
    shares[~shares.any(axis=1)] = LEAST_SHARE
    holds = shares > 0.0
    part = np.where(holds, np.cumsum(holds).reshape(holds.shape) - 1, -1)
    places = parts[holds.ravel()]
    vertex_part, vertex_weight = _in_parts(coarse.vertex_cell, coarse.vertex_weight, part)
    face_part, face_weight = _in_parts(coarse.face_cell, coarse.face_weight, part)
    slots = np.concatenate([_slots(where, grid, 2), _slots(places, grid, 1)])
    slot, line = np.unique(slots, return_inverse=True)
    line = line.reshape(slots.shape)
    line_end, line_rest = _ends(slot, grid)
    number = np.full(counts, -1)
    number[tuple(where.T)] = np.arange(len(where))
    points, face = points_on(mesh, 0.5 * edge)
    passed = number[tuple(cell_of(points, Grid(origin, edge, counts)).T)]
    passing = unique_rows(np.stack([face, passed], axis=1)[passed >= 0])
    return Resolutions(
        coarse=coarse,
        grid=grid,
        cell_key=_key(2 * (where[:, None] + CORNERS), grid),
        place_key=_key(2 * where[:, None] + PLACES, grid),
        part_key=_key(places[:, None] + CORNERS, grid),
        part_of=np.repeat(np.arange(len(where)), holds.sum(axis=1)),
        part_share=shares[holds],
        part=part,
        nearest_part=np.where(holds[:, None, :], STEPS_APART[None], 9).argmin(axis=2),
        line=line[: len(where)],
        part_line=line[len(where) :],
        line_end=line_end,
        line_rest=line_rest,
        vertex_part=vertex_part,
        vertex_weight=vertex_weight,
        face_part=face_part,
        face_weight=face_weight,
        passing_face=np.ascontiguousarray(passing[:, 0]),
        passed_cell=np.ascontiguousarray(passing[:, 1]),
    )


def with_split(resolutions: Resolutions, split: Bools) -> Lattice:
    """Return the lattice in which these cells (c,) are split."""
    if not split.any():
        return resolutions.coarse
    coarse, grid = resolutions.coarse, resolutions.grid
    whole, parts = ~split, split[resolutions.part_of]
    cell_key = np.concatenate([resolutions.cell_key[whole], resolutions.part_key[parts]])
    key, number = _numbered(cell_key, grid)
    node = grid.origin + grid.edge * _places(key, grid)
    cell = number[cell_key]
    size = np.repeat([1.0, 0.125], [whole.sum(), parts.sum()])  # in cells that are not split
    share = np.concatenate([coarse.share[whole], resolutions.part_share[parts]])
    lines = np.concatenate([resolutions.line[whole], resolutions.part_line[parts]])
    counts = (share * np.where(size == 1.0, 1.0, 0.5))[:, None] * OF_LINE  # stiffness goes with the edge
    weight: Floats = np.bincount(lines.ravel(), counts.ravel(), len(resolutions.line_rest)).astype(np.float64)
    spring = np.flatnonzero(weight)
    small = np.zeros(len(node), bool)
    small[cell[int(whole.sum()) :]] = True
    mass = np.bincount(cell.ravel(), np.repeat(share * size / 8.0, 8), len(node))
    mass = np.maximum(mass, np.where(small, 0.125 * LEAST_MASS, LEAST_MASS))
    tied, tied_to, tied_by = _ties(resolutions, whole, number)
    # Numbers of cells and parts in this lattice.
    of_cell, of_part = np.cumsum(whole) - 1, np.cumsum(parts) - 1 + int(whole.sum())
    apart, face_apart = split[coarse.vertex_cell], split[coarse.face_cell]
    return Lattice(
        node=node,
        mass=mass * (coarse.mass.sum() / mass.sum()),
        cell=cell.astype(np.int32),
        share=share,
        volume=size * coarse.edge**3,
        spring=number[resolutions.line_end[spring]].astype(np.int32),
        rest=resolutions.line_rest[spring],
        weight=weight[spring],
        vertex_cell=np.where(apart, of_part[resolutions.vertex_part], of_cell[coarse.vertex_cell]).astype(np.int32),
        vertex_weight=np.where(apart[:, None], resolutions.vertex_weight, coarse.vertex_weight),
        face_cell=np.where(face_apart, of_part[resolutions.face_part], of_cell[coarse.face_cell]).astype(np.int32),
        face_weight=np.where(face_apart[:, None], resolutions.face_weight, coarse.face_weight),
        edge=coarse.edge,
        tied=tied,
        tied_to=tied_to,
        tied_by=tied_by,
    )


def keys_of(lattice: Lattice, grid: Grid) -> Longs:
    """Return the keys (n,) of a lattice's nodes, in ascending order."""
    return _key(np.rint((lattice.node - grid.origin) / grid.edge).astype(np.int64), grid)


def number_of_keys(grid: Grid) -> int:
    """Return the number of places of the finer grid."""
    return int(np.prod(grid.counts + 1))


def _key(places: Longs, grid: Grid) -> Longs:
    _, y, z = (grid.counts + 1).tolist()
    return (places[..., 0] * y + places[..., 1]) * z + places[..., 2]


def _places(keys: Longs, grid: Grid) -> Longs:
    _, y, z = (grid.counts + 1).tolist()
    return np.stack([keys // (y * z), keys // z % y, keys % z], axis=1)


def _numbered(keys: Longs, grid: Grid) -> tuple[Longs, Longs]:
    """Return the sorted keys that occur, and each grid key's number or -1."""
    used = np.zeros(number_of_keys(grid), bool)
    used[keys] = True
    return np.flatnonzero(used), np.where(used, np.cumsum(used) - 1, -1)


def _in_parts(cells: Ints, weights: Floats, part: Longs) -> tuple[Longs, Floats]:
    """Return the part (k,) of its cell that holds each point, and the weights.

    A point in an empty part belongs to the nearest other one.
    """
    local = 2.0 * (weights[:, :, None] * CORNERS[None]).sum(axis=1)
    away = ((local[:, None] - (CORNERS[None] + 0.5)) ** 2).sum(axis=2)
    nearest = np.where(part[cells] >= 0, away, np.inf).argmin(axis=1)
    return part[cells, nearest], trilinear(local - CORNERS[nearest])


def _slots(where: Longs, grid: Grid, size: int) -> Longs:
    """Return (k,24) slots of the lines of cells at places (k,3).

    They are ordered by size, direction, parity of the place, and key of the low end, so that no two of a run share a node (see
    `lattice.py`).
    """
    low = where[:, None] + CORNERS[LOW][None]
    odd = np.take_along_axis(low, np.broadcast_to(ALONG[DIRECTION][None, :, None], (*low.shape[:2], 1)), axis=2)[:, :, 0] % 2
    run: Longs = 2 * (len(DIRECTIONS) * (size - 1) + DIRECTION[None]) + odd
    return run * number_of_keys(grid) + _key(size * low, grid)


def _ends(slot: Longs, grid: Grid) -> tuple[Longs, Floats]:
    """Return the keys of both ends of the lines of slots (k,), and their lengths."""
    run, low = slot // number_of_keys(grid), slot % number_of_keys(grid)
    size, direction = run // (2 * len(DIRECTIONS)) + 1, run // 2 % len(DIRECTIONS)
    lengths = np.sqrt((DIRECTIONS**2).sum(axis=1))
    return np.stack([low, low + size * _key(DIRECTIONS, grid)[direction]], axis=1), grid.edge * size * lengths[direction]


def _ties(resolutions: Resolutions, whole: Bools, number: Longs) -> tuple[Ints, Ints, Floats]:
    """Return the hanging nodes of whole cells, their corners and weights."""
    middle = resolutions.place_key[whole][:, MIDDLES]
    row, which = np.nonzero(number[middle] >= 0)
    # All cells about an edge or a face tie its middle equally: one is enough.
    tied, first = np.unique(number[middle[row, which]], return_index=True)
    row, which = row[first], which[first]
    corners = resolutions.cell_key[whole][row[:, None], BETWEEN[which]]
    return tied.astype(np.int32), number[corners].astype(np.int32), SHARED[which]
