"""The surfaces of all bodies in a soft simulation, as flat arrays.

A vertex of a soft body follows the eight nodes of its cell, one of a rigid body its frame; static and kinematic bodies are rigid
ones that nothing moves. A facet is a triangle of the mesh with its disc (Guy and Debunne 2004, §4.1): barycentre, normal, and the
distance to the farthest corner (the circumradius about the barycentre would leave a corner out).
"""

import math
from typing import NamedTuple

from jostle._types import Floats, Ints
from jostle.kernels.jit import kernel

SOFT, RIGID, FIXED = 0, 1, 2


class Surfaces(NamedTuple):
    """The constants of n bodies with v vertices and f faces in all."""

    kind: Ints  # (n,) SOFT, RIGID or FIXED
    outward: Floats  # (n,) 1 or -1 for outward or inward normals of a closed mesh, 0 for an open mesh
    first_vertex: Ints  # (n+1,)
    first_face: Ints  # (n+1,)
    face: Ints  # (f,3) rows of vertices of all bodies
    own: Floats  # (v,3) of rigid bodies: from the centre of mass, along the principal axes
    node: Ints  # (v,8) of soft bodies
    weight: Floats  # (v,8)
    face_node: Ints  # (f,8) of the middle of a face of a soft body
    face_weight: Floats  # (f,8)
    face_part: Ints  # (f,) the node nearest to that middle; below 0 the number of a rigid body


class Frames(NamedTuple):
    """Frames of the n bodies, changing every substep; only rigid ones count."""

    centre: Floats  # (n,3)
    attitude: Floats  # (n,4) unit quaternions, principal axes to world
    rotation: Floats  # (n,9) the same as a matrix, row by row
    velocity: Floats  # (n,3)
    spin: Floats  # (n,3)
    inverse_mass: Floats  # (n,) 0 for fixed bodies
    inverse_moments: Floats  # (n,3)
    quotients: Floats  # (n,3) of the principal moments, see `state.py`


@kernel(forceinline=True)
def point_of(surfaces, nodes, frames, body, vertex):  # type: ignore[no-untyped-def]
    """Return the present position of a vertex."""
    if surfaces.kind[body] == SOFT:
        return weighted_point(surfaces.node, surfaces.weight, nodes.place, vertex)
    x, y, z = turned(frames.rotation, body, surfaces.own[vertex, 0], surfaces.own[vertex, 1], surfaces.own[vertex, 2])
    return frames.centre[body, 0] + x, frames.centre[body, 1] + y, frames.centre[body, 2] + z


@kernel(forceinline=True)
def weighted_point(node, weights, place, row):  # type: ignore[no-untyped-def]
    """Return the weighted sum of a row's eight nodes at place (n,3)."""
    x, y, z = 0.0, 0.0, 0.0
    for k in range(8):
        n, weight = node[row, k], weights[row, k]
        x += weight * place[n, 0]
        y += weight * place[n, 1]
        z += weight * place[n, 2]
    return x, y, z


@kernel(forceinline=True)
def displacement_of(surfaces, nodes, frames, body, face, x, y, z, h):  # type: ignore[no-untyped-def]
    """Return the displacement in this substep of a soft face or a rigid point."""
    if surfaces.kind[body] == SOFT:
        x, y, z = 0.0, 0.0, 0.0
        for k in range(8):
            n, weight = surfaces.face_node[face, k], surfaces.face_weight[face, k]
            x += weight * (nodes.place[n, 0] - nodes.before[n, 0])
            y += weight * (nodes.place[n, 1] - nodes.before[n, 1])
            z += weight * (nodes.place[n, 2] - nodes.before[n, 2])
        return x, y, z
    rx, ry, rz = x - frames.centre[body, 0], y - frames.centre[body, 1], z - frames.centre[body, 2]
    sx, sy, sz = frames.spin[body, 0], frames.spin[body, 1], frames.spin[body, 2]
    return (
        h * (frames.velocity[body, 0] + (sy * rz - sz * ry)),
        h * (frames.velocity[body, 1] + (sz * rx - sx * rz)),
        h * (frames.velocity[body, 2] + (sx * ry - sy * rx)),
    )


@kernel(forceinline=True)
def turned(rotation, body, x, y, z):  # type: ignore[no-untyped-def]
    """Return a body's vector in world axes."""
    return (
        (rotation[body, 0] * x + rotation[body, 1] * y) + rotation[body, 2] * z,
        (rotation[body, 3] * x + rotation[body, 4] * y) + rotation[body, 5] * z,
        (rotation[body, 6] * x + rotation[body, 7] * y) + rotation[body, 8] * z,
    )


@kernel(forceinline=True)
def turned_back(rotation, body, x, y, z):  # type: ignore[no-untyped-def]
    """Return a world vector in a body's principal axes."""
    return (
        (rotation[body, 0] * x + rotation[body, 3] * y) + rotation[body, 6] * z,
        (rotation[body, 1] * x + rotation[body, 4] * y) + rotation[body, 7] * z,
        (rotation[body, 2] * x + rotation[body, 5] * y) + rotation[body, 8] * z,
    )


@kernel(forceinline=True)
def facet_of(ax, ay, az, bx, by, bz, cx, cy, cz, side):  # type: ignore[no-untyped-def]
    """Return centre, normal and radius of a triangle's disc; normal 0 without area.

    side is 1 or -1.
    """
    px, py, pz = bx - ax, by - ay, bz - az
    qx, qy, qz = cx - ax, cy - ay, cz - az
    nx, ny, nz = py * qz - pz * qy, pz * qx - px * qz, px * qy - py * qx
    size = math.sqrt((nx * nx + ny * ny) + nz * nz)
    scale = side / size if size > 0.0 else 0.0
    mx, my, mz = ax + (px + qx) / 3.0, ay + (py + qy) / 3.0, az + (pz + qz) / 3.0
    farthest = max(
        ((ax - mx) * (ax - mx) + (ay - my) * (ay - my)) + (az - mz) * (az - mz),
        ((bx - mx) * (bx - mx) + (by - my) * (by - my)) + (bz - mz) * (bz - mz),
        ((cx - mx) * (cx - mx) + (cy - my) * (cy - my)) + (cz - mz) * (cz - mz),
    )
    return mx, my, mz, nx * scale, ny * scale, nz * scale, math.sqrt(farthest)


@kernel
def write_points(surfaces, nodes, frames, body, points):  # type: ignore[no-untyped-def]
    """Write the present vertices of a body into its rows of points (v,3)."""
    for vertex in range(surfaces.first_vertex[body], surfaces.first_vertex[body + 1]):
        x, y, z = point_of(surfaces, nodes, frames, body, vertex)
        points[vertex, 0], points[vertex, 1], points[vertex, 2] = x, y, z


@kernel
def write_own(points, first, back, origin, smallest, own):  # type: ignore[no-untyped-def]
    """Write world points (v,3), from row `first` on, in a body's coordinates.

    The body has an origin (3,) and the inverse rotation `back` (3,3). Coordinates below `smallest` become 0.
    """
    for row in range(own.shape[0]):
        x, y, z = points[first + row, 0] - origin[0], points[first + row, 1] - origin[1], points[first + row, 2] - origin[2]
        for k in range(3):
            value = (back[k, 0] * x + back[k, 1] * y) + back[k, 2] * z
            own[row, k] = value if abs(value) >= smallest else 0.0
