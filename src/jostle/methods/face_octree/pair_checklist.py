"""The face-pair checklist (§3.5): faces of different bodies that share a voxel.

A hash table of all pairs so far tells whether another voxel has listed a pair. Before that look-up the cells of both faces, which
are in the voxel's list, are compared, and after it their boxes (the first rejection of §3.6).
"""

from __future__ import annotations

from jostle._types import Floats, Ints, Longs
from jostle.kernels.hash_set import EMPTY, place_of_key
from jostle.kernels.jit import kernel
from jostle.kernels.numbers import as_int64
from jostle.methods.face_octree.work import Checklist, Work


@kernel(forceinline=True)
def key_of(a: int, b: int) -> int:
    """Return two numbers packed into one sortable number."""
    return (a << 32) | b


@kernel
def may_meet(allowed: Longs, a: int, b: int) -> bool:
    """Return whether sorted keys contain a body pair; no keys allow all pairs."""
    if allowed.shape[0] == 0:
        return True
    key = key_of(a, b)
    low, high = 0, allowed.shape[0]
    while low < high:
        middle = (low + high) >> 1
        if allowed[middle] < key:
            low = middle + 1
        else:
            high = middle
    return low < allowed.shape[0] and bool(allowed[low] == key)


@kernel(forceinline=True)
def face_boxes_meet(world: Floats, corner: Ints, f: int, g: int, apart: float) -> bool:
    """Return whether two faces' boxes meet, or are nearer than `apart` on each axis."""
    a, b, c = corner[f, 0], corner[f, 1], corner[f, 2]
    p, q, r = corner[g, 0], corner[g, 1], corner[g, 2]
    for k in range(3):
        if min(world[a, k], world[b, k], world[c, k]) - apart > max(world[p, k], world[q, k], world[r, k]):
            return False
        if min(world[p, k], world[q, k], world[r, k]) - apart > max(world[a, k], world[b, k], world[c, k]):
            return False
    return True


@kernel
def check_face(work: Work, faces: Checklist, allowed: Longs, apart: float, k: int, end: int) -> None:
    """List the pairs of entry k with later entries of other bodies.

    Only pairs whose boxes meet, each once.

    Entries of other bodies go from `run_end` to `end`. The checklist must have room for all of them.
    """
    entries, state = work.entries, work.state
    f = as_int64(entries[k].face)
    lx, ly, lz = entries[k].lower[0], entries[k].lower[1], entries[k].lower[2]
    ux, uy, uz = entries[k].upper[0], entries[k].upper[1], entries[k].upper[2]
    body = as_int64(faces.owner[f])
    last, good = body, False
    for m in range(state.run_end, end):
        lower, upper = entries[m].lower, entries[m].upper
        meet = (lx <= upper[0]) & (lower[0] <= ux) & (ly <= upper[1]) & (lower[1] <= uy)
        meet &= (lz <= upper[2]) & (lower[2] <= uz)
        if not meet:
            continue
        g = as_int64(entries[m].face)
        if faces.owner[g] != last:
            last = as_int64(faces.owner[g])
            good = may_meet(allowed, body, last)
        if not good:
            continue
        key = key_of(f, g)
        place = place_of_key(work.pair_table, key)
        if work.pair_table[place] == EMPTY and face_boxes_meet(faces.world, faces.corner, f, g, apart):
            work.pair_table[place] = key
            work.checks[state.checks] = key
            state.checks += 1
