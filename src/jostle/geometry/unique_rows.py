"""Distinct rows of an array."""

from __future__ import annotations

from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

Scalar = TypeVar("Scalar", bound=np.generic)


def unique_rows(rows: NDArray[Scalar]) -> NDArray[Scalar]:
    """Return the distinct rows (n, k), sorted by column from the first.

    `numpy.unique(rows, axis=0)` makes records of them: that takes longer, and an interrupt inside it becomes a `TypeError`.
    """
    ordered: NDArray[Scalar] = rows[np.lexsort(rows.T[::-1])]
    new = np.ones(len(ordered), bool)
    new[1:] = (ordered[1:] != ordered[:-1]).any(axis=1)
    return ordered[new]
