"""The faces of leaves in the world, with their boxes, in a small cache.

A leaf meets several leaves of the other body in short succession; the cache (a slot by node number, tagged with the query) saves
most of the transformations. Boxes of faces are exact, so they need no padding.
"""

from __future__ import annotations

from typing import Literal

from jostle.geometry.rigid import RigidPose, world_point
from jostle.geometry.triangle import Bounds, Triangle, triangle_bounds, triangle_from
from jostle.geometry.vector import point_from, write_point_from
from jostle.kernels.jit import kernel
from jostle.kernels.numbers import as_int64
from jostle.kernels.structs import Record, Rows, Run, Struct, float64, int64
from jostle.methods.bounding_tree.tree import TreeShape

SLOTS, AXIS_SLOTS = 256, 32  # powers of two
AXES_OF_FACE = 4  # the normal, and across the edges


class WorldFace(Record):
    """A face in the world, and its box."""

    corners: Run[float64, Literal[9]]
    lower: Run[float64, Literal[3]]
    upper: Run[float64, Literal[3]]


class FaceAxis(Record):
    """A separating axis of a face, and the padded range of the face on it."""

    axis: Run[float64, Literal[3]]
    low: float64
    high: float64


class LeafCache(Struct):
    """The recently used leaves of one body."""

    tags: Rows[int64]  # (SLOTS,) query and node of each slot
    faces: Rows[WorldFace]  # as many for each slot as the largest leaf has
    axis_tags: Rows[int64]  # (AXIS_SLOTS,) the same for axes, of large leaves only (`near_faces.py`)
    axes: Rows[FaceAxis]  # AXES_OF_FACE for each face


@kernel(forceinline=True)
def cached_leaf(cache: LeafCache, shape: TreeShape, pose: RigidPose, node: int, query: int, faces_of_leaf: int) -> int:
    """Return where a leaf's faces begin in the cache, filling its slot if needed."""
    slot = node & (SLOTS - 1)
    first, tag = slot * faces_of_leaf, (query << 32) | node
    if cache.tags[slot] != tag:
        cache.tags[slot] = tag
        fill_leaf(cache, first, shape, pose, node)
    return first


@kernel
def fill_leaf(cache: LeafCache, first: int, shape: TreeShape, pose: RigidPose, node: int) -> None:
    """Write the faces of a leaf to the cache, from row `first` on."""
    begin = as_int64(shape.first_face[node])
    for i in range(shape.face_count[node]):
        face, corners = cache.faces[first + i], shape.faces[shape.order[begin + i]]
        for k in range(3):
            write_point_from(face.corners, 3 * k, world_point(pose, point_from(shape.vertices[corners.vertex[k]].at, 0)))
        box = triangle_bounds(triangle_of(face))
        write_point_from(face.lower, 0, box.lower)
        write_point_from(face.upper, 0, box.upper)


@kernel(forceinline=True)
def triangle_of(face: WorldFace) -> Triangle:
    """Return the corners of a face."""
    return triangle_from(face.corners, 0)


@kernel(forceinline=True)
def box_of(face: WorldFace) -> Bounds:
    """Return the box of a face."""
    return Bounds(point_from(face.lower, 0), point_from(face.upper, 0))
