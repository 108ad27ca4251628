"""The plain NumPy twin of `simd_compiled.py`.

A vector is a float32 array of shape (8,). The meaning is that of the intrinsics, lane for lane, except that
`f32x8_multiply_add` always rounds twice: compare decisions between the two, not bits. A load or store that
passes the end of its array, which the intrinsics cannot see, raises here.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from jostle._types import Singles
from jostle.kernels.numbers import Real, Whole


def f32x8_load(array: Any, index: Whole) -> Singles:
    """Return a copy of array[index : index + 8]."""
    _require_inside(array, index)
    return array[index : index + 8].copy()


def f32x8_store(array: Any, index: Whole, a: Singles) -> None:
    """Write eight lanes to array[index : index + 8]."""
    _require_inside(array, index)
    array[index : index + 8] = a


def _require_inside(array: Singles, index: Whole) -> None:
    if array.dtype != np.float32 or array.ndim != 1 or not array.flags.c_contiguous:
        raise TypeError("f32x8 needs a flat C-contiguous float32 array")
    if index < 0 or index + 8 > len(array):
        raise IndexError(f"eight lanes at {index} pass the end of an array of {len(array)}; pad it")


def f32x8_splat(value: Real) -> Singles:
    """Return one number in all lanes."""
    with np.errstate(all="ignore"):
        return np.full(8, value).astype(np.float32)


def f32x8_of(*values: Real) -> Singles:
    """Return eight numbers as lanes."""
    with np.errstate(all="ignore"):
        return np.array(values, np.float64).astype(np.float32)


def f32x8_add(a: Singles, b: Singles) -> Singles:
    """Return a + b."""
    with np.errstate(all="ignore"):
        return a + b


def f32x8_sub(a: Singles, b: Singles) -> Singles:
    """Return a - b."""
    with np.errstate(all="ignore"):
        return a - b


def f32x8_mul(a: Singles, b: Singles) -> Singles:
    """Return a * b."""
    with np.errstate(all="ignore"):
        return a * b


def f32x8_min(a: Singles, b: Singles) -> Singles:
    """Return a where a < b, else b."""
    return np.where(a < b, a, b)


def f32x8_max(a: Singles, b: Singles) -> Singles:
    """Return a where a > b, else b."""
    return np.where(a > b, a, b)


def f32x8_abs(a: Singles) -> Singles:
    """Return |a|."""
    return np.abs(a)


def f32x8_multiply_add(a: Singles, b: Singles, c: Singles) -> Singles:
    """Return a * b + c."""
    with np.errstate(all="ignore"):
        return a * b + c


def _as_mask(truths: NDArray[np.bool_]) -> np.uint32:
    return np.uint32(np.packbits(truths, bitorder="little")[0])


def f32x8_less(a: Singles, b: Singles) -> np.uint32:
    """Return the mask of a < b."""
    return _as_mask(a < b)


def f32x8_less_equal(a: Singles, b: Singles) -> np.uint32:
    """Return the mask of a <= b."""
    return _as_mask(a <= b)


def f32x8_equal(a: Singles, b: Singles) -> np.uint32:
    """Return the mask of a == b."""
    return _as_mask(a == b)


def f32x8_overlap(*boxes: Singles) -> np.uint32:
    """Return the mask of closed boxes that meet: lower and upper of one (six vectors), then of the other."""
    lower, upper, other_lower, other_upper = (np.stack(boxes[k : k + 3]) for k in (0, 3, 6, 9))
    meet: Any = (lower <= other_upper) & (other_lower <= upper)
    return _as_mask(meet.all(axis=0))


def f32x8_transpose(*rows: Singles) -> tuple[Singles, ...]:
    """Return eight vectors: first lane 0 of the eight given, last lane 7 of them."""
    return tuple(np.stack(rows).T.copy())


def lowest_bit(mask: Whole) -> int:
    """Return the index of the lowest set bit of a uint32; 32 if there is none."""
    bits = int(mask)
    return (bits & -bits).bit_length() - 1 if bits else 32


def without_lowest_bit(mask: Whole) -> np.uint32:
    """Return a uint32 with its lowest set bit cleared."""
    bits = int(mask)
    return np.uint32(bits & (bits - 1))


def bit_count(mask: Whole) -> int:
    """Return how many bits of a uint32 are set."""
    return int(mask).bit_count()
