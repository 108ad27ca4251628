"""Body pairs as sorted integer keys, kept between frames.

The lower body is in the upper 32 bits, so sorted keys are sorted pairs.
"""

from __future__ import annotations

import numpy as np

from jostle._types import Ints, Longs
from jostle.kernels.jit import kernel
from jostle.kernels.numbers import Whole, as_int64
from jostle.kernels.sort import sort_keys
from jostle.kernels.structs import Rows, int64

AnyLongs = Longs | Rows[int64]

LOWEST_BITS = 0xFFFFFFFF


def renumbered(pairs: Longs, new: Longs) -> Longs:
    """Return the keys (k,) of remaining bodies; `new` maps old numbers, -1 if removed."""
    a, b = new[pairs >> 32], new[pairs & LOWEST_BITS]
    alive = (a >= 0) & (b >= 0)
    a, b = np.minimum(a[alive], b[alive]), np.maximum(a[alive], b[alive])
    return np.sort(a << 32 | b)


@kernel
def key_of(i: Whole, j: Whole) -> int:
    """Return the key of a body pair, via int64 because bodies are 32 bits wide."""
    return as_int64(min(i, j)) << 32 | as_int64(max(i, j))


@kernel(forceinline=True)
def bodies_of_key(key: int) -> tuple[int, int]:
    """Return the two bodies of a key, the lower first."""
    return key >> 32, key & LOWEST_BITS


@kernel
def split_keys(pairs: Longs, body_a: Ints, body_b: Ints) -> None:
    """Write the two bodies of each key."""
    for p in range(pairs.shape[0]):
        body_a[p], body_b[p] = bodies_of_key(pairs[p])


@kernel
def sort_once(keys: AnyLongs, count: int) -> int:
    """Sort the first `count` keys, drop duplicates, and return how many remain."""
    sort_keys(keys, 0, count)
    kept = 0
    for i in range(count):
        if kept == 0 or keys[i] != keys[kept - 1]:
            keys[kept] = keys[i]
            kept += 1
    return kept
