"""Compute bounding objects for sets of faces: the first of the two parts of the top-down computation (§3).

A set is a range of the list of faces. Its vertices are gathered, each once and relative to the first of them, so that a mesh
may be anywhere, and a set of any size in it. The object found is then made conservative for the vertices as they are
(`settle`): half extents and radius are taken afresh about the rounded centre, and `MARGIN` is added.
"""

import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from jostle.kernels.jit import kernel
from jostle.methods.bounding_tree.tree import AABB, AXES, CENTRE, HALF, MARGIN, OBB, RADIUS, SPHERE
from jostle.methods.bounding_tree.volumes.aabb import fit_in_axes, write_identity_axes
from jostle.methods.bounding_tree.volumes.obb import FEW, FRAMES, NUMBERS, fit_obb
from jostle.methods.bounding_tree.volumes.quality import HAUSDORFF, hausdorff, size_of
from jostle.methods.bounding_tree.volumes.sphere import SUPPORT, smallest_sphere

Floats = NDArray[np.float64]
FACES_AT_ONCE = 1 << 13  # in one call of a kernel, or one set: 0.09 s between two calls at most, for 60,000 faces on a busy machine


class Soup(NamedTuple):
    """The faces of a mesh."""

    vertices: Floats  # (v,3) body coordinates
    faces: NDArray[np.int32]  # (m,3)
    centres: Floats  # (m,3) of faces


class Gathered(NamedTuple):
    """The vertices of the set at work."""

    stamp: NDArray[np.int64]  # (v+1,) the last set that each vertex was listed for, and the number of sets so far
    listed: NDArray[np.int32]  # (v,)
    points: Floats  # (v,3) relative to the first of them


def nothing_gathered(vertex_count: int) -> Gathered:
    """Return scratch for a mesh with this many vertices."""
    return Gathered(np.zeros(vertex_count + 1, np.int64), np.empty(vertex_count, np.int32), np.empty((vertex_count, 3)))


def in_slices(counts: NDArray[np.int64]) -> Iterator[tuple[int, int]]:
    """Yield ranges of sets with `FACES_AT_ONCE` faces or one set each; between them Ctrl-C is heard."""
    ends = np.cumsum(counts)
    first, done = 0, 0
    while first < len(counts):
        last = max(first + 1, int(np.searchsorted(ends, done + FACES_AT_ONCE, side="right")))
        yield first, last
        first, done = last, int(ends[last - 1])


def enclose(kind, quality, soup, order, begins, ends, gathered, volumes):
    """Write the bounding objects of sets order[begins:ends] of faces to volumes (s,16); begins and ends (s,) int64."""
    sets = soup.vertices, soup.faces, order, begins, ends
    if kind == SPHERE:
        enclose_by_spheres(*sets, *gathered, np.empty(SUPPORT, np.int64), volumes)
    elif kind == AABB:
        enclose_by_aabbs(*sets, *gathered, volumes)
    else:
        scratch = np.empty((FEW, 6)), np.empty(NUMBERS, np.int64), np.empty((FRAMES, 9))
        enclose_by_obbs(*sets, *gathered, quality, *scratch, volumes)


def measure(kind, quality, soup, order, begins, ends, volumes, measures):
    """Write the measures of the bounding objects (s,16) of sets order[begins:ends] to measures (s,)."""
    if quality == HAUSDORFF:
        hausdorff_distances(kind, *soup, order, begins, ends, volumes, measures)
    else:
        sizes(kind, quality, volumes, measures)


@kernel
def gather(vertices, faces, order, begin, end, stamp, listed, points):
    """List the vertices of faces order[begin:end], each once, and their points relative to the first; returns how many."""
    stamp[-1] += 1
    now = stamp[-1]
    o = faces[order[begin], 0]
    ox, oy, oz = vertices[o, 0], vertices[o, 1], vertices[o, 2]
    count = 0
    for entry in range(begin, end):
        f = order[entry]
        for corner in range(3):
            v = faces[f, corner]
            if stamp[v] != now:
                stamp[v] = now
                listed[count] = v
                points[count, 0], points[count, 1], points[count, 2] = vertices[v, 0] - ox, vertices[v, 1] - oy, vertices[v, 2] - oz
                count += 1
    return count


@kernel
def enclose_by_spheres(vertices, faces, order, begins, ends, stamp, listed, points, support, volumes):
    """Write the smallest spheres of sets order[begins:ends] to volumes (s,16); the arrays between are scratch."""
    for s in range(volumes.shape[0]):
        count = gather(vertices, faces, order, begins[s], ends[s], stamp, listed, points)
        x, y, z = smallest_sphere(points, count, support)
        volumes[s, CENTRE], volumes[s, CENTRE + 1], volumes[s, CENTRE + 2] = x, y, z
        write_identity_axes(volumes[s])
        settle(SPHERE, vertices, listed, count, volumes[s])


@kernel
def enclose_by_aabbs(vertices, faces, order, begins, ends, stamp, listed, points, volumes):
    """Write the axis-aligned boxes of sets order[begins:ends] to volumes (s,16); the arrays between are scratch."""
    for s in range(volumes.shape[0]):
        count = gather(vertices, faces, order, begins[s], ends[s], stamp, listed, points)
        write_identity_axes(volumes[s])
        fit_in_axes(points, count, volumes[s])
        settle(AABB, vertices, listed, count, volumes[s])


@kernel
def enclose_by_obbs(vertices, faces, order, begins, ends, stamp, listed, points, quality, few, numbers, frames, volumes):
    """Write small oriented boxes of sets order[begins:ends] to volumes (s,16); the other arrays are scratch."""
    for s in range(volumes.shape[0]):
        count = gather(vertices, faces, order, begins[s], ends[s], stamp, listed, points)
        xx, xy, xz, yy, yz, zz = _moments_of_faces(vertices, faces, order, begins[s], ends[s])
        fit_obb(points, count, xx, xy, xz, yy, yz, zz, quality, few, numbers, frames, volumes[s])
        settle(OBB, vertices, listed, count, volumes[s])


@kernel
def _moments_of_faces(vertices, faces, order, begin, end):
    """Return the second moments of faces order[begin:end] about their common centre, as surfaces (Gottschalk's covariance)."""
    o = faces[order[begin], 0]
    ox, oy, oz = vertices[o, 0], vertices[o, 1], vertices[o, 2]
    total, sx, sy, sz = 0.0, 0.0, 0.0, 0.0
    xx, xy, xz, yy, yz, zz = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    for entry in range(begin, end):
        f = order[entry]
        a, b, c = faces[f, 0], faces[f, 1], faces[f, 2]
        ax, ay, az = vertices[a, 0] - ox, vertices[a, 1] - oy, vertices[a, 2] - oz
        bx, by, bz = vertices[b, 0] - ox, vertices[b, 1] - oy, vertices[b, 2] - oz
        cx, cy, cz = vertices[c, 0] - ox, vertices[c, 1] - oy, vertices[c, 2] - oz
        ux, uy, uz = bx - ax, by - ay, bz - az
        vx, vy, vz = cx - ax, cy - ay, cz - az
        nx, ny, nz = uy * vz - uz * vy, uz * vx - ux * vz, ux * vy - uy * vx
        area = math.sqrt((nx * nx + ny * ny) + nz * nz)
        mx, my, mz = (ax + bx) + cx, (ay + by) + cy, (az + bz) + cz
        total += area
        sx, sy, sz = sx + area * mx, sy + area * my, sz + area * mz
        # The integral of xy over a triangle is area / 12 · (sum of the corners' x · sum of their y + sum of their xy).
        xx += area * (mx * mx + ((ax * ax + bx * bx) + cx * cx))
        xy += area * (mx * my + ((ax * ay + bx * by) + cx * cy))
        xz += area * (mx * mz + ((ax * az + bx * bz) + cx * cz))
        yy += area * (my * my + ((ay * ay + by * by) + cy * cy))
        yz += area * (my * mz + ((ay * az + by * bz) + cy * cz))
        zz += area * (mz * mz + ((az * az + bz * bz) + cz * cz))
    if not total > 0.0:
        return 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    sx, sy, sz = sx / (3.0 * total), sy / (3.0 * total), sz / (3.0 * total)
    below = 12.0 * total
    xx, xy, xz = xx / below - sx * sx, xy / below - sx * sy, xz / below - sx * sz
    return xx, xy, xz, yy / below - sy * sy, yz / below - sy * sz, zz / below - sz * sz


@kernel
def settle(kind, vertices, listed, count, volume):
    """Make volume (16,), with a centre relative to the first of the listed vertices, one in body coordinates that holds all."""
    o = listed[0]
    for k in range(3):
        volume[CENTRE + k] += vertices[o, k]
    cx, cy, cz = volume[CENTRE], volume[CENTRE + 1], volume[CENTRE + 2]
    ax, ay, az = volume[AXES], volume[AXES + 1], volume[AXES + 2]
    bx, by, bz = volume[AXES + 3], volume[AXES + 4], volume[AXES + 5]
    gx, gy, gz = volume[AXES + 6], volume[AXES + 7], volume[AXES + 8]
    far, first, second, third = 0.0, 0.0, 0.0, 0.0
    for entry in range(count):
        v = listed[entry]
        x, y, z = vertices[v, 0] - cx, vertices[v, 1] - cy, vertices[v, 2] - cz
        far = max(far, (x * x + y * y) + z * z)
        if kind == OBB:
            x, y, z = (ax * x + ay * y) + az * z, (bx * x + by * y) + bz * z, (gx * x + gy * y) + gz * z
        first, second, third = max(first, abs(x)), max(second, abs(y)), max(third, abs(z))
    radius = math.sqrt(far)
    margin = MARGIN * radius
    radius += margin
    volume[RADIUS] = radius
    if kind == SPHERE:
        first, second, third, margin = radius, radius, radius, 0.0
    volume[HALF], volume[HALF + 1], volume[HALF + 2] = first + margin, second + margin, third + margin


@kernel
def sizes(kind, quality, volumes, measures):
    """Write the sizes of volumes (s,16) to measures (s,)."""
    for s in range(volumes.shape[0]):
        measures[s] = size_of(kind, volumes[s], quality)


@kernel
def hausdorff_distances(kind, vertices, faces, centres, order, begins, ends, volumes, measures):
    """Write the directed Hausdorff distances of volumes (s,16) to their faces to measures (s,)."""
    for s in range(volumes.shape[0]):
        measures[s] = hausdorff(kind, volumes[s], vertices, faces, centres, order, begins[s], ends[s])
