"""The faces of a voxel, and the face pair checklist (§5.2, §3.5, §3.6).

The faces in a voxel's black nodes are collected, each once; pairs of faces of different bodies are first compared by their boxes.
Deviation: only then is the checklist looked up, so that it holds only pairs whose boxes meet. Comparing boxes again is cheaper than
a look-up, and the list stays as short as the number of exact tests. The last test is the exact `triangles_touch`, on world vertices
by `rigid_coordinate`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from jostle._types import Ints
from jostle.geometry.rigid import pose_at, world_point
from jostle.geometry.triangle import Bounds, Triangle, bounds_meet, triangle_bounds
from jostle.geometry.vector import point_from, write_point_from
from jostle.kernels.buffers import full
from jostle.kernels.hash_set import EMPTY, HALF_WORD, KeyRow, enter_again, find_key, write_key
from jostle.kernels.jit import kernel
from jostle.kernels.numbers import as_int64
from jostle.kernels.structs import Addresses, Rows
from jostle.methods.octree_update.node_checklist import ListedNodes, PlacedOctrees, open_octree
from jostle.methods.octree_update.work import PlacedFace, Work, open_work

NOT_TESTED = -1
NO_STAMP = 0  # of the keys of the checklist: body pair numbers are below 2^31


class BodyPairs(NamedTuple):
    """The pairs to test: body k with partner[start[k] : start[k + 1]], ascending."""

    start: Ints
    partner: Ints


@kernel(forceinline=True)
def list_faces(
    work: Work, octrees: Addresses, placed: PlacedOctrees, checklist: ListedNodes, stamp_start: NDArray[np.int64]
) -> int:
    """List the faces of the current voxel, each once, with world corners and boxes.

    `stamps` has an entry for each face of each body, from stamp_start[body] on; none of them is the number of this voxel yet.
    Returns the number of faces, or minus the room needed.
    """
    node, voxel = work.stack[work.state.depth], work.state.voxels
    needed = 0
    for entry in range(node.begin, node.end):
        listed = work.entries[entry]
        start = open_octree(octrees, as_int64(placed.octree_of[checklist.nodes[listed, 0]])).node_start
        black = checklist.nodes[listed, 1]
        needed += start[black + 1] - start[black]
    needed = min(needed, len(work.stamps))
    if needed > len(work.listed):
        return -needed
    count = 0
    for entry in range(node.begin, node.end):
        listed = work.entries[entry]
        body, black = as_int64(checklist.nodes[listed, 0]), checklist.nodes[listed, 1]
        octree = open_octree(octrees, as_int64(placed.octree_of[body]))
        for k in range(octree.node_start[black], octree.node_start[black + 1]):
            face = as_int64(octree.node_faces[k])
            if work.stamps[stamp_start[body] + face] != voxel:
                work.stamps[stamp_start[body] + face] = voxel
                work.listed[count].body = body
                work.listed[count].face = face
                place_face(octrees, placed, body, face, work.placed[count])
                count += 1
    mark_next_bodies(work, count)
    return count


@kernel(forceinline=True)
def mark_next_bodies(work: Work, count: int) -> None:
    """Write for each listed face where the faces of the next body begin."""
    following = count
    for row in range(count - 1, -1, -1):
        if row + 1 < count and work.listed[row].body != work.listed[row + 1].body:
            following = row + 1
        work.listed[row].following = following


@kernel(forceinline=True)
def place_face(octrees: Addresses, placed: PlacedOctrees, body: int, face: int, out: PlacedFace) -> None:
    """Write the world corners of a face and their box."""
    octree, pose = open_octree(octrees, as_int64(placed.octree_of[body])), pose_at(placed.poses, body)
    corners = octree.faces[face]
    p = world_point(pose, point_from(octree.vertices, 3 * as_int64(corners.p)))
    q = world_point(pose, point_from(octree.vertices, 3 * as_int64(corners.q)))
    r = world_point(pose, point_from(octree.vertices, 3 * as_int64(corners.r)))
    write_point_from(out.corners, 0, p)
    write_point_from(out.corners, 3, q)
    write_point_from(out.corners, 6, r)
    box = triangle_bounds(Triangle(p, q, r))
    write_point_from(out.lower, 0, box.lower)
    write_point_from(out.upper, 0, box.upper)


@kernel
def pair_of(pairs: BodyPairs, body_a: int, body_b: int) -> int:
    """Return the number of a body pair, or NOT_TESTED."""
    low, high = as_int64(pairs.start[body_a]), as_int64(pairs.start[body_a + 1])
    last = high
    while low < high:
        middle = (low + high) // 2
        if pairs.partner[middle] < body_b:
            low = middle + 1
        else:
            high = middle
    if low < last and pairs.partner[low] == body_b:
        return low
    return NOT_TESTED


@kernel(forceinline=True)
def boxes_overlap(a: PlacedFace, b: PlacedFace) -> bool:
    """Return whether the boxes of two listed faces share a point; exact."""
    box_a = Bounds(point_from(a.lower, 0), point_from(a.upper, 0))
    return bounds_meet(box_a, Bounds(point_from(b.lower, 0), point_from(b.upper, 0)))


@kernel(forceinline=True)
def put_on_checklist(checklist: Rows[KeyRow], pair: int, face_a: int, face_b: int) -> bool:
    """Enter a face pair of a body pair; return whether it is new."""
    faces = (face_a << HALF_WORD) | face_b
    place, is_known = find_key(checklist, pair, faces)
    if not is_known:
        write_key(checklist, place, pair, faces)
    return not is_known


@kernel
def copy_checklist(old_addresses: Addresses, begin: int, end: int, addresses: Addresses) -> None:
    """Copy the entries `begin` to `end` of a checklist to a larger one."""
    old, work = open_work(old_addresses), open_work(addresses)
    for place in range(begin, end):
        enter_again(old.checklist, place, work.checklist, NO_STAMP)


def empty_checklist(places: int) -> NDArray[np.void]:
    """Return a checklist of face pairs; `places` is a power of two."""
    return full(2 * places, EMPTY, np.int64).view(KeyRow.dtype)
