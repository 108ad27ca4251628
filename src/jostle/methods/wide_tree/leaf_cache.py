"""Leaves in the world: what the tests of faces need of a leaf, computed once and used for every leaf it meets.

A direct-mapped cache: leaf n lives in slot n mod SLOTS, and a tag says whose it is. A leaf meets five others on average. A
slot holds the world vertices of its faces in float64, face by face, for the exact test; and for the culls, in float32 and
as rows of eight lanes (one for each face): boxes, corners and planes, relative to a reference point, in X's units.

Boxes are those of the very world vertices, rounded outward. Rounding is monotone, so two faces that share a point have
boxes that meet. A plane is n · p = d with a slack: the face of another leaf with all three corners on one side by more than
the slack does not meet it. Coordinates are below 4 in magnitude, or the slack grows with them; corners are off by 2^-24 of
that, and the five operations of n · p - d round to 2^-24 of at most |n|₁ · size each: 16 · 2^-24 · |n|₁ · size is twice the
sum. `more` (a clearance) moves planes and boxes out.
"""

from __future__ import annotations

import math

import numpy as np

from jostle.geometry.rigid import SMALLEST_WORLD_COORDINATE
from jostle.kernels.jit import kernel
from jostle.methods.wide_tree.tree import EMPTY, OUTWARD, TINY

SLOTS = 512
CORNERS = 72  # float64 numbers of a slot
LANES32 = 160  # float32 numbers of a slot: six rows of boxes, then rows of corners, normals, offsets and slacks
CORNER_ROW, NORMAL_ROW, OFFSET_ROW, SLACK_ROW = 48, 120, 144, 152
PLANE_SLACK = 16.0 * 2.0**-24


def empty_cache() -> tuple[np.ndarray, np.ndarray, np.ndarray]:  # type: ignore[type-arg]
    """Return tags, float32 lanes and float64 corners of a cache."""
    return np.full(SLOTS, -1, np.int64), np.zeros(SLOTS * LANES32, np.float32), np.zeros(SLOTS * CORNERS)


@kernel
def fill_leaf(  # type: ignore[no-untyped-def]
    all_lanes, base, all_corners, corner, scratch, faces, first, count, vertices, pose, ox, oy, oz, scale, more
):
    """Write a leaf of `count` faces from `first` on to its slot, which begins at all_lanes[base] and all_corners[corner].

    faces and vertices are flat; scratch (72,) float64; (ox, oy, oz) is the reference point.
    """
    # Views with indices from 0: LLVM then sees that nothing wraps and makes vector instructions of the loops over lanes.
    lanes32, corners = all_lanes[base : base + LANES32], all_corners[corner : corner + CORNERS]
    gather(scratch, faces, first, count, vertices)
    move(scratch, pose)
    for lane in range(8):
        for k in range(9):
            corners[9 * lane + k] = scratch[8 * k + lane]
    enclose(lanes32, scratch, count, (ox, oy, oz), scale, more)
    set_up_planes(lanes32, scratch, ox, oy, oz, scale, more)


@kernel(forceinline=True)
def gather(leaf, faces, first, count, vertices):  # type: ignore[no-untyped-def]
    """Copy the corners of faces into lanes; the first face into lanes beyond the last."""
    for lane in range(8):
        f = np.uint64(3 * (first + (lane if lane < count else 0)))
        for k in range(3):
            v = np.uint64(3) * np.uint64(faces[f + np.uint64(k)])
            for row in range(3):
                leaf[24 * k + 8 * row + lane] = vertices[v + np.uint64(row)]


@kernel(forceinline=True)
def move(leaf, pose):  # type: ignore[no-untyped-def]
    """Replace the corners by their world coordinates; operation by operation the formula of `geometry/rigid.py`."""
    a0, a1, a2, a3 = pose[0, 0], pose[0, 1], pose[0, 2], pose[0, 3]
    b0, b1, b2, b3 = pose[1, 0], pose[1, 1], pose[1, 2], pose[1, 3]
    c0, c1, c2, c3 = pose[2, 0], pose[2, 1], pose[2, 2], pose[2, 3]
    for k in range(3):
        for lane in range(8):
            x, y, z = leaf[24 * k + lane], leaf[24 * k + 8 + lane], leaf[24 * k + 16 + lane]
            u = ((a0 * x + a1 * y) + a2 * z) + a3
            v = ((b0 * x + b1 * y) + b2 * z) + b3
            w = ((c0 * x + c1 * y) + c2 * z) + c3
            leaf[24 * k + lane] = u if abs(u) >= SMALLEST_WORLD_COORDINATE else 0.0
            leaf[24 * k + 8 + lane] = v if abs(v) >= SMALLEST_WORLD_COORDINATE else 0.0
            leaf[24 * k + 16 + lane] = w if abs(w) >= SMALLEST_WORLD_COORDINATE else 0.0


@kernel(forceinline=True)
def enclose(lanes32, leaf, count, reference, scale, more):  # type: ignore[no-untyped-def]
    """Write the boxes of eight faces, rounded outward; those of lanes without a face are empty. And the corners, rounded."""
    for row in range(3):
        origin = reference[row]
        for lane in range(8):
            p, q, r = leaf[8 * row + lane], leaf[24 + 8 * row + lane], leaf[48 + 8 * row + lane]
            low, high = p if p < q else q, p if p > q else q
            low, high = low if low < r else r, high if high > r else r
            near = np.float32((low - origin) * scale - more)
            lanes32[8 * row + lane] = near - (abs(near) * OUTWARD + TINY)
            near = np.float32((high - origin) * scale + more)
            lanes32[24 + 8 * row + lane] = near + (abs(near) * OUTWARD + TINY)
            lanes32[CORNER_ROW + 8 * row + lane] = np.float32((p - origin) * scale)
            lanes32[CORNER_ROW + 24 + 8 * row + lane] = np.float32((q - origin) * scale)
            lanes32[CORNER_ROW + 48 + 8 * row + lane] = np.float32((r - origin) * scale)
    for lane in range(count, 8):
        lanes32[lane] = np.float32(EMPTY)
        lanes32[24 + lane] = np.float32(-EMPTY)


@kernel(forceinline=True)
def set_up_planes(lanes32, leaf, ox, oy, oz, scale, more):  # type: ignore[no-untyped-def]
    """Write the planes of eight faces."""
    for lane in range(8):
        px, py, pz = leaf[lane], leaf[8 + lane], leaf[16 + lane]
        ux, uy, uz = (leaf[24 + lane] - px) * scale, (leaf[32 + lane] - py) * scale, (leaf[40 + lane] - pz) * scale
        vx, vy, vz = (leaf[48 + lane] - px) * scale, (leaf[56 + lane] - py) * scale, (leaf[64 + lane] - pz) * scale
        px, py, pz = (px - ox) * scale, (py - oy) * scale, (pz - oz) * scale
        nx, ny, nz = uy * vz - uz * vy, uz * vx - ux * vz, ux * vy - uy * vx
        lanes32[NORMAL_ROW + lane] = np.float32(nx)
        lanes32[NORMAL_ROW + 8 + lane] = np.float32(ny)
        lanes32[NORMAL_ROW + 16 + lane] = np.float32(nz)
        lanes32[OFFSET_ROW + lane] = np.float32((nx * px + ny * py) + nz * pz)
        size = 4.0 + abs(px) + abs(py) + abs(pz)
        slack = (abs(nx) + abs(ny) + abs(nz)) * (PLANE_SLACK * size) + 1e-30
        lanes32[SLACK_ROW + lane] = np.float32(slack + math.sqrt((nx * nx + ny * ny) + nz * nz) * more * 1.001)
