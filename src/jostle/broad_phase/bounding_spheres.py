"""BoundingSpheres: every bounding sphere is compared with every other.

Paper: Lock, Wills 2000, §6, "Bounding volume overlap testing": n(n-1)/2 comparisons of the distance of centres with the sum of
radii, eight at once. Without any preparation it is fast for a few bodies, and quadratic for many. Deviation: spheres overlap if the
distance is at most the sum (the paper prints the opposite), and they contain their bodies (`volume_table.py`).
Guarantee: every pair of overlapping closed spheres, sorted; because of rounding, spheres that miss each other by less than 1e-14 of
their distance may be included. An infinite body overlaps all others.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial

import numpy as np
from numpy.typing import NDArray

from jostle._types import Floats, Ints
from jostle.broad_phase.brute_force import compare_all
from jostle.broad_phase.volumes import Volumes, spheres_for_kernel
from jostle.interface.body_pairs import CandidatePairs
from jostle.kernels.jit import kernel
from jostle.kernels.simd import (
    f32x8_less_equal,
    f32x8_splat,
    f64x8_add,
    f64x8_load,
    f64x8_min,
    f64x8_mul,
    f64x8_splat,
    f64x8_sub,
    f64x8_to_f32x8,
    lowest_bit,
    without_lowest_bit,
)

LANES = 8
# Eight roundings on both sides, and squares that underflow.
OUTWARD = 1.0 + 2.0**-48
TINY = 1e-300
_LARGEST_SQUARE = 1e300


@dataclass(frozen=True)
class BoundingSpheres:
    """Compare all pairs of bounding spheres."""

    def start(self, body_count: int) -> BoundingSpheresFinder:
        """Return a finder for a world of `body_count` bodies."""
        return BoundingSpheresFinder(body_count)


@dataclass
class BoundingSpheresFinder:
    """Finds the overlapping spheres of each frame; keeps only buffers."""

    body_count: int
    counters: dict[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._make_room()
        self._pairs = np.empty((2, 4 * self.body_count + 64), np.int32)

    def _make_room(self) -> None:
        # NaN after the last sphere: nothing overlaps it.
        self._columns = np.full(4 * (self.body_count + LANES), np.nan)

    def find(self, volumes: Volumes) -> CandidatePairs:
        """Return all pairs of overlapping spheres, sorted."""
        n = self.body_count
        fill_columns(*spheres_for_kernel(volumes, n), self._columns)
        found, self._pairs = compare_all(partial(compare_spheres, self._columns, n), n, self._pairs)
        self.counters = {"box_tests": n * (n - 1) // 2, "pairs": found}
        return CandidatePairs(self._pairs[0, :found].copy(), self._pairs[1, :found].copy())

    def change(self, body_count: int, old_to_new: NDArray[np.integer]) -> None:
        """Continue with other bodies."""
        if body_count != self.body_count:
            self.body_count = body_count
            self._make_room()


@kernel
def fill_columns(centre: Floats, radius: Floats, columns: Floats) -> None:
    """Write centres (n,3) and radii (n,) into four columns of n+8 numbers each."""
    n = radius.shape[0]
    stride = n + LANES
    for i in range(n):
        for k in range(3):
            columns[k * stride + i] = centre[i, k]
        columns[3 * stride + i] = radius[i]


@kernel(forceinline=True)
def spheres_overlap(x: float, y: float, z: float, reach: float) -> bool:
    """Return whether spheres `reach` = r₁ + r₂ overlap at offset (x, y, z).

    In doubt, because of rounding, they do.
    """
    return min((x * x + y * y) + z * z, _LARGEST_SQUARE) <= reach * reach * OUTWARD + TINY


@kernel
def compare_spheres(columns: Floats, n: int, first: int, body_a: Ints, body_b: Ints, found: int, most: int) -> tuple[int, int]:
    """Write overlapping sphere pairs from body `first` on while there is room.

    Stops after about `most` comparisons. Returns the body to continue from and the number of pairs so far.
    """
    stride = n + LANES
    room = body_a.shape[0]
    outward, tiny, largest = f64x8_splat(OUTWARD), f64x8_splat(TINY), f64x8_splat(_LARGEST_SQUARE)
    zero = f32x8_splat(np.float32(0.0))
    last = min(n, first + 1 + most // max(1, n))
    for i in range(first, last):
        xi, yi, zi, ri = columns[i], columns[stride + i], columns[2 * stride + i], columns[3 * stride + i]
        x8, y8, z8, r8 = f64x8_splat(xi), f64x8_splat(yi), f64x8_splat(zi), f64x8_splat(ri)
        for j in range(i + 1, n, LANES):
            x = f64x8_sub(f64x8_load(columns, j), x8)
            y = f64x8_sub(f64x8_load(columns, stride + j), y8)
            z = f64x8_sub(f64x8_load(columns, 2 * stride + j), z8)
            reach = f64x8_add(f64x8_load(columns, 3 * stride + j), r8)
            square = f64x8_add(f64x8_add(f64x8_mul(x, x), f64x8_mul(y, y)), f64x8_mul(z, z))
            allowed = f64x8_add(f64x8_mul(f64x8_mul(reach, reach), outward), tiny)
            # Rounding to float32 keeps the sign; values that become zero are compared again.
            mask = f32x8_less_equal(f64x8_to_f32x8(f64x8_sub(f64x8_min(square, largest), allowed)), zero)
            while mask != 0:
                other = j + lowest_bit(mask)
                mask = without_lowest_bit(mask)
                if other < n and spheres_overlap(
                    columns[other] - xi,
                    columns[stride + other] - yi,
                    columns[2 * stride + other] - zi,
                    columns[3 * stride + other] + ri,
                ):
                    if found < room:
                        body_a[found] = i
                        body_b[found] = other
                    found += 1
    return last, found
