"""Numbers between kernels: int64 and float64, one signature per kernel.

Rows in memory may hold narrower types. They are widened once, here, before they are passed on.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from jostle.kernels.jit import kernel

Whole = int | np.integer[Any]
Real = float | np.floating[Any]


@kernel(forceinline=True)
def as_int64(value: Whole) -> int:
    """Return a whole number as int64."""
    return np.int64(value)  # type: ignore[return-value]  # an int to those who call it


@kernel(forceinline=True)
def as_float64(value: Real) -> float:
    """Return a number as float64."""
    return np.float64(value)
