"""The rows that an exact method must report, by rational arithmetic alone: imports no kernel and no geometry of jostle.

World vertices are evaluated here once more, in Python floats, in the order that docs/conventions.md states.
"""

from fractions import Fraction

import numpy as np

from tests.oracle import rational

NEAR, TOUCHING, CROSSING = 1, 2, 5


def world_vertices(pose, vertices):
    """World vertices as lists of Python floats."""
    pose = np.asarray(pose).tolist()
    points = []
    for x, y, z in np.asarray(vertices).tolist():
        point = [((row[0] * x + row[1] * y) + row[2] * z) + row[3] for row in pose[:3]]
        points.append([0.0 if abs(w) < 1e-30 else w for w in point])
    return points


def triangles(body):
    """World triangles of a body."""
    points = world_vertices(body.pose, body.vertices)
    return [[points[k] for k in face] for face in body.mesh.faces.tolist()]


def boxes(faces):
    corners = np.array(faces)
    return corners.min(axis=1), corners.max(axis=1)


def candidates(faces_a, faces_b, gap=0.0):
    """Pairs of faces whose boxes are not farther apart than a gap on any axis."""
    (lower_a, upper_a), (lower_b, upper_b) = boxes(faces_a), boxes(faces_b)
    slack = gap * (1 + 1e-9)
    meet = (lower_a[:, None] <= upper_b[None] + slack) & (lower_b[None] <= upper_a[:, None] + slack)
    return np.argwhere(meet.all(axis=2)).tolist()


def rows_between(a, b, clearance=0.0):
    """[(face_a, face_b, kind)] of two bodies, sorted."""
    faces_a, faces_b = triangles(a), triangles(b)
    limit = Fraction(clearance) ** 2
    rows = []
    for i, j in candidates(faces_a, faces_b, clearance):
        kind = rational.kind(faces_a[i], faces_b[j])
        if kind == 0 and clearance > 0 and rational.squared_distance(faces_a[i], faces_b[j]) < limit:
            kind = NEAR
        if kind:
            rows.append((i, j, kind))
    return rows


def rows_within(body, adjacent=False):
    """[(face_a, face_b, kind)] of a body against itself, sorted; faces that share a welded vertex only with `adjacent`."""
    faces = triangles(body)
    names = [[tuple(point) for point in np.asarray(body.mesh.vertices)[face].tolist()] for face in body.mesh.faces.tolist()]
    rows = []
    for i, j in candidates(faces, faces):
        if i >= j:
            continue
        shared = [name for name in dict.fromkeys(names[i]) if name in names[j]]
        if not shared:
            kind = rational.kind(faces[i], faces[j])
        elif adjacent:
            first = _shared_first(faces[i], names[i], shared)
            second = _shared_first(faces[j], names[j], shared)
            beyond = rational.touch_beyond_shared(first, second, len(shared))
            kind = rational.kind(first, second) if beyond else 0
        else:
            continue
        if kind:
            rows.append((i, j, kind))
    return rows


def _shared_first(face, names, shared):
    places = [names.index(name) for name in shared]
    return [face[k] for k in places + [k for k in range(3) if k not in places]]
