"""Unit vectors in NumPy. Kernels use `scaled_to_unit` of `geometry/contact.py`."""

from __future__ import annotations

import numpy as np

from jostle._types import Floats


def unit_vector(vector: Floats) -> Floats:
    """Return a nonzero vector (3,) scaled to length 1."""
    unit: Floats = vector / np.linalg.norm(vector)
    return unit


def unit_vectors(vectors: Floats) -> Floats:
    """Return vectors (n, 3) scaled to length 1; zeros stay zeros."""
    length = np.linalg.norm(vectors, axis=1, keepdims=True)
    unit: Floats = np.divide(vectors, length, out=np.zeros_like(vectors), where=length > 0.0)
    return unit
