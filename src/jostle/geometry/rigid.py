"""Rigid poses: the formula of world vertices, relative poses, safe cull padding.

Every exact method computes world vertices by `rigid_coordinate`: ((row.x*p.x + row.y*p.y) + row.z*p.z) + row.t in float64, in that
order, each operation rounded once (kernels are compiled without contraction, so there is no fused multiply-add), and results below
1e-30 in magnitude become +0.0. So all methods see the same bits, whatever frame their trees use.

Culls may work in the frame of one body: `solve_relative_pose_into` gives the other body's pose there. It solves with the first pose
instead of transposing it, because accepted poses are orthonormal only to 1e-5. A cull in that frame is conservative for the world
vertices when its boxes are grown by `cull_padding`, whose docstring has the proof.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from jostle._types import Floats
from jostle.geometry.vector import Vec3, cross, dot, point_at, write_point
from jostle.kernels.arrays import read_only_view
from jostle.kernels.interpreting import in_columns
from jostle.kernels.jit import kernel

SMALLEST_WORLD_COORDINATE = 1e-30
CULL_FACTOR = 64.0 * 2.0**-52
CULL_FLOOR = 8e-30


class PoseRow(NamedTuple):
    """A row of a pose, which gives one world coordinate: rotation and translation."""

    x: float
    y: float
    z: float
    t: float


class RigidPose(NamedTuple):
    """A pose from body to world."""

    x: PoseRow
    y: PoseRow
    z: PoseRow


@kernel(forceinline=True)
def pose_of(pose: Any) -> RigidPose:
    """Return a pose (4,4) as a value."""
    return RigidPose(
        PoseRow(pose[0, 0], pose[0, 1], pose[0, 2], pose[0, 3]),
        PoseRow(pose[1, 0], pose[1, 1], pose[1, 2], pose[1, 3]),
        PoseRow(pose[2, 0], pose[2, 1], pose[2, 2], pose[2, 3]),
    )


@kernel(forceinline=True)
def pose_at(poses: Any, i: int) -> RigidPose:
    """Return pose i of an array (n,4,4)."""
    return RigidPose(
        PoseRow(poses[i, 0, 0], poses[i, 0, 1], poses[i, 0, 2], poses[i, 0, 3]),
        PoseRow(poses[i, 1, 0], poses[i, 1, 1], poses[i, 1, 2], poses[i, 1, 3]),
        PoseRow(poses[i, 2, 0], poses[i, 2, 1], poses[i, 2, 2], poses[i, 2, 3]),
    )


@kernel(forceinline=True)
def world_point(pose: RigidPose, point: Vec3) -> Vec3:
    """Return the world coordinates of a local point, each by `rigid_coordinate`."""
    return Vec3(rigid_coordinate(pose.x, point), rigid_coordinate(pose.y, point), rigid_coordinate(pose.z, point))


@kernel(forceinline=True)
def moved_point(pose: RigidPose, point: Vec3) -> Vec3:
    """Return a point under a relative pose, for culls: without the snap to zero."""
    turned = turned_vector(pose, point)
    return Vec3(turned.x + pose.x.t, turned.y + pose.y.t, turned.z + pose.z.t)


@kernel(forceinline=True)
def turned_vector(pose: RigidPose, v: Vec3) -> Vec3:
    """Return a local vector in world axes."""
    x, y, z = pose.x, pose.y, pose.z
    return Vec3(
        (x.x * v.x + x.y * v.y) + x.z * v.z,
        (y.x * v.x + y.y * v.y) + y.z * v.z,
        (z.x * v.x + z.y * v.y) + z.z * v.z,
    )


@kernel(forceinline=True)
def turned_back(pose: RigidPose, v: Vec3) -> Vec3:
    """Return the product of a world vector with the transposed rotation.

    Its product with a local point is that of v with the point's world position, up to a constant; right for any linear map.
    """
    x, y, z = pose.x, pose.y, pose.z
    return Vec3(
        (x.x * v.x + y.x * v.y) + z.x * v.z,
        (x.y * v.x + y.y * v.y) + z.y * v.z,
        (x.z * v.x + y.z * v.y) + z.z * v.z,
    )


@kernel
def rigid_coordinate(row: PoseRow, p: Vec3) -> float:
    """Return one world coordinate of a local point, by its row of the pose."""
    w = ((row.x * p.x + row.y * p.y) + row.z * p.z) + row.t
    # Tiny results leave the range in which the exact predicates keep every bit; the comparison also catches -0.0.
    if abs(w) < SMALLEST_WORLD_COORDINATE:
        return 0.0
    return w


@kernel
def transform_into(pose: Floats, points: Floats, out: Floats) -> None:
    """Write the world coordinates of points (n,3) under pose (4,4) into out (n,3)."""
    to_world = pose_of(pose)
    for i in range(points.shape[0]):
        write_point(out, i, world_point(to_world, point_at(points, i)))


@in_columns(transform_into)
def _transform_columns(pose: Floats, points: Floats, out: Floats) -> None:
    for axis in range(3):
        row = PoseRow(*pose[axis].tolist())
        out[:, axis] = ((row.x * points[:, 0] + row.y * points[:, 1]) + row.z * points[:, 2]) + row.t
    out[np.abs(out) < SMALLEST_WORLD_COORDINATE] = 0.0


def transform_points(pose: Floats, points: Floats) -> Floats:
    """Return the world coordinates of local points, as every exact test sees them.

    Parameters
    ----------
    pose : (4, 4) float64
        Body to world.
    points : (n, 3) float64
        Local coordinates, writable or not.
    """
    out = np.empty((len(points), 3))
    transform_into(read_only_view(pose), read_only_view(points), out)
    return out


@kernel
def solve_relative_pose_into(pose_a: Floats, pose_b: Floats, out: Floats) -> None:
    """Write B's pose in A's frame into out (4,4), by Cramer's rule.

    The solution X of pose_a X = pose_b: for culls, never for a last test.
    """
    r00, r01, r02 = pose_a[0, 0], pose_a[0, 1], pose_a[0, 2]
    r10, r11, r12 = pose_a[1, 0], pose_a[1, 1], pose_a[1, 2]
    r20, r21, r22 = pose_a[2, 0], pose_a[2, 1], pose_a[2, 2]
    # The cofactors are the rows of R transposed, but for what R lacks in orthonormality; the determinant is near 1.
    c00, c01, c02 = r11 * r22 - r12 * r21, r12 * r20 - r10 * r22, r10 * r21 - r11 * r20
    c10, c11, c12 = r02 * r21 - r01 * r22, r00 * r22 - r02 * r20, r01 * r20 - r00 * r21
    c20, c21, c22 = r01 * r12 - r02 * r11, r02 * r10 - r00 * r12, r00 * r11 - r01 * r10
    determinant = (r00 * c00 + r01 * c01) + r02 * c02
    for j in range(4):
        x, y, z = pose_b[0, j], pose_b[1, j], pose_b[2, j]
        if j == 3:
            x, y, z = x - pose_a[0, 3], y - pose_a[1, 3], z - pose_a[2, 3]
        out[0, j] = ((c00 * x + c10 * y) + c20 * z) / determinant
        out[1, j] = ((c01 * x + c11 * y) + c21 * z) / determinant
        out[2, j] = ((c02 * x + c12 * y) + c22 * z) / determinant
        out[3, j] = 0.0
    out[3, 3] = 1.0


@kernel
def cull_padding(max_wa: float, max_wb: float, max_v: float) -> float:
    """Return the padding of boxes in A's frame that keeps every world contact.

    `max_wa`, `max_wb`: largest |world coordinate| of the vertices of A and of B; `max_v`: largest |local coordinate|
    of the vertices of either, in the frames of the meshes; upper bounds will do. The result is
    64 · 2⁻⁵² · (max_wa + max_wb + max_v) + 8e-30.

    Claim: let a point of a face of A coincide with a point of a face of B, both with world vertices by
    `rigid_coordinate`. Let ā and b̄ be the same convex combinations of the local vertices, and X the result of
    `solve_relative_pose_into`, applied to B's vertices by `rigid_coordinate`. Then ā and X b̄ differ by at most this
    padding in every coordinate; so boxes around the two faces, grown by it in total, meet.

    Proof, in units h = 2⁻⁵³, W = max_wa + max_wb, A and B the largest Euclidean lengths of local vertices (at most
    √3·max_v), to first order: the world vertices are off by h|w| + 3h‖r‖‖v‖ per coordinate, turned into A's frame
    √3·W + 5.2(A + B). The cofactors are off by 2 each, the determinant by 6.5, so the inverse by 11 per row, and X
    by 15‖t_b − t_a‖ in its translation and 16 per row of its rotation. Applying X costs another ‖t_b − t_a‖ + 4B.
    With ‖t_b − t_a‖ ≤ √3·W + A + B the sum is 29.5W + 21.2A + 41.4B ≤ 30W + 109·max_v, below 128 of each.
    Snapping to zero moves a vertex by up to 1e-30 per coordinate, three times: below 8e-30 in all.

    Random poses stay below 4·2⁻⁵² of the sum. The bound need not be tight: boxes are stored in float32, with a rounding 10⁶ times
    larger. Arithmetic on boxes in float32 adds its own, outward rounding.
    """
    return CULL_FACTOR * ((max_wa + max_wb) + max_v) + CULL_FLOOR


@kernel
def is_rigid(pose: Floats, tolerance: float, farthest: float) -> bool:
    """Return whether a pose (4,4) is a rotation within the tolerance.

    Also its translation must be at most `farthest`, and its last row 0 0 0 1. NaN and infinity fail, as all comparisons with them
    do.
    """
    x = Vec3(pose[0, 0], pose[1, 0], pose[2, 0])
    y = Vec3(pose[0, 1], pose[1, 1], pose[2, 1])
    z = Vec3(pose[0, 2], pose[1, 2], pose[2, 2])
    # With one branch instead of a dozen: 15 ns instead of 27.
    is_near = (abs(pose[0, 3]) <= farthest) & (abs(pose[1, 3]) <= farthest) & (abs(pose[2, 3]) <= farthest)
    is_unit = (abs(dot(x, x) - 1.0) <= tolerance) & (abs(dot(y, y) - 1.0) <= tolerance) & (abs(dot(z, z) - 1.0) <= tolerance)
    is_affine = (pose[3, 0] == 0.0) & (pose[3, 1] == 0.0) & (pose[3, 2] == 0.0) & (pose[3, 3] == 1.0)
    if not (is_near & is_unit & is_affine):  # infinity is refused here: its product with 0 would warn in Python
        return False
    is_orthogonal = (abs(dot(x, y)) <= tolerance) & (abs(dot(x, z)) <= tolerance) & (abs(dot(y, z)) <= tolerance)
    return bool(is_orthogonal & (dot(x, cross(y, z)) > 0.0))


@kernel
def all_rigid(poses: Floats, tolerance: float, farthest: float) -> bool:
    """Return whether all poses (n,4,4) are rigid."""
    good = 0
    for k in range(poses.shape[0]):
        good += is_rigid(poses[k], tolerance, farthest)
    return bool(good == poses.shape[0])


@in_columns(all_rigid)
def _all_columns_rigid(poses: Floats, tolerance: float, farthest: float) -> bool:
    with np.errstate(all="ignore"):
        rotation, shift = poses[:, :3, :3], poses[:, :3, 3]
        good = (np.abs(shift) <= farthest).all() and (poses[:, 3] == (0.0, 0.0, 0.0, 1.0)).all()
        if not good:
            return False
        x, y, z = rotation[:, 0], rotation[:, 1], rotation[:, 2]  # rows, (n,3)
        products = (x[:, :, None] * x[:, None] + y[:, :, None] * y[:, None]) + z[:, :, None] * z[:, None]
        minor_x = y[:, 1] * z[:, 2] - y[:, 2] * z[:, 1]
        minor_y = y[:, 2] * z[:, 0] - y[:, 0] * z[:, 2]
        minor_z = y[:, 0] * z[:, 1] - y[:, 1] * z[:, 0]
        orthonormal = (np.abs(products - np.eye(3)) <= tolerance).all()
        return bool(orthonormal and ((x[:, 0] * minor_x + x[:, 1] * minor_y) + x[:, 2] * minor_z > 0.0).all())
