"""Bounding objects of sets of faces: the first half of the top-down build (§3).

A set is a range of the list of faces. Its vertices are gathered, each once and relative to the first, so that meshes may lie
anywhere and sets may have any size. The object found is then made conservative for the vertices as they are (`settle`): half
extents and radius are recomputed about the rounded centre, and `MARGIN` is added.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from jostle._types import Floats, Longs
from jostle.geometry.eigenvectors import Moments
from jostle.geometry.vector import Vec3, absolute, cross, divided, dot, length, minus, plus, times, write_point_from
from jostle.kernels.jit import kernel
from jostle.kernels.numbers import as_int64
from jostle.kernels.structs import Addresses
from jostle.methods.bounding_tree.axes import COORDINATE_AXES, along, axes_of, write_axes
from jostle.methods.bounding_tree.face_sets import FaceSets, SetWork, open_sets, point_of, view_volume
from jostle.methods.bounding_tree.tree import AABB, MARGIN, OBB, SPHERE, Volume, centre_of
from jostle.methods.bounding_tree.volumes.aabb import fit_in_axes
from jostle.methods.bounding_tree.volumes.obb import fit_obb
from jostle.methods.bounding_tree.volumes.quality import HAUSDORFF, corners_of, hausdorff, size_of
from jostle.methods.bounding_tree.volumes.sphere import smallest_sphere

FACES_AT_ONCE = 1 << 13  # in one call of a kernel, or one set: 0.09 s between two calls at most, for 60,000 faces on a busy machine


def in_slices(counts: Longs) -> Iterator[tuple[int, int]]:
    """Yield ranges of sets of `FACES_AT_ONCE` faces, or of one set, for Ctrl-C."""
    ends = np.cumsum(counts)
    first, done = 0, 0
    while first < len(counts):
        last = max(first + 1, int(np.searchsorted(ends, done + FACES_AT_ONCE, side="right")))
        yield first, last
        first, done = last, int(ends[last - 1])


def enclose(kind: int, quality: int, sets: FaceSets, begins: Longs, ends: Longs, volumes: Floats) -> None:
    """Write the bounding objects of sets begins … ends - 1 (s,) to volumes (s,16)."""
    if kind == SPHERE:
        enclose_by_spheres(sets.addresses, begins, ends, volumes)
    elif kind == AABB:
        enclose_by_aabbs(sets.addresses, begins, ends, volumes)
    else:
        enclose_by_obbs(sets.addresses, begins, ends, quality, volumes)


def measure(kind: int, quality: int, sets: FaceSets, begins: Longs, ends: Longs, volumes: Floats, measures: Floats) -> None:
    """Write the measures of the bounding objects (s,16) of sets to measures (s,)."""
    if quality == HAUSDORFF:
        hausdorff_distances(kind, sets.addresses, begins, ends, volumes, measures)
    else:
        sizes(kind, quality, volumes, measures)


@kernel
def gather(work: SetWork, begin: int, end: int) -> int:
    """List a set's vertices, each once, relative to the first; return their number."""
    stamp, last = work.stamp, len(work.stamp) - 1
    stamp[last] += 1
    now = stamp[last]
    origin = first_corner(work, begin)
    count = 0
    for entry in range(begin, end):
        corners = work.faces[work.order[entry]]
        for k in range(3):
            v = as_int64(corners.vertex[k])
            if stamp[v] != now:
                stamp[v] = now
                work.listed[count] = v
                write_point_from(work.points[count].at, 0, minus(point_of(work.vertices, v), origin))
                count += 1
    return count


@kernel(forceinline=True)
def first_corner(work: SetWork, entry: int) -> Vec3:
    """Return the first corner of the face at an entry of the list."""
    return point_of(work.vertices, as_int64(work.faces[work.order[entry]].vertex[0]))


@kernel
def enclose_by_spheres(addresses: Addresses, begins: Longs, ends: Longs, volumes: Floats) -> None:
    """Write the smallest spheres of sets to volumes (s,16)."""
    work = open_sets(addresses)
    for s in range(volumes.shape[0]):
        volume, count = view_volume(volumes[s]), gather(work, begins[s], ends[s])
        write_point_from(volume.centre, 0, smallest_sphere(work.points, count, work.support))
        write_axes(volume, COORDINATE_AXES)
        settle(SPHERE, work, count, volume)


@kernel
def enclose_by_aabbs(addresses: Addresses, begins: Longs, ends: Longs, volumes: Floats) -> None:
    """Write the axis-aligned boxes of sets to volumes (s,16)."""
    work = open_sets(addresses)
    for s in range(volumes.shape[0]):
        volume, count = view_volume(volumes[s]), gather(work, begins[s], ends[s])
        write_axes(volume, COORDINATE_AXES)
        fit_in_axes(work.points, count, volume)
        settle(AABB, work, count, volume)


@kernel
def enclose_by_obbs(addresses: Addresses, begins: Longs, ends: Longs, quality: int, volumes: Floats) -> None:
    """Write small oriented boxes of sets to volumes (s,16)."""
    work = open_sets(addresses)
    for s in range(volumes.shape[0]):
        volume, count = view_volume(volumes[s]), gather(work, begins[s], ends[s])
        fit_obb(work, count, _moments_of_faces(work, begins[s], ends[s]), quality, volume)
        settle(OBB, work, count, volume)


@kernel
def _moments_of_faces(work: SetWork, begin: int, end: int) -> Moments:
    """Return the second moments of the faces of a set about their common centre.

    As surfaces: Gottschalk's covariance.
    """
    origin = first_corner(work, begin)
    total, weighted = 0.0, Vec3(0.0, 0.0, 0.0)
    xx, xy, xz, yy, yz, zz = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    for entry in range(begin, end):
        p, q, r = corners_of(work, as_int64(work.order[entry]))
        a, b, c = minus(p, origin), minus(q, origin), minus(r, origin)
        area = length(cross(minus(b, a), minus(c, a)))
        m = plus(plus(a, b), c)
        total += area
        weighted = plus(weighted, times(area, m))
        # The integral of xy over a triangle is area / 12 · (sum of the corners' x · sum of their y + sum of their xy).
        xx += area * (m.x * m.x + ((a.x * a.x + b.x * b.x) + c.x * c.x))
        xy += area * (m.x * m.y + ((a.x * a.y + b.x * b.y) + c.x * c.y))
        xz += area * (m.x * m.z + ((a.x * a.z + b.x * b.z) + c.x * c.z))
        yy += area * (m.y * m.y + ((a.y * a.y + b.y * b.y) + c.y * c.y))
        yz += area * (m.y * m.z + ((a.y * a.z + b.y * b.z) + c.y * c.z))
        zz += area * (m.z * m.z + ((a.z * a.z + b.z * b.z) + c.z * c.z))
    if not total > 0.0:
        return Moments(0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    x, y, z = divided(weighted, 3.0 * total)
    below = 12.0 * total
    xx, xy, xz = xx / below - x * x, xy / below - x * y, xz / below - x * z
    return Moments(xx, xy, xz, yy / below - y * y, yz / below - y * z, zz / below - z * z)


@kernel
def settle(kind: int, work: SetWork, count: int, volume: Volume) -> None:
    """Move a volume from its first vertex to body coordinates, holding all vertices."""
    centre = plus(centre_of(volume), point_of(work.vertices, as_int64(work.listed[0])))
    write_point_from(volume.centre, 0, centre)
    axes = axes_of(volume)
    far, half = 0.0, Vec3(0.0, 0.0, 0.0)
    for entry in range(count):
        offset = minus(point_of(work.vertices, as_int64(work.listed[entry])), centre)
        far = max(far, dot(offset, offset))
        reach = absolute(along(axes, offset) if kind == OBB else offset)
        half = Vec3(max(half.x, reach.x), max(half.y, reach.y), max(half.z, reach.z))
    radius = math.sqrt(far)
    margin = MARGIN * radius
    radius += margin
    volume.radius = radius
    if kind == SPHERE:
        half, margin = Vec3(radius, radius, radius), 0.0
    write_point_from(volume.half, 0, Vec3(half.x + margin, half.y + margin, half.z + margin))


@kernel
def sizes(kind: int, quality: int, volumes: Floats, measures: Floats) -> None:
    """Write the sizes of volumes (s,16) to measures (s,)."""
    for s in range(volumes.shape[0]):
        measures[s] = size_of(kind, view_volume(volumes[s]), quality)


@kernel
def hausdorff_distances(kind: int, addresses: Addresses, begins: Longs, ends: Longs, volumes: Floats, measures: Floats) -> None:
    """Write the directed Hausdorff distances of volumes (s,16) to their faces."""
    work = open_sets(addresses)
    for s in range(volumes.shape[0]):
        measures[s] = hausdorff(kind, view_volume(volumes[s]), work, begins[s], ends[s])
