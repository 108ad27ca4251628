"""First times of contact by dense sampling and bisection on the exact static test: slow, blind to what is short, independent.

Places between the ends of a step are evaluated here once more: straight lines, or a screw from the axis and angle of a rotation.
"""

import numpy as np

import jostle


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
    """Whether two surfaces touch, by the exact test of the static engine."""
    return bool(jostle.collide((vertices_a, faces_a), (vertices_b, faces_b), rows="any"))


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
