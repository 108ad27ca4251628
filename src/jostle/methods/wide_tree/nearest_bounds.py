"""Lower bounds of the distance of boxes in two trees, and the limits they face.

Three bounds hold together: the distance of boxes in the frame of X, with Y's boxes moved there; the same in the frame of Y; and the
gap between boxes along one direction in the world, the *arrow*, from the closest point on x to the one on y found so far. The first
two bound what lies to the side, the last what lies behind: where two surfaces face each other, only it sees that boxes are fatter
than their contents.

Conservative for the world vertices: the padding of `relative_frame.py` covers the poses and float32 (its error grows with the
distance of the bodies, here up to FARTHEST times their size). A pose is rigid only to 1e-5, so lengths in a frame are multiplied
by a bound of its smallest singular value, which also covers rotations of nodes: they are orthogonal to 2^-22. The arrow is taken
into the frames by transposing, which is exact for any matrix. Under a rotation Q it is Q a, and Q a · Q u differs from a · u by
3 · 2^-22 · √3 at most; with the roundings of Q a that is below TURNED_PADDING.
Beyond FARTHEST only the arrow serves: the vector between the centres is added in float64, and float32 holds the rest, so bodies
1e6 sizes apart are separated as well as near ones.
"""

from __future__ import annotations

import math
from typing import Any

from jostle._types import Floats, Singles
from jostle.geometry.rigid import solve_relative_pose_into
from jostle.geometry.vector import Vec3, dot, point_from
from jostle.kernels.jit import kernel
from jostle.kernels.simd import LANES, f32x8_add, f32x8_load, f32x8_max, f32x8_mul, f32x8_multiply_add, f32x8_splat
from jostle.methods.wide_tree.lanes import POINT_ROWS, Boxes8, Points8, in_every_lane, minus8, squared_length
from jostle.methods.wide_tree.nearest_work import NearestWork, Placement
from jostle.methods.wide_tree.relative_frame import (
    BOTH_FRAMES,
    FLOAT32_PADDING,
    FRAME_OF_X,
    LARGEST_RATIO,
    NO_FRAME,
    TURNED_PADDING,
    FrameTransform,
    centre_shift,
    matrix_in,
    row_of,
    set_up_row,
    vector_of,
    world_padding,
)
from jostle.methods.wide_tree.tree import PlacedTree, TreeArrays, TreeFrame, is_oriented

# Of the extent: reported_distance is within 0.75 · 2^-44 of the truth, closest_points_of_triangles within 2^-46. Two of each
# make 2^-43; as much again covers the roundings of gaps along the arrow.
BAND_FACTOR = 2.0**-42
FARTHEST = 16.0  # times the size of X
# From this many ties on, as of whole regions at one distance, gains within rounding are given up.
MOST_TIES = 1 << 16
LARGEST_SHIFT = 1e30  # what float32 holds


@kernel
def set_up_search(work: NearestWork, x: PlacedTree, y: PlacedTree) -> None:
    """Fill the placement and the transforms of two trees."""
    placement, frame_x, frame_y = work.placement, x.arrays.frame, y.arrays.frame
    placement.scale_y, placement.ratio = frame_y.scale, frame_x.scale / frame_y.scale
    _set_up_extent(placement, x, y)
    placement.band = BAND_FACTOR * placement.extent
    off = _off_orthonormal(y.pose, _off_orthonormal(x.pose, 0.0))
    # The eigenvalues of RᵀR differ from 1 by three times its largest entry off the identity at most; and squares of float32 round.
    placement.smallest_stretch = math.sqrt(1.0 - 3.0 * off) * (1.0 - 2.0**-20)
    padding = world_padding(x, y) * frame_x.scale
    if is_oriented(x.arrays) or is_oriented(y.arrays):
        padding = 1.7321 * padding + TURNED_PADDING * (1.0 + padding)
    else:
        padding += FLOAT32_PADDING * (1.0 + padding)
    placement.padding = padding
    placement.frames = _set_up_transforms(work, x, y, padding)


@kernel(forceinline=True)
def _set_up_extent(placement: Placement, x: PlacedTree, y: PlacedTree) -> None:
    """Write the vector between the centres, the origin, and the extent of both bodies."""
    frame_x, frame_y, pose_x, pose_y = x.arrays.frame, y.arrays.frame, x.pose, y.pose
    centre_x, centre_y = point_from(frame_x.centre, 0), point_from(frame_y.centre, 0)
    extent = 4.0 * (frame_x.radius / frame_x.scale + frame_y.radius / frame_y.scale)
    for k in range(3):
        at_x = dot(Vec3(pose_x[k, 0], pose_x[k, 1], pose_x[k, 2]), centre_x)
        at_y = dot(Vec3(pose_y[k, 0], pose_y[k, 1], pose_y[k, 2]), centre_y)
        placement.between[k] = (pose_y[k, 3] - pose_x[k, 3]) + (at_y - at_x)
        placement.origin[k] = pose_y[k, 3] + at_y
        extent += abs(placement.between[k])
    placement.extent = extent


@kernel(forceinline=True)
def _off_orthonormal(pose: Floats, least: float) -> float:
    """Return the largest entry of RᵀR off the identity, at least `least`."""
    off = least
    for k in range(3):
        for j in range(3):
            product = dot(_column(pose, j), _column(pose, k))
            off = max(off, abs(product - (1.0 if j == k else 0.0)))
    return off


@kernel(forceinline=True)
def _column(pose: Floats, k: int) -> Vec3:
    return Vec3(pose[0, k], pose[1, k], pose[2, k])


@kernel(forceinline=True)
def _set_up_transforms(work: NearestWork, x: PlacedTree, y: PlacedTree, padding: float) -> int:
    """Fill the transforms; return the frames in which boxes can be compared."""
    frame_x, frame_y, transforms, relative = x.arrays.frame, y.arrays.frame, work.transforms, matrix_in(work.relative)
    ratio = work.placement.ratio
    solve_relative_pose_into(x.pose, y.pose, relative)
    farthest = _set_up_transform(transforms.into_x, relative, frame_x, frame_y)
    if not farthest <= FARTHEST:
        return NO_FRAME
    padding *= 1.0 + farthest
    transforms.into_x.padding = transforms.into_x.turned_padding = padding
    if ratio < 1.0 / LARGEST_RATIO:
        return FRAME_OF_X
    transforms.into_y.padding = transforms.into_y.turned_padding = padding / ratio
    solve_relative_pose_into(y.pose, x.pose, relative)
    _set_up_transform(transforms.into_y, relative, frame_y, frame_x)
    return BOTH_FRAMES


@kernel
def _set_up_transform(transform: FrameTransform, relative: Floats, to: TreeFrame, source: TreeFrame) -> float:
    """Write the transform from one frame into another; return the largest shift."""
    ratio, farthest = to.scale / source.scale, 0.0
    for i in range(3):
        shift = centre_shift(relative, to, source, i) * to.scale
        farthest = max(farthest, abs(shift))
        transform.shift[i] = min(max(shift, -LARGEST_SHIFT), LARGEST_SHIFT)
        set_up_row(transform, relative, i, ratio)
    return farthest


@kernel
def aim(work: NearestWork, x: PlacedTree, y: PlacedTree) -> None:
    """Update everything that depends on the least distance and the arrow."""
    placement, limits, band = work.placement, work.limits, work.placement.band
    arrow, scale, distance = point_from(work.best.arrow, 0), x.arrays.frame.scale, work.best.distance
    for k in range(3):
        placement.arrow_x[k] = dot(_column(x.pose, k), arrow)
        placement.arrow_y[k] = dot(_column(y.pose, k), arrow) * placement.ratio
    placement.along = dot(point_from(placement.between, 0), arrow) * scale
    limit = distance + band
    limits.face = limit
    if work.counts.ties > MOST_TIES and distance > 1024.0 * band:
        limits.face = distance - 2.0**-47 * placement.extent
    far = limit * scale + placement.padding
    limits.node_squared = far * far
    limits.along = _float32_or_infinite((far - placement.along) + FLOAT32_PADDING)
    far = limit * scale / placement.smallest_stretch
    limits.squared = _float32_or_infinite(far * far)
    far = limit * placement.scale_y
    limits.leaf_squared = _float32_or_infinite(far * far * (1.0 + 2.0**-20) + 1e-37)


@kernel(forceinline=True)
def _float32_or_infinite(value: float) -> float:
    """Return a number that float32 holds; infinity if it is too large."""
    return value if value < 1e38 else math.inf


@kernel(forceinline=True)
def turn_arrow(arrow: Any, tree: TreeArrays, rotation: int, out: Any) -> None:
    """Write an arrow under a rotation of boxes."""
    given = vector_of(arrow)
    for k in range(3):
        out[k] = dot(row_of(tree.rotations[rotation].rows, k), given) if rotation > 0 else arrow[k]


@kernel(forceinline=True)
def far_ends(boxes: Any, start: int, arrow: Any) -> Singles:
    """Return the far ends of eight boxes along an arrow."""
    return _ends(boxes, start, arrow, POINT_ROWS, 0)


@kernel(forceinline=True)
def near_ends(boxes: Any, start: int, arrow: Any) -> Singles:
    """Return the near ends of eight boxes along an arrow."""
    return _ends(boxes, start, arrow, 0, POINT_ROWS)


@kernel(forceinline=True)
def _ends(boxes: Any, start: int, arrow: Any, along: int, against: int) -> Singles:
    """Return ends of eight boxes along an arrow.

    `along` and `against`: the rows of the corners to take, by the signs of the arrow.
    """
    x, y, z = arrow[0], arrow[1], arrow[2]
    end = f32x8_mul(f32x8_load(boxes, start + (along if x > 0 else against)), f32x8_splat(x))
    end = f32x8_multiply_add(f32x8_load(boxes, start + LANES + (along if y > 0 else against)), f32x8_splat(y), end)
    return f32x8_multiply_add(f32x8_load(boxes, start + 2 * LANES + (along if z > 0 else against)), f32x8_splat(z), end)


@kernel(forceinline=True)
def squared_gaps(a: Boxes8, b: Boxes8) -> Singles:
    """Return squared distances of boxes; NaN, from beyond float32, counts as 0."""
    below, above, zero = minus8(a.lower, b.upper), minus8(b.lower, a.upper), in_every_lane(0.0)
    return squared_length(
        Points8(
            f32x8_max(f32x8_max(below.x, above.x), zero),
            f32x8_max(f32x8_max(below.y, above.y), zero),
            f32x8_max(f32x8_max(below.z, above.z), zero),
        )
    )


@kernel(forceinline=True)
def squared_between_centres(a: Boxes8, b: Boxes8) -> Singles:
    """Return the squared distances of the centres of boxes, up to rounding."""
    return f32x8_mul(squared_length(minus8(_doubled_centres(a), _doubled_centres(b))), in_every_lane(0.25))


@kernel(forceinline=True)
def _doubled_centres(a: Boxes8) -> Points8:
    return Points8(f32x8_add(a.lower.x, a.upper.x), f32x8_add(a.lower.y, a.upper.y), f32x8_add(a.lower.z, a.upper.z))
