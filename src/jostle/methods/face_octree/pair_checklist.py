"""The face-pair checklist (§3.5): pairs of faces of different bodies that share a voxel, each once.

Whether another voxel has put a pair there already is asked of a hash table of all pairs so far. Before that the cells of both
faces are compared, which stand in the voxel's list, and after it their boxes (the first rejection of §3.6).
"""

from __future__ import annotations

import numpy as np

from jostle.kernels.jit import kernel


@kernel
def look_up(table, key):
    """Return the place of a key in a table of a power of two of places, or of the empty one (-1) where it belongs."""
    mask = table.shape[0] - 1
    mixed = ((key >> 32) * 73_856_093) ^ ((key & 0xFFFFFFFF) * 19_349_663)
    place = (mixed ^ (mixed >> 17)) & mask
    while table[place] != -1 and table[place] != key:
        place = (place + 1) & mask
    return place


@kernel
def enter_again(checks, begin, end, table):
    """Enter a piece of the checklist into a table."""
    for k in range(begin, end):
        table[look_up(table, checks[k])] = checks[k]


@kernel
def may_meet(allowed, a, b):
    """Whether the sorted keys have the pair of bodies (a, b); no keys at all let all pairs meet."""
    if allowed.shape[0] == 0:
        return True
    key = (np.int64(a) << 32) | b
    low, high = 0, allowed.shape[0]
    while low < high:
        middle = (low + high) >> 1
        if allowed[middle] < key:
            low = middle + 1
        else:
            high = middle
    return low < allowed.shape[0] and allowed[low] == key


@kernel
def face_boxes_meet(world, corner, f, g, apart):
    """Whether the boxes of two faces of the checklist meet, or come nearer than `apart` along each axis."""
    a, b, c = corner[f, 0], corner[f, 1], corner[f, 2]
    p, q, r = corner[g, 0], corner[g, 1], corner[g, 2]
    for k in range(3):
        if min(world[a, k], world[b, k], world[c, k]) - apart > max(world[p, k], world[q, k], world[r, k]):
            return False
        if min(world[p, k], world[q, k], world[r, k]) - apart > max(world[a, k], world[b, k], world[c, k]):
            return False
    return True


@kernel
def check_face(k, begin, end, apart, world, corner, owner, cells, numbers, allowed, table, checks, count):
    """Put face k and each one from `begin` to `end` of a voxel's list on the checklist, if boxes meet and it is not there yet.

    Returns the length of the checklist, which must have room for all of them.
    """
    f = numbers[4 * k + 3]
    lx, ly, lz = cells[8 * k], cells[8 * k + 1], cells[8 * k + 2]
    ux, uy, uz = cells[8 * k + 3], cells[8 * k + 4], cells[8 * k + 5]
    body = owner[f]
    last, good = body, False
    for m in range(begin, end):
        meet = (lx <= cells[8 * m + 3]) & (cells[8 * m] <= ux) & (ly <= cells[8 * m + 4]) & (cells[8 * m + 1] <= uy)
        meet &= (lz <= cells[8 * m + 5]) & (cells[8 * m + 2] <= uz)
        if not meet:
            continue
        g = numbers[4 * m + 3]
        if owner[g] != last:
            last = owner[g]
            good = may_meet(allowed, body, last)
        if not good:
            continue
        key = (np.int64(f) << 32) | g
        place = look_up(table, key)
        if table[place] == -1 and face_boxes_meet(world, corner, f, g, apart):
            table[place] = key
            checks[count] = key
            count += 1
    return count
