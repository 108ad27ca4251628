"""The convex hull of points as a mesh, exactly: `Mesh.is_convex` of the result holds without any tolerance.

There is no paper to follow but the well-known quickhull (Barber, Dobkin, Huhdanpaa 1996): a tetrahedron of four points grows by
the point farthest from one of its faces; the faces that see this point go, and new ones join it to the rim of the gap.
Deviation: what sees what is decided by the sign of an exact determinant (`geometry/predicates.py`), never by a tolerance, so no
face is merged and no point is lost; distances only choose the order. A face in whose plane a point lies does not see it, hence
coplanar points give coplanar triangles that join without overlap. Points that are not corners of the hull, in the middle of a
side or an edge, are found by counting the creases about them and left out in a second run.
Guarantee: closed, outward faces, every vertex a corner, every point of the input on or behind every face.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from jostle import cast
from jostle.errors import InputError
from jostle.geometry.predicates import orient2d, orient3d
from jostle.geometry.scalar_vector import cross, dot
from jostle.kernels.arrays import read_only_view
from jostle.kernels.jit import kernel
from jostle.shapes.mesh import Mesh

_FLAT = {1: "all points are one point", 2: "all points lie on one line", 3: "all points lie in one plane"}


def hull(points: ArrayLike | Mesh, name: str | None = None) -> Mesh:
    """Return the convex hull as a closed mesh with outward faces.

    Parameters
    ----------
    points : (n, 3) array of real numbers, or a Mesh
        Of a mesh the vertices that its faces use. Repeated and inner points are fine.
    name : str, optional
        Of the mesh that is made.

    The vertices of the result are the corners of the hull, in the order of the input. Points that do not span a volume raise
    `InputError`.
    """
    if isinstance(points, Mesh):
        name = f"hull of {points.name}" if name is None else name
        given = points.vertices if points.uses_every_vertex else points.vertices[np.unique(points.faces)]
    else:
        name = "hull" if name is None else name
        given = cast.as_points(points, f"mesh {name!r}", "points")
    faces = hull_faces(given, name)
    corners, of_corner = np.unique(faces, return_inverse=True)
    return Mesh(given[corners], of_corner.reshape(-1, 3), name=name)


def hull_faces(points: NDArray[np.float64], name: str = "hull") -> NDArray[np.int32]:
    """Return the outward faces (m,3) of the hull of points (n,3) as indices of points; only corners of the hull occur."""
    _, first = np.unique(np.ascontiguousarray(points).view("V24").ravel(), return_index=True)
    kept = np.sort(first)
    while True:
        faces, creases = _grow(points[kept], name)
        corners = creases >= 3
        if corners[faces].all():
            return _in_order(kept[faces])
        kept = kept[corners]


def _grow(points: NDArray[np.float64], name: str) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Return the faces of one run, and for each point how many edges with a crease end there (0 for points inside)."""
    faces: NDArray[Any] = np.empty((2 * len(points) + 8, 3), np.int64)
    creases = np.zeros(len(points), np.int32)
    found = grow_hull(read_only_view(points), faces, creases)
    if found < 0:
        raise InputError(f"mesh {name!r}: {_FLAT[-found]}; a hull needs points that span a volume")
    return faces[:found].copy(), creases


def _in_order(faces: NDArray[Any]) -> NDArray[np.int32]:
    """Turn each face so that its lowest corner comes first, and sort them: the order then says nothing of how they were found."""
    first = np.argmin(faces, axis=1)
    turned = np.take_along_axis(faces, (first[:, None] + np.arange(3)) % 3, axis=1)
    ordered: NDArray[np.int32] = turned[np.lexsort((turned[:, 2], turned[:, 1], turned[:, 0]))].astype(np.int32)
    return ordered


@kernel
def grow_hull(points, faces, creases):  # type: ignore[no-untyped-def]
    """Write the faces (at least 2n,3) of the hull of distinct points (n,3) and the creases (n,) about each; return how many faces.

    One entry for all stages, because each one that reaches the predicates compiles them anew. -1, -2, -3: the points are one
    point, on a line, in a plane.
    """
    n = points.shape[0]
    a, b, c, d = first_corners(points)
    if d < 0:
        return d
    room = faces.shape[0]
    across = np.empty((room, 3), np.int64)  # the face behind the edge from corner k to corner k + 1
    waiting = np.full(room, -1, np.int64)  # first point that this face sees; the others follow in `after`
    after = np.empty(n, np.int64)
    seen = np.zeros(room, np.int64)  # 0 alive, 1 about to go, 2 free
    put_face(faces, across, 0, a, b, c, 3, 1, 2)
    put_face(faces, across, 1, c, b, d, 0, 3, 2)
    put_face(faces, across, 2, a, c, d, 0, 1, 3)
    put_face(faces, across, 3, b, a, d, 0, 2, 1)
    count = 4
    for p in range(n):
        if p != a and p != b and p != c and p != d:
            for f in range(4):
                if sees(points, faces, f, p):
                    after[p] = waiting[f]
                    waiting[f] = p
                    break
    rim = np.empty((room, 3), np.int64)  # edge from, edge to, face behind it
    visible = np.empty(room, np.int64)
    starting_at = np.empty(n, np.int64)  # the new face whose rim edge starts at a point
    free = np.empty(room, np.int64)
    free_count = 0
    todo = 0
    while todo < count:
        if seen[todo] != 0 or waiting[todo] < 0:
            todo += 1
            continue
        apex = farthest(points, faces, todo, waiting[todo], after)
        visible_count, rim_count = look_around(points, faces, across, seen, todo, apex, visible, rim)
        orphan = -1
        for k in range(visible_count):
            f = visible[k]
            p = waiting[f]
            while p >= 0:
                following = after[p]
                if p != apex:
                    after[p] = orphan
                    orphan = p
                p = following
            waiting[f] = -1
            seen[f] = 2
            free[free_count] = f
            free_count += 1
        lowest = count
        for k in range(rim_count):
            if free_count > 0:
                free_count -= 1
                f = free[free_count]
            else:
                f = count
                count += 1
            lowest = min(lowest, f)
            put_face(faces, across, f, rim[k, 0], rim[k, 1], apex, rim[k, 2], -1, -1)
            seen[f] = 0
            waiting[f] = -1
            starting_at[rim[k, 0]] = f
            visible[k] = f
            turn_towards(faces, across, rim[k, 2], rim[k, 1], f)
        for k in range(rim_count):
            f = visible[k]
            following = starting_at[faces[f, 1]]
            across[f, 1] = following
            across[following, 2] = f
        while orphan >= 0:
            following = after[orphan]
            for k in range(rim_count):
                if sees(points, faces, visible[k], orphan):
                    after[orphan] = waiting[visible[k]]
                    waiting[visible[k]] = orphan
                    break
            orphan = following
        todo = min(todo, lowest)
    count_creases(points, faces, across, seen, count, creases)
    kept = 0
    for f in range(count):
        if seen[f] == 0:
            for k in range(3):
                faces[kept, k] = faces[f, k]
            kept += 1
    return kept


@kernel
def first_corners(points):  # type: ignore[no-untyped-def]
    """Four points that span a volume, d behind the face abc; or d = -1, -2, -3 where there are none."""
    n = points.shape[0]
    a = 0
    for p in range(1, n):
        if comes_before(points, p, a):
            a = p
    b = farthest_from_line(points, a, a)
    if b < 0:
        return a, a, a, -1
    c = farthest_from_line(points, a, b)
    if c < 0:
        return a, b, b, -2
    d = -3
    best = -1.0
    nx, ny, nz = normal_of(points, a, b, c)
    for p in range(n):
        if side(points, a, b, c, p) != 0:
            height = abs(dot(nx, ny, nz, points[p, 0] - points[a, 0], points[p, 1] - points[a, 1], points[p, 2] - points[a, 2]))
            if height > best:
                best = height
                d = p
    if d >= 0 and side(points, a, b, c, d) > 0:
        return a, c, b, d
    return a, b, c, d


@kernel
def farthest_from_line(points, a, b):  # type: ignore[no-untyped-def]
    """The point farthest from the line ab, or from a where both are one, of those that are off it; -1 if there is none."""
    best = -1.0
    found = -1
    ax, ay, az = points[a, 0], points[a, 1], points[a, 2]
    ux, uy, uz = points[b, 0] - ax, points[b, 1] - ay, points[b, 2] - az
    for p in range(points.shape[0]):
        x, y, z = points[p, 0], points[p, 1], points[p, 2]
        vx, vy, vz = x - ax, y - ay, z - az
        if a == b:
            off = p != a
        else:
            bx, by, bz = points[b, 0], points[b, 1], points[b, 2]
            off = orient2d(ax, ay, bx, by, x, y) != 0 or orient2d(ay, az, by, bz, y, z) != 0 or orient2d(az, ax, bz, bx, z, x) != 0
            vx, vy, vz = cross(ux, uy, uz, vx, vy, vz)
        # Sums of absolute values: squares of crossed products of 1e-30 would vanish.
        size = abs(vx) + abs(vy) + abs(vz)
        if off and size > best:
            best = size
            found = p
    return found


@kernel
def comes_before(points, p, q):  # type: ignore[no-untyped-def]
    """Whether p comes before q in the order of x, then y, then z."""
    for k in range(3):
        if points[p, k] != points[q, k]:
            return points[p, k] < points[q, k]
    return False


@kernel
def normal_of(points, a, b, c):  # type: ignore[no-untyped-def]
    """The normal of the triangle abc, as long as its double area."""
    ax, ay, az = points[a, 0], points[a, 1], points[a, 2]
    return cross(
        points[b, 0] - ax, points[b, 1] - ay, points[b, 2] - az, points[c, 0] - ax, points[c, 1] - ay, points[c, 2] - az
    )  # fmt: skip


@kernel
def side(points, a, b, c, p):  # type: ignore[no-untyped-def]
    """On which side of the plane of three points a fourth lies: 1 in front, exactly."""
    return orient3d(
        points[a, 0], points[a, 1], points[a, 2], points[b, 0], points[b, 1], points[b, 2],
        points[c, 0], points[c, 1], points[c, 2], points[p, 0], points[p, 1], points[p, 2],
    )  # fmt: skip


@kernel
def sees(points, faces, f, p):  # type: ignore[no-untyped-def]
    """Whether a face has a point strictly in front of it."""
    return side(points, faces[f, 0], faces[f, 1], faces[f, 2], p) > 0


@kernel
def farthest(points, faces, f, first, after):  # type: ignore[no-untyped-def]
    """Of the points that wait at a face the farthest; of equally far ones the first in the order of x, y, z, which is a corner."""
    a = faces[f, 0]
    nx, ny, nz = normal_of(points, a, faces[f, 1], faces[f, 2])
    best = -np.inf
    found = first
    p = first
    while p >= 0:
        height = dot(nx, ny, nz, points[p, 0] - points[a, 0], points[p, 1] - points[a, 1], points[p, 2] - points[a, 2])
        if height > best or (height == best and comes_before(points, p, found)):
            best = height
            found = p
        p = after[p]
    return found


@kernel
def put_face(faces, across, f, a, b, c, behind_ab, behind_bc, behind_ca):  # type: ignore[no-untyped-def]
    """Write one face and its neighbours."""
    faces[f, 0], faces[f, 1], faces[f, 2] = a, b, c
    across[f, 0], across[f, 1], across[f, 2] = behind_ab, behind_bc, behind_ca


@kernel
def turn_towards(faces, across, f, start, new):  # type: ignore[no-untyped-def]
    """Tell a face that remains which new one is behind its edge that begins at `start`."""
    for k in range(3):
        if faces[f, k] == start:
            across[f, k] = new


@kernel
def look_around(points, faces, across, seen, start, apex, visible, rim):  # type: ignore[no-untyped-def]
    """Mark and list the faces that see the point `apex`, from one of them on, and list the rim; return the two counts."""
    seen[start] = 1
    visible[0] = start
    visible_count, rim_count, done = 1, 0, 0
    while done < visible_count:
        f = visible[done]
        done += 1
        for k in range(3):
            behind = across[f, k]
            if seen[behind] == 1:
                continue
            if sees(points, faces, behind, apex):
                seen[behind] = 1
                visible[visible_count] = behind
                visible_count += 1
            else:
                rim[rim_count, 0], rim[rim_count, 1], rim[rim_count, 2] = faces[f, k], faces[f, (k + 1) % 3], behind
                rim_count += 1
    return visible_count, rim_count


@kernel
def count_creases(points, faces, across, seen, count, creases):  # type: ignore[no-untyped-def]
    """Count for each point the edges from it whose two faces lie in different planes: three or more at a corner of the hull."""
    for f in range(count):
        if seen[f] != 0:
            continue
        for k in range(3):
            behind = across[f, k]
            start = faces[f, k]
            for m in range(3):
                # The corner of the face behind that does not belong to the common edge.
                apex = faces[behind, m]
                own = apex != start and apex != faces[f, (k + 1) % 3]
                if own and side(points, faces[f, 0], faces[f, 1], faces[f, 2], apex) != 0:
                    creases[start] += 1
