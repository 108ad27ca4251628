"""First times of contact by dense sampling and bisection on a rational test; imports nothing of jostle.

Slow, and blind to contacts shorter than a sample.

Poses between the ends of a step are evaluated here once more: straight lines, or a screw from the axis and angle of a rotation.
"""

from fractions import Fraction

import numpy as np

from tests.oracle import rational
from tests.oracle.rows import candidates

CLEAR = 1e-9  # of the size of two triangles: a gap that no rounding of the products below closes


def rotation_of(axis, angle):
    """Rodrigues' formula."""
    x, y, z = axis
    k = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    return np.eye(3) + np.sin(angle) * k + (1.0 - np.cos(angle)) * (k @ k)


def screw_at(start, end, t):
    """The pose at time t on the shortest screw between two poses, by the fixed point of the turn across its axis."""
    turned = end[:3, :3] @ start[:3, :3].T
    axial = 0.5 * np.array([turned[2, 1] - turned[1, 2], turned[0, 2] - turned[2, 0], turned[1, 0] - turned[0, 1]])
    angle = np.arctan2(np.linalg.norm(axial), (np.trace(turned) - 1.0) / 2.0)
    shift = end[:3, 3] - turned @ start[:3, 3]
    pose = np.eye(4)
    if angle < 1e-12:
        pose[:3, :3] = start[:3, :3]
        pose[:3, 3] = start[:3, 3] + t * (end[:3, 3] - start[:3, 3])
        return pose
    axis = axial / np.linalg.norm(axial)
    along = axis * (axis @ shift)
    fixed = np.linalg.lstsq(np.eye(3) - turned, shift - along, rcond=None)[0]
    rotation = rotation_of(axis, t * angle)
    pose[:3, :3] = rotation @ start[:3, :3]
    pose[:3, 3] = rotation @ (start[:3, 3] - fixed) + fixed + t * along
    return pose


def placed(pose, vertices):
    return np.asarray(vertices) @ pose[:3, :3].T + pose[:3, 3]


def rigid(mesh, start, end):
    """The world vertices of a rigid mesh as a function of time."""
    return lambda t: placed(screw_at(np.asarray(start), np.asarray(end), t), mesh.vertices)


def straight(first, last):
    """World vertices on straight lines as a function of time."""
    return lambda t: first + t * (last - first)


def touch(vertices_a, faces_a, vertices_b, faces_b):
    """Whether two surfaces touch, in rational arithmetic; face pairs with a clear gap in floats are left out."""
    a, b = np.asarray(vertices_a)[faces_a], np.asarray(vertices_b)[faces_b]
    pairs = np.array(candidates(a, b), dtype=int).reshape(-1, 2)
    a, b = a[pairs[:, 0]], b[pairs[:, 1]]
    near = ~_clearly_apart(a, b)
    return any(rational.triangles_touch(p, q) for p, q in zip(a[near].tolist(), b[near].tolist(), strict=True))


def nearer_than(gap, triangles_a, triangles_b):
    """Whether two surfaces are nearer to each other than a gap, in rational arithmetic."""
    pairs = candidates(triangles_a, triangles_b, gap)
    return any(rational.squared_distance(triangles_a[i], triangles_b[j]) < Fraction(gap) ** 2 for i, j in pairs)


def _clearly_apart(a, b):
    """Whether the triangles of each row have a clear gap along a normal or along a normal to two edges."""
    edges_a, edges_b = (np.roll(corners, -1, axis=1) - corners for corners in (a, b))
    normals = [np.cross(edges[:, 0], edges[:, 1])[:, None] for edges in (edges_a, edges_b)]
    axes = np.concatenate([*normals, np.cross(edges_a[:, :, None], edges_b[:, None]).reshape(len(a), 9, 3)], axis=1)
    along_a, along_b = a @ axes.transpose(0, 2, 1), b @ axes.transpose(0, 2, 1)
    gap = np.maximum(along_b.min(axis=1) - along_a.max(axis=1), along_a.min(axis=1) - along_b.max(axis=1))
    size = np.maximum(np.abs(a).max(axis=(1, 2)), np.abs(b).max(axis=(1, 2)))[:, None] * np.linalg.norm(axes, axis=2)
    return (gap > CLEAR * size).any(axis=1)


def first_touch(a, faces_a, b, faces_b, samples=200, sharpness=1e-8):
    """(free, touching): the last free instant and the first touching one that sampling and bisection find; (1, inf) if none.

    a and b give world vertices at a time. There may be short contacts before `free`.
    """
    free = 0.0
    for t in np.linspace(0.0, 1.0, samples + 1):
        if touch(a(t), faces_a, b(t), faces_b):
            break
        free = t
    else:
        return 1.0, np.inf
    touching = t
    while touching - free > sharpness:
        middle = 0.5 * (free + touching)
        if touch(a(middle), faces_a, b(middle), faces_b):
            touching = middle
        else:
            free = middle
    return free, touching
