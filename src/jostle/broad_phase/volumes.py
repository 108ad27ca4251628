"""Volumes: the input of a broad phase; storing and sorting of its pairs.

A broad phase knows no meshes: it sees one axis-aligned world box per body, and on request a sphere, bounds on the motion, and which
bodies jumped. Boxes are closed, so two boxes that touch overlap. Infinite boxes (a ground plane) and boxes of any size are legal.
NaN is not; nothing is checked here, because jostle makes volumes from arrays that have passed `cast.py`.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jostle._types import Floats, Ints
from jostle.errors import InputError
from jostle.interface.body_pairs import CandidatePairs
from jostle.kernels.arrays import read_only_view
from jostle.kernels.jit import kernel

_STEP = float(np.finfo(np.float64).eps)
# Rounding of the centre, of three differences and of a norm moves a radius by fewer than eight units in the last place.
_RADIUS_PADDING = 1.0 + 8.0 * _STEP


@dataclass(frozen=True, eq=False)
class Volumes:
    """The volume of each body, one row per body, in world axes and user units.

    Parameters
    ----------
    lower, upper : (n, 3) float64
        Corners of the closed boxes, `lower <= upper`.
    centre, radius : (n, 3) and (n,) float64, optional
        Bounding spheres; by default `spheres` makes them from the boxes.
    velocity : (n, 3) float64, optional
        Units per second.
    bounds : (n, 2) float64, optional
        Largest speed and acceleration of each body's centre, for broad phases that look ahead; inf for none.
    dt : float
        Seconds since the previous frame.
    jumps : (n,) bool, optional
        Bodies that were teleported since the previous frame.
    """

    lower: Floats
    upper: Floats
    centre: Floats | None = None
    radius: Floats | None = None
    velocity: Floats | None = None
    bounds: Floats | None = None
    dt: float = 0.0
    jumps: NDArray[np.bool_] | None = None

    def __len__(self) -> int:
        return len(self.lower)

    def spheres(self) -> tuple[Floats, Floats]:
        """Return centres (n, 3) and radii (n,): the given spheres, or those of the boxes.

        The latter allow for rounding. An infinite box gets radius inf about a finite centre.
        """
        if self.centre is not None and self.radius is not None:
            return self.centre, self.radius
        # Halving before adding avoids overflow near the largest float.
        with np.errstate(invalid="ignore"):
            centre = 0.5 * self.lower + 0.5 * self.upper
        centre[~np.isfinite(centre)] = 0.0
        half = np.maximum(self.upper - centre, centre - self.lower)
        # Scaling by the longest half edge keeps the squares of tiny and huge edges within the range of floats.
        longest = half.max(axis=1, initial=0.0)
        scale = np.where((longest > 0.0) & np.isfinite(longest), longest, 1.0)
        with np.errstate(over="ignore"):
            radius = np.sqrt(np.square(half / scale[:, None]).sum(axis=1)) * scale * _RADIUS_PADDING
        return centre, np.nextafter(radius, np.inf)

    def jumped(self, before: Volumes | None = None) -> NDArray[np.bool_] | None:
        """Return (n,) which bodies were teleported, or None if none was.

        `before` are the last volumes the finder saw, possibly of other bodies.
        """
        return self.jumps

    def name_of(self, body: int) -> str:
        """Return a body's name for messages."""
        return f"body {body}"

    def grown(self, by: Floats | float) -> Volumes:
        """Return boxes and spheres grown by `by`, a length or (n,) one per body."""
        n = len(self)
        each = np.full(n, by, np.float64)
        lower, upper = np.empty((2, n, 3))
        grow_boxes(read_only_view(self.lower), read_only_view(self.upper), each, lower, upper)
        radius = None if self.radius is None else np.nextafter(self.radius + each, np.inf)
        return dataclasses.replace(self, lower=lower, upper=upper, radius=radius)


def boxes_for_kernel(volumes: Volumes, body_count: int) -> tuple[Floats, Floats]:
    """Return the box corners as read-only views for kernels."""
    _check_count(volumes, body_count)
    return read_only_view(volumes.lower), read_only_view(volumes.upper)


def spheres_for_kernel(volumes: Volumes, body_count: int) -> tuple[Floats, Floats]:
    """Return sphere centres and radii as read-only views for kernels."""
    _check_count(volumes, body_count)
    centre, radius = volumes.spheres()
    return read_only_view(centre), read_only_view(radius)


def _check_count(volumes: Volumes, body_count: int) -> None:
    if len(volumes) != body_count:
        raise InputError(f"there are boxes for {len(volumes)} bodies, but this finder serves {body_count}; call change first")


def find_with_room(search: Callable[[NDArray[Any]], int], pairs: NDArray[Any]) -> tuple[int, NDArray[Any]]:
    """Search until all pairs fit; return their number and the array of pairs.

    `search` fills the columns of an array (…, k) and returns the number of pairs found, stored or not. The last column is scratch.
    """
    while (found := search(pairs)) >= pairs.shape[-1]:
        refuse_too_many_pairs(found)
        # A quarter more than needed: the next frame usually has a few pairs more.
        pairs = np.empty((*pairs.shape[:-1], found + found // 4 + 1), pairs.dtype)
    return found, pairs


def refuse_too_many_pairs(found: int) -> None:
    """Raise if pairs cannot be numbered by int32."""
    if found > np.iinfo(np.int32).max:
        raise InputError(f"{found} pairs of boxes overlap, more than can be numbered; use fewer or smaller bodies")


def sorted_once(pairs: Ints, found: int, tally: Ints) -> CandidatePairs:
    """Return the first `found` pairs (3,k) sorted, each once.

    `tally` (2, bodies+1) is scratch.
    """
    sorted_pairs = np.empty((2, found), np.int32)
    kept = sort_pairs(pairs, found, tally, sorted_pairs)
    return CandidatePairs(sorted_pairs[0, :kept], sorted_pairs[1, :kept])


@kernel
def grow_boxes(lower: Floats, upper: Floats, by: Floats, out_lower: Floats, out_upper: Floats) -> None:
    """Write boxes (n,3) grown by (n,) on each side, rounded outward."""
    for i in range(lower.shape[0]):
        for k in range(3):
            low = lower[i, k] - by[i]
            high = upper[i, k] + by[i]
            # Between one and two steps outward; np.nextafter takes ten times as long.
            out_lower[i, k] = low - abs(low) * _STEP
            out_upper[i, k] = high + abs(high) * _STEP


@kernel(forceinline=True)
def overlap(lower: Floats, upper: Floats, i: int, j: int) -> bool:
    """Return whether the closed boxes i and j of (n,3) corners overlap."""
    return (
        (lower[i, 0] <= upper[j, 0])
        & (lower[j, 0] <= upper[i, 0])
        & (lower[i, 1] <= upper[j, 1])
        & (lower[j, 1] <= upper[i, 1])
        & (lower[i, 2] <= upper[j, 2])
        & (lower[j, 2] <= upper[i, 2])
    )


@kernel
def sort_pairs(pairs: Ints, found: int, count: Ints, sorted_pairs: Ints) -> int:
    """Sort the first `found` pairs (3,k) into (2,found), each once; return how many.

    The third row of `pairs` and `count` (2, bodies+1) are scratch.
    """
    # Two stable counting sorts, by b and then by a: linear time for any pairs.
    body_count = count.shape[1] - 1
    for body in range(body_count + 1):
        count[0, body] = 0
        count[1, body] = 0
    for p in range(found):
        count[0, pairs[0, p] + 1] += 1
        count[1, pairs[1, p] + 1] += 1
    for body in range(body_count):
        count[0, body + 1] += count[0, body]
        count[1, body + 1] += count[1, body]
    for p in range(found):
        b = pairs[1, p]
        pairs[2, count[1, b]] = pairs[0, p]
        count[1, b] += 1
    p = 0
    for b in range(body_count):
        while p < count[1, b]:
            a = pairs[2, p]
            sorted_pairs[0, count[0, a]] = a
            sorted_pairs[1, count[0, a]] = b
            count[0, a] += 1
            p += 1
    kept = 0
    for p in range(found):
        a = sorted_pairs[0, p]
        b = sorted_pairs[1, p]
        if kept == 0 or sorted_pairs[0, kept - 1] != a or sorted_pairs[1, kept - 1] != b:
            sorted_pairs[0, kept] = a
            sorted_pairs[1, kept] = b
            kept += 1
    return kept
