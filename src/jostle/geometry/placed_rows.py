"""Faces of rows at times of their own, and the contacts and distances of faces at the start of a motion.

`start_contacts` is the exact static test on the vertices at t = 0, with the features that touch there (the codes are those of
`feature_queries.py`): faces that cross at the start need neither a corner on a face nor two edges on each other.
"""

from jostle.geometry.contact_kind import CROSSING
from jostle.geometry.faces_distance import faces_distance
from jostle.geometry.feature_queries import FACES, FIRST_OF_B, FIRST_OF_EDGES, box_of_face, stay_apart
from jostle.geometry.moving_point import arc_factors, place_with_factors
from jostle.geometry.triangle import bounds_meet, face_at, triangle_bounds, triangle_of_points
from jostle.geometry.triangle_triangle import triangles_touch
from jostle.kernels.jit import kernel


@kernel
def place_rows(start, end, turn, time, out):
    """Write the places of the corners of rows (n,3,3), with turns (n,4) and times (n,), into out (n,3,3)."""
    for row in range(time.shape[0]):
        kx, ky, kz, t = turn[row, 0], turn[row, 1], turn[row, 2], time[row]
        along, aside = arc_factors(turn[row, 3], t)
        for k in range(3):
            x, y, z = place_with_factors(
                start[row, k, 0], start[row, k, 1], start[row, k, 2], end[row, k, 0], end[row, k, 1], end[row, k, 2],
                kx, ky, kz, t, along, aside,
            )  # fmt: skip
            out[row, k, 0], out[row, k, 1], out[row, k, 2] = x, y, z


@kernel
def features_of_code(faces_a, i, faces_b, j, code):
    """The three vertices of a and of b that make up the features of a code; vertices and edges repeat the last one."""
    p, q, r = faces_a[i, 0], faces_a[i, 1], faces_a[i, 2]
    s, t, u = faces_b[j, 0], faces_b[j, 1], faces_b[j, 2]
    if 0 <= code < FIRST_OF_B:
        p = faces_a[i, code]
        q = r = p
    elif FIRST_OF_B <= code < FIRST_OF_EDGES:
        s = faces_b[j, code - FIRST_OF_B]
        t = u = s
    elif FIRST_OF_EDGES <= code < FACES:
        k, m = (code - FIRST_OF_EDGES) // 3, (code - FIRST_OF_EDGES) % 3
        p, q = faces_a[i, k], faces_a[i, (k + 1) % 3]
        s, t = faces_b[j, m], faces_b[j, (m + 1) % 3]
        r, u = q, t
    return p, q, r, s, t, u


@kernel
def start_contacts(vertices_a, faces_a, vertices_b, faces_b, face_a, face_b, kind, code):
    """Write 0, TOUCHING or CROSSING of rows face_a, face_b (n,) into kind (n,) uint8, and what touches into code (n,) int8.

    vertices (v,3) in the world at the start; the code is -1 of faces that are apart, FACES of those that cross, and else the lowest
    one of features that touch. Returns how many rows touch.
    """
    touching = 0
    for row in range(face_a.shape[0]):
        i, j = face_a[row], face_b[row]
        kind[row], code[row] = 0, -1
        if not bounds_meet(triangle_bounds(face_at(vertices_a, faces_a, i)), triangle_bounds(face_at(vertices_b, faces_b, j))):
            continue
        # First the faces, then their features as triangles without area: the test is exact for these too. One place where it is
        # called, because each takes seconds to compile.
        for trial in range(-1, FACES):
            p, q, r, s, t, u = features_of_code(faces_a, i, faces_b, j, trial)
            found = triangles_touch(triangle_of_points(vertices_a, p, q, r), triangle_of_points(vertices_b, s, t, u))
            if trial < 0:
                kind[row] = found
                if found == 0:
                    break
                touching += 1
                code[row] = FACES
                if found == CROSSING:
                    break
            elif found != 0:
                code[row] = trial
                break
    return touching


@kernel
def least_start_distance(vertices_a, faces_a, vertices_b, faces_b, face_a, face_b, least):
    """The least distance of rows face_a, face_b (n,) at the start, vertices (v,3); `least` if none is nearer."""
    for row in range(face_a.shape[0]):
        i, j = face_a[row], face_b[row]
        box_a, box_b = box_of_face(vertices_a, faces_a, i), box_of_face(vertices_b, faces_b, j)
        if least <= 0.0 or stay_apart(box_a, box_a, box_b, box_b, least):
            continue
        least = min(least, faces_distance(face_at(vertices_a, faces_a, i), face_at(vertices_b, faces_b, j)))
    return least
