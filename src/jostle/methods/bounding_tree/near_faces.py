"""The faces of a leaf against a node that is much smaller.

The volume of a leaf may hold much that is far from its faces: where a leaf has two sides of a plate, it holds the whole plate. So
small nodes are compared with each face by itself, on four axes: its normal, and across its edges. A mask of the faces that may meet
the node goes down with the node pair, to its leaves.

Everything happens in the frame of body A, where a node is a block: a centre and three half axes. Any axis is valid, however it is
rounded. A face and a block are apart on it if their ranges are, by more than `PairFrame.padding` times |axis|₁. The padding is
eight times `cull_padding`: once for the points of the two that meet in the world; seven times for the arithmetic here, below 20 ·
2^-53 of the same lengths, and for the axes of volumes, orthonormal to 1e-14.
"""

from __future__ import annotations

from typing import NamedTuple

from jostle.geometry.triangle import Triangle
from jostle.geometry.vector import Vec3, cross, dot, minus, point_from, times, write_point_from
from jostle.kernels.jit import kernel
from jostle.kernels.numbers import as_int64
from jostle.methods.bounding_tree.axes import Affine, along, axes_of, image_of
from jostle.methods.bounding_tree.leaves import AXES_OF_FACE, AXIS_SLOTS, FaceAxis, LeafCache
from jostle.methods.bounding_tree.overlap import PairFrame
from jostle.methods.bounding_tree.tree import TreeShape, Volume, centre_of

LARGE = 4.0  # half extents of a large leaf to the node's radius: 2 costs 1 % more tests between blobs, 8 costs 8 % with plates
SHORTEST = 1e-200  # axis: products of shorter ones lose bits
LAST_BIT = 62  # of a mask; faces beyond share it
EVERY_FACE = (1 << (LAST_BIT + 1)) - 1


class Block(NamedTuple):
    """A node's volume in the frame of A: its centre and three half axes."""

    centre: Vec3
    u: Vec3
    v: Vec3
    w: Vec3


@kernel(forceinline=True)
def block_of(volume: Volume) -> Block:
    """Return the block of a node of A."""
    axes = axes_of(volume)
    return Block(centre_of(volume), times(volume.half[0], axes.u), times(volume.half[1], axes.v), times(volume.half[2], axes.w))


@kernel(forceinline=True)
def moved_block(volume: Volume, place: Affine) -> Block:
    """Return the block of a node of B at its place in A's frame."""
    block, turned = block_of(volume), axes_of(place)
    return Block(image_of(place, block.centre), along(turned, block.u), along(turned, block.v), along(turned, block.w))


@kernel(forceinline=True)
def bit_of(face: int) -> int:
    """Return the bit of a leaf's face in a mask."""
    return 1 << min(face, LAST_BIT)


class LargeLeaf(NamedTuple):
    """A leaf that is large for the nodes of the other body, and its faces in question."""

    cache: LeafCache
    shape: TreeShape
    node: int
    near: int
    moves: bool  # whether it belongs to B, which `PairFrame.pose` moves to A's frame


@kernel(forceinline=True)
def is_large_leaf(leaf: Volume, node: Volume) -> bool:
    """Return whether a leaf is large for a node: in two directions, not long like a needle."""
    x, y, z = leaf.half[0], leaf.half[1], leaf.half[2]
    return max(min(x, y), min(max(x, y), z)) > LARGE * node.radius


@kernel
def near_faces(leaf: LargeLeaf, block: Block, frame: PairFrame, query: int, faces_of_leaf: int) -> tuple[int, int]:
    """Return the mask of the faces that may meet a block, and how many were tested."""
    first = cached_axes(leaf, frame, query, faces_of_leaf)
    near, tests = 0, 0
    for i in range(leaf.shape.face_count[leaf.node]):
        if leaf.near & bit_of(i):
            tests += 1
            if not is_beside(leaf.cache, first + AXES_OF_FACE * i, block):
                near |= bit_of(i)
    return near, tests


@kernel(forceinline=True)
def is_beside(cache: LeafCache, first: int, block: Block) -> bool:
    """Return whether a face, by its axes from row `first` on, is apart from a block."""
    for k in range(first, first + AXES_OF_FACE):
        row = cache.axes[k]
        axis = point_from(row.axis, 0)
        at, radius = dot(axis, block.centre), abs(dot(axis, block.u)) + abs(dot(axis, block.v)) + abs(dot(axis, block.w))
        if at - radius > row.high or at + radius < row.low:
            return True
    return False


@kernel(forceinline=True)
def cached_axes(leaf: LargeLeaf, frame: PairFrame, query: int, faces_of_leaf: int) -> int:
    """Return where a leaf's axes begin in the cache, filling its slot if needed."""
    slot = leaf.node & (AXIS_SLOTS - 1)
    first, tag = slot * AXES_OF_FACE * faces_of_leaf, (query << 32) | leaf.node
    if leaf.cache.axis_tags[slot] != tag:
        leaf.cache.axis_tags[slot] = tag
        fill_axes(leaf, first, frame)
    return first


@kernel
def fill_axes(leaf: LargeLeaf, first: int, frame: PairFrame) -> None:
    """Write the axes of a leaf's faces to the cache, from row `first` on."""
    shape = leaf.shape
    begin = as_int64(shape.first_face[leaf.node])
    for i in range(shape.face_count[leaf.node]):
        face = face_in_frame(leaf, as_int64(shape.order[begin + i]), frame)
        row = first + AXES_OF_FACE * i
        normal = cross(minus(face.q, face.p), minus(face.r, face.p))
        write_axis(leaf.cache.axes[row], normal, face, frame.padding)
        write_axis(leaf.cache.axes[row + 1], cross(normal, minus(face.q, face.p)), face, frame.padding)
        write_axis(leaf.cache.axes[row + 2], cross(normal, minus(face.r, face.q)), face, frame.padding)
        write_axis(leaf.cache.axes[row + 3], cross(normal, minus(face.p, face.r)), face, frame.padding)


@kernel(forceinline=True)
def face_in_frame(leaf: LargeLeaf, number: int, frame: PairFrame) -> Triangle:
    """Return a face in the frame of A."""
    corners, vertices = leaf.shape.faces[number], leaf.shape.vertices
    p, q = point_from(vertices[corners.vertex[0]].at, 0), point_from(vertices[corners.vertex[1]].at, 0)
    r = point_from(vertices[corners.vertex[2]].at, 0)
    if leaf.moves:
        return Triangle(image_of(frame.pose, p), image_of(frame.pose, q), image_of(frame.pose, r))
    return Triangle(p, q, r)


@kernel(forceinline=True)
def write_axis(row: FaceAxis, axis: Vec3, face: Triangle, padding: float) -> None:
    """Write an axis and the range of a face on it, padded; 0 for axes too short."""
    size = abs(axis.x) + abs(axis.y) + abs(axis.z)
    if size < SHORTEST:
        axis, size = Vec3(0.0, 0.0, 0.0), 0.0
    p, q, r = dot(axis, face.p), dot(axis, face.q), dot(axis, face.r)
    slack = padding * size
    write_point_from(row.axis, 0, axis)
    row.low, row.high = min(p, q, r) - slack, max(p, q, r) + slack
