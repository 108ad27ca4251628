"""Lower bounds of the distance of boxes in two trees, safe for the world vertices; and the numbers that they are compared with.

Three bounds hold together: the distance of boxes in the frame of X, with Y's boxes moved there; the same in the frame of Y;
and the gap between boxes along one direction in the world, the *arrow*, from the closest point on x to the one on y found
so far. The first two tell what lies to the side, the last what lies behind: where two surfaces face each other it alone
sees that boxes are fatter than what is in them.

Conservative: the padding of `motion.py` covers the poses and float32 (its error grows with the distance of the bodies, here
up to FARTHEST times their size). A pose is rigid only to 1e-5, so lengths in a frame are multiplied by a bound of its
smallest singular value; the arrow is taken into the frames by transposing, which is exact for any matrix. Beyond FARTHEST
only the arrow serves: the way between the centres is added in float64, and float32 holds what is left, so that bodies 1e6
sizes apart are told apart as well as near ones.
"""

from __future__ import annotations

import math

import numpy as np

from jostle.geometry.rigid import cull_padding, solve_relative_pose_into
from jostle.kernels.jit import kernel
from jostle.kernels.simd import f32x8_add, f32x8_load, f32x8_max, f32x8_mul, f32x8_multiply_add, f32x8_splat, f32x8_sub
from jostle.methods.wide_tree.motion import FLOAT32_PADDING, LARGEST_RATIO

# The search, float64. Lengths in the world unless they say "in X's units".
DISTANCE = 0  # least distance so far
ARROW = 1  # three: unit vector from x to y between the points of that distance
LAST_ARROW = 4  # three: of the faces compared last
BAND = 7  # what rounding can make of a distance, twice over
BETWEEN = 8  # three: from the centre of x to that of y
ORIGIN = 11  # three: the centre of y, to which coordinates of leaves are relative
SCALE_X, SCALE_Y, RATIO = 14, 15, 16
SMALLEST_STRETCH = 17  # lower bound of the singular values of both poses
PADDING = 18  # of gaps along the arrow, in X's units
ALONG = 19  # BETWEEN along the arrow, in X's units
NODE_LIMIT_SQUARED, FACE_LIMIT = 20, 21  # boxes farther apart than this (squared, in X's units), and faces, are of no interest
EXTENT = 22  # upper bound of the difference of any two coordinates
REACH_X, REACH_Y = 24, 32  # eight each: how far faces reach along the arrow
CORNERS_OF_BEST, CORNERS_OF_OTHER = 40, 58  # eighteen each: the closest faces, and those that are compared with them
COUNTS = 76  # node pairs, leaf pairs, face pairs, and distances settled
NODE_TESTS, LEAF_TESTS, FACE_TESTS, DISTANCE_TESTS = range(COUNTS, COUNTS + 4)
SEARCH = 80

# Lanes, float32: the motion of `motion.py`, then
MOVED_Y, MOVED_X, NEAR_Y, SQUARED, APART, CENTRES = 48, 96, 144, 152, 160, 168  # rows of eight
ARROW_X, ARROW_Y, LIMIT_ALONG, LIMIT_SQUARED, LEAF_LIMIT_SQUARED = 176, 179, 182, 183, 184
CANDIDATES = 192  # sixty-four squared distances of boxes of faces
LANES = 256

# Of the extent: triangles_distance is within 0.75 · 2^-44 of the truth, closest_points_of_triangles within 2^-46. Two of each
# make 2^-43; as much again covers the roundings of gaps along the arrow.
BAND_FACTOR = 2.0**-42
FARTHEST = 16.0  # times the size of X


@kernel
def set_up_search(pose_x, pose_y, frame_x, frame_y, relative, lanes, search):  # type: ignore[no-untyped-def]
    """Fill lanes and search for two trees with frames (6,) under poses (4,4); relative (4,4) is scratch.

    Returns 0 when only the arrow serves, 1 when the frame of X does too, 2 when both frames do.
    """
    scale, ratio = frame_x[3], frame_x[3] / frame_y[3]
    search[SCALE_X], search[SCALE_Y], search[RATIO] = scale, frame_y[3], ratio
    extent, off = 4.0 * (frame_x[4] / frame_x[3] + frame_y[4] / frame_y[3]), 0.0
    for k in range(3):
        x = (pose_x[k, 0] * frame_x[0] + pose_x[k, 1] * frame_x[1]) + pose_x[k, 2] * frame_x[2]
        y = (pose_y[k, 0] * frame_y[0] + pose_y[k, 1] * frame_y[1]) + pose_y[k, 2] * frame_y[2]
        search[BETWEEN + k] = (pose_y[k, 3] - pose_x[k, 3]) + (y - x)
        search[ORIGIN + k] = pose_y[k, 3] + y
        extent += abs(search[BETWEEN + k])
        for j in range(3):
            same = 1.0 if j == k else 0.0
            off = max(off, abs((pose_x[0, j] * pose_x[0, k] + pose_x[1, j] * pose_x[1, k]) + pose_x[2, j] * pose_x[2, k] - same))
            off = max(off, abs((pose_y[0, j] * pose_y[0, k] + pose_y[1, j] * pose_y[1, k]) + pose_y[2, j] * pose_y[2, k] - same))
    search[EXTENT] = extent
    search[BAND] = BAND_FACTOR * extent
    # The eigenvalues of RᵀR differ from 1 by three times its largest entry off the identity at most; and squares of float32 round.
    search[SMALLEST_STRETCH] = math.sqrt(1.0 - 3.0 * off) * (1.0 - 2.0**-20)
    reach = 1.7321 * (1.0 + 1e-5)
    world_x = max(abs(pose_x[0, 3]), abs(pose_x[1, 3]), abs(pose_x[2, 3])) + reach * frame_x[5]
    world_y = max(abs(pose_y[0, 3]), abs(pose_y[1, 3]), abs(pose_y[2, 3])) + reach * frame_y[5]
    padding = 2.0 * cull_padding(world_x, world_y, max(frame_x[5], frame_y[5])) * scale
    padding += FLOAT32_PADDING * (1.0 + padding)
    search[PADDING] = padding
    solve_relative_pose_into(pose_x, pose_y, relative)
    farthest = _set_up_way(relative, frame_x, frame_y, lanes, 0)
    if not farthest <= FARTHEST:
        return 0
    padding *= 1.0 + farthest
    lanes[42] = np.float32(padding)
    if ratio < 1.0 / LARGEST_RATIO:
        return 1
    lanes[43] = np.float32(padding / ratio)
    solve_relative_pose_into(pose_y, pose_x, relative)
    _set_up_way(relative, frame_y, frame_x, lanes, 21)
    return 2


@kernel
def _set_up_way(relative, frame_to, frame_from, lanes, matrix):  # type: ignore[no-untyped-def]
    """Write matrix, its absolute and shift from one frame into the other; returns the largest shift."""
    scale, ratio = frame_to[3], frame_to[3] / frame_from[3]
    farthest = 0.0
    for i in range(3):
        shift = relative[i, 3] - frame_to[i]
        for j in range(3):
            shift += relative[i, j] * frame_from[j]
        shift *= scale
        farthest = max(farthest, abs(shift))
        lanes[matrix + 18 + i] = np.float32(min(max(shift, -1e30), 1e30))
        for j in range(3):
            lanes[matrix + 3 * i + j] = np.float32(relative[i, j] * ratio)
            lanes[matrix + 9 + 3 * i + j] = abs(lanes[matrix + 3 * i + j])
    return farthest


@kernel
def aim(pose_x, pose_y, lanes, search, many_ties):  # type: ignore[no-untyped-def]
    """Bring what depends on the least distance and on the arrow up to date."""
    nx, ny, nz = search[ARROW], search[ARROW + 1], search[ARROW + 2]
    scale = search[SCALE_X]
    for k in range(3):
        lanes[ARROW_X + k] = np.float32((pose_x[0, k] * nx + pose_x[1, k] * ny) + pose_x[2, k] * nz)
        lanes[ARROW_Y + k] = np.float32(((pose_y[0, k] * nx + pose_y[1, k] * ny) + pose_y[2, k] * nz) * search[RATIO])
    search[ALONG] = ((search[BETWEEN] * nx + search[BETWEEN + 1] * ny) + search[BETWEEN + 2] * nz) * scale
    limit = search[DISTANCE] + search[BAND]
    search[FACE_LIMIT] = limit
    if many_ties and search[DISTANCE] > 1024.0 * search[BAND]:
        search[FACE_LIMIT] = search[DISTANCE] - 2.0**-47 * search[EXTENT]
    far = limit * scale + search[PADDING]
    search[NODE_LIMIT_SQUARED] = far * far
    lanes[LIMIT_ALONG] = as_float32((far - search[ALONG]) + FLOAT32_PADDING)
    far = limit * scale / search[SMALLEST_STRETCH]
    lanes[LIMIT_SQUARED] = as_float32(far * far)
    far = limit * search[SCALE_Y]
    lanes[LEAF_LIMIT_SQUARED] = as_float32(far * far * (1.0 + 2.0**-20) + 1e-37)


@kernel(forceinline=True)
def as_float32(value):  # type: ignore[no-untyped-def]
    """The nearest float32, infinite for what is too large."""
    return np.float32(value if value < 1e38 else math.inf)


@kernel(forceinline=True)
def farthest_along(boxes, base, lanes, arrow, upper, lower):  # type: ignore[no-untyped-def]
    """Eight times the far end of a box along an arrow (upper 24, lower 0), or the near end (upper 0, lower 24)."""
    x, y, z = lanes[arrow], lanes[arrow + 1], lanes[arrow + 2]
    far = f32x8_mul(f32x8_load(boxes, base + (upper if x > 0 else lower)), f32x8_splat(x))
    far = f32x8_multiply_add(f32x8_load(boxes, base + 8 + (upper if y > 0 else lower)), f32x8_splat(y), far)
    return f32x8_multiply_add(f32x8_load(boxes, base + 16 + (upper if z > 0 else lower)), f32x8_splat(z), far)


@kernel(forceinline=True)
def squared_gaps(lx, ly, lz, ux, uy, uz, others, at):  # type: ignore[no-untyped-def]
    """Eight squared distances, of boxes given by six vectors from the box in lane `at` of six rows.

    NaN, from coordinates beyond float32, counts as 0.
    """
    zero = f32x8_splat(np.float32(0.0))
    fx, fy, fz = f32x8_splat(others[at]), f32x8_splat(others[at + 8]), f32x8_splat(others[at + 16])
    tx, ty, tz = f32x8_splat(others[at + 24]), f32x8_splat(others[at + 32]), f32x8_splat(others[at + 40])
    x = f32x8_max(f32x8_max(f32x8_sub(lx, tx), f32x8_sub(fx, ux)), zero)
    y = f32x8_max(f32x8_max(f32x8_sub(ly, ty), f32x8_sub(fy, uy)), zero)
    z = f32x8_max(f32x8_max(f32x8_sub(lz, tz), f32x8_sub(fz, uz)), zero)
    return f32x8_multiply_add(x, x, f32x8_multiply_add(y, y, f32x8_mul(z, z)))


@kernel(forceinline=True)
def squared_between_centres(lx, ly, lz, ux, uy, uz, others, at):  # type: ignore[no-untyped-def]
    """Squared distances of the centres of the same boxes, up to rounding."""
    fx, fy, fz = f32x8_splat(others[at]), f32x8_splat(others[at + 8]), f32x8_splat(others[at + 16])
    tx, ty, tz = f32x8_splat(others[at + 24]), f32x8_splat(others[at + 32]), f32x8_splat(others[at + 40])
    x = f32x8_sub(f32x8_add(lx, ux), f32x8_add(fx, tx))
    y = f32x8_sub(f32x8_add(ly, uy), f32x8_add(fy, ty))
    z = f32x8_sub(f32x8_add(lz, uz), f32x8_add(fz, tz))
    return f32x8_mul(f32x8_multiply_add(x, x, f32x8_multiply_add(y, y, f32x8_mul(z, z))), f32x8_splat(np.float32(0.25)))
