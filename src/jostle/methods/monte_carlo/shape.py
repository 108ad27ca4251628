"""The prepared shape: the layered shells of one mesh (§4.1).

Level 0 is the mesh, facet i is face i; coarser levels follow, the coarsest last. `levels.py` chooses parents, `shells.py` fits a
disc in front of the vertices under each facet (`sharp_edges.py` adds two planes where it fits badly), `neighbours.py` finds which
facets of a level touch, `seed_order.py` orders the seeds. Everything is in body coordinates at rest; `moving_shells.py` moves it
with a deforming body.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from jostle._types import Floats, Ints
from jostle.interface.method import Progress
from jostle.methods.monte_carlo.frames import in_frames
from jostle.methods.monte_carlo.levels import parents_by_level, row_starts, sums_of_rows
from jostle.methods.monte_carlo.neighbours import first_of_equals, neighbours_of_faces, neighbours_of_parents
from jostle.methods.monte_carlo.seed_order import far_apart_order
from jostle.methods.monte_carlo.sharp_edges import edge_planes
from jostle.methods.monte_carlo.shells import Discs, discs_of_faces, discs_of_groups
from jostle.shapes.mesh import Mesh


class ShellShape(NamedTuple):
    """The layered shells of a mesh: L levels, F facets in all, m faces.

    All arrays are C-contiguous, lengths in the mesh's units.

    The guarantee is that of `shells.py`: the faces under a facet lie in the cylinder of its disc.
    """

    level_first: Ints  # (L + 1,) facets of level l: level_first[l] … level_first[l + 1] - 1
    corner: Ints  # (m, 3) the mesh's faces
    centre: Floats  # (F, 3) of the disc
    normal: Floats  # (F, 3) unit; of a face without area any unit vector across it
    radius: Floats  # (F,) of the disc
    thickness: Floats  # (F,) how far behind the disc the vertices under it reach; rounding at level 0
    parent: Ints  # (F,) facet of the next coarser level, -1 at the coarsest
    child_first: Ints  # (F + 1,)
    child: Ints  # those of facet f: child[child_first[f]:child_first[f + 1]]; none at level 0, at least one above
    neighbour_first: Ints  # (F + 1,)
    neighbour: Ints  # those of facet f likewise, those across an edge first
    edge_neighbours: Ints  # (F,) how many of them are across an edge
    seed_order: Ints  # (F,) for each level a permutation of its facets, successive ones far apart
    anchor: Ints  # (F, 12) corner j of a coarser facet is the mean of the mesh vertices in columns 4 j … 4 j + 3; 0 at level 0
    in_frame: Floats  # (F, 6) centre and normal of a coarser disc in the frame of its corners; 0 at level 0
    under_first: Ints  # (F + 1,)
    under: Ints  # the distinct mesh vertices under each coarser facet, likewise; none at level 0
    edge_row: Ints  # (F,) row of edge_plane, -1 for facets with only their disc (`sharp_edges.py`)
    edge_plane: Floats  # (n, 8) two more planes of facets that reach around sharp edges: normal and height above the middle
    size: float  # diagonal of the mesh's box


def prepare(mesh: Mesh, levels: int | None = None, progress: Progress | None = None) -> ShellShape:
    """Return the layered shells of a mesh.

    Parameters
    ----------
    mesh : Mesh
        Any mesh: open, with faces without area, a soup.
    levels : int, optional
        The most levels, at least 1: the mesh alone. By default, down to tens of facets.
    progress : callable, optional
        Called with the share done and the stage.
    """
    report: Progress = _silent if progress is None else progress
    parents = parents_by_level(mesh, levels, lambda share, what: report(0.5 * share, what))
    sizes = [len(mesh.faces)] + [int(parent.max()) + 1 for parent in parents]
    level_first = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int32)
    groups = [_faces_as_groups(mesh)]
    for parent in parents:
        groups.append(_coarser(mesh.vertices, groups[-1], parent))
        report(0.5 + 0.3 * len(groups) / len(sizes), "discs")
    neighbours = [neighbours_of_faces(mesh.welded_faces, len(mesh.vertices))]
    for parent, size in zip(parents, sizes[1:], strict=True):
        neighbours.append(neighbours_of_parents(neighbours[-1], parent, size))
        report(0.8 + 0.2 * len(neighbours) / len(sizes), "neighbours")
    centre, normal, radius, thickness = (np.concatenate(rows) for rows in zip(*(level.discs for level in groups), strict=True))
    anchor = np.concatenate([level.anchor for level in groups])
    above = slice(len(mesh.faces), None)
    in_frame = in_frames(mesh.vertices, anchor[above], centre[above], normal[above])
    no_parent = np.full(sizes[-1], -1, np.int64)
    upward = np.concatenate([*(parent + first for parent, first in zip(parents, level_first[1:-1], strict=True)), no_parent])
    child_first, child = _children(upward)
    under_first = _one_after_the_other([np.zeros(len(mesh.faces) + 1, np.int32)] + [level.first for level in groups[1:]])
    under = np.concatenate([np.zeros(0, np.int32)] + [level.under for level in groups[1:]])
    edges = edge_planes(mesh.vertices, (centre, normal, radius, thickness), (child_first, child), under_first, under)
    report(1.0, "prepared")
    return ShellShape(
        level_first=level_first,
        corner=mesh.faces,
        centre=centre,
        normal=normal,
        radius=radius,
        thickness=thickness,
        parent=upward.astype(np.int32),
        child_first=child_first,
        child=child,
        neighbour_first=_one_after_the_other([level.first for level in neighbours]),
        neighbour=np.concatenate([level.neighbour + first for level, first in zip(neighbours, level_first, strict=False)]),
        edge_neighbours=np.concatenate([level.across_edges for level in neighbours]),
        seed_order=np.concatenate(
            [far_apart_order(level.discs.centre) + first for level, first in zip(groups, level_first, strict=False)]
        ),
        anchor=anchor,
        in_frame=np.concatenate([np.zeros((len(mesh.faces), 6)), in_frame]),
        under_first=under_first,
        under=under,
        edge_row=edges.row,
        edge_plane=edges.plane,
        size=mesh.size,
    )


class _Groups(NamedTuple):
    """The facets of one level as groups of vertices."""

    discs: Discs
    anchor: Ints  # (f, 12)
    first: Ints  # (f + 1,)
    under: Ints
    towards: Floats  # (f, 3) sum of area times normal


def _faces_as_groups(mesh: Mesh) -> _Groups:
    p, q, r = (mesh.vertices[mesh.faces[:, k]] for k in range(3))
    discs, count = discs_of_faces(mesh.vertices, mesh.faces), len(mesh.faces)
    first = np.arange(0, 3 * count + 1, 3, dtype=np.int32)
    return _Groups(discs, np.zeros((count, 12), np.int32), first, mesh.faces.ravel(), np.cross(q - p, r - p))


def _coarser(vertices: Floats, finer: _Groups, parent: Ints) -> _Groups:
    """Return the groups of the next level: the vertices of all children, each once."""
    count, vertex_count = int(parent.max()) + 1, len(vertices)
    pairs = np.repeat(parent, np.diff(finer.first)).astype(np.int64) * vertex_count + finer.under
    pairs.sort()
    facet, under = np.divmod(pairs[first_of_equals(pairs)], vertex_count)
    first, under = row_starts(facet, count), under.astype(np.int32)
    towards = sums_of_rows(finer.towards, parent, count)
    discs, anchor = discs_of_groups(vertices, first, under, towards)
    return _Groups(discs, anchor, first, under, towards)


def _children(parent: NDArray[np.int64]) -> tuple[Ints, Ints]:
    """Return the children of each facet: child[child_first[f]:child_first[f + 1]]."""
    having = np.flatnonzero(parent >= 0)
    owner = parent[having]
    return row_starts(owner, len(parent)), having[np.argsort(owner, kind="stable")].astype(np.int32)


def _one_after_the_other(firsts: list[Ints]) -> Ints:
    """Join the row starts of all levels."""
    counts = np.concatenate([np.diff(first) for first in firsts])
    return np.concatenate([[0], np.cumsum(counts)]).astype(np.int32)


def _silent(share: float, what: str) -> None:
    """Report to nobody."""
