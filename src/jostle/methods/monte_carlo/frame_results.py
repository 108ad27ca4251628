"""The results of a frame: sorted rows, and how well its seeds cover the regions.

One kernel each: a dozen NumPy calls would take a tenth of a small budget, and twice that with cold caches.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from jostle._types import Floats, Ints, Longs
from jostle.kernels.hash_set import EMPTY, place_of_key
from jostle.kernels.jit import kernel
from jostle.kernels.structs import Addresses
from jostle.methods.monte_carlo.packed import first_face
from jostle.methods.monte_carlo.work import NOT_DRAWN, RING_LENGTH, Work, open_work, pair_of

SEATS = 2 * RING_LENGTH  # a power of two


@kernel
def order_of_rows(body_pair: Ints, faces: Longs, order: Longs, other: Longs) -> None:
    """Merge-sort rows by (body pair, faces); writes their numbers to `order`.

    All arrays are (n,); `other` is scratch.
    """
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
                    from_first = body_pair[p] < body_pair[q] or (body_pair[p] == body_pair[q] and faces[p] <= faces[q])
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
def write_rows(
    addresses: Addresses, body_pair: Ints, face_a: Ints, face_b: Ints, kind: NDArray[np.uint8], distance: Floats
) -> None:
    """Write the rows of a frame, sorted; arrays (rows,), body pairs by their place."""
    work = open_work(addresses)
    count = work.state.rows
    of, faces = np.empty(count, np.int32), np.empty(count, np.int64)
    for k in range(count):
        of[k], faces[k] = work.rows[k].pair.body_pair, faces_of_row(work, k)
    order = np.empty(count, np.int64)
    order_of_rows(of, faces, order, np.empty(count, np.int64))
    for k in range(count):
        p = order[k]
        body_pair[k], face_a[k], face_b[k] = of[p], faces[p] >> 32, faces[p] & 0xFFFFFFFF
        kind[k], distance[k] = work.rows[p].kind, work.rows[p].distance


@kernel(forceinline=True)
def faces_of_row(work: Work, row: int) -> int:
    """Return the faces of a row in one number: face a << 32 | face b."""
    pair = pair_of(work.rows[row].pair)
    bodies = work.body_pairs[pair.body_pair].body
    face_a = first_face(work, pair.a) - work.bodies[bodies[0]].first
    return (face_a << 32) | (first_face(work, pair.b) - work.bodies[bodies[1]].first)


@kernel
def share_of_lone_seeds(ring: Longs) -> float:
    """Return the share of the last seeds that alone found their region.

    1 where none was drawn.

    That is the Good-Turing estimate of the chance that the next seed leads to a region that none of these found.
    """
    keys, counts = np.full(SEATS, EMPTY), np.zeros(SEATS, np.int32)
    drawn = 0
    for k in range(ring.shape[0]):
        key = ring[k]
        drawn += int(key != NOT_DRAWN)
        if key < 0:
            continue
        seat = place_of_key(keys, key)
        keys[seat] = key
        counts[seat] += 1
    alone = 0
    for seat in range(SEATS):
        alone += int(counts[seat] == 1)
    return alone / drawn if drawn > 0 else 1.0
