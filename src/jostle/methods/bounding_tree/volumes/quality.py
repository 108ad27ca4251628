"""How tightly objects enclose faces (§3): volume, surface or Hausdorff distance.

Lower is better. Deviation: every box is thickened on each axis by 2⁻²⁰ of the sum of its extents before it is measured. Otherwise
the volume of a flat set, and the surface of a set on a line, would be 0: all its splittings would be equally good.

The directed Hausdorff distance of a bounding object to its faces is the largest distance of a point of the object to the nearest
face. It is taken over 27 points: of a box the corners, the middles of edges and sides and the centre; of a sphere its centre and
the 26 points of the sphere in the same directions. So it is a lower bound; since a distance changes no faster than its point
moves, it is short by at most the distance from a point of the object to the nearest of the 27: for a box half the diagonal of
one of its eight parts. A face is examined in full only if, by the distance to its centre, it may be the nearest.
"""

from __future__ import annotations

import math

from jostle.geometry.point_triangle import closest_point_on_triangle
from jostle.geometry.triangle import Triangle
from jostle.geometry.vector import Vec3, dot, length, minus, plus, times
from jostle.kernels.jit import kernel
from jostle.kernels.numbers import as_int64
from jostle.methods.bounding_tree.axes import axes_of, combined
from jostle.methods.bounding_tree.face_sets import SetWork, point_of
from jostle.methods.bounding_tree.tree import SPHERE, Volume, centre_of, half_extents_of

VOLUME, SURFACE, HAUSDORFF = 0, 1, 2
QUALITIES = {"volume": VOLUME, "surface": SURFACE, "hausdorff": HAUSDORFF}
THICKENED = 2.0**-20
SAMPLES = 27


@kernel
def box_measure(extents: Vec3, quality: int) -> float:
    """Return the volume of a box, or its surface."""
    thick = THICKENED * ((extents.x + extents.y) + extents.z)
    x, y, z = extents.x + thick, extents.y + thick, extents.z + thick
    if quality == SURFACE:
        return 2.0 * ((x * y + y * z) + z * x)
    return x * y * z


@kernel
def box_size(extents: Vec3, quality: int) -> float:
    """Return the measure of a box; its diagonal for Hausdorff, as a cheap upper bound."""
    if quality == HAUSDORFF:
        return length(extents)
    return box_measure(extents, quality)


@kernel
def sphere_size(radius: float, quality: int) -> float:
    """Return the volume or surface of a sphere; its diameter for Hausdorff."""
    if quality == HAUSDORFF:
        return 2.0 * radius
    if quality == SURFACE:
        return 4.0 * math.pi * radius * radius
    return 4.0 / 3.0 * math.pi * radius * radius * radius


@kernel
def size_of(kind: int, volume: Volume, quality: int) -> float:
    """Return the size of an object."""
    if kind == SPHERE:
        return sphere_size(volume.radius, quality)
    return box_size(times(2.0, half_extents_of(volume)), quality)


@kernel
def hausdorff(kind: int, volume: Volume, work: SetWork, begin: int, end: int) -> float:
    """Return the distance from an object to faces begin … end - 1, as the module says."""
    largest = 0.0
    for sample in range(SAMPLES):
        p = sample_point(kind, volume, sample)
        largest = max(largest, _squared_distance(p, work, begin, end, largest))
    return math.sqrt(largest)


@kernel(forceinline=True)
def sample_point(kind: int, volume: Volume, sample: int) -> Vec3:
    """Return one of the 27 points of an object."""
    i, j, k = sample // 9 - 1.0, sample // 3 % 3 - 1.0, sample % 3 - 1.0
    along = math.sqrt(i * i + j * j + k * k)
    stretch = 1.0 / along if kind == SPHERE and along > 0.0 else 1.0
    half = half_extents_of(volume)
    return plus(
        centre_of(volume), combined(Vec3(stretch * i * half.x, stretch * j * half.y, stretch * k * half.z), axes_of(volume))
    )


@kernel
def _squared_distance(p: Vec3, work: SetWork, begin: int, end: int, enough: float) -> float:
    """Return the squared distance of p to the nearest of some faces.

    It stops as soon as that is at most `enough`.
    """
    nearest = math.inf
    for entry in range(begin, end):
        f = as_int64(work.order[entry])
        offset = minus(p, point_of(work.centres, f))
        to_centre = dot(offset, offset)
        if to_centre >= 4.0 * nearest:
            # The nearest corner of the face is at least as far from p as the centre less the face's radius.
            rest = math.sqrt(to_centre) - math.sqrt(_squared_radius(work, f))
            if rest > 0.0 and rest * rest >= nearest:
                continue
        nearest = min(nearest, closest_point_on_triangle(p, corners_of(work, f)).squared)
        if nearest <= enough:
            break
    return nearest


@kernel(forceinline=True)
def corners_of(work: SetWork, f: int) -> Triangle:
    """Return the corners of a face."""
    vertex = work.faces[f].vertex
    i, j, k = as_int64(vertex[0]), as_int64(vertex[1]), as_int64(vertex[2])
    return Triangle(point_of(work.vertices, i), point_of(work.vertices, j), point_of(work.vertices, k))


@kernel
def _squared_radius(work: SetWork, f: int) -> float:
    """Return the squared distance of the centre of a face to its farthest corner."""
    largest = 0.0
    for corner in corners_of(work, f):
        offset = minus(corner, point_of(work.centres, f))
        largest = max(largest, dot(offset, offset))
    return largest
