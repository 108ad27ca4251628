"""Segments and normals of contact rows: where faces meet, and which way.

The normal is the direction of n_a - n_b, from the outward normals of the faces: out of a and into b. (The average n_a + n_b of two
faces that meet head-on would vanish.) Where the normals agree, so that nothing is left, it is n_a; where a has no area, -n_b; where
neither has, the direction between the centroids, or else +z. Never zero, never NaN. Near faces have the direction from the closest
point on a to the one on b.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from jostle._types import Floats
from jostle.geometry.contact_kind import A_IN_B, B_IN_A, NEAR
from jostle.geometry.triangle import Segment, Triangle
from jostle.geometry.triangle_intersection import intersection_segment
from jostle.geometry.triangle_triangle_distance import closest_points_of_triangles
from jostle.geometry.vector import Vec3, cross, divided, is_zero, length, minus, negative, plus, point_at, write_point
from jostle.kernels.jit import kernel

NO_DIRECTION_LEFT = 1e-8  # of the difference of two unit vectors: below this it is rounding


@kernel
def describe_rows(triangles_a: Floats, triangles_b: Floats, kind: NDArray[np.uint8], segment: Floats, normal: Floats) -> None:
    """Write segments (n,2,3) and normals (n,3) of rows of faces (n,3,3)."""
    for row in range(kind.shape[0]):
        a, b = _triangle_at(triangles_a, row), _triangle_at(triangles_b, row)
        if kind[row] == A_IN_B:
            ends, direction = Segment(a.p, a.p), unit_or_z(unit_normal(a))
        elif kind[row] == B_IN_A:
            ends, direction = Segment(b.p, b.p), unit_or_z(negative(unit_normal(b)))
        elif kind[row] == NEAR:
            _, on_a, on_b = closest_points_of_triangles(a, b)
            ends, direction = Segment(on_a, on_b), scaled_to_unit(minus(on_b, on_a))
            if is_zero(direction):  # so near that the points round to one
                direction = contact_normal(a, b)
        else:
            ends, direction = intersection_segment(a, b), contact_normal(a, b)
        write_point(segment[row], 0, ends.p)
        write_point(segment[row], 1, ends.q)
        write_point(normal, row, direction)


@kernel
def contact_normal(a: Triangle, b: Triangle) -> Vec3:
    """Return the unit normal from a into b of two faces that share a point."""
    normal_a, normal_b = unit_normal(a), unit_normal(b)
    difference = minus(normal_a, normal_b)
    if length(difference) > NO_DIRECTION_LEFT:
        return scaled_to_unit(difference)
    if not is_zero(normal_a):
        return normal_a
    # Neither has an area (if only b had one, the difference would be -n_b): the direction between the centroids.
    return unit_or_z(plus(plus(minus(b.p, a.p), minus(b.q, a.q)), minus(b.r, a.r)))


@kernel
def unit_normal(t: Triangle) -> Vec3:
    """Return the unit normal of a triangle, counter-clockwise; zeros without area.

    Safe at every accepted scale.
    """
    # Edges of length one: the cross product of edges of 1e-30 is far from underflow, but that of an edge and a sliver may vanish.
    return scaled_to_unit(cross(scaled_to_unit(minus(t.q, t.p)), scaled_to_unit(minus(t.r, t.p))))


@kernel
def scaled_to_unit(a: Vec3) -> Vec3:
    """Return the vector with length 1, or zeros for the zero vector."""
    largest = max(abs(a.x), abs(a.y), abs(a.z))
    if largest == 0.0:
        return Vec3(0.0, 0.0, 0.0)
    a = divided(a, largest)
    return divided(a, length(a))


@kernel
def unit_or_z(a: Vec3) -> Vec3:
    """Return the vector with length 1, or +z for the zero vector."""
    return Vec3(0.0, 0.0, 1.0) if is_zero(a) else scaled_to_unit(a)


@kernel(forceinline=True)
def _triangle_at(triangles: Floats, row: int) -> Triangle:
    return Triangle(point_at(triangles[row], 0), point_at(triangles[row], 1), point_at(triangles[row], 2))
