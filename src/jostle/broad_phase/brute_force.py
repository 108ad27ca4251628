"""AllPairs: compares all boxes; the reference, and fastest for a few bodies.

No paper: n(n-1)/2 comparisons of closed boxes, in order, so the pairs come out sorted. Boxes rounded outward to float32 are
compared eight at a time; where those meet, the float64 boxes decide. (Compared one by one, boxes that lie close take ten times as
long: the processor guesses every second branch wrong.) Only arrays are kept between frames: when that of the pairs is full the
search only counts, and runs again with a larger one. It runs in slices, so Ctrl-C is heard.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial

import numpy as np
from numpy.typing import NDArray

from jostle._types import Floats, Ints
from jostle.broad_phase.volumes import Volumes, boxes_for_kernel, find_with_room
from jostle.interface.body_pairs import CandidatePairs
from jostle.kernels.jit import kernel
from jostle.kernels.simd import LANES, f32x8_load, f32x8_overlap, f32x8_splat, lowest_bit, without_lowest_bit
from jostle.kernels.slices import run_in_slices

_SLICE = 1 << 22  # comparisons of the first slice: a millisecond
# One step of float32: 2^-23 of the value at most, or its smallest normal number.
OUTWARD, TINY = np.float32(1.2e-7), np.float32(1.2e-38)
FARTHEST = np.float32(3e38)  # below the largest number of float32


@dataclass(frozen=True)
class AllPairs:
    """Compare all pairs of boxes."""

    def start(self, body_count: int) -> AllPairsFinder:
        """Return a finder for a world of `body_count` bodies."""
        return AllPairsFinder(body_count)


@dataclass
class AllPairsFinder:
    """Finds the overlapping boxes of each frame, independent of the frames before."""

    body_count: int
    counters: dict[str, int] = field(default_factory=dict)
    _pairs: Ints = field(default_factory=lambda: np.empty((2, 64), np.int32), repr=False)
    _rounded: NDArray[np.float32] = field(default_factory=lambda: np.empty((6, 0), np.float32), repr=False)

    def find(self, volumes: Volumes) -> CandidatePairs:
        """Return all pairs of overlapping boxes, sorted."""
        n = self.body_count
        if self._rounded.shape[1] < n:
            self._rounded = np.empty((6, n + -n % LANES), np.float32)
        compare = partial(find_all_pairs, *boxes_for_kernel(volumes, n), self._rounded)
        found, self._pairs = compare_all(compare, n, self._pairs)
        self.counters = {"box_tests": n * (n - 1) // 2, "pairs": found}
        return CandidatePairs(self._pairs[0, :found].copy(), self._pairs[1, :found].copy())

    def change(self, body_count: int, old_to_new: NDArray[np.integer]) -> None:
        """Continue with other bodies."""
        self.body_count = body_count


def compare_all(compare: Callable[[int, Ints, Ints, int, int], tuple[int, int]], n: int, pairs: Ints) -> tuple[int, Ints]:
    """Compare n bodies in slices; return the pair count and the array of pairs (2,k).

    `compare(first, body_a, body_b, found, operations)` is a kernel such as `find_all_pairs`.
    """
    if n * n <= _SLICE:
        found = compare(0, pairs[0], pairs[1], 0, _SLICE)[1]
        if found < pairs.shape[1]:
            return found, pairs

    def search(pairs: Ints) -> int:
        state = np.zeros(2, np.int64)  # body, pairs

        def step(state: NDArray[np.int64], operations: int) -> tuple[bool, int]:
            first = int(state[0])
            state[:] = compare(first, pairs[0], pairs[1], int(state[1]), operations)
            return bool(state[0] == n), max(1, (int(state[0]) - first) * n)

        run_in_slices(step, state, _SLICE)
        return int(state[1])

    return find_with_room(search, pairs)


@kernel
def round_boxes(lower: Floats, upper: Floats, rounded: NDArray[np.float32]) -> None:
    """Write boxes (n,3) as six rows of float32, rounded outward.

    They are relative to a corner of the first, which spares bits far from the origin.
    """
    for k in range(3):
        origin = lower[0, k] if math.isfinite(lower[0, k]) else 0.0
        for i in range(lower.shape[0]):
            rounded[k, i] = rounded_down(lower[i, k] - origin)
            rounded[3 + k, i] = -rounded_down(origin - upper[i, k])


@kernel(forceinline=True)
def rounded_down(value: float) -> np.float32:
    """Return a float32 that is certainly below, or minus infinity."""
    near = np.float32(value)
    return min(near, FARTHEST) - (abs(min(near, FARTHEST)) * OUTWARD + TINY)


@kernel
def find_all_pairs(
    lower: Floats, upper: Floats, rounded: NDArray[np.float32], first: int, body_a: Ints, body_b: Ints, found: int, operations: int
) -> tuple[int, int]:
    """Write overlapping pairs of boxes (n,3) from body `first` on while there is room.

    rounded: scratch, the rounded boxes once the first body was compared. Stops after about `operations` comparisons. Returns the
    body to continue from and the number of pairs so far.
    """
    room, n, pitch, rows = body_a.shape[0], lower.shape[0], rounded.shape[1], rounded.reshape(-1)
    if first == 0 and n > 0:
        round_boxes(lower, upper, rounded)
    last = min(n, first + 1 + operations // max(1, n))
    for a in range(first, last):
        x0, y0, z0 = f32x8_splat(rounded[0, a]), f32x8_splat(rounded[1, a]), f32x8_splat(rounded[2, a])
        x1, y1, z1 = f32x8_splat(rounded[3, a]), f32x8_splat(rounded[4, a]), f32x8_splat(rounded[5, a])
        start = (a + 1) - (a + 1) % LANES
        used = np.uint32(0xFF) << np.uint32(a + 1 - start)  # of the first eight, those that follow a
        for b in range(start, n, LANES):
            if b + LANES > n:
                used &= np.uint32(0xFF) >> np.uint32(b + LANES - n)
            mask = used & f32x8_overlap(
                x0, y0, z0, x1, y1, z1,
                f32x8_load(rows, b), f32x8_load(rows, pitch + b), f32x8_load(rows, 2 * pitch + b),
                f32x8_load(rows, 3 * pitch + b), f32x8_load(rows, 4 * pitch + b), f32x8_load(rows, 5 * pitch + b),
            )  # fmt: skip
            used = np.uint32(0xFF)
            while mask != 0:
                i = b + lowest_bit(mask)
                mask = without_lowest_bit(mask)
                if boxes_overlap(lower, upper, a, i):
                    if found < room:
                        body_a[found], body_b[found] = a, i
                    found += 1
    return last, found


@kernel(forceinline=True)
def boxes_overlap(lower: Floats, upper: Floats, a: int, b: int) -> bool:
    """Return whether two closed boxes have a common point."""
    apart = False
    for k in range(3):
        apart = apart or lower[b, k] > upper[a, k] or lower[a, k] > upper[b, k]
    return not apart
