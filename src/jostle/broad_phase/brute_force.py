"""BruteForce: compares all boxes; the reference of the other broad phases, and fastest for a few.

There is no paper: n(n-1)/2 exact comparisons of closed float64 boxes, in order, so that the pairs come out sorted.
Nothing is kept between frames but the room for the pairs: when it does not suffice the search counts on without
writing, and runs a second time with enough. Both are made in slices, so that Ctrl-C is heard.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from jostle._types import Floats, Ints
from jostle.broad_phase.volumes import Volumes, boxes_for_kernel, refuse_too_many_pairs
from jostle.interface.body_pairs import CandidatePairs
from jostle.kernels.jit import kernel
from jostle.kernels.slices import run_in_slices

_SLICE = 1 << 22  # comparisons of a first slice: some milliseconds


@dataclass(frozen=True)
class BruteForce:
    """Compare all pairs of boxes."""

    def start(self, body_count: int) -> BruteForceFinder:
        """Return a finder for a world of `body_count` bodies."""
        return BruteForceFinder(body_count)


@dataclass
class BruteForceFinder:
    """Finds the overlapping boxes of each frame, independent of the frames before."""

    body_count: int
    counters: dict[str, int] = field(default_factory=dict)
    _body_a: Ints = field(default_factory=lambda: np.empty(64, np.int32), repr=False)
    _body_b: Ints = field(default_factory=lambda: np.empty(64, np.int32), repr=False)

    def find(self, volumes: Volumes) -> CandidatePairs:
        """Return all pairs of overlapping boxes, sorted."""
        n = len(volumes)
        lower, upper = boxes_for_kernel(volumes, self.body_count)
        found = self._compare_all(lower, upper)
        if found > len(self._body_a):
            refuse_too_many_pairs(found)
            # A quarter more than needed: the next frame usually has a few pairs more.
            self._body_a, self._body_b = np.empty((2, found + found // 4), np.int32)
            found = self._compare_all(lower, upper)
        self.counters = {"box_tests": n * (n - 1) // 2, "pairs": found}
        return CandidatePairs(self._body_a[:found].copy(), self._body_b[:found].copy())

    def _compare_all(self, lower: Floats, upper: Floats) -> int:
        n = len(lower)
        if n * n <= _SLICE:
            return int(find_all_pairs(lower, upper, 0, self._body_a, self._body_b, 0, _SLICE)[1])
        state = np.zeros(2, np.int64)  # body, pairs

        def step(state: NDArray[np.int64], operations: int) -> tuple[bool, int]:
            body, found = find_all_pairs(lower, upper, int(state[0]), self._body_a, self._body_b, int(state[1]), operations)
            used = (body - int(state[0])) * n
            state[0], state[1] = body, found
            return bool(body == n), max(1, used)

        run_in_slices(step, state, _SLICE)
        return int(state[1])

    def change(self, body_count: int, old_to_new: NDArray[np.integer]) -> None:
        """Continue with other bodies."""
        self.body_count = body_count


@kernel
def find_all_pairs(
    lower: Floats, upper: Floats, first: int, body_a: Ints, body_b: Ints, found: int, operations: int
) -> tuple[int, int]:
    """Write overlapping pairs of boxes (n,3) from body `first` on while there is room, for about so many comparisons.

    Returns the body to go on from and how many pairs there are so far.
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
