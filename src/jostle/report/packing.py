"""Packed rows: face a, face b and kind in one sortable int64; and row modes."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

# All rows; the first that is met, of each pair or of all; one of the worst kind, of each pair or of the first pair that has rows.
ALL, FIRST, ANY, WORST, WORST_OF_ANY = range(5)
ROW_MODES = {"any": WORST_OF_ANY, "first": WORST, "pairs": WORST, "faces": ALL}  # by the `rows` of a query
FACE_BITS, KIND_BITS = 29, 3


def unpacked(keys: NDArray[np.int64]) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.uint8]]:
    """Return face_a, face_b and kind of packed rows (n,)."""
    face_a = (keys >> (FACE_BITS + KIND_BITS)).astype(np.int32)
    face_b = ((keys >> KIND_BITS) & ((1 << FACE_BITS) - 1)).astype(np.int32)
    return face_a, face_b, (keys & ((1 << KIND_BITS) - 1)).astype(np.uint8)
