"""AllPairs: compares all boxes; the reference, and fastest for a few bodies.

No paper: n(n-1)/2 exact comparisons of closed float64 boxes, in order, so the pairs come out sorted. Only the pair buffer is kept
between frames: when it is full the search only counts, and runs again with a larger one. It runs in slices, so Ctrl-C is heard.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial

import numpy as np
from numpy.typing import NDArray

from jostle._types import Floats, Ints
from jostle.broad_phase.volumes import Volumes, boxes_for_kernel, find_with_room
from jostle.interface.body_pairs import CandidatePairs
from jostle.kernels.jit import kernel
from jostle.kernels.slices import run_in_slices

_SLICE = 1 << 22  # comparisons of the first slice: some milliseconds


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

    def find(self, volumes: Volumes) -> CandidatePairs:
        """Return all pairs of overlapping boxes, sorted."""
        n = self.body_count
        compare = partial(find_all_pairs, *boxes_for_kernel(volumes, n))
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
def find_all_pairs(
    lower: Floats, upper: Floats, first: int, body_a: Ints, body_b: Ints, found: int, operations: int
) -> tuple[int, int]:
    """Write overlapping pairs of boxes (n,3) from body `first` on while there is room.

    Stops after about `operations` comparisons. Returns the body to continue from and the number of pairs so far.
    """
    room = body_a.shape[0]
    n = lower.shape[0]
    last = min(n, first + 1 + operations // max(1, n))
    for a in range(first, last):
        x0 = lower[a, 0]
        y0 = lower[a, 1]
        z0 = lower[a, 2]
        x1 = upper[a, 0]
        y1 = upper[a, 1]
        z1 = upper[a, 2]
        for b in range(a + 1, n):
            if (
                lower[b, 0] <= x1
                and upper[b, 0] >= x0
                and lower[b, 1] <= y1
                and upper[b, 1] >= y0
                and lower[b, 2] <= z1
                and upper[b, 2] >= z0
            ):
                if found < room:
                    body_a[found] = a
                    body_b[found] = b
                found += 1
    return last, found
