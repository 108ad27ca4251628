"""MovingSurface: a body as the tests along a motion see it.

Vertices move from `vertices_t0` to `vertices_t1`, world vertices bit for bit those of the static tests, along straight lines (a
turn with angle 0) or along the arcs of one screw (`continuous/moving_point.py`).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from jostle._types import Floats, Ints
from jostle.continuous.moving_point import place_all_into
from jostle.kernels.arrays import read_only_view


class MovingSurface(NamedTuple):
    """A body within a step."""

    vertices_t0: Floats  # (v,3) world
    vertices_t1: Floats  # (v,3) world; the very same array for a body at rest
    faces: Ints  # (m,3)
    turn: Floats  # (4,) direction of the axis and angle, as in continuous/moving_point.py

    @property
    def is_straight(self) -> bool:
        """Whether all vertices move along straight lines or rest."""
        return float(self.turn[3]) == 0.0

    @property
    def is_at_rest(self) -> bool:
        """Whether it is known that no vertex moves."""
        return self.vertices_t0 is self.vertices_t1

    def placed(self, time: float) -> Floats:
        """Return the (v,3) world vertices at a time in 0 … 1."""
        places = np.empty_like(self.vertices_t0)
        place_all_into(
            read_only_view(self.vertices_t0), read_only_view(self.vertices_t1), read_only_view(self.turn), float(time), places
        )
        return places

    def most_bulge(self) -> float:
        """Return how far any vertex leaves its chord, rounded up; 0 for straight lines."""
        if self.is_straight:
            return 0.0
        angle = float(self.turn[3])
        across = np.cross(self.turn[:3], self.vertices_t1 - self.vertices_t0)
        # The height of an arc over its chord c is c tan(angle/4)/2; a share of 1e-9 covers all roundings.
        height = 0.5 * float(np.sqrt((across * across).sum(axis=1).max())) * np.tan(0.25 * angle)
        size = float(max(np.abs(self.vertices_t0).max(), np.abs(self.vertices_t1).max()))
        return float(height * (1.0 + 1e-9) + 1e-15 * size)
