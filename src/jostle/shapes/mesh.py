"""Mesh: immutable vertices and faces, and the topology derived from them.

A mesh keeps the caller's vertices and faces in the caller's order. Vertices with bit-equal coordinates are *welded* for topology
only (`welded`): nothing is merged by tolerance, because a tolerance would turn a mesh of size 1e-9 into a point. Derived data are
computed on first use and cached.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from jostle import cast
from jostle.errors import InputError
from jostle.geometry.unique_rows import unique_rows
from jostle.geometry.unit_vectors import unit_vectors
from jostle.kernels.arrays import read_only_view
from jostle.kernels.cached_property import cached_property
from jostle.tables import counted, html_table

if TYPE_CHECKING:
    from typing import Self

    from jostle.shapes.analytic import RaySurface
    from jostle.shapes.topology import SheetSides, Topology

LARGEST_POLYGON = 2**31 - 1
UNITS = ("m", "cm", "mm", "um", "km", "in", "ft")


class Mesh:
    """A triangle mesh. Open, non-manifold and degenerate meshes are allowed.

    Parameters
    ----------
    vertices : (n, 3) array of real numbers
        In the user's units.
    faces : (m, 3) array of integers
        Vertex indices; counter-clockwise seen from outside where the mesh bounds a solid.
    name : str
        Used in messages.
    units : str, optional
        One of `UNITS`. Worlds refuse to mix meshes of different units.
    source_face : (m,) array of integers, optional
        The file's polygon of each face; by default face k comes from polygon k.
    analytic : object, optional
        The true surface, for methods that cast rays (see `shapes/analytic.py`); without vertices and faces the mesh is its
        tessellation. Its repr is part of the digest. `scaled` keeps it if it can, `moved` and `with_vertices` drop it.

    Examples
    --------
    >>> corners = [(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)]
    >>> mesh = jostle.Mesh(corners, [(0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 3)], name="corner")
    >>> mesh.is_closed, mesh.is_convex
    (True, True)
    >>> mesh.scaled(2).bounds[1]
    array([2., 2., 2.])
    """

    __slots__ = ("__dict__", "_source_face", "analytic", "faces", "name", "units", "vertices")

    vertices: NDArray[np.float64]
    faces: NDArray[np.int32]
    name: str
    units: str | None
    analytic: RaySurface | None
    _source_face: NDArray[np.int32] | None

    def __init__(
        self,
        vertices: ArrayLike | None = None,
        faces: ArrayLike | None = None,
        *,
        name: str = "mesh",
        units: str | None = None,
        source_face: ArrayLike | None = None,
        analytic: RaySurface | None = None,
    ) -> None:
        name = cast.as_text(name, "name", "mesh")
        owner = f"mesh {name!r}"
        if analytic is not None and not cast.has(analytic, "bounds", "crossings"):
            given = cast.shown(analytic)
            raise InputError(f"{owner}: analytic is {given}; it must have bounds and crossings (see jostle.shapes.analytic)")
        if vertices is None or faces is None:
            vertices, faces = _tessellation(vertices, faces, analytic, owner)
        points = cast.as_points(vertices, owner)
        triangles = cast.as_faces(faces, len(points), owner)
        if units is not None:
            cast.as_choice(units, UNITS, f"{owner}: units")
        source = None if source_face is None else _as_source_face(source_face, len(triangles), owner)
        values = (points, triangles, name, units, source, analytic)
        for field, value in zip(("vertices", "faces", "name", "units", "_source_face", "analytic"), values, strict=True):
            object.__setattr__(self, field, value)

    def __setattr__(self, field: str, value: Any) -> None:
        raise AttributeError(f"a Mesh is immutable; make a new one instead of setting {field!r}")

    def __repr__(self) -> str:
        return f"<Mesh {self.name!r}: {counted(len(self.vertices), 'vertex', 'vertices')}, {counted(len(self.faces), 'face')}>"

    def _repr_html_(self) -> str:
        low, high = self.bounds.tolist()
        return html_table(repr(self), [{"units": self.units, "lowest": low, "highest": high}])

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuild, (self.vertices, self.faces, self.name, self.units, self._source_face, self.analytic)

    @property
    def source_face(self) -> NDArray[np.int32]:
        """(m,) the polygon of the file that each face was cut from."""
        if self._source_face is None:
            return _sealed(np.arange(len(self.faces), dtype=np.int32))
        return self._source_face

    @cached_property
    def digest(self) -> str:
        """Hash of the content; meshes with equal digests share one prepared shape."""
        content = hashlib.blake2b(digest_size=16)
        content.update(np.int64(len(self.vertices)).tobytes())
        content.update(self.vertices.tobytes())
        content.update(self.faces.tobytes())
        if self.analytic is not None:
            content.update(repr(self.analytic).encode())
        return content.hexdigest()

    @cached_property
    def bounds(self) -> NDArray[np.float64]:
        """(2, 3) lowest and highest coordinates of the vertices that faces use."""
        used = self.vertices if self.uses_every_vertex else self.vertices[self._used]
        columns = [used[:, k] for k in range(3)]  # 30 times as fast as `min(axis=0)` for 70,000 vertices
        bounds = np.array([[column.min() for column in columns], [column.max() for column in columns]])
        return _sealed(bounds + 0.0)  # which of 0 and -0 is the least depends on the processor

    @cached_property
    def _used(self) -> NDArray[np.bool_]:
        return np.bincount(self.faces.ravel(), minlength=len(self.vertices)) > 0

    @cached_property
    def uses_every_vertex(self) -> bool:
        """Whether every vertex belongs to a face."""
        return bool(self._used.all())

    @cached_property
    def size(self) -> float:
        """Length of the diagonal of `bounds`."""
        return float(np.linalg.norm(self.bounds[1] - self.bounds[0]))

    @cached_property
    def welded(self) -> NDArray[np.int32]:
        """(n,) for each vertex the lowest vertex with bit-equal coordinates."""
        # Sorting raw bytes is exact: coordinates hold no -0.0 and no NaN, so equal points are equal bytes.
        keys = np.ascontiguousarray(self.vertices).view("V24").ravel()
        _, first, inverse = np.unique(keys, return_index=True, return_inverse=True)
        return _sealed(first.astype(np.int32)[inverse.ravel()])

    @cached_property
    def welded_faces(self) -> NDArray[np.int32]:
        """(m, 3) faces with welded vertex numbers: faces that share one are adjacent."""
        return _sealed(np.ascontiguousarray(self.welded[self.faces]))

    @cached_property
    def edges(self) -> NDArray[np.int32]:
        """(e, 2) unique welded edges of non-zero length, lower vertex first."""
        sides = self.welded_faces[:, [[0, 1], [1, 2], [2, 0]]].reshape(-1, 2)
        return _sealed(unique_rows(np.sort(sides[sides[:, 0] != sides[:, 1]], axis=1)))

    @cached_property
    def is_closed(self) -> bool:
        """Whether the faces bound a volume: each edge is used equally in both directions.

        Then the winding number of every point off the surface is an integer, as the outer body of a containment test needs.
        Non-manifold edges are allowed.
        """
        sides = self.welded_faces != self.welded_faces[:, [1, 2, 0]]
        return bool(sides.any()) and len(self.open_edges) == 0

    @cached_property
    def open_edges(self) -> NDArray[np.int64]:
        """(k, 2) sorted welded edges with unequal use in the two directions."""
        # One integer per side, its direction in the last bit: sorting takes 4 ms for 70,000 faces, 170 ms for rows.
        corners, count = self.welded_faces.T.astype(np.int64), len(self.vertices)
        pairs = ((corners[k], corners[(k + 1) % 3]) for k in range(3))
        sides = np.concatenate([np.where(p < q, (p * count + q) << 1 | 1, (q * count + p) << 1)[p != q] for p, q in pairs])
        sides.sort()
        first_of_edge = np.flatnonzero(np.diff(sides >> 1, prepend=-1))
        balance = np.add.reduceat(2 * (sides & 1) - 1, first_of_edge) if len(sides) else sides
        return _sealed(np.stack(np.divmod(sides[first_of_edge][balance != 0] >> 1, max(count, 1)), axis=1))

    @cached_property
    def component_of_face(self) -> NDArray[np.int32]:
        """(m,) component of each face by shared welded vertices, by first face."""
        return read_only_view(self.topology.part_of_face)

    @cached_property
    def topology(self) -> Topology:
        """Fans of edges, sheets and parts, for tests of solids."""
        from jostle.shapes.topology import topology_of

        return topology_of(self.welded_faces, len(self.vertices))

    @cached_property
    def sheet_sides(self) -> SheetSides:
        """On which side of each sheet the inside is; meaningful when `is_closed`."""
        from jostle.shapes.topology import sheet_sides

        return sheet_sides(self.vertices, self.faces, self.topology)

    @cached_property
    def touches_itself(self) -> bool:
        """Whether faces touch or cross beyond shared welded vertices and edges."""
        from jostle.shapes.topology import touches_itself

        return touches_itself(self.vertices, self.faces, self.welded_faces)

    @property
    def knows_whether_it_touches_itself(self) -> bool:
        """Whether `touches_itself` has been computed."""
        return "touches_itself" in self.__dict__

    @cached_property
    def _looks_in_part(self) -> list[int]:
        """[count of partial tests]; after some, `touches_itself` is cheaper."""
        return [0]

    @cached_property
    def face_normals(self) -> NDArray[np.float64]:
        """(m, 3) unit normals, counter-clockwise; zero for faces without area."""
        a, b, c = (self.vertices[self.faces[:, k]] for k in range(3))
        return _sealed(unit_normals(a, b, c))

    @cached_property
    def is_convex(self) -> bool:
        """Whether the mesh is closed, connected and convex (decided exactly)."""
        if not self.is_closed or self.component_of_face.any():
            return False
        from jostle.shapes.convexity import is_convex_surface

        return is_convex_surface(self.vertices, self.faces)

    @cached_property
    def volume(self) -> float:
        """Signed volume by the divergence theorem; needs `is_closed`."""
        middle = self.bounds.mean(axis=0)
        a, b, c = (self.vertices[self.faces[:, k]] - middle for k in range(3))
        return float(np.einsum("ij,ij->", a, np.cross(b, c)) / 6.0)

    def with_vertices(self, vertices: ArrayLike) -> Self:
        """Return the same faces on other vertices; an analytic surface is left behind."""
        return type(self)(vertices, self.faces, name=self.name, units=self.units, source_face=self._source_face)

    def scaled(self, factor: float) -> Self:
        """Return the mesh scaled by a factor > 0, with its surface if that scales."""
        factor = cast.as_number(factor, "factor")
        if self.analytic is None or factor <= 0.0 or not hasattr(self.analytic, "scaled"):
            return self.with_vertices(self.vertices * factor)
        analytic, source = self.analytic.scaled(factor), self._source_face
        return type(self)(
            self.vertices * factor, self.faces, name=self.name, units=self.units, source_face=source, analytic=analytic
        )

    def moved(self, pose: ArrayLike) -> Self:
        """Return the mesh moved by a rigid (4,4) pose, without its analytic surface."""
        from jostle.geometry.rigid import transform_points

        return self.with_vertices(transform_points(cast.as_pose(pose, f"mesh {self.name!r}"), self.vertices))


def unit_normals(a: NDArray[np.float64], b: NDArray[np.float64], c: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return unit normals of triangles (a, b, c) of any scale; 0 without area."""
    u, v = b - a, c - a
    # Scaling each edge by its largest component keeps the cross product of 1e-30-sized faces from underflowing.
    u = u / np.maximum(np.abs(u).max(axis=1, keepdims=True), np.finfo(float).tiny)
    v = v / np.maximum(np.abs(v).max(axis=1, keepdims=True), np.finfo(float).tiny)
    return unit_vectors(np.cross(u, v))


def concatenated(parts: Iterable[tuple[NDArray[np.float64], NDArray[np.integer]]]) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return points and faces of all (points, faces) end to end, unmerged."""
    points, faces, start = [np.empty((0, 3))], [np.empty((0, 3), np.int64)], 0
    for own, triangles in parts:
        points.append(own)
        faces.append(triangles.astype(np.int64) + start)
        start += len(own)
    return np.vstack(points), np.vstack(faces)


def _tessellation(vertices: Any, faces: Any, analytic: Any, owner: str) -> tuple[Any, Any]:
    """Return vertices and faces of an analytic surface, for a mesh without its own."""
    if vertices is not None or faces is not None or not hasattr(analytic, "tessellation"):
        missing = "vertices" if vertices is None else "faces"
        raise InputError(f"{owner}: {missing} are missing; pass vertices and faces, or an analytic surface that can make both")
    made = analytic.tessellation()
    return made.vertices, made.faces


def _as_source_face(value: ArrayLike, face_count: int, owner: str) -> NDArray[np.int32]:
    source = cast.as_array(value, owner, "source_face")
    if source.shape != (face_count,):
        raise InputError(f"{owner}: source_face has shape {source.shape}; it must be ({face_count},), one entry per face")
    if source.dtype.kind not in "iu":
        raise InputError(f"{owner}: source_face has dtype {source.dtype}; polygon numbers must be integers")
    bad = (source < 0) | (source > LARGEST_POLYGON)
    if bad.any():
        first = int(np.argmax(bad))
        raise InputError(f"{owner}: source_face[{first}] is {source[first]}; polygon numbers run from 0 to {LARGEST_POLYGON}")
    return _sealed(np.array(source, dtype=np.int32))


def _sealed(array: NDArray[Any]) -> NDArray[Any]:
    array.flags.writeable = False
    return array


def _rebuild(vertices: Any, faces: Any, name: str, units: str | None, source_face: Any, analytic: Any = None) -> Mesh:
    return Mesh(vertices, faces, name=name, units=units, source_face=source_face, analytic=analytic)
