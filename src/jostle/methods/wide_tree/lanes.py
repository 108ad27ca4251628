"""Eight boxes, points or faces at once: a vector per coordinate, a lane for each.

In memory a coordinate of all eight is a row of eight float32, and rows follow each other: x, y, z of points; lower and upper
corners of boxes; the three corners of faces. The functions `…_at` load eight from their first row on; `…_in_lane` broadcast one
of the eight, to compare it with eight others. LLVM takes these tuples apart: they cost nothing.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from jostle._types import Singles
from jostle.kernels.jit import kernel
from jostle.kernels.simd import (
    LANES,
    f32x8_abs,
    f32x8_add,
    f32x8_load,
    f32x8_max,
    f32x8_min,
    f32x8_mul,
    f32x8_multiply_add,
    f32x8_overlap,
    f32x8_splat,
    f32x8_store,
    f32x8_sub,
)

POINT_ROWS = 3 * LANES  # float32 numbers of eight points
BOX_ROWS = 2 * POINT_ROWS


class Points8(NamedTuple):
    """Eight points or vectors."""

    x: Singles
    y: Singles
    z: Singles


class Boxes8(NamedTuple):
    """Eight boxes."""

    lower: Points8
    upper: Points8


class Faces8(NamedTuple):
    """Eight faces by their corners."""

    p: Points8
    q: Points8
    r: Points8


@kernel(forceinline=True)
def in_every_lane(value: Any) -> Singles:
    """Return a number in all lanes."""
    return f32x8_splat(np.float32(value))


@kernel(forceinline=True)
def points_at(rows: Any, start: int, pitch: int = LANES) -> Points8:
    """Return the eight points whose rows begin at `start`, `pitch` numbers apart."""
    return Points8(f32x8_load(rows, start), f32x8_load(rows, start + pitch), f32x8_load(rows, start + 2 * pitch))


@kernel(forceinline=True)
def point_in_lane(rows: Any, lane: int, pitch: int = LANES) -> Points8:
    """Return one point in all lanes; `lane` is the index of its x."""
    return Points8(f32x8_splat(rows[lane]), f32x8_splat(rows[lane + pitch]), f32x8_splat(rows[lane + 2 * pitch]))


@kernel(forceinline=True)
def boxes_at(rows: Any, start: int) -> Boxes8:
    """Return the eight boxes whose rows begin at `start`."""
    return Boxes8(points_at(rows, start), points_at(rows, start + POINT_ROWS))


@kernel(forceinline=True)
def store_boxes(rows: Any, start: int, a: Boxes8) -> None:
    """Write eight boxes."""
    for k in range(3):
        f32x8_store(rows, start + LANES * k, a.lower[k])
        f32x8_store(rows, start + POINT_ROWS + LANES * k, a.upper[k])


@kernel(forceinline=True)
def box_in_lane(rows: Any, lane: int) -> Boxes8:
    """Return one box in all lanes; `lane` is the index of its lower x."""
    return Boxes8(point_in_lane(rows, lane), point_in_lane(rows, lane + POINT_ROWS))


@kernel(forceinline=True)
def faces_at(rows: Any, start: int) -> Faces8:
    """Return the eight faces whose rows begin at `start`."""
    return Faces8(points_at(rows, start), points_at(rows, start + POINT_ROWS), points_at(rows, start + 2 * POINT_ROWS))


@kernel(forceinline=True)
def face_in_lane(rows: Any, lane: int) -> Faces8:
    """Return one face in all lanes; `lane` is the index of its first corner's x."""
    p, q = point_in_lane(rows, lane), point_in_lane(rows, lane + POINT_ROWS)
    return Faces8(p, q, point_in_lane(rows, lane + 2 * POINT_ROWS))


@kernel(forceinline=True)
def boxes_meet(a: Boxes8, b: Boxes8) -> np.uint32:
    """Return the mask of the lanes whose boxes have a common point."""
    return f32x8_overlap(
        a.lower.x, a.lower.y, a.lower.z, a.upper.x, a.upper.y, a.upper.z,
        b.lower.x, b.lower.y, b.lower.z, b.upper.x, b.upper.y, b.upper.z,
    )  # fmt: skip


@kernel(forceinline=True)
def in_byte(mask: np.uint32, j: int) -> np.uint64:
    """Return a mask of eight lanes in byte j."""
    return np.uint64(mask) << np.uint64(LANES * j)


@kernel(forceinline=True)
def byte_of(masks: np.uint64, j: int) -> np.uint32:
    """Return the mask of eight lanes in byte j."""
    return np.uint32((masks >> np.uint64(LANES * j)) & np.uint64(0xFF))


@kernel(forceinline=True)
def separations(a: Boxes8, b: Boxes8) -> Singles:
    """Return signed distances of boxes on their axis of least overlap; low is deep."""
    x = f32x8_sub(f32x8_max(a.lower.x, b.lower.x), f32x8_min(a.upper.x, b.upper.x))
    y = f32x8_sub(f32x8_max(a.lower.y, b.lower.y), f32x8_min(a.upper.y, b.upper.y))
    z = f32x8_sub(f32x8_max(a.lower.z, b.lower.z), f32x8_min(a.upper.z, b.upper.z))
    return f32x8_max(x, f32x8_max(y, z))


@kernel(forceinline=True)
def minus8(a: Points8, b: Points8) -> Points8:
    """Return a - b."""
    return Points8(f32x8_sub(a.x, b.x), f32x8_sub(a.y, b.y), f32x8_sub(a.z, b.z))


@kernel(forceinline=True)
def cross8(a: Points8, b: Points8) -> Points8:
    """Return a × b."""
    return Points8(
        f32x8_sub(f32x8_mul(a.y, b.z), f32x8_mul(a.z, b.y)),
        f32x8_sub(f32x8_mul(a.z, b.x), f32x8_mul(a.x, b.z)),
        f32x8_sub(f32x8_mul(a.x, b.y), f32x8_mul(a.y, b.x)),
    )


@kernel(forceinline=True)
def heights(normal: Points8, offset: Singles, a: Points8) -> Singles:
    """Return normal · a - offset."""
    return f32x8_multiply_add(normal.x, a.x, f32x8_multiply_add(normal.y, a.y, f32x8_sub(f32x8_mul(normal.z, a.z), offset)))


@kernel(forceinline=True)
def squared_length(a: Points8) -> Singles:
    """Return |a|²."""
    return f32x8_multiply_add(a.x, a.x, f32x8_multiply_add(a.y, a.y, f32x8_mul(a.z, a.z)))


@kernel(forceinline=True)
def sum_of_sizes(a: Points8) -> Singles:
    """Return |x| + |y| + |z|."""
    return f32x8_add(f32x8_abs(a.x), f32x8_add(f32x8_abs(a.y), f32x8_abs(a.z)))
