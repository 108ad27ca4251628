"""What a shell point stands for: its foot, the nearest point of its surface, the unit outward normal there, and an area.

Normals are those of faces, or pseudo-normals where a foot is on an edge or a corner: the mean of an edge's faces' normals, and at
a corner their mean weighted by angle (Bærentzen and Aanæs 2005). They point outward for every closed surface. Where the mesh
encloses a negative volume, all normals are turned round; parts wound against the rest are not told from cavities. Open meshes have
the normals of their faces as they are wound.

Faces are binned by cubes of a few shell voxels with the reach within which shell points lie (√3 voxels of their surface); points
that find nothing there, as those of an analytic shape with a coarse mesh may, are their own feet, and asked again for a normal
with a wider reach.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from jostle.frame import Floats
from jostle.kernels.arrays import read_only_view
from jostle.kernels.jit import kernel
from jostle.methods.voxmap.face_bins import all_faces, bin_faces
from jostle.protocol import Progress
from jostle.shapes.mesh import Mesh

REACH = 1.7330  # shell voxels: √3, and something for the rounding of points to float32
BIN = 4.0  # shell voxels along the edge of a bin
MOST_BINS = 2_000_000


def feet_and_normals(
    mesh: Mesh, points: NDArray[np.float32], middle: Floats, spacing: float, progress: Progress | None = None
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Return feet (n, 3), relative to `middle`, and unit outward normals (n, 3) of points near the surface of a mesh.

    Parameters
    ----------
    mesh : Mesh
    points : (n, 3) float32
        Relative to `middle`, in the mesh's units; in any order, neighbours together are fastest.
    middle : (3,) float64
    spacing : float
        Edge of a shell voxel.
    progress : callable, optional
        Called with the share that is done.
    """
    corners = (mesh.vertices - middle)[mesh.faces].reshape(-1, 9)
    has_area = mesh.face_normals.any(axis=1)
    if not has_area.any():
        return points.copy(), np.zeros((len(points), 3), np.float32)
    corners, features = corners[has_area], feature_normals(mesh)[has_area]
    feet, normals = points.copy(), np.zeros((len(points), 3), np.float32)
    found, left = feet, np.arange(len(points))
    reach = REACH * spacing
    while len(left) > 0:
        _ask_bins(corners, features, points, left, reach, BIN / REACH * reach, found, normals, progress, mesh.name)
        left = left[~normals[left].any(axis=1)]
        found = np.empty_like(feet)  # those beyond the reach are not taken
        reach *= 4.0
    return feet, normals


def _ask_bins(
    corners: Floats,
    features: Floats,
    points: NDArray[np.float32],
    left: NDArray[np.int64],
    reach: float,
    edge: float,
    feet: NDArray[np.float32],
    normals: NDArray[np.float32],
    progress: Progress | None,
    name: str,
) -> None:
    """Fill the feet and normals of the points `left` that have a face within reach."""
    lower = points[left].min(axis=0).astype(np.float64) - reach
    extent = points[left].max(axis=0) + reach - lower
    edge = max(edge, float((extent.prod() / MOST_BINS) ** (1.0 / 3.0)))
    bins = np.ceil(extent / edge).astype(np.int64)
    # Whole numbers stand at the middles of bins.
    placed = read_only_view(((corners.reshape(-1, 3) - lower) / edge - 0.5).reshape(-1, 9))
    x, y, z = bins.tolist()
    count, lists = np.zeros(x * y * z + 1, np.int64), np.empty(0, np.int32)
    all_faces(lambda begin, end: bin_faces(placed, begin, end, 0.5, reach / edge, x, y, z, False, count, lists), len(placed))
    np.cumsum(count, out=count)
    lists = np.empty(int(count[-1]), np.int32)
    all_faces(lambda begin, end: bin_faces(placed, begin, end, 0.5, reach / edge, x, y, z, True, count, lists), len(placed))
    low_x, low_y, low_z = lower.tolist()
    asked, begins, where = read_only_view(points), read_only_view(count), read_only_view(left)
    all_faces(
        lambda begin, end: nearest_normals(
            asked,
            where,
            begin,
            end,
            corners,
            features,
            low_x,
            low_y,
            low_z,
            1.0 / edge,
            x,
            y,
            z,
            begins,
            lists,
            reach,
            feet,
            normals,
        ),
        len(left),
        progress,
        f"normals of {name}",
    )


def feature_normals(mesh: Mesh) -> Floats:
    """(m, 7, 3) outward directions for each face: of itself, its corners 0, 1, 2, and its sides 01, 12, 20; not of unit length."""
    faces, normals = mesh.welded_faces.astype(np.int64), mesh.face_normals
    if mesh.is_closed and mesh.volume < 0.0:
        normals = -normals
    features = np.empty((len(faces), 7, 3))
    features[:, 0] = normals
    corners = mesh.vertices[faces]
    angles = np.stack([_angles(corners[:, k], corners[:, (k + 1) % 3], corners[:, (k + 2) % 3]) for k in range(3)], axis=1)
    low, high = np.minimum(faces, np.roll(faces, -1, axis=1)), np.maximum(faces, np.roll(faces, -1, axis=1))
    _, sides = np.unique((low * len(mesh.vertices) + high).ravel(), return_inverse=True)
    sides = sides.reshape(-1, 3)
    for axis in range(3):
        at_corners = np.bincount(faces.ravel(), (angles * normals[:, axis, None]).ravel(), len(mesh.vertices))
        features[:, 1:4, axis] = at_corners[faces]
        at_sides = np.bincount(sides.ravel(), np.repeat(normals[:, axis], 3))
        features[:, 4:7, axis] = at_sides[sides]
    # Sheets folded upon themselves have sums of 0: each side then has its own normal.
    nothing = np.abs(features).max(axis=2) < 1e-9
    features[nothing] = np.broadcast_to(normals[:, None], features.shape)[nothing]
    return features


def _angles(at: Floats, one: Floats, other: Floats) -> Floats:
    """(m,) radians between the directions from one point to two others."""
    u, v = one - at, other - at
    angle: Floats = np.arctan2(np.linalg.norm(np.cross(u, v), axis=1), np.einsum("ij,ij->i", u, v))
    return angle


@kernel
def nearest_feature(px, py, pz, corners, face):  # type: ignore[no-untyped-def]
    """Squared distance of a point to a face of corners (m,9), where it is nearest, and the way from there to the point.

    0: within the face, 1 2 3: at a corner, 4 5 6: at a side.
    """
    ax, ay, az = corners[face, 0], corners[face, 1], corners[face, 2]
    # Relative to the first corner; Voronoi regions one after the other (Ericson 2005, §5.1.5).
    ux, uy, uz = corners[face, 3] - ax, corners[face, 4] - ay, corners[face, 5] - az
    vx, vy, vz = corners[face, 6] - ax, corners[face, 7] - ay, corners[face, 8] - az
    px, py, pz = px - ax, py - ay, pz - az
    uu, uv, vv = ux * ux + uy * uy + uz * uz, ux * vx + uy * vy + uz * vz, vx * vx + vy * vy + vz * vz
    d1, d2 = ux * px + uy * py + uz * pz, vx * px + vy * py + vz * pz
    d3, d4, d5, d6 = d1 - uu, d2 - uv, d1 - uv, d2 - vv
    feature, s, t = 0, 0.0, 0.0
    if d1 <= 0.0 and d2 <= 0.0:
        feature = 1
    elif d3 >= 0.0 and d4 <= d3:
        feature, s = 2, 1.0
    elif d6 >= 0.0 and d5 <= d6:
        feature, t = 3, 1.0
    elif d1 * d4 - d3 * d2 <= 0.0 and d1 >= 0.0 and d3 <= 0.0:
        feature, s = 4, d1 / (d1 - d3)
    elif d5 * d2 - d1 * d6 <= 0.0 and d2 >= 0.0 and d6 <= 0.0:
        feature, t = 6, d2 / (d2 - d6)
    elif d3 * d6 - d5 * d4 <= 0.0 and d4 - d3 >= 0.0 and d5 - d6 >= 0.0:
        t = (d4 - d3) / ((d4 - d3) + (d5 - d6))
        feature, s = 5, 1.0 - t
    else:
        a, b, c = d3 * d6 - d5 * d4, d5 * d2 - d1 * d6, d1 * d4 - d3 * d2
        s, t = b / (a + b + c), c / (a + b + c)
    dx, dy, dz = px - s * ux - t * vx, py - s * uy - t * vy, pz - s * uz - t * vz
    return dx * dx + dy * dy + dz * dz, feature, dx, dy, dz


@kernel
def nearest_normals(  # type: ignore[no-untyped-def]
    points, where, begin, end, corners, features, lx, ly, lz, scale, nx, ny, nz, begins, lists, reach, feet, normals
):
    """Write the feet and normals (n,3) of the points (n,3) with numbers where[begin … end - 1] that have a face within reach.

    corners (m,9), features (m,7,3); bins of edge 1 / scale from (lx, ly, lz), their faces in lists[begins[k] : begins[k + 1]].
    """
    for k in range(begin, end):
        i = where[k]
        px, py, pz = float(points[i, 0]), float(points[i, 1]), float(points[i, 2])
        x, y, z = int((px - lx) * scale), int((py - ly) * scale), int((pz - lz) * scale)
        bin_number = (min(z, nz - 1) * ny + min(y, ny - 1)) * nx + min(x, nx - 1)
        nearest, face, feature = reach * reach, -1, 0
        for j in range(begins[bin_number], begins[bin_number + 1]):
            squared, where_on_it, _, _, _ = nearest_feature(px, py, pz, corners, lists[j])
            # Of equal ones the lowest face, whatever the order in which lists were filled.
            if squared < nearest or (squared == nearest and lists[j] < face):
                nearest, face, feature = squared, lists[j], where_on_it
        if face >= 0:
            _, _, dx, dy, dz = nearest_feature(px, py, pz, corners, face)
            feet[i, 0], feet[i, 1], feet[i, 2] = px - dx, py - dy, pz - dz
            dx, dy, dz = features[face, feature, 0], features[face, feature, 1], features[face, feature, 2]
            shrink = 1.0 / math.sqrt(dx * dx + dy * dy + dz * dz)
            normals[i, 0], normals[i, 1], normals[i, 2] = shrink * dx, shrink * dy, shrink * dz


@kernel(forceinline=True)
def area_of_point(nx, ny, nz, square):  # type: ignore[no-untyped-def]
    """The area that a shell point stands for, by its normal in the body's axes; `square` is that of the edge of a shell voxel.

    Surface voxels of a plane with the unit normal n are a layer as thick as their 26 neighbours reach: |nx| + |ny| + |nz| voxels.
    """
    return square / max(abs(nx) + abs(ny) + abs(nz), 1.0)
