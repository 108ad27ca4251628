"""Whether bounding objects meet at one instant: the static tests of §4.

Boxes are compared on 15 separating axes, spheres by the distance of their centres; axis-aligned boxes are oriented boxes with the
same relative rotation for all node pairs. Everything happens in the frame of body A (`geometry/rigid.py`), in the axes of A's
node.

Guarantee: "apart" only when no contact of world vertices is possible. The padding covers the rounding of world vertices and of
the relative pose (`cull_padding`) and that of the arithmetic here, which is below 300 · 2^-53 of the same lengths. Poses are
orthonormal only to 1e-5: the error of the relative rotation is measured once per body pair, and widens the tests that assume it
orthonormal.
"""

from __future__ import annotations

from jostle._types import Floats
from jostle.geometry.rigid import cull_padding
from jostle.geometry.vector import Vec3, dot, minus, plus, point_from
from jostle.kernels.jit import kernel
from jostle.kernels.structs import Record, float64
from jostle.methods.bounding_tree.axes import (
    Affine,
    Axes,
    absolute_axes,
    along,
    axes_along,
    axes_of,
    combined,
    edge_distances,
    edge_radii,
)
from jostle.methods.bounding_tree.tree import AABB, SPHERE, Volume, centre_of, half_extents_of

ROUNDING = 8.0  # times `cull_padding`: once for the world vertices, the rest for the arithmetic of the tests


class PairFrame(Record):
    """A body pair: the pose of B in A's frame, the padding, and the rotation's skew."""

    pose: Affine
    padding: float64
    skew: float64


@kernel
def set_up_frame(relative: Floats, pose_a: Floats, pose_b: Floats, reach_a: float, reach_b: float, frame: PairFrame) -> None:
    """Write the frame of a body pair, with B at `relative` (4,4) in A's frame.

    reach_a, reach_b: the largest |coordinate| of the two in their own frames.
    """
    write_pose(relative, frame.pose)
    world_a = max(abs(pose_a[0, 3]), abs(pose_a[1, 3]), abs(pose_a[2, 3])) + 1.74 * reach_a
    world_b = max(abs(pose_b[0, 3]), abs(pose_b[1, 3]), abs(pose_b[2, 3])) + 1.74 * reach_b
    frame.padding = ROUNDING * cull_padding(world_a, world_b, max(reach_a, reach_b))
    frame.skew = 4.0 * orthonormal_error(relative)


@kernel
def orthonormal_error(pose: Floats) -> float:
    """Return the sum of |entries of RᵀR - 1| for the matrix R of a pose (4,4)."""
    total = 0.0
    for i in range(3):
        for j in range(3):
            product = 0.0 if i != j else -1.0
            for k in range(3):
                product += pose[k, i] * pose[k, j]
            total += abs(product)
    return total


@kernel
def write_pose(pose: Floats, out: Affine) -> None:
    """Write a pose (4,4) to a record."""
    for k in range(3):
        out.u[k], out.v[k], out.w[k], out.origin[k] = pose[0, k], pose[1, k], pose[2, k], pose[k, 3]


@kernel(forceinline=True)
def reach_of(root: Volume) -> float:
    """Return an upper bound of the |coordinates| in the root of a tree."""
    return max(abs(root.centre[0]), abs(root.centre[1]), abs(root.centre[2])) + root.radius


@kernel(forceinline=True)
def nodes_apart(kind: int, a: Volume, b: Volume, frame: PairFrame) -> bool:
    """Return whether a node of A and a node of B are apart."""
    rotation = axes_of(frame.pose)
    d = plus(along(rotation, centre_of(b)), minus(point_from(frame.pose.origin, 0), centre_of(a)))
    reach = (a.radius + b.radius) * (1.0 + 1e-4) + frame.padding
    # Spheres separate most nodes that are far apart, also boxes; the factor covers poses that stretch.
    if dot(d, d) > reach * reach:
        return True
    if kind == SPHERE:
        return False
    if kind != AABB:
        axes_a, axes_b = axes_of(a), axes_of(b)
        d = along(axes_a, d)
        turned = Axes(combined(axes_a.u, rotation), combined(axes_a.v, rotation), combined(axes_a.w, rotation))
        rotation = axes_along(axes_b, turned)
    half_b = half_extents_of(b)
    return boxes_apart(d, rotation, half_extents_of(a), half_b, frame.padding, frame.skew * (half_b.x + half_b.y + half_b.z))


@kernel(forceinline=True)
def boxes_apart(d: Vec3, r: Axes, a: Vec3, b: Vec3, padding: float, skewed: float) -> bool:
    """Return whether two boxes are apart.

    One has half extents a about the origin; the other has half extents b about d, along the columns of r.
    """
    m = absolute_axes(r)
    if exceeds(d, plus(a, along(m, b)), padding):
        return True
    # Axes have length √3 at most, and those of B are orthonormal but for the skew.
    grown = 2.0 * padding + skewed
    if exceeds(combined(d, r), plus(b, combined(a, m)), grown):
        return True
    distances, radii = edge_distances(d, r), edge_radii(a, b, m)
    return exceeds(distances.u, radii.u, grown) or exceeds(distances.v, radii.v, grown) or exceeds(distances.w, radii.w, grown)


@kernel(forceinline=True)
def exceeds(d: Vec3, radii: Vec3, grown: float) -> bool:
    """Return whether a coordinate of d exceeds its grown radius."""
    return abs(d.x) > radii.x + grown or abs(d.y) > radii.y + grown or abs(d.z) > radii.z + grown
