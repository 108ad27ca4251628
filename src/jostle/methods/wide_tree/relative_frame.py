r"""From one tree's frame into the other's, with padding for box tests in float32.

The tree with the larger extent is X, the other Y; everything is measured in X's frame, where all of X is in -1 … 1. Let v =
centre + u / scale be a vertex of Y with frame coordinates u. Its position in X's frame is M u + T with M = R · (scale_x /
scale_y), R and t the relative pose and T = (R · centre_y + t - centre_x) · scale_x; conversely in Y's units.

Padding: coincident world vertices differ by at most `cull_padding` in X's frame (`geometry/rigid.py` has the proof; the centre
costs another rounding of the largest coordinate, covered by its factor of two). Float32 adds its own: with |T| ≤ 4, which is
checked, every number in a box test is below 8, and its dozen roundings of 2^-24 stay below 64 · 2^-24 together.

Boxes of a rotated node are around w = Q u. With Qx and Qy those of two nodes, w_x = (Qx M Qyᵀ) w_y + Qx T but for Qyᵀ Qy, which is
the identity only to E, |E| ≤ 2^-22 in every entry. In X's frame, in units of 2^-24 and with |u| ≤ √3:

| what | at most |
|---|---|
| E: ‖E‖ ‖u_y‖ ≤ 3 · 4 · √3 | 21 |
| products in float64 of numbers rounded to float32: M and the result, per entry 2, times \|w_y\|₁ ≤ 3 | 6 |
| the same for T, ‖T‖ ≤ √3 · 2.8, and the result, below 5 | 10 |
| fitting boxes (`turned_boxes.py`): 2^-49 | 1 |
| the roundings above, of numbers that are up to √3 times as large | 111 |

That is below 4 · 64, and each but the fourth grows with 1 + padding at most. What coincident world vertices differ by per
coordinate grows by √3 under Qx; a clearance does not grow.
"""

from __future__ import annotations

from typing import Any, Literal

from jostle._types import Floats, Singles
from jostle.geometry.rigid import cull_padding, solve_relative_pose_into
from jostle.geometry.vector import Vec3, dot, plus, times
from jostle.kernels.jit import kernel
from jostle.kernels.numbers import as_float64
from jostle.kernels.simd import LANES, f32x8_add, f32x8_mul, f32x8_multiply_add, f32x8_splat, f32x8_store, f32x8_sub
from jostle.kernels.structs import Record, Run, float32, int64
from jostle.methods.wide_tree.lanes import POINT_ROWS, boxes_at, in_every_lane
from jostle.methods.wide_tree.tree import PlacedTree, TreeArrays, TreeFrame

REACH = 1.0 + 1.6e-5  # by which a pose stretches a vector at most: RᵀR is the identity to 1e-5 in each entry, to 3e-5 as a whole
FLOAT32_PADDING = 64.0 * 2.0**-24
TURNED_PADDING = 4.0 * FLOAT32_PADDING
LARGEST_RATIO = 2.0**60
LARGEST_PADDING = 2.0**60  # in X's units: with more, all boxes meet; less than `EMPTY`, so empty ones do not
NO_FRAME, FRAME_OF_X, BOTH_FRAMES = 0, 1, 2  # that boxes can be compared in


class FrameTransform(Record):
    """From one frame into another: u ↦ matrix · u + shift.

    `absolute`: absolute values of the matrix, for boxes.
    """

    matrix: Run[float32, Literal[9]]
    absolute: Run[float32, Literal[9]]
    shift: Run[float32, Literal[3]]
    padding: float32  # by which moved boxes grow
    turned_padding: float32  # the same of rotated boxes


class FrameTransforms(Record):
    """The transforms between the frames of two trees, in both directions."""

    into_x: FrameTransform
    into_y: FrameTransform


class Rotations(Record):
    """The rotations of two nodes, by their numbers."""

    x: int64
    y: int64


class TurnedTransforms(Record):
    """The last transforms between the boxes of two nodes, and of which rotations."""

    into_x_of: Rotations
    into_y_of: Rotations
    transforms: FrameTransforms


@kernel
def set_up_transforms(x: PlacedTree, y: PlacedTree, clearance: float, relative: Floats, transforms: FrameTransforms) -> int:
    """Fill the transforms of two trees; return the frames to compare boxes in.

    NO_FRAME: the bodies are too far apart to meet. relative (4,4) is scratch.
    """
    frame_x, frame_y = x.arrays.frame, y.arrays.frame
    scale, ratio = frame_x.scale, frame_x.scale / frame_y.scale
    apart, reach = world_padding(x, y) * scale, clearance * REACH * scale
    padding = apart + reach
    solve_relative_pose_into(x.pose, y.pose, relative)
    beyond = padding > LARGEST_PADDING  # and then float32 might overflow
    farthest = frame_x.radius + 1.7321 * REACH * ratio * frame_y.radius + padding + 1e-3
    into_x = transforms.into_x
    for i in range(3):
        shift = centre_shift(relative, frame_x, frame_y, i) * scale
        # Padding grows with the distance from the origin; far enough out, boxes are useless.
        if not abs(shift) <= farthest:
            return NO_FRAME
        into_x.shift[i] = 0.0 if beyond else shift
        set_up_row(into_x, relative, i, ratio)
    padding = min(padding, LARGEST_PADDING)
    into_x.padding = padding + FLOAT32_PADDING * (1.0 + padding)
    into_x.turned_padding = min(1.7321 * apart + reach, LARGEST_PADDING) + TURNED_PADDING * (1.0 + padding)
    if beyond or ratio < 1.0 / LARGEST_RATIO:
        return FRAME_OF_X
    solve_relative_pose_into(y.pose, x.pose, relative)
    inverse = frame_y.scale / scale
    into_y = transforms.into_y
    for i in range(3):
        into_y.shift[i] = centre_shift(relative, frame_y, frame_x, i) * frame_y.scale
        set_up_row(into_y, relative, i, inverse)
    into_y.padding = into_x.padding * inverse
    into_y.turned_padding = into_x.turned_padding * inverse
    return BOTH_FRAMES


@kernel(forceinline=True)
def matrix_in(numbers: Any) -> Floats:
    """Return sixteen numbers as an array (4,4)."""
    return numbers.reshape((4, 4))


@kernel(forceinline=True)
def world_padding(x: PlacedTree, y: PlacedTree) -> float:
    """Return the largest difference of coincident world vertices in a body's frame."""
    largest = max(x.arrays.frame.farthest, y.arrays.frame.farthest)
    return as_float64(2.0 * cull_padding(_farthest_in_world(x), _farthest_in_world(y), largest))


@kernel(forceinline=True)
def _farthest_in_world(x: PlacedTree) -> float:
    """Return an upper bound of the world coordinates."""
    shift = max(abs(x.pose[0, 3]), abs(x.pose[1, 3]), abs(x.pose[2, 3]))
    return as_float64(shift + 1.7321 * REACH * x.arrays.frame.farthest)


@kernel(forceinline=True)
def centre_shift(relative: Floats, to: TreeFrame, source: TreeFrame, i: int) -> float:
    """Return coordinate i of the vector between two centres, in the body of `to`."""
    shift = as_float64(relative[i, 3] - to.centre[i])
    for j in range(3):
        shift += relative[i, j] * source.centre[j]
    return shift


@kernel(forceinline=True)
def set_up_row(transform: FrameTransform, relative: Floats, i: int, ratio: float) -> None:
    """Write row i of a matrix."""
    for j in range(3):
        transform.matrix[3 * i + j] = relative[i, j] * ratio
        transform.absolute[3 * i + j] = abs(transform.matrix[3 * i + j])


@kernel(forceinline=True)
def forget_turned(turned: TurnedTransforms) -> None:
    """Let no transform be taken for that of two nodes."""
    turned.into_x_of.x = turned.into_y_of.x = -1


@kernel(forceinline=True)
def turn_transforms(
    transforms: FrameTransforms, x: TreeArrays, rotation_x: int, y: TreeArrays, rotation_y: int, turned: TurnedTransforms
) -> None:
    """Write the transforms between the boxes of nodes with these rotations, unless they are there."""
    turn_into_x(transforms, x, rotation_x, y, rotation_y, turned)
    turn_into_y(transforms, x, rotation_x, y, rotation_y, turned)


@kernel(forceinline=True)
def turn_into_x(
    transforms: FrameTransforms, x: TreeArrays, rotation_x: int, y: TreeArrays, rotation_y: int, turned: TurnedTransforms
) -> None:
    """Write one of the transforms, unless it is there."""
    known = turned.into_x_of
    if known.x != rotation_x or known.y != rotation_y:
        known.x, known.y = rotation_x, rotation_y
        _turn_transform(transforms.into_x, x, rotation_x, y, rotation_y, turned.transforms.into_x)


@kernel(forceinline=True)
def turn_into_y(
    transforms: FrameTransforms, x: TreeArrays, rotation_x: int, y: TreeArrays, rotation_y: int, turned: TurnedTransforms
) -> None:
    """Write the other one, unless it is there."""
    known = turned.into_y_of
    if known.x != rotation_x or known.y != rotation_y:
        known.x, known.y = rotation_x, rotation_y
        _turn_transform(transforms.into_y, y, rotation_y, x, rotation_x, turned.transforms.into_y)


@kernel
def _turn_transform(
    transform: FrameTransform, to: TreeArrays, rotation_to: int, source: TreeArrays, rotation: int, out: FrameTransform
) -> None:
    """Write a transform between boxes with rotations of two trees."""
    for i in range(3):
        row = Vec3(as_float64(i == 0), as_float64(i == 1), as_float64(i == 2))
        if rotation_to > 0:
            row = row_of(to.rotations[rotation_to].rows, i)
        row, shift = _times_matrix(row, transform.matrix), dot(row, vector_of(transform.shift))
        for j in range(3):
            out.matrix[3 * i + j] = dot(row, row_of(source.rotations[rotation].rows, j)) if rotation > 0 else row[j]
            out.absolute[3 * i + j] = abs(out.matrix[3 * i + j])
        out.shift[i] = shift
    out.padding = transform.turned_padding


@kernel(forceinline=True)
def row_of(matrix: Any, i: int) -> Vec3:
    """Return a row of a matrix of float32."""
    return Vec3(as_float64(matrix[3 * i]), as_float64(matrix[3 * i + 1]), as_float64(matrix[3 * i + 2]))


@kernel(forceinline=True)
def vector_of(numbers: Any) -> Vec3:
    """Return three float32 numbers."""
    return Vec3(as_float64(numbers[0]), as_float64(numbers[1]), as_float64(numbers[2]))


@kernel(forceinline=True)
def _times_matrix(row: Vec3, matrix: Any) -> Vec3:
    """Return the product of a row vector with a matrix."""
    return plus(plus(times(row.x, row_of(matrix, 0)), times(row.y, row_of(matrix, 1))), times(row.z, row_of(matrix, 2)))


@kernel
def move_boxes(boxes: Any, start: int, transform: FrameTransform, out: Any) -> None:
    """Write to out (48,) boxes around eight boxes moved into another frame, padded."""
    box = boxes_at(boxes, start)
    half, padding = in_every_lane(0.5), in_every_lane(transform.padding)
    cx, hx = f32x8_mul(f32x8_add(box.lower.x, box.upper.x), half), f32x8_mul(f32x8_sub(box.upper.x, box.lower.x), half)
    cy, hy = f32x8_mul(f32x8_add(box.lower.y, box.upper.y), half), f32x8_mul(f32x8_sub(box.upper.y, box.lower.y), half)
    cz, hz = f32x8_mul(f32x8_add(box.lower.z, box.upper.z), half), f32x8_mul(f32x8_sub(box.upper.z, box.lower.z), half)
    for i in range(3):
        centre = _add_product(transform.matrix, i, cx, cy, cz, in_every_lane(transform.shift[i]))
        extent = _add_product(transform.absolute, i, hx, hy, hz, padding)
        f32x8_store(out, LANES * i, f32x8_sub(centre, extent))
        f32x8_store(out, POINT_ROWS + LANES * i, f32x8_add(centre, extent))


@kernel(forceinline=True)
def _add_product(matrix: Any, i: int, x: Singles, y: Singles, z: Singles, start: Singles) -> Singles:
    """Return start plus coordinate i of matrix · (x, y, z)."""
    total = f32x8_multiply_add(z, f32x8_splat(matrix[3 * i + 2]), start)
    total = f32x8_multiply_add(y, f32x8_splat(matrix[3 * i + 1]), total)
    return f32x8_multiply_add(x, f32x8_splat(matrix[3 * i]), total)
