"""Contacts and distances of faces at the start; faces of rows at their times.

`start_contacts` is the exact static test on the vertices at t = 0, with the features that touch there (codes of
`feature_queries.py`): faces that cross at the start need have neither a corner on a face nor two touching edges.
"""

from __future__ import annotations

from jostle._types import Bytes, Floats
from jostle.continuous.feature_queries import FACES, Codes, FaceRows, features_of_code
from jostle.continuous.moving_faces import Corners, MovingBounds, MovingFaces, corners_at, stay_apart
from jostle.continuous.moving_point import arc_factors, place_with_factors, turn_at
from jostle.geometry.contact_kind import CROSSING
from jostle.geometry.exact_zero_distance import exact_zero_distance
from jostle.geometry.triangle import bounds_meet, face_at, triangle_bounds, triangle_of_points
from jostle.geometry.triangle_triangle import triangles_touch
from jostle.geometry.vector import point_at, write_point
from jostle.kernels.jit import kernel
from jostle.kernels.numbers import as_int64

FACES_THEMSELVES = -1


@kernel
def place_rows(start: Floats, end: Floats, turn: Floats, time: Floats, out: Floats) -> None:
    """Write the corners (n,3,3) of rows at times (n,), with turns (n,4)."""
    for row in range(time.shape[0]):
        axis, angle = turn_at(turn, row)
        t = time[row]
        arc = arc_factors(angle, t)
        corners_t0, corners_t1, places = start[row], end[row], out[row]
        for k in range(3):
            write_point(places, k, place_with_factors(point_at(corners_t0, k), point_at(corners_t1, k), axis, t, arc))


@kernel
def start_contact(vertices_a: Floats, a: Corners, vertices_b: Floats, b: Corners) -> tuple[int, int]:
    """Return kind and code of the contact of two faces, as in `start_contacts`."""
    kind, code = 0, -1
    # First the faces, then their features as triangles without area: the test is exact for these too. It is called in one place
    # only, because each call takes seconds to compile.
    for trial in range(FACES_THEMSELVES, FACES):
        on_a, on_b = features_of_code(a, b, trial)
        found = triangles_touch(
            triangle_of_points(vertices_a, on_a.p, on_a.q, on_a.r), triangle_of_points(vertices_b, on_b.p, on_b.q, on_b.r)
        )
        if trial == FACES_THEMSELVES:
            if found == 0:
                break
            kind, code = found, FACES
            if found == CROSSING:
                break
        elif found != 0:
            code = trial
            break
    return kind, code


@kernel
def start_contacts(a: MovingFaces, b: MovingFaces, face_a: FaceRows, face_b: FaceRows, kind: Bytes, code: Codes) -> int:
    """Write kinds (n,) and codes (n,) of rows (n,) of faces at the start.

    The kind is 0, TOUCHING or CROSSING; the code is -1 if the faces are apart, FACES if they cross, else the lowest of features
    that touch. Returns how many rows touch.
    """
    touching = 0
    for row in range(face_a.shape[0]):
        i, j = as_int64(face_a[row]), as_int64(face_b[row])
        kind[row], code[row] = 0, -1
        if not bounds_meet(triangle_bounds(face_at(a.start, a.faces, i)), triangle_bounds(face_at(b.start, b.faces, j))):
            continue
        kind[row], code[row] = start_contact(a.start, corners_at(a.faces, i), b.start, corners_at(b.faces, j))
        if kind[row] != 0:
            touching += 1
    return touching


@kernel
def least_start_distance(a: MovingFaces, b: MovingFaces, face_a: FaceRows, face_b: FaceRows, least: float) -> float:
    """Return the least distance of rows (n,) at the start, at most `least`."""
    for row in range(face_a.shape[0]):
        one, other = face_at(a.start, a.faces, as_int64(face_a[row])), face_at(b.start, b.faces, as_int64(face_b[row]))
        box_a, box_b = triangle_bounds(one), triangle_bounds(other)
        if least <= 0.0 or stay_apart(MovingBounds(box_a, box_a), MovingBounds(box_b, box_b), least):
            continue
        least = min(least, exact_zero_distance(one, other))
    return least
