"""From one tree's frame into the other's: rotation, translation and padding for the tests of boxes, in float32.

The tree with the larger extent is X, the other Y; everything is measured in X's frame, where all of X is in -1 … 1. Let v =
centre + u / scale be a vertex of Y with frame coordinates u. Its place in X's frame is M u + T with M = R · (scale_x /
scale_y), R and t the relative pose and T = (R · centre_y + t - centre_x) · scale_x. The other way round likewise, in Y's
units.

Padding: world vertices that coincide differ by at most `cull_padding` in X's frame (`geometry/rigid.py` has the proof; the
centre costs another rounding of the largest coordinate, which its factor of two to spare covers). Float32 adds its own:
with |T| ≤ 4, which is checked, every number in a box test is below 8, and its dozen roundings of 2^-24 stay below 64 ·
2^-24 together.
"""

from __future__ import annotations

import numpy as np

from jostle.geometry.rigid import cull_padding, solve_relative_pose_into
from jostle.kernels.jit import kernel
from jostle.kernels.simd import (
    f32x8_add,
    f32x8_load,
    f32x8_mul,
    f32x8_multiply_add,
    f32x8_splat,
    f32x8_store,
    f32x8_sub,
)

MOTION = 48  # float32 numbers: Y into X: matrix 0, its absolute 9, shift 18; X into Y: 21, 30, 39; padding 42 and 43
FLOAT32_PADDING = 64.0 * 2.0**-24
FARTHEST = 4.0
LARGEST_RATIO = 2.0**60
LARGEST_PADDING = 2.0**60  # in units of X's size: with more, all boxes meet; below `EMPTY`, so that empty ones still do not


@kernel
def set_up_motion(pose_x, pose_y, frame_x, frame_y, clearance, relative, motion):  # type: ignore[no-untyped-def]
    """Fill motion (48,) float32 for two trees with frames (6,) under poses (4,4); relative (4,4) is scratch.

    Returns 0 when the bodies are too far apart to meet, 1 when only the test in X's frame may be used, 2 when both may.
    """
    scale, ratio = frame_x[3], frame_x[3] / frame_y[3]
    reach = 1.0 + 1e-5
    world_x = max(abs(pose_x[0, 3]), abs(pose_x[1, 3]), abs(pose_x[2, 3])) + 1.7321 * reach * frame_x[5]
    world_y = max(abs(pose_y[0, 3]), abs(pose_y[1, 3]), abs(pose_y[2, 3])) + 1.7321 * reach * frame_y[5]
    padding = (2.0 * cull_padding(world_x, world_y, max(frame_x[5], frame_y[5])) + clearance * reach) * scale
    solve_relative_pose_into(pose_x, pose_y, relative)
    beyond = padding > LARGEST_PADDING  # and then float32 might overflow
    farthest = frame_x[4] + 1.7321 * reach * ratio * frame_y[4] + padding + 1e-3
    for i in range(3):
        shift = relative[i, 3] - frame_x[i]
        for j in range(3):
            shift += relative[i, j] * frame_y[j]
        shift *= scale
        # Padding grows with the distance from the origin: so far out that nothing can be told, boxes are no help.
        if not abs(shift) <= farthest:
            return 0
        motion[18 + i] = np.float32(0.0) if beyond else np.float32(shift)
        for j in range(3):
            motion[3 * i + j] = np.float32(relative[i, j] * ratio)
            motion[9 + 3 * i + j] = abs(motion[3 * i + j])
    padding = min(padding, LARGEST_PADDING)
    motion[42] = np.float32(padding + FLOAT32_PADDING * (1.0 + padding))
    if beyond or ratio < 1.0 / LARGEST_RATIO:
        return 1
    solve_relative_pose_into(pose_y, pose_x, relative)
    inverse = frame_y[3] / scale
    for i in range(3):
        shift = relative[i, 3] - frame_y[i]
        for j in range(3):
            shift += relative[i, j] * frame_x[j]
        motion[39 + i] = np.float32(shift * frame_y[3])
        for j in range(3):
            motion[21 + 3 * i + j] = np.float32(relative[i, j] * inverse)
            motion[30 + 3 * i + j] = abs(motion[21 + 3 * i + j])
    motion[43] = np.float32(motion[42] * inverse)
    return 2


@kernel
def move_boxes(boxes, base, motion, matrix, padding, out, to):  # type: ignore[no-untyped-def]
    """Write boxes around the eight boxes at `base`, moved by the motion that begins at `matrix`, to out[to : to + 48]."""
    half = f32x8_splat(np.float32(0.5))
    more = f32x8_splat(motion[padding])
    low, high = f32x8_load(boxes, base), f32x8_load(boxes, base + 24)
    cx, hx = f32x8_mul(f32x8_add(low, high), half), f32x8_mul(f32x8_sub(high, low), half)
    low, high = f32x8_load(boxes, base + 8), f32x8_load(boxes, base + 32)
    cy, hy = f32x8_mul(f32x8_add(low, high), half), f32x8_mul(f32x8_sub(high, low), half)
    low, high = f32x8_load(boxes, base + 16), f32x8_load(boxes, base + 40)
    cz, hz = f32x8_mul(f32x8_add(low, high), half), f32x8_mul(f32x8_sub(high, low), half)
    for k in range(3):
        row = matrix + 3 * k
        centre = f32x8_splat(motion[matrix + 18 + k])
        centre = f32x8_multiply_add(cz, f32x8_splat(motion[row + 2]), centre)
        centre = f32x8_multiply_add(cy, f32x8_splat(motion[row + 1]), centre)
        centre = f32x8_multiply_add(cx, f32x8_splat(motion[row]), centre)
        extent = f32x8_multiply_add(hz, f32x8_splat(motion[row + 11]), more)
        extent = f32x8_multiply_add(hy, f32x8_splat(motion[row + 10]), extent)
        extent = f32x8_multiply_add(hx, f32x8_splat(motion[row + 9]), extent)
        f32x8_store(out, to + 8 * k, f32x8_sub(centre, extent))
        f32x8_store(out, to + 24 + 8 * k, f32x8_add(centre, extent))
