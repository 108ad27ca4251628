"""The order of seeds: all in turn, successive ones far apart (§3.2).

Up to `CELLS` facets are ordered greedily: of those far from every seed so far, the one farthest from the last comes next, so that a
prefix of any length covers the whole surface. More facets are first cut, along a space-filling curve, into `CELLS` runs of
neighbours; the runs are ordered, and each round takes one facet of each.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from jostle._types import Floats
from jostle.geometry.morton import codes_of_points

CELLS = 256
FAR = 0.7  # of the largest distance from all seeds so far: with 1, successive seeds are no farther apart than by chance


def far_apart_order(points: Floats) -> NDArray[np.int32]:
    """Return a permutation of 0 … n-1 in which successive points (n, 3) are far apart."""
    count = len(points)
    if count <= CELLS:
        return greedy_order(points)
    along = np.argsort(codes_of_points(points), kind="stable")
    bounds = np.linspace(0, count, CELLS + 1).astype(np.int64)
    sums = np.add.reduceat(points[along], bounds[:-1], axis=0)
    runs = greedy_order(sums / np.diff(bounds)[:, None])
    begin, size = bounds[:-1][runs], np.diff(bounds)[runs]
    member = _bit_reversed(int(size.max()))
    places = begin[None, :] + member[:, None]
    return along[places[member[:, None] < size[None, :]]].astype(np.int32)


def greedy_order(points: Floats) -> NDArray[np.int32]:
    """Return a permutation of few points, each far from all before and from the last."""
    count = len(points)
    order = np.zeros(count, np.int32)
    if count == 0:
        return order
    free = np.ones(count, bool)
    from_last = ((points - points.mean(axis=0)) ** 2).sum(axis=1)
    from_all = from_last
    for k in range(count):
        far = free & (from_all >= FAR**2 * np.max(from_all, where=free, initial=0.0))
        at = int(np.argmax(np.where(far, from_last, -1.0)))
        order[k], free[at] = at, False
        from_last = ((points - points[at]) ** 2).sum(axis=1)
        from_all = from_last if k == 0 else np.minimum(from_all, from_last)
    return order


def _bit_reversed(count: int) -> NDArray[np.int64]:
    """Return 0 … count-1 in bit-reversed order: early ones are spread out."""
    bits = max(count - 1, 1).bit_length()
    numbers = np.arange(1 << bits)
    reverse = np.zeros_like(numbers)
    for bit in range(bits):
        reverse |= ((numbers >> bit) & 1) << (bits - 1 - bit)
    return reverse[reverse < count]
