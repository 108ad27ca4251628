"""Settings for the preparation alone, without the method, and random rotations."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Settings:
    accuracy: float | None = None
    across: int = 16
    axis: int | None = None
    surface_only: bool = False
    memory: int = 2**30
    depth: bool = False


def random_rotation(rng):
    """A uniformly distributed rotation (3, 3)."""
    w, x, y, z = (q := rng.standard_normal(4)) / np.linalg.norm(q)
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
            [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
            [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
        ]
    )
