"""What a frame tells when it ends: its rows by faces, in order, and how well its seeds cover what there is.

One kernel each: NumPy's dozen calls for as much take as long as a tenth of a small budget, and twice that with cold caches.
"""

import numpy as np

from jostle.kernels.handles import float64_at, int32_at, int64_at
from jostle.kernels.jit import kernel
from jostle.methods.monte_carlo import workspace as ws
from jostle.methods.monte_carlo.packed import BODY, CHILDREN, FIRST, LEVEL, LINKS

SEATS = 2 * ws.RING_LENGTH  # a power of two


@kernel(forceinline=True)
def first_face(links, child, f):  # type: ignore[no-untyped-def]
    """The face that stands for a facet: the first one below it, a facet of level 0 itself."""
    while links[LINKS * f + LEVEL] > 0:
        f = np.int64(child[links[LINKS * f + CHILDREN]])
    return f


@kernel
def order_of_rows(couple, faces, order, other):  # type: ignore[no-untyped-def]
    """Sort rows by (couple, faces), by merging; writes their numbers to `order`. Both are (n,), and `other` is room for as many."""
    count = order.shape[0]
    for k in range(count):
        order[k] = k
    width = 1
    while width < count:
        for begin in range(0, count, 2 * width):
            middle, end = min(begin + width, count), min(begin + 2 * width, count)
            i, j = begin, middle
            for k in range(begin, end):
                from_first = i < middle
                if from_first and j < end:
                    p, q = order[i], order[j]
                    from_first = couple[p] < couple[q] or (couple[p] == couple[q] and faces[p] <= faces[q])
                if from_first:
                    other[k] = order[i]
                    i += 1
                else:
                    other[k] = order[j]
                    j += 1
        for k in range(count):
            order[k] = other[k]
        width *= 2


@kernel
def told_rows(addresses, state, couple, face_a, face_b, kind, distance):  # type: ignore[no-untyped-def]
    """Write the rows of a frame, sorted: place of the couple, faces, kind and distance, (rows,) each. Arrays as in `workspace`."""
    links = int32_at(addresses[0, 2 * ws.LINK], addresses[0, 2 * ws.LINK + 1])
    child = int32_at(addresses[0, 2 * ws.CHILD], addresses[0, 2 * ws.CHILD + 1])
    bodies = int64_at(addresses[0, 2 * ws.BODIES], addresses[0, 2 * ws.BODIES + 1])
    couples = int32_at(addresses[0, 2 * ws.COUPLE_INTS], addresses[0, 2 * ws.COUPLE_INTS + 1])
    rows = int32_at(addresses[0, 2 * ws.ROW_INTS], addresses[0, 2 * ws.ROW_INTS + 1])
    floats = float64_at(addresses[0, 2 * ws.ROW_FLOATS], addresses[0, 2 * ws.ROW_FLOATS + 1])
    count = state[ws.ROWS]
    of, faces = np.empty(count, np.int32), np.empty(count, np.int64)
    for k in range(count):
        at = ws.ROW_INT * k
        of[k] = rows[at]
        a, b = couples[ws.COUPLE * rows[at] + ws.BODY_A], couples[ws.COUPLE * rows[at] + ws.BODY_B]
        fa = first_face(links, child, np.int64(rows[at + 1])) - bodies[BODY * a + FIRST]
        fb = first_face(links, child, np.int64(rows[at + 2])) - bodies[BODY * b + FIRST]
        faces[k] = (fa << 32) | fb
    order = np.empty(count, np.int64)
    order_of_rows(of, faces, order, np.empty(count, np.int64))
    for k in range(count):
        p = order[k]
        couple[k], face_a[k], face_b[k] = of[p], faces[p] >> 32, faces[p] & 0xFFFFFFFF
        kind[k], distance[k] = rows[ws.ROW_INT * p + 3], floats[ws.ROW_FLOAT * p]


@kernel
def share_of_lone_seeds(ring):  # type: ignore[no-untyped-def]
    """Of the last seeds, the share that led to a region to which no other did; 1 where none was drawn.

    That is the estimate of Good and Turing of the chance that the next seed leads to a region that none of these has led to.
    """
    keys, counts = np.empty(SEATS, np.int64), np.zeros(SEATS, np.int32)
    drawn = 0
    for k in range(ring.shape[0]):
        key = ring[k]
        drawn += int(key != ws.NOT_DRAWN)
        if key < 0:
            continue
        seat = (key ^ (key >> 17) ^ (key >> 40)) & (SEATS - 1)
        while counts[seat] > 0 and keys[seat] != key:
            seat = (seat + 1) & (SEATS - 1)
        keys[seat] = key
        counts[seat] += 1
    alone = 0
    for seat in range(SEATS):
        alone += int(counts[seat] == 1)
    return alone / drawn if drawn > 0 else 1.0
