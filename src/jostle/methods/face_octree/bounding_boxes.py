"""Stage 1 (§3.3): bounding boxes of bodies, and their overlap regions.

World vertices follow the one formula of `geometry/rigid.py`, so boxes and their overlap regions are exact: minima and maxima round
nothing. With a clearance, the region of a body is the overlap of its box with the other's box grown by the clearance. Regions are
listed by body: those of body k of the list are `regions[first[k]:first[k + 1]]`.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from jostle._types import Bools, Floats, Ints
from jostle.geometry.rigid import pose_at, world_point
from jostle.geometry.vector import point_from, write_point
from jostle.kernels.jit import kernel
from jostle.kernels.numbers import as_int64
from jostle.kernels.structs import Addresses
from jostle.methods.face_octree.work import open_mesh


@kernel
def place_bodies(bodies: Ints, meshes: Addresses, poses: Floats, offset: NDArray[np.int64], world: Floats, boxes: Floats) -> None:
    """Write the world vertices of bodies (k,), and their bounding boxes (k,6).

    Those of body i begin at row offset[i] of `world`.

    meshes: a table of `BodyMesh`, a row for each body; poses (n,4,4).
    """
    for i in range(bodies.shape[0]):
        body = as_int64(bodies[i])
        vertices, pose = open_mesh(meshes, body).vertices, pose_at(poses, body)
        lx = ly = lz = 1e300
        ux = uy = uz = -1e300
        start = offset[i]
        for v in range(len(vertices) // 3):
            p = world_point(pose, point_from(vertices, 3 * v))
            write_point(world, start + v, p)
            lx, ly, lz = min(lx, p.x), min(ly, p.y), min(lz, p.z)
            ux, uy, uz = max(ux, p.x), max(uy, p.y), max(uz, p.z)
        boxes[i, 0], boxes[i, 1], boxes[i, 2] = lx, ly, lz
        boxes[i, 3], boxes[i, 4], boxes[i, 5] = ux, uy, uz


@kernel
def find_overlap_regions(
    pair_a: Ints, pair_b: Ints, boxes: Floats, grown: float, meets: Bools, first: NDArray[np.int64], regions: Floats
) -> int:
    """Mark the body pairs (p,) whose boxes meet, and list each body's overlap regions.

    Returns the number of regions.

    Pairs are given by places in the list of bodies. first (k+1,), regions (2p,6).
    """
    count = boxes.shape[0]
    for i in range(count + 1):
        first[i] = 0
    found = 0
    for k in range(pair_a.shape[0]):
        a, b = as_int64(pair_a[k]), as_int64(pair_b[k])
        meets[k] = grown_boxes_meet(boxes, a, b, grown)
        if meets[k]:
            found += 2
            first[a + 1] += 1
            first[b + 1] += 1
    for i in range(count):
        first[i + 1] += first[i]
    # Each body's part is filled from its end, so that `first` ends up at the beginnings.
    for k in range(pair_a.shape[0] - 1, -1, -1):
        if meets[k]:
            a, b = as_int64(pair_a[k]), as_int64(pair_b[k])
            first[a + 1] -= 1
            write_region(boxes, a, b, grown, regions, first[a + 1])
            first[b + 1] -= 1
            write_region(boxes, b, a, grown, regions, first[b + 1])
    for i in range(count):
        first[i] = first[i + 1]
    first[count] = found
    return found


@kernel(forceinline=True)
def grown_boxes_meet(boxes: Floats, a: int, b: int, grown: float) -> bool:
    """Return whether the boxes of two bodies, one of them grown, meet."""
    meet = True
    for axis in range(3):
        meet &= boxes[a, axis] - grown <= boxes[b, axis + 3] and boxes[b, axis] - grown <= boxes[a, axis + 3]
    return meet


@kernel(forceinline=True)
def write_region(boxes: Floats, one: int, other: int, grown: float, regions: Floats, place: int) -> None:
    """Write a body's region: the overlap of its box with the other's grown box."""
    for axis in range(3):
        regions[place, axis] = max(boxes[one, axis], boxes[other, axis] - grown)
        regions[place, axis + 3] = min(boxes[one, axis + 3], boxes[other, axis + 3] + grown)
