"""The faces of leaves in the world: corners by the one formula, and their boxes, kept for a while.

A leaf meets several leaves of the other body, one soon after the other; a small cache (a slot for each node number, tagged with the
query) spares most of the transformations. Boxes of faces are exact, so they need no padding.
"""

from __future__ import annotations

from jostle.geometry.rigid import rigid_coordinate
from jostle.kernels.jit import kernel

SLOTS = 256  # a power of two
FACE = 15  # nine coordinates of corners, lower and upper corner of the box


@kernel
def fill_leaf(lanes, base, faces, order, first, count, vertices, pose):
    """Write the corners and boxes of the faces order[first … first + count - 1] to lanes[base …], FACE numbers for each.

    faces (3 m,) and vertices (3 n,) are flat; pose (4,4) body to world.
    """
    for i in range(count):
        at, face = base + FACE * i, 3 * order[first + i]
        for k in range(3):
            v = 3 * faces[face + k]
            x, y, z = vertices[v], vertices[v + 1], vertices[v + 2]
            for c in range(3):
                lanes[at + 3 * k + c] = rigid_coordinate(pose[c, 0], pose[c, 1], pose[c, 2], pose[c, 3], x, y, z)
        for c in range(3):
            p, q, r = lanes[at + c], lanes[at + 3 + c], lanes[at + 6 + c]
            lanes[at + 9 + c] = min(p, q, r)
            lanes[at + 12 + c] = max(p, q, r)


@kernel(forceinline=True)
def face_boxes_meet(lanes_a, i, lanes_b, j):
    """Whether the boxes of two faces in lanes, at i and j, share a point."""
    return (
        lanes_a[i + 9] <= lanes_b[j + 12]
        and lanes_b[j + 9] <= lanes_a[i + 12]
        and lanes_a[i + 10] <= lanes_b[j + 13]
        and lanes_b[j + 10] <= lanes_a[i + 13]
        and lanes_a[i + 11] <= lanes_b[j + 14]
        and lanes_b[j + 11] <= lanes_a[i + 14]
    )


@kernel(forceinline=True)
def share_a_vertex(welded, i, j):
    """Whether faces i and j share a welded vertex; welded (3 m,) flat."""
    p, q, r = welded[3 * i], welded[3 * i + 1], welded[3 * i + 2]
    s, t, u = welded[3 * j], welded[3 * j + 1], welded[3 * j + 2]
    return p in (s, t, u) or q in (s, t, u) or r in (s, t, u)
