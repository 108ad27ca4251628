"""Levels of detail, and the parent of each facet (§4.1, surface approximations).

A mesh is simplified by quadric error, by a factor of 4 from level to level, until tens of triangles are left; the record of the
collapses maps corners of finer triangles to corners of coarser ones. Each finer facet gets exactly one parent among the coarser
triangles at its corners: the one whose region is nearest, in position and direction. The regions are balanced by moving the middle
of each coarser facet to the middle of its children and choosing again (Lloyd's iteration), so that children lie together; a coarser
triangle without children is dropped.

Deviation: what cannot be simplified (faces without area, components of a few faces, soups) is grouped along a space-filling curve.
This file decides only the grouping, so nothing in it can break the guarantee of `shells.py`.
"""

from __future__ import annotations

import threading
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from jostle._types import Floats, Ints
from jostle.geometry.morton import codes_of_points
from jostle.geometry.unit_vectors import unit_vectors
from jostle.geometry.vector import dot, minus, point_at
from jostle.interface.method import Progress
from jostle.kernels.arrays import read_only_view
from jostle.kernels.jit import kernel
from jostle.kernels.numbers import as_int64
from jostle.kernels.structs import Rows
from jostle.shapes.mesh import Mesh

FACTOR = 4  # §4.1: "around 4 in our case"
TENS = 80  # levels end at this many facets or fewer: 20 … 80 are left
LEAST_GAIN = 0.6  # a level with more than this share of the finer level's facets is not worth its memory
SMALL = 8  # components of fewer faces are grouped, not simplified
ROUNDS = 4  # of Lloyd's iteration
ROWS = 200_000  # per kernel call, about 20 ms: Ctrl-C is handled between calls
SCALE = 30.0  # size at which the mesh is simplified, since its thresholds are lengths; discs are a fifth thinner than at 1
AGGRESSION = 7.0  # of the simplifier
DIRECTION = 2.0  # cost of turning away by 90 degrees, in areas of the coarser facet

# The simplifier keeps its mesh in global variables. Using it in another thread may spoil shells, not answers.
_one_at_a_time = threading.Lock()


class FineFacets(NamedTuple):
    """Facets that look for a parent."""

    corner: Ints  # (f, 3) vertices of the coarser mesh, or -1
    middle: Floats  # (f, 3)
    direction: Floats  # (f, 3)


class CoarseFacets(NamedTuple):
    """Candidates for parents: triangles of the coarser mesh, and those at each vertex."""

    first: Ints
    around: Ints
    middle: Floats  # (c, 3)
    direction: Floats  # (c, 3)
    area: Floats  # (c,)


class Simplified(NamedTuple):
    """A coarser triangulation and what became of the vertices of the finer one."""

    points: Floats  # (k, 3)
    faces: Ints  # (m, 3)
    onto: Ints  # for each finer vertex the coarser vertex it was merged into; -1 where no face is left


class Patches(NamedTuple):
    """The facets of one level: how much surface they represent, and where."""

    weight: Floats  # (f,) area, and a little for faces without
    moment: Floats  # (f, 3) weight times middle
    towards: Floats  # (f, 3) sum of area times normal
    corner: Ints  # (f, 3) vertices of the simplified mesh of this level; -1: not part of it

    def middle(self) -> Floats:
        """Return the (f, 3) centroids."""
        return self.moment / self.weight[:, None]

    def direction(self) -> Floats:
        """Return the (f, 3) mean normals, of length 1 or 0."""
        return unit_vectors(self.towards)


def parents_by_level(mesh: Mesh, most: int | None = None, progress: Progress | None = None) -> list[Ints]:
    """Return the parents of the facets of each level but the coarsest.

    Parameters
    ----------
    mesh : Mesh
        Any mesh; level 0 has its faces.
    most : int, optional
        The number of levels at most, the mesh included; by default as many as it takes to reach tens of facets.
    progress : callable, optional
        Called with the share done and the stage, after each level.

    Returns
    -------
    list of (f,) int32 arrays
        Empty when the mesh is its only level. Every facet of a coarser level has at least one child.
    """
    points, patches, faces = _at_unit_size(mesh)
    parents: list[Ints] = []
    while len(patches.weight) > TENS and (most is None or len(parents) + 1 < most):
        patches, faces = _without_small_components(patches, faces, len(points))
        coarser = simplified(points, faces, len(faces) // FACTOR)
        if len(coarser.faces) > LEAST_GAIN * len(faces):
            coarser = simplified(points, faces[:0], 0)
        parent, points, faces, next_patches = _grouped(patches, coarser)
        if len(next_patches.weight) > LEAST_GAIN * len(patches.weight):
            break
        parents.append(parent)
        patches = next_patches
        if progress is not None:
            progress(1.0 - 0.5 ** len(parents), f"shell of {len(patches.weight)} facets")
    return parents


def simplified(points: Floats, faces: Ints, target: int) -> Simplified:
    """Simplify a triangulation to about `target` faces by quadric error.

    The remaining faces and their vertices follow from the record of collapses alone; vertex i1 of a record (i0, i1) was merged
    into i0. If the simplifier's points do not fit the record, the means of merged points replace them.
    """
    count = len(points)
    merged = np.arange(count, dtype=np.int32)
    placed: Floats = np.zeros((0, 3))
    if 0 < target < len(faces):
        import fast_simplification

        with _one_at_a_time:
            placed, _, collapses = fast_simplification.simplify(
                np.require(points, requirements=["C", "W"]),
                np.require(faces, requirements=["C", "W"]),
                target_count=int(target),
                agg=AGGRESSION,
                return_collapses=True,
            )
        if len(collapses) and int(collapses.min()) >= 0 and int(collapses.max()) < count:
            merged[collapses[:, 1]] = collapses[:, 0]
    for _ in range(64):  # as often as chains can be halved; a cyclic record ends here as well
        jumped = merged[merged]
        if np.array_equal(jumped, merged):
            break
        merged = jumped
    corners = merged[faces]
    kept = (corners[:, 0] != corners[:, 1]) & (corners[:, 1] != corners[:, 2]) & (corners[:, 2] != corners[:, 0])
    used = np.bincount(corners[kept].ravel(), minlength=count) > 0
    number = np.full(count, -1, np.int32)
    number[used] = np.arange(int(used.sum()), dtype=np.int32)
    onto = number[merged]
    if len(placed) != int(used.sum()) or not np.isfinite(placed).all():
        placed = _means(points, onto, int(used.sum()))
    return Simplified(np.ascontiguousarray(placed, np.float64), number[corners[kept]], onto)


def _at_unit_size(mesh: Mesh) -> tuple[Floats, Patches, Ints]:
    """Return points scaled for simplification, facets of level 0, and proper faces.

    Points are about the origin; proper faces are welded and have an area.
    """
    lower, upper = mesh.bounds
    scale = SCALE / mesh.size if mesh.size > 0.0 else 1.0
    points = (mesh.vertices - 0.5 * (lower + upper)) * scale
    corner = mesh.welded_faces
    p, q, r = (points[corner[:, k]] for k in range(3))
    towards = 0.5 * np.cross(q - p, r - p)
    area = np.sqrt((towards**2).sum(axis=1))
    longest = np.maximum(np.maximum(((q - p) ** 2).sum(axis=1), ((r - p) ** 2).sum(axis=1)), ((r - q) ** 2).sum(axis=1))
    # A face whose normal is noise would spoil the quadrics of its corners (NaN where the area is 0).
    proper = np.ascontiguousarray(corner[area > 1e-9 * longest])
    weight = np.maximum(area, 1e-12 * SCALE**2)
    return points, Patches(weight, weight[:, None] * ((p + q + r) / 3.0), towards, corner), proper


def _without_small_components(patches: Patches, faces: Ints, point_count: int) -> tuple[Patches, Ints]:
    """Exclude small components, and corners without faces, from simplification."""
    if len(faces) == 0:
        return patches, faces
    root = np.arange(point_count, dtype=np.int32)
    join_components(read_only_view(faces), root)
    small = np.bincount(root[faces[:, 0]], minlength=point_count)[root] < SMALL
    corner = patches.corner.copy()
    corner[small[corner]] = -1  # a corner of -1 reads the last vertex's mark, and stays -1 either way
    return patches._replace(corner=corner), np.ascontiguousarray(faces[~small[faces[:, 0]]])


def _grouped(patches: Patches, coarser: Simplified) -> tuple[Ints, Floats, Ints, Patches]:
    """Choose a parent for each facet.

    Returns the parents, and the points, faces and facets of the coarser level.
    """
    count = len(patches.weight)
    parent = np.full(count, -1, np.int32)
    if len(coarser.faces):
        corner = np.where(patches.corner >= 0, coarser.onto[patches.corner], np.int32(-1))
        parent = _nearest_parents(patches, corner, coarser)
    used = np.bincount(parent[parent >= 0], minlength=len(coarser.faces)) > 0
    number = np.cumsum(used, dtype=np.int32) - np.int32(1)
    left_over = np.flatnonzero(parent < 0)
    parent[parent >= 0] = number[parent[parent >= 0]]
    along = left_over[np.argsort(codes_of_points(patches.middle()[left_over]), kind="stable")]
    parent[along] = int(used.sum()) + np.arange(len(along), dtype=np.int32) // FACTOR
    corner = np.full((int(parent.max()) + 1, 3), -1, np.int32)
    corner[: int(used.sum())] = coarser.faces[used]
    return parent, coarser.points, coarser.faces, _summed(patches, parent, corner)


def _nearest_parents(patches: Patches, corner: Ints, coarser: Simplified) -> Ints:
    """Return each facet's parent, a coarser triangle at its `corner` (f, 3), or -1."""
    p, q, r = (coarser.points[coarser.faces[:, k]] for k in range(3))
    towards = 0.5 * np.cross(q - p, r - p)
    area = np.maximum(np.sqrt((towards**2).sum(axis=1)), 1e-12 * SCALE**2)
    middle, direction = (p + q + r) / 3.0, unit_vectors(towards)
    first, around = faces_around(coarser.faces, len(coarser.points))
    fine, coarse = FineFacets(corner, patches.middle(), patches.direction()), CoarseFacets(first, around, middle, direction, area)
    parent = np.full(len(corner), -1, np.int32)
    for again in range(ROUNDS):
        if again:
            got = parent >= 0
            found = Patches(patches.weight[got], patches.moment[got], patches.towards[got], corner[got])
            sums = _summed(found, parent[got], coarser.faces)
            filled = sums.weight > 0.0
            area[filled] = sums.weight[filled]
            middle[filled] = sums.moment[filled] / sums.weight[filled, None]
            direction[filled] = unit_vectors(sums.towards[filled])
        for begin in range(0, len(corner), ROWS):
            end = min(begin + ROWS, len(corner))
            choose_parents(begin, end, fine, coarse, parent)
    return parent


def _summed(patches: Patches, parent: Ints, corner: Ints) -> Patches:
    """Return the coarser facets as sums of their children."""
    weight, moment, towards = (
        sums_of_rows(field, parent, len(corner)) for field in (patches.weight, patches.moment, patches.towards)
    )
    return Patches(weight, moment, towards, corner)


def sums_of_rows(rows: Floats, group: Ints, count: int) -> Floats:
    """Return the sums of the rows of `count` groups; a row has one number or three."""
    columns = [np.bincount(group, column, count) for column in np.atleast_2d(rows.T)]
    return np.stack(columns, axis=-1).reshape(count, *rows.shape[1:]).astype(np.float64)


def faces_around(faces: Ints, point_count: int) -> tuple[Ints, Ints]:
    """Return the faces at each vertex, ascending.

    Those of vertex v are ``around[first[v]:first[v + 1]]``.
    """
    corners = faces.ravel()
    return row_starts(corners, point_count), (np.argsort(corners, kind="stable") // 3).astype(np.int32)


def row_starts(owner: NDArray[np.integer[Any]], count: int) -> Ints:
    """Return (count + 1,) where the rows of each owner begin, sorted by owner."""
    return np.concatenate([[0], np.cumsum(np.bincount(owner, minlength=count))]).astype(np.int32)


def _means(points: Floats, group: Ints, count: int) -> Floats:
    """Return the (count, 3) means of the points of each group; -1 belongs to none."""
    got = group >= 0
    members = np.maximum(np.bincount(group[got], minlength=count), 1)
    return sums_of_rows(points[got], group[got], count) / members[:, None]


@kernel(forceinline=True)
def lowest_connected(root: Ints | Rows[int], v: int) -> int:
    """Return the root of v in a union-find forest; paths are halved."""
    while root[v] != v:
        root[v] = root[root[v]]
        v = as_int64(root[v])
    return v


@kernel
def join_components(faces: Ints, root: Ints) -> None:
    """Write each vertex's lowest connected vertex to root (n,), initially 0 … n-1.

    Faces (m,3) connect vertices.
    """
    for f in range(faces.shape[0]):
        a = lowest_connected(root, as_int64(faces[f, 0]))
        for k in range(1, 3):
            b = lowest_connected(root, as_int64(faces[f, k]))
            root[max(a, b)] = min(a, b)
            a = min(a, b)
    for v in range(root.shape[0]):
        root[v] = root[root[v]]


@kernel
def choose_parents(begin: int, end: int, fine: FineFacets, coarse: CoarseFacets, parent: Ints) -> None:
    """Write parent (f,) of facets begin … end-1.

    The triangle at their corners that is nearest in position and direction.
    """
    for f in range(begin, end):
        middle, direction = point_at(fine.middle, f), point_at(fine.direction, f)
        best, chosen = np.inf, -1
        for k in range(3):
            v = fine.corner[f, k]
            if v < 0:
                continue
            for at in range(coarse.first[v], coarse.first[v + 1]):
                c = as_int64(coarse.around[at])
                d = minus(middle, point_at(coarse.middle, c))
                along = dot(direction, point_at(coarse.direction, c))
                cost = dot(d, d) + DIRECTION * coarse.area[c] * (1.0 - along)
                if cost < best or (cost == best and c < chosen):
                    best, chosen = cost, c
        parent[f] = chosen
