"""A lattice of cubic cells that embeds a mesh (for Guy and Debunne 2004, §5).

Cells are cubes of one size: all that hold a part of the surface or of the inside of a closed mesh. A vertex follows the eight nodes
of its cell with trilinear weights, which sum to 1 and reproduce every affine map exactly. Border cells count by their inner share
(sampled, 4 × 4 × 4 points), so that mass, weight and stiffness are those of the mesh; for an open mesh every cell counts fully, and
the surface is the middle of a sheet as thick as a cell.

Why cubes with springs along edges and face diagonals: any surface works without a mesher, soups included; a lattice with equal
springs along both is isotropic (`deform.py`), costs nine springs and one volume per cell, where tetrahedra cost five with two
constraints each, and stores nothing at rest. The price: parts of a surface that share a cell without touching are tied.

`resolutions.py` mixes cells of two sizes; nodes in the middle of an edge or a face of a larger cell are then tied to its corners
(`ties.py`).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from jostle._types import Floats, Ints
from jostle.kernels.arrays import read_only_view
from jostle.kernels.jit import kernel
from jostle.shapes.mesh import Mesh

SAMPLES = 4  # along each edge of a cell, for its inner share
LEAST_SHARE = 0.1  # of a cell with a part of the surface: very light nodes would jitter
LEAST_MASS = 0.1  # of a node, in cells: pushes at the surface would throw lighter ones about
CORNERS = np.array([[k & 1, k >> 1 & 1, k >> 2 & 1] for k in range(8)])
# The lines of a cell between corners that differ in one coordinate (edges), and in two (diagonals of its faces).
EDGES = np.array([(a, b) for a in range(8) for b in range(a + 1, 8) if (CORNERS[a] != CORNERS[b]).sum() == 1])
DIAGONALS = np.array([(a, b) for a in range(8) for b in range(a + 1, 8) if (CORNERS[a] != CORNERS[b]).sum() == 2])


class Grid(NamedTuple):
    """The regular grid of a lattice's possible cells."""

    origin: Floats  # (3,) lowest corner
    edge: float  # of a cell
    counts: NDArray[np.int64]  # (3,) cells along each axis


class Lattice(NamedTuple):
    """Cells, springs and embedded vertices, in the mesh's units and body coordinates."""

    node: Floats  # (n,3) places at rest
    mass: Floats  # (n,) of a body of density 1
    cell: Ints  # (c,8) nodes of each cell, corner k at (k & 1, k >> 1 & 1, k >> 2)
    share: Floats  # (c,) of the cell that counts
    volume: Floats  # (c,) of the whole cell
    spring: Ints  # (s,2) nodes
    rest: Floats  # (s,) lengths at rest
    weight: Floats  # (s,) share of a spring: 1 where four cells (two at a diagonal) meet; half of that in finer cells
    vertex_cell: Ints  # (v,) of each vertex of the mesh
    vertex_weight: Floats  # (v,8) of the nodes of its cell
    face_cell: Ints  # (f,) of the middle of each face
    face_weight: Floats  # (f,8)
    edge: float  # of a cell, of the larger ones where there are two sizes
    tied: Ints  # (t,) nodes in the middle of an edge or a face of a larger cell; none where all cells are of one size
    tied_to: Ints  # (t,4) the corners of that edge or face
    tied_by: Floats  # (t,4) their weights: 1/4 each, or 1/2 and the others 0


def grid_of(mesh: Mesh, cells: int) -> Grid:
    """Return the grid around a mesh with `cells` cells along its longest edge."""
    lower, upper = mesh.bounds
    extent = upper - lower
    edge = float(extent.max()) / cells
    counts = np.maximum(np.ceil(extent / edge - 1e-9).astype(np.int64), 1)
    return Grid(0.5 * (lower + upper) - 0.5 * edge * counts, edge, counts)


def shares_in(mesh: Mesh, grid: Grid) -> Floats:
    """Return how much of each grid cell counts, 0 outside of the mesh."""
    points, _ = points_on(mesh, 0.5 * grid.edge)
    shares = np.zeros(grid.counts)
    shares[tuple(cell_of(points, grid).T)] = LEAST_SHARE if mesh.is_closed else 1.0
    return np.maximum(shares, _inside(mesh, *grid)) if mesh.is_closed else shares


def lattice_of(mesh: Mesh, cells: int = 8) -> Lattice:
    """Return the lattice of a mesh with `cells` cells along its longest edge."""
    grid = grid_of(mesh, cells)
    origin, edge, counts = grid
    shares = shares_in(mesh, grid)
    where = np.argwhere(shares > 0.0)
    number = np.full(counts, -1, np.int64)
    number[tuple(where.T)] = np.arange(len(where))

    nodes = (where[:, None, :] + CORNERS[None]).reshape(-1, 3)
    places, which = np.unique(nodes, axis=0, return_inverse=True)
    cell = which.reshape(-1, 8).astype(np.int32)
    share = shares[tuple(where.T)]
    spring, weight = _springs(cell, share, places)
    node = origin + edge * places
    ends = node[spring]
    vertex_cell, vertex_weight = _embedded(mesh.vertices, grid, number, where)
    face_cell, face_weight = _embedded(mesh.vertices[mesh.faces].mean(axis=1), grid, number, where)
    volume = abs(mesh.volume) if mesh.is_closed and abs(mesh.volume) > 0.0 else float(share.sum()) * edge**3
    mass = np.maximum(np.bincount(cell.ravel(), np.repeat(share / 8.0, 8), len(node)), LEAST_MASS)
    return Lattice(
        node=node,
        mass=mass * (volume / mass.sum()),
        cell=cell,
        share=share,
        volume=np.full(len(cell), edge**3),
        spring=spring,
        rest=np.sqrt(((ends[:, 1] - ends[:, 0]) ** 2).sum(axis=1)),
        weight=weight,
        vertex_cell=vertex_cell,
        vertex_weight=vertex_weight,
        face_cell=face_cell,
        face_weight=face_weight,
        edge=edge,
        tied=np.empty(0, np.int32),
        tied_to=np.empty((0, 4), np.int32),
        tied_by=np.empty((0, 4)),
    )


def points_on(mesh: Mesh, spacing: float) -> tuple[Floats, NDArray[np.int64]]:
    """Return (k,3) points on the faces within the spacing, and their faces.

    Corners are included. A spacing of half a cell's edge misses no cell that a face passes.
    """
    corners = mesh.vertices[mesh.faces]
    sides = np.sqrt(((corners - np.roll(corners, 1, axis=1)) ** 2).sum(axis=2)).max(axis=1)
    parts = np.maximum(np.ceil(sides / spacing).astype(np.int64), 1)
    found, of_face = [corners.mean(axis=1)], [np.arange(len(corners))]
    for count in np.unique(parts).tolist():
        i, j = (index.ravel() for index in np.meshgrid(range(count + 1), range(count + 1), indexing="ij"))
        kept = i + j <= count
        u, v = i[kept] / count, j[kept] / count
        faces = np.flatnonzero(parts == count)
        weights = np.stack([1.0 - u - v, u, v], axis=1)
        found.append((weights[None, :, :, None] * corners[faces][:, None, :, :]).sum(axis=2).reshape(-1, 3))
        of_face.append(np.repeat(faces, len(weights)))
    return np.concatenate(found), np.concatenate(of_face)


def cell_of(points: Floats, grid: Grid) -> NDArray[np.int64]:
    """Return the cell (k,3) of each point, the nearest one outside the grid."""
    return np.clip(np.floor((points - grid.origin) / grid.edge).astype(np.int64), 0, grid.counts - 1)


def _embedded(points: Floats, grid: Grid, number: NDArray[np.int64], where: NDArray[np.int64]) -> tuple[Ints, Floats]:
    """Return the cell (k,) of each point and its trilinear weights (k,8)."""
    cells = number[tuple(cell_of(points, grid).T)]
    for k in np.flatnonzero(cells < 0):  # a vertex of no face, or one on the border of two cells
        middle = grid.origin + grid.edge * (where + 0.5)
        cells[k] = int(((middle - points[k]) ** 2).sum(axis=1).argmin())
    return cells.astype(np.int32), trilinear((points - grid.origin) / grid.edge - where[cells])


def trilinear(local: Floats) -> Floats:
    """Return (k,8) weights of a cell's corners for positions (k,3) in it, 0 … 1."""
    factors = np.where(CORNERS[None] == 1, local[:, None, :], 1.0 - local[:, None, :])
    return np.ascontiguousarray((factors[:, :, 0] * factors[:, :, 1]) * factors[:, :, 2])


def _springs(cell: Ints, share: Floats, places: NDArray[np.int64]) -> tuple[Ints, Floats]:
    """Return the unique lines (s,2) of all cells, and their weights.

    An edge has weight from four cells, a diagonal from two. Lines are ordered by direction, then by even and odd places (n,3): no
    two of a run share a node, so that a processor works on several at once. Sorted by nodes they took twice as long.
    """
    lines = np.concatenate([cell[:, EDGES].reshape(-1, 2), cell[:, DIAGONALS].reshape(-1, 2)]).astype(np.int64)
    parts = np.concatenate([np.repeat(0.25 * share, len(EDGES)), np.repeat(0.5 * share, len(DIAGONALS))])
    low, high = lines.min(axis=1), lines.max(axis=1)
    keys, which = np.unique(low * 2**32 + high, return_inverse=True)
    spring = np.stack([keys // 2**32, keys % 2**32], axis=1).astype(np.int32)
    steps = places[spring[:, 1]] - places[spring[:, 0]]
    along = np.abs(steps).argmax(axis=1)
    odd = places[spring[:, 0], along] % 2
    order = np.lexsort((odd, *steps.T))
    weight: Floats = np.bincount(which, parts, len(keys)).astype(np.float64)
    return np.ascontiguousarray(spring[order]), weight[order]


def _inside(mesh: Mesh, origin: Floats, edge: float, counts: NDArray[np.int64]) -> Floats:
    """Return the share of each grid cell inside a closed mesh."""
    step = edge / SAMPLES
    change = np.zeros(SAMPLES * counts, np.int32)
    # Off the vertices of regular shapes: a column through an edge would count it twice or not at all.
    start = origin + step * np.array([0.50071828, 0.49914159, 0.5])
    add_crossings(read_only_view(mesh.vertices), read_only_view(mesh.faces), start, step, change)
    winding = np.cumsum(change[:, :, ::-1], axis=2)[:, :, ::-1]
    x, y, z = counts.tolist()
    return (winding != 0).reshape(x, SAMPLES, y, SAMPLES, z, SAMPLES).mean(axis=(1, 3, 5))


@kernel
def add_crossings(vertices, faces, start, step, change):  # type: ignore[no-untyped-def]
    """Add 1 to change (x,y,z) below each face that faces up, -1 if it faces down.

    The change goes to the highest sample below the face.

    Samples are at start (3,) + step (i,j,k). Sums from above are winding numbers of the samples.
    """
    for face in range(faces.shape[0]):
        a, b, c = faces[face, 0], faces[face, 1], faces[face, 2]
        ax, ay, az = vertices[a, 0] - start[0], vertices[a, 1] - start[1], vertices[a, 2] - start[2]
        bx, by, bz = vertices[b, 0] - start[0], vertices[b, 1] - start[1], vertices[b, 2] - start[2]
        cx, cy, cz = vertices[c, 0] - start[0], vertices[c, 1] - start[1], vertices[c, 2] - start[2]
        area = (bx - ax) * (cy - ay) - (by - ay) * (cx - ax)
        if area == 0.0:
            continue
        first_i, last_i = int(np.ceil(min(ax, bx, cx) / step)), int(np.floor(max(ax, bx, cx) / step))
        first_j, last_j = int(np.ceil(min(ay, by, cy) / step)), int(np.floor(max(ay, by, cy) / step))
        for i in range(max(first_i, 0), min(last_i, change.shape[0] - 1) + 1):
            for j in range(max(first_j, 0), min(last_j, change.shape[1] - 1) + 1):
                x, y = i * step, j * step
                u = ((x - ax) * (cy - ay) - (y - ay) * (cx - ax)) / area
                v = ((bx - ax) * (y - ay) - (by - ay) * (x - ax)) / area
                if u >= 0.0 and v >= 0.0 and u + v <= 1.0:
                    z = az + (u * (bz - az) + v * (cz - az))
                    below = min(int(np.ceil(z / step)) - 1, change.shape[2] - 1)
                    if below >= 0:
                        change[i, j, below] += 1 if area > 0.0 else -1
