"""Rigid poses from an offset or an axis and angle: (4,4) float64, body to world.

`jostle.translation` and `jostle.rotation` are these. Poses are composed by `@`, the one on the right first.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from jostle import cast
from jostle.errors import InputError


def translation(offset: ArrayLike) -> NDArray[np.float64]:
    """Return the pose (4,4) that moves by an offset (3,).

    Examples
    --------
    >>> pose = jostle.translation((0, 0, 0.9)) @ jostle.rotation((0, 0, 1), np.pi / 2)  # turned first, then moved
    >>> pose[:3, 3]
    array([0. , 0. , 0.9])
    """
    pose = np.eye(4)
    pose[:3, 3] = cast.as_vector(offset, "offset")
    return pose


def rotation(axis: ArrayLike, angle: float, through: ArrayLike = (0.0, 0.0, 0.0)) -> NDArray[np.float64]:
    """Return the pose (4,4) that rotates about an axis (3,) through a point (3,).

    The angle is in radians, right-handed.

    Examples
    --------
    >>> quarter = jostle.rotation((0, 0, 1), np.pi / 2)
    >>> np.round(quarter @ (1, 0, 0, 1), 6)
    array([0., 1., 0., 1.])
    """
    direction = cast.as_array(axis, "", "axis").astype(np.float64)
    angle = cast.as_number(angle, "angle")
    if not np.isfinite(angle):
        raise InputError(f"angle is {angle}; it must be finite (radians)")
    largest = float(np.abs(direction).max(initial=0.0))
    if direction.shape != (3,) or not 0.0 < largest < np.inf:
        raise InputError(f"axis is {cast.shown(axis)}; it must be three finite numbers that are not all zero")
    direction /= largest  # so that no square overflows or vanishes
    x, y, z = direction / np.linalg.norm(direction)
    cross = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    pose = np.eye(4)
    pose[:3, :3] += np.sin(angle) * cross + (1.0 - np.cos(angle)) * (cross @ cross)
    centre = cast.as_vector(through, "through")
    pose[:3, 3] = centre - pose[:3, :3] @ centre
    return pose


rotation_about = rotation  # the older name
