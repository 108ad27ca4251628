"""Poses from the options of a command."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from jostle.errors import InputError
from jostle.geometry.pose import rotation_about, translation


def pose_from_options(
    numbers: str | None,
    translate: tuple[float, float, float] | None,
    rotate: tuple[float, float, float, float] | None,
) -> NDArray[np.float64] | None:
    """Return the pose given by the options, or None."""
    if numbers is not None:
        if translate is not None or rotate is not None:
            raise InputError("give either --pose-b or --translate and --rotate, not both")
        try:
            values = [float(word) for word in numbers.replace(",", " ").split()]
        except ValueError as error:
            raise InputError(f"--pose-b: {error}") from None
        if len(values) != 16:
            raise InputError(f"--pose-b has {len(values)} numbers; a pose has 16, row by row")
        return np.array(values).reshape(4, 4)
    if translate is None and rotate is None:
        return None
    turned = np.eye(4) if rotate is None else rotation_about(rotate[:3], np.deg2rad(rotate[3]))
    moved = np.eye(4) if translate is None else translation(translate)
    placed: NDArray[np.float64] = moved @ turned
    return placed
