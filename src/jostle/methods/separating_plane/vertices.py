"""What the method needs of a mesh: vertices, their neighbours and a sphere.

No hull is made: the farthest point of a hull along a direction is a vertex of the mesh. On a convex mesh it is found by climbing
from neighbour to neighbour. That needs a surface on which a vertex with no higher neighbour is the highest: convex, not flat,
every face with an area, every edge with two faces. Every other mesh is scanned.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from jostle._types import Floats, Ints
from jostle.errors import InputError
from jostle.geometry.support import FEW_VERTICES, across_flat_sides, neighbours_of_vertices, welded_points
from jostle.kernels.arrays import read_only_view
from jostle.shapes.mesh import Mesh

MOST_VERTICES = 1 << 26  # two vertex numbers share one float64 of a pair's record
STRETCH = 1.0 + 2.0**-16  # accepted poses are orthonormal to 1e-5: a radius grows by less than this
FLAT = 1e-9  # of the cube of the size: a volume below it is none


class Vertices(NamedTuple):
    """The vertices of a body that faces use, each once."""

    points: Floats  # (3k,) x, y, z of each vertex
    first: Ints  # (k+1,) where the neighbours of each vertex begin in `near`, or empty
    near: Ints  # (2e,) and more where sides are flat, or empty: then support points are found by a scan
    sphere: Floats  # (4,) centre and radius, in the mesh's frame; holds all vertices under every accepted pose


def vertices_of(mesh: Mesh) -> Vertices:
    """Prepare a mesh."""
    used = mesh.vertices if mesh.uses_every_vertex else mesh.vertices[np.unique(mesh.faces)]
    points = welded_points(used)
    if len(points) // 3 > MOST_VERTICES:
        raise InputError(f"mesh {mesh.name!r} has {len(points) // 3} vertices; this method takes at most {MOST_VERTICES}")
    first = near = read_only_view(np.empty(0, np.int32))
    if len(points) // 3 > FEW_VERTICES and leads_to_every_support(mesh):
        first, near = _neighbours(mesh)
        points = read_only_view(mesh.vertices[np.unique(mesh.welded_faces)].reshape(-1))
    centre = mesh.bounds.mean(axis=0)
    radius = float(np.linalg.norm(points.reshape(-1, 3) - centre, axis=1).max()) * STRETCH
    return Vertices(points, first, near, read_only_view(np.array([*centre, radius])))


def leads_to_every_support(mesh: Mesh) -> bool:
    """Whether climbing between neighbours always ends at the support vertex."""
    if not mesh.is_convex or not abs(mesh.volume) > FLAT * mesh.size**3 or not mesh.face_normals.any(axis=1).all():
        return False
    return 2 * len(mesh.edges) == 3 * len(mesh.faces)


def _neighbours(mesh: Mesh) -> tuple[Ints, Ints]:
    """Neighbours by the numbers that the welded, used vertices have in their order."""
    kept = np.unique(mesh.welded_faces)
    links = across_flat_sides(mesh.vertices[kept], np.searchsorted(kept, mesh.welded_faces), mesh.face_normals)
    first, near = neighbours_of_vertices(np.searchsorted(kept, mesh.edges), len(kept), links)
    return first, near
