"""Segments and normals of contact rows in columns: the bytes of `geometry/contact.py`.

Importing this module makes `describe_rows` run so until Numba is loaded, and wherever nothing is compiled
(`kernels/interpreting.py`). 3 µs for each row, 15 if its faces are coplanar; interpreted it takes 100 and 600.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from jostle._types import Bools, Floats
from jostle.geometry.contact import NO_DIRECTION_LEFT, describe_rows
from jostle.geometry.contact_kind import A_IN_B, B_IN_A, NEAR
from jostle.kernels.interpreting import in_columns
from jostle.methods.plain.closest_points import closest_points_of_triangles
from jostle.methods.plain.distances import cross, dot
from jostle.methods.plain.intersections import intersection_segments, larger

AT_ONCE = 4096  # rows


@in_columns(describe_rows)
def describe_columns(triangles_a: Floats, triangles_b: Floats, kind: NDArray[np.uint8], segment: Floats, normal: Floats) -> None:
    """Write segments (n,2,3) and normals (n,3) of rows of faces (n,3,3)."""
    a_inside, b_inside, near = kind == A_IN_B, kind == B_IN_A, kind == NEAR
    touching = ~(a_inside | b_inside | near)
    with np.errstate(divide="ignore", invalid="ignore"):
        for chosen, describe in ((a_inside, _a_inside), (b_inside, _b_inside), (near, _near), (touching, _touching)):
            rows = np.flatnonzero(chosen)
            for begin in range(0, len(rows), AT_ONCE):
                some = rows[begin : begin + AT_ONCE]
                a, b = (np.ascontiguousarray(triangles[some].transpose(1, 2, 0)) for triangles in (triangles_a, triangles_b))
                p, q, direction = describe(a, b)
                segment[some, 0], segment[some, 1], normal[some] = p.T, q.T, direction.T


def _a_inside(a: Floats, _: Floats) -> tuple[Floats, Floats, Floats]:
    return a[0], a[0], _unit_or_z(unit_normals(a))


def _b_inside(_: Floats, b: Floats) -> tuple[Floats, Floats, Floats]:
    return b[0], b[0], _unit_or_z(-unit_normals(b))


def _near(a: Floats, b: Floats) -> tuple[Floats, Floats, Floats]:
    on_a, on_b = closest_points_of_triangles(a.transpose(1, 0, 2), b.transpose(1, 0, 2))
    direction = scaled_to_unit(on_b - on_a)
    return on_a, on_b, np.where(_is_zero(direction), contact_normals(a, b), direction)


def _touching(a: Floats, b: Floats) -> tuple[Floats, Floats, Floats]:
    return *intersection_segments(a, b), contact_normals(a, b)


def contact_normals(a: Floats, b: Floats) -> Floats:
    """Return the unit normals (3, n) from a into b of faces (corner, coordinate, n) that share a point."""
    normal_a, normal_b = unit_normals(a), unit_normals(b)
    difference = normal_a - normal_b
    between = (b[0] - a[0]) + (b[1] - a[1]) + (b[2] - a[2])
    otherwise = np.where(_is_zero(normal_a), _unit_or_z(between), normal_a)
    return np.where(np.sqrt(dot(difference, difference)) > NO_DIRECTION_LEFT, scaled_to_unit(difference), otherwise)


def unit_normals(t: Floats) -> Floats:
    """Return the unit normals (3, n) of triangles, zeros without area."""
    return scaled_to_unit(cross(scaled_to_unit(t[1] - t[0]), scaled_to_unit(t[2] - t[0])))


def scaled_to_unit(a: Floats) -> Floats:
    """Return the vectors (3, n) with length 1, or zeros for zero vectors."""
    largest = larger(*np.abs(a))
    a = a / largest
    return np.where(largest == 0.0, 0.0, a / np.sqrt(dot(a, a)))


def _unit_or_z(a: Floats) -> Floats:
    z = np.array([[0.0], [0.0], [1.0]])
    return np.where(_is_zero(a), z, scaled_to_unit(a))


def _is_zero(a: Floats) -> Bools:
    zero: Bools = (a == 0.0).all(axis=0)
    return zero
