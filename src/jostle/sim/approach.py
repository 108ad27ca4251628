"""Approach speed of near surfaces: what the next detection's clearance must cover.

A surface approaches another only along its outward normals, not by sliding. So the approach of two bodies is bounded by the sum of
the outward speeds of their near parts, relative to a common velocity, so that bodies that fly together are at rest. Rigid bodies
count with their full speed: sharp corners move ahead of all faces around them.

Bodies in contact are found again at any clearance, by touching or near faces; overlaps at the rim of a contact are removed in the
next step. So only a part of their approach is covered: near faces dominate the cost of a detection (1 µs each), and the depth of
overlaps does not depend on it (measured in a squeeze of 2,000 faces each: 0.0013 with all of the approach, 0.0002 with a quarter,
0.0024 with none; 0 at rest in each case).
"""

import math

from jostle.kernels.jit import kernel
from jostle.sim.surfaces import SOFT

WHEN_MET = 0.25  # share of the approach that counts for bodies in contact, see above
ROUNDS = 2  # more change little


@kernel
def clearance_for(surfaces, points, velocities, moves, met, least, most, seconds, boxes):  # type: ignore[no-untyped-def]
    """Return the least clearance that covers all faces that may meet in a step.

    It lies between least and most. points and velocities (v,3) of all vertices; moves (n,) whether a body moves; met (n,n) whether
    two are in contact; boxes (n,6) is scratch. Each round only visits bodies within the clearance of the last.
    """
    clearance = most
    for _ in range(ROUNDS):
        speed = fastest_approach(surfaces, points, velocities, moves, met, clearance, boxes)
        clearance = min(clearance, least + seconds * speed)
    return clearance


@kernel
def fastest_approach(surfaces, points, velocities, moves, met, margin, boxes):  # type: ignore[no-untyped-def]
    """Return a bound on the approach speed of any two bodies closer than the margin."""
    bodies = surfaces.kind.shape[0]
    for body in range(bodies):
        for k in range(3):
            boxes[body, k], boxes[body, 3 + k] = math.inf, -math.inf
        for vertex in range(surfaces.first_vertex[body], surfaces.first_vertex[body + 1]):
            for k in range(3):
                boxes[body, k] = min(boxes[body, k], points[vertex, k] - margin)
                boxes[body, 3 + k] = max(boxes[body, 3 + k], points[vertex, k] + margin)
    fastest = 0.0
    for a in range(bodies):
        for b in range(a + 1, bodies):
            if (moves[a] or moves[b]) and overlap(boxes, a, b):
                ax, ay, az, near_a = mean_velocity(surfaces, points, velocities, a, boxes, b)
                bx, by, bz, near_b = mean_velocity(surfaces, points, velocities, b, boxes, a)
                if near_a and near_b:
                    x, y, z = 0.5 * (ax + bx), 0.5 * (ay + by), 0.5 * (az + bz)
                    one = fastest_outwards(surfaces, points, velocities, a, boxes, b, x, y, z)
                    other = fastest_outwards(surfaces, points, velocities, b, boxes, a, x, y, z)
                    fastest = max(fastest, (one + other) * (WHEN_MET if met[a, b] else 1.0))
    return fastest


@kernel(forceinline=True)
def overlap(boxes, a, b):  # type: ignore[no-untyped-def]
    """Return whether two boxes share a point."""
    apart = False
    for k in range(3):
        apart = apart or boxes[a, k] > boxes[b, 3 + k] or boxes[b, k] > boxes[a, 3 + k]
    return not apart


@kernel(forceinline=True)
def is_near(points, i, j, k, boxes, other):  # type: ignore[no-untyped-def]
    """Return whether the box of a face meets that of another body."""
    for axis in range(3):
        p, q, r = points[i, axis], points[j, axis], points[k, axis]
        if min(p, q, r) > boxes[other, 3 + axis] or max(p, q, r) < boxes[other, axis]:
            return False
    return True


@kernel
def mean_velocity(surfaces, points, velocities, body, boxes, other):  # type: ignore[no-untyped-def]
    """Return the mean velocity of a body's faces near another one, and their count."""
    x, y, z, count = 0.0, 0.0, 0.0, 0
    for face in range(surfaces.first_face[body], surfaces.first_face[body + 1]):
        i, j, k = surfaces.face[face, 0], surfaces.face[face, 1], surfaces.face[face, 2]
        if is_near(points, i, j, k, boxes, other):
            x += (velocities[i, 0] + velocities[j, 0]) + velocities[k, 0]
            y += (velocities[i, 1] + velocities[j, 1]) + velocities[k, 1]
            z += (velocities[i, 2] + velocities[j, 2]) + velocities[k, 2]
            count += 1
    share = 1.0 / (3.0 * max(count, 1))
    return x * share, y * share, z * share, count


@kernel
def fastest_outwards(surfaces, points, velocities, body, boxes, other, ux, uy, uz):  # type: ignore[no-untyped-def]
    """Return the largest outward speed, relative to u, of faces near a body; >= 0."""
    fastest, soft = 0.0, surfaces.kind[body] == SOFT
    for face in range(surfaces.first_face[body], surfaces.first_face[body + 1]):
        i, j, k = surfaces.face[face, 0], surfaces.face[face, 1], surfaces.face[face, 2]
        if not is_near(points, i, j, k, boxes, other):
            continue
        px, py, pz = points[j, 0] - points[i, 0], points[j, 1] - points[i, 1], points[j, 2] - points[i, 2]
        qx, qy, qz = points[k, 0] - points[i, 0], points[k, 1] - points[i, 1], points[k, 2] - points[i, 2]
        nx, ny, nz = py * qz - pz * qy, pz * qx - px * qz, px * qy - py * qx
        size = math.sqrt((nx * nx + ny * ny) + nz * nz)
        scale = 1.0 / size if size > 0.0 else 0.0
        for corner in range(3):
            v = surfaces.face[face, corner]
            x, y, z = velocities[v, 0] - ux, velocities[v, 1] - uy, velocities[v, 2] - uz
            if soft:
                speed = ((x * nx + y * ny) + z * nz) * scale
                speed = abs(speed) if surfaces.outward[body] == 0.0 else speed * surfaces.outward[body]
            else:
                speed = math.sqrt((x * x + y * y) + z * z)
            fastest = max(fastest, speed)
    return fastest
