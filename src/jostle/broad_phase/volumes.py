"""Volumes, what a broad phase is given, CandidatePairs, what it hands back, and the sorting of the latter.

A broad phase knows no meshes: it sees one axis-aligned box for each body, in world axes, and on request a sphere,
bounds on the motion, and who has jumped. Boxes are closed, so two boxes that touch overlap. Boxes without an end
(a ground plane reaches to ±inf) and boxes of any size are legal; NaN is not, and nothing is checked here, because
volumes are made by jostle itself from arrays that have passed `cast.py`.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from jostle._types import Floats, Ints
from jostle.errors import InputError
from jostle.kernels.arrays import read_only_view
from jostle.kernels.jit import kernel

_STEP = float(np.finfo(np.float64).eps)
# Rounding of the centre, of three differences and of a norm moves a radius by fewer than eight units in the last place.
_RADIUS_PADDING = 1.0 + 8.0 * _STEP


@dataclass(frozen=True, eq=False)
class Volumes:
    """The space that each body takes, one row per body, in world axes and the user's units.

    Parameters
    ----------
    lower, upper : (n, 3) float64
        Corners of the closed boxes, `lower <= upper`.
    centre, radius : (n, 3) and (n,) float64, optional
        Bounding spheres; `spheres` makes them from the boxes where they are not given.
    velocity : (n, 3) float64, optional
        Units per second.
    bounds : (n, 2) float64, optional
        Largest speed and largest acceleration of the centre of each body, for broad phases that look ahead; inf for none.
    dt : float
        Seconds between this frame and the one before.
    jumps : (n,) bool, optional
        Bodies that were put where they are since the frame before, without a motion.
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
        """Return (n, 3) centres and (n,) radii: the spheres given, or else spheres that hold the boxes, rounding included.

        A box without an end gets radius inf about a finite centre.
        """
        if self.centre is not None and self.radius is not None:
            return self.centre, self.radius
        # Halving before adding keeps boxes near the largest float from overflowing.
        with np.errstate(invalid="ignore"):
            centre = 0.5 * self.lower + 0.5 * self.upper
        centre[~np.isfinite(centre)] = 0.0
        half = np.maximum(self.upper - centre, centre - self.lower)
        # Scaling by the longest half edge keeps the squares of tiny and of huge edges inside the range of floats.
        longest = half.max(axis=1, initial=0.0)
        scale = np.where((longest > 0.0) & np.isfinite(longest), longest, 1.0)
        with np.errstate(over="ignore"):
            radius = np.sqrt(np.square(half / scale[:, None]).sum(axis=1)) * scale * _RADIUS_PADDING
        return centre, np.nextafter(radius, np.inf)

    def jumped(self, before: Volumes | None = None) -> NDArray[np.bool_] | None:
        """Return (n,) which bodies did not move to where they are but were put there; None where nobody did.

        `before` are the volumes that the finder saw last, of the same bodies or of others.
        """
        return self.jumps

    def name_of(self, body: int) -> str:
        """Return what to call a body in a message."""
        return f"body {body}"

    def grown(self, by: Floats | float) -> Volumes:
        """Return boxes and spheres that hold everything nearer than `by` to these; a length, or (n,) one for each body."""
        n = len(self)
        each = np.full(n, by, np.float64)
        lower, upper = np.empty((2, n, 3))
        grow_boxes(read_only_view(self.lower), read_only_view(self.upper), each, lower, upper)
        radius = None if self.radius is None else np.nextafter(self.radius + each, np.inf)
        return dataclasses.replace(self, lower=lower, upper=upper, radius=radius)


def boxes_for_kernel(volumes: Volumes, body_count: int) -> tuple[Floats, Floats]:
    """Return the corners of the boxes as kernels want them, without a copy."""
    _check_count(volumes, body_count)
    return read_only_view(volumes.lower), read_only_view(volumes.upper)


def spheres_for_kernel(volumes: Volumes, body_count: int) -> tuple[Floats, Floats]:
    """Return the centres and radii of the spheres as kernels want them."""
    _check_count(volumes, body_count)
    centre, radius = volumes.spheres()
    return read_only_view(centre), read_only_view(radius)


def _check_count(volumes: Volumes, body_count: int) -> None:
    if len(volumes) != body_count:
        raise InputError(f"there are boxes for {len(volumes)} bodies, but this finder serves {body_count}; call change first")


def refuse_too_many_pairs(found: int) -> None:
    """Raise where pairs are more than a list of them can number."""
    if found > np.iinfo(np.int32).max:
        raise InputError(f"{found} pairs of boxes overlap, more than can be numbered; use fewer or smaller bodies")


@kernel
def grow_boxes(lower: Floats, upper: Floats, by: Floats, out_lower: Floats, out_upper: Floats) -> None:
    """Write boxes (n,3) that are larger by (n,) on each side, rounded outward."""
    for i in range(lower.shape[0]):
        for k in range(3):
            low = lower[i, k] - by[i]
            high = upper[i, k] + by[i]
            # Between one and two steps outward; np.nextafter takes ten times as long.
            out_lower[i, k] = low - abs(low) * _STEP
            out_upper[i, k] = high + abs(high) * _STEP


@kernel(forceinline=True)
def overlap(lower: Floats, upper: Floats, i: int, j: int) -> bool:
    """Whether the closed boxes i and j of (n,3) corners have a common point."""
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
    """Sort the first `found` pairs (3,k) by (a, b) into (2,found), each once, and return how many remain.

    The third row of `pairs` and `count` (2, bodies+1) are scratch.
    """
    # Two stable counting sorts, by b and then by a, take linear time whatever the pairs are.
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
