"""Leaves in the world: what the tests of faces need of a leaf, computed once and used for every leaf it meets.

A direct-mapped cache: leaf n lives in slot n mod SLOTS, and a tag says whose it is. A leaf meets five others on average.
Everything is in rows of eight lanes, one for each face: the world vertices in float64, for the exact test; and for the
culls, in float32, boxes, corners and planes relative to a reference point, in X's units.

Boxes are those of the very world vertices, rounded outward. Rounding is monotone, so two faces that share a point have
boxes that meet. A plane is n · p = d with a slack: the face of another leaf with all three corners on one side by more than
the slack does not meet it. Coordinates are below 4 in magnitude, or the slack grows with them; corners are off by 2^-24 of
that, and the five operations of n · p - d round to 2^-24 of at most |n|₁ · size each: 16 · 2^-24 · |n|₁ · size is twice the
sum. Of a sliver n itself is mostly rounding, and its plane holds only one of the corners: each component of n is off by up to
6 · 2^-53 · |u|₁ · |v|₁ for its edges u and v, and heights by three times that and the size: NORMAL_NOISE is more than twice the
sum. `more` (a clearance) moves planes and boxes out.
"""

from __future__ import annotations

import numpy as np

from jostle.geometry.rigid import SMALLEST_WORLD_COORDINATE
from jostle.kernels.jit import kernel
from jostle.kernels.simd import f32x8_abs, f32x8_add, f32x8_multiply_add, f32x8_splat, f32x8_store, f32x8_sub
from jostle.kernels.simd64 import (
    f64x8_abs,
    f64x8_add,
    f64x8_flushed,
    f64x8_gather,
    f64x8_load,
    f64x8_max,
    f64x8_min,
    f64x8_mul,
    f64x8_splat,
    f64x8_sqrt,
    f64x8_store,
    f64x8_sub,
    f64x8_to_f32x8,
)
from jostle.methods.wide_tree.tree import EMPTY, OUTWARD, TINY

SLOTS = 512
CORNERS = 72  # float64 numbers of a slot
LANES32 = 160  # float32 numbers of a slot: six rows of boxes, then rows of corners, normals, offsets and slacks
CORNER_ROW, NORMAL_ROW, OFFSET_ROW, SLACK_ROW = 48, 120, 144, 152
PLANE_SLACK = 16.0 * 2.0**-24
NORMAL_NOISE = 40.0 * 2.0**-53  # times the product of two edges: what a normal may be off by


def empty_cache() -> tuple[np.ndarray, np.ndarray, np.ndarray]:  # type: ignore[type-arg]
    """Return tags, float32 lanes and float64 corners of a cache."""
    return np.full(SLOTS, -1, np.int64), np.zeros(SLOTS * LANES32, np.float32), np.zeros(SLOTS * CORNERS)


@kernel
def fill_leaf(lanes, base, corners, corner, faces, first, count, vertices, pose, origin, scale, more):  # type: ignore[no-untyped-def]
    """Write a leaf of `count` faces from `first` on to its slot, which begins at lanes[base] and corners[corner].

    faces and vertices are flat; origin (ox, oy, oz) is the reference point.
    """
    gather(corners, corner, faces, first, count, vertices)
    move(corners, corner, pose)
    enclose(lanes, base, corners, corner, count, origin, scale, more)
    set_up_planes(lanes, base, corners, corner, origin, scale, more)


@kernel(forceinline=True)
def gather(corners, to, faces, first, count, vertices):  # type: ignore[no-untyped-def]
    """Copy the corners of faces into nine rows from corners[to] on; the last face into lanes beyond it."""
    for k in range(3):
        f, last = 3 * first + k, count - 1
        at = (
            _vertex(faces, f), _vertex(faces, f + 3 * min(1, last)), _vertex(faces, f + 3 * min(2, last)),
            _vertex(faces, f + 3 * min(3, last)), _vertex(faces, f + 3 * min(4, last)), _vertex(faces, f + 3 * min(5, last)),
            _vertex(faces, f + 3 * min(6, last)), _vertex(faces, f + 3 * min(7, last)),
        )  # fmt: skip
        for row in range(3):
            f64x8_store(corners, to + 24 * k + 8 * row, f64x8_gather(vertices, at, row))


@kernel(forceinline=True)
def _vertex(faces, f):  # type: ignore[no-untyped-def]
    return 3 * np.int64(faces[np.uint64(f)])


@kernel(forceinline=True)
def move(corners, to, pose):  # type: ignore[no-untyped-def]
    """Replace the corners by their world coordinates; operation by operation the formula of `geometry/rigid.py`."""
    smallest = f64x8_splat(SMALLEST_WORLD_COORDINATE)
    for k in range(3):
        at = to + 24 * k
        x, y, z = f64x8_load(corners, at), f64x8_load(corners, at + 8), f64x8_load(corners, at + 16)
        for row in range(3):
            moved = f64x8_add(f64x8_mul(f64x8_splat(pose[row, 0]), x), f64x8_mul(f64x8_splat(pose[row, 1]), y))
            moved = f64x8_add(f64x8_add(moved, f64x8_mul(f64x8_splat(pose[row, 2]), z)), f64x8_splat(pose[row, 3]))
            f64x8_store(corners, at + 8 * row, f64x8_flushed(moved, smallest))


@kernel(forceinline=True)
def enclose(lanes, base, corners, corner, count, origin, scale, more):  # type: ignore[no-untyped-def]
    """Write the boxes of eight faces, rounded outward; those of lanes without a face are empty. And the corners, rounded."""
    unit, grown = f64x8_splat(scale), f64x8_splat(more)
    for row in range(3):
        middle, at, to = f64x8_splat(origin[row]), corner + 8 * row, base + 8 * row
        p = f64x8_mul(f64x8_sub(f64x8_load(corners, at), middle), unit)
        q = f64x8_mul(f64x8_sub(f64x8_load(corners, at + 24), middle), unit)
        r = f64x8_mul(f64x8_sub(f64x8_load(corners, at + 48), middle), unit)
        low, high = f64x8_min(f64x8_min(p, q), r), f64x8_max(f64x8_max(p, q), r)
        near, far = f64x8_to_f32x8(f64x8_sub(low, grown)), f64x8_to_f32x8(f64x8_add(high, grown))
        f32x8_store(lanes, to, f32x8_sub(near, one_step(near)))
        f32x8_store(lanes, to + 24, f32x8_add(far, one_step(far)))
        f32x8_store(lanes, to + CORNER_ROW, f64x8_to_f32x8(p))
        f32x8_store(lanes, to + CORNER_ROW + 24, f64x8_to_f32x8(q))
        f32x8_store(lanes, to + CORNER_ROW + 48, f64x8_to_f32x8(r))
    for lane in range(count, 8):
        lanes[base + lane] = np.float32(EMPTY)
        lanes[base + 24 + lane] = np.float32(-EMPTY)


@kernel(forceinline=True)
def one_step(near):  # type: ignore[no-untyped-def]
    """What a float32 that was rounded to nearest must move to be surely outside."""
    return f32x8_multiply_add(f32x8_abs(near), f32x8_splat(OUTWARD), f32x8_splat(TINY))


@kernel(forceinline=True)
def set_up_planes(lanes, base, corners, corner, origin, scale, more):  # type: ignore[no-untyped-def]
    """Write the planes of eight faces."""
    unit = f64x8_splat(scale)
    px, py, pz = f64x8_load(corners, corner), f64x8_load(corners, corner + 8), f64x8_load(corners, corner + 16)
    ux = f64x8_mul(f64x8_sub(f64x8_load(corners, corner + 24), px), unit)
    uy = f64x8_mul(f64x8_sub(f64x8_load(corners, corner + 32), py), unit)
    uz = f64x8_mul(f64x8_sub(f64x8_load(corners, corner + 40), pz), unit)
    vx = f64x8_mul(f64x8_sub(f64x8_load(corners, corner + 48), px), unit)
    vy = f64x8_mul(f64x8_sub(f64x8_load(corners, corner + 56), py), unit)
    vz = f64x8_mul(f64x8_sub(f64x8_load(corners, corner + 64), pz), unit)
    px = f64x8_mul(f64x8_sub(px, f64x8_splat(origin[0])), unit)
    py = f64x8_mul(f64x8_sub(py, f64x8_splat(origin[1])), unit)
    pz = f64x8_mul(f64x8_sub(pz, f64x8_splat(origin[2])), unit)
    nx = f64x8_sub(f64x8_mul(uy, vz), f64x8_mul(uz, vy))
    ny = f64x8_sub(f64x8_mul(uz, vx), f64x8_mul(ux, vz))
    nz = f64x8_sub(f64x8_mul(ux, vy), f64x8_mul(uy, vx))
    f32x8_store(lanes, base + NORMAL_ROW, f64x8_to_f32x8(nx))
    f32x8_store(lanes, base + NORMAL_ROW + 8, f64x8_to_f32x8(ny))
    f32x8_store(lanes, base + NORMAL_ROW + 16, f64x8_to_f32x8(nz))
    offset = f64x8_add(f64x8_add(f64x8_mul(nx, px), f64x8_mul(ny, py)), f64x8_mul(nz, pz))
    f32x8_store(lanes, base + OFFSET_ROW, f64x8_to_f32x8(offset))
    size = f64x8_add(f64x8_splat(4.0), f64x8_add(f64x8_abs(px), f64x8_add(f64x8_abs(py), f64x8_abs(pz))))
    length = f64x8_add(f64x8_abs(nx), f64x8_add(f64x8_abs(ny), f64x8_abs(nz)))
    edges = f64x8_mul(
        f64x8_add(f64x8_abs(ux), f64x8_add(f64x8_abs(uy), f64x8_abs(uz))),
        f64x8_add(f64x8_abs(vx), f64x8_add(f64x8_abs(vy), f64x8_abs(vz))),
    )
    off = f64x8_add(f64x8_mul(length, f64x8_splat(PLANE_SLACK)), f64x8_mul(edges, f64x8_splat(NORMAL_NOISE)))
    slack = f64x8_add(f64x8_mul(off, size), f64x8_splat(1e-30))
    if more > 0.0:
        squared = f64x8_add(f64x8_add(f64x8_mul(nx, nx), f64x8_mul(ny, ny)), f64x8_mul(nz, nz))
        slack = f64x8_add(slack, f64x8_mul(f64x8_sqrt(squared), f64x8_splat(more * 1.001)))
    f32x8_store(lanes, base + SLACK_ROW, f64x8_to_f32x8(slack))
