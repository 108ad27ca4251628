"""The plain NumPy twin of `simd64_compiled.py`. A vector is a float64 array of shape (8,)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from jostle.kernels.numbers import Real, Whole

Lanes = NDArray[np.float64]


def f64x8_load(array: Any, index: Whole) -> Lanes:
    """Return a copy of array[index : index + 8]."""
    _require_inside(array, index)
    return array[index : index + 8].copy()


def f64x8_store(array: Any, index: Whole, a: Lanes) -> None:
    """Write eight lanes to array[index : index + 8]."""
    _require_inside(array, index)
    array[index : index + 8] = a


def f64x8_gather(array: Any, at: tuple[Whole, ...], offset: Whole) -> Lanes:
    """Return array[at[k] + offset] in lane k."""
    indices = np.array([int(index) + int(offset) for index in at])
    if indices.min() < 0:
        raise IndexError(f"a gather at {indices.min()} is before the array")
    found: Lanes = array[indices]
    return found


def _require_inside(array: Lanes, index: Whole) -> None:
    if array.dtype != np.float64 or array.ndim != 1 or not array.flags.c_contiguous:
        raise TypeError("f64x8 needs a flat C-contiguous float64 array")
    if index < 0 or index + 8 > len(array):
        raise IndexError(f"eight lanes at {index} pass the end of an array of {len(array)}; pad it")


def f64x8_splat(value: Real) -> Lanes:
    """Return one number in all lanes."""
    return np.full(8, value, np.float64)


def f64x8_add(a: Lanes, b: Lanes) -> Lanes:
    """Return a + b."""
    with np.errstate(all="ignore"):
        return a + b


def f64x8_sub(a: Lanes, b: Lanes) -> Lanes:
    """Return a - b."""
    with np.errstate(all="ignore"):
        return a - b


def f64x8_mul(a: Lanes, b: Lanes) -> Lanes:
    """Return a * b."""
    with np.errstate(all="ignore"):
        return a * b


def f64x8_min(a: Lanes, b: Lanes) -> Lanes:
    """Return a where a < b, else b."""
    return np.where(a < b, a, b)


def f64x8_max(a: Lanes, b: Lanes) -> Lanes:
    """Return a where a > b, else b."""
    return np.where(a > b, a, b)


def f64x8_abs(a: Lanes) -> Lanes:
    """Return |a|."""
    return np.abs(a)


def f64x8_sqrt(a: Lanes) -> Lanes:
    """Return the square root."""
    with np.errstate(all="ignore"):
        return np.sqrt(a)


def f64x8_flushed(a: Lanes, smallest: Lanes) -> Lanes:
    """Return a where |a| >= smallest, else +0 (also where a is NaN)."""
    return np.where(np.abs(a) >= smallest, a, 0.0)


def f64x8_to_f32x8(a: Lanes) -> NDArray[np.float32]:
    """Return the lanes rounded to float32."""
    with np.errstate(all="ignore"):
        return a.astype(np.float32)


def prefetch(array: NDArray[Any], index: Whole) -> None:
    """Do nothing."""
