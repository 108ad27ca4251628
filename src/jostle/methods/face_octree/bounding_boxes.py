"""Stage 1 (§3.3): bounding boxes of the bodies, and the overlap regions of those whose boxes meet.

World vertices are those of the one formula (`geometry/rigid.py`), so boxes, and the regions that two boxes have in common,
are exact: minima and maxima round nothing. With a clearance the region of a body is what its box has in common with the
other's box, grown by it. Regions are listed by body: those of body k of the list are `regions[first[k]:first[k + 1]]`.
"""

from __future__ import annotations

from jostle.geometry.rigid import rigid_coordinate
from jostle.kernels.handles import float64_at
from jostle.kernels.jit import kernel


@kernel
def place_bodies(bodies, addresses, poses, offset, world, boxes):
    """Write the world vertices of bodies (k,) into world, from vertex offset[i] on, and their bounding boxes (k,6).

    addresses (n,4): vertices and faces of every body, as `AddressTable` has them; poses (n,4,4).
    """
    for i in range(bodies.shape[0]):
        body = bodies[i]
        local = float64_at(addresses[body, 0], addresses[body, 1])
        p = poses[body]
        r00, r01, r02, t0 = p[0, 0], p[0, 1], p[0, 2], p[0, 3]
        r10, r11, r12, t1 = p[1, 0], p[1, 1], p[1, 2], p[1, 3]
        r20, r21, r22, t2 = p[2, 0], p[2, 1], p[2, 2], p[2, 3]
        lx = ly = lz = 1e300
        ux = uy = uz = -1e300
        start = offset[i]
        for v in range(local.shape[0] // 3):
            x, y, z = local[3 * v], local[3 * v + 1], local[3 * v + 2]
            wx = rigid_coordinate(r00, r01, r02, t0, x, y, z)
            wy = rigid_coordinate(r10, r11, r12, t1, x, y, z)
            wz = rigid_coordinate(r20, r21, r22, t2, x, y, z)
            world[start + v, 0] = wx
            world[start + v, 1] = wy
            world[start + v, 2] = wz
            lx, ly, lz = min(lx, wx), min(ly, wy), min(lz, wz)
            ux, uy, uz = max(ux, wx), max(uy, wy), max(uz, wz)
        boxes[i, 0], boxes[i, 1], boxes[i, 2] = lx, ly, lz
        boxes[i, 3], boxes[i, 4], boxes[i, 5] = ux, uy, uz


@kernel
def find_overlap_regions(pair_a, pair_b, boxes, grown, meets, first, regions):
    """Mark the pairs (p,) of bodies whose boxes meet, and list the overlap regions of each body; returns how many there are.

    Pairs are given by places in the list of bodies. first (k+1,), regions (2p,6).
    """
    count = boxes.shape[0]
    for i in range(count + 1):
        first[i] = 0
    found = 0
    for k in range(pair_a.shape[0]):
        a, b = pair_a[k], pair_b[k]
        meet = True
        for axis in range(3):
            meet &= boxes[a, axis] - grown <= boxes[b, axis + 3] and boxes[b, axis] - grown <= boxes[a, axis + 3]
        meets[k] = meet
        if meet:
            found += 2
            first[a + 1] += 1
            first[b + 1] += 1
    for i in range(count):
        first[i + 1] += first[i]
    # Filled from the end of each body's part backwards, by which `first` comes to stand at the beginnings.
    for k in range(pair_a.shape[0] - 1, -1, -1):
        if meets[k]:
            for turn in range(2):
                one, other = (pair_a[k], pair_b[k]) if turn == 0 else (pair_b[k], pair_a[k])
                first[one + 1] -= 1
                place = first[one + 1]
                for axis in range(3):
                    regions[place, axis] = max(boxes[one, axis], boxes[other, axis] - grown)
                    regions[place, axis + 3] = min(boxes[one, axis + 3], boxes[other, axis + 3] + grown)
    for i in range(count):
        first[i] = first[i + 1]
    first[count] = found
    return found
