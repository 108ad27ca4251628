"""The faces of a voxel, and the face pair checklist (§5.2, §3.5, §3.6).

The faces of the node lists of a voxel are collected, each once; every pair of faces of different bodies is compared by boxes first.
Deviation: the checklist without repetition is looked up only then, and holds only pairs whose boxes meet: comparing boxes again is
cheaper than looking up, and the list stays as short as the number of exact tests. The last test is the exact
`triangles_touch`, on world vertices by `rigid_coordinate`.
"""

import numpy as np

from jostle.geometry.rigid import rigid_coordinate
from jostle.geometry.triangle import Bounds, bounds_meet, triangle_of_row
from jostle.geometry.triangle_triangle import triangles_touch
from jostle.geometry.vector import Vec3
from jostle.kernels.buffers import full
from jostle.kernels.handles import float64_at, int32_at
from jostle.kernels.jit import kernel
from jostle.methods.octree_update.node_checklist import FACES, NODE_FACES, NODE_START, VERTICES

FACE_BITS = 31  # of each of the two faces of a key


@kernel
def list_faces(octrees, octree_of, poses, nodes, entries, begin, end, voxel, stamps, stamp_start, listed, corners):
    """List the faces of the nodes entries[begin:end], each once: listed (n,3), corners (n,15) as nine coordinates and a box.

    A row of `listed` is body, face, and where the rows of the next body begin. `stamps` has an entry for each face of each body,
    from stamp_start[body] on, and none of them is `voxel` yet. Returns the number of rows, or minus the room that is needed.
    """
    needed = 0
    for entry in range(begin, end):
        octree, node = octree_of[nodes[entries[entry], 0]], nodes[entries[entry], 1]
        start = int32_at(octrees[octree, NODE_START], octrees[octree, NODE_START + 1])
        needed += start[node + 1] - start[node]
    if min(needed, stamps.shape[0]) > listed.shape[0]:
        return -min(needed, stamps.shape[0])
    count = 0
    for entry in range(begin, end):
        body, node = nodes[entries[entry], 0], nodes[entries[entry], 1]
        octree = octree_of[body]
        start = int32_at(octrees[octree, NODE_START], octrees[octree, NODE_START + 1])
        node_faces = int32_at(octrees[octree, NODE_FACES], octrees[octree, NODE_FACES + 1])
        for k in range(start[node], start[node + 1]):
            face = node_faces[k]
            if stamps[stamp_start[body] + face] != voxel:
                stamps[stamp_start[body] + face] = voxel
                listed[count, 0] = body
                listed[count, 1] = face
                _place_face(octrees, octree, poses, body, face, corners, count)
                count += 1
    following = count
    for row in range(count - 1, -1, -1):
        if row + 1 < count and listed[row, 0] != listed[row + 1, 0]:
            following = row + 1
        listed[row, 2] = following
    return count


@kernel
def _place_face(octrees, octree, poses, body, face, corners, row):
    """Write the world corners of a face and their box into a row."""
    vertices = float64_at(octrees[octree, VERTICES], octrees[octree, VERTICES + 1])
    faces = int32_at(octrees[octree, FACES], octrees[octree, FACES + 1])
    for corner in range(3):
        vertex = 3 * faces[3 * face + corner]
        x, y, z = vertices[vertex], vertices[vertex + 1], vertices[vertex + 2]
        for k in range(3):
            pose = poses[body, k]
            corners[row, 3 * corner + k] = rigid_coordinate(pose[0], pose[1], pose[2], pose[3], x, y, z)
    for k in range(3):
        a, b, c = corners[row, k], corners[row, k + 3], corners[row, k + 6]
        corners[row, 9 + k] = min(a, b, c)
        corners[row, 12 + k] = max(a, b, c)


@kernel
def pair_of(pair_start, partner, body_a, body_b):
    """Return the number of the pair of two bodies, or -1 if it is not to be tested."""
    low, high = pair_start[body_a], pair_start[body_a + 1]
    while low < high:
        middle = (low + high) // 2
        if partner[middle] < body_b:
            low = middle + 1
        else:
            high = middle
    if low < pair_start[body_a + 1] and partner[low] == body_b:
        return low
    return -1


@kernel
def rows_boxes_overlap(corners, i, j):
    """Whether the boxes of two listed faces share a point; exact."""
    return bounds_meet(_bounds_of_row(corners, i), _bounds_of_row(corners, j))


@kernel(forceinline=True)
def _bounds_of_row(corners, i):
    return Bounds(Vec3(corners[i, 9], corners[i, 10], corners[i, 11]), Vec3(corners[i, 12], corners[i, 13], corners[i, 14]))


@kernel
def rows_touch(corners, i, j):
    """Return `triangles_touch` of two listed faces."""
    return triangles_touch(triangle_of_row(corners, i), triangle_of_row(corners, j))


@kernel
def put_on_checklist(checklist_pair, checklist_faces, pair, face_a, face_b):
    """Enter a pair of faces of a pair of bodies; return whether it is new. A power of two of places, an empty one has pair -1."""
    a, b, p = int(face_a), int(face_b), int(pair)
    key = (a << FACE_BITS) | b
    mask = checklist_pair.shape[0] - 1
    # Products below 2^58: nothing overflows.
    place = (a * 73856093) ^ (b * 19349663) ^ (p * 83492791)
    place = (place ^ (place >> 17)) & mask
    while checklist_pair[place] >= 0:
        if checklist_faces[place] == key and checklist_pair[place] == p:
            return False
        place = (place + 1) & mask
    checklist_pair[place] = p
    checklist_faces[place] = key
    return True


@kernel
def copy_checklist(old_pair, old_faces, begin, end, new_pair, new_faces):
    """Enter what is on one checklist from `begin` to `end` on another, larger one."""
    for place in range(begin, end):
        if old_pair[place] >= 0:
            key = old_faces[place]
            put_on_checklist(new_pair, new_faces, old_pair[place], key >> FACE_BITS, key & ((1 << FACE_BITS) - 1))


def empty_checklist(places):
    """Return a checklist of pairs of faces with a power of two of places."""
    return full(places, -1, np.int32), np.empty(places, np.int64)
