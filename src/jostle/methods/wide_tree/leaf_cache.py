"""Leaves in the world: computed once, and used for every leaf they meet.

A direct-mapped cache: leaf n lives in slot n mod SLOTS, and a tag says whose it is. A leaf meets five others on average.
Everything is in rows of eight lanes, one per face: the world vertices in float64, for the exact test; and for the culls, in
float32, boxes, corners and planes relative to a reference point, in X's units.

Boxes are those of the world vertices, rounded outward. Rounding is monotone, so two faces that share a point have boxes that meet.
A plane is n · p = d with a slack: a face with all three corners on one side by more than the slack does not meet it. Coordinates
are below 4 in magnitude, or the slack grows with them; corners are off by 2^-24 of that, and the five operations of n · p - d round
to 2^-24 of at most |n|₁ · size each: 16 · 2^-24 · |n|₁ · size is twice the sum. The normal of a sliver is mostly rounding, and its
plane holds only one of the corners: each component of n is off by up to 6 · 2^-53 · |u|₁ · |v|₁ for edges u and v, and heights by
three times that and the size: NORMAL_NOISE is more than twice the sum. A clearance moves planes and boxes out.
"""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from jostle._types import Floats, Singles
from jostle.geometry.rigid import SMALLEST_WORLD_COORDINATE
from jostle.geometry.vector import Vec3
from jostle.kernels.jit import kernel
from jostle.kernels.numbers import as_int64
from jostle.kernels.simd import (
    LANES,
    f32x8_abs,
    f32x8_add,
    f32x8_load,
    f32x8_multiply_add,
    f32x8_splat,
    f32x8_store,
    f32x8_sub,
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
from jostle.kernels.structs import Record, Rows, Run, float32, float64, int64
from jostle.methods.wide_tree.lanes import POINT_ROWS, Points8, point_in_lane, points_at
from jostle.methods.wide_tree.tree import EMPTY, OUTWARD, TINY, PlacedTree, TreeArrays

SLOTS = 512
PLANE_SLACK = 16.0 * 2.0**-24
NORMAL_NOISE = 40.0 * 2.0**-53  # times the product of two edges: the error of a normal

Lanes64 = NDArray[np.float64]


class WorldLeaf(Record):
    """A slot of the cache: the faces of a leaf in the world, in rows of eight lanes."""

    tag: int64  # query and node
    corners: Run[float64, Literal[72]]
    boxes: Run[float32, Literal[48]]
    rounded_corners: Run[float32, Literal[72]]
    normals: Run[float32, Literal[24]]
    offsets: Run[float32, Literal[8]]
    slacks: Run[float32, Literal[8]]


class Reference(NamedTuple):
    """Origin and unit of the float32 numbers of leaves; growth of boxes and planes."""

    origin: Vec3
    scale: float
    growth: float


class Planes8(NamedTuple):
    """The planes of eight faces: normal · p = offset, to within the slack."""

    normal: Points8
    offset: Singles
    slack: Singles


class Points64(NamedTuple):
    """Eight points or vectors in float64."""

    x: Lanes64
    y: Lanes64
    z: Lanes64


def empty_cache() -> NDArray[np.void]:
    """Return the slots of an empty cache."""
    slots = np.zeros(SLOTS, WorldLeaf.dtype)
    slots["tag"] = -1
    return slots


@kernel(forceinline=True)
def slot_of_leaf(leaves: Rows[WorldLeaf], query: int, node: int, tree: PlacedTree, reference: Reference) -> int:
    """Return the slot of a leaf, filling it if needed."""
    slot, tag = node & (SLOTS - 1), (query << 32) | node
    leaf = leaves[slot]
    if leaf.tag != tag:
        leaf.tag = tag
        fill_leaf(leaf, tree, node, reference)
    return slot


@kernel
def fill_leaf(leaf: WorldLeaf, tree: PlacedTree, node: int, reference: Reference) -> None:
    """Write a leaf to its slot."""
    gather(leaf.corners, tree.arrays, node)
    move(leaf.corners, tree.pose)
    enclose(leaf, -as_int64(tree.arrays.count[node]), reference)
    set_up_planes(leaf, reference)


@kernel(forceinline=True)
def gather(corners: Any, tree: TreeArrays, node: int) -> None:
    """Copy the corners of a leaf's faces into nine rows, repeating the last face."""
    gather_faces(corners, tree, as_int64(tree.first[node]), -as_int64(tree.count[node]))


@kernel(forceinline=True)
def gather_faces(corners: Any, tree: TreeArrays, first: int, count: int) -> None:
    """Copy the corners of up to eight faces into nine rows, repeating the last face."""
    last = count - 1
    for k in range(3):
        f = 3 * first + k
        at = (
            _vertex(tree, f), _vertex(tree, f + 3 * min(1, last)), _vertex(tree, f + 3 * min(2, last)),
            _vertex(tree, f + 3 * min(3, last)), _vertex(tree, f + 3 * min(4, last)), _vertex(tree, f + 3 * min(5, last)),
            _vertex(tree, f + 3 * min(6, last)), _vertex(tree, f + 3 * min(7, last)),
        )  # fmt: skip
        for row in range(3):
            f64x8_store(corners, POINT_ROWS * k + LANES * row, f64x8_gather(tree.vertices, at, row))


@kernel(forceinline=True)
def _vertex(tree: TreeArrays, f: int) -> int:
    return 3 * as_int64(tree.faces[np.uint64(f)])  # unsigned: no sign check


@kernel(forceinline=True)
def move(corners: Any, pose: Floats) -> None:
    """Move corners to the world by the formula of `geometry/rigid.py`, to the bit."""
    smallest = f64x8_splat(SMALLEST_WORLD_COORDINATE)
    for k in range(3):
        p = points64_at(corners, POINT_ROWS * k)
        for row in range(3):
            moved = f64x8_add(f64x8_mul(f64x8_splat(pose[row, 0]), p.x), f64x8_mul(f64x8_splat(pose[row, 1]), p.y))
            moved = f64x8_add(f64x8_add(moved, f64x8_mul(f64x8_splat(pose[row, 2]), p.z)), f64x8_splat(pose[row, 3]))
            f64x8_store(corners, POINT_ROWS * k + LANES * row, f64x8_flushed(moved, smallest))


@kernel(forceinline=True)
def points64_at(rows: Any, start: int) -> Points64:
    """Return the eight points whose rows begin at `start`."""
    return Points64(f64x8_load(rows, start), f64x8_load(rows, start + LANES), f64x8_load(rows, start + 2 * LANES))


@kernel(forceinline=True)
def enclose(leaf: WorldLeaf, count: int, reference: Reference) -> None:
    """Write outward-rounded boxes of eight faces (or empty ones), and rounded corners."""
    growth = f64x8_splat(reference.growth)
    for row in range(3):
        at = LANES * row
        p = _coordinates(leaf.corners, at, row, reference)
        q = _coordinates(leaf.corners, at + POINT_ROWS, row, reference)
        r = _coordinates(leaf.corners, at + 2 * POINT_ROWS, row, reference)
        low, high = f64x8_min(f64x8_min(p, q), r), f64x8_max(f64x8_max(p, q), r)
        f32x8_store(leaf.boxes, at, rounded_down(f64x8_sub(low, growth)))
        f32x8_store(leaf.boxes, at + POINT_ROWS, rounded_up(f64x8_add(high, growth)))
        f32x8_store(leaf.rounded_corners, at, f64x8_to_f32x8(p))
        f32x8_store(leaf.rounded_corners, at + POINT_ROWS, f64x8_to_f32x8(q))
        f32x8_store(leaf.rounded_corners, at + 2 * POINT_ROWS, f64x8_to_f32x8(r))
    for lane in range(count, LANES):
        leaf.boxes[lane], leaf.boxes[lane + POINT_ROWS] = EMPTY, -EMPTY


@kernel(forceinline=True)
def _coordinates(corners: Any, start: int, row: int, reference: Reference) -> Lanes64:
    """Return one coordinate of eight corners relative to the reference."""
    return f64x8_mul(f64x8_sub(f64x8_load(corners, start), f64x8_splat(reference.origin[row])), f64x8_splat(reference.scale))


@kernel(forceinline=True)
def rounded_down(values: Lanes64) -> Singles:
    """Return float32 numbers that are certainly below."""
    near = f64x8_to_f32x8(values)
    return f32x8_sub(near, _one_step(near))


@kernel(forceinline=True)
def rounded_up(values: Lanes64) -> Singles:
    """Return float32 numbers that are certainly above."""
    near = f64x8_to_f32x8(values)
    return f32x8_add(near, _one_step(near))


@kernel(forceinline=True)
def _one_step(near: Singles) -> Singles:
    """Return the step that takes a rounded float32 certainly outside."""
    return f32x8_multiply_add(f32x8_abs(near), f32x8_splat(OUTWARD), f32x8_splat(TINY))


@kernel(forceinline=True)
def set_up_planes(leaf: WorldLeaf, reference: Reference) -> None:
    """Write the planes of eight faces."""
    unit, origin = f64x8_splat(reference.scale), reference.origin
    p, corners = points64_at(leaf.corners, 0), leaf.corners
    u = _scaled(_minus64(points64_at(corners, POINT_ROWS), p), unit)
    v = _scaled(_minus64(points64_at(corners, 2 * POINT_ROWS), p), unit)
    p = _scaled(_minus64(p, Points64(f64x8_splat(origin.x), f64x8_splat(origin.y), f64x8_splat(origin.z))), unit)
    normal = _cross64(u, v)
    f32x8_store(leaf.normals, 0, f64x8_to_f32x8(normal.x))
    f32x8_store(leaf.normals, LANES, f64x8_to_f32x8(normal.y))
    f32x8_store(leaf.normals, 2 * LANES, f64x8_to_f32x8(normal.z))
    f32x8_store(leaf.offsets, 0, f64x8_to_f32x8(_dot64(normal, p)))
    size = f64x8_add(f64x8_splat(4.0), _sum_of_sizes64(p))
    edges = f64x8_mul(_sum_of_sizes64(u), _sum_of_sizes64(v))
    noise = f64x8_mul(edges, f64x8_splat(NORMAL_NOISE))
    off = f64x8_add(f64x8_mul(_sum_of_sizes64(normal), f64x8_splat(PLANE_SLACK)), noise)
    slack = f64x8_add(f64x8_mul(off, size), f64x8_splat(1e-30))
    if reference.growth > 0.0:
        slack = f64x8_add(slack, f64x8_mul(f64x8_sqrt(_dot64(normal, normal)), f64x8_splat(reference.growth * 1.001)))
    f32x8_store(leaf.slacks, 0, f64x8_to_f32x8(slack))


@kernel(forceinline=True)
def _minus64(a: Points64, b: Points64) -> Points64:
    return Points64(f64x8_sub(a.x, b.x), f64x8_sub(a.y, b.y), f64x8_sub(a.z, b.z))


@kernel(forceinline=True)
def _scaled(a: Points64, unit: Lanes64) -> Points64:
    return Points64(f64x8_mul(a.x, unit), f64x8_mul(a.y, unit), f64x8_mul(a.z, unit))


@kernel(forceinline=True)
def _cross64(a: Points64, b: Points64) -> Points64:
    return Points64(
        f64x8_sub(f64x8_mul(a.y, b.z), f64x8_mul(a.z, b.y)),
        f64x8_sub(f64x8_mul(a.z, b.x), f64x8_mul(a.x, b.z)),
        f64x8_sub(f64x8_mul(a.x, b.y), f64x8_mul(a.y, b.x)),
    )


@kernel(forceinline=True)
def _dot64(a: Points64, b: Points64) -> Lanes64:
    return f64x8_add(f64x8_add(f64x8_mul(a.x, b.x), f64x8_mul(a.y, b.y)), f64x8_mul(a.z, b.z))


@kernel(forceinline=True)
def _sum_of_sizes64(a: Points64) -> Lanes64:
    return f64x8_add(f64x8_abs(a.x), f64x8_add(f64x8_abs(a.y), f64x8_abs(a.z)))


@kernel(forceinline=True)
def planes_of(leaf: WorldLeaf) -> Planes8:
    """Return the planes of eight faces."""
    return Planes8(points_at(leaf.normals, 0), f32x8_load(leaf.offsets, 0), f32x8_load(leaf.slacks, 0))


@kernel(forceinline=True)
def plane_of(leaf: WorldLeaf, lane: int) -> Planes8:
    """Return the plane of one face in all lanes."""
    return Planes8(point_in_lane(leaf.normals, lane), f32x8_splat(leaf.offsets[lane]), f32x8_splat(leaf.slacks[lane]))
