"""Foot, outward normal and area of each shell point.

The foot is the nearest point of the surface. Normals are those of faces, or pseudo-normals where a foot is on an edge or a corner:
the mean of an edge's face normals, and at a corner their mean weighted by angle (Bærentzen and Aanæs 2005). They point outward
for every closed surface. Where the mesh encloses a negative volume, all normals are reversed; parts wound against the rest are
taken for cavities. Open meshes have the normals of their faces as wound.

Faces are binned by cubes of a few shell voxels with the reach within which shell points lie (√3 voxels of their surface). Points
that find nothing there, such as those of an analytic shape with a coarse mesh, are their own feet, and get a normal in another
search with a wider reach.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from jostle._types import Floats
from jostle.geometry.triangle import Triangle, triangle_of_row
from jostle.geometry.vector import Vec3, dot, length, minus, point_at, times, write_point
from jostle.kernels.arrays import read_only_view
from jostle.kernels.jit import kernel
from jostle.kernels.numbers import as_float64, as_int64
from jostle.methods.voxmap.face_bins import all_faces, bin_faces
from jostle.methods.voxmap.map import GridSize, cell_number
from jostle.methods.voxmap.progress import Share
from jostle.shapes.mesh import Mesh

REACH = 1.7330  # shell voxels: √3, and a margin for points rounded to float32
BIN = 4.0  # shell voxels along the edge of a bin
MOST_BINS = 2_000_000


def feet_and_normals(
    mesh: Mesh, points: NDArray[np.float32], middle: Floats, spacing: float, progress: Share | None = None
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Return feet (n, 3) relative to `middle` and unit outward normals (n, 3).

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
    surface, asked = FeatureFaces(corners, features), read_only_view(points)
    feet, normals = points.copy(), np.zeros((len(points), 3), np.float32)

    def ask(left: NDArray[np.int64], reach: float, feet: NDArray[np.float32]) -> None:
        numbers, bins = read_only_view(left), _bins_about(points[left], corners, reach)
        all_faces(
            lambda begin, end: nearest_normals(asked, numbers, begin, end, surface, bins, reach, feet, normals), len(left), progress
        )

    found, left, reach = feet, np.arange(len(points)), REACH * spacing
    while len(left) > 0:
        ask(left, reach, found)
        left = left[~normals[left].any(axis=1)]
        found = np.empty_like(feet)  # feet beyond the first reach are not kept
        reach *= 4.0
    return feet, normals


def _bins_about(points: NDArray[np.float32], corners: Floats, reach: float) -> FaceBins:
    """Return the faces within reach of each bin, in bins that hold these points."""
    lower = points.min(axis=0).astype(np.float64) - reach
    extent = points.max(axis=0) + reach - lower
    edge = max(BIN / REACH * reach, float((extent.prod() / MOST_BINS) ** (1.0 / 3.0)))
    size = GridSize(*np.ceil(extent / edge).astype(np.int64).tolist())
    # Whole numbers stand at the middles of bins.
    placed = read_only_view(((corners.reshape(-1, 3) - lower) / edge - 0.5).reshape(-1, 9))
    count, lists = np.zeros(math.prod(size) + 1, np.int64), np.empty(0, np.int32)

    def bin_all(fill: bool) -> None:
        all_faces(lambda begin, end: bin_faces(placed, begin, end, 0.5, reach / edge, size, fill, count, lists), len(placed))

    bin_all(False)
    np.cumsum(count, out=count)
    lists = np.empty(int(count[-1]), np.int32)
    bin_all(True)
    return FaceBins(Vec3(*lower.tolist()), 1.0 / edge, size, read_only_view(count), lists)


def feature_normals(mesh: Mesh) -> Floats:
    """(m, 7, 3) outward directions of faces, corners and sides, not normalised.

    In this order: the face, the corners 0, 1, 2, the sides 01, 12, 20.
    """
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
    # Sums over sheets folded upon themselves are 0: each side then has its own normal.
    nothing = np.abs(features).max(axis=2) < 1e-9
    features[nothing] = np.broadcast_to(normals[:, None], features.shape)[nothing]
    return features


def _angles(at: Floats, one: Floats, other: Floats) -> Floats:
    """(m,) radians between the directions from one point to two others."""
    u, v = one - at, other - at
    angle: Floats = np.arctan2(np.linalg.norm(np.cross(u, v), axis=1), np.einsum("ij,ij->i", u, v))
    return angle


class FeatureFaces(NamedTuple):
    """Corners (m,9) of faces, and the directions (m,7,3) of their features."""

    corners: Floats
    features: Floats


class FaceBins(NamedTuple):
    """Bins of edge 1 / scale; bin k has the faces lists[begins[k] : begins[k + 1]]."""

    corner: Vec3
    scale: float
    size: GridSize
    begins: NDArray[np.int64]
    lists: NDArray[np.int32]


class NearestFeature(NamedTuple):
    """Squared distance to a face, the nearest feature, and the offset from it.

    0: within the face, 1 2 3: at a corner, 4 5 6: at a side.
    """

    squared: float
    feature: int
    offset: Vec3


@kernel
def nearest_feature(point: Vec3, face: Triangle) -> NearestFeature:
    """Return the feature of a face that is nearest to a point."""
    # Relative to the first corner; Voronoi regions one after the other (Ericson 2005, §5.1.5).
    u, v, p = minus(face.q, face.p), minus(face.r, face.p), minus(point, face.p)
    uu, uv, vv = dot(u, u), dot(u, v), dot(v, v)
    d1, d2 = dot(u, p), dot(v, p)
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
    offset = minus(minus(p, times(s, u)), times(t, v))
    return NearestFeature(dot(offset, offset), feature, offset)


@kernel(forceinline=True)
def bin_of(bins: FaceBins, p: Vec3) -> int:
    """Return the bin of a point that is not below the corner of the bins."""
    size, at = bins.size, minus(p, bins.corner)
    x, y, z = int(at.x * bins.scale), int(at.y * bins.scale), int(at.z * bins.scale)
    return cell_number(size, min(x, size.x - 1), min(y, size.y - 1), min(z, size.z - 1))


@kernel
def nearest_normals(
    points: NDArray[np.float32], numbers: NDArray[np.int64], begin: int, end: int, surface: FeatureFaces, bins: FaceBins,
    reach: float, feet: NDArray[np.float32], normals: NDArray[np.float32],
) -> None:  # fmt: skip
    """Write feet and normals of points numbers[begin … end - 1] that reach a face."""
    for k in range(begin, end):
        i = as_int64(numbers[k])
        p = Vec3(as_float64(points[i, 0]), as_float64(points[i, 1]), as_float64(points[i, 2]))
        cell = bin_of(bins, p)
        nearest, face, feature = reach * reach, -1, 0
        for j in range(bins.begins[cell], bins.begins[cell + 1]):
            other = as_int64(bins.lists[j])
            found = nearest_feature(p, triangle_of_row(surface.corners, other))
            # Ties go to the lowest face, whatever the order of the lists.
            if found.squared < nearest or (found.squared == nearest and other < face):
                nearest, face, feature = found.squared, other, found.feature
        if face >= 0:
            write_point(feet, i, minus(p, nearest_feature(p, triangle_of_row(surface.corners, face)).offset))
            direction = point_at(surface.features[face], feature)
            write_point(normals, i, times(1.0 / length(direction), direction))


@kernel(forceinline=True)
def area_of_point(normal: Vec3, square: float) -> float:
    """Return the area that a shell point stands for, by its normal in the body's axes.

    `square` is that of a shell voxel's edge. Surface voxels of a plane with the unit normal n are a layer as thick as their 26
    neighbours reach: |nx| + |ny| + |nz| voxels.
    """
    return square / max(abs(normal.x) + abs(normal.y) + abs(normal.z), 1.0)
