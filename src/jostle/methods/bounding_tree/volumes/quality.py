"""How tightly a bounding object encloses its faces (§3): by volume, by surface, or by directed Hausdorff distance. Lower is better.

Deviation: every box is thickened on each axis by 2⁻²⁰ of the sum of its extents before it is measured. The volume of a flat set,
and the surface of a set on a line, would be 0: all splittings of it would be equally good.

The directed Hausdorff distance of a bounding object to its faces is the largest distance of a point of the object to the nearest
face. It is taken over 27 points: of a box the corners, the middles of edges and sides and the centre; of a sphere its centre and
the 26 points of the sphere in the same directions. So it is a lower bound; since a distance changes no faster than its point
moves, it is short by at most the distance from a point of the object to the nearest of the 27: for a box half the diagonal of
one of its eight parts. Faces are looked at in full only where the distance to their centre allows them to be the nearest.
"""

import math

from jostle.geometry.point_triangle import closest_point_on_triangle
from jostle.geometry.triangle import face_at
from jostle.geometry.vector import Vec3
from jostle.kernels.jit import kernel
from jostle.methods.bounding_tree.tree import AXES, CENTRE, HALF, RADIUS, SPHERE

VOLUME, SURFACE, HAUSDORFF = 0, 1, 2
QUALITIES = {"volume": VOLUME, "surface": SURFACE, "hausdorff": HAUSDORFF}
THICKENED = 2.0**-20


@kernel
def box_measure(x, y, z, quality):
    """Volume of a box with extents x, y, z, or its surface."""
    thick = THICKENED * ((x + y) + z)
    x, y, z = x + thick, y + thick, z + thick
    if quality == SURFACE:
        return 2.0 * ((x * y + y * z) + z * x)
    return x * y * z


@kernel
def box_size(x, y, z, quality):
    """The same, or the diagonal where the measure is Hausdorff's: the bound of it that costs no look at the faces."""
    if quality == HAUSDORFF:
        return math.sqrt((x * x + y * y) + z * z)
    return box_measure(x, y, z, quality)


@kernel
def sphere_size(radius, quality):
    """Volume of a sphere, its surface, or its diameter where the measure is Hausdorff's."""
    if quality == HAUSDORFF:
        return 2.0 * radius
    if quality == SURFACE:
        return 4.0 * math.pi * radius * radius
    return 4.0 / 3.0 * math.pi * radius * radius * radius


@kernel
def size_of(kind, volume, quality):
    """Size of the object in volume (16,)."""
    if kind == SPHERE:
        return sphere_size(volume[RADIUS], quality)
    return box_size(2.0 * volume[HALF], 2.0 * volume[HALF + 1], 2.0 * volume[HALF + 2], quality)


@kernel
def hausdorff(kind, volume, vertices, faces, centres, order, begin, end):
    """Distance from the object in volume (16,) to faces order[begin:end], as the module says; centres (m,3) are those of faces."""
    largest = 0.0
    for sample in range(27):
        i, j, k = sample // 9 - 1.0, sample // 3 % 3 - 1.0, sample % 3 - 1.0
        along = math.sqrt(i * i + j * j + k * k)
        stretch = 1.0 / along if kind == SPHERE and along > 0.0 else 1.0
        x, y, z = stretch * i * volume[HALF], stretch * j * volume[HALF + 1], stretch * k * volume[HALF + 2]
        px = volume[CENTRE] + ((x * volume[AXES] + y * volume[AXES + 3]) + z * volume[AXES + 6])
        py = volume[CENTRE + 1] + ((x * volume[AXES + 1] + y * volume[AXES + 4]) + z * volume[AXES + 7])
        pz = volume[CENTRE + 2] + ((x * volume[AXES + 2] + y * volume[AXES + 5]) + z * volume[AXES + 8])
        largest = max(largest, _squared_distance(px, py, pz, vertices, faces, centres, order, begin, end, largest))
    return math.sqrt(largest)


@kernel
def _squared_distance(px, py, pz, vertices, faces, centres, order, begin, end, enough):
    """Squared distance of p to the nearest of faces order[begin:end]; any lower one as soon as it is at most `enough`."""
    nearest = math.inf
    for entry in range(begin, end):
        f = order[entry]
        x, y, z = px - centres[f, 0], py - centres[f, 1], pz - centres[f, 2]
        to_centre = (x * x + y * y) + z * z
        if to_centre >= 4.0 * nearest:
            # The nearest corner of the face is at least as far from p as the centre less the face's radius.
            radius = _squared_radius(vertices, faces, centres, f)
            rest = math.sqrt(to_centre) - math.sqrt(radius)
            if rest > 0.0 and rest * rest >= nearest:
                continue
        nearest = min(nearest, closest_point_on_triangle(Vec3(px, py, pz), face_at(vertices, faces, f)).squared)
        if nearest <= enough:
            break
    return nearest


@kernel
def _squared_radius(vertices, faces, centres, f):
    """Squared distance of the centre of a face to its farthest corner."""
    largest = 0.0
    for k in range(3):
        v = faces[f, k]
        x, y, z = vertices[v, 0] - centres[f, 0], vertices[v, 1] - centres[f, 1], vertices[v, 2] - centres[f, 2]
        largest = max(largest, (x * x + y * y) + z * z)
    return largest
