"""Volumes, what a broad phase is given, and CandidatePairs, what it hands back.

A broad phase knows no meshes: it sees one axis-aligned box for each body, in world axes, and for some methods a
sphere, a velocity and bounds on the motion. Boxes are closed, so two boxes that touch overlap. Boxes without an end
(a ground plane reaches to ±inf) and boxes of any size are legal; NaN is not, and nothing is checked here, because
volumes are made by jostle itself from arrays that have passed `cast.py`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int32]

# Rounding of the centre, of three differences and of a norm moves a radius by fewer than eight units in the last place.
_RADIUS_PADDING = 1.0 + 8.0 * float(np.finfo(np.float64).eps)


class CandidatePairs(NamedTuple):
    """The pairs whose boxes overlap: `body_a < body_b`, sorted by (body_a, body_b), each pair once; both (k,) int32."""

    body_a: Ints
    body_b: Ints


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
    bounds : (n, k) float64, optional
        Bounds on the motion of each body, for broad phases that look ahead.
    dt : float
        Seconds between this frame and the one before.
    """

    lower: Floats
    upper: Floats
    centre: Floats | None = None
    radius: Floats | None = None
    velocity: Floats | None = None
    bounds: Floats | None = None
    dt: float = 0.0

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


def as_kernel_input(array: NDArray[np.floating]) -> Floats:
    """Return the array itself, or a writable contiguous float64 copy: Numba would compile again for a read-only one."""
    if array.flags.writeable and array.flags.c_contiguous and array.dtype == np.float64:
        return array
    return np.array(array, dtype=np.float64, order="C")
