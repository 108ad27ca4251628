"""Rotations from unit quaternions, in NumPy."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from jostle._types import Floats


def rotation_of_quaternion(w: ArrayLike, x: ArrayLike, y: ArrayLike, z: ArrayLike) -> Floats:
    """Return the rotations (..., 3, 3) of unit quaternions with components (...)."""
    w, x, y, z = np.asarray(w), np.asarray(x), np.asarray(y), np.asarray(z)
    rows = [
        [1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y - w * z), 2.0 * (x * z + w * y)],
        [2.0 * (x * y + w * z), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z - w * x)],
        [2.0 * (x * z - w * y), 2.0 * (y * z + w * x), 1.0 - 2.0 * (x * x + y * y)],
    ]
    return np.stack([np.stack(row, axis=-1) for row in rows], axis=-2)
