"""The exact convex hull of points as a mesh, convex without tolerance.

The algorithm is quickhull (Barber, Dobkin, Huhdanpaa 1996): a tetrahedron of four points grows by the point farthest from one of
its faces; the faces that see this point are removed, and new ones join it to the rim of the gap. Deviation: the sign of an exact
determinant (`geometry/predicates.py`) decides which faces see a point, never a tolerance, so no face is merged and no point is
lost; distances only choose the order. A face does not see points in its plane, so coplanar points give coplanar triangles without
overlap. Points within a side or an edge of the hull are found by counting the creases about them, and left out in a second run.
Guarantee: closed, outward faces, every vertex a corner, every point of the input on or behind every face.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from jostle import cast
from jostle.errors import InputError
from jostle.kernels.arrays import read_only_view
from jostle.kernels.slices import run_in_slices
from jostle.shapes.hull_growth import ALIVE, DONE, SPANNED, STAGE, Growing, grow_hull
from jostle.shapes.mesh import Mesh

_FLAT = {1: "all points are one point", 2: "all points lie on one line", 3: "all points lie in one plane"}
MOST_SORTED = 1 << 16  # points at a time, 24 ms
SPREAD = np.array([0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9], np.uint64)  # odd: all bits count
FIRST_SLICE = 1 << 15  # points or faces


def hull(points: ArrayLike | Mesh, name: str | None = None) -> Mesh:
    """Return the convex hull as a closed mesh with outward faces.

    The result has the corners of the hull as vertices, in the order of the input. Points that do not span a volume raise
    `InputError`.

    Parameters
    ----------
    points : (n, 3) array of real numbers, or a Mesh
        Of a mesh, the vertices of its faces. Repeated and inner points are fine.
    name : str, optional
        Of the result.
    """
    if isinstance(points, Mesh):
        name = f"hull of {points.name}" if name is None else name
        given = points.vertices if points.uses_every_vertex else points.vertices[np.unique(points.faces)]
    else:
        name = "hull" if name is None else name
        given = cast.as_points(points, f"mesh {name!r}", "points")
    faces = hull_faces(given, name)
    is_corner = np.zeros(len(given), dtype=bool)
    is_corner[faces] = True
    number = np.cumsum(is_corner) - 1
    return Mesh(given[is_corner], number[faces], name=name)


def hull_faces(points: NDArray[np.float64], name: str = "hull") -> NDArray[np.int32]:
    """Return the outward faces (m,3) of the hull of points (n,3)."""
    kept = _first_of_each(points)
    while True:
        faces, creases = _grow(points[kept], name)
        corners = creases >= 3
        if corners[faces].all():
            return _in_order(kept[faces])
        kept = kept[corners]


def _first_of_each(points: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return the indices of the first of each set of bit-equal points, in order."""
    rows = np.ascontiguousarray(points)
    portions = 1 + len(rows) // MOST_SORTED
    mixed = (rows.view(np.uint64) * SPREAD).sum(axis=1) >> np.uint64(40)  # the lower bits of whole numbers are zero
    portion = (mixed * np.uint64(portions) >> np.uint64(24)).astype(np.uint16)
    order = np.argsort(portion, kind="stable")
    ends = np.cumsum(np.bincount(portion, minlength=portions))
    first = [some[np.unique(rows[some].view("V24").ravel(), return_index=True)[1]] for some in np.split(order, ends[:-1])]
    return np.sort(np.concatenate(first))


def _grow(points: NDArray[np.float64], name: str) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Return the faces of one run, and each point's number of creased edges."""
    growing = Growing.of(len(points))
    arrays = read_only_view(points)

    def step(growing: Growing, operations: int) -> tuple[bool, int]:
        spent = grow_hull(arrays, growing, operations)
        return bool(growing.state[STAGE] == DONE), max(1, spent)

    run_in_slices(step, growing, FIRST_SLICE)
    spanned = int(growing.state[SPANNED])
    if spanned < 4:
        raise InputError(f"mesh {name!r}: {_FLAT[spanned]}; a hull needs points that span a volume")
    return growing.faces[growing.seen == ALIVE], growing.creases


def _in_order(faces: NDArray[Any]) -> NDArray[np.int32]:
    """Rotate each face to start at its lowest corner, and sort the faces."""
    first = np.argmin(faces, axis=1)
    turned = np.take_along_axis(faces, (first[:, None] + np.arange(3)) % 3, axis=1)
    edge = turned[:, 0] << 32 | turned[:, 1]  # belongs to one face
    return turned[np.argsort(edge)].astype(np.int32)
