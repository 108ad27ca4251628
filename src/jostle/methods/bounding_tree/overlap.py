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
    combined,
    edge_distances,
    edge_radii,
    linear_part,
)
from jostle.methods.bounding_tree.tree import AABB, SPHERE, Volume, axes_of, centre_of, half_extents_of

ROUNDING = 8.0  # times `cull_padding`, of which one is for the world vertices and the rest for the arithmetic of the tests


class PairFrame(Record):
    """A pair of bodies: the pose of B in A's frame, the padding, and what the rotation lacks."""

    pose: Affine
    padding: float64
    skew: float64


@kernel
def set_up_frame(relative: Floats, pose_a: Floats, pose_b: Floats, reach_a: float, reach_b: float, frame: PairFrame) -> None:
    """Write the frame of a pair of bodies, of which B stands at `relative` (4,4) in A's frame.

    reach_a, reach_b: the largest |coordinate| of the two in their own frames.
    """
    write_pose(relative, frame.pose)
    skew = 0.0
    for i in range(3):
        for j in range(3):
            product = 0.0 if i != j else -1.0
            for k in range(3):
                product += relative[k, i] * relative[k, j]
            skew += abs(product)
    world_a = max(abs(pose_a[0, 3]), abs(pose_a[1, 3]), abs(pose_a[2, 3])) + 1.74 * reach_a
    world_b = max(abs(pose_b[0, 3]), abs(pose_b[1, 3]), abs(pose_b[2, 3])) + 1.74 * reach_b
    frame.padding = ROUNDING * cull_padding(world_a, world_b, max(reach_a, reach_b))
    frame.skew = 4.0 * skew


@kernel
def write_pose(pose: Floats, out: Affine) -> None:
    """Write a pose (4,4) to a record."""
    for k in range(3):
        out.u[k], out.v[k], out.w[k], out.origin[k] = pose[0, k], pose[1, k], pose[2, k], pose[k, 3]


@kernel(forceinline=True)
def reach_of(root: Volume) -> float:
    """Return the largest |coordinate| in the root of a tree, or a little more."""
    return max(abs(root.centre[0]), abs(root.centre[1]), abs(root.centre[2])) + root.radius


@kernel(forceinline=True)
def nodes_apart(kind: int, a: Volume, b: Volume, frame: PairFrame) -> bool:
    """Return whether a node of A and a node of B are apart."""
    rotation = linear_part(frame.pose)
    d = plus(along(rotation, centre_of(b)), minus(point_from(frame.pose.origin, 0), centre_of(a)))
    reach = (a.radius + b.radius) * (1.0 + 1e-4) + frame.padding
    # Spheres about the nodes decide most pairs that are far apart, boxes as well; the factor is for poses that stretch.
    if dot(d, d) > reach * reach:
        return True
    if kind == SPHERE:
        return False
    if kind != AABB:
        axes_a, axes_b = axes_of(a), axes_of(b)
        d = along(axes_a, d)
        rotation = Axes(
            along(axes_b, combined(axes_a.u, rotation)),
            along(axes_b, combined(axes_a.v, rotation)),
            along(axes_b, combined(axes_a.w, rotation)),
        )
    half_b = half_extents_of(b)
    return boxes_apart(d, rotation, half_extents_of(a), half_b, frame.padding, frame.skew * (half_b.x + half_b.y + half_b.z))


@kernel(forceinline=True)
def boxes_apart(d: Vec3, r: Axes, a: Vec3, b: Vec3, padding: float, skewed: float) -> bool:
    """Return whether two boxes are apart: half extents a about the origin, and half extents b about d, along the columns of r."""
    m = absolute_axes(r)
    if exceeds(d, plus(a, along(m, b)), padding):
        return True
    # Axes are no longer than √3 parts of the padding, and those of B are orthonormal but for the skew.
    grown = 2.0 * padding + skewed
    if exceeds(combined(d, r), plus(b, combined(a, m)), grown):
        return True
    distances, radii = edge_distances(d, r), edge_radii(a, b, m)
    return exceeds(distances.u, radii.u, grown) or exceeds(distances.v, radii.v, grown) or exceeds(distances.w, radii.w, grown)


@kernel(forceinline=True)
def exceeds(d: Vec3, radii: Vec3, grown: float) -> bool:
    """Return whether a coordinate of d is larger than its radius, which is grown."""
    return abs(d.x) > radii.x + grown or abs(d.y) > radii.y + grown or abs(d.z) > radii.z + grown
