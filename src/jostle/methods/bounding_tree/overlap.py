"""Whether bounding objects meet at one instant: the static bounding object tests that §4 builds on.

Boxes are compared on 15 separating axes, spheres by the distance of their centres; coordinate-axis boxes are oriented boxes whose
relative rotation is the same for all pairs of nodes. Everything happens in the frame of body A (`geometry/rigid.py`), in the axes
of A's own node.

Guarantee: "apart" only when no contact of world vertices is possible. The padding covers the rounding of world vertices and of the
relative pose (`cull_padding`) and that of the arithmetic here, which is below 300 · 2^-53 of the same lengths. Poses are
orthonormal only to 1e-5: by how much the relative rotation misses it is measured once for a pair, and the tests on axes that take
it to be orthonormal are widened by that.
"""

from __future__ import annotations

from jostle.geometry.rigid import cull_padding
from jostle.kernels.jit import kernel
from jostle.methods.bounding_tree.tree import AABB, AXES, HALF, RADIUS, ROW, SPHERE

ROUNDING = 8.0  # times `cull_padding`, of which one is for the world vertices and the rest for the arithmetic of the tests
# A row of the frame of a pair: rotation (9) and translation (3) of B in A's frame, padding, and what the rotation lacks.
FRAME = 14
PADDING, SKEW = 12, 13


@kernel
def set_up_frame(relative, pose_a, pose_b, reach_a, reach_b, frame):
    """Write the frame (FRAME,) of a pair of bodies, of which B stands at `relative` (4,4) in A's frame.

    reach_a, reach_b: the largest |coordinate| of the two in their own frames.
    """
    skew = 0.0
    for i in range(3):
        for j in range(3):
            frame[3 * i + j] = relative[i, j]
            product = 0.0 if i != j else -1.0
            for k in range(3):
                product += relative[k, i] * relative[k, j]
            skew += abs(product)
        frame[9 + i] = relative[i, 3]
    world_a = max(abs(pose_a[0, 3]), abs(pose_a[1, 3]), abs(pose_a[2, 3])) + 1.74 * reach_a
    world_b = max(abs(pose_b[0, 3]), abs(pose_b[1, 3]), abs(pose_b[2, 3])) + 1.74 * reach_b
    frame[PADDING] = ROUNDING * cull_padding(world_a, world_b, max(reach_a, reach_b))
    frame[SKEW] = 4.0 * skew


@kernel
def reach_of(volumes):
    """The largest |coordinate| in the root of flat volumes (16 n,), or a little more."""
    return max(abs(volumes[0]), abs(volumes[1]), abs(volumes[2])) + volumes[RADIUS]


@kernel(forceinline=True)
def nodes_apart(kind, volumes_a, a, volumes_b, b, frame):
    """Whether node a of A and node b of B are apart; flat volumes (16 n,), frame (FRAME,) of `set_up_frame`."""
    p, q = a * ROW, b * ROW
    x, y, z = volumes_b[q], volumes_b[q + 1], volumes_b[q + 2]
    dx = ((frame[0] * x + frame[1] * y) + frame[2] * z) + (frame[9] - volumes_a[p])
    dy = ((frame[3] * x + frame[4] * y) + frame[5] * z) + (frame[10] - volumes_a[p + 1])
    dz = ((frame[6] * x + frame[7] * y) + frame[8] * z) + (frame[11] - volumes_a[p + 2])
    reach = (volumes_a[p + RADIUS] + volumes_b[q + RADIUS]) * (1.0 + 1e-4) + frame[PADDING]
    # Spheres about the nodes decide most pairs that are far apart, boxes as well; the factor is for poses that stretch.
    if (dx * dx + dy * dy) + dz * dz > reach * reach:
        return True
    if kind == SPHERE:
        return False
    r00, r01, r02 = frame[0], frame[1], frame[2]
    r10, r11, r12 = frame[3], frame[4], frame[5]
    r20, r21, r22 = frame[6], frame[7], frame[8]
    if kind != AABB:
        # Into the axes of a: u · d, and u · (R w) for the axes w of b.
        i, j = p + AXES, q + AXES
        u00, u01, u02 = volumes_a[i], volumes_a[i + 1], volumes_a[i + 2]
        u10, u11, u12 = volumes_a[i + 3], volumes_a[i + 4], volumes_a[i + 5]
        u20, u21, u22 = volumes_a[i + 6], volumes_a[i + 7], volumes_a[i + 8]
        dx, dy, dz = u00 * dx + u01 * dy + u02 * dz, u10 * dx + u11 * dy + u12 * dz, u20 * dx + u21 * dy + u22 * dz
        u00, u01, u02 = u00 * r00 + u01 * r10 + u02 * r20, u00 * r01 + u01 * r11 + u02 * r21, u00 * r02 + u01 * r12 + u02 * r22
        u10, u11, u12 = u10 * r00 + u11 * r10 + u12 * r20, u10 * r01 + u11 * r11 + u12 * r21, u10 * r02 + u11 * r12 + u12 * r22
        u20, u21, u22 = u20 * r00 + u21 * r10 + u22 * r20, u20 * r01 + u21 * r11 + u22 * r21, u20 * r02 + u21 * r12 + u22 * r22
        x, y, z = volumes_b[j], volumes_b[j + 1], volumes_b[j + 2]
        r00, r10, r20 = u00 * x + u01 * y + u02 * z, u10 * x + u11 * y + u12 * z, u20 * x + u21 * y + u22 * z
        x, y, z = volumes_b[j + 3], volumes_b[j + 4], volumes_b[j + 5]
        r01, r11, r21 = u00 * x + u01 * y + u02 * z, u10 * x + u11 * y + u12 * z, u20 * x + u21 * y + u22 * z
        x, y, z = volumes_b[j + 6], volumes_b[j + 7], volumes_b[j + 8]
        r02, r12, r22 = u00 * x + u01 * y + u02 * z, u10 * x + u11 * y + u12 * z, u20 * x + u21 * y + u22 * z
    ax, ay, az = volumes_a[p + HALF], volumes_a[p + HALF + 1], volumes_a[p + HALF + 2]
    bx, by, bz = volumes_b[q + HALF], volumes_b[q + HALF + 1], volumes_b[q + HALF + 2]
    return boxes_apart(
        dx,
        dy,
        dz,
        r00,
        r01,
        r02,
        r10,
        r11,
        r12,
        r20,
        r21,
        r22,
        ax,
        ay,
        az,
        bx,
        by,
        bz,
        frame[PADDING],
        frame[SKEW] * (bx + by + bz),
    )


@kernel(forceinline=True)
def boxes_apart(dx, dy, dz, r00, r01, r02, r10, r11, r12, r20, r21, r22, ax, ay, az, bx, by, bz, padding, skewed):
    """Whether a box of half extents a about the origin and one of half extents b about d, its axes the columns of r, are apart."""
    a00, a01, a02 = abs(r00), abs(r01), abs(r02)
    a10, a11, a12 = abs(r10), abs(r11), abs(r12)
    a20, a21, a22 = abs(r20), abs(r21), abs(r22)
    if (
        abs(dx) > ax + (a00 * bx + a01 * by + a02 * bz) + padding
        or abs(dy) > ay + (a10 * bx + a11 * by + a12 * bz) + padding
        or abs(dz) > az + (a20 * bx + a21 * by + a22 * bz) + padding
    ):
        return True
    # Axes are no longer than √3 parts of the padding, and those of B are orthonormal but for the skew.
    grown = 2.0 * padding + skewed
    if (
        abs(dx * r00 + dy * r10 + dz * r20) > bx + (ax * a00 + ay * a10 + az * a20) + grown
        or abs(dx * r01 + dy * r11 + dz * r21) > by + (ax * a01 + ay * a11 + az * a21) + grown
        or abs(dx * r02 + dy * r12 + dz * r22) > bz + (ax * a02 + ay * a12 + az * a22) + grown
    ):
        return True
    return (
        abs(dz * r10 - dy * r20) > (ay * a20 + az * a10) + (by * a02 + bz * a01) + grown
        or abs(dz * r11 - dy * r21) > (ay * a21 + az * a11) + (bx * a02 + bz * a00) + grown
        or abs(dz * r12 - dy * r22) > (ay * a22 + az * a12) + (bx * a01 + by * a00) + grown
        or abs(dx * r20 - dz * r00) > (ax * a20 + az * a00) + (by * a12 + bz * a11) + grown
        or abs(dx * r21 - dz * r01) > (ax * a21 + az * a01) + (bx * a12 + bz * a10) + grown
        or abs(dx * r22 - dz * r02) > (ax * a22 + az * a02) + (bx * a11 + by * a10) + grown
        or abs(dy * r00 - dx * r10) > (ax * a10 + ay * a00) + (by * a22 + bz * a21) + grown
        or abs(dy * r01 - dx * r11) > (ax * a11 + ay * a01) + (bx * a22 + bz * a20) + grown
        or abs(dy * r02 - dx * r12) > (ax * a12 + ay * a02) + (bx * a21 + by * a20) + grown
    )


@kernel(forceinline=True)
def descends_into_a(volumes_a, children_a, a, volumes_b, children_b, b):
    """Whether the node of A is the one to be replaced by its children: the larger of the two, unless it is a leaf."""
    if children_a == 0 or children_b == 0:
        return children_b == 0
    return volumes_a[a * ROW + RADIUS] >= volumes_b[b * ROW + RADIUS]
