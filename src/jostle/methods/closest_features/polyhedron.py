"""Features of a convex body and their Voronoi regions (Lin and Canny 1991).

Features are the vertices, edges and faces of the hull. Every point outside the body is nearest to one feature; the points nearest
to a feature form its Voronoi region, bounded by planes to neighbouring features: between a vertex and an edge the plane through the
vertex across the edge, between an edge and a face the plane through the edge across the face. Each plane is stored once for both
features, so that rounding never puts a point outside of both.

Triangles in one plane are merged: the edge between them has an empty region, in which a walk would get lost. A face takes in all
neighbouring triangles whose corners are within `FLATNESS` of the size of its plane, or within a quarter of the resolution on bodies
so large that this is less; corners in its middle are no features.
"""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from jostle._types import Floats, Ints
from jostle.errors import InputError
from jostle.geometry.triangle import Triangle, face_at
from jostle.geometry.unit_vectors import unit_vectors
from jostle.geometry.vector import Vec3, dot, minus, point_at
from jostle.kernels.jit import kernel
from jostle.kernels.structs import Record, Rows, Run, Struct, float64, int32, row_opener
from jostle.shapes.hull import hull_faces
from jostle.shapes.mesh import Mesh, unit_normals

VERTEX, EDGE, FACE = 0, 1, 2
FLATNESS = 2.0**-40  # of the size of the body
ROUNDED_FLAT = 2.0**-50  # of the size: how flat rounding leaves a plane; a quarter of the least resolution there is


class Polyhedron(NamedTuple):
    """The features of a convex body, by the names they have in kernels (`Polytope`)."""

    vertices: Floats  # (v,3)
    vectors: Floats  # (e,9)
    planes: Floats  # (f,4)
    edges: Ints  # (e,4)
    codes: Ints  # (4e,)
    vertex_first: Ints  # (v+1,)
    face_first: Ints  # (f+1,)
    sphere: Floats  # (4,) centre and radius of a sphere that holds all vertices
    vertex_ids: Ints  # (v,) the vertex of the mesh


class EdgeVectors(Record):
    """Unit vectors of an edge: from tail to head, and across it into either face."""

    along: Run[float64, Literal[3]]
    into: Run[float64, Literal[6]]  # the left face, then the right one


class FacePlane(Record):
    """The outward unit normal of a face and its plane's height above the centre."""

    normal: Run[float64, Literal[3]]
    height: float64


class EdgeLinks(Record):
    """Tail and head of an edge, its left and its right face."""

    ends: Run[int32, Literal[2]]
    faces: Run[int32, Literal[2]]


class Polytope(Struct):
    """A `Polyhedron` in kernels.

    The edges of vertex v are codes[vertex_first[v] : vertex_first[v + 1]], as 2·edge, plus 1 where it is the head; those of face f
    codes[face_first[f] : face_first[f + 1]], plus 1 where it is the right face.
    """

    vertices: Rows[float64]  # (3v,)
    vectors: Rows[EdgeVectors]
    planes: Rows[FacePlane]
    edges: Rows[EdgeLinks]
    codes: Rows[int32]
    vertex_first: Rows[int32]
    face_first: Rows[int32]
    sphere: Rows[float64]  # (4,)


open_polytope = row_opener(Polytope)


def polytope_arrays(shape: Polyhedron) -> dict[str, NDArray[Any]]:
    """Return the arrays of a polyhedron that kernels need."""
    return {name: array for name, array in shape._asdict().items() if name != "vertex_ids"}


def polyhedron_of(mesh: Mesh, resolution: float = np.inf) -> Polyhedron:
    """Return the features of the convex hull of a mesh.

    A body without volume raises `InputError`. Every corner a quarter of the resolution or more above a face is kept.
    """
    points = mesh.vertices
    used = np.unique(mesh.faces)
    try:
        triangles = used[hull_faces(points[used], mesh.name)].astype(np.int64)
    except InputError as flat:
        raise InputError(f"{flat}; closest_features needs bodies with a volume, separating_plane takes flat ones") from None
    corners = points[triangles]
    normals = unit_normals(corners[:, 0], corners[:, 1], corners[:, 2])
    across = _neighbours(triangles)
    face_of = _merged_faces(
        points, triangles, across, normals, min(FLATNESS * mesh.size, max(0.25 * resolution, ROUNDED_FLAT * mesh.size))
    )
    # The sides of triangles at which faces end, as tail, head and face; each edge occurs once in each direction.
    row, side = np.nonzero(face_of[across] != face_of[:, None])
    tail, head, face = triangles[row, side], triangles[row, (side + 1) % 3], face_of[row]
    vertex_ids, number = np.unique(np.concatenate([tail, head]), return_inverse=True)
    tail, head = number[: len(tail)], number[len(tail) :]
    vertices = points[vertex_ids]
    lower, upper = vertices.min(axis=0), vertices.max(axis=0)
    centre = lower + 0.5 * (upper - lower)
    forward, backward = np.flatnonzero(tail < head), np.flatnonzero(tail > head)
    forward = forward[np.lexsort((head[forward], tail[forward]))]
    backward = backward[np.lexsort((tail[backward], head[backward]))]
    edges = np.stack([tail[forward], head[forward], face[forward], face[backward]], axis=1)
    face_count = int(face_of.max()) + 1
    normal, anchor = _normals_of_loops(vertices, tail, head, face, face_count)
    height = np.einsum("ij,ij->i", normal, vertices[anchor] - centre)
    along = _unit(vertices[edges[:, 1]] - vertices[edges[:, 0]])
    into_left, into_right = _unit(np.cross(normal[edges[:, 2]], along)), _unit(np.cross(along, normal[edges[:, 3]]))
    radius = float(np.sqrt(np.square(vertices - centre).sum(axis=1)).max()) * (1.0 + 2.0**-48)
    vertex_first, vertex_codes = _codes_by_owner(edges[:, :2], len(vertices))
    face_first, face_codes = _codes_by_owner(edges[:, 2:], face_count)
    return Polyhedron(
        vertices=vertices,
        vectors=np.hstack([along, into_left, into_right]),
        planes=np.hstack([normal, height[:, None]]),
        edges=edges.astype(np.int32),
        codes=np.concatenate([vertex_codes, face_codes]),
        vertex_first=vertex_first,
        face_first=face_first + np.int32(len(vertex_codes)),
        sphere=np.array([*centre, radius]),
        vertex_ids=vertex_ids.astype(np.int32),
    )


def _neighbours(triangles: NDArray[np.int64]) -> NDArray[np.int64]:
    """(m,3) the triangle behind each side of a closed surface."""
    tail, head = triangles.ravel(), np.roll(triangles, -1, axis=1).ravel()
    there, back = np.lexsort((head, tail)), np.lexsort((tail, head))
    across = np.empty(triangles.size, np.int64)
    across[there] = back // 3
    return across.reshape(-1, 3)


def _merged_faces(
    points: Floats, triangles: NDArray[np.int64], across: NDArray[np.int64], normals: Floats, flatness: float
) -> NDArray[np.int64]:
    """(m,) the face that each triangle belongs to, numbered without gaps."""
    a, b, c = (points[triangles[:, k]] for k in range(3))
    area = np.linalg.norm(np.cross(b - a, c - a), axis=1)
    largest_first = np.argsort(-area, kind="stable")
    group = np.full(len(triangles), -1, np.int64)
    grow_faces(points, triangles, across, normals, largest_first, flatness, group)
    # A face must be one piece without a hole. Where rounding made something else of slivers, its triangles stay single.
    vertex_of = np.unique(group[:, None] * len(points) + triangles)
    count = int(group.max()) + 1
    inner = np.bincount(group, weights=(group[across] == group[:, None]).sum(axis=1), minlength=count) / 2
    size = np.bincount(group, minlength=count)
    corners = np.bincount(vertex_of // len(points), minlength=count)
    holed = corners - (3 * size - inner) + size != 1
    row, side = np.nonzero(group[across] != group[:, None])
    starts, repeated = np.unique(group[row] * len(points) + triangles[row, side], return_counts=True)
    holed[starts[repeated > 1] // len(points)] = True
    single = holed[group]
    group[single] = count + np.flatnonzero(single)
    return np.unique(group, return_inverse=True)[1].reshape(-1)


@kernel
def grow_faces(
    points: Floats,
    triangles: NDArray[np.int64],
    across: NDArray[np.int64],
    normals: Floats,
    order: NDArray[np.int64],
    flatness: float,
    group: NDArray[np.int64],
) -> None:
    """Write the face of each triangle into group (m,).

    Each triangle without a face, in this order, starts one that grows over its neighbours.
    """
    waiting = np.empty(3 * triangles.shape[0] + 1, np.int64)
    count = 0
    for k in range(order.shape[0]):
        seed = order[k]
        if group[seed] >= 0:
            continue
        normal, origin = point_at(normals, seed), point_at(points, triangles[seed, 0])
        group[seed] = count
        waiting[0] = seed
        left = 1
        while left > 0:
            left -= 1
            t = waiting[left]
            for side in range(3):
                other = across[t, side]
                # Turned by more than a right angle: the other side of a thin plate.
                if group[other] >= 0 or dot(normal, point_at(normals, other)) < 0.0:
                    continue
                if height_of_corners(face_at(points, triangles, other), origin, normal) <= flatness:
                    group[other] = count
                    waiting[left] = other
                    left += 1
        count += 1


@kernel(forceinline=True)
def height_of_corners(t: Triangle, origin: Vec3, normal: Vec3) -> float:
    """Return the largest distance of a triangle's corners from a plane."""
    p, q, r = dot(normal, minus(t.p, origin)), dot(normal, minus(t.q, origin)), dot(normal, minus(t.r, origin))
    return max(abs(p), abs(q), abs(r))


def _normals_of_loops(
    vertices: Floats, tail: NDArray[np.int64], head: NDArray[np.int64], face: NDArray[np.int64], count: int
) -> tuple[Floats, NDArray[np.int64]]:
    """Unit normals (f,3) of polygons by Newell's method, and their first corners (f,)."""
    anchor = np.empty(count, np.int64)
    anchor[face[::-1]] = tail[::-1]
    origin = vertices[anchor[face]]
    area = np.cross(vertices[tail] - origin, vertices[head] - origin)
    total = np.zeros((count, 3))
    np.add.at(total, face, area)
    return _unit(total), anchor


def _unit(vectors: Floats) -> Floats:
    # Scaled first: squares of products of 1e-30 vanish.
    return unit_vectors(vectors / np.maximum(np.abs(vectors).max(axis=1, keepdims=True), np.finfo(float).tiny))


def _codes_by_owner(owners: NDArray[np.int64], count: int) -> tuple[Ints, Ints]:
    """Return where each owner's edge codes begin, and the codes, sorted by owner.

    owners (e,2): the vertices or the faces of each edge.
    """
    order = np.argsort(owners.ravel(), kind="stable")  # 2·edge + side is the place in `owners`, and the code
    return np.searchsorted(owners.ravel()[order], np.arange(count + 1)).astype(np.int32), order.astype(np.int32)
