"""Rigid poses from the things that people say: move by this, turn about that. All (4,4) float64, body to world."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from jostle import cast
from jostle.errors import InputError


def translation(offset: ArrayLike) -> NDArray[np.float64]:
    """Return the pose that moves by an offset (3,)."""
    pose = np.eye(4)
    pose[:3, 3] = offset
    return pose


def rotation_about(axis: ArrayLike | Sequence[float], angle: float, through: ArrayLike = (0.0, 0.0, 0.0)) -> NDArray[np.float64]:
    """Return the pose that turns by an angle (radians, right-handed) about an axis (3,) through a point (3,)."""
    direction = cast.as_array(axis, "", "axis").astype(np.float64)
    angle = cast.as_number(angle, "angle")
    largest = float(np.abs(direction).max(initial=0.0))
    if direction.shape != (3,) or not 0.0 < largest < np.inf:
        raise InputError(f"axis is {axis!r}; it must be three finite numbers that are not all zero")
    direction /= largest  # so that no square overflows or vanishes
    x, y, z = direction / np.linalg.norm(direction)
    cross = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    pose = np.eye(4)
    pose[:3, :3] += np.sin(angle) * cross + (1.0 - np.cos(angle)) * (cross @ cross)
    centre = np.asarray(through, dtype=np.float64)
    pose[:3, 3] = centre - pose[:3, :3] @ centre
    return pose
